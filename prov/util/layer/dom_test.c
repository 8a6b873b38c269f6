/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Domains below, of tcp: which links share one, when it is opened and closed, and that an open
 * that fails leaves nothing behind.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <errno.h>
#include <poll.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "layer/dom.h"
#include "progress/fdset.h"

struct dom {
	struct layer_dom base;		/* first */
	struct fid_eq *eq;
};

static struct list doms;
static struct fi_info *info;
static int opened, closed, open_ret;
static void *opened_for;

static int test_open(struct layer_dom *base, void *owner, size_t *size_p)
{
	struct fi_eq_attr attr = { .wait_obj = FI_WAIT_FD, .flags = FI_WRITE };

	opened++;
	opened_for = owner;
	*size_p = sizeof(struct layer_buf) + 100;
	assert_int_equal(fi_eq_open(base->fabric, &attr, &((struct dom *) base)->eq, NULL), 0);
	return open_ret;
}

static void test_close(struct layer_dom *base)
{
	struct dom *dom = (struct dom *) base;

	closed++;
	if (dom->eq)
		fi_close(&dom->eq->fid);
}

static const struct layer_dom_ops ops = {
	.size = sizeof(struct dom), .open = test_open, .close = test_close,
};

static int set_up(void **state)
{
	struct fi_info *hints = fi_allocinfo();
	int ret;

	list_init(&doms);
	opened = closed = open_ret = 0;
	hints->fabric_attr->prov_name = strdup("tcp");
	hints->ep_attr->type = FI_EP_MSG;
	ret = fi_getinfo(FI_VERSION(2, 0), "127.0.0.1", NULL, FI_SOURCE, hints, &info);
	fi_freeinfo(hints);
	return ret;
}

static int tear_down(void **state)
{
	fi_freeinfo(info);
	return list_empty(&doms) ? 0 : -1;
}

static void links_share_it(void **state)
{
	struct layer_dom *first, *second;
	struct layer_buf *buf;
	int owner;

	assert_int_equal(layer_dom_get(&doms, info, NULL, &ops, &owner, &first), 0);
	assert_ptr_equal(opened_for, &owner);
	assert_non_null(first->domain);
	assert_int_equal(layer_dom_get(&doms, info, NULL, &ops, &owner, &second), 0);
	assert_ptr_equal(first, second);
	assert_int_equal(opened, 1);
	/* the size that open() has set */
	buf = layer_buf_get(&first->mem);
	assert_non_null(buf);
	memset(buf + 1, 1, 100);
	layer_buf_put(&first->mem, buf);
	layer_dom_put(first);
	assert_int_equal(closed, 0);
	layer_dom_put(second);
	assert_int_equal(closed, 1);
}

/* A home outlives the groups that share it; one of another name is not theirs. */
static void groups_share_a_home(void **state)
{
	struct layer_home *home;
	struct layer_dom *dom;

	assert_int_equal(layer_home_open(info, &home), 0);
	assert_int_equal(layer_dom_get(&doms, info, home, &ops, NULL, &dom), 0);
	assert_ptr_equal(dom->domain, home->domain);
	layer_dom_put(dom);
	assert_int_equal(layer_dom_get(&doms, info, home, &ops, NULL, &dom), 0);
	assert_ptr_equal(dom->domain, home->domain);
	layer_dom_put(dom);
	home->name[0] = '!';
	assert_int_equal(layer_dom_get(&doms, info, home, &ops, NULL, &dom), 0);
	assert_ptr_not_equal(dom->domain, home->domain);
	layer_dom_put(dom);
	layer_home_close(home);
}

/* The name has both the provider and its domain. */
static void names_differ(void **state)
{
	struct layer_dom *first, *second;

	assert_int_equal(layer_dom_get(&doms, info, NULL, &ops, NULL, &first), 0);
	free(first->name);
	first->name = strdup("udp lo");
	assert_int_equal(layer_dom_get(&doms, info, NULL, &ops, NULL, &second), 0);
	assert_ptr_not_equal(first, second);
	layer_dom_put(first);
	layer_dom_put(second);
	assert_int_equal(closed, 2);
}

static void open_fails(void **state)
{
	struct layer_dom *dom;

	open_ret = -FI_EMFILE;
	assert_int_equal(layer_dom_get(&doms, info, NULL, &ops, NULL, &dom), -FI_EMFILE);
	assert_int_equal(closed, 1);
	assert_true(list_empty(&doms));
	open_ret = 0;
	assert_int_equal(layer_dom_get(&doms, info, NULL, &ops, NULL, &dom), 0);
	layer_dom_put(dom);
}

/* Without a domain below, the layer's part is neither opened nor closed. */
static void no_domain(void **state)
{
	struct layer_dom *dom;

	free(info->fabric_attr->prov_name);
	info->fabric_attr->prov_name = strdup("none");
	assert_int_not_equal(layer_dom_get(&doms, info, NULL, &ops, NULL, &dom), 0);
	assert_int_equal(opened, 0);
	assert_int_equal(closed, 0);
}

static void queue_wakes(void **state)
{
	struct pollfd pfd = { .fd = fdset_open(), .events = POLLIN };
	struct fi_eq_entry event = { 0 };
	struct layer_dom *dom;
	struct fid_eq *eq;

	assert_int_equal(layer_dom_get(&doms, info, NULL, &ops, NULL, &dom), 0);
	eq = ((struct dom *) dom)->eq;
	assert_int_equal(layer_dom_watch(pfd.fd, &eq->fid), 0);
	assert_int_equal(fi_trywait(dom->fabric, (struct fid *[]) { &eq->fid }, 1), 0);
	fdset_settle(pfd.fd);
	assert_int_equal(poll(&pfd, 1, 0), 0);
	assert_int_equal(fi_eq_write(eq, FI_NOTIFY, &event, sizeof(event), 0), sizeof(event));
	assert_int_equal(poll(&pfd, 1, 10000), 1);
	/* the descriptor is watched already */
	assert_int_equal(layer_dom_watch(pfd.fd, &eq->fid), -EEXIST);
	layer_dom_put(dom);
	fdset_close(pfd.fd);
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(links_share_it), T(groups_share_a_home),
		T(names_differ),
		T(open_fails),
		T(no_domain),
		T(queue_wakes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
