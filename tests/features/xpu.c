/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "../runtimes/rt.h"
#include "xpu.h"

#include <rdma/fi_atomic.h>
#include <rdma/fi_xpu_device.h>
#include <string.h>

#define ONE FI_XPU_WORK_ITEM

/* What the device has of a pair of endpoints. */
struct device {
	struct fid_xpu_ep ep[2];
	uint64_t raw;
	void *peer;			/* endpoint 1, for endpoint 0; NULL over a connection */
};

static void export_both(struct rt_world *w, struct device *d)
{
	size_t len = sizeof(d->raw);

	memset(d, 0, sizeof(*d));
	for (int i = 0; i < 2; i++)
		assert_int_equal(fi_ep_export_xpu(w->ep[i], 0, &d->ep[i]), 0);
	if (!w->av)
		return;
	assert_int_equal(fi_av_lookup2(w->av, w->addr[1], &d->raw, &len, FI_XPU, w->xpu), 0);
	d->peer = &d->raw;
}

static void open_both(struct rt_world *w, struct fi_info *info, struct device *d)
{
	const struct rt_setup s = { .av_type = FI_AV_TABLE, .cq_format = FI_CQ_FORMAT_TAGGED,
				    .xpu = true };

	rt_open(w, info, &s);
	export_both(w, d);
}

/* What a call of the device passes for a buffer: NULL where the provider asks for no descriptors. */
static void *desc(struct rt_world *w, const void *buf, size_t len, uint64_t access)
{
	static uint64_t raw[RT_REGIONS];
	size_t size = sizeof(raw[0]);
	int i = 0;

	if (!rt_desc(w, buf, len, access))
		return NULL;
	while (i < RT_REGIONS && w->regions[i].buf != buf)
		i++;
	assert_true(i < RT_REGIONS);
	assert_int_equal(fi_mr_get_xpu_desc(w->regions[i].mr, &raw[i], &size, FI_XPU, w->xpu), 0);
	return &raw[i];
}

/* An RDMA device has acknowledged a write when it completes, and takes no such flag. */
static uint64_t delivered(const struct rt_world *w)
{
	bool device = !strcmp(w->info->fabric_attr->prov_name, "verbs");

	return device && w->info->ep_attr->type == FI_EP_MSG ? 0 : FI_DELIVERY_COMPLETE;
}

static struct fid_mr *region(struct rt_world *w, void *buf, size_t len, uint64_t *addr)
{
	struct fid_mr *mr;

	assert_int_equal(fi_mr_reg(w->domain, buf, len, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 77, 0,
				   &mr, NULL), 0);
	*addr = w->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t) buf : 0;
	return mr;
}

/* The rings of two endpoints have no order, and a datagram that finds no buffer is lost. */
static void wait_taken(struct fid_xpu_ep *ep, uint64_t records)
{
	const struct fi_xpu_ring_ep *ring = fi_xpu_ring_of(&ep->fid);

	while (fi_xpu_ring_load(ring->head) < records)
		fi_xpu_ring_relax();
}

void xpu_messages(struct fi_info *info)
{
	char out[700], in[700];
	struct rt_world w;
	struct device d;

	open_both(&w, info, &d);
	memset(out, 5, sizeof(out));
	memset(in, 0, sizeof(in));
	assert_int_equal(fi_xpu_recv(&d.ep[1], in, sizeof(in), desc(&w, in, sizeof(in), FI_RECV), NULL,
				     in, 0, ONE), 0);
	wait_taken(&d.ep[1], 1);
	assert_int_equal(fi_xpu_send(&d.ep[0], out, sizeof(out), desc(&w, out, sizeof(out), FI_SEND), 0,
				     d.peer, out, 0, ONE), 0);
	assert_ptr_equal(rt_wait(&w, 0).op_context, out);
	assert_int_equal(rt_wait(&w, 1).len, sizeof(out));
	assert_memory_equal(in, out, sizeof(out));
	rt_close(&w);
}

void xpu_tagged(struct fi_info *info)
{
	struct fi_cq_tagged_entry entry;
	char out[700], in[700];
	struct rt_world w;
	struct device d;

	open_both(&w, info, &d);
	memset(out, 6, sizeof(out));
	assert_int_equal(fi_xpu_trecv(&d.ep[1], in, sizeof(in), desc(&w, in, sizeof(in), FI_RECV), NULL, 0x70,
				      0xf, in, 0, ONE), 0);
	assert_int_equal(fi_xpu_tsend(&d.ep[0], out, sizeof(out), desc(&w, out, sizeof(out), FI_SEND), 9,
				      d.peer, 0x75, out, FI_REMOTE_CQ_DATA, ONE), 0);
	assert_ptr_equal(rt_wait(&w, 0).op_context, out);
	entry = rt_wait(&w, 1);
	assert_int_equal(entry.len, sizeof(out));
	assert_int_equal(entry.tag, 0x75);
	assert_int_equal(entry.data, 9);
	assert_memory_equal(in, out, sizeof(out));
	rt_close(&w);
}

void xpu_rma(struct fi_info *info)
{
	static char mem[200000], out[200000], back[200000];
	struct rt_world w;
	struct fid_mr *mr;
	struct device d;
	uint64_t addr;

	open_both(&w, info, &d);
	mr = region(&w, mem, sizeof(mem), &addr);
	memset(out, 7, sizeof(out));
	assert_int_equal(fi_xpu_write(&d.ep[0], out, sizeof(out), desc(&w, out, sizeof(out), FI_WRITE), 0,
				      d.peer, addr,
				      fi_mr_key(mr), out, delivered(&w), ONE), 0);
	assert_ptr_equal(rt_wait(&w, 0).op_context, out);
	assert_memory_equal(mem, out, sizeof(out));
	assert_int_equal(fi_xpu_read(&d.ep[0], back, sizeof(back), desc(&w, back, sizeof(back), FI_READ),
				     d.peer, addr, fi_mr_key(mr),
				     back, 0, ONE), 0);
	assert_ptr_equal(rt_wait(&w, 0).op_context, back);
	assert_memory_equal(back, out, sizeof(out));
	assert_int_equal(fi_close(&mr->fid), 0);
	rt_close(&w);
}

void xpu_atomics(struct fi_info *info)
{
	static struct { uint64_t word, add, was, expect, next; } v;
	struct rt_world w;
	struct fid_mr *mr;
	struct device d;
	uint64_t addr, key;
	void *mine;

	open_both(&w, info, &d);
	v = (typeof(v)) { .word = 10, .add = 5, .expect = 15, .next = 1 };
	mine = desc(&w, &v, sizeof(v), FI_READ | FI_WRITE);
	mr = region(&w, &v.word, sizeof(v.word), &addr);
	key = fi_mr_key(mr);
	assert_int_equal(fi_xpu_atomic(&d.ep[0], &v.add, 1, mine, d.peer, addr, key, FI_UINT64, FI_SUM, NULL,
				       delivered(&w), ONE), 0);
	rt_wait(&w, 0);
	assert_int_equal(fi_xpu_fetch_atomic(&d.ep[0], &v.add, 1, mine, &v.was, mine, d.peer, addr, key,
					     FI_UINT64, FI_ATOMIC_READ, NULL, 0, ONE), 0);
	rt_wait(&w, 0);
	assert_int_equal(v.was, 15);
	assert_int_equal(fi_xpu_compare_atomic(&d.ep[0], &v.next, 1, mine, &v.expect, mine, &v.was, mine,
					       d.peer, addr, key, FI_UINT64, FI_CSWAP, NULL, 0, ONE), 0);
	rt_wait(&w, 0);
	assert_int_equal(v.was, 15);
	assert_int_equal(v.word, 1);
	assert_int_equal(fi_close(&mr->fid), 0);
	rt_close(&w);
}

/* A device counts what it sends, and changes its counter. */
void xpu_counters(struct fi_info *info)
{
	const struct rt_setup s = { .av_type = FI_AV_TABLE, .cq_format = FI_CQ_FORMAT_TAGGED,
				    .xpu = true, .cntr_flags = FI_SEND };
	struct fid_xpu_cntr cntr;
	struct rt_world w;
	struct device d;
	char out[8] = "signal", in[8];

	rt_open(&w, info, &s);
	export_both(&w, &d);
	assert_int_equal(fi_cntr_export_xpu(w.cntr[0], 0, &cntr), 0);
	/* an RDMA device tries again until there is a buffer */
	assert_int_equal(fi_xpu_recv(&d.ep[1], in, sizeof(in), desc(&w, in, sizeof(in), FI_RECV), NULL, in, 0,
				     ONE), 0);
	wait_taken(&d.ep[1], 1);
	assert_int_equal(fi_xpu_send(&d.ep[0], out, sizeof(out), desc(&w, out, sizeof(out), FI_SEND), 0,
				     d.peer, NULL, 0, ONE), 0);
	fi_xpu_cntr_wait(&cntr, 1, 10000, ONE);
	assert_int_equal(fi_xpu_cntr_read(&cntr, ONE), 1);
	assert_int_equal(fi_xpu_cntr_readerr(&cntr, ONE), 0);
	fi_xpu_cntr_set(&cntr, 40, ONE);
	fi_xpu_cntr_add(&cntr, 2, ONE);
	assert_int_equal(fi_xpu_cntr_read(&cntr, ONE), 42);
	rt_close(&w);
}

/* A device reads what became of its own calls, errors included. */
void xpu_queues(struct fi_info *info)
{
	const struct rt_setup s = { .av_type = FI_AV_TABLE, .cq_format = FI_CQ_FORMAT_TAGGED,
				    .xpu = true, .xpu_cq = true };
	struct fi_cq_tagged_entry entry;
	struct fi_cq_err_entry err;
	struct fid_xpu_cq cq[2];
	char out[8] = "signal", in[8];
	struct rt_world w;
	struct device d;

	rt_open(&w, info, &s);
	export_both(&w, &d);
	for (int i = 0; i < 2; i++)
		assert_int_equal(fi_cq_export_xpu(w.cq[i], 0, &cq[i]), 0);
	assert_int_equal(fi_xpu_recv(&d.ep[1], in, sizeof(in), desc(&w, in, sizeof(in), FI_RECV), NULL,
				     in, 0, ONE), 0);
	wait_taken(&d.ep[1], 1);
	assert_int_equal(fi_xpu_send(&d.ep[0], out, sizeof(out), desc(&w, out, sizeof(out), FI_SEND), 0,
				     d.peer, out, 0, ONE), 0);
	assert_int_equal(fi_xpu_cq_sread(&cq[0], &entry, 1, 1, ONE), 1);
	assert_ptr_equal(entry.op_context, out);
	assert_int_equal(fi_xpu_cq_sread(&cq[1], &entry, 1, 1, ONE), 1);
	assert_ptr_equal(entry.op_context, in);
	assert_memory_equal(in, out, sizeof(out));
	assert_int_equal(fi_xpu_send(&d.ep[0], out, sizeof(out), NULL, 0, d.peer, out, FI_PEEK, ONE), 0);
	assert_int_equal(fi_xpu_cq_sread(&cq[0], &entry, 1, 1, ONE), -FI_EAVAIL);
	assert_int_equal(fi_xpu_cq_readerr(&cq[0], &err, 0, ONE), 1);
	assert_int_equal(err.err, FI_EBADFLAGS);
	rt_close(&w);
}
