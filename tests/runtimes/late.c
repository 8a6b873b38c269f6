/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * late - a server that does other things before it accepts: the connect waits for it.
 *
 * LATE_SECONDS is how long it takes, first before it reads its event queue, then once more
 * between the request and the accept [1].  The connect has no limit of its own meanwhile
 * (fi_tcp(7)): only the program gives it up.  Over datagrams a server that makes no progress cannot
 * be told from one that is gone, and an attempt has FI_OFI_RXD_CONN_TIMEOUT, a minute (fi_rxd(7)).
 */
#include "rt.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	int ms_max;		/* of each of the two waits */
} providers[] = { { "tcp", INT_MAX }, { "udp;ofi_rxd", 25000 }, { "verbs", INT_MAX } };

/* One side: client or server. */
struct side {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_eq *eq;
	struct fid_cq *cq;
	struct fid_ep *ep;
};

static int late_ms(void)
{
	const char *seconds = getenv("LATE_SECONDS");

	return seconds ? atoi(seconds) * 1000 : 1000;
}

static void open_side(struct side *s, struct fi_info *info)
{
	struct fi_eq_attr attr = { .wait_obj = FI_WAIT_UNSPEC };

	memset(s, 0, sizeof(*s));
	s->info = info;
	assert_int_equal(fi_fabric(info->fabric_attr, &s->fabric, NULL), 0);
	assert_int_equal(fi_eq_open(s->fabric, &attr, &s->eq, NULL), 0);
}

static void open_ep(struct side *s, struct fi_info *info)
{
	struct fi_cq_attr attr = { .format = FI_CQ_FORMAT_MSG };

	assert_int_equal(fi_domain(s->fabric, info, &s->domain, NULL), 0);
	assert_int_equal(fi_cq_open(s->domain, &attr, &s->cq, NULL), 0);
	assert_int_equal(fi_endpoint(s->domain, info, &s->ep, NULL), 0);
	assert_int_equal(fi_ep_bind(s->ep, &s->eq->fid, 0), 0);
	assert_int_equal(fi_ep_bind(s->ep, &s->cq->fid, FI_TRANSMIT | FI_RECV), 0);
	assert_int_equal(fi_enable(s->ep), 0);
}

static void close_side(struct side *s)
{
	assert_int_equal(fi_close(&s->ep->fid), 0);
	assert_int_equal(fi_close(&s->cq->fid), 0);
	assert_int_equal(fi_close(&s->domain->fid), 0);
	assert_int_equal(fi_close(&s->eq->fid), 0);
	assert_int_equal(fi_close(&s->fabric->fid), 0);
	fi_freeinfo(s->info);
}

static struct fi_info *ask(const char *prov, uint64_t flags)
{
	struct fi_info *hints = rt_hints(), *info = NULL;

	hints->caps = FI_MSG;
	hints->ep_attr->type = FI_EP_MSG;
	hints->domain_attr->data_progress = FI_PROGRESS_AUTO;	/* only one side reads its queues */
	hints->fabric_attr->prov_name = strdup(prov);
	if (fi_getinfo(FI_VERSION(1, 20), "127.0.0.1", NULL, flags, hints, &info))
		print_message("no MSG endpoints of %s here\n", prov);
	fi_freeinfo(hints);
	return info;
}

/* event_of - the next event, which must be @want and come within @ms.  Returns its info. */
static struct fi_info *event_of(struct side *s, uint32_t want, int ms)
{
	struct fi_eq_cm_entry entry = { 0 };
	struct fi_eq_err_entry err = { 0 };
	uint32_t event;
	ssize_t ret = fi_eq_sread(s->eq, &event, &entry, sizeof(entry), ms, 0);

	if (ret == -FI_EAVAIL) {
		fi_eq_readerr(s->eq, &err, 0);
		fail_msg("%s", fi_strerror(err.err));
	}
	assert_true(ret >= (ssize_t) sizeof(entry));
	assert_int_equal(event, want);
	return entry.info;
}

/* wait_calmly - the client waits for its connection, and gets no event. */
static void wait_calmly(struct side *client, int ms)
{
	struct fi_eq_cm_entry entry;
	uint32_t event;

	assert_int_equal(fi_eq_sread(client->eq, &event, &entry, sizeof(entry), ms, 0), -FI_EAGAIN);
}

static void over(struct fi_info *server_info, struct fi_info *client_info, int ms)
{
	struct side server, client;
	struct fi_info *request;
	struct fid_pep *pep;
	char name[128];
	size_t len = sizeof(name);

	open_side(&server, server_info);
	assert_int_equal(fi_passive_ep(server.fabric, server_info, &pep, NULL), 0);
	assert_int_equal(fi_pep_bind(pep, &server.eq->fid, 0), 0);
	assert_int_equal(fi_listen(pep), 0);
	assert_int_equal(fi_getname(&pep->fid, name, &len), 0);
	open_side(&client, client_info);
	open_ep(&client, client_info);
	assert_int_equal(fi_connect(client.ep, name, NULL, 0), 0);
	wait_calmly(&client, ms);
	request = event_of(&server, FI_CONNREQ, 10000);
	wait_calmly(&client, ms);
	open_ep(&server, request);
	assert_int_equal(fi_accept(server.ep, NULL, 0), 0);
	event_of(&client, FI_CONNECTED, 10000);
	event_of(&server, FI_CONNECTED, 10000);
	fi_freeinfo(request);
	assert_int_equal(fi_close(&pep->fid), 0);
	close_side(&client);
	close_side(&server);
}

static void test_late_accept(void **state)
{
	struct fi_info *server, *client;
	int most;
	size_t i;

	for (i = 0; i < sizeof(providers) / sizeof(providers[0]); i++) {
		server = ask(providers[i].name, FI_SOURCE);
		client = server ? ask(providers[i].name, 0) : NULL;
		most = providers[i].ms_max;
		if (client)
			over(server, client, late_ms() < most ? late_ms() : most);
		else
			fi_freeinfo(server);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_late_accept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
