/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* XRC initiators: which one an endpoint shares, and what it has room for. */
#include <arpa/inet.h>

#include "verbs/test/fake_device.h"
#include "verbs/xrc/share.h"

static struct fake f;
static struct fid_cq *cq;
static struct fid_eq *eq;
static struct vrb_ep *ep;
static struct ibv_qp qps[8];
static struct fi_info *info;

static struct ibv_qp *create_qp(struct ibv_context *ctx, struct ibv_qp_init_attr_ex *attr)
{
	struct ibv_qp *qp = &qps[dev.qps];

	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	assert_int_equal(attr->qp_type, IBV_QPT_XRC_SEND);
	qp->context = ctx;
	qp->qp_type = attr->qp_type;
	qp->qp_num = DEV_QPN + dev.qps++;
	return qp;
}

static int set_up(void **state)
{
	struct fake_want want = { .type = FI_EP_MSG, .caps = FI_MSG };

	dev_init();
	dev.verbs.create_qp_ex = create_qp;
	fake_open(&f, &want);
	fake_log_start();
	info = fi_dupinfo(f.info);
	info->tx_attr->size = 4;
	info->rx_attr->size = 4;
	dev.domain.base.info = info;
	cq = fake_cq(&f, FI_CQ_FORMAT_MSG, FI_WAIT_NONE);
	eq = fake_eq(&f, FI_WAIT_NONE);
	ep = dev_ep(&f, info, cq, FI_TRANSMIT | FI_RECV, eq);
	assert_int_equal(obj_ep_enable(&ep->base), 0);
	dev.qps = 0;
	return 0;
}

static int tear_down(void **state)
{
	dev_ep_close(ep);
	CLOSE(eq);
	CLOSE(cq);
	fi_freeinfo(info);
	fake_close(&f);
	return 0;
}

static union net_sa host(uint32_t ip, uint16_t port)
{
	union net_sa sa = { .in = { .sin_family = AF_INET, .sin_port = htons(port) } };

	sa.in.sin_addr.s_addr = htonl(ip);
	return sa;
}

static struct vrb_ini *new_ini(const union net_sa *here, const union net_sa *there)
{
	struct vrb_ini *ini;

	assert_int_equal(vrb_ini_new(ep, &here->sa, &there->sa, &ini), 0);
	return ini;
}

/* An endpoint's XRC part, as far as initiators look at it. */
static void join(struct vrb_ini *ini)
{
	dev.domain.kind = vrb_kind_of(FI_PROTO_RDMA_CM_IB_XRC);
	assert_int_equal(vrb_xrc_new(ep), 0);
	vrb_ini_join(ini, ep);
}

static void leave(void)
{
	vrb_ini_leave(ep);
	vrb_xrc_free(ep);
	ep->xrc = NULL;
	dev.domain.kind = &vrb_rc_kind;
}

static void choice(void **state)
{
	union net_sa a = host(1, 10), b = host(2, 20), c = host(3, 30), b2 = host(2, 99);
	struct vrb_ini *first, *second, *other;

	assert_null(vrb_ini_find(ep, &a.sa, &b.sa, false));
	first = new_ini(&a, &b);
	assert_ptr_equal(first->leader, ep);
	assert_int_equal(first->state, VRB_INI_CONNECTING);
	/* The port does not count, both hosts do. */
	assert_ptr_equal(vrb_ini_find(ep, &a.sa, &b2.sa, false), first);
	assert_null(vrb_ini_find(ep, &a.sa, &c.sa, false));
	assert_null(vrb_ini_find(ep, &c.sa, &b.sa, false));
	assert_null(vrb_ini_find(ep, &b.sa, &a.sa, false));
	/* The accepting peer cannot wait for one whose target is not known. */
	assert_null(vrb_ini_find(ep, &a.sa, &b.sa, true));
	second = new_ini(&a, &b);
	vrb_ini_set_state(second, VRB_INI_ANSWERED);
	assert_ptr_equal(vrb_ini_find(ep, &a.sa, &b.sa, true), second);
	assert_ptr_equal(vrb_ini_find(ep, &a.sa, &b.sa, false), second);
	vrb_ini_set_state(first, VRB_INI_UP);
	assert_ptr_equal(vrb_ini_find(ep, &a.sa, &b.sa, false), first);
	assert_ptr_equal(vrb_ini_find(ep, &a.sa, &b.sa, true), first);
	other = new_ini(&a, &c);
	assert_ptr_equal(vrb_ini_find(ep, &a.sa, &c.sa, false), other);

	/* One that is no longer shared leaves the others in the table. */
	vrb_ini_unshare(first);
	vrb_ini_unshare(first);
	assert_ptr_equal(vrb_ini_find(ep, &a.sa, &b.sa, false), second);
	join(second);
	leave();
	assert_null(vrb_ini_find(ep, &a.sa, &b.sa, false));
	join(first);
	leave();
	join(other);
	leave();
	assert_int_equal(dev.qps_destroyed, 3);
	assert_int_equal(ep->cq->used, 8);	/* the endpoint's own */
}

/* Endpoints that share an initiator share its room. */
static void shared_room(void **state)
{
	union net_sa a = host(1, 10), b = host(2, 20);
	struct vrb_ini *ini = new_ini(&a, &b);
	struct vrb_tx tx = { .ep = ep };
	const struct vrb_sq_ops *direct = ini->sq.ops;
	struct vrb_wr wr = { .op = VRB_OP_SEND };
	unsigned i;

	assert_int_equal(ini->depth, 4);
	assert_int_equal(ini->cq->used, 12);
	join(ini);
	ep->xrc->srqn = 0x55;
	/* Completions give places back. */
	assert_string_equal(direct->name, "post");
	for (i = 0; i < 4; i++)
		ini->used++;
	vrb_xrc_sent(&tx);
	assert_int_equal(ini->used, 3);
	wr.srqn = ep->xrc->srqn;
	assert_int_equal(ini->sq.ops->build(&ini->sq, &wr), 0);
	assert_int_equal(dev.posted[0].wr.qp_type.xrc.remote_srqn, 0x55);
	leave();
}

static void failure(void **state)
{
	union net_sa a = host(1, 10), b = host(2, 20);
	struct vrb_ini *ini = new_ini(&a, &b);
	struct vrb_wc wc = { .status = IBV_WC_REM_ACCESS_ERR };
	struct vrb_tx tx = { .ep = ep };

	join(ini);
	vrb_ini_set_state(ini, VRB_INI_UP);
	obj_cm_set_state(&ep->base, OBJ_CM_CONNECTED);
	ini->used = 2;
	vrb_xrc_failed(&tx, &wc);
	assert_int_equal(ini->state, VRB_INI_SHUT);
	assert_true(ep->failed);
	assert_int_equal(dev.disconnects, 1);
	assert_int_equal(dev.qp_states, 1u << IBV_QPS_ERR);
	assert_null(vrb_ini_find(ep, &a.sa, &b.sa, false));
	assert_non_null(strstr(fake_log_last(), "all connections"));
	/* Requests that are flushed after it are not logged. */
	fake_log_start();
	vrb_xrc_failed(&tx, &wc);
	assert_int_equal(ini->used, 0);
	assert_int_equal(dev.disconnects, 1);
	assert_string_equal(fake_log_last(), "");
	leave();
}

static void no_queue_pair(void **state)
{
	union net_sa a = host(1, 10), b = host(2, 20);
	struct vrb_ini *ini;

	dev.domain.xrc_inline = 100;	/* endpoints count on more than the 64 bytes there are */
	vrb_conf.inline_size = 64;
	assert_int_equal(vrb_ini_new(ep, &a.sa, &b.sa, &ini), -FI_ENOMEM);
	assert_null(vrb_ini_find(ep, &a.sa, &b.sa, false));
	assert_int_equal(dev.qps_destroyed, 1);
	assert_int_equal(ep->cq->used, 8);
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(choice),
		T(shared_room),
		T(failure),
		T(no_queue_pair),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
