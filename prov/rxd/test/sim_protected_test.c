/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Protected endpoints in simulated time: over networks with every kind of fault, and with an attacker on the path,
 * who has every datagram, and alters, drops, repeats, makes and redirects what it wants.
 *
 *	sim_protected_test [first seed [how many]]
 */
#include <rdma/fi_errno.h>

#include "sim_attack.h"
#include "sim_run.h"
#include "log_text.h"

/* The thread sanitizer takes 25 times as long. */
#if defined(__SANITIZE_THREAD__)
enum { NETWORKS = 20, STRIDE = 23 };
#else
enum { NETWORKS = 100, STRIDE = 1 };
#endif

/* ---- a bit of a byte of a datagram ------------------------------------------------------------- */

/* The datagram that is attacked: the first of its kind between nodes 0 and 1. */
static struct {
	unsigned from;
	int type;
	bool sealed, truncate;
	size_t least;		/* bytes that it has */
	size_t at;
	bool done;
	size_t len;		/* of the one that was found */
} target;

static bool alter(unsigned from, unsigned to, const uint8_t *data, size_t len)
{
	uint8_t buf[2048];

	if (to > PORT(2))
		return true;	/* there is no endpoint */
	if (target.done || from != target.from || to == PORT(2) || type_of(data) != target.type ||
	    is_sealed(data, len) != target.sealed || len < target.least)
		return false;
	target.done = true;
	target.len = len;
	if (target.at >= len)
		return false;
	memcpy(buf, data, len);
	if (target.truncate)
		len = target.at;
	else
		buf[target.at] ^= (uint8_t) (1 << target.at % 8);
	/* an attacker makes a checksum that fits */
	if (!target.sealed && len >= sizeof(struct rxd_hdr) &&
	    !(target.at >= offsetof(struct rxd_hdr, crc) && target.at < offsetof(struct rxd_hdr, conn)))
		rxd_seal(buf, len, NULL, 0);
	snet_forge(from, to, buf, len);
	return true;
}

/* alter_one - Returns its length. */
static size_t alter_one(unsigned from, int type, bool sealed, size_t least, size_t at, bool truncate)
{
	bool came;

	begin();
	CHECK(say(2, 1) && say(1, 2));
	target = (typeof(target)) { .from = from, .type = type, .sealed = sealed, .least = least, .at = at,
				   .truncate = truncate };
	snet_attack = alter;
	came = say(0, 1) && say(1, 0);
	snet_attack = NULL;
	CHECK(target.done);
	/* what is sealed is dropped, and retransmitted; an altered handshake may be an attempt that failed */
	CHECK(!sealed || came);
	nodes_downs = 0;
	bystander();
	finish();
	return target.len;
}

static void alter_all(unsigned from, int type, bool sealed, size_t least)
{
	size_t len = alter_one(from, type, sealed, least, SIZE_MAX, false), at;

	for (at = 0; at < len; at += STRIDE)
		alter_one(from, type, sealed, least, at, false);
	for (at = 0; at < len; at += 7 * STRIDE)
		alter_one(from, type, sealed, least, at, true);
}

/* Each byte of a datagram of each type, and each length. */
static void bits_are_flipped(void)
{
	alter_all(PORT(0), RXD_HELLO, false, 0);
	alter_all(PORT(1), RXD_RETRY, false, 0);
	alter_all(PORT(0), RXD_HELLO, false, sizeof(struct rxd_hdr) + sizeof(struct rxd_hello) + 1);
	alter_all(PORT(1), RXD_SHAKE, false, 0);
	alter_all(PORT(0), RXD_SHAKE, false, 0);
	alter_all(PORT(0), RXD_HELLO, true, 0);
	alter_all(PORT(1), RXD_WELCOME, true, 0);
	alter_all(PORT(0), RXD_DATA, true, 0);
	alter_all(PORT(1), RXD_DATA, true, 0);
}

/* ---- datagrams again, elsewhere, and made up ------------------------------------------------------ */

/* unharmed - what was done to the connection of 0 and 1 has changed nothing. */
static void unharmed(uint64_t delivered)
{
	quiet(5 * CLOCK_NS_PER_S);
	CHECK(nodes_delivered == delivered && !nodes_downs);
	CHECK(say(0, 1) && say(1, 0) && !nodes_downs);
	bystander();
}

/* sent_again - all that was captured comes a second time; @back: at its sender. */
static void sent_again(bool back)
{
	unsigned i, cnt;
	uint64_t was;

	connected();
	was = nodes_delivered;
	cnt = captured_cnt;
	for (i = 0; i < cnt; i++)
		snet_forge(back ? captured[i].to : captured[i].from, back ? captured[i].from : captured[i].to,
			   captured[i].data, captured[i].len);
	unharmed(was);
	finish();
}

/* A peer that was restarted at the same address takes nothing that was meant for its earlier life. */
static void replayed_after_restart(void)
{
	unsigned i, cnt;
	uint64_t was;

	connected();
	node_close(1);
	node_open(1);
	nodes[1]->later = 0;
	was = nodes_delivered;
	cnt = captured_cnt;
	for (i = 0; i < cnt; i++)
		if (captured[i].to == PORT(1))
			snet_forge(captured[i].from, PORT(1), captured[i].data, captured[i].len);
	quiet(5 * CLOCK_NS_PER_S);
	CHECK(nodes_delivered == was && !nodes[1]->peers[0].from_life);
	finish();
}

/* ---- a peer that was restarted, and says nothing ------------------------------------------------------- */

/* The RESET that node 1 made last, and one that an attacker had another node make. */
static uint8_t reset_seen[sizeof(struct rxd_hdr) + sizeof(struct rxd_sealed_reset)];
static unsigned reset_from;

static bool keep_reset(unsigned from, unsigned to, const uint8_t *data, size_t len)
{
	if (type_of(data) != RXD_RESET || len != sizeof(reset_seen))
		return false;
	memcpy(reset_seen, data, len);
	reset_from = from;
	return true;		/* the attacker has it alone */
}

static void restart(unsigned no)
{
	node_close(no);
	node_open(no);
	nodes[no]->later = 0;
}

/* A restarted peer is noticed within WHILE_NS after something is sent to it, and reached again. */
static void a_restart_is_noticed(void)
{
	connected();
	restart(1);
	CHECK(!say(0, 1) && nodes_downs == 1 && nodes_last_err == FI_ECONNRESET);
	nodes_downs = 0;
	CHECK(say(0, 1) && say(1, 0) && !nodes_downs);
	finish();
}

/* ask - an attacker's PROBE to port @at about the connection that node 0 has with node 1.  Returns: was there an answer? */
static bool ask(unsigned at)
{
	const struct rxd_sec *sec = sec_of(0, 1);
	struct rxd_probe probe = { .cid = htole64(sec->cid), .addr_len = sizeof(struct sockaddr_in) };
	uint8_t buf[sizeof(struct rxd_hdr) + sizeof(probe)];

	memcpy(probe.addr, &nodes[0]->addr, sizeof(nodes[0]->addr));
	rxd_put_hdr(buf, RXD_PROBE, RXD_F_SUM, sec->peer_cid, 0);
	memcpy(buf + sizeof(struct rxd_hdr), &probe, sizeof(probe));
	rxd_guard_mark(buf);
	rxd_seal(buf, sizeof(buf), NULL, 0);
	reset_from = 0;
	snet_attack = keep_reset;
	snet_forge(PORT(0), at, buf, sizeof(buf));
	quiet(CLOCK_NS_PER_S / 10);
	snet_attack = NULL;
	return reset_from != 0;
}

/* say_reset - what was kept goes to node 0, with bit @bit altered. */
static void say_reset(unsigned from, unsigned bit)
{
	uint8_t buf[sizeof(reset_seen)];

	memcpy(buf, reset_seen, sizeof(buf));
	if (bit < 8 * sizeof(buf))
		buf[bit / 8] ^= (uint8_t) (1 << bit % 8);
	rxd_seal(buf, sizeof(buf), NULL, 0);
	snet_forge(from, PORT(0), buf, sizeof(buf));
	quiet(CLOCK_NS_PER_S / 100);
}

/* The peer makes no token while it has the connection; another holder of the key makes one that ends nothing; and of
 * one that was made after a restart nothing but itself ends the connection, nor does it end the one that follows.
 */
static void resets_are_forged(void)
{
	uint64_t was, old;
	unsigned bit;

	connected();
	was = nodes_delivered;
	CHECK(!ask(PORT(1)));
	CHECK(ask(PORT(2)) && reset_from == PORT(2));
	say_reset(PORT(2), UINT32_MAX);
	say_reset(PORT(1), UINT32_MAX);
	unharmed(was);
	restart(1);
	old = sec_of(0, 1)->peer_cid;
	CHECK(ask(PORT(1)) && reset_from == PORT(1));
	for (bit = 8 * offsetof(struct rxd_hdr, conn); bit < 8 * sizeof(reset_seen); bit++)
		say_reset(PORT(1), bit);
	CHECK(!nodes_downs && sec_of(0, 1)->peer_cid == old);
	say_reset(PORT(2), UINT32_MAX);		/* from any source: the token is what counts */
	CHECK(nodes_downs == 1 && nodes_last_err == FI_ECONNRESET);
	nodes_downs = 0;
	CHECK(say(0, 1) && say(1, 0));
	say_reset(PORT(1), UINT32_MAX);
	CHECK(!nodes_downs && say(0, 1));
	finish();
}

/* Sealed datagrams of one connection, and of its other direction, under the id of another. */
static void spliced(void)
{
	uint64_t id[2] = { htole64(sec_of(1, 2)->cid), htole64(sec_of(0, 1)->cid) }, was = nodes_delivered;
	unsigned i, k, cnt = captured_cnt;

	for (i = 0; i < cnt; i++)
		for (k = 0; k < 2 && is_sealed(captured[i].data, captured[i].len); k++) {
			memcpy(captured[i].data + offsetof(struct rxd_hdr, conn), &id[k], sizeof(id[k]));
			snet_forge(PORT(2), k ? PORT(0) : PORT(1), captured[i].data, captured[i].len);
		}
	unharmed(was);
}

/* made - a packet in the clear, in either version, with the ids of the connection. */
static void made(enum rxd_type type, uint8_t flags, const void *body, size_t len)
{
	const struct rxd_sec *sec = sec_of(0, 1);
	uint8_t buf[512];
	size_t at = rxd_put_hdr(buf, type, flags, sec->cid, flags & RXD_F_PN ? 7 : 0);

	if (len)
		memcpy(buf + at, body, len);
	rxd_seal(buf, at + len, NULL, 0);
	snet_forge(PORT(1), PORT(0), buf, at + len);
	rxd_guard_mark(buf);
	rxd_seal(buf, at + len, NULL, 0);
	snet_forge(PORT(1), PORT(0), buf, at + len);
	buf[offsetof(struct rxd_hdr, flags)] |= RXD_F_SEALED;
	snet_forge(PORT(1), PORT(0), buf, at + len);
}

static void packets_are_made(void)
{
	const struct rxd_sec *sec = sec_of(0, 1);
	uint64_t was = nodes_delivered, id = htole64(sec->peer_cid ? sec->peer_cid : 1);
	struct rxd_probe probe = { .cid = id, .addr_len = sizeof(struct sockaddr_in) };
	struct rxd_refuse refuse = { .reason = htole16(CHAN_REJECTED), .oldest = RXD_OLDEST };
	uint8_t data[64] = { 0 };
	int i;

	memcpy(probe.addr, &nodes[1]->addr, sizeof(nodes[1]->addr));
	for (i = 0; i < 10; i++) {
		made(RXD_DATA, RXD_F_SUM | RXD_F_PN, data, sizeof(data));
		made(RXD_DATA, RXD_F_SUM | RXD_F_ACK, data, sizeof(struct rxd_ack));
		made(RXD_PROBE, RXD_F_SUM, &probe, sizeof(probe));
		made(RXD_RESET, RXD_F_SUM, &id, sizeof(id));
		made(RXD_REFUSE, RXD_F_SUM, &refuse, sizeof(refuse));
		made(RXD_PATH_CHALLENGE, RXD_F_SUM | RXD_F_PN, NULL, 0);
		made(RXD_PATH_RESPONSE, RXD_F_SUM | RXD_F_PN, NULL, 0);
		made((enum rxd_type) RXD_SHAKE, RXD_F_SUM, data, sizeof(data));
		snet_refuse(PORT(0), data, sizeof(data));
	}
	unharmed(was);
}

/* A system's answer that there is no such socket ends nothing, also if it has the right ids. */
static void refusals_are_forged(void)
{
	const struct rxd_sec *sec = sec_of(0, 1);
	struct rxd_probe probe = { .cid = htole64(sec->cid), .addr_len = sizeof(struct sockaddr_in) };
	uint8_t buf[sizeof(struct rxd_hdr) + sizeof(probe)];
	uint64_t end = snet_now + 20 * CLOCK_NS_PER_S;

	rxd_put_hdr(buf, RXD_PROBE, RXD_F_SUM, sec->peer_cid, 0);
	memcpy(buf + sizeof(struct rxd_hdr), &probe, sizeof(probe));
	rxd_seal(buf, sizeof(buf), NULL, 0);
	node_send(nodes[0], &nodes[0]->peers[1], MESSAGE);
	for (; snet_now < end; snet_now += CLOCK_NS_PER_S / 10) {
		snet_refuse(PORT(0), buf, sizeof(buf));
		node_poll(nodes[0]);
	}
	CHECK(!nodes_downs && run_until(0, 1));
}

/* What an attacker makes is counted, and ends the connection before one of it would open by chance. */
static void forgeries_are_counted(void)
{
	uint8_t buf[256] = { 0 };
	char *text;
	int i;

	connected();
	snet_link(PORT(0))->guard->forged_max = 100;
	rxd_put_hdr(buf, RXD_DATA, RXD_F_SEALED | RXD_F_PN, sec_of(0, 1)->cid, 7);
	rxd_guard_mark(buf);
	buf[offsetof(struct rxd_hdr, crc) + 1] = 1;		/* a number that has not come */
	log_begin();
	for (i = 0; i < 99; i++)
		snet_forge(PORT(1), PORT(0), buf, sizeof(buf));
	quiet(CLOCK_NS_PER_S / 10);
	CHECK(!nodes_downs);
	snet_forge(PORT(1), PORT(0), buf, sizeof(buf));
	quiet(CLOCK_NS_PER_S / 10);
	text = log_end();
	CHECK(nodes_downs == 1 && nodes_last_err == FI_EACCES && strstr(text, "were forged in the name of"));
	free(text);
	nodes_downs = 0;
	bystander();
	finish();
}

/* ---- others, and strangers ------------------------------------------------------------------------- */

/* refused - a node 0 with another level, or key, is refused at once, and both logs say why. */
static void refused(const char *other, uint8_t key, const char *client, const char *server)
{
	uint64_t was, start;
	char *text;

	begin();
	CHECK(say(2, 1) && say(1, 2));
	node_close(0);
	nodes_level = strcmp(other, "none") ? other : NULL;
	nodes_key[0] ^= key;
	node_open(0);
	nodes_key[0] ^= key;
	was = nodes_delivered;
	start = snet_now;
	log_begin();
	CHECK(!say(0, 1));
	text = log_end();
	CHECK(nodes_downs == 1 && nodes_last_err == FI_EACCES && nodes_delivered == was);
	CHECK(snet_now - start < CLOCK_NS_PER_S);
	if (!strstr(text, client) || !strstr(text, server))
		fprintf(stderr, "%s", text);
	CHECK(strstr(text, client) && strstr(text, server));
	free(text);
	nodes_downs = 0;
	bystander();
	finish();
}

static void others_are_refused(void)
{
	const char *lower = strcmp(level, "auth") ? "auth" : "encrypt";

	refused(level, 0xff, "does not have our key", "is none of ours");
	refused(lower, 0, "does not have our key", "another level of FI_SECURITY");
	refused("none", 0, "its connections are protected and ours are not", "does not protect connections");
}

/* A node that is not protected is not used. */
static void plain_is_not_used(void)
{
	char *text;

	begin();
	node_close(1);
	nodes_level = NULL;
	node_open(1);
	log_begin();
	CHECK(!say(0, 1));
	text = log_end();
	CHECK(nodes_downs == 1 && nodes_last_err == FI_EACCES && strstr(text, "does not protect connections") &&
	      strstr(text, "its connections are protected and ours are not"));
	free(text);
	finish();
}

/* What was sent is on the wire at auth, and is not at encrypt. */
static void captures(void)
{
	bool seen = false;
	unsigned i;

	connected();
	for (i = 0; i < captured_cnt; i++)
		seen |= memmem(captured[i].data, captured[i].len, nodes_bytes(0, MESSAGE), MESSAGE) != NULL;
	CHECK(seen == !strcmp(level, "auth"));
	finish();
}

/* ---- keys --------------------------------------------------------------------------------------------- */

/* Keys are exchanged in the middle of messages, over a path that reorders; each number is used once. */
static void keys_are_exchanged(void)
{
	unsigned i, changes = 0;
	bool phase;

	nodes_key_bytes = 1 << 16;
	connected();
	snet_conf.jitter_ns = 200000;
	snet_conf.loss = 0.01;
	phase = sec_of(0, 1)->tx_phase;
	for (i = 0; i < 200; i++) {
		node_send(nodes[0], &nodes[0]->peers[1], 20000);
		CHECK(run_until(0, 1));
		changes += sec_of(0, 1)->tx_phase != phase;
		phase = sec_of(0, 1)->tx_phase;
	}
	CHECK(changes > 20 && !nodes_downs);
	CHECK(sec_of(1, 0)->rx_phase == phase || sec_of(1, 0)->rx_next.ctx || changes);
	finish();
	nodes_key_bytes = 0;
}

static void attacks(const char *at)
{
	level = at;
	captures();
	others_are_refused();
	plain_is_not_used();
	sent_again(false);
	replayed_after_restart();
	a_restart_is_noticed();
	resets_are_forged();
	sent_again(true);
	connected();
	spliced();
	packets_are_made();
	refusals_are_forged();
	finish();
	forgeries_are_counted();
	keys_are_exchanged();
	bits_are_flipped();
	printf("attacks: %s\n", at);
}

/* network - both levels by turns, and keys that are soon worn in every third. */
static void network(uint64_t number)
{
	nodes_level = number % 2 ? "encrypt" : "auth";
	nodes_key_bytes = number % 3 ? 0 : 1 << 18;
	sim_run(number);
	nodes_key_bytes = 0;
}

int main(int argc, char **argv)
{
	uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	uint64_t cnt = argc > 2 ? strtoull(argv[2], NULL, 0) : NETWORKS, i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	setenv("FI_LOG_INTERVAL", "0", 0);
	rxd_conf.prov = &nodes_prov;
	rxd_conf.local = 0;
	if (!nodes_can_protect())
		return 77;
	if (argc < 2) {
		attacks("encrypt");
		attacks("auth");
	}
	for (i = first; i < first + cnt; i++)
		network(i);
	printf("%llu networks, %llu messages\n", (unsigned long long) cnt, (unsigned long long) nodes_delivered);
	return 0;
}
