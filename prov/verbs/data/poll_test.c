/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* From the device's completions to the program's: errors, data, truncation, queue sizes. */
#include "verbs/test/fake_device.h"

static struct fake f;
static struct fi_info *info;
static struct fid_cq *cq;
static struct fid_eq *eq;
static struct vrb_ep *ep;
static char buf[64];

static int set_up(void **state)
{
	struct fake_want want = { .type = FI_EP_MSG, .caps = FI_MSG | FI_RMA };

	dev_init();
	fake_open(&f, &want);
	fake_log_start();
	info = fi_dupinfo(f.info);
	info->tx_attr->size = info->rx_attr->size = 64;
	info->tx_attr->iov_limit = info->rx_attr->iov_limit = 1;
	cq = fake_cq(&f, FI_CQ_FORMAT_DATA, FI_WAIT_NONE);
	eq = fake_eq(&f, FI_WAIT_NONE);
	ep = dev_ep(&f, info, cq, FI_TRANSMIT | FI_RECV, eq);
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

static void send_one(void *context)
{
	assert_int_equal(vrb_msg_ops.send(&ep->base.h.fid, buf, 8, NULL, 0, context), 0);
}

static void recv_one(void *context)
{
	assert_int_equal(vrb_msg_ops.recv(&ep->base.h.fid, buf, 8, NULL, 0, context), 0);
}

static struct fi_cq_data_entry next(void)
{
	struct fi_cq_data_entry entry;

	assert_int_equal(fi_cq_read(cq, &entry, 1), 1);
	return entry;
}

static struct fi_cq_err_entry next_error(void)
{
	struct fi_cq_data_entry entry;
	struct fi_cq_err_entry err = { 0 };

	assert_int_equal(fi_cq_read(cq, &entry, 1), -FI_EAVAIL);
	assert_int_equal(fi_cq_readerr(cq, &err, 0), 1);
	return err;
}

static void error_codes(void **state)
{
	static const struct {
		enum ibv_wc_status status;
		int send, recv;
	} want[] = {
		{ IBV_WC_WR_FLUSH_ERR, FI_ECANCELED, FI_ECANCELED },
		{ IBV_WC_LOC_LEN_ERR, FI_EMSGSIZE, FI_ETRUNC },
		{ IBV_WC_LOC_PROT_ERR, FI_EACCES, FI_EACCES },
		{ IBV_WC_LOC_ACCESS_ERR, FI_EACCES, FI_EACCES },
		{ IBV_WC_REM_ACCESS_ERR, FI_EACCES, FI_EACCES },
		{ IBV_WC_REM_INV_REQ_ERR, FI_EREMOTEIO, FI_EREMOTEIO },
		{ IBV_WC_REM_OP_ERR, FI_EREMOTEIO, FI_EREMOTEIO },
		{ IBV_WC_RETRY_EXC_ERR, FI_EHOSTUNREACH, FI_EHOSTUNREACH },
		{ IBV_WC_RESP_TIMEOUT_ERR, FI_EHOSTUNREACH, FI_EHOSTUNREACH },
		{ IBV_WC_RNR_RETRY_EXC_ERR, FI_ENORX, FI_ENORX },
		{ IBV_WC_LOC_QP_OP_ERR, FI_EIO, FI_EIO },
	};
	struct fi_cq_err_entry err;
	unsigned i;

	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		send_one((void *) &want[i]);
		dev_complete(dev.posted[i].wr.wr_id, want[i].status);
		assert_int_equal(vrb_poller_run(ep->poller, 8), 1);
		err = next_error();
		assert_int_equal(err.err, want[i].send);
		assert_int_equal(err.prov_errno, want[i].status);
		assert_ptr_equal(err.op_context, &want[i]);
		assert_true(err.flags == (FI_SEND | FI_MSG));
		recv_one(&i);
		dev_complete(dev.recvs[i], want[i].status);
		assert_int_equal(vrb_poller_run(ep->poller, 8), 1);
		err = next_error();
		assert_int_equal(err.err, want[i].recv);
		assert_ptr_equal(err.op_context, &i);
		assert_true(err.flags == (FI_RECV | FI_MSG));
	}
}

/* The first failure ends the connection and is logged; what is flushed after it is not. */
static void first_failure(void **state)
{
	send_one(NULL);
	send_one(NULL);
	dev_complete(dev.posted[0].wr.wr_id, IBV_WC_REM_ACCESS_ERR)->vendor_err = 0x42;
	vrb_poller_run(ep->poller, 8);
	assert_int_equal(dev.disconnects, 1);
	assert_non_null(strstr(fake_log_last(), "a status (status 10, vendor code 0x42)"));
	fake_log_start();
	dev_complete(dev.posted[1].wr.wr_id, IBV_WC_WR_FLUSH_ERR);
	vrb_poller_run(ep->poller, 8);
	assert_int_equal(dev.disconnects, 1);
	assert_string_equal(fake_log_last(), "");
	assert_int_equal(next_error().err, FI_EACCES);
	assert_int_equal(next_error().err, FI_ECANCELED);
}

static void flushed_in_good_order(void **state)
{
	send_one(NULL);
	dev_complete(dev.posted[0].wr.wr_id, IBV_WC_WR_FLUSH_ERR);
	vrb_poller_run(ep->poller, 8);
	assert_int_equal(dev.disconnects, 0);
	assert_string_equal(fake_log_last(), "");
	assert_int_equal(next_error().err, FI_ECANCELED);
}

static void remote_data(void **state)
{
	struct fi_cq_data_entry e;
	struct ibv_wc *wc;
	unsigned i;

	for (i = 0; i < 3; i++)
		recv_one(&buf[i]);
	dev_complete(dev.recvs[0], IBV_WC_SUCCESS)->byte_len = 5;
	wc = dev_complete(dev.recvs[1], IBV_WC_SUCCESS);
	wc->byte_len = 6;
	wc->wc_flags = IBV_WC_WITH_IMM;
	wc->imm_data = htobe32(0x01020304);
	wc = dev_complete(dev.recvs[2], IBV_WC_SUCCESS);
	wc->opcode = IBV_WC_RECV_RDMA_WITH_IMM;
	wc->wc_flags = IBV_WC_WITH_IMM;
	wc->imm_data = htobe32(9);
	assert_int_equal(vrb_poller_run(ep->poller, 8), 3);
	e = next();
	assert_true(e.flags == (FI_RECV | FI_MSG) && e.len == 5 && e.op_context == &buf[0]);
	assert_ptr_equal(e.buf, buf);
	e = next();
	assert_true(e.flags == (FI_RECV | FI_MSG | FI_REMOTE_CQ_DATA));
	assert_int_equal(e.data, 0x01020304);
	assert_int_equal(e.len, 6);
	e = next();
	assert_true(e.flags == (FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA));
	assert_int_equal(e.data, 9);
	assert_int_equal(ep->rx_head, 3);
}

/* More than a buffer holds: datagrams only, whose rest the device discards. */
static void truncated(void **state)
{
	struct fi_cq_err_entry err;
	struct ibv_wc *wc;

	recv_one(NULL);
	ep->rx[0].room = 8;
	ep->rx[0].grh_len = 40;
	ep->fast_comp = false;
	wc = dev_complete(dev.recvs[0], IBV_WC_SUCCESS);
	wc->byte_len = 40 + 20;
	vrb_poller_run(ep->poller, 8);
	err = next_error();
	assert_int_equal(err.err, FI_ETRUNC);
	assert_int_equal(err.len, 8);
	assert_int_equal(err.olen, 12);
}

static void closing(void **state)
{
	struct fi_cq_data_entry entry;

	send_one(NULL);
	send_one(NULL);
	recv_one(NULL);
	ep->closing = true;
	ep->fast_comp = false;
	dev_complete(dev.posted[0].wr.wr_id, IBV_WC_SUCCESS);
	dev_complete(dev.posted[1].wr.wr_id, IBV_WC_WR_FLUSH_ERR);
	dev_complete(dev.recvs[0], IBV_WC_WR_FLUSH_ERR);
	assert_int_equal(vrb_poller_run(ep->poller, 8), 3);
	assert_int_equal(fi_cq_read(cq, &entry, 1), -FI_EAGAIN);
	assert_int_equal(ep->tx_head, 2);
	assert_int_equal(ep->rx_head, 1);
}

/* A queue has room for all that can be posted: it grows, or there is a second one. */
static void room(void **state)
{
	struct vrb_cq *first = ep->cq, *got;

	assert_int_equal(first->used, 128);
	assert_int_equal(first->cq->cqe, 256);
	assert_int_equal(vrb_poller_room(ep->poller, ep, 128, &got), 0);
	assert_ptr_equal(got, first);
	assert_int_equal(dev.resizes, 0);
	assert_int_equal(vrb_poller_room(ep->poller, ep, 1, &got), 0);
	assert_ptr_equal(got, first);
	assert_int_equal(dev.resizes, 1);
	assert_int_equal(first->cq->cqe, 512);
	assert_int_equal(vrb_poller_room(ep->poller, ep, 1 << 16, &got), 0);
	assert_ptr_not_equal(got, first);
	assert_int_equal(got->used, 1 << 16);
	assert_int_equal(first->used, 257);
	first->used -= 129;
	/* Both are polled. */
	send_one(NULL);
	dev_complete(dev.posted[0].wr.wr_id, IBV_WC_SUCCESS);
	assert_int_equal(vrb_poller_run(ep->poller, 8), 1);
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(error_codes),
		T(first_failure),
		T(flushed_in_good_order),
		T(remote_data),
		T(truncated),
		T(closing),
		T(room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
