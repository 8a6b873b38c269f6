/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Rings of requests: which are signalled, what a completion retires, when the doorbell rings. */
#include "verbs/test/fake_device.h"

static struct fake f;
static struct fi_info *info;
static struct fid_cq *cq;
static struct fid_eq *eq;
static struct vrb_ep *ep;
static unsigned rings;
static char buf[256];

static int count_build(struct vrb_sq *sq, const struct vrb_wr *wr);
static void count_ring(struct vrb_sq *sq)
{
	rings++;
}

static const struct vrb_sq_ops *real_ops;
static struct vrb_sq_ops counting;

static int count_build(struct vrb_sq *sq, const struct vrb_wr *wr)
{
	return real_ops->build(sq, wr);
}

static void open_ep(uint64_t flags)
{
	ep = dev_ep(&f, info, cq, flags, eq);
	assert_int_equal(obj_ep_enable(&ep->base), 0);
	obj_cm_set_state(&ep->base, OBJ_CM_CONNECTED);
	real_ops = ep->sq.ops;
	counting = *real_ops;
	counting.build = count_build;
	counting.ring = count_ring;
	ep->sq.ops = &counting;
	rings = 0;
}

static int set_up(void **state)
{
	struct fake_want want = { .type = FI_EP_MSG, .caps = FI_MSG | FI_RMA };

	dev_init();
	fake_open(&f, &want);
	fake_log_start();
	info = fi_dupinfo(f.info);
	info->tx_attr->size = 32;
	info->rx_attr->size = 5;
	info->tx_attr->iov_limit = info->rx_attr->iov_limit = 4;
	info->tx_attr->inject_size = 64;
	cq = fake_cq(&f, FI_CQ_FORMAT_MSG, FI_WAIT_NONE);
	eq = fake_eq(&f, FI_WAIT_NONE);
	ep = NULL;
	return 0;
}

static int tear_down(void **state)
{
	if (ep)
		dev_ep_close(ep);
	CLOSE(eq);
	CLOSE(cq);
	fi_freeinfo(info);
	fake_close(&f);
	assert_int_equal(dev.regs, 0);
	return 0;
}

static ssize_t send_one(uint64_t flags)
{
	struct iovec iov = { buf, 8 };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .context = &iov };

	return vrb_msg_ops.sendmsg(&ep->base.h.fid, &msg, flags);
}

static bool signalled(unsigned i)
{
	return dev.posted[i].wr.send_flags & IBV_SEND_SIGNALED;
}

static unsigned comps(void)
{
	struct fi_cq_msg_entry entry[64];
	ssize_t ret = fi_cq_read(cq, entry, 64);

	return ret == -FI_EAGAIN ? 0 : (unsigned) ret;
}

static void ring_sizes(void **state)
{
	open_ep(FI_TRANSMIT | FI_RECV);
	assert_int_equal(ep->tx_depth, 32);
	assert_int_equal(ep->tx_mask, 31);
	assert_int_equal(ep->rx_depth, 5);
	assert_int_equal(ep->rx_mask, 7);	/* a power of two */
	assert_int_equal(ep->tx_unsignalled_max, 8);
	assert_int_equal(ep->cq->used, 32 + 5);
}

/* A wanted completion is signalled, one that is not wanted now and then. */
static void signalling(void **state)
{
	unsigned i, cnt = 0;

	open_ep(FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION);
	assert_int_equal(send_one(FI_COMPLETION), 0);
	assert_true(signalled(0));
	for (i = 1; i <= 18; i++) {
		assert_int_equal(send_one(0), 0);
		cnt += signalled(i);
	}
	assert_true(signalled(9) && signalled(18));	/* after eight that were not */
	assert_int_equal(cnt, 2);
	assert_int_equal(ep->tx_unsignalled, 0);
	/* A wanted one begins the count again. */
	assert_int_equal(send_one(0), 0);
	assert_int_equal(ep->tx_unsignalled, 1);
	assert_int_equal(send_one(FI_COMPLETION), 0);
	assert_int_equal(ep->tx_unsignalled, 0);
}

static void completion_retires_all_before(void **state)
{
	unsigned i;

	open_ep(FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION);
	for (i = 0; i < 5; i++)
		assert_int_equal(send_one(i == 4 ? FI_COMPLETION : 0), 0);
	assert_int_equal(ep->tx_tail - ep->tx_head, 5);
	dev_complete(dev.posted[4].wr.wr_id, IBV_WC_SUCCESS);
	assert_int_equal(vrb_poller_run(ep->poller, 16), 1);
	assert_int_equal(ep->tx_tail - ep->tx_head, 0);
	assert_int_equal(comps(), 1);
}

static void full_ring(void **state)
{
	unsigned i;

	open_ep(FI_TRANSMIT | FI_RECV);
	for (i = 0; i < 32; i++)
		assert_int_equal(send_one(FI_MORE | FI_COMPLETION), 0);
	assert_int_equal(rings, 0);
	/* The call that fails rings for those that wait, and polls. */
	assert_int_equal(send_one(FI_MORE), -FI_EAGAIN);
	assert_int_equal(rings, 1);
	assert_int_equal(dev.posted_cnt, 32);
	dev_complete(dev.posted[2].wr.wr_id, IBV_WC_SUCCESS);
	assert_int_equal(send_one(0), 0);
	assert_int_equal(ep->tx_tail - ep->tx_head, 30);
	assert_int_equal(rings, 3);
}

/* FI_MORE leaves the doorbell to the next request. */
static void doorbell(void **state)
{
	open_ep(FI_TRANSMIT | FI_RECV);
	assert_int_equal(send_one(0), 0);
	assert_int_equal(rings, 1);
	assert_int_equal(send_one(FI_MORE), 0);
	assert_int_equal(rings, 1);
	assert_int_equal(send_one(0), 0);
	assert_int_equal(rings, 2);
	dev.post_ret = ENOMEM;
	assert_int_equal(send_one(0), -FI_EAGAIN);
	assert_int_equal(rings, 3);
	dev.post_ret = EINVAL;
	assert_int_equal(send_one(0), -FI_EINVAL);
	assert_int_equal(ep->tx_tail, 3);	/* neither has a place in the ring */
}

static void states(void **state)
{
	ep = dev_ep(&f, info, cq, FI_TRANSMIT | FI_RECV, eq);
	assert_int_equal(send_one(0), -FI_EOPBADSTATE);
	assert_int_equal(obj_ep_enable(&ep->base), 0);
	assert_int_equal(send_one(0), -FI_ENOTCONN);
	obj_cm_set_state(&ep->base, OBJ_CM_CONNECTED);
	assert_int_equal(send_one(FI_MULTICAST), -FI_EBADFLAGS);
	assert_int_equal(send_one(0), 0);
	obj_cm_set_state(&ep->base, OBJ_CM_SHUT);
	assert_int_equal(send_one(0), -FI_ENOTCONN);
}

/* The queue pair is asked for less until the device agrees; the rest is copied to scratch. */
static void little_inline_data(void **state)
{
	info->tx_attr->inject_size = 100;
	dev.max_inline = 70;
	open_ep(FI_TRANSMIT | FI_RECV);
	assert_int_equal(ep->max_inline, 64);
	assert_int_equal(dev.regs, 1);
	memset(buf, 'x', 100);
	assert_int_equal(vrb_msg_ops.inject(&ep->base.h.fid, buf, 100, 0), 0);
	memset(buf, 'y', 100);
	assert_false(dev.posted[0].wr.send_flags & IBV_SEND_INLINE);
	assert_int_equal(dev.posted[0].sge[0].lkey, 0x77);
	assert_int_equal(dev.posted[0].sge[0].length, 100);
	assert_memory_equal((void *) (uintptr_t) dev.posted[0].sge[0].addr, "xxxx", 4);
	assert_int_equal(vrb_msg_ops.inject(&ep->base.h.fid, buf, 64, 0), 0);
	assert_true(dev.posted[1].wr.send_flags & IBV_SEND_INLINE);
	assert_int_equal(vrb_msg_ops.inject(&ep->base.h.fid, buf, 101, 0), -FI_EMSGSIZE);
}

/* Closing lets what was posted complete; a marker reports requests that are not signalled. */
static void drain(void **state)
{
	open_ep(FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION);
	assert_int_equal(send_one(0), 0);
	assert_false(signalled(0));
	/* The marker is the second request, at slot 1. */
	dev_complete((uintptr_t) &ep->tx[1], IBV_WC_SUCCESS);
	vrb_ep_drain(ep);
	assert_int_equal(dev.posted_cnt, 2);
	assert_true(signalled(1));
	assert_int_equal(dev.posted[1].wr.opcode, IBV_WR_RDMA_WRITE);
	assert_int_equal(dev.posted[1].wr.num_sge, 0);
	assert_int_equal(ep->tx_head, ep->tx_tail);
	assert_int_equal(comps(), 0);
}

static void receives(void **state)
{
	unsigned i;

	open_ep(FI_TRANSMIT | FI_RECV);
	for (i = 0; i < 5; i++)
		assert_int_equal(vrb_msg_ops.recv(&ep->base.h.fid, buf, 8, NULL, 0, NULL), 0);
	assert_int_equal(vrb_msg_ops.recv(&ep->base.h.fid, buf, 8, NULL, 0, NULL), -FI_EAGAIN);
	dev_complete(dev.recvs[0], IBV_WC_SUCCESS)->byte_len = 8;
	assert_int_equal(vrb_poller_run(ep->poller, 16), 1);
	assert_int_equal(comps(), 1);
	dev.post_ret = ENOMEM;
	assert_int_equal(vrb_msg_ops.recv(&ep->base.h.fid, buf, 8, NULL, 0, NULL), -FI_EAGAIN);
	dev.post_ret = 0;
	assert_int_equal(vrb_msg_ops.recv(&ep->base.h.fid, buf, 8, NULL, 0, NULL), 0);
	assert_int_equal(ep->rx_tail - ep->rx_head, 5);
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(ring_sizes),
		T(signalling),
		T(completion_retires_all_before),
		T(full_ring),
		T(doorbell),
		T(states),
		T(little_inline_data),
		T(drain),
		T(receives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
