/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Addresses of datagram endpoints by queue pair: which GID, which way, and back. */
#include <arpa/inet.h>

#include "verbs/dgram.h"
#include "verbs/test/fake_device.h"
#include "verbs/ud.h"

#define GID_LOCAL "fe80:0000:0000:0000:0000:0000:0000:0001"
#define GID_IP4 "0000:0000:0000:0000:0000:ffff:0a00:0001"
#define GID_IP6 "2001:0db8:0000:0000:0000:0000:0000:0001"

/* What sysfs says of a port. */
static struct {
	const char *file, *text;
} sysfs[16];

bool __wrap_vrb_dev_text(const struct vrb_port *port, const char *what, char *text, size_t size);
bool __wrap_vrb_dev_text(const struct vrb_port *port, const char *what, char *text, size_t size)
{
	unsigned i;

	for (i = 0; i < 16 && sysfs[i].file; i++)
		if (!strcmp(sysfs[i].file, what)) {
			snprintf(text, size, "%s", sysfs[i].text);
			return true;
		}
	return false;
}

static unsigned entries;

static void says(const char *file, const char *text)
{
	sysfs[entries].file = file;
	sysfs[entries++].text = text;
}

static int set_up(void **state)
{
	dev_init();
	memset(sysfs, 0, sizeof(sysfs));
	entries = 0;
	vrb_conf.gid_idx = -1;
	return 0;
}

static void gid(const char *text, uint8_t *raw)
{
	assert_int_equal(inet_pton(AF_INET6, text, raw), 1);
}

/* RoCE: version 2 before version 1, IPv4 before others before link-local. */
static void best_gid(void **state)
{
	struct vrb_port port = { .num = 1 };
	uint8_t ip4[16], local[16], other[16];
	struct vrb_gid got;

	gid(GID_IP4, ip4);
	gid(GID_LOCAL, local);
	gid("2001:db8::2", other);
	assert_int_equal(vrb_gid_pick(&port, NULL, &got), -FI_EADDRNOTAVAIL);
	says("gids/0", GID_LOCAL);
	says("gid_attrs/types/0", "IB/RoCE v1");
	says("gids/1", GID_LOCAL);
	says("gid_attrs/types/1", "RoCE v2");
	says("gids/2", GID_IP4);
	says("gid_attrs/types/2", "IB/RoCE v1");
	assert_int_equal(vrb_gid_pick(&port, NULL, &got), 0);
	assert_int_equal(got.index, 1);
	says("gids/3", GID_IP4);
	says("gid_attrs/types/3", "RoCE v2");
	assert_int_equal(vrb_gid_pick(&port, NULL, &got), 0);
	assert_int_equal(got.index, 3);
	/* To a peer: from one of the peer's kind. */
	assert_int_equal(vrb_gid_pick(&port, local, &got), 0);
	assert_int_equal(got.index, 1);
	assert_int_equal(vrb_gid_pick(&port, other, &got), -FI_EADDRNOTAVAIL);
	assert_int_equal(vrb_gid_find(&port, ip4, &got), 0);
	assert_int_equal(got.index, 3);
	assert_int_equal(vrb_gid_find(&port, other, &got), -FI_EADDRNOTAVAIL);
	vrb_conf.gid_idx = 0;
	assert_int_equal(vrb_gid_pick(&port, NULL, &got), 0);
	assert_int_equal(got.index, 0);
	/* On InfiniBand the first one is taken, and the kinds do not matter. */
	vrb_conf.gid_idx = -1;
	port.infiniband = true;
	assert_int_equal(vrb_gid_pick(&port, other, &got), 0);
	assert_int_equal(got.index, 0);
}

static void address_text(void **state)
{
	struct vrb_port port = { .num = 1, .infiniband = true };
	char text[IB_ADDR_TEXT_MAX];
	struct vrb_gid own = { .index = 0 };
	struct ib_ud name, back;

	gid(GID_LOCAL, own.raw);
	says("lid", "0x12");
	says("pkeys/0", "0x8001");
	vrb_ud_name(&port, &own, &name);
	assert_int_equal(ntohs(name.lid), 0x12);
	assert_int_equal(ntohs(name.pkey), 0x8001);
	assert_int_equal(ntohl(name.qkey), IB_UD_QKEY);
	assert_int_equal(name.qpn, 0);
	name.qpn = htonl(0x1234);
	name.sl = 3;
	assert_int_equal(ib_ud_parse(ib_ud_text(&name, text), &back), 0);
	assert_memory_equal(&back, &name, sizeof(name));
	/* RoCE has no LID; without a table of partitions the default one counts. */
	port.infiniband = false;
	entries = 0;
	memset(sysfs, 0, sizeof(sysfs));
	vrb_ud_name(&port, &own, &name);
	assert_int_equal(name.lid, 0);
	assert_int_equal(ntohs(name.pkey), IB_PKEY);
}

static struct ibv_ah_attr asked;
static struct ibv_ah handle;

static struct ibv_ah *create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	asked = *attr;
	return &handle;
}

static struct vrb_ud ud_of(bool infiniband, const char *own)
{
	struct vrb_ud ud = { .port = { .num = 2, .infiniband = infiniband }, .gid.index = 4 };

	gid(own, ud.gid.raw);
	ud.name.pkey = htons(0xffff);
	ud.name.qkey = htonl(5);
	return ud;
}

static void ways(void **state)
{
	struct fi_tx_attr tx = { .tclass = FI_TC_LOW_LATENCY };
	struct fi_info info = { .tx_attr = &tx };
	struct vrb_ep ep = { .domain = &dev.domain, .base.info = &info };
	struct vrb_ud ud = ud_of(true, GID_LOCAL);
	struct ib_ud to = { .qpn = htonl(9), .lid = htons(7), .pkey = htons(0x7fff), .sl = 2 };
	struct ibv_ah *ah;

	vrb_ibv.create_ah = create_ah;
	/* Within the subnet by LID; the membership bit of the partition does not count. */
	gid("fe80::2", to.gid);
	assert_int_equal(vrb_ud_ah(&ep, &ud, &to, &ah), 0);
	assert_ptr_equal(ah, &handle);
	assert_int_equal(asked.is_global, 0);
	assert_int_equal(asked.dlid, 7);
	assert_int_equal(asked.sl, 2);
	assert_int_equal(asked.port_num, 2);
	/* Another subnet needs the GID. */
	gid(GID_IP6, to.gid);
	assert_int_equal(vrb_ud_ah(&ep, &ud, &to, &ah), 0);
	assert_int_equal(asked.is_global, 1);
	assert_int_equal(asked.grh.sgid_index, 4);
	assert_memory_equal(&asked.grh.dgid, to.gid, 16);
	assert_int_equal(asked.grh.traffic_class, 18 << 2);	/* AF21 */
	to.pkey = htons(0x8002);
	assert_int_equal(vrb_ud_ah(&ep, &ud, &to, &ah), -FI_EHOSTUNREACH);
	/* RoCE: another kind of address, of which the port has none. */
	ud = ud_of(false, GID_IP4);
	to.pkey = htons(0xffff);
	assert_int_equal(vrb_ud_ah(&ep, &ud, &to, &ah), -FI_EHOSTUNREACH);
	says("gids/0", GID_IP4);
	says("gids/1", GID_IP6);
	assert_int_equal(vrb_ud_ah(&ep, &ud, &to, &ah), 0);
	assert_int_equal(asked.grh.sgid_index, 1);
}

/* The address of a sender, from what a receive says of it. */
static void sources(void **state)
{
	struct vrb_ud ud = ud_of(true, GID_LOCAL);
	struct ib_ud to = { .qpn = htonl(9), .lid = htons(7) }, back;
	struct vrb_qp_addr at;

	gid("fe80::2", to.gid);
	vrb_ud_to_qp_addr(&ud, &to, &at);
	assert_int_equal(at.qpn, 9);
	assert_int_equal(at.lid, 7);
	assert_true(!at.gid[0] && !at.gid[1]);
	vrb_ud_from_qp_addr(&ud, &at, &back);
	assert_int_equal(back.qpn, htonl(9));
	assert_int_equal(back.lid, htons(7));
	assert_int_equal(back.qkey, htonl(5));
	assert_int_equal(back.pkey, htons(0xffff));
	assert_memory_equal(back.gid, ud.gid.raw, 8);
	gid(GID_IP6, to.gid);
	vrb_ud_to_qp_addr(&ud, &to, &at);
	assert_int_equal(at.lid, 0);
	vrb_ud_from_qp_addr(&ud, &at, &back);
	assert_memory_equal(back.gid, to.gid, 16);
}

#define T(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(best_gid),
		T(address_text),
		T(ways),
		T(sources),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
