/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * flood - a peer that sends without end what nobody receives, and ignores that it is asked
 * to announce.
 *
 * The memory of the program stays within FI_UNEXP_PEER_MAX, and another peer is served
 * meanwhile.  The hostile peer is this library, made to forget what it was asked: it
 * changes the engine's state of its own endpoint.
 *
 *   flood [SECONDS]	for each kind; 1 if nothing is said
 *
 * With an argument the other peer must have half of its rate at least, which takes a machine
 * with nothing else to do.  The three processes take turns then (SCHED_RR, where that is allowed):
 * with fewer processors than that, the hostile one would otherwise preempt the others whenever it
 * wakes, as a peer on another host cannot.
 */
#include <sched.h>
#include <sys/time.h>

#include "engine/peer.h"
#include "peer.h"

#define LIMIT_MB 32
/* What is not counted: rings, socket buffers in the library, pools that are partly used. */
#ifdef __SANITIZE_THREAD__
#define BESIDE_MB 192		/* it keeps memory of its own for each page */
#else
#define BESIDE_MB 48
#endif
#define ROOM (1 << 20)

static const char *const kinds[] = { "empty", "eager", "long", "read" };

static struct node node;
static struct target target;
static struct fi_context2 ctx[4];
static char out[ROOM];
static volatile sig_atomic_t times_up;

/* ---- the hostile peer ---------------------------------------------------------------- */

static void forget_what_was_asked(void)
{
	struct eng_ep *ep = eng_ep_of(node.ep);
	struct eng_peer *peer;

	ep->tx_size = SIZE_MAX;
	list_for_each_entry(peer, &ep->peers, node)
		peer->slow &= (uint8_t) ~ENG_PEER_XOFF;
}

static ssize_t send_one(const char *kind, fi_addr_t to)
{
	if (!strcmp(kind, "read"))
		return fi_read(node.ep, out, 4096, NULL, to, target.addr, target.key, NULL);
	return fi_tsend(node.ep, out, !strcmp(kind, "empty") ? 0 : !strcmp(kind, "eager") ? 4000 :
			ROOM, NULL, to, 7, NULL);
}

static void run_hostile(const char *kind)
{
	fi_addr_t to = peer_open(&node, &target);
	struct fi_cq_tagged_entry entry[16];
	unsigned sent = 0;

	while (sent < 2000000) {		/* more than the limit has room for */
		forget_what_was_asked();
		if (send_one(kind, to))
			usleep(200);
		else
			sent++;
		if (sent % 64)
			continue;
		while (fi_cq_read(node.cq, entry, 16) > 0)
			;
		/* it stands for a peer on another host: it leaves the processors to the others */
		usleep(100);
	}
	for (;;) {
		fi_cq_read(node.cq, entry, 16);
		usleep(1000);
	}
}

/* ---- the honest one -------------------------------------------------------------------- */

static void run_honest(void)
{
	fi_addr_t to = peer_open(&node, &target);
	struct fi_cq_tagged_entry entry;
	struct node_name mine = node_name(&node, 0);
	int err;

	for (;;) {
		CALL(fi_trecv(node.ep, out, 64, NULL, FI_ADDR_UNSPEC, 2, 0, &ctx[0]));
		while (fi_tinject(node.ep, &mine, sizeof(mine), to, 1))
			fi_cq_read(node.cq, NULL, 0);
		CHECK(node_reap(&node, &entry, &err, 60000), "the program does not answer");
		CHECK(!err, "%s", fi_strerror(err));
	}
}

/* ---- the program ------------------------------------------------------------------------ */

static size_t memory_mb(void)
{
	unsigned long size, resident = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	CHECK(file && fscanf(file, "%lu %lu", &size, &resident) == 2);
	fclose(file);
	return resident * (size_t) sysconf(_SC_PAGESIZE) >> 20;
}

static void on_alarm(int sig)
{
	times_up = 1;
}

/* answer - the honest peer's messages for @ms.  Returns how many of them a second. */
static unsigned answer(int ms)
{
	struct itimerval time = { .it_value = { ms / 1000, ms % 1000 * 1000 } };
	static fi_addr_t to = FI_ADDR_NOTAVAIL;
	struct fi_cq_tagged_entry entry;
	static struct node_name name;
	static bool posted;
	unsigned cnt = 0;
	int err;

	times_up = 0;
	setitimer(ITIMER_REAL, &time, NULL);
	while (!times_up) {
		if (!posted)
			CALL(fi_trecv(node.ep, &name, sizeof(name), NULL, FI_ADDR_UNSPEC, 1, 0, &ctx[1]));
		posted = true;
		if (!node_reap(&node, &entry, &err, 0))
			continue;
		CHECK(!err && entry.op_context == &ctx[1]);
		posted = false;
		if (to == FI_ADDR_NOTAVAIL)
			to = node_insert(&node, &name);
		while (fi_tinject(node.ep, "", 1, to, 2))
			fi_cq_read(node.cq, NULL, 0);
		cnt++;
	}
	return (unsigned) (cnt * UINT64_C(1000) / (unsigned) ms);
}

int main(int argc, char **argv)
{
	unsigned alone, beside, i;
	struct peer honest, hostile;
	size_t before, after;
	struct fid_mr *mr;
	bool strict = argc > 1;
	int seconds = 1, sample_ms = 250;

	node_stay_far(0);
	setenv("FI_LOG_LEVEL", "none", 0);
	if (argc > 1 && !strcmp(argv[1], "honest"))
		run_honest();
	else if (argc > 1 && !atoi(argv[1]))
		run_hostile(argv[1]);
	else if (argc > 1)
		seconds = atoi(argv[1]);
	if (strict) {
		sample_ms = 1000;
		sched_setscheduler(0, SCHED_RR, &(struct sched_param) { .sched_priority = 30 });
	}
	setenv("FI_UNEXP_PEER_MAX", "33554432", 1);
	setenv("FI_UNEXP_HEADER_MAX", "33554432", 1);
	signal(SIGALRM, on_alarm);
	node_open(&node, "127.0.0.1", 0, 1, CAPS, FI_PROGRESS_MANUAL);
	mr = peer_region(&node, out, sizeof(out), &target);
	honest = peer_start("honest", &target);
	answer(sample_ms);
	alone = answer(sample_ms);
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strict)
			alone = answer(sample_ms);
		before = memory_mb();
		hostile = peer_start(kinds[i], &target);
		answer(1000 * seconds);
		beside = answer(sample_ms);
		if (!beside)	/* a machine with much else to do */
			beside = answer(20 * sample_ms);
		after = memory_mb();
		printf("%s: %zu MB more, %u messages a second of the other peer (%u without)\n",
		       kinds[i], after > before ? after - before : 0, beside, alone);
		CHECK(after <= before + LIMIT_MB + BESIDE_MB, "%s: %zu MB", kinds[i], after - before);
		CHECK(beside && (!strict || beside >= alone / 2), "%s: %u messages a second", kinds[i],
		      beside);
		peer_end(&hostile);
		peer_poll(&node, 100);
	}
	peer_end(&honest);
	CALL(fi_close(&mr->fid));
	node_close(&node);
	return 0;
}
