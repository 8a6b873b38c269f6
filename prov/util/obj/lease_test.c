/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Who may touch memory, and until when: two peers that are inside a region, in all orders of: their
 * connections close, they leave or their processes end, a request of a third peer is served by
 * another thread, and the region closes, again and again until that returns 0.  A peer that does
 * neither leave nor end before the last step is one that is stopped.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <pthread.h>
#include <rdma/fi_errno.h>
#include <string.h>
#include <unistd.h>

#include "obj/domain.h"
#include "obj/ep.h"
#include "obj/lease.h"
#include "obj/mr.h"

#define KEY 5
#define RW (FI_REMOTE_READ | FI_REMOTE_WRITE)

static struct fi_provider prov = { .name = "test" };
static struct fi_domain_attr attr = { .mr_key_size = 8 };
static struct fi_info info;
static struct obj_domain domain;
static struct obj_ep ep = { .domain = &domain, .caps = FI_RMA };
static char mem[4096];

/* ---- the model ---------------------------------------------------------------------------- */

enum way {
	BY_LEASE,	/* it uses a lease of the region */
	BY_COPY,	/* its connection's copy is from or to the region's last bytes */
	LATE,		/* its connection's copy, without which the operation has ended */
	OUTSIDE,	/* the same from or to other memory, next to the region */
	WAYS
};

struct peer {
	struct obj_tenant tenant;	/* first */
	enum way way;
	bool in;			/* it has neither left nor ended */
	bool closed;			/* its connection */
	unsigned freed;
};

static struct peer peers[2];
static struct fid_mr *mr;		/* NULL: closed */
static _Atomic bool serving;		/* a thread of ours touches the region */
static pthread_t server;
static bool served;

static struct peer *peer_of(const struct obj_tenant *tenant)
{
	return container_of(tenant, struct peer, tenant);
}

static void let(struct obj_tenant *tenant, const struct obj_lease *lease)
{
}

static bool end_lease(struct obj_tenant *tenant, uint64_t key)
{
	return key == KEY && peer_of(tenant)->way == BY_LEASE && peer_of(tenant)->in;
}

/* The region is the first half of @mem. */
static bool touches(const struct obj_tenant *tenant, uintptr_t addr, size_t len)
{
	const struct peer *p = peer_of(tenant);
	uintptr_t at = (uintptr_t) mem + (p->way == OUTSIDE ? sizeof(mem) / 2 : sizeof(mem) / 2 - 1);

	return p->way != BY_LEASE && (p->closed || p->way == LATE) && p->in && addr <= at && at < addr + len;
}

static bool is_in(const struct obj_tenant *tenant)
{
	assert_true(peer_of(tenant)->closed);
	return peer_of(tenant)->in;
}

static void free_peer(struct obj_tenant *tenant)
{
	assert_false(peer_of(tenant)->in);
	peer_of(tenant)->freed++;
}

static const struct obj_tenant_ops ops = {
	.let = let,
	.end = end_lease,
	.touches = touches,
	.inside = is_in,
	.free = free_peer,
};

static void *serve(void *arg)
{
	usleep(100);
	atomic_store(&serving, false);
	obj_mr_leave(arg);
	return NULL;
}

/* ---- the steps ---------------------------------------------------------------------------- */

enum step { CLOSE_0, CLOSE_1, OUT_0, OUT_1, SERVE, REGION, STEPS };

static bool must_wait(void)
{
	size_t i;

	for (i = 0; i < 2; i++)
		if (peers[i].in && (peers[i].way == BY_LEASE || peers[i].way == LATE ||
				    (peers[i].way == BY_COPY && peers[i].closed)))
			return true;
	return false;
}

static void try_region(void)
{
	bool waits = must_wait();
	int ret;

	if (!mr)
		return;
	ret = fi_close(&mr->fid);
	assert_int_equal(ret, waits ? -FI_EBUSY : 0);
	assert_false(atomic_load(&serving));
	if (!ret)
		mr = NULL;
}

static void close_conn(struct peer *p)
{
	p->closed = true;
	obj_lease_leave(&p->tenant);
	/* between the two another thread may look */
	obj_lease_part(&p->tenant);
	assert_int_equal(p->freed, !p->in);
}

static void begin_serving(void)
{
	static struct obj_mr_use use;
	struct iovec iov[OBJ_MR_IOV_MAX];
	size_t cnt;

	if (obj_mr_enter(&domain, NULL, KEY, 0, 8, RW, iov, &cnt, &use))
		return;		/* the region closes already */
	atomic_store(&serving, true);
	served = true;
	assert_int_equal(pthread_create(&server, NULL, serve, &use), 0);
}

static void take_step(enum step step, bool *trying)
{
	switch (step) {
	case CLOSE_0:
	case CLOSE_1:
		close_conn(&peers[step - CLOSE_0]);
		break;
	case OUT_0:
	case OUT_1:
		peers[step - OUT_0].in = false;
		break;
	case SERVE:
		begin_serving();
		break;
	default:
		*trying = true;
		break;
	}
	if (*trying)
		try_region();
}

static void start(enum way first, enum way second)
{
	size_t i;

	served = false;
	assert_int_equal(obj_mr_reg(&domain.fid.fid, mem, sizeof(mem) / 2, RW, 0, KEY, 0, &mr, NULL), 0);
	for (i = 0; i < 2; i++) {
		peers[i] = (struct peer) { .way = i ? second : first, .in = true, .tenant.ops = &ops };
		obj_lease_join(&peers[i].tenant, &ep, true);
	}
}

/* possible - a copy of a connection that is open belongs to an operation, which obj_mr.uses counts. */
static bool possible(const enum step *order)
{
	bool region = false;
	size_t i;

	for (i = 0; i < STEPS; i++) {
		if (order[i] <= CLOSE_1 && region && peers[order[i]].way == BY_COPY)
			return false;
		region |= order[i] == REGION;
	}
	return true;
}

static void play(const enum step *order, enum way first, enum way second)
{
	bool trying = false;
	size_t i;

	start(first, second);
	for (i = 0; i < STEPS && possible(order); i++)
		take_step(order[i], &trying);
	for (i = 0; i < 2; i++) {	/* those that were not possible */
		peers[i].in = false;
		if (!peers[i].closed)
			close_conn(&peers[i]);
	}
	try_region();
	assert_null(mr);
	assert_int_equal(obj_lease_end_all(&domain), 0);
	for (i = 0; i < 2; i++)
		assert_int_equal(peers[i].freed, 1);
	if (served)
		assert_int_equal(pthread_join(server, NULL), 0);
}

/* permute - all orders of what is from order[at] on. */
static void permute(enum step *order, size_t at, enum way first, enum way second)
{
	enum step was = order[at];
	size_t i;

	if (at == STEPS) {
		play(order, first, second);
		return;
	}
	for (i = at; i < STEPS; i++) {
		was = order[at];
		order[at] = order[i];
		order[i] = was;
		permute(order, at + 1, first, second);
		order[i] = order[at];
		order[at] = was;
	}
}

/* ---- tests --------------------------------------------------------------------------------- */

static int make_domain(void **state)
{
	memset(&domain, 0, sizeof(domain));
	domain.fid.fid.fclass = FI_CLASS_DOMAIN;
	domain.prov = &prov;
	domain.attr = &attr;
	domain.info = &info;
	obj_refs_init(&domain.refs);
	lock_init(&domain.mr_lock, LOCK_MUTEX);
	hmap_init(&domain.mr_map);
	list_init(&domain.tenants);
	list_init(&domain.left);
	ep.h.fid.fid.fclass = FI_CLASS_EP;
	obj_lease_patience_ns = 0;
	return 0;
}

static int end_domain(void **state)
{
	assert_true(list_empty(&domain.tenants) && list_empty(&domain.left));
	hmap_destroy(&domain.mr_map);
	lock_destroy(&domain.mr_lock);
	obj_refs_fini(&domain.refs);
	return 0;
}

static void a_region_ends_when_no_peer_is_inside_in_all_orders(void **state)
{
	enum step order[STEPS] = { CLOSE_0, CLOSE_1, OUT_0, OUT_1, SERVE, REGION };
	enum way first, second;

	for (first = 0; first < WAYS; first++)
		for (second = first; second < WAYS; second++)
			permute(order, 0, first, second);
}

/* Again and again, though its endpoint is closed; then it leaves. */
static void a_stopped_peer_keeps_a_region_and_then_a_domain(void **state)
{
	int i;

	start(BY_LEASE, OUTSIDE);
	close_conn(&peers[0]);
	close_conn(&peers[1]);
	for (i = 0; i < 5; i++) {
		try_region();
		assert_non_null(mr);
		assert_int_equal(obj_lease_end_all(&domain), -FI_EBUSY);
	}
	peers[0].in = false;
	try_region();
	assert_null(mr);
	assert_true(peers[0].freed && !peers[1].freed);
	assert_int_equal(obj_lease_end_all(&domain), -FI_EBUSY);
	peers[1].in = false;
	assert_int_equal(obj_lease_end_all(&domain), 0);
	assert_int_equal(peers[1].freed, 1);
}

/* Whichever of the two comes first on the list. */
static void one_of_two_peers_is_inside(void **state)
{
	int who;

	for (who = 0; who < 2; who++) {
		start(BY_LEASE, BY_LEASE);
		peers[who].in = false;
		try_region();
		assert_non_null(mr);
		peers[!who].in = false;
		try_region();
		assert_null(mr);
		close_conn(&peers[0]);
		close_conn(&peers[1]);
	}
}

/* Another thread closes the region between the two steps of a connection that closes. */
static void a_peer_is_not_freed_before_its_connection_parts(void **state)
{
	start(BY_LEASE, BY_LEASE);
	peers[0].in = peers[1].in = false;
	peers[0].closed = true;
	obj_lease_leave(&peers[0].tenant);
	try_region();
	assert_null(mr);
	assert_int_equal(peers[0].freed, 0);
	obj_lease_part(&peers[0].tenant);
	assert_int_equal(peers[0].freed, 1);
	close_conn(&peers[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_region_ends_when_no_peer_is_inside_in_all_orders, make_domain,
						end_domain),
		cmocka_unit_test_setup_teardown(a_stopped_peer_keeps_a_region_and_then_a_domain, make_domain,
						end_domain),
		cmocka_unit_test_setup_teardown(one_of_two_peers_is_inside, make_domain, end_domain),
		cmocka_unit_test_setup_teardown(a_peer_is_not_freed_before_its_connection_parts, make_domain,
						end_domain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
