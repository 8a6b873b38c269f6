/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * libFuzzer target for what a device writes: the input is records, which an endpoint of loop takes.
 * A pointer of a record is the program's own, as in a call of the host, so each is moved into an arena
 * and its length is bounded by it; everything else is as the input has it, but that names are the valid
 * ones where a bit of the input says so.  Each record that is no receive gets a completion, each receive
 * one when the endpoint is closed, and the words of the ring that a device may write are overwritten
 * before that.  Run: fuzz_record -max_len=1024 -max_total_time=600
 */
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_xpu_device.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define ARENA 65536
#define PART 4096		/* of the arena, for one buffer */
#define VALUES 8		/* of an atomic */
#define RECORDS 16
#define KEY 7

#define MUST(call) do { if (call) abort(); } while (0)

static struct fi_info *info;
static struct fid_fabric *fabric;
static _Alignas(64) char arena[ARENA], remote[PART];

struct set {
	struct fid_domain *domain;
	struct fid_xpu_ctx *ctx;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_ep *ep;
	struct fid_mr *mr;
	struct fid_xpu_ep xep;
	struct fid_xpu_cq xcq;
	uint64_t peer, desc;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void find(void)
{
	struct fi_info *hints = fi_allocinfo();

	setenv("FI_LOG_LEVEL", "error", 1);	/* what is refused is logged each time */
	hints->caps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_XPU;
	hints->ep_attr->type = FI_EP_RDM;
	hints->fabric_attr->prov_name = strdup("loop");
	MUST(fi_getinfo(FI_VERSION(2, 7), NULL, NULL, 0, hints, &info));
	fi_freeinfo(hints);
	MUST(fi_fabric(info->fabric_attr, &fabric, NULL));
}

static void name_self(struct set *s)
{
	size_t len = FI_NAME_MAX, raw = sizeof(s->peer);
	char name[FI_NAME_MAX];
	fi_addr_t self;

	MUST(fi_getname(&s->ep->fid, name, &len));
	MUST(fi_av_insert(s->av, name, 1, &self, 0, NULL) != 1);
	MUST(fi_av_lookup2(s->av, self, &s->peer, &raw, FI_XPU, s->ctx));
	raw = sizeof(s->desc);
	MUST(fi_mr_get_xpu_desc(s->mr, &s->desc, &raw, FI_XPU, s->ctx));
}

static void set_open(struct set *s)
{
	struct fi_xpu_attr attr = { .iface = FI_HMEM_SYSTEM };
	struct fi_cq_attr cq_attr = { .size = 256, .format = FI_CQ_FORMAT_TAGGED, .flags = FI_XPU };
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE };

	MUST(fi_domain(fabric, info, &s->domain, NULL));
	MUST(fi_xpu_ctx(s->domain, &attr, &s->ctx, NULL));
	cq_attr.xpu_ctx = info->ep_attr->xpu_ctx = s->ctx;
	MUST(fi_cq_open(s->domain, &cq_attr, &s->cq, NULL));
	MUST(fi_av_open(s->domain, &av_attr, &s->av, NULL));
	MUST(fi_mr_reg(s->domain, remote, sizeof(remote), FI_REMOTE_WRITE | FI_REMOTE_READ, 0, KEY, 0, &s->mr,
		       NULL));
	MUST(fi_endpoint2(s->domain, info, &s->ep, FI_XPU, NULL));
	MUST(fi_ep_bind(s->ep, &s->av->fid, 0));
	MUST(fi_ep_bind(s->ep, &s->cq->fid, FI_TRANSMIT | FI_RECV));
	MUST(fi_enable(s->ep));
	MUST(fi_ep_export_xpu(s->ep, 0, &s->xep));
	MUST(fi_cq_export_xpu(s->cq, 0, &s->xcq));
	name_self(s);
}

static uint64_t into_arena(uint64_t word)
{
	return (uintptr_t) arena + word % (ARENA - PART);
}

static void tame(const struct set *s, struct fi_xpu_ring_record *rec)
{
	uint64_t valid = rec->reserved;

	rec->buf = into_arena(rec->buf);
	rec->result = into_arena(rec->result);
	rec->compare = into_arena(rec->compare);
	rec->len %= rec->call >= FI_XPU_RING_ATOMIC ? VALUES + 1 : PART + 1;
	if (valid & 1)
		rec->peer = s->peer;
	if (valid & 2)
		rec->desc = s->desc;
	if (valid & 4)
		rec->key = KEY;
	if (valid & 8)
		rec->addr %= PART;
	if (valid & 16)
		rec->call %= FI_XPU_RING_CALL_CNT;
	if (valid & 32)
		rec->flags &= FI_COMPLETION | FI_DELIVERY_COMPLETE | FI_FENCE;
	if (valid & 64) {
		rec->datatype %= FI_DATATYPE_LAST;
		rec->op %= FI_ATOMIC_OP_LAST;
	}
}

/* Completions that are there, successes and errors. */
static unsigned drain(struct set *s)
{
	struct fi_cq_tagged_entry entry[8];
	struct fi_cq_err_entry err = { 0 };
	unsigned cnt = 0;
	int64_t n;

	while ((n = fi_xpu_cq_read(&s->xcq, entry, 8, FI_XPU_WORK_ITEM)) > 0 || n == -FI_EAVAIL)
		cnt += n > 0 ? (unsigned) n :
			       (unsigned) (fi_xpu_cq_readerr(&s->xcq, &err, 0, FI_XPU_WORK_ITEM) == 1);
	return cnt;
}

static void set_close(struct set *s)
{
	MUST(fi_close(&s->ep->fid));
	drain(s);
	MUST(fi_close(&s->mr->fid));
	MUST(fi_close(&s->cq->fid));
	MUST(fi_close(&s->av->fid));
	MUST(fi_close(&s->ctx->fid));
	MUST(fi_close(&s->domain->fid));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fi_xpu_ring_record rec;
	struct set s = { 0 };
	unsigned posted = 0, done = 0, i;
	struct fi_xpu_ring_ep *ring;
	size_t part;

	if (!info)
		find();
	set_open(&s);
	for (; size && posted < RECORDS; posted++) {
		memset(&rec, 0, sizeof(rec));
		part = size < sizeof(rec) ? size : sizeof(rec);
		memcpy(&rec, data, part);
		data += part;
		size -= part;
		tame(&s, &rec);
		MUST(fi_xpu_ring_post(&s.xep, &rec, 16, FI_XPU_WORK_ITEM));
	}
	for (i = 0; i < 200 && done < posted; i++) {
		done += drain(&s);
		sched_yield();
	}
	/* A device may write anywhere in what it was given. */
	ring = (struct fi_xpu_ring_ep *) fi_xpu_ring_of(&s.xep.fid);
	__atomic_store_n(ring->head, ~*ring->head, __ATOMIC_RELAXED);
	set_close(&s);
	return 0;
}
