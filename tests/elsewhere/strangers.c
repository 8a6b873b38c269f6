/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * FI_THREAD_COMPLETION: one thread inserts addresses while another one reads the completion queue and
 * peers that are in no address vector send.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/runtimes/rt.h"

#define PEERS 100
#define POSTED 32

struct end {
	struct fid_ep *ep;
	struct fid_cq *cq;
	struct fid_av *av;
	char name[256];
	size_t len;
};

static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_domain *domain[2];	/* of the receiver, and of the others */
static struct end receiver, peer[PEERS];
static atomic_bool done;

static void open_end(struct end *end, struct fid_domain *dom)
{
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_MSG };
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE };

	assert_int_equal(fi_endpoint(dom, info, &end->ep, NULL), 0);
	assert_int_equal(fi_cq_open(dom, &cq_attr, &end->cq, NULL), 0);
	assert_int_equal(fi_av_open(dom, &av_attr, &end->av, NULL), 0);
	assert_int_equal(fi_ep_bind(end->ep, &end->cq->fid, FI_TRANSMIT | FI_RECV), 0);
	assert_int_equal(fi_ep_bind(end->ep, &end->av->fid, 0), 0);
	assert_int_equal(fi_enable(end->ep), 0);
	end->len = sizeof(end->name);
	assert_int_equal(fi_getname(&end->ep->fid, end->name, &end->len), 0);
}

static void close_end(struct end *end)
{
	assert_int_equal(fi_close(&end->ep->fid), 0);
	assert_int_equal(fi_close(&end->cq->fid), 0);
	assert_int_equal(fi_close(&end->av->fid), 0);
}

/* insert - the addresses of the peers, in the middle of their messages. */
static void *insert(void *arg)
{
	fi_addr_t num;
	int i;

	for (i = 0; i < PEERS; i++)
		if (fi_av_insert(receiver.av, peer[i].name, 1, &num, 0, NULL) != 1)
			return (void *) 1;
	return NULL;
}

static void *transmit(void *arg)
{
	fi_addr_t to[PEERS];
	bool sent[PEERS] = { false };
	int i;

	for (i = 0; i < PEERS; i++)
		if (fi_av_insert(peer[i].av, receiver.name, 1, &to[i], 0, NULL) != 1)
			return (void *) 1;
	while (!done)
		for (i = 0; i < PEERS; i++) {
			if (!sent[i])
				sent[i] = !fi_inject(peer[i].ep, &i, sizeof(i), to[i]);
			fi_cq_read(peer[i].cq, NULL, 0);
		}
	return NULL;
}

/* receive - one message of each peer; a source is unknown, or the number of the peer. */
static void receive(void)
{
	static int in[POSTED];
	static struct fi_context2 ctx[POSTED];
	bool got[PEERS] = { false };
	struct fi_cq_msg_entry entry;
	fi_addr_t from;
	int cnt = 0, slot;
	ssize_t ret;

	for (slot = 0; slot < POSTED; slot++)
		assert_int_equal(fi_recv(receiver.ep, &in[slot], sizeof(*in), NULL, FI_ADDR_UNSPEC, &ctx[slot]), 0);
	while (cnt < PEERS) {
		ret = fi_cq_readfrom(receiver.cq, &entry, 1, &from);
		if (ret == -FI_EAGAIN)
			continue;
		assert_int_equal(ret, 1);
		slot = (int) ((struct fi_context2 *) entry.op_context - ctx);
		assert_in_range(in[slot], 0, PEERS - 1);
		assert_true(from == FI_ADDR_NOTAVAIL || from == (fi_addr_t) in[slot]);
		assert_false(got[in[slot]]);
		got[in[slot]] = true;
		cnt++;
		assert_int_equal(fi_recv(receiver.ep, &in[slot], sizeof(*in), NULL, FI_ADDR_UNSPEC, &ctx[slot]), 0);
	}
}

static void open_all(const char *prov)
{
	struct fi_info *hints = rt_hints();
	int i;

	hints->caps = FI_MSG | FI_SOURCE;
	hints->mode = FI_CONTEXT | FI_CONTEXT2;
	hints->ep_attr->type = FI_EP_RDM;
	hints->domain_attr->threading = FI_THREAD_COMPLETION;
	hints->fabric_attr->prov_name = strdup(prov);
	assert_int_equal(fi_getinfo(FI_VERSION(2, 6), "127.0.0.1", NULL, FI_SOURCE, hints, &info), 0);
	fi_freeinfo(hints);
	assert_int_equal(fi_fabric(info->fabric_attr, &fabric, NULL), 0);
	for (i = 0; i < 2; i++)
		assert_int_equal(fi_domain(fabric, info, &domain[i], NULL), 0);
	open_end(&receiver, domain[0]);
	for (i = 0; i < PEERS; i++)
		open_end(&peer[i], domain[1]);
}

static void addresses_are_inserted_while_strangers_send(void **state)
{
	pthread_t inserter, transmitter;
	void *ret;
	int i;

	done = false;
	open_all(*state);
	assert_int_equal(pthread_create(&transmitter, NULL, transmit, NULL), 0);
	assert_int_equal(pthread_create(&inserter, NULL, insert, NULL), 0);
	receive();
	assert_int_equal(pthread_join(inserter, &ret), 0);
	assert_null(ret);
	close_end(&receiver);	/* while its peers make progress */
	done = true;
	assert_int_equal(pthread_join(transmitter, &ret), 0);
	assert_null(ret);
	for (i = 0; i < PEERS; i++)
		close_end(&peer[i]);
	for (i = 0; i < 2; i++)
		assert_int_equal(fi_close(&domain[i]->fid), 0);
	assert_int_equal(fi_close(&fabric->fid), 0);
	fi_freeinfo(info);
}

int main(void)
{
#define CASE(prov) { .name = prov, .test_func = addresses_are_inserted_while_strangers_send, .initial_state = prov }
	const struct CMUnitTest tests[] = {
		CASE("tcp"), CASE("shm"), CASE("udp;ofi_rxd"), CASE("tcp;ofi_rxm"),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
