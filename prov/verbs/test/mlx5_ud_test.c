/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Endpoints that are named by their queue pair (ud.h): what is particular to them.
 * mlx5_dgram_test has what all datagram endpoints share.
 */
#include "mlx5_dgram_world.h"
#include "obj/test/log_catch.h"

/* The name has the attributes of the queue pair on the device; librdmacm is not used. */
static void names_ud(void **state)
{
	size_t len = 5;
	struct ib_ud ud;
	unsigned i;

	for (i = 0; i < ENDS; i++) {
		assert_null(ib_ud_wrong(&ends[i].name, sizeof(ud)));
		assert_int_equal(ntohl(ends[i].name.ud.qpn), ends[i].model.qpn);
		assert_int_equal(ntohl(ends[i].name.ud.qkey), ends[i].model.qkey);
		assert_int_equal(ends[i].name.ud.gid[15], 1 + i % 2);
		assert_null(vrb_ep_of(ends[i].ep)->cm.id);
	}
	assert_int_equal(fi_getname(&a->ep->fid, &ud, &len), -FI_ETOOSMALL);
	assert_int_equal(len, sizeof(ud));
	assert_memory_equal(&ud, &a->name, 5);
	assert_int_equal(kernel_ahs, 0);
	send_to(a, 1, 10);
	assert_int_equal(kernel_ahs, 1);
	run_device(a, NULL);
}

/* A place that no datagram gets to is refused in words, and nothing else suffers. */
static void no_way(void **state)
{
	struct ib_ud ud = b->name.ud;
	fi_addr_t to;

	assert_int_equal(catch_start(), 0);
	ud.pkey = htons(0x8001);
	assert_int_equal(fi_av_insert(a->av, &ud, 1, &to, 0, NULL), 1);
	assert_int_equal(fi_send(a->ep, a->out, 10, fi_mr_desc(mr), to, a), -FI_EHOSTUNREACH);
	assert_non_null(catch_find("another partition"));
	ud = b->name.ud;
	memcpy(ud.gid, "\x20\x01", 2);		/* of a kind that this port has no address of */
	assert_int_equal(fi_av_insert(a->av, &ud, 1, &to, 0, NULL), 1);
	assert_int_equal(fi_send(a->ep, a->out, 10, fi_mr_desc(mr), to, a), -FI_EHOSTUNREACH);
	assert_non_null(catch_find("no GID of its kind"));
	memset(ud.gid, 0xff, sizeof(ud.gid));
	assert_int_equal(fi_av_insert(a->av, &ud, 1, &to, 0, NULL), 0);
	catch_stop();
	fill(a, 1);
	arrives(a, b, 100);
	assert_int_equal(fi_av_remove(a->av, &a->to[1], 1, 0), 0);
	assert_int_equal(try_send(a, 1, 10), -FI_EINVAL);
	assert_int_equal(kernel_ahs, 0);
}

/* From the address of ours by which packets get to the kind of the peer's. */
static void source_gid(void **state)
{
	struct vrb_ep *ep = vrb_ep_of(a->ep);
	struct vrb_gid gid;
	struct ibv_ah *ah;
	struct ib_ud ud;

	assert_int_equal(ib_ud_parse("fi_addr_ib_ud://[fe80::1]:5", &ud), 0);
	assert_int_equal(vrb_gid_pick(&ep->dgram->ud->port, ud.gid, &gid), 0);
	assert_int_equal(gid.index, 2);
	assert_int_equal(vrb_ud_ah(ep, ep->dgram->ud, &ud, &ah), 0);
	assert_int_equal(vrb_ibv.destroy_ah(ah), 0);
	assert_int_equal(vrb_gid_pick(&ep->dgram->ud->port, b->name.ud.gid, &gid), 0);
	assert_int_equal(gid.index, 0);
	assert_int_equal(vrb_gid_find(&ep->dgram->ud->port, b->name.ud.gid, &gid), 0);
	assert_int_equal(gid.index, 1);
	assert_int_equal(vrb_gid_pick(&ep->dgram->ud->port, NULL, &gid), 0);
	assert_int_equal(gid.index, 0);
	vrb_conf.gid_idx = 2;
	assert_int_equal(vrb_gid_pick(&ep->dgram->ud->port, NULL, &gid), 0);
	assert_int_equal(gid.index, 2);
	vrb_conf.gid_idx = -1;
}

/* Within a subnet of InfiniBand it is the LID that counts, in both directions. */
static void within_a_subnet(void **state)
{
	struct vrb_ud ib = *vrb_ep_of(a->ep)->dgram->ud;
	struct vrb_qp_addr at;
	struct ib_ud ud, back;

	ib.port.infiniband = true;
	assert_int_equal(ib_ud_parse("fi_addr_ib_ud://[fe80::1]:5/6/7", &ud), 0);
	memcpy(ib.gid.raw, ud.gid, 8);
	vrb_ud_to_qp_addr(&ib, &ud, &at);
	assert_true(at.lid == 7 && at.qpn == 5 && !at.gid[0] && !at.gid[1]);
	vrb_ud_from_qp_addr(&ib, &at, &back);
	assert_null(ib_ud_wrong(&back, sizeof(back)));
	vrb_ud_to_qp_addr(&ib, &back, &at);
	assert_true(at.lid == 7 && at.qpn == 5 && !at.gid[0]);
	ib.gid.raw[7] ^= 1;
	vrb_ud_to_qp_addr(&ib, &ud, &at);
	assert_true(!at.lid && at.gid[0]);
}

/* The error has the address, and by that the program can answer. */
static void source_error(void **state)
{
	struct fi_cq_data_entry entry;
	struct ib_ud ud = { .qpn = 0 };
	struct fi_cq_err_entry err = { .err_data = &ud, .err_data_size = sizeof(ud) };
	fi_addr_t from = 77;

	fill(a, 1);
	assert_int_equal(fi_av_remove(b->av, &b->to[0], 1, 0), 0);
	post(b, MTU);
	send_to(a, 1, 100);
	run_device(a, NULL);
	assert_int_equal(fi_cq_readfrom(b->cq, &entry, 1, &from), -FI_EAVAIL);
	assert_int_equal(fi_cq_readerr(b->cq, &err, 0), 1);
	assert_int_equal(err.err, FI_EADDRNOTAVAIL);
	assert_int_equal(err.len, 100);
	assert_int_equal(err.data, 100);
	assert_ptr_equal(err.op_context, b);
	assert_memory_equal(a->out, b->in, 100);
	assert_int_equal(err.err_data_size, sizeof(ud));
	assert_memory_equal(&ud, &a->name, sizeof(ud));
	assert_int_equal(fi_av_insert(b->av, &ud, 1, &b->to[0], 0, NULL), 1);
	taken(a);
	assert_int_equal(arrives(a, b, 100), b->to[0]);
	fill(b, 2);
	assert_int_equal(arrives(b, a, 100), a->to[1]);
}

static struct fi_info *asked(const char *node, const char *service, uint64_t flags, uint32_t format)
{
	struct fi_info *hints = fi_allocinfo(), *info = NULL;

	hints->addr_format = format;
	hints->ep_attr->type = FI_EP_DGRAM;
	hints->domain_attr->mr_mode = FI_MR_LOCAL;
	vrb_getinfo(FI_VERSION(2, 6), node, service, flags, hints, &info);
	fi_freeinfo(hints);
	return info;
}

/* The queue pair behind an IP address and port, of endpoints of either kind. */
static void found_by_ip(void **state)
{
	struct fid_av *av;
	struct fi_av_attr attr = { .type = FI_AV_TABLE };
	struct fi_info *info;
	struct fid_domain *ip_domain;
	struct fid_cq *cq;
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_DATA };
	struct fid_ep *ep;
	struct sockaddr_in name;
	size_t len = sizeof(name);
	const struct ib_ud *ud;
	char port[8];

	assert_int_equal(fi_domain(fabric, ip_infos[1], &ip_domain, NULL), 0);
	assert_int_equal(fi_endpoint(ip_domain, ip_infos[1], &ep, NULL), 0);
	assert_int_equal(fi_av_open(ip_domain, &attr, &av, NULL), 0);
	assert_int_equal(fi_cq_open(ip_domain, &cq_attr, &cq, NULL), 0);
	assert_int_equal(fi_ep_bind(ep, &av->fid, 0), 0);
	assert_int_equal(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV), 0);
	assert_int_equal(fi_enable(ep), 0);
	assert_int_equal(fi_getname(&ep->fid, &name, &len), 0);
	snprintf(port, sizeof(port), "%u", ntohs(name.sin_port));
	info = asked("127.0.0.2", port, 0, FI_ADDR_IB_UD);
	assert_non_null(info);
	ud = info->dest_addr;
	assert_int_equal(info->dest_addrlen, sizeof(*ud));
	assert_int_equal(ntohl(ud->qpn), kernel_qps[kernel_qp_cnt - 1].qpn);
	assert_int_equal(ntohl(ud->qkey), CM_QKEY);
	assert_int_equal(ud->gid[15], 2);
	assert_null(ib_ud_wrong(ud, sizeof(*ud)));
	fi_freeinfo(info);
	assert_int_equal(fi_close(&ep->fid), 0);
	assert_int_equal(fi_close(&cq->fid), 0);
	assert_int_equal(fi_close(&av->fid), 0);
	assert_int_equal(fi_close(&ip_domain->fid), 0);
	assert_int_equal(catch_start(), 0);
	assert_null(asked("127.0.0.2", port, 0, FI_ADDR_IB_UD));
	assert_non_null(catch_find("no answer from a datagram endpoint"));
	catch_stop();
}

/* Offered on request, by format or by text; else other addresses come first. */
static void offers_ud(void **state)
{
	const struct ib_ud *ud;
	struct fi_info *info = asked(NULL, NULL, 0, 0), *one;

	assert_non_null(info);
	for (one = info; one; one = one->next)
		assert_true(one->addr_format == FI_SOCKADDR_IN || one->addr_format == FI_SOCKADDR_IN6);
	fi_freeinfo(info);
	info = asked(NULL, NULL, 0, FI_ADDR_IB_UD);
	assert_null(info->next);
	assert_int_equal(info->addr_format, FI_ADDR_IB_UD);
	assert_string_equal(info->domain_attr->name, "mlx5_0");
	assert_string_equal(info->fabric_attr->name, ip_infos[0]->fabric_attr->name);
	assert_string_equal(info->nic->device_attr->name, "mlx5_0");
	assert_int_equal(info->src_addrlen, sizeof(*ud));
	ud = info->src_addr;
	assert_int_equal(ud->gid[15], 1);
	assert_int_equal(ud->qpn, 0);
	assert_null(info->dest_addr);
	assert_false(info->caps & FI_SOURCE_ERR);
	fi_freeinfo(info);
	info = asked("fi_addr_ib_ud://[fe80::1]:9", NULL, 0, 0);
	assert_int_equal(((struct ib_ud *) info->src_addr)->gid[15], 9);
	assert_int_equal(ntohl(((struct ib_ud *) info->dest_addr)->qpn), 9);
	fi_freeinfo(info);
	info = asked("fi_addr_ib_ud://[::ffff:127.0.0.2]", NULL, FI_SOURCE, 0);
	assert_int_equal(((struct ib_ud *) info->src_addr)->gid[15], 2);
	fi_freeinfo(info);
	assert_null(asked("fi_addr_ib_ud://[::ffff:127.0.0.3]", NULL, FI_SOURCE, 0));
	assert_null(asked("fi_addr_ib_ud://[fe80::1]", NULL, 0, 0));
	assert_null(asked("fi_addr_ib_ud://[fe80::1]:9", "7", 0, 0));
	assert_null(asked("127.0.0.9", NULL, FI_SOURCE, FI_ADDR_IB_UD));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		EACH_UD(names_ud), EACH_UD(no_way), EACH_UD(source_gid), EACH_UD(within_a_subnet),
		SOURCES_UD(source_error), UD_CASE(offers_ud, set_up_ud, "post"),
		UD_CASE(found_by_ip, set_up_ud, "extended"),
	};

	return ended(start() ? SKIP : cmocka_run_group_tests(tests, NULL, NULL));
}
