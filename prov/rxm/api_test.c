/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * RDM over connected endpoints, through the public API, over tcp;ofi_rxm on loopback:
 * simultaneous connects, exhausted credits, peers that are killed and restarted.
 */
#include <arpa/inet.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/test/verify.h"

#include "base/clock.h"

#define LIMIT_MS 60000
#define MANY 6

struct node {
	struct fid_ep *ep;
	struct fid_cq *cq;
	struct fid_av *av;
	fi_addr_t to[MANY];
	struct sockaddr_in name;
	int received;		/* completions of receives */
};

static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_domain *domain;

static int open_all(const char *port)
{
	struct fi_info *hints = fi_allocinfo();
	int ret;

	hints->caps = FI_MSG | FI_TAGGED;
	hints->ep_attr->type = FI_EP_RDM;
	hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	hints->fabric_attr->prov_name = strdup("tcp;ofi_rxm");
	ret = fi_getinfo(FI_VERSION(2, 0), "127.0.0.1", port, FI_SOURCE, hints, &info);
	fi_freeinfo(hints);
	if (ret)
		return ret;
	ret = fi_fabric(info->fabric_attr, &fabric, NULL);
	return ret ? ret : fi_domain(fabric, info, &domain, NULL);
}

static void close_all(void)
{
	fi_close(&domain->fid);
	fi_close(&fabric->fid);
	fi_freeinfo(info);
}

static int node_open(struct node *n)
{
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_TAGGED, .wait_obj = FI_WAIT_UNSPEC };
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE };
	size_t len = sizeof(n->name);
	int ret;

	n->received = 0;
	ret = fi_cq_open(domain, &cq_attr, &n->cq, NULL);
	ret = ret ? ret : fi_av_open(domain, &av_attr, &n->av, NULL);
	ret = ret ? ret : fi_endpoint(domain, info, &n->ep, NULL);
	ret = ret ? ret : fi_ep_bind(n->ep, &n->cq->fid, FI_TRANSMIT | FI_RECV);
	ret = ret ? ret : fi_ep_bind(n->ep, &n->av->fid, 0);
	ret = ret ? ret : fi_enable(n->ep);
	return ret ? ret : fi_getname(&n->ep->fid, &n->name, &len);
}

static void node_close(struct node *n)
{
	assert_int_equal(fi_close(&n->ep->fid), 0);
	assert_int_equal(fi_close(&n->av->fid), 0);
	assert_int_equal(fi_close(&n->cq->fid), 0);
}

static void insert_all(struct node *n, int cnt)
{
	int i, j;

	for (i = 0; i < cnt; i++)
		for (j = 0; j < cnt; j++)
			assert_int_equal(fi_av_insert(n[i].av, &n[j].name, 1, &n[i].to[j], 0, NULL), 1);
}

/* poll_node - Returns how many completions there were; one with an error fails the test. */
static int poll_node(struct node *n)
{
	struct fi_cq_tagged_entry entry[16];
	struct fi_cq_err_entry err = { 0 };
	ssize_t got = fi_cq_read(n->cq, entry, 16), i;

	if (got == -FI_EAVAIL) {
		fi_cq_readerr(n->cq, &err, 0);
		fail_msg("an operation failed: %s", fi_strerror(err.err));
	}
	for (i = 0; i < got; i++)
		n->received += !!(entry[i].flags & FI_RECV);
	return got > 0 ? (int) got : 0;
}

static void wait_for(struct node *n, int cnt, int completions)
{
	uint64_t end = clock_deadline(LIMIT_MS);
	int i;

	while (completions > 0 && clock_ns() < end)
		for (i = 0; i < cnt; i++)
			completions -= poll_node(&n[i]);
	assert_int_equal(completions, 0);
}

/* Each endpoint sends to all, to itself too, before the first poll. */
static void simultaneous_connects_make_one_connection(void **state)
{
	int word[MANY][MANY], got[MANY][MANY];
	struct node n[MANY];
	int i, j, round;

	for (round = 0; round < 10; round++) {
		for (i = 0; i < MANY; i++)
			assert_int_equal(node_open(&n[i]), 0);
		insert_all(n, MANY);
		for (i = 0; i < MANY; i++)
			for (j = 0; j < MANY; j++) {
				word[i][j] = 100 * i + j;
				assert_int_equal(fi_trecv(n[j].ep, &got[i][j], sizeof(int), NULL,
							  FI_ADDR_UNSPEC, (uint64_t) i, 0, NULL), 0);
				assert_int_equal(fi_tsend(n[i].ep, &word[i][j], sizeof(int), NULL,
							  n[i].to[j], (uint64_t) i, NULL), 0);
			}
		wait_for(n, MANY, 2 * MANY * MANY);
		assert_memory_equal(word, got, sizeof(got));
		for (i = 0; i < MANY; i++)
			node_close(&n[i]);
	}
}

#define MESSAGES 300

static size_t message_len(int i)
{
	return i % 3 == 0 ? 8 : i % 3 == 1 ? 3000 : 40000;
}

/* Both send far more messages than there are credits, and post receives afterwards. */
static void both_sides_exhaust_the_credits(void **state)
{
	static uint8_t out[MESSAGES][40000], in[2][40000];
	uint64_t end = clock_deadline(LIMIT_MS);
	struct node n[2];
	int i, j, k, left = 2 * MESSAGES;
	ssize_t ret;

	for (i = 0; i < 2; i++)
		assert_int_equal(node_open(&n[i]), 0);
	insert_all(n, 2);
	for (i = 0; i < MESSAGES; i++) {
		memset(out[i], i, message_len(i));
		for (j = 0; j < 2; j++)
			do {
				ret = fi_tsend(n[j].ep, out[i], message_len(i), NULL, n[j].to[!j], 7,
					       NULL);
				for (k = 0; k < 2; k++)
					left -= poll_node(&n[k]);
			} while (ret == -FI_EAGAIN && clock_ns() < end);
	}
	for (i = 0; i < MESSAGES; i++) {
		for (j = 0; j < 2; j++)
			assert_int_equal(fi_trecv(n[j].ep, in[j], sizeof(in[j]), NULL, FI_ADDR_UNSPEC, 7,
						  0, NULL), 0);
		while ((n[0].received <= i || n[1].received <= i) && clock_ns() < end)
			for (k = 0; k < 2; k++)
				left -= poll_node(&n[k]);
		for (j = 0; j < 2; j++)
			assert_memory_equal(in[j], out[i], message_len(i));
	}
	left += 2 * MESSAGES;	/* the receives were counted, too */
	wait_for(n, 2, left);
	for (i = 0; i < 2; i++)
		node_close(&n[i]);
}

#define LARGE 30
#define LARGE_LEN 100000

/* Messages that are not received do not keep back one that is, whatever their number and length; they are
 * received as they were sent afterwards.
 */
static void unwanted_messages_let_others_pass(void **state)
{
	static uint8_t out[LARGE][LARGE_LEN], in[LARGE_LEN];
	uint64_t end = clock_deadline(LIMIT_MS);
	struct node n[2];
	char word[8] = "";
	int i, sent = 0;

	for (i = 0; i < 2; i++)
		assert_int_equal(node_open(&n[i]), 0);
	insert_all(n, 2);
	for (i = 0; i < LARGE; i++) {
		memset(out[i], 1 + i, LARGE_LEN);
		assert_int_equal(fi_tsend(n[0].ep, out[i], LARGE_LEN, NULL, n[0].to[1], (uint64_t) i,
					  NULL), 0);
	}
	assert_int_equal(fi_tsend(n[0].ep, "word", 5, NULL, n[0].to[1], 1000, NULL), 0);
	assert_int_equal(fi_trecv(n[1].ep, word, sizeof(word), NULL, FI_ADDR_UNSPEC, 1000, 0, NULL), 0);
	while (!n[1].received && clock_ns() < end) {
		sent += poll_node(&n[0]);
		poll_node(&n[1]);
	}
	assert_string_equal(word, "word");
	for (i = LARGE - 1; i >= 0; i--) {
		memset(in, 0, sizeof(in));
		assert_int_equal(fi_trecv(n[1].ep, in, LARGE_LEN, NULL, FI_ADDR_UNSPEC, (uint64_t) i, 0,
					  NULL), 0);
		while (n[1].received <= LARGE - i && clock_ns() < end) {
			sent += poll_node(&n[0]);
			poll_node(&n[1]);
		}
		assert_memory_equal(in, out[i], LARGE_LEN);
	}
	wait_for(n, 1, LARGE + 1 - sent);
	for (i = 0; i < 2; i++)
		node_close(&n[i]);
}

/* ---- processes ----------------------------------------------------------------------- */

/* serve - receive until killed, at @port (0: any); the address is written to @ready. */
static void serve(const char *port, int ready)
{
	static uint8_t buf[1 << 20];
	struct fi_cq_tagged_entry entry;
	struct node n;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (open_all(port) || node_open(&n) || write(ready, &n.name, sizeof(n.name)) < 0)
		_exit(1);
	for (;;) {
		if (fi_trecv(n.ep, buf, sizeof(buf), NULL, FI_ADDR_UNSPEC, 0, ~0ULL, NULL))
			_exit(2);
		while (fi_cq_sread(n.cq, &entry, 1, NULL, 1000) < 0)
			;
	}
}

static pid_t server_start(const char *self, const char *port, struct sockaddr_in *name)
{
	char fd[16];
	int ready[2];
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	snprintf(fd, sizeof(fd), "%d", ready[1]);
	pid = fork();
	if (!pid) {
		execl(self, self, "serve", fd, port, NULL);
		_exit(127);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], name, sizeof(*name)), sizeof(*name));
	close(ready[0]);
	return pid;
}

static void server_kill(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* deliver - a message with delivery completion.  Returns 0, or the error reported. */
static int deliver(struct node *n, fi_addr_t to, void *buf, size_t len)
{
	struct iovec iov = { buf, len };
	struct fi_msg_tagged msg = { .msg_iov = &iov, .iov_count = 1, .addr = to };
	uint64_t end = clock_deadline(LIMIT_MS);
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_tagged_entry entry;
	ssize_t ret;

	do {
		ret = fi_tsendmsg(n->ep, &msg, FI_DELIVERY_COMPLETE | FI_COMPLETION);
		if (ret)
			fi_cq_read(n->cq, NULL, 0);
	} while (ret == -FI_EAGAIN && clock_ns() < end);
	assert_int_equal(ret, 0);
	do {
		ret = fi_cq_sread(n->cq, &entry, 1, NULL, 100);
	} while (ret == -FI_EAGAIN && clock_ns() < end);
	if (ret == 1)
		return 0;
	assert_int_equal(ret, -FI_EAVAIL);
	assert_int_equal(fi_cq_readerr(n->cq, &err, 0), 1);
	return err.err;
}

static const char *program;

static void a_peer_is_restarted_at_its_address(void **state)
{
	static uint8_t big[1 << 20];
	struct sockaddr_in name;
	struct node n;
	char port[16];
	pid_t pid = server_start(program, "0", &name);
	int i, ret;

	snprintf(port, sizeof(port), "%u", ntohs(name.sin_port));
	assert_int_equal(node_open(&n), 0);
	assert_int_equal(fi_av_insert(n.av, &name, 1, &n.to[0], 0, NULL), 1);
	assert_int_equal(deliver(&n, n.to[0], big, 100), 0);
	for (i = 0; i < 5; i++) {
		server_kill(pid);
		pid = server_start(program, port, &name);
		/* sent on the old connection it fails, unless the loss is known already */
		ret = deliver(&n, n.to[0], big, i % 2 ? sizeof(big) : 100);
		assert_true(!ret || ret == FI_ECONNRESET);
		assert_int_equal(deliver(&n, n.to[0], big, sizeof(big)), 0);
	}
	server_kill(pid);
	ret = deliver(&n, n.to[0], big, sizeof(big));
	assert_true(ret == FI_ECONNRESET || ret == FI_ECONNREFUSED);
	assert_int_equal(deliver(&n, n.to[0], big, 100), FI_ECONNREFUSED);
	node_close(&n);
}

#define BURST 24

/* Each operation in flight to a peer that is killed completes once. */
static void each_operation_completes_once(void **state)
{
	static uint8_t big[1 << 20];
	struct fi_cq_tagged_entry entry;
	struct fi_cq_err_entry err = { 0 };
	struct sockaddr_in name;
	uint64_t end;
	struct node n;
	int seen[BURST], round, i, left;
	ssize_t ret;
	pid_t pid;

	for (round = 0; round < 8; round++) {
		pid = server_start(program, "0", &name);
		assert_int_equal(node_open(&n), 0);
		assert_int_equal(fi_av_insert(n.av, &name, 1, &n.to[0], 0, NULL), 1);
		memset(seen, 0, sizeof(seen));
		for (left = 0; left < BURST; left++)
			assert_int_equal(fi_tsend(n.ep, big, left % 2 ? sizeof(big) : 64, NULL, n.to[0],
						  1, &seen[left]), 0);
		for (i = 0; i < 400 * round; i++)
			fi_cq_read(n.cq, NULL, 0);
		server_kill(pid);
		end = clock_deadline(LIMIT_MS);
		while (left && clock_ns() < end) {
			ret = fi_cq_read(n.cq, &entry, 1);
			if (ret == -FI_EAVAIL && fi_cq_readerr(n.cq, &err, 0) == 1)
				entry.op_context = err.op_context;
			else if (ret != 1)
				continue;
			++*(int *) entry.op_context;
			left--;
		}
		for (i = 0; i < BURST; i++)
			assert_int_equal(seen[i], 1);
		node_close(&n);
	}
}

/* The peer makes no progress for much longer than the provider below waits for a connection.
 * Its timeout is set for a process of its own, see main().
 */
#define BELOW_MS "300"
#define COMPUTE_MS 1500

static void a_peer_without_progress_is_waited_for(void **state)
{
	uint64_t end = clock_deadline(COMPUTE_MS);
	struct sockaddr_in name;
	struct node n;
	int word = 7, sent = 0;
	pid_t pid = server_start(program, "0", &name);

	kill(pid, SIGSTOP);
	assert_int_equal(node_open(&n), 0);
	assert_int_equal(fi_av_insert(n.av, &name, 1, &n.to[0], 0, NULL), 1);
	assert_int_equal(fi_tsend(n.ep, &word, sizeof(word), NULL, n.to[0], 1, NULL), 0);
	while (clock_ns() < end)
		sent += poll_node(&n);
	kill(pid, SIGCONT);
	wait_for(&n, 1, 1 - sent);
	server_kill(pid);
	node_close(&n);
}

/* run_with - this program, with tests for which a variable has to be set first. */
static void run_with(const char *tests)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		execl(program, program, tests, (char *) NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void with_a_short_timeout_below(void **state)
{
	run_with("busy");
}

/* A program reads the completions of its sends, the first of which had to connect, and waits for its peer by
 * other means.
 */
static void a_burst_leaves_with_its_last_completion(void **state)
{
	uint64_t got[BURST], word = 7;
	struct node n[2];
	int i, sent = 0;

	assert_int_equal(node_open(&n[0]), 0);
	assert_int_equal(node_open(&n[1]), 0);
	insert_all(n, 2);
	for (i = 0; i < BURST; i++) {
		assert_int_equal(fi_trecv(n[1].ep, &got[i], sizeof(got[i]), NULL, FI_ADDR_UNSPEC, 1, 0, NULL), 0);
		assert_int_equal(fi_tsend(n[0].ep, &word, sizeof(word), NULL, n[0].to[1], 1, NULL), 0);
	}
	while (sent < BURST) {
		sent += poll_node(&n[0]);
		poll_node(&n[1]);
	}
	wait_for(&n[1], 1, BURST - n[1].received);
	node_close(&n[0]);
	node_close(&n[1]);
}

/* The format of others has no messages of several packets: each of them is one of the provider below. */
static void in_the_format_of_others(void **state)
{
	run_with("compatible");
}

static int setup(void **state)
{
	return open_all(NULL);
}

static int teardown(void **state)
{
	close_all();
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(simultaneous_connects_make_one_connection),
		cmocka_unit_test(both_sides_exhaust_the_credits),
		cmocka_unit_test(unwanted_messages_let_others_pass),
		cmocka_unit_test(a_peer_is_restarted_at_its_address),
		cmocka_unit_test(each_operation_completes_once),
		cmocka_unit_test(with_a_short_timeout_below),
		cmocka_unit_test(a_burst_leaves_with_its_last_completion),
		cmocka_unit_test(in_the_format_of_others),
	};
	const struct CMUnitTest compatible[] = {
		cmocka_unit_test(a_burst_leaves_with_its_last_completion),
	};
	const struct CMUnitTest busy[] = {
		cmocka_unit_test(a_peer_without_progress_is_waited_for),
	};

	setenv("FI_LOG_LEVEL", "none", 1);
	setenv("FI_OFI_RXM_LOCAL", "0", 0);	/* all connections are made below */
	if (argc == 4)
		serve(argv[3], atoi(argv[2]));
	program = argv[0];
	if (argc == 2 && !strcmp(argv[1], "compatible")) {
		setenv("FI_OFI_RXM_WIRE", "compatible", 1);
		if (!freopen("/dev/null", "w", stdout))	/* the outer test reports */
			return 1;
		return cmocka_run_group_tests(compatible, setup, teardown);
	}
	if (argc == 2 && !strcmp(argv[1], "busy")) {
		setenv("FI_TCP_CONN_TIMEOUT", BELOW_MS, 1);
		/* on a loaded machine a connection may be reset below, long after the attempt */
		setenv("FI_CONN_RETRY", "60000", 1);
		if (!freopen("/dev/null", "w", stdout))	/* the outer test reports */
			return 1;
		return cmocka_run_group_tests(busy, setup, teardown);
	}
	return cmocka_run_group_tests(tests, setup, teardown);
}
