/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Offers, and what a device's limits make of them. */
#include "verbs/dgram.h"
#include "verbs/info.h"
#include "verbs/test/fake_device.h"

static struct ibv_device_attr limits;
static struct vrb_port port;
static int open_ret, mtu;

int __wrap_vrb_dev_context(const char *name, struct ibv_context **ctx_p);
int __wrap_vrb_dev_context(const char *name, struct ibv_context **ctx_p)
{
	*ctx_p = &dev.verbs.context;
	return open_ret;
}

static int query_device(struct ibv_context *ctx, struct ibv_device_attr *attr)
{
	*attr = limits;
	return 0;
}

static int query_port(struct ibv_context *ctx, uint8_t num, struct _compat_ibv_port_attr *attr)
{
	((struct ibv_port_attr *) attr)->active_mtu = (enum ibv_mtu) mtu;
	return 0;
}

static struct fi_info *narrowed(const struct fi_info *offer)
{
	struct fi_info *info = fi_dupinfo(offer);

	assert_non_null(info);
	vrb_info_narrow(info, &port);
	return info;
}

static int set_up(void **state)
{
	dev_init();
	vrb_ibv.query_device = query_device;
	vrb_ibv.query_port = query_port;
	open_ret = 0;
	mtu = IBV_MTU_1024;
	memset(&port, 0, sizeof(port));
	limits = (struct ibv_device_attr) {
		.max_qp_wr = 32768, .max_sge = 30, .max_srq = 5, .atomic_cap = IBV_ATOMIC_HCA,
	};
	vrb_conf.tx_size = vrb_conf.rx_size = 384;
	vrb_conf.tx_iov = vrb_conf.rx_iov = 4;
	vrb_conf.inline_size = 256;
	vrb_info_init();
	return 0;
}

static void defaults(void **state)
{
	struct fi_info *info = narrowed(&vrb_offer_msg);

	assert_int_equal(info->tx_attr->size, 384);
	assert_int_equal(info->rx_attr->size, 384);
	assert_int_equal(info->tx_attr->iov_limit, 4);
	assert_int_equal(info->tx_attr->inject_size, 256);
	assert_int_equal(info->tx_attr->rma_iov_limit, 1);
	assert_int_equal(info->ep_attr->protocol, FI_PROTO_RDMA_CM_IB_RC);
	assert_int_equal(info->ep_attr->protocol_version, 1);
	assert_int_equal(info->ep_attr->rx_ctx_cnt, 1);
	assert_true(info->caps & FI_ATOMIC);
	assert_true(info->mode & FI_RX_CQ_DATA);
	assert_int_equal(info->domain_attr->cq_data_size, 4);
	assert_int_equal(info->domain_attr->max_ep_srx_ctx, 1024);
	assert_int_equal(vrb_limits.tx_size, 16384);
	assert_int_equal(vrb_limits.inject_size, 256);
	fi_freeinfo(info);
	/* Without remote access a program need not know of FI_RX_CQ_DATA. */
	info = narrowed(&vrb_offer_send);
	assert_false(info->caps & (FI_RMA | FI_ATOMIC));
	assert_int_equal(info->mode, 0);
	fi_freeinfo(info);
}

static void small_device(void **state)
{
	struct fi_info *info;

	limits = (struct ibv_device_attr) { .max_qp_wr = 100, .max_sge = 2 };
	limits.atomic_cap = IBV_ATOMIC_NONE;
	info = narrowed(&vrb_offer_msg);
	assert_int_equal(info->tx_attr->size, 100);
	assert_int_equal(info->rx_attr->size, 100);
	assert_int_equal(info->tx_attr->iov_limit, 2);
	assert_int_equal(info->rx_attr->iov_limit, 2);
	assert_false((info->caps | info->tx_attr->caps | info->rx_attr->caps) & FI_ATOMIC);
	assert_true(info->caps & FI_RMA);
	assert_int_equal(info->domain_attr->max_ep_srx_ctx, 0);
	fi_freeinfo(info);
}

static void iwarp(void **state)
{
	struct fi_info *info;

	port.iwarp = true;
	info = narrowed(&vrb_offer_msg);
	assert_int_equal(info->ep_attr->protocol, FI_PROTO_IWARP);
	assert_int_equal(info->ep_attr->protocol_version, 1);
	assert_int_equal(info->domain_attr->cq_data_size, 0);
	fi_freeinfo(info);
}

/* A datagram is one packet; two entries of a receive are for the header and excess data. */
static void datagrams(void **state)
{
	struct fi_info *info;

	limits.max_sge = 5;
	info = narrowed(&vrb_offer_dgram);
	assert_int_equal(info->ep_attr->protocol, FI_PROTO_IB_UD);
	assert_int_equal(info->ep_attr->protocol_version, 1);
	assert_int_equal(info->ep_attr->max_msg_size, 1024);
	assert_int_equal(info->rx_attr->iov_limit, 5 - VRB_DGRAM_SGE);
	assert_int_equal(info->tx_attr->iov_limit, 4);
	assert_int_equal(info->tx_attr->rma_iov_limit, 0);
	assert_false(info->caps & FI_RMA);
	fi_freeinfo(info);
	mtu = 0;	/* unknown: the offer's */
	info = narrowed(&vrb_offer_dgram);
	assert_int_equal(info->ep_attr->max_msg_size, 4096);
	fi_freeinfo(info);
}

static void no_device(void **state)
{
	struct fi_info *info;

	open_ret = -FI_ENODEV;
	limits.max_qp_wr = 1;
	info = narrowed(&vrb_offer_msg);
	assert_int_equal(info->tx_attr->size, 384);
	fi_freeinfo(info);
}

#define T(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(defaults),
		T(small_device),
		T(iwarp),
		T(datagrams),
		T(no_device),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
