/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "ends.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ends ends = { .who = "called end", .dest = FI_ADDR_UNSPEC };

void ends_die(const char *what, long ret)
{
	fprintf(stderr, "%s: %s (%s)\n", what, fi_strerror((int) -ret), ends.who);
	exit(1);
}

void ends_must(const char *what, long ret)
{
	if (ret < 0)
		ends_die(what, ret);
}

struct fi_info *ends_hints(const char *prov, const char *type)
{
	struct fi_info *hints = fi_allocinfo();

	ends.msg = !strcmp(type, "msg");
	ends.dgram = !strcmp(type, "dgram");
	hints->fabric_attr->prov_name = strdup(prov);
	hints->ep_attr->type = ends.msg ? FI_EP_MSG : ends.dgram ? FI_EP_DGRAM : FI_EP_RDM;
	hints->caps = FI_MSG | (ends.dgram ? 0 : FI_RMA);
	hints->mode = FI_RX_CQ_DATA | FI_CONTEXT | FI_CONTEXT2;
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED |
				      FI_MR_PROV_KEY;
	return hints;
}

void ends_find(struct fi_info *hints, const char *local)
{
	ends_must("fi_getinfo", fi_getinfo(FI_VERSION(2, 6), local, NULL, FI_SOURCE, hints,
					   &ends.info));
	fi_freeinfo(hints);
}

void ends_make(size_t mem_len)
{
	struct fi_eq_attr eq_attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_MSG };
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE };

	ends.mem = calloc(1, mem_len);
	ends.mem_len = mem_len;
	ends_must("fi_fabric", fi_fabric(ends.info->fabric_attr, &ends.fabric, NULL));
	ends_must("fi_domain", fi_domain(ends.fabric, ends.info, &ends.domain, NULL));
	ends_must("fi_cq_open", fi_cq_open(ends.domain, &cq_attr, &ends.tx_cq, NULL));
	ends_must("fi_cq_open", fi_cq_open(ends.domain, &cq_attr, &ends.rx_cq, NULL));
	ends_must("fi_mr_reg", fi_mr_reg(ends.domain, ends.mem, mem_len, FI_SEND | FI_RECV | FI_READ |
					 (ends.dgram ? 0 : FI_REMOTE_READ), 0, 1, 0, &ends.mr, NULL));
	ends.desc = fi_mr_desc(ends.mr);
	if (ends.msg)
		ends_must("fi_eq_open", fi_eq_open(ends.fabric, &eq_attr, &ends.eq, NULL));
	else
		ends_must("fi_av_open", fi_av_open(ends.domain, &av_attr, &ends.av, NULL));
}

void ends_make_endpoint(struct fi_info *info)
{
	struct fid *events = ends.msg ? &ends.eq->fid : &ends.av->fid;

	ends_must("fi_endpoint", fi_endpoint(ends.domain, info, &ends.ep, NULL));
	ends_must("fi_ep_bind", fi_ep_bind(ends.ep, events, 0));
	ends_must("fi_ep_bind", fi_ep_bind(ends.ep, &ends.tx_cq->fid, FI_TRANSMIT));
	ends_must("fi_ep_bind", fi_ep_bind(ends.ep, &ends.rx_cq->fid, FI_RECV));
	ends_must("fi_enable", fi_enable(ends.ep));
}

static struct fi_info *event(uint32_t want)
{
	_Alignas(8) char room[sizeof(struct fi_eq_cm_entry) + 256];
	uint32_t got = 0;

	ends_must("fi_eq_sread", fi_eq_sread(ends.eq, &got, room, sizeof(room),
					     ENDS_WAIT_S * 1000, 0));
	if (got != want)
		ends_die("event", -FI_EOTHER);
	return ((struct fi_eq_cm_entry *) room)->info;
}

static void name_of(struct fid *fid, struct hello *hello)
{
	memset(hello, 0, sizeof(*hello));
	hello->name_len = sizeof(hello->name);
	ends_must("fi_getname", fi_getname(fid, hello->name, &hello->name_len));
}

void ends_name(struct hello *hello)
{
	name_of(&ends.ep->fid, hello);
}

void ends_know(const struct hello *hello)
{
	if (fi_av_insert(ends.av, hello->name, 1, &ends.dest, 0, NULL) != 1)
		ends_die("fi_av_insert", -FI_EINVAL);
}

void ends_offer(size_t mem_len, struct hello *hello)
{
	ends_make(mem_len);
	if (ends.msg) {
		ends_must("fi_passive_ep", fi_passive_ep(ends.fabric, ends.info, &ends.pep, NULL));
		ends_must("fi_pep_bind", fi_pep_bind(ends.pep, &ends.eq->fid, 0));
		ends_must("fi_listen", fi_listen(ends.pep));
		name_of(&ends.pep->fid, hello);
	} else {
		ends_make_endpoint(ends.info);
		ends_name(hello);
	}
	if (ends.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR)
		hello->addr = (uintptr_t) ends.mem;
	hello->key = fi_mr_key(ends.mr);
}

void ends_answer(void)
{
	if (!ends.msg)
		return;
	ends_make_endpoint(event(FI_CONNREQ));
	ends_must("fi_accept", fi_accept(ends.ep, NULL, 0));
	event(FI_CONNECTED);
}

void ends_reach(size_t mem_len, const struct hello *hello)
{
	ends.who = "calling end";
	ends.dest = 0;
	ends_make(mem_len);
	ends_make_endpoint(ends.info);
	if (ends.msg) {
		ends_must("fi_connect", fi_connect(ends.ep, hello->name, NULL, 0));
		event(FI_CONNECTED);
	} else {
		ends_know(hello);
	}
}

void ends_close(void)
{
	ends_must("fi_close", fi_close(&ends.ep->fid));
	ends_must("fi_close", fi_close(&ends.mr->fid));
	ends_must("fi_close", fi_close(&ends.tx_cq->fid));
	ends_must("fi_close", fi_close(&ends.rx_cq->fid));
	ends_must("fi_close", fi_close(ends.msg ? &ends.eq->fid : &ends.av->fid));
	ends_must("fi_close", fi_close(&ends.domain->fid));
	ends_must("fi_close", fi_close(&ends.fabric->fid));
	fi_freeinfo(ends.info);
	free(ends.mem);
}
