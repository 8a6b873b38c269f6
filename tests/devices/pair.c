/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "pair.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../fabtests/common/device.h"
#include "../fakegpu/use.h"

#define WAIT_S 60

void pair_die(const char *what, long ret)
{
	fprintf(stderr, "%d: %s: %ld %s\n", (int) getpid(), what, ret,
		ret ? fi_strerror((int) labs(ret)) : "");
	exit(1);
}

static const char *lib_of(const char *kind)
{
	return !strncmp(kind, "cuda", 4) ? "libcuda.so.1" : !strcmp(kind, "gdr") ? "libgdrapi.so.2" :
	       !strcmp(kind, "rocr") ? "libhsa-runtime64.so.1" : "libze_loader.so.1";
}

/* ---- two processes ---------------------------------------------------------------------- */

static void run(int sock, const char *prov, const char *kind, size_t len)
{
	char num[16], size[24];
	char *argv[] = { (char *) "pair", num, (char *) prov, (char *) kind, size, NULL };

	snprintf(num, sizeof(num), "%d", sock);
	snprintf(size, sizeof(size), "%zu", len);
	execv("/proc/self/exe", argv);
	_exit(99);
}

void pair_start(struct pair *p, const char *prov, const char *kind, size_t len)
{
	int sock[2];

	memset(p, 0, sizeof(*p));
	p->prov = prov;
	p->kind = kind;
	p->len = len;
	PAIR_OK(socketpair(AF_UNIX, SOCK_STREAM, 0, sock));
	p->child = fork();
	PAIR_TRUE(p->child >= 0);
	if (!p->child) {
		close(sock[0]);
		run(sock[1], prov, kind, len);
	}
	close(sock[1]);
	p->sock = sock[0];
}

void pair_join(struct pair *p, char **argv)
{
	memset(p, 0, sizeof(*p));
	p->sock = atoi(argv[1]);
	p->prov = argv[2];
	p->kind = argv[3];
	p->len = strtoul(argv[4], NULL, 0);
}

void pair_stop(struct pair *p)
{
	int status;

	PAIR_TRUE(waitpid(p->child, &status, 0) == p->child);
	PAIR_OK(status);
	close(p->sock);
}

/* ---- objects ------------------------------------------------------------------------------ */

static void get_info(struct pair *p)
{
	struct fi_info *hints = fi_allocinfo();
	const char *node = NULL;

	hints->caps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_HMEM | p->caps;
	hints->mode = FI_CONTEXT | FI_CONTEXT2;
	hints->ep_attr->type = FI_EP_RDM;
	hints->domain_attr->mr_mode = FI_MR_HMEM | FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED |
				      FI_MR_PROV_KEY;
	if (getenv("PAIR_AUTO"))
		hints->domain_attr->progress = FI_PROGRESS_AUTO;
	hints->fabric_attr->prov_name = strdup(p->prov);
	if (strcmp(p->prov, "shm"))
		node = "127.0.0.1";
	if (p->caps)
		hints->tx_attr->msg_order = FI_ORDER_WAW | FI_ORDER_SAW | FI_ORDER_ATOMIC_WAW;
	PAIR_OK(fi_getinfo(p->caps ? FI_VERSION(2, 7) : FI_VERSION(2, 0), node, NULL, node ? FI_SOURCE : 0, hints, &p->info));
	fi_freeinfo(hints);
}

static void open_objects(struct pair *p)
{
	struct fi_av_attr av = { .type = FI_AV_TABLE };
	struct fi_cq_attr cq = { .format = FI_CQ_FORMAT_TAGGED };

	PAIR_OK(fi_fabric(p->info->fabric_attr, &p->fabric, NULL));
	PAIR_OK(fi_domain(p->fabric, p->info, &p->domain, NULL));
	PAIR_OK(fi_av_open(p->domain, &av, &p->av, NULL));
	PAIR_OK(fi_cq_open(p->domain, &cq, &p->cq, NULL));
	PAIR_OK(fi_endpoint(p->domain, p->info, &p->ep, NULL));
	PAIR_OK(fi_ep_bind(p->ep, &p->av->fid, 0));
	PAIR_OK(fi_ep_bind(p->ep, &p->cq->fid, FI_TRANSMIT | FI_RECV));
	PAIR_OK(fi_enable(p->ep));
}

/* The addresses of some providers are longer than a structure of the kernel. */
static void meet(struct pair *p)
{
	char name[256] = { 0 };
	size_t len = sizeof(name);

	PAIR_OK(fi_getname(&p->ep->fid, name, &len));
	pair_put(p, name, sizeof(name));
	pair_get(p, name, sizeof(name));
	PAIR_TRUE(fi_av_insert(p->av, name, 1, &p->peer, 0, NULL) == 1);
}

void pair_open(struct pair *p)
{
	int number = strcmp(p->kind, "system") ? fakegpu_device() : 0;
	const char *why = device_open(!strcmp(p->kind, "gdr") ? "cuda" : p->kind, number);

	if (why)
		pair_die(why, 0);
	p->lib = lib_of(p->kind);
	p->dev = device_alloc(p->len);
	p->host = malloc(p->len);
	PAIR_TRUE(p->dev && p->host);
	get_info(p);
	open_objects(p);
	meet(p);
}

void pair_close(struct pair *p)
{
	pair_unreg(p);
	PAIR_OK(fi_close(&p->ep->fid));
	PAIR_OK(fi_close(&p->cq->fid));
	PAIR_OK(fi_close(&p->av->fid));
	PAIR_OK(fi_close(&p->domain->fid));
	PAIR_OK(fi_close(&p->fabric->fid));
	fi_freeinfo(p->info);
	device_free(p->dev);
	free(p->host);
}

int pair_reg(struct pair *p)
{
	struct iovec iov = { p->dev, p->len };
	struct fi_mr_attr attr = {
		.mr_iov = &iov, .iov_count = 1, .requested_key = 7,
		.access = FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE,
	};

	device_attr(&attr);
	return fi_mr_regattr(p->domain, &attr, 0, &p->mr);
}

void pair_unreg(struct pair *p)
{
	if (p->mr)
		PAIR_OK(fi_close(&p->mr->fid));
	p->mr = NULL;
}

/* ---- talk ----------------------------------------------------------------------------------- */

void pair_put(struct pair *p, const void *buf, size_t len)
{
	PAIR_TRUE(write(p->sock, buf, len) == (ssize_t) len);
}

/* A completion that comes meanwhile is read by pair_wait() or found by pair_idle(). */
void pair_get(struct pair *p, void *buf, size_t len)
{
	struct pollfd fd = { .fd = p->sock, .events = POLLIN };
	ssize_t ret = fi_cq_read(p->cq, NULL, 0);
	int turns = 0;

	while (!poll(&fd, 1, 0)) {
		ret = fi_cq_read(p->cq, NULL, 0);
		if (ret == -FI_EAGAIN && ++turns % 64 == 0)
			poll(&fd, 1, 1);
	}
	PAIR_TRUE(recv(p->sock, buf, len, MSG_WAITALL) == (ssize_t) len);
}

static void read_error(struct pair *p, const void *context, struct pair_end *end)
{
	struct fi_cq_err_entry e = { 0 };

	PAIR_TRUE(fi_cq_readerr(p->cq, &e, 0) == 1);
	PAIR_TRUE(!context || e.op_context == context);
	end->err = e.err;
	snprintf(end->text, sizeof(end->text), "%s",
		 fi_cq_strerror(p->cq, e.prov_errno, e.err_data, NULL, 0));
}

void pair_wait(struct pair *p, const void *context, struct pair_end *end)
{
	struct fi_cq_tagged_entry e;
	time_t last = time(NULL) + WAIT_S;
	ssize_t ret;

	memset(end, 0, sizeof(*end));
	while ((ret = fi_cq_read(p->cq, &e, 1)) == -FI_EAGAIN)
		if (time(NULL) > last)
			pair_die("no completion", -FI_ETIMEDOUT);
	if (ret == -FI_EAVAIL) {
		read_error(p, context, end);
		return;
	}
	PAIR_TRUE(ret == 1);
	PAIR_TRUE(!context || e.op_context == context);
}

void pair_idle(struct pair *p)
{
	struct fi_cq_tagged_entry e;

	PAIR_TRUE(fi_cq_read(p->cq, &e, 1) == -FI_EAGAIN);
}
