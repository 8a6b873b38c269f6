/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * pingpong - half a round trip of a tagged message, measured with little overhead: two
 * processes on two processors, the clock read once for thousands of messages.
 *
 *   pingpong PROVIDER [SIZE [COUNT]]
 *
 * Each side posts the next receive before it sends, injects where possible, and polls its queue
 * continuously.  Prints the median of ten slices in microseconds.  The benchmarks of fabtests
 * read the clock twice in each round trip, for percentiles; where a message takes 0.2 us that
 * is five per cent of it.
 */
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>

#define TAG 0x7a6
#define SLICES 10
#define NAME_MAX_LEN 256

static struct fid_ep *ep;
static struct fid_cq *txcq, *rxcq;
static fi_addr_t peer;
static char *in, *out;
static size_t len = 8;
static size_t inject_size;
static struct fi_context2 rx_ctx, tx_ctx;

static void must(const char *what, long ret)
{
	if (!ret)
		return;
	fprintf(stderr, "pingpong: %s: %s\n", what, fi_strerror((int) -ret));
	exit(1);
}

/* ---- setting up ---------------------------------------------------------------- */

static struct fi_info *find(const char *prov)
{
	struct fi_info *hints = fi_allocinfo(), *info;

	hints->caps = FI_TAGGED;
	hints->mode = FI_CONTEXT | FI_CONTEXT2;
	hints->ep_attr->type = FI_EP_RDM;
	hints->domain_attr->threading = FI_THREAD_DOMAIN;
	hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	hints->fabric_attr->prov_name = strdup(prov);
	must("fi_getinfo", fi_getinfo(FI_VERSION(1, 15), strcmp(prov, "shm") ? "127.0.0.1" : NULL,
				      NULL, strcmp(prov, "shm") ? FI_SOURCE : 0, hints, &info));
	fi_freeinfo(hints);
	return info;
}

/* The peer; the names of both endpoints are exchanged through pipes. */
static void meet(struct fid_av *av, int from, int to)
{
	char name[NAME_MAX_LEN] = "";
	size_t size = sizeof(name);

	must("fi_getname", fi_getname(&ep->fid, name, &size));
	if (write(to, name, sizeof(name)) != sizeof(name) ||
	    read(from, name, sizeof(name)) != sizeof(name))
		must("exchange of names", -FI_EIO);
	if (fi_av_insert(av, name, 1, &peer, 0, NULL) != 1)
		must("fi_av_insert", -FI_EOTHER);
}

static void open_all(const char *prov, int from, int to)
{
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_TAGGED, .size = 256 };
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE, .count = 2 };
	struct fi_info *info = find(prov);
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;

	must("fi_fabric", fi_fabric(info->fabric_attr, &fabric, NULL));
	must("fi_domain", fi_domain(fabric, info, &domain, NULL));
	must("fi_av_open", fi_av_open(domain, &av_attr, &av, NULL));
	must("fi_cq_open", fi_cq_open(domain, &cq_attr, &txcq, NULL));
	must("fi_cq_open", fi_cq_open(domain, &cq_attr, &rxcq, NULL));
	must("fi_endpoint", fi_endpoint(domain, info, &ep, NULL));
	must("fi_ep_bind", fi_ep_bind(ep, &txcq->fid, FI_TRANSMIT));
	must("fi_ep_bind", fi_ep_bind(ep, &rxcq->fid, FI_RECV));
	must("fi_ep_bind", fi_ep_bind(ep, &av->fid, 0));
	must("fi_enable", fi_enable(ep));
	inject_size = info->tx_attr->inject_size;
	in = calloc(2, len + 1);
	out = in + len;
	meet(av, from, to);
	fi_freeinfo(info);
}

/* ---- messages ------------------------------------------------------------------- */

static void take(struct fid_cq *cq)
{
	struct fi_cq_tagged_entry entry;
	ssize_t ret;

	while ((ret = fi_cq_read(cq, &entry, 1)) == -FI_EAGAIN)
		;
	if (ret != 1)
		must("fi_cq_read", ret);
}

static void post(void)
{
	ssize_t ret;

	while ((ret = fi_trecv(ep, in, len, NULL, FI_ADDR_UNSPEC, TAG, 0, &rx_ctx)) == -FI_EAGAIN)
		fi_cq_read(rxcq, NULL, 0);
	must("fi_trecv", ret);
}

static void put(void)
{
	ssize_t ret;

	if (len <= inject_size) {
		while ((ret = fi_tinject(ep, out, len, peer, TAG)) == -FI_EAGAIN)
			fi_cq_read(txcq, NULL, 0);
		must("fi_tinject", ret);
		return;
	}
	while ((ret = fi_tsend(ep, out, len, NULL, peer, TAG, &tx_ctx)) == -FI_EAGAIN)
		fi_cq_read(txcq, NULL, 0);
	must("fi_tsend", ret);
	take(txcq);
}

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double) t.tv_sec * 1e6 + (double) t.tv_nsec / 1e3;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *) a, y = *(const double *) b;

	return (x > y) - (x < y);
}

static void ping(int cnt)
{
	for (int i = 0; i < cnt; i++) {
		post();
		put();
		take(rxcq);
	}
}

static void pong(int cnt)
{
	post();
	for (int i = 1; i <= cnt; i++) {
		take(rxcq);
		if (i < cnt)
			post();
		put();
	}
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

int main(int argc, char **argv)
{
	int a[2], b[2], per = (argc > 3 ? atoi(argv[3]) : 200000) / SLICES;
	double slice[SLICES], start;

	if (argc < 2 || per < 1 || pipe(a) || pipe(b)) {
		fprintf(stderr, "usage: pingpong PROVIDER [SIZE [COUNT]]\n");
		return 2;
	}
	len = argc > 2 ? strtoul(argv[2], NULL, 0) : len;
	if (!fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pin(1);
		open_all(argv[1], a[0], b[1]);
		pong(per * (SLICES + 1));
		_exit(0);
	}
	pin(0);
	open_all(argv[1], b[0], a[1]);
	ping(per);
	for (int s = 0; s < SLICES; s++) {
		start = now_us();
		ping(per);
		slice[s] = (now_us() - start) / per / 2;
	}
	qsort(slice, SLICES, sizeof(*slice), by_value);
	printf("%.4f us half round trip, %zu bytes\n", (slice[4] + slice[5]) / 2, len);
	return 0;
}
