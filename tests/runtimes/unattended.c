/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * unattended - what fi_getinfo() answers for progress, and that FI_PROGRESS_AUTO means what
 * fi_domain(3) says: every kind of operation completes while the process of its target computes
 * and makes no call.  Where the answer is FI_PROGRESS_MANUAL the library has no thread.
 *
 * The target is a process of its own.  It posts its receives, tells its name, and then waits for
 * a byte in a pipe until the initiator has completed all operations.
 */
#include "rt.h"

#include <dirent.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BIG (1 << 20)
#define KEY 7
#define PATIENCE_S 60

struct side {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_ep *ep;
	struct fid_mr *mr;
	char *mem;			/* BIG bytes, of which the region consists */
};

/* What the target tells the initiator. */
struct intro {
	char name[256];
	size_t len;
	uint64_t addr, key;
};

static const struct row {
	const char *prov;
	enum fi_progress asked;		/* data_progress of the hints */
	enum fi_progress answer;	/* data_progress and control_progress */
} rows[] = {
	{ "tcp", FI_PROGRESS_UNSPEC, FI_PROGRESS_AUTO },
	{ "sockets", FI_PROGRESS_UNSPEC, FI_PROGRESS_AUTO },
	{ "shm", FI_PROGRESS_UNSPEC, FI_PROGRESS_MANUAL },
	{ "udp;ofi_rxd", FI_PROGRESS_UNSPEC, FI_PROGRESS_MANUAL },
	{ "tcp;ofi_rxm", FI_PROGRESS_UNSPEC, FI_PROGRESS_MANUAL },
	{ "tcp", FI_PROGRESS_AUTO, FI_PROGRESS_AUTO },
	{ "shm", FI_PROGRESS_AUTO, FI_PROGRESS_AUTO },
	{ "udp;ofi_rxd", FI_PROGRESS_AUTO, FI_PROGRESS_AUTO },
	{ "tcp;ofi_rxm", FI_PROGRESS_AUTO, FI_PROGRESS_AUTO },
	{ "tcp", FI_PROGRESS_MANUAL, FI_PROGRESS_MANUAL },
	{ "shm", FI_PROGRESS_MANUAL, FI_PROGRESS_MANUAL },
	{ "udp;ofi_rxd", FI_PROGRESS_MANUAL, FI_PROGRESS_MANUAL },
	{ "tcp;ofi_rxm", FI_PROGRESS_MANUAL, FI_PROGRESS_MANUAL },
};

/* ---- both sides ---------------------------------------------------------------------- */

static struct fi_info *find_info(const struct row *row)
{
	struct fi_info *hints = rt_hints(), *info;

	hints->caps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC;
	hints->ep_attr->type = FI_EP_RDM;
	hints->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	hints->domain_attr->data_progress = row->asked;
	hints->fabric_attr->prov_name = strdup(row->prov);
	assert_int_equal(fi_getinfo(FI_VERSION(1, 18), strcmp(row->prov, "shm") ? "127.0.0.1" : NULL,
				    NULL, strcmp(row->prov, "shm") ? FI_SOURCE : 0, hints, &info), 0);
	fi_freeinfo(hints);
	return info;
}

static void open_side(struct side *s, const struct row *row)
{
	struct fi_cq_attr cq = { .format = FI_CQ_FORMAT_TAGGED };
	struct fi_av_attr av = { 0 };

	s->info = find_info(row);
	s->mem = calloc(1, BIG);
	assert_non_null(s->mem);
	assert_int_equal(fi_fabric(s->info->fabric_attr, &s->fabric, NULL), 0);
	assert_int_equal(fi_domain(s->fabric, s->info, &s->domain, NULL), 0);
	assert_int_equal(fi_av_open(s->domain, &av, &s->av, NULL), 0);
	assert_int_equal(fi_cq_open(s->domain, &cq, &s->cq, NULL), 0);
	assert_int_equal(fi_endpoint(s->domain, s->info, &s->ep, NULL), 0);
	assert_int_equal(fi_ep_bind(s->ep, &s->av->fid, 0), 0);
	assert_int_equal(fi_ep_bind(s->ep, &s->cq->fid, FI_TRANSMIT | FI_RECV), 0);
	assert_int_equal(fi_enable(s->ep), 0);
	assert_int_equal(fi_mr_reg(s->domain, s->mem, BIG, FI_SEND | FI_RECV | FI_READ | FI_WRITE |
				   FI_REMOTE_READ | FI_REMOTE_WRITE, 0, KEY, 0, &s->mr, NULL), 0);
}

static void close_side(struct side *s)
{
	fi_close(&s->ep->fid);
	fi_close(&s->mr->fid);
	fi_close(&s->cq->fid);
	fi_close(&s->av->fid);
	fi_close(&s->domain->fid);
	fi_close(&s->fabric->fid);
	fi_freeinfo(s->info);
	free(s->mem);
}

/* ---- the target ---------------------------------------------------------------------- */

static int run_target(const struct row *row, int tell, int wake)
{
	struct intro intro = { .len = sizeof(intro.name) };
	struct side s = { 0 };
	char byte;

	open_side(&s, row);
	for (int i = 0; i < 2; i++) {
		if (fi_recv(s.ep, s.mem, BIG, fi_mr_desc(s.mr), FI_ADDR_UNSPEC, NULL) ||
		    fi_trecv(s.ep, s.mem, BIG, fi_mr_desc(s.mr), FI_ADDR_UNSPEC, 1, 0, NULL))
			return 1;
	}
	if (fi_getname(&s.ep->fid, intro.name, &intro.len))
		return 1;
	intro.key = fi_mr_key(s.mr);
	intro.addr = s.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t) s.mem : 0;
	if (write(tell, &intro, sizeof(intro)) != sizeof(intro) || read(wake, &byte, 1) < 0)
		return 1;
	close_side(&s);
	return 0;
}

/* ---- the initiator ------------------------------------------------------------------- */

/* await - the completion of @what.  The time is for a target that never answers. */
static void await(struct side *s, const char *what, ssize_t posted)
{
	struct fi_cq_tagged_entry entry;
	time_t end = time(NULL) + PATIENCE_S;
	ssize_t ret;

	if (posted)
		fail_msg("%s: %s", what, fi_strerror((int) -posted));
	while ((ret = fi_cq_read(s->cq, &entry, 1)) == -FI_EAGAIN && time(NULL) < end)
		;
	if (ret != 1)
		fail_msg("%s: %s", what, ret == -FI_EAGAIN ? "the target makes no progress" :
							     fi_strerror((int) -ret));
}

static void run_all(struct side *s, const struct intro *intro)
{
	void *desc = fi_mr_desc(s->mr);
	fi_addr_t to;
	char *mem = s->mem, *result = s->mem + 64;

	assert_int_equal(fi_av_insert(s->av, intro->name, 1, &to, 0, NULL), 1);
	await(s, "send", fi_send(s->ep, mem, 8, desc, to, NULL));
	await(s, "long send", fi_send(s->ep, mem, BIG, desc, to, NULL));
	await(s, "tagged send", fi_tsend(s->ep, mem, 8, desc, to, 1, NULL));
	await(s, "long tagged send", fi_tsend(s->ep, mem, BIG, desc, to, 1, NULL));
	await(s, "write", fi_write(s->ep, mem, BIG, desc, to, intro->addr, intro->key, NULL));
	await(s, "read", fi_read(s->ep, mem, BIG, desc, to, intro->addr, intro->key, NULL));
	await(s, "atomic", fi_atomic(s->ep, mem, 1, desc, to, intro->addr, intro->key, FI_UINT64,
				     FI_SUM, NULL));
	await(s, "fetching atomic", fi_fetch_atomic(s->ep, mem, 1, desc, result, desc, to, intro->addr,
						    intro->key, FI_UINT64, FI_SUM, NULL));
}

/* ---- the cases ----------------------------------------------------------------------- */

static int count_threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	int cnt = 0;

	assert_non_null(dir);
	for (struct dirent *e; (e = readdir(dir)); )
		cnt += e->d_name[0] != '.';
	closedir(dir);
	return cnt;
}

/* Where progress is manual, an enabled endpoint has no thread beside it. */
static void check_threads(const struct row *row)
{
	int before = count_threads();
	struct side s = { 0 };

	open_side(&s, row);
	assert_int_equal(s.info->domain_attr->data_progress, row->answer);
	assert_int_equal(s.info->domain_attr->control_progress, row->answer);
	assert_int_equal(count_threads() - before, row->answer == FI_PROGRESS_AUTO ? 1 : 0);
	close_side(&s);
}

static void run_row(const struct row *row)
{
	struct side s = { 0 };
	struct intro intro;
	int tell[2], wake[2], status;
	pid_t pid;

	assert_int_equal(pipe(tell) | pipe(wake), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		close(wake[1]);		/* so that the death of the initiator ends the read */
		_exit(run_target(row, tell[1], wake[0]));
	}
	close(wake[0]);
	close(tell[1]);
	assert_int_equal(read(tell[0], &intro, sizeof(intro)), sizeof(intro));
	open_side(&s, row);
	run_all(&s, &intro);
	close(wake[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close_side(&s);
	close(tell[0]);
}

static void test_unattended(void **state)
{
	const struct row *row = *state;

	check_threads(row);
	if (row->answer == FI_PROGRESS_AUTO)
		run_row(row);
}

int main(void)
{
	static char names[sizeof(rows) / sizeof(*rows)][64];
	static struct CMUnitTest tests[sizeof(rows) / sizeof(*rows)];

	setenv("FI_INSPECT", "0", 1);	/* the thread that answers fi_top moves nothing */
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		snprintf(names[i], sizeof(names[i]), "%s, %s", rows[i].prov,
			 rows[i].asked == FI_PROGRESS_AUTO ? "automatic" :
			 rows[i].asked ? "manual" : "nothing asked");
		tests[i] = (struct CMUnitTest) { .name = names[i], .test_func = test_unattended,
						 .initial_state = (void *) &rows[i] };
	}
	return _cmocka_run_group_tests("unattended", tests, sizeof(rows) / sizeof(*rows), NULL, NULL);
}
