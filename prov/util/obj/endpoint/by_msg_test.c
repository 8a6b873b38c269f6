/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Calls without flags: what the calls with flags are given, and with which of the defaults. */
#include "obj/endpoint/by_msg.h"

#include <string.h>

#include "obj/test/fake.h"

#define INJECT_SIZE 64
#define TAG 7
#define KEY 9
#define DATA 11
#define DEST 3

/* The endpoint, an alias of its, and the last call with flags: only one of the messages is set. */
static struct obj_ep ep;
static struct obj_ep_handle alias;
static struct fi_tx_attr tx_attr = { .inject_size = INJECT_SIZE };
static struct fi_info info = { .tx_attr = &tx_attr };
static struct {
	const char *call;
	struct fid_ep *fid;
	struct fi_msg msg;
	struct fi_msg_tagged tagged;
	struct fi_msg_rma rma;
	struct fi_rma_iov remote;
	struct fi_msg_atomic amo;
	struct fi_rma_ioc ioc;
	size_t iov_cnt, iov_len, compared, fetched;
	uint64_t flags;
} last;

static void start(const char *call, struct fid_ep *fid, uint64_t flags)
{
	memset(&last, 0, sizeof(last));
	last.call = call;
	last.fid = fid;
	last.flags = flags;
}

static ssize_t sendmsg_(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags)
{
	start("sendmsg", fid, flags);
	last.msg = *msg;
	last.iov_cnt = msg->iov_count;
	last.iov_len = msg->msg_iov->iov_len;
	return 0;
}

static ssize_t recvmsg_(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags)
{
	sendmsg_(fid, msg, flags);
	last.call = "recvmsg";
	return 0;
}

static ssize_t tsendmsg(struct fid_ep *fid, const struct fi_msg_tagged *msg, uint64_t flags)
{
	start("tsendmsg", fid, flags);
	last.tagged = *msg;
	return 0;
}

static ssize_t trecvmsg(struct fid_ep *fid, const struct fi_msg_tagged *msg, uint64_t flags)
{
	tsendmsg(fid, msg, flags);
	last.call = "trecvmsg";
	return 0;
}

static ssize_t writemsg(struct fid_ep *fid, const struct fi_msg_rma *msg, uint64_t flags)
{
	start("writemsg", fid, flags);
	last.rma = *msg;
	last.remote = *msg->rma_iov;
	return 0;
}

static ssize_t readmsg(struct fid_ep *fid, const struct fi_msg_rma *msg, uint64_t flags)
{
	writemsg(fid, msg, flags);
	last.call = "readmsg";
	return 0;
}

static ssize_t amo_writemsg(struct fid_ep *fid, const struct fi_msg_atomic *msg, uint64_t flags)
{
	start("atomicmsg", fid, flags);
	last.amo = *msg;
	last.ioc = *msg->rma_iov;
	return 0;
}

static ssize_t amo_fetchmsg(struct fid_ep *fid, const struct fi_msg_atomic *msg,
			    struct fi_ioc *result, void **desc, size_t cnt, uint64_t flags)
{
	amo_writemsg(fid, msg, flags);
	last.call = "fetchmsg";
	last.fetched = result->count;
	return 0;
}

static ssize_t amo_comparemsg(struct fid_ep *fid, const struct fi_msg_atomic *msg,
			      const struct fi_ioc *compare, void **compare_desc, size_t compare_cnt,
			      struct fi_ioc *result, void **result_desc, size_t result_cnt,
			      uint64_t flags)
{
	amo_fetchmsg(fid, msg, result, result_desc, result_cnt, flags);
	last.call = "comparemsg";
	last.compared = compare->count;
	return 0;
}

static struct fi_ops_msg msg_ops = { .sendmsg = sendmsg_, .recvmsg = recvmsg_ };
static struct fi_ops_tagged tagged_ops = { .sendmsg = tsendmsg, .recvmsg = trecvmsg };
static struct fi_ops_rma rma_ops = { .writemsg = writemsg, .readmsg = readmsg };
static struct fi_ops_atomic atomic_ops = {
	.writemsg = amo_writemsg, .readwritemsg = amo_fetchmsg, .compwritemsg = amo_comparemsg,
};

static int setup(void **state)
{
	memset(&ep, 0, sizeof(ep));
	ep.info = &info;
	ep.h.ep = alias.ep = &ep;
	ep.h.fid = (struct fid_ep) {
		.fid.fclass = FI_CLASS_EP, .msg = &msg_ops, .tagged = &tagged_ops, .rma = &rma_ops,
		.atomic = &atomic_ops,
	};
	alias.fid = ep.h.fid;
	alias.tx_op_flags = ep.h.tx_op_flags = FI_COMPLETION;
	alias.rx_op_flags = ep.h.rx_op_flags = FI_COMPLETION;
	OBJ_OPS_BY_MSG(&msg_ops, msg);
	OBJ_OPS_BY_MSG(&tagged_ops, tagged);
	OBJ_OPS_BY_MSG(&rma_ops, rma);
	OBJ_OPS_BY_MSG(&atomic_ops, atomic);
	return 0;
}

#define CALLED(name, its_flags)							\
	do {									\
		assert_string_equal(last.call, name);				\
		assert_ptr_equal(last.fid, &ep.h.fid);				\
		assert_int_equal(last.flags, its_flags);			\
	} while (0)

static void test_messages(void **state)
{
	struct fid_ep *fid = &ep.h.fid;
	char buf[2 * INJECT_SIZE] = "";
	struct iovec iov[2] = { { buf, 4 }, { buf + 8, 8 } };

	fi_send(fid, buf, 5, NULL, DEST, &info);
	CALLED("sendmsg", FI_COMPLETION);
	assert_int_equal(last.msg.addr, DEST);
	assert_ptr_equal(last.msg.context, &info);
	assert_int_equal(last.iov_len, 5);
	fi_sendv(fid, iov, NULL, 2, DEST, NULL);
	CALLED("sendmsg", FI_COMPLETION);
	assert_int_equal(last.iov_cnt, 2);
	fi_senddata(fid, buf, 5, NULL, DATA, DEST, NULL);
	CALLED("sendmsg", FI_COMPLETION | FI_REMOTE_CQ_DATA);
	assert_int_equal(last.msg.data, DATA);
	fi_recv(fid, buf, 5, NULL, DEST, NULL);
	CALLED("recvmsg", FI_COMPLETION);
	fi_recvv(fid, iov, NULL, 2, DEST, NULL);
	CALLED("recvmsg", FI_COMPLETION);
	assert_int_equal(last.iov_cnt, 2);
	fi_tsend(fid, buf, 5, NULL, DEST, TAG, NULL);
	CALLED("tsendmsg", FI_COMPLETION);
	assert_int_equal(last.tagged.tag, TAG);
	fi_tsendv(fid, iov, NULL, 2, DEST, TAG, NULL);
	CALLED("tsendmsg", FI_COMPLETION);
	fi_tsenddata(fid, buf, 5, NULL, DATA, DEST, TAG, NULL);
	CALLED("tsendmsg", FI_COMPLETION | FI_REMOTE_CQ_DATA);
	assert_int_equal(last.tagged.data, DATA);
	fi_trecv(fid, buf, 5, NULL, DEST, TAG, 1, NULL);
	CALLED("trecvmsg", FI_COMPLETION);
	assert_int_equal(last.tagged.ignore, 1);
}

static void test_rma(void **state)
{
	struct fid_ep *fid = &ep.h.fid;
	char buf[16] = "";
	struct iovec iov[2] = { { buf, 4 }, { buf + 8, 8 } };

	fi_write(fid, buf, 5, NULL, DEST, 100, KEY, NULL);
	CALLED("writemsg", FI_COMPLETION);
	assert_int_equal(last.remote.addr, 100);
	assert_int_equal(last.remote.len, 5);
	assert_int_equal(last.remote.key, KEY);
	fi_writev(fid, iov, NULL, 2, DEST, 100, KEY, NULL);
	assert_int_equal(last.remote.len, 12);
	fi_writedata(fid, buf, 5, NULL, DATA, DEST, 100, KEY, NULL);
	CALLED("writemsg", FI_COMPLETION | FI_REMOTE_CQ_DATA);
	assert_int_equal(last.rma.data, DATA);
	fi_readv(fid, iov, NULL, 2, DEST, 100, KEY, NULL);
	CALLED("readmsg", FI_COMPLETION);
	assert_int_equal(last.remote.len, 12);
}

static void test_atomics(void **state)
{
	struct fid_ep *fid = &ep.h.fid;
	uint64_t a[4] = { 0 }, b[4], c[4] = { 0 };
	struct fi_ioc list[2] = { { a, 1 }, { a + 1, 2 } };

	fi_atomic(fid, a, 3, NULL, DEST, 100, KEY, FI_UINT64, FI_SUM, NULL);
	CALLED("atomicmsg", FI_COMPLETION);
	assert_int_equal(last.ioc.count, 3);
	assert_int_equal(last.ioc.key, KEY);
	fi_atomicv(fid, list, NULL, 2, DEST, 100, KEY, FI_UINT64, FI_SUM, NULL);
	assert_int_equal(last.ioc.count, 3);
	fi_fetch_atomic(fid, a, 3, NULL, b, NULL, DEST, 100, KEY, FI_UINT64, FI_SUM, NULL);
	CALLED("fetchmsg", FI_COMPLETION);
	assert_int_equal(last.amo.iov_count, 1);
	assert_int_equal(last.fetched, 3);
	/* what only reads has no operand */
	fi_fetch_atomic(fid, NULL, 3, NULL, b, NULL, DEST, 100, KEY, FI_UINT64, FI_ATOMIC_READ, NULL);
	assert_int_equal(last.amo.iov_count, 0);
	assert_int_equal(last.ioc.count, 3);
	fi_compare_atomic(fid, a, 2, NULL, c, NULL, b, NULL, DEST, 100, KEY, FI_UINT64, FI_CSWAP, NULL);
	CALLED("comparemsg", FI_COMPLETION);
	assert_int_equal(last.compared, 2);
	assert_int_equal(last.amo.op, FI_CSWAP);
}

/* The defaults are those of the handle; the table is that of the endpoint. */
static void test_alias(void **state)
{
	char buf[4] = "";

	alias.tx_op_flags = FI_FENCE;
	obj_by_msg(&alias.fid, true);
	fi_send(&alias.fid, buf, 4, NULL, DEST, NULL);
	CALLED("sendmsg", FI_FENCE);
	fi_sendmsg(&alias.fid, &(struct fi_msg) { .msg_iov = &(struct iovec) { buf, 4 } }, FI_MORE);
	CALLED("sendmsg", FI_MORE);
	obj_by_msg(&alias.fid, false);
	assert_ptr_equal(alias.fid.msg, &msg_ops);
}

/* Defaults that do not hold for a call are left out. */
static void test_defaults(void **state)
{
	struct fid_ep *fid = &ep.h.fid;
	char buf[2 * INJECT_SIZE] = "";

	ep.h.tx_op_flags = FI_INJECT | FI_REMOTE_CQ_DATA;
	ep.h.rx_op_flags = FI_MULTI_RECV;
	fi_send(fid, buf, INJECT_SIZE, NULL, DEST, NULL);
	CALLED("sendmsg", FI_INJECT);
	fi_send(fid, buf, INJECT_SIZE + 1, NULL, DEST, NULL);
	CALLED("sendmsg", 0);
	fi_write(fid, buf, INJECT_SIZE + 1, NULL, DEST, 100, KEY, NULL);
	CALLED("writemsg", 0);
	fi_writedata(fid, buf, INJECT_SIZE, NULL, DATA, DEST, 100, KEY, NULL);
	CALLED("writemsg", FI_INJECT | FI_REMOTE_CQ_DATA);
	/* a read has nothing to inject */
	fi_read(fid, buf, 4, NULL, DEST, 100, KEY, NULL);
	CALLED("readmsg", 0);
	fi_recv(fid, buf, 4, NULL, DEST, NULL);
	CALLED("recvmsg", FI_MULTI_RECV);
	fi_trecv(fid, buf, 4, NULL, DEST, TAG, 0, NULL);
	CALLED("trecvmsg", 0);
	ep.caps = FI_TAGGED_MULTI_RECV;
	fi_trecv(fid, buf, 4, NULL, DEST, TAG, 0, NULL);
	CALLED("trecvmsg", FI_MULTI_RECV);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_messages, setup),
		cmocka_unit_test_setup(test_rma, setup),
		cmocka_unit_test_setup(test_atomics, setup),
		cmocka_unit_test_setup(test_alias, setup),
		cmocka_unit_test_setup(test_defaults, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
