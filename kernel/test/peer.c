/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * peer.c - the user-space side of the conversations of kofi_pingpong.ko, by any libfabric.
 *
 *   peer server|client PROVIDER ADDRESS PORT [pingpong|atomic|reject|sink|region|blk]
 *
 * atomic: atomic operations on each other's region.
 * sink: a server that receives until the connection ends, or until it is killed.
 * region: one whose region is written and read meanwhile.
 * blk: the server of kofi_blk.ko, with 320 MiB of memory.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_atomic.h>

#if FI_MAJOR_VERSION < 2
#define FI_DIFF (FI_MSWAP + 1)	/* the distribution's headers may be older than the library */
#endif
#include "model.h"

#define LEN_MAX	((size_t) 8 << 20)
#define REGION	((size_t) 1 << 20)
#define DISK	((size_t) 320 << 20)

struct hello {
	uint64_t	addr, key, len;	/* little endian, as every host that this runs on */
};

static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct fid_eq *eq;
static struct fid_cq *cq;
static struct fid_pep *pep;
static struct fid_ep *ep;
static struct fid_mr *mr, *mr_buf, *mr_in, *mr_hello;
static char *region, *buf, *in;
static struct hello *hello;
static int is_sink, is_atomic;
static size_t region_len = REGION;

static void need(const char *what, long ret)
{
	if (ret >= 0)
		return;
	fprintf(stderr, "peer: %s: %s\n", what, fi_strerror((int) -ret));
	exit(1);
}

static void must(const char *what, int ok)
{
	if (ok)
		return;
	fprintf(stderr, "peer: %s\n", what);
	exit(1);
}

static void fill(char *p, size_t len, unsigned seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		p[i] = (char) (seed + i * 7 + (i >> 8));
}

static int verify(const char *p, size_t len, unsigned seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (p[i] != (char) (seed + i * 7 + (i >> 8)))
			return 0;
	return 1;
}

/* The next completion; returns its length. */
static ssize_t complete_one(uint64_t *flags_p)
{
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_data_entry e;
	ssize_t ret;

	do {
		ret = fi_cq_read(cq, &e, 1);
	} while (ret == -FI_EAGAIN);
	if (ret == -FI_EAVAIL) {
		fi_cq_readerr(cq, &err, 0);
		return -err.err;
	}
	if (ret < 0)
		return ret;
	*flags_p = e.flags;
	return (ssize_t) e.len;
}

/* Waits for a completion of @flags, before which a message may come; returns its length. */
static ssize_t completed(uint64_t flags)
{
	static int received;
	static ssize_t received_len;
	uint64_t have = 0;
	ssize_t ret;

	if (flags & FI_RECV && received) {
		received = 0;
		return received_len;
	}
	ret = complete_one(&have);
	if (ret >= 0 && !(have & flags) && have & FI_RECV && !received) {
		received = 1;
		received_len = ret;
		ret = complete_one(&have);
	}
	if (ret >= 0 && !(have & flags))
		fprintf(stderr, "peer: completion of another kind: %llx\n", (unsigned long long) have);
	return ret < 0 || have & flags ? ret : -FI_EOTHER;
}

static uint32_t event(struct fi_eq_cm_entry *entry, size_t len)
{
	struct fi_eq_err_entry err = { 0 };
	uint32_t number;
	ssize_t ret;

	/* where progress is manual, reading the completion queue drives connections, too */
	do {
		if (ep)
			fi_cq_read(cq, NULL, 0);
		ret = fi_eq_sread(eq, &number, entry, len, 10, 0);
	} while (ret == -FI_EAGAIN);
	if (ret == -FI_EAVAIL) {
		fi_eq_readerr(eq, &err, 0);
		return 1000 + (uint32_t) err.err;
	}
	need("fi_eq_sread", ret);
	return number;
}

static void *desc(struct fid_mr *m)
{
	return m ? fi_mr_desc(m) : NULL;
}

static void discover(int server, char **argv)
{
	struct fi_info *hints = fi_allocinfo();

	hints->caps = FI_MSG | FI_RMA | (is_atomic ? FI_ATOMIC : 0);
	hints->mode = FI_RX_CQ_DATA;
	hints->ep_attr->type = FI_EP_MSG;
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	hints->fabric_attr->prov_name = strdup(argv[2]);
	need("fi_getinfo", fi_getinfo(FI_VERSION(1, 17), argv[3], argv[4], server ? FI_SOURCE : 0,
				      hints, &info));
	fi_freeinfo(hints);
}

static void open_all(void)
{
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_DATA, .wait_obj = FI_WAIT_NONE };
	struct fi_eq_attr eq_attr = { .wait_obj = FI_WAIT_UNSPEC };

	need("fi_fabric", fi_fabric(info->fabric_attr, &fabric, NULL));
	need("fi_eq_open", fi_eq_open(fabric, &eq_attr, &eq, NULL));
	need("fi_domain", fi_domain(fabric, info, &domain, NULL));
	need("fi_cq_open", fi_cq_open(domain, &cq_attr, &cq, NULL));
	buf = calloc(1, LEN_MAX);
	in = calloc(1, LEN_MAX);
	region = calloc(1, region_len);
	hello = calloc(2, sizeof(*hello));
	need("fi_mr_reg", fi_mr_reg(domain, region, region_len, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 1,
				    0, &mr, NULL));
	need("fi_mr_reg", fi_mr_reg(domain, buf, LEN_MAX, FI_SEND | FI_RECV | FI_READ | FI_WRITE, 0,
				    2, 0, &mr_buf, NULL));
	need("fi_mr_reg", fi_mr_reg(domain, in, LEN_MAX, FI_RECV, 0, 4, 0, &mr_in, NULL));
	need("fi_mr_reg", fi_mr_reg(domain, hello, 2 * sizeof(*hello), FI_SEND | FI_RECV, 0, 3, 0,
				    &mr_hello, NULL));
}

/* Before anything is sent that the other side may answer. */
static void post_receive(void)
{
	need("fi_recv", fi_recv(ep, in, LEN_MAX, desc(mr_in), 0, NULL));
}

static void endpoint(struct fi_info *from)
{
	need("fi_endpoint", fi_endpoint(domain, from, &ep, NULL));
	need("fi_ep_bind", fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV));
	need("fi_ep_bind", fi_ep_bind(ep, &eq->fid, 0));
	need("fi_enable", fi_enable(ep));
	if (is_sink)
		need("fi_recv", fi_recv(ep, buf, LEN_MAX, desc(mr_buf), 0, NULL));
	else
		need("fi_recv", fi_recv(ep, hello + 1, sizeof(*hello), desc(mr_hello), 0, NULL));
	post_receive();
}

static int serve(int reject)
{
	char room[512];
	struct fi_eq_cm_entry *entry = (void *) room;

	need("fi_passive_ep", fi_passive_ep(fabric, info, &pep, NULL));
	need("fi_pep_bind", fi_pep_bind(pep, &eq->fid, 0));
	need("fi_listen", fi_listen(pep));
	printf("listening\n");
	fflush(stdout);
	must("no FI_CONNREQ", event(entry, sizeof(room)) == FI_CONNREQ);
	if (reject) {
		need("fi_reject", fi_reject(pep, entry->info->handle, "no", 2));
		sleep(1);
		return 0;
	}
	endpoint(entry->info);
	fi_freeinfo(entry->info);
	need("fi_accept", fi_accept(ep, NULL, 0));
	must("no FI_CONNECTED", event(entry, sizeof(room)) == FI_CONNECTED);
	return 1;
}

static int connect_to(int reject)
{
	char room[512];
	struct fi_eq_cm_entry *entry = (void *) room;
	uint32_t number;

	endpoint(info);
	need("fi_connect", fi_connect(ep, info->dest_addr, NULL, 0));
	number = event(entry, sizeof(room));
	if (reject) {
		must("not refused", number == 1000 + FI_ECONNREFUSED);
		return 0;
	}
	must("no FI_CONNECTED", number == FI_CONNECTED);
	return 1;
}

static void send_buf(const void *p, size_t len, void *d)
{
	need("fi_send", fi_send(ep, p, len, d, 0, NULL));
	need("send", completed(FI_SEND));
}

static void send_hello(void)
{
	hello->addr = info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t) region : 0;
	hello->key = fi_mr_key(mr);
	hello->len = region_len;
	send_buf(hello, sizeof(*hello), desc(mr_hello));
}

/* The client first: on iWARP a server that speaks first loses its connection. */
static void greet(int server)
{
	if (!server)
		send_hello();
	need("hello", completed(FI_RECV));
	if (server)
		send_hello();
}

/* A message of @len bytes; the next one has its receive then. */
static void receive(size_t len)
{
	must("length of a message", completed(FI_RECV) == (ssize_t) len);
	must("content of a message", verify(in, len, (unsigned) len));
	memset(in, 0, len);
	post_receive();
}

static void messages(int server)
{
	size_t len;

	for (len = 1; len <= LEN_MAX; len *= 2) {
		fill(buf, len, (unsigned) len);
		if (!server)
			send_buf(buf, len, desc(mr_buf));
		receive(len);
		if (server)
			send_buf(buf, len, desc(mr_buf));
	}
}

static void access_peer(void)
{
	fill(buf, REGION, 9);
	need("fi_write", fi_write(ep, buf, REGION, desc(mr_buf), 0, hello[1].addr, hello[1].key,
				  NULL));
	need("write", completed(FI_WRITE));
	memset(buf, 0, REGION);
	need("fi_read", fi_read(ep, buf, REGION, desc(mr_buf), 0, hello[1].addr, hello[1].key, NULL));
	need("read", completed(FI_READ));
	must("content read", verify(buf, REGION, 9));
	send_buf(buf, 0, desc(mr_buf));
}

static void be_accessed(void)
{
	receive(0);
	must("content written", verify(region, REGION, 9));
}

#define ELEMENTS 5

/* One call on the first elements of the peer's region: operands, comparands and old values lie in the
 * three parts of @buf. */
static ssize_t atomic_one(char *at, int form, enum fi_datatype type, enum fi_op op, uint64_t key)
{
	uint64_t addr = hello[1].addr;
	void *d = desc(mr_buf);

	if (form == BASE)
		need("fi_atomic", fi_atomic(ep, at, ELEMENTS, d, 0, addr, key, type, op, NULL));
	else if (form == FETCH)
		need("fi_fetch_atomic", fi_fetch_atomic(ep, at, ELEMENTS, d, at + 128, d, 0, addr, key,
							type, op, NULL));
	else
		need("fi_compare_atomic", fi_compare_atomic(ep, at, ELEMENTS, d, at + 64, d, at + 128,
							    d, 0, addr, key, type, op, NULL));
	return completed(FI_ATOMIC);
}

static void atomic_check(int form, enum fi_datatype type, enum fi_op op)
{
	size_t i, size = model_size(type);
	uint64_t was, now;
	char set[64];

	for (i = 0; i < sizeof(set); i++)
		set[i] = (char) rand();
	for (i = 0; i < 128; i++)
		buf[i] = (char) rand();
	memcpy(buf + 64, set, 2 * size);	/* some are equal */
	need("fi_inject_atomic", fi_inject_atomic(ep, set, ELEMENTS, 0, hello[1].addr, hello[1].key,
						  type, FI_ATOMIC_WRITE));
	need("atomic", atomic_one(buf, form, type, op, hello[1].key));
	must("old values", form == BASE || !memcmp(buf + 128, set, ELEMENTS * size));
	need("read", atomic_one(buf, FETCH, type, FI_ATOMIC_READ, hello[1].key));
	for (i = 0; i < ELEMENTS * size; i += size) {
		was = model_get(type, set + i);
		now = model(type, op, was, model_get(type, buf + i), model_get(type, buf + 64 + i));
		if (model_get(type, buf + 128 + i) != now)
			fprintf(stderr, "peer: form %d, type %d, operation %d\n", form, type, op);
		must("new values", model_get(type, buf + 128 + i) == now);
	}
}

/* What the kernel does not have, and what it does not allow, ends with an error alone. */
static void atomics_refused(void)
{
	must("a float is not refused", atomic_one(buf, FETCH, FI_DOUBLE, FI_SUM, hello[1].key) < 0);
	must("a float is not refused", atomic_one(buf, COMPARE, FI_INT128, FI_CSWAP, hello[1].key) < 0);
	must("a key is not refused", atomic_one(buf, FETCH, FI_INT32, FI_SUM, hello[1].key ^ 64) < 0);
}

static void atomics(void)
{
	int form, type, op;

	for (form = 0; form < FORMS; form++)
		for (type = 0; type < MODEL_TYPES; type++)
			for (op = 0; op < MODEL_OPS; op++)
				if (model_has(form, type, op))
					atomic_check(form, type, op);
	atomics_refused();
	send_buf(buf, 0, desc(mr_buf));
}

/* The disk of kofi_blk: a hello to one that is empty, and then memory that the other side reads
 * and writes. */
static void disk(void)
{
	char room[512];

	greet(1);
	must("no FI_SHUTDOWN", event((void *) room, sizeof(room)) == FI_SHUTDOWN);
}

static void sink(void)
{
	for (;;) {
		if (completed(FI_RECV) < 0)
			return;
		if (fi_recv(ep, buf, LEN_MAX, desc(mr_buf), 0, NULL))
			return;
	}
}

int main(int argc, char **argv)
{
	int server, reject;
	char room[512];

	if (argc < 5) {
		fprintf(stderr, "usage: peer server|client PROVIDER ADDRESS PORT [MODE]\n");
		return 2;
	}
	server = !strcmp(argv[1], "server");
	reject = argc > 5 && !strcmp(argv[5], "reject");
	is_sink = argc > 5 && !strcmp(argv[5], "sink");
	is_atomic = argc > 5 && !strcmp(argv[5], "atomic");
	if (argc > 5 && !strcmp(argv[5], "blk"))
		region_len = DISK;
	discover(server, argv);
	open_all();
	if (!(server ? serve(reject) : connect_to(reject)))
		return 0;
	if (is_sink) {
		sink();
		return 0;
	}
	if (region_len == DISK) {
		disk();
		return 0;
	}
	greet(server);
	if (argc > 5 && !strcmp(argv[5], "region")) {
		completed(FI_RECV);	/* an error: the connection has ended */
		return 0;
	}
	if (!is_atomic)
		messages(server);
	if (is_atomic) {
		if (server)
			receive(0);
		atomics();
		if (!server)
			receive(0);
	} else if (server) {
		be_accessed();
		access_peer();
	} else {
		access_peer();
		be_accessed();
	}
	if (server)
		must("no FI_SHUTDOWN", event((void *) room, sizeof(room)) == FI_SHUTDOWN);
	fi_close(&ep->fid);
	printf("ok\n");
	return 0;
}
