/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Attackers of protected connections over real datagrams: a packet socket of the loopback interface has every datagram of
 * a connection, and a raw socket sends what it wants in the name of either end: the same again, altered, cut off, back to
 * its sender, or with the id of another connection.  The receiver's buffer stays as it was, and the connection and a
 * bystander's go on.  Needs CAP_NET_RAW.
 */
#include "tests/secure/side.h"

#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/udp.h>

#include "prov/udp/wire.h"
#include "rxd/sealed.h"
#include "rxd/wire.h"

#define WAIT_MS 60000
#define QUIET_MS 30
#define KEPT_MAX 256
#define LONGEST 2048
#define AT(field) (sizeof(struct udp_hdr) + offsetof(struct rxd_hdr, field))	/* behind the header of udp */
#define RCVBUF (32 << 20)

static struct side member, peer, bystander;
static uint8_t job_key[SIDE_KEY_SIZE], other_key[SIDE_KEY_SIZE];
static fi_addr_t from_peer, from_bystander;
static int network = -1, forger = -1;

/* ---- the network --------------------------------------------------------------------- */

static struct kept {
	struct sockaddr_in from, to;
	size_t len;
	_Alignas(8) uint8_t bytes[LONGEST];
} kept[KEPT_MAX];
static unsigned kept_cnt;

static bool open_network(void)
{
	struct sockaddr_ll lo = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_IP) };
	int size = RCVBUF;

	network = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, htons(ETH_P_IP));
	forger = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);
	lo.sll_ifindex = (int) if_nametoindex("lo");
	if (network < 0 || forger < 0 || bind(network, (struct sockaddr *) &lo, sizeof(lo)))
		return false;
	setsockopt(network, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	return true;
}

static bool is_of(const struct side *s, const struct udphdr *udp)
{
	return udp->source == s->name.sin_port || udp->dest == s->name.sin_port;
}

/* keep - one IP packet, if it is a datagram of @peer or of @bystander. */
static void keep(const uint8_t *packet, size_t len)
{
	struct kept *k = &kept[kept_cnt];
	struct iphdr ip;
	struct udphdr udp;
	size_t head;

	if (len < sizeof(ip) + sizeof(udp) || kept_cnt == KEPT_MAX)
		return;
	memcpy(&ip, packet, sizeof(ip));
	head = ip.ihl * 4u + sizeof(udp);
	if (ip.protocol != IPPROTO_UDP || len <= head || len - head > LONGEST)
		return;
	memcpy(&udp, packet + head - sizeof(udp), sizeof(udp));
	if (!is_of(&peer, &udp) && !is_of(&bystander, &udp))
		return;
	*k = (struct kept) { .from = member.name, .to = member.name, .len = len - head };
	k->from.sin_port = udp.source;
	k->to.sin_port = udp.dest;
	memcpy(k->bytes, packet + head, k->len);
	kept_cnt++;
}

static void watch_network(void)
{
	static uint8_t packet[1 << 17];
	struct sockaddr_ll at;
	socklen_t at_len;
	ssize_t len;

	while (at_len = sizeof(at), (len = recvfrom(network, packet, sizeof(packet), 0, (struct sockaddr *) &at, &at_len)) > 0)
		if (at.sll_pkttype != PACKET_OUTGOING)	/* each is seen twice */
			keep(packet, (size_t) len);
}

/* forge - a datagram in the name of @from. */
static void forge(const struct sockaddr_in *from, const struct sockaddr_in *to, const uint8_t *bytes, size_t len)
{
	uint8_t packet[sizeof(struct iphdr) + sizeof(struct udphdr) + LONGEST];
	struct iphdr ip = {
		.version = 4, .ihl = 5, .ttl = 64, .protocol = IPPROTO_UDP, .saddr = from->sin_addr.s_addr,
		.daddr = to->sin_addr.s_addr, .tot_len = htons((uint16_t) (sizeof(ip) + sizeof(struct udphdr) + len)),
	};
	struct udphdr udp = {
		.source = from->sin_port, .dest = to->sin_port, .len = htons((uint16_t) (sizeof(udp) + len)),
	};

	memcpy(packet, &ip, sizeof(ip));
	memcpy(packet + sizeof(ip), &udp, sizeof(udp));
	memcpy(packet + sizeof(ip) + sizeof(udp), bytes, len);
	len += sizeof(ip) + sizeof(udp);
	CHECK(sendto(forger, packet, len, 0, (const struct sockaddr *) to, sizeof(*to)) == (ssize_t) len);
}

/* ---- messages ----------------------------------------------------------------------------- */

static void check_quiet(void)
{
	static const uint8_t empty[SIZE];

	CHECK(poll_side(&member) == 0 && !memcmp(member.buf, empty, SIZE));
	CHECK(poll_side(&peer) == 0 && poll_side(&bystander) == 0);
}

/* settle - what was forged has been read, and nothing came of it. */
static void settle(void)
{
	uint64_t until = now_ms() + QUIET_MS;

	while (now_ms() < until)
		check_quiet();
}

/* tell - one message of @s to the member, which comes. */
static void tell(struct side *s, fi_addr_t to)
{
	uint64_t until = now_ms() + WAIT_MS;
	int sent = 0, came = 0, ret;

	message[0]++;		/* one that was replayed is another one */
	post_recv(&member);
	post_send(s, to);
	while (!sent || !came) {
		CHECK(now_ms() < until);
		ret = poll_side(s);
		CHECK(ret >= 0);
		sent += ret;
		ret = poll_side(&member);
		CHECK(ret >= 0);
		came += ret;
		watch_network();
	}
	CHECK(!memcmp(member.buf, message, SIZE));
	memset(member.buf, 0, SIZE);
}

static void all_go_on(void)
{
	settle();
	tell(&peer, from_peer);
	tell(&bystander, from_bystander);
}

/* ---- attacks --------------------------------------------------------------------------------- */

static void datagrams_come_again(void **state)
{
	unsigned i, round;

	assert_true(kept_cnt > 8);
	for (round = 0; round < 2; round++)
		for (i = 0; i < kept_cnt; i++)
			forge(&kept[i].from, &kept[i].to, kept[i].bytes, kept[i].len);
	all_go_on();
}

static void datagrams_are_reflected(void **state)
{
	unsigned i;

	for (i = 0; i < kept_cnt; i++)
		forge(&kept[i].to, &kept[i].from, kept[i].bytes, kept[i].len);
	all_go_on();
}

static bool is_sealed(const struct kept *k)
{
	return k->len > AT(pn) && k->bytes[AT(flags)] & RXD_F_SEALED;
}

/* forge_start - the first @len bytes, as a datagram of udp that has so many. */
static void forge_start(const struct kept *k, size_t len)
{
	struct kept copy = *k;

	if (len >= sizeof(struct udp_hdr))
		udp_wire_fill((struct udp_hdr *) copy.bytes, len - sizeof(struct udp_hdr), 0, 0);
	forge(&k->from, &k->to, copy.bytes, len);
}

/* A bit of each byte, and each length, of one of each type and direction; of those that are sealed the number is one that
 * has not come, so that the tag is what tells.
 */
static void datagrams_are_altered(void **state)
{
	bool done[2][2][32] = { 0 };
	uint32_t fresh = htole32(1 << 20);
	struct kept *k, copy;
	unsigned i, types = 0;
	uint8_t type;
	size_t at;

	for (i = 0; i < kept_cnt; i++) {
		k = &kept[i];
		type = k->bytes[AT(type)] % 32;
		if (done[is_sealed(k)][k->from.sin_port == member.name.sin_port][type])
			continue;
		done[is_sealed(k)][k->from.sin_port == member.name.sin_port][type] = true;
		types++;
		for (at = 0; at < k->len; at++) {
			copy = *k;
			if (is_sealed(k))
				memcpy(copy.bytes + AT(crc), &fresh, sizeof(fresh));
			copy.bytes[at] ^= (uint8_t) (1 << at % 8);
			forge(&k->from, &k->to, copy.bytes, k->len);
			forge_start(k, at);
			check_quiet();
		}
	}
	assert_true(types >= 8);
	all_go_on();
}

/* What is sealed for one connection, under the id of another to the same member. */
static void datagrams_are_spliced(void **state)
{
	uint8_t ids[2][8];
	bool have[2] = { 0 };
	unsigned i, who;

	for (i = 0; i < kept_cnt; i++) {
		who = kept[i].from.sin_port == bystander.name.sin_port;
		if (!is_sealed(&kept[i]) || kept[i].to.sin_port != member.name.sin_port)
			continue;
		memcpy(ids[who], kept[i].bytes + AT(conn), sizeof(ids[who]));
		have[who] = true;
	}
	assert_true(have[0] && have[1]);
	for (i = 0; i < kept_cnt; i++) {
		who = kept[i].from.sin_port == bystander.name.sin_port;
		if (!is_sealed(&kept[i]) || kept[i].to.sin_port != member.name.sin_port)
			continue;
		memcpy(kept[i].bytes + AT(conn), ids[!who], sizeof(ids[0]));
		forge(who ? &peer.name : &bystander.name, &member.name, kept[i].bytes, kept[i].len);
	}
	all_go_on();
}

/* Another key, another level, and none: no message comes, and the log says why. */
static void others_are_refused(void **state)
{
	const char *level = getenv("LEVEL"), *lower = strcmp(level, "auth") ? "auth" : "encrypt";
	const struct {
		const char *level;
		const uint8_t *key;
		const char *text;
	} cases[] = {
		{ level, other_key, "does not have our key" },
		{ lower, job_key, "does not have our key" },
		{ "none", NULL, "its connections are protected and ours are not" },
	};
	uint64_t until;
	struct side s;
	size_t i;
	int ret;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		logged_len = 0;
		open_side(&s, cases[i].level, cases[i].key);
		post_send(&s, knows(&s, &member.name));
		until = now_ms() + WAIT_MS;
		while (!(ret = poll_side(&s))) {
			CHECK(now_ms() < until);
			check_quiet();
		}
		assert_true(ret < 0 && s.err == FI_EACCES);
		assert_logged(cases[i].text);
		close_side(&s);
	}
	all_go_on();
}

/* ---- processes ---------------------------------------------------------------------------------- */

static int begin(void **state)
{
	const char *level = getenv("LEVEL");

	CALL(fi_import_log(FI_VERSION(2, 0), 0, &log_fid));
	open_side(&member, level, job_key);
	open_side(&peer, level, job_key);
	open_side(&bystander, level, job_key);
	from_peer = knows(&peer, &member.name);
	from_bystander = knows(&bystander, &member.name);
	watch_network();
	kept_cnt = 0;
	tell(&peer, from_peer);
	tell(&bystander, from_bystander);
	tell(&peer, from_peer);
	settle();
	watch_network();
	return 0;
}

static int end(void **state)
{
	close_side(&bystander);
	close_side(&peer);
	close_side(&member);
	return 0;
}

static int in_child(const char *level)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(datagrams_come_again),
		cmocka_unit_test(datagrams_are_reflected),
		cmocka_unit_test(datagrams_are_altered),
		cmocka_unit_test(datagrams_are_spliced),
		cmocka_unit_test(others_are_refused),
	};
	int status = 0;
	pid_t pid = fork();

	if (!pid) {
		printf("# %s\n", level);
		setenv("LEVEL", level, 1);
		exit(cmocka_run_group_tests(tests, begin, end) ? 1 : 0);
	}
	return pid < 0 || waitpid(pid, &status, 0) != pid || status;
}

int main(void)
{
	size_t i;

	if (!open_network()) {
		fprintf(stderr, "SKIP no packet socket: %s\n", strerror(errno));
		return 77;
	}
	for (i = 0; i < sizeof(message); i++)
		message[i] = (uint8_t) (0x41 + i);
	memset(job_key, 0xa1, sizeof(job_key));
	memset(other_key, 0xb2, sizeof(other_key));
	setvbuf(stdout, NULL, _IONBF, 0);
	setenv("PROV", "udp;ofi_rxd", 1);
	setenv("FI_LOG_INTERVAL", "1", 1);
	setenv("FI_OFI_RXD_LOCAL", "0", 1);
	unsetenv("FI_AUTH_KEY_FILE");
	return in_child("encrypt") + in_child("auth") ? 1 : 0;
}
