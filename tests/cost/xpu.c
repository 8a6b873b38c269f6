/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * xpu - puts of 8 bytes by the host and by a device, which is a thread of this process, each call
 * in a separate function, so that callgrind can count it (device_cost).
 *
 *   xpu PROVIDER COUNT host|device|many|lines
 *
 * "lines" is "device" that first says where the rings lie, so that accesses can be told by a trace.
 *
 * Two endpoints of one process; each round puts once and reads the completion, with "many" 64 times at once, so
 * that the library's thread has work most of the time.
 */

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_xpu_device.h>

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif
#define LEN 8
#define MANY 64

static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct fid_xpu_ctx *ctx;
static struct fid_av *av;
static struct fid_ep *ep[2];
static struct fid_cq *cq[2];
static struct fid_mr *mr;
static struct fid_xpu_ep device_ep;
static struct fid_xpu_cq device_cq;
static uint64_t device_peer, remote_addr, remote_key;
static fi_addr_t peer;
static char target[64], source[64];
static struct fi_context2 context;

static void must(const char *what, long ret)
{
	if (ret >= 0)
		return;
	fprintf(stderr, "xpu: %s: %s\n", what, fi_strerror((int) -ret));
	exit(1);
}

/* ---- what is counted --------------------------------------------------------- */

NOINLINE ssize_t count_write(void);
ssize_t count_write(void)
{
	return fi_write(ep[0], source, LEN, NULL, peer, remote_addr, remote_key, &context);
}

NOINLINE ssize_t count_cq_read(struct fi_cq_tagged_entry *entry);
ssize_t count_cq_read(struct fi_cq_tagged_entry *entry)
{
	return fi_cq_read(cq[0], entry, 1);
}

NOINLINE int count_device_write(void);
int count_device_write(void)
{
	return fi_xpu_write(&device_ep, source, LEN, NULL, 0, &device_peer, remote_addr, remote_key,
			    &context, 0, FI_XPU_WORK_ITEM);
}

NOINLINE int64_t count_device_read(struct fi_cq_tagged_entry *entry);
int64_t count_device_read(struct fi_cq_tagged_entry *entry)
{
	return fi_xpu_cq_read(&device_cq, entry, 1, FI_XPU_WORK_ITEM);
}

/* ---- setting up ---------------------------------------------------------------- */

static void find_info(const char *prov, int device)
{
	struct fi_info *hints = fi_allocinfo();

	hints->caps = FI_MSG | FI_RMA | (device ? FI_XPU : 0);
	hints->mode = FI_CONTEXT | FI_CONTEXT2;
	hints->ep_attr->type = FI_EP_RDM;
	hints->domain_attr->threading = FI_THREAD_DOMAIN;
	hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	hints->fabric_attr->prov_name = strdup(prov);
	must("fi_getinfo", fi_getinfo(FI_VERSION(2, 7), "127.0.0.1", NULL, FI_SOURCE | FI_NUMERICHOST,
				      hints, &info));
	fi_freeinfo(hints);
}

static void open_side(int i, int device)
{
	struct fi_cq_attr attr = { .format = FI_CQ_FORMAT_TAGGED, .size = 1024,
				   .flags = device ? FI_XPU : 0, .xpu_ctx = ctx };

	must("fi_cq_open", fi_cq_open(domain, &attr, &cq[i], NULL));
	info->ep_attr->xpu_ctx = ctx;
	must("fi_endpoint2", fi_endpoint2(domain, info, &ep[i], device ? FI_XPU : 0, NULL));
	must("fi_ep_bind", fi_ep_bind(ep[i], &cq[i]->fid, FI_TRANSMIT | FI_RECV));
	must("fi_ep_bind", fi_ep_bind(ep[i], &av->fid, 0));
	must("fi_enable", fi_enable(ep[i]));
}

static void open_region(void)
{
	must("fi_mr_reg", fi_mr_reg(domain, target, sizeof(target), FI_REMOTE_WRITE, 0, 1, 0, &mr, NULL));
	remote_key = fi_mr_key(mr);
	remote_addr = info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t) target : 0;
}

static void export_side(void)
{
	size_t len = sizeof(device_peer);

	must("fi_ep_export_xpu", fi_ep_export_xpu(ep[0], 0, &device_ep));
	must("fi_cq_export_xpu", fi_cq_export_xpu(cq[0], 0, &device_cq));
	must("fi_av_lookup2", fi_av_lookup2(av, peer, &device_peer, &len, FI_XPU, ctx));
}

static void open_all(const char *prov, int device)
{
	struct fi_xpu_attr attr = { .iface = FI_HMEM_SYSTEM };
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE };
	char name[256];
	size_t len = sizeof(name);

	find_info(prov, device);
	must("fi_fabric", fi_fabric(info->fabric_attr, &fabric, NULL));
	must("fi_domain", fi_domain(fabric, info, &domain, NULL));
	if (device)
		must("fi_xpu_ctx", fi_xpu_ctx(domain, &attr, &ctx, NULL));
	must("fi_av_open", fi_av_open(domain, &av_attr, &av, NULL));
	open_side(0, device);
	open_side(1, device);
	open_region();
	must("fi_getname", fi_getname(&ep[1]->fid, name, &len));
	must("fi_av_insert", fi_av_insert(av, name, 1, &peer, 0, NULL));
	if (device)
		export_side();
}

/* ---- rounds ---------------------------------------------------------------------- */

static void host_round(void)
{
	struct fi_cq_tagged_entry entry;
	ssize_t ret;

	while ((ret = count_write()) == -FI_EAGAIN)
		fi_cq_read(cq[0], NULL, 0);
	must("fi_write", ret);
	for (int i = 0; i < 8; i++) {
		fi_cq_read(cq[0], NULL, 0);
		fi_cq_read(cq[1], NULL, 0);
	}
	while ((ret = count_cq_read(&entry)) == -FI_EAGAIN) {
		fi_cq_read(cq[1], NULL, 0);
		fi_cq_read(cq[0], NULL, 0);
	}
	must("fi_cq_read", ret);
}

static void device_round(void)
{
	const struct fi_xpu_ring_cq *ring = fi_xpu_ring_of(&device_cq.fid);
	struct fi_cq_tagged_entry entry;

	must("fi_xpu_write", count_device_write());
	while (fi_xpu_ring_ready(ring, fi_xpu_ring_load(ring->head), 1) == -FI_EAGAIN)
		sched_yield();
	must("fi_xpu_cq_read", (long) count_device_read(&entry));
}

static void many_round(void)
{
	struct fi_cq_tagged_entry entries[MANY];
	int i;

	for (i = 0; i < MANY; i++)
		must("fi_xpu_write", count_device_write());
	must("fi_xpu_cq_sread", (long) fi_xpu_cq_sread(&device_cq, entries, MANY, MANY, FI_XPU_WORK_ITEM) - MANY);
}

static void show_ring(const char *name, const void *ring, const void *end)
{
	fprintf(stderr, "ring %s %lx %lx\n", name, (unsigned long) (uintptr_t) ring,
		(unsigned long) (uintptr_t) end);
}

static void show_rings(void)
{
	const struct fi_xpu_ring_ep *records = fi_xpu_ring_of(&device_ep.fid);
	const struct fi_xpu_ring_cq *entries = fi_xpu_ring_of(&device_cq.fid);

	show_ring("records", records, records->records + records->mask + 1);
	show_ring("entries", entries, entries->entries + entries->mask + 1);
}

static void close_all(void)
{
	struct fid *order[] = { &ep[0]->fid, &ep[1]->fid, &mr->fid, &cq[0]->fid, &cq[1]->fid, &av->fid,
				ctx ? &ctx->fid : NULL, &domain->fid, &fabric->fid };

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (order[i])
			must("fi_close", fi_close(order[i]));
	fi_freeinfo(info);
}

int main(int argc, char **argv)
{
	int cnt = argc > 3 ? atoi(argv[2]) : 0, lines = argc > 3 && !strcmp(argv[3], "lines");
	int many = argc > 3 && !strcmp(argv[3], "many");
	int device = lines || many || (argc > 3 && !strcmp(argv[3], "device"));

	if (cnt < 1 || (!device && strcmp(argv[3], "host"))) {
		fprintf(stderr, "usage: xpu PROVIDER COUNT host|device|many|lines\n");
		return 2;
	}
	open_all(argv[1], device);
	if (lines)
		show_rings();
	for (int i = 0; i < cnt; i++)
		(many ? many_round : device ? device_round : host_round)();
	close_all();
	return 0;
}
