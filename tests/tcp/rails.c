/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * rails - a program that names no interface: messages of one size between two processes, each checked, or writes.
 *
 *   rails server FILE SIZE COUNT                writes its address to FILE
 *   rails client FILE SIZE COUNT [msg|write]    prints MB/s, and the longest time between two completions
 *
 * With RAILS_COMPUTE the server computes for so many seconds before it takes message 50, without a call of the library.
 * With COUNT 0 the client sends messages until there is a file FILE.stop.
 * With RAILS_HOLD both go on polling when all is done, and print their pid then, until they are killed.
 *
 * RAILS_PROV is the provider (tcp).
 *
 * Without arguments both are this process and a child, for a moment.
 */
#include <rdma/fi_rma.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "node.h"

#define WINDOW 8		/* in flight */
#define BOUND_MS 180000
#define SHOWN_S 0.05		/* a pause this long is printed when it ends */
#define LAST UINT64_MAX		/* the number of the message behind all others */

/* What both sides say first. */
struct intro {
	struct sockaddr_storage name;
	size_t name_len;
	uint64_t addr, key;
};

struct side {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_ep *ep;
	struct fid_mr *mr;
	fi_addr_t peer;
	struct intro own, theirs;
	unsigned char *buf;	/* WINDOW times @size */
	size_t size;
	uint64_t done;		/* completions so far */
	double last, pause;	/* when the last came; the longest time between two */
	struct fi_context2 ctx[WINDOW];
};

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double) ts.tv_sec + (double) ts.tv_nsec / 1e9;
}

static void open_side(struct side *s, size_t size)
{
	struct fi_cq_attr attr = { .format = FI_CQ_FORMAT_CONTEXT, .wait_obj = FI_WAIT_UNSPEC };
	struct fi_av_attr table = { .type = FI_AV_TABLE };
	struct fi_info *hints = fi_allocinfo();

	memset(s, 0, sizeof(*s));
	s->size = size;
	hints->caps = FI_MSG | FI_RMA;
	hints->ep_attr->type = FI_EP_RDM;
	hints->fabric_attr->prov_name = strdup(getenv("RAILS_PROV") ? getenv("RAILS_PROV") : "tcp");
	hints->addr_format = FI_SOCKADDR_IN;
	hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_PROV_KEY | FI_MR_ALLOCATED;
	CALL(fi_getinfo(FI_VERSION(1, 20), NULL, NULL, 0, hints, &s->info));
	fi_freeinfo(hints);
	CALL(fi_fabric(s->info->fabric_attr, &s->fabric, NULL));
	CALL(fi_domain(s->fabric, s->info, &s->domain, NULL));
	CALL(fi_cq_open(s->domain, &attr, &s->cq, NULL));
	CALL(fi_av_open(s->domain, &table, &s->av, NULL));
	CALL(fi_endpoint(s->domain, s->info, &s->ep, NULL));
	CALL(fi_ep_bind(s->ep, &s->cq->fid, FI_SEND | FI_RECV));
	CALL(fi_ep_bind(s->ep, &s->av->fid, 0));
	CALL(fi_enable(s->ep));
	s->buf = mmap(NULL, WINDOW * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	CHECK(s->buf != MAP_FAILED);
	CALL(fi_mr_reg(s->domain, s->buf, WINDOW * size, FI_REMOTE_WRITE | FI_REMOTE_READ, 0, 1, 0, &s->mr, NULL));
	s->own.name_len = sizeof(s->own.name);
	CALL(fi_getname(&s->ep->fid, &s->own.name, &s->own.name_len));
	s->own.addr = s->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t) s->buf : 0;
	s->own.key = fi_mr_key(s->mr);
}

static void close_side(struct side *s)
{
	CALL(fi_close(&s->mr->fid));
	CALL(fi_close(&s->ep->fid));
	CALL(fi_close(&s->av->fid));
	CALL(fi_close(&s->cq->fid));
	CALL(fi_close(&s->domain->fid));
	CALL(fi_close(&s->fabric->fid));
	fi_freeinfo(s->info);
	munmap(s->buf, WINDOW * s->size);
}

/* reap - wait until @done completions have come in all. */
static void reap(struct side *s, uint64_t done)
{
	double end = now_s() + BOUND_MS / 1000.0, at;
	struct fi_cq_entry entry;
	ssize_t ret;

	while (s->done < done) {
		ret = fi_cq_sread(s->cq, &entry, 1, NULL, 100);
		at = now_s();
		CHECK(ret == 1 || ret == -FI_EAGAIN, "completion %llu is %zd", (unsigned long long) s->done, ret);
		CHECK(at < end, "no completion for long");
		if (ret != 1)
			continue;
		s->done++;
		if (s->last > 0 && at - s->last > s->pause)
			s->pause = at - s->last;
		if (s->last > 0 && at - s->last > SHOWN_S)
			printf("pause %.0f ms\n", (at - s->last) * 1e3);
		s->last = at;
	}
}

static unsigned char *slot(struct side *s, uint64_t i)
{
	return s->buf + i % WINDOW * s->size;
}

/* fill, check - each page of a message says which it is. */
static void fill(unsigned char *at, size_t size, uint64_t seq)
{
	uint64_t word;
	size_t off;

	for (off = 0; off + 8 <= size; off += 4096) {
		word = seq * 1000003 + off;
		memcpy(at + off, &word, 8);
	}
}

static bool is_last(const unsigned char *at)
{
	uint64_t word;

	memcpy(&word, at, 8);
	return word == LAST * 1000003;
}

static void check(const unsigned char *at, size_t size, uint64_t seq)
{
	uint64_t word;
	size_t off;

	for (off = 0; off + 8 <= size; off += 4096) {
		memcpy(&word, at + off, 8);
		CHECK(word == seq * 1000003 + off, "message %llu differs at %zu", (unsigned long long) seq, off);
	}
}

static void send_small(struct side *s, const void *buf, size_t len)
{
	ssize_t ret;

	do {
		ret = fi_send(s->ep, buf, len, NULL, s->peer, &s->ctx[0]);
		if (ret == -FI_EAGAIN)
			fi_cq_read(s->cq, NULL, 0);
	} while (ret == -FI_EAGAIN);
	CALL(ret);
}

/* say - two bytes, without a completion. */
static void say(struct side *s, const char *word)
{
	ssize_t ret;

	do {
		ret = fi_inject(s->ep, word, 2, s->peer);
		if (ret == -FI_EAGAIN)
			fi_cq_read(s->cq, NULL, 0);
	} while (ret == -FI_EAGAIN);
	CALL(ret);
}

static void recv_slot(struct side *s, uint64_t i)
{
	CALL(fi_recv(s->ep, slot(s, i), s->size, NULL, FI_ADDR_UNSPEC, &s->ctx[i % WINDOW]));
}

static void insert_peer(struct side *s)
{
	CHECK(fi_av_insert(s->av, &s->theirs.name, 1, &s->peer, 0, NULL) == 1);
}

static void compute(void)
{
	const char *env = getenv("RAILS_COMPUTE");
	double end = now_s() + (env ? atof(env) : 0);

	while (now_s() < end)
		;
}

static void hold(struct side *s)
{
	struct fi_cq_entry entry;

	if (!getenv("RAILS_HOLD"))
		return;
	printf("held %d\n", (int) getpid());
	for (;;)
		fi_cq_sread(s->cq, &entry, 1, NULL, 10);
}

static void serve(const char *file, size_t size, uint64_t count)
{
	struct side s;
	char temp[512];
	FILE *out;
	uint64_t i;

	open_side(&s, size);
	CALL(fi_recv(s.ep, &s.theirs, sizeof(s.theirs), NULL, FI_ADDR_UNSPEC, &s.ctx[0]));
	snprintf(temp, sizeof(temp), "%s.new", file);
	out = fopen(temp, "w");
	CHECK(out && fwrite(&s.own, sizeof(s.own), 1, out) == 1 && !fclose(out) && !rename(temp, file));
	reap(&s, 1);
	insert_peer(&s);
	s.done = 0;
	for (i = 0; i < WINDOW && i < count; i++)
		recv_slot(&s, i);
	say(&s, "go");
	for (i = 0; i < count; i++) {
		if (i == 50)
			compute();
		reap(&s, i + 1);
		if (is_last(slot(&s, i)))
			break;
		check(slot(&s, i), size, i);
		if (i + WINDOW < count)
			recv_slot(&s, i + WINDOW);
	}
	printf("server: %llu messages\n", (unsigned long long) i);
	printf("server: longest pause %.0f ms\n", s.pause * 1e3);
	say(&s, "ok");
	hold(&s);
	close_side(&s);
}

static void send_msg(struct side *s, uint64_t i, uint64_t seq)
{
	ssize_t ret;

	fill(slot(s, i), s->size, seq);
	do {
		ret = fi_send(s->ep, slot(s, i), s->size, NULL, s->peer, &s->ctx[i % WINDOW]);
		if (ret == -FI_EAGAIN)
			fi_cq_read(s->cq, NULL, 0);
	} while (ret == -FI_EAGAIN);
	CALL(ret);
}

/* write_one - the last one is followed by messages, which the server waits for. */
static void write_one(struct side *s, uint64_t i)
{
	ssize_t ret;

	do {
		ret = fi_write(s->ep, slot(s, i), s->size, NULL, s->peer, s->theirs.addr + i % WINDOW * s->size,
			       s->theirs.key, &s->ctx[i % WINDOW]);
		if (ret == -FI_EAGAIN)
			fi_cq_read(s->cq, NULL, 0);
	} while (ret == -FI_EAGAIN);
	CALL(ret);
}

/* drive - @stop: end when there is such a file; NULL: after @count. */
static void drive(const char *file, size_t size, uint64_t count, int writes, const char *stop)
{
	double begin, end;
	struct side s;
	FILE *in = NULL;
	char word[8];
	uint64_t i;

	open_side(&s, size);
	for (i = 0; !in && i < 200; i++, usleep(50000))
		in = fopen(file, "r");
	CHECK(in && fread(&s.theirs, sizeof(s.theirs), 1, in) == 1);
	fclose(in);
	insert_peer(&s);
	CALL(fi_recv(s.ep, word, sizeof(word), NULL, FI_ADDR_UNSPEC, &s.ctx[1]));
	send_small(&s, &s.own, sizeof(s.own));
	reap(&s, 2);
	CALL(fi_recv(s.ep, word, sizeof(word), NULL, FI_ADDR_UNSPEC, &s.ctx[1]));
	s.done = 0;
	begin = now_s();
	for (i = 0; i < count; i++) {
		if (i >= WINDOW)
			reap(&s, i - WINDOW + 1);
		if (writes)
			write_one(&s, i);
		else
			send_msg(&s, i, stop && !access(stop, F_OK) ? LAST : i);
		if (is_last(slot(&s, i)))
			count = i + 1;
	}
	if (writes) {		/* messages behind it let the server end */
		reap(&s, count);
		end = now_s();
		for (s.done = i = 0; i < count && i < WINDOW; i++)
			send_msg(&s, i, i);
		reap(&s, i + 1);
	} else {
		reap(&s, count + 1);
		end = now_s();
	}
	CHECK(!memcmp(word, "ok", 2));
	printf("client: %.0f MB/s, longest pause %.0f ms\n", (double) size * (double) count / (end - begin) / 1e6,
	       s.pause * 1e3);
	hold(&s);
	close_side(&s);
}

static int run_both(void)
{
	char file[64];
	int status;
	pid_t pid;

	node_stay_far(1);
	snprintf(file, sizeof(file), "/tmp/rails.%d", (int) getpid());
	setenv("FI_RAILS", "auto", 0);
	pid = fork();
	if (!pid) {
		serve(file, 1 << 20, 50);
		exit(0);
	}
	drive(file, 1 << 20, 50, 0, NULL);
	unlink(file);
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	return 0;
}

int main(int argc, char **argv)
{
	size_t size = argc > 3 ? strtoul(argv[3], NULL, 0) : 0;
	uint64_t count = argc > 4 ? strtoul(argv[4], NULL, 0) : 0;
	int writes = argc > 5 && !strcmp(argv[5], "write");
	char stop[512];

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 5)
		return run_both();
	node_stay_far(1);
	snprintf(stop, sizeof(stop), "%s.stop", argv[2]);
	if (!strcmp(argv[1], "server"))
		serve(argv[2], size, !count ? UINT64_MAX / 2 : writes && count > WINDOW ? WINDOW : count);
	else
		drive(argv[2], size, count ? count : UINT64_MAX / 2, writes, count ? NULL : stop);
	return 0;
}
