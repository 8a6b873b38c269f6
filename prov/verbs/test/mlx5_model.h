/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * mlx5_model.h - a model of the device, for tests: it reads requests by byte offsets, not
 * by the structures that built them, moves their data to a receiver, and writes
 * completions.  What the other side did wrong stands in model_fault.
 */
#ifndef VRB_MLX5_MODEL_H
#define VRB_MLX5_MODEL_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define MODEL_KEY 0x1234u		/* of all memory */
#define MODEL_MAX 65536u		/* longest message */
#define MODEL_TICKS 1000u		/* of its clock, from one completion to the next */
#define MODEL_SHORT 32u			/* what fits into a completion */

static const char *model_fault;

struct model_cq {
	char *buf;
	uint32_t cnt;
	volatile uint32_t *dbrec;
	uint32_t completed;		/* by the device, ever */
	uint64_t ticks;			/* of its clock, at the last of them */
};

/* A shared receive queue: the device follows the list. */
struct model_srq {
	const char *buf;
	uint32_t cnt, stride;
	volatile uint32_t *dbrec;
	uint32_t next;			/* receive that is filled next, by index */
	uint32_t received;
};

struct model_qp {
	uint32_t qpn;
	uint32_t uidx;			/* its number in the library */
	volatile uint32_t *dbrec;
	const char *sq, *rq;
	uint32_t sq_size;		/* bytes */
	uint32_t rq_cnt, rq_stride;
	struct model_cq *cq;
	struct model_srq *srq;		/* instead of @rq, or NULL */
	const char *mem;		/* that peers and requests may touch; NULL: all */
	size_t mem_len;
	bool short_data;		/* short data is written into completions */
	bool xrc;			/* requests say for which shared queue they are */
	bool ud;			/* of datagrams: */
	uint32_t qkey;
	unsigned char gid[16];		/* an IPv4 address, mapped */
	unsigned lost;			/* that came for it, and were not for it */
	uint32_t eaten, received;
	uint64_t digest;		/* of the last message that arrived */
};

/* A decoded request. */
struct model_wqe {
	unsigned op, flags, segs, index, pieces;
	uint32_t qpn, imm, rkey, len[8], lkey[8], inline_len;
	uint64_t addr, operand, compare, at[8];
	uint32_t dqpn, qkey, gid_flow;	/* datagrams: to whom */
	uint32_t srqn;			/* XRC: the same */
	unsigned char mac[6], gid[16];
	unsigned char bytes[1024];
};

static uint64_t model_be(const void *at, unsigned n)
{
	const unsigned char *p = at;
	uint64_t v = 0;

	while (n--)
		v = v << 8 | *p++;
	return v;
}

static uint64_t model_digest(const void *data, size_t len)
{
	const unsigned char *p = data;
	uint64_t d = len;

	while (len--)
		d = (d ^ *p++) * UINT64_C(0x100000001b3);
	return d;
}

static const unsigned char *model_byte(const struct model_qp *m, uint32_t block, unsigned at)
{
	return (const unsigned char *) m->sq + ((size_t) block * 64 + at) % m->sq_size;
}

static void model_inline(const struct model_qp *m, uint32_t block, unsigned at,
			 struct model_wqe *x)
{
	unsigned i;

	if (x->inline_len > sizeof(x->bytes)) {
		model_fault = "inline data beyond all bounds";
		return;
	}
	for (i = 0; i < x->inline_len; i++)
		x->bytes[i] = *model_byte(m, block, at + 4 + i);
	if (at + (4 + x->inline_len + 15) / 16 * 16 != x->segs * 16)
		model_fault = "inline data does not end the request";
}

/* The address of a datagram, byte by byte; what the device would stumble over is a fault. */
static void model_address(const struct model_qp *m, uint32_t block, struct model_wqe *x)
{
	unsigned i;

	x->qkey = (uint32_t) model_be(model_byte(m, block, 16), 4);
	x->dqpn = (uint32_t) model_be(model_byte(m, block, 25), 3);
	x->gid_flow = (uint32_t) model_be(model_byte(m, block, 44), 4);
	for (i = 0; i < 6; i++)
		x->mac[i] = *model_byte(m, block, 36 + i);
	for (i = 0; i < 16; i++)
		x->gid[i] = *model_byte(m, block, 48 + i);
	if (*model_byte(m, block, 24) != 0x80)
		model_fault = "the address of a datagram is not marked as one of 48 bytes";
	for (i = 20; i < 24; i++)
		if (*model_byte(m, block, i))
			model_fault = "bytes of the address that are reserved are not 0";
	if (x->gid_flow & 0x40000000u)
		model_fault = "the mark of a GRH, which RoCE always has, is reserved there";
	if (x->segs < 4)
		model_fault = "a datagram without an address";
	if (x->op != 0x0a && x->op != 0x0b)
		model_fault = "a datagram that is no message";
	if (x->flags & 0x80)
		model_fault = "a datagram with a fence";
}

static void model_decode(const struct model_qp *m, uint32_t block, struct model_wqe *x)
{
	unsigned at = 16;
	uint32_t n;

	memset(x, 0, sizeof(*x));
	x->index = (unsigned) model_be(model_byte(m, block, 1), 2);
	x->op = *model_byte(m, block, 3);
	x->qpn = (uint32_t) model_be(model_byte(m, block, 4), 3);
	x->segs = *model_byte(m, block, 7);
	x->flags = *model_byte(m, block, 11);
	x->imm = (uint32_t) model_be(model_byte(m, block, 12), 4);
	if (m->xrc) {
		x->srqn = (uint32_t) model_be(model_byte(m, block, at), 4);
		at += 16;
	}
	if (m->ud) {
		model_address(m, block, x);
		at += 48;
	} else if (x->op != 0x0a && x->op != 0x0b) {
		x->addr = model_be(model_byte(m, block, at), 8);
		x->rkey = (uint32_t) model_be(model_byte(m, block, at + 8), 4);
		at += 16;
	}
	if (!m->ud && (x->op == 0x11 || x->op == 0x12)) {
		x->operand = model_be(model_byte(m, block, at), 8);
		x->compare = model_be(model_byte(m, block, at + 8), 8);
		at += 16;
	}
	for (; at < x->segs * 16; at += 16) {
		n = (uint32_t) model_be(model_byte(m, block, at), 4);
		if (n & 0x80000000u) {
			x->inline_len = n & 0x7fffffffu;
			model_inline(m, block, at, x);
			return;
		}
		if (x->pieces == 8) {
			model_fault = "more pieces than were asked for";
			return;
		}
		x->len[x->pieces] = n;
		x->lkey[x->pieces] = (uint32_t) model_be(model_byte(m, block, at + 4), 4);
		x->at[x->pieces++] = model_be(model_byte(m, block, at + 8), 8);
	}
}

/* @data: short data, written into the completion; or NULL
 * @from: queue pair that a datagram came from, or 0
 */
static void model_complete_from(const struct model_qp *m, unsigned op, uint32_t counter,
				uint32_t len, uint32_t imm, unsigned syndrome, const void *data,
				uint32_t from)
{
	struct model_cq *cq = m->cq;
	unsigned char *cqe = (unsigned char *) cq->buf + (size_t) (cq->completed % cq->cnt) * 64;
	uint64_t ticks;
	uint32_t v;

	if (((cq->completed - be32toh(__atomic_load_n(cq->dbrec, __ATOMIC_ACQUIRE))) & 0xffffff) >= cq->cnt)
		model_fault = "the completion queue overran";
	memset(cqe, 0, 56);
	if (data)
		memcpy(cqe, data, len);
	if (from) {
		v = htobe32(from | 0x10000000u);
		memcpy(cqe + 24, &v, 4);
	}
	v = htobe32(m->uidx);
	memcpy(cqe + 32, &v, 4);
	v = htobe32(imm);
	memcpy(cqe + 36, &v, 4);
	v = htobe32(len);
	memcpy(cqe + 44, &v, 4);
	ticks = htobe64(cq->ticks += MODEL_TICKS);
	if (syndrome)
		cqe[55] = (unsigned char) syndrome;
	else
		memcpy(cqe + 48, &ticks, 8);
	/* the last eight bytes in one store: queue pair, counter, operation and owner bit */
	__atomic_store_n((uint64_t *) (void *) (cqe + 56),
			 htobe64((uint64_t) m->qpn << 32 | (uint64_t) (counter & 0xffff) << 16 | op << 4 |
				 (data ? 4u : 0u) | !!(cq->completed & cq->cnt)), __ATOMIC_RELEASE);
	cq->completed++;
}

static void model_complete(const struct model_qp *m, unsigned op, uint32_t counter, uint32_t len,
			   uint32_t imm, unsigned syndrome, const void *data)
{
	model_complete_from(m, op, counter, len, imm, syndrome, data, 0);
}

static bool model_inside(const struct model_qp *m, uint64_t addr, uint64_t len)
{
	return !m->mem || (addr >= (uintptr_t) m->mem &&
			   addr + len <= (uintptr_t) m->mem + m->mem_len);
}

/* Gather the data of a request.  Returns its length, or -1: a key or bounds are wrong. */
static long model_gather(const struct model_qp *m, const struct model_wqe *x, unsigned char *out)
{
	long len = 0;
	unsigned i;

	if (x->inline_len)
		memcpy(out, x->bytes, x->inline_len);
	for (i = 0; i < x->pieces; i++) {
		if (x->lkey[i] != MODEL_KEY || !model_inside(m, x->at[i], x->len[i]) ||
		    x->len[i] > MODEL_MAX - (uint32_t) len)
			return -1;
		memcpy(out + len, (void *) (uintptr_t) x->at[i], x->len[i]);
		len += x->len[i];
	}
	return x->inline_len ? (long) x->inline_len : len;
}

/* Fill the buffers of a receive.  Returns how many bytes do not fit. */
static long model_scatter(const char *r, uint32_t stride, const unsigned char *data, long len)
{
	uint32_t at, n;

	for (at = 0; at < stride && len && model_be(r + at + 4, 4) == MODEL_KEY; at += 16) {
		n = (uint32_t) model_be(r + at, 4);
		if (n > len)
			n = (uint32_t) len;
		memcpy((void *) (uintptr_t) model_be(r + at + 8, 8), data, n);
		data += n;
		len -= n;
	}
	return len;
}

/* The next receive: its first segment, and the size of its list in bytes.  NULL: none. */
static const char *model_receive(struct model_qp *to, uint32_t *room_p, uint32_t *counter_p)
{
	struct model_srq *srq = to->srq;
	const char *r;

	if (!srq) {
		*counter_p = to->received;
		*room_p = to->rq_stride;
		return ((be32toh(__atomic_load_n(to->dbrec, __ATOMIC_ACQUIRE)) - to->received) & 0xffff) == 0 ? NULL :
		       to->rq + (size_t) (to->received % to->rq_cnt) * to->rq_stride;
	}
	if (((be32toh(*srq->dbrec) - srq->received) & 0xffff) == 0)
		return NULL;
	r = srq->buf + (size_t) srq->next * srq->stride;
	*counter_p = srq->next;
	*room_p = srq->stride - 16;
	srq->next = (uint32_t) model_be(r + 2, 2);
	srq->received++;
	if (srq->next < srq->cnt)
		return r + 16;
	model_fault = "the list of shared receives is broken";
	return NULL;
}

static void model_arrive(struct model_qp *to, unsigned op, const unsigned char *data, long len,
			 uint32_t imm)
{
	bool here = op != 1 && to->short_data && len && len <= MODEL_SHORT;
	uint32_t room, counter;
	const char *r = model_receive(to, &room, &counter);

	if (!r) {
		model_fault = "no receive is posted";
		return;
	}
	if (op != 1 && !here && model_scatter(r, room, data, len))
		model_fault = "a receive is malformed or short";
	if (op != 1)
		to->digest = model_digest(data, (size_t) len);
	model_complete(to, op, counter, (uint32_t) len, imm, 0, here ? data : NULL);
	to->received++;
}

/* What stands before a datagram over IPv4: anything, then the IP header. */
static void model_header(unsigned char *h, const struct model_qp *from, const struct model_qp *to)
{
	uint32_t sum = 0;
	unsigned i;

	memset(h, 0x6a, 20);
	memset(h + 20, 0, 20);
	h[20] = 0x45;
	h[29] = 17;
	memcpy(h + 32, from->gid + 12, 4);
	memcpy(h + 36, to->gid + 12, 4);
	for (i = 20; i < 40; i += 2)
		sum += (uint32_t) model_be(h + i, 2);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~((sum & 0xffff) + (sum >> 16));
	h[30] = (unsigned char) (sum >> 8);
	h[31] = (unsigned char) sum;
}

/* A datagram for another one, or that finds no receive, is lost, as on any network. */
static void model_datagram(const struct model_qp *m, struct model_qp *to,
			   const struct model_wqe *x, const unsigned char *data, long len)
{
	static unsigned char packet[40 + MODEL_MAX];
	uint32_t room, counter;
	const char *r = NULL;

	if (x->dqpn == to->qpn && x->qkey == to->qkey && !memcmp(x->gid, to->gid, 16))
		r = model_receive(to, &room, &counter);
	if (!r) {
		to->lost++;
		return;
	}
	model_header(packet, m, to);
	memcpy(packet + 40, data, (size_t) len);
	to->digest = model_digest(data, (size_t) len);
	if (model_scatter(r, room, packet, 40 + len))
		model_fault = "a receive has no room for a header and a datagram";
	model_complete_from(to, x->op == 0x0a ? 2 : 3, counter, (uint32_t) (40 + len),
			    x->op == 0x0a ? 0 : x->imm, 0, NULL, m->qpn);
	to->received++;
}

/* What comes back, into memory or, of a request that is signalled, its completion. */
static void model_back(struct model_qp *m, const struct model_wqe *x, const void *data)
{
	bool here = m->short_data && x->len[0] <= MODEL_SHORT && x->flags & 0x08;

	if (!here)
		memcpy((void *) (uintptr_t) x->at[0], data, x->len[0]);
	if (x->flags & 0x08)
		model_complete(m, 0, m->eaten, x->len[0], 0, 0, here ? data : NULL);
}

/* Returns the syndrome. */
static unsigned model_execute(struct model_qp *m, struct model_qp *to, const struct model_wqe *x)
{
	static unsigned char data[MODEL_MAX];
	long len = x->op >= 0x10 ? (long) x->len[0] : model_gather(m, x, data);
	uint64_t old, new;

	if (len < 0)
		return 0x04;
	if (m->ud) {
		if (len > 4096)
			return 0x01;
		model_datagram(m, to, x, data, len);
		if (x->flags & 0x08)
			model_complete(m, 0, m->eaten, 0, 0, 0, NULL);
		return 0;
	}
	if (x->op != 0x0a && x->op != 0x0b && (len || x->op >= 0x10) &&
	    (x->rkey != MODEL_KEY || !model_inside(to, x->addr, (uint64_t) len)))
		return 0x13;
	if (x->op < 0x10) {
		if (x->op < 0x0a && len)
			memcpy((void *) (uintptr_t) x->addr, data, (size_t) len);
		if (x->op != 0x08)
			model_arrive(to, x->op == 0x09 ? 1 : x->op == 0x0a ? 2 : 3, data, len,
				     x->op == 0x0a ? 0 : x->imm);
		if (x->flags & 0x08)
			model_complete(m, 0, m->eaten, 0, 0, 0, NULL);
		return 0;
	}
	if (x->op == 0x10) {
		model_back(m, x, (void *) (uintptr_t) x->addr);
		return 0;
	}
	memcpy(&old, (void *) (uintptr_t) x->addr, 8);
	new = x->op == 0x12 ? old + x->operand : old == x->compare ? x->operand : old;
	memcpy((void *) (uintptr_t) x->addr, &new, 8);
	model_back(m, x, &old);
	return 0;
}

/* model_step - execute the next request if the doorbell record has one.
 * @x: [out] the decoded request
 */
static bool model_step(struct model_qp *m, struct model_qp *to, struct model_wqe *x)
{
	unsigned syndrome;

	if (((be32toh(__atomic_load_n(&m->dbrec[1], __ATOMIC_ACQUIRE)) - m->eaten) & 0xffff) == 0)
		return false;
	model_decode(m, m->eaten, x);
	if (x->index != (m->eaten & 0xffff) || x->qpn != m->qpn)
		model_fault = "a request that is not where it says";
	syndrome = model_execute(m, to, x);
	if (syndrome)
		model_complete(m, 13, m->eaten, 0, 0, syndrome, NULL);
	m->eaten += (x->segs + 3) / 4;
	return true;
}

#endif
