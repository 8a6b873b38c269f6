// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * kofi_pingpong.c - the call flow of a kernel client, from discovery to shutdown, as a program
 * that can be run: messages of 1 B to 8 MiB there and back, then reads and writes both ways,
 * all verified, against this module or the user-space program test/peer.c.
 *
 *   echo "server PROVIDER ADDRESS PORT [MODE]" > /sys/kernel/debug/kofi_pingpong/run
 *   echo "client PROVIDER ADDRESS PORT [MODE [SOURCE]]" > /sys/kernel/debug/kofi_pingpong/run
 *
 * The write returns when the conversation is over; its error is the write's.  MODE: pingpong;
 * atomic (atomic operations instead of messages, reads and writes); refused (pingpong with a peer that
 * takes no atomics: one is tried first); reject (the server refuses, the client expects that); flood and flood_rma (the client sends,
 * or writes and reads, until the connection ends, and each operation must end once); region (the
 * server of flood_rma); victim (the server accepts one connection after the other and waits for
 * its end, until a request says "quit").
 *
 * The conversation: both send a struct hello that describes the region that the other one may
 * access, the client first: on iWARP a server that speaks first loses its connection.  For each
 * length the client sends a message that the server sends back.  The client writes the server's
 * region, reads it again and says so with an empty message; the server does the same with the
 * client's.  A receive is posted before anything is sent that the other side may answer: iWARP
 * ends the connection when a message finds none.
 */
#define pr_fmt(fmt) "kofi_pingpong: " fmt

#include <linux/debugfs.h>
#include <linux/inet.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include <kofi/fi_atomic.h>
#include <kofi/fi_cm.h>
#include <kofi/fi_rma.h>

#include "../test/model.h"

#define LEN_MAX		(8UL << 20)
#define REGION		(1UL << 20)
#define ORDER		get_order(REGION)
#define HALF		(LEN_MAX / 2)
#define WAIT_MS		60000
#define FLOOD_MS	25000

/* Region of the sender, in little endian. */
struct hello {
	__le64	addr;
	__le64	key;
	__le64	len;
};

struct args {
	bool	server;
	char	prov[16];
	char	addr[48];
	char	port[8];
	char	source[48];
	char	mode[16];
};

/* Memory of messages, LEN_MAX in two parts: devices want memory that is contiguous, the
 * processor a range of addresses. */
struct buffer {
	struct page	*half[2];
	void		*all;
};

/* One side. */
struct side {
	struct fi_info		*info;
	struct fid_fabric	*fabric;
	struct fid_eq		*eq;		/* of the endpoint */
	struct fid_eq		*requests;	/* of the listener */
	struct fid_domain	*domain;
	struct fid_cq		*cq;
	struct fid_pep		*pep;
	struct fid_ep		*ep;
	struct fid_mr		*mr;
	void			*region;	/* for the peer */
	struct buffer		out;
	struct buffer		in;
	bool			received;	/* a message that was not waited for yet */
	ssize_t			received_len;
	struct hello		*hello;		/* ours, and behind it the peer's */
	u64			addr, key;	/* of the peer's region */
};

/* ---- data ---- */

static void fill_pattern(void *buf, size_t len, u8 seed)
{
	u8 *byte = buf;
	size_t i;

	for (i = 0; i < len; i++)
		byte[i] = seed + i * 7 + (i >> 8);
}

static bool verify_pattern(const void *buf, size_t len, u8 seed)
{
	const u8 *byte = buf;
	size_t i;

	for (i = 0; i < len; i++)
		if (byte[i] != (u8)(seed + i * 7 + (i >> 8)))
			return false;
	return true;
}

/* ---- waiting ---- */

/* The next completion; returns its length. */
static ssize_t complete_one(struct side *s, uint64_t *flags_p)
{
	struct fi_cq_err_entry err = {};
	struct fi_cq_data_entry e;
	ssize_t ret;

	ret = fi_cq_sread(s->cq, &e, 1, NULL, WAIT_MS);
	if (ret == -FI_EAVAIL) {
		fi_cq_readerr(s->cq, &err, 0);
		pr_info("an operation failed: %d\n", err.err);
		return -err.err;
	}
	if (ret != 1)
		return ret == -FI_EAGAIN ? -FI_ETIMEDOUT : ret;
	*flags_p = e.flags;
	return e.len;
}

/* Waits for a completion of @flags, before which a message may come; returns its length. */
static ssize_t wait_completed(struct side *s, uint64_t flags)
{
	uint64_t have;
	ssize_t ret;

	if (flags & FI_RECV && s->received) {
		s->received = false;
		return s->received_len;
	}
	ret = complete_one(s, &have);
	if (ret >= 0 && !(have & flags) && have & FI_RECV && !s->received) {
		s->received = true;
		s->received_len = ret;
		ret = complete_one(s, &have);
	}
	return ret < 0 || have & flags ? ret : -FI_EPROTO;
}

struct event {
	struct fi_eq_cm_entry	entry;
	char			data[256];	/* as much as a peer may pass along */
};

static int event_is(struct fid_eq *eq, uint32_t want, struct event *event)
{
	struct fi_eq_err_entry err = {};
	uint32_t number;
	ssize_t ret;

	ret = fi_eq_sread(eq, &number, event, sizeof(*event), WAIT_MS, 0);
	if (ret == -FI_EAVAIL) {
		fi_eq_readerr(eq, &err, 0);
		return -err.err;
	}
	if (ret < 0)
		return ret == -FI_EAGAIN ? -FI_ETIMEDOUT : ret;
	return number == want ? 0 : -FI_EPROTO;
}

/* ---- initialise ---- */

static int side_discover(const struct args *args, struct fi_info **info_p)
{
	struct fi_info *hints = fi_allocinfo();
	struct sockaddr_storage src;
	int ret = -FI_ENOMEM;

	if (!hints)
		return ret;
	hints->caps = FI_MSG | FI_RMA;
	if (!strcmp(args->mode, "atomic") || !strcmp(args->mode, "refused") ||
	    !strcmp(args->mode, "victim"))
		hints->caps |= FI_ATOMIC;
	hints->mode = FI_RX_CQ_DATA;
	hints->ep_attr->type = FI_EP_MSG;
	hints->domain_attr->mr_mode = FI_MR_ENDPOINT | FI_MR_VIRT_ADDR | FI_MR_PROV_KEY;
	if (!strcmp(args->mode, "victim"))	/* by a key that peers guess, their reach is what counts */
		hints->domain_attr->mr_mode &= ~FI_MR_PROV_KEY;
	hints->fabric_attr->prov_name = kstrdup(args->prov, GFP_KERNEL);
	if (*args->source && inet_pton_with_scope(&init_net, AF_UNSPEC, args->source, NULL, &src))
		ret = -FI_EINVAL;
	else if (*args->source)
		hints->src_addr = kmemdup(&src, sizeof(struct sockaddr_in6), GFP_KERNEL);
	hints->src_addrlen = hints->src_addr ? sizeof(struct sockaddr_in6) : 0;
	if (hints->fabric_attr->prov_name && ret != -FI_EINVAL)
		ret = fi_getinfo(FI_VERSION(2, 6), args->addr, args->port,
				 args->server ? FI_SOURCE : 0, hints, info_p);
	fi_freeinfo(hints);
	return ret;
}

static int buffer_alloc(struct buffer *buf)
{
	struct page **pages = kvmalloc_array(LEN_MAX / PAGE_SIZE, sizeof(*pages), GFP_KERNEL);
	size_t i;

	for (i = 0; i < 2; i++)
		buf->half[i] = alloc_pages(GFP_KERNEL | __GFP_COMP, get_order(HALF));
	if (pages && buf->half[0] && buf->half[1]) {
		for (i = 0; i < LEN_MAX / PAGE_SIZE; i++)
			pages[i] = buf->half[i / (HALF / PAGE_SIZE)] + i % (HALF / PAGE_SIZE);
		buf->all = vmap(pages, LEN_MAX / PAGE_SIZE, VM_MAP, PAGE_KERNEL);
	}
	kvfree(pages);
	return buf->all ? 0 : -FI_ENOMEM;
}

static void buffer_free(struct buffer *buf)
{
	int i;

	vunmap(buf->all);
	for (i = 0; i < 2; i++)
		if (buf->half[i])
			__free_pages(buf->half[i], get_order(HALF));
}

static int open_side(struct side *s)
{
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_DATA };
	int ret;

	ret = fi_fabric(s->info->fabric_attr, &s->fabric, NULL);
	if (!ret)
		ret = fi_eq_open(s->fabric, NULL, &s->eq, NULL);
	if (!ret)
		ret = fi_eq_open(s->fabric, NULL, &s->requests, NULL);
	if (!ret)
		ret = fi_domain(s->fabric, s->info, &s->domain, NULL);
	if (!ret)
		ret = fi_cq_open(s->domain, &cq_attr, &s->cq, NULL);
	if (!ret)
		ret = buffer_alloc(&s->out);
	if (!ret)
		ret = buffer_alloc(&s->in);
	s->hello = kcalloc(2, sizeof(*s->hello), GFP_KERNEL);
	s->region = (void *)__get_free_pages(GFP_KERNEL | __GFP_ZERO | __GFP_COMP, ORDER);
	return ret ? ret : s->hello && s->region ? 0 : -FI_ENOMEM;
}

/* The first @len bytes of a buffer as a list. */
static void list_pieces(const struct buffer *buf, size_t len, struct bio_vec *bvec, size_t *cnt_p)
{
	size_t i;

	for (i = 0; i < 2; i++) {
		bvec[i].bv_page = buf->half[i];
		bvec[i].bv_offset = 0;
		bvec[i].bv_len = min(len - i * min(len, HALF), HALF);
	}
	*cnt_p = len > HALF ? 2 : 1;
}

static int post_receive(struct side *s)
{
	struct bio_vec bvec[2];
	struct fi_msg msg = { .msg_bvec = bvec };

	list_pieces(&s->in, LEN_MAX, bvec, &msg.iov_count);
	return fi_recvmsg(s->ep, &msg, FI_BVEC);
}

static int endpoint_open(struct side *s, struct fi_info *info)
{
	bool virt = info->domain_attr->mr_mode & FI_MR_VIRT_ADDR;
	int ret;

	ret = fi_endpoint(s->domain, info, &s->ep, NULL);
	if (!ret)
		ret = fi_ep_bind(s->ep, &s->cq->fid, FI_TRANSMIT | FI_RECV);
	if (!ret)
		ret = fi_ep_bind(s->ep, &s->eq->fid, 0);
	if (!ret)
		ret = fi_enable(s->ep);
	if (!ret)
		ret = fi_mr_reg(s->domain, s->region, REGION, FI_REMOTE_READ | FI_REMOTE_WRITE,
				virt ? (uintptr_t)s->region : 0, 1, 0, &s->mr, NULL);
	if (!ret && info->domain_attr->mr_mode & FI_MR_ENDPOINT) {
		ret = fi_mr_bind(s->mr, &s->ep->fid, 0);
		if (!ret)
			ret = fi_mr_enable(s->mr);
	}
	/* the peer may send as soon as there is a connection */
	if (!ret)
		ret = fi_recv(s->ep, s->hello + 1, sizeof(*s->hello), NULL, 0, NULL);
	if (!ret)
		ret = post_receive(s);
	s->hello[0].addr = cpu_to_le64(virt ? (uintptr_t)s->region : 0);
	return ret;
}

/* ---- connect ---- */

static int side_listen(struct side *s)
{
	int ret;

	ret = fi_passive_ep(s->fabric, s->info, &s->pep, NULL);
	if (!ret)
		ret = fi_pep_bind(s->pep, &s->requests->fid, 0);
	if (!ret)
		ret = fi_listen(s->pep);
	if (!ret)
		pr_info("listening\n");
	return ret;
}

static int serve_peer(struct side *s, bool reject)
{
	struct event event;
	int ret;

	ret = side_listen(s);
	if (ret)
		return ret;
	ret = event_is(s->requests, FI_CONNREQ, &event);
	if (ret)
		return ret;
	if (reject)
		ret = fi_reject(s->pep, event.entry.info->handle, "no", 2);
	else
		ret = endpoint_open(s, event.entry.info);
	fi_freeinfo(event.entry.info);
	if (ret || reject)
		return ret;
	ret = fi_accept(s->ep, NULL, 0);
	return ret ? ret : event_is(s->eq, FI_CONNECTED, &event);
}

static int side_connect(struct side *s)
{
	struct event event;
	int ret;

	ret = endpoint_open(s, s->info);
	if (!ret)
		ret = fi_connect(s->ep, s->info->dest_addr, NULL, 0);
	return ret ? ret : event_is(s->eq, FI_CONNECTED, &event);
}

/* ---- transfer ---- */

static int send_bytes(struct side *s, size_t len)
{
	struct bio_vec bvec[2];
	struct fi_msg msg = { .msg_bvec = bvec };
	ssize_t ret;

	list_pieces(&s->out, len, bvec, &msg.iov_count);
	ret = fi_sendmsg(s->ep, &msg, FI_BVEC);
	return ret ? ret : min_t(ssize_t, wait_completed(s, FI_SEND), 0);
}

/* A message of @len bytes, which is checked; the next one has its receive then. */
static int receive_bytes(struct side *s, size_t len)
{
	ssize_t n = wait_completed(s, FI_RECV);

	if (n < 0)
		return n;
	if (n != len || !verify_pattern(s->in.all, len, len))
		return -FI_EIO;
	memset(s->in.all, 0, len);
	return post_receive(s);
}

static int access_one(struct side *s, bool write)
{
	struct fi_rma_iov range = { .addr = s->addr, .len = REGION, .key = s->key };
	struct bio_vec bvec[2];
	struct fi_msg_rma msg = { .msg_bvec = bvec, .rma_iov = &range, .rma_iov_count = 1 };
	ssize_t ret;

	list_pieces(&s->out, REGION, bvec, &msg.iov_count);
	ret = write ? fi_writemsg(s->ep, &msg, FI_BVEC) : fi_readmsg(s->ep, &msg, FI_BVEC);
	return ret ? ret : min_t(ssize_t, wait_completed(s, write ? FI_WRITE : FI_READ), 0);
}

static ssize_t send_hello(struct side *s)
{
	ssize_t ret;

	s->hello->key = cpu_to_le64(fi_mr_key(s->mr));
	s->hello->len = cpu_to_le64(REGION);
	ret = fi_send(s->ep, s->hello, sizeof(*s->hello), NULL, 0, NULL);
	return ret ? ret : wait_completed(s, FI_SEND);
}

static int swap_hellos(struct side *s, bool server)
{
	ssize_t ret;

	ret = server ? wait_completed(s, FI_RECV) : send_hello(s);
	if (ret >= 0)
		ret = server ? send_hello(s) : wait_completed(s, FI_RECV);
	s->addr = le64_to_cpu(s->hello[1].addr);
	s->key = le64_to_cpu(s->hello[1].key);
	return min_t(ssize_t, ret, 0);
}

static int there_and_back(struct side *s, size_t len)
{
	int ret;

	fill_pattern(s->out.all, len, len);
	ret = send_bytes(s, len);
	return ret ? ret : receive_bytes(s, len);
}

static int send_back(struct side *s, size_t len)
{
	int ret = receive_bytes(s, len);

	fill_pattern(s->out.all, len, len);
	return ret ? ret : send_bytes(s, len);
}

static int run_messages(struct side *s, bool server)
{
	size_t len;
	int ret = 0;

	for (len = 1; len <= LEN_MAX && !ret; len *= 2)
		ret = server ? send_back(s, len) : there_and_back(s, len);
	return ret;
}

static int access_peer(struct side *s)
{
	int ret;

	fill_pattern(s->out.all, REGION, 9);
	ret = access_one(s, true);
	memset(s->out.all, 0, REGION);
	if (!ret)
		ret = access_one(s, false);
	if (!ret && !verify_pattern(s->out.all, REGION, 9))
		ret = -FI_EIO;
	return ret ? ret : send_bytes(s, 0);
}

static int be_accessed(struct side *s)
{
	int ret;

	ret = receive_bytes(s, 0);
	return ret || verify_pattern(s->region, REGION, 9) ? ret : -FI_EIO;
}

static int run_remote(struct side *s, bool server)
{
	int ret;

	ret = server ? be_accessed(s) : access_peer(s);
	if (!ret)
		ret = server ? access_peer(s) : be_accessed(s);
	return ret;
}

/* ---- atomics ---- */

#define ELEMENTS	5

/* One call on the first elements of the peer's region: operands, comparands and old values lie in the
 * three parts of @buf. */
static int atomic_one(struct side *s, u8 *buf, enum form form, enum fi_datatype type, enum fi_op op)
{
	u8 *a = buf, *c = buf + 64, *old = buf + 128;
	ssize_t ret;

	if (form == BASE)
		ret = fi_atomic(s->ep, a, ELEMENTS, NULL, 0, s->addr, s->key, type, op, NULL);
	else if (form == FETCH)
		ret = fi_fetch_atomic(s->ep, a, ELEMENTS, NULL, old, NULL, 0, s->addr, s->key, type,
				      op, NULL);
	else
		ret = fi_compare_atomic(s->ep, a, ELEMENTS, NULL, c, NULL, old, NULL, 0, s->addr,
					s->key, type, op, NULL);
	return ret ? ret : min_t(ssize_t, wait_completed(s, FI_ATOMIC), 0);
}

/* Sets the elements, changes them and reads them again. */
static int atomic_check(struct side *s, u8 *buf, enum form form, enum fi_datatype type, enum fi_op op)
{
	size_t i, size = model_size(type);
	u64 was, now;
	u8 set[64];
	int ret;

	get_random_bytes(set, sizeof(set));
	get_random_bytes(buf, 128);
	memcpy(buf + 64, set, 2 * size);	/* some are equal */
	ret = fi_inject_atomic(s->ep, set, ELEMENTS, 0, s->addr, s->key, type, FI_ATOMIC_WRITE);
	if (!ret)
		ret = atomic_one(s, buf, form, type, op);
	if (!ret && form != BASE && memcmp(buf + 128, set, ELEMENTS * size))
		ret = -FI_EIO;
	if (!ret)
		ret = atomic_one(s, buf, FETCH, type, FI_ATOMIC_READ);
	for (i = 0; i < ELEMENTS * size && !ret; i += size) {
		was = model_get(type, set + i);
		now = model(type, op, was, model_get(type, buf + i), model_get(type, buf + 64 + i));
		if (model_get(type, buf + 128 + i) != now)
			ret = -FI_EIO;
	}
	if (ret)
		pr_info("atomic: form %d, type %d, operation %d: %d\n", form, type, op, ret);
	return ret;
}

static int run_atomics(struct side *s)
{
	u8 *buf = page_address(s->out.half[0]);
	int form, type, op, ret = 0;

	for (form = 0; form < FORMS && !ret; form++)
		for (type = 0; type < MODEL_TYPES && !ret; type++)
			for (op = 0; op < MODEL_OPS && !ret; op++)
				if (model_has(form, type, op))
					ret = atomic_check(s, buf, form, type, op);
	return ret ? ret : send_bytes(s, 0);
}

/* The peer takes none: one ends with that error, and the connection stays. */
static int atomic_refused(struct side *s)
{
	int ret = atomic_one(s, page_address(s->out.half[0]), FETCH, FI_UINT64, FI_SUM);

	return ret == -FI_EOPNOTSUPP ? 0 : -FI_EPROTO;
}

/* One side, then the other. */
static int atomic_turns(struct side *s, bool server)
{
	int ret;

	ret = server ? receive_bytes(s, 0) : run_atomics(s);
	if (!ret)
		ret = server ? run_atomics(s) : receive_bytes(s, 0);
	return ret;
}

/* ---- until the connection ends ---- */

#define FLOOD_LEN	65536

/* Operation number @i: a send, or a write and a read in turn. */
static ssize_t flood_one(struct side *s, bool rma, unsigned long i)
{
	void *buf = page_address(s->out.half[0]);

	if (!rma)
		return fi_send(s->ep, buf, FLOOD_LEN, NULL, 0, s);
	return i % 2 ? fi_write(s->ep, buf, FLOOD_LEN, NULL, 0, s->addr, s->key, s) :
		       fi_read(s->ep, buf, FLOOD_LEN, NULL, 0, s->addr, s->key, s);
}

static int run_flood(struct side *s, bool rma)
{
	struct fi_cq_data_entry e[8];
	struct fi_cq_err_entry err;
	/* the receives of endpoint_open() that no message has taken */
	unsigned long posted = rma ? 1 : 2, ended = 0;
	ssize_t n, ret = 0;

	pr_info("flooding\n");
	while (!ret || ended < posted) {
		if (!ret) {
			ret = flood_one(s, rma, posted);
			posted += !ret;
			if (!ret)
				continue;
		}
		n = fi_cq_sread(s->cq, e, 8, NULL, FLOOD_MS);
		if (n == -FI_EAVAIL)
			n = fi_cq_readerr(s->cq, &err, 0);
		/* a device may try for long to reach its peer: give it up */
		if (n == -FI_EAGAIN && !fi_shutdown(s->ep, 0)) {
			pr_info("flood: nothing ends, shut down\n");
			ret = -FI_ESHUTDOWN;
			continue;
		}
		if (n <= 0)
			break;
		ended += n;
		ret = ret == -FI_EAGAIN ? 0 : ret;
	}
	n = fi_cq_read(s->cq, e, 1);
	pr_info("flood: %lu posted, %lu ended, then %zd\n", posted, ended, ret);
	return ended == posted && n == -FI_EAGAIN ? 0 : -FI_EIO;
}

/* The other side of flood_rma: the connection ends, and with it the one receive, once. */
static int be_flooded(struct side *s)
{
	struct fi_cq_data_entry e;
	struct fi_cq_err_entry err;
	ssize_t n;
	int ret;

	ret = event_is(s->eq, FI_SHUTDOWN, &(struct event){});
	if (ret)
		return ret;
	n = fi_cq_sread(s->cq, &e, 1, NULL, WAIT_MS);
	if (n != -FI_EAVAIL || fi_cq_readerr(s->cq, &err, 0) != 1)
		return -FI_EIO;
	return fi_cq_read(s->cq, &e, 1) == -FI_EAGAIN ? 0 : -FI_EIO;
}

/* ---- connections of peers that misbehave ---- */

static void victim_one(struct side *s, struct fi_info *info)
{
	struct fi_cq_data_entry e;
	struct fi_cq_err_entry err;
	struct event event;
	ssize_t n;
	int i, ret;

	ret = endpoint_open(s, info);
	for (i = 0; i < 4 && !ret; i++)
		ret = fi_recv(s->ep, page_address(s->in.half[0]), 4096, NULL, 0, NULL);
	if (!ret)
		ret = fi_accept(s->ep, NULL, 0);
	if (!ret)
		ret = event_is(s->eq, FI_CONNECTED, &event);
	if (!ret)
		ret = event_is(s->eq, FI_SHUTDOWN, &event);
	if (ret)
		pr_info("victim: %d\n", ret);
	if (s->ep)
		fi_close(&s->ep->fid);
	if (s->mr)
		fi_close(&s->mr->fid);
	s->ep = NULL;
	s->mr = NULL;
	do {
		n = fi_cq_read(s->cq, &e, 1);
		if (n == -FI_EAVAIL)
			n = fi_cq_readerr(s->cq, &err, 0);
	} while (n > 0);
}

static int run_victim(struct side *s)
{
	struct event event = {};
	int ret, cnt = 0;
	bool quit;

	ret = side_listen(s);
	while (!ret) {
		ret = event_is(s->requests, FI_CONNREQ, &event);
		if (ret)
			break;
		quit = !memcmp(event.data, "quit", 4);
		if (quit)
			fi_reject(s->pep, event.entry.info->handle, NULL, 0);
		else
			victim_one(s, event.entry.info);
		fi_freeinfo(event.entry.info);
		if (quit)
			break;
		memset(&event, 0, sizeof(event));
		cnt++;
	}
	pr_info("victim: %d connections\n", cnt);
	return ret;
}

/* ---- shut down ---- */

static void close_side(struct side *s)
{
	if (s->ep)
		fi_close(&s->ep->fid);
	if (s->mr)
		fi_close(&s->mr->fid);
	if (s->pep)
		fi_close(&s->pep->fid);
	if (s->cq)
		fi_close(&s->cq->fid);
	if (s->domain)
		fi_close(&s->domain->fid);
	if (s->eq)
		fi_close(&s->eq->fid);
	if (s->requests)
		fi_close(&s->requests->fid);
	if (s->fabric)
		fi_close(&s->fabric->fid);
	fi_freeinfo(s->info);
	buffer_free(&s->in);
	buffer_free(&s->out);
	kfree(s->hello);
	free_pages((unsigned long)s->region, ORDER);
}

static int run_mode(struct side *s, const struct args *args)
{
	bool reject = !strcmp(args->mode, "reject");
	int ret;

	if (args->server && !strcmp(args->mode, "victim"))
		return run_victim(s);
	ret = args->server ? serve_peer(s, reject) : side_connect(s);
	if (reject)
		return args->server ? ret : ret == -FI_ECONNREFUSED ? 0 : -FI_EPROTO;
	if (!ret && !strcmp(args->mode, "flood"))
		return run_flood(s, false);
	if (!ret)
		ret = swap_hellos(s, args->server);
	if (!ret && !strcmp(args->mode, "flood_rma"))
		return run_flood(s, true);
	if (!ret && !strcmp(args->mode, "region"))
		return be_flooded(s);
	if (!ret && !strcmp(args->mode, "refused"))
		ret = atomic_refused(s);
	if (!ret && !strcmp(args->mode, "atomic")) {
		ret = atomic_turns(s, args->server);
	} else if (!ret) {
		ret = run_messages(s, args->server);
		if (!ret)
			ret = run_remote(s, args->server);
	}
	if (!ret && args->server)
		ret = event_is(s->eq, FI_SHUTDOWN, &(struct event){});
	else if (!ret)
		ret = fi_shutdown(s->ep, 0);
	return ret;
}

static int run_test(const struct args *args)
{
	struct side s = {};
	int ret;

	ret = side_discover(args, &s.info);
	if (!ret)
		ret = open_side(&s);
	if (!ret)
		ret = run_mode(&s, args);
	close_side(&s);
	pr_info("%s %s: %d\n", args->server ? "server" : "client", args->mode, ret);
	return ret;
}

static ssize_t run_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	struct args args = { .mode = "pingpong" };
	char text[192] = "", role[8];
	int n, ret;

	if (len >= sizeof(text) || copy_from_user(text, buf, len))
		return -EINVAL;
	n = sscanf(text, "%7s %15s %47s %7s %15s %47s", role, args.prov, args.addr, args.port,
		   args.mode, args.source);
	if (n < 4)
		return -EINVAL;
	args.server = !strcmp(role, "server");
	ret = run_test(&args);
	return ret ? (ret > -MAX_ERRNO ? -EIO : ret) : len;
}

static const struct file_operations run_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = run_write,
	.llseek = noop_llseek,
};

static struct dentry *dir;

static int __init pingpong_init(void)
{
	dir = debugfs_create_dir("kofi_pingpong", NULL);
	debugfs_create_file("run", 0200, dir, NULL, &run_fops);
	return 0;
}

static void __exit pingpong_exit(void)
{
	debugfs_remove_recursive(dir);
}

module_init(pingpong_init);
module_exit(pingpong_exit);
MODULE_DESCRIPTION("kOFI: ping-pong, an example of a kernel client");
MODULE_AUTHOR("the libfabric authors");
MODULE_LICENSE("Dual BSD/GPL");
