/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "node.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void node_fail(const char *file, int line, const char *what, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fprintf(stderr, "%s:%d: %s:", file, line, what);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	exit(1);
}

uint64_t node_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t) ts.tv_sec * 1000 + (uint64_t) ts.tv_nsec / 1000000;
}

static const char *provider(void)
{
	const char *prov = getenv("TEST_PROVIDER");

	return prov ? prov : "tcp";
}

/* True when names are of processes rather than of host addresses. */
static int by_text(void)
{
	return !strcmp(provider(), "shm");
}

/* Names of shm are global on a host: ours begin with the test's process group. */
static void service_of(int port, char *service, size_t size)
{
	if (by_text())
		snprintf(service, size, "node-%d-%d", (int) getpgrp(), port);
	else
		snprintf(service, size, "%d", port);
}

static struct fi_info *ask(const char *ip, int port, uint64_t caps, enum fi_progress progress)
{
	struct fi_info *hints = fi_allocinfo(), *info;
	char service[40];

	service_of(port, service, sizeof(service));
	hints->caps = caps;
	hints->mode = FI_CONTEXT | FI_CONTEXT2;
	hints->ep_attr->type = FI_EP_RDM;
	hints->fabric_attr->prov_name = strdup(provider());
	hints->domain_attr->data_progress = progress;
	hints->domain_attr->control_progress = progress;
	hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	if (by_text())
		CALL(fi_getinfo(FI_VERSION(1, 20), NULL, port ? service : NULL,
				port ? FI_SOURCE : 0, hints, &info));
	else
		CALL(fi_getinfo(FI_VERSION(1, 20), ip, service, FI_SOURCE | FI_NUMERICHOST, hints,
				&info));
	fi_freeinfo(hints);
	return info;
}

static void add_ep(struct node *n, unsigned i)
{
	/* the port is for the first endpoint */
	if (i && !by_text())
		((struct sockaddr_in *) n->info->src_addr)->sin_port = 0;
	CALL(fi_endpoint(n->domain, n->info, &n->eps[i], NULL));
	CALL(fi_ep_bind(n->eps[i], &n->cq->fid, FI_SEND | FI_RECV));
	CALL(fi_ep_bind(n->eps[i], &n->av->fid, 0));
	if (n->eq)
		CALL(fi_ep_bind(n->eps[i], &n->eq->fid, 0));
	CALL(fi_enable(n->eps[i]));
}

void node_stay_far(int force)
{
	setenv("FI_TCP_LOCAL", "0", force);
	setenv("FI_OFI_RXD_LOCAL", "0", force);
	setenv("FI_OFI_RXM_LOCAL", "0", force);
}

void node_open(struct node *n, const char *ip, int port, unsigned cnt, uint64_t caps,
	       enum fi_progress progress)
{
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_TAGGED, .wait_obj = FI_WAIT_UNSPEC };
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE };
	struct fi_eq_attr eq_attr = { .wait_obj = FI_WAIT_UNSPEC };
	unsigned i;

	memset(n, 0, sizeof(*n));
	n->info = ask(ip, port, caps, progress);
	CALL(fi_fabric(n->info->fabric_attr, &n->fabric, NULL));
	CALL(fi_domain(n->fabric, n->info, &n->domain, NULL));
	CALL(fi_cq_open(n->domain, &cq_attr, &n->cq, NULL));
	CALL(fi_av_open(n->domain, &av_attr, &n->av, NULL));
	if (caps & FI_COLLECTIVE)
		CALL(fi_eq_open(n->fabric, &eq_attr, &n->eq, NULL));
	n->eps = calloc(cnt, sizeof(*n->eps));
	n->ep_cnt = cnt;
	for (i = 0; i < cnt; i++)
		add_ep(n, i);
	n->ep = n->eps[0];
}

void node_close(struct node *n)
{
	unsigned i;

	for (i = 0; i < n->ep_cnt; i++)
		CALL(fi_close(&n->eps[i]->fid));
	CALL(fi_close(&n->av->fid));
	CALL(fi_close(&n->cq->fid));
	if (n->eq)
		CALL(fi_close(&n->eq->fid));
	CALL(fi_close(&n->domain->fid));
	CALL(fi_close(&n->fabric->fid));
	fi_freeinfo(n->info);
	free(n->eps);
}

struct node_name node_name(struct node *n, unsigned i)
{
	struct node_name name = { 0 };
	size_t len = sizeof(name);

	CALL(fi_getname(&n->eps[i]->fid, &name, &len));
	return name;
}

int node_port(const struct node_name *name)
{
	const char *dash = by_text() ? strrchr(name->text, '-') : NULL;

	return dash ? atoi(dash + 1) : by_text() ? 1 : ntohs(name->ip.sin_port);
}

fi_addr_t node_insert(struct node *n, const struct node_name *name)
{
	fi_addr_t addr;

	CHECK(fi_av_insert(n->av, name, 1, &addr, 0, NULL) == 1);
	return addr;
}

int node_reap(struct node *n, struct fi_cq_tagged_entry *entry, int *err_p, int ms)
{
	uint64_t end = node_now_ms() + (uint64_t) ms;
	struct fi_cq_err_entry err = { 0 };
	ssize_t ret;

	*err_p = 0;
	do {
		ret = fi_cq_read(n->cq, entry, 1);
		if (ret == 1)
			return 1;
		if (ret == -FI_EAVAIL) {
			CHECK(fi_cq_readerr(n->cq, &err, 0) == 1);
			entry->op_context = err.op_context;
			entry->flags = err.flags;
			entry->len = err.len;
			*err_p = err.err;
			return 1;
		}
		CHECK(ret == -FI_EAGAIN, "fi_cq_read: %s", fi_strerror((int) -ret));
	} while (ms && node_now_ms() < end);
	return 0;
}

pid_t node_spawn(const char *const argv[], int *in_p, int *out_p)
{
	int from[2], to[2];
	pid_t parent = getpid(), pid;

	CHECK(!pipe2(from, O_CLOEXEC) && !pipe2(to, O_CLOEXEC));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent || dup2(to[0], 0) < 0 || dup2(from[1], 1) < 0)
			_exit(1);
		execv("/proc/self/exe", (char *const *) (uintptr_t) argv);
		_exit(1);
	}
	close(from[1]);
	close(to[0]);
	*in_p = from[0];
	*out_p = to[1];
	return pid;
}

void node_filter(struct sock_filter *code, unsigned short len)
{
	struct sock_fprog prog = { .len = len, .filter = code };

	CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	CHECK(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog));
}

void node_forbid(unsigned nr, unsigned err)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | err),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	node_filter(code, sizeof(code) / sizeof(code[0]));
}

void node_read(int fd, void *buf, size_t len)
{
	size_t at;
	ssize_t ret;

	for (at = 0; at < len; at += (size_t) ret) {
		ret = read(fd, (char *) buf + at, len - at);
		if (ret < 0 && errno == EINTR)
			ret = 0;
		else
			CHECK(ret > 0, "the other process has ended");
	}
}

void node_write(int fd, const void *buf, size_t len)
{
	CHECK(write(fd, buf, len) == (ssize_t) len, "the other process has ended");
}
