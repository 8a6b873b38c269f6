/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * An end by this library: a MSG endpoint of the verbs provider.
 */
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "interop.h"

#define PORT "7471"

static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct fid_eq *eq;
static struct fid_cq *cq;
static struct fid_pep *pep;
static struct fid_ep *ep;
static struct fid_mr *mr;
static void *desc;
static struct memory *mem;
static int context[RECVS];		/* of the receives, whose address says which */
static struct fi_cq_data_entry arrived[RECVS];
static unsigned arrived_cnt;

static int wrong(const char *what, long ret)
{
	fprintf(stderr, "fabric: %s: %s\n", what, fi_strerror((int) -ret));
	return -1;
}

static int find(const char *local, const char *peer)
{
	struct fi_info *hints = fi_allocinfo();
	int ret;

	hints->fabric_attr->prov_name = strdup("verbs");
	hints->ep_attr->type = FI_EP_MSG;
	hints->caps = FI_MSG | FI_RMA | FI_ATOMIC;
	hints->mode = FI_RX_CQ_DATA;
	hints->addr_format = FI_SOCKADDR_IN;
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED |
				      FI_MR_PROV_KEY;
	if (peer) {	/* from the given address, not from the first that leads there */
		struct fi_info *own = NULL;

		ret = fi_getinfo(FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION), local, NULL, FI_SOURCE, hints, &own);
		if (!ret) {
			hints->src_addr = own->src_addr;
			hints->src_addrlen = own->src_addrlen;
			own->src_addr = NULL;
			ret = fi_getinfo(FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION), peer, PORT, 0, hints, &info);
			fi_freeinfo(own);
		}
	} else {
		ret = fi_getinfo(FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION), local, PORT, FI_SOURCE, hints, &info);
	}
	fi_freeinfo(hints);
	return ret ? wrong("fi_getinfo", ret) : 0;
}

static int make_objects(void)
{
	struct fi_eq_attr eq_attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_DATA, .wait_obj = FI_WAIT_UNSPEC };
	int ret = fi_fabric(info->fabric_attr, &fabric, NULL);

	if (!ret)
		ret = fi_domain(fabric, info, &domain, NULL);
	if (!ret)
		ret = fi_eq_open(fabric, &eq_attr, &eq, NULL);
	if (!ret)
		ret = fi_cq_open(domain, &cq_attr, &cq, NULL);
	if (!ret)
		ret = fi_mr_reg(domain, mem, sizeof(*mem), FI_SEND | FI_RECV | FI_READ | FI_WRITE |
				FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 0, 0, &mr, NULL);
	if (ret)
		return wrong("objects", ret);
	desc = fi_mr_desc(mr);
	return 0;
}

static int post_recv(unsigned i)
{
	ssize_t ret = fi_recv(ep, mem->in[i], MSG_MAX, desc, 0, &context[i]);

	return ret ? wrong("fi_recv", ret) : 0;
}

static int make_endpoint(struct fi_info *with)
{
	int ret = fi_endpoint(domain, with, &ep, NULL);
	unsigned i;

	if (!ret)
		ret = fi_ep_bind(ep, &eq->fid, 0);
	if (!ret)
		ret = fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV);
	if (!ret)
		ret = fi_enable(ep);
	if (ret)
		return wrong("endpoint", ret);
	for (i = 0; i < RECVS && !ret; i++)
		ret = post_recv(i);
	return ret;
}

/* Private data of the peer: of an end here, or of one on librdmacm; the accepting end gets none with
 * FI_CONNECTED.
 */
static bool said(const char *data, size_t len)
{
	return !len || (len == 4 && !memcmp(data, "ours", 4)) ||
	       (len == 5 && !memcmp(data, "plain", 5));
}

static int event(uint32_t want, struct fi_info **info_p)
{
	_Alignas(8) char room[sizeof(struct fi_eq_cm_entry) + 256];
	struct fi_eq_cm_entry *entry = (struct fi_eq_cm_entry *) room;
	uint32_t got = 0;
	ssize_t ret = fi_eq_sread(eq, &got, room, sizeof(room), WAIT_S * 1000, 0);

	if (ret < 0 || got != want) {
		fprintf(stderr, "fabric: event %u in place of %u (%zd)\n", got, want, ret);
		return -1;
	}
	if (info_p)
		*info_p = entry->info;
	if (!said((const char *) entry->data, (size_t) ret - sizeof(*entry))) {
		fprintf(stderr, "fabric: event %u has %zu bytes of data: %.8s\n", got,
			(size_t) ret - sizeof(*entry), (const char *) entry->data);
		return -1;
	}
	return 0;
}

static int be_called(void)
{
	struct fi_info *request;
	int ret = fi_passive_ep(fabric, info, &pep, NULL);

	if (!ret)
		ret = fi_pep_bind(pep, &eq->fid, 0);
	if (!ret)
		ret = fi_listen(pep);
	if (ret)
		return wrong("fi_listen", ret);
	printf("listening\n");
	fflush(stdout);
	if (event(FI_CONNREQ, &request) || make_endpoint(request))
		return -1;
	fi_freeinfo(request);
	ret = fi_accept(ep, "ours", 4);
	return ret ? wrong("fi_accept", ret) : event(FI_CONNECTED, NULL);
}

static int call(void)
{
	int ret;

	if (make_endpoint(info))
		return -1;
	ret = fi_connect(ep, info->dest_addr, "ours", 4);
	return ret ? wrong("fi_connect", ret) : event(FI_CONNECTED, NULL);
}

static int fab_open(struct memory *memory, const char *local, const char *peer)
{
	mem = memory;
	if (find(local, peer) || make_objects())
		return -1;
	return peer ? call() : be_called();
}

static int wait_for(bool recv)
{
	time_t end = time(NULL) + WAIT_S;
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_data_entry entry;
	ssize_t got;

	while (!recv || !arrived_cnt) {
		got = fi_cq_read(cq, &entry, 1);
		if (got == -FI_EAGAIN && time(NULL) <= end)
			continue;
		if (got != 1) {
			fi_cq_readerr(cq, &err, 0);
			return wrong("no completion", got == -FI_EAVAIL ? -err.err : got);
		}
		if (!(entry.flags & FI_RECV))
			return 0;
		arrived[arrived_cnt++] = entry;
	}
	return 0;
}

static int waited(const char *call_name, ssize_t ret)
{
	return ret ? wrong(call_name, ret) : wait_for(false);
}

static int fab_send(size_t len, const uint32_t *imm)
{
	return waited("fi_send", imm ? fi_senddata(ep, mem->out, len, desc, *imm, 0, NULL) :
				       fi_send(ep, mem->out, len, desc, 0, NULL));
}

static int fab_recv(unsigned *i_p, size_t *len_p, bool *has_imm_p, uint32_t *imm_p)
{
	if (wait_for(true))
		return -1;
	*i_p = (unsigned) ((int *) arrived[0].op_context - context);
	*len_p = arrived[0].len;
	*has_imm_p = arrived[0].flags & FI_REMOTE_CQ_DATA;
	*imm_p = (uint32_t) arrived[0].data;
	memmove(arrived, arrived + 1, --arrived_cnt * sizeof(arrived[0]));
	return 0;
}

static int fab_write(uint64_t addr, uint32_t key, size_t len)
{
	return waited("fi_write", fi_write(ep, mem->out, len, desc, 0, addr, key, NULL));
}

static int fab_read(uint64_t addr, uint32_t key, size_t len)
{
	return waited("fi_read", fi_read(ep, mem->out, len, desc, 0, addr, key, NULL));
}

static int fab_add(uint64_t addr, uint32_t key, uint64_t value)
{
	return waited("fi_fetch_atomic", fi_fetch_atomic(ep, &value, 1, NULL, &mem->old, desc, 0,
							 addr, key, FI_UINT64, FI_SUM, NULL));
}

static uint32_t fab_key(void)
{
	return (uint32_t) fi_mr_key(mr);
}

static int fab_close(bool first)
{
	if (first)
		fi_shutdown(ep, 0);
	else if (event(FI_SHUTDOWN, NULL))
		return -1;
	fi_close(&ep->fid);
	if (pep)
		fi_close(&pep->fid);
	fi_close(&mr->fid);
	fi_close(&cq->fid);
	fi_close(&eq->fid);
	fi_close(&domain->fid);
	fi_close(&fabric->fid);
	fi_freeinfo(info);
	return 0;
}

const struct end_ops end_fabric = {
	.open = fab_open, .send = fab_send, .recv = fab_recv, .post = post_recv,
	.write = fab_write, .read = fab_read, .add = fab_add, .key = fab_key, .close = fab_close,
};
