/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * abi_calls.h - objects without a provider, whose operations only check their arguments.
 *
 * The rows come from slots.tsv: each inline is called once with arguments that all differ, and
 * must reach its slot with every argument in place.
 */
#ifndef ABI_CALLS_H
#define ABI_CALLS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "base/test/verify.h"

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_collective.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_ext.h>
#include <rdma/fi_profile.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <rdma/fi_xpu_device.h>

struct call_row {
	const char *name;
	void (*call)(void);
};

static struct fid the_fid;
static struct fid_fabric the_fabric;
static struct fid_domain the_domain;
static struct fid_av the_av;
static struct fid_av_set the_av_set;
static struct fid_mr the_mr;
static struct fid_eq the_eq;
static struct fid_cq the_cq;
static struct fid_cntr the_cntr;
static struct fid_wait the_wait;
static struct fid_poll the_poll;
static struct fid_ep the_ep;
static struct fid_pep the_pep;
static struct fid_profile the_profile;
static struct fid_xpu_ctx the_ctx;

static const char *call_name;	/* the row being run */
static int call_hits;		/* operations reached by it */
static int call_bad;		/* things wrong in this row */

static void complain(const char *what, int where)
{
	fprintf(stderr, "%s: %s %d\n", call_name, what, where);
	call_bad++;
}

/* Start of a call. */
static void expect(const char *name)
{
	call_name = name;
	call_hits = 0;
}

/* The operation of @name was entered. */
static void reached(const char *name)
{
	(void) name;
	call_hits++;
}

static void same(bool ok, int arg)
{
	if (!ok)
		complain("argument is out of place:", arg);
}

static void returned(bool ok)
{
	if (!ok)
		complain("wrong result, operations reached:", call_hits);
}

/* The call has returned and has reached its operation. */
static void done(void)
{
	if (call_hits != 1)
		complain("operations reached:", call_hits);
}

#include "tests/abi/abi_calls.inc"

static void call_test(void **state)
{
	const struct call_row *row = *state;

	call_bad = 0;
	row->call();
	assert_int_equal(call_bad, 0);
}

/* abi_calls_run - a test for each row; the number of those that failed.
 *
 * @setup, @teardown: of the group, or NULL
 */
static int abi_calls_run(CMFixtureFunction setup, CMFixtureFunction teardown)
{
	enum { COUNT = sizeof(call_rows) / sizeof(call_rows[0]) };
	static struct CMUnitTest tests[COUNT];
	size_t i;

	for (i = 0; i < COUNT; i++) {
		tests[i].name = call_rows[i].name;
		tests[i].test_func = call_test;
		tests[i].initial_state = (void *) (uintptr_t) &call_rows[i];
	}
	return _cmocka_run_group_tests("calls", tests, COUNT, setup, teardown);
}

#endif /* ABI_CALLS_H */
