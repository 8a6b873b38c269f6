/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * calls - the calls of the data path, each in a separate function, so that callgrind can count
 * the calls of one kind and their instructions.
 *
 *   calls PROVIDER dgram|rdm|msg COUNT [tagged] [any]
 *
 * any: the program names no source address, so that FI_RAILS has an effect.
 *
 * Two endpoints of one process, manual progress, FI_THREAD_DOMAIN.  Each round sends one 8-byte
 * message, tagged if requested, and reads both completions; the progress in between is not part
 * of the functions that are counted.  Prints the messages per second, which mean something when
 * nothing counts.
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif
#define LEN 8
#define TAG 0x5117
#define BATCH 16
#define SETTLED 1200	/* rounds after which each lock has been taken 2048 times, twice a round */

struct side {
	struct fid_ep *ep;
	struct fid_cq *txcq, *rxcq;
	fi_addr_t peer;
};

/* The calls of one kind of message. */
struct kind {
	uint64_t caps;
	ssize_t (*send)(struct fid_ep *ep, const void *data, fi_addr_t to, void *context);
	ssize_t (*inject)(struct fid_ep *ep, const void *data, fi_addr_t to);
	ssize_t (*recv)(struct fid_ep *ep, void *data, void *context);
};

static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct fid_av *av;
static struct fid_eq *eq;
static struct side side[2];
static char buf[2][BATCH][64];
static struct fi_context2 ctx[2][BATCH];

static void must(const char *what, long ret)
{
	if (!ret)
		return;
	fprintf(stderr, "calls: %s: %s\n", what, fi_strerror((int) -ret));
	exit(1);
}

/* ---- what is counted --------------------------------------------------------- */

NOINLINE ssize_t count_nothing(struct fid_ep *ep, const void *data, fi_addr_t to, void *context);
ssize_t count_nothing(struct fid_ep *ep, const void *data, fi_addr_t to, void *context)
{
	__asm__ volatile("" : : "r"(ep), "r"(data), "r"(to), "r"(context) : "memory");
	return 0;
}

NOINLINE ssize_t count_send(struct fid_ep *ep, const void *data, fi_addr_t to, void *context);
ssize_t count_send(struct fid_ep *ep, const void *data, fi_addr_t to, void *context)
{
	return fi_send(ep, data, LEN, NULL, to, context);
}

NOINLINE ssize_t count_inject(struct fid_ep *ep, const void *data, fi_addr_t to);
ssize_t count_inject(struct fid_ep *ep, const void *data, fi_addr_t to)
{
	return fi_inject(ep, data, LEN, to);
}

NOINLINE ssize_t count_recv(struct fid_ep *ep, void *data, void *context);
ssize_t count_recv(struct fid_ep *ep, void *data, void *context)
{
	return fi_recv(ep, data, 64, NULL, FI_ADDR_UNSPEC, context);
}

NOINLINE ssize_t count_tsend(struct fid_ep *ep, const void *data, fi_addr_t to, void *context);
ssize_t count_tsend(struct fid_ep *ep, const void *data, fi_addr_t to, void *context)
{
	return fi_tsend(ep, data, LEN, NULL, to, TAG, context);
}

NOINLINE ssize_t count_tinject(struct fid_ep *ep, const void *data, fi_addr_t to);
ssize_t count_tinject(struct fid_ep *ep, const void *data, fi_addr_t to)
{
	return fi_tinject(ep, data, LEN, to, TAG);
}

NOINLINE ssize_t count_trecv(struct fid_ep *ep, void *data, void *context);
ssize_t count_trecv(struct fid_ep *ep, void *data, void *context)
{
	return fi_trecv(ep, data, 64, NULL, FI_ADDR_UNSPEC, TAG, 0, context);
}

/* A queue that has an entry, which needs no progress. */
NOINLINE ssize_t count_cq_read(struct fid_cq *cq, struct fi_cq_msg_entry *entry);
ssize_t count_cq_read(struct fid_cq *cq, struct fi_cq_msg_entry *entry)
{
	return fi_cq_read(cq, entry, 1);
}

NOINLINE ssize_t count_cq_batch(struct fid_cq *cq, struct fi_cq_msg_entry *entry, size_t cnt);
ssize_t count_cq_batch(struct fid_cq *cq, struct fi_cq_msg_entry *entry, size_t cnt)
{
	return fi_cq_read(cq, entry, cnt);
}

static const struct kind untagged = { FI_MSG, count_send, count_inject, count_recv };
static const struct kind tagged = { FI_TAGGED, count_tsend, count_tinject, count_trecv };
static const struct kind *kind = &untagged;
static int anywhere;

/* ---- setting up ---------------------------------------------------------------- */

static void find(const char *prov, enum fi_ep_type type)
{
	struct fi_info *hints = fi_allocinfo();

	hints->caps = kind->caps;
	hints->mode = FI_CONTEXT | FI_CONTEXT2;
	hints->ep_attr->type = type;
	hints->domain_attr->threading = FI_THREAD_DOMAIN;
	hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	hints->fabric_attr->prov_name = strdup(prov);
	must("fi_getinfo", fi_getinfo(FI_VERSION(1, 17), anywhere ? NULL : "127.0.0.1", NULL,
				      anywhere ? 0 : FI_SOURCE | FI_NUMERICHOST, hints, &info));
	fi_freeinfo(hints);
}

static void open_side(struct side *s, struct fi_info *from)
{
	struct fi_cq_attr attr = { .format = FI_CQ_FORMAT_MSG, .size = 1024 };

	must("fi_cq_open", fi_cq_open(domain, &attr, &s->txcq, NULL));
	must("fi_cq_open", fi_cq_open(domain, &attr, &s->rxcq, NULL));
	must("fi_endpoint", fi_endpoint(domain, from, &s->ep, NULL));
	must("fi_ep_bind", fi_ep_bind(s->ep, &s->txcq->fid, FI_TRANSMIT));
	must("fi_ep_bind", fi_ep_bind(s->ep, &s->rxcq->fid, FI_RECV));
	must("fi_ep_bind", fi_ep_bind(s->ep, av ? &av->fid : &eq->fid, 0));
	must("fi_enable", fi_enable(s->ep));
}

static void introduce(struct side *from, struct side *to)
{
	char name[256];
	size_t len = sizeof(name);

	must("fi_getname", fi_getname(&to->ep->fid, name, &len));
	if (fi_av_insert(av, name, 1, &from->peer, 0, NULL) != 1)
		must("fi_av_insert", -FI_EOTHER);
}

static struct fi_info *next_event(uint32_t want)
{
	char entry[sizeof(struct fi_eq_cm_entry) + 64];
	uint32_t event = 0;

	if (fi_eq_sread(eq, &event, entry, sizeof(entry), 10000, 0) < 0 || event != want)
		must("connection event", -FI_ETIMEDOUT);
	return ((struct fi_eq_cm_entry *) (void *) entry)->info;
}

static void connect_sides(void)
{
	struct fi_info *request;
	struct fid_pep *pep;
	char name[256];
	size_t len = sizeof(name);

	must("fi_passive_ep", fi_passive_ep(fabric, info, &pep, NULL));
	must("fi_pep_bind", fi_pep_bind(pep, &eq->fid, 0));
	must("fi_listen", fi_listen(pep));
	must("fi_getname", fi_getname(&pep->fid, name, &len));
	open_side(&side[0], info);
	must("fi_connect", fi_connect(side[0].ep, name, NULL, 0));
	request = next_event(FI_CONNREQ);
	open_side(&side[1], request);
	must("fi_accept", fi_accept(side[1].ep, NULL, 0));
	next_event(FI_CONNECTED);
	next_event(FI_CONNECTED);
	fi_freeinfo(request);
	fi_close(&pep->fid);
}

static void open_all(const char *prov, const char *ep_type)
{
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE, .count = 2 };
	struct fi_eq_attr eq_attr = { .wait_obj = FI_WAIT_UNSPEC };
	int msg = !strcmp(ep_type, "msg");

	find(prov, msg ? FI_EP_MSG : !strcmp(ep_type, "dgram") ? FI_EP_DGRAM : FI_EP_RDM);
	must("fi_fabric", fi_fabric(info->fabric_attr, &fabric, NULL));
	must("fi_domain", fi_domain(fabric, info, &domain, NULL));
	if (msg) {
		must("fi_eq_open", fi_eq_open(fabric, &eq_attr, &eq, NULL));
		/* the listener returns its source address */
		connect_sides();
		return;
	}
	must("fi_av_open", fi_av_open(domain, &av_attr, &av, NULL));
	open_side(&side[0], info);
	open_side(&side[1], info);
	introduce(&side[0], &side[1]);
	introduce(&side[1], &side[0]);
}

/* ---- rounds ---------------------------------------------------------------------- */

/* Give the provider @cnt rounds of work without taking completions. */
static void progress(int cnt)
{
	for (int i = 0; i < cnt; i++) {
		fi_cq_read(side[0].txcq, NULL, 0);
		fi_cq_read(side[1].rxcq, NULL, 0);
	}
}

static ssize_t read_uncounted(struct fid_cq *cq, struct fi_cq_msg_entry *entry)
{
	return fi_cq_read(cq, entry, 1);
}

static ssize_t read_batch(struct fid_cq *cq, struct fi_cq_msg_entry *entry)
{
	return count_cq_batch(cq, entry, BATCH);
}

static void take(struct fid_cq *cq, int cnt,
		 ssize_t (*read)(struct fid_cq *cq, struct fi_cq_msg_entry *entry))
{
	struct fi_cq_msg_entry entry[BATCH];
	time_t start = time(NULL);
	ssize_t n;

	while (cnt) {
		progress(1);
		n = read(cq, entry);
		if (n > 0)
			cnt -= (int) n;
		else if (n != -FI_EAGAIN || time(NULL) - start > 20)
			must("fi_cq_read", n == -FI_EAGAIN ? -FI_ETIMEDOUT : n);
	}
}

/* The first message waits for a connection, for a time that differs from run to run. */
static void first_round(void)
{
	ssize_t ret;

	must("fi_recv", kind->recv(side[1].ep, buf[1][0], &ctx[1][0]));
	while ((ret = kind == &tagged ?
		fi_tsend(side[0].ep, buf[0][0], LEN, NULL, side[0].peer, TAG, &ctx[0][0]) :
		fi_send(side[0].ep, buf[0][0], LEN, NULL, side[0].peer, &ctx[0][0]))) {
		if (ret != -FI_EAGAIN)
			must("fi_send", ret);
		progress(1);
	}
	take(side[0].txcq, 1, read_uncounted);
	take(side[1].rxcq, 1, read_uncounted);
}

static void one_send(int i, int inject)
{
	ssize_t ret;

	count_nothing(side[0].ep, buf[0][i], side[0].peer, &ctx[0][i]);
	while ((ret = inject ? kind->inject(side[0].ep, buf[0][i], side[0].peer) :
		       kind->send(side[0].ep, buf[0][i], side[0].peer, &ctx[0][i]))) {
		if (ret != -FI_EAGAIN)
			must("fi_send", ret);
		progress(1);
	}
}

static void one_round(int i, int inject, int batch)
{
	must("fi_recv", kind->recv(side[1].ep, buf[1][i], &ctx[1][i]));
	one_send(i, inject);
	if (batch)
		return;
	progress(8);
	if (!inject)
		take(side[0].txcq, 1, count_cq_read);
	take(side[1].rxcq, 1, count_cq_read);
}

/* A lock is biased to the thread that takes it (base/lock.h) from some time on: a cost of setting up, which is the
 * same in each run and so does not count.
 */
static void settle(void)
{
	for (int i = 0; i < SETTLED; i++)
		one_round(0, 0, 0);
}

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double) now.tv_sec + (double) now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	int cnt = argc > 3 ? atoi(argv[3]) : 0;
	double start;

	for (int i = 4; i < argc; i++) {
		if (!strcmp(argv[i], "tagged"))
			kind = &tagged;
		else if (!strcmp(argv[i], "any"))
			anywhere = 1;
		else
			cnt = 0;
	}
	if (cnt < 1) {
		fprintf(stderr, "usage: calls PROVIDER dgram|rdm|msg COUNT [tagged] [any]\n");
		return 2;
	}
	open_all(argv[1], argv[2]);
	first_round();
	settle();
	start = now_s();
	for (int i = 0; i < cnt; i++)
		one_round(0, 0, 0);
	for (int i = 0; i < cnt; i++)
		one_round(0, 1, 0);
	for (int i = 0; i < cnt; i++) {
		for (int k = 0; k < BATCH; k++)
			one_round(k, 0, 1);
		progress(64);
		take(side[0].txcq, BATCH, read_batch);
		take(side[1].rxcq, BATCH, read_batch);
	}
	printf("%.0f messages/s\n", (BATCH + 2) * cnt / (now_s() - start));
	return 0;
}
