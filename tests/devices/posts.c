/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * posts PROVIDER KIND - transfers that code of a device posts, from and to memory of the device, with
 * rings that the library makes for it.
 *
 * A thread is the device: it uses handles by the address that they have for the device, and touches
 * no memory of the device, which would fault.  Both processes write to the other's memory and signal
 * it, then send messages.  First the ways in which a context cannot be opened.
 */
#include <pthread.h>
#include <rdma/fi_xpu_device.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../fabtests/common/device.h"
#include "../fakegpu/use.h"
#include "pair.h"

#define LEN ((size_t) 600000)
#define HALF (LEN / 2)
#define ROUNDS 20
#define ONE FI_XPU_WORK_ITEM

/* What the device has. */
struct device {
	struct fid_xpu_ep ep;
	struct fid_xpu_cq cq;
	struct fid_xpu_cntr cntr;
	uint64_t peer, desc, word_desc;
	uint64_t addr, key;		/* of the peer's memory */
	uint64_t word_addr, word_key;	/* and of its words */
};

static struct pair pair, *const p = &pair;
static struct device dev;
static struct fid_xpu_ctx *ctx;
static struct fid_ep *ep;
static struct fid_cq *cq;
static struct fid_cntr *cntr;
static struct fid_mr *word_mr;
static uint64_t words[2];		/* that the peer counts up; that is added */
static size_t len;			/* of this round */
static uint64_t round_no;

static void fill(unsigned seed)
{
	size_t i;

	for (i = 0; i < HALF; i++)
		p->host[i] = (char) (seed * 31 + i * 7 + i / 251);
}

/* ---- the device ------------------------------------------------------------------------------ */

static void take(uint64_t cnt)
{
	struct fi_cq_tagged_entry done[4];
	struct fi_cq_err_entry err;
	int64_t n;

	while (cnt) {
		n = fi_xpu_cq_sread(&dev.cq, done, cnt, 1, ONE);
		if (n == -FI_EAVAIL) {
			PAIR_TRUE(fi_xpu_cq_readerr(&dev.cq, &err, 0, ONE) == 1);
			pair_die("an operation of the device", -err.err);
		}
		PAIR_TRUE(n > 0);
		cnt -= (uint64_t) n;
	}
}

static void *put_and_signal(void *arg)
{
	(void) arg;
	PAIR_OK(fi_xpu_write(&dev.ep, p->dev, len, &dev.desc, 0, &dev.peer, dev.addr + HALF, dev.key, NULL, 0,
			     ONE));
	PAIR_OK(fi_xpu_atomic(&dev.ep, &words[1], 1, &dev.word_desc, &dev.peer, dev.word_addr, dev.word_key,
			      FI_UINT64, FI_SUM, NULL, FI_DELIVERY_COMPLETE, ONE));
	take(2);
	while (fi_xpu_ring_load(&words[0]) < round_no)
		fi_xpu_ring_relax();
	fi_xpu_cntr_wait(&dev.cntr, 2 * round_no, -1, ONE);
	return NULL;
}

static void *send_and_receive(void *arg)
{
	(void) arg;
	PAIR_OK(fi_xpu_trecv(&dev.ep, p->dev + HALF, HALF, &dev.desc, NULL, round_no, 0, NULL, 0, ONE));
	PAIR_OK(fi_xpu_tsend(&dev.ep, p->dev, len, &dev.desc, 0, &dev.peer, round_no, NULL, 0, ONE));
	take(2);
	return NULL;
}

static void launch(void *(*code)(void *arg))
{
	pthread_t id;

	PAIR_OK(pthread_create(&id, NULL, code, NULL));
	pthread_join(id, NULL);
}

/* ---- the host -------------------------------------------------------------------------------- */

static long open_ctx(enum fi_hmem_iface iface, uint64_t number)
{
	struct fi_xpu_attr attr = { .iface = iface, .device = number };

	return fi_xpu_ctx(p->domain, &attr, &ctx, NULL);
}

/* What the device is called in the attributes of its memory. */
static uint64_t number_of(const struct fi_mr_attr *attr)
{
	switch (attr->iface) {
	case FI_HMEM_CUDA:
		return (uint64_t) attr->device.cuda;
	case FI_HMEM_ZE:
		return (uint64_t) attr->device.ze;
	default:
		return attr->device.reserved;
	}
}

static void refused(enum fi_hmem_iface iface)
{
	const char *first = iface == FI_HMEM_CUDA ? "cuMemHostAlloc" :
			    iface == FI_HMEM_ZE ? "zeMemAllocHost" : "hsa_amd_memory_lock";

	PAIR_TRUE(open_ctx(iface, 99) == -FI_EINVAL);
	PAIR_TRUE(open_ctx(FI_HMEM_NEURON, 0) == -FI_ENOSYS);
	fakegpu_plan(p->lib, first, 1);
	PAIR_TRUE(open_ctx(iface, 1) == -FI_EIO);
	fakegpu_plan(p->lib, first, 0);
}

static void open_objects(void)
{
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_TAGGED, .flags = FI_XPU, .xpu_ctx = ctx };
	struct fi_cntr_attr cntr_attr = { .flags = FI_XPU, .xpu_ctx = ctx };

	PAIR_OK(fi_cq_open(p->domain, &cq_attr, &cq, NULL));
	PAIR_OK(fi_cntr_open(p->domain, &cntr_attr, &cntr, NULL));
	p->info->ep_attr->xpu_ctx = ctx;
	PAIR_OK(fi_endpoint2(p->domain, p->info, &ep, FI_XPU, NULL));
	PAIR_OK(fi_ep_bind(ep, &p->av->fid, 0));
	PAIR_OK(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV));
	PAIR_OK(fi_ep_bind(ep, &cntr->fid, FI_WRITE));
	PAIR_OK(fi_enable(ep));
	PAIR_OK(fi_ep_export_xpu(ep, 0, &dev.ep));
	PAIR_OK(fi_cq_export_xpu(cq, 0, &dev.cq));
	PAIR_OK(fi_cntr_export_xpu(cntr, 0, &dev.cntr));
}

static void describe(struct fid_mr *mr, const void *at, uint64_t *addr, uint64_t *key, uint64_t *desc)
{
	size_t size = sizeof(*desc);

	*addr = p->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t) at : 0;
	*key = fi_mr_key(mr);
	PAIR_OK(fi_mr_get_xpu_desc(mr, desc, &size, FI_XPU, ctx));
}

/* Names and regions of the two endpoints of devices. */
static void meet(void)
{
	struct { char name[256]; uint64_t where[4]; } all = { { 0 }, { 0 } };
	size_t size = sizeof(all.name);
	fi_addr_t peer;

	PAIR_OK(fi_mr_reg(p->domain, words, sizeof(words), FI_SEND | FI_WRITE | FI_REMOTE_WRITE, 0, 9, 0, &word_mr,
			  NULL));
	describe(p->mr, p->dev, &all.where[0], &all.where[1], &dev.desc);
	describe(word_mr, words, &all.where[2], &all.where[3], &dev.word_desc);
	PAIR_OK(fi_getname(&ep->fid, all.name, &size));
	pair_put(p, &all, sizeof(all));
	pair_get(p, &all, sizeof(all));
	PAIR_TRUE(fi_av_insert(p->av, all.name, 1, &peer, 0, NULL) == 1);
	size = sizeof(dev.peer);
	PAIR_OK(fi_av_lookup2(p->av, peer, &dev.peer, &size, FI_XPU, ctx));
	dev.addr = all.where[0];
	dev.key = all.where[1];
	dev.word_addr = all.where[2];
	dev.word_key = all.where[3];
}

static void open_all(void)
{
	struct fi_mr_attr attr = { .iov_count = 0 };

	p->caps = FI_XPU;
	pair_open(p);
	PAIR_OK(pair_reg(p));
	device_attr(&attr);
	refused(attr.iface);
	PAIR_OK(open_ctx(attr.iface, number_of(&attr)));
	open_objects();
	meet();
	words[1] = 1;
}

static void close_all(void)
{
	struct fid *order[] = { &ep->fid, &cq->fid, &cntr->fid, &word_mr->fid };
	size_t i;

	pair_put(p, "", 1);
	pair_get(p, p->host, 1);
	for (i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		PAIR_OK(fi_close(order[i]));
	pair_unreg(p);
	PAIR_OK(fi_close(&ctx->fid));
	pair_close(p);
}

/* Both do the same: what comes from the peer is what this side has filled. */
static void run_round(void *(*code)(void *arg), size_t bytes)
{
	char *back = malloc(HALF);

	round_no++;
	len = bytes;
	fill((unsigned) round_no);
	PAIR_TRUE(back && device_put(p->dev, p->host, HALF));
	launch(code);
	PAIR_TRUE(device_get(back, p->dev + HALF, HALF));
	PAIR_TRUE(!memcmp(back, p->host, len));
	free(back);
	/* the peer's next round overwrites what this side has just compared */
	pair_put(p, "", 1);
	pair_get(p, p->host, 1);
}

static void run_all(void)
{
	static const size_t sizes[] = { 8, 4096, 70000, HALF };
	size_t i, k;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (k = 0; k < ROUNDS; k++)
			run_round(put_and_signal, sizes[i]);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (k = 0; k < ROUNDS; k++)
			run_round(send_and_receive, sizes[i]);
}

int main(int argc, char **argv)
{
	fakegpu_use(argv);
	if (argc == 5)
		pair_join(p, argv);
	else if (argc == 3)
		pair_start(p, argv[1], argv[2], LEN);
	else
		return 2;
	open_all();
	run_all();
	close_all();
	if (argc == 3) {
		pair_stop(p);
		printf("%s, %s: what a device posted came\n", p->prov, p->kind);
	}
	return 0;
}
