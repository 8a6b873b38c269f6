/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "obj/cntr.h"
#include "obj/domain.h"
#include "obj/ep.h"
#include "obj/lease.h"
#include "obj/mr.h"

#define RW (FI_REMOTE_READ | FI_REMOTE_WRITE)

static struct fi_provider prov = { .name = "test" };
static struct fi_domain_attr attr;
static struct fi_info info;	/* without FI_HMEM */
static struct obj_domain domain;
static char mem[4096];

/* As much of a domain as a region looks at. */
static void make_domain(uint32_t mr_mode)
{
	memset(&domain, 0, sizeof(domain));
	memset(&attr, 0, sizeof(attr));
	attr.mr_key_size = 8;
	domain.fid.fid.fclass = FI_CLASS_DOMAIN;
	domain.prov = &prov;
	domain.attr = &attr;
	domain.info = &info;
	domain.mr_mode = mr_mode;
	obj_refs_init(&domain.refs);
	lock_init(&domain.mr_lock, LOCK_MUTEX);
	hmap_init(&domain.mr_map);
	list_init(&domain.tenants);
	list_init(&domain.left);
}

static void end_domain(void)
{
	assert_int_equal(obj_refs_busy(&domain.refs, &domain.fid.fid, &prov, FI_LOG_DOMAIN), 0);
	assert_int_equal(domain.mr_map.used, 0);
	assert_true(list_empty(&domain.tenants) && list_empty(&domain.left));
	hmap_destroy(&domain.mr_map);
	lock_destroy(&domain.mr_lock);
	obj_refs_fini(&domain.refs);
}

static struct fid_mr *reg(void *buf, size_t len, uint64_t access, uint64_t key)
{
	struct fid_mr *mr = NULL;

	assert_int_equal(obj_mr_reg(&domain.fid.fid, buf, len, access, 0, key, 0, &mr, NULL), 0);
	return mr;
}

/* enter - and leave again. */
static int enter(struct obj_ep *ep, uint64_t key, uint64_t addr, uint64_t len,
		 struct iovec *out, size_t *cnt_p)
{
	struct obj_mr_use use;
	int ret = obj_mr_enter(&domain, ep, key, addr, len, RW, out, cnt_p, &use);

	if (!ret)
		obj_mr_leave(&use);
	return ret;
}

static int verify(uint64_t key, uint64_t addr, uint64_t len, uint64_t access, struct iovec *out)
{
	struct iovec iov[OBJ_MR_IOV_MAX];
	struct obj_mr_use use;
	size_t cnt = 99;
	int ret = obj_mr_enter(&domain, NULL, key, addr, len, access, iov, &cnt, &use);

	if (!ret) {
		obj_mr_leave(&use);
		assert_true(cnt <= 1);
		*out = cnt ? iov[0] : (struct iovec) { 0 };
	}
	return ret;
}

static void every_access_is_checked(void **state)
{
	struct iovec at;
	struct fid_mr *mr;
	uint64_t base;
	int virt;

	for (virt = 0; virt < 2; virt++) {
		make_domain(virt ? FI_MR_VIRT_ADDR : 0);
		base = virt ? (uintptr_t) mem + 100 : 0;
		mr = reg(mem + 100, 1000, FI_REMOTE_READ, 5);
		assert_int_equal(fi_mr_key(mr), 5);
		assert_int_equal(verify(5, base, 1000, FI_REMOTE_READ, &at), 0);
		assert_true(at.iov_base == mem + 100 && at.iov_len == 1000);
		assert_int_equal(verify(5, base + 999, 1, FI_REMOTE_READ, &at), 0);
		assert_true(at.iov_base == mem + 1099 && at.iov_len == 1);
		assert_int_equal(verify(5, base + 1000, 0, FI_REMOTE_READ, &at), 0);
		assert_int_equal(verify(5, base + 1000, 1, FI_REMOTE_READ, &at), -FI_EINVAL);
		assert_int_equal(verify(5, base + 1001, 0, FI_REMOTE_READ, &at), -FI_EINVAL);
		assert_int_equal(verify(5, base, 1001, FI_REMOTE_READ, &at), -FI_EINVAL);
		/* Sums that wrap. */
		assert_int_equal(verify(5, base + 1, UINT64_MAX, FI_REMOTE_READ, &at), -FI_EINVAL);
		assert_int_equal(verify(5, UINT64_MAX, 2, FI_REMOTE_READ, &at), -FI_EINVAL);
		assert_int_equal(verify(5, base - 1, 2, FI_REMOTE_READ, &at), -FI_EINVAL);
		assert_int_equal(verify(5, base, 1, FI_REMOTE_WRITE, &at), -FI_EACCES);
		assert_int_equal(verify(5, base, 1, RW, &at), -FI_EACCES);
		assert_int_equal(verify(6, base, 1, FI_REMOTE_READ, &at), -FI_ENOKEY);
		assert_int_equal(fi_close(&mr->fid), 0);
		assert_int_equal(verify(5, base, 1, FI_REMOTE_READ, &at), -FI_ENOKEY);
		end_domain();
	}
}

static bool put(uint64_t key, uint64_t addr, const char *text)
{
	return obj_mr_put(&domain, NULL, key, addr, text, strlen(text));
}

/* A short write is checked as any access, and nothing is written where it is refused. */
static void a_short_write_is_checked_and_copied(void **state)
{
	struct iovec two[] = { { mem, 10 }, { mem + 20, 10 } };
	struct fid_mr *mr, *read_only, *pieces;

	make_domain(0);
	memset(mem, '.', 200);
	mr = reg(mem + 100, 10, FI_REMOTE_WRITE, 5);
	read_only = reg(mem + 100, 10, FI_REMOTE_READ, 6);
	assert_int_equal(obj_mr_regv(&domain.fid.fid, two, 2, FI_REMOTE_WRITE, 0, 7, 0, &pieces, NULL), 0);
	assert_true(put(5, 0, "abc"));
	assert_true(put(5, 7, "xyz"));
	assert_false(put(5, 8, "xyz"));
	assert_false(put(5, UINT64_MAX, "xyz"));
	assert_false(put(5, 11, ""));
	assert_false(put(6, 0, "xyz"));
	assert_false(put(7, 0, "xyz"));		/* obj_mr_enter() tells where the pieces are */
	assert_false(put(8, 0, "xyz"));
	assert_false(obj_mr_counts(&domain, 5) || obj_mr_counts(&domain, 8));
	assert_memory_equal(mem + 98, "..abc....xyz..", 14);
	assert_memory_equal(mem, "..............................", 30);
	assert_int_equal(fi_close(&mr->fid), 0);
	assert_false(put(5, 0, "abc"));
	assert_int_equal(fi_close(&read_only->fid), 0);
	assert_int_equal(fi_close(&pieces->fid), 0);
	end_domain();
}

static void the_whole_address_space(void **state)
{
	struct iovec at;
	struct fid_mr *mr;

	make_domain(0);
	mr = reg(NULL, SIZE_MAX, RW, 0);
	assert_int_equal(verify(0, (uintptr_t) mem, sizeof(mem), RW, &at), 0);
	assert_ptr_equal(at.iov_base, mem);
	assert_int_equal(fi_close(&mr->fid), 0);
	end_domain();
}

static void keys(void **state)
{
	struct fid_mr *a, *b, *c;

	make_domain(0);
	a = reg(mem, 10, RW, 1);
	assert_int_equal(obj_mr_reg(&domain.fid.fid, mem, 10, RW, 0, 1, 0, &b, NULL), -FI_ENOKEY);
	/* What no peer may reach needs no key of its own. */
	b = reg(mem, 10, FI_SEND | FI_RECV, 1);
	c = reg(mem, 10, 0, 1);
	assert_int_equal(fi_close(&a->fid), 0);
	a = reg(mem, 10, FI_REMOTE_WRITE, 1);
	assert_int_equal(fi_close(&a->fid), 0);
	assert_int_equal(fi_close(&b->fid), 0);
	assert_int_equal(fi_close(&c->fid), 0);
	attr.mr_key_size = 2;
	assert_int_equal(obj_mr_reg(&domain.fid.fid, mem, 10, RW, 0, 0x10000, 0, &a, NULL),
			 -FI_EKEYREJECTED);
	a = reg(mem, 10, RW, 0xffff);
	assert_int_equal(fi_close(&a->fid), 0);
	end_domain();

	make_domain(FI_MR_PROV_KEY);
	a = reg(mem, 10, RW, 1);
	b = reg(mem, 10, RW, 1);
	assert_true(fi_mr_key(a) != fi_mr_key(b) && fi_mr_key(a) != FI_KEY_NOTAVAIL);
	/* 64 random bits: neither small nor near one another. */
	assert_true(fi_mr_key(a) >> 32 || fi_mr_key(b) >> 32);
	assert_int_equal(fi_close(&a->fid), 0);
	assert_int_equal(fi_close(&b->fid), 0);
	end_domain();
}

static void several_pieces(void **state)
{
	struct iovec iov[3] = { { mem, 10 }, { mem + 100, 20 }, { mem + 500, 30 } };
	struct iovec out[OBJ_MR_IOV_MAX];
	struct fid_mr *mr;
	size_t cnt;

	make_domain(0);
	assert_int_equal(obj_mr_regv(&domain.fid.fid, iov, 3, RW, 0, 9, 0, &mr, NULL), 0);
	assert_int_equal(enter(NULL, 9, 5, 40, out, &cnt), 0);
	assert_int_equal(cnt, 3);
	assert_true(out[0].iov_base == mem + 5 && out[0].iov_len == 5);
	assert_true(out[1].iov_base == mem + 100 && out[1].iov_len == 20);
	assert_true(out[2].iov_base == mem + 500 && out[2].iov_len == 15);
	assert_int_equal(enter(NULL, 9, 0, 61, out, &cnt), -FI_EINVAL);
	assert_int_equal(fi_mr_refresh(mr, &iov[1], 1, 0), 0);
	iov[1].iov_len = 21;
	assert_int_equal(fi_mr_refresh(mr, &iov[1], 1, 0), -FI_EINVAL);
	iov[1] = (struct iovec) { mem + 115, 10 };	/* begins in a piece, and ends behind it */
	assert_int_equal(fi_mr_refresh(mr, &iov[1], 1, 0), -FI_EINVAL);
	iov[1] = (struct iovec) { mem + 99, 2 };
	assert_int_equal(fi_mr_refresh(mr, &iov[1], 1, 0), -FI_EINVAL);
	assert_int_equal(fi_close(&mr->fid), 0);
	iov[0].iov_len = SIZE_MAX;
	assert_int_equal(obj_mr_regv(&domain.fid.fid, iov, 3, RW, 0, 9, 0, &mr, NULL), -FI_EINVAL);
	assert_int_equal(obj_mr_regv(&domain.fid.fid, iov, 0, RW, 0, 9, 0, &mr, NULL), -FI_EINVAL);
	assert_int_equal(obj_mr_regv(&domain.fid.fid, iov, 9, RW, 0, 9, 0, &mr, NULL), -FI_EINVAL);
	end_domain();
}

static void a_region_of_one_endpoint(void **state)
{
	struct obj_ep mine = { .h = { .ep = &mine }, .domain = &domain }, other = mine, ctx = mine;
	struct iovec out[OBJ_MR_IOV_MAX];
	struct fid_mr *mr;
	size_t cnt;

	make_domain(FI_MR_ENDPOINT | FI_MR_PROV_KEY);
	mine.h.fid.fid.fclass = FI_CLASS_EP;
	ctx.sep = &mine;
	obj_refs_init(&mine.refs);
	mr = reg(mem, 10, RW, 0);
	/* Not before it is bound and enabled. */
	assert_true(fi_mr_key(mr) == FI_KEY_NOTAVAIL);
	assert_int_equal(domain.mr_map.used, 0);
	assert_int_equal(fi_mr_bind(mr, &mine.h.fid.fid, 0), 0);
	assert_int_equal(fi_mr_bind(mr, &mine.h.fid.fid, 0), -FI_EINVAL);
	assert_int_equal(fi_mr_enable(mr), 0);
	assert_int_equal(fi_mr_enable(mr), 0);
	assert_int_equal(enter(&mine, fi_mr_key(mr), 0, 1, out, &cnt), 0);
	assert_int_equal(enter(&ctx, fi_mr_key(mr), 0, 1, out, &cnt), 0);
	assert_int_equal(enter(&other, fi_mr_key(mr), 0, 1, out, &cnt),
			 -FI_EACCES);
	assert_int_equal(fi_close(&mr->fid), 0);
	obj_refs_fini(&mine.refs);
	end_domain();
}

static struct obj_lease seen;
static int lets, ends, inside;
static bool touching;	/* after it has left */

/* A peer, by the variables above. */
static void on_let(struct obj_tenant *tenant, const struct obj_lease *lease)
{
	seen = *lease;
	lets++;
}

static bool on_end(struct obj_tenant *tenant, uint64_t key)
{
	assert_int_equal(key, 5);
	ends++;
	return inside-- > 0;
}

static bool on_touches(const struct obj_tenant *tenant, uintptr_t addr, size_t len)
{
	return touching;
}

static bool on_inside(const struct obj_tenant *tenant)
{
	return touching;
}

static void free_nothing(struct obj_tenant *tenant)
{
}

static const struct obj_tenant_ops tenant_ops = {
	.let = on_let,
	.end = on_end,
	.touches = on_touches,
	.inside = on_inside,
	.free = free_nothing,
};

static void leave(struct obj_tenant *tenant)
{
	obj_lease_leave(tenant);
	obj_lease_part(tenant);
	*tenant = (struct obj_tenant) { .ops = &tenant_ops };
}

static void leases(void **state)
{
	struct obj_tenant tenant = { .ops = &tenant_ops };
	struct obj_ep ep = { .domain = &domain, .caps = FI_RMA };
	struct obj_ep other = { .h = { .ep = &other, .fid.fid.fclass = FI_CLASS_EP }, .domain = &domain };
	struct obj_cntr cntr = { .domain = &domain };
	struct fid_mr *mr;

	make_domain(0);
	ep.h.fid.fid.fclass = FI_CLASS_EP;
	cntr.fid.fid.fclass = FI_CLASS_CNTR;
	obj_refs_init(&cntr.refs);
	mr = reg(mem + 100, 1000, RW, 5);
	obj_lease_ask(&tenant, 5);
	assert_int_equal(lets, 0);
	obj_lease_join(&tenant, &ep, true);
	assert_int_equal(lets, 1);
	assert_true(seen.key == 5 && !seen.base && seen.len == 1000 && seen.access == RW);
	assert_true(seen.addr == (uintptr_t) mem + 100 && !seen.counted);
	/* what is not for peers, or of no such key, is not let */
	assert_int_equal(fi_close(&reg(mem, 10, FI_SEND, 6)->fid), 0);
	obj_lease_ask(&tenant, 6);
	assert_int_equal(lets, 1);
	/* writes are counted from now on */
	assert_int_equal(fi_mr_bind(mr, &cntr.fid.fid, FI_REMOTE_WRITE), 0);
	assert_true(obj_mr_counts(&domain, fi_mr_key(mr)));
	assert_true(ends == 1 && lets == 2 && seen.counted);
	/* the end waits for who is inside */
	inside = 3;
	assert_int_equal(fi_close(&mr->fid), 0);
	assert_int_equal(ends, 5);
	obj_lease_ask(&tenant, 5);
	assert_int_equal(lets, 2);
	/* one that is made while the peer is there */
	mr = reg(mem, 100, FI_REMOTE_WRITE, 5);
	assert_true(lets == 3 && seen.access == FI_REMOTE_WRITE && !seen.counted);
	leave(&tenant);
	assert_int_equal(fi_close(&mr->fid), 0);
	assert_int_equal(ends, 5);
	/* the endpoint counts reads, so that only writes can be native */
	ep.cntrs[OBJ_CNTR_REMOTE_READ] = &cntr;
	mr = reg(mem, 100, RW, 5);
	obj_lease_join(&tenant, &ep, true);
	assert_true(lets == 4 && seen.access == FI_REMOTE_WRITE);
	/* the region becomes that of another endpoint */
	obj_refs_init(&other.refs);
	assert_int_equal(fi_mr_bind(mr, &other.h.fid.fid, 0), 0);
	obj_lease_ask(&tenant, 5);
	assert_int_equal(lets, 4);
	leave(&tenant);
	assert_int_equal(fi_close(&mr->fid), 0);
	obj_refs_fini(&other.refs);
	obj_refs_fini(&cntr.refs);
	end_domain();
}

/* Binding waits for those that use a lease alone, and fails as a whole. */
static void a_bind_waits_for_leases_alone(void **state)
{
	struct obj_tenant tenant = { .ops = &tenant_ops }, other = tenant;
	struct obj_ep ep = { .domain = &domain, .caps = FI_RMA };
	struct obj_cntr cntr = { .domain = &domain };
	uint64_t patience = obj_lease_patience_ns;
	struct fid_mr *mr;

	make_domain(0);
	lets = ends = inside = 0;
	obj_lease_patience_ns = 1;
	ep.h.fid.fid.fclass = FI_CLASS_EP;
	cntr.fid.fid.fclass = FI_CLASS_CNTR;
	obj_refs_init(&cntr.refs);
	mr = reg(mem, 1000, RW, 5);
	obj_lease_join(&other, &ep, false);
	touching = true;
	obj_lease_leave(&other);
	obj_lease_part(&other);
	obj_lease_join(&tenant, &ep, true);
	assert_int_equal(lets, 1);
	inside = 1000000;
	assert_int_equal(fi_mr_bind(mr, &cntr.fid.fid, FI_REMOTE_WRITE), -FI_EBUSY);
	assert_false(obj_mr_counts(&domain, fi_mr_key(mr)));
	inside = 0;
	assert_int_equal(fi_mr_bind(mr, &cntr.fid.fid, FI_REMOTE_WRITE), 0);
	assert_true(obj_mr_counts(&domain, fi_mr_key(mr)) && seen.counted);
	assert_int_equal(fi_close(&mr->fid), -FI_EBUSY);
	touching = false;
	assert_int_equal(fi_close(&mr->fid), 0);
	leave(&tenant);
	obj_lease_patience_ns = patience;
	obj_refs_fini(&cntr.refs);
	end_domain();
}

/* A peer may touch a region after the operation has ended, while the connection stands. */
static void a_copy_that_is_late_keeps_a_region(void **state)
{
	struct obj_tenant tenant = { .ops = &tenant_ops };
	struct obj_ep ep = { .domain = &domain, .caps = FI_RMA };
	uint64_t patience = obj_lease_patience_ns;
	struct fid_mr *mr;

	make_domain(0);
	inside = 0;
	obj_lease_patience_ns = 1;
	mr = reg(mem, 1000, FI_WRITE, 5);
	obj_lease_join(&tenant, &ep, true);
	touching = true;
	assert_int_equal(fi_close(&mr->fid), -FI_EBUSY);
	touching = false;
	assert_int_equal(fi_close(&mr->fid), 0);
	leave(&tenant);
	obj_lease_patience_ns = patience;
	end_domain();
}

static void raw_keys(void **state)
{
	uint8_t raw[8];
	uint64_t base = 1, key;
	size_t size = 4;
	struct fid_mr *mr;

	make_domain(0);
	mr = reg(mem, 10, RW, 0x1234);
	assert_int_equal(fi_mr_raw_attr(mr, &base, raw, &size, 0), -FI_ETOOSMALL);
	assert_int_equal(size, 8);
	assert_int_equal(fi_mr_raw_attr(mr, &base, raw, &size, 0), 0);
	memcpy(&key, raw, 8);
	assert_true(key == 0x1234 && base == 0);
	assert_int_equal(fi_close(&mr->fid), 0);
	end_domain();
}

static void what_cannot_be_registered(void **state)
{
	struct iovec iov = { mem, 1 };
	struct fi_mr_attr a = { .mr_iov = &iov, .iov_count = 1, .access = RW };
	struct fid_mr *mr;

	make_domain(0);
	a.iface = FI_HMEM_CUDA;
	assert_int_equal(obj_mr_regattr(&domain.fid.fid, &a, 0, &mr), -FI_EOPNOTSUPP);
	a.iface = FI_HMEM_SYSTEM;
	assert_int_equal(obj_mr_regattr(&domain.fid.fid, &a, FI_MR_DMABUF, &mr), -FI_EOPNOTSUPP);
	assert_int_equal(obj_mr_regattr(&domain.fid.fid, &a, UINT64_C(1) << 63, &mr), -FI_EBADFLAGS);
	assert_int_equal(obj_mr_regattr(&domain.fid.fid, NULL, 0, &mr), -FI_EINVAL);
	end_domain();
}

/* The offset is reserved, and means nothing. */
static void an_offset_is_ignored(void **state)
{
	struct iovec iov = { mem, 1 };
	struct fi_mr_attr a = { .mr_iov = &iov, .iov_count = 1, .access = RW, .offset = 77 };
	struct fid_mr *mr;

	make_domain(0);
	assert_int_equal(obj_mr_regattr(&domain.fid.fid, &a, 0, &mr), 0);
	assert_int_equal(fi_close(&mr->fid), 0);
	end_domain();
}

/* Bits that say nothing about access grant nothing. */
static void other_bits_in_access(void **state)
{
	static const uint64_t others[] = { FI_MR_LOCAL, FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY,
					   FI_MSG | FI_RMA | FI_TAGGED | FI_ATOMIC, UINT64_C(1) << 63 };
	struct fid_mr *mr;
	struct iovec out;

	make_domain(0);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		mr = reg(mem, sizeof(mem), FI_REMOTE_READ | others[i], 7 + i);
		assert_int_equal(verify(7 + i, 0, 8, FI_REMOTE_READ, &out), 0);
		assert_int_not_equal(verify(7 + i, 0, 8, FI_REMOTE_WRITE, &out), 0);
		assert_int_equal(fi_close(&mr->fid), 0);
	}
	end_domain();
}

/* A region that a forked child registers on a domain that it inherited: no peer of its parent's gets a lease, and
 * its key is free after its close.
 */
static void a_region_of_a_child(void **state)
{
	struct obj_ep ep = { .h = { .ep = &ep }, .domain = &domain, .caps = FI_RMA };
	struct obj_tenant tenant = { .ops = &tenant_ops };
	struct fid_mr *mr;

	make_domain(0);
	ep.h.fid.fid.fclass = FI_CLASS_EP;
	obj_lease_join(&tenant, &ep, true);
	lets = ends = inside = 0;
	obj_process++;			/* as fork() does */
	mr = reg(mem, 10, RW, 5);
	assert_int_equal(fi_close(&mr->fid), 0);
	assert_int_equal(domain.mr_map.used, 0);
	assert_int_equal(lets + ends, 0);
	obj_process--;
	obj_lease_leave(&tenant);
	obj_lease_part(&tenant);
	end_domain();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_access_is_checked),
		cmocka_unit_test(a_short_write_is_checked_and_copied),
		cmocka_unit_test(the_whole_address_space),
		cmocka_unit_test(keys),
		cmocka_unit_test(several_pieces),
		cmocka_unit_test(a_region_of_one_endpoint),
		cmocka_unit_test(leases),
		cmocka_unit_test(a_bind_waits_for_leases_alone),
		cmocka_unit_test(a_copy_that_is_late_keeps_a_region),
		cmocka_unit_test(raw_keys),
		cmocka_unit_test(what_cannot_be_registered),
		cmocka_unit_test(an_offset_is_ignored),
		cmocka_unit_test(other_bits_in_access),
		cmocka_unit_test(a_region_of_a_child),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
