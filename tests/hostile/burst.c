/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * burst - peers that post 20,000 operations at once over a connection, before they can learn that
 * the program does not receive.
 *
 * What the program uses for one of them stays within FI_UNEXP_PEER_MAX and for all within
 * FI_UNEXP_MAX: by the endpoint's own count, and as resident memory.  Peers that do as they are
 * asked are not harmed: the last message of each is received before the others, then all others.
 * Peers that ignore it are held at the limit.
 *
 * BURST_CNT: another number of operations.
 */
#include "engine/peer.h"
#include "peer.h"

#define PEERS 3
#define MIB (1u << 20)
#define PEER_MAX (64 * MIB)
#define ALL_MAX (128 * MIB)
#define SURE (64u << 10)	/* of each peer, whatever the others use */
#define FIRST 7			/* tags: of all messages but the last, and of that */
#define LAST 8
#define HERE 9		/* before all: the connection is there */

/* Beside what is counted: what the allocator adds to each message, a third of an empty one's
 * envelope at most, and rings, buffers of sockets, packets out of order of each connection.
 */
#define BESIDE(bytes) ((bytes) / 3 + PEERS * 16 * MIB)

static const struct kind {
	const char *name;
	size_t len;		/* of a message; a read has 4096 bytes */
	bool hostile;		/* ignores what it is asked */
} kinds[] = {
	{ "empty", 0, false }, { "short", 100, false }, { "eager", 4000, false },
	{ "long", MIB, false }, { "empty", 0, true }, { "eager", 4000, true }, { "long", MIB, true },
	{ "read", 4096, true },
};

static struct node node;
static struct target target;
static struct fi_context2 ctx[2];
static char memory[MIB];

static unsigned count(const struct kind *kind)
{
	const char *text = getenv("BURST_CNT");
	unsigned cnt = text ? (unsigned) atoi(text) : 20000;

	return kind->len < MIB || kind->hostile ? cnt : cnt / 200;	/* their payload is received, too */
}

/* ---- the peers --------------------------------------------------------------------------- */

static void ignore_what_is_asked(void)
{
	struct eng_ep *ep = eng_ep_of(node.ep);
	struct eng_peer *peer;

	ep->tx_size = SIZE_MAX;
	list_for_each_entry(peer, &ep->peers, node)
		peer->slow &= (uint8_t) ~ENG_PEER_XOFF;
}

static ssize_t post(const struct kind *kind, fi_addr_t to, uint64_t tag)
{
	if (!strcmp(kind->name, "read"))
		return fi_read(node.ep, memory, kind->len, NULL, to, target.addr, target.key, NULL);
	return fi_tsend(node.ep, memory, kind->len, NULL, to, tag, NULL);
}

static void run_peer(const struct kind *kind)
{
	fi_addr_t to = peer_open(&node, &target);
	struct fi_cq_tagged_entry entry[16];
	unsigned i, cnt = count(kind);
	int err;

	CALL(fi_tsend(node.ep, memory, 1, NULL, to, HERE, &ctx[0]));
	CHECK(node_reap(&node, &entry[0], &err, 60000) && !err);
	for (i = 0; i < cnt; i++) {
		if (kind->hostile)
			ignore_what_is_asked();
		while (post(kind, to, i + 1 < cnt ? FIRST : LAST))
			fi_cq_read(node.cq, entry, 16);
	}
	node_write(STDOUT_FILENO, "", 1);
	for (;;) {
		if (kind->hostile)
			ignore_what_is_asked();
		if (fi_cq_read(node.cq, entry, 16) == -FI_EAGAIN)
			usleep(100);
	}
}

/* ---- the program --------------------------------------------------------------------------- */

struct most {
	uint64_t one, all;
	size_t resident;
};

static void look(struct most *most, size_t before)
{
	struct eng_ep *ep = eng_ep_of(node.ep);
	size_t now = peer_resident();
	struct eng_peer *peer;
	uint64_t held;

	list_for_each_entry(peer, &ep->peers, node) {
		held = peer->held;
		most->one = held > most->one ? held : most->one;
	}
	most->all = ep->held > most->all ? ep->held : most->all;
	now = now > before ? now - before : 0;
	most->resident = now > most->resident ? now : most->resident;
}

static void receive(unsigned cnt, size_t len, uint64_t tag, struct most *most, size_t before)
{
	struct fi_cq_tagged_entry entry;
	unsigned i;
	int err;

	for (i = 0; i < cnt; i++) {
		while (fi_trecv(node.ep, memory, len, NULL, FI_ADDR_UNSPEC, tag, 0, &ctx[0]))
			fi_cq_read(node.cq, NULL, 0);
		CHECK(node_reap(&node, &entry, &err, 60000), "message %u of %u with tag %d stands behind "
		      "others", i, cnt, (int) tag);
		CHECK(!err, "%s", fi_strerror(err));
		if (i % 1024 == 0)
			look(most, before);
	}
}

/* poll_and_look - poll once, and look once in a millisecond. */
static void poll_and_look(struct most *most, size_t before)
{
	static uint64_t last;

	fi_cq_read(node.cq, NULL, 0);
	if (node_now_ms() == last)
		return;
	last = node_now_ms();
	look(most, before);
}

/* await - until each peer has posted everything; a hostile one may have to wait. */
static void await(struct peer *peers, bool hostile, struct most *most, size_t before)
{
	uint64_t quiet = node_now_ms() + (hostile ? 1500 : 120000);
	unsigned i, done = 0;
	char byte;

	while (done < PEERS && node_now_ms() < quiet) {
		for (i = 0; i < PEERS; i++)
			if (peer_speaks(peers[i].in)) {
				node_read(peers[i].in, &byte, 1);
				done++;
			}
		poll_and_look(most, before);
	}
	CHECK(hostile || done == PEERS, "a peer is still posting");
	/* most of it may arrive only now */
	for (quiet = node_now_ms() + 500; node_now_ms() < quiet;)
		poll_and_look(most, before);
}

static void burst(const struct kind *kind)
{
	size_t before = peer_resident();
	char role[32];
	struct peer peers[PEERS];
	struct most most = { 0 };
	unsigned i;

	snprintf(role, sizeof(role), "%d", (int) (kind - kinds));
	for (i = 0; i < PEERS; i++)
		peers[i] = peer_start(role, &target);
	receive(PEERS, 1, HERE, &most, before);
	await(peers, kind->hostile, &most, before);
	if (!kind->hostile) {
		receive(PEERS, kind->len, LAST, &most, before);
		receive(PEERS * (count(kind) - 1), kind->len, FIRST, &most, before);
		CHECK(!eng_ep_of(node.ep)->held, "%zu bytes are still counted",
		      (size_t) eng_ep_of(node.ep)->held);
	}
	for (i = 0; i < PEERS; i++)
		peer_end(&peers[i]);
	peer_poll(&node, 100);
	printf("%s%s: counted %zu KiB of one peer, %zu KiB of all; %zu KiB of memory more\n", kind->name,
	       kind->hostile ? ", asked in vain" : "", (size_t) most.one >> 10, (size_t) most.all >> 10,
	       most.resident >> 10);
	fflush(stdout);
	CHECK(most.one <= PEER_MAX && most.all <= ALL_MAX + PEERS * SURE);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	CHECK(most.resident <= most.all + BESIDE(most.all), "more than what is counted allows");
#endif
}

int main(int argc, char **argv)
{
	struct fid_mr *mr;
	size_t i;

	node_stay_far(0);
	setenv("FI_LOG_LEVEL", "none", 0);
	if (argc > 1)
		run_peer(&kinds[atoi(argv[1])]);
	setenv("FI_UNEXP_PEER_MAX", "67108864", 1);
	setenv("FI_UNEXP_MAX", "134217728", 1);
	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		node_open(&node, "127.0.0.1", 0, 1, CAPS, FI_PROGRESS_MANUAL);
		mr = peer_region(&node, memory, sizeof(memory), &target);
		burst(&kinds[i]);
		CALL(fi_close(&mr->fid));
		node_close(&node);
	}
	return 0;
}
