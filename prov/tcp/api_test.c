/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The tcp provider through the public API, over loopback, between processes
 * where one of them has to die or to be slow.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "obj/test/log_catch.h"
#include "obj/test/calls.h"

#define BIG (4 << 20)

static enum fi_progress progress;
static int server_port;
static const char *prov_name = "tcp";

/* One of everything. */
struct node {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_eq *eq;
	struct fid_pep *pep;
	struct fid_ep *ep;
	struct sockaddr_in name;
	int port;		/* 0: any */
};

static struct fi_info *ask(enum fi_ep_type type, int port, uint64_t flags)
{
	struct fi_info *hints = fi_allocinfo(), *info;
	char service[16];

	snprintf(service, sizeof(service), "%d", port);
	hints->caps = FI_MSG | FI_TAGGED | FI_SOURCE | FI_DIRECTED_RECV;
	if (type == FI_EP_MSG)
		hints->caps = FI_MSG | FI_TAGGED;
	hints->ep_attr->type = type;
	hints->fabric_attr->prov_name = strdup(prov_name);
	hints->domain_attr->data_progress = progress;
	hints->domain_attr->control_progress = progress;
	CALL(fi_getinfo(FI_VERSION(1, 20), "127.0.0.1", service, flags, hints, &info));
	fi_freeinfo(hints);
	return info;
}

static void node_domain(struct node *n)
{
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_TAGGED, .wait_obj = FI_WAIT_UNSPEC };
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE };
	struct fi_eq_attr eq_attr = { .wait_obj = FI_WAIT_UNSPEC };

	CALL(fi_fabric(n->info->fabric_attr, &n->fabric, NULL));
	CALL(fi_domain(n->fabric, n->info, &n->domain, NULL));
	CALL(fi_cq_open(n->domain, &cq_attr, &n->cq, NULL));
	CALL(fi_eq_open(n->fabric, &eq_attr, &n->eq, NULL));
	if (n->info->ep_attr->type == FI_EP_RDM)
		CALL(fi_av_open(n->domain, &av_attr, &n->av, NULL));
}

static void node_endpoint(struct node *n, struct fi_info *info)
{
	CALL(fi_endpoint(n->domain, info, &n->ep, NULL));
	CALL(fi_ep_bind(n->ep, &n->cq->fid, FI_SEND | FI_RECV));
	if (n->av)
		CALL(fi_ep_bind(n->ep, &n->av->fid, 0));
	else
		CALL(fi_ep_bind(n->ep, &n->eq->fid, 0));
}

static struct node rdm_open(int port)
{
	struct node n = { .port = port };
	size_t len = sizeof(n.name);

	n.info = ask(FI_EP_RDM, port, FI_SOURCE);
	node_domain(&n);
	node_endpoint(&n, n.info);
	CALL(fi_enable(n.ep));
	CALL(fi_getname(&n.ep->fid, &n.name, &len));
	return n;
}

static void node_close(struct node *n)
{
	if (n->ep)
		CALL(fi_close(&n->ep->fid));
	if (n->pep)
		CALL(fi_close(&n->pep->fid));
	if (n->av)
		CALL(fi_close(&n->av->fid));
	CALL(fi_close(&n->cq->fid));
	CALL(fi_close(&n->eq->fid));
	CALL(fi_close(&n->domain->fid));
	CALL(fi_close(&n->fabric->fid));
	fi_freeinfo(n->info);
}

static fi_addr_t insert(struct node *n, const struct sockaddr_in *name)
{
	fi_addr_t addr;

	CHECK(fi_av_insert(n->av, name, 1, &addr, 0, NULL) == 1);
	return addr;
}

/* reap - one completion; its error as a positive number, or 0. */
static int reap(struct node *n, struct fi_cq_tagged_entry *entry, int timeout_ms)
{
	uint64_t end = now_ms() + (uint64_t) timeout_ms;
	struct fi_cq_err_entry err = { 0 };
	ssize_t ret;

	do {
		ret = fi_cq_read(n->cq, entry, 1);
		if (ret == 1)
			return 0;
		if (ret == -FI_EAVAIL) {
			CHECK(fi_cq_readerr(n->cq, &err, 0) == 1);
			entry->op_context = err.op_context;
			return err.err;
		}
		CHECK(ret == -FI_EAGAIN);
		if (!timeout_ms)
			return FI_EAGAIN;
	} while (now_ms() < end);
	return FI_EAGAIN;
}

/* again - repeat a call until it is taken. */
#define AGAIN(n, call)								\
	do {									\
		struct fi_cq_tagged_entry none_;				\
		ssize_t r_;							\
		while ((r_ = (call)) == -FI_EAGAIN)				\
			CHECK(reap((n), &none_, 0) == FI_EAGAIN);		\
		CALL(r_);							\
	} while (0)

static void fill(uint8_t *buf, size_t len, unsigned key)
{
	size_t i;

	for (i = 0; i < len; i++)
		buf[i] = (uint8_t) (key + i * 31 + (i >> 9));
}

static void check(const uint8_t *buf, size_t len, unsigned key)
{
	size_t i;

	for (i = 0; i < len; i++)
		CHECK(buf[i] == (uint8_t) (key + i * 31 + (i >> 9)));
}

static const size_t sizes[] = {
	0, 1, 7, 8, 64, 127, 128, 129, 1000, 4096, 8150, 8192, 16384, 65535, 65536, 65537,
	100000, 1 << 20, (1 << 20) + 1, 3000000, BIG,
};
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

/* swap - both sides send everything to each other, half of it before the other side
 * has a receive for it.
 */
static void swap(struct node *n, fi_addr_t to, unsigned mine, unsigned theirs)
{
	struct fi_cq_tagged_entry entry;
	uint8_t *out = malloc(BIG), *in = malloc(BIG);
	int sent, got;
	size_t i;

	for (i = 0; i < 2 * SIZES; i++) {
		size_t len = sizes[i % SIZES];
		bool early = i >= SIZES;

		fill(out, len, mine + (unsigned) i);
		memset(in, 0, len);
		if (early)
			AGAIN(n, fi_trecv(n->ep, in, BIG, NULL, to, 100 + i, 0, in));
		AGAIN(n, fi_tsend(n->ep, out, len, NULL, to, 100 + i, out));
		if (!early)
			AGAIN(n, fi_trecv(n->ep, in, BIG, NULL, to, 100 + i, 0, in));
		for (sent = got = 0; sent + got < 2;) {
			CHECK(!reap(n, &entry, 20000));
			if (entry.op_context == out) {
				sent++;
			} else {
				CHECK(entry.op_context == in && entry.len == len);
				CHECK(entry.tag == 100 + i);
				got++;
			}
		}
		check(in, len, theirs + (unsigned) i);
	}
	free(out);
	free(in);
}

static const char *program;	/* this one, to run it again */

/* A child is a new run of this program, so that it has none of its threads. */
struct child {
	const char *name;
	void (*run)(int in, int out);
};

static const struct child children[5];

static pid_t spawn(const char *name, int *in_p, int *out_p)
{
	char in[12], out[12], how[12], port[12];
	char *argv[] = { "api_test", (char *) name, in, out, how, port, (char *) prov_name, NULL };
	int to[2], from[2];
	pid_t pid;

	CHECK(!pipe(to) && !pipe(from));
	fcntl(to[1], F_SETFD, FD_CLOEXEC);
	fcntl(from[0], F_SETFD, FD_CLOEXEC);
	snprintf(in, sizeof(in), "%d", to[0]);
	snprintf(out, sizeof(out), "%d", from[1]);
	snprintf(how, sizeof(how), "%d", progress);
	snprintf(port, sizeof(port), "%d", server_port);
	CHECK(!posix_spawn(&pid, program, NULL, NULL, argv, environ));
	close(to[0]);
	close(from[1]);
	*in_p = from[0];
	*out_p = to[1];
	return pid;
}

static int child_main(char **argv)
{
	const struct child *child = children;

	prctl(PR_SET_PDEATHSIG, SIGKILL);	/* a parent that failed does not leave us here */
	progress = (enum fi_progress) atoi(argv[4]);
	server_port = atoi(argv[5]);
	prov_name = argv[6];
	while (strcmp(child->name, argv[1]))
		child++;
	child->run(atoi(argv[2]), atoi(argv[3]));
	return 0;
}

static void join(pid_t pid, int in, int out)
{
	int status;

	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
	close(in);
	close(out);
}

static struct sockaddr_in trade(int in, int out, const struct sockaddr_in *mine)
{
	struct sockaddr_in theirs;

	CHECK(write(out, mine, sizeof(*mine)) == sizeof(*mine));
	CHECK(read(in, &theirs, sizeof(theirs)) == sizeof(theirs));
	return theirs;
}

static void sync_up(int in, int out)
{
	char byte = 0;

	CHECK(write(out, &byte, 1) == 1);
	CHECK(read(in, &byte, 1) == 1);
}

/* ---- RDM --------------------------------------------------------------------------- */

static void swap_rdm(int in, int out, unsigned mine, unsigned theirs)
{
	struct node n = rdm_open(0);
	struct sockaddr_in other = trade(in, out, &n.name);

	swap(&n, insert(&n, &other), mine, theirs);
	node_close(&n);
}

static void swap_rdm_child(int in, int out)
{
	swap_rdm(in, out, 5, 77);
}

static void rdm_carries_every_size(void **state)
{
	int in, out;
	pid_t pid = spawn("swap_rdm_child", &in, &out);

	swap_rdm(in, out, 77, 5);
	join(pid, in, out);
}

static void inject_child(int in, int out)
{
	struct sockaddr_in none = { 0 }, other = trade(in, out, &none);
	uint32_t i;

	for (i = 0; i < 20; i++) {
		struct node n = rdm_open(0);
		fi_addr_t to = insert(&n, &other);

		AGAIN(&n, fi_inject(n.ep, &i, sizeof(i), to));
		node_close(&n);		/* at once */
	}
}

static void the_last_inject_arrives(void **state)
{
	struct fi_cq_tagged_entry entry;
	struct node n = rdm_open(0);
	uint32_t got[20];
	uint64_t all = 0;
	int in, out, i;
	pid_t pid;

	for (i = 0; i < 20; i++)
		CALL(fi_recv(n.ep, &got[i], sizeof(got[i]), NULL, FI_ADDR_UNSPEC, &got[i]));
	pid = spawn("inject_child", &in, &out);
	trade(in, out, &n.name);
	for (i = 0; i < 20; i++) {
		CHECK(!reap(&n, &entry, 10000));
		all |= UINT64_C(1) << *(uint32_t *) entry.op_context;
	}
	assert_int_equal(all, (1 << 20) - 1);
	join(pid, in, out);
	node_close(&n);
}

/* read_sends - the completions of @cnt sends, and no poll after the last one. */
static void read_sends(struct node *n, int cnt)
{
	struct fi_cq_tagged_entry entry;
	ssize_t ret;

	while (cnt) {
		ret = fi_cq_read(n->cq, &entry, 1);
		CHECK(ret == 1 || ret == -FI_EAGAIN);
		cnt -= ret == 1;
	}
}

/* Under manual progress the sender ends with the completion of its last send. */
static void a_burst_leaves_with_its_last_completion(void **state)
{
	enum { ROUNDS = 20, BURST = 16 };
	enum fi_progress was = progress;
	struct fi_cq_tagged_entry entry;
	struct node a, b;
	uint64_t got[BURST];
	fi_addr_t to;
	int i, k;

	progress = FI_PROGRESS_MANUAL;
	a = rdm_open(0);
	progress = FI_PROGRESS_AUTO;
	b = rdm_open(0);
	to = insert(&a, &b.name);
	for (i = 0; i < ROUNDS; i++) {
		for (k = 0; k < BURST; k++)
			CALL(fi_recv(b.ep, &got[k], sizeof(got[k]), NULL, FI_ADDR_UNSPEC, &got[k]));
		for (k = 0; k < BURST; k++)
			AGAIN(&a, fi_send(a.ep, &k, sizeof(k), NULL, to, &a));
		read_sends(&a, BURST);
		for (k = 0; k < BURST; k++)
			CHECK(!reap(&b, &entry, 60000));
	}
	node_close(&a);
	node_close(&b);
	progress = was;
}

static void sixty_four_endpoints(void **state)
{
	enum { N = 64 };
	struct fi_cq_tagged_entry entry;
	struct node n = rdm_open(0);
	struct fid_ep *ep[N];
	fi_addr_t addr[N];
	static uint64_t in[N][N];
	size_t len;
	int i, k;

	CALL(fi_close(&n.ep->fid));
	for (i = 0; i < N; i++) {
		node_endpoint(&n, n.info);
		ep[i] = n.ep;
		CALL(fi_enable(ep[i]));
		len = sizeof(n.name);
		CALL(fi_getname(&ep[i]->fid, &n.name, &len));
		addr[i] = insert(&n, &n.name);
	}
	for (i = 0; i < N; i++)
		for (k = 0; k < N; k++)
			AGAIN(&n, fi_trecv(ep[i], &in[i][k], 8, NULL, addr[k], 7, 0, NULL));
	for (i = 0; i < N; i++)
		for (k = 0; k < N; k++) {
			uint64_t word = (uint64_t) (i * 1000 + k);
			ssize_t ret;

			while ((ret = fi_tinject(ep[i], &word, 8, addr[k], 7)) == -FI_EAGAIN)
				reap(&n, &entry, 0);
			CALL(ret);
		}
	for (i = 0; i < N * N; i++)
		CHECK(!reap(&n, &entry, 20000));
	for (i = 0; i < N; i++)
		for (k = 0; k < N; k++)
			assert_int_equal(in[i][k], k * 1000 + i);
	for (i = 0; i < N - 1; i++)
		CALL(fi_close(&ep[i]->fid));
	n.ep = ep[N - 1];
	node_close(&n);
}

/* ---- peers that die ------------------------------------------------------------------ */

static void victim(int in, int out)
{
	struct node n = rdm_open(0);
	struct fi_cq_tagged_entry entry;
	char byte;

	trade(in, out, &n.name);
	CALL(fi_recv(n.ep, &byte, 1, NULL, FI_ADDR_UNSPEC, &byte));
	CHECK(!reap(&n, &entry, 10000));
	sync_up(in, out);
	for (;;)
		reap(&n, &entry, 1000);
}

static void a_killed_peer_ends_what_waits_for_it(void **state)
{
	struct fi_cq_tagged_entry entry;
	struct node n = rdm_open(0);
	uint8_t *big = calloc(1, BIG);
	uint64_t began;
	int in, out, err, i;
	struct sockaddr_in other;
	fi_addr_t to;
	pid_t pid;

	pid = spawn("victim", &in, &out);
	other = trade(in, out, &n.name);
	to = insert(&n, &other);
	AGAIN(&n, fi_send(n.ep, big, 1, NULL, to, big));
	CHECK(!reap(&n, &entry, 10000));
	sync_up(in, out);
	/* no receive is posted for these: they wait for the peer */
	for (i = 0; i < 3; i++)
		AGAIN(&n, fi_tsend(n.ep, big, BIG, NULL, to, 5, big));
	assert_int_equal(reap(&n, &entry, 50), FI_EAGAIN);
	kill(pid, SIGKILL);
	began = now_ms();
	for (i = 0; i < 3; i++) {
		err = reap(&n, &entry, 5000);
		assert_true(err == FI_ECONNRESET || err == FI_ENOTCONN);
		assert_ptr_equal(entry.op_context, big);
	}
	assert_true(now_ms() - began < 2000);
	waitpid(pid, NULL, 0);
	/* and later ones end, too: no endpoint listens there any more */
	AGAIN(&n, fi_send(n.ep, big, 1, NULL, to, big));
	assert_int_equal(reap(&n, &entry, 10000), FI_ECONNREFUSED);
	close(in);
	close(out);
	free(big);
	node_close(&n);
}

/* An orderly close is reported only to operations that still wait for the peer. */
static void the_log_says_who_was_lost(void **state)
{
	struct fi_cq_tagged_entry entry;
	struct node n = rdm_open(0);
	char text[64], *big = calloc(1, BIG);
	struct sockaddr_in other;
	int in, out;
	fi_addr_t to;
	pid_t pid;

	for (int waiting = 0; waiting < 2; waiting++) {
		pid = spawn("victim", &in, &out);
		other = trade(in, out, &n.name);
		to = insert(&n, &other);
		AGAIN(&n, fi_send(n.ep, big, 1, NULL, to, big));
		CHECK(!reap(&n, &entry, 10000));
		sync_up(in, out);
		if (waiting)
			AGAIN(&n, fi_tsend(n.ep, big, BIG, NULL, to, 5, big));
		assert_int_equal(reap(&n, &entry, 50), FI_EAGAIN);
		CALL(catch_start());
		caught.quiet_from = FI_LOG_TRACE;
		kill(pid, SIGKILL);
		assert_int_equal(reap(&n, &entry, 500), waiting ? FI_ECONNRESET : FI_EAGAIN);
		catch_stop();
		snprintf(text, sizeof(text), "127.0.0.1:%d", ntohs(other.sin_port));
		assert_int_equal(catch_find(text) != NULL, waiting);
		waitpid(pid, NULL, 0);
		close(in);
		close(out);
	}
	free(big);
	node_close(&n);
}

static void server(int in, int out)
{
	struct node n = rdm_open(server_port);
	struct fi_cq_tagged_entry entry;
	uint64_t word = 0;

	CALL(fi_recv(n.ep, &word, 8, NULL, FI_ADDR_UNSPEC, &word));
	trade(in, out, &n.name);
	CHECK(!reap(&n, &entry, 10000));
	CHECK(write(out, &word, 8) == 8);
	pause();
}

static void a_restarted_server_is_reached_again(void **state)
{
	struct fi_cq_tagged_entry entry;
	struct node n = rdm_open(0);
	struct sockaddr_in name;
	fi_addr_t to = FI_ADDR_UNSPEC;
	uint64_t i, word, tries;
	int in, out, err;
	pid_t pid;

	server_port = 0;
	for (i = 0; i < 4; i++) {
		pid = spawn("server", &in, &out);
		name = trade(in, out, &n.name);
		if (to == FI_ADDR_UNSPEC)
			to = insert(&n, &name);
		server_port = ntohs(name.sin_port);
		/* the first try after a crash may report that the old one is gone */
		for (tries = 0, err = -1; err; tries++) {
			assert_true(tries < 3);
			AGAIN(&n, fi_send(n.ep, &i, 8, NULL, to, &i));
			err = reap(&n, &entry, 10000);
			assert_int_not_equal(err, FI_EAGAIN);
		}
		CHECK(read(in, &word, 8) == 8);
		assert_int_equal(word, i);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		close(in);
		close(out);
	}
	node_close(&n);
}

/* ---- MSG ------------------------------------------------------------------------------- */

static uint32_t event(struct node *n, struct fi_eq_cm_entry *entry, size_t size, ssize_t *len_p)
{
	uint32_t what = 0;

	*len_p = fi_eq_sread(n->eq, &what, entry, size, 10000, 0);
	if (*len_p == -FI_EAVAIL)
		return UINT32_MAX;
	CHECK(*len_p >= (ssize_t) sizeof(*entry));
	*len_p -= (ssize_t) sizeof(*entry);
	return what;
}

union cm_event {
	struct fi_eq_cm_entry entry;
	uint8_t room[sizeof(struct fi_eq_cm_entry) + 512];
};

static void listen_node(struct node *n)
{
	size_t len = sizeof(n->name);

	n->info = ask(FI_EP_MSG, 0, FI_SOURCE);
	node_domain(n);
	CALL(fi_passive_ep(n->fabric, n->info, &n->pep, NULL));
	CALL(fi_pep_bind(n->pep, &n->eq->fid, 0));
	CALL(fi_listen(n->pep));
	CALL(fi_getname(&n->pep->fid, &n->name, &len));
}

static void msg_server(int in, int out)
{
	struct node n = { 0 };
	union cm_event ev;
	ssize_t len;

	listen_node(&n);
	trade(in, out, &n.name);
	CHECK(event(&n, &ev.entry, sizeof(ev), &len) == FI_CONNREQ);
	CHECK(len == 6 && !memcmp(ev.entry.data, "hello?", 6));
	CALL(fi_reject(n.pep, ev.entry.info->handle, "never", 5));
	fi_freeinfo(ev.entry.info);
	CHECK(event(&n, &ev.entry, sizeof(ev), &len) == FI_CONNREQ);
	CHECK(len == 6 && !memcmp(ev.entry.data, "please", 6));
	node_endpoint(&n, ev.entry.info);
	fi_freeinfo(ev.entry.info);
	CALL(fi_accept(n.ep, "welcome", 7));
	CHECK(event(&n, &ev.entry, sizeof(ev), &len) == FI_CONNECTED);
	CHECK(ev.entry.fid == &n.ep->fid);
	swap(&n, FI_ADDR_UNSPEC, 1, 2);
	CHECK(event(&n, &ev.entry, sizeof(ev), &len) == FI_SHUTDOWN);
	CHECK(ev.entry.fid == &n.ep->fid);
	node_close(&n);
}

static void msg_connects_talks_and_shuts_down(void **state)
{
	struct fi_eq_err_entry err = { 0 };
	struct node n = { 0 };
	union cm_event ev;
	struct sockaddr_in to;
	int in, out;
	ssize_t len;
	pid_t pid = spawn("msg_server", &in, &out);

	to = trade(in, out, &n.name);
	n.info = ask(FI_EP_MSG, ntohs(to.sin_port), 0);
	assert_non_null(n.info->dest_addr);
	node_domain(&n);
	node_endpoint(&n, n.info);
	CALL(fi_connect(n.ep, &to, "hello?", 6));
	assert_int_equal(event(&n, &ev.entry, sizeof(ev), &len), UINT32_MAX);
	assert_true(fi_eq_readerr(n.eq, &err, 0) > 0);
	assert_int_equal(err.err, FI_ECONNREFUSED);
	assert_int_equal(err.err_data_size, 5);
	assert_memory_equal(err.err_data, "never", 5);
	CALL(fi_close(&n.ep->fid));

	node_endpoint(&n, n.info);
	CALL(fi_connect(n.ep, n.info->dest_addr, "please", 6));
	assert_int_equal(event(&n, &ev.entry, sizeof(ev), &len), FI_CONNECTED);
	assert_int_equal(len, 7);
	assert_memory_equal(ev.entry.data, "welcome", 7);
	swap(&n, FI_ADDR_UNSPEC, 2, 1);
	CALL(fi_shutdown(n.ep, 0));
	join(pid, in, out);
	node_close(&n);
}

/* ---- names ------------------------------------------------------------------------------ */

static void offers_have_the_names_that_programs_ask_for(void **state)
{
	struct fi_info *info = ask(FI_EP_RDM, 0, FI_SOURCE);

	assert_int_equal(info->ep_attr->protocol, FI_PROTO_XNET);
	assert_string_equal(info->fabric_attr->prov_name, "tcp");
	assert_string_equal(info->domain_attr->name, "lo");
	assert_true(info->domain_attr->cq_data_size >= 4);
	fi_freeinfo(info);
	info = ask(FI_EP_MSG, 0, FI_SOURCE);
	assert_int_equal(info->ep_attr->protocol, FI_PROTO_SOCK_TCP);
	fi_freeinfo(info);
	prov_name = "sockets";
	info = ask(FI_EP_RDM, 0, FI_SOURCE);
	assert_int_equal(info->ep_attr->protocol, FI_PROTO_SOCK_TCP);
	assert_string_equal(info->fabric_attr->prov_name, "sockets");
	fi_freeinfo(info);
	rdm_carries_every_size(state);
	prov_name = "tcp";
}

/* Open MPI asks for all and looks for the name afterwards; the rest must not get sockets first. */
static void sockets_is_the_last_of_all(void **state)
{
	struct fi_info *info, *cur;
	bool seen = false;

	CALL(fi_getinfo(FI_VERSION(1, 20), NULL, NULL, 0, NULL, &info));
	for (cur = info; cur; cur = cur->next) {
		assert_true(!seen || !strcmp(cur->fabric_attr->prov_name, "sockets"));
		seen |= !strcmp(cur->fabric_attr->prov_name, "sockets");
		assert_null(strstr(cur->fabric_attr->prov_name, "sockets;"));
	}
	assert_true(seen);
	fi_freeinfo(info);
}

static int with_manual(void **state)
{
	progress = FI_PROGRESS_MANUAL;
	return 0;
}

static int with_auto(void **state)
{
	progress = FI_PROGRESS_AUTO;
	return 0;
}

#define MANUAL(name) { #name " (manual)", name, with_manual, NULL, NULL }
#define AUTO(name) { #name " (auto)", name, with_auto, NULL, NULL }

static const struct child children[5] = {
	{ "swap_rdm_child", swap_rdm_child },
	{ "inject_child", inject_child },
	{ "victim", victim },
	{ "server", server },
	{ "msg_server", msg_server },
};

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sockets_is_the_last_of_all),
		MANUAL(rdm_carries_every_size),
		AUTO(rdm_carries_every_size),
		MANUAL(msg_connects_talks_and_shuts_down),
		AUTO(msg_connects_talks_and_shuts_down),
		MANUAL(the_last_inject_arrives),
		AUTO(the_last_inject_arrives),
		MANUAL(a_burst_leaves_with_its_last_completion),
		MANUAL(sixty_four_endpoints),
		AUTO(sixty_four_endpoints),
		MANUAL(a_killed_peer_ends_what_waits_for_it),
		AUTO(a_killed_peer_ends_what_waits_for_it),
		MANUAL(the_log_says_who_was_lost),
		MANUAL(a_restarted_server_is_reached_again),
		AUTO(a_restarted_server_is_reached_again),
		AUTO(offers_have_the_names_that_programs_ask_for),
	};

	setenv("FI_TCP_LOCAL", "0", 0);	/* over TCP, unless the environment says otherwise */
	signal(SIGPIPE, SIG_IGN);
	program = argv[0];
	if (argc > 1)
		return child_main(argv);
	return cmocka_run_group_tests_name("tcp", tests, NULL, NULL);
}
