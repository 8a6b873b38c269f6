/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "obj/ref.h"

#include <rdma/fi_errno.h>

/* Beyond this many the log would only get longer, not clearer. */
#define NAMED_MAX 8

unsigned obj_process;

static void on_fork(void)
{
	obj_process++;
}

__attribute__((constructor))
static void count_forks(void)
{
	pthread_atfork(NULL, NULL, on_fork);
}

void obj_refs_init(struct obj_refs *refs)
{
	refs->process = obj_process;
	pthread_mutex_init(&refs->lock, NULL);
	list_init(&refs->holders);
}

void obj_refs_fini(struct obj_refs *refs)
{
	pthread_mutex_destroy(&refs->lock);
}

void obj_ref_get(struct obj_refs *refs, struct obj_ref *ref, const struct fid *holder)
{
	ref->refs = refs;
	ref->holder = holder;
	pthread_mutex_lock(&refs->lock);
	list_add_tail(&ref->node, &refs->holders);
	pthread_mutex_unlock(&refs->lock);
}

void obj_ref_put(struct obj_ref *ref)
{
	struct obj_refs *refs = ref->refs;

	if (!refs)
		return;
	ref->refs = NULL;
	pthread_mutex_lock(&refs->lock);
	list_del(&ref->node);
	pthread_mutex_unlock(&refs->lock);
}

static void name_holders(struct obj_refs *refs, const struct fid *self,
			 const struct fi_provider *prov, enum fi_log_subsys subsys)
{
	struct obj_ref *ref;
	unsigned cnt = 0;

	list_for_each_entry(ref, &refs->holders, node) {
		if (++cnt > NAMED_MAX)
			continue;
		FI_WARN(prov, subsys,
			"cannot close the %s %p (context %p): it is still used by the %s %p "
			"(context %p); close that first\n",
			obj_fid_name(self), (const void *) self, self->context,
			obj_fid_name(ref->holder), (const void *) ref->holder,
			ref->holder->context);
	}
	if (cnt > NAMED_MAX)
		FI_WARN(prov, subsys, "... and by %u more\n", cnt - NAMED_MAX);
}

int obj_refs_busy(struct obj_refs *refs, const struct fid *self,
		  const struct fi_provider *prov, enum fi_log_subsys subsys)
{
	int ret = 0;

	pthread_mutex_lock(&refs->lock);
	if (!list_empty(&refs->holders)) {
		name_holders(refs, self, prov, subsys);
		ret = -FI_EBUSY;
	}
	pthread_mutex_unlock(&refs->lock);
	return ret;
}

const char *obj_fid_name(const struct fid *fid)
{
	static const char *const names[] = {
		[FI_CLASS_UNSPEC] = "object",
		[FI_CLASS_FABRIC] = "fabric",
		[FI_CLASS_DOMAIN] = "domain",
		[FI_CLASS_EP] = "endpoint",
		[FI_CLASS_SEP] = "scalable endpoint",
		[FI_CLASS_RX_CTX] = "receive context",
		[FI_CLASS_SRX_CTX] = "shared receive context",
		[FI_CLASS_TX_CTX] = "transmit context",
		[FI_CLASS_STX_CTX] = "shared transmit context",
		[FI_CLASS_PEP] = "passive endpoint",
		[FI_CLASS_AV] = "address vector",
		[FI_CLASS_MR] = "memory region",
		[FI_CLASS_EQ] = "event queue",
		[FI_CLASS_CQ] = "completion queue",
		[FI_CLASS_CNTR] = "counter",
		[FI_CLASS_WAIT] = "wait set",
		[FI_CLASS_POLL] = "poll set",
		[FI_CLASS_CONNREQ] = "connection request",
		[FI_CLASS_MC] = "multicast group",
		[FI_CLASS_AV_SET] = "address vector set",
		[FI_CLASS_XPU_CTX] = "XPU context",
	};

	if (fid->fclass >= sizeof(names) / sizeof(names[0]) || !names[fid->fclass])
		return names[FI_CLASS_UNSPEC];
	return names[fid->fclass];
}
