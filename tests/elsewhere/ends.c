/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Two processes with connected endpoints that share a transmit context.  The one that receives closes
 * its endpoints as soon as it has the last message; every send of the other one succeeds all the same.
 * Where the one that answers requests closes, its answers over all connections come before the receives
 * that the end of one connection aborts.
 */
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/runtimes/rt.h"

#define EPS 4
#define ROUNDS 5
#define LEN_MAX (1 << 20)

/* One of the processes. */
static struct side {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_eq *eq;
	struct fid_cq *tx, *rx;
	struct fid_stx *stx;
	struct fid_ep *ep[EPS];
	char buf[EPS][LEN_MAX];
} side;

static struct fi_info *offer(const char *prov)
{
	struct fi_info *hints = rt_hints(), *info;

	hints->caps = FI_MSG;
	hints->mode = FI_CONTEXT | FI_CONTEXT2;
	hints->ep_attr->type = FI_EP_MSG;
	hints->ep_attr->tx_ctx_cnt = FI_SHARED_CONTEXT;
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	hints->fabric_attr->prov_name = strdup(prov);
	assert_int_equal(fi_getinfo(FI_VERSION(2, 6), "127.0.0.1", NULL, FI_SOURCE, hints, &info), 0);
	fi_freeinfo(hints);
	return info;
}

static void open_side(const char *prov)
{
	struct fi_eq_attr eq_attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_CONTEXT, .wait_obj = FI_WAIT_UNSPEC };

	side.info = offer(prov);
	assert_int_equal(fi_fabric(side.info->fabric_attr, &side.fabric, NULL), 0);
	assert_int_equal(fi_eq_open(side.fabric, &eq_attr, &side.eq, NULL), 0);
	assert_int_equal(fi_domain(side.fabric, side.info, &side.domain, NULL), 0);
	assert_int_equal(fi_cq_open(side.domain, &cq_attr, &side.tx, NULL), 0);
	assert_int_equal(fi_cq_open(side.domain, &cq_attr, &side.rx, NULL), 0);
	assert_int_equal(fi_stx_context(side.domain, side.info->tx_attr, &side.stx, NULL), 0);
}

static void open_ep(int i, struct fi_info *info, size_t len)
{
	assert_int_equal(fi_endpoint(side.domain, info, &side.ep[i], NULL), 0);
	assert_int_equal(fi_ep_bind(side.ep[i], &side.eq->fid, 0), 0);
	assert_int_equal(fi_ep_bind(side.ep[i], &side.stx->fid, 0), 0);
	assert_int_equal(fi_ep_bind(side.ep[i], &side.tx->fid, FI_TRANSMIT), 0);
	assert_int_equal(fi_ep_bind(side.ep[i], &side.rx->fid, FI_RECV), 0);
	assert_int_equal(fi_enable(side.ep[i]), 0);
	assert_int_equal(fi_recv(side.ep[i], side.buf[i], len, NULL, 0, NULL), 0);
}

static struct fi_info *event(uint32_t want)
{
	char room[512];
	uint32_t got;

	assert_true(fi_eq_sread(side.eq, &got, room, sizeof(room), 30000, 0) > 0);
	assert_int_equal(got, want);
	return ((struct fi_eq_cm_entry *) room)->info;
}

static void take(struct fid_cq *cq)
{
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_entry entry;
	ssize_t ret = fi_cq_sread(cq, &entry, 1, NULL, 30000);

	if (ret == -FI_EAVAIL)
		fi_cq_readerr(cq, &err, 0);
	assert_int_equal(err.err, 0);
	assert_int_equal(ret, 1);
}

/* ask - a request over each connection; EPS answers, for which one more receive is posted than they need. */
static void ask(void)
{
	struct fi_cq_err_entry err = { 0 };
	static char room[LEN_MAX];
	struct fi_cq_entry entry;
	ssize_t ret;
	int i;

	assert_int_equal(fi_recv(side.ep[0], room, LEN_MAX, NULL, 0, NULL), 0);
	for (i = 0; i < EPS; i++) {
		assert_int_equal(fi_send(side.ep[i], "go", 2, NULL, 0, NULL), 0);
		take(side.tx);
	}
	for (i = 0; i < EPS; i++) {
		while ((ret = fi_cq_read(side.rx, &entry, 1)) == -FI_EAGAIN)
			sched_yield();
		if (ret == -FI_EAVAIL)
			fi_cq_readerr(side.rx, &err, 0);
		assert_int_equal(err.err, 0);
		assert_int_equal(ret, 1);
	}
}

static void close_side(void)
{
	int i;

	for (i = 0; i < EPS; i++)
		assert_int_equal(fi_close(&side.ep[i]->fid), 0);
	assert_int_equal(fi_close(&side.stx->fid), 0);
	assert_int_equal(fi_close(&side.tx->fid), 0);
	assert_int_equal(fi_close(&side.rx->fid), 0);
	assert_int_equal(fi_close(&side.domain->fid), 0);
	assert_int_equal(fi_close(&side.eq->fid), 0);
	assert_int_equal(fi_close(&side.fabric->fid), 0);
	fi_freeinfo(side.info);
}

/* receive - listen, and write the address to @fd.  @asks: messages are answers to requests. */
static void receive(const char *prov, size_t len, int fd, bool asks)
{
	struct sockaddr_in addr;
	size_t addr_len = sizeof(addr);
	struct fid_pep *pep;
	struct fi_info *info;
	int i;

	open_side(prov);
	assert_int_equal(fi_passive_ep(side.fabric, side.info, &pep, NULL), 0);
	assert_int_equal(fi_pep_bind(pep, &side.eq->fid, 0), 0);
	assert_int_equal(fi_listen(pep), 0);
	assert_int_equal(fi_getname(&pep->fid, &addr, &addr_len), 0);
	assert_int_equal(write(fd, &addr, sizeof(addr)), sizeof(addr));
	for (i = 0; i < EPS; i++) {
		info = event(FI_CONNREQ);
		open_ep(i, info, len);
		fi_freeinfo(info);
		assert_int_equal(fi_accept(side.ep[i], NULL, 0), 0);
		event(FI_CONNECTED);
		assert_int_equal(write(fd, "", 1), 1);	/* the next request comes after this event */
	}
	if (asks)
		ask();
	for (i = 0; !asks && i < EPS; i++)
		take(side.rx);
	assert_int_equal(fi_close(&pep->fid), 0);
	close_side();
}

static void transmit(const char *prov, size_t len, int fd, bool asked)
{
	struct sockaddr_in addr;
	char connected;
	int i;

	assert_int_equal(read(fd, &addr, sizeof(addr)), sizeof(addr));
	open_side(prov);
	for (i = 0; i < EPS; i++) {
		open_ep(i, side.info, len);
		assert_int_equal(fi_connect(side.ep[i], &addr, NULL, 0), 0);
		event(FI_CONNECTED);
		assert_int_equal(read(fd, &connected, 1), 1);
	}
	for (i = 0; asked && i < EPS; i++)
		take(side.rx);
	for (i = 0; i < EPS; i++)
		assert_int_equal(fi_send(side.ep[i], side.buf[i], len, NULL, 0, NULL), 0);
	for (i = 0; i < EPS; i++)
		take(side.tx);
	close_side();
}

/* once - two processes, which exchange messages of @len bytes. */
static void once(const char *prov, size_t len, bool asks)
{
	int fd[2], status;
	pid_t pid;

	assert_int_equal(pipe(fd), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		receive(prov, len, fd[1], asks);
		_exit(0);
	}
	transmit(prov, len, fd[0], asks);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(fd[0]);
	close(fd[1]);
}

static void every_send_succeeds(void **state)
{
	static const size_t lens[] = { 10, 1000, 65536, LEN_MAX };
	int i;

	for (i = 0; i < ROUNDS * 4; i++)
		once(*state, lens[i % 4], false);
}

static void answers_come_before_the_end(void **state)
{
	int i;

	for (i = 0; i < ROUNDS * 2; i++)
		once(*state, 64, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ .name = "tcp", .test_func = every_send_succeeds, .initial_state = "tcp" },
		{ .name = "udp;ofi_rxd", .test_func = every_send_succeeds, .initial_state = "udp;ofi_rxd" },
		{ .name = "tcp: answers", .test_func = answers_come_before_the_end, .initial_state = "tcp" },
		{ .name = "udp;ofi_rxd: answers", .test_func = answers_come_before_the_end,
		  .initial_state = "udp;ofi_rxd" },
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
