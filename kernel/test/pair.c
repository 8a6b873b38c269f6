// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * pair.c - two sides that talk.
 */
#include <linux/jiffies.h>
#include <linux/slab.h>

#include "test.h"

bool pair_srx;

static const u64 access_flags[ACCESS_CNT] = {
	[ACCESS_READ] = FI_READ, [ACCESS_WRITE] = FI_WRITE,
	[ACCESS_REMOTE_READ] = FI_REMOTE_READ, [ACCESS_REMOTE_WRITE] = FI_REMOTE_WRITE,
};

int info_get(struct test *t, enum fi_ep_type type, uint64_t caps, bool server,
	     struct fi_info **info_p)
{
	const char *node = server ? t->args.server : t->args.client;
	struct fi_info *hints = fi_allocinfo();
	int ret;

	if (!hints)
		return -FI_ENOMEM;
	hints->caps = caps;
	hints->mode = ~0ULL;
	hints->ep_attr->type = type;
	hints->tx_attr->iov_limit = hints->rx_attr->iov_limit = 16;
	hints->domain_attr->mr_mode = FI_MR_ENDPOINT | FI_MR_VIRT_ADDR | FI_MR_PROV_KEY;
	hints->fabric_attr->prov_name = kstrdup(t->args.prov, GFP_KERNEL);
	ret = fi_getinfo(VERSION, node, NULL, node ? FI_SOURCE : 0, hints, info_p);
	if (ret == -FI_ENODATA) {	/* a device may have less */
		hints->tx_attr->iov_limit = hints->rx_attr->iov_limit = 0;
		ret = fi_getinfo(VERSION, node, NULL, node ? FI_SOURCE : 0, hints, info_p);
	}
	fi_freeinfo(hints);
	return ret;
}

int side_open(struct side *s, struct fi_info *info)
{
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE };
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_TAGGED };
	int i, ret;

	s->info = info;
	ret = fi_fabric(info->fabric_attr, &s->fabric, NULL);
	if (!ret)
		ret = fi_domain(s->fabric, info, &s->domain, NULL);
	if (!ret)
		ret = fi_eq_open(s->fabric, NULL, &s->eq, NULL);
	if (!ret)
		ret = fi_cq_open(s->domain, &cq_attr, &s->tx, NULL);
	if (!ret)
		ret = fi_cq_open(s->domain, &cq_attr, &s->rx, NULL);
	if (!ret)
		ret = fi_cntr_open(s->domain, NULL, &s->cntr, NULL);
	for (i = 0; i < ACCESS_CNT && !ret; i++)
		ret = fi_cntr_open(s->domain, NULL, &s->access[i], NULL);
	if (!ret && info->ep_attr->type == FI_EP_RDM)
		ret = fi_av_open(s->domain, &av_attr, &s->av, NULL);
	return ret;
}

int side_ep(struct side *s, struct fi_info *info, uint64_t cq_flags)
{
	int i, ret;

	ret = fi_ep_open(s->domain, info, &s->ep, s);
	if (!ret && s->srx)
		ret = fi_bind(&s->ep->fid, &s->srx->fid, 0);
	if (!ret)
		ret = fi_ep_bind(s->ep, &s->tx->fid, FI_TRANSMIT | cq_flags);
	if (!ret)
		ret = fi_ep_bind(s->ep, &s->rx->fid, FI_RECV | cq_flags);
	if (!ret)
		ret = s->av ? fi_ep_bind(s->ep, &s->av->fid, 0) :
			      fi_ep_bind(s->ep, &s->eq->fid, 0);
	if (!ret)
		ret = fi_ep_bind(s->ep, &s->cntr->fid, FI_SEND | FI_RECV);
	for (i = 0; i < ACCESS_CNT && !ret; i++)
		ret = fi_ep_bind(s->ep, &s->access[i]->fid, access_flags[i]);
	return ret ? ret : fi_enable(s->ep);
}

static void shut(struct fid *fid)
{
	int ret = fi_close(fid);

	WARN_ONCE(ret, "kofi_test: close of class %zu: %d\n", fid->fclass, ret);
}

void side_close(struct side *s)
{
	int i;

	if (s->ep)
		shut(&s->ep->fid);
	if (s->srx)
		shut(&s->srx->fid);
	if (s->av)
		shut(&s->av->fid);
	if (s->cntr)
		shut(&s->cntr->fid);
	for (i = 0; i < ACCESS_CNT; i++)
		if (s->access[i])
			shut(&s->access[i]->fid);
	if (s->rx)
		shut(&s->rx->fid);
	if (s->tx)
		shut(&s->tx->fid);
	if (s->eq)
		shut(&s->eq->fid);
	if (s->domain)
		shut(&s->domain->fid);
	if (s->fabric)
		shut(&s->fabric->fid);
	fi_freeinfo(s->info);
	memset(s, 0, sizeof(*s));
}

int wait_event_of(struct fid_eq *eq, struct fi_eq_cm_entry *entry, size_t size)
{
	struct fi_eq_err_entry err = { .err_data = entry->data,
				       .err_data_size = size - sizeof(*entry) };
	uint32_t event;
	ssize_t ret;

	ret = fi_eq_sread(eq, &event, entry, size, WAIT_MS, 0);
	if (ret == -FI_EAVAIL) {
		fi_eq_error(eq, &err, 0);
		return -err.err;
	}
	return ret < 0 ? ret : event;
}

int wait_comp(struct fid_cq *cq, struct fi_cq_tagged_entry *entry)
{
	struct fi_cq_err_entry err = {};
	ssize_t ret;

	ret = fi_cq_sread(cq, entry, 1, NULL, WAIT_MS);
	if (ret == -FI_EAVAIL) {
		fi_cq_error(cq, &err, 0);
		entry->op_context = err.op_context;
		entry->len = err.len;
		return -err.err;
	}
	return ret == 1 ? 0 : ret == -FI_EAGAIN ? -FI_ETIMEDOUT : ret;
}

int pep_open(struct side *s, struct fid_pep **pep_p)
{
	int ret;

	ret = fi_passive_ep(s->fabric, s->info, pep_p, NULL);
	if (!ret)
		ret = fi_pep_bind(*pep_p, &s->eq->fid, 0);
	return ret ? ret : fi_listen(*pep_p);
}

int connect_to(struct side *s, struct fid_pep *pep, const void *param, size_t len)
{
	char name[FI_NAME_MAX];
	size_t size = sizeof(name);
	int ret;

	ret = fi_getname(&pep->fid, name, &size);
	return ret ? ret : fi_connect(s->ep, name, param, len);
}

static int connect_pair(struct test *t, struct pair *p)
{
	struct fi_eq_cm_entry *entry;
	char buf[64];
	int ret;

	entry = (struct fi_eq_cm_entry *)buf;
	ret = pep_open(&p->b, &p->pep);
	if (!ret)
		ret = side_ep(&p->a, p->a.info, 0);
	if (!ret)
		ret = connect_to(&p->a, p->pep, NULL, 0);
	if (ret)
		return ret;
	ret = wait_event_of(p->b.eq, entry, sizeof(buf));
	if (ret != FI_CONNREQ)
		return ret < 0 ? ret : -FI_EOTHER;
	ret = side_ep(&p->b, entry->info, 0);
	fi_freeinfo(entry->info);
	if (!ret)
		ret = fi_accept(p->b.ep, NULL, 0);
	if (ret)
		return ret;
	if (wait_event_of(p->b.eq, entry, sizeof(buf)) != FI_CONNECTED ||
	    wait_event_of(p->a.eq, entry, sizeof(buf)) != FI_CONNECTED)
		return -FI_ENOTCONN;
	return 0;
}

static int learn(struct side *s, struct side *other)
{
	char name[FI_NAME_MAX];
	size_t size = sizeof(name);
	int ret;

	ret = fi_getname(&other->ep->fid, name, &size);
	if (ret)
		return ret;
	return fi_av_insert(s->av, name, 1, &s->peer, 0, NULL) == 1 ? 0 : -FI_EINVAL;
}

int pair_open(struct test *t, struct pair *p, enum fi_ep_type type, uint64_t caps)
{
	struct fi_info *info;
	int ret;

	memset(p, 0, sizeof(*p));
	p->type = type;
	ret = info_get(t, type, caps, true, &info);
	if (!ret)
		ret = side_open(&p->b, info);
	if (!ret && pair_srx)
		ret = fi_srx_context(p->b.domain, NULL, &p->b.srx, NULL);
	if (!ret)
		ret = info_get(t, type, caps, false, &info);
	if (!ret)
		ret = side_open(&p->a, info);
	if (ret || type == FI_EP_MSG)
		return ret ? ret : connect_pair(t, p);
	ret = side_ep(&p->a, p->a.info, 0);
	if (!ret)
		ret = side_ep(&p->b, p->b.info, 0);
	if (!ret)
		ret = learn(&p->a, &p->b);
	return ret ? ret : learn(&p->b, &p->a);
}

void pair_close(struct pair *p)
{
	if (p->pep)
		shut(&p->pep->fid);
	p->pep = NULL;
	side_close(&p->a);
	side_close(&p->b);
}

int region_open(struct side *s, void *buf, size_t len, uint64_t access, struct region *r)
{
	int mr_mode = s->info->domain_attr->mr_mode;
	int ret;

	ret = fi_mr_reg(s->domain, buf, len, access, mr_mode & FI_MR_VIRT_ADDR ?
			(uintptr_t)buf : 0, 77, 0, &r->mr, NULL);
	if (ret)
		return ret;
	r->addr = mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t)buf : 0;
	if (!(mr_mode & FI_MR_ENDPOINT))
		return 0;
	ret = fi_mr_bind(r->mr, &s->ep->fid, 0);
	if (!ret)
		ret = fi_mr_enable(r->mr);
	if (ret)
		shut(&r->mr->fid);
	return ret;
}

void fill(void *buf, size_t len, u32 seed)
{
	u32 *word = buf;
	size_t i;

	for (i = 0; i < len / 4; i++)
		word[i] = seed + i * 2654435761U;
	memset(buf + i * 4, seed, len % 4);
}

bool check_fill(const void *buf, size_t len, u32 seed)
{
	const u8 *rest = buf + len / 4 * 4;
	const u32 *word = buf;
	size_t i;

	for (i = 0; i < len / 4; i++)
		if (word[i] != seed + (u32)i * 2654435761U)
			return false;
	for (i = 0; i < len % 4; i++)
		if (rest[i] != (u8)seed)
			return false;
	return true;
}
