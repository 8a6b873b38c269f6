/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * ends.h - endpoints of tcp of either type, or of tcp;ofi_rxm, operations between them, and attacks on one record of what
 * they send through the relay.
 */
#ifndef TESTS_SECURE_ENDS_H
#define TESTS_SECURE_ENDS_H

#include "tests/secure/relay.h"

#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>

#define LONG (1 << 20)
#define SHORT 64
#define ADDED 256		/* numbers of an atomic */
#define WAIT_MS 30000

struct end {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_ep *ep;
	struct fid_pep *pep;
	struct fid_cq *cq;
	struct fid_eq *eq;
	struct fid_av *av;
	struct fid_mr *mr;
	struct sockaddr_in name;
	uint8_t *buf;
	bool connected;
	unsigned done;
	int err;
	fi_addr_t to;
};

static const uint8_t job[SIDE_KEY_SIZE] = { 0x81, 0xa2 }, other_job[SIDE_KEY_SIZE] = { 0x82, 0xb3 };
static uint8_t source[LONG];
static enum fi_ep_type type;
static const char *provider = "tcp";
static struct end *polled[8];
static unsigned polled_cnt;
static char service[8] = "0";	/* port of the next endpoint; 0: any */

/* ---- endpoints ------------------------------------------------------------------------------- */

static inline struct fi_info *end_info(const uint8_t *key)
{
	struct fi_info *hints = fi_allocinfo(), *info;

	CHECK(hints);
	hints->caps = FI_TAGGED | FI_RMA | FI_ATOMIC;
	hints->ep_attr->type = type;
	hints->domain_attr->data_progress = hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_ALLOCATED;
	hints->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
	hints->fabric_attr->prov_name = strdup(provider);
	hints->ep_attr->auth_key = malloc(SIDE_KEY_SIZE);
	memcpy(hints->ep_attr->auth_key, key, SIDE_KEY_SIZE);
	hints->ep_attr->auth_key_size = SIDE_KEY_SIZE;
	CALL(fi_getinfo(FI_VERSION(2, 0), "127.0.0.1", service, FI_SOURCE, hints, &info));
	fi_freeinfo(hints);
	return info;
}

static inline void end_endpoint(struct end *e, struct fi_info *info)
{
	CALL(fi_endpoint(e->domain, info, &e->ep, NULL));
	CALL(fi_ep_bind(e->ep, &e->cq->fid, FI_TRANSMIT | FI_RECV));
	CALL(fi_ep_bind(e->ep, e->av ? &e->av->fid : &e->eq->fid, 0));
	CALL(fi_enable(e->ep));
	CALL(fi_mr_reg(e->domain, e->buf, LONG, FI_REMOTE_WRITE | FI_REMOTE_READ, 0, 1, 0, &e->mr, NULL));
}

/* end_open - @listens: of MSG endpoints the passive one, else one that connects. */
static inline struct end *end_open(const uint8_t *key, bool listens)
{
	struct fi_cq_attr cq = { .format = FI_CQ_FORMAT_CONTEXT };
	struct fi_av_attr av = { .type = FI_AV_TABLE };
	struct fi_eq_attr eq = { .wait_obj = FI_WAIT_NONE };
	struct end *e = calloc(1, sizeof(*e));
	size_t len = sizeof(e->name);

	CHECK(e && polled_cnt < 8);
	e->buf = calloc(1, LONG);
	e->info = end_info(key);
	CALL(fi_fabric(e->info->fabric_attr, &e->fabric, NULL));
	CALL(fi_domain(e->fabric, e->info, &e->domain, NULL));
	CALL(fi_cq_open(e->domain, &cq, &e->cq, NULL));
	CALL(fi_eq_open(e->fabric, &eq, &e->eq, NULL));
	if (type == FI_EP_RDM)
		CALL(fi_av_open(e->domain, &av, &e->av, NULL));
	if (type == FI_EP_MSG && listens) {
		CALL(fi_passive_ep(e->fabric, e->info, &e->pep, NULL));
		CALL(fi_pep_bind(e->pep, &e->eq->fid, 0));
		CALL(fi_listen(e->pep));
	} else {
		end_endpoint(e, e->info);
	}
	CALL(fi_getname(e->pep ? &e->pep->fid : &e->ep->fid, &e->name, &len));
	polled[polled_cnt++] = e;
	return e;
}

static inline void end_close(struct end *e)
{
	unsigned i;

	for (i = 0; polled[i] != e; i++)
		;
	polled[i] = polled[--polled_cnt];
	if (e->ep)
		CALL(fi_close(&e->ep->fid));
	if (e->mr)
		CALL(fi_close(&e->mr->fid));
	if (e->pep)
		CALL(fi_close(&e->pep->fid));
	if (e->av)
		CALL(fi_close(&e->av->fid));
	CALL(fi_close(&e->cq->fid));
	CALL(fi_close(&e->eq->fid));
	CALL(fi_close(&e->domain->fid));
	CALL(fi_close(&e->fabric->fid));
	fi_freeinfo(e->info);
	free(e->buf);
	free(e);
}

/* accept_one - a MSG endpoint for the request in @event. */
static inline void accept_one(struct end *e, const struct fi_eq_cm_entry *event)
{
	if (e->ep) {			/* of the connection before */
		CALL(fi_close(&e->ep->fid));
		CALL(fi_close(&e->mr->fid));
	}
	end_endpoint(e, event->info);
	CALL(fi_accept(e->ep, NULL, 0));
	fi_freeinfo(event->info);
}

static inline void read_queue(struct end *e)
{
	struct fi_eq_err_entry err = { 0 };
	struct fi_eq_cm_entry entry;
	uint32_t event;
	ssize_t ret = fi_eq_read(e->eq, &event, &entry, sizeof(entry), 0);

	if (ret == -FI_EAVAIL) {
		CHECK(fi_eq_readerr(e->eq, &err, 0) > 0);
		e->err = err.err;
	} else if (ret > 0 && event == FI_CONNREQ) {
		accept_one(e, &entry);
	} else if (ret > 0 && event == FI_CONNECTED) {
		e->connected = true;
	}
}

static inline void end_poll(struct end *e)
{
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_entry entry;
	ssize_t ret = fi_cq_read(e->cq, &entry, 1);

	if (ret == 1) {
		e->done++;
	} else if (ret == -FI_EAVAIL) {
		CHECK(fi_cq_readerr(e->cq, &err, 0) == 1);
		e->err = err.err;
	}
	read_queue(e);
}

static inline void poll_all(void)
{
	unsigned i;

	relay_poll();
	for (i = 0; i < polled_cnt; i++)
		end_poll(polled[i]);
}

/* end_connect - @a knows @addr, which for MSG endpoints it is connected to.  Returns 0 or the error. */
static inline int end_connect(struct end *a, const struct sockaddr_in *addr)
{
	uint64_t until = now_ms() + WAIT_MS;

	a->to = FI_ADDR_UNSPEC;
	a->connected = type == FI_EP_RDM;
	if (a->connected)
		CHECK(fi_av_insert(a->av, addr, 1, &a->to, 0, NULL) == 1);
	else
		CALL(fi_connect(a->ep, addr, NULL, 0));
	while (!a->connected && !a->err) {
		CHECK(now_ms() < until);
		poll_all();
	}
	return a->err;
}

/* ---- operations ------------------------------------------------------------------------------ */

enum op { OP_RECV, OP_HELD, OP_WRITE, OP_ADD };

static inline void post_long_recv(struct end *b, size_t len)
{
	CALL(fi_trecv(b->ep, b->buf, len, NULL, FI_ADDR_UNSPEC, 1, 0, NULL));
}

static inline void start(struct end *a, struct end *b, enum op op, size_t len)
{
	uint64_t until = now_ms() + WAIT_MS;
	ssize_t ret;

	a->done = b->done = 0;
	a->err = b->err = 0;
	memset(b->buf, 0, LONG);
	if (op == OP_RECV)
		post_long_recv(b, len);
	do {
		ret = op == OP_WRITE ? fi_write(a->ep, source, len, NULL, a->to, 0, 1, NULL) :
		      op == OP_ADD ? fi_atomic(a->ep, source, ADDED, NULL, a->to, 0, 1, FI_UINT64, FI_SUM, NULL) :
				     fi_tsend(a->ep, source, len, NULL, a->to, 1, NULL);
		poll_all();
		CHECK(now_ms() < until);
	} while (ret == -FI_EAGAIN);
	CALL(ret);
}

/* run - @op comes through.  Returns 0, or the error at @a. */
static inline int run(struct end *a, struct end *b, enum op op, size_t len)
{
	uint64_t until = now_ms() + WAIT_MS;
	bool both = op == OP_RECV;

	start(a, b, op, len);
	while (!a->err && (!a->done || (both && !b->done))) {
		CHECK(now_ms() < until);
		poll_all();
	}
	if (!a->err && op != OP_ADD)
		CHECK(!memcmp(b->buf, source, len));
	return a->err;
}

static inline void log_clear(void)
{
	logged_len = 0;
	*logged = '\0';
}

/* ---- one record is attacked ------------------------------------------------------------------- */

enum way { FLIP_HEAD, FLIP_BODY, FLIP_TAG, CUT, CUT_BETWEEN, DROP, TWICE, REORDER, SPLICE };

#define NONE UINT32_MAX

static struct {
	enum way way;
	unsigned conn, no;	/* the record that is attacked */
	unsigned other;		/* SPLICE: the connection that has the record of the same number, or a last one */
	unsigned held;		/* REORDER: the record that follows the next one */
	bool made;
	size_t before, size;	/* plain bytes that came before, and in it */
} plan;

static inline void on_record(unsigned conn, int dir, unsigned no, const uint8_t *record, size_t len)
{
	static uint8_t copy[SEC_RECORD_MAX + SEC_RECORD_OVER];
	const struct flow *other = &relay.conns[plan.other].flow[0], *flow = &relay.conns[conn].flow[0];

	if (conn != plan.conn || dir) {
		relay_put(conn, dir, record, len);
		return;
	}
	if (plan.made)
		return;			/* nothing behind it is of use */
	if (no != plan.no) {
		plan.before += plan.no == NONE ? 0 : len - SEC_RECORD_OVER;
		relay_put(conn, dir, record, len);
		if (plan.way == REORDER && plan.no == NONE) {
			relay_put(conn, dir, flow->came.at + flow->at[plan.held], flow->size[plan.held]);
			plan.made = true;
		}
		return;
	}
	plan.made = true;
	plan.size = len - SEC_RECORD_OVER;
	memcpy(copy, record, len);
	switch (plan.way) {
	case FLIP_HEAD:
		copy[3] ^= 3;		/* data, end */
		break;
	case FLIP_BODY:
		copy[SEC_RECORD_HEAD + plan.size / 2] ^= 0x10;
		break;
	case FLIP_TAG:
		copy[len - 1] ^= 1;
		break;
	case CUT:
	case CUT_BETWEEN:
		relay_put(conn, dir, record, plan.way == CUT ? len / 2 : 0);
		relay_cut(conn, dir);
		return;
	case DROP:
	case REORDER:
		plan.held = no;
		plan.made = false;	/* the next one is handed on, in its place */
		plan.no = NONE;
		return;
	case TWICE:
		plan.before += plan.size;
		relay_put(conn, dir, record, len);
		break;
	case SPLICE:
		no = no < other->cnt ? no : other->cnt - 1;
		relay_put(conn, dir, other->came.at + other->at[no], other->size[no]);
		return;
	}
	relay_put(conn, dir, copy, len);
}

static inline size_t count_written(const struct end *b)
{
	size_t cnt = 0, i;

	for (i = 0; i < LONG; i++)
		cnt += b->buf[i] != 0;
	return cnt;
}

/* plan_attack - on record @no of the connection @conn of the relay, with the records of @other at hand. */
static inline void plan_attack(enum way way, unsigned conn, unsigned no, unsigned other)
{
	log_clear();
	memset(&plan, 0, sizeof(plan));
	plan.way = way;
	plan.conn = conn;
	plan.no = no;
	plan.other = other;
	relay.tamper = on_record;
}

/* await_failure - @op ends in an error at both sides. */
static inline void await_failure(struct end *a, struct end *b, enum op op)
{
	uint64_t until = now_ms() + WAIT_MS;

	start(a, b, op, LONG);
	while (!a->err || (op == OP_RECV && !b->err)) {
		CHECK(now_ms() < until);
		CHECK(!a->done && !b->done);
		poll_all();
	}
	assert_true(relay.tamper != on_record || plan.made || plan.way == DROP);
	relay.tamper = NULL;
}

/* attack - record @no of what @op sends over the connection @conn of the relay; it ends in an error at both sides, and
 * memory of @b has nothing of it.  Returns the error at @a.
 */
static inline int attack(struct end *a, struct end *b, enum op op, enum way way, unsigned conn, unsigned no)
{
	bool early = op == OP_RECV && !strcmp(getenv("LEVEL"), "encrypt");

	plan_attack(way, conn, no, 0);
	await_failure(a, b, op);
	if (op == OP_ADD && way == TWICE)
		assert_memory_equal(b->buf, source, ADDED * sizeof(uint64_t));	/* it was added once */
	else if (op == OP_ADD)
		assert_int_equal(count_written(b), 0);
	else
		assert_true(count_written(b) <= plan.before + (early ? plan.size : 0));
	return a->err;
}

/* ---- processes ------------------------------------------------------------------------------ */

/* prepare - what the programs have in common. */
static inline void prepare(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	setenv("FI_LOG_INTERVAL", "1", 1);
	setenv("FI_TCP_LOCAL", "0", 1);
	setenv("FI_OFI_RXM_LOCAL", "0", 1);
	setenv("FI_TCP_FIREWALL_ADDR", "1", 1);
	unsetenv("FI_AUTH_KEY_FILE");
	memset(source, 0x77, sizeof(source));
}

/* in_child - @tests in a process of their own: the library reads some variables once. */
static inline int in_child(int (*tests)(void), enum fi_ep_type kind, const char *level)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid) {
		printf("# %s, %s, %s\n", provider, kind == FI_EP_RDM ? "RDM" : "MSG", level);
		type = kind;
		setenv("LEVEL", level, 1);
		setenv("FI_SECURITY", level, 1);
		CALL(fi_import_log(FI_VERSION(2, 0), 0, &log_fid));
		relay_open();
		status = tests();
		relay_close();
		exit(status ? 1 : 0);
	}
	return pid < 0 || waitpid(pid, &status, 0) != pid || status;
}

#endif
