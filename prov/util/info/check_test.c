/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <rdma/fi_errno.h>
#include <rdma/providers/fi_prov.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/test/verify.h"

#include "info/check.h"
#include "obj/test/log_catch.h"

#define V FI_VERSION(2, 6)
#define ORDERS (FI_ORDER_SAS | FI_ORDER_WAW | FI_ORDER_RAW | FI_ORDER_ATOMIC_RAR | \
		FI_ORDER_ATOMIC_RAW | FI_ORDER_ATOMIC_WAR | FI_ORDER_ATOMIC_WAW)

static struct fi_provider prov = { .name = "soft" };

/* ---- an offer like that of a software RDM endpoint ------------------- */

static struct fi_tx_attr tx = {
	.caps = INFO_CAPS_TX, .msg_order = ORDERS, .inject_size = 128, .size = 256,
	.iov_limit = 4, .rma_iov_limit = 4,
	.op_flags = FI_INJECT | FI_COMPLETION | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE |
		    FI_DELIVERY_COMPLETE,
};
static struct fi_rx_attr rx = {
	.caps = INFO_CAPS_RX, .msg_order = ORDERS, .size = 256, .iov_limit = 4,
	.op_flags = FI_COMPLETION | FI_MULTI_RECV,
};
static struct fi_ep_attr ep = {
	.type = FI_EP_RDM, .protocol = FI_PROTO_XNET, .protocol_version = 1,
	.max_msg_size = SIZE_MAX, .max_order_raw_size = SIZE_MAX,
	.max_order_waw_size = SIZE_MAX, .mem_tag_format = UINT64_C(0xaaaaaaaaaaaaaaaa),
	.tx_ctx_cnt = 1, .rx_ctx_cnt = 1,
};
static struct fi_domain_attr domain = {
	.name = "eth0", .threading = FI_THREAD_SAFE, .control_progress = FI_PROGRESS_AUTO,
	.data_progress = FI_PROGRESS_AUTO, .resource_mgmt = FI_RM_ENABLED,
	.mr_key_size = 8, .cq_data_size = 8, .cq_cnt = 256, .ep_cnt = 256,
	.tx_ctx_cnt = 256, .rx_ctx_cnt = 256, .max_ep_tx_ctx = 1, .max_ep_rx_ctx = 1,
	.mr_iov_limit = 1, .caps = FI_LOCAL_COMM | FI_REMOTE_COMM,
	.max_cntr_value = UINT64_MAX, .max_err_cntr_value = UINT64_MAX,
};
static struct fi_fabric_attr fabric = { .name = "192.0.2.0/24", .prov_name = "soft" };
static struct fi_info offer = {
	.caps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_SEND | FI_RECV | FI_READ |
		FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE | FI_MULTI_RECV | FI_SOURCE |
		FI_DIRECTED_RECV | FI_RMA_EVENT | FI_LOCAL_COMM | FI_REMOTE_COMM | FI_FENCE,
	.addr_format = FI_SOCKADDR_IN,
	.tx_attr = &tx, .rx_attr = &rx, .ep_attr = &ep, .domain_attr = &domain,
	.fabric_attr = &fabric,
};
static const struct info_limits limits = { .tx_size = 65536, .rx_size = 65536,
					  .inject_size = 16384 };

/* ---- helpers --------------------------------------------------------- */

struct fixture {
	struct fi_info *hints, *info;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->hints = fi_allocinfo();
	*state = f;
	return f->hints ? catch_start() : -1;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	catch_stop();
	fi_freeinfo(f->hints);
	fi_freeinfo(f->info);
	free(f);
	return 0;
}

static int ask(struct fixture *f, uint32_t version)
{
	static const struct explain_label label = { .domain = "eth0",
						.addr = "fi_sockaddr_in://192.0.2.2:0" };

	fi_freeinfo(f->info);
	f->info = NULL;
	catch_clear();
	return info_check(&prov, &offer, &limits, f->hints, version, &label, &f->info);
}

static void assert_yes(struct fixture *f)
{
	int ret = ask(f, V);

	if (ret)
		fail_msg("refused (%d): %s", ret, caught.cnt ? caught.line[0] : "no reason given");
	assert_non_null(f->info);
	assert_int_equal(caught.cnt, 0);
}

/* assert_no - refused for this attribute, with one line in the log. */
static void assert_no(struct fixture *f, const char *attr, const char *wanted)
{
	struct explain_line ex;

	assert_int_equal(ask(f, V), -FI_ENODATA);
	assert_null(f->info);
	assert_int_equal(caught.cnt, 1);
	assert_int_equal(explain_parse(caught.line[0], &ex), 0);
	assert_string_equal(ex.provider, "soft");
	assert_string_equal(ex.domain, "eth0");
	assert_string_equal(ex.addr, "fi_sockaddr_in://192.0.2.2:0");
	assert_string_equal(ex.ep_type, "FI_EP_RDM");
	assert_string_equal(ex.attr, attr);
	if (!strstr(ex.wanted, wanted))
		fail_msg("wanted=%s does not mention %s", ex.wanted, wanted);
	assert_true(ex.offered[0] != '\0' && strcmp(ex.offered, "-"));
}

/* ---- tests ----------------------------------------------------------- */

static void test_no_hints(void **state)
{
	struct fixture *f = *state;

	fi_freeinfo(f->hints);
	f->hints = NULL;
	assert_yes(f);
	assert_int_equal(f->info->caps, offer.caps);
	assert_int_equal(f->info->mode, 0);
	assert_int_equal(f->info->tx_attr->caps, info_caps_tx(offer.caps));
	assert_int_equal(f->info->tx_attr->op_flags, 0);
	assert_int_equal(f->info->tx_attr->msg_order, ORDERS);
	assert_int_equal(f->info->rx_attr->op_flags, 0);
	assert_int_equal(f->info->domain_attr->mr_mode, 0);
	assert_int_equal(f->info->domain_attr->threading, FI_THREAD_SAFE);
	assert_int_equal(f->info->domain_attr->av_type, FI_AV_UNSPEC);
	assert_int_equal(f->info->fabric_attr->api_version, V);
	assert_string_equal(f->info->domain_attr->name, "eth0");
	assert_string_equal(f->info->fabric_attr->name, "192.0.2.0/24");
}

static void test_zeroed_and_sparse_hints(void **state)
{
	struct fixture *f = *state;
	struct fi_info bare = { 0 };
	struct fi_info *zeroed = f->hints;

	assert_yes(f);
	assert_int_equal(f->info->caps, offer.caps);
	f->hints = &bare;
	assert_yes(f);
	assert_int_equal(f->info->caps, offer.caps);
	assert_non_null(f->info->tx_attr);
	assert_non_null(f->info->domain_attr);
	f->hints = zeroed;
}

static void test_caps(void **state)
{
	struct fixture *f = *state;

	f->hints->caps = FI_MSG;
	assert_yes(f);
	assert_int_equal(f->info->caps, FI_MSG | FI_SEND | FI_RECV | FI_MULTI_RECV |
			 FI_LOCAL_COMM | FI_REMOTE_COMM);
	assert_int_equal(f->info->tx_attr->caps, FI_MSG | FI_SEND);
	assert_int_equal(f->info->rx_attr->caps, FI_MSG | FI_RECV | FI_MULTI_RECV);
	f->hints->caps = FI_MSG | FI_COLLECTIVE | FI_HMEM;
	assert_no(f, "caps", "FI_COLLECTIVE");
	assert_null(strstr(caught.line[0], "wanted=\"[ FI_MSG"));	/* another attribute is the
									 * reason */
}

static void test_context_caps(void **state)
{
	struct fixture *f = *state;

	f->hints->caps = FI_MSG | FI_TAGGED | FI_RMA;
	f->hints->tx_attr->caps = FI_MSG;
	f->hints->rx_attr->caps = FI_MSG | FI_TAGGED | FI_RECV;
	assert_yes(f);
	assert_int_equal(f->info->tx_attr->caps, FI_MSG | FI_SEND);
	assert_int_equal(f->info->rx_attr->caps, FI_MSG | FI_TAGGED | FI_RECV);
	/* some programs pass the whole caps for each side */
	f->hints->tx_attr->caps = f->hints->rx_attr->caps = f->hints->caps;
	assert_yes(f);
	assert_int_equal(f->info->tx_attr->caps, FI_MSG | FI_TAGGED | FI_RMA | FI_SEND |
			 FI_READ | FI_WRITE);
	f->hints->tx_attr->caps = FI_ATOMIC;
	assert_no(f, "tx_attr->caps", "FI_ATOMIC");
	f->hints->tx_attr->caps = 0;
	f->hints->rx_attr->caps = FI_MSG | FI_SOURCE;
	assert_no(f, "rx_attr->caps", "FI_SOURCE");
}

static void test_mode(void **state)
{
	struct fixture *f = *state;

	f->hints->mode = FI_CONTEXT | FI_CONTEXT2 | FI_ASYNC_IOV | FI_RX_CQ_DATA;
	assert_yes(f);
	assert_int_equal(f->info->mode, 0);	/* no mode bit is required */

	offer.mode = FI_CONTEXT;
	assert_yes(f);
	assert_int_equal(f->info->mode, FI_CONTEXT);
	f->hints->mode = FI_CONTEXT2;
	assert_no(f, "mode", "FI_CONTEXT2");
	offer.mode = 0;

	tx.mode = FI_ASYNC_IOV;
	f->hints->mode = FI_ASYNC_IOV;
	assert_yes(f);
	f->hints->tx_attr->mode = FI_CONTEXT;	/* overrides the info's mode */
	assert_no(f, "tx_attr->mode", "FI_CONTEXT");
	tx.mode = 0;
}

static void test_required_mode_without_hints(void **state)
{
	struct fixture *f = *state;

	fi_freeinfo(f->hints);
	f->hints = NULL;
	offer.mode = FI_CONTEXT;
	domain.mr_mode = FI_MR_LOCAL | INFO_MR_BASIC_BITS;
	assert_yes(f);
	assert_int_equal(f->info->mode, FI_CONTEXT);
	assert_int_equal(f->info->domain_attr->mr_mode, FI_MR_LOCAL | INFO_MR_BASIC_BITS);
	offer.mode = 0;
	domain.mr_mode = 0;
}

static void test_addr_format(void **state)
{
	static const struct { uint32_t asked, offered; bool ok; } row[] = {
		{ FI_FORMAT_UNSPEC, FI_SOCKADDR_IN, true },
		{ FI_SOCKADDR, FI_SOCKADDR_IN, true },
		{ FI_SOCKADDR, FI_SOCKADDR_IN6, true },
		{ FI_SOCKADDR, FI_SOCKADDR_IB, true },
		{ FI_SOCKADDR, FI_ADDR_STR, false },
		{ FI_SOCKADDR_IP, FI_SOCKADDR_IN6, true },
		{ FI_SOCKADDR_IP, FI_SOCKADDR_IB, false },
		{ FI_SOCKADDR_IN, FI_SOCKADDR_IN, true },
		{ FI_SOCKADDR_IN, FI_SOCKADDR_IN6, false },
		{ FI_ADDR_STR, FI_SOCKADDR_IN, false },
		{ FI_ADDR_STR, FI_ADDR_STR, true },
	};
	struct fixture *f = *state;
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		f->hints->addr_format = row[i].asked;
		offer.addr_format = row[i].offered;
		if (row[i].ok) {
			assert_yes(f);
			assert_int_equal(f->info->addr_format, row[i].offered);
		} else {
			assert_no(f, "addr_format", "");
		}
	}
	offer.addr_format = FI_SOCKADDR_IN;
}

static void test_names(void **state)
{
	struct fixture *f = *state;

	f->hints->domain_attr->name = strdup("eth0");
	f->hints->fabric_attr->name = strdup("192.0.2.0/24");
	f->hints->fabric_attr->prov_name = strdup("anything");	/* compared by the core */
	assert_yes(f);
	f->hints->domain_attr->name[3] = '1';
	assert_no(f, "domain_attr->name", "eth1");
	f->hints->domain_attr->name[3] = '0';
	f->hints->fabric_attr->name[0] = '2';
	assert_no(f, "fabric_attr->name", "292.0.2.0/24");
}

static void test_nic(void **state)
{
	struct fi_device_attr dev = { .name = NULL };
	struct fid_nic nic = { .device_attr = NULL };
	struct fixture *f = *state;

	f->hints->nic = &nic;
	assert_yes(f);
	nic.device_attr = &dev;
	assert_yes(f);
	dev.name = (char *) "eth0";
	assert_yes(f);
	dev.name = (char *) "eth1";
	assert_no(f, "nic->device_attr->name", "eth1");

	/* A special domain of the device. */
	domain.name = (char *) "eth1-xrc";
	assert_yes(f);
	dev.name = (char *) "eth";
	assert_no(f, "nic->device_attr->name", "eth");
	domain.name = (char *) "eth0";
	f->hints->nic = NULL;
}

/* Programs compare these values with what they requested. */
static void test_models_are_echoed(void **state)
{
	struct fixture *f = *state;
	struct fi_domain_attr *want = f->hints->domain_attr;
	int i;

	for (i = FI_THREAD_SAFE; i <= FI_THREAD_ENDPOINT; i++) {
		want->threading = i;
		assert_yes(f);
		assert_int_equal(f->info->domain_attr->threading, i);
	}
	for (i = FI_PROGRESS_AUTO; i <= FI_PROGRESS_CONTROL_UNIFIED; i++) {
		want->control_progress = i;
		want->data_progress = FI_PROGRESS_MANUAL;
		assert_yes(f);
		assert_int_equal(f->info->domain_attr->control_progress, i);
		assert_int_equal(f->info->domain_attr->data_progress, FI_PROGRESS_MANUAL);
	}
	for (i = FI_AV_UNSPEC; i <= FI_AV_TABLE; i++) {
		want->av_type = i;
		assert_yes(f);
		assert_int_equal(f->info->domain_attr->av_type, i);
	}
	for (i = FI_RM_DISABLED; i <= FI_RM_ENABLED; i++) {
		want->resource_mgmt = i;
		assert_yes(f);
		assert_int_equal(f->info->domain_attr->resource_mgmt, i);
	}
	want->threading = FI_THREAD_ENDPOINT + 1;
	assert_no(f, "domain_attr->threading", "");
	want->threading = 0;
	want->control_progress = FI_PROGRESS_CONTROL_UNIFIED + 1;
	assert_no(f, "domain_attr->control_progress", "");
	want->control_progress = 0;
	want->av_type = FI_AV_TABLE + 1;
	assert_no(f, "domain_attr->av_type", "");
	want->av_type = FI_AV_MAP;
	domain.av_type = FI_AV_TABLE;
	assert_no(f, "domain_attr->av_type", "FI_AV_MAP");
	domain.av_type = FI_AV_UNSPEC;
}

/* Control follows data, and is what was asked for where something was. */
static void test_control_progress(void **state)
{
	static const struct { enum fi_progress offered, data, control, want_data, want_control; } rows[] = {
		{ FI_PROGRESS_AUTO, 0, 0, FI_PROGRESS_AUTO, FI_PROGRESS_AUTO },
		{ FI_PROGRESS_MANUAL, 0, 0, FI_PROGRESS_MANUAL, FI_PROGRESS_MANUAL },
		{ FI_PROGRESS_AUTO, FI_PROGRESS_MANUAL, 0, FI_PROGRESS_MANUAL, FI_PROGRESS_MANUAL },
		{ FI_PROGRESS_MANUAL, FI_PROGRESS_AUTO, 0, FI_PROGRESS_AUTO, FI_PROGRESS_AUTO },
		{ FI_PROGRESS_MANUAL, 0, FI_PROGRESS_AUTO, FI_PROGRESS_MANUAL, FI_PROGRESS_AUTO },
		{ FI_PROGRESS_AUTO, 0, FI_PROGRESS_MANUAL, FI_PROGRESS_AUTO, FI_PROGRESS_MANUAL },
		{ FI_PROGRESS_AUTO, FI_PROGRESS_MANUAL, FI_PROGRESS_CONTROL_UNIFIED, FI_PROGRESS_MANUAL,
		  FI_PROGRESS_CONTROL_UNIFIED },
	};
	struct fixture *f = *state;
	struct fi_domain_attr *want = f->hints->domain_attr;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		domain.control_progress = domain.data_progress = rows[i].offered;
		want->data_progress = rows[i].data;
		want->control_progress = rows[i].control;
		assert_yes(f);
		assert_int_equal(f->info->domain_attr->data_progress, rows[i].want_data);
		assert_int_equal(f->info->domain_attr->control_progress, rows[i].want_control);
	}
	domain.control_progress = domain.data_progress = FI_PROGRESS_AUTO;
}

static void test_manual_only(void **state)
{
	const struct info_limits manual = { .manual_only = true };
	struct fixture *f = *state;

	f->hints->domain_attr->data_progress = FI_PROGRESS_AUTO;
	assert_int_equal(info_check(&prov, &offer, &manual, f->hints, V, NULL, NULL),
			 -FI_ENODATA);
	assert_non_null(catch_find("attr=domain_attr->data_progress wanted=FI_PROGRESS_AUTO "
				   "offered=FI_PROGRESS_MANUAL"));
	f->hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	assert_int_equal(info_check(&prov, &offer, &manual, f->hints, V, NULL, NULL), 0);
}

/* FI_XPU is offered to those that name it, and then with a number of contexts. */
static void test_xpu(void **state)
{
	const struct info_limits xpu = { .xpu_ctx_cnt = 4 };
	struct fixture *f = *state;
	struct fi_info *info;

	f->hints->caps = FI_MSG;
	assert_int_equal(info_check(&prov, &offer, &xpu, f->hints, V, NULL, &info), 0);
	assert_int_equal(info->caps & FI_XPU, 0);
	assert_int_equal(info->domain_attr->max_xpu_ctx_cnt, 0);
	fi_freeinfo(info);
	f->hints->caps = FI_MSG | FI_XPU;
	f->hints->domain_attr->max_xpu_ctx_cnt = 4;
	assert_int_equal(info_check(&prov, &offer, &xpu, f->hints, V, NULL, &info), 0);
	assert_true(info->caps & FI_XPU);
	assert_int_equal(info->domain_attr->max_xpu_ctx_cnt, 4);
	fi_freeinfo(info);
	f->hints->domain_attr->max_xpu_ctx_cnt = 5;
	assert_int_equal(info_check(&prov, &offer, &xpu, f->hints, V, NULL, NULL), -FI_ENODATA);
	assert_non_null(catch_find("attr=domain_attr->max_xpu_ctx_cnt wanted=5 offered=4"));
	assert_int_equal(info_check(&prov, &offer, NULL, f->hints, V, NULL, NULL), -FI_ENODATA);
	assert_non_null(catch_find("attr=caps wanted=FI_XPU "));
}

#define TOO_MUCH(f, attr, field, value)				\
	do {							\
		(f)->hints->field = (value);			\
		assert_no(f, attr, "");				\
		(f)->hints->field = 0;				\
	} while (0)

static void test_maxima(void **state)
{
	struct fixture *f = *state;

	TOO_MUCH(f, "domain_attr->mr_key_size", domain_attr->mr_key_size, 9);
	TOO_MUCH(f, "domain_attr->cq_data_size", domain_attr->cq_data_size, 16);
	TOO_MUCH(f, "domain_attr->max_ep_tx_ctx", domain_attr->max_ep_tx_ctx, 2);
	TOO_MUCH(f, "domain_attr->max_ep_rx_ctx", domain_attr->max_ep_rx_ctx, 2);
	TOO_MUCH(f, "domain_attr->max_ep_stx_ctx", domain_attr->max_ep_stx_ctx, 1);
	TOO_MUCH(f, "domain_attr->max_ep_srx_ctx", domain_attr->max_ep_srx_ctx, 1);
	TOO_MUCH(f, "domain_attr->mr_iov_limit", domain_attr->mr_iov_limit, 2);
	TOO_MUCH(f, "domain_attr->max_err_data", domain_attr->max_err_data, 1);
	TOO_MUCH(f, "domain_attr->max_ep_auth_key", domain_attr->max_ep_auth_key, 1);
	TOO_MUCH(f, "domain_attr->max_group_id", domain_attr->max_group_id, 1);
	TOO_MUCH(f, "domain_attr->auth_key_size", domain_attr->auth_key_size, 4);
	TOO_MUCH(f, "domain_attr->caps", domain_attr->caps, FI_SHARED_AV);
	TOO_MUCH(f, "domain_attr->tclass", domain_attr->tclass, FI_TC_NETWORK_CTRL + 1);
	TOO_MUCH(f, "ep_attr->protocol_version", ep_attr->protocol_version, 2);
	TOO_MUCH(f, "ep_attr->max_order_war_size", ep_attr->max_order_war_size, 1);
	TOO_MUCH(f, "ep_attr->tx_ctx_cnt", ep_attr->tx_ctx_cnt, 2);
	TOO_MUCH(f, "ep_attr->tx_ctx_cnt", ep_attr->tx_ctx_cnt, FI_SHARED_CONTEXT);
	TOO_MUCH(f, "ep_attr->rx_ctx_cnt", ep_attr->rx_ctx_cnt, FI_SHARED_CONTEXT);
	TOO_MUCH(f, "ep_attr->auth_key_size", ep_attr->auth_key_size, 4);
	TOO_MUCH(f, "tx_attr->op_flags", tx_attr->op_flags, FI_COMMIT_COMPLETE);
	TOO_MUCH(f, "tx_attr->msg_order", tx_attr->msg_order, FI_ORDER_SAR);
	TOO_MUCH(f, "tx_attr->inject_size", tx_attr->inject_size, 16385);
	TOO_MUCH(f, "tx_attr->size", tx_attr->size, 65537);
	TOO_MUCH(f, "tx_attr->iov_limit", tx_attr->iov_limit, 5);
	TOO_MUCH(f, "tx_attr->rma_iov_limit", tx_attr->rma_iov_limit, 5);
	TOO_MUCH(f, "tx_attr->tclass", tx_attr->tclass, FI_TC_DSCP | 64);
	TOO_MUCH(f, "rx_attr->op_flags", rx_attr->op_flags, FI_INJECT);
	TOO_MUCH(f, "rx_attr->msg_order", rx_attr->msg_order, FI_ORDER_SAR);
	TOO_MUCH(f, "rx_attr->size", rx_attr->size, 65537);
	TOO_MUCH(f, "rx_attr->iov_limit", rx_attr->iov_limit, 5);
	ep.max_msg_size = 1472;
	TOO_MUCH(f, "ep_attr->max_msg_size", ep_attr->max_msg_size, 1473);
	ep.max_msg_size = SIZE_MAX;
	assert_yes(f);	/* each was restored */
}

/* A traffic class is a wish, so none that is documented is refused; the result has it. */
static void test_traffic_classes(void **state)
{
	static const uint32_t classes[] = {
		FI_TC_BEST_EFFORT, FI_TC_LOW_LATENCY, FI_TC_DEDICATED_ACCESS, FI_TC_BULK_DATA,
		FI_TC_SCAVENGER, FI_TC_NETWORK_CTRL, FI_TC_DSCP, FI_TC_DSCP | 46, FI_TC_DSCP | 63,
	};
	struct fixture *f = *state;
	size_t i;

	for (i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		f->hints->tx_attr->tclass = classes[i];
		f->hints->domain_attr->tclass = FI_TC_SCAVENGER;
		assert_yes(f);
		assert_int_equal(f->info->tx_attr->tclass, classes[i]);
		assert_int_equal(f->info->domain_attr->tclass, FI_TC_SCAVENGER);
	}
}

static void test_sizes_of_the_answer(void **state)
{
	struct fixture *f = *state;

	f->hints->tx_attr->size = 4096;
	f->hints->tx_attr->inject_size = 16;
	f->hints->tx_attr->iov_limit = 1;
	f->hints->rx_attr->size = 64;
	f->hints->domain_attr->mr_key_size = 1;
	f->hints->domain_attr->cq_data_size = 4;
	f->hints->domain_attr->ep_cnt = 5000;
	f->hints->ep_attr->max_msg_size = 1;
	f->hints->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
	f->hints->tx_attr->msg_order = FI_ORDER_SAS;
	assert_yes(f);
	assert_int_equal(f->info->tx_attr->size, 4096);
	assert_int_equal(f->info->tx_attr->inject_size, 128);
	assert_int_equal(f->info->tx_attr->iov_limit, 4);
	assert_int_equal(f->info->rx_attr->size, 64);
	assert_int_equal(f->info->domain_attr->mr_key_size, 8);
	assert_int_equal(f->info->domain_attr->cq_data_size, 8);
	assert_int_equal(f->info->domain_attr->ep_cnt, 5000);
	assert_int_equal(f->info->domain_attr->cq_cnt, 256);
	assert_int_equal(f->info->ep_attr->max_msg_size, SIZE_MAX);
	assert_int_equal(f->info->tx_attr->op_flags, FI_DELIVERY_COMPLETE);
	assert_int_equal(f->info->tx_attr->msg_order, FI_ORDER_SAS);
	assert_int_equal(f->info->rx_attr->msg_order, ORDERS);
	f->hints->tx_attr->inject_size = 4096;
	assert_yes(f);
	assert_int_equal(f->info->tx_attr->inject_size, 4096);
}

static void test_shared_contexts(void **state)
{
	struct fixture *f = *state;

	domain.max_ep_srx_ctx = 8192;
	f->hints->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	assert_yes(f);
	assert_int_equal(f->info->ep_attr->rx_ctx_cnt, FI_SHARED_CONTEXT);
	assert_int_equal(f->info->ep_attr->tx_ctx_cnt, 1);
	domain.max_ep_srx_ctx = 0;
}

static void test_tag_format(void **state)
{
	struct fixture *f = *state;

	f->hints->ep_attr->mem_tag_format = UINT64_C(0x007000007fffffff);
	assert_yes(f);
	assert_int_equal(f->info->ep_attr->mem_tag_format, ep.mem_tag_format);
	f->hints->ep_attr->mem_tag_format = FI_TAG_MPI;
	assert_yes(f);
	assert_int_equal(f->info->ep_attr->mem_tag_format, FI_TAG_MPI);
	assert_int_equal(ask(f, FI_VERSION(1, 18)), 0);	/* this bit was a bool in old interfaces */
	assert_int_equal(f->info->ep_attr->mem_tag_format, ep.mem_tag_format);
	ep.mem_tag_format = UINT64_C(0x00ffffffffffffff);
	f->hints->ep_attr->mem_tag_format = UINT64_C(1) << 56;
	assert_no(f, "ep_attr->mem_tag_format", "0x0100000000000000");
	f->hints->ep_attr->mem_tag_format = FI_TAG_CCL;
	assert_no(f, "ep_attr->mem_tag_format", "0xffffffffffffffff");
	ep.mem_tag_format = 0;	/* no tagged messages */
	f->hints->ep_attr->mem_tag_format = 1u << 20;
	assert_yes(f);
	ep.mem_tag_format = UINT64_C(0xaaaaaaaaaaaaaaaa);
}

static void test_auth_keys(void **state)
{
	const struct info_limits keys = { .auth_key_size = 16 };
	struct fixture *f = *state;

	f->hints->domain_attr->auth_key_size = 6;
	assert_int_equal(info_check(&prov, &offer, &keys, f->hints, V, NULL, &f->info), -FI_ENODATA);
	f->hints->domain_attr->auth_key = (uint8_t *) strdup("secret");
	assert_no(f, "domain_attr->auth_key_size", "6");
	assert_int_equal(info_check(&prov, &offer, &keys, f->hints, V, NULL, &f->info), 0);
	assert_int_equal(f->info->domain_attr->auth_key_size, 6);
	assert_memory_equal(f->info->domain_attr->auth_key, "secret", 6);
	assert_ptr_not_equal(f->info->domain_attr->auth_key, f->hints->domain_attr->auth_key);
	/* the field did not exist before 1.5 */
	assert_int_equal(ask(f, FI_VERSION(1, 4)), 0);
}

static void test_handle(void **state)
{
	struct fixture *f = *state;
	struct fid pep = { .fclass = FI_CLASS_PEP }, other = { .fclass = FI_CLASS_EP };

	f->hints->handle = &pep;
	assert_yes(f);
	assert_ptr_equal(f->info->handle, &pep);
	f->hints->handle = &other;
	assert_yes(f);
	assert_null(f->info->handle);
	f->hints->handle = NULL;
}

static void test_mr_mode(void **state)
{
	struct fixture *f = *state;
	int *mr = &f->hints->domain_attr->mr_mode;

	*mr = INFO_MR_BASIC_BITS | FI_MR_LOCAL | FI_MR_ENDPOINT;
	assert_yes(f);
	assert_int_equal(f->info->domain_attr->mr_mode, 0);
	*mr = FI_MR_BASIC;
	assert_yes(f);
	assert_int_equal(f->info->domain_attr->mr_mode, FI_MR_BASIC);
	domain.mr_mode = INFO_MR_BASIC_BITS;
	*mr = FI_MR_LOCAL;
	f->hints->caps = FI_MSG;	/* remote access bits do not matter without FI_RMA */
	assert_yes(f);
	assert_int_equal(f->info->domain_attr->mr_mode, 0);
	f->hints->caps = FI_RMA;
	assert_no(f, "domain_attr->mr_mode", "FI_MR_LOCAL");
	domain.mr_mode = 0;
}

static void test_check_only(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(info_check(&prov, &offer, NULL, f->hints, V, NULL, NULL), 0);
	f->hints->tx_attr->size = 257;	/* without limits the default is the maximum */
	assert_int_equal(info_check(&prov, &offer, NULL, f->hints, V, NULL, NULL),
			 -FI_ENODATA);
	assert_non_null(catch_find("domain=- addr=-"));
}

/* A result must pass as hints, because fi_endpoint() gets it. */
static void test_answer_passes_as_hints(void **state)
{
	struct fixture *f = *state;
	struct fi_info *first;

	f->hints->caps = FI_TAGGED | FI_RMA | FI_DIRECTED_RECV;
	f->hints->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
	assert_yes(f);
	first = fi_dupinfo(f->info);
	assert_non_null(first);
	fi_freeinfo(f->hints);
	f->hints = first;
	assert_yes(f);
	assert_int_equal(f->info->caps, first->caps);
	assert_int_equal(f->info->tx_attr->caps, first->tx_attr->caps);
	assert_int_equal(f->info->rx_attr->caps, first->rx_attr->caps);
	assert_int_equal(f->info->tx_attr->op_flags, first->tx_attr->op_flags);
}

/* ---- hints of runtimes ----------------------------------------------- */

static void test_mpich(void **state)
{
	struct fixture *f = *state;
	struct fi_info *h = f->hints;

	h->caps = FI_MSG | FI_RMA | FI_TAGGED | FI_ATOMIC | FI_READ | FI_WRITE | FI_RECV |
		  FI_SEND | FI_REMOTE_READ | FI_REMOTE_WRITE | FI_MULTI_RECV | FI_SOURCE |
		  FI_DIRECTED_RECV | FI_RMA_EVENT;
	h->mode = FI_CONTEXT | FI_ASYNC_IOV | FI_RX_CQ_DATA | FI_CONTEXT2;
	h->tx_attr->op_flags = FI_COMPLETION | FI_DELIVERY_COMPLETE;
	h->tx_attr->msg_order = FI_ORDER_SAS | FI_ORDER_ATOMIC_RAR | FI_ORDER_ATOMIC_RAW |
				FI_ORDER_ATOMIC_WAR | FI_ORDER_ATOMIC_WAW;
	h->rx_attr->op_flags = FI_COMPLETION;
	h->ep_attr->type = FI_EP_RDM;
	h->ep_attr->mem_tag_format = UINT64_C(0x007000007fffffff);
	h->domain_attr->threading = FI_THREAD_DOMAIN;
	h->domain_attr->control_progress = FI_PROGRESS_MANUAL;
	h->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	h->domain_attr->resource_mgmt = FI_RM_ENABLED;
	h->domain_attr->av_type = FI_AV_TABLE;
	h->domain_attr->cq_data_size = 4;
	h->domain_attr->mr_mode = FI_MR_ENDPOINT;
	h->domain_attr->mode = FI_RESTRICTED_COMP;
	assert_yes(f);
	assert_int_equal(f->info->domain_attr->threading, FI_THREAD_DOMAIN);
	assert_int_equal(f->info->domain_attr->av_type, FI_AV_TABLE);
	assert_true(f->info->domain_attr->cq_data_size >= 4);
}

static void test_open_mpi(void **state)
{
	struct fixture *f = *state;
	struct fi_info *h = f->hints;

	h->caps = FI_MSG | FI_TAGGED | FI_LOCAL_COMM | FI_REMOTE_COMM | FI_DIRECTED_RECV;
	h->mode = FI_CONTEXT | FI_CONTEXT2;
	h->tx_attr->op_flags = h->rx_attr->op_flags = FI_COMPLETION;
	h->tx_attr->msg_order = h->rx_attr->msg_order = FI_ORDER_SAS;
	h->ep_attr->type = FI_EP_RDM;
	h->domain_attr->threading = FI_THREAD_DOMAIN;
	h->domain_attr->resource_mgmt = FI_RM_ENABLED;
	h->domain_attr->av_type = FI_AV_MAP;
	h->domain_attr->cq_data_size = 4;
	h->domain_attr->mr_mode = FI_MR_HMEM | FI_MR_ALLOCATED;
	assert_yes(f);
	assert_int_equal(f->info->domain_attr->av_type, FI_AV_MAP);

	h->caps = FI_MSG | FI_RMA | FI_ATOMIC;	/* the one-sided component (btl) */
	h->tx_attr->op_flags = FI_DELIVERY_COMPLETE | FI_COMPLETION;
	h->tx_attr->msg_order = h->rx_attr->msg_order = 0;
	h->tx_attr->iov_limit = h->rx_attr->iov_limit = 1;
	h->domain_attr->mr_mode = INFO_MR_BASIC_BITS | FI_MR_ENDPOINT;
	assert_yes(f);
	assert_int_equal(f->info->domain_attr->mr_mode & ~h->domain_attr->mr_mode, 0);
}

static void test_storage_and_shmem(void **state)
{
	struct fixture *f = *state;
	struct fi_info *h = f->hints;

	/* Mercury over tcp */
	h->caps = FI_MSG | FI_RMA | FI_TAGGED | FI_MULTI_RECV | FI_DIRECTED_RECV;
	h->mode = FI_CONTEXT | FI_ASYNC_IOV;
	h->addr_format = FI_SOCKADDR_IN;
	h->tx_attr->op_flags = FI_INJECT_COMPLETE;
	h->tx_attr->size = 4096;
	h->rx_attr->size = 512;
	h->ep_attr->type = FI_EP_RDM;
	h->ep_attr->protocol = FI_PROTO_XNET;
	h->domain_attr->control_progress = h->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	h->domain_attr->resource_mgmt = FI_RM_ENABLED;
	h->domain_attr->mr_mode = INFO_MR_BASIC_BITS | FI_MR_LOCAL | FI_MR_ENDPOINT;
	assert_yes(f);
	assert_int_equal(f->info->ep_attr->protocol, FI_PROTO_XNET);
	assert_int_equal(f->info->caps & FI_SOURCE, 0);
	h->ep_attr->protocol = FI_PROTO_RXM;
	assert_no(f, "ep_attr->protocol", "FI_PROTO_RXM");

	/* Sandia OpenSHMEM, without receive attributes */
	fi_freeinfo(f->hints);
	f->hints = h = fi_allocinfo();
	free(h->rx_attr);
	h->rx_attr = NULL;
	h->caps = FI_RMA | FI_ATOMIC | FI_RMA_EVENT;
	h->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
	h->tx_attr->inject_size = 16;
	h->ep_attr->type = FI_EP_RDM;
	h->domain_attr->threading = FI_THREAD_DOMAIN;
	h->domain_attr->data_progress = FI_PROGRESS_AUTO;
	h->domain_attr->mr_key_size = 1;
	assert_yes(f);
	assert_int_equal(f->info->domain_attr->mr_mode, 0);
	assert_int_equal(f->info->domain_attr->data_progress, FI_PROGRESS_AUTO);
	assert_true(f->info->tx_attr->inject_size >= 16);
	assert_non_null(f->info->rx_attr);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_no_hints), T(test_zeroed_and_sparse_hints), T(test_caps),
		T(test_context_caps), T(test_mode), T(test_required_mode_without_hints),
		T(test_addr_format), T(test_names), T(test_nic), T(test_models_are_echoed),
		T(test_control_progress), T(test_manual_only), T(test_xpu), T(test_maxima),
		T(test_traffic_classes),
		T(test_sizes_of_the_answer),
		T(test_shared_contexts), T(test_tag_format), T(test_auth_keys),
		T(test_handle), T(test_mr_mode), T(test_check_only),
		T(test_answer_passes_as_hints), T(test_mpich), T(test_open_mpi),
		T(test_storage_and_shmem),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
