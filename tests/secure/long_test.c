/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Attackers of long messages, of several connections to one peer, and of connections that are made again.
 *
 * A peer reaches the member through a relay, the attacker, over RDM and MSG endpoints, at auth and at encrypt.  After an
 * attack the operation ends in an error at both sides, what was altered is not in memory that the peer writes or adds to,
 * the log has the reason, and a bystander's messages go on.
 */
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
static struct end *polled[8];
static unsigned polled_cnt;

/* ---- endpoints ------------------------------------------------------------------------------- */

static struct fi_info *end_info(const uint8_t *key)
{
	struct fi_info *hints = fi_allocinfo(), *info;

	CHECK(hints);
	hints->caps = FI_TAGGED | FI_RMA | FI_ATOMIC;
	hints->ep_attr->type = type;
	hints->domain_attr->data_progress = hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_ALLOCATED;
	hints->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
	hints->fabric_attr->prov_name = strdup("tcp");
	hints->ep_attr->auth_key = malloc(SIDE_KEY_SIZE);
	memcpy(hints->ep_attr->auth_key, key, SIDE_KEY_SIZE);
	hints->ep_attr->auth_key_size = SIDE_KEY_SIZE;
	CALL(fi_getinfo(FI_VERSION(2, 0), "127.0.0.1", "0", FI_SOURCE, hints, &info));
	fi_freeinfo(hints);
	return info;
}

static void end_endpoint(struct end *e, struct fi_info *info)
{
	CALL(fi_endpoint(e->domain, info, &e->ep, NULL));
	CALL(fi_ep_bind(e->ep, &e->cq->fid, FI_TRANSMIT | FI_RECV));
	CALL(fi_ep_bind(e->ep, e->av ? &e->av->fid : &e->eq->fid, 0));
	CALL(fi_enable(e->ep));
	CALL(fi_mr_reg(e->domain, e->buf, LONG, FI_REMOTE_WRITE | FI_REMOTE_READ, 0, 1, 0, &e->mr, NULL));
}

/* end_open - @listens: of MSG endpoints the passive one, else one that connects. */
static struct end *end_open(const uint8_t *key, bool listens)
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

static void end_close(struct end *e)
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
static void accept_one(struct end *e, const struct fi_eq_cm_entry *event)
{
	if (e->ep) {			/* of the connection before */
		CALL(fi_close(&e->ep->fid));
		CALL(fi_close(&e->mr->fid));
	}
	end_endpoint(e, event->info);
	CALL(fi_accept(e->ep, NULL, 0));
	fi_freeinfo(event->info);
}

static void read_queue(struct end *e)
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

static void end_poll(struct end *e)
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

static void poll_all(void)
{
	unsigned i;

	relay_poll();
	for (i = 0; i < polled_cnt; i++)
		end_poll(polled[i]);
}

/* end_connect - @a knows @addr, which for MSG endpoints it is connected to.  Returns 0 or the error. */
static int end_connect(struct end *a, const struct sockaddr_in *addr)
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

static void post_long_recv(struct end *b, size_t len)
{
	CALL(fi_trecv(b->ep, b->buf, len, NULL, FI_ADDR_UNSPEC, 1, 0, NULL));
}

static void start(struct end *a, struct end *b, enum op op, size_t len)
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
static int run(struct end *a, struct end *b, enum op op, size_t len)
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

static void log_clear(void)
{
	logged_len = 0;
	*logged = '\0';
}

/* ---- one record is attacked ------------------------------------------------------------------- */

enum way { FLIP_HEAD, FLIP_BODY, FLIP_TAG, CUT, CUT_BETWEEN, DROP, TWICE, SPLICE };

#define NONE UINT32_MAX

static struct {
	enum way way;
	unsigned conn, no;	/* the record that is attacked */
	unsigned other;		/* SPLICE: the connection that has the record of the same number */
	bool made;
	size_t before, size;	/* plain bytes that came before, and in it */
} plan;

static void on_record(unsigned conn, int dir, unsigned no, const uint8_t *record, size_t len)
{
	static uint8_t copy[SEC_RECORD_MAX + SEC_RECORD_OVER];
	const struct flow *other = &relay.conns[plan.other].flow[0];

	if (conn != plan.conn || dir) {
		relay_put(conn, dir, record, len);
		return;
	}
	if (plan.made)
		return;			/* nothing behind it is of use */
	if (no != plan.no) {
		plan.before += plan.no == NONE ? 0 : len - SEC_RECORD_OVER;
		relay_put(conn, dir, record, len);
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
		plan.made = false;	/* the next one is handed on, in its place */
		plan.no = NONE;
		return;
	case TWICE:
		plan.before += plan.size;
		relay_put(conn, dir, record, len);
		break;
	case SPLICE:
		CHECK(other->cnt > no);
		relay_put(conn, dir, other->came.at + other->at[no], other->size[no]);
		return;
	}
	relay_put(conn, dir, copy, len);
}

static size_t count_written(const struct end *b)
{
	size_t cnt = 0, i;

	for (i = 0; i < LONG; i++)
		cnt += b->buf[i] != 0;
	return cnt;
}

/* attack - record @no of what @op sends over the connection @conn of the relay; it ends in an error at both sides.
 * Returns the error at @a.
 */
static int attack(struct end *a, struct end *b, enum op op, enum way way, unsigned conn, unsigned no)
{
	bool early = op == OP_RECV && !strcmp(getenv("LEVEL"), "encrypt");
	uint64_t until = now_ms() + WAIT_MS;

	log_clear();
	memset(&plan, 0, sizeof(plan));
	plan.way = way;
	plan.conn = conn;
	plan.no = no;
	relay.tamper = on_record;
	start(a, b, op, LONG);
	while (!a->err || (op == OP_RECV && !b->err)) {
		CHECK(now_ms() < until);
		CHECK(!a->done && !b->done);
		poll_all();
	}
	assert_true(plan.made || way == DROP);
	if (op == OP_ADD && way == TWICE)
		assert_memory_equal(b->buf, source, ADDED * sizeof(uint64_t));	/* it was added once */
	else if (op == OP_ADD)
		assert_int_equal(count_written(b), 0);
	else
		assert_true(count_written(b) <= plan.before + (early ? plan.size : 0));
	relay.tamper = NULL;
	return a->err;
}

/* ---- tests ---------------------------------------------------------------------------------- */

static struct end *member, *bystander;

static void bystander_goes_on(void)
{
	if (!bystander)
		return;
	assert_int_equal(run(bystander, member, OP_RECV, SHORT), 0);
	assert_int_equal(run(bystander, member, OP_RECV, LONG), 0);
}

/* open_peer - connected to @to through the relay; @cnt_p: [out] records that it has sent. */
static struct end *open_peer(const uint8_t *key, struct end *to, unsigned *cnt_p)
{
	struct end *a = end_open(key, false);

	relay.to = to->name;
	assert_int_equal(end_connect(a, &relay.name), 0);
	assert_int_equal(run(a, to, OP_RECV, SHORT), 0);
	*cnt_p = relay.conns[relay.cnt - 1].flow[0].cnt;
	return a;
}

static const char *text_of(enum way way)
{
	return way == CUT || way == CUT_BETWEEN ? "ended without a sealed end" :
	       way == FLIP_HEAD ? "no sealed record" : "altered, repeated, left out or sealed by another";
}

static void each_way(enum op op, unsigned no)
{
	enum way way;
	struct end *a;
	unsigned sent;

	for (way = FLIP_HEAD; way < SPLICE; way++) {
		if (way == DROP && (op == OP_ADD || op == OP_HELD))
			continue;	/* it is one record, and no other follows */
		a = open_peer(job, member, &sent);
		assert_int_equal(attack(a, member, op, way, relay.cnt - 1, sent + no), FI_ECONNRESET);
		if (op == OP_RECV)
			assert_int_equal(member->err, way == CUT || way == CUT_BETWEEN ? FI_ECONNRESET : FI_EPROTO);
		assert_logged(text_of(way));
		end_close(a);
		bystander_goes_on();
		relay_reset();
	}
}

static void receives_are_attacked(void **state)
{
	each_way(OP_RECV, 1);
	each_way(OP_RECV, 20);
}

static void held_messages_are_attacked(void **state)
{
	each_way(OP_HELD, 0);
}

static void writes_are_attacked(void **state)
{
	each_way(OP_WRITE, 0);
	each_way(OP_WRITE, 3);
}

static void atomics_are_attacked(void **state)
{
	each_way(OP_ADD, 0);
}

/* The record of the same number, of another connection of the job, and of another job. */
static void connections_are_spliced(void **state)
{
	struct end *stranger = end_open(other_job, true), *a, *b;
	unsigned sent, first, i;

	for (i = 0; i < 2; i++) {
		relay_reset();
		b = open_peer(i ? other_job : job, i ? stranger : member, &first);
		assert_int_equal(run(b, i ? stranger : member, OP_RECV, LONG), 0);
		a = open_peer(job, member, &sent);
		assert_int_equal(sent, first);
		plan.other = 0;
		attack(a, member, OP_RECV, SPLICE, 1, sent + 1);
		assert_int_equal(member->err, FI_EPROTO);
		assert_logged("sealed by another");
		end_close(a);
		end_close(b);
		bystander_goes_on();
	}
	relay_reset();
	end_close(stranger);
}

static unsigned replayed;	/* bytes of the connection before */

/* The member gets what the connecting peer said before, on each connection but the first. */
static void replay_shake(unsigned conn, int dir, const uint8_t *bytes, size_t len)
{
	const struct flow *first = &relay.conns[0].flow[0];

	if (conn == 0 || dir) {
		relay_put(conn, dir, bytes, len);
	} else if (!relay.conns[conn].flow[0].out_pos && !relay.conns[conn].flow[0].out.len && !replayed) {
		replayed = (unsigned) first->came.len;
		relay_put(conn, dir, first->came.at, first->came.len);
	}
}

/* A connection that is made again: its handshake replayed whole, and records of the one before put into it. */
static void reconnections_are_replayed(void **state)
{
	uint64_t until = now_ms() + WAIT_MS;
	unsigned sent;
	struct end *a;

	if (type == FI_EP_MSG)
		return;			/* an endpoint connects once */
	a = open_peer(job, member, &sent);
	relay_end(0);
	log_clear();
	replayed = 0;
	relay.shaking = replay_shake;
	do {				/* the first one says that the connection is lost */
		start(a, member, OP_WRITE, SHORT);
		while (relay.cnt < 2 && !a->err)
			poll_all();
	} while (relay.cnt < 2 && now_ms() < until);
	while (!strstr(logged, "was refused")) {
		CHECK(now_ms() < until && !a->done);
		poll_all();
	}
	assert_true(replayed);
	assert_int_equal(count_written(member), 0);
	relay.shaking = NULL;
	end_close(a);
	relay_reset();
	a = open_peer(job, member, &sent);
	assert_int_equal(run(a, member, OP_RECV, LONG), 0);
	relay_end(0);
	while (run(a, member, OP_WRITE, SHORT))
		CHECK(now_ms() < until);
	attack(a, member, OP_WRITE, SPLICE, relay.cnt - 1, relay.conns[relay.cnt - 1].flow[0].cnt);
	assert_logged("sealed by another");
	end_close(a);
	bystander_goes_on();
	relay_reset();
}

static int begin(void **state)
{
	member = end_open(job, true);
	if (type == FI_EP_RDM) {
		bystander = end_open(job, false);
		CALL(end_connect(bystander, &member->name));
	}
	return 0;
}

static int finish(void **state)
{
	if (bystander)
		end_close(bystander);
	end_close(member);
	return 0;
}

static int one_connection(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(receives_are_attacked),
		cmocka_unit_test(held_messages_are_attacked),
		cmocka_unit_test(writes_are_attacked),
		cmocka_unit_test(atomics_are_attacked),
		cmocka_unit_test(connections_are_spliced),
		cmocka_unit_test(reconnections_are_replayed),
	};

	return cmocka_run_group_tests(tests, begin, finish);
}

static int in_child(int (*tests)(void), enum fi_ep_type kind, const char *level)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid) {
		printf("# %s, %s\n", kind == FI_EP_RDM ? "RDM" : "MSG", level);
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

int main(void)
{
	static const char *const levels[] = { "encrypt", "auth" };
	int failed = 0, i;

	setvbuf(stdout, NULL, _IONBF, 0);
	setenv("FI_LOG_INTERVAL", "1", 1);
	setenv("FI_TCP_LOCAL", "0", 1);
	setenv("FI_TCP_FIREWALL_ADDR", "1", 1);
	unsetenv("FI_AUTH_KEY_FILE");
	memset(source, 0x77, sizeof(source));
	for (i = 0; i < 2; i++)
		failed += in_child(one_connection, FI_EP_RDM, levels[i]) + in_child(one_connection, FI_EP_MSG, levels[i]);
	return failed ? 1 : 0;
}
