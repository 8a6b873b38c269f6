// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * transfer_test.c - messages and remote memory, between connected and unconnected endpoints.
 */
#include <linux/mm.h>
#include <linux/delay.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "test.h"

#define BIG	(8UL << 20)
#define CAPS	(FI_MSG | FI_RMA)

static enum fi_ep_type type;	/* of the endpoints of this run */

static bool is_verbs(const struct test *t)
{
	return !strcmp(t->args.prov, "verbs");
}

/* One message from a to b: to @dst, checked. */
static int pass(struct pair *p, const void *src, void *dst, size_t len, u32 seed)
{
	struct fi_cq_tagged_entry e;
	int ret;

	memset(dst, 0, len);
	ret = fi_recv(p->b.ep, dst, len, NULL, FI_ADDR_UNSPEC, dst);
	if (!ret)
		ret = fi_send(p->a.ep, src, len, NULL, p->a.peer, (void *)src);
	if (!ret)
		ret = wait_comp(p->b.rx, &e);
	if (!ret && (e.len != len || e.op_context != dst || e.flags != (FI_RECV | FI_MSG)))
		ret = 1;
	if (!ret)
		ret = wait_comp(p->a.tx, &e);
	if (!ret && (e.op_context != src || e.flags != (FI_SEND | FI_MSG)))
		ret = 2;
	return ret ? ret : check_fill(dst, len, seed) ? 0 : 3;
}

static void sizes(struct test *t)
{
	void *src = vmalloc(BIG), *dst = vmalloc(BIG);
	struct pair p;
	size_t len;

	IS(t, pair_open(t, &p, type, CAPS), 0);
	NEED(t, src && dst, 0);
	IS(t, pass(&p, src, dst, 0, 0), 0);
	for (len = 1; len <= BIG; len *= 2) {
		fill(src, len, len);
		IS(t, pass(&p, src, dst, len, len), 0);
		if (len > 1 && len < BIG) {
			fill(src, len + 1, len);
			IS(t, pass(&p, src, dst, len + 1, len), 0);
		}
	}
out:
	pair_close(&p);
	vfree(src);
	vfree(dst);
}

/* Physically contiguous memory takes another path than vmalloc memory. */
static void sizes_linear(struct test *t)
{
	int order = get_order(1 << 20);
	void *src = (void *)__get_free_pages(GFP_KERNEL | __GFP_COMP, order);
	void *dst = (void *)__get_free_pages(GFP_KERNEL | __GFP_COMP, order);
	struct pair p;
	size_t len;

	IS(t, pair_open(t, &p, type, CAPS), 0);
	NEED(t, src && dst, 0);
	for (len = 1; len <= 1 << 20; len *= 2) {
		fill(src, len, len);
		IS(t, pass(&p, src, dst, len, len), 0);
	}
out:
	pair_close(&p);
	free_pages((unsigned long)src, order);
	free_pages((unsigned long)dst, order);
}

/* The same in two pieces of 4 MiB: what every device takes. */
static void sizes_pages(struct test *t)
{
	const size_t half = BIG / 2;
	struct bio_vec src[2] = {}, dst[2] = {};
	struct fi_msg msg = {};
	struct fi_cq_tagged_entry e;
	struct pair p;
	size_t len;
	int i;

	IS(t, pair_open(t, &p, type, CAPS), 0);
	for (i = 0; i < 2; i++) {
		src[i].bv_page = alloc_pages(GFP_KERNEL | __GFP_COMP, get_order(half));
		dst[i].bv_page = alloc_pages(GFP_KERNEL | __GFP_COMP, get_order(half));
		NEED(t, src[i].bv_page && dst[i].bv_page, i);
	}
	for (len = 1; len <= BIG; len *= 2) {
		for (i = 0; i < 2; i++) {
			src[i].bv_len = dst[i].bv_len = len <= half ? (i ? 0 : len) : half;
			fill(page_address(src[i].bv_page), src[i].bv_len, len + i);
			memset(page_address(dst[i].bv_page), 0, dst[i].bv_len);
		}
		msg.iov_count = len <= half ? 1 : 2;
		msg.msg_bvec = dst;
		msg.addr = FI_ADDR_UNSPEC;
		IS(t, fi_recvmsg(p.b.ep, &msg, FI_BVEC), 0);
		msg.msg_bvec = src;
		msg.addr = p.a.peer;
		IS(t, fi_sendmsg(p.a.ep, &msg, FI_BVEC), 0);
		IS(t, wait_comp(p.b.rx, &e), 0);
		IS(t, e.len, len);
		IS(t, wait_comp(p.a.tx, &e), 0);
		for (i = 0; i < 2; i++)
			NEED(t, check_fill(page_address(dst[i].bv_page), dst[i].bv_len, len + i),
			     len);
	}
out:
	pair_close(&p);
	for (i = 0; i < 2; i++) {
		if (src[i].bv_page)
			__free_pages(src[i].bv_page, get_order(half));
		if (dst[i].bv_page)
			__free_pages(dst[i].bv_page, get_order(half));
	}
}

/* A page list of odd pieces, for FI_BVEC forms. */
static int pages(struct bio_vec *bvec, int cnt, u32 seed, size_t *len_p)
{
	u32 off = 512, part = 3000;
	int i;

	for (i = 0; i < cnt; i++) {
		bvec[i].bv_page = alloc_page(GFP_KERNEL | __GFP_ZERO);
		if (!bvec[i].bv_page)
			return -FI_ENOMEM;
		bvec[i].bv_offset = i % 2 ? 0 : off;
		bvec[i].bv_len = i % 3 ? part : PAGE_SIZE - bvec[i].bv_offset;
		*len_p += bvec[i].bv_len;
		if (seed)
			fill(page_address(bvec[i].bv_page) + bvec[i].bv_offset, bvec[i].bv_len,
			     seed + i);
	}
	return 0;
}

static void pages_free(struct bio_vec *bvec, int cnt)
{
	while (cnt--)
		if (bvec[cnt].bv_page)
			__free_page(bvec[cnt].bv_page);
}

static bool pages_check(const struct bio_vec *bvec, int cnt, u32 seed)
{
	while (cnt--)
		if (!check_fill(page_address(bvec[cnt].bv_page) + bvec[cnt].bv_offset,
				bvec[cnt].bv_len, seed + cnt))
			return false;
	return true;
}

static void bvec(struct test *t)
{
	struct bio_vec src[16] = {}, dst[16] = {};
	struct fi_cq_tagged_entry e;
	size_t len = 0, dlen = 0;
	struct fi_msg msg = {};
	struct pair p;
	int n;

	IS(t, pair_open(t, &p, type, CAPS), 0);
	n = min_t(size_t, 16, p.a.info->tx_attr->iov_limit);
	IS(t, pages(src, n, 100, &len), 0);
	IS(t, pages(dst, n, 0, &dlen), 0);
	msg.msg_bvec = dst;
	msg.iov_count = n;
	msg.addr = FI_ADDR_UNSPEC;
	IS(t, fi_recvmsg(p.b.ep, &msg, FI_BVEC), 0);
	msg.msg_bvec = src;
	msg.addr = p.a.peer;
	msg.data = 0x55;
	IS(t, fi_sendmsg(p.a.ep, &msg, FI_BVEC | (p.a.info->domain_attr->cq_data_size ?
						       FI_REMOTE_CQ_DATA : 0)), 0);
	if (p.a.info->domain_attr->cq_data_size) {
		IS(t, wait_comp(p.b.rx, &e), 0);
		IS(t, e.data, 0x55);
		NEED(t, e.flags & FI_REMOTE_CQ_DATA, e.flags);
	} else {
		IS(t, wait_comp(p.b.rx, &e), 0);
	}
	IS(t, e.len, len);
	NEED(t, pages_check(dst, n, 100), 0);
	IS(t, wait_comp(p.a.tx, &e), 0);
out:
	pair_close(&p);
	pages_free(src, 16);
	pages_free(dst, 16);
}

static void forms(struct test *t)
{
	char *buf = kzalloc(8192, GFP_KERNEL), *src = buf + 4096;
	struct kvec iov[2] = { { src, 10 }, { src + 100, 20 } }, riov[2];
	bool data = true;
	struct fi_cq_tagged_entry e;
	struct pair p;

	IS(t, pair_open(t, &p, type, CAPS), 0);
	NEED(t, buf, 0);
	data = p.a.info->domain_attr->cq_data_size;
	fill(src, 4096, 1);
	riov[0] = (struct kvec){ buf, 5 };
	riov[1] = (struct kvec){ buf + 5, 100 };
	IS(t, fi_recvv(p.b.ep, riov, NULL, 2, FI_ADDR_UNSPEC, NULL), 0);
	IS(t, fi_sendv(p.a.ep, iov, NULL, 2, p.a.peer, NULL), 0);
	IS(t, wait_comp(p.b.rx, &e), 0);
	IS(t, e.len, 30);
	NEED(t, !memcmp(buf, src, 10) && !memcmp(buf + 10, src + 100, 20), 0);
	IS(t, wait_comp(p.a.tx, &e), 0);

	IS(t, fi_recvfrom(p.b.ep, buf, 64, NULL, FI_ADDR_UNSPEC, NULL), 0);
	IS(t, fi_inject(p.a.ep, src, 32, p.a.peer), 0);
	IS(t, wait_comp(p.b.rx, &e), 0);
	IS(t, e.len, 32);
	IS(t, memcmp(buf, src, 32), 0);
	IS(t, fi_cq_read(p.a.tx, &e, 1), -FI_EAGAIN);
	if (data) {
		IS(t, fi_recv(p.b.ep, buf, 64, NULL, FI_ADDR_UNSPEC, NULL), 0);
		IS(t, fi_senddata(p.a.ep, src, 8, NULL, 0x1234, p.a.peer, NULL), 0);
		IS(t, wait_comp(p.b.rx, &e), 0);
		IS(t, e.data, 0x1234);
		IS(t, wait_comp(p.a.tx, &e), 0);
		IS(t, fi_recv(p.b.ep, buf, 64, NULL, FI_ADDR_UNSPEC, NULL), 0);
		IS(t, fi_injectdata(p.a.ep, src, 8, 0x99, p.a.peer), 0);
		IS(t, wait_comp(p.b.rx, &e), 0);
		IS(t, e.data, 0x99);
	}
	IS(t, fi_recv(p.b.ep, buf, 64, NULL, FI_ADDR_UNSPEC, NULL), 0);
	IS(t, fi_sendto(p.a.ep, src, 3, NULL, p.a.peer, NULL), 0);
	IS(t, wait_comp(p.b.rx, &e), 0);
	IS(t, wait_comp(p.a.tx, &e), 0);
	IS(t, fi_cntr_wait(p.b.cntr, data ? 5 : 3, WAIT_MS), 0);
out:
	pair_close(&p);
	kfree(buf);
}

static void delivery(struct test *t)
{
	char *buf = kzalloc(65536, GFP_KERNEL), *src = buf + 32768;
	struct kvec iov = { src, 16384 };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1 };
	struct fi_cq_tagged_entry e;
	struct pair p;

	IS(t, pair_open(t, &p, type, CAPS), 0);
	NEED(t, buf, 0);
	msg.addr = p.a.peer;
	IS(t, fi_recv(p.b.ep, buf, 32768, NULL, FI_ADDR_UNSPEC, NULL), 0);
	IS(t, fi_sendmsg(p.a.ep, &msg, FI_DELIVERY_COMPLETE), 0);
	IS(t, wait_comp(p.a.tx, &e), 0);
	IS(t, wait_comp(p.b.rx, &e), 0);
	IS(t, e.len, 16384);
out:
	pair_close(&p);
	kfree(buf);
}

/* Messages that come first wait for their receives, in order. */
static void early(struct test *t)
{
	char *buf = kzalloc(4096, GFP_KERNEL);
	struct fi_cq_tagged_entry e;
	struct pair p;
	int i;

	IS(t, pair_open(t, &p, type, CAPS), 0);
	NEED(t, buf, 0);
	if (is_iwarp(p.a.info))
		goto out;	/* there the connection ends */
	for (i = 0; i < 4; i++) {
		buf[100 + i] = i + 1;
		IS(t, fi_send(p.a.ep, buf + 100 + i, 1, NULL, p.a.peer, NULL), 0);
	}
	IS(t, fi_cq_sread(p.b.rx, &e, 1, NULL, 50), -FI_EAGAIN);
	for (i = 0; i < 4; i++) {
		IS(t, fi_recv(p.b.ep, buf + i, 1, NULL, FI_ADDR_UNSPEC, NULL), 0);
		IS(t, wait_comp(p.b.rx, &e), 0);
		IS(t, buf[i], i + 1);
		IS(t, wait_comp(p.a.tx, &e), 0);
	}
out:
	pair_close(&p);
	kfree(buf);
}

static void truncate(struct test *t)
{
	char *buf = kzalloc(4096, GFP_KERNEL);
	struct fi_cq_tagged_entry e;
	struct pair p;

	IS(t, pair_open(t, &p, type, CAPS), 0);
	NEED(t, buf, 0);
	fill(buf + 2048, 1000, 7);
	IS(t, fi_recv(p.b.ep, buf, 100, NULL, FI_ADDR_UNSPEC, NULL), 0);
	IS(t, fi_send(p.a.ep, buf + 2048, 1000, NULL, p.a.peer, NULL), 0);
	IS(t, wait_comp(p.b.rx, &e), -FI_ETRUNC);
	IS(t, e.len, 100);
	IS(t, memcmp(buf, buf + 2048, 100), 0);
	IS(t, buf[100], 0);
	IS(t, wait_comp(p.a.tx, &e), 0);
	IS(t, pass(&p, buf + 2048, buf, 1000, 7), 0);
out:
	pair_close(&p);
	kfree(buf);
}

static void cancel(struct test *t)
{
	struct fi_cq_tagged_entry e;
	struct pair p;
	char c[2];

	IS(t, pair_open(t, &p, type, CAPS), 0);
	IS(t, fi_cancel(&p.b.ep->fid, &p), -FI_ENOENT);
	IS(t, fi_recv(p.b.ep, c, 1, NULL, FI_ADDR_UNSPEC, &c[0]), 0);
	IS(t, fi_recv(p.b.ep, c, 1, NULL, FI_ADDR_UNSPEC, &c[1]), 0);
	IS(t, fi_cancel(&p.b.ep->fid, &c[0]), 0);
	IS(t, wait_comp(p.b.rx, &e), -FI_ECANCELED);
	NEED(t, e.op_context == &c[0], 0);
out:
	pair_close(&p);
}

static void tx_misuse(struct test *t)
{
	struct kvec iov[17] = {};
	struct fi_msg msg = { .msg_iov = iov, .iov_count = 17 };
	char *buf = kzalloc(4096, GFP_KERNEL);
	struct fi_rma_iov rma = { .len = 5 };
	struct fi_msg_rma rmsg = { .msg_iov = iov, .iov_count = 1, .rma_iov = &rma,
				   .rma_iov_count = 1 };
	struct pair p;

	IS(t, pair_open(t, &p, type, CAPS), 0);
	NEED(t, buf, 0);
	msg.addr = rmsg.addr = p.a.peer;
	IS(t, fi_sendmsg(p.a.ep, &msg, 0), -FI_EINVAL);
	IS(t, fi_recvmsg(p.a.ep, &msg, 0), -FI_EINVAL);
	IS(t, fi_sendv(p.a.ep, NULL, NULL, 1, p.a.peer, NULL), -FI_EINVAL);
	msg.iov_count = 1;
	IS(t, fi_sendmsg(p.a.ep, &msg, FI_MULTI_RECV), -FI_EBADFLAGS);
	IS(t, fi_recvmsg(p.a.ep, &msg, FI_INJECT), -FI_EBADFLAGS);
	IS(t, fi_inject(p.a.ep, buf, 4096, p.a.peer), -FI_EMSGSIZE);
	iov[0] = (struct kvec){ buf, 4 };
	IS(t, fi_writemsg(p.a.ep, &rmsg, 0), -FI_EINVAL);
	IS(t, fi_readmsg(p.a.ep, &rmsg, 0), -FI_EINVAL);
	rmsg.rma_iov_count = 99;
	IS(t, fi_writemsg(p.a.ep, &rmsg, 0), -FI_EINVAL);
	rmsg.rma_iov_count = 0;
	IS(t, fi_writemsg(p.a.ep, &rmsg, 0), -FI_EINVAL);
	IS(t, fi_send(p.a.ep, buf, p.a.info->ep_attr->max_msg_size + 1, NULL, p.a.peer, NULL),
	   -FI_EMSGSIZE);
	if (type == FI_EP_RDM) {
		IS(t, fi_send(p.a.ep, buf, 1, NULL, 12345, NULL), -FI_EADDRNOTAVAIL);
		IS(t, fi_send(p.a.ep, buf, 1, NULL, FI_ADDR_UNSPEC, NULL), -FI_EADDRNOTAVAIL);
	}
out:
	pair_close(&p);
	kfree(buf);
}

/* A queue that is full takes nothing more, and all that it took arrives. */
static void burst(struct test *t)
{
	char *buf = kzalloc(1024, GFP_KERNEL);
	struct fi_cq_tagged_entry e;
	int i, ret, sent = 0;
	struct pair p;

	IS(t, pair_open(t, &p, type, CAPS), 0);
	NEED(t, buf, 0);
	for (i = 0; i < 2000; i++) {
		ret = fi_send(p.a.ep, buf, 8, NULL, p.a.peer, NULL);
		if (ret == -FI_EAGAIN)
			break;
		IS(t, ret, 0);
		sent++;
	}
	NEED(t, sent >= 16 && sent < 2000, sent);
	for (i = 0; i < sent; i++) {
		IS(t, fi_recv(p.b.ep, buf, 8, NULL, FI_ADDR_UNSPEC, NULL), 0);
		IS(t, wait_comp(p.b.rx, &e), 0);
	}
	for (i = 0; i < sent; i++)
		IS(t, wait_comp(p.a.tx, &e), 0);
	IS(t, fi_cq_read(p.a.tx, &e, 1), -FI_EAGAIN);
out:
	pair_close(&p);
	kfree(buf);
}

static atomic_t seen;

static void count_comps(struct fid_cq *cq, void *context)
{
	struct fi_cq_entry e[4];
	ssize_t n;

	might_sleep();
	while ((n = fi_cq_read(cq, e, 4)) > 0)
		if (atomic_add_return(n, &seen) >= 32)
			complete(context);
}

static void handler(struct test *t)
{
	struct fi_cq_attr attr = { .format = FI_CQ_FORMAT_CONTEXT, .handler = count_comps };
	DECLARE_COMPLETION_ONSTACK(done);
	char *buf = kzalloc(1024, GFP_KERNEL);
	struct fi_cq_tagged_entry e;
	struct fid_ep *ep = NULL;
	struct fid_cq *cq = NULL;
	struct pair p;
	int i;

	memset(&p, 0, sizeof(p));
	if (type != FI_EP_RDM)
		goto free;
	IS(t, pair_open(t, &p, type, CAPS), 0);
	NEED(t, buf, 0);
	atomic_set(&seen, 0);
	/* b gets another endpoint, whose receives a handler counts */
	IS(t, fi_close(&p.b.ep->fid), 0);
	p.b.ep = NULL;
	IS(t, fi_cq_open(p.b.domain, &attr, &cq, &done), 0);
	IS(t, fi_endpoint(p.b.domain, p.b.info, &ep, NULL), 0);
	IS(t, fi_ep_bind(ep, &cq->fid, FI_RECV), 0);
	IS(t, fi_ep_bind(ep, &p.b.tx->fid, FI_TRANSMIT | FI_SELECTIVE_COMPLETION), 0);
	IS(t, fi_ep_bind(ep, &p.b.av->fid, 0), 0);
	IS(t, fi_enable(ep), 0);
	for (i = 0; i < 32; i++)
		IS(t, fi_recv(ep, buf, 16, NULL, FI_ADDR_UNSPEC, NULL), 0);
	/* from b's endpoint to itself: its address is in no table yet */
	{
		char name[FI_NAME_MAX];
		size_t size = sizeof(name);
		fi_addr_t to;

		IS(t, fi_getname(&ep->fid, name, &size), 0);
		IS(t, fi_av_insert(p.a.av, name, 1, &to, 0, NULL), 1);
		for (i = 0; i < 32; i++)
			IS(t, fi_send(p.a.ep, buf, 16, NULL, to, NULL), 0);
	}
	NEED(t, wait_for_completion_timeout(&done, msecs_to_jiffies(WAIT_MS)), 0);
	IS(t, atomic_read(&seen), 32);
	for (i = 0; i < 32; i++)
		IS(t, wait_comp(p.a.tx, &e), 0);
out:
	if (ep)
		fi_close(&ep->fid);
	if (cq)
		fi_close(&cq->fid);
free:
	pair_close(&p);
	kfree(buf);
}

/* ---- remote memory ---- */

#define REGION	(2UL << 20)

static void rma(struct test *t)
{
	void *far = (void *)__get_free_pages(GFP_KERNEL | __GFP_COMP, get_order(REGION));
	void *near = (void *)__get_free_pages(GFP_KERNEL | __GFP_COMP, get_order(REGION));
	struct fi_cq_tagged_entry e;
	struct region r = {};
	struct pair p;
	size_t len;
	u64 key;

	IS(t, pair_open(t, &p, type, CAPS), 0);
	NEED(t, far && near, 0);
	IS(t, region_open(&p.b, far, REGION, FI_REMOTE_READ | FI_REMOTE_WRITE, &r), 0);
	key = fi_mr_key(r.mr);
	for (len = 1; len <= REGION; len = len * 4 + (len < 4096)) {
		fill(near, len, len);
		memset(far, 0, REGION);
		IS(t, fi_write(p.a.ep, near, len, NULL, p.a.peer, r.addr, key, near), 0);
		IS(t, wait_comp(p.a.tx, &e), 0);
		NEED(t, e.flags == (FI_WRITE | FI_RMA) && e.op_context == near, e.flags);
		memset(near, 0, len);
		IS(t, fi_read(p.a.ep, near, len, NULL, p.a.peer, r.addr, key, far), 0);
		IS(t, wait_comp(p.a.tx, &e), 0);
		NEED(t, e.flags == (FI_READ | FI_RMA) && e.op_context == far, e.flags);
		NEED(t, check_fill(near, len, len), len);
		NEED(t, check_fill(far, len, len), len);
	}
	/* the last byte of the region, and an offset */
	*(char *)near = 'x';
	IS(t, fi_write(p.a.ep, near, 1, NULL, p.a.peer, r.addr + REGION - 1, key, NULL), 0);
	IS(t, wait_comp(p.a.tx, &e), 0);
	IS(t, fi_read(p.a.ep, near + 1, 1, NULL, p.a.peer, r.addr + REGION - 1, key, NULL), 0);
	IS(t, wait_comp(p.a.tx, &e), 0);
	IS(t, ((char *)near)[1], 'x');
	IS(t, ((char *)far)[REGION - 1], 'x');
out:
	if (r.mr)
		fi_close(&r.mr->fid);
	pair_close(&p);
	free_pages((unsigned long)far, get_order(REGION));
	free_pages((unsigned long)near, get_order(REGION));
}

static void rma_forms(struct test *t)
{
	char *far = kzalloc(8192, GFP_KERNEL), *near = kzalloc(8192, GFP_KERNEL);
	struct kvec iov[2] = { { near, 100 }, { near + 200, 50 } };
	struct fi_rma_iov ranges[2] = {};
	struct fi_msg_rma msg = { .msg_iov = iov, .iov_count = 2, .rma_iov = ranges,
				  .rma_iov_count = 1, .data = 0x77 };
	struct fi_cq_tagged_entry e;
	struct region r = {};
	bool data = true;
	struct pair p;
	u64 key;

	IS(t, pair_open(t, &p, type, CAPS), 0);
	NEED(t, far && near, 0);
	data = p.a.info->domain_attr->cq_data_size;
	IS(t, region_open(&p.b, far, 8192, FI_REMOTE_READ | FI_REMOTE_WRITE, &r), 0);
	key = fi_mr_key(r.mr);
	fill(near, 8192, 5);
	IS(t, fi_writev(p.a.ep, iov, NULL, 2, p.a.peer, r.addr, key, NULL), 0);
	IS(t, wait_comp(p.a.tx, &e), 0);
	if (is_iwarp(p.a.info)) {
		IS(t, fi_readv(p.a.ep, iov, NULL, 2, p.a.peer, r.addr, key, NULL), -FI_EINVAL);
		msg.iov_count = 1;
		iov[0].iov_len = 150;
	} else {
		IS(t, fi_readv(p.a.ep, iov, NULL, 2, p.a.peer, r.addr, key, NULL), 0);
		IS(t, wait_comp(p.a.tx, &e), 0);
	}
	NEED(t, check_fill(near, 8192, 5), 0);
	NEED(t, !memcmp(far, near, 100) && !memcmp(far + 100, near + 200, 50), 0);
	IS(t, fi_inject_write(p.a.ep, near, 16, p.a.peer, r.addr + 1000, key), 0);
	ranges[0] = (struct fi_rma_iov){ .addr = r.addr + 2000, .len = 150, .key = key };
	if (p.a.info->tx_attr->rma_iov_limit > 1) {
		ranges[0].len = 70;
		ranges[1] = (struct fi_rma_iov){ .addr = r.addr + 3000, .len = 80, .key = key };
		msg.rma_iov_count = 2;
	}
	msg.addr = p.a.peer;
	IS(t, fi_writemsg(p.a.ep, &msg, FI_DELIVERY_COMPLETE), 0);
	IS(t, wait_comp(p.a.tx, &e), 0);
	IS(t, memcmp(far + 2000, near, 70), 0);
	if (msg.rma_iov_count == 2)
		NEED(t, !memcmp(far + 3000, near + 70, 30) && !memcmp(far + 3030, near + 200, 50), 0);
	IS(t, memcmp(far + 1000, near, 16), 0);
	memset(near, 0, 8192);
	IS(t, fi_readmsg(p.a.ep, &msg, 0), 0);
	IS(t, wait_comp(p.a.tx, &e), 0);
	IS(t, memcmp(far + 2000, near, 70), 0);
	if (data) {
		/* where remote data takes a receive, this is it */
		IS(t, fi_recv(p.b.ep, far + 8000, 16, NULL, FI_ADDR_UNSPEC, NULL), 0);
		IS(t, fi_writedata(p.a.ep, near, 24, NULL, 0x42, p.a.peer, r.addr, key, NULL), 0);
		IS(t, wait_comp(p.b.rx, &e), 0);
		IS(t, e.data, 0x42);
		NEED(t, e.flags & FI_REMOTE_CQ_DATA && e.flags & FI_REMOTE_WRITE, e.flags);
		IS(t, wait_comp(p.a.tx, &e), 0);
		IS(t, fi_recv(p.b.ep, far + 8000, 16, NULL, FI_ADDR_UNSPEC, NULL), 0);
		IS(t, fi_inject_writedata(p.a.ep, near, 24, 0x43, p.a.peer, r.addr, key), 0);
		IS(t, wait_comp(p.b.rx, &e), 0);
		IS(t, e.data, 0x43);
	}
out:
	if (r.mr)
		fi_close(&r.mr->fid);
	pair_close(&p);
	kfree(far);
	kfree(near);
}

/* Page lists and scatterlists, on both sides. */
static void rma_pages(struct test *t)
{
	struct bio_vec far[16] = {}, near[16] = {};
	struct fi_mr_attr attr = { .mr_bvec = far, .iov_count = 16, .requested_key = 9,
				   .access = FI_REMOTE_READ | FI_REMOTE_WRITE };
	struct fi_rma_iov range = {};
	struct fi_msg_rma msg = { .msg_bvec = near, .iov_count = 16, .rma_iov = &range,
				  .rma_iov_count = 1 };
	size_t flen = 0, nlen = 0;
	struct fid_mr *mr = NULL;
	static struct scatterlist sgl[16];
	struct fi_cq_tagged_entry e;
	struct pair p;
	int i, pass, n;

	IS(t, pair_open(t, &p, type, CAPS), 0);
	n = min_t(size_t, 16, p.a.info->tx_attr->iov_limit);
	attr.iov_count = msg.iov_count = n;
	IS(t, pages(far, n, 0, &flen), 0);
	IS(t, pages(near, n, 40, &nlen), 0);
	if (p.b.info->domain_attr->mr_mode & FI_MR_ENDPOINT) {
		/* hardware wants whole pages in between */
		for (i = 0, flen = nlen = 0; i < n; i++) {
			far[i].bv_offset = near[i].bv_offset = 0;
			far[i].bv_len = near[i].bv_len = PAGE_SIZE;
			fill(page_address(near[i].bv_page), PAGE_SIZE, 40 + i);
			flen += PAGE_SIZE;
		}
	}
	sg_init_table(sgl, n);
	for (i = 0; i < n; i++)
		sg_set_page(&sgl[i], far[i].bv_page, far[i].bv_len, far[i].bv_offset);
	for (pass = 0; pass < 2; pass++) {
		if (pass)
			attr.mr_sgl = sgl;
		IS(t, fi_mr_regattr(p.b.domain, &attr, pass ? FI_SGLIST : FI_BVEC, &mr), 0);
		if (p.b.info->domain_attr->mr_mode & FI_MR_ENDPOINT) {
			IS(t, fi_mr_bind(mr, &p.b.ep->fid, 0), 0);
			IS(t, fi_mr_enable(mr), 0);
		}
		range = (struct fi_rma_iov){ .len = flen, .key = fi_mr_key(mr) };
		msg.addr = p.a.peer;
		for (i = 0; i < n; i++)
			memset(page_address(far[i].bv_page), 0, PAGE_SIZE);
		IS(t, fi_writemsg(p.a.ep, &msg, FI_BVEC | FI_DELIVERY_COMPLETE), 0);
		IS(t, wait_comp(p.a.tx, &e), 0);
		NEED(t, pages_check(far, n, 40), pass);
		for (i = 0; i < n; i++)
			memset(page_address(near[i].bv_page), 0, PAGE_SIZE);
		if (!is_iwarp(p.a.info)) {
			IS(t, fi_readmsg(p.a.ep, &msg, FI_BVEC), 0);
			IS(t, wait_comp(p.a.tx, &e), 0);
			NEED(t, pages_check(near, n, 40), pass);
		}
		for (i = 0; i < n; i++)
			fill(page_address(near[i].bv_page) + near[i].bv_offset, near[i].bv_len,
			     40 + i);
		IS(t, fi_close(&mr->fid), 0);
		mr = NULL;
	}
out:
	if (mr)
		fi_close(&mr->fid);
	pair_close(&p);
	pages_free(far, 16);
	pages_free(near, 16);
}

/* Each breach is an error at the initiator and leaves the region as it was. */
static void rma_denied(struct test *t)
{
	static const struct {
		long off;
		size_t len;
		u64 key_xor;
		bool write;
		u64 access;
	} breach[] = {
		{ 0, 16, 0x1000, true, FI_REMOTE_READ | FI_REMOTE_WRITE },
		{ 4090, 16, 0, true, FI_REMOTE_READ | FI_REMOTE_WRITE },
		{ 4097, 1, 0, false, FI_REMOTE_READ | FI_REMOTE_WRITE },
		{ -16, 16, 0, false, FI_REMOTE_READ | FI_REMOTE_WRITE },
		{ 0, 16, 0, true, FI_REMOTE_READ },
		{ 0, 16, 0, false, FI_REMOTE_WRITE },
	};
	char *far = kzalloc(12288, GFP_KERNEL), *near = kzalloc(4096, GFP_KERNEL);
	struct fi_cq_tagged_entry e;
	struct region r = {};
	struct pair p;
	int i, ret;

	memset(&p, 0, sizeof(p));
	NEED(t, far && near, 0);
	memset(near, 'n', 4096);
	for (i = 0; i < ARRAY_SIZE(breach); i++) {
		IS(t, pair_open(t, &p, type, CAPS), 0);
		IS(t, region_open(&p.b, far + 4096, 4096, breach[i].access, &r), 0);
		if (breach[i].write)
			ret = fi_write(p.a.ep, near, breach[i].len, NULL, p.a.peer, r.addr +
				       breach[i].off, fi_mr_key(r.mr) ^ breach[i].key_xor, NULL);
		else
			ret = fi_read(p.a.ep, near, breach[i].len, NULL, p.a.peer, r.addr +
				      breach[i].off, fi_mr_key(r.mr) ^ breach[i].key_xor, NULL);
		IS(t, ret, 0);
		ret = wait_comp(p.a.tx, &e);
		/* a small write without an acknowledgement may be over before it is refused */
		if (is_iwarp(p.a.info) && !ret && breach[i].access == FI_REMOTE_WRITE)
			near[0] = 'n';	/* soft-iWARP does not check the right to read */
		else
			NEED(t, (ret < 0 || breach[i].write) && ret != -FI_ETIMEDOUT, ret);
		if (!ret)
			msleep(100);
		NEED(t, !memchr(far, 'n', 12288) && near[0] == 'n', i);
		fi_close(&r.mr->fid);
		r.mr = NULL;
		pair_close(&p);
	}
out:
	if (r.mr)
		fi_close(&r.mr->fid);
	pair_close(&p);
	kfree(far);
	kfree(near);
}

static void selective(struct test *t)
{
	char *buf = kzalloc(4096, GFP_KERNEL);
	struct kvec iov = { buf, 16 };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1 };
	struct fi_cq_tagged_entry e;
	struct side *a;
	struct pair p;

	IS(t, pair_open(t, &p, type, CAPS), 0);
	NEED(t, buf, 0);
	if (type != FI_EP_RDM)
		goto out;
	a = &p.a;
	IS(t, fi_close(&a->ep->fid), 0);
	a->ep = NULL;
	IS(t, side_ep(a, a->info, FI_SELECTIVE_COMPLETION), 0);
	IS(t, fi_recv(p.b.ep, buf, 64, NULL, FI_ADDR_UNSPEC, NULL), 0);
	IS(t, fi_recv(p.b.ep, buf, 64, NULL, FI_ADDR_UNSPEC, NULL), 0);
	IS(t, fi_send(a->ep, buf, 8, NULL, a->peer, NULL), 0);
	msg.addr = a->peer;
	msg.context = buf;
	IS(t, fi_sendmsg(a->ep, &msg, FI_COMPLETION), 0);
	IS(t, wait_comp(p.b.rx, &e), 0);
	IS(t, wait_comp(p.b.rx, &e), 0);
	IS(t, wait_comp(a->tx, &e), 0);
	NEED(t, e.op_context == buf, 0);
	IS(t, fi_cq_read(a->tx, &e, 1), -FI_EAGAIN);
	IS(t, fi_cntr_wait(a->cntr, 2, WAIT_MS), 0);
out:
	pair_close(&p);
	kfree(buf);
}

void test_transfer(struct test *t, enum fi_ep_type of)
{
	type = of;
#define CASE(text, fn) test_case(t, of == FI_EP_MSG ? "MSG: " text : "RDM: " text, fn)
	if (!is_verbs(t))
		CASE("messages of vmalloc memory, 0 B to 8 MiB", sizes);
	CASE("messages of page lists, 1 B to 8 MiB", sizes_pages);
	CASE("messages of linear memory, to 1 MiB", sizes_linear);
	CASE("messages of odd page lists", bvec);
	CASE("forms of send and receive", forms);
	if (!is_verbs(t))
		CASE("delivery complete", delivery);
	CASE("messages before their receives", early);
	if (!is_verbs(t)) {
		CASE("truncation", truncate);
		CASE("cancel", cancel);
	}
	CASE("misuse of transfer calls", tx_misuse);
	if (!is_verbs(t))
		CASE("a full queue", burst);
	if (of == FI_EP_RDM) {
		CASE("completion handler", handler);
		CASE("selective completion", selective);
	}
	CASE("read and write, 1 B to 2 MiB", rma);
	CASE("forms of read and write", rma_forms);
	CASE("read and write of page lists and scatterlists", rma_pages);
	CASE("key, bounds and rights are checked", rma_denied);
}
