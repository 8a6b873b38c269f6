// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * cntr.c - counters.
 */
#include <linux/slab.h>

#include "obj.h"

static struct kofi_cntr *cntr_of(struct fid_cntr *fid)
{
	return container_of(fid, struct kofi_cntr, cntr);
}

static void cntr_wake(struct kofi_cntr *cntr)
{
	if (wq_has_sleeper(&cntr->wait))
		wake_up_all(&cntr->wait);
}

void kofi_cntr_inc(struct kofi_cntr *cntr, bool error)
{
	atomic64_inc(error ? &cntr->errors : &cntr->value);
	cntr_wake(cntr);
}
EXPORT_SYMBOL_GPL(kofi_cntr_inc);

static uint64_t cntr_read(struct fid_cntr *fid)
{
	return atomic64_read(&cntr_of(fid)->value);
}

static uint64_t cntr_readerr(struct fid_cntr *fid)
{
	return atomic64_read(&cntr_of(fid)->errors);
}

static int cntr_add(struct fid_cntr *fid, uint64_t value)
{
	atomic64_add(value, &cntr_of(fid)->value);
	cntr_wake(cntr_of(fid));
	return 0;
}

static int cntr_set(struct fid_cntr *fid, uint64_t value)
{
	atomic64_set(&cntr_of(fid)->value, value);
	cntr_wake(cntr_of(fid));
	return 0;
}

static int cntr_adderr(struct fid_cntr *fid, uint64_t value)
{
	atomic64_add(value, &cntr_of(fid)->errors);
	cntr_wake(cntr_of(fid));
	return 0;
}

static int cntr_seterr(struct fid_cntr *fid, uint64_t value)
{
	atomic64_set(&cntr_of(fid)->errors, value);
	cntr_wake(cntr_of(fid));
	return 0;
}

static int cntr_wait(struct fid_cntr *fid, uint64_t threshold, int timeout)
{
	struct kofi_cntr *cntr = cntr_of(fid);
	s64 errors = atomic64_read(&cntr->errors);
	long left;

	left = wait_event_interruptible_timeout(cntr->wait, cntr_read(fid) >= threshold ||
			atomic64_read(&cntr->errors) != errors, obj_timeout(timeout));
	if (left < 0)
		return -FI_EINTR;
	if (cntr_read(fid) >= threshold)
		return 0;
	return left ? -FI_EAVAIL : -FI_ETIMEDOUT;
}

static int cntr_close(struct fid *fid)
{
	struct kofi_cntr *cntr = container_of(fid, struct kofi_cntr, cntr.fid);

	if (atomic_read(&cntr->refs))
		return -FI_EBUSY;
	atomic_dec(&cntr->domain->refs);
	kfree(cntr);
	return 0;
}

static struct fi_ops cntr_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = cntr_close,
	.bind = obj_no_bind,
	.control = obj_no_control,
};

static struct fi_ops_cntr cntr_ops = {
	.size = sizeof(struct fi_ops_cntr),
	.read = cntr_read,
	.readerr = cntr_readerr,
	.add = cntr_add,
	.set = cntr_set,
	.wait = cntr_wait,
	.adderr = cntr_adderr,
	.seterr = cntr_seterr,
};

int obj_cntr_open(struct fid_domain *domain, struct fi_cntr_attr *attr,
		  struct fid_cntr **cntr_p, void *context)
{
	struct kofi_cntr *cntr;

	if (attr && attr->flags)
		return -FI_EBADFLAGS;
	cntr = kzalloc(sizeof(*cntr), GFP_KERNEL);
	if (!cntr)
		return -FI_ENOMEM;
	cntr->cntr.fid.fclass = FI_CLASS_CNTR;
	cntr->cntr.fid.context = context;
	cntr->cntr.fid.ops = &cntr_fid_ops;
	cntr->cntr.ops = &cntr_ops;
	cntr->domain = container_of(domain, struct kofi_domain, domain);
	init_waitqueue_head(&cntr->wait);
	atomic_inc(&cntr->domain->refs);
	*cntr_p = &cntr->cntr;
	return 0;
}
