/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>

#include "hmem/mem.h"
#include "net/opt.h"
#include "obj/endpoint/by_msg.h"
#include "obj/ep.h"
#include "obj/ops.h"

/* fi_control(), aliases, fi_getopt() and fi_setopt(). */

/* Operation flags that a program may make the default. */
#define OP_FLAGS (FI_COMPLETION | FI_COMMIT_COMPLETE | FI_DELIVERY_COMPLETE | FI_INJECT | \
		  FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE | FI_MATCH_COMPLETE | \
		  FI_MULTICAST | FI_MULTI_RECV)
/* Those that an alias may have besides; its calls are then made as calls with flags. */
#define ALIAS_FLAGS (FI_TRIGGER | FI_FENCE | FI_MORE | FI_REMOTE_CQ_DATA | FI_PEEK | FI_CLAIM | \
		     FI_DISCARD)

/* ---- operation flags and aliases ----------------------------------------- */

/* Exactly one of FI_TRANSMIT and FI_RECV says which flags are meant. */
static uint64_t *op_flags_of(struct obj_ep_handle *h, uint64_t which)
{
	switch (which & (FI_TRANSMIT | FI_RECV)) {
	case FI_TRANSMIT:
		return &h->tx_op_flags;
	case FI_RECV:
		return &h->rx_op_flags;
	default:
		return NULL;
	}
}

/* set_op_flags - @may: more than the flags that every handle may have */
static int set_op_flags(struct obj_ep_handle *h, uint64_t flags, uint64_t may)
{
	uint64_t *to = op_flags_of(h, flags), set = flags & ~(FI_TRANSMIT | FI_RECV);

	if (!to)
		return -FI_EINVAL;
	if (set & ~(OP_FLAGS | may))
		return -FI_EBADFLAGS;
	*to = set;
	return 0;
}

static int set_alias_flags(struct obj_ep_handle *alias, uint64_t flags)
{
	int ret = set_op_flags(alias, flags, ALIAS_FLAGS);

	if (!ret)
		obj_by_msg(&alias->fid, (alias->tx_op_flags | alias->rx_op_flags) & ALIAS_FLAGS);
	return ret;
}

static int get_op_flags(struct obj_ep_handle *h, uint64_t *flags)
{
	const uint64_t *from = op_flags_of(h, *flags);

	if (!from)
		return -FI_EINVAL;
	*flags = *from;
	return 0;
}

struct alias {
	struct obj_ep_handle h;		/* first */
	struct obj_ref ref;		/* it holds its endpoint */
	unsigned process;		/* that opened it: obj_opened_before_fork() */
};

static int alias_close(struct fid *fid)
{
	struct alias *alias = container_of(fid, struct alias, h.fid.fid);

	if (obj_opened_before_fork(alias->process))
		return 0;
	obj_ref_put(&alias->ref);
	free(alias);
	return 0;
}

static int alias_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	struct fid *self = &container_of(fid, struct obj_ep_handle, fid.fid)->ep->h.fid.fid;

	return self->ops->bind(self, bfid, flags);
}

/* Flags and further aliases are the alias's own; the rest is the endpoint's. */
static int alias_control(struct fid *fid, int command, void *arg)
{
	struct fid *self = &container_of(fid, struct obj_ep_handle, fid.fid)->ep->h.fid.fid;

	switch (command) {
	case FI_SETOPSFLAG:
		return arg ? set_alias_flags(container_of(fid, struct obj_ep_handle, fid.fid),
					     *(uint64_t *) arg) : -FI_EINVAL;
	case FI_GETOPSFLAG:
	case FI_ALIAS:
		return obj_ep_control(fid, command, arg);
	default:
		return self->ops->control(self, command, arg);
	}
}

static struct fi_ops alias_fi_ops = {
	.close = alias_close,
	.bind = alias_bind,
	.control = alias_control,
};
OBJ_OPS_TABLE(alias_fi_ops, fid)

static int make_alias(struct obj_ep_handle *h, struct fi_alias *arg)
{
	struct alias *alias;
	int ret;

	if (!arg || !arg->fid)
		return -FI_EINVAL;
	alias = malloc(sizeof(*alias));
	if (!alias)
		return -FI_ENOMEM;
	/* It shares the endpoint's tables, state and context. */
	alias->h = *h;
	alias->h.fid.fid.ops = &alias_fi_ops;
	alias->ref.refs = NULL;
	alias->process = obj_process;
	ret = set_alias_flags(&alias->h, arg->flags);
	if (ret) {
		free(alias);
		return ret;
	}
	obj_ref_get(&h->ep->refs, &alias->ref, &alias->h.fid.fid);
	*arg->fid = &alias->h.fid.fid;
	return 0;
}

int obj_ep_control(struct fid *fid, int command, void *arg)
{
	struct obj_ep_handle *h = container_of(fid, struct obj_ep_handle, fid.fid);

	switch (command) {
	case FI_ENABLE:
		return obj_ep_enable(h->ep);
	case FI_ALIAS:
		return make_alias(h, arg);
	case FI_GETOPSFLAG:
		return arg ? get_op_flags(h, arg) : -FI_EINVAL;
	case FI_SETOPSFLAG:
		return arg ? set_op_flags(h, *(uint64_t *) arg, 0) : -FI_EINVAL;
	default:
		return h->ep->ops->control ? h->ep->ops->control(h->ep, command, arg) :
					     -FI_ENOSYS;
	}
}

/* ---- options ------------------------------------------------------------- */

/* The size_t behind an option of ours, or NULL. */
static size_t *size_opt(struct obj_ep *ep, int optname)
{
	if (optname >= FI_OPT_MAX_MSG_SIZE && optname <= FI_OPT_INJECT_ATOMIC_SIZE)
		return &ep->opt_max[optname - FI_OPT_MAX_MSG_SIZE];
	switch (optname) {
	case FI_OPT_MIN_MULTI_RECV:
		return &ep->min_multi_recv;
	case FI_OPT_TX_SIZE:
		return &ep->info->tx_attr->size;
	case FI_OPT_RX_SIZE:
		return &ep->info->rx_attr->size;
	default:
		return NULL;
	}
}

static int show_opt(const void *val, size_t size, void *optval, size_t *optlen)
{
	size_t room = *optlen;

	*optlen = size;
	if (room < size)
		return -FI_ETOOSMALL;
	memcpy(optval, val, size);
	return 0;
}

int obj_ep_show_size(size_t size, void *optval, size_t *optlen)
{
	return optlen ? show_opt(&size, sizeof(size), optval, optlen) : -FI_EINVAL;
}

/* Without an RDMA device every transfer of device memory is copied through the host; with one, none
 * is.
 */
static int set_p2p(struct obj_ep *ep, int p2p)
{
	bool direct = ep->domain->ops->mr_open;

	if (p2p == FI_HMEM_P2P_REQUIRED && !direct)
		return -FI_EOPNOTSUPP;
	if (p2p == FI_HMEM_P2P_DISABLED && direct)
		return -FI_EOPNOTSUPP;
	if (p2p < FI_HMEM_P2P_ENABLED || p2p > FI_HMEM_P2P_DISABLED)
		return -FI_EINVAL;
	ep->hmem_p2p = p2p;
	return 0;
}

/* A staged copy is a call of CUDA; only where the device is reached directly there is none. */
static int set_cuda_api(struct obj_ep *ep, bool permitted)
{
	if (!hmem_has(FI_HMEM_CUDA))
		return -FI_EINVAL;
	if (permitted || ep->domain->ops->mr_open) {
		ep->no_cuda = !permitted;
		return 0;
	}
	FI_WARN(ep->prov, FI_LOG_EP_CTRL, "FI_OPT_CUDA_API_PERMITTED cannot be false: this provider "
		"copies device memory by calls of CUDA\n");
	return -FI_EOPNOTSUPP;
}

/* setopt_hmem - Returns -FI_ENOPROTOOPT for other options, and without FI_HMEM. */
static int setopt_hmem(struct obj_ep *ep, int optname, const void *optval, size_t optlen)
{
	bool permitted;
	int p2p;

	if (!(ep->caps & FI_HMEM))
		return -FI_ENOPROTOOPT;
	switch (optname) {
	case FI_OPT_FI_HMEM_P2P:
		if (optlen != sizeof(p2p))
			return -FI_EINVAL;
		memcpy(&p2p, optval, sizeof(p2p));
		return set_p2p(ep, p2p);
	case FI_OPT_CUDA_API_PERMITTED:
		if (optlen != sizeof(permitted))
			return -FI_EINVAL;
		memcpy(&permitted, optval, sizeof(permitted));
		return set_cuda_api(ep, permitted);
	default:
		return -FI_ENOPROTOOPT;
	}
}

int obj_ep_getopt(struct fid *fid, int level, int optname, void *optval, size_t *optlen)
{
	struct obj_ep *ep = obj_ep_of(container_of(fid, struct fid_ep, fid));
	const size_t *size;

	if (level != FI_OPT_ENDPOINT)
		return -FI_ENOPROTOOPT;
	if (!optlen)
		return -FI_EINVAL;
	if (optname == FI_OPT_FI_HMEM_P2P && (ep->caps & FI_HMEM))
		return show_opt(&ep->hmem_p2p, sizeof(ep->hmem_p2p), optval, optlen);
	if (optname == NET_OPT_STAGED && ep->prog)
		return show_opt(&(const _Atomic bool *) { &ep->prog->staged }, sizeof(_Atomic bool *), optval, optlen);
	size = optname == FI_OPT_CM_DATA_SIZE && ep->cm.data_size ? &ep->cm.data_size :
								    size_opt(ep, optname);
	if (!size)
		return ep->ops->getopt ? ep->ops->getopt(ep, optname, optval, optlen) :
					 -FI_ENOPROTOOPT;
	return obj_ep_show_size(*size, optval, optlen);
}

/* Only down: the attributes that the endpoint was opened with are the limit. */
static int set_limit(struct obj_ep *ep, int optname, size_t val)
{
	size_t limit = optname < FI_OPT_INJECT_MSG_SIZE ? ep->info->ep_attr->max_msg_size :
							  ep->info->tx_attr->inject_size;

	if (val > limit)
		return -FI_EINVAL;
	ep->opt_max[optname - FI_OPT_MAX_MSG_SIZE] = val;
	return 0;
}

int obj_ep_setopt(struct fid *fid, int level, int optname, const void *optval, size_t optlen)
{
	struct obj_ep *ep = obj_ep_of(container_of(fid, struct fid_ep, fid));
	size_t *size, val;
	uint32_t half;
	int ret;

	if (level != FI_OPT_ENDPOINT)
		return -FI_ENOPROTOOPT;
	if (!optval)
		return -FI_EINVAL;
	size = size_opt(ep, optname);
	ret = size ? 0 : setopt_hmem(ep, optname, optval, optlen);
	if (!size && ret != -FI_ENOPROTOOPT)
		return ret;
	if (!size)
		return ep->ops->setopt ? ep->ops->setopt(ep, optname, optval, optlen) :
					 -FI_ENOPROTOOPT;
	if (optlen != sizeof(val) && optlen != sizeof(half))
		return -FI_EINVAL;
	memcpy(optlen == sizeof(val) ? (void *) &val : &half, optval, optlen);
	if (optlen == sizeof(half))	/* programs pass an int, which other libraries take */
		val = half;
	if (optname >= FI_OPT_MAX_MSG_SIZE)
		return set_limit(ep, optname, val);
	/* The queues have their size once the endpoint is enabled. */
	if (optname != FI_OPT_MIN_MULTI_RECV && ep->enabled)
		return -FI_EOPBADSTATE;
	*size = val;
	return 0;
}
