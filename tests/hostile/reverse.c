/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * reverse - a peer that does nothing wrong posts all of its messages before it polls, and the program
 * receives them in the reverse order, with a limit for payload that all of them together exceed.
 * Each must arrive; and memory stays within what the headers take and what was in flight.
 * Then a peer only announces messages, for ever: its connection ends with an error.
 *
 * REVERSE_LONG=1: of each size the smaller of 1 GiB and 1,000,000 messages; else of 16 MiB and 20,000.
 * REVERSE_SIZE: one size alone.
 */
#include "engine/peer.h"
#include "peer.h"

#define MIB (1u << 20)
#define LEN_MAX MIB
#define WINDOW 16u		/* receives that are posted at a time */
#define WAIT_MS (is_long() ? 400000 : 60000)
#define HEADER_MAX (24 * MIB)	/* more than all payload of the short form */
#define BESIDE (16 * MIB)	/* buffers of a connection */
#define ENDLESS 1000000000u

static struct node node;
static struct target target;
static char pattern[LEN_MAX + 8 * 512];
static char into[WINDOW][LEN_MAX];
static struct fi_context2 ctx[WINDOW];

static bool is_long(void)
{
	return getenv("REVERSE_LONG") != NULL;
}

static unsigned count(size_t len)
{
	size_t bytes = is_long() ? 1024 * (size_t) MIB : 16 * MIB, most = is_long() ? 1000000 : 20000;

	return (unsigned) (bytes / len < most ? bytes / len : most);
}

static const char *payload(unsigned i)
{
	return pattern + 8 * (i % 512);
}

static void fill(void)
{
	uint64_t word, i;

	for (i = 0; i < sizeof(pattern) / sizeof(word); i++) {
		word = i * UINT64_C(0x9e3779b97f4a7c15);
		memcpy(pattern + i * sizeof(word), &word, sizeof(word));
	}
}

/* ---- the peer ---------------------------------------------------------------------------- */

/* post - message @i; a full queue is the only reason to poll. */
static void post(fi_addr_t to, unsigned i, size_t len)
{
	struct fi_cq_tagged_entry entry;
	ssize_t ret;

	while ((ret = fi_tsend(node.ep, payload(i), len, NULL, to, i, NULL))) {
		CHECK(ret == -FI_EAGAIN, "%s", fi_strerror((int) -ret));
		fi_cq_read(node.cq, &entry, 1);
	}
}

static void run_sender(size_t len)
{
	fi_addr_t to = peer_open(&node, &target);
	struct fi_cq_tagged_entry entry[16];
	unsigned i;

	for (i = 0; i < count(len); i++)
		post(to, i, len);
	for (;;)
		if (fi_cq_read(node.cq, entry, 16) == -FI_EAGAIN)
			usleep(50);
}

/* announce_only - until the connection ends; what it was asked for is not sent. */
static void announce_only(void)
{
	fi_addr_t to = peer_open(&node, &target);
	struct fi_cq_tagged_entry entry;
	struct eng_peer *peer;
	unsigned i;
	int err;

	CALL(fi_tsend(node.ep, pattern, 8, NULL, to, ENDLESS, NULL));
	CHECK(node_reap(&node, &entry, &err, WAIT_MS) && !err);
	for (i = 0; i < ENDLESS; i++) {
		list_for_each_entry(peer, &eng_ep_of(node.ep)->peers, node)
			peer->slow |= ENG_PEER_XOFF;
		while (fi_tsend(node.ep, pattern, 4096, NULL, to, i, NULL) == -FI_EAGAIN)
			if (node_reap(&node, &entry, &err, 0) && err)
				_exit(0);
		if (i % 64 == 0 && node_reap(&node, &entry, &err, 0) && err)
			_exit(0);
	}
	_exit(1);
}

/* ---- the program ----------------------------------------------------------------------------- */

static void see(size_t *most_p, size_t before)
{
	size_t now = peer_resident();

	if (now > before && now - before > *most_p)
		*most_p = now - before;
}

static void receive(unsigned i, unsigned slot, size_t len)
{
	ssize_t ret;

	while ((ret = fi_trecv(node.ep, into[slot], len, NULL, FI_ADDR_UNSPEC, i, 0, &ctx[slot]))) {
		CHECK(ret == -FI_EAGAIN, "%s", fi_strerror((int) -ret));
		fi_cq_read(node.cq, NULL, 0);
	}
}

/* reap_recv - node_reap() of a receive: an endpoint that is its own peer completes sends, too. */
static int reap_recv(struct fi_cq_tagged_entry *entry, int *err_p)
{
	int ret;

	do
		ret = node_reap(&node, entry, err_p, WAIT_MS);
	while (ret && !*err_p && !(entry->flags & FI_RECV));
	return ret;
}

static void receive_all(unsigned cnt, size_t len, size_t before, size_t *most_p)
{
	unsigned posted = 0, done, slot, of[WINDOW];
	struct fi_cq_tagged_entry entry;
	int err;

	for (; posted < cnt && posted < WINDOW; posted++) {
		of[posted] = cnt - 1 - posted;
		receive(of[posted], posted, len);
	}
	for (done = 0; done < cnt; done++) {
		CHECK(reap_recv(&entry, &err), "of %u messages of %zu bytes %u have come",
		      cnt, len, done);
		slot = (unsigned) ((struct fi_context2 *) entry.op_context - ctx);
		CHECK(!err && slot < WINDOW && entry.len == len, "%s", fi_strerror(err));
		CHECK(entry.tag == of[slot] && !memcmp(into[slot], payload(of[slot]), len),
		      "message %u has another content", of[slot]);
		if (done % 1024 == 0)
			see(most_p, before);
		if (posted == cnt)
			continue;
		of[slot] = cnt - 1 - posted++;
		receive(of[slot], slot, len);
	}
}

/* reverse - @self: the endpoint is its own peer. */
static void reverse(size_t len, bool self)
{
	unsigned cnt = count(len), i;
	size_t before, most = 0;
	struct peer peer = { 0 };
	uint64_t start = node_now_ms();
	char role[32];
	fi_addr_t to;

	snprintf(role, sizeof(role), "%zu", len);
	memset(into, 1, sizeof(into));
	before = peer_resident();
	if (self) {
		to = node_insert(&node, &target.name);
		for (i = 0; i < cnt; i++)
			post(to, i, len);
	} else {
		peer = peer_start(role, &target);
	}
	receive_all(cnt, len, before, &most);
	printf("%u messages of %zu bytes: %.1f s, %zu MiB of memory more\n", cnt, len,
	       (double) (node_now_ms() - start) / 1000, most / MIB);
	fflush(stdout);
	CHECK(!eng_ep_of(node.ep)->held, "something is still counted");
	if (!self)
		peer_end(&peer);
	peer_poll(&node, 20);
}

/* endless - the operation that waits for the peer that announces for ever ends with the error. */
static void endless(void)
{
	size_t before = peer_resident(), most = 0;
	struct peer peer = peer_start("announce", &target);
	struct fi_cq_tagged_entry entry;
	uint64_t end = node_now_ms() + WAIT_MS;
	struct eng_peer *p;
	fi_addr_t src = FI_ADDR_UNSPEC;
	int err;

	receive(ENDLESS, 0, 8);
	CHECK(node_reap(&node, &entry, &err, WAIT_MS) && !err);
	list_for_each_entry(p, &eng_ep_of(node.ep)->peers, node)
		if (p->addr)
			src = node_insert(&node, (struct node_name *) p->addr);
	CALL(fi_trecv(node.ep, into[0], 8, NULL, src, ENDLESS + 1, 0, &ctx[0]));
	while (!node_reap(&node, &entry, &err, 0)) {
		CHECK(node_now_ms() < end, "its connection has not ended");
		see(&most, before);
	}
	printf("announcements for ever: %s, %zu MiB of memory more\n", fi_strerror(err), most / MIB);
	fflush(stdout);
	CHECK(err == FI_EOVERRUN, "%s", fi_strerror(err));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	CHECK(most <= HEADER_MAX + BESIDE, "more memory than the limit allows");
#endif
	peer_end(&peer);
	peer_poll(&node, 20);
}

int main(int argc, char **argv)
{
	static const size_t sizes[] = { 8, 32, 128, 512, 2048, 8192, 32768, 131072, 524288, LEN_MAX };
	const char *only = getenv("REVERSE_SIZE"), *prov = getenv("TEST_PROVIDER");
	bool self = prov && !strcmp(prov, "loop");
	char limit[32];
	size_t i;

	node_stay_far(0);
	fill();
	setenv("FI_LOG_LEVEL", "none", 0);
	if (argc > 1 && !strcmp(argv[1], "announce"))
		announce_only();
	if (argc > 1)
		run_sender((size_t) atol(argv[1]));
	snprintf(limit, sizeof(limit), "%u", HEADER_MAX);
	setenv("FI_UNEXP_PEER_MAX", "1048576", 1);
	setenv("FI_UNEXP_MAX", "1048576", 1);
	if (!is_long())
		setenv("FI_UNEXP_HEADER_MAX", limit, 1);
	node_open(&node, "127.0.0.1", 0, 1, CAPS | FI_DIRECTED_RECV, FI_PROGRESS_MANUAL);
	target.name = node_name(&node, 0);
	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		if (!only || sizes[i] == (size_t) atol(only))
			reverse(sizes[i], self);
	if (!is_long() && !self)
		endless();
	node_close(&node);
	return 0;
}
