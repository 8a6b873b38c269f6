/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Sends and receives by the slow path: the request of each call, and what is refused. */
#include "verbs/test/fake_device.h"

#define INJECT_MAX 100

static struct fake f;
static struct fi_info *info;
static struct fid_cq *cq;
static struct fid_eq *eq;
static struct vrb_ep *ep;
static struct fid_ep *fid;
static struct ibv_mr mr = { .lkey = 0x99 };
static char buf[256];

static int set_up(void **state)
{
	struct fake_want want = { .type = FI_EP_MSG, .caps = FI_MSG };

	dev_init();
	fake_open(&f, &want);
	info = fi_dupinfo(f.info);
	info->tx_attr->size = info->rx_attr->size = 4;
	info->tx_attr->iov_limit = info->rx_attr->iov_limit = 4;
	info->tx_attr->inject_size = INJECT_MAX;
	info->ep_attr->max_msg_size = 1000;
	cq = fake_cq(&f, FI_CQ_FORMAT_DATA, FI_WAIT_NONE);
	eq = fake_eq(&f, FI_WAIT_NONE);
	ep = dev_ep(&f, info, cq, FI_TRANSMIT | FI_RECV, eq);
	fid = &ep->base.h.fid;
	dev.max_inline = 64;
	assert_int_equal(obj_ep_enable(&ep->base), 0);
	obj_cm_set_state(&ep->base, OBJ_CM_CONNECTED);
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

static const struct dev_post *posted(enum ibv_wr_opcode opcode)
{
	const struct dev_post *p = &dev.posted[dev.posted_cnt - 1];

	assert_true(dev.posted_cnt > 0);
	assert_int_equal(p->wr.opcode, opcode);
	return p;
}

/* retire - the device completes all that was posted. */
static void retire(void)
{
	struct fi_cq_data_entry entries[8];

	dev_complete(dev.posted[dev.posted_cnt - 1].wr.wr_id, IBV_WC_SUCCESS);
	vrb_poller_run(ep->poller, 16);
	fi_cq_read(cq, entries, 8);
}

static void buffers_become_entries(void **state)
{
	struct iovec iov[VRB_IOV_MAX + 1] = { { buf, 100 }, { buf + 100, 0 }, { buf + 150, 30 } };
	void *desc[VRB_IOV_MAX + 1] = { &mr, NULL, &mr };
	const struct dev_post *p;

	assert_int_equal(fi_sendv(fid, iov, desc, 3, 0, &f), 0);
	p = posted(IBV_WR_SEND);
	assert_int_equal(p->wr.num_sge, 3);
	assert_ptr_equal((void *) (uintptr_t) p->sge[2].addr, buf + 150);
	assert_int_equal(p->sge[2].length, 30);
	assert_int_equal(p->sge[2].lkey, mr.lkey);
	assert_int_equal(p->sge[1].lkey, 0);
	assert_int_equal(p->wr.send_flags, IBV_SEND_SIGNALED);
	assert_int_equal(fi_sendv(fid, iov, desc, VRB_IOV_MAX + 1, 0, &f), -FI_EINVAL);
	assert_int_equal(fi_sendv(fid, NULL, NULL, 0, 0, &f), 0);
	assert_int_equal(posted(IBV_WR_SEND)->wr.num_sge, 0);
	assert_int_equal(dev.posted_cnt, 2);
}

static void data_goes_with_the_message(void **state)
{
	struct iovec iov = { buf, 8 };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .context = &f, .data = 0x77 };

	assert_int_equal(fi_senddata(fid, buf, 8, NULL, 0x12345678, 0, &f), 0);
	assert_int_equal(be32toh(posted(IBV_WR_SEND_WITH_IMM)->wr.imm_data), 0x12345678);
	assert_int_equal(fi_sendmsg(fid, &msg, FI_REMOTE_CQ_DATA | FI_COMPLETION), 0);
	assert_int_equal(be32toh(posted(IBV_WR_SEND_WITH_IMM)->wr.imm_data), 0x77);
	assert_int_equal(fi_sendmsg(fid, &msg, FI_COMPLETION), 0);
	posted(IBV_WR_SEND);
	assert_int_equal(fi_injectdata(fid, buf, 8, 5, 0), 0);
	assert_int_equal(be32toh(posted(IBV_WR_SEND_WITH_IMM)->wr.imm_data), 5);
	/* as a default it would send data that the call does not have */
	retire();
	ep->base.h.tx_op_flags = FI_REMOTE_CQ_DATA;
	assert_int_equal(fi_send(fid, buf, 8, NULL, 0, &f), 0);
	posted(IBV_WR_SEND);
}

/* Up to max_inline in the request, then by a copy, then not at all. */
static void injection_copies(void **state)
{
	const struct dev_post *p;

	memset(buf, 7, sizeof(buf));
	assert_int_equal(fi_inject(fid, buf, 64, 0), 0);
	assert_int_equal(posted(IBV_WR_SEND)->wr.send_flags & IBV_SEND_INLINE, IBV_SEND_INLINE);
	assert_int_equal(fi_inject(fid, buf, 65, 0), 0);
	p = posted(IBV_WR_SEND);
	assert_int_equal(p->wr.send_flags & IBV_SEND_INLINE, 0);
	assert_ptr_equal((void *) (uintptr_t) p->sge[0].addr, ep->scratch + ep->stride);	/* of slot 1 */
	assert_int_equal(p->sge[0].lkey, ep->scratch_mr->lkey);
	memset(buf, 0, sizeof(buf));
	assert_int_equal(((char *) (uintptr_t) p->sge[0].addr)[64], 7);
	assert_int_equal(fi_inject(fid, buf, INJECT_MAX, 0), 0);
	assert_int_equal(fi_inject(fid, buf, INJECT_MAX + 1, 0), -FI_EMSGSIZE);
	assert_int_equal(dev.posted_cnt, 3);
}

/* FI_INJECT as a default applies to what fits; asked for in the call it is a limit. */
static void injection_by_default_applies_to_what_fits(void **state)
{
	struct iovec iov = { buf, INJECT_MAX + 1 };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .context = &f };

	ep->base.h.tx_op_flags = FI_INJECT;
	assert_int_equal(fi_send(fid, buf, INJECT_MAX, &mr, 0, &f), 0);
	assert_ptr_not_equal((void *) (uintptr_t) posted(IBV_WR_SEND)->sge[0].addr, buf);
	assert_int_equal(fi_send(fid, buf, INJECT_MAX + 1, &mr, 0, &f), 0);
	assert_ptr_equal((void *) (uintptr_t) posted(IBV_WR_SEND)->sge[0].addr, buf);
	assert_int_equal(fi_sendmsg(fid, &msg, FI_INJECT), -FI_EMSGSIZE);
	assert_int_equal(fi_sendmsg(fid, &msg, FI_TRIGGER), -FI_EBADFLAGS);
	assert_int_equal(dev.posted_cnt, 2);
}

static void a_message_has_a_longest_size(void **state)
{
	static char large[1001];

	assert_int_equal(fi_send(fid, large, 1000, &mr, 0, &f), 0);
	assert_int_equal(fi_send(fid, large, 1001, &mr, 0, &f), -FI_EMSGSIZE);
	assert_int_equal(dev.posted_cnt, 1);
}

static void a_fence_is_the_devices(void **state)
{
	struct iovec iov = { buf, 8 };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .context = &f };

	assert_int_equal(fi_sendmsg(fid, &msg, FI_FENCE), 0);
	assert_int_equal(posted(IBV_WR_SEND)->wr.send_flags & IBV_SEND_FENCE, IBV_SEND_FENCE);
	assert_int_equal(fi_sendmsg(fid, &msg, 0), 0);
	assert_int_equal(posted(IBV_WR_SEND)->wr.send_flags & IBV_SEND_FENCE, 0);
}

/* The last request of a draining endpoint: it completes after all others, and is not reported. */
static void a_marker_is_an_empty_write_without_report(void **state)
{
	struct fi_cq_data_entry entry;

	assert_int_equal(vrb_post_marker(ep), 0);
	assert_int_equal(posted(IBV_WR_RDMA_WRITE)->wr.num_sge, 0);
	assert_int_equal(posted(IBV_WR_RDMA_WRITE)->wr.send_flags & IBV_SEND_SIGNALED, IBV_SEND_SIGNALED);
	dev_complete(dev.posted[0].wr.wr_id, IBV_WC_SUCCESS);
	assert_int_equal(vrb_poller_run(ep->poller, 16), 1);
	assert_int_equal(fi_cq_read(cq, &entry, 1), -FI_EAGAIN);
	assert_int_equal(ep->tx_head, ep->tx_tail);
}

static void receives_take_all_forms(void **state)
{
	struct iovec iov[VRB_IOV_MAX + 1] = { { buf, 10 }, { buf + 10, 20 } };
	struct fi_msg msg = { .msg_iov = iov, .iov_count = 2, .context = &f };

	assert_int_equal(fi_recv(fid, buf, 8, &mr, 0, buf), 0);
	assert_ptr_equal(ep->rx[0].context, buf);
	assert_int_equal(dev.recvs[0], (uintptr_t) &ep->rx[0] | VRB_WR_RECV);
	assert_int_equal(fi_recvv(fid, iov, NULL, 2, 0, &f), 0);
	assert_ptr_equal(ep->rx[1].buf, buf);
	assert_int_equal(fi_recvmsg(fid, &msg, FI_COMPLETION | FI_MORE), 0);
	assert_int_equal(fi_recv(fid, NULL, 0, NULL, 0, &f), 0);
	assert_int_equal(dev.recv_cnt, 4);
	assert_int_equal(fi_recv(fid, buf, 8, NULL, 0, &f), -FI_EAGAIN);	/* the ring is full */
	assert_int_equal(fi_recvv(fid, iov, NULL, VRB_IOV_MAX + 1, 0, &f), -FI_EINVAL);
	assert_int_equal(fi_recvmsg(fid, &msg, FI_MULTI_RECV), -FI_EBADFLAGS);
	assert_int_equal(fi_recvmsg(fid, &msg, FI_PEEK), -FI_EBADFLAGS);
	assert_int_equal(ep->rx_tail, 4);
}

/* A device error frees the slot; the next receive has it. */
static void a_refused_receive_leaves_its_slot(void **state)
{
	dev.post_ret = ENOMEM;
	assert_int_equal(fi_recv(fid, buf, 8, NULL, 0, buf), -FI_EAGAIN);
	dev.post_ret = EINVAL;
	assert_int_equal(fi_recv(fid, buf, 8, NULL, 0, buf), -FI_EINVAL);
	assert_int_equal(ep->rx_tail, 0);
	dev.post_ret = 0;
	assert_int_equal(fi_recv(fid, buf, 8, NULL, 0, &f), 0);
	assert_ptr_equal(ep->rx[0].context, &f);
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(buffers_become_entries),
		T(data_goes_with_the_message),
		T(injection_copies),
		T(injection_by_default_applies_to_what_fits),
		T(a_message_has_a_longest_size),
		T(a_fence_is_the_devices),
		T(a_marker_is_an_empty_write_without_report),
		T(receives_take_all_forms),
		T(a_refused_receive_leaves_its_slot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
