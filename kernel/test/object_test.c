// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * object_test.c - discovery by hints, and objects: their calls and their misuse.
 */
#include <linux/slab.h>

#include "test.h"

/* ---- hints ---- */

static struct fi_info *hints_make(struct test *t)
{
	struct fi_info *hints = fi_allocinfo();

	if (!hints)
		return NULL;
	hints->mode = ~0ULL;
	hints->domain_attr->mr_mode = FI_MR_ENDPOINT | FI_MR_VIRT_ADDR | FI_MR_PROV_KEY;
	hints->fabric_attr->prov_name = kstrdup(t->args.prov, GFP_KERNEL);
	return hints;
}

static int ask(struct fi_info *hints)
{
	struct fi_info *info;
	int ret;

	ret = fi_getinfo(VERSION, NULL, NULL, 0, hints, &info);
	if (!ret)
		fi_freeinfo(info);
	return ret;
}

#define REFUSED(field, val)						\
	do {								\
		typeof(hints->field) old_ = hints->field;		\
		hints->field = (val);					\
		ret = ask(hints);					\
		hints->field = old_;					\
		IS(t, ret, -FI_ENODATA);				\
	} while (0)

static void hints(struct test *t)
{
	struct fi_info *hints = hints_make(t), *info = NULL;
	char *name;
	int ret;

	NEED(t, hints, 0);
	IS(t, ask(hints), 0);
	REFUSED(ep_attr->type, FI_EP_DGRAM);
	if (strcmp(t->args.prov, "loop"))	/* it names no protocol */
		REFUSED(ep_attr->protocol, FI_PROTO_GNI);
	REFUSED(caps, FI_COLLECTIVE);
	REFUSED(caps, FI_MSG | FI_MULTICAST);
	REFUSED(addr_format, FI_ADDR_GNI);
	REFUSED(tx_attr->size, 1 << 20);
	REFUSED(rx_attr->size, 1 << 20);
	REFUSED(tx_attr->inject_size, 1 << 20);
	REFUSED(tx_attr->iov_limit, 4096);
	REFUSED(tx_attr->rma_iov_limit, 64);
	REFUSED(rx_attr->iov_limit, 4096);
	REFUSED(tx_attr->op_flags, FI_COMMIT_COMPLETE);
	REFUSED(domain_attr->name, "no such domain");
	REFUSED(fabric_attr->name, "no such fabric");
	REFUSED(domain_attr->av_type, FI_AV_MAP);
	REFUSED(domain_attr->mr_key_size, 64);
	REFUSED(domain_attr->cq_data_size, 16);
	REFUSED(domain_attr->threading, 99);
	REFUSED(ep_attr->max_msg_size, ~0UL);
	REFUSED(ep_attr->tx_ctx_cnt, 2);
	name = hints->fabric_attr->prov_name;
	hints->fabric_attr->prov_name = "no such provider";
	ret = ask(hints);
	hints->fabric_attr->prov_name = name;
	IS(t, ret, -FI_ENODATA);
	hints->caps = FI_MSG | FI_SEND;
	hints->tx_attr->size = 16;
	IS(t, fi_getinfo(VERSION, NULL, NULL, 0, hints, &info), 0);
	NEED(t, !(info->caps & (FI_RECV | FI_RMA | FI_TAGGED)), info->caps);
	IS(t, info->tx_attr->size, 16);
	IS(t, strcmp(info->fabric_attr->prov_name, t->args.prov), 0);
	IS(t, info->fabric_attr->api_version, VERSION);
out:
	fi_freeinfo(info);
	fi_freeinfo(hints);
}

static void attr_only(struct test *t)
{
	struct fi_info *info = NULL, *hints = hints_make(t);

	NEED(t, hints, 0);
	IS(t, fi_getinfo(VERSION, NULL, NULL, FI_PROV_ATTR_ONLY, hints, &info), 0);
	NEED(t, !info->next && !info->domain_attr->name, 0);
out:
	fi_freeinfo(info);
	fi_freeinfo(hints);
}

void test_info(struct test *t)
{
	test_case(t, "fi_getinfo: hints refuse and narrow", hints);
	test_case(t, "fi_getinfo: FI_PROV_ATTR_ONLY", attr_only);
}

/* ---- objects ---- */

static int one_side(struct test *t, struct side *s)
{
	struct fi_info *info;
	int ret;

	memset(s, 0, sizeof(*s));
	ret = info_get(t, 0, 0, true, &info);
	return ret ? ret : side_open(s, info);
}

static void depend(struct test *t)
{
	struct side s;

	IS(t, one_side(t, &s), 0);
	IS(t, fi_close(&s.fabric->fid), -FI_EBUSY);
	IS(t, fi_close(&s.domain->fid), -FI_EBUSY);
	IS(t, side_ep(&s, s.info, 0), 0);
	IS(t, fi_close(&s.tx->fid), -FI_EBUSY);
	IS(t, fi_close(&s.rx->fid), -FI_EBUSY);
	IS(t, fi_close(&s.cntr->fid), -FI_EBUSY);
	if (!s.av)
		IS(t, fi_close(&s.eq->fid), -FI_EBUSY);
	else
		IS(t, fi_close(&s.av->fid), -FI_EBUSY);
	IS(t, fi_close(&s.domain->fid), -FI_EBUSY);
out:
	side_close(&s);
}

static void bind_misuse(struct test *t)
{
	struct side s, other;

	memset(&other, 0, sizeof(other));
	IS(t, one_side(t, &s), 0);
	IS(t, one_side(t, &other), 0);
	IS(t, fi_endpoint(s.domain, s.info, &s.ep, NULL), 0);
	IS(t, fi_send(s.ep, "x", 1, NULL, 0, NULL), -FI_EOPBADSTATE);
	IS(t, fi_recv(s.ep, &other, 1, NULL, 0, NULL), -FI_EOPBADSTATE);
	IS(t, fi_enable(s.ep), s.av ? -FI_ENOAV : -FI_ENOEQ);
	IS(t, s.av ? fi_ep_bind(s.ep, &s.av->fid, 0) : fi_ep_bind(s.ep, &s.eq->fid, 0), 0);
	IS(t, s.av ? fi_ep_bind(s.ep, &s.av->fid, 0) : fi_ep_bind(s.ep, &s.eq->fid, 0),
	   -FI_EINVAL);
	IS(t, fi_enable(s.ep), -FI_ENOCQ);
	IS(t, fi_ep_bind(s.ep, &s.tx->fid, 0), -FI_EINVAL);
	IS(t, fi_ep_bind(s.ep, &s.tx->fid, FI_TRANSMIT | FI_READ), -FI_EBADFLAGS);
	IS(t, fi_ep_bind(s.ep, &other.tx->fid, FI_TRANSMIT), -FI_EDOMAIN);
	IS(t, fi_ep_bind(s.ep, &s.tx->fid, FI_TRANSMIT), 0);
	IS(t, fi_ep_bind(s.ep, &s.rx->fid, FI_TRANSMIT), -FI_EINVAL);
	IS(t, fi_ep_bind(s.ep, &s.rx->fid, FI_RECV), 0);
	IS(t, fi_ep_bind(s.ep, &s.cntr->fid, 0), -FI_EBADFLAGS);
	IS(t, fi_ep_bind(s.ep, &other.cntr->fid, FI_SEND), -FI_EDOMAIN);
	IS(t, fi_ep_bind(s.ep, &s.domain->fid, 0), -FI_EINVAL);
	IS(t, fi_enable(s.ep), 0);
	IS(t, fi_enable(s.ep), -FI_EOPBADSTATE);
	IS(t, fi_ep_bind(s.ep, &s.cntr->fid, FI_SEND), -FI_EOPBADSTATE);
out:
	side_close(&s);
	side_close(&other);
}

static void cq_calls(struct test *t)
{
	struct fi_cq_attr attr = { .flags = 1 };
	struct fi_cq_tagged_entry entry;
	struct fi_cq_err_entry err = {};
	struct fid_cq *cq;
	struct side s;

	IS(t, one_side(t, &s), 0);
	IS(t, fi_cq_open(s.domain, &attr, &cq, NULL), -FI_EBADFLAGS);
	attr.flags = 0;
	attr.format = 99;
	IS(t, fi_cq_open(s.domain, &attr, &cq, NULL), -FI_EINVAL);
	attr.format = 0;
	attr.size = 1 << 30;
	IS(t, fi_cq_open(s.domain, &attr, &cq, NULL), -FI_EINVAL);
	IS(t, fi_cq_read(s.tx, &entry, 1), -FI_EAGAIN);
	IS(t, fi_cq_readfrom(s.tx, &entry, 1, NULL), -FI_EAGAIN);
	IS(t, fi_cq_readerr(s.tx, &err, 0), -FI_EAGAIN);
	IS(t, fi_cq_sread(s.tx, &entry, 1, NULL, 10), -FI_EAGAIN);
	IS(t, fi_cq_signal(s.tx), 0);
	IS(t, fi_cq_sread(s.tx, &entry, 1, NULL, -1), -FI_EAGAIN);
	IS(t, fi_control(&s.tx->fid, FI_ENABLE, NULL), -FI_ENOSYS);
out:
	side_close(&s);
}

static void cntr_calls(struct test *t)
{
	struct side s;

	IS(t, one_side(t, &s), 0);
	IS(t, fi_cntr_read(s.cntr), 0);
	IS(t, fi_cntr_add(s.cntr, 3), 0);
	IS(t, fi_cntr_wait(s.cntr, 3, -1), 0);
	IS(t, fi_cntr_wait(s.cntr, 4, 10), -FI_ETIMEDOUT);
	IS(t, fi_cntr_set(s.cntr, 9), 0);
	IS(t, fi_cntr_read(s.cntr), 9);
	IS(t, fi_cntr_readerr(s.cntr), 0);
out:
	side_close(&s);
}

static int handled;

static void count_events(struct fid_eq *eq, void *context)
{
	struct fi_eq_entry entry;
	uint32_t event;

	might_sleep();
	while (fi_eq_read(eq, &event, &entry, sizeof(entry), 0) > 0)
		WRITE_ONCE(handled, handled + entry.data);
	complete(context);
}

static void eq_calls(struct test *t)
{
	DECLARE_COMPLETION_ONSTACK(done);
	struct fi_eq_attr attr = { .flags = FI_WRITE };
	struct fi_eq_entry entry = { .data = 5 };
	struct fi_eq_err_entry err = {};
	struct fid_eq *eq = NULL;
	struct side s;
	uint32_t event;

	IS(t, one_side(t, &s), 0);
	IS(t, fi_eq_read(s.eq, &event, &entry, sizeof(entry), 0), -FI_EAGAIN);
	IS(t, fi_eq_readerr(s.eq, &err, 0), -FI_EAGAIN);
	IS(t, fi_eq_sread(s.eq, &event, &entry, sizeof(entry), 10, 0), -FI_EAGAIN);
	IS(t, fi_eq_write(s.eq, FI_NOTIFY, &entry, sizeof(entry), 0), -FI_EINVAL);
	IS(t, fi_eq_open(s.fabric, &attr, &eq, NULL), 0);
	IS(t, fi_eq_write(eq, FI_CONNREQ, &entry, sizeof(entry), 0), -FI_EINVAL);
	IS(t, fi_eq_write(eq, FI_NOTIFY, &entry, sizeof(entry), 0), sizeof(entry));
	IS(t, fi_eq_read(eq, &event, &entry, 4, 0), -FI_ETOOSMALL);
	IS(t, fi_eq_read(eq, &event, &entry, sizeof(entry), FI_PEEK), sizeof(entry));
	IS(t, fi_eq_read(eq, &event, &entry, sizeof(entry), 0), sizeof(entry));
	IS(t, event, FI_NOTIFY);
	IS(t, entry.data, 5);
	IS(t, fi_eq_read(eq, &event, &entry, sizeof(entry), 0), -FI_EAGAIN);
	IS(t, fi_close(&eq->fid), 0);
	eq = NULL;
	attr.flags = FI_READ;
	IS(t, fi_eq_open(s.fabric, &attr, &eq, NULL), -FI_EBADFLAGS);
	attr.flags = FI_WRITE;
	attr.handler = count_events;
	handled = 0;
	IS(t, fi_eq_open(s.fabric, &attr, &eq, &done), 0);
	IS(t, fi_eq_write(eq, FI_NOTIFY, &entry, sizeof(entry), 0), sizeof(entry));
	NEED(t, wait_for_completion_timeout(&done, msecs_to_jiffies(WAIT_MS)), 0);
	IS(t, READ_ONCE(handled), 5);
out:
	if (eq)
		fi_close(&eq->fid);
	side_close(&s);
}

static void mr_calls(struct test *t)
{
	struct fid_mr *mr = NULL, *second;
	struct fi_mr_attr attr = { .iov_count = 1, .access = FI_REMOTE_READ };
	struct side s;
	void *buf = kmalloc(4096, GFP_KERNEL);
	struct kvec iov = { buf, 4096 };
	int mode;

	IS(t, one_side(t, &s), 0);
	NEED(t, buf, 0);
	mode = s.info->domain_attr->mr_mode;
	IS(t, fi_mr_reg(s.domain, buf, 4096, 0, 0, 1, 0, &mr, NULL), -FI_EINVAL);
	IS(t, fi_mr_reg(s.domain, buf, 0, FI_REMOTE_READ, 0, 1, 0, &mr, NULL), -FI_EINVAL);
	IS(t, fi_mr_reg(s.domain, buf, 4096, FI_MSG, 0, 1, 0, &mr, NULL), -FI_EINVAL);
	IS(t, fi_mr_regv(s.domain, NULL, 1, FI_REMOTE_READ, 0, 1, 0, &mr, NULL), -FI_EINVAL);
	IS(t, fi_mr_regv(s.domain, &iov, 0, FI_REMOTE_READ, 0, 1, 0, &mr, NULL), -FI_EINVAL);
	IS(t, fi_mr_regv(s.domain, &iov, 1, FI_REMOTE_READ, 0, 1, 0, &mr, NULL), 0);
	IS(t, fi_close(&mr->fid), 0);
	mr = NULL;
	attr.mr_iov = &iov;
	IS(t, fi_mr_regattr(s.domain, &attr, FI_RMA, &mr), -FI_EBADFLAGS);
	IS(t, fi_mr_reg(s.domain, buf, 4096, FI_REMOTE_READ, 0, 1, 0, &mr, t), 0);
	NEED(t, mr->fid.context == t, 0);
	if (!(mode & FI_MR_PROV_KEY)) {
		IS(t, fi_mr_key(mr), 1);
		IS(t, fi_mr_reg(s.domain, buf, 4096, FI_REMOTE_READ, 0, 1, 0, &second, NULL),
		   -FI_ENOKEY);
	}
	if (mode & FI_MR_ENDPOINT)
		IS(t, fi_mr_enable(mr), -FI_EOPBADSTATE);
	IS(t, fi_close(&s.domain->fid), -FI_EBUSY);
	IS(t, fi_close(&mr->fid), 0);
	mr = NULL;
out:
	if (mr)
		fi_close(&mr->fid);
	kfree(buf);
	side_close(&s);
}

static void caps(struct test *t)
{
	struct fi_info *info;
	struct side s = {};
	char c;

	IS(t, info_get(t, 0, FI_MSG | FI_SEND | FI_RECV, true, &info), 0);
	IS(t, side_open(&s, info), 0);
	IS(t, side_ep(&s, s.info, 0), 0);
	IS(t, fi_read(s.ep, &c, 1, NULL, 0, 0, 0, NULL), -FI_ENOSYS);
	IS(t, fi_writemsg(s.ep, NULL, 0), -FI_ENOSYS);
	IS(t, fi_inject_write(s.ep, &c, 1, 0, 0, 0), -FI_ENOSYS);
	IS(t, fi_tsend(s.ep, &c, 1, NULL, 0, 0, NULL), -FI_ENOSYS);
	IS(t, fi_trecv(s.ep, &c, 1, NULL, 0, 0, 0, NULL), -FI_ENOSYS);
	IS(t, fi_tinjectdata(s.ep, &c, 1, 0, 0, 0), -FI_ENOSYS);
out:
	side_close(&s);
}

void test_objects(struct test *t)
{
	test_case(t, "close: objects that others depend on are busy", depend);
	test_case(t, "bind, enable: misuse", bind_misuse);
	test_case(t, "completion queue calls", cq_calls);
	test_case(t, "counter calls", cntr_calls);
	test_case(t, "event queue calls, handler", eq_calls);
	test_case(t, "registration calls", mr_calls);
	test_case(t, "calls outside the capabilities", caps);
}
