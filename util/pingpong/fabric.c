/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include "fabric.h"

#include <byteswap.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rdma/fi_cm.h>
#include <rdma/fi_errno.h>

#define CM_TIMEOUT_MS 15000	/* for each step of connection setup */
#define PEEK_EVERY_MS 250	/* meanwhile: does the other side go on? */
#define ADDR_MAX 512

/* An address of the other side. */
struct pp_addr {
	size_t len;
	union {
		char bytes[ADDR_MAX];
		struct sockaddr sa;
		struct sockaddr_in6 in6;
	};
};

static int say_failed(struct pp_ctrl *ctrl, const char *what, int ret)
{
	pp_ctrl_fail(ctrl, "%s: %s (%d)", what, fi_strerror(-ret), ret);
	return ret;
}

/* ---- fi_getinfo ---------------------------------------------------------- */

static struct fi_info *make_hints(const struct pp_options *o)
{
	struct fi_info *hints = fi_allocinfo();

	if (!hints)
		return NULL;
	hints->caps = o->tagged ? FI_TAGGED : FI_MSG;
	hints->mode = FI_CONTEXT | FI_CONTEXT2;
	hints->ep_attr->type = o->ep_type;
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED |
				      FI_MR_PROV_KEY | FI_MR_ENDPOINT;
	hints->domain_attr->threading = FI_THREAD_DOMAIN;
	hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
	if (o->domain)
		hints->domain_attr->name = strdup(o->domain);
	if (o->fabric)
		hints->fabric_attr->name = strdup(o->fabric);
	if (o->provider)
		hints->fabric_attr->prov_name = strdup(o->provider);
	return hints;
}

static uint32_t api_version(void)
{
	uint32_t ours = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION);

	return FI_VERSION_LT(fi_version(), ours) ? fi_version() : ours;
}

static int ask_info(struct pp_fabric *f, const char *node, uint64_t flags, const struct fi_info *hints)
{
	int ret = fi_getinfo(api_version(), node, NULL, flags, hints, &f->list);

	f->info = ret ? NULL : f->list;
	return ret;
}

/* The server uses the address that it was given, or the one at which the client connected, unless
 * a domain was named or the provider has other address formats: then the first candidate.
 */
static int choose_server(const struct pp_options *o, struct pp_fabric *f, struct pp_ctrl *ctrl,
			 const struct fi_info *hints)
{
	char node[NI_MAXHOST];
	int ret;

	if (o->source)
		return ask_info(f, o->source, FI_SOURCE, hints);
	ret = getnameinfo((struct sockaddr *) &ctrl->local, ctrl->addrlen, node, sizeof(node),
			  NULL, 0, NI_NUMERICHOST);
	ret = ret ? -FI_ENODATA : ask_info(f, node, FI_SOURCE | FI_NUMERICHOST, hints);
	return ret == -FI_ENODATA ? ask_info(f, NULL, 0, hints) : ret;
}

/* turn_addr - an address that a host of the other byte order has sent: numbers that are not in network order are
 * this host's again.
 */
static void turn_addr(uint32_t *format, struct pp_addr *addr)
{
	*format = bswap_32(*format);
	if (*format != FI_SOCKADDR_IN && *format != FI_SOCKADDR_IN6 && *format != FI_SOCKADDR)
		return;
	addr->sa.sa_family = bswap_16(addr->sa.sa_family);
	if (addr->sa.sa_family == AF_INET6 && addr->len >= sizeof(addr->in6))
		addr->in6.sin6_scope_id = bswap_32(addr->in6.sin6_scope_id);
}

/* An address of the other side, preceded by its format in the byte order of its sender: formats are small
 * numbers, which tells the order.
 */
static int hear_addr(struct pp_ctrl *ctrl, uint32_t *format, struct pp_addr *addr)
{
	char frame[ADDR_MAX];
	size_t len = sizeof(frame);
	int ret = pp_ctrl_recv(ctrl, PP_ADDR, frame, &len);

	if (ret)
		return ret;
	if (len <= sizeof(*format))
		return -FI_EPROTO;
	memcpy(format, frame, sizeof(*format));
	addr->len = len - sizeof(*format);
	memcpy(addr->bytes, frame + sizeof(*format), addr->len);
	if (*format > UINT16_MAX)
		turn_addr(format, addr);
	return 0;
}

/* The client asks for an endpoint that reaches the server's address. */
static int choose_client(const struct pp_options *o, struct pp_fabric *f, struct pp_ctrl *ctrl,
			 struct fi_info *hints)
{
	struct pp_addr addr;
	int ret = hear_addr(ctrl, &hints->addr_format, &addr);

	if (ret)
		return ret;
	hints->dest_addrlen = addr.len;
	hints->dest_addr = malloc(addr.len);
	f->dest = malloc(addr.len);
	if (!hints->dest_addr || !f->dest)
		return -FI_ENOMEM;
	memcpy(hints->dest_addr, addr.bytes, addr.len);
	memcpy(f->dest, addr.bytes, addr.len);
	return ask_info(f, o->source, o->source ? FI_SOURCE : 0, hints);
}

#define OPTION(name, value) (value) ? (name) : "", (value) ? (value) : ""

static int tell_choice(const struct pp_options *o, struct pp_ctrl *ctrl, int ret)
{
	if (ret == -FI_ENODATA)
		pp_ctrl_fail(ctrl, "no endpoint matches -e %s -m %s%s%s%s%s%s%s%s%s: try fi_info "
			     "--explain with -t and -p", pp_options_ep_name(o->ep_type),
			     o->tagged ? "tagged" : "msg", OPTION(" -p ", o->provider),
			     OPTION(" -d ", o->domain), OPTION(" -f ", o->fabric),
			     OPTION(" -s ", o->source));
	else if (ret)
		say_failed(ctrl, "choosing an endpoint", ret);
	return ret;
}

static int choose_info(const struct pp_options *o, struct pp_ctrl *ctrl, struct pp_fabric *f)
{
	struct fi_info *hints = make_hints(o);
	int ret = -FI_ENOMEM;

	if (hints)
		ret = o->role == PP_SERVER ? choose_server(o, f, ctrl, hints) :
					     choose_client(o, f, ctrl, hints);
	fi_freeinfo(hints);
	return tell_choice(o, ctrl, ret);
}

/* Whatever the peer: is there such an endpoint? */
static int look_for(const struct pp_options *o)
{
	struct fi_info *hints = make_hints(o);
	struct pp_fabric f = { 0 };
	int ret = hints ? ask_info(&f, o->source, o->source ? FI_SOURCE : 0, hints) : -FI_ENOMEM;

	fi_freeinfo(hints);
	if (!ret)
		fi_freeinfo(f.list);
	return ret;
}

void pp_fabric_kind(struct pp_options *o)
{
	static const enum fi_ep_type kinds[] = { FI_EP_DGRAM, FI_EP_RDM, FI_EP_MSG };

	if (o->ep_type != FI_EP_UNSPEC)
		return;
	for (size_t i = o->tagged; i < sizeof(kinds) / sizeof(*kinds); i++) {
		o->ep_type = kinds[i];
		if (!look_for(o))
			return;
	}
	o->ep_type = kinds[o->tagged];
}

int pp_fabric_offered(const struct pp_options *o, struct pp_ctrl *ctrl)
{
	return tell_choice(o, ctrl, look_for(o));
}

/* ---- objects ------------------------------------------------------------- */

/* One half for sending, one for receiving; whole pages, so that no cache line is shared. */
static int open_buffers(const struct pp_options *o, struct pp_fabric *f)
{
	size_t page = (size_t) sysconf(_SC_PAGESIZE);
	size_t want = o->sizes[o->size_cnt - 1];

	if (want > f->info->ep_attr->max_msg_size)
		want = f->info->ep_attr->max_msg_size;
	f->buf_len = (want + page) & ~(page - 1);
	if (posix_memalign((void **) &f->buf, page, 2 * f->buf_len))
		return -FI_ENOMEM;
	memset(f->buf, 0, 2 * f->buf_len);
	f->tx_buf = f->buf;
	f->rx_buf = f->buf + f->buf_len;
	return 0;
}

static int open_mr(struct pp_fabric *f)
{
	int mode = f->info->domain_attr->mr_mode;
	int ret;

	if (!(mode & FI_MR_LOCAL))
		return 0;
	ret = fi_mr_reg(f->domain, f->buf, 2 * f->buf_len, FI_SEND | FI_RECV, 0, 0, 0, &f->mr, NULL);
	if (ret)
		return ret;
	if (mode & FI_MR_ENDPOINT) {
		ret = fi_mr_bind(f->mr, &f->ep->fid, 0);
		ret = ret ? ret : fi_mr_enable(f->mr);
	}
	f->desc = fi_mr_desc(f->mr);
	return ret;
}

static int open_cqs(struct pp_fabric *f)
{
	struct fi_cq_attr attr = { .format = FI_CQ_FORMAT_MSG, .wait_obj = FI_WAIT_NONE };
	int ret;

	ret = fi_cq_open(f->domain, &attr, &f->txcq, NULL);
	ret = ret ? ret : fi_cq_open(f->domain, &attr, &f->rxcq, NULL);
	ret = ret ? ret : fi_ep_bind(f->ep, &f->txcq->fid, FI_TRANSMIT | FI_SELECTIVE_COMPLETION);
	return ret ? ret : fi_ep_bind(f->ep, &f->rxcq->fid, FI_RECV);
}

static int open_peer_table(struct pp_fabric *f)
{
	struct fi_av_attr attr = { .type = FI_AV_UNSPEC, .count = 1 };
	int ret;

	if (f->info->ep_attr->type == FI_EP_MSG)
		return fi_ep_bind(f->ep, &f->eq->fid, 0);
	ret = fi_av_open(f->domain, &attr, &f->av, NULL);
	return ret ? ret : fi_ep_bind(f->ep, &f->av->fid, 0);
}

/* Opens domain and endpoint for f->info; the endpoint is enabled. */
static int open_ep(const struct pp_options *o, struct pp_ctrl *ctrl, struct pp_fabric *f)
{
	int ret;

	ret = fi_domain(f->fabric, f->info, &f->domain, NULL);
	if (ret)
		return say_failed(ctrl, "fi_domain", ret);
	ret = fi_endpoint(f->domain, f->info, &f->ep, NULL);
	if (ret)
		return say_failed(ctrl, "fi_endpoint", ret);
	ret = open_cqs(f);
	if (ret)
		return say_failed(ctrl, "completion queues", ret);
	ret = open_peer_table(f);
	if (ret)
		return say_failed(ctrl, "address vector or event queue", ret);
	ret = open_buffers(o, f);
	if (ret)
		return say_failed(ctrl, "buffers", ret);
	ret = fi_enable(f->ep);
	if (ret)
		return say_failed(ctrl, "fi_enable", ret);
	ret = open_mr(f);
	return ret ? say_failed(ctrl, "fi_mr_reg", ret) : 0;
}

static int open_fabric(struct pp_ctrl *ctrl, struct pp_fabric *f)
{
	struct fi_eq_attr attr = { .wait_obj = FI_WAIT_UNSPEC };
	int ret = fi_fabric(f->info->fabric_attr, &f->fabric, NULL);

	if (ret)
		return say_failed(ctrl, "fi_fabric", ret);
	if (f->info->ep_attr->type != FI_EP_MSG)
		return 0;
	ret = fi_eq_open(f->fabric, &attr, &f->eq, NULL);
	return ret ? say_failed(ctrl, "fi_eq_open", ret) : 0;
}

/* ---- connecting ----------------------------------------------------------- */

/* Sends an address, preceded by its format. */
static int tell_addr(struct pp_ctrl *ctrl, struct pp_fabric *f, fid_t fid)
{
	char addr[ADDR_MAX];
	size_t len = sizeof(addr) - sizeof(uint32_t);
	int ret = fi_getname(fid, addr + sizeof(uint32_t), &len);

	if (ret)
		return say_failed(ctrl, "fi_getname", ret);
	memcpy(addr, &f->info->addr_format, sizeof(uint32_t));
	return pp_ctrl_send(ctrl, PP_ADDR, addr, sizeof(uint32_t) + len);
}

static int insert_peer(struct pp_ctrl *ctrl, struct pp_fabric *f, const void *addr)
{
	int ret = fi_av_insert(f->av, addr, 1, &f->peer, 0, NULL);

	return ret == 1 ? 0 : say_failed(ctrl, "fi_av_insert", ret < 0 ? ret : -FI_EINVAL);
}

static int wait_event(struct pp_ctrl *ctrl, struct pp_fabric *f, uint32_t want, const char *what)
{
	char buf[sizeof(struct fi_eq_cm_entry) + 256];
	struct fi_eq_cm_entry *entry = (void *) buf;
	struct fi_eq_err_entry err = { 0 };
	ssize_t n = -FI_EAGAIN;
	int waited_ms, ret;
	uint32_t event;

	for (waited_ms = 0; waited_ms < CM_TIMEOUT_MS; waited_ms += PEEK_EVERY_MS) {
		n = fi_eq_sread(f->eq, &event, buf, sizeof(buf), PEEK_EVERY_MS, 0);
		if (n != -FI_EAGAIN)
			break;
		ret = pp_ctrl_peek(ctrl);
		if (ret < 0)
			return ret;
	}
	if (n == -FI_EAVAIL) {
		n = fi_eq_readerr(f->eq, &err, 0);
		return say_failed(ctrl, what, n < 0 ? (int) n : -err.err);
	}
	if (n == -FI_EAGAIN) {
		pp_ctrl_fail(ctrl, "%s: no event for %d s", what, CM_TIMEOUT_MS / 1000);
		return -FI_ETIMEDOUT;
	}
	if (n < 0)
		return say_failed(ctrl, what, (int) n);
	if (event != want) {
		pp_ctrl_fail(ctrl, "%s: event %s instead of %s", what,
			     event == FI_SHUTDOWN ? "FI_SHUTDOWN" : "of another kind",
			     want == FI_CONNREQ ? "FI_CONNREQ" : "FI_CONNECTED");
		return -FI_ECONNABORTED;
	}
	if (want == FI_CONNREQ)
		f->request = entry->info;
	return 0;
}

static int msg_listen(struct pp_ctrl *ctrl, struct pp_fabric *f)
{
	int ret = fi_passive_ep(f->fabric, f->info, &f->pep, NULL);

	ret = ret ? ret : fi_pep_bind(f->pep, &f->eq->fid, 0);
	ret = ret ? ret : fi_listen(f->pep);
	return ret ? say_failed(ctrl, "fi_listen", ret) : tell_addr(ctrl, f, &f->pep->fid);
}

static int msg_server(const struct pp_options *o, struct pp_ctrl *ctrl, struct pp_fabric *f)
{
	int ret = msg_listen(ctrl, f);

	if (!ret)
		ret = wait_event(ctrl, f, FI_CONNREQ, "waiting for a connection request");
	if (ret)
		return ret;
	f->info = f->request;
	ret = open_ep(o, ctrl, f);
	if (ret)
		return ret;
	ret = fi_accept(f->ep, NULL, 0);
	return ret ? say_failed(ctrl, "fi_accept", ret) :
		     wait_event(ctrl, f, FI_CONNECTED, "accepting the connection");
}

static int msg_client(const struct pp_options *o, struct pp_ctrl *ctrl, struct pp_fabric *f)
{
	int ret = open_ep(o, ctrl, f);

	if (ret)
		return ret;
	ret = fi_connect(f->ep, f->dest, NULL, 0);
	return ret ? say_failed(ctrl, "fi_connect", ret) :
		     wait_event(ctrl, f, FI_CONNECTED, "connecting");
}

static int unconnected_server(const struct pp_options *o, struct pp_ctrl *ctrl, struct pp_fabric *f)
{
	struct pp_addr addr;
	uint32_t format;
	int ret = open_ep(o, ctrl, f);

	ret = ret ? ret : tell_addr(ctrl, f, &f->ep->fid);
	ret = ret ? ret : hear_addr(ctrl, &format, &addr);
	return ret ? ret : insert_peer(ctrl, f, addr.bytes);
}

static int unconnected_client(const struct pp_options *o, struct pp_ctrl *ctrl, struct pp_fabric *f)
{
	int ret = open_ep(o, ctrl, f);

	ret = ret ? ret : insert_peer(ctrl, f, f->dest);
	return ret ? ret : tell_addr(ctrl, f, &f->ep->fid);
}

static void say_choice(const struct pp_fabric *f)
{
	fprintf(stderr, "fi_pingpong: provider %s, fabric %s, domain %s, %s, inject up to %zu bytes\n",
		f->info->fabric_attr->prov_name, f->info->fabric_attr->name,
		f->info->domain_attr->name, fi_tostr(&f->info->ep_attr->type, FI_TYPE_EP_TYPE),
		f->info->tx_attr->inject_size);
}

int pp_fabric_open(const struct pp_options *o, struct pp_ctrl *ctrl, struct pp_fabric *f)
{
	int ret;

	memset(f, 0, sizeof(*f));
	ret = choose_info(o, ctrl, f);
	ret = ret ? ret : open_fabric(ctrl, f);
	if (ret)
		return ret;
	if (o->verbose)
		say_choice(f);
	if (o->ep_type == FI_EP_MSG)
		return o->role == PP_SERVER ? msg_server(o, ctrl, f) : msg_client(o, ctrl, f);
	return o->role == PP_SERVER ? unconnected_server(o, ctrl, f) :
				      unconnected_client(o, ctrl, f);
}

static void close_fid(void *fid)
{
	if (fid)
		fi_close(fid);
}

/* In reverse order of opening: registration, endpoint, queues, domain, fabric. */
void pp_fabric_close(struct pp_fabric *f)
{
	close_fid(f->mr);
	close_fid(f->ep);
	close_fid(f->pep);
	close_fid(f->txcq);
	close_fid(f->rxcq);
	close_fid(f->av);
	close_fid(f->domain);
	close_fid(f->eq);
	close_fid(f->fabric);
	free(f->buf);
	free(f->dest);
	if (f->request)
		fi_freeinfo(f->request);
	if (f->list)
		fi_freeinfo(f->list);
	memset(f, 0, sizeof(*f));
}
