/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "obj/av.h"

#include <net/if.h>
#include <rdma/providers/fi_log.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/ib_addr.h"
#include "base/net_addr.h"
#include "obj/av_key.h"
#include "obj/av_shared.h"
#include "obj/av_table.h"
#include "obj/av_user.h"
#include "obj/domain.h"
#include "obj/ep.h"
#include "obj/eq.h"
#include "obj/ops.h"

#define INSERT_FLAGS (FI_MORE | FI_SYNC_ERR | FI_AV_USER_ID | FI_AUTH_KEY)

/* ---- formats ------------------------------------------------------------- */

/* Bytes of an address in the arrays that programs pass; 0: unknown format.
 * Formats whose addresses have a length field give the largest.
 */
static size_t format_len(uint32_t format)
{
	switch (format) {
	case FI_SOCKADDR_IN:
		return sizeof(struct sockaddr_in);
	case FI_SOCKADDR_IN6:
	case FI_SOCKADDR:
	case FI_SOCKADDR_IP:
		return sizeof(struct sockaddr_in6);
	case FI_SOCKADDR_IB:
		return sizeof(struct ib_sa);
	case FI_ADDR_IB_UD:
		return sizeof(struct ib_ud);
	case FI_ADDR_STR:
		return OBJ_ADDR_MAX;
	default:
		return 0;
	}
}

static bool is_ip(uint32_t format)
{
	return net_addr_family(format) >= 0;
}

/* Why an address of InfiniBand cannot be one; NULL: it can, or is of another format. */
static const char *ib_wrong(uint32_t format, const void *addr)
{
	if (format == FI_ADDR_IB_UD)
		return ib_ud_wrong(addr, format_len(format));
	return format == FI_SOCKADDR_IB ? ib_sa_wrong(addr, format_len(format)) : NULL;
}

/* The address at @addr: its bytes and length, or why it cannot be one. */
static int check_addr(const struct obj_av *av, const void *addr, size_t *len_p)
{
	const struct sockaddr *sa = addr;
	int family;

	if (av->addr_format == FI_ADDR_STR) {
		*len_p = strnlen(addr, OBJ_ADDR_MAX) + 1;
		return *len_p > OBJ_ADDR_MAX || *len_p == 1 ? -FI_EINVAL : 0;
	}
	*len_p = format_len(av->addr_format);
	if (!is_ip(av->addr_format))
		return ib_wrong(av->addr_format, addr) ? -FI_EINVAL : 0;
	*len_p = net_addr_len(sa);
	family = net_addr_family(av->addr_format);
	if (!*len_p || (family != AF_UNSPEC && sa->sa_family != family))
		return -FI_EINVAL;
	/* Port 0 and "any address" are no addresses of a peer. */
	return !net_addr_port(sa) || net_addr_is_any(sa) ? -FI_EINVAL : 0;
}

/* ---- inserting ----------------------------------------------------------- */

static void warn_bad_addr(struct obj_av *av, size_t i, const void *addr)
{
	const char *why = ib_wrong(av->addr_format, addr);
	char text[NET_ADDR_TEXT_MAX];

	if (why)
		FI_WARN(av->domain->prov, FI_LOG_AV, "address %zu of the insertion is none of a peer: "
			"%s\n", i, why);
	else
		FI_WARN(av->domain->prov, FI_LOG_AV,
			"address %zu of the insertion (%s) is none that this domain can reach: "
			"it needs the domain's address format, a host and a port other than 0\n",
			i, is_ip(av->addr_format) ? net_addr_text(addr, text) : "unreadable");
}

/* Programs pack addresses into messages, where they lie as they fall. */
static const void *addr_aligned(const void *addr, union net_sa *copy)
{
	size_t len;

	if ((uintptr_t) addr % _Alignof(union net_sa) == 0)
		return addr;
	memcpy(&copy->sa.sa_family, addr, sizeof(copy->sa.sa_family));
	len = net_addr_len(&copy->sa);
	if (len)
		memcpy(copy, addr, len);
	return copy;
}

/* The link that the domain's endpoints are on. */
static uint32_t scope_of(const struct obj_domain *domain)
{
	const struct fi_info *info = domain->info;
	const struct sockaddr_in6 *src = info ? info->src_addr : NULL;

	if (!info || !is_ip(domain->addr_format))
		return 0;
	if (src && src->sin6_family == AF_INET6 && src->sin6_scope_id)
		return src->sin6_scope_id;
	return info->domain_attr->name ? if_nametoindex(info->domain_attr->name) : 0;
}

/* A link-local address that does not say on which link it is can only be on ours. */
static const void *with_scope(const struct obj_av *av, const void *addr, union net_sa *copy)
{
	const struct sockaddr_in6 *in6 = addr;

	if (in6->sin6_family != AF_INET6 || in6->sin6_scope_id || !net_addr_is_link_local(addr))
		return addr;
	memmove(copy, addr, sizeof(copy->in6));
	copy->in6.sin6_scope_id = av->scope;
	return copy;
}

/* One address; av->lock is held.  *@fi_addr is its user id on entry with FI_AV_USER_ID, and with FI_AUTH_KEY the
 * fi_addr_t of its key.
 */
static int insert_one(struct obj_av *av, const void *addr, uint64_t flags, fi_addr_t *fi_addr)
{
	union net_sa copy;
	uint32_t i = 0;
	size_t len;
	int ret;

	if (addr && is_ip(av->addr_format))
		addr = with_scope(av, addr_aligned(addr, &copy), &copy);
	ret = addr ? check_addr(av, addr, &len) : -FI_EINVAL;
	if ((flags & FI_AUTH_KEY) && (!av->key || *fi_addr != OBJ_AV_KEY_ADDR))
		ret = -FI_ENOKEY;
	if (!ret)
		ret = av_table_put(av, addr, len, &i);
	if (!ret && (flags & FI_AV_USER_ID)) {
		ret = obj_av_user_set(av, i, *fi_addr);
		if (ret)
			av_table_del(av, i);
	}
	if (ret)
		return ret;
	if (fi_addr)
		*fi_addr = i;
	return 0;
}

static int check_insert(struct obj_av *av, size_t count, fi_addr_t *fi_addr, uint64_t flags,
			void *context)
{
	const struct fi_provider *prov = av->domain->prov;

	if (flags & ~(uint64_t) INSERT_FLAGS) {
		FI_WARN(prov, FI_LOG_AV, "fi_av_insert: unknown flags 0x%llx\n",
			(unsigned long long) (flags & ~(uint64_t) INSERT_FLAGS));
		return -FI_EINVAL;
	}
	if (obj_keys_in_av(av->domain) ? (flags & FI_AV_USER_ID) || !(flags & FI_AUTH_KEY) || !fi_addr :
					 (flags & FI_AUTH_KEY) != 0) {
		FI_WARN(prov, FI_LOG_AV, "fi_av_insert: in domains with FI_AV_AUTH_KEY, and in no others, FI_AUTH_KEY "
			"and the key's fi_addr_t in fi_addr say with which key an address is reached, and "
			"fi_av_set_user_id() gives user ids\n");
		return -FI_EINVAL;
	}
	if ((flags & FI_AV_USER_ID) && (av->flags & FI_AV_USER_ID)) {
		FI_WARN(prov, FI_LOG_AV, "fi_av_insert: the vector was opened with FI_AV_USER_ID: "
			"fi_av_set_user_id() gives the ids\n");
		return -FI_EINVAL;
	}
	if ((av->flags & FI_EVENT) && !av->eq) {
		FI_WARN(prov, FI_LOG_AV, "this address vector inserts asynchronously "
			"(FI_EVENT): bind an event queue to it first\n");
		return -FI_ENOEQ;
	}
	if ((flags & FI_SYNC_ERR) && ((av->flags & FI_EVENT) || (!context && count))) {
		FI_WARN(prov, FI_LOG_AV, "FI_SYNC_ERR needs an array of int as context, and a "
			"vector without FI_EVENT\n");
		return -FI_EINVAL;
	}
	if ((flags & FI_AV_USER_ID) && !fi_addr && count) {
		FI_WARN(prov, FI_LOG_AV, "FI_AV_USER_ID needs the ids in the fi_addr array\n");
		return -FI_EINVAL;
	}
	return 0;
}

/* The outcome for address @at of a call, where the program asked for it. */
static void report_failure(struct obj_av *av, size_t at, int err, fi_addr_t *fi_addr,
			   void *context)
{
	struct fi_eq_err_entry entry = {
		.fid = &av->fid.fid, .context = context, .data = at, .err = err,
	};

	if (fi_addr)
		fi_addr[at] = FI_ADDR_NOTAVAIL;
	if (av->flags & FI_EVENT)
		obj_eq_write_err(av->eq, &entry, NULL, 0);
}

void obj_av_notify(struct obj_av *av, fi_addr_t removed)
{
	bool added = removed == FI_ADDR_UNSPEC;
	struct obj_ep *ep;

	pthread_mutex_lock(&av->eps_lock);
	list_for_each_entry(ep, &av->eps, av_node) {
		if (!ep->enabled || !(added ? ep->ops->av_inserted != NULL : ep->ops->av_removed != NULL))
			continue;
		lock_get(&ep->prog->lock);
		if (added)
			ep->ops->av_inserted(ep);
		else
			ep->ops->av_removed(ep, removed);
		lock_put(&ep->prog->lock);
	}
	pthread_mutex_unlock(&av->eps_lock);
}

/* The lock, and that of the file of a shared vector.  Errors: as av_shared_enter(). */
static int av_enter(struct obj_av *av, bool change)
{
	int ret;

	lock_get(&av->lock);
	ret = av_shared_enter(av, change);
	if (ret)
		lock_put(&av->lock);
	return ret;
}

static void av_leave(struct obj_av *av, bool change)
{
	av_shared_leave(av, change);
	lock_put(&av->lock);
}

int obj_av_insert_from(struct obj_av *av, obj_av_next_fn next, void *source, size_t count,
		       fi_addr_t *fi_addr, uint64_t flags, void *context)
{
	struct fi_eq_entry done = { .fid = &av->fid.fid, .context = context };
	size_t i, ok = 0;
	const void *addr;
	int ret;

	ret = check_insert(av, count, fi_addr, flags, context);
	if (!ret)
		ret = av_enter(av, true);
	if (ret)
		return ret;
	for (i = 0; i < count; i++) {
		addr = next(av, source, i);
		ret = insert_one(av, addr, flags, fi_addr ? &fi_addr[i] : NULL);
		if (flags & FI_SYNC_ERR)
			((int *) context)[i] = -ret;
		if (!ret) {
			ok++;
			continue;
		}
		if (addr && ret == -FI_EINVAL)
			warn_bad_addr(av, i, addr);
		report_failure(av, i, -ret, fi_addr, context);
	}
	av_leave(av, true);
	ret = (int) ok;
	if (av->flags & FI_EVENT) {
		done.data = ok;
		ret = obj_eq_write(av->eq, FI_AV_COMPLETE, &done, sizeof(done));
	}
	if (ok)
		obj_av_notify(av, FI_ADDR_UNSPEC);
	return ret;
}

/* Addresses lie one behind the other; strings are pointed to. */
static const void *next_in_array(struct obj_av *av, void *source, size_t i)
{
	const char **at = source;
	const void *addr = *at;

	if (av->addr_format == FI_ADDR_STR)
		return ((char *const *) addr)[i];
	if (av->addr_format == FI_SOCKADDR || av->addr_format == FI_SOCKADDR_IP)
		*at += net_addr_len(addr) ? net_addr_len(addr) : sizeof(struct sockaddr_in);
	else
		*at += format_len(av->addr_format);
	return addr;
}

/* Names that lie one behind the other, each with its 0. */
static const void *next_in_text(struct obj_av *av, void *source, size_t i)
{
	const char **at = source, *name = *at;

	*at += strlen(name) + 1;
	return name;
}

/* is_text - fi_av(3) has an array of pointers for FI_ADDR_STR, while many programs pass
 * what fi_getname() gave them, as they do for other formats.  No pointer to user memory
 * is eight bytes without a zero among them; a name is, unless it is very short.
 */
static bool is_text(const struct obj_av *av, const char *addr)
{
	return av->addr_format == FI_ADDR_STR &&
	       strnlen(addr, sizeof(char *)) == sizeof(char *);
}

static int av_insert(struct fid_av *fid, const void *addr, size_t count, fi_addr_t *fi_addr,
		     uint64_t flags, void *context)
{
	struct obj_av *av = obj_av_of(fid);

	if (!addr && count) {
		FI_WARN(av->domain->prov, FI_LOG_AV, "fi_av_insert: no addresses (NULL)\n");
		return -FI_EINVAL;
	}
	return obj_av_insert_from(av, count && is_text(av, addr) ? next_in_text : next_in_array,
				  &addr, count, fi_addr, flags, context);
}

/* ---- removing, looking up ------------------------------------------------ */



static int remove_one(struct obj_av *av, fi_addr_t fi_addr)
{
	uint32_t i = (uint32_t) fi_addr;
	bool live;
	int ret = av_enter(av, false);

	if (ret)
		return ret;
	live = fi_addr == i && av_table_live(av, i);
	av_leave(av, false);
	if (!live)
		return -FI_EINVAL;
	if (atomic_load(&av->xpu))
		av->domain->xpu->addr_gone(av, fi_addr);
	obj_av_notify(av, fi_addr);
	ret = av_enter(av, true);
	if (ret)
		return ret;
	live = av_table_live(av, i);	/* or another thread was quicker */
	if (live) {
		av_table_del(av, i);
		obj_av_user_clear(av, i);
	}
	av_leave(av, true);
	return live ? 0 : -FI_EINVAL;
}

static int av_remove(struct fid_av *fid, fi_addr_t *fi_addr, size_t count, uint64_t flags)
{
	struct obj_av *av = obj_av_of(fid);
	size_t i;
	int ret;

	if (flags == FI_AUTH_KEY && fi_addr && count == 1)
		return obj_av_key_remove(av, *fi_addr);
	if (flags || (!fi_addr && count)) {
		FI_WARN(av->domain->prov, FI_LOG_AV, "fi_av_remove: %s\n",
			flags ? "flags must be 0, or FI_AUTH_KEY for one key" : "no addresses (NULL)");
		return -FI_EINVAL;
	}
	/* From the last to the first, so that an index that cannot be removed
	 * stops the call before the lower ones are free to be given out again.
	 */
	for (i = count; i-- > 0; ) {
		ret = remove_one(av, fi_addr[i]);
		if (ret) {
			FI_WARN(av->domain->prov, FI_LOG_AV,
				"fi_av_remove: fi_addr %llu is not in this address vector\n",
				(unsigned long long) fi_addr[i]);
			return ret;
		}
	}
	return 0;
}

int obj_av_addr_slow(struct obj_av *av, uint32_t i, void *addr, size_t *len)
{
	int ret = av_enter(av, false);

	if (ret)
		return ret;
	ret = av_table_get(av, i, addr, len);
	av_leave(av, false);
	return ret;
}

static int av_lookup(struct fid_av *fid, fi_addr_t fi_addr, void *addr, size_t *addrlen)
{
	struct obj_av *av = obj_av_of(fid);
	_Alignas(8) char buf[OBJ_ADDR_MAX];
	size_t len;
	unsigned rx;
	uint32_t i = obj_av_index(av, fi_addr, &rx);

	if (!addrlen || (!addr && *addrlen) || (!av->rx_ctx_bits && fi_addr != i) ||
	    obj_av_addr(av, i, buf, &len))
		return -FI_EINVAL;
	if (addr)
		memcpy(addr, buf, len < *addrlen ? len : *addrlen);
	*addrlen = len;
	return 0;
}

static int av_lookup2(struct fid_av *fid, fi_addr_t fi_addr, void *buf, size_t *len,
		      uint64_t flags, struct fid_xpu_ctx *ctx)
{
	struct obj_domain *domain = obj_av_of(fid)->domain;

	if (flags == FI_XPU)
		return domain->xpu ? domain->xpu->addr(obj_av_of(fid), fi_addr, buf, len, ctx) :
				     obj_domain_no_xpu(domain, "fi_av_lookup2");
	if (flags) {
		FI_WARN(domain->prov, FI_LOG_AV, "fi_av_lookup2: flags are neither 0 nor FI_XPU\n");
		return -FI_ENOSYS;
	}
	return ctx ? -FI_EINVAL : av_lookup(fid, fi_addr, buf, len);
}

static const char *av_straddr(struct fid_av *fid, const void *addr, char *buf, size_t *len)
{
	struct obj_av *av = obj_av_of(fid);
	char text[IB_ADDR_TEXT_MAX];

	if (is_ip(av->addr_format))
		return net_addr_straddr(addr, buf, len);
	if (av->addr_format == FI_ADDR_IB_UD)
		addr = ib_ud_text(addr, text);
	else if (av->addr_format == FI_SOCKADDR_IB)
		addr = ib_sa_text(addr, text);
	*len = (size_t) snprintf(buf, *len, "%s", (const char *) addr) + 1;
	return buf;
}

/* ---- for endpoints ------------------------------------------------------- */

fi_addr_t obj_av_find(struct obj_av *av, const void *addr, size_t len)
{
	uint32_t i = UINT32_MAX;

	if (av->addr_format == FI_SOCKADDR_IN && len < sizeof(struct sockaddr_in))
		return FI_ADDR_NOTAVAIL;
	if (!av_enter(av, false)) {
		i = av_table_find(av, addr, len);
		av_leave(av, false);
	}
	return i == UINT32_MAX ? FI_ADDR_NOTAVAIL : obj_av_user_id(av, i);
}

/* ---- opening and closing ------------------------------------------------- */

static void av_free(struct obj_av *av)
{
	obj_refs_fini(&av->refs);
	lock_destroy(&av->lock);
	pthread_mutex_destroy(&av->eps_lock);
	free(av->numbers);
	free(av);
}

static int av_close(struct fid *fid)
{
	struct obj_av *av = container_of(fid, struct obj_av, fid.fid);
	int ret;

	if (obj_inherited(&av->refs))
		return 0;
	ret = obj_refs_busy(&av->refs, fid, av->domain->prov, FI_LOG_AV);
	if (ret)
		return ret;
	if (atomic_load(&av->xpu))
		av->domain->xpu->addr_gone(av, FI_ADDR_UNSPEC);
	av_table_free(av);
	av_shared_close(av);
	obj_av_user_free(av);
	obj_av_key_free(av);
	obj_ref_put(&av->eq_ref);
	obj_ref_put(&av->domain_ref);
	av_free(av);
	return 0;
}

static int av_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	struct obj_av *av = container_of(fid, struct obj_av, fid.fid);

	if (bfid->fclass != FI_CLASS_EQ || flags || av->eq) {
		FI_WARN(av->domain->prov, FI_LOG_AV,
			"an address vector takes one event queue, with flags 0\n");
		return -FI_EINVAL;
	}
	av->eq = container_of(bfid, struct obj_eq, fid.fid);
	obj_ref_get(&av->eq->refs, &av->eq_ref, fid);
	return 0;
}

/* The domain's av_type only limits what may be asked for here if it was stated. */
static int av_check_attr(struct obj_domain *domain, const struct fi_av_attr *attr)
{
	const char *why = NULL;
	int ret = -FI_EINVAL;

	if (attr->type > FI_AV_TABLE)
		why = "unknown type";
	else if (attr->rx_ctx_bits < 0 || attr->rx_ctx_bits > 32)
		why = "rx_ctx_bits must be 0 to 32";
	else if (attr->flags & ~(uint64_t) (FI_EVENT | FI_READ | FI_SYMMETRIC | FI_AV_USER_ID |
						FI_PEER))
		why = "unknown flags";
	else if ((attr->flags & FI_READ) && !attr->name)
		why = "FI_READ opens a shared vector: give its name";
	else if (!format_len(domain->addr_format)) {
		why = "the domain's address format has no address vector";
		ret = -FI_ENOSYS;
	}
	if (!why)
		return 0;
	FI_WARN(domain->prov, FI_LOG_AV, "cannot open an address vector: %s\n", why);
	return ret;
}

static struct fi_ops av_fid_ops = {
	.close = av_close,
	.bind = av_bind,
};
OBJ_OPS_TABLE(av_fid_ops, fid)

static struct fi_ops_av av_ops = {
	.insert = av_insert,
	.insertsvc = obj_av_insertsvc,
	.insertsym = obj_av_insertsym,
	.remove = av_remove,
	.lookup = av_lookup,
	.lookup2 = av_lookup2,
	.straddr = av_straddr,
	.av_set = obj_av_set_open,
	.insert_auth_key = obj_av_insert_auth_key,
	.lookup_auth_key = obj_av_lookup_auth_key,
	.set_user_id = obj_av_set_user_id,
};
OBJ_OPS_TABLE(av_ops, av)

static void set_layout(struct obj_av *av, const struct obj_domain *domain)
{
	av->addr_format = domain->addr_format;
	av->ip4 = av->addr_format == FI_SOCKADDR_IN;
	av->slot_size = av->ip4 ? sizeof(union obj_av_ip4)
		: (uint32_t) (sizeof(struct obj_av_slot) + ((format_len(av->addr_format) + 7) & ~(size_t) 7));
	av->direct = av->ip4;
}

/* The owner inserts into both vectors, in step, and says what kind its own is. */
static int ask_owner(struct obj_domain *domain, struct fi_av_attr *attr,
		     const struct fi_peer_av_context *context)
{
	struct fi_av_attr theirs = *attr;
	int ret = -FI_EINVAL;

	if (context && context->size >= sizeof(*context) && context->av &&
	    context->av->owner_ops && context->av->owner_ops->query)
		ret = context->av->owner_ops->query(context->av, &theirs);
	if (ret) {
		FI_WARN(domain->prov, FI_LOG_AV, "cannot open an address vector with FI_PEER: its "
			"owner does not say what it is: %s\n", fi_strerror(-ret));
		return ret;
	}
	attr->type = theirs.type;
	attr->rx_ctx_bits = theirs.rx_ctx_bits;
	attr->count = theirs.count;
	return 0;
}

/* number_entries - programs that open a vector that others fill find the numbers of its entries where
 * map_addr points: [i] is that of the i-th.
 */
static int number_entries(struct obj_av *av, struct fi_av_attr *attr)
{
	size_t cnt = attr->count > AV_NUMBERS_MIN ? attr->count : AV_NUMBERS_MIN;

	if (cnt > AV_SHARED_MAX)
		cnt = AV_SHARED_MAX;
	av->numbers = malloc(cnt * sizeof(*av->numbers));
	if (!av->numbers)
		return -FI_ENOMEM;
	for (size_t i = 0; i < cnt; i++)
		av->numbers[i] = i;
	attr->map_addr = av->numbers;
	return 0;
}

int obj_av_open(struct fid_domain *fid, struct fi_av_attr *attr, struct fid_av **av_p,
		void *context)
{
	struct obj_domain *domain = obj_domain_of(fid);
	struct obj_av *av;
	int ret;

	if (!attr)
		return -FI_EINVAL;
	ret = attr->flags & FI_PEER ? ask_owner(domain, attr, context) : 0;
	if (!ret)
		ret = av_check_attr(domain, attr);
	if (ret)
		return ret;
	av = calloc(1, sizeof(*av));
	if (!av)
		return -FI_ENOMEM;
	obj_fid_init(&av->fid.fid, FI_CLASS_AV, context, &av_fid_ops);
	av->fid.ops = &av_ops;
	av->domain = domain;
	av->rx_ctx_bits = attr->rx_ctx_bits;
	av->type = attr->type == FI_AV_UNSPEC ? FI_AV_TABLE : attr->type;
	av->flags = attr->flags;
	set_layout(av, domain);
	av->scope = scope_of(domain);
	/* Always a lock: these are control calls, which any thread may make. */
	lock_init(&av->lock, LOCK_MUTEX);
	pthread_mutex_init(&av->eps_lock, NULL);
	list_init(&av->eps);
	obj_refs_init(&av->refs);
	if (attr->name) {
		ret = av_shared_open(av, attr->name, attr->flags);
		if (ret)
			goto free_av;
		av->direct = false;
		ret = number_entries(av, attr);
		if (ret)
			goto free_av;
	}
	attr->type = av->type;
	obj_ref_get(&domain->refs, &av->domain_ref, &av->fid.fid);
	*av_p = &av->fid;
	return 0;

free_av:
	av_shared_close(av);
	av_free(av);
	return ret;
}
