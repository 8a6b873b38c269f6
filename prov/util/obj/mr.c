/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "obj/mr.h"

#include <assert.h>
#include <poll.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_log.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/iov.h"
#include "obj/cntr.h"
#include "obj/domain.h"
#include "obj/ep.h"
#include "obj/eq.h"
#include "obj/av_key.h"
#include "obj/lease.h"
#include "obj/ops.h"
#include "secure/policy.h"

#define AUTH_KEY_MAX (SEC_KEYS_MAX * SEC_KEY_RECORD_SIZE)
#define REMOTE (FI_REMOTE_READ | FI_REMOTE_WRITE)
#define ACCESS (FI_SEND | FI_RECV | FI_READ | FI_WRITE | REMOTE | FI_COLLECTIVE)
#define FLAGS (FI_RMA_EVENT | FI_RMA_PMEM | FI_HMEM_DEVICE_ONLY | FI_HMEM_HOST_ALLOC | FI_MR_SINGLE_USE)

static int mr_refuse(const struct obj_domain *domain, int err, const char *why)
{
	FI_WARN(domain->prov, FI_LOG_MR, "cannot register memory: %s\n", why);
	return err;
}

/* ---- keys ---------------------------------------------------------------- */

/* Caller holds mr_lock.  A key of ours cannot be guessed. */
static int choose_key(struct obj_domain *domain, uint64_t *key_p)
{
	size_t size = domain->attr->mr_key_size;

	do {
		if (getrandom(key_p, sizeof(*key_p), 0) != sizeof(*key_p))
			return -FI_EIO;
		if (size && size < sizeof(*key_p))
			*key_p &= (UINT64_C(1) << 8 * size) - 1;
	} while (*key_p == FI_KEY_NOTAVAIL || hmap_find(&domain->mr_map, *key_p));
	return 0;
}

static void set_enabled(struct obj_mr *mr)
{
	assert(mr->state == OBJ_MR_BOUND && "a region is enabled once");
	mr->state = OBJ_MR_ENABLED;
}

static bool has_own_key(const struct obj_mr *mr)
{
	return mr->auth_key_size && mr->auth_key != mr->domain->attr->auth_key;
}

/* Put the region where peers find it. */
static int map_region(struct obj_mr *mr)
{
	struct obj_domain *domain = mr->domain;
	uint64_t key = mr->fid.key;
	int ret = 0;

	if (domain->ops && domain->ops->mr_open) {
		set_enabled(mr);
		return 0;
	}
	/* a key of its own is not known below */
	if (domain->ops && domain->ops->mr_expose && (mr->access & REMOTE) && !has_own_key(mr))
		ret = domain->ops->mr_expose(mr, &key);
	if (ret)
		return ret;
	lock_get(&domain->mr_lock);
	if ((domain->mr_mode & FI_MR_PROV_KEY) && !mr->below)
		ret = choose_key(domain, &key);
	if (!ret && (mr->access & REMOTE)) {
		ret = hmap_insert(&domain->mr_map, key, mr);
		mr->mapped = !ret;
	}
	if (!ret) {
		mr->fid.key = key;
		set_enabled(mr);
		if (mr->mapped)
			obj_lease_offer(mr);
	}
	lock_put(&domain->mr_lock);
	if (ret && mr->below)
		domain->ops->mr_conceal(mr);
	if (ret != -FI_EALREADY)
		return ret;
	FI_WARN(domain->prov, FI_LOG_MR,
		"key 0x%llx already names a region that peers may access: choose another, or "
		"ask for FI_MR_PROV_KEY and let the provider choose\n", (unsigned long long) key);
	return -FI_ENOKEY;
}

/* ---- authorization keys ----------------------------------------------------- */

/* check_av_key - where keys are in address vectors, a region has that of one of them. */
static int check_av_key(const struct obj_domain *domain, const struct fi_mr_attr *attr, uint64_t flags)
{
	struct fi_mr_auth_key named;

	if (attr->auth_key_size != sizeof(named) || !attr->auth_key)
		return mr_refuse(domain, -FI_EINVAL, "its domain has FI_AV_AUTH_KEY, so auth_key is a struct fi_mr_auth_key");
	memcpy(&named, attr->auth_key, sizeof(named));
	if (!named.av || named.av->fid.fclass != FI_CLASS_AV || obj_av_of(named.av)->domain != domain ||
	    !obj_av_of(named.av)->key)
		return mr_refuse(domain, -FI_EINVAL, "the address vector of auth_key is of another domain, or has no key");
	if (named.src_addr != (flags & FI_AUTH_KEY ? OBJ_AV_KEY_ADDR : FI_ADDR_UNSPEC))
		return mr_refuse(domain, -FI_EOPNOTSUPP, "a region is for all peers with a key: src_addr is "
				 "FI_ADDR_UNSPEC, or with FI_AUTH_KEY the fi_addr_t of the key");
	return 0;
}

/* check_auth_key - a key that no connection proves protects nothing. */
static int check_auth_key(const struct obj_domain *domain, const struct fi_mr_attr *attr, uint64_t flags)
{
	enum sec_level level;

	if ((flags & FI_AUTH_KEY) && (!obj_keys_in_av(domain) || !attr->auth_key_size))
		return mr_refuse(domain, -FI_EINVAL, "FI_AUTH_KEY without a struct fi_mr_auth_key, or in a domain without "
				 "FI_AV_AUTH_KEY");
	if (!attr->auth_key_size)
		return 0;
	if (obj_keys_in_av(domain))
		return check_av_key(domain, attr, flags);
	if (attr->auth_key_size > AUTH_KEY_MAX || !attr->auth_key)
		return mr_refuse(domain, -FI_EINVAL, "auth_key is NULL, or longer than keys are; see fi_security(7)");
	if (sec_policy_wish(true, &level) && !domain->fabric->secures)
		return mr_refuse(domain, -FI_EACCES, "auth_key asks for protection, and this provider has none; see "
				 "fi_security(7)");
	return 0;
}

static int set_auth_key(struct obj_mr *mr, const struct fi_mr_attr *attr)
{
	struct fi_mr_auth_key named;
	uint8_t *key;
	int ret;

	mr->auth_key = NULL;
	mr->auth_key_size = 0;
	if (!obj_keys_in_av(mr->domain)) {
		mr->auth_key = mr->domain->attr->auth_key;
		mr->auth_key_size = mr->domain->attr->auth_key_size;
	}
	if (!attr->auth_key_size)
		return 0;
	if (obj_keys_in_av(mr->domain)) {
		memcpy(&named, attr->auth_key, sizeof(named));
		ret = obj_av_key_copy(obj_av_of(named.av), &key, &mr->auth_key_size);
		mr->auth_key = key;
		return ret;
	}
	key = malloc(attr->auth_key_size);
	if (!key)
		return -FI_ENOMEM;
	memcpy(key, attr->auth_key, attr->auth_key_size);
	mr->auth_key = key;
	mr->auth_key_size = attr->auth_key_size;
	return 0;
}

static void wipe_auth_key(struct obj_mr *mr)
{
	if (!has_own_key(mr))
		return;
	explicit_bzero((void *) mr->auth_key, mr->auth_key_size);
	free((void *) mr->auth_key);
}

/* ---- accesses in flight ---------------------------------------------------- */

static bool in_use(const struct obj_mr *mr, unsigned phases)
{
	return ((phases & 1) && atomic_load(&mr->uses[0])) ||
	       ((phases & 2) && atomic_load(&mr->uses[1]));
}

/* may_drive - may this thread make progress for the groups of @domain? */
static bool may_drive(const struct obj_domain *domain)
{
	return domain->prog_lock_kind != LOCK_NONE || domain->attr->threading == FI_THREAD_DOMAIN;
}

/* mr_settle - wait for accesses of @phases to end.  Those that do not move for
 * OBJ_MR_PATIENCE_MS are ended with their connections, where this thread may do so.
 * Errors: -FI_EBUSY.
 */
static int mr_settle(struct obj_mr *mr, unsigned phases, enum obj_revoke first)
{
	enum obj_revoke next = first, how;
	bool drive = may_drive(mr->domain);
	uint64_t end = 0;
	int done = 0;

	while (in_use(mr, phases)) {
		how = OBJ_REVOKE_WAIT;
		if (clock_ns() >= end) {
			if (next == OBJ_REVOKE_CUT && !drive)
				goto stuck;
			how = next;
			next = OBJ_REVOKE_CUT;
			end = clock_deadline(OBJ_MR_PATIENCE_MS);
		}
		if (drive)
			done = obj_prog_revoke(&mr->domain->groups, mr, phases, how);
		if (!done)
			poll(NULL, 0, 1);
	}
	return 0;
stuck:
	FI_WARN(mr->domain->prov, FI_LOG_MR, "a peer's access to the region with key 0x%llx does not "
		"end; make progress for the endpoints of the domain and close the region again\n",
		(unsigned long long) mr->fid.key);
	return -FI_EBUSY;
}

/* ---- the object ---------------------------------------------------------- */

static int mr_close(struct fid *fid)
{
	struct obj_mr *mr = container_of(fid, struct obj_mr, fid.fid);
	struct obj_domain *domain = mr->domain;
	int ret;

	if (obj_opened_before_fork(mr->process))
		return 0;
	if (atomic_load(&mr->xpu))
		domain->xpu->desc_gone(mr);
	if (mr->hw) {
		ret = domain->ops->mr_close(mr);
		if (ret)
			return ret;
	}
	if (mr->below) {
		ret = domain->ops->mr_conceal(mr);
		if (ret)
			return ret;
	}
	if (mr->mapped) {
		lock_get(&domain->mr_lock);
		hmap_remove(&domain->mr_map, mr->fid.key);
		mr->mapped = false;
		lock_put(&domain->mr_lock);
	}
	/* in this order: a connection that mr_settle() ends may leave a peer that is inside */
	ret = mr_settle(mr, 3, OBJ_REVOKE_STOP);
	if (!ret)
		ret = obj_lease_end(mr);
	if (ret)
		return ret;
	if (domain->eq)
		obj_eq_purge(domain->eq, fid);
	obj_ref_put(&mr->ep_ref);
	obj_ref_put(&mr->cntr_ref);
	obj_ref_put(&mr->domain_ref);
	hmem_forget(&mr->loc);
	obj_mr_share_fini(mr);
	wipe_auth_key(mr);
	free(mr);
	return 0;
}

/* offer_again - after leases of @mr were called back. */
static void offer_again(struct obj_mr *mr)
{
	lock_get(&mr->domain->mr_lock);
	if (mr->mapped)
		obj_lease_offer(mr);
	lock_put(&mr->domain->mr_lock);
}

static void set_ep(struct obj_mr *mr, struct obj_ep *ep)
{
	lock_get(&mr->domain->mr_lock);
	mr->ep = ep;
	lock_put(&mr->domain->mr_lock);
}

static void set_cntr(struct obj_mr *mr, struct obj_cntr *cntr)
{
	lock_get(&mr->domain->mr_lock);
	mr->cntr = cntr;
	lock_put(&mr->domain->mr_lock);
}

static int bind_ep(struct obj_mr *mr, struct obj_ep *ep)
{
	int ret;

	obj_ref_get(&ep->refs, &mr->ep_ref, &mr->fid.fid);
	set_ep(mr, ep);
	ret = obj_lease_recall(mr);	/* others lose theirs */
	if (ret) {
		set_ep(mr, NULL);
		obj_ref_put(&mr->ep_ref);
	}
	offer_again(mr);
	return ret;
}

static int mr_bind_cntr(struct obj_mr *mr, struct obj_cntr *cntr)
{
	int ret;

	obj_ref_get(&cntr->refs, &mr->cntr_ref, &mr->fid.fid);
	set_cntr(mr, cntr);
	ret = obj_lease_recall(mr);	/* who has a lease is to know that writes are counted */
	if (ret) {
		set_cntr(mr, NULL);
		obj_ref_put(&mr->cntr_ref);
	}
	offer_again(mr);
	return ret;
}

static int mr_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	struct obj_mr *mr = container_of(fid, struct obj_mr, fid.fid);
	struct obj_domain *domain = mr->domain;
	struct obj_cntr *cntr;
	struct obj_ep *ep;

	switch (bfid->fclass) {
	case FI_CLASS_EP:
	case FI_CLASS_SEP:
	case FI_CLASS_RX_CTX:
		ep = obj_ep_of(container_of(bfid, struct fid_ep, fid));
		if (flags || mr->ep || ep->domain != domain)
			break;
		return bind_ep(mr, ep);
	case FI_CLASS_CNTR:
		cntr = container_of(bfid, struct obj_cntr, fid.fid);
		if (flags != FI_REMOTE_WRITE || mr->cntr || cntr->domain != domain)
			break;
		return mr_bind_cntr(mr, cntr);
	}
	FI_WARN(domain->prov, FI_LOG_MR,
		"a region takes one endpoint (flags 0) and one counter (flags FI_REMOTE_WRITE), "
		"both of its own domain\n");
	return -FI_EINVAL;
}

static int raw_attr(const struct obj_mr *mr, const struct fi_mr_raw_attr *attr)
{
	size_t room;

	if (!attr || !attr->key_size)
		return -FI_EINVAL;
	room = *attr->key_size;
	*attr->key_size = sizeof(mr->fid.key);
	if (room < sizeof(mr->fid.key))
		return -FI_ETOOSMALL;
	if (!attr->raw_key)
		return -FI_EINVAL;
	memcpy(attr->raw_key, &mr->fid.key, sizeof(mr->fid.key));
	if (attr->base_addr)
		*attr->base_addr = mr->base;
	return 0;
}

static bool iov_inside(const struct iovec *part, const struct iovec *whole)
{
	uintptr_t start = (uintptr_t) whole->iov_base, at = (uintptr_t) part->iov_base;

	return at >= start && part->iov_len <= whole->iov_len &&
	       at - start <= whole->iov_len - part->iov_len;
}

/* mr_end_leases - and give new ones, once no peer touches the memory. */
static int mr_end_leases(struct obj_mr *mr)
{
	int ret = obj_lease_end(mr);

	if (!ret)
		offer_again(mr);
	return ret;
}

/* Physical pages behind the region have changed.  We hold none, but what began before may
 * still be about to touch them.
 */
static int mr_renew(struct obj_mr *mr)
{
	unsigned was;
	int ret;

	if (mr->hw)
		return mr_end_leases(mr);
	ret = mr_settle(mr, 1u << !mr->phase, OBJ_REVOKE_MARK);
	if (ret)
		return ret;
	lock_get(&mr->domain->mr_lock);
	was = mr->phase;
	mr->phase = !was;
	lock_put(&mr->domain->mr_lock);
	ret = mr_settle(mr, 1u << was, OBJ_REVOKE_MARK);
	/* last: a connection that mr_settle() ends may leave a peer that is inside */
	return ret ? ret : mr_end_leases(mr);
}

static int mr_refresh(struct obj_mr *mr, const struct fi_mr_modify *modify)
{
	size_t i, k;

	if (!modify || (modify->attr.iov_count && !modify->attr.mr_iov))
		return -FI_EINVAL;
	for (i = 0; i < modify->attr.iov_count; i++) {
		for (k = 0; k < mr->iov_cnt; k++)
			if (iov_inside(&modify->attr.mr_iov[i], &mr->iov[k]))
				break;
		if (k == mr->iov_cnt)
			return -FI_EINVAL;
	}
	return mr_renew(mr);
}

static int mr_control(struct fid *fid, int command, void *arg)
{
	struct obj_mr *mr = container_of(fid, struct obj_mr, fid.fid);

	switch (command) {
	case FI_ENABLE:
		return mr->state == OBJ_MR_ENABLED ? 0 : map_region(mr);
	case FI_GET_RAW_MR:
		return mr->state == OBJ_MR_ENABLED ? raw_attr(mr, arg) : -FI_EOPBADSTATE;
	case FI_REFRESH:
		return mr_refresh(mr, arg);
	case FI_GET_MR_XPU_DESC:
		return mr->domain->xpu ? mr->domain->xpu->desc(mr, arg) : -FI_ENOSYS;
	default:
		return -FI_ENOSYS;
	}
}

static struct fi_ops mr_fid_ops = {
	.close = mr_close,
	.bind = mr_bind,
	.control = mr_control,
};
OBJ_OPS_TABLE(mr_fid_ops, fid)

/* ---- registering --------------------------------------------------------- */

static int mr_check_attr(const struct obj_domain *domain, const struct fi_mr_attr *attr,
			 uint64_t flags, uint64_t *len_p)
{
	size_t key_size = domain->attr->mr_key_size, i;

	if (flags & ~(uint64_t) (FLAGS | FI_MR_DMABUF | FI_AUTH_KEY))
		return mr_refuse(domain, -FI_EBADFLAGS, "unknown flags");
	if (attr->iface != FI_HMEM_SYSTEM && !(domain->info->caps & FI_HMEM))
		return mr_refuse(domain, -FI_EOPNOTSUPP, "it is memory of a device, and the domain was "
				 "opened without FI_HMEM: ask for that, and FI_MR_HMEM, in the hints");
	if ((flags & (FI_HMEM_DEVICE_ONLY | FI_HMEM_HOST_ALLOC)) ==
	    (FI_HMEM_DEVICE_ONLY | FI_HMEM_HOST_ALLOC))
		return mr_refuse(domain, -FI_EINVAL,
				 "FI_HMEM_DEVICE_ONLY and FI_HMEM_HOST_ALLOC exclude each other");
	if (!attr->mr_iov || !attr->iov_count || attr->iov_count > OBJ_MR_IOV_MAX)
		return mr_refuse(domain, -FI_EINVAL, "a region has 1 to 8 pieces");
	if (!(domain->mr_mode & FI_MR_PROV_KEY) && (attr->access & REMOTE) && key_size < 8 &&
	    key_size && attr->requested_key >> (key_size * 8))
		return mr_refuse(domain, -FI_EKEYREJECTED,
				 "the requested key does not fit the domain's mr_key_size");
	*len_p = 0;
	for (i = 0; i < attr->iov_count; i++) {
		if (attr->mr_iov[i].iov_len > UINT64_MAX - *len_p)
			return mr_refuse(domain, -FI_EINVAL, "the pieces are longer than memory");
		if (iov_wraps((uintptr_t) attr->mr_iov[i].iov_base, attr->mr_iov[i].iov_len))
			return mr_refuse(domain, -FI_EINVAL, "its end lies beyond the address space");
		*len_p += attr->mr_iov[i].iov_len;
	}
	return 0;
}

/* Some regions wait for objects to be bound before peers may see them. */
static bool waits_for_bind(const struct obj_domain *domain, uint64_t flags)
{
	return (domain->mr_mode & FI_MR_ENDPOINT) ||
	       ((domain->mr_mode & FI_MR_RMA_EVENT) && (flags & FI_RMA_EVENT));
}

/* The number of a device of @attr, whose union depends on the interface. */
static uint64_t device_of(const struct fi_mr_attr *attr)
{
	switch (attr->iface) {
	case FI_HMEM_CUDA:
		return (unsigned) attr->device.cuda;
	case FI_HMEM_ROCR:
		return (unsigned) attr->device.rocr;
	case FI_HMEM_ZE:
		return (unsigned) attr->device.ze;
	case FI_HMEM_NEURON:
		return (unsigned) attr->device.neuron;
	case FI_HMEM_SYNAPSEAI:
		return (unsigned) attr->device.synapseai;
	default:
		return 0;
	}
}

/* mr_locate - fill in mr->loc; all pieces must be of one device.  There is never a fallback: what
 * cannot be located is refused with its reason.
 */
static int mr_locate(struct obj_mr *mr, const struct fi_mr_attr *attr)
{
	const struct obj_domain *domain = mr->domain;
	uint64_t device = device_of(attr);
	struct hmem_loc other;
	const char *why = "";
	size_t i;
	int ret = 0;

	for (i = 0; i < mr->iov_cnt && !ret; i++) {
		ret = hmem_find(attr->iface, device, mr->iov[i].iov_base, mr->iov[i].iov_len,
				mr->flags, i ? &other : &mr->loc, &why);
		if (i && !ret) {
			hmem_forget(&other);
			hmem_forget(&mr->loc);	/* its mapping is of one piece only */
		}
		if (!ret && i && other.host != mr->loc.host) {
			why = "its pieces are memory of several kinds: register each apart";
			ret = -FI_EINVAL;
		}
	}
	if (!ret && mr->loc.dmabuf_only && !(domain->ops && domain->ops->mr_open)) {
		why = "it can be reached by RDMA devices only";
		ret = -FI_EOPNOTSUPP;
	}
	if (!ret)
		return 0;
	hmem_forget(&mr->loc);
	FI_WARN(domain->prov, FI_LOG_MR, "cannot register memory at %p of %s device %llu: %s\n",
		mr->iov[0].iov_base, hmem_name(attr->iface), (unsigned long long) device, why);
	return hmem_errno(ret);
}

/* locate_dmabuf - of a dma-buf that hardware takes.  It needs no library of the device; where there is
 * one that knows the memory, it can be copied, too.
 */
static void locate_dmabuf(struct obj_mr *mr, const struct fi_mr_attr *attr)
{
	uint64_t device = device_of(attr);
	const char *why;

	if (attr->iface != FI_HMEM_SYSTEM && attr->dmabuf->base_addr &&
	    !hmem_find(attr->iface, device, mr->iov[0].iov_base, mr->iov[0].iov_len, mr->flags, &mr->loc,
		       &why))
		return;
	mr->loc = (struct hmem_loc) { .iface = (uint8_t) attr->iface, .device = device,
				      .dmabuf_only = true };
}

static void report_to_eq(struct obj_mr *mr)
{
	struct fi_eq_entry entry = { .fid = &mr->fid.fid, .context = mr->fid.fid.context };
	struct obj_domain *domain = mr->domain;

	if (domain->eq && (domain->eq_flags & FI_REG_MR))
		obj_eq_write(domain->eq, FI_MR_COMPLETE, &entry, sizeof(entry));
}

/* new_region - its memory is that of @pieces; it has no length yet, and no key finds it. */
static struct obj_mr *new_region(struct obj_domain *domain, const struct fi_mr_attr *attr,
				 const struct fi_mr_attr *pieces, uint64_t flags)
{
	struct obj_mr *mr = calloc(1, sizeof(*mr) + pieces->iov_count * sizeof(mr->iov[0]));

	if (!mr)
		return NULL;
	obj_fid_init(&mr->fid.fid, FI_CLASS_MR, attr->context, &mr_fid_ops);
	mr->fid.mem_desc = mr;
	mr->fid.key = domain->mr_mode & FI_MR_PROV_KEY ? FI_KEY_NOTAVAIL : attr->requested_key;
	mr->domain = domain;
	mr->process = obj_process;
	/* programs add mode and capability bits, as FI_MR_LOCAL, which grant nothing */
	mr->access = attr->access & ACCESS;
	mr->flags = flags;
	mr->iov_cnt = pieces->iov_count;
	memcpy(mr->iov, pieces->mr_iov, pieces->iov_count * sizeof(mr->iov[0]));
	if (domain->mr_mode & FI_MR_VIRT_ADDR)
		mr->base = (uintptr_t) pieces->mr_iov[0].iov_base;
	return mr;
}

int obj_mr_regattr(struct fid *fid, const struct fi_mr_attr *attr, uint64_t flags,
		   struct fid_mr **mr_p)
{
	struct obj_domain *domain = container_of(fid, struct obj_domain, fid.fid);
	struct fi_mr_attr pieces;
	struct iovec iov;
	struct obj_mr *mr;
	uint64_t len = 0;
	int ret;

	if (fid->fclass != FI_CLASS_DOMAIN || !attr || !mr_p)
		return -FI_EINVAL;
	/* Only then it is one: other providers may be given anything there. */
	if ((flags & FI_MR_DMABUF) && !(domain->ops && domain->ops->mr_dmabuf) &&
	    attr->iface == FI_HMEM_SYSTEM)
		return mr_refuse(domain, -FI_EOPNOTSUPP, "dma-buf regions need a hardware provider, or "
				 "the interface of a device that copies them");
	pieces = *attr;
	if ((flags & FI_MR_DMABUF) && attr->dmabuf) {
		iov.iov_base = (char *) attr->dmabuf->base_addr + attr->dmabuf->offset;
		iov.iov_len = attr->dmabuf->len;
		pieces.mr_iov = &iov;
		pieces.iov_count = 1;
	}
	ret = mr_check_attr(domain, &pieces, flags, &len);
	if (!ret)
		ret = check_auth_key(domain, attr, flags);
	if (ret)
		return ret;
	mr = new_region(domain, attr, &pieces, flags);
	if (!mr)
		return -FI_ENOMEM;
	mr->len = len;
	ret = set_auth_key(mr, attr);
	if (ret)
		goto free_mr;
	if ((flags & FI_MR_DMABUF) && attr->dmabuf && domain->ops && domain->ops->mr_dmabuf)
		locate_dmabuf(mr, attr);
	else if (attr->iface != FI_HMEM_SYSTEM)
		ret = mr_locate(mr, attr);
	if (!ret && domain->ops && domain->ops->mr_open)
		ret = domain->ops->mr_open(mr, attr, flags);
	if (!ret && !waits_for_bind(domain, flags))
		ret = map_region(mr);
	if (ret)
		goto forget_loc;
	obj_ref_get(&domain->refs, &mr->domain_ref, &mr->fid.fid);
	*mr_p = &mr->fid;
	report_to_eq(mr);
	return 0;

forget_loc:
	hmem_forget(&mr->loc);
	wipe_auth_key(mr);
free_mr:
	free(mr);
	return ret;
}

int obj_mr_regv(struct fid *fid, const struct iovec *iov, size_t cnt, uint64_t access,
		uint64_t offset, uint64_t requested_key, uint64_t flags,
		struct fid_mr **mr_p, void *context)
{
	struct fi_mr_attr attr = {
		.mr_iov = iov, .iov_count = cnt, .access = access, .offset = offset,
		.requested_key = requested_key, .context = context,
	};

	return obj_mr_regattr(fid, &attr, flags, mr_p);
}

int obj_mr_reg(struct fid *fid, const void *buf, size_t len, uint64_t access,
	       uint64_t offset, uint64_t requested_key, uint64_t flags,
	       struct fid_mr **mr_p, void *context)
{
	struct iovec iov = { .iov_base = (void *) buf, .iov_len = len };

	return obj_mr_regv(fid, &iov, 1, access, offset, requested_key, flags, mr_p, context);
}

/* ---- the gate ------------------------------------------------------------ */

/* Which endpoint a region is bound to: a context stands for its scalable one. */
static bool mr_usable_by(const struct obj_mr *mr, const struct obj_ep *ep)
{
	return !ep || ((!mr->ep || mr->ep == ep || mr->ep == ep->sep) && obj_mr_key_fits(mr, ep));
}

static int check_access(const struct obj_mr *mr, const struct obj_ep *ep, uint64_t addr,
			uint64_t len, uint64_t access)
{
	uint64_t at = addr - mr->base;

	if ((mr->access & access) != access || !mr_usable_by(mr, ep))
		return -FI_EACCES;
	/* Differences only: no sum here can wrap. */
	if (addr < mr->base || at > mr->len || len > mr->len - at)
		return -FI_EINVAL;
	return 0;
}

int obj_mr_enter(struct obj_domain *domain, struct obj_ep *ep, uint64_t key, uint64_t addr,
		 uint64_t len, uint64_t access, struct iovec *out, size_t *cnt_p,
		 struct obj_mr_use *use)
{
	struct obj_mr *mr;
	int ret = -FI_ENOKEY;

	lock_get(&domain->mr_lock);
	mr = hmap_find(&domain->mr_map, key);
	if (mr)
		ret = check_access(mr, ep, addr, len, access);
	if (!ret) {
		*cnt_p = iov_slice(mr->iov, mr->iov_cnt, addr - mr->base, len, out);
		*use = (struct obj_mr_use) { mr, mr->phase };
		atomic_fetch_add_explicit(&mr->uses[mr->phase], 1, memory_order_relaxed);
	}
	lock_put(&domain->mr_lock);
	return ret;
}

bool obj_mr_put(struct obj_domain *domain, struct obj_ep *ep, uint64_t key, uint64_t addr,
		const void *data, size_t len)
{
	struct obj_mr *mr;
	bool done;

	lock_get(&domain->mr_lock);
	mr = hmap_find(&domain->mr_map, key);
	done = mr && mr->iov_cnt == 1 && mr->loc.iface == FI_HMEM_SYSTEM &&
	       !check_access(mr, ep, addr, len, FI_REMOTE_WRITE);
	if (done)
		memcpy(iov_at(&mr->iov[0], addr - mr->base), data, len);
	lock_put(&domain->mr_lock);
	return done;
}

bool obj_mr_counts(struct obj_domain *domain, uint64_t key)
{
	struct obj_mr *mr;
	bool counts;

	lock_get(&domain->mr_lock);
	mr = hmap_find(&domain->mr_map, key);
	counts = mr && mr->cntr;
	lock_put(&domain->mr_lock);
	return counts;
}
