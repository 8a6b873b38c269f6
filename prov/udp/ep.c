/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <errno.h>
#include <inttypes.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rdma/providers/fi_log.h>

#include "info/getinfo.h"

#include "net/name.h"
#include "net/opt.h"
#include "net/tclass.h"
#include "ep.h"

#define NAME_LEN(ep) net_addr_len(&(ep)->name.sa)

/* ---- the socket ------------------------------------------------------------ */

void udp_sock_class(const struct udp_ep *ep, int fd)
{
	uint32_t tclass = ep->base.info->tx_attr->tclass;
	int ret = net_tclass_set(fd, ep->name.sa.sa_family, tclass);

	if (ret)
		FI_INFO(&udp_prov, FI_LOG_EP_CTRL, "traffic class 0x%x is not set: %s\n", tclass,
			fi_strerror(-ret));
}

/* Wishes, all of them: a socket without one works, too. */
static void sock_setup(struct udp_ep *ep, int fd)
{
	size_t sndbuf = UDP_SNDBUF, rcvbuf = UDP_RCVBUF;
	int family = ep->name.sa.sa_family;

	net_sock_buffers(fd, &sndbuf, &rcvbuf);
	udp_sock_class(ep, fd);
	udp_mc_only_joined(fd, family);
	if (ep->trains)
		udp_train_setup(&ep->sock);
	if (ep->ifindex)
		udp_mc_set_iface(fd, family, ep->ifindex);
}

static void sock_warn(const char *what, const union net_sa *name, int err)
{
	char text[NET_ADDR_TEXT_MAX], ports[128];

	FI_WARN(&udp_prov, FI_LOG_EP_CTRL, "%s %s: %s. %s%s\n", what, net_addr_text(&name->sa, text),
		fi_strerror(-err), net_sock_advice(err),
		info_params_ports_advice(&udp_prov, -err, ports, sizeof(ports)));
}

/* Binds a new socket to @name and closes the previous one. */
static int sock_bind(struct udp_ep *ep, const union net_sa *name)
{
	struct net_ports ports = { 0 };
	union net_sa bound;
	int fd, ret;

	info_params_ports(&udp_prov, &ports);
	ret = net_sock_open(name->sa.sa_family, SOCK_DGRAM, &fd);
	if (ret) {
		sock_warn("cannot open a socket for", name, ret);
		return ret;
	}
	ret = net_sock_bind(fd, &name->sa, &ports, &bound);
	if (ret) {
		sock_warn("cannot bind a socket to", name, ret);
		close(fd);
		return ret;
	}
	if (ep->sock.fd >= 0)
		close(ep->sock.fd);
	ep->sock.fd = fd;
	ep->bound = bound;
	if (net_name(&bound.sa, ep->base.info->domain_attr->name, &ep->name))
		ep->name = bound;
	sock_setup(ep, fd);
	return 0;
}

static void allow_reuse(int fd, int on)
{
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
}

/* SO_REUSEADDR is set only during this call; otherwise another process could bind a socket to
 * the same address.
 */
int udp_sock_bind_shared(struct udp_ep *ep, int fd, const union net_sa *name)
{
	int ret;

	allow_reuse(fd, 1);
	allow_reuse(ep->sock.fd, 1);
	ret = net_sock_bind(fd, &name->sa, NULL, NULL);
	allow_reuse(ep->sock.fd, 0);
	return ret;
}

/* ---- names ----------------------------------------------------------------- */

static int ep_getname(fid_t fid, void *addr, size_t *addrlen)
{
	struct udp_ep *ep = udp_ep_of(obj_ep_of(container_of(fid, struct fid_ep, fid)));
	size_t room = *addrlen, len = NAME_LEN(ep);

	*addrlen = len;
	if (room && addr)
		memcpy(addr, &ep->name, room < len ? room : len);
	return room < len ? -FI_ETOOSMALL : 0;
}

/* Only before the endpoint is enabled: a poller waits for the socket afterwards. */
static int ep_setname(fid_t fid, void *addr, size_t addrlen)
{
	struct udp_ep *ep = udp_ep_of(obj_ep_of(container_of(fid, struct fid_ep, fid)));
	union net_sa name;
	int ret;

	if (ep->base.enabled)
		return -FI_EOPBADSTATE;
	ret = net_addr_copy(addr, addrlen, &name);
	if (ret)
		return ret;
	if (name.sa.sa_family != ep->name.sa.sa_family)
		return -FI_EINVAL;
	return sock_bind(ep, &name);
}

/* ---- options --------------------------------------------------------------- */

/* The poller numbers the senders of datagrams; under its lock a number is not given to another. */
static int get_source(struct udp_ep *ep, void *val, size_t *len)
{
	int ret;

	if (*len != sizeof(struct net_source))
		return -FI_EINVAL;
	if (!ep->poller || !ep->report_source)
		return -FI_EOPBADSTATE;
	lock_get(&ep->base.prog->lock);
	ret = udp_source_find(ep->poller, val);
	lock_put(&ep->base.prog->lock);
	return ret;
}

/* NET_OPT_ASK: a question, or the next answer. */
static int ep_ask(struct udp_ep *ep, const void *val, size_t len)
{
	int ret;

	if (len != sizeof(struct net_ask))
		return -FI_EINVAL;
	lock_get(&ep->base.prog->lock);
	ret = udp_ask(ep, val);
	lock_put(&ep->base.prog->lock);
	return ret;
}

static int get_answer(struct udp_ep *ep, void *val, const size_t *len)
{
	int ret;

	if (*len < sizeof(struct net_ask))
		return -FI_ETOOSMALL;
	lock_get(&ep->base.prog->lock);
	ret = udp_asked(ep, val);
	lock_put(&ep->base.prog->lock);
	return ret;
}

static int ep_getopt(struct obj_ep *base, int optname, void *val, size_t *len)
{
	struct udp_ep *ep = udp_ep_of(base);
	int which = optname == FI_OPT_SEND_BUF_SIZE ? SO_SNDBUF : SO_RCVBUF, size;
	socklen_t optlen = sizeof(size);

	if (optname == NET_OPT_SOURCE_ADDR)
		return get_source(ep, val, len);
	if (optname == NET_OPT_ASK)
		return get_answer(ep, val, len);
	if (optname != FI_OPT_SEND_BUF_SIZE && optname != FI_OPT_RECV_BUF_SIZE)
		return -FI_ENOPROTOOPT;
	if (*len < sizeof(size_t))
		return -FI_ETOOSMALL;
	if (getsockopt(ep->sock.fd, SOL_SOCKET, which, &size, &optlen))
		return -errno;
	*(size_t *) val = (size_t) size;
	*len = sizeof(size_t);
	return 0;
}

/* This option and the next two are of layers in this library (net/opt.h), not of programs. */
static int set_trains(struct udp_ep *ep, const void *val, size_t len)
{
	int on;

	if (len != sizeof(on))
		return -FI_EINVAL;
	memcpy(&on, val, sizeof(on));
	/* the header of the first datagram gives the length of all in a received train */
	if (ep->base.enabled || !on || !ep->framed)
		return -FI_EOPBADSTATE;
	ep->trains = true;
	udp_train_setup(&ep->sock);
	return 0;
}

/* Sources are numbers in the completion data, next to the ECN codepoint (net/opt.h). */
static int set_source(struct udp_ep *ep, const void *val, size_t len)
{
	int on;

	if (len != sizeof(on))
		return -FI_EINVAL;
	memcpy(&on, val, sizeof(on));
	if (!ep->trains || ep->base.enabled || !on)
		return -FI_EOPBADSTATE;
	ep->report_source = true;
	return 0;
}

/* It is changed from burst to burst, in the middle of traffic; so it needs the lock then. */
static int set_ecn(struct udp_ep *ep, const void *val, size_t len)
{
	struct obj_prog *prog = ep->base.prog;
	int codepoint, ret;

	if (len != sizeof(codepoint))
		return -FI_EINVAL;
	memcpy(&codepoint, val, sizeof(codepoint));
	if (!ep->trains || (ep->base.enabled && !ep->report_ecn))
		return -FI_EOPBADSTATE;
	if (codepoint & ~NET_ECN_MASK)
		return -FI_EINVAL;
	ep->report_ecn = true;
	if (!ep->base.enabled)
		return udp_train_ecn(ep, codepoint);
	lock_get(&prog->lock);
	ret = udp_train_ecn(ep, codepoint);
	lock_put(&prog->lock);
	return ret;
}

/* A process without rights may bind a socket that is not bound to a device yet, since Linux 5.7. */
static int set_device(struct udp_ep *ep, const char *name, size_t len)
{
	if (!len || len > IF_NAMESIZE || !memchr(name, '\0', len))
		return -FI_EINVAL;
	return setsockopt(ep->sock.fd, SOL_SOCKET, SO_BINDTODEVICE, name, (socklen_t) strlen(name)) ? -errno : 0;
}

static int ep_setopt(struct obj_ep *base, int optname, const void *val, size_t len)
{
	struct udp_ep *ep = udp_ep_of(base);
	size_t size, none = 0;

	if (optname == NET_OPT_TRAINS)
		return set_trains(ep, val, len);
	if (optname == NET_OPT_ECN)
		return set_ecn(ep, val, len);
	if (optname == NET_OPT_SOURCE)
		return set_source(ep, val, len);
	if (optname == NET_OPT_ASK)
		return ep_ask(ep, val, len);
	if (optname == NET_OPT_DEVICE)
		return set_device(ep, val, len);
	if (optname != FI_OPT_SEND_BUF_SIZE && optname != FI_OPT_RECV_BUF_SIZE)
		return -FI_ENOPROTOOPT;
	if (len != sizeof(size))
		return -FI_EINVAL;
	memcpy(&size, val, sizeof(size));
	return optname == FI_OPT_SEND_BUF_SIZE ? net_sock_buffers(ep->sock.fd, &size, &none) :
						 net_sock_buffers(ep->sock.fd, &none, &size);
}

/* A receive and a queued send may have one context: the receive is cancelled first. */
static ssize_t ep_cancel(fid_t fid, void *context)
{
	struct udp_ep *ep = udp_ep_of(obj_ep_of(container_of(fid, struct fid_ep, fid)));
	int ret;

	if (!ep->poller)
		return -FI_ENOENT;
	lock_get(&ep->base.prog->lock);
	ret = udp_rx_cancel(ep, context);
	if (ret)
		ret = udp_tx_cancel(ep, context);
	lock_put(&ep->base.prog->lock);
	return ret;
}

/* ---- invalid datagrams ----------------------------------------------------- */

void udp_ep_drop(struct udp_ep *ep, enum udp_wire verdict, const union net_sa *from)
{
	char src[NET_ADDR_TEXT_MAX], dst[NET_ADDR_TEXT_MAX];

	ep->dropped[verdict]++;
	FI_WARN_SPARSE(&udp_prov, FI_LOG_EP_DATA,
		       "dropped a datagram from %s to %s (no. %" PRIu64 "): it is %s. %s\n",
		       net_addr_text(&from->sa, src), net_addr_text(&ep->name.sa, dst),
		       ep->dropped[verdict], udp_wire_text(verdict),
		       verdict == UDP_WIRE_OTHER_VERSION ?
		       "Run one release of libfabric on both hosts" :
		       "If it continues, find the sender, or use another port");
}

/* ---- life ------------------------------------------------------------------ */

/* Without an AV no source can be found. */
static int ep_enable(struct obj_ep *base)
{
	struct udp_ep *ep = udp_ep_of(base);
	int ret;

	if (!base->av)
		ep->source = ep->source_err = false;
	lock_get(&base->prog->lock);
	ret = udp_poller_join(ep);
	lock_put(&base->prog->lock);
	return ret;
}

/* Queued sends are sent if the socket has room.  The others and the posted receives are dropped
 * without completions, as fi_endpoint(3) specifies.
 */
static int ep_close(struct fid *fid)
{
	struct udp_ep *ep = udp_ep_of(obj_ep_of(container_of(fid, struct fid_ep, fid)));
	int ret;

	if (obj_inherited(&ep->base.refs))
		return 0;
	ret = obj_ep_busy(&ep->base);
	if (ret)
		return ret;
	/* from here on no call and no poll of another thread is in the endpoint */
	obj_ep_quiesce(&ep->base);
	if (ep->poller) {
		lock_get(&ep->base.prog->lock);
		udp_tx_flush(ep);
		udp_csock_close(ep);
		udp_ask_close(ep);
		udp_poller_leave(ep);
		udp_rx_drop(ep);
		lock_put(&ep->base.prog->lock);
	}
	close(ep->sock.fd);
	pool_destroy(&ep->rx_pool);
	pool_destroy(&ep->tx_pool);
	free(ep->groups);
	obj_ep_fini(&ep->base);
	free(ep);
	return 0;
}

/* The AV index may be given to another peer, so no connected socket may be found by it. */
static void ep_av_removed(struct obj_ep *base, fi_addr_t fi_addr)
{
	struct udp_ep *ep = udp_ep_of(base);

	ep->csock_dest = ep->last_dest = FI_ADDR_UNSPEC;
}

static const struct obj_ep_ops ep_obj_ops = {
	.enable = ep_enable,
	.late = OBJ_LATE_CNTR | OBJ_LATE_CQ,
	.av_removed = ep_av_removed,
	.getopt = ep_getopt,
	.setopt = ep_setopt,
};

static struct fi_ops ep_fi_ops = {
	.close = ep_close,
	.bind = obj_ep_bind,
	.control = obj_ep_control,
};
OBJ_OPS_TABLE(ep_fi_ops, fid)

static struct fi_ops_ep ep_ops = {
	.cancel = ep_cancel,
	.getopt = obj_ep_getopt,
	.setopt = obj_ep_setopt,
};
OBJ_OPS_TABLE(ep_ops, ep)

static struct fi_ops_cm ep_cm_ops = {
	.setname = ep_setname,
	.getname = ep_getname,
	.join = udp_mc_join,
};
OBJ_OPS_TABLE(ep_cm_ops, cm)

#define MSG_OPS .recv = udp_recv, .recvv = udp_recvv, .recvmsg = udp_recvmsg, .send = udp_send, \
	.sendv = udp_sendv, .sendmsg = udp_sendmsg, .inject = udp_inject

static struct fi_ops_msg plain_msg_ops = { MSG_OPS };
OBJ_OPS_TABLE(plain_msg_ops, msg)

static struct fi_ops_msg framed_msg_ops = {
	MSG_OPS, .senddata = udp_senddata, .injectdata = udp_injectdata,
};
OBJ_OPS_TABLE(framed_msg_ops, msg)

/* Once the address is known: the longest datagram is a matter of the family. */
static void ep_set_limits(struct udp_ep *ep)
{
	const struct fi_info *info = ep->base.info;
	size_t max = ep->name.sa.sa_family == AF_INET ? UDP_WIRE_MAX4 : UDP_WIRE_MAX6;
	size_t size = info->ep_attr->max_msg_size;

	if (ep->framed) {
		max -= sizeof(struct udp_hdr);
		ep->copy_below = UDP_COPY_MAX + 1;
	}
	ep->max_msg = size && size < max ? size : max;
	size = info->tx_attr->inject_size;
	ep->max_inject = size < ep->max_msg ? size : ep->max_msg;
	ep->source = info->caps & (FI_SOURCE | FI_SOURCE_ERR);
	ep->source_err = info->caps & FI_SOURCE_ERR;
	pool_init(&ep->rx_pool, sizeof(struct udp_rx), 64, info->rx_attr->size);
	pool_init(&ep->tx_pool, sizeof(struct udp_tx), UDP_SEND_MAX, info->tx_attr->size);
}

static void ep_set_ops(struct udp_ep *ep)
{
	struct fid_ep *fid = &ep->base.h.fid;

	fid->fid.ops = &ep_fi_ops;
	fid->ops = &ep_ops;
	fid->cm = &ep_cm_ops;
	fid->msg = ep->framed ? &framed_msg_ops : &plain_msg_ops;
	if (ep->base.caps & FI_HMEM)
		udp_dev_set_ops(ep);
	obj_ops_fill_ep(fid);
}

int udp_ep_open(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep_p,
		uint64_t flags, void *context)
{
	union net_sa name;
	struct udp_ep *ep;
	int ret;

	if (flags)
		return -FI_EBADFLAGS;
	ep = calloc(1, sizeof(*ep));
	if (!ep)
		return -FI_ENOMEM;
	ret = obj_ep_init(&ep->base, FI_CLASS_EP, domain, info, &ep_obj_ops, context);
	if (ret)
		goto err_free;
	ep->sock.ep = ep->csock.ep = ep;
	ep->framed = ep->base.info->ep_attr->protocol == NET_PROTO_UDP_FRAMED;
	ep->sock.fd = ep->csock.fd = ep->ask_fd = -1;
	ep->csock_dest = ep->last_dest = FI_ADDR_UNSPEC;
	list_init(&ep->posted);
	list_init(&ep->waiting);
	list_init(&ep->tx_node);
	ep->ifindex = if_nametoindex(ep->base.info->domain_attr->name);
	/* The socket is bound at open, not at enable, so that fi_getname() returns the address
	 * early.
	 */
	if (info->src_addr)
		ret = net_addr_copy(info->src_addr, info->src_addrlen, &name);
	else
		net_addr_any(net_addr_family(info->addr_format) == AF_INET6 ? AF_INET6 : AF_INET,
			     &name);
	if (!ret)
		ret = sock_bind(ep, &name);
	if (ret)
		goto err_fini;
	ep_set_limits(ep);
	ep_set_ops(ep);
	*ep_p = &ep->base.h.fid;
	return 0;

err_fini:
	obj_ep_fini(&ep->base);
err_free:
	free(ep);
	return ret;
}
