/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "gather.h"

#include <errno.h>
#include <poll.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/list.h"
#include "find.h"
#include "obj/inspect/rank.h"

#define ANSWER_SECONDS 10			/* for the processes that are asked at a time */
#define ANSWERS_MAX ((size_t) 512 << 20)	/* bytes of all */

/* ---- one answer ---------------------------------------------------------------------------- */

static int rank_of(pid_t pid)
{
	char path[64], env[512];
	int rank = -1, c = 0;
	size_t len;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%ld/environ", (long) pid);
	file = fopen(path, "re");
	while (file && c != EOF && rank < 0) {
		for (len = 0; (c = getc(file)) != EOF && c; )
			if (len + 1 < sizeof(env))
				env[len++] = (char) c;
		env[len] = '\0';
		rank = inspect_rank_of(env);
	}
	if (file)
		fclose(file);
	return rank;
}

/* cut_records - keep the whole records.  Returns false: what came is malformed. */
static bool cut_records(struct answer *answer)
{
	struct inspect_head head;
	size_t off = 0;
	int len;

	while ((len = inspect_next(answer->buf + off, answer->len - off)) > 0) {
		memcpy(&head, answer->buf + off, sizeof(head));
		off += (size_t) len;
		answer->complete = head.type == INSPECT_END;
	}
	answer->len = off;
	return len >= 0;
}

void answers_add(struct answers *answers, struct answer *answer)
{
	struct answer *of = realloc(answers->of, (answers->cnt + 1) * sizeof(*of));

	if (!of) {
		free(answer->buf);
		return;
	}
	answers->of = of;
	of[answers->cnt++] = *answer;
}

/* add_silent - a process that is there, and has not answered. */
static void add_silent(struct answers *answers, pid_t pid, const char *why)
{
	struct answer answer = { .pid = pid, .rank = rank_of(pid), .silent = why };
	char state = process_state(pid, answer.command, sizeof(answer.command));

	if (state && state != 'Z')
		answers_add(answers, &answer);
}

/* A process that is asked.  All are asked before the first answer is read, as each may take milliseconds. */
struct asked {
	struct answer answer;
	size_t room;		/* in its buffer */
	bool done;
};

#define ASKED_MAX 256		/* at once: a descriptor each */

struct batch {
	struct finder finder;
	struct answers *answers;
	const pid_t *pids;	/* these alone; none: all */
	size_t pid_cnt;
	uint32_t want;
	size_t cnt, bytes;	/* bytes: of all answers so far */
	struct asked of[ASKED_MAX];
	struct pollfd fds[ASKED_MAX];
};

/* make_room - for more of an answer; false: it is too long. */
static bool make_room(struct batch *batch, struct asked *asked)
{
	size_t room = asked->room ? 2 * asked->room : 65536;
	uint8_t *buf;

	if (room > ANSWER_MAX || batch->bytes + room - asked->room > ANSWERS_MAX)
		return false;
	buf = realloc(asked->answer.buf, room);
	if (!buf)
		return false;
	batch->bytes += room - asked->room;
	asked->answer.buf = buf;
	asked->room = room;
	return true;
}

/* hear_some - what has come of the answer. */
static void hear_some(struct batch *batch, size_t i)
{
	struct asked *asked = &batch->of[i];
	struct answer *answer = &asked->answer;
	ssize_t ret;

	for (;;) {
		if (answer->len == asked->room && !make_room(batch, asked)) {
			asked->done = true;
			return;
		}
		ret = recv(batch->fds[i].fd, answer->buf + answer->len, asked->room - answer->len, MSG_DONTWAIT);
		if (ret < 0 && errno == EINTR)
			continue;
		if (ret <= 0)
			break;
		answer->len += (size_t) ret;
	}
	asked->done = ret == 0 || errno != EAGAIN;
}

/* hear_turn - wait until something comes.  Returns how many answers are to come. */
static size_t hear_turn(struct batch *batch, int ms)
{
	size_t i, left = 0;

	poll(batch->fds, (nfds_t) batch->cnt, ms);
	for (i = 0; i < batch->cnt; i++) {
		if (batch->fds[i].revents && !batch->of[i].done)
			hear_some(batch, i);
		batch->fds[i].events = batch->of[i].done ? 0 : POLLIN;
		if (batch->of[i].done && batch->fds[i].fd >= 0) {
			close(batch->fds[i].fd);
			batch->fds[i].fd = -1;
		}
		left += !batch->of[i].done;
	}
	return left;
}

/* finish_answer - a process that has ended meanwhile has none. */
static void finish_answer(struct batch *batch, struct asked *asked)
{
	if (cut_records(&asked->answer) && asked->answer.len) {
		answers_add(batch->answers, &asked->answer);
		return;
	}
	free(asked->answer.buf);
	add_silent(batch->answers, asked->answer.pid, "it has not answered: its library is of another release than "
		   "this fi_top, or the machine is overloaded");
}

static void hear_all(struct batch *batch)
{
	time_t end = time(NULL) + ANSWER_SECONDS;
	size_t i;

	while (time(NULL) <= end && hear_turn(batch, 1000))
		;
	for (i = 0; i < batch->cnt; i++) {
		if (batch->fds[i].fd >= 0)
			close(batch->fds[i].fd);
		finish_answer(batch, &batch->of[i]);
	}
	batch->cnt = 0;
}

/* ---- whom to ask ------------------------------------------------------------------------- */

static bool is_wanted(const struct batch *batch, pid_t pid)
{
	size_t i;

	for (i = 0; i < batch->pid_cnt; i++)
		if (batch->pids[i] == pid)
			return true;
	return !batch->pid_cnt;
}

static void on_socket(struct finder *finder, int fd, pid_t pid)
{
	struct batch *batch = container_of(finder, struct batch, finder);
	struct inspect_ask request = { INSPECT_MAGIC, INSPECT_VERSION, batch->want, 0 };

	if (!is_wanted(batch, pid)) {
		close(fd);
		return;
	}
	if (send(fd, &request, sizeof(request), MSG_NOSIGNAL) != sizeof(request)) {
		close(fd);
		add_silent(batch->answers, pid, "its socket takes no request");
		return;
	}
	batch->of[batch->cnt] = (struct asked) { .answer = { .pid = pid, .rank = rank_of(pid) } };
	batch->fds[batch->cnt] = (struct pollfd) { .fd = fd, .events = POLLIN };
	if (++batch->cnt == ASKED_MAX)
		hear_all(batch);
}

static void on_silent(struct finder *finder, pid_t pid, const char *why)
{
	struct batch *batch = container_of(finder, struct batch, finder);

	if (is_wanted(batch, pid))
		add_silent(batch->answers, pid, why);
}

/* compare_answers - by rank, then by process; one that has answered first. */
static int compare_answers(const void *a, const void *b)
{
	const struct answer *one = a, *two = b;

	if (one->rank != two->rank)
		return one->rank < two->rank ? -1 : 1;
	if (one->pid != two->pid)
		return one->pid < two->pid ? -1 : 1;
	return (one->silent != NULL) - (two->silent != NULL);
}

/* drop_repeated - a process that has answered is not silent, and one is silent once. */
static void drop_repeated(struct answers *answers)
{
	size_t i, cnt = 0;

	for (i = 0; i < answers->cnt; i++)
		if (!answers->of[i].silent || !cnt || answers->of[cnt - 1].pid != answers->of[i].pid)
			answers->of[cnt++] = answers->of[i];
	answers->cnt = cnt;
}

int answers_gather(const pid_t *pids, size_t pid_cnt, uint32_t want, struct answers *answers)
{
	struct batch *batch = calloc(1, sizeof(*batch));
	int ret;

	*answers = (struct answers) { NULL, 0 };
	if (!batch)
		return -FI_ENOMEM;
	*batch = (struct batch) {
		.finder = { on_socket, on_silent }, .answers = answers,
		.pids = pids, .pid_cnt = pid_cnt, .want = want,
	};
	ret = find_sockets(&batch->finder);
	hear_all(batch);
	free(batch);
	if (answers->cnt)
		qsort(answers->of, answers->cnt, sizeof(*answers->of), compare_answers);
	drop_repeated(answers);
	return ret;
}

void answers_free(struct answers *answers)
{
	size_t i;

	for (i = 0; i < answers->cnt; i++)
		free(answers->of[i].buf);
	free(answers->of);
	*answers = (struct answers) { NULL, 0 };
}

/* ---- records ---------------------------------------------------------------------------------- */

static void clean_all(union record *r)
{
	size_t i;

	switch (r->head.type) {
	case INSPECT_PROCESS:
		clean_text(r->process.release, sizeof(r->process.release));
		clean_text(r->process.command, sizeof(r->process.command));
		break;
	case INSPECT_EP:
		clean_text(r->ep.provider, sizeof(r->ep.provider));
		clean_text(r->ep.kind, sizeof(r->ep.kind));
		clean_text(r->ep.addr, sizeof(r->ep.addr));
		clean_text(r->ep.driver, sizeof(r->ep.driver));
		clean_text(r->ep.threading, sizeof(r->ep.threading));
		break;
	case INSPECT_PEER:
		clean_text(r->peer.addr, sizeof(r->peer.addr));
		clean_text(r->peer.link, sizeof(r->peer.link));
		clean_text(r->peer.state, sizeof(r->peer.state));
		break;
	case INSPECT_PATH_TEXT:
		clean_text(r->path.text, sizeof(r->path.text));
		break;
	case INSPECT_SEND:
		clean_text(r->send.what, sizeof(r->send.what));
		clean_text(r->send.waits, sizeof(r->send.waits));
		break;
	case INSPECT_RECV:
		clean_text(r->recv.from, sizeof(r->recv.from));
		break;
	case INSPECT_MSG:
		clean_text(r->msg.from, sizeof(r->msg.from));
		break;
	case INSPECT_REMOTE:
		clean_text(r->remote.host, sizeof(r->remote.host));
		clean_text(r->remote.command, sizeof(r->remote.command));
		clean_text(r->remote.addr, sizeof(r->remote.addr));
		for (i = 0; i < INSPECT_WAITS; i++)
			clean_text(r->remote.wait[i].addr, sizeof(r->remote.wait[i].addr));
		break;
	default:
		break;
	}
}

unsigned record_at(const struct answer *answer, size_t off, union record *out, size_t *next_p)
{
	int len = inspect_next(answer->buf + off, answer->len - off);

	if (len <= 0)
		return 0;
	memset(out, 0, sizeof(*out));
	memcpy(out, answer->buf + off, (size_t) len);
	clean_all(out);
	*next_p = off + (size_t) len;
	return out->head.type;
}
