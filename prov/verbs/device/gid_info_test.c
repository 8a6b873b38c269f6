/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Offers at GIDs: which ports and addresses match a call, and how addresses are read from text
 * and hints.  Ports and their GID tables are the test's.
 */
#include <arpa/inet.h>

#include "verbs/dgram.h"
#include "verbs/info.h"
#include "verbs/test/fake_device.h"
#include "verbs/ud.h"

#define GID "2001:db8::1"
#define OTHER "2001:db8::2"

static struct vrb_port port;
static const char *state_text;

unsigned __wrap_vrb_dev_ports(struct vrb_port *ports, unsigned max);
unsigned __wrap_vrb_dev_ports(struct vrb_port *ports, unsigned max)
{
	ports[0] = port;
	return 1;
}

int __wrap_vrb_dev_port(const char *iface, struct vrb_port *port_p);
int __wrap_vrb_dev_port(const char *iface, struct vrb_port *port_p)
{
	return -FI_ENODEV;	/* no port has an IP address */
}

bool __wrap_vrb_dev_text(const struct vrb_port *at, const char *what, char *buf, size_t len);
bool __wrap_vrb_dev_text(const struct vrb_port *at, const char *what, char *buf, size_t len)
{
	const char *text = !strcmp(what, "gids/0") ? "2001:0db8:0000:0000:0000:0000:0000:0001" :
			   !strcmp(what, "state") ? state_text : NULL;

	if (text)
		snprintf(buf, len, "%s", text);
	return text != NULL;
}

int __wrap_vrb_dev_context(const char *name, struct ibv_context **ctx_p);
int __wrap_vrb_dev_context(const char *name, struct ibv_context **ctx_p)
{
	return -FI_ENODEV;	/* offers are not narrowed */
}

int __wrap_vrb_dev_port_nic(const struct vrb_port *at, const struct net_iface *iface,
			    struct fid_nic **nic_p);
int __wrap_vrb_dev_port_nic(const struct vrb_port *at, const struct net_iface *iface,
			    struct fid_nic **nic_p)
{
	*nic_p = NULL;
	return 0;
}

static struct fi_info *info, *hints;

static int set_up(void **state)
{
	dev_init();
	vrb_conf.gid_idx = -1;
	vrb_conf.tx_size = vrb_conf.rx_size = 384;
	vrb_conf.tx_iov = vrb_conf.rx_iov = 4;
	vrb_info_init();
	port = (struct vrb_port) { .dev = "mlx5_0", .num = 1 };
	state_text = "4: ACTIVE";
	info = NULL;
	hints = fi_allocinfo();
	hints->mode = FI_RX_CQ_DATA;
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	return 0;
}

static int tear_down(void **state)
{
	fi_freeinfo(info);
	fi_freeinfo(hints);
	return 0;
}

static int query(enum vrb_gid_kind kind, bool all, const char *node, const char *service,
		 uint64_t flags)
{
	fi_freeinfo(info);
	info = NULL;
	return vrb_gid_getinfo(kind, all, FI_VERSION(2, 0), node, service, flags, hints, &info);
}

static const struct ib_ud *ud_of(const void *addr)
{
	assert_non_null(addr);
	return addr;
}

static void datagrams(void **state)
{
	uint8_t gid[16];

	assert_int_equal(inet_pton(AF_INET6, GID, gid), 1);
	assert_int_equal(query(VRB_GID_UD, false, NULL, NULL, 0), 0);
	assert_null(info->next);
	assert_int_equal(info->addr_format, FI_ADDR_IB_UD);
	assert_int_equal(info->ep_attr->type, FI_EP_DGRAM);
	assert_string_equal(info->domain_attr->name, "mlx5_0");
	assert_memory_equal(ud_of(info->src_addr)->gid, gid, 16);
	assert_int_equal(ud_of(info->src_addr)->qpn, 0);
	/* Connections over Ethernet need an IP address. */
	assert_int_equal(query(VRB_GID_SA, false, NULL, NULL, 0), -FI_ENODATA);
	port.infiniband = true;
	assert_int_equal(query(VRB_GID_SA, false, NULL, NULL, 0), 0);
	assert_int_equal(info->addr_format, FI_SOCKADDR_IB);
	assert_int_equal(info->ep_attr->type, FI_EP_MSG);
	/* iWARP has neither. */
	port.iwarp = true;
	assert_int_equal(query(VRB_GID_UD, false, NULL, NULL, 0), -FI_ENODATA);
}

/* A port that is down is offered if its device is named. */
static void port_down(void **state)
{
	state_text = "1: DOWN";
	assert_int_equal(query(VRB_GID_UD, false, NULL, NULL, 0), -FI_ENODATA);
	hints->domain_attr->name = strdup("mlx5_0");
	assert_int_equal(query(VRB_GID_UD, false, NULL, NULL, 0), 0);
}

/* A call that names a node or another address format gets the other offers. */
static void other_calls(void **state)
{
	assert_int_equal(query(VRB_GID_UD, false, "10.0.0.1", NULL, 0), -FI_ENODATA);
	hints->addr_format = FI_SOCKADDR_IN;
	assert_int_equal(query(VRB_GID_UD, false, NULL, NULL, 0), -FI_ENODATA);
	assert_false(vrb_gid_wanted(VRB_GID_UD, NULL, hints));
	hints->addr_format = FI_ADDR_IB_UD;
	assert_true(vrb_gid_wanted(VRB_GID_UD, NULL, hints));
	assert_false(vrb_gid_wanted(VRB_GID_SA, NULL, hints));
	assert_true(vrb_gid_wanted(VRB_GID_SA, "fi_sockaddr_ib://[" GID "]:5/0xffff", hints));
}

static void peer_as_text(void **state)
{
	const char *peer = "fi_addr_ib_ud://[" OTHER "]:7/0x11/0/0/0xffff";
	char text[IB_ADDR_TEXT_MAX];

	assert_int_equal(query(VRB_GID_UD, true, peer, NULL, 0), 0);
	assert_int_equal(info->dest_addrlen, sizeof(struct ib_ud));
	assert_int_equal(ntohl(ud_of(info->dest_addr)->qpn), 7);
	assert_non_null(strstr(ib_ud_text(info->dest_addr, text), OTHER));
	assert_int_equal(query(VRB_GID_UD, true, peer, "5", 0), -FI_EINVAL);
	assert_int_equal(query(VRB_GID_UD, true, "fi_addr_ib_ud://[nonsense", NULL, 0), -FI_EINVAL);
}

/* Of a local address the GID matters; a port without it is not offered. */
static void own_as_text(void **state)
{
	assert_int_equal(query(VRB_GID_UD, true, "fi_addr_ib_ud://[" GID "]:0/0x11/0/0/0xffff", NULL,
			       FI_SOURCE), 0);
	assert_null(info->dest_addr);
	assert_int_equal(query(VRB_GID_UD, true, "fi_addr_ib_ud://[" OTHER "]:0/0x11/0/0/0xffff", NULL,
			       FI_SOURCE), -FI_ENODATA);
}

static void from_hints(void **state)
{
	struct ib_ud peer = { .qpn = htonl(9), .qkey = htonl(5), .pkey = htons(0xffff) };

	assert_int_equal(inet_pton(AF_INET6, OTHER, peer.gid), 1);
	hints->addr_format = FI_ADDR_IB_UD;
	hints->dest_addr = malloc(sizeof(peer));
	memcpy(hints->dest_addr, &peer, sizeof(peer));
	hints->dest_addrlen = sizeof(peer) - 1;
	assert_int_equal(query(VRB_GID_UD, true, NULL, NULL, 0), -FI_ENODATA);
	hints->dest_addrlen = sizeof(peer);
	assert_int_equal(query(VRB_GID_UD, true, NULL, NULL, 0), 0);
	assert_memory_equal(info->dest_addr, &peer, sizeof(peer));
}

/* Without FI_RX_CQ_DATA there are connections without remote access. */
static void lesser_offer(void **state)
{
	port.infiniband = true;
	hints->mode = 0;
	assert_int_equal(query(VRB_GID_SA, true, NULL, NULL, 0), 0);
	assert_false(info->caps & FI_RMA);
	hints->mode = FI_RX_CQ_DATA;
	assert_int_equal(query(VRB_GID_SA, true, NULL, NULL, 0), 0);
	assert_true(info->caps & FI_RMA);
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(datagrams),
		T(port_down),
		T(other_calls),
		T(peer_as_text),
		T(own_as_text),
		T(from_hints),
		T(lesser_offer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
