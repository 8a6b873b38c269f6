/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * gone PROVIDER TYPE LOCAL PEER COMMAND - what becomes of operations when the other end, or
 * the device, goes away in the middle.
 *
 * TYPE is msg, dgram or rdm. A child opens an endpoint at PEER, and the parent, at LOCAL,
 * sends to it and reads from it (msg, rdm). Then the parent kills the child (COMMAND
 * "kill"), or runs COMMAND. Every operation must end, once.
 */
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LEN 2000u		/* of a message: a datagram carries it */
#define READ_LEN 65536u
#define OPS 4096u		/* posted in all */
#define BEFORE 200u		/* that succeed before the end */
#define WAIT_S 60
#define RECVS 64u

/* What the child tells of itself. */
struct hello {
	uint8_t name[64];
	size_t name_len;
	uint64_t addr, key;
};

struct op {
	struct fi_context2 context;	/* first */
	unsigned ended, failed;
};

static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct fid_eq *eq;
static struct fid_cq *tx_cq, *rx_cq;
static struct fid_av *av;
static struct fid_pep *pep;
static struct fid_ep *ep;
static struct fid_mr *mr;
static void *desc;
static char *mem;
static struct op ops[OPS];
static unsigned posted, ended, failed;
static fi_addr_t dest = FI_ADDR_UNSPEC;
static bool msg, dgram;

static void die(const char *what, long ret)
{
	fprintf(stderr, "%s: %s (%s)\n", what, fi_strerror((int) -ret), dest == FI_ADDR_UNSPEC ?
		"child" : "parent");
	exit(1);
}

static void must(const char *what, long ret)
{
	if (ret < 0)
		die(what, ret);
}

static void find(const char *prov, const char *local)
{
	struct fi_info *hints = fi_allocinfo();

	hints->fabric_attr->prov_name = strdup(prov);
	hints->ep_attr->type = msg ? FI_EP_MSG : dgram ? FI_EP_DGRAM : FI_EP_RDM;
	hints->caps = FI_MSG | (dgram ? 0 : FI_RMA);
	hints->mode = FI_RX_CQ_DATA | FI_CONTEXT | FI_CONTEXT2;
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED |
				      FI_MR_PROV_KEY;
	must("fi_getinfo", fi_getinfo(FI_VERSION(2, 6), local, NULL, FI_SOURCE, hints, &info));
	fi_freeinfo(hints);
}

static void make_objects(void)
{
	struct fi_eq_attr eq_attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_MSG };
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE };

	mem = calloc(1, READ_LEN);
	must("fi_fabric", fi_fabric(info->fabric_attr, &fabric, NULL));
	must("fi_domain", fi_domain(fabric, info, &domain, NULL));
	must("fi_cq_open", fi_cq_open(domain, &cq_attr, &tx_cq, NULL));
	must("fi_cq_open", fi_cq_open(domain, &cq_attr, &rx_cq, NULL));
	must("fi_mr_reg", fi_mr_reg(domain, mem, READ_LEN, FI_SEND | FI_RECV | FI_READ |
				    (dgram ? 0 : FI_REMOTE_READ), 0, 1, 0, &mr, NULL));
	desc = fi_mr_desc(mr);
	if (msg)
		must("fi_eq_open", fi_eq_open(fabric, &eq_attr, &eq, NULL));
	else
		must("fi_av_open", fi_av_open(domain, &av_attr, &av, NULL));
}

static void make_endpoint(struct fi_info *with)
{
	must("fi_endpoint", fi_endpoint(domain, with, &ep, NULL));
	must("fi_ep_bind", fi_ep_bind(ep, msg ? &eq->fid : &av->fid, 0));
	must("fi_ep_bind", fi_ep_bind(ep, &tx_cq->fid, FI_TRANSMIT));
	must("fi_ep_bind", fi_ep_bind(ep, &rx_cq->fid, FI_RECV));
	must("fi_enable", fi_enable(ep));
}

static void post_recv(void *context)
{
	must("fi_recv", fi_recv(ep, mem, LEN, desc, FI_ADDR_UNSPEC, context));
}

static struct fi_info *event(uint32_t want)
{
	_Alignas(8) char room[sizeof(struct fi_eq_cm_entry) + 256];
	uint32_t got = 0;

	must("fi_eq_sread", fi_eq_sread(eq, &got, room, sizeof(room), WAIT_S * 1000, 0));
	if (got != want)
		die("event", -FI_EOTHER);
	return ((struct fi_eq_cm_entry *) room)->info;
}

/* ---- the child --------------------------------------------------------------------------- */

static void receive_for_ever(void)
{
	static struct fi_context2 context[RECVS];
	struct fi_cq_msg_entry entry;
	unsigned i;
	ssize_t got;

	for (i = 0; i < RECVS; i++)
		post_recv(&context[i]);
	for (;;) {
		got = fi_cq_read(rx_cq, &entry, 1);
		if (got == 1)
			post_recv(entry.op_context);
		else if (got != -FI_EAGAIN)
			exit(0);	/* the parent, or the device, has gone */
	}
}

static void child(int out)
{
	struct hello hello = { .name_len = sizeof(hello.name) };
	struct fi_info *request;
	struct fid *named;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	make_objects();
	if (msg) {
		must("fi_passive_ep", fi_passive_ep(fabric, info, &pep, NULL));
		must("fi_pep_bind", fi_pep_bind(pep, &eq->fid, 0));
		must("fi_listen", fi_listen(pep));
		named = &pep->fid;
	} else {
		make_endpoint(info);
		named = &ep->fid;
	}
	must("fi_getname", fi_getname(named, hello.name, &hello.name_len));
	hello.addr = info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t) mem : 0;
	hello.key = fi_mr_key(mr);
	if (write(out, &hello, sizeof(hello)) != sizeof(hello))
		exit(1);
	if (msg) {
		request = event(FI_CONNREQ);
		make_endpoint(request);
		must("fi_accept", fi_accept(ep, NULL, 0));
		event(FI_CONNECTED);
	}
	receive_for_ever();
}

/* ---- the parent --------------------------------------------------------------------------- */

static struct hello hello;

static void reach(void)
{
	dest = 0;
	make_objects();
	make_endpoint(info);
	if (msg) {
		must("fi_connect", fi_connect(ep, hello.name, NULL, 0));
		event(FI_CONNECTED);
	} else if (fi_av_insert(av, hello.name, 1, &dest, 0, NULL) != 1) {
		die("fi_av_insert", -FI_EINVAL);
	}
}

static void take_completions(void)
{
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_msg_entry entry;
	struct op *op;
	ssize_t got;

	do {
		got = fi_cq_read(tx_cq, &entry, 1);
		if (got == -FI_EAVAIL)
			must("fi_cq_readerr", fi_cq_readerr(tx_cq, &err, 0));
		else if (got != 1)
			break;
		op = got == 1 ? entry.op_context : err.op_context;
		if (op->ended++)
			die("an operation ended twice", -FI_EALREADY);
		op->failed = got != 1;
		failed += op->failed;
		ended++;
	} while (got);
}

/* Returns an error that says that no more can be posted. */
static long post_one(void)
{
	struct op *op = &ops[posted];
	long ret;

	if (!dgram && posted % 4 == 3)
		ret = fi_read(ep, mem, READ_LEN, desc, dest, hello.addr, hello.key, op);
	else
		ret = fi_send(ep, mem, LEN, desc, dest, op);
	posted += !ret;
	return ret;
}

static void post_until(unsigned want_ended, unsigned want_failed)
{
	time_t end = time(NULL) + WAIT_S;
	long ret = 0;

	while ((ended < want_ended || failed < want_failed) && posted < OPS &&
	       (!ret || ret == -FI_EAGAIN)) {
		ret = post_one();
		take_completions();
		if (time(NULL) > end)
			die("nothing happens", -FI_ETIMEDOUT);
	}
}

static void wait_for_all(void)
{
	time_t end = time(NULL) + WAIT_S;

	while (ended < posted) {
		take_completions();
		if (time(NULL) <= end)
			continue;
		fprintf(stderr, "%u of %u operations ended\n", ended, posted);
		exit(1);
	}
}

static void close_all(void)
{
	must("fi_close", fi_close(&ep->fid));
	must("fi_close", fi_close(&mr->fid));
	must("fi_close", fi_close(&tx_cq->fid));
	must("fi_close", fi_close(&rx_cq->fid));
	must("fi_close", fi_close(msg ? &eq->fid : &av->fid));
	must("fi_close", fi_close(&domain->fid));
	must("fi_close", fi_close(&fabric->fid));
	fi_freeinfo(info);
	free(mem);
}

int main(int argc, char **argv)
{
	int pipes[2];
	bool kills;
	pid_t pid;

	if (argc != 6)
		return 2;
	msg = !strcmp(argv[2], "msg");
	dgram = !strcmp(argv[2], "dgram");
	kills = !strcmp(argv[5], "kill");
	if (pipe(pipes))
		return 1;
	pid = fork();
	if (!pid) {
		find(argv[1], argv[4]);
		child(pipes[1]);
	}
	find(argv[1], argv[3]);
	if (read(pipes[0], &hello, sizeof(hello)) != sizeof(hello))
		return 1;
	reach();
	post_until(BEFORE, 0);
	if (failed)
		die("an operation failed before its time", -FI_EIO);
	if (kills)
		kill(pid, SIGKILL);
	else if (system(argv[5]))
		return 1;
	if (dgram && kills)
		post_until(ended + BEFORE, 0);
	else
		post_until(0, 1);
	wait_for_all();
	close_all();
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	printf("%u operations ended, %u with an error\n", ended, failed);
	return 0;
}
