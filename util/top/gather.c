/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "gather.h"

#include <errno.h>
#include <poll.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define ANSWER_SECONDS 10	/* for one process */

/* clean_text - make the text in @size bytes one that can be printed. */
static void clean_text(char *text, size_t size)
{
	text[size - 1] = '\0';
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			*text = '?';
}

/* ---- whom to ask ------------------------------------------------------------------------- */

/* is_expected - is the process at the other end the one that the name says, and of that user? */
static bool is_expected(int fd, pid_t pid, uid_t uid)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) && cred.pid == pid && cred.uid == uid &&
	       (uid == geteuid() || !geteuid());
}

static int rank_of(pid_t pid)
{
	static const char *const names[] = { "PMIX_RANK=", "OMPI_COMM_WORLD_RANK=", "PMI_RANK=", "SLURM_PROCID=" };
	char path[64], env[512];
	int rank = -1, c = 0;
	size_t i, len;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%ld/environ", (long) pid);
	file = fopen(path, "re");
	while (file && c != EOF && rank < 0) {
		for (len = 0; (c = getc(file)) != EOF && c; )
			if (len + 1 < sizeof(env))
				env[len++] = (char) c;
		env[len] = '\0';
		for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			if (!strncmp(env, names[i], strlen(names[i])))
				rank = atoi(env + strlen(names[i]));
	}
	if (file)
		fclose(file);
	return rank;
}

/* ---- one answer ---------------------------------------------------------------------------- */

static int connect_to(const char *name, pid_t pid, uid_t uid)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	struct timeval limit = { .tv_sec = 2 };
	size_t len = strlen(name);

	if (fd < 0)
		return -errno;
	memcpy(sun.sun_path + 1, name, len);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	if (connect(fd, (struct sockaddr *) &sun,
		    (socklen_t) (offsetof(struct sockaddr_un, sun_path) + 1 + len)) ||
	    !is_expected(fd, pid, uid)) {
		close(fd);
		return -FI_EACCES;
	}
	return fd;
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

static bool receive_answer(int fd, struct answer *answer)
{
	time_t end = time(NULL) + ANSWER_SECONDS;
	size_t room = 0;
	ssize_t ret;
	uint8_t *buf;

	for (;;) {
		if (answer->len == room) {
			room = room ? 2 * room : 65536;
			buf = room <= ANSWER_MAX ? realloc(answer->buf, room) : NULL;
			if (!buf)
				return false;
			answer->buf = buf;
		}
		ret = recv(fd, answer->buf + answer->len, room - answer->len, 0);
		if (ret < 0 && errno == EINTR)
			continue;
		if (ret <= 0 || time(NULL) > end)
			return cut_records(answer);
		answer->len += (size_t) ret;
	}
}

/* state_of - of process @pid as a letter, with its name; 0: there is none. */
static char state_of(pid_t pid, char *command, size_t size)
{
	char path[64], line[512], *end;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long) pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	end = fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
	fclose(file);
	if (!end || !end[1])
		return 0;
	*end = '\0';
	snprintf(command, size, "%s", line + strcspn(line, "(") + 1);
	clean_text(command, strlen(command) + 1);
	return end[2];
}

/* add_answer - @answer belongs to @answers, or is freed. */
static void add_answer(struct answers *answers, struct answer *answer)
{
	struct answer *of = realloc(answers->of, (answers->cnt + 1) * sizeof(*of));

	if (!of) {
		free(answer->buf);
		return;
	}
	answers->of = of;
	of[answers->cnt++] = *answer;
}

/* A process that is asked.  All are asked before the first answer is read, as each may take milliseconds. */
struct asked {
	struct answer answer;
	int fd;			/* -1: none */
};

#define ASKED_MAX 256		/* at once: a descriptor each */

struct batch {
	struct answers *answers;
	uint32_t want;
	size_t cnt;
	struct asked of[ASKED_MAX];
};

/* ask_process - a stopped process is not waited for.  Returns why there will be no answer, or NULL. */
static const char *ask_process(struct asked *asked, const char *name, uid_t uid, uint32_t want, char state)
{
	struct inspect_ask request = { INSPECT_MAGIC, INSPECT_VERSION, want, 0 };

	if (state == 'T')
		return "it is stopped by a signal";
	if (state == 't')
		return "it is stopped by a debugger";
	asked->fd = connect_to(name, asked->answer.pid, uid);
	if (asked->fd < 0)
		return "its inspection socket takes no connection, or another process has taken its name: "
		       "is it ending, or of another user?";
	if (send(asked->fd, &request, sizeof(request), MSG_NOSIGNAL) != sizeof(request))
		return "its socket takes no request";
	return NULL;
}

/* hear_answer - read the answer.  A process that has ended meanwhile has none. */
static void hear_answer(struct asked *asked, struct answers *answers)
{
	struct answer *answer = &asked->answer;

	if (!answer->silent && (!receive_answer(asked->fd, answer) || !answer->len))
		answer->silent = "it has not answered: its library is of another release than this fi_top, or the "
				 "machine is overloaded";
	if (asked->fd >= 0)
		close(asked->fd);
	if (answer->silent) {
		free(answer->buf);
		answer->buf = NULL;
		answer->len = 0;
		if (!state_of(answer->pid, answer->command, sizeof(answer->command)))
			return;
	}
	add_answer(answers, answer);
}

static void hear_all(struct batch *batch)
{
	size_t i;

	for (i = 0; i < batch->cnt; i++)
		hear_answer(&batch->of[i], batch->answers);
	batch->cnt = 0;
}

static void ask_one_more(struct batch *batch, const char *name, pid_t pid, uid_t uid)
{
	struct asked *asked = &batch->of[batch->cnt];
	char state;

	*asked = (struct asked) { .answer = { .pid = pid, .rank = rank_of(pid) }, .fd = -1 };
	state = state_of(pid, asked->answer.command, sizeof(asked->answer.command));
	if (!state || state == 'Z')
		return;
	asked->answer.silent = ask_process(asked, name, uid, batch->want, state);
	if (++batch->cnt == ASKED_MAX)
		hear_all(batch);
}

static bool is_wanted(const pid_t *pids, size_t cnt, pid_t pid)
{
	size_t i;

	for (i = 0; i < cnt; i++)
		if (pids[i] == pid)
			return true;
	return !cnt;
}

/* The names of the sockets are those of this network namespace. */
int answers_gather(const pid_t *pids, size_t pid_cnt, uint32_t want, struct answers *answers)
{
	struct batch batch = { .answers = answers, .want = want };
	FILE *file = fopen("/proc/net/unix", "re");
	char line[512], *name, whole[64];
	unsigned uid, copy;
	int pid;

	*answers = (struct answers) { NULL, 0 };
	while (file && fgets(line, sizeof(line), file)) {
		name = strstr(line, "@" INSPECT_PREFIX);
		if (!name || sscanf(name + 1, INSPECT_NAME, &uid, &pid, &copy) != 3 || copy >= INSPECT_COPIES)
			continue;
		snprintf(whole, sizeof(whole), INSPECT_NAME, uid, pid, copy);
		name[strcspn(name, " \n")] = '\0';
		if (!strcmp(whole, name + 1) && is_wanted(pids, pid_cnt, pid) && (uid == geteuid() || !geteuid()))
			ask_one_more(&batch, whole, pid, uid);
	}
	hear_all(&batch);
	if (file)
		fclose(file);
	return file ? 0 : -FI_ENOSYS;
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
	switch (r->head.type) {
	case INSPECT_PROCESS:
		clean_text(r->process.release, sizeof(r->process.release));
		clean_text(r->process.command, sizeof(r->process.command));
		break;
	case INSPECT_EP:
		clean_text(r->ep.provider, sizeof(r->ep.provider));
		clean_text(r->ep.kind, sizeof(r->ep.kind));
		clean_text(r->ep.addr, sizeof(r->ep.addr));
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
