/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "obj/test/fake.h"

#include "obj/poll.h"

static struct fake f;

static void test_poll(void **state)
{
	struct fi_poll_attr attr = { 0 }, bad = { .flags = FI_MORE };
	struct fi_cq_entry e[4];
	struct fid_cntr *cntr;
	struct fid_poll *set, *second;
	struct fid_cq *cq;
	struct fid_av *av;
	struct fid_ep *ep;
	void *got[4];

	fake_open(&f, NULL);
	fake_log_start();
	cq = fake_cq(&f, FI_CQ_FORMAT_CONTEXT, FI_WAIT_NONE);
	cntr = fake_cntr(&f, FI_WAIT_NONE);
	cq->fid.context = (void *) 11;
	cntr->fid.context = (void *) 22;
	av = fake_av(&f);
	ep = fake_ep_up(&f, cq, cq, av);
	assert_int_equal(fi_poll_open(f.domain, &bad, &set), -FI_EINVAL);
	assert_int_equal(fi_poll_open(f.domain, &attr, &set), 0);
	assert_int_equal(fi_poll_add(set, &cq->fid, FI_MORE), -FI_EINVAL);
	assert_int_equal(fi_poll_add(set, &av->fid, 0), -FI_EINVAL);
	assert_int_equal(fi_poll_add(set, &cq->fid, 0), 0);
	assert_int_equal(fi_poll_add(set, &cq->fid, 0), 0);
	assert_int_equal(fi_poll_add(set, &cntr->fid, 0), 0);
	assert_int_equal(fi_poll(set, got, 4), 0);

	/* A queue shows as long as it has something, and polling drives it. */
	fake_deliver(ep, 1);
	assert_int_equal(fi_poll(set, got, 4), 1);
	assert_ptr_equal(got[0], 11);
	assert_int_equal(fi_poll(set, got, 4), 1);
	/* A counter shows once after each change, from whichever call, in each set that it is in. */
	obj_cntr_inc(obj_cntr_of(cntr), 1);
	assert_int_equal(fi_poll(set, got, 4), 2);
	assert_int_equal(fi_poll(set, got, 4), 1);
	assert_int_equal(fi_cq_read(cq, e, 4), 1);
	assert_int_equal(fi_poll(set, got, 4), 0);
	obj_cntr_inc_err(obj_cntr_of(cntr));
	assert_int_equal(fi_poll(set, got, 4), 1);
	assert_ptr_equal(got[0], 22);
	fi_cntr_set(cntr, 100);
	assert_int_equal(fi_poll(set, got, 4), 1);
	assert_int_equal(fi_poll(set, got, 4), 0);
	assert_int_equal(fi_poll_open(f.domain, NULL, &second), 0);
	assert_int_equal(fi_poll_add(second, &cntr->fid, 0), 0);
	assert_int_equal(fi_poll(second, got, 4), 1);
	fi_cntr_add(cntr, 1);
	assert_int_equal(fi_poll(set, got, 4), 1);
	assert_int_equal(fi_poll(second, got, 4), 1);
	fi_cntr_adderr(cntr, 1);
	assert_int_equal(fi_poll(second, got, 4), 1);
	assert_int_equal(fi_poll(set, got, 4), 1);
	assert_int_equal(fi_poll(set, got, 4), 0);
	CLOSE(second);

	/* A member cannot go. */
	assert_int_equal(fi_close(&cntr->fid), -FI_EBUSY);
	assert_int_equal(fi_poll_del(set, &cntr->fid, 0), 0);
	assert_int_equal(fi_poll_del(set, &cntr->fid, 0), -FI_EINVAL);
	CLOSE(cntr);
	CLOSE(set);
	CLOSE(ep);
	CLOSE(av);
	CLOSE(cq);
	fake_close(&f);
}

/* With room for fewer than have something, all get their turn. */
static void test_turns(void **state)
{
	struct fi_poll_attr attr = { 0 };
	struct fid_poll *set;
	struct fid_cq *cq[3];
	unsigned seen = 0;
	void *got;
	int i;

	fake_open(&f, NULL);
	assert_int_equal(fi_poll_open(f.domain, &attr, &set), 0);
	for (i = 0; i < 3; i++) {
		cq[i] = fake_cq(&f, FI_CQ_FORMAT_CONTEXT, FI_WAIT_NONE);
		cq[i]->fid.context = (void *) (uintptr_t) (i + 1);
		assert_int_equal(fi_poll_add(set, &cq[i]->fid, 0), 0);
		obj_cq_write(obj_cq_of(cq[i]), NULL, 0, 0, NULL, 0, 0, 0);
	}
	for (i = 0; i < 3; i++) {
		assert_int_equal(fi_poll(set, &got, 1), 1);
		seen |= 1u << (uintptr_t) got;
	}
	assert_int_equal(seen, 0xe);
	CLOSE(set);
	for (i = 0; i < 3; i++)
		CLOSE(cq[i]);
	fake_close(&f);
}

/* A set that a forked child opens on a domain that it inherited ends with its own close. */
static void test_set_of_child(void **state)
{
	struct fi_poll_attr attr = { 0 };
	struct fid_poll *set, *parents;
	struct fid_cq *cq;

	fake_open(&f, NULL);
	assert_int_equal(fi_poll_open(f.domain, &attr, &parents), 0);
	obj_process++;			/* as fork() does */
	assert_int_equal(fi_poll_open(f.domain, &attr, &set), 0);
	cq = fake_cq(&f, FI_CQ_FORMAT_CONTEXT, FI_WAIT_NONE);
	assert_int_equal(fi_poll_add(set, &cq->fid, 0), 0);
	CLOSE(set);
	CLOSE(cq);
	CLOSE(parents);			/* is left alone */
	obj_process--;
	assert_int_equal(fi_close(&f.domain->fid), -FI_EBUSY);
	CLOSE(parents);
	fake_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_poll),
		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_set_of_child),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
