/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The provider through the public API: endpoints of several domains, each used by a thread
 * of its own; who is offered it; addresses of other processes.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <pthread.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "obj/test/calls.h"

struct node {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_ep *ep;
	struct fid_cq *cq;
	struct fid_av *av;
	char name[64];
};

static struct fi_info *find(const char *prov)
{
	struct fi_info *hints = fi_allocinfo(), *info = NULL;

	hints->caps = FI_MSG;
	hints->ep_attr->type = FI_EP_RDM;
	hints->domain_attr->threading = FI_THREAD_DOMAIN;	/* no locks but the inbox's */
	/* no thread of the library: one of the tests forks */
	hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
	hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	hints->fabric_attr->prov_name = prov ? strdup(prov) : NULL;
	fi_getinfo(FI_VERSION(2, 6), NULL, NULL, 0, hints, &info);
	fi_freeinfo(hints);
	return info;
}

static void node_open(struct node *n)
{
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_CONTEXT, .wait_obj = FI_WAIT_UNSPEC };
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE };
	size_t len = sizeof(n->name);

	n->info = find("loop");
	CHECK(n->info);
	CALL(fi_fabric(n->info->fabric_attr, &n->fabric, NULL));
	CALL(fi_domain(n->fabric, n->info, &n->domain, NULL));
	CALL(fi_endpoint(n->domain, n->info, &n->ep, NULL));
	CALL(fi_cq_open(n->domain, &cq_attr, &n->cq, NULL));
	CALL(fi_av_open(n->domain, &av_attr, &n->av, NULL));
	CALL(fi_ep_bind(n->ep, &n->cq->fid, FI_TRANSMIT | FI_RECV));
	CALL(fi_ep_bind(n->ep, &n->av->fid, 0));
	CALL(fi_enable(n->ep));
	CALL(fi_getname(&n->ep->fid, n->name, &len));
}

static void node_close(struct node *n)
{
	CALL(fi_close(&n->ep->fid));
	CALL(fi_close(&n->av->fid));
	CALL(fi_close(&n->cq->fid));
	CALL(fi_close(&n->domain->fid));
	CALL(fi_close(&n->fabric->fid));
	fi_freeinfo(n->info);
}

/* await - @cnt completions, asleep between them. */
static void await(struct node *n, int cnt)
{
	struct fi_cq_entry entry;
	ssize_t ret;

	while (cnt) {
		ret = fi_cq_sread(n->cq, &entry, 1, NULL, 10000);
		CHECK(ret == 1);
		cnt--;
	}
}

static fi_addr_t add(struct node *n, const char *name)
{
	fi_addr_t addr;

	CHECK(fi_av_insert(n->av, name, 1, &addr, 0, NULL) == 1);
	return addr;
}

#define POST(n, call)							\
	do {								\
		ssize_t ret_;						\
		while ((ret_ = (call)) == -FI_EAGAIN)			\
			fi_cq_read((n)->cq, NULL, 0);			\
		CHECK(!ret_);						\
	} while (0)

#define ROUNDS 2000
#define LONG 300000

static struct node nodes[2];

/* Each thread has a domain, so two progress groups without locks meet in the inboxes. */
static void *play(void *arg)
{
	struct node *me = arg, *other = me == nodes ? &nodes[1] : nodes;
	uint8_t *in = malloc(LONG), *out = malloc(LONG);
	fi_addr_t to = add(me, other->name);
	uint64_t i, got;

	for (i = 0; i < ROUNDS; i++) {
		POST(me, fi_recv(me->ep, &got, sizeof(got), NULL, FI_ADDR_UNSPEC, NULL));
		POST(me, fi_send(me->ep, &i, sizeof(i), NULL, to, NULL));
		await(me, 2);
		CHECK(got == i);
	}
	memset(out, me == nodes ? 1 : 2, LONG);
	POST(me, fi_recv(me->ep, in, LONG, NULL, FI_ADDR_UNSPEC, NULL));
	POST(me, fi_send(me->ep, out, LONG, NULL, to, NULL));
	await(me, 2);
	for (i = 0; i < LONG; i++)
		CHECK(in[i] == (me == nodes ? 2 : 1));
	free(in);
	free(out);
	return NULL;
}

static void threads_with_a_domain_each_exchange_messages(void **state)
{
	pthread_t thread;

	node_open(&nodes[0]);
	node_open(&nodes[1]);
	CHECK(strcmp(nodes[0].name, nodes[1].name));
	CHECK(!pthread_create(&thread, NULL, play, &nodes[1]));
	play(&nodes[0]);
	pthread_join(thread, NULL);
	node_close(&nodes[0]);
	node_close(&nodes[1]);
}

static void it_is_offered_to_those_who_name_it(void **state)
{
	struct fi_info *all = find(NULL), *info;

	for (info = all; info; info = info->next)
		assert_string_not_equal(info->fabric_attr->prov_name, "loop");
	fi_freeinfo(all);
	info = find("loop");
	assert_non_null(info);
	assert_string_equal(info->fabric_attr->prov_name, "loop");
	assert_int_equal(info->addr_format, FI_ADDR_STR);
	fi_freeinfo(info);
}

static void send_error(struct node *n, const char *name, int err)
{
	struct fi_cq_err_entry entry = { 0 };
	struct fi_cq_entry comp;

	POST(n, fi_send(n->ep, "x", 1, NULL, add(n, name), NULL));
	CHECK(fi_cq_sread(n->cq, &comp, 1, NULL, 10000) == -FI_EAVAIL);
	CHECK(fi_cq_readerr(n->cq, &entry, 0) == 1);
	CHECK(entry.err == err);
}

static void an_endpoint_of_another_process_is_refused(void **state)
{
	struct node n;
	char name[64];
	int status;
	pid_t pid;

	node_open(&n);
	strcpy(name, n.name);
	pid = fork();
	if (!pid) {	/* a child finds none of its parent's endpoints, and has its own */
		struct node own;

		node_open(&own);
		send_error(&own, name, FI_EHOSTUNREACH);
		node_close(&own);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	send_error(&n, "fi_loop://1:0", FI_EHOSTUNREACH);
	node_close(&n);
}

static void a_name_that_is_taken_is_refused(void **state)
{
	struct fi_info *info;
	struct fid_ep *ep;
	struct node n;

	node_open(&n);
	info = fi_dupinfo(n.info);
	free(info->src_addr);
	info->src_addr = strdup(n.name);
	info->src_addrlen = strlen(n.name) + 1;
	CALL(fi_endpoint(n.domain, info, &ep, NULL));
	CALL(fi_ep_bind(ep, &n.cq->fid, FI_TRANSMIT | FI_RECV));
	CALL(fi_ep_bind(ep, &n.av->fid, 0));
	CHECK(fi_enable(ep) == -FI_EADDRINUSE);
	CALL(fi_close(&ep->fid));
	fi_freeinfo(info);
	node_close(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_with_a_domain_each_exchange_messages),
		cmocka_unit_test(it_is_offered_to_those_who_name_it),
		cmocka_unit_test(an_endpoint_of_another_process_is_refused),
		cmocka_unit_test(a_name_that_is_taken_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
