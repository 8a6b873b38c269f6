/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Connected endpoints on a real device, and datagrams by queue pair: both ends in one process, the second on another
 * device where there are two.  Skips without one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#define API FI_VERSION(2, 6)
#define SIZE 65536
#define EVENT_MS 20000
#define SPINS 20000000L

/* One end. */
struct end {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_eq *eq;
	struct fid_cq *cq;
	struct fid_cntr *cntr;
	struct fid_ep *srx;
	struct fid_ep *ep;
	struct fid_mr *mr;
	void *desc;
	char *buf;
};

static struct fi_info *infos;
static struct end a, b;			/* connects, accepts */
static struct fid_pep *pep;

static struct fi_info *ask(uint64_t caps)
{
	struct fi_info *hints = fi_allocinfo(), *info = NULL;
	int ret;

	hints->fabric_attr->prov_name = strdup("verbs");
	hints->ep_attr->type = FI_EP_MSG;
	hints->caps = caps;
	hints->addr_format = FI_SOCKADDR_IN;
	hints->mode = FI_RX_CQ_DATA;
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED |
				      FI_MR_PROV_KEY;
	ret = fi_getinfo(API, NULL, NULL, 0, hints, &info);
	fi_freeinfo(hints);
	return ret ? NULL : info;
}

static void open_end(struct end *e, struct fi_info *info)
{
	struct fi_eq_attr eq_attr = { .wait_obj = FI_WAIT_FD };
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_DATA, .wait_obj = FI_WAIT_FD };
	struct fi_cntr_attr cntr_attr = { .wait_obj = FI_WAIT_NONE };

	e->info = info;
	e->buf = calloc(1, SIZE);
	assert_int_equal(fi_fabric(info->fabric_attr, &e->fabric, NULL), 0);
	assert_int_equal(fi_domain(e->fabric, info, &e->domain, NULL), 0);
	assert_int_equal(fi_eq_open(e->fabric, &eq_attr, &e->eq, NULL), 0);
	assert_int_equal(fi_cq_open(e->domain, &cq_attr, &e->cq, NULL), 0);
	assert_int_equal(fi_cntr_open(e->domain, &cntr_attr, &e->cntr, NULL), 0);
	assert_int_equal(fi_mr_reg(e->domain, e->buf, SIZE, FI_SEND | FI_RECV | FI_READ | FI_WRITE |
				   FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 0, 0, &e->mr, NULL), 0);
	e->desc = fi_mr_desc(e->mr);
}

static void open_ep(struct end *e, struct fi_info *info)
{
	assert_int_equal(fi_endpoint(e->domain, info, &e->ep, e), 0);
	assert_int_equal(fi_ep_bind(e->ep, &e->eq->fid, 0), 0);
	assert_int_equal(fi_ep_bind(e->ep, &e->cq->fid, FI_TRANSMIT | FI_RECV), 0);
	assert_int_equal(fi_ep_bind(e->ep, &e->cntr->fid, FI_SEND | FI_WRITE), 0);
	if (e->srx)
		assert_int_equal(fi_ep_bind(e->ep, &e->srx->fid, 0), 0);
	assert_int_equal(fi_enable(e->ep), 0);
}

static struct fi_eq_cm_entry *event(struct end *e, uint32_t want, size_t *data_len)
{
	static _Alignas(8) char buf[sizeof(struct fi_eq_cm_entry) + 256];
	struct fi_eq_err_entry err = { 0 };
	uint32_t what = 0;
	struct end *other = e == &a ? &b : &a;
	ssize_t n = -FI_EAGAIN;
	int i;

	/* reading an event queue makes progress for its own end only */
	for (i = 0; i < EVENT_MS && n == -FI_EAGAIN; i += 20) {
		fi_eq_read(other->eq, &what, buf, sizeof(buf), FI_PEEK);
		n = fi_eq_sread(e->eq, &what, buf, sizeof(buf), 20, 0);
	}

	if (n == -FI_EAVAIL) {
		fi_eq_readerr(e->eq, &err, 0);
		print_message("event error %d (%s)\n", err.err, fi_strerror(err.err));
	}
	if (n < (ssize_t) sizeof(struct fi_eq_cm_entry))
		print_message("waited for event %u: %zd\n", want, n);
	assert_true(n >= (ssize_t) sizeof(struct fi_eq_cm_entry));
	assert_int_equal(what, want);
	if (data_len)
		*data_len = (size_t) n - sizeof(struct fi_eq_cm_entry);
	return (struct fi_eq_cm_entry *) buf;
}

static ssize_t comp(struct end *e, struct fi_cq_data_entry *entry)
{
	ssize_t n = -FI_EAGAIN;
	long i;

	for (i = 0; i < SPINS && n == -FI_EAGAIN; i++)
		n = fi_cq_read(e->cq, entry, 1);
	return n;
}

static void expect(struct end *e, void *context, uint64_t flags)
{
	struct fi_cq_data_entry entry;

	assert_int_equal(comp(e, &entry), 1);
	assert_ptr_equal(entry.op_context, context);
	assert_true((entry.flags & flags) == flags);
}

static void listen_on(struct end *e)
{
	assert_int_equal(fi_passive_ep(e->fabric, e->info, &pep, NULL), 0);
	assert_int_equal(fi_pep_bind(pep, &e->eq->fid, 0), 0);
	assert_int_equal(fi_listen(pep), 0);
}

static void call(struct end *from, const char *words)
{
	char addr[128];
	size_t len = sizeof(addr);

	assert_int_equal(fi_getname(&pep->fid, addr, &len), 0);
	assert_int_equal(fi_connect(from->ep, addr, words, strlen(words) + 1), 0);
}

static void join(void)
{
	struct fi_eq_cm_entry *cm;
	size_t len;

	listen_on(&b);
	open_ep(&a, a.info);
	call(&a, "hello");
	cm = event(&b, FI_CONNREQ, &len);
	assert_true(len >= 6);
	assert_string_equal((char *) cm->data, "hello");
	struct fi_info *req = cm->info;
	open_ep(&b, req);
	assert_int_equal(fi_accept(b.ep, "welcome", 8), 0);
	fi_freeinfo(req);
	cm = event(&a, FI_CONNECTED, &len);
	assert_string_equal((char *) cm->data, "welcome");
	event(&b, FI_CONNECTED, NULL);
}

static void close_ep(struct end *e)
{
	if (e->ep)
		assert_int_equal(fi_close(&e->ep->fid), 0);
	e->ep = NULL;
	if (e->srx)
		assert_int_equal(fi_close(&e->srx->fid), 0);
	e->srx = NULL;
}

static void close_end(struct end *e)
{
	close_ep(e);
	assert_int_equal(fi_close(&e->mr->fid), 0);
	assert_int_equal(fi_close(&e->cntr->fid), 0);
	assert_int_equal(fi_close(&e->cq->fid), 0);
	assert_int_equal(fi_close(&e->eq->fid), 0);
	assert_int_equal(fi_close(&e->domain->fid), 0);
	assert_int_equal(fi_close(&e->fabric->fid), 0);
	free(e->buf);
}

static int setup(void **state)
{
	struct fi_info *second;

	infos = ask(FI_MSG | FI_RMA | FI_ATOMIC);
	for (second = infos->next; second; second = second->next)
		if (strcmp(second->domain_attr->name, infos->domain_attr->name))
			break;
	memset(&a, 0, sizeof(a));
	memset(&b, 0, sizeof(b));
	open_end(&a, infos);
	open_end(&b, second ? second : infos);
	return 0;
}

static int teardown(void **state)
{
	close_end(&a);
	if (pep)
		assert_int_equal(fi_close(&pep->fid), 0);
	pep = NULL;
	close_end(&b);
	fi_freeinfo(infos);
	return 0;
}

/* ---- cases ---------------------------------------------------------------------- */

static void pattern(char *buf, size_t len, unsigned seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		buf[i] = (char) (seed * 31 + i * 7 + (i >> 8));
}

static void one_message(size_t len, unsigned seed)
{
	struct fi_cq_data_entry entry;

	memset(b.buf, 0, len);
	pattern(a.buf, len, seed);
	assert_int_equal(fi_recv(b.ep, b.buf, len, b.desc, 0, &entry), 0);
	assert_int_equal(fi_send(a.ep, a.buf, len, a.desc, 0, &a), 0);
	expect(&a, &a, FI_SEND | FI_MSG);
	assert_int_equal(comp(&b, &entry), 1);
	assert_int_equal(entry.len, len);
	assert_memory_equal(a.buf, b.buf, len);
}

static void messages(void **state)
{
	static const size_t lens[] = { 0, 1, 8, 64, 255, 256, 257, 4096, 4097, SIZE };
	unsigned i;

	join();
	for (i = 0; i < sizeof(lens) / sizeof(lens[0]); i++)
		one_message(lens[i], i);
}

static void pieces_and_data(void **state)
{
	struct fi_cq_data_entry entry;
	struct iovec out[2] = { { a.buf, 300 }, { a.buf + 1000, 500 } };
	struct iovec in[2] = { { b.buf, 100 }, { b.buf + 5000, 900 } };
	void *da[2] = { a.desc, a.desc }, *db[2] = { b.desc, b.desc };
	struct fi_msg msg = { .msg_iov = out, .desc = da, .iov_count = 2, .data = 0x12345678,
			      .context = &msg };

	join();
	pattern(a.buf, 2000, 3);
	assert_int_equal(fi_recvv(b.ep, in, db, 2, 0, &in), 0);
	assert_int_equal(fi_sendmsg(a.ep, &msg, FI_COMPLETION | FI_REMOTE_CQ_DATA), 0);
	expect(&a, &msg, FI_SEND);
	assert_int_equal(comp(&b, &entry), 1);
	assert_true(entry.flags & FI_REMOTE_CQ_DATA);
	assert_int_equal(entry.data, 0x12345678);
	assert_int_equal(entry.len, 800);
	assert_memory_equal(b.buf, a.buf, 100);
	assert_memory_equal(b.buf + 5000, a.buf + 100, 200);
	assert_memory_equal(b.buf + 5200, a.buf + 1000, 500);
}

/* More injected messages than the queue holds: earlier ones make room. */
static void injects(void **state)
{
	size_t max = a.info->tx_attr->inject_size;
	struct fi_cq_data_entry entry;
	unsigned i, got = 0, n = 1000, posted = 0;
	ssize_t ret;

	join();
	assert_int_equal(fi_inject(a.ep, a.buf, max + 1, 0), -FI_EMSGSIZE);
	for (i = 0; i < n; i++) {
		for (; posted < i + 64 && posted < n; posted++)
			assert_int_equal(fi_recv(b.ep, b.buf + posted % 64 * 256, 256, b.desc, 0,
						 &b), 0);
		pattern(a.buf, 200, i);
		while ((ret = fi_inject(a.ep, a.buf, 200, 0)) == -FI_EAGAIN)
			;
		assert_int_equal(ret, 0);
		assert_int_equal(comp(&b, &entry), 1);
		assert_int_equal(entry.len, 200);
		assert_memory_equal(entry.buf, a.buf, 200);
		got++;
	}
	assert_int_equal(got, n);
	while (fi_cntr_read(a.cntr) < n)
		;
	assert_int_equal(fi_cq_read(a.cq, &entry, 1), -FI_EAGAIN);
}

static void remote_memory(void **state)
{
	uint64_t at = (uintptr_t) b.buf, key = fi_mr_key(b.mr);
	struct fi_cq_data_entry entry;

	join();
	pattern(a.buf, 10000, 1);
	assert_int_equal(fi_write(a.ep, a.buf, 10000, a.desc, 0, at, key, &a), 0);
	expect(&a, &a, FI_WRITE | FI_RMA);
	assert_memory_equal(a.buf, b.buf, 10000);
	pattern(b.buf, 10000, 2);
	assert_int_equal(fi_read(a.ep, a.buf, 10000, a.desc, 0, at, key, &b), 0);
	expect(&a, &b, FI_READ | FI_RMA);
	assert_memory_equal(a.buf, b.buf, 10000);
	assert_int_equal(fi_recv(b.ep, NULL, 0, NULL, 0, &pep), 0);
	assert_int_equal(fi_writedata(a.ep, a.buf, 100, a.desc, 77, 0, at, key, &a), 0);
	expect(&a, &a, FI_WRITE);
	assert_int_equal(comp(&b, &entry), 1);
	assert_true(entry.flags & FI_REMOTE_WRITE);
	assert_int_equal(entry.data, 77);
}

static void atomics(void **state)
{
	uint64_t at = (uintptr_t) b.buf, key = fi_mr_key(b.mr), five = 5, old = 5, new = 9;
	uint64_t *target = (uint64_t *) b.buf, *result = (uint64_t *) a.buf;
	size_t cnt;

	join();
	*target = 100;
	assert_int_equal(fi_fetch_atomic(a.ep, &five, 1, NULL, result, a.desc, 0, at, key,
					 FI_UINT64, FI_SUM, &a), 0);
	expect(&a, &a, FI_ATOMIC);
	assert_int_equal(*result, 100);
	assert_int_equal(*target, 105);
	assert_int_equal(fi_atomic(a.ep, &five, 1, NULL, 0, at, key, FI_UINT64, FI_SUM, &a), 0);
	expect(&a, &a, FI_ATOMIC);
	assert_int_equal(*target, 110);
	old = 110;
	assert_int_equal(fi_compare_atomic(a.ep, &new, 1, NULL, &old, NULL, result, a.desc, 0, at,
					   key, FI_UINT64, FI_CSWAP, &a), 0);
	expect(&a, &a, FI_ATOMIC);
	assert_int_equal(*result, 110);
	assert_int_equal(*target, 9);
	assert_int_equal(fi_atomicvalid(a.ep, FI_FLOAT, FI_SUM, &cnt), -FI_EOPNOTSUPP);
	assert_int_equal(fi_fetch_atomicvalid(a.ep, FI_UINT64, FI_ATOMIC_READ, &cnt), 0);
}

/* An invalid key: the initiator gets the error, both get FI_SHUTDOWN. */
static void bad_key(void **state)
{
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_data_entry entry;

	join();
	assert_int_equal(fi_recv(b.ep, b.buf, 100, b.desc, 0, &pep), 0);
	assert_int_equal(fi_write(a.ep, a.buf, 5000, a.desc, 0, (uintptr_t) b.buf,
				  fi_mr_key(b.mr) ^ 0x5500, &a), 0);
	assert_int_equal(comp(&a, &entry), -FI_EAVAIL);
	assert_int_equal(fi_cq_readerr(a.cq, &err, 0), 1);
	assert_ptr_equal(err.op_context, &a);
	assert_int_equal(err.err, FI_EACCES);
	assert_non_null(strstr(fi_cq_strerror(a.cq, err.prov_errno, NULL, NULL, 0), "access"));
	event(&a, FI_SHUTDOWN, NULL);
	event(&b, FI_SHUTDOWN, NULL);
	assert_int_equal(comp(&b, &entry), -FI_EAVAIL);
	memset(&err, 0, sizeof(err));
	assert_int_equal(fi_cq_readerr(b.cq, &err, 0), 1);
	assert_ptr_equal(err.op_context, &pep);
	assert_int_equal(err.err, FI_ECANCELED);
	assert_int_equal(fi_send(a.ep, a.buf, 1, a.desc, 0, NULL), -FI_ENOTCONN);
}

static void shutdown_gives_back(void **state)
{
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_data_entry entry;
	int i;

	join();
	for (i = 0; i < 10; i++)
		assert_int_equal(fi_recv(b.ep, b.buf, 100, b.desc, 0, &b), 0);
	assert_int_equal(fi_inject(a.ep, "in flight!", 11, 0), 0);
	close_ep(&a);
	event(&b, FI_SHUTDOWN, NULL);
	assert_int_equal(comp(&b, &entry), 1);
	assert_string_equal(b.buf, "in flight!");
	for (i = 1; i < 10; i++) {
		assert_int_equal(comp(&b, &entry), -FI_EAVAIL);
		assert_int_equal(fi_cq_readerr(b.cq, &err, 0), 1);
		assert_int_equal(err.err, FI_ECANCELED);
	}
	assert_int_equal(fi_cq_read(b.cq, &entry, 1), -FI_EAGAIN);
}

static void rejected(void **state)
{
	struct fi_eq_err_entry err = { 0 };
	struct fi_eq_cm_entry *cm;
	char data[64], buf[128];
	uint32_t what;

	listen_on(&b);
	open_ep(&a, a.info);
	call(&a, "hello");
	cm = event(&b, FI_CONNREQ, NULL);
	assert_int_equal(fi_reject(pep, cm->info->handle, "no", 3), 0);
	fi_freeinfo(cm->info);
	assert_int_equal(fi_eq_sread(a.eq, &what, buf, sizeof(buf), EVENT_MS, 0), -FI_EAVAIL);
	err.err_data = data;
	err.err_data_size = sizeof(data);
	assert_true(fi_eq_readerr(a.eq, &err, 0) > 0);
	assert_int_equal(err.err, FI_ECONNREFUSED);
	assert_ptr_equal(err.fid, &a.ep->fid);
	assert_string_equal((char *) err.err_data, "no");
}

static void shared_receives(void **state)
{
	struct fi_cq_data_entry entry;
	int i;

	assert_int_equal(fi_srx_context(b.domain, NULL, &b.srx, NULL), 0);
	for (i = 0; i < 20; i++)
		assert_int_equal(fi_recv(b.srx, b.buf + i * 100, 100, b.desc, 0, b.buf + i * 100),
				 0);
	join();
	for (i = 0; i < 20; i++) {
		pattern(a.buf, 100, (unsigned) i);
		assert_int_equal(fi_send(a.ep, a.buf, 100, a.desc, 0, &a), 0);
		expect(&a, &a, FI_SEND);
		assert_int_equal(comp(&b, &entry), 1);
		assert_memory_equal(entry.op_context, a.buf, 100);
	}
}

static void blocking_read(void **state)
{
	struct fi_cq_data_entry entry;

	join();
	assert_int_equal(fi_cq_sread(b.cq, &entry, 1, NULL, 50), -FI_EAGAIN);
	assert_int_equal(fi_recv(b.ep, b.buf, 100, b.desc, 0, &b), 0);
	assert_int_equal(fi_send(a.ep, a.buf, 10, a.desc, 0, &a), 0);
	assert_int_equal(fi_cq_sread(b.cq, &entry, 1, NULL, EVENT_MS), 1);
	assert_int_equal(fi_cq_sread(a.cq, &entry, 1, NULL, EVENT_MS), 1);
}

/* ---- datagrams by queue pair ---------------------------------------------------- */

static struct fi_info *ask_ud(const char *node, const char *service, uint64_t flags)
{
	struct fi_info *hints = fi_allocinfo(), *info = NULL;

	hints->fabric_attr->prov_name = strdup("verbs");
	hints->ep_attr->type = FI_EP_DGRAM;
	hints->caps = FI_MSG | FI_SOURCE | FI_SOURCE_ERR;
	hints->addr_format = FI_ADDR_IB_UD;
	hints->domain_attr->mr_mode = FI_MR_LOCAL;
	fi_getinfo(API, node, service, flags, hints, &info);
	fi_freeinfo(hints);
	return info;
}

/* An unknown source is reported by its address; @to is the endpoint itself. */
static void to_itself(struct end *e, struct fid_av *av, const void *name)
{
	struct fi_cq_data_entry entry;
	unsigned char from[64];
	struct fi_cq_err_entry err = { .err_data = from, .err_data_size = sizeof(from) };
	fi_addr_t to, other, source = 77;
	unsigned got = 0, told = 0, known;
	unsigned char gone[64];
	ssize_t ret;
	long i;

	memcpy(gone, name, 32);
	gone[19] ^= 1;			/* another queue pair: not the sender */
	for (known = 0; known < 2; known++) {
		assert_int_equal(fi_av_insert(av, name, 1, &to, 0, NULL), 1);
		assert_int_equal(fi_recv(e->ep, e->buf + 4096, 2048, e->desc, FI_ADDR_UNSPEC, NULL), 0);
		assert_int_equal(fi_send(e->ep, e->buf, 100, e->desc, to, NULL), 0);
		if (!known) {
			assert_int_equal(fi_av_remove(av, &to, 1, 0), 0);
			assert_int_equal(fi_av_insert(av, gone, 1, &other, 0, NULL), 1);
		}
		for (i = 0, got = 0; got < 2 && i < SPINS; i++) {
			ret = fi_cq_readfrom(e->cq, &entry, 1, &source);
			if (ret == -FI_EAVAIL) {
				assert_int_equal(fi_cq_readerr(e->cq, &err, 0), 1);
				assert_int_equal(err.err, FI_EADDRNOTAVAIL);
				assert_int_equal(err.len, 100);
				assert_memory_equal(from, name, 24);
				told++;
				got++;
			} else if (ret == 1) {
				assert_true(!(entry.flags & FI_RECV) || source == to);
				got++;
			}
		}
		assert_int_equal(got, 2);
		assert_int_equal(told, 1);
	}
	assert_memory_equal(e->buf, e->buf + 4096, 100);
}

/* Called by its queue pair, and found by an IP address and port. */
static void by_queue_pair(void **state)
{
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_DATA };
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE };
	const char *node = getenv("GUEST_ADDR");
	unsigned char name[64];
	size_t len = sizeof(name);
	struct end e = { .info = node ? ask_ud(node, "7471", FI_SOURCE) : NULL };
	struct fi_info *found;
	struct fid_av *av;

	if (!e.info)
		skip();		/* no address given, or no datagrams: iWARP */
	assert_int_equal(fi_fabric(e.info->fabric_attr, &e.fabric, NULL), 0);
	assert_int_equal(fi_domain(e.fabric, e.info, &e.domain, NULL), 0);
	assert_int_equal(fi_cq_open(e.domain, &cq_attr, &e.cq, NULL), 0);
	assert_int_equal(fi_av_open(e.domain, &av_attr, &av, NULL), 0);
	assert_int_equal(fi_endpoint(e.domain, e.info, &e.ep, NULL), 0);
	assert_int_equal(fi_ep_bind(e.ep, &av->fid, 0), 0);
	assert_int_equal(fi_ep_bind(e.ep, &e.cq->fid, FI_TRANSMIT | FI_RECV), 0);
	assert_int_equal(fi_getname(&e.ep->fid, name, &len), -FI_EOPBADSTATE);
	assert_int_equal(fi_enable(e.ep), 0);
	assert_int_equal(fi_getname(&e.ep->fid, name, &len), 0);
	assert_int_equal(len, 32);
	found = ask_ud(node, "7471", 0);
	assert_non_null(found);
	assert_memory_equal(found->dest_addr, name, 24);	/* GID, queue pair, key */
	fi_freeinfo(found);
	e.buf = calloc(1, SIZE);
	assert_int_equal(fi_mr_reg(e.domain, e.buf, SIZE, FI_SEND | FI_RECV, 0, 0, 0, &e.mr, NULL), 0);
	e.desc = fi_mr_desc(e.mr);
	memset(e.buf, 7, 100);
	to_itself(&e, av, name);
	assert_int_equal(fi_close(&e.ep->fid), 0);
	assert_null(ask_ud(node, "7471", 0));
	assert_int_equal(fi_close(&av->fid), 0);
	assert_int_equal(fi_close(&e.cq->fid), 0);
	assert_int_equal(fi_close(&e.mr->fid), 0);
	assert_int_equal(fi_close(&e.domain->fid), 0);
	assert_int_equal(fi_close(&e.fabric->fid), 0);
	fi_freeinfo(e.info);
	free(e.buf);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(messages),
		CASE(pieces_and_data),
		CASE(injects),
		CASE(remote_memory),
		CASE(atomics),
		CASE(bad_key),
		CASE(shutdown_gives_back),
		CASE(rejected),
		CASE(shared_receives),
		CASE(blocking_read),
		cmocka_unit_test(by_queue_pair),
	};
	struct fi_info *info = ask(FI_MSG);

	if (!info) {
		printf("skipped: no RDMA device with an address here\n");
		return 77;
	}
	fi_freeinfo(info);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
