/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Making queue pairs: what is asked of the device, in which order, until it agrees. */
#include "verbs/dgram.h"
#include "verbs/test/fake_device.h"

#define ALL_OPS (IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_WRITE | \
		 IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ)
#define ATOMIC_OPS (IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)

static struct ibv_qp_init_attr_ex asked[8];	/* of each attempt */
static unsigned tries, refuse;			/* refuse the first so many */
static int reason;
static struct vrb_ep ep;
static struct vrb_sq sq;
static struct ibv_pd pd;

static bool refused(const struct ibv_qp_init_attr_ex *attr, size_t size)
{
	assert_true(tries < 8);
	memset(&asked[tries], 0, sizeof(asked[0]));
	memcpy(&asked[tries], attr, size);
	if (reason)
		errno = reason;
	return tries++ < refuse;
}

static int on_id(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *attr)
{
	if (refused(attr, sizeof(*attr)))
		return -1;
	id->qp = &dev.qp;
	return 0;
}

static struct ibv_qp *on_context(struct ibv_context *ctx, struct ibv_qp_init_attr_ex *attr)
{
	return refused(attr, sizeof(*attr)) ? NULL : &dev.qp;
}

static struct ibv_qp *on_pd(struct ibv_pd *of, struct ibv_qp_init_attr *attr)
{
	assert_ptr_equal(of, &pd);
	return refused((struct ibv_qp_init_attr_ex *) attr, sizeof(*attr)) ? NULL : &dev.qp;
}

static struct ibv_qp_ex *to_ex(struct ibv_qp *qp)
{
	assert_ptr_equal(qp, &dev.qp);
	return &dev.qpx;
}

static int set_up(void **state)
{
	dev_init();
	vrb_cm.create_qp_ex = on_id;
	vrb_ibv.create_qp = on_pd;
	vrb_ibv.qp_to_qp_ex = to_ex;
	dev.qp.qp_type = IBV_QPT_RC;
	memset(&ep, 0, sizeof(ep));
	memset(&sq, 0, sizeof(sq));
	ep.domain = &dev.domain;
	ep.cm.id = &dev.id;
	tries = refuse = 0;
	reason = EINVAL;
	vrb_conf.doorbell = NULL;
	return 0;
}

static struct ibv_qp_init_attr_ex wanted(uint32_t max_inline)
{
	return (struct ibv_qp_init_attr_ex) {
		.qp_type = IBV_QPT_RC, .pd = &pd,
		.cap = { .max_send_wr = 9, .max_inline_data = max_inline },
	};
}

static void the_extended_interface_comes_first(void **state)
{
	struct ibv_qp_init_attr_ex attr = wanted(100);

	assert_int_equal(vrb_qp_make(&ep, &attr, &sq), 0);
	assert_int_equal(tries, 1);
	assert_int_equal(asked[0].comp_mask, IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS);
	assert_int_equal(asked[0].send_ops_flags, ALL_OPS | ATOMIC_OPS);
	assert_int_equal(asked[0].cap.max_inline_data, 100);
	assert_int_equal(asked[0].cap.max_send_wr, 9);
	assert_ptr_equal(sq.qp, &dev.qp);
	assert_ptr_equal(sq.qpx, &dev.qpx);
	assert_int_equal(sq.type, IBV_QPT_RC);
}

/* Less inline data is asked for only when neither interface works with it. */
static void less_is_asked_for_until_the_device_agrees(void **state)
{
	struct ibv_qp_init_attr_ex attr = wanted(100);

	refuse = 3;
	assert_int_equal(vrb_qp_make(&ep, &attr, &sq), 0);
	assert_int_equal(tries, 4);
	assert_int_equal(asked[1].comp_mask, IBV_QP_INIT_ATTR_PD);
	assert_int_equal(asked[1].cap.max_inline_data, 100);
	assert_int_equal(asked[2].cap.max_inline_data, 64);
	assert_int_equal(asked[2].comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
			 IBV_QP_INIT_ATTR_SEND_OPS_FLAGS);
	assert_int_equal(asked[3].cap.max_inline_data, 64);
	assert_null(sq.qpx);				/* it is without */
	assert_int_equal(attr.cap.max_inline_data, 64);	/* what was granted */
}

static void a_device_that_refuses_all_is_reported(void **state)
{
	struct ibv_qp_init_attr_ex attr = wanted(32);

	refuse = 8;
	reason = EPERM;
	assert_int_equal(vrb_qp_make(&ep, &attr, &sq), -EPERM);
	assert_int_equal(tries, 6);
	assert_int_equal(asked[3].cap.max_inline_data, 32);	/* never more than wanted */
	assert_int_equal(asked[5].cap.max_inline_data, 0);
	assert_int_equal(attr.cap.max_inline_data, 32);		/* as it was */
	tries = 0;
	reason = errno = 0;
	assert_int_equal(vrb_qp_make(&ep, &attr, &sq), -EIO);	/* no reason is given */
}

static void a_program_may_choose_the_old_interface(void **state)
{
	struct ibv_qp_init_attr_ex attr = wanted(100);

	vrb_conf.doorbell = (char *) "post";
	refuse = 1;
	assert_int_equal(vrb_qp_make(&ep, &attr, &sq), 0);
	assert_int_equal(tries, 2);
	assert_int_equal(asked[0].comp_mask, IBV_QP_INIT_ATTR_PD);
	assert_int_equal(asked[1].cap.max_inline_data, 64);
	assert_null(sq.qpx);
}

static void the_direct_path_asks_for_no_operations(void **state)
{
	struct ibv_qp_init_attr_ex attr = wanted(100);

	ep.direct = true;
	assert_int_equal(vrb_qp_make(&ep, &attr, &sq), 0);
	assert_int_equal(asked[0].comp_mask, IBV_QP_INIT_ATTR_PD);
}

static void operations_are_those_that_the_endpoint_has(void **state)
{
	struct ibv_qp_init_attr_ex attr = wanted(0);
	struct vrb_dgram dgram = { 0 };

	dev.domain.attr.atomic_cap = IBV_ATOMIC_NONE;
	assert_int_equal(vrb_qp_make(&ep, &attr, &sq), 0);
	assert_int_equal(asked[0].send_ops_flags, ALL_OPS);
	ep.dgram = &dgram;
	attr = wanted(0);
	assert_int_equal(vrb_qp_make(&ep, &attr, &sq), 0);
	assert_int_equal(asked[1].send_ops_flags, IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM);
}

/* Without librdmacm, as for XRC. */
static void without_an_id_the_device_makes_it(void **state)
{
	struct ibv_qp_init_attr_ex attr = wanted(10);
	struct ibv_qp *qp = NULL;

	attr.comp_mask = IBV_QP_INIT_ATTR_PD;
	assert_int_equal(vrb_qp_create(&ep, &attr, &qp), 0);	/* an old library */
	assert_ptr_equal(qp, &dev.qp);
	attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	assert_int_equal(vrb_qp_create(&ep, &attr, &qp), EOPNOTSUPP);
	assert_int_equal(tries, 1);
	dev.verbs.create_qp_ex = on_context;
	assert_int_equal(vrb_qp_create(&ep, &attr, &qp), 0);
	assert_int_equal(asked[1].comp_mask, attr.comp_mask);
	refuse = 8;
	reason = ENOSPC;
	assert_int_equal(vrb_qp_create(&ep, &attr, &qp), ENOSPC);
	reason = 0;
	errno = EPERM;				/* of an earlier call */
	assert_int_equal(vrb_qp_create(&ep, &attr, &qp), EIO);
	refuse = 0;
	reason = EINVAL;			/* errno of a call that succeeds says nothing */
	assert_int_equal(vrb_qp_create(&ep, &attr, &qp), 0);
}

#define T(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(the_extended_interface_comes_first),
		T(less_is_asked_for_until_the_device_agrees),
		T(a_device_that_refuses_all_is_reported),
		T(a_program_may_choose_the_old_interface),
		T(the_direct_path_asks_for_no_operations),
		T(operations_are_those_that_the_endpoint_has),
		T(without_an_id_the_device_makes_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
