/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The fast path over the extended interface: the requests that it builds, what takes the slow path
 * instead, and that a call that fails leaves nothing behind.  In the fake device the slow path is
 * recognised by its ibv_post_send(): a request there has no inline length of its own.
 */
#include <limits.h>

#include "verbs/test/fake_device.h"

#define ADDR UINT64_C(0x7000000010)
#define KEY 0x51u
#define INLINE_MAX 64
#define DEPTH 16

static struct fake f;
static struct fi_info *info;
static struct fid_cq *cq;
static struct fid_eq *eq;
static struct vrb_ep *ep;
static struct fid_ep *fid;
static struct ibv_mr mr = { .lkey = 0x99 };
static char buf[256];
static unsigned slow;		/* requests of the slow path */

static int slow_build(struct vrb_sq *sq, const struct vrb_wr *wr)
{
	slow++;
	return 0;
}

static void slow_ring(struct vrb_sq *sq)
{
}

static int slow_recv(struct vrb_sq *sq, uint64_t wr_id, const struct ibv_sge *sge, unsigned cnt)
{
	slow++;
	return 0;
}

static const struct vrb_sq_ops slow_ops = { "slow", slow_build, slow_ring, slow_recv };

static void open_ep(uint64_t flags, unsigned table)
{
	ep = dev_ep(&f, info, cq, flags, eq);
	fid = &ep->base.h.fid;
	assert_int_equal(obj_ep_enable(&ep->base), 0);
	dev_extend(ep);
	ep->sq.ops = &slow_ops;
	vrb_fast_enable(ep);
	fid->msg = &vrb_fast_tables[table].msg;
	fid->rma = &vrb_fast_tables[table].rma;
	obj_cm_set_state(&ep->base, OBJ_CM_CONNECTED);
	slow = 0;
}

static int set_up(void **state)
{
	struct fake_want want = { .type = FI_EP_MSG, .caps = FI_MSG | FI_RMA };

	dev_init();
	fake_open(&f, &want);
	info = fi_dupinfo(f.info);
	info->tx_attr->size = info->rx_attr->size = DEPTH;
	info->tx_attr->iov_limit = info->rx_attr->iov_limit = 4;
	info->tx_attr->inject_size = INLINE_MAX;
	cq = fake_cq(&f, FI_CQ_FORMAT_DATA, FI_WAIT_NONE);
	eq = fake_eq(&f, FI_WAIT_NONE);
	dev.max_inline = INLINE_MAX;
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
	return 0;
}

/* The last request, which took the fast path. */
static const struct dev_post *fast(enum ibv_wr_opcode opcode)
{
	const struct dev_post *p = &dev.posted[dev.posted_cnt - 1];

	assert_int_equal(slow, 0);
	assert_true(dev.posted_cnt > 0);
	assert_int_equal(p->wr.opcode, opcode);
	return p;
}

static struct fi_cq_data_entry completed(void)
{
	struct fi_cq_data_entry entry = { 0 };

	dev_complete(dev.posted[dev.posted_cnt - 1].wr.wr_id, IBV_WC_SUCCESS);
	assert_int_equal(fi_cq_read(cq, &entry, 1), 1);
	return entry;
}

static void each_call_builds_its_request(void **state)
{
	const struct dev_post *p;

	open_ep(FI_TRANSMIT | FI_RECV, 0);
	assert_int_equal(fi_send(fid, buf, 8, NULL, 0, &f), 0);
	p = fast(IBV_WR_SEND);
	assert_int_equal(p->wr.send_flags, IBV_SEND_INLINE | IBV_SEND_SIGNALED);
	assert_int_equal(dev.inlined, 8);
	assert_ptr_equal(completed().op_context, &f);
	assert_int_equal(fi_senddata(fid, buf, 8, NULL, 0x1234, 0, &f), 0);
	assert_int_equal(be32toh(fast(IBV_WR_SEND_WITH_IMM)->wr.imm_data), 0x1234);
	assert_int_equal(completed().flags, FI_SEND | FI_MSG);
	assert_int_equal(fi_write(fid, buf, 100, &mr, 0, ADDR, KEY, &f), 0);
	p = fast(IBV_WR_RDMA_WRITE);
	assert_int_equal(p->wr.send_flags, IBV_SEND_SIGNALED);
	assert_int_equal(p->wr.wr.rdma.remote_addr, ADDR);
	assert_int_equal(p->wr.wr.rdma.rkey, KEY);
	assert_int_equal(p->sge[0].length, 100);
	assert_int_equal(p->sge[0].lkey, mr.lkey);
	assert_int_equal(completed().flags, FI_WRITE | FI_RMA);
	assert_int_equal(fi_read(fid, buf, 8, &mr, 0, ADDR, KEY, &f), 0);
	p = fast(IBV_WR_RDMA_READ);		/* the device writes there: never inline */
	assert_int_equal(p->sge[0].length, 8);
	assert_int_equal(completed().flags, FI_READ | FI_RMA);
}

static void injected_data_has_no_completion(void **state)
{
	unsigned i;

	open_ep(FI_TRANSMIT | FI_RECV, 0);
	assert_int_equal(fi_inject(fid, buf, 8, 0), 0);
	assert_int_equal(fast(IBV_WR_SEND)->wr.send_flags, IBV_SEND_INLINE);
	assert_int_equal(fi_injectdata(fid, buf, 8, 7, 0), 0);
	assert_int_equal(be32toh(fast(IBV_WR_SEND_WITH_IMM)->wr.imm_data), 7);
	assert_int_equal(fi_inject_write(fid, buf, 8, 0, ADDR, KEY), 0);
	assert_int_equal(fast(IBV_WR_RDMA_WRITE)->wr.wr.rdma.remote_addr, ADDR);
	/* one in so many is signalled all the same, so that the ring does not fill up */
	for (i = 3; i <= ep->tx_unsignalled_max; i++)
		assert_int_equal(fi_inject(fid, buf, 8, 0), 0);
	assert_int_equal(fast(IBV_WR_SEND)->wr.send_flags & IBV_SEND_SIGNALED, IBV_SEND_SIGNALED);
	assert_int_equal(ep->tx_unsignalled, 0);
	dev_complete(dev.posted[dev.posted_cnt - 1].wr.wr_id, IBV_WC_SUCCESS);
	assert_int_equal(fi_cq_read(cq, buf, 1), -FI_EAGAIN);
	assert_int_equal(ep->tx_head, ep->tx_tail);
}

/* The flags of the handle are those of calls that have a completion. */
static void injection_ignores_the_defaults(void **state)
{
	open_ep(FI_TRANSMIT | FI_RECV, 0);
	ep->base.h.tx_op_flags = FI_MORE | FI_COMPLETION;
	assert_int_equal(fi_inject(fid, buf, 8, 0), 0);
	assert_int_equal(fast(IBV_WR_SEND)->wr.send_flags, IBV_SEND_INLINE);
}

/* What the queue pair takes inline, but is longer than an injected message may be. */
static void data_between_the_limits_takes_the_slow_path(void **state)
{
	info->tx_attr->inject_size = INLINE_MAX / 2;
	open_ep(FI_TRANSMIT | FI_RECV, 0);
	ep->max_inline = INLINE_MAX;
	vrb_fast_enable(ep);
	assert_int_equal(fi_send(fid, buf, INLINE_MAX / 2, NULL, 0, &f), 0);
	fast(IBV_WR_SEND);
	assert_int_equal(fi_send(fid, buf, INLINE_MAX / 2 + 1, NULL, 0, &f), 0);
	assert_int_equal(slow, 1);
	assert_int_equal(dev.posted_cnt, 1);
}

static void inline_ends_at_the_limit(void **state)
{
	open_ep(FI_TRANSMIT | FI_RECV, 0);
	assert_int_equal(fi_send(fid, buf, INLINE_MAX, NULL, 0, &f), 0);
	assert_int_equal(dev.inlined, INLINE_MAX);
	assert_int_equal(fi_send(fid, buf, INLINE_MAX + 1, &mr, 0, &f), 0);
	assert_int_equal(fast(IBV_WR_SEND)->sge[0].length, INLINE_MAX + 1);
	assert_int_equal(dev.inlined, 0);
}

/* slow_only - @call took the slow path, once. */
#define slow_only(call)									\
	do {										\
		unsigned was = dev.posted_cnt;						\
		slow = 0;								\
		(void) (call);								\
		assert_int_equal(dev.posted_cnt, was);					\
		assert_int_equal(slow, 1);						\
	} while (0)

static void all_else_takes_the_slow_path(void **state)
{
	open_ep(FI_TRANSMIT | FI_RECV, 0);
	slow_only(fi_send(fid, buf, 0, NULL, 0, &f));
	ep->base.h.tx_op_flags = FI_INJECT;
	slow_only(fi_send(fid, buf, 8, NULL, 0, &f));
	ep->base.h.tx_op_flags = FI_FENCE;
	slow_only(fi_write(fid, buf, 8, NULL, 0, ADDR, KEY, &f));
	ep->base.h.tx_op_flags = FI_MORE;
	slow_only(fi_read(fid, buf, 8, &mr, 0, ADDR, KEY, &f));
	ep->base.h.tx_op_flags = 0;
	slow_only(fi_recv(fid, buf, 0, NULL, 0, &f));
	slow = 0;
	assert_int_equal(fi_inject(fid, buf, INLINE_MAX + 1, 0), -FI_EMSGSIZE);
	assert_int_equal(slow, 0);
}

static void a_full_ring_is_left_to_the_slow_path(void **state)
{
	unsigned i;

	open_ep(FI_TRANSMIT | FI_RECV, 0);
	ep->tx_tail = ep->tx_head = UINT_MAX - 2;	/* the numbers wrap around */
	for (i = 0; i < DEPTH; i++)
		assert_int_equal(fi_send(fid, buf, 8, NULL, 0, &f), 0);
	fast(IBV_WR_SEND);
	assert_int_equal(fi_send(fid, buf, 8, NULL, 0, &f), -FI_EAGAIN);
	assert_int_equal(dev.posted_cnt, DEPTH);
	assert_int_equal(ep->tx_tail - ep->tx_head, DEPTH);
	dev_complete(dev.posted[DEPTH - 1].wr.wr_id, IBV_WC_SUCCESS);
	assert_int_equal(vrb_poller_run(ep->poller, 16), 1);
	assert_int_equal(ep->tx_tail - ep->tx_head, 0);
	assert_int_equal(fi_send(fid, buf, 8, NULL, 0, &f), 0);
}

static void a_failed_call_leaves_nothing_behind(void **state)
{
	unsigned tail;

	open_ep(FI_TRANSMIT | FI_RECV, 0);
	assert_int_equal(fi_send(fid, buf, 8, NULL, 0, &f), 0);
	tail = ep->tx_tail;
	dev.post_ret = ENOMEM;
	assert_int_equal(fi_send(fid, buf, 8, NULL, 0, &f), -FI_EAGAIN);
	assert_int_equal(ep->tx_tail, tail);
	dev.post_ret = EINVAL;
	assert_int_equal(fi_write(fid, buf, 8, NULL, 0, ADDR, KEY, &f), -FI_EINVAL);
	assert_int_equal(ep->tx_tail, tail);
	assert_int_equal(fi_recv(fid, buf, 8, NULL, 0, &f), -FI_EINVAL);
	assert_int_equal(ep->rx_tail, 0);
	dev.post_ret = 0;
	/* the next one is signalled: what was taken back may have been the one that was to be */
	assert_int_equal(fi_inject(fid, buf, 8, 0), 0);
	assert_int_equal(fast(IBV_WR_SEND)->wr.send_flags & IBV_SEND_SIGNALED, IBV_SEND_SIGNALED);
}

static void selective_completion_is_obeyed(void **state)
{
	open_ep(FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION, 0);
	assert_int_equal(fi_send(fid, buf, 8, NULL, 0, &f), 0);
	assert_int_equal(fast(IBV_WR_SEND)->wr.send_flags, IBV_SEND_INLINE);
	ep->base.h.tx_op_flags = FI_COMPLETION;
	assert_int_equal(fi_send(fid, buf, 8, NULL, 0, &f), 0);
	assert_int_equal(fast(IBV_WR_SEND)->wr.send_flags, IBV_SEND_INLINE | IBV_SEND_SIGNALED);
	assert_ptr_equal(completed().op_context, &f);
	assert_int_equal(fi_recv(fid, buf, 8, NULL, 0, &f), 0);
	assert_false(ep->rx[0].want);
	ep->base.h.rx_op_flags = FI_COMPLETION;
	assert_int_equal(fi_recv(fid, buf, 8, NULL, 0, &f), 0);
	assert_true(ep->rx[1].want);
	assert_int_equal(dev.recv_cnt, 2);
	assert_int_equal(dev.recvs[1], (uintptr_t) &ep->rx[1] | VRB_WR_RECV);
}

static void receives_fill_their_ring_and_no_more(void **state)
{
	unsigned i;

	open_ep(FI_TRANSMIT | FI_RECV, 0);
	ep->rx_tail = ep->rx_head = UINT_MAX - 1;
	for (i = 0; i < DEPTH; i++)
		assert_int_equal(fi_recv(fid, buf + i, 8, &mr, 0, buf + i), 0);
	assert_int_equal(dev.recv_cnt, DEPTH);
	assert_int_equal(ep->recv_sge.addr, (uintptr_t) buf + DEPTH - 1);
	assert_int_equal(ep->recv_sge.lkey, mr.lkey);
	assert_int_equal(fi_recv(fid, buf, 8, NULL, 0, &f), -FI_EAGAIN);
	assert_int_equal(dev.recv_cnt, DEPTH);
	assert_ptr_equal(ep->rx[(UINT_MAX - 1) & ep->rx_mask].context, buf);
}

static void no_connection_no_fast_path(void **state)
{
	open_ep(FI_TRANSMIT | FI_RECV, 0);
	obj_cm_set_state(&ep->base, OBJ_CM_SHUT);
	assert_int_equal(atomic_load(&ep->fast_room), 0);
	assert_int_equal(fi_send(fid, buf, 8, NULL, 0, &f), -FI_ENOTCONN);
	assert_int_equal(fi_write(fid, buf, 8, NULL, 0, ADDR, KEY, &f), -FI_ENOTCONN);
	assert_int_equal(dev.posted_cnt, 0);
	vrb_fast_disable(ep);
	assert_int_equal(ep->fast_depth, 0);
	assert_int_equal(ep->fast_rx_depth, 0);
}

static void before_enable_no_table_posts(void **state)
{
	unsigned table;

	ep = dev_ep(&f, info, cq, FI_TRANSMIT | FI_RECV, eq);
	fid = &ep->base.h.fid;
	for (table = 0; table < VRB_FAST_TABLES; table++) {
		fid->msg = &vrb_fast_tables[table].msg;
		assert_int_equal(fi_send(fid, buf, 8, NULL, 0, &f), -FI_EOPBADSTATE);
		assert_int_equal(fi_recv(fid, buf, 8, NULL, 0, &f), -FI_EOPBADSTATE);
	}
	assert_int_equal(dev.posted_cnt + dev.recv_cnt, 0);
}

/* Calls without a fast path are those of the slow one, in each table. */
static void the_tables_are_complete(void **state)
{
	unsigned table;

	for (table = 0; table < VRB_FAST_TABLES; table++) {
		assert_ptr_equal(vrb_fast_tables[table].msg.sendmsg, vrb_msg_ops.sendmsg);
		assert_ptr_equal(vrb_fast_tables[table].msg.recvv, vrb_msg_ops.recvv);
		assert_ptr_equal(vrb_fast_tables[table].rma.writedata, vrb_rma_ops.writedata);
		assert_ptr_not_equal(vrb_fast_tables[table].msg.send, vrb_msg_ops.send);
		assert_ptr_not_equal(vrb_fast_tables[table].msg.send,
				     vrb_fast_tables[(table + 1) % VRB_FAST_TABLES].msg.send);
	}
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(each_call_builds_its_request),
		T(injected_data_has_no_completion),
		T(injection_ignores_the_defaults),
		T(data_between_the_limits_takes_the_slow_path),
		T(inline_ends_at_the_limit),
		T(all_else_takes_the_slow_path),
		T(a_full_ring_is_left_to_the_slow_path),
		T(a_failed_call_leaves_nothing_behind),
		T(selective_completion_is_obeyed),
		T(receives_fill_their_ring_and_no_more),
		T(no_connection_no_fast_path),
		T(before_enable_no_table_posts),
		T(the_tables_are_complete),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
