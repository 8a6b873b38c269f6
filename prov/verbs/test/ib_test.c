/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Connections by the addresses of InfiniBand (FI_SOCKADDR_IB): the offers at a port without an IP
 * address, and the arguments of librdmacm.  On the real libmlx5, with a fake kernel and librdmacm;
 * skips without libmlx5.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mlx5_cm.h"
#include "mlx5_kernel.h"
#include "obj/test/log_catch.h"
#include "verbs/ep.h"
#include "verbs/sa.h"

#define SKIP 77

struct fi_provider *fi_verbs_ini(void);

/* ---- librdmacm, listened to ----------------------------------------------------- */

static union vrb_sa told_to;		/* whom to look for */
static unsigned calls;
static struct rdma_cm_event established = { .event = RDMA_CM_EVENT_ESTABLISHED };

static int (*next_resolve)(struct rdma_cm_id *id, struct sockaddr *src, struct sockaddr *dst,
			   int ms);
static int (*next_get_event)(struct rdma_event_channel *channel, struct rdma_cm_event **event_p);
static int (*next_ack)(struct rdma_cm_event *event);

static int resolve(struct rdma_cm_id *id, struct sockaddr *src, struct sockaddr *dst, int ms)
{
	assert_int_equal(vrb_sa_copy(dst, vrb_sa_len(dst), &told_to), 0);
	return next_resolve(id, src, dst, ms);
}

static int call(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	calls++;
	established.id = id;
	return 0;
}

static int get_event(struct rdma_event_channel *channel, struct rdma_cm_event **event_p)
{
	if (!calls)
		return next_get_event(channel, event_p);
	calls = 0;
	*event_p = &established;
	return 0;
}

static int ack(struct rdma_cm_event *event)
{
	return event == &established ? 0 : next_ack(event);
}

static __be16 dst_port(struct rdma_cm_id *id)
{
	return htons(vrb_sa_port(&id->route.addr.dst_addr));
}

static void listen_in(void)
{
	next_resolve = vrb_cm.resolve_addr;
	next_get_event = vrb_cm.get_cm_event;
	next_ack = vrb_cm.ack_cm_event;
	vrb_cm.resolve_addr = resolve;
	vrb_cm.get_cm_event = get_event;
	vrb_cm.ack_cm_event = ack;
	vrb_cm.connect = call;
	vrb_cm.get_dst_port = dst_port;
}

/* ---- offers --------------------------------------------------------------------- */

static struct fi_info *asked(enum fi_ep_type type, const char *node, const char *service,
			     uint64_t flags, uint32_t format, const char *dest)
{
	struct fi_info *hints = fi_allocinfo(), *info = NULL;

	hints->addr_format = format;
	hints->ep_attr->type = type;
	hints->mode = FI_RX_CQ_DATA;
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED |
				      FI_MR_PROV_KEY;
	if (dest) {
		hints->dest_addr = malloc(sizeof(struct ib_sa));
		hints->dest_addrlen = sizeof(struct ib_sa);
		assert_int_equal(ib_sa_parse(dest, hints->dest_addr), 0);
	}
	vrb_getinfo(FI_VERSION(2, 6), node, service, flags, hints, &info);
	fi_freeinfo(hints);
	return info;
}

static void is_text(const void *addr, size_t len, const char *want)
{
	char text[IB_ADDR_TEXT_MAX];

	assert_int_equal(len, sizeof(struct ib_sa));
	assert_string_equal(ib_sa_text(addr, text), want);
}

static void put(const char *file, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/class/infiniband/mlx5_0/ports/1/%s", getenv("SYSFS_PATH"), file);
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "%s\n", text);
	fclose(f);
}

/* To all, as the port has no other: connections, then datagrams. */
static void offers(void **state)
{
	struct fi_info *info = asked(FI_EP_UNSPEC, NULL, NULL, 0, FI_FORMAT_UNSPEC, NULL);

	assert_int_equal(info->addr_format, FI_SOCKADDR_IB);
	assert_int_equal(info->ep_attr->type, FI_EP_MSG);
	assert_int_equal(info->ep_attr->protocol, FI_PROTO_RDMA_CM_IB_RC);
	assert_string_equal(info->domain_attr->name, "mlx5_0");
	assert_string_equal(info->fabric_attr->name, "fe80::/64");
	assert_string_equal(info->nic->link_attr->network_type, "InfiniBand");
	is_text(info->src_addr, info->src_addrlen, "fi_sockaddr_ib://[fe80::2:c903:0:1]:0/0xffff");
	assert_int_equal(info->next->addr_format, FI_ADDR_IB_UD);
	assert_int_equal(ntohs(((struct ib_ud *) info->next->src_addr)->lid), 7);
	assert_null(info->next->next);
	fi_freeinfo(info);

	put("state", "1: DOWN");
	assert_null(asked(FI_EP_UNSPEC, NULL, NULL, 0, FI_FORMAT_UNSPEC, NULL));
	info = asked(FI_EP_MSG, NULL, NULL, 0, FI_SOCKADDR_IB, NULL);
	assert_non_null(info);
	assert_int_equal(info->nic->link_attr->state, FI_LINK_DOWN);
	fi_freeinfo(info);
	put("state", "4: ACTIVE");

	info = asked(FI_EP_MSG, NULL, NULL, 0, FI_SOCKADDR, NULL);
	assert_int_equal(info->addr_format, FI_SOCKADDR_IB);
	assert_null(info->next);
	fi_freeinfo(info);
	assert_null(asked(FI_EP_MSG, NULL, NULL, 0, FI_SOCKADDR_IN, NULL));
	assert_null(asked(FI_EP_DGRAM, NULL, NULL, 0, FI_SOCKADDR_IB, NULL));
}

/* By text or by hints, and by nothing that is wrong. */
static void addresses(void **state)
{
	static const char there[] = "fi_sockaddr_ib://[fe80::2:c903:0:99]:7471/0x8001";
	struct fi_info *info;

	info = asked(FI_EP_MSG, "fi_sockaddr_ib://[fe80::2:c903:0:1]:7471", NULL, FI_SOURCE,
		     FI_SOCKADDR_IB, there);
	is_text(info->src_addr, info->src_addrlen, "fi_sockaddr_ib://[fe80::2:c903:0:1]:7471/0xffff");
	is_text(info->dest_addr, info->dest_addrlen, there);
	fi_freeinfo(info);
	info = asked(FI_EP_MSG, NULL, "7472", FI_SOURCE, FI_SOCKADDR_IB, NULL);
	is_text(info->src_addr, info->src_addrlen, "fi_sockaddr_ib://[fe80::2:c903:0:1]:7472/0xffff");
	fi_freeinfo(info);
	info = asked(FI_EP_MSG, there, NULL, 0, 0, NULL);
	is_text(info->dest_addr, info->dest_addrlen, there);
	fi_freeinfo(info);
	assert_int_equal(catch_start(), 0);
	assert_null(asked(FI_EP_MSG, "fi_sockaddr_ib://[fe80::2:c903:0:2]:7471", NULL, FI_SOURCE, 0, NULL));
	assert_non_null(catch_find("no InfiniBand port with that address"));
	assert_null(asked(FI_EP_MSG, "fi_sockaddr_ib://[fe80::1]", NULL, 0, 0, NULL));
	assert_non_null(catch_find("port 0"));
	assert_null(asked(FI_EP_MSG, "fi_sockaddr_ib://fe80::1", NULL, 0, 0, NULL));
	assert_non_null(catch_find("[GID]:PORT/PKEY"));
	assert_null(asked(FI_EP_MSG, "10.0.0.1", "7", 0, FI_SOCKADDR_IB, NULL));
	assert_non_null(catch_find("fi_getname() of the peer"));
	catch_stop();
}

/* ---- connections ---------------------------------------------------------------- */

static void name_is(struct fid *fid, const char *gid_and, unsigned not_port)
{
	char text[IB_ADDR_TEXT_MAX];
	struct ib_sa sa;
	size_t len = 4;

	assert_int_equal(fi_getname(fid, &sa, &len), -FI_ETOOSMALL);
	assert_int_equal(len, sizeof(sa));
	assert_int_equal(fi_getname(fid, &sa, &len), 0);
	assert_int_equal(len, sizeof(sa));
	assert_non_null(strstr(ib_sa_text(&sa, text), gid_and));
	assert_int_not_equal(vrb_sa_port((struct sockaddr *) &sa), not_port);
}

static void connections(void **state)
{
	static const char there[] = "fi_sockaddr_ib://[fe80::2:c903:0:99]:7471/0x8001";
	struct fi_info *info = asked(FI_EP_MSG, there, NULL, 0, 0, NULL);
	struct fi_eq_attr eq_attr = { .wait_obj = FI_WAIT_NONE };
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_DATA };
	struct fi_eq_cm_entry entry;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_pep *pep;
	struct fid_eq *eq;
	struct fid_cq *cq;
	struct fid_ep *ep;
	struct ib_sa sa;
	size_t len = sizeof(sa);
	uint32_t event = 0;
	unsigned i;

	assert_int_equal(vrb_prov.fabric(info->fabric_attr, &fabric, NULL), 0);
	assert_int_equal(fi_eq_open(fabric, &eq_attr, &eq, NULL), 0);
	assert_int_equal(fi_passive_ep(fabric, info, &pep, NULL), 0);
	assert_int_equal(fi_pep_bind(pep, &eq->fid, 0), 0);
	assert_int_equal(fi_listen(pep), 0);
	name_is(&pep->fid, "[fe80::2:c903:0:1]:2", 0);	/* the system has chosen a port */

	assert_int_equal(fi_domain(fabric, info, &domain, NULL), 0);
	assert_int_equal(fi_endpoint(domain, info, &ep, NULL), 0);
	assert_int_equal(fi_cq_open(domain, &cq_attr, &cq, NULL), 0);
	assert_int_equal(fi_ep_bind(ep, &eq->fid, 0), 0);
	assert_int_equal(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV), 0);
	assert_int_equal(fi_connect(ep, info->dest_addr, NULL, 0), 0);
	is_text(&told_to, sizeof(told_to.ib), there);
	for (i = 0; i < 100 && !event; i++)
		fi_eq_read(eq, &event, &entry, sizeof(entry), 0);
	assert_int_equal(event, FI_CONNECTED);
	name_is(&ep->fid, "[fe80::2:c903:0:1]:2", 7471);
	assert_int_equal(fi_getpeer(ep, &sa, &len), 0);
	is_text(&sa, len, there);

	assert_int_equal(fi_close(&ep->fid), 0);
	assert_int_equal(fi_close(&cq->fid), 0);
	assert_int_equal(fi_close(&domain->fid), 0);
	assert_int_equal(fi_close(&pep->fid), 0);
	assert_int_equal(fi_close(&eq->fid), 0);
	assert_int_equal(fi_close(&fabric->fid), 0);
	fi_freeinfo(info);
}

/* ---- start ---------------------------------------------------------------------- */

/* The port is an InfiniBand port without a network interface. */
static void make_infiniband(void)
{
	static const char *const files[][2] = {
		{ "link_layer", "InfiniBand" }, { "lid", "0x7" }, { "gids/1", "" }, { "gids/2", "" },
		{ "gids/0", "fe80:0000:0000:0000:0002:c903:0000:0001" },
	};
	unsigned i;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		put(files[i][0], files[i][1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(offers),
		cmocka_unit_test(addresses),
		cmocka_unit_test(connections),
	};
	int ret = SKIP;

	if (cm_boot()) {
		fi_verbs_ini();
		make_infiniband();
		listen_in();
		ret = cmocka_run_group_tests(tests, NULL, NULL);
	}
	kernel_halt();
	return ret;
}
