/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * features - each feature of the data path on each kind of endpoint.
 *
 * One case for each pair, "feature, provider endpoint".  Where the provider does not offer the
 * feature, the case checks that asking for it is refused, and is skipped.  The table of the
 * README is made from the output (tests/features/table).
 *
 *   features                       what needs no device
 *   features device ADDR [ADDR6]   providers of RDMA devices, at these addresses of one
 *   features [device] names        the names of the cases; nothing is run
 *
 * FEATURES=PATTERN in the environment: only cases whose names match.
 */

#include "../../fabtests/common/device.h"
#include "../fakegpu/use.h"
#include "../runtimes/rt.h"
#include "xpu.h"

#include <rdma/fi_atomic.h>
#include <rdma/fi_collective.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_trigger.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

struct column {
	const char *name;
	const char *prov;
	enum fi_ep_type type;
};

static const struct column columns[] = {
	{ "udp DGRAM", "udp", FI_EP_DGRAM },
	{ "tcp MSG", "tcp", FI_EP_MSG },
	{ "tcp RDM", "tcp", FI_EP_RDM },
	{ "shm RDM", "shm", FI_EP_RDM },
	{ "loop RDM", "loop", FI_EP_RDM },
	{ "udp;ofi_rxd MSG", "udp;ofi_rxd", FI_EP_MSG },
	{ "udp;ofi_rxd RDM", "udp;ofi_rxd", FI_EP_RDM },
	{ "tcp;ofi_rxm RDM", "tcp;ofi_rxm", FI_EP_RDM },
}, device_columns[] = {
	{ "verbs MSG", "verbs", FI_EP_MSG },
	{ "verbs DGRAM", "verbs", FI_EP_DGRAM },
	{ "verbs;ofi_rxm RDM", "verbs;ofi_rxm", FI_EP_RDM },
	{ "verbs;ofi_rxd RDM", "verbs;ofi_rxd", FI_EP_RDM },
};

/* The addresses of both ends of each case. */
static const char *here = "127.0.0.1", *here6 = "::1";

struct feature {
	const char *name;
	uint64_t caps;			/* asked for; none offered means "no" */
	uint32_t ep_types;		/* bit per FI_EP_*: where it means anything; 0: all */
	void (*run)(const struct column *col);
};

/* The pair that one case tests, for cmocka. */
struct cell {
	const struct feature *feature;
	const struct column *column;
};

static bool is_device(const struct column *col)
{
	return col >= device_columns && col < device_columns + COUNT(device_columns);
}

/* ---- opening ------------------------------------------------------------------ */

static struct fi_info *hints_for(const struct column *col, uint64_t caps)
{
	struct fi_info *h = rt_hints();

	h->caps = caps;
	h->mode = FI_CONTEXT | FI_CONTEXT2 | FI_RX_CQ_DATA;
	h->ep_attr->type = col->type;
	h->domain_attr->resource_mgmt = FI_RM_ENABLED;
	h->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY |
				  (caps & FI_HMEM ? FI_MR_HMEM : 0);
	h->fabric_attr->prov_name = strdup(col->prov);
	return h;
}

/* Asks the provider alone: layers over its endpoints have other columns. */
static int ask(const char *node, const struct fi_info *h, struct fi_info **info_p)
{
	struct fi_info *all = NULL, *info;
	uint32_t version = h->caps & FI_XPU ? FI_VERSION(2, 7) : FI_VERSION(2, 6);
	int ret = fi_getinfo(version, node, NULL, FI_SOURCE | FI_NUMERICHOST, h, &all);

	*info_p = NULL;
	if (ret)
		return ret;
	for (info = all; info; info = info->next)
		if (!strcmp(info->fabric_attr->prov_name, h->fabric_attr->prov_name))
			break;
	if (info)
		*info_p = fi_dupinfo(info);
	fi_freeinfo(all);
	return *info_p ? 0 : -FI_ENODATA;
}

static struct fi_info *find(const struct column *col, uint64_t caps)
{
	struct fi_info *h = hints_for(col, caps), *info;

	assert_int_equal(ask(here, h, &info), 0);
	fi_freeinfo(h);
	return info;
}

/* The common case: two endpoints with completions for everything. */
static const struct rt_setup plain = { .av_type = FI_AV_TABLE, .cq_format = FI_CQ_FORMAT_TAGGED };

static void open_plain(struct rt_world *w, const struct column *col, uint64_t caps)
{
	rt_open(w, find(col, caps), &plain);
}

static char *pattern(char *buf, size_t len, int seed)
{
	for (size_t i = 0; i < len; i++)
		buf[i] = (char) (i * 13 + (size_t) seed);
	return buf;
}

/* ---- messages -------------------------------------------------------------------- */

static void run_messages(const struct column *col)
{
	struct fi_context2 ctx[2];
	char out[512], in[512];
	struct rt_world w;

	open_plain(&w, col, FI_MSG);
	rt_carry(&w, 0);
	rt_carry(&w, 1000);
	pattern(out, sizeof(out), 1);
	rt_do(&w, fi_recv(w.ep[1], in, sizeof(in), rt_desc(&w, in, sizeof(in),
			  FI_RECV), FI_ADDR_UNSPEC, &ctx[1]));
	rt_do(&w, fi_send(w.ep[0], out, sizeof(out), rt_desc(&w, out, sizeof(out),
			  FI_SEND), w.addr[1], &ctx[0]));
	assert_ptr_equal(rt_wait(&w, 0).op_context, &ctx[0]);
	assert_int_equal(rt_wait(&w, 1).len, sizeof(in));
	assert_memory_equal(in, out, sizeof(out));
	rt_close(&w);
}

static void run_iov(const struct column *col)
{
	struct fi_context2 ctx[2];
	char out[300], in[300];
	struct iovec tx[3] = { { out, 100 }, { out + 100, 1 }, { out + 101, 199 } };
	struct iovec rx[2] = { { in, 7 }, { in + 7, 293 } };
	void *tx_desc[3], *rx_desc[2];
	struct rt_world w;

	open_plain(&w, col, FI_MSG);
	pattern(out, sizeof(out), 2);
	tx_desc[0] = tx_desc[1] = tx_desc[2] = rt_desc(&w, out, sizeof(out), FI_SEND);
	rx_desc[0] = rx_desc[1] = rt_desc(&w, in, sizeof(in), FI_RECV);
	rt_do(&w, fi_recvv(w.ep[1], rx, rx_desc, 2, FI_ADDR_UNSPEC, &ctx[1]));
	rt_do(&w, fi_sendv(w.ep[0], tx, tx_desc, 3, w.addr[1], &ctx[0]));
	rt_wait(&w, 0);
	assert_int_equal(rt_wait(&w, 1).len, sizeof(out));
	assert_memory_equal(in, out, sizeof(out));
	rt_close(&w);
}

static void run_inject(const struct column *col)
{
	struct fi_context2 ctx;
	struct rt_world w;
	char out[64], in[64];
	size_t len;

	open_plain(&w, col, FI_MSG);
	len = w.info->tx_attr->inject_size < sizeof(out) ? w.info->tx_attr->inject_size : sizeof(out);
	assert_true(len > 0);
	rt_do(&w, fi_recv(w.ep[1], in, sizeof(in), rt_desc(&w, in, sizeof(in),
			  FI_RECV), FI_ADDR_UNSPEC, &ctx));
	pattern(out, len, 3);
	rt_do(&w, fi_inject(w.ep[0], out, len, w.addr[1]));
	memset(out, 0, sizeof(out));		/* the buffer can be reused at once */
	assert_int_equal(rt_wait(&w, 1).len, len);
	assert_memory_equal(in, pattern(out, len, 3), len);
	rt_close(&w);
}

/* The hint for the size of the data asks for it. */
static void run_remote_data(const struct column *col)
{
	struct fi_info *h = hints_for(col, FI_MSG), *info;
	struct fi_cq_tagged_entry entry;
	struct fi_context2 ctx[2];
	struct rt_world w;
	char in[64];
	int ret;

	h->domain_attr->cq_data_size = 2;
	ret = ask(here, h, &info);
	fi_freeinfo(h);
	if (ret)
		skip();
	rt_open(&w, info, &plain);
	for (int inject = 0; inject < 2; inject++) {
		rt_do(&w, fi_recv(w.ep[1], in, sizeof(in), rt_desc(&w, in, sizeof(in),
				  FI_RECV), FI_ADDR_UNSPEC, &ctx[1]));
		if (inject) {
			rt_do(&w, fi_injectdata(w.ep[0], "abc", 3, 0x5a5a, w.addr[1]));
		} else {
			rt_do(&w, fi_senddata(w.ep[0], "abc", 3, rt_desc(&w, "abc", 3, FI_SEND),
					      0x5a5a, w.addr[1], &ctx[0]));
			rt_wait(&w, 0);
		}
		entry = rt_wait(&w, 1);
		assert_int_equal(entry.data, 0x5a5a);
		assert_true(entry.flags & FI_REMOTE_CQ_DATA);
		assert_memory_equal(in, "abc", 3);
	}
	rt_close(&w);
}

static void run_large(const struct column *col)
{
	size_t len = 4 << 20;
	struct fi_context2 ctx[2];
	struct rt_world w;
	char *out = malloc(len), *in = malloc(len);

	open_plain(&w, col, FI_MSG);
	if (len > w.info->ep_attr->max_msg_size) {
		rt_close(&w);
		free(out);
		free(in);
		skip();
	}
	pattern(out, len, 4);
	rt_do(&w, fi_send(w.ep[0], out, len, rt_desc(&w, out, len, FI_SEND), w.addr[1], &ctx[0]));
	rt_do(&w, fi_recv(w.ep[1], in, len, rt_desc(&w, in, len, FI_RECV),
			  FI_ADDR_UNSPEC, &ctx[1]));
	assert_int_equal(rt_wait(&w, 1).len, len);
	rt_wait(&w, 0);
	assert_memory_equal(in, out, len);
	rt_close(&w);
	free(out);
	free(in);
}

/* Unexpected messages are kept until a receive is posted. */
static void run_unexpected(const struct column *col)
{
	struct fi_context2 ctx;
	struct rt_world w;
	char in[16];

	if (col->type == FI_EP_DGRAM && is_device(col))
		skip();		/* a datagram without a posted receive is dropped */
	open_plain(&w, col, FI_MSG);
	for (char i = 0; i < 16; i++)
		rt_do(&w, fi_inject(w.ep[0], &i, 1, w.addr[1]));
	for (char i = 0; i < 16; i++) {
		rt_do(&w, fi_recv(w.ep[1], in, sizeof(in), rt_desc(&w, in, sizeof(in),
				  FI_RECV), FI_ADDR_UNSPEC, &ctx));
		assert_int_equal(rt_wait(&w, 1).len, 1);
		assert_int_equal(in[0], i);
	}
	rt_close(&w);
}

static struct fi_cq_err_entry next_error(struct rt_world *w, int i)
{
	struct fi_cq_tagged_entry entry;
	struct fi_cq_err_entry e = { 0 };
	ssize_t n;
	int left = 10000000;

	while ((n = fi_cq_read(w->cq[i], &entry, 1)) == -FI_EAGAIN && left--)
		rt_push(w);
	assert_int_equal(n, -FI_EAVAIL);
	assert_int_equal(fi_cq_readerr(w->cq[i], &e, 0), 1);
	return e;
}

static void expect_error(struct rt_world *w, int i, int err, struct fi_cq_err_entry *e)
{
	*e = next_error(w, i);
	assert_int_equal(e->err, err);
}

static void run_truncation(const struct column *col)
{
	struct fi_cq_err_entry err;
	struct fi_context2 ctx;
	char out[64], in[16];
	struct rt_world w;

	open_plain(&w, col, FI_MSG);
	rt_do(&w, fi_recv(w.ep[1], in, sizeof(in), rt_desc(&w, in, sizeof(in),
			  FI_RECV), FI_ADDR_UNSPEC, &ctx));
	rt_do(&w, fi_inject(w.ep[0], pattern(out, 64, 5), sizeof(out), w.addr[1]));
	err = next_error(&w, 1);
	/* soft-RoCE reports FI_EIO for a receive that is too short */
	if (col->type != FI_EP_MSG || !is_device(col) || err.err != FI_EIO)
		assert_int_equal(err.err, FI_ETRUNC);
	assert_ptr_equal(err.op_context, &ctx);
	/* A device that ends the connection does not report the length. */
	if (col->type != FI_EP_MSG || !is_device(col) || err.olen)
		assert_int_equal(err.olen, sizeof(out) - sizeof(in));
	rt_close(&w);
}

static void run_cancel(const struct column *col)
{
	struct fi_cq_err_entry err;
	struct fi_context2 ctx;
	struct rt_world w;
	char in[16];
	int ret;

	open_plain(&w, col, FI_MSG);
	rt_do(&w, fi_recv(w.ep[1], in, sizeof(in), rt_desc(&w, in, sizeof(in),
			  FI_RECV), FI_ADDR_UNSPEC, &ctx));
	ret = fi_cancel(&w.ep[1]->fid, &ctx);
	if (ret == -FI_ENOSYS) {
		rt_close(&w);
		skip();
	}
	assert_int_equal(ret, 0);
	expect_error(&w, 1, FI_ECANCELED, &err);
	assert_ptr_equal(err.op_context, &ctx);
	rt_carry(&w, 10);
	rt_close(&w);
}

static void run_selective(const struct column *col)
{
	static const struct rt_setup setup = {
		.av_type = FI_AV_TABLE, .cq_format = FI_CQ_FORMAT_TAGGED,
		.bind_flags = FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION,
	};
	struct fi_info *h = hints_for(col, FI_MSG), *info;
	struct fi_cq_tagged_entry entry;
	struct fi_context2 ctx[2];
	struct rt_world w;
	char in[16];

	h->rx_attr->op_flags = FI_COMPLETION;	/* receives generate completions by default, sends do
						 * not */
	assert_int_equal(ask(here, h, &info), 0);
	fi_freeinfo(h);
	rt_open(&w, info, &setup);
	rt_carry(&w, 100);		/* sends with FI_COMPLETION */
	rt_do(&w, fi_recv(w.ep[1], in, sizeof(in), rt_desc(&w, in, sizeof(in),
			  FI_RECV), FI_ADDR_UNSPEC, &ctx[1]));
	rt_do(&w, fi_send(w.ep[0], "quiet", 5, rt_desc(&w, "quiet", 5, FI_SEND),
			  w.addr[1], &ctx[0]));
	assert_ptr_equal(rt_wait(&w, 1).op_context, &ctx[1]);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(fi_cq_read(w.cq[0], &entry, 1), -FI_EAGAIN);
	rt_close(&w);
}

/* ---- tags, sources, buffers --------------------------------------------------------- */

static void run_tagged(const struct column *col)
{
	struct fi_cq_tagged_entry entry;
	struct fi_context2 ctx[3];
	struct rt_world w;
	char in[2][16];

	open_plain(&w, col, FI_TAGGED);
	rt_carry_tagged(&w, 1000, 0xfeedULL << 48);
	/* out of order, and by mask */
	rt_do(&w, fi_trecv(w.ep[1], in[0], 16, NULL, FI_ADDR_UNSPEC, 2, 0, &ctx[0]));
	rt_do(&w, fi_trecv(w.ep[1], in[1], 16, NULL, FI_ADDR_UNSPEC, 0x100, 0xff, &ctx[1]));
	rt_do(&w, fi_tinject(w.ep[0], "mask", 4, w.addr[1], 0x1ab));
	entry = rt_wait(&w, 1);
	assert_ptr_equal(entry.op_context, &ctx[1]);
	assert_int_equal(entry.tag, 0x1ab);
	rt_do(&w, fi_tsenddata(w.ep[0], "two", 3, NULL, 77, w.addr[1], 2, &ctx[2]));
	entry = rt_wait(&w, 1);
	assert_ptr_equal(entry.op_context, &ctx[0]);
	assert_int_equal(entry.data, 77);
	rt_close(&w);
}

static void run_peek(const struct column *col)
{
	struct fi_context2 ctx;
	struct fi_msg_tagged msg = { .addr = FI_ADDR_UNSPEC, .tag = 9, .context = &ctx };
	struct fi_cq_tagged_entry entry;
	struct fi_cq_err_entry err;
	struct rt_world w;
	struct iovec iov;
	char in[16];
	ssize_t ret;

	open_plain(&w, col, FI_TAGGED);
	rt_do(&w, fi_trecvmsg(w.ep[1], &msg, FI_PEEK));
	expect_error(&w, 1, FI_ENOMSG, &err);
	rt_do(&w, fi_tinject(w.ep[0], "here", 4, w.addr[1], 9));
	for (;;) {
		rt_push(&w);	/* the sender, too: a queue that has an entry is read without a poll */
		rt_do(&w, fi_trecvmsg(w.ep[1], &msg, FI_PEEK | FI_CLAIM));
		while ((ret = fi_cq_read(w.cq[1], &entry, 1)) == -FI_EAGAIN)
			rt_push(&w);
		if (ret == 1)
			break;
		assert_int_equal(fi_cq_readerr(w.cq[1], &err, 0), 1);
		assert_int_equal(err.err, FI_ENOMSG);
	}
	assert_int_equal(entry.len, 4);
	iov = (struct iovec) { in, sizeof(in) };
	msg.msg_iov = &iov;
	msg.iov_count = 1;
	rt_do(&w, fi_trecvmsg(w.ep[1], &msg, FI_CLAIM));
	assert_int_equal(rt_wait(&w, 1).len, 4);
	assert_memory_equal(in, "here", 4);
	rt_close(&w);
}

static void run_directed(const struct column *col)
{
	struct fi_context2 ctx[2];
	struct rt_world w;
	char in[2][16];

	open_plain(&w, col, FI_MSG | FI_DIRECTED_RECV);
	/* a receive directed at another sender stays; the one for this sender matches */
	rt_do(&w, fi_recv(w.ep[1], in[0], 16, rt_desc(&w, in[0], 16, FI_RECV), w.addr[1], &ctx[0]));
	rt_do(&w, fi_recv(w.ep[1], in[1], 16, rt_desc(&w, in[1], 16, FI_RECV), w.addr[0], &ctx[1]));
	rt_do(&w, fi_inject(w.ep[0], "me", 2, w.addr[1]));
	assert_ptr_equal(rt_wait(&w, 1).op_context, &ctx[1]);
	rt_close(&w);
}

static void run_source(const struct column *col)
{
	struct fi_cq_tagged_entry entry;
	struct fi_context2 ctx;
	fi_addr_t from = FI_ADDR_UNSPEC;
	struct rt_world w;
	char in[16];
	ssize_t n;

	open_plain(&w, col, FI_MSG | FI_SOURCE);
	rt_do(&w, fi_recv(w.ep[1], in, sizeof(in), rt_desc(&w, in, sizeof(in),
			  FI_RECV), FI_ADDR_UNSPEC, &ctx));
	rt_do(&w, fi_inject(w.ep[0], "who", 3, w.addr[1]));
	while ((n = fi_cq_readfrom(w.cq[1], &entry, 1, &from)) == -FI_EAGAIN)
		rt_push(&w);
	assert_int_equal(n, 1);
	assert_int_equal(from, w.addr[0]);
	rt_close(&w);
}

static void run_multi_recv(const struct column *col)
{
	struct fi_context2 ctx;
	struct iovec iov;
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .addr = FI_ADDR_UNSPEC,
			      .context = &ctx };
	struct fi_cq_tagged_entry entry;
	size_t min = 64, total = 0;
	struct rt_world w;
	char buf[512], out[32];
	bool released = false;
	int cnt = 0;

	open_plain(&w, col, FI_MSG | FI_MULTI_RECV);
	assert_int_equal(fi_setopt(&w.ep[1]->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &min,
				   sizeof(min)), 0);
	iov = (struct iovec) { buf, sizeof(buf) };
	rt_do(&w, fi_recvmsg(w.ep[1], &msg, FI_MULTI_RECV));
	while (!released) {
		rt_do(&w, fi_inject(w.ep[0], pattern(out, 32, cnt), 32, w.addr[1]));
		entry = rt_wait(&w, 1);
		assert_ptr_equal(entry.op_context, &ctx);
		released = entry.flags & FI_MULTI_RECV;
		if (!entry.len)
			continue;
		assert_memory_equal(entry.buf, out, 32);
		total += entry.len;
		cnt++;
	}
	assert_true(total <= sizeof(buf) && sizeof(buf) - total < min + 32);
	rt_close(&w);
}

/* ---- addresses, connections ------------------------------------------------------------- */

static void run_multicast(const struct column *col)
{
	struct sockaddr_in group = { .sin_family = AF_INET, .sin_port = 0 };
	struct fi_context2 ctx[3];
	struct fid_mc *mc[2];
	struct sockaddr_in own;
	size_t len = sizeof(own);
	struct rt_world w;
	char in[16];

	open_plain(&w, col, FI_MSG | FI_MULTICAST);
	/* the group's port is the receiver's */
	assert_int_equal(fi_getname(&w.ep[1]->fid, &own, &len), 0);
	inet_pton(AF_INET, "239.17.9.3", &group.sin_addr);
	group.sin_port = own.sin_port;
	assert_int_equal(fi_join(w.ep[1], &group, FI_RECV, &mc[1], &ctx[1]), 0);
	assert_int_equal(fi_join(w.ep[0], &group, FI_SEND, &mc[0], &ctx[0]), 0);
	rt_do(&w, fi_recv(w.ep[1], in, sizeof(in), rt_desc(&w, in, sizeof(in),
			  FI_RECV), FI_ADDR_UNSPEC, &ctx[2]));
	rt_do(&w, fi_inject(w.ep[0], "all", 3, fi_mc_addr(mc[0])));
	assert_int_equal(rt_wait(&w, 1).len, 3);
	assert_memory_equal(in, "all", 3);
	assert_int_equal(fi_close(&mc[0]->fid), 0);
	assert_int_equal(fi_close(&mc[1]->fid), 0);
	rt_close(&w);
}

static void run_shutdown(const struct column *col)
{
	struct rt_world w;

	open_plain(&w, col, FI_MSG);
	rt_carry(&w, 10);
	assert_int_equal(fi_shutdown(w.ep[0], 0), 0);
	rt_event(&w, FI_SHUTDOWN);
	rt_close(&w);
}

/* Devices pad private data. */
static void check_data(const struct column *col, size_t len, size_t sent)
{
	if (is_device(col))
		assert_in_range(len, sent, 256);
	else
		assert_int_equal(len, sent);
}

static void run_private_data(const struct column *col)
{
	char buf[sizeof(struct fi_eq_cm_entry) + 256], name[256];
	struct fi_eq_cm_entry *entry = (void *) buf;
	struct fi_eq_err_entry err = { 0 };
	struct fi_eq_attr attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_MSG };
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	size_t len = sizeof(name);
	struct fi_info *info;
	struct fid_pep *pep;
	struct fid_eq *eq;
	struct fid_ep *ep;
	struct fid_cq *cq;
	uint32_t event;
	ssize_t n;

	info = find(col, FI_MSG);
	assert_int_equal(fi_fabric(info->fabric_attr, &fabric, NULL), 0);
	assert_int_equal(fi_domain(fabric, info, &domain, NULL), 0);
	assert_int_equal(fi_eq_open(fabric, &attr, &eq, NULL), 0);
	assert_int_equal(fi_passive_ep(fabric, info, &pep, NULL), 0);
	assert_int_equal(fi_pep_bind(pep, &eq->fid, 0), 0);
	assert_int_equal(fi_listen(pep), 0);
	assert_int_equal(fi_getname(&pep->fid, name, &len), 0);
	assert_int_equal(fi_cq_open(domain, &cq_attr, &cq, NULL), 0);
	assert_int_equal(fi_endpoint(domain, info, &ep, NULL), 0);
	assert_int_equal(fi_ep_bind(ep, &eq->fid, 0), 0);
	assert_int_equal(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV), 0);
	assert_int_equal(fi_enable(ep), 0);
	assert_int_equal(fi_connect(ep, name, "may I?", 6), 0);
	n = fi_eq_sread(eq, &event, buf, sizeof(buf), 10000, 0);
	assert_int_equal(event, FI_CONNREQ);
	check_data(col, (size_t) n - sizeof(*entry), 6);
	assert_memory_equal(entry->data, "may I?", 6);
	assert_int_equal(fi_reject(pep, entry->info->handle, "no", 2), 0);
	fi_freeinfo(entry->info);
	err.err_data = name;
	err.err_data_size = sizeof(name);
	n = fi_eq_sread(eq, &event, buf, sizeof(buf), 10000, 0);
	assert_int_equal(n, -FI_EAVAIL);
	assert_true(fi_eq_readerr(eq, &err, 0) > 0);
	assert_int_equal(err.err, FI_ECONNREFUSED);
	check_data(col, err.err_data_size, 2);
	assert_memory_equal(err.err_data, "no", 2);
	assert_int_equal(fi_close(&ep->fid), 0);
	assert_int_equal(fi_close(&pep->fid), 0);
	assert_int_equal(fi_close(&cq->fid), 0);
	assert_int_equal(fi_close(&domain->fid), 0);
	assert_int_equal(fi_close(&eq->fid), 0);
	assert_int_equal(fi_close(&fabric->fid), 0);
	fi_freeinfo(info);
}

static void run_ipv6(const struct column *col)
{
	static const struct rt_setup setup = { .av_type = FI_AV_TABLE,
					       .cq_format = FI_CQ_FORMAT_TAGGED };
	struct fi_info *h = hints_for(col, FI_MSG), *info;
	struct rt_world w;
	int ret = ask(here6, h, &info);

	fi_freeinfo(h);
	if (ret == -FI_ENODATA || !info || info->addr_format != FI_SOCKADDR_IN6) {
		if (!ret)
			fi_freeinfo(info);
		skip();		/* a host without IPv6 */
	}
	rt_open(&w, info, &setup);
	rt_carry(&w, 500);
	rt_close(&w);
}

/* ---- completion, progress, threads ----------------------------------------------------- */

static void run_counters(const struct column *col)
{
	static const struct rt_setup setup = {
		.av_type = FI_AV_TABLE, .cq_format = FI_CQ_FORMAT_TAGGED,
		.cntr_flags = FI_SEND | FI_RECV,
	};
	struct fi_info *info = find(col, FI_MSG);
	struct rt_world w;

	if (!info->domain_attr->cntr_cnt) {
		fi_freeinfo(info);
		skip();
	}
	rt_open(&w, info, &setup);
	for (int i = 0; i < 5; i++)
		rt_carry(&w, 10);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(fi_cntr_wait(w.cntr[i], 5, 10000), 0);
		assert_int_equal(fi_cntr_read(w.cntr[i]), 5);
		assert_int_equal(fi_cntr_readerr(w.cntr[i]), 0);
	}
	rt_close(&w);
}

static void run_blocking(const struct column *col)
{
	static const struct rt_setup setup = { .av_type = FI_AV_TABLE, .wait_obj = FI_WAIT_FD,
					       .cq_format = FI_CQ_FORMAT_TAGGED };
	struct fi_info *h = hints_for(col, FI_MSG), *info;
	struct fi_cq_tagged_entry entry;
	struct fi_context2 ctx;
	struct rt_world w;
	char in[16];

	/* the program sleeps on one endpoint, and polls the other no more */
	h->domain_attr->data_progress = FI_PROGRESS_AUTO;
	assert_int_equal(ask(here, h, &info), 0);
	fi_freeinfo(h);
	rt_open(&w, info, &setup);
	rt_carry(&w, 10);
	assert_int_equal(fi_cq_sread(w.cq[1], &entry, 1, NULL, 20), -FI_EAGAIN);
	rt_do(&w, fi_recv(w.ep[1], in, sizeof(in), rt_desc(&w, in, sizeof(in),
			  FI_RECV), FI_ADDR_UNSPEC, &ctx));
	rt_do(&w, fi_inject(w.ep[0], "up", 2, w.addr[1]));
	assert_int_equal(fi_cq_sread(w.cq[1], &entry, 1, NULL, 10000), 1);
	assert_ptr_equal(entry.op_context, &ctx);
	rt_close(&w);
}

static void with_attr(const struct column *col, enum fi_progress progress,
		      enum fi_threading threading)
{
	static const struct rt_setup setup = { .av_type = FI_AV_TABLE,
					       .cq_format = FI_CQ_FORMAT_TAGGED };
	struct fi_info *h = hints_for(col, FI_MSG), *info;
	struct rt_world w;

	h->domain_attr->control_progress = progress;
	h->domain_attr->data_progress = progress;
	h->domain_attr->threading = threading;
	assert_int_equal(ask(here, h, &info), 0);
	fi_freeinfo(h);
	if (progress)
		assert_int_equal(info->domain_attr->data_progress, progress);
	if (threading)
		assert_int_equal(info->domain_attr->threading, threading);
	rt_open(&w, info, &setup);
	rt_carry(&w, 800);
	rt_close(&w);
}

static void run_progress(const struct column *col)
{
	with_attr(col, FI_PROGRESS_MANUAL, 0);
	with_attr(col, FI_PROGRESS_AUTO, 0);
}

static void run_threading(const struct column *col)
{
	with_attr(col, 0, FI_THREAD_SAFE);
	with_attr(col, 0, FI_THREAD_DOMAIN);
	with_attr(col, 0, FI_THREAD_COMPLETION);
}

static void run_delivery(const struct column *col)
{
	struct fi_context2 ctx[2];
	struct iovec iov = { "sure", 4 };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .context = &ctx[0] };
	struct fi_info *h = hints_for(col, FI_MSG), *info;
	static const struct rt_setup setup = { .av_type = FI_AV_TABLE,
					       .cq_format = FI_CQ_FORMAT_TAGGED };
	struct rt_world w;
	char in[16];
	int ret;

	h->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
	ret = ask(here, h, &info);
	fi_freeinfo(h);
	if (ret == -FI_ENODATA)
		skip();
	assert_int_equal(ret, 0);
	rt_open(&w, info, &setup);
	msg.addr = w.addr[1];
	rt_do(&w, fi_recv(w.ep[1], in, sizeof(in), rt_desc(&w, in, sizeof(in),
			  FI_RECV), FI_ADDR_UNSPEC, &ctx[1]));
	rt_do(&w, fi_sendmsg(w.ep[0], &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE));
	assert_ptr_equal(rt_wait(&w, 0).op_context, &ctx[0]);
	assert_memory_equal(in, "sure", 4);
	rt_close(&w);
}

/* ---- contexts ------------------------------------------------------------------------ */

static void open_shared(struct rt_world *w, const struct column *col, unsigned shared)
{
	const struct rt_setup setup = { .av_type = FI_AV_TABLE, .shared = shared,
					.cq_format = FI_CQ_FORMAT_TAGGED };
	struct fi_info *h = hints_for(col, FI_MSG), *info;
	int ret;

	if (shared & RT_SHARED_TX)
		h->ep_attr->tx_ctx_cnt = FI_SHARED_CONTEXT;
	if (shared & RT_SHARED_RX)
		h->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	ret = ask(here, h, &info);
	fi_freeinfo(h);
	if (ret == -FI_ENODATA)
		skip();
	assert_int_equal(ret, 0);
	rt_open(w, info, &setup);
}

/* Two endpoints with one receive context: the completion goes to the queue of the endpoint. */
static void shared_receives(const struct column *col, unsigned shared)
{
	struct fi_context2 ctx[2];
	struct rt_world w;
	char in[2][16];

	open_shared(&w, col, shared);
	for (int i = 0; i < 2; i++)
		rt_do(&w, fi_recv(w.srx, in[i], 16, rt_desc(&w, in[i], 16, FI_RECV), FI_ADDR_UNSPEC,
				  &ctx[i]));
	rt_do(&w, fi_inject(w.ep[0], "to one", 6, w.addr[1]));
	assert_ptr_equal(rt_wait(&w, 1).op_context, &ctx[0]);
	rt_do(&w, fi_inject(w.ep[1], "to zero", 7, w.addr[0]));
	assert_ptr_equal(rt_wait(&w, 0).op_context, &ctx[1]);
	assert_memory_equal(in[0], "to one", 6);
	assert_memory_equal(in[1], "to zero", 7);
	rt_close(&w);
}

static void run_shared_rx(const struct column *col)
{
	shared_receives(col, RT_SHARED_RX);
}

static void run_shared_tx(const struct column *col)
{
	struct rt_world w;

	open_shared(&w, col, RT_SHARED_TX);
	rt_carry(&w, 10);
	/* its endpoints go on without the program's handle of it */
	assert_int_equal(fi_close(&w.stx->fid), 0);
	w.stx = NULL;
	rt_carry(&w, 10);
	rt_close(&w);
	shared_receives(col, RT_SHARED_RX | RT_SHARED_TX);
}

#define CTXS 2
#define CTX_BITS 4

/* A scalable endpoint with its contexts. */
struct scalable {
	struct fid_ep *ep, *tx[CTXS], *rx[CTXS];
	struct fid_cq *txcq, *rxcq[CTXS];
	struct fid_av *av;
	fi_addr_t peer;
};

static void open_scalable(struct rt_world *w, struct scalable *s)
{
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE, .rx_ctx_bits = CTX_BITS };
	struct fi_cq_attr attr = { .format = FI_CQ_FORMAT_TAGGED };

	assert_int_equal(fi_scalable_ep(w->domain, w->info, &s->ep, NULL), 0);
	assert_int_equal(fi_av_open(w->domain, &av_attr, &s->av, NULL), 0);
	assert_int_equal(fi_scalable_ep_bind(s->ep, &s->av->fid, 0), 0);
	assert_int_equal(fi_enable(s->ep), 0);
	assert_int_equal(fi_cq_open(w->domain, &attr, &s->txcq, NULL), 0);
	for (int i = 0; i < CTXS; i++) {
		assert_int_equal(fi_tx_context(s->ep, i, NULL, &s->tx[i], NULL), 0);
		assert_int_equal(fi_ep_bind(s->tx[i], &s->txcq->fid, FI_TRANSMIT), 0);
		assert_int_equal(fi_enable(s->tx[i]), 0);
		assert_int_equal(fi_cq_open(w->domain, &attr, &s->rxcq[i], NULL), 0);
		assert_int_equal(fi_rx_context(s->ep, i, NULL, &s->rx[i], NULL), 0);
		assert_int_equal(fi_ep_bind(s->rx[i], &s->rxcq[i]->fid, FI_RECV), 0);
		assert_int_equal(fi_enable(s->rx[i]), 0);
	}
}

static void close_scalable(struct scalable *s)
{
	for (int i = 0; i < CTXS; i++) {
		assert_int_equal(fi_close(&s->tx[i]->fid), 0);
		assert_int_equal(fi_close(&s->rx[i]->fid), 0);
		assert_int_equal(fi_close(&s->rxcq[i]->fid), 0);
	}
	assert_int_equal(fi_close(&s->ep->fid), 0);
	assert_int_equal(fi_close(&s->txcq->fid), 0);
	assert_int_equal(fi_close(&s->av->fid), 0);
}

/* Each transmit context sends to each receive context, by its name. */
static void run_scalable(const struct column *col)
{
	struct fi_info *h = hints_for(col, FI_MSG | FI_NAMED_RX_CTX);
	struct fi_cq_tagged_entry entry;
	struct fi_context2 ctx[2];
	struct scalable s[2];
	struct rt_world w;
	char name[256], in[16];
	size_t len;
	ssize_t n;
	int ret;

	h->ep_attr->tx_ctx_cnt = CTXS;
	h->ep_attr->rx_ctx_cnt = CTXS;
	ret = ask(here, h, &w.info);
	fi_freeinfo(h);
	if (ret == -FI_ENODATA)
		skip();
	assert_int_equal(ret, 0);
	assert_int_equal(fi_fabric(w.info->fabric_attr, &w.fabric, NULL), 0);
	assert_int_equal(fi_domain(w.fabric, w.info, &w.domain, NULL), 0);
	open_scalable(&w, &s[0]);
	open_scalable(&w, &s[1]);
	len = sizeof(name);
	assert_int_equal(fi_getname(&s[1].ep->fid, name, &len), 0);
	assert_int_equal(fi_av_insert(s[0].av, name, 1, &s[0].peer, 0, NULL), 1);
	for (int i = 0; i < CTXS * CTXS; i++) {
		int rx = i % CTXS;

		assert_int_equal(fi_recv(s[1].rx[rx], in, sizeof(in), NULL, FI_ADDR_UNSPEC,
					 &ctx[0]), 0);
		while ((n = fi_send(s[0].tx[i / CTXS], "named", 5, NULL,
				    fi_rx_addr(s[0].peer, rx, CTX_BITS), &ctx[1])) == -FI_EAGAIN)
			fi_cq_read(s[0].txcq, NULL, 0);
		assert_int_equal(n, 0);
		while ((n = fi_cq_read(s[1].rxcq[rx], &entry, 1)) == -FI_EAGAIN)
			fi_cq_read(s[0].txcq, NULL, 0);
		assert_int_equal(n, 1);
		assert_ptr_equal(entry.op_context, &ctx[0]);
		assert_int_equal(entry.len, 5);
		while ((n = fi_cq_read(s[0].txcq, &entry, 1)) == -FI_EAGAIN)
			;
		assert_int_equal(n, 1);
		assert_ptr_equal(entry.op_context, &ctx[1]);
	}
	close_scalable(&s[0]);
	close_scalable(&s[1]);
	assert_int_equal(fi_close(&w.domain->fid), 0);
	assert_int_equal(fi_close(&w.fabric->fid), 0);
	fi_freeinfo(w.info);
}

/* ---- remote memory ---------------------------------------------------------------------- */

/* Connected devices report when a write has arrived, not when it is visible. */
static uint64_t delivered(const struct column *col)
{
	return col->type == FI_EP_MSG && is_device(col) ? 0 : FI_DELIVERY_COMPLETE;
}

/* Memory of endpoint 1 that endpoint 0 may reach. */
struct window {
	uint64_t mem[64];
	struct fid_mr *mr;
	uint64_t addr;			/* as the peer addresses it */
	uint64_t key;
};

static void open_window(struct rt_world *w, struct window *win)
{
	uint64_t access = FI_REMOTE_READ | FI_REMOTE_WRITE;

	memset(win->mem, 0, sizeof(win->mem));
	assert_int_equal(fi_mr_reg(w->domain, win->mem, sizeof(win->mem), access, 0, 0x33, 0,
				   &win->mr, NULL), 0);
	win->key = fi_mr_key(win->mr);
	win->addr = w->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t) win->mem : 0;
}

static void run_rma(const struct column *col)
{
	struct fi_context2 ctx;
	uint64_t out[64], in[64], before;
	struct fi_cq_err_entry err;
	struct window win;
	struct rt_world w;
	void *desc;
	struct iovec iov = { .iov_base = in, .iov_len = sizeof(in) };
	struct fi_rma_iov rma = { .len = sizeof(in) };
	struct fi_msg_rma msg = {
		.msg_iov = &iov, .iov_count = 1, .rma_iov = &rma, .rma_iov_count = 1,
		.context = &ctx,
	};

	open_plain(&w, col, FI_MSG | FI_RMA);
	open_window(&w, &win);
	pattern((char *) out, sizeof(out), 6);
	rt_do(&w, fi_write(w.ep[0], out, sizeof(out), rt_desc(&w, out, sizeof(out),
			   FI_WRITE), w.addr[1], win.addr, win.key, &ctx));
	assert_ptr_equal(rt_wait(&w, 0).op_context, &ctx);
	rt_do(&w, fi_read(w.ep[0], in, sizeof(in), rt_desc(&w, in, sizeof(in),
			  FI_READ), w.addr[1], win.addr, win.key, &ctx));
	assert_ptr_equal(rt_wait(&w, 0).op_context, &ctx);
	assert_memory_equal(in, out, sizeof(out));
	assert_memory_equal(win.mem, out, sizeof(out));
	if (w.info->mode & FI_RX_CQ_DATA)
		rt_do(&w, fi_recv(w.ep[1], NULL, 0, NULL, FI_ADDR_UNSPEC, &ctx));
	rt_do(&w, fi_writedata(w.ep[0], out, 8, rt_desc(&w, out, 8, FI_WRITE),
			       0x77, w.addr[1], win.addr, win.key, &ctx));
	rt_wait(&w, 0);
	assert_int_equal(rt_wait(&w, 1).data, 0x77);
	/* past the end of the region: refused, and nothing is changed */
	before = win.mem[1];
	desc = rt_desc(&w, in, sizeof(in), FI_READ);
	msg.desc = &desc;
	msg.addr = w.addr[1];
	rma.addr = win.addr + 8;
	rma.key = win.key;
	rt_do(&w, fi_writemsg(w.ep[0], &msg, FI_COMPLETION | delivered(col)));
	expect_error(&w, 0, col->type == FI_EP_MSG && is_device(col) ? FI_EACCES : FI_EINVAL, &err);
	assert_ptr_equal(err.op_context, &ctx);
	assert_true(win.mem[1] == before);
	assert_int_equal(fi_close(&win.mr->fid), 0);
	rt_close(&w);
}

/* A read behind a fence sees earlier writes; without one it may be overtaken. */
static void run_fence(const struct column *col)
{
	struct fi_context2 ctx[3];
	uint64_t out[64], in[64];
	struct iovec iov = { out, sizeof(out) };
	struct fi_rma_iov remote = { .len = sizeof(out) };
	struct fi_msg_rma msg = { .msg_iov = &iov, .iov_count = 1, .rma_iov = &remote,
				  .rma_iov_count = 1, .context = &ctx[1] };
	struct window win;
	struct rt_world w;
	void *desc;

	open_plain(&w, col, FI_MSG | FI_RMA | FI_FENCE);
	open_window(&w, &win);
	desc = rt_desc(&w, out, sizeof(out), FI_WRITE);
	msg.desc = &desc;
	pattern((char *) win.mem, sizeof(win.mem), 1);
	pattern((char *) out, sizeof(out), 2);
	remote.addr = win.addr;
	remote.key = win.key;
	msg.addr = w.addr[1];
	rt_do(&w, fi_read(w.ep[0], in, sizeof(in), rt_desc(&w, in, sizeof(in),
			  FI_READ), w.addr[1], win.addr, win.key, &ctx[0]));
	rt_do(&w, fi_writemsg(w.ep[0], &msg, FI_FENCE | FI_COMPLETION | delivered(col)));
	assert_ptr_equal(rt_wait(&w, 0).op_context, &ctx[0]);
	assert_ptr_equal(rt_wait(&w, 0).op_context, &ctx[1]);
	assert_memory_equal(win.mem, out, sizeof(out));
	pattern((char *) out, sizeof(out), 1);
	assert_memory_equal(in, out, sizeof(in));
	assert_int_equal(fi_close(&win.mr->fid), 0);
	rt_close(&w);
}

static struct fid_cntr *open_cntr(struct rt_world *w)
{
	struct fi_cntr_attr attr = { .events = FI_CNTR_EVENTS_COMP, .wait_obj = FI_WAIT_UNSPEC };
	struct fid_cntr *cntr;

	assert_int_equal(fi_cntr_open(w->domain, &attr, &cntr, NULL), 0);
	return cntr;
}

/* A triggered send starts without a further call. */
static void run_trigger(const struct column *col)
{
	static const struct rt_setup setup = {
		.av_type = FI_AV_TABLE, .cq_format = FI_CQ_FORMAT_TAGGED, .cntr_flags = FI_RECV,
	};
	struct fi_triggered_context2 tc = { .event_type = FI_TRIGGER_THRESHOLD };
	struct fi_context2 ctx[2];
	char in[2][16];
	struct iovec iov = { in[1], 5 };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .context = &tc };
	struct rt_world w;

	rt_open(&w, find(col, FI_MSG | FI_TRIGGER), &setup);
	tc.trigger.threshold.cntr = w.cntr[1];
	tc.trigger.threshold.threshold = 1;
	msg.addr = w.addr[0];
	rt_do(&w, fi_sendmsg(w.ep[1], &msg, FI_TRIGGER | FI_COMPLETION));
	rt_do(&w, fi_recv(w.ep[1], in[1], 16, rt_desc(&w, in[1], 16, FI_RECV),
			  FI_ADDR_UNSPEC, &ctx[1]));
	rt_do(&w, fi_recv(w.ep[0], in[0], 16, rt_desc(&w, in[0], 16, FI_RECV),
			  FI_ADDR_UNSPEC, &ctx[0]));
	rt_do(&w, fi_inject(w.ep[0], "chain", 5, w.addr[1]));
	assert_ptr_equal(rt_wait(&w, 1).op_context, &ctx[1]);
	assert_ptr_equal(rt_wait(&w, 0).op_context, &ctx[0]);
	assert_memory_equal(in[0], "chain", 5);
	assert_ptr_equal(rt_wait(&w, 1).op_context, &tc);
	rt_close(&w);
}

/* Deferred work increments a counter on completion, and writes no completion. */
static void run_work(const struct column *col)
{
	struct fi_cq_tagged_entry entry;
	struct fi_context2 ctx;
	struct iovec iov = { "work", 4 };
	struct fi_op_msg op = { .msg = { .msg_iov = &iov, .iov_count = 1 } };
	struct fi_deferred_work work = { .threshold = 2, .op_type = FI_OP_SEND, .op.msg = &op };
	struct fid_cntr *start, *done;
	struct rt_world w;
	char in[16];

	open_plain(&w, col, FI_MSG | FI_TRIGGER);
	start = open_cntr(&w);
	done = open_cntr(&w);
	op.ep = w.ep[0];
	op.msg.addr = w.addr[1];
	work.triggering_cntr = start;
	work.completion_cntr = done;
	assert_int_equal(fi_control(&w.domain->fid, FI_QUEUE_WORK, &work), 0);
	rt_do(&w, fi_recv(w.ep[1], in, sizeof(in), rt_desc(&w, in, sizeof(in),
			  FI_RECV), FI_ADDR_UNSPEC, &ctx));
	assert_int_equal(fi_cntr_add(start, 2), 0);
	assert_ptr_equal(rt_wait(&w, 1).op_context, &ctx);
	assert_memory_equal(in, "work", 4);
	while (!fi_cntr_read(done))
		rt_push(&w);
	assert_int_equal(fi_cq_read(w.cq[0], &entry, 1), -FI_EAGAIN);
	work.threshold = 99;
	assert_int_equal(fi_control(&w.domain->fid, FI_QUEUE_WORK, &work), 0);
	assert_int_equal(fi_control(&w.domain->fid, FI_CANCEL_WORK, &work), 0);
	assert_int_equal(fi_close(&start->fid), 0);
	assert_int_equal(fi_close(&done->fid), 0);
	rt_close(&w);
}

static void run_atomics(const struct column *col)
{
	struct { uint64_t add, swap, cmp, result; } v = { 5, 40, 6, 0 };
	struct fi_context2 ctx;
	struct window win;
	struct rt_world w;
	size_t cnt = 0;
	void *desc;

	open_plain(&w, col, FI_MSG | FI_ATOMIC);
	open_window(&w, &win);
	desc = rt_desc(&w, &v, sizeof(v), FI_READ | FI_WRITE);
	win.mem[0] = 1;
	assert_int_equal(fi_atomicvalid(w.ep[0], FI_UINT64, FI_SUM, &cnt), 0);
	assert_true(cnt > 0);
	rt_do(&w, fi_atomic(w.ep[0], &v.add, 1, desc, w.addr[1], win.addr, win.key, FI_UINT64,
			    FI_SUM, &ctx));
	rt_wait(&w, 0);
	rt_do(&w, fi_fetch_atomic(w.ep[0], &v.add, 1, desc, &v.result, desc, w.addr[1], win.addr,
				  win.key, FI_UINT64, FI_ATOMIC_READ, &ctx));
	rt_wait(&w, 0);
	assert_int_equal(v.result, 6);
	rt_do(&w, fi_compare_atomic(w.ep[0], &v.swap, 1, desc, &v.cmp, desc, &v.result, desc,
				    w.addr[1], win.addr, win.key, FI_UINT64, FI_CSWAP, &ctx));
	rt_wait(&w, 0);
	assert_int_equal(v.result, 6);
	assert_int_equal(win.mem[0], 40);
	assert_int_equal(fi_close(&win.mr->fid), 0);
	rt_close(&w);
}

/* Both endpoints are the group. */
static void join_both(struct rt_world *w, struct fid_mc *mc[2])
{
	struct fi_av_set_attr attr = { .flags = FI_UNIVERSE };
	struct fi_eq_entry entry;
	struct fid_av_set *set;
	uint32_t event;

	assert_int_equal(fi_av_set(w->av, &attr, &set, NULL), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(fi_join_collective(w->ep[i], FI_ADDR_NOTAVAIL, set, 0, &mc[i],
						    NULL), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(fi_eq_sread(w->eq, &event, &entry, sizeof(entry), 10000, 0),
				 sizeof(entry));
		assert_int_equal(event, FI_JOIN_COMPLETE);
	}
	assert_int_equal(fi_close(&set->fid), 0);
}

static void wait_both(struct rt_world *w, struct fi_context2 *ctx)
{
	struct fi_cq_tagged_entry entry;

	for (int i = 0; i < 2; i++) {
		entry = rt_wait(w, i);
		assert_ptr_equal(entry.op_context, &ctx[i]);
		assert_int_equal(entry.flags, FI_COLLECTIVE);
	}
}

static void run_collectives(const struct column *col)
{
	static char buf[2][300000];
	double in[2] = { 1.5, 2.25 }, sum[2], all[2][2];
	struct fi_context2 ctx[2];
	struct fid_mc *mc[2];
	struct rt_world w;

	open_plain(&w, col, FI_MSG | FI_COLLECTIVE);
	join_both(&w, mc);
	for (int i = 0; i < 2; i++)
		rt_do(&w, fi_barrier(w.ep[i], fi_mc_addr(mc[i]), &ctx[i]));
	wait_both(&w, ctx);
	for (int i = 0; i < 2; i++)
		rt_do(&w, fi_allreduce(w.ep[i], &in[i], 1, NULL, &sum[i], NULL, fi_mc_addr(mc[i]),
				       FI_DOUBLE, FI_SUM, 0, &ctx[i]));
	wait_both(&w, ctx);
	for (int i = 0; i < 2; i++)
		rt_do(&w, fi_allgather(w.ep[i], &in[i], 1, NULL, all[i], NULL, fi_mc_addr(mc[i]),
				       FI_DOUBLE, 0, &ctx[i]));
	wait_both(&w, ctx);
	pattern(buf[1], sizeof(buf[1]), 9);
	for (int i = 0; i < 2; i++)
		rt_do(&w, fi_broadcast(w.ep[i], buf[i], sizeof(buf[i]), NULL, fi_mc_addr(mc[i]),
				       w.addr[1], FI_UINT8, 0, &ctx[i]));
	wait_both(&w, ctx);
	for (int i = 0; i < 2; i++) {
		assert_true(sum[i] == 3.75);
		assert_memory_equal(all[i], in, sizeof(in));
		assert_memory_equal(buf[i], buf[1], sizeof(buf[1]));
	}
	/* the program's messages do not match */
	rt_carry(&w, 1000);
	for (int i = 0; i < 2; i++)
		assert_int_equal(fi_close(&mc[i]->fid), 0);
	rt_close(&w);
}

/* ---- memory of devices --------------------------------------------------------------------
 *
 * Each case runs with all three kinds, over tests/fakegpu, whose memory faults when the CPU
 * touches it.  RDMA devices in software take it by tests/fakegpu/libdmabuf_mr.so, preloaded.
 */

static const char *const kinds[] = { "cuda", "rocr", "ze" };

/* Installed is CUDA's library alone, or the test is skipped. */
static size_t kind_cnt(void)
{
	return fakegpu_not() ? 1 : COUNT(kinds);
}

/* Memory of the device at both ends. */
struct gpu {
	struct rt_world w;
	size_t len;
	char *buf[2];
	struct fid_mr *mr[2];
	void *desc[2];
	struct fi_context2 ctx[2];
	char host[2][300000];
};

static struct gpu *gpu_open(const struct column *col, const char *kind, uint64_t caps)
{
	static struct gpu g;
	struct iovec iov;
	struct fi_mr_attr attr = {
		.mr_iov = &iov, .iov_count = 1,
		.access = FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE,
	};

	memset(&g, 0, sizeof(g));
	assert_null(device_open(kind, fakegpu_device()));
	open_plain(&g.w, col, caps | FI_HMEM);
	g.len = g.w.info->ep_attr->max_msg_size < sizeof(g.host[0]) ?
		g.w.info->ep_attr->max_msg_size : sizeof(g.host[0]);
	device_attr(&attr);
	for (int i = 0; i < 2; i++) {
		g.buf[i] = device_alloc(g.len);
		assert_non_null(g.buf[i]);
		iov = (struct iovec) { g.buf[i], g.len };
		attr.requested_key = 0x40 + (uint64_t) i;
		assert_int_equal(fi_mr_regattr(g.w.domain, &attr, 0, &g.mr[i]), 0);
		g.desc[i] = fi_mr_desc(g.mr[i]);
	}
	return &g;
}

static void gpu_close(struct gpu *g)
{
	for (int i = 0; i < 2; i++) {
		assert_int_equal(fi_close(&g->mr[i]->fid), 0);
		device_free(g->buf[i]);
	}
	rt_close(&g->w);
}

/* gpu_put - a pattern into the buffer of @i; gpu_check - what that of @i has at @at. */
static void gpu_put(struct gpu *g, int i, size_t len, int seed)
{
	assert_true(device_put(g->buf[i], pattern(g->host[0], len, seed), len));
}

static void gpu_check(struct gpu *g, int i, size_t at, size_t len, int seed)
{
	assert_true(device_get(g->host[1], g->buf[i] + at, len));
	assert_memory_equal(g->host[1], pattern(g->host[0], len, seed), len);
}

static void gpu_message(struct gpu *g, size_t len)
{
	struct rt_world *w = &g->w;

	gpu_put(g, 0, len, (int) len);
	rt_do(w, fi_recv(w->ep[1], g->buf[1], g->len, g->desc[1], FI_ADDR_UNSPEC, &g->ctx[1]));
	rt_do(w, fi_send(w->ep[0], g->buf[0], len, g->desc[0], w->addr[1], &g->ctx[0]));
	assert_ptr_equal(rt_wait(w, 0).op_context, &g->ctx[0]);
	assert_int_equal(rt_wait(w, 1).len, len);
	gpu_check(g, 1, 0, len, (int) len);
}

static void run_gpu_messages(const struct column *col)
{
	for (size_t k = 0; k < kind_cnt(); k++) {
		struct gpu *g = gpu_open(col, kinds[k], FI_MSG);

		gpu_message(g, 100);
		gpu_message(g, 1400);
		gpu_message(g, g->len);
		gpu_close(g);
	}
}

static void run_gpu_multi_recv(const struct column *col)
{
	const size_t part = 400;
	size_t min = part;

	for (size_t k = 0; k < kind_cnt(); k++) {
		struct gpu *g = gpu_open(col, kinds[k], FI_MSG | FI_MULTI_RECV);
		struct iovec iov = { g->buf[1], 3 * part };
		struct fi_msg msg = { .msg_iov = &iov, .desc = &g->desc[1], .iov_count = 1,
				      .addr = FI_ADDR_UNSPEC, .context = &g->ctx[1] };
		struct rt_world *w = &g->w;

		assert_int_equal(fi_setopt(&w->ep[1]->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV,
					   &min, sizeof(min)), 0);
		rt_do(w, fi_recvmsg(w->ep[1], &msg, FI_MULTI_RECV | FI_COMPLETION));
		for (int i = 0; i < 3; i++) {
			struct fi_cq_tagged_entry entry;

			gpu_put(g, 0, part, i);
			rt_do(w, fi_send(w->ep[0], g->buf[0], part, g->desc[0], w->addr[1], &g->ctx[0]));
			rt_wait(w, 0);
			entry = rt_wait(w, 1);
			assert_ptr_equal(entry.buf, g->buf[1] + (size_t) i * part);
			assert_int_equal((entry.flags & FI_MULTI_RECV) != 0, i == 2);
			gpu_check(g, 1, (size_t) i * part, part, i);
		}
		gpu_close(g);
	}
}

static uint64_t gpu_addr(const struct gpu *g)
{
	return g->w.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t) g->buf[1] : 0;
}

static void run_gpu_rma(const struct column *col)
{
	for (size_t k = 0; k < kind_cnt(); k++) {
		struct gpu *g = gpu_open(col, kinds[k], FI_MSG | FI_RMA);
		uint64_t key = fi_mr_key(g->mr[1]);
		struct rt_world *w = &g->w;

		gpu_put(g, 0, g->len, 3);
		rt_do(w, fi_write(w->ep[0], g->buf[0], g->len, g->desc[0], w->addr[1], gpu_addr(g), key,
				  &g->ctx[0]));
		rt_wait(w, 0);
		gpu_put(g, 0, g->len, 4);
		/* the read is behind the write */
		rt_do(w, fi_read(w->ep[0], g->buf[0], g->len, g->desc[0], w->addr[1], gpu_addr(g), key,
				 &g->ctx[0]));
		rt_wait(w, 0);
		gpu_check(g, 0, 0, g->len, 3);
		gpu_check(g, 1, 0, g->len, 3);
		gpu_close(g);
	}
}

static void run_gpu_atomics(const struct column *col)
{
	for (size_t k = 0; k < kind_cnt(); k++) {
		struct gpu *g = gpu_open(col, kinds[k], FI_MSG | FI_ATOMIC);
		uint64_t add = 5, cell = 7, was = 0, key = fi_mr_key(g->mr[1]);
		struct rt_world *w = &g->w;

		assert_true(device_put(g->buf[1], &cell, 8) && device_put(g->buf[0], &add, 8));
		rt_do(w, fi_fetch_atomic(w->ep[0], g->buf[0], 1, g->desc[0], g->buf[0] + 64, g->desc[0],
					 w->addr[1], gpu_addr(g), key, FI_UINT64, FI_SUM, &g->ctx[0]));
		rt_wait(w, 0);
		assert_true(device_get(&was, g->buf[0] + 64, 8) && device_get(&cell, g->buf[1], 8));
		assert_int_equal(was, 7);
		assert_int_equal(cell, 12);
		gpu_close(g);
	}
}

/* ---- the table ---------------------------------------------------------------------------- */

#define ON(type) (1u << (type))

/* ---- devices that post ------------------------------------------------------------- */

#define XPU_CASE(name, caps)						\
	static void run_xpu_##name(const struct column *col)		\
	{								\
		xpu_##name(find(col, FI_XPU | (caps)));			\
	}
XPU_CASE(messages, FI_MSG)
XPU_CASE(tagged, FI_MSG | FI_TAGGED)
XPU_CASE(rma, FI_MSG | FI_RMA)
XPU_CASE(atomics, FI_MSG | FI_ATOMIC)
XPU_CASE(counters, FI_MSG)
XPU_CASE(queues, FI_MSG)

static const struct feature features[] = {
	{ "messages: send, recv, msg forms, empty", FI_MSG, 0, run_messages },
	{ "scattered buffers (v forms)", FI_MSG, 0, run_iov },
	{ "inject", FI_MSG, 0, run_inject },
	{ "remote completion data", FI_MSG, 0, run_remote_data },
	{ "messages of megabytes", FI_MSG, 0, run_large },
	{ "unexpected messages kept in order", FI_MSG, 0, run_unexpected },
	{ "truncation reported", FI_MSG, 0, run_truncation },
	{ "cancel", FI_MSG, 0, run_cancel },
	{ "selective completion", FI_MSG, 0, run_selective },
	{ "delivery-complete", FI_MSG, 0, run_delivery },
	{ "tagged messages, masks, data", FI_TAGGED, 0, run_tagged },
	{ "peek and claim", FI_TAGGED, 0, run_peek },
	{ "directed receive", FI_MSG | FI_DIRECTED_RECV, ON(FI_EP_RDM) | ON(FI_EP_DGRAM),
	  run_directed },
	{ "source address", FI_MSG | FI_SOURCE, ON(FI_EP_RDM) | ON(FI_EP_DGRAM), run_source },
	{ "multi-receive buffers", FI_MSG | FI_MULTI_RECV, 0, run_multi_recv },
	{ "multicast", FI_MSG | FI_MULTICAST, ON(FI_EP_DGRAM), run_multicast },
	{ "connect, accept, shutdown", FI_MSG, ON(FI_EP_MSG), run_shutdown },
	{ "private data, reject", FI_MSG, ON(FI_EP_MSG), run_private_data },
	{ "IPv6", FI_MSG, 0, run_ipv6 },
	{ "counters", FI_MSG, 0, run_counters },
	{ "blocking reads, wait on a file descriptor", FI_MSG, 0, run_blocking },
	{ "manual and automatic progress", FI_MSG, 0, run_progress },
	{ "every threading level", FI_MSG, 0, run_threading },
	{ "shared receive contexts", FI_MSG, 0, run_shared_rx },
	{ "shared transmit contexts", FI_MSG, 0, run_shared_tx },
	{ "scalable endpoints, named receive contexts", FI_MSG | FI_NAMED_RX_CTX, ON(FI_EP_RDM),
	  run_scalable },
	{ "RMA: read, write, data, bounds checked", FI_MSG | FI_RMA,
	  ON(FI_EP_MSG) | ON(FI_EP_RDM), run_rma },
	{ "atomics: add, fetch, compare and swap", FI_MSG | FI_ATOMIC,
	  ON(FI_EP_MSG) | ON(FI_EP_RDM), run_atomics },
	{ "fences", FI_MSG | FI_RMA | FI_FENCE, ON(FI_EP_MSG) | ON(FI_EP_RDM), run_fence },
	{ "triggered operations", FI_MSG | FI_TRIGGER, ON(FI_EP_MSG) | ON(FI_EP_RDM), run_trigger },
	{ "deferred work queue", FI_MSG | FI_TRIGGER, ON(FI_EP_MSG) | ON(FI_EP_RDM), run_work },
	{ "collectives", FI_MSG | FI_COLLECTIVE, ON(FI_EP_RDM), run_collectives },
	{ "device memory: messages", FI_MSG | FI_HMEM, 0, run_gpu_messages },
	{ "device memory: multi-receive buffers", FI_MSG | FI_MULTI_RECV | FI_HMEM, 0,
	  run_gpu_multi_recv },
	{ "device memory: RMA", FI_MSG | FI_RMA | FI_HMEM, ON(FI_EP_MSG) | ON(FI_EP_RDM), run_gpu_rma },
	{ "device memory: atomics", FI_MSG | FI_ATOMIC | FI_HMEM, ON(FI_EP_MSG) | ON(FI_EP_RDM),
	  run_gpu_atomics },
	{ "XPU: messages", FI_MSG | FI_XPU, 0, run_xpu_messages },
	{ "XPU: tagged messages", FI_MSG | FI_TAGGED | FI_XPU, 0, run_xpu_tagged },
	{ "XPU: RMA", FI_MSG | FI_RMA | FI_XPU, ON(FI_EP_MSG) | ON(FI_EP_RDM), run_xpu_rma },
	{ "XPU: atomics", FI_MSG | FI_ATOMIC | FI_XPU, ON(FI_EP_MSG) | ON(FI_EP_RDM),
	  run_xpu_atomics },
	{ "XPU: counters", FI_MSG | FI_XPU, 0, run_xpu_counters },
	{ "XPU: queues", FI_MSG | FI_XPU, 0, run_xpu_queues },
};

static void test_cell(void **state)
{
	const struct cell *cell = *state;
	struct fi_info *h = hints_for(cell->column, cell->feature->caps), *info;
	int ret = ask(here, h, &info);

	fi_freeinfo(h);
	if (ret == -FI_ENODATA) {
		assert_null(info);
		skip();
	}
	assert_int_equal(ret, 0);
	fi_freeinfo(info);
	cell->feature->run(cell->column);
}

#define CASES_MAX (COUNT(features) * COUNT(columns))

/* has_names - are its addresses text? */
static bool has_names(const struct column *col)
{
	return !strcmp(col->prov, "shm") || !strcmp(col->prov, "loop");
}

static size_t list_cases(const struct column *cols, size_t col_cnt, struct CMUnitTest *tests)
{
	static struct cell cells[CASES_MAX];
	static char names[CASES_MAX][96];
	size_t cnt = 0;

	for (size_t f = 0; f < COUNT(features); f++) {
		for (size_t c = 0; c < col_cnt; c++) {
			if (features[f].ep_types && !(features[f].ep_types & ON(cols[c].type)))
				continue;
			if (features[f].run == run_ipv6 && has_names(&cols[c]))
				continue;
			cells[cnt] = (struct cell) { &features[f], &cols[c] };
			snprintf(names[cnt], sizeof(names[cnt]), "%s | %s", features[f].name,
				 cols[c].name);
			tests[cnt] = (struct CMUnitTest) { .name = names[cnt],
							   .test_func = test_cell,
							   .initial_state = &cells[cnt] };
			cnt++;
		}
	}
	return cnt;
}

int main(int argc, char **argv)
{
	static struct CMUnitTest tests[CASES_MAX];
	const char *last = argc > 1 ? argv[argc - 1] : "";
	size_t cnt;

	fakegpu_use(argv);
	if (argc > 1 && !strcmp(argv[1], "device")) {
		cnt = list_cases(device_columns, COUNT(device_columns), tests);
		here = argc > 2 ? argv[2] : here;
		here6 = argc > 3 ? argv[3] : here6;
	} else {
		cnt = list_cases(columns, COUNT(columns), tests);
	}
	if (getenv("FEATURES"))
		cmocka_set_test_filter(getenv("FEATURES"));
	if (strcmp(last, "names"))
		return _cmocka_run_group_tests("features", tests, cnt, NULL, NULL);
	for (size_t i = 0; i < cnt; i++)
		puts(tests[i].name);
	return 0;
}
