/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Datagram endpoints on the real libmlx5, as mlx5_ep_test has connected ones.  All tests run on
 * the direct path and by the library, for endpoints that are named by IP address and port and for
 * those that are named by their queue pair.  A thread of the provider answers queries for names,
 * when the test releases the answers.
 */
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include "mlx5_dgram_world.h"
#include "mlx5_compare.h"

/* ---- cases ---------------------------------------------------------------------- */

static void which_way(void **state)
{
	assert_int_equal(vrb_ep_of(a->ep)->direct, !strcmp(*state, "direct"));
	assert_string_equal(vrb_ep_of(a->ep)->sq.ops->name, *state);
	assert_string_equal(vrb_ep_of(a->ep)->cq->ops->name, *state);
}

/* Every field of the request is as it was posted. */
static void datagrams(void **state)
{
	static const size_t sizes[] = { 0, 1, 8, 11, 12, 13, 64, 200, 255, 256, 257, 1000, MTU };
	unsigned i, k, to;
	struct model_wqe x;
	struct fi_cq_data_entry e;
	fi_addr_t from;

	for (k = 0; k < 3000; k++) {
		i = k % (sizeof(sizes) / sizeof(sizes[0]));
		to = 1 + k % (ENDS - 1);
		fill(a, k);
		memset(ends[to].in, 0, SIZE);
		post(&ends[to], MTU);
		send_to(a, to, sizes[i]);
		assert_int_equal(run_device(a, &x), 1);
		assert_int_equal(x.op, 0x0b);
		assert_int_equal(x.imm, sizes[i]);
		assert_int_equal(x.dqpn, ends[to].model.qpn);
		assert_int_equal(x.qkey, CM_QKEY);
		assert_memory_equal(x.gid, ends[to].model.gid, 16);
		assert_memory_equal(x.mac + 2, ends[to].model.gid + 12, 4);
		assert_int_equal(x.inline_len + x.len[0], sizes[i]);
		assert_int_equal(!!x.inline_len, sizes[i] && sizes[i] <=
				 vrb_ep_of(a->ep)->max_inline);
		e = taken(a);
		assert_ptr_equal(e.op_context, a);
		e = taken_from(&ends[to], &from);
		assert_int_equal(e.len, sizes[i]);
		assert_int_equal(e.data, sizes[i]);
		assert_int_equal(from, FI_ADDR_NOTAVAIL);
		assert_memory_equal(a->out, ends[to].in, sizes[i]);
		assert_true(!ends[to].in[sizes[i]] && !ends[to].model.lost);
	}
	assert_int_equal(try_send(a, 1, MTU + 1), -FI_EMSGSIZE);
}

static void injected(void **state)
{
	struct model_wqe x;

	fill(a, 1);
	post(b, MTU);
	send_to(a, 1, 0);
	run_device(a, NULL);
	taken(a);
	taken(b);
	post(b, MTU);
	assert_int_equal(fi_inject(a->ep, a->out, 100, a->to[1]), 0);
	memset(a->out, 0, SIZE);
	assert_int_equal(run_device(a, &x), 1);
	fill(a, 1);
	nothing(a);
	assert_int_equal(taken(b).len, 100);
	assert_memory_equal(a->out, b->in, 100);
	assert_int_equal(fi_inject(a->ep, a->out, infos[0]->tx_attr->inject_size + 1, a->to[1]),
			 -FI_EMSGSIZE);
}

/* Lists of buffers at both ends, until the queues have wrapped many times. */
static void at_random(void **state)
{
	const char *env = getenv("MLX5_DATAGRAMS");
	unsigned n, total = env ? (unsigned) strtoul(env, NULL, 10) : 20000, i, cnt, seed = 1;
	struct end *from, *to;
	struct iovec out[4], in[2];
	void *desc[4];
	uint64_t digest;
	size_t len, at, total_len;

	for (i = 0; i < 4; i++)
		desc[i] = fi_mr_desc(mr);
	fill(a, 3);
	fill(b, 4);
	for (n = 0; n < total; n++) {
		seed = seed * 1103515245 + 12345;
		from = &ends[seed >> 16 & 1];
		to = &ends[!(seed >> 16 & 1)];
		cnt = seed >> 18 & 3;
		len = (seed >> 20) % (n % 2 ? 60 : 1000);
		in[0] = (struct iovec) { to->in, 1 + len / 3 };
		in[1] = (struct iovec) { to->in + 1 + len / 3, SIZE - 1 - len / 3 };
		assert_int_equal(fi_recvv(to->ep, in, desc, 2, FI_ADDR_UNSPEC, to), 0);
		for (i = 0, at = seed % 100, total_len = 0; i < cnt; i++, at += len, total_len += len)
			out[i] = (struct iovec) { from->out + at, len };
		digest = model_digest(from->out + seed % 100, total_len);
		assert_int_equal(fi_sendv(from->ep, out, desc, cnt, from->to[to - ends], from), 0);
		assert_int_equal(run_device(from, NULL), 1);
		assert_int_equal(to->model.digest, digest);
		taken(from);
		assert_int_equal(taken(to).len, total_len);
		assert_int_equal(model_digest(to->in, total_len), digest);
	}
}

/* A full queue returns -FI_EAGAIN, and each datagram completes once. */
static void full(void **state)
{
	struct fi_cq_data_entry entry;
	unsigned sent = 0, got = 0, round;
	ssize_t ret;

	send_to(a, 1, 100);
	sent++;
	for (round = 0; round < 20; round++) {
		while (!(ret = try_send(a, 1, 100 + sent % 300)))
			sent++;
		assert_int_equal(ret, -FI_EAGAIN);
		run_device(a, NULL);
		while (fi_cq_read(a->cq, &entry, 1) == 1)
			got++;
		assert_int_equal(got, sent);
	}
	assert_int_equal(b->model.lost, sent);
	assert_true(sent >= 20 * infos[0]->tx_attr->size);
}

/* What is longer than its buffer is cut, and nothing else is touched. */
static void cut(void **state)
{
	struct fi_cq_data_entry entry;
	struct fi_cq_err_entry err = { 0 };

	fill(a, 9);
	memset(b->in, 0, SIZE);
	post(b, 100);
	send_to(a, 1, 300);
	run_device(a, NULL);
	while (fi_cq_read(b->cq, &entry, 1) == -FI_EAGAIN)
		;
	assert_int_equal(fi_cq_readerr(b->cq, &err, 0), 1);
	assert_int_equal(err.err, FI_ETRUNC);
	assert_int_equal(err.len, 100);
	assert_int_equal(err.olen, 200);
	assert_memory_equal(a->out, b->in, 100);
	assert_int_equal(b->in[100], 0);
	taken(a);
}

/* The device reports an error: one datagram is dropped, and reported. */
static void refused_by_device(void **state)
{
	struct fi_cq_data_entry entry;
	struct fi_cq_err_entry err = { 0 };

	a->model.mem = a->in;
	a->model.mem_len = 1;
	send_to(a, 1, 1000);
	run_device(a, NULL);
	assert_int_equal(fi_cq_read(a->cq, &entry, 1), -FI_EAVAIL);
	assert_int_equal(fi_cq_readerr(a->cq, &err, 0), 1);
	assert_int_equal(err.prov_errno, IBV_WC_LOC_PROT_ERR);
	a->model.mem = NULL;
	fill(a, 5);
	arrives(a, b, 1000);
}

/* The model itself: what is wrong with an address is seen. */
static void model_sees(void **state)
{
	static const struct { unsigned at; char val; bool fault; } wrong[] = {
		{ 24, 0, true }, { 20, 1, true }, { 3, 8, true },
		{ 19, 0x11, false }, { 27, 99, false }, { 63, 9, false }, { 44, 0x40, true },
	};
	struct model_wqe x;
	unsigned i;
	char *at;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		post(b, MTU);
		send_to(a, 1, 1000);
		at = (char *) a->model.sq + (size_t) a->model.eaten * 64 % a->model.sq_size;
		at[wrong[i].at] = wrong[i].val;
		b->model.lost = 0;
		model_step(&a->model, &b->model, &x);
		assert_int_equal(model_fault != NULL, wrong[i].fault);
		assert_int_equal(b->model.lost, !wrong[i].fault);
		model_fault = NULL;
		taken(a);
		if (wrong[i].fault)
			taken(b);
	}
}

/* What libmlx5 writes to an address is what we write. */
static void as_the_library(void **state)
{
	static const unsigned flags[] = { IBV_SEND_SIGNALED, IBV_SEND_SIGNALED | IBV_SEND_INLINE };
	static const uint32_t sizes[] = { 0, 3, 12, 60, 200 };
	struct vrb_ep *ep = vrb_ep_of(a->ep);
	struct ibv_sge sge[2] = { { (uintptr_t) a->out, 0, KERNEL_KEY },
				  { (uintptr_t) a->out + 1000, 7, KERNEL_KEY } };
	struct vrb_wr wr = { .imm = 0x12345678, .sge = sge };
	struct vrb_sq library = { 0 };
	unsigned i, k;

	fill(a, 7);
	send_to(a, 1, 0);
	run_device(a, NULL);
	taken(a);
	vrb_dgram_to(ep, a->to[1], &wr);
	vrb_sq_init(&library, ep->qp, false, false);
	/* The library has not seen our request. */
	wr.op = VRB_OP_SEND;
	wr.flags = IBV_SEND_SIGNALED;
	assert_int_equal(library.ops->build(&library, &wr), 0);
	for (; wr.op <= VRB_OP_SEND_IMM; wr.op++)
		for (i = 0; i < 5; i++)
			for (k = 0; k < 4; k++) {
				wr.flags = flags[k / 2];
				sge[0].length = sizes[i];
				wr.sge_cnt = 1 + k % 2;
				compare_bytes(&ep->mlx5.sq, &library, &wr);
			}
	ep->mlx5.sq.rung = ep->mlx5.sq.next;
}

/* ---- names ---------------------------------------------------------------------- */

struct sending {
	pthread_t thread;
	unsigned to;
	ssize_t ret;
};

static void *send_one(void *arg)
{
	struct sending *s = arg;

	s->ret = try_send(a, s->to, 100);
	return NULL;
}

static void begin(struct sending *s, unsigned to)
{
	s->to = to;
	assert_int_equal(pthread_create(&s->thread, NULL, send_one, s), 0);
	usleep(20000);
}

static ssize_t end(struct sending *s)
{
	pthread_join(s->thread, NULL);
	return s->ret;
}

/* Only a send to the peer that is queried waits. */
static void nobody_waits(void **state)
{
	struct sending s[2];
	uint64_t from;
	unsigned i;

	fill(a, 2);
	arrives(a, b, 100);
	cm_hold(true);
	begin(&s[0], 2);
	begin(&s[1], 2);
	from = clock_ns();
	for (i = 0; i < 100; i++)
		arrives(a, b, 100);
	assert_true(clock_ns() - from < 5 * CLOCK_NS_PER_S);
	cm_hold(false);
	for (i = 0; i < 2; i++)
		assert_int_equal(end(&s[i]), 0);
	assert_int_equal(run_device(a, NULL), 2);
	assert_true(clock_ns() - from < 5 * CLOCK_NS_PER_S);
}

static void nobody_there(void **state)
{
	struct sockaddr_in gone = c->name.in;
	unsigned i;
	ssize_t ret;

	close_end(c);
	for (i = 0; i < 3; i++) {
		ret = try_send(a, 2, 100);
		assert_int_equal(ret, -FI_EHOSTUNREACH);
	}
	/* Another one comes there, and is found. */
	infos[0]->src_addr = memcpy(infos[0]->src_addr, &gone, sizeof(gone));
	open_end(c, infos[0]);
	((struct sockaddr_in *) infos[0]->src_addr)->sin_port = 0;
	assert_int_equal(try_send(a, 2, 100), 0);
	run_device(a, NULL);
	assert_int_equal(fi_av_remove(a->av, &a->to[2], 1, 0), 0);
	assert_int_equal(try_send(a, 2, 100), -FI_EINVAL);
}

/* An address is removed while its query is in flight. */
static void gone_while_asked(void **state)
{
	struct sending s;

	cm_hold(true);
	begin(&s, 1);
	assert_int_equal(fi_av_remove(a->av, &a->to[1], 1, 0), 0);
	assert_int_equal(end(&s), -FI_EINVAL);
}

/* ---- sources -------------------------------------------------------------------- */

/* From one that we never spoke to, then from one that we did. */
static void source(void **state)
{
	unsigned i;

	fill(a, 1);
	fill(c, 2);
	for (i = 0; i < 10; i++) {
		assert_int_equal(arrives(a, b, 100 + i), b->to[0]);
		assert_int_equal(arrives(c, b, 200), b->to[2]);
		assert_int_equal(arrives(b, a, i), a->to[1]);
	}
	/* Each address once, and all by its own queue pair. */
	assert_int_equal(arrives(c, a, 5), a->to[2]);
}

/* It is deferred until the answer; datagrams of other sources are not, and a sleeping thread wakes. */
static void source_asked_for(void **state)
{
	struct pollfd pfd = { .events = POLLIN };
	struct fid *fids[] = { &a->cq->fid };
	fi_addr_t from = 77;

	fill(b, 1);
	fill(c, 2);
	arrives(c, a, 10);		/* at another address than the next */
	send_to(b, 0, 0);
	run_device(b, NULL);
	taken(b);
	cm_hold(true);
	post(a, MTU);
	send_to(b, 0, 100);
	run_device(b, NULL);
	nothing(a);
	assert_int_equal(arrives(c, a, 200), a->to[2]);
	nothing(a);
	assert_int_equal(fi_control(&a->cq->fid, FI_GETWAIT, &pfd.fd), 0);
	assert_int_equal(fi_trywait(fabric, fids, 1), 0);
	cm_hold(false);
	assert_int_equal(poll(&pfd, 1, 500), 1);
	assert_int_equal(taken_from(a, &from).len, 100);
	assert_int_equal(from, a->to[1]);
}

/* A source in no av has no address; nor has one that does not answer in time. */
static void source_unknown(void **state)
{
	fi_addr_t from = 77;
	uint64_t begin;

	fill(a, 1);
	assert_int_equal(fi_av_remove(b->av, &b->to[0], 1, 0), 0);
	assert_int_equal(fi_av_remove(b->av, &b->to[2], 1, 0), 0);
	assert_int_equal(arrives(a, b, 100), FI_ADDR_NOTAVAIL);
	introduce(b, 0);
	cm_hold(true);
	begin = clock_ns();
	post(b, MTU);
	assert_int_equal(fi_inject(a->ep, a->out, 100, a->to[1]), 0);
	run_device(a, NULL);
	taken_from(b, &from);
	assert_int_equal(from, FI_ADDR_NOTAVAIL);
	assert_true(clock_ns() - begin < 5 * CLOCK_NS_PER_S);
	cm_hold(false);
}

/* The lowest of several entries, and none when all are removed. */
static void source_twice(void **state)
{
	fi_addr_t second;

	fill(a, 1);
	assert_int_equal(arrives(a, b, 100), b->to[0]);
	assert_int_equal(fi_av_insert(b->av, &a->name, 1, &second, 0, NULL), 1);
	post(a, MTU);
	assert_int_equal(fi_inject(b->ep, b->out, 10, second), 0);
	run_device(b, NULL);
	taken(a);
	assert_int_equal(arrives(a, b, 100), b->to[0]);
	assert_int_equal(fi_av_remove(b->av, &b->to[0], 1, 0), 0);
	assert_int_equal(arrives(a, b, 100), second);
	assert_int_equal(fi_av_remove(b->av, &second, 1, 0), 0);
	assert_int_equal(arrives(a, b, 100), FI_ADDR_NOTAVAIL);
}

/* Deferred datagrams are freed with their endpoint. */
static void closing_with_parked(void **state)
{
	cm_hold(false);
	send_to(a, 1, 0);
	run_device(a, NULL);
	cm_hold(true);
	post(b, MTU);
	send_to(a, 1, 100);
	run_device(a, NULL);
	nothing(b);
	close_end(b);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		EACH(which_way), EACH(datagrams), EACH(injected), EACH(at_random), EACH(full),
		EACH(cut), EACH(refused_by_device), EACH(model_sees), CASE(as_the_library, set_up, "direct"),
		EACH(nobody_waits), EACH(nobody_there), EACH(gone_while_asked),
		SOURCES(at_random), SOURCES(source), SOURCES(source_asked_for),
		SOURCES(source_unknown), SOURCES(source_twice), SOURCES(closing_with_parked),
		EACH_UD(which_way), EACH_UD(datagrams), EACH_UD(injected), EACH_UD(at_random), EACH_UD(full),
		EACH_UD(cut), EACH_UD(refused_by_device), UD_CASE(as_the_library, set_up_ud, "direct"),
		SOURCES_UD(at_random), SOURCES_UD(source),
	};

	return ended(start() ? SKIP : cmocka_run_group_tests(tests, NULL, NULL));
}
