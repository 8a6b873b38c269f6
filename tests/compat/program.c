/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * program - a small but complete application: it finds an endpoint, opens every object it
 * needs, registers memory and transfers verified data between two of its endpoints. compat_test
 * compiles it against older and newer headers and runs each on the older and the newer library,
 * so it may use only what the oldest of them has.
 *
 *   program PROVIDER rdm|dgram|msg|calls
 *
 * Prints "ok WHAT" for each step; the first failure ends it with status 1.
 */

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#define BIG 65536
#define SMALL 8
#define TIMEOUT_S 20

struct side {
	struct fid_ep *ep;
	struct fid_cq *cq;
	struct fid_mr *mr;
	char *buf;
	void *desc;
	fi_addr_t peer;		/* the other side */
};

static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct fid_av *av;
static struct fid_eq *eq;
static struct side side[2];
static size_t big = BIG;

static void fail(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	printf("failed: ");
	vprintf(fmt, args);
	printf("\n");
	va_end(args);
	exit(1);
}

static void must(const char *what, long ret)
{
	if (ret)
		fail("%s: %ld (%s)", what, ret, fi_strerror((int) -ret));
}

static int expired(time_t start)
{
	return time(NULL) - start > TIMEOUT_S;
}

static void find(const char *prov, enum fi_ep_type type, uint64_t caps)
{
	struct fi_info *hints = fi_allocinfo(), *copy;

	if (!hints)
		fail("fi_allocinfo");
	hints->caps = caps;
	hints->mode = FI_CONTEXT;
	hints->ep_attr->type = type;
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED |
				      FI_MR_PROV_KEY;
	hints->fabric_attr->prov_name = strdup(prov);
	must("fi_getinfo", fi_getinfo(FI_VERSION(1, 17), "127.0.0.1", NULL,
				      FI_SOURCE | FI_NUMERICHOST, hints, &info));
	fi_freeinfo(hints);
	if (!strstr(fi_tostr(info, FI_TYPE_INFO), "fi_fabric_attr"))
		fail("fi_tostr: %s", fi_tostr(info, FI_TYPE_INFO));
	copy = fi_dupinfo(info);
	if (!copy || strcmp(copy->domain_attr->name, info->domain_attr->name) ||
	    copy->ep_attr->max_msg_size != info->ep_attr->max_msg_size ||
	    copy->src_addrlen != info->src_addrlen)
		fail("fi_dupinfo: the copy differs");
	fi_freeinfo(copy);
	if (info->ep_attr->max_msg_size < big)
		big = 1024;
	printf("ok find\n");
}

static void open_objects(void)
{
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE, .count = 4 };
	struct fi_eq_attr eq_attr = { .wait_obj = FI_WAIT_UNSPEC };

	must("fi_fabric", fi_fabric(info->fabric_attr, &fabric, NULL));
	must("fi_domain", fi_domain(fabric, info, &domain, NULL));
	if (info->ep_attr->type == FI_EP_MSG)
		must("fi_eq_open", fi_eq_open(fabric, &eq_attr, &eq, NULL));
	else
		must("fi_av_open", fi_av_open(domain, &av_attr, &av, NULL));
	printf("ok objects\n");
}

static void open_memory(struct side *s)
{
	s->buf = calloc(2, BIG);
	if (!s->buf)
		fail("memory");
	must("fi_mr_reg", fi_mr_reg(domain, s->buf, 2 * BIG, FI_SEND | FI_RECV, 0,
				    1 + (uint64_t) (s - side), 0, &s->mr, NULL));
	s->desc = fi_mr_desc(s->mr);
}

static void open_side(struct side *s, struct fi_info *from)
{
	struct fi_cq_attr attr = { .format = FI_CQ_FORMAT_DATA, .size = 64 };

	must("fi_cq_open", fi_cq_open(domain, &attr, &s->cq, NULL));
	must("fi_endpoint", fi_endpoint(domain, from, &s->ep, NULL));
	must("fi_ep_bind cq", fi_ep_bind(s->ep, &s->cq->fid, FI_TRANSMIT | FI_RECV));
	must("fi_ep_bind av or eq", fi_ep_bind(s->ep, av ? &av->fid : &eq->fid, 0));
	must("fi_enable", fi_enable(s->ep));
	open_memory(s);
}

static void introduce(struct side *from, struct side *to)
{
	char name[256];
	size_t len = 0;

	if (fi_getname(&to->ep->fid, NULL, &len) != -FI_ETOOSMALL || !len)
		fail("fi_getname does not tell the length");
	len = sizeof(name);
	must("fi_getname", fi_getname(&to->ep->fid, name, &len));
	if (fi_av_insert(av, name, 1, &from->peer, 0, NULL) != 1)
		fail("fi_av_insert");
}

/* ---- MSG: connect the two sides over loopback ------------------------------ */

static struct fi_info *next_event(uint32_t want)
{
	char buf[sizeof(struct fi_eq_cm_entry) + 64];
	struct fi_eq_err_entry err = { 0 };
	uint32_t event = 0;
	ssize_t n = fi_eq_sread(eq, &event, buf, sizeof(buf), TIMEOUT_S * 1000, 0);

	if (n == -FI_EAVAIL && fi_eq_readerr(eq, &err, 0) > 0)
		fail("event error %d (%s)", err.err, fi_strerror(err.err));
	if (n < 0 || event != want)
		fail("event %u instead of %u: %ld", event, want, (long) n);
	return ((struct fi_eq_cm_entry *) (void *) buf)->info;
}

static void connect_sides(void)
{
	struct fi_info *request, *toward;
	struct fid_pep *pep;
	size_t len = 256;
	char name[256];

	must("fi_passive_ep", fi_passive_ep(fabric, info, &pep, NULL));
	must("fi_pep_bind", fi_pep_bind(pep, &eq->fid, 0));
	must("fi_listen", fi_listen(pep));
	must("fi_getname", fi_getname(&pep->fid, name, &len));
	toward = fi_dupinfo(info);
	free(toward->src_addr);
	toward->src_addr = NULL;
	toward->src_addrlen = 0;
	open_side(&side[1], toward);
	fi_freeinfo(toward);
	must("fi_connect", fi_connect(side[1].ep, name, NULL, 0));
	request = next_event(FI_CONNREQ);
	open_side(&side[0], request);
	must("fi_accept", fi_accept(side[0].ep, NULL, 0));
	next_event(FI_CONNECTED);
	next_event(FI_CONNECTED);
	fi_freeinfo(request);
	must("fi_close pep", fi_close(&pep->fid));
	printf("ok connect\n");
}

/* ---- data ------------------------------------------------------------------- */

/* Wait for one completion, with progress on the other side. */
static struct fi_cq_data_entry done(struct side *s, struct side *other)
{
	struct fi_cq_data_entry entry = { 0 };
	struct fi_cq_err_entry err = { 0 };
	time_t start = time(NULL);
	ssize_t n;

	while ((n = fi_cq_read(s->cq, &entry, 1)) == -FI_EAGAIN) {
		if (expired(start))
			fail("no completion");
		fi_cq_read(other->cq, NULL, 0);
	}
	if (n == -FI_EAVAIL && fi_cq_readerr(s->cq, &err, 0) == 1)
		fail("completion error %d (%s)", err.err, fi_strerror(err.err));
	if (n != 1)
		fail("fi_cq_read: %ld", (long) n);
	return entry;
}

static void again(const char *what, ssize_t ret, time_t start)
{
	if (ret != -FI_EAGAIN || expired(start))
		must(what, (long) ret);
	fi_cq_read(side[0].cq, NULL, 0);
	fi_cq_read(side[1].cq, NULL, 0);
}

static void carry(struct side *from, struct side *to, size_t len, int tagged)
{
	struct fi_context ctx[2];
	time_t start = time(NULL);
	struct fi_cq_data_entry rx;
	ssize_t ret;

	for (size_t i = 0; i < len; i++)
		from->buf[i] = (char) (i * 7 + len + (size_t) tagged);
	memset(to->buf + BIG, 0, len);
	must("fi_recv", tagged ?
	     fi_trecv(to->ep, to->buf + BIG, BIG, to->desc, FI_ADDR_UNSPEC, 0x77, 0, &ctx[0]) :
	     fi_recv(to->ep, to->buf + BIG, BIG, to->desc, FI_ADDR_UNSPEC, &ctx[0]));
	while ((ret = tagged ?
		fi_tsend(from->ep, from->buf, len, from->desc, from->peer, 0x77, &ctx[1]) :
		fi_send(from->ep, from->buf, len, from->desc, from->peer, &ctx[1])))
		again("fi_send", ret, start);
	done(from, to);
	rx = done(to, from);
	if (rx.op_context != &ctx[0] || rx.len != len)
		fail("receive of %zu bytes: len %zu", len, rx.len);
	if (memcmp(from->buf, to->buf + BIG, len))
		fail("%zu bytes: the data differ", len);
}

static void inject(struct side *from, struct side *to)
{
	struct fi_context ctx;
	time_t start = time(NULL);
	ssize_t ret;

	must("fi_recv", fi_recv(to->ep, to->buf + BIG, BIG, to->desc, FI_ADDR_UNSPEC, &ctx));
	while ((ret = fi_inject(from->ep, "injected", SMALL, from->peer)))
		again("fi_inject", ret, start);
	done(to, from);
	if (memcmp(to->buf + BIG, "injected", SMALL))
		fail("fi_inject: the data differ");
}

static void exchange(int tagged)
{
	for (int i = 0; i < 2; i++) {
		carry(&side[i], &side[!i], SMALL, 0);
		carry(&side[i], &side[!i], big, 0);
		inject(&side[i], &side[!i]);
		if (tagged)
			carry(&side[i], &side[!i], SMALL, 1);
		if (tagged)
			carry(&side[i], &side[!i], big, 1);
	}
	printf("ok data\n");
}

static void close_all(void)
{
	for (int i = 0; i < 2; i++) {
		must("fi_close mr", fi_close(&side[i].mr->fid));
		must("fi_close ep", fi_close(&side[i].ep->fid));
		must("fi_close cq", fi_close(&side[i].cq->fid));
		free(side[i].buf);
	}
	if (av)
		must("fi_close av", fi_close(&av->fid));
	must("fi_close domain", fi_close(&domain->fid));
	if (eq)
		must("fi_close eq", fi_close(&eq->fid));
	must("fi_close fabric", fi_close(&fabric->fid));
	fi_freeinfo(info);
	printf("ok close\n");
}

/* ---- calls that the library may not have ------------------------------------- */

#if FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION) >= FI_VERSION(2, 0)
#include <rdma/fi_profile.h>
#pragma weak fi_fabric2

/* Any result is accepted; an old library has to return an error. */
static void answers(const char *what, long ret)
{
	if (ret > 0 || (FI_VERSION_LT(fi_version(), FI_VERSION(2, 0)) && ret != -FI_ENOSYS))
		fail("%s: %ld", what, ret);
	printf("ok %s says %s\n", what, fi_strerror((int) -ret));
}

static void newer_calls(void)
{
	struct fid_profile *profile = NULL;
	struct fid_fabric *second = NULL;
	fi_addr_t addr = 0;
	char key[64] = "key";
	size_t len = sizeof(key);
	int ret;

	answers("fi_av_insert_auth_key", fi_av_insert_auth_key(av, key, 3, &addr, 0));
	answers("fi_av_lookup_auth_key", fi_av_lookup_auth_key(av, addr, key, &len));
	answers("fi_av_set_user_id", fi_av_set_user_id(av, side[0].peer, 7, 0));
	ret = fi_profile_open(&domain->fid, 0, &profile, NULL);
	answers("fi_profile_open", ret);
	if (!ret)
		must("fi_profile_close", fi_profile_close(profile));
	if (!fi_fabric2) {
		printf("ok fi_fabric2 is not in this library\n");
		return;
	}
	must("fi_fabric2", fi_fabric2(info, &second, 0, NULL));
	must("fi_close", fi_close(&second->fid));
	printf("ok fi_fabric2\n");
}
#else
static void newer_calls(void)
{
	printf("ok these headers have no newer calls\n");
}
#endif

int main(int argc, char **argv)
{
	const char *kind = argc > 2 ? argv[2] : "";
	enum fi_ep_type type = !strcmp(kind, "dgram") ? FI_EP_DGRAM :
			       !strcmp(kind, "msg") ? FI_EP_MSG : FI_EP_RDM;
	int tagged = type == FI_EP_RDM;

	if (argc < 3)
		fail("usage: program PROVIDER rdm|dgram|msg|calls");
	setvbuf(stdout, NULL, _IOLBF, 0);
	find(argv[1], type, tagged ? FI_MSG | FI_TAGGED : FI_MSG);
	open_objects();
	if (type == FI_EP_MSG) {
		connect_sides();
	} else {
		open_side(&side[0], info);
		open_side(&side[1], info);
		introduce(&side[0], &side[1]);
		introduce(&side[1], &side[0]);
	}
	exchange(tagged);
	if (!strcmp(kind, "calls"))
		newer_calls();
	close_all();
	return 0;
}
