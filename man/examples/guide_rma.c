/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* A table in one process, which others read and write: a whole program for two hosts. */
/* [page */
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROWS 1000
#define ROW 64
#define MUST(call) must((call), #call)

static long must(long ret, const char *call)
{
	if (ret >= 0)
		return ret;
	fprintf(stderr, "%s: %s\n", call, fi_strerror((int) -ret));
	exit(ret == -FI_ENODATA ? 77 : 1);	/* 77: not offered on this machine */
}

/* What a client needs to know of the table: any provider's region can be named so. */
struct table {
	uint64_t addr, key;
};

struct side {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_ep *ep;
};

/* A server listens at @service of this host (FI_SOURCE); a client names the server's @node, and
 * gets its address in info->dest_addr and an interface that reaches it.
 */
static void side_open(struct side *s, const char *node, const char *service, uint64_t flags)
{
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_MSG, .wait_obj = FI_WAIT_UNSPEC };
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE };
	struct fi_info *hints = fi_allocinfo();
	int ret;

	hints->ep_attr->type = FI_EP_RDM;
	hints->caps = FI_MSG | FI_RMA;
	hints->mode = FI_CONTEXT | FI_CONTEXT2;
	/* regions: works with NICs that choose keys and want virtual addresses, and without */
	hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	hints->domain_attr->control_progress = FI_PROGRESS_AUTO;
	hints->domain_attr->data_progress = FI_PROGRESS_AUTO;	/* the table's owner may compute */
	hints->fabric_attr->prov_name = strdup("tcp");
	ret = fi_getinfo(FI_VERSION(1, 20), node, service, flags, hints, &s->info);
	fi_freeinfo(hints);
	MUST(ret);
	MUST(fi_fabric(s->info->fabric_attr, &s->fabric, NULL));
	MUST(fi_domain(s->fabric, s->info, &s->domain, NULL));
	MUST(fi_av_open(s->domain, &av_attr, &s->av, NULL));
	MUST(fi_cq_open(s->domain, &cq_attr, &s->cq, NULL));
	MUST(fi_endpoint(s->domain, s->info, &s->ep, NULL));
	MUST(fi_ep_bind(s->ep, &s->av->fid, 0));
	MUST(fi_ep_bind(s->ep, &s->cq->fid, FI_TRANSMIT | FI_RECV));
	MUST(fi_enable(s->ep));
}

static void side_close(struct side *s)
{
	MUST(fi_close(&s->ep->fid));
	MUST(fi_close(&s->cq->fid));
	MUST(fi_close(&s->av->fid));
	MUST(fi_close(&s->domain->fid));
	MUST(fi_close(&s->fabric->fid));
	fi_freeinfo(s->info);
}

static fi_addr_t insert(struct side *s, const void *addr)
{
	fi_addr_t peer;

	if (MUST(fi_av_insert(s->av, addr, 1, &peer, 0, NULL)) != 1)
		must(-FI_EINVAL, "fi_av_insert");
	return peer;
}

/* One operation at a time is in flight here, so the next completion is its own. */
static void wait_one(struct side *s)
{
	struct fi_cq_msg_entry entry;
	struct fi_cq_err_entry err = { 0 };
	ssize_t ret;

	do {
		ret = fi_cq_sread(s->cq, &entry, 1, NULL, -1);
	} while (ret == -FI_EINTR || ret == -FI_EAGAIN);
	if (ret == -FI_EAVAIL && fi_cq_readerr(s->cq, &err, 0) == 1)
		ret = -err.err;		/* FI_EACCES, FI_ENOKEY: the region refused it */
	MUST(ret);
}

static void send_to(struct side *s, fi_addr_t peer, const void *buf, size_t len)
{
	struct fi_context2 ctx;
	ssize_t ret;

	while ((ret = fi_send(s->ep, buf, len, NULL, peer, &ctx)) == -FI_EAGAIN)
		fi_cq_read(s->cq, NULL, 0);
	MUST(ret);
	wait_one(s);
}

static void receive(struct side *s, void *buf, size_t len)
{
	struct fi_context2 ctx;

	MUST(fi_recv(s->ep, buf, len, NULL, FI_ADDR_UNSPEC, &ctx));
	wait_one(s);
}

/* Takes no part in the accesses: it tells where the table is, and waits for the end. */
static void server(const char *node, const char *service)
{
	static char rows[ROWS][ROW];
	char name[FI_NAME_MAX], last[ROW];
	struct side s = { 0 };
	struct table table;
	struct fid_mr *mr;
	fi_addr_t client;

	side_open(&s, node, service, FI_SOURCE);
	MUST(fi_mr_reg(s.domain, rows, sizeof(rows), FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 1, 0, &mr, NULL));
	table.key = fi_mr_key(mr);
	table.addr = s.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t) rows : 0;
	receive(&s, name, sizeof(name));	/* the address of the client */
	client = insert(&s, name);
	send_to(&s, client, &table, sizeof(table));
	receive(&s, last, sizeof(last));	/* the client has written all */
	printf("row 7 is \"%s\", and the client read \"%s\"\n", rows[7], last);
	if (strcmp(rows[7], "row 7, written from afar"))
		must(-FI_EIO, "the table");
	send_to(&s, client, "", 1);		/* now the client may end */
	MUST(fi_close(&mr->fid));		/* before the memory is used for something else */
	side_close(&s);
}

static void write_row(struct side *s, fi_addr_t to, const struct table *table, unsigned i)
{
	char row[ROW] = "";
	struct iovec iov = { row, sizeof(row) };
	struct fi_rma_iov place = { table->addr + i * ROW, ROW, table->key };
	struct fi_context2 ctx;
	struct fi_msg_rma msg = {
		.msg_iov = &iov, .iov_count = 1, .addr = to, .rma_iov = &place, .rma_iov_count = 1,
		.context = &ctx,
	};
	ssize_t ret;

	snprintf(row, sizeof(row), "row %u, written from afar", i);
	/* complete when it lies in the table, not only sent */
	while ((ret = fi_writemsg(s->ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE)) == -FI_EAGAIN)
		fi_cq_read(s->cq, NULL, 0);
	MUST(ret);
	wait_one(s);
}

static void client(const char *node, const char *service)
{
	char name[FI_NAME_MAX] = { 0 }, row[ROW];
	size_t len = sizeof(name);
	struct fi_context2 ctx;
	struct side s = { 0 };
	struct table table;
	fi_addr_t to;
	unsigned i;

	side_open(&s, node, service, 0);
	to = insert(&s, s.info->dest_addr);
	MUST(fi_getname(&s.ep->fid, name, &len));
	send_to(&s, to, name, sizeof(name));
	receive(&s, &table, sizeof(table));
	for (i = 0; i < ROWS; i++)
		write_row(&s, to, &table, i);
	MUST(fi_read(s.ep, row, sizeof(row), NULL, to, table.addr + 7 * ROW, table.key, &ctx));
	wait_one(&s);
	send_to(&s, to, row, sizeof(row));
	receive(&s, row, 1);
	side_close(&s);
}

/* guide_rma SERVICE       serves the table: SERVICE is a port
 * guide_rma SERVICE HOST  uses that of HOST
 * guide_rma               both, in two processes of this host
 */
int main(int argc, char **argv)
{
	char service[16];
	int child, status = 0;

	if (argc == 2) {
		server(NULL, argv[1]);
		return 0;
	}
	if (argc == 3) {
		client(argv[2], argv[1]);
		return 0;
	}
	snprintf(service, sizeof(service), "%d", 20000 + getpid() % 10000);
	child = fork();		/* before anything is opened */
	if (!child) {
		sleep(1);	/* a refused connect is repeated for a while, too */
		client("127.0.0.1", service);
		return 0;
	}
	server("127.0.0.1", service);
	waitpid(child, &status, 0);
	return status != 0;
}
/* page] */
