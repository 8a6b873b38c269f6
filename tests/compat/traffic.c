/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * traffic - one of several processes that exchange random operations, each over the library that it
 * loads.
 *
 *   traffic PROVIDER DIRECTORY RANK RANKS SECONDS SEED [killed]
 *
 * Messages with and without tags of 1 B to 8 MiB, writes (some with data) that are read back, and
 * fetching atomics where TRAFFIC_ATOMICS is set; none without tags where TRAFFIC_TAGGED is: a library may
 * match those without regard to their sender.  What a message has in it follows from SEED, its
 * sender, its receiver and its number, so that the receiver knows it.  At the end each says how much it
 * sent.  With "killed" the other processes are killed, and this one succeeds when each of its operations
 * has ended once.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include "meet.h"

#define RANKS_MAX 16
#define LEN_MAX ((size_t) 8 << 20)
#define CELLS 4096			/* bytes for atomics, before the slots of each rank */
#define OPS 160
#define AHEAD 2				/* receives posted of each sender and kind */
#define SENDING 8			/* operations of ours in flight */
#define END_MS 180000			/* until everything has ended, after the last is sent */
#define STRAY_MS 200

enum kind { UNTAGGED, TAGGED, LAST, WRITE, READ, ATOMIC, DATA, KINDS };

static const char *const kind_name[KINDS] = {
	"messages", "tagged messages", "last messages", "writes", "reads", "atomics", "writes with data",
};

enum state { UNUSED, WAITING, STARTED };

struct op {
	struct fi_context2 ctx;		/* first: a completion names it */
	enum state state;		/* WAITING: for room in the queues */
	struct op *next;		/* that waits */
	enum kind kind;
	bool receive;
	int peer;
	uint64_t no;			/* of this kind, from this sender to this receiver */
	size_t len;
	uint8_t *buf;
	uint64_t old, one;		/* of an atomic */
};

struct card {				/* what a process publishes */
	uint64_t addr_len, base, key;
	uint8_t addr[64];
};

struct peer {
	fi_addr_t addr;
	struct card card;
	bool rma, atomic, ended;	/* in flight; it sent its last message */
	bool last;			/* ours is sent */
	uint64_t sent[KINDS], got[KINDS], all[KINDS];
};

static struct {
	const char *dir;
	int rank, ranks, busy;		/* @busy: sends and the like in flight */
	uint64_t seed, random;
	enum kind first;		/* kind of message: UNTAGGED, or TAGGED */
	bool killed, failed;		/* peers are; one was */
	unsigned long errors;
} my;

static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct fid_av *av;
static struct fid_cq *cq;
static struct fid_ep *ep;
static struct fid_mr *mr;
static uint8_t *region;
static struct peer peers[RANKS_MAX];
static struct op ops[OPS];
static struct op *waiting, **waiting_end = &waiting;	/* in the order in which they are to start */

/* ---- what is in a message -------------------------------------------------------------------------- */

static uint64_t content(enum kind kind, int from, int to, uint64_t no)
{
	return meet_mix(my.seed ^ meet_mix(((uint64_t) kind << 48 | (uint64_t) from << 40 |
					    (uint64_t) to << 32) + no));
}

static uint64_t dice(void)
{
	return my.random = meet_mix(my.random);
}

/* ---- operations -------------------------------------------------------------------------------------- */

static struct op *op_new(enum kind kind, bool receive, int peer, uint64_t no, size_t len)
{
	struct op *op = ops;

	while (op < ops + OPS && op->state != UNUSED)
		op++;
	if (op == ops + OPS)
		meet_must("an operation", -FI_ENOMEM);
	*op = (struct op) {
		.state = WAITING, .kind = kind, .receive = receive, .peer = peer, .no = no, .len = len,
		.buf = calloc(1, len), .one = 1,
	};
	if (!op->buf)
		meet_must("memory", -FI_ENOMEM);
	my.busy += !receive;
	*waiting_end = op;
	waiting_end = &op->next;
	return op;
}

static void op_free(struct op *op)
{
	my.busy -= !op->receive;
	free(op->buf);
	op->state = UNUSED;
}

static uint64_t tag_of(const struct op *op)
{
	return (uint64_t) op->kind << 32 | (uint32_t) op->no;
}

static ssize_t start_message(struct op *op, fi_addr_t to)
{
	if (op->receive)
		return op->kind == UNTAGGED ? fi_recv(ep, op->buf, op->len, NULL, to, op) :
			fi_trecv(ep, op->buf, op->len, NULL, to, tag_of(op), 0, op);
	return op->kind == UNTAGGED ? fi_send(ep, op->buf, op->len, NULL, to, op) :
		fi_tsend(ep, op->buf, op->len, NULL, to, tag_of(op), op);
}

static bool has_data(const struct op *op)
{
	return op->no % 3 == 0;
}

static ssize_t start_write(struct op *op, fi_addr_t to, uint64_t at, uint64_t key)
{
	struct iovec iov = { op->buf, op->len };
	struct fi_rma_iov rma = { at, op->len, key };
	struct fi_msg_rma msg = {
		.msg_iov = &iov, .iov_count = 1, .addr = to, .rma_iov = &rma, .rma_iov_count = 1,
		.context = op, .data = (uint64_t) my.rank,
	};

	return fi_writemsg(ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE |
			   (has_data(op) ? FI_REMOTE_CQ_DATA : 0));
}

static ssize_t start_remote(struct op *op, const struct peer *peer)
{
	uint64_t base = peer->card.base, slot = base + CELLS + (uint64_t) my.rank * LEN_MAX;

	if (op->kind == WRITE)
		return start_write(op, peer->addr, slot, peer->card.key);
	if (op->kind == READ)
		return fi_read(ep, op->buf, op->len, NULL, peer->addr, slot, peer->card.key, op);
	return fi_fetch_atomic(ep, &op->one, 1, NULL, &op->old, NULL, peer->addr,
			       base + 8 * (uint64_t) my.rank, peer->card.key, FI_UINT64, FI_SUM, op);
}

/* Returns false if there is no room for it. */
static bool op_start(struct op *op)
{
	struct peer *peer = &peers[op->peer];
	ssize_t ret = op->kind <= LAST ? start_message(op, peer->addr) : start_remote(op, peer);

	if (ret == -FI_EAGAIN)
		return false;
	op->state = STARTED;
	if (ret) {
		if (!my.killed)
			meet_must(kind_name[op->kind], (long) ret);
		my.failed = true;
		op_free(op);
	}
	return true;
}

/* Those behind one that has no room wait, too, if they are for the same peer: it counts them. */
static void start_waiting(void)
{
	bool full[RANKS_MAX] = { false };
	struct op **at = &waiting, *op;

	while ((op = *at)) {
		if (!full[op->peer] && op_start(op)) {
			*at = op->next;
			if (waiting_end == &op->next)
				waiting_end = at;
		} else {
			full[op->peer] = true;
			at = &op->next;
		}
	}
}

/* ---- completions ---------------------------------------------------------------------------------------- */

static void verify(const struct op *op, enum kind kind, int from, int to)
{
	long bad = meet_check(op->buf, op->len, content(kind, from, to, op->no));

	if (bad < 0)
		return;
	printf("failed: %s %llu from rank %d to %d, %zu bytes: wrong from byte %ld on\n", kind_name[kind],
	       (unsigned long long) op->no, from, to, op->len, bad);
	exit(1);
}

/* The message is a later one: those before it, of which the peer was killed in the middle, are lost. */
static bool is_later(const struct op *op, size_t len)
{
	uint64_t no;

	if (!my.killed || op->kind != UNTAGGED || len > op->len)
		return false;
	for (no = op->no + 1; no < op->no + 2 * SENDING; no++)
		if (meet_size(content(UNTAGGED, op->peer, my.rank, no), LEN_MAX) == len &&
		    meet_check(op->buf, len, content(UNTAGGED, op->peer, my.rank, no)) < 0)
			return true;
	return false;
}

static void expect(enum kind kind, int from)
{
	struct peer *peer = &peers[from];
	uint64_t no = peer->got[kind] + AHEAD;

	if (peer->ended && no >= peer->all[kind])
		return;
	op_new(kind, true, from, no, meet_size(content(kind, from, my.rank, no), LEN_MAX));
}

static void received(struct op *op, size_t len)
{
	struct peer *peer = &peers[op->peer];
	enum kind kind = op->kind;
	int from = op->peer;

	if (is_later(op, len)) {
		my.failed = true;
	} else if (len != op->len) {
		printf("failed: %s %llu from rank %d has %zu bytes, not %zu\n", kind_name[kind],
		       (unsigned long long) op->no, from, len, op->len);
		exit(1);
	} else if (kind == LAST) {
		memcpy(peer->all, op->buf, sizeof(peer->all));
		peer->ended = true;
	} else {
		verify(op, kind, from, my.rank);
	}
	op_free(op);
	if (kind != LAST && !my.failed)
		expect(kind, from);
	peer->got[kind]++;
}

/* What was written is read back. */
static void written(struct op *op)
{
	op_new(READ, false, op->peer, op->no, op->len);
	op_free(op);
}

static void sent(struct op *op)
{
	struct peer *peer = &peers[op->peer];

	switch (op->kind) {
	case WRITE:
		written(op);
		return;
	case READ:
		verify(op, WRITE, my.rank, op->peer);
		peer->got[READ]++;
		peer->rma = false;
		break;
	case ATOMIC:
		if (op->old != op->no)
			meet_must("the result of an atomic", -FI_EOTHER);
		peer->atomic = false;
		break;
	default:
		break;
	}
	op_free(op);
}

static struct op *op_of(void *context)
{
	struct op *op = context;

	if (op < ops || op >= ops + OPS || op->state != STARTED) {
		printf("failed: a completion of no operation in flight\n");
		exit(1);
	}
	return op;
}

static void completed(const struct fi_cq_data_entry *entry)
{
	struct op *op;

	if (entry->flags & FI_REMOTE_WRITE) {
		if (entry->data >= (uint64_t) my.ranks)
			meet_must("the data of a write", -FI_EOTHER);
		peers[entry->data].got[DATA]++;
		return;
	}
	op = op_of(entry->op_context);
	if (op->receive)
		received(op, entry->len);
	else
		sent(op);
}

static void failed_one(void)
{
	struct fi_cq_err_entry err = { 0 };
	struct op *op;

	if (fi_cq_readerr(cq, &err, 0) != 1)
		meet_must("fi_cq_readerr", -FI_EOTHER);
	op = op_of(err.op_context);
	if (err.err != FI_ECANCELED) {
		if (!my.killed) {
			printf("failed: %s with rank %d: %s\n", kind_name[op->kind], op->peer,
			       fi_strerror(err.err));
			exit(1);
		}
		my.failed = true;
		my.errors++;
	}
	op_free(op);
}

static void progress(void)
{
	static unsigned idle;
	struct fi_cq_data_entry entry[8];
	ssize_t n = fi_cq_read(cq, entry, 8), i;

	if (n == -FI_EAVAIL)
		failed_one();
	else if (n < 0 && n != -FI_EAGAIN)
		meet_must("fi_cq_read", (long) n);
	for (i = 0; i < n; i++)
		completed(&entry[i]);
	start_waiting();
	idle = n == -FI_EAGAIN ? idle + 1 : 0;
	if (idle > 100)
		usleep(50);
}

/* ---- random ---------------------------------------------------------------------------------------------- */

static void begin(enum kind kind, int to)
{
	struct peer *peer = &peers[to];
	uint64_t no = peer->sent[kind]++;
	struct op *op = op_new(kind, false, to, no, kind == ATOMIC ? 8 :
			       meet_size(content(kind, my.rank, to, no), LEN_MAX));

	if (kind == ATOMIC)
		peer->atomic = true;
	else
		meet_fill(op->buf, op->len, content(kind, my.rank, to, no));
	if (kind == WRITE) {
		peer->rma = true;
		peer->sent[DATA] += has_data(op);
	}
}

static void something(void)
{
	uint64_t random = dice();
	int to = (int) (random % (uint64_t) my.ranks);
	struct peer *peer = &peers[to];

	if (to == my.rank || my.busy >= SENDING)
		return;
	switch (random >> 32 & 7) {
	case 0:
	case 1:
		if (!peer->rma)
			begin(WRITE, to);
		break;
	case 2:
		if (!peer->atomic && getenv("TRAFFIC_ATOMICS"))
			begin(ATOMIC, to);
		break;
	default:
		begin(random >> 40 & 1 ? TAGGED : my.first, to);
	}
}

/* ---- begin and end --------------------------------------------------------------------------------------- */

static void open_all(void)
{
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_DATA, .size = 4096 };
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE, .count = RANKS_MAX };
	uint64_t remote = FI_REMOTE_READ | FI_REMOTE_WRITE | FI_READ | FI_WRITE;
	size_t len = CELLS + (size_t) my.ranks * LEN_MAX;

	meet_must("fi_fabric", fi_fabric(info->fabric_attr, &fabric, NULL));
	meet_must("fi_domain", fi_domain(fabric, info, &domain, NULL));
	meet_must("fi_av_open", fi_av_open(domain, &av_attr, &av, NULL));
	meet_must("fi_cq_open", fi_cq_open(domain, &cq_attr, &cq, NULL));
	meet_must("fi_endpoint", fi_endpoint(domain, info, &ep, NULL));
	meet_must("fi_ep_bind av", fi_ep_bind(ep, &av->fid, 0));
	meet_must("fi_ep_bind cq", fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV));
	meet_must("fi_enable", fi_enable(ep));
	region = calloc(1, len);
	meet_must("fi_mr_reg", fi_mr_reg(domain, region, len, remote, 0, (uint64_t) my.rank + 1, 0, &mr,
					 NULL));
}

static void publish(void)
{
	struct card card = { .key = fi_mr_key(mr) };
	size_t len = sizeof(card.addr);
	char name[20];

	if (info->domain_attr->mr_mode & FI_MR_VIRT_ADDR)
		card.base = (uint64_t) (uintptr_t) region;
	meet_must("fi_getname", fi_getname(&ep->fid, card.addr, &len));
	card.addr_len = len;
	snprintf(name, sizeof(name), "rank.%d", my.rank);
	meet_publish(my.dir, name, &card, sizeof(card));
}

static void find_peer(int rank)
{
	struct peer *peer = &peers[rank];
	uint64_t until = meet_now_ms() + END_MS;
	char name[20];

	snprintf(name, sizeof(name), "rank.%d", rank);
	while (meet_look(my.dir, name, &peer->card, sizeof(peer->card))) {
		if (meet_now_ms() > until)
			meet_must(name, -FI_ETIMEDOUT);
		usleep(10000);
	}
	if (fi_av_insert(av, peer->card.addr, 1, &peer->addr, 0, NULL) != 1)
		meet_must("fi_av_insert", -FI_EOTHER);
}

static void first_receives(int from)
{
	struct peer *peer = &peers[from];
	enum kind kind;
	uint64_t no;

	for (kind = my.first; kind <= TAGGED; kind++)
		for (no = 0; no < AHEAD; no++)
			op_new(kind, true, from, no,
			       meet_size(content(kind, from, my.rank, no), LEN_MAX));
	op_new(LAST, true, from, 0, sizeof(peer->all));
}

static void say_last(int to)
{
	struct peer *peer = &peers[to];
	struct op *op = op_new(LAST, false, to, 0, sizeof(peer->sent));

	memcpy(op->buf, peer->sent, sizeof(peer->sent));
	peer->last = true;
}

/* Everything that the peer says to have sent is here. */
static bool complete(const struct peer *peer)
{
	return peer->ended && peer->got[UNTAGGED] == peer->all[UNTAGGED] &&
	       peer->got[TAGGED] == peer->all[TAGGED] && peer->got[DATA] == peer->all[DATA];
}

static bool all_complete(void)
{
	int i;

	for (i = 0; i < my.ranks; i++)
		if (i != my.rank && !complete(&peers[i]))
			return false;
	return !my.busy;
}

static bool all_here(void)
{
	char name[20], byte;
	int i;

	for (i = 0; i < my.ranks; i++) {
		snprintf(name, sizeof(name), "done.%d", i);
		if (meet_look(my.dir, name, &byte, 1))
			return false;
	}
	return true;
}

static void report(int status)
{
	uint64_t sum[KINDS] = { 0 };
	int i, k;

	for (i = 0; i < my.ranks; i++) {
		const struct peer *peer = &peers[i];

		for (k = 0; k < KINDS; k++)
			sum[k] += k == UNTAGGED || k == TAGGED || k == READ || k == DATA ? peer->got[k] :
				  peer->sent[k];
		if (status && i != my.rank)
			printf("rank %d: has %llu of %llu messages, %llu of %llu with tags, %llu of %llu "
			       "writes with data; it has %sended\n", i,
			       (unsigned long long) peer->got[UNTAGGED],
			       (unsigned long long) peer->all[UNTAGGED],
			       (unsigned long long) peer->got[TAGGED],
			       (unsigned long long) peer->all[TAGGED],
			       (unsigned long long) peer->got[DATA],
			       (unsigned long long) peer->all[DATA], peer->ended ? "" : "not ");
	}
	printf("%s: rank %d:", status ? "failed" : "ok", my.rank);
	for (k = 0; k < KINDS; k++)
		if (k != LAST)
			printf(" %llu %s%s", (unsigned long long) sum[k], kind_name[k],
			       k < KINDS - 1 ? "," : "\n");
	exit(status);
}

static void run(uint64_t ms)
{
	uint64_t until = meet_now_ms() + ms;
	int i;

	while (meet_now_ms() < until && !my.failed) {
		something();
		progress();
	}
	until = meet_now_ms() + END_MS;
	while (my.busy && !my.failed && meet_now_ms() < until)
		progress();
	for (i = 0; i < my.ranks && !my.failed; i++)
		if (i != my.rank)
			say_last(i);
	while (!my.failed && !all_complete()) {
		if (meet_now_ms() > until)
			report(1);
		progress();
	}
}

/* The peers may still want something of us. */
static void await_others(void)
{
	uint64_t until = meet_now_ms() + END_MS;
	char name[20];

	snprintf(name, sizeof(name), "done.%d", my.rank);
	meet_publish(my.dir, name, "", 1);
	while (!all_here()) {
		if (meet_now_ms() > until)
			meet_must("the end of the others", -FI_ETIMEDOUT);
		progress();
	}
}

/* A peer was killed: what is in flight ends, the receives when they are cancelled, and nothing twice. */
static void end_after_kill(void)
{
	uint64_t until = meet_now_ms() + END_MS;
	unsigned long open;
	struct op *op;

	while (my.busy && meet_now_ms() < until)
		progress();
	for (op = ops; op < ops + OPS; op++)
		if (op->state == STARTED && op->receive)
			fi_cancel(&ep->fid, op);
	do {
		progress();
		for (open = 0, op = ops; op < ops + OPS; op++)
			open += op->state != UNUSED;
	} while (open && meet_now_ms() < until);
	if (open) {
		printf("failed: %lu operations have not ended\n", open);
		exit(1);
	}
	for (until = meet_now_ms() + STRAY_MS; meet_now_ms() < until;)
		progress();
	printf("%lu operations failed\n", my.errors);
}

static void close_all(void)
{
	meet_must("fi_close mr", fi_close(&mr->fid));
	meet_must("fi_close ep", fi_close(&ep->fid));
	meet_must("fi_close cq", fi_close(&cq->fid));
	meet_must("fi_close av", fi_close(&av->fid));
	meet_must("fi_close domain", fi_close(&domain->fid));
	meet_must("fi_close fabric", fi_close(&fabric->fid));
	fi_freeinfo(info);
	free(region);
}

int main(int argc, char **argv)
{
	uint64_t caps = FI_MSG | FI_TAGGED | FI_RMA | FI_DIRECTED_RECV;
	int i;

	if (argc < 7)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	my.dir = argv[2];
	my.rank = atoi(argv[3]);
	my.ranks = atoi(argv[4]);
	my.first = getenv("TRAFFIC_TAGGED") ? TAGGED : UNTAGGED;
	my.seed = strtoull(argv[6], NULL, 0);
	my.random = meet_mix(my.seed + (uint64_t) my.rank);
	my.killed = argc > 7;
	info = meet_info(argv[1], FI_EP_RDM, caps | (getenv("TRAFFIC_ATOMICS") ? FI_ATOMIC : 0));
	meet_must("fi_getinfo", info ? 0 : -FI_ENODATA);
	open_all();
	publish();
	for (i = 0; i < my.ranks; i++)
		if (i != my.rank)
			find_peer(i);
	for (i = 0; i < my.ranks; i++)
		if (i != my.rank)
			first_receives(i);
	run((uint64_t) (strtod(argv[5], NULL) * 1000));
	if (my.killed)
		end_after_kill();
	else
		await_others();
	if (!my.killed)
		report(0);
	close_all();
	printf("ok\n");
	return 0;
}
