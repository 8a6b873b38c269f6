/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "obj/test/fake.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct fake f;

/* ---- binding and enabling ------------------------------------------------- */

static void test_enable(void **state)
{
	struct fid_cq *cq;
	struct fid_av *av;
	struct fid_ep *ep;

	fake_open(&f, NULL);
	fake_log_start();
	cq = fake_cq(&f, FI_CQ_FORMAT_CONTEXT, FI_WAIT_NONE);
	av = fake_av(&f);
	ep = fake_ep_open(&f);
	assert_int_equal(fi_enable(ep), -FI_ENOCQ);
	assert_non_null(strstr(fake_log_last(), "FI_TRANSMIT"));
	assert_int_equal(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT), 0);
	assert_int_equal(fi_enable(ep), -FI_ENOCQ);
	assert_non_null(strstr(fake_log_last(), "FI_RECV"));
	assert_int_equal(fi_ep_bind(ep, &cq->fid, FI_RECV), 0);
	assert_int_equal(fi_enable(ep), -FI_ENOAV);
	assert_int_equal(fi_ep_bind(ep, &av->fid, 0), 0);
	fake_ep_of(ep)->enable_ret = -FI_EADDRINUSE;
	assert_int_equal(fi_enable(ep), -FI_EADDRINUSE);
	fake_ep_of(ep)->enable_ret = 0;
	assert_int_equal(fi_enable(ep), 0);
	assert_int_equal(fi_enable(ep), 0);
	assert_int_equal(fake_ep_of(ep)->enabled, 1);
	assert_int_equal(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT), -FI_EOPBADSTATE);
	CLOSE(ep);
	CLOSE(av);
	CLOSE(cq);
	fake_close(&f);
}

/* Sandia OpenSHMEM enables an endpoint as a target, binds what it needs to begin operations
 * afterwards, and enables it again.
 */
static void test_bind_late(void **state)
{
	struct fid_cntr *cntr, *other;
	struct fi_cntr_attr attr = { .events = FI_CNTR_EVENTS_COMP, .wait_obj = FI_WAIT_UNSPEC };
	struct fid_stx *stx;
	struct fid_mr *mr;
	struct fid_cq *cq;
	struct fid_av *av;
	struct fid_ep *ep;
	char buf[64];

	fake_open(&f, NULL);
	fake_log_start();
	cq = fake_cq(&f, FI_CQ_FORMAT_CONTEXT, FI_WAIT_NONE);
	av = fake_av(&f);
	ep = fake_ep_open(&f);
	assert_int_equal(fi_cntr_open(f.domain, &attr, &cntr, NULL), 0);
	assert_int_equal(fi_cntr_open(f.domain, &attr, &other, NULL), 0);
	assert_int_equal(obj_stx_open(f.domain, NULL, &stx, NULL), 0);
	assert_int_equal(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV), 0);
	assert_int_equal(fi_ep_bind(ep, &av->fid, 0), 0);
	assert_int_equal(fi_enable(ep), 0);
	assert_int_equal(fi_ep_bind(ep, &stx->fid, 0), 0);
	assert_int_equal(fi_ep_bind(ep, &stx->fid, 0), -FI_EINVAL);
	assert_int_equal(fi_ep_bind(ep, &cntr->fid, FI_WRITE | FI_SEND), 0);
	assert_int_equal(fi_ep_bind(ep, &other->fid, FI_WRITE), -FI_EINVAL);
	assert_int_equal(fi_ep_bind(ep, &other->fid, FI_READ | FI_REMOTE_READ), 0);
	assert_int_equal(fi_enable(ep), 0);
	assert_int_equal(fake_ep_of(ep)->enabled, 1);
	assert_int_equal(fake_ep_of(ep)->rebound, 3);
	obj_ep_comp_tx(obj_ep_of(ep), false, NULL, FI_SEND, 10, OBJ_CNTR_SEND);
	assert_int_equal(fi_cntr_read(cntr), 1);
	/* the counter's reader drives the endpoint */
	assert_ptr_equal(obj_feed_home(&obj_cntr_of(cntr)->wait.feed), obj_ep_of(ep)->prog);
	/* what changes more than that is refused, and so is a count that has begun already */
	assert_int_equal(fi_ep_bind(ep, &av->fid, 0), -FI_EOPBADSTATE);
	assert_int_equal(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT), -FI_EOPBADSTATE);
	assert_int_equal(fi_mr_reg(f.domain, buf, sizeof(buf), FI_REMOTE_WRITE, 0, 0, 0, &mr, NULL), 0);
	assert_int_equal(fi_ep_bind(ep, &other->fid, FI_REMOTE_WRITE), -FI_EOPBADSTATE);
	assert_non_null(strstr(fake_log_last(), "regions"));
	CLOSE(mr);
	CLOSE(ep);
	CLOSE(stx);
	CLOSE(other);
	CLOSE(cntr);
	CLOSE(av);
	CLOSE(cq);
	fake_close(&f);
}

static void test_enable_msg(void **state)
{
	struct fake_want want = { .type = FI_EP_MSG };
	struct fid_cq *cq;
	struct fid_av *av;
	struct fid_eq *eq;
	struct fid_ep *ep;

	fake_open(&f, &want);
	fake_log_start();
	cq = fake_cq(&f, FI_CQ_FORMAT_CONTEXT, FI_WAIT_NONE);
	av = fake_av(&f);
	eq = fake_eq(&f, FI_WAIT_NONE);
	ep = fake_ep_open(&f);
	assert_int_equal(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV), 0);
	assert_int_equal(fi_enable(ep), -FI_ENOEQ);
	assert_int_equal(fi_ep_bind(ep, &av->fid, 0), -FI_EINVAL);
	assert_int_equal(fi_ep_bind(ep, &eq->fid, 0), 0);
	assert_int_equal(fi_ep_bind(ep, &eq->fid, 0), -FI_EINVAL);
	assert_int_equal(fi_enable(ep), 0);
	CLOSE(ep);
	CLOSE(eq);
	CLOSE(av);
	CLOSE(cq);
	fake_close(&f);
}

/* Only what the capabilities can initiate needs a queue. */
static void test_enable_caps(void **state)
{
	struct {
		uint64_t caps;
		uint64_t bind;
		int ret;
	} cases[] = {
		{ FI_MSG | FI_SEND, FI_TRANSMIT, 0 },
		{ FI_MSG | FI_RECV, FI_RECV, 0 },
		{ FI_MSG | FI_RECV, FI_TRANSMIT, -FI_ENOCQ },
		{ FI_RMA, FI_TRANSMIT, 0 },
		{ FI_RMA, FI_RECV, -FI_ENOCQ },
		{ FI_RMA | FI_REMOTE_READ, FI_RECV, 0 },
		{ FI_TAGGED | FI_RMA, FI_TRANSMIT, -FI_ENOCQ },
	};
	struct fid_cq *cq;
	struct fid_av *av;
	struct fid_ep *ep;
	size_t i;

	fake_open(&f, NULL);
	fake_log_start();
	cq = fake_cq(&f, FI_CQ_FORMAT_CONTEXT, FI_WAIT_NONE);
	av = fake_av(&f);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		f.info->caps = cases[i].caps;
		ep = fake_ep_open(&f);
		assert_int_equal(fi_ep_bind(ep, &av->fid, 0), 0);
		assert_int_equal(fi_ep_bind(ep, &cq->fid, cases[i].bind), 0);
		assert_int_equal(fi_enable(ep), cases[i].ret);
		CLOSE(ep);
	}
	CLOSE(av);
	CLOSE(cq);
	fake_close(&f);
}

static void test_bind_errors(void **state)
{
	struct fid_domain *other_domain;
	struct fid_cq *cq, *other_cq;
	struct fi_cq_attr attr = { 0 };
	struct fid_cntr *cntr;
	struct fid_av *av;
	struct fid_ep *ep;

	fake_open(&f, NULL);
	fake_log_start();
	assert_int_equal(fi_domain(f.fabric, f.info, &other_domain, NULL), 0);
	assert_int_equal(fi_cq_open(other_domain, &attr, &other_cq, NULL), 0);
	cq = fake_cq(&f, FI_CQ_FORMAT_CONTEXT, FI_WAIT_NONE);
	cntr = fake_cntr(&f, FI_WAIT_NONE);
	av = fake_av(&f);
	ep = fake_ep_open(&f);
	/* no direction: nothing is bound, as the next lines show */
	assert_int_equal(fi_ep_bind(ep, &cq->fid, 0), 0);
	assert_int_equal(fi_ep_bind(ep, &cq->fid, FI_SELECTIVE_COMPLETION), 0);
	assert_null(obj_ep_of(ep)->tx_cq);
	assert_null(obj_ep_of(ep)->rx_cq);
	assert_int_equal(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_MORE), -FI_EBADFLAGS);
	assert_int_equal(fi_ep_bind(ep, &other_cq->fid, FI_TRANSMIT), -FI_EINVAL);
	assert_int_equal(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_SELECTIVE_COMPLETION), 0);
	assert_int_equal(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV), -FI_EINVAL);
	assert_int_equal(fi_ep_bind(ep, &cq->fid, FI_RECV), 0);
	assert_true(fake_ep_of(ep)->base.tx_selective);
	assert_false(fake_ep_of(ep)->base.rx_selective);
	assert_int_equal(fi_ep_bind(ep, &cntr->fid, 0), 0);	/* counts nothing */
	assert_int_equal(fi_ep_bind(ep, &cntr->fid, FI_MORE), -FI_EBADFLAGS);
	/* without FI_RMA_EVENT too: then it may count nothing */
	assert_int_equal(fi_ep_bind(ep, &cntr->fid, FI_REMOTE_WRITE), 0);
	assert_int_equal(fi_ep_bind(ep, &cntr->fid, FI_REMOTE_WRITE), -FI_EINVAL);
	assert_int_equal(fi_ep_bind(ep, &cntr->fid, FI_SEND | FI_WRITE), 0);
	assert_int_equal(fi_ep_bind(ep, &cntr->fid, FI_READ | FI_WRITE), -FI_EINVAL);
	assert_int_equal(fi_ep_bind(ep, &cntr->fid, FI_READ), 0);
	assert_int_equal(fi_ep_bind(ep, &av->fid, FI_MORE), -FI_EBADFLAGS);
	assert_int_equal(fi_ep_bind(ep, &av->fid, 0), 0);
	assert_int_equal(fi_ep_bind(ep, &av->fid, 0), -FI_EINVAL);
	assert_int_equal(fi_ep_bind(ep, &f.domain->fid, 0), -FI_EINVAL);
	CLOSE(ep);
	CLOSE(av);
	CLOSE(cntr);
	CLOSE(cq);
	CLOSE(other_cq);
	CLOSE(other_domain);
	fake_close(&f);
}

static int count_sources(const struct obj_cq *cq)
{
	const struct obj_source *source;
	int cnt = 0;

	for (source = obj_feed_newest(&cq->wait.feed); source; source = source->older)
		cnt++;
	return cnt;
}

/* Endpoints that share a queue share a group; others do not. */
static void test_groups(void **state)
{
	struct fid_cq *a, *b, *c, *d;
	struct fid_ep *ep[4];
	struct obj_prog *prog[4];
	struct fid_av *av;
	int i;

	fake_open(&f, NULL);
	a = fake_cq(&f, FI_CQ_FORMAT_CONTEXT, FI_WAIT_NONE);
	b = fake_cq(&f, FI_CQ_FORMAT_CONTEXT, FI_WAIT_NONE);
	c = fake_cq(&f, FI_CQ_FORMAT_CONTEXT, FI_WAIT_NONE);
	d = fake_cq(&f, FI_CQ_FORMAT_CONTEXT, FI_WAIT_NONE);
	av = fake_av(&f);
	ep[0] = fake_ep_up(&f, a, b, av);
	ep[1] = fake_ep_up(&f, d, b, av);
	ep[2] = fake_ep_up(&f, c, c, av);
	ep[3] = fake_ep_up(&f, b, c, av);	/* the receive queue's home wins */
	for (i = 0; i < 4; i++)
		prog[i] = fake_ep_of(ep[i])->base.prog;
	assert_ptr_equal(prog[0], prog[1]);
	assert_ptr_not_equal(prog[0], prog[2]);
	assert_ptr_equal(prog[2], prog[3]);
	/* b is fed by both and drives both. */
	assert_int_equal(count_sources(obj_cq_of(b)), 2);
	assert_int_equal(count_sources(obj_cq_of(a)), 1);
	fake_deliver(ep[0], 1);
	fake_deliver(ep[2], 1);
	fi_cq_read(b, NULL, 0);
	assert_int_equal(obj_cq_of(b)->tail, 1);
	assert_int_equal(obj_cq_of(c)->tail, 1);
	for (i = 0; i < 4; i++)
		CLOSE(ep[i]);
	CLOSE(av);
	CLOSE(a);
	CLOSE(b);
	CLOSE(c);
	CLOSE(d);
	fake_close(&f);
}

/* A queue that many groups feed keeps them all. */
static void test_many_groups(void **state)
{
	enum { CNT = 20 };
	struct fid_cq *tx, *rx[CNT];
	struct fid_ep *first[CNT], *ep[CNT];
	struct fid_av *av;
	int i;

	fake_open(&f, NULL);
	tx = fake_cq(&f, FI_CQ_FORMAT_CONTEXT, FI_WAIT_NONE);
	av = fake_av(&f);
	for (i = 0; i < CNT; i++) {
		rx[i] = fake_cq(&f, FI_CQ_FORMAT_CONTEXT, FI_WAIT_NONE);
		first[i] = fake_ep_up(&f, rx[i], rx[i], av);
		ep[i] = fake_ep_up(&f, tx, rx[i], av);
		fake_deliver(ep[i], 1);
	}
	assert_int_equal(count_sources(obj_cq_of(tx)), CNT);
	fi_cq_read(tx, NULL, 0);
	for (i = 0; i < CNT; i++) {
		assert_int_equal(obj_cq_of(rx[i])->tail, 1);
		CLOSE(ep[i]);
		CLOSE(first[i]);
		CLOSE(rx[i]);
	}
	CLOSE(tx);
	CLOSE(av);
	fake_close(&f);
}

/* A shared receive context brings its endpoints together. */
static void test_shared(void **state)
{
	struct fid_cq *a, *b;
	struct fid_ep *srx, *ep[2];
	struct fid_stx *stx;
	struct fid_av *av;
	int i;

	fake_open(&f, NULL);
	fake_log_start();
	a = fake_cq(&f, FI_CQ_FORMAT_CONTEXT, FI_WAIT_NONE);
	b = fake_cq(&f, FI_CQ_FORMAT_CONTEXT, FI_WAIT_NONE);
	av = fake_av(&f);
	assert_int_equal(fi_srx_context(f.domain, f.info->rx_attr, &srx, NULL), 0);
	assert_int_equal(fi_stx_context(f.domain, f.info->tx_attr, &stx, NULL), 0);
	for (i = 0; i < 2; i++) {
		ep[i] = fake_ep_open(&f);
		assert_int_equal(fi_ep_bind(ep[i], &srx->fid, 0), 0);
		assert_int_equal(fi_ep_bind(ep[i], &srx->fid, 0), -FI_EINVAL);
		assert_int_equal(fi_ep_bind(ep[i], &stx->fid, 0), 0);
		assert_int_equal(fi_ep_bind(ep[i], i ? &b->fid : &a->fid, FI_TRANSMIT | FI_RECV), 0);
		assert_int_equal(fi_ep_bind(ep[i], &av->fid, 0), 0);
		assert_int_equal(fi_enable(ep[i]), 0);
	}
	assert_ptr_equal(fake_ep_of(ep[0])->base.prog, fake_ep_of(ep[1])->base.prog);
	assert_int_equal(fi_close(&srx->fid), -FI_EBUSY);
	/* a program may drop the transmit context first; its users go on, and stay bound to one */
	CLOSE(stx);
	assert_int_equal(fi_stx_context(f.domain, f.info->tx_attr, &stx, NULL), 0);
	assert_int_equal(fi_ep_bind(ep[0], &stx->fid, 0), -FI_EINVAL);
	CLOSE(stx);
	CLOSE(ep[0]);
	CLOSE(ep[1]);
	CLOSE(srx);
	CLOSE(av);
	CLOSE(a);
	CLOSE(b);
	fake_close(&f);
}

/* ---- closing -------------------------------------------------------------- */

/* Too early is -FI_EBUSY, and the log says who is in the way. */
static void test_busy(void **state)
{
	struct fid_cq *cq;
	struct fid_av *av;
	struct fid_ep *ep;
	char who[64];

	fake_open(&f, NULL);
	fake_log_start();
	cq = fake_cq(&f, FI_CQ_FORMAT_CONTEXT, FI_WAIT_NONE);
	av = fake_av(&f);
	assert_int_equal(fi_endpoint(f.domain, f.info, &ep, (void *) 0xabc), 0);
	fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV);
	fi_ep_bind(ep, &av->fid, 0);
	snprintf(who, sizeof(who), "endpoint %p (context 0xabc)", (void *) ep);
	assert_int_equal(fi_close(&cq->fid), -FI_EBUSY);
	assert_non_null(strstr(fake_log_last(), "completion queue"));
	assert_non_null(strstr(fake_log_last(), who));
	assert_int_equal(fi_close(&av->fid), -FI_EBUSY);
	assert_non_null(strstr(fake_log_last(), who));
	assert_int_equal(fi_close(&f.domain->fid), -FI_EBUSY);
	assert_non_null(strstr(fake_log_last(), "domain"));
	assert_int_equal(fi_close(&f.fabric->fid), -FI_EBUSY);
	assert_non_null(strstr(fake_log_last(), "used by the domain"));
	CLOSE(ep);
	CLOSE(cq);
	CLOSE(av);
	fake_close(&f);
}

static void test_av_removed(void **state)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = 1 };
	struct fid_cq *cq;
	struct fid_av *av;
	struct fid_ep *ep;
	fi_addr_t addr[2];

	fake_open(&f, NULL);
	cq = fake_cq(&f, FI_CQ_FORMAT_CONTEXT, FI_WAIT_NONE);
	av = fake_av(&f);
	ep = fake_ep_up(&f, cq, cq, av);
	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(fi_av_insert(av, &sin, 1, &addr[0], 0, NULL), 1);
	assert_int_equal(fi_av_insert(av, &sin, 1, &addr[1], 0, NULL), 1);
	assert_int_equal(fi_av_remove(av, &addr[1], 1, 0), 0);
	assert_int_equal(fake_ep_of(ep)->removed, addr[1]);
	CLOSE(ep);
	CLOSE(av);
	CLOSE(cq);
	fake_close(&f);
}

/* ---- aliases, flags, options ---------------------------------------------- */

static void test_alias(void **state)
{
	struct fid_ep *ep, *alias = NULL, *second = NULL;
	uint64_t flags;

	fake_open(&f, NULL);
	fake_log_start();
	f.info->tx_attr->op_flags = FI_COMPLETION;
	ep = fake_ep_open(&f);
	assert_int_equal(fi_ep_alias(ep, &alias, FI_INJECT), -FI_EINVAL);
	assert_int_equal(fi_ep_alias(ep, &alias, FI_TRANSMIT | FI_RECV), -FI_EINVAL);
	assert_int_equal(fi_ep_alias(ep, &alias, FI_TRANSMIT | FI_RMA), -FI_EBADFLAGS);
	flags = FI_TRANSMIT | FI_TRIGGER;	/* of an alias alone: an endpoint's calls look for none */
	assert_int_equal(fi_control(&ep->fid, FI_SETOPSFLAG, &flags), -FI_EBADFLAGS);
	assert_int_equal(fi_ep_alias(ep, &alias, FI_TRANSMIT | FI_DELIVERY_COMPLETE), 0);
	assert_ptr_equal(obj_ep_of(alias), obj_ep_of(ep));
	flags = FI_TRANSMIT;
	assert_int_equal(fi_control(&alias->fid, FI_GETOPSFLAG, &flags), 0);
	assert_int_equal(flags, FI_DELIVERY_COMPLETE);
	flags = FI_TRANSMIT;
	assert_int_equal(fi_control(&ep->fid, FI_GETOPSFLAG, &flags), 0);
	assert_int_equal(flags, FI_COMPLETION);
	flags = FI_RECV | FI_MULTI_RECV;
	assert_int_equal(fi_control(&alias->fid, FI_SETOPSFLAG, &flags), 0);
	flags = FI_RECV;
	assert_int_equal(fi_control(&alias->fid, FI_GETOPSFLAG, &flags), 0);
	assert_int_equal(flags, FI_MULTI_RECV);
	assert_int_equal(fi_ep_alias(alias, &second, FI_RECV), 0);
	flags = FI_TRANSMIT;
	assert_int_equal(fi_control(&second->fid, FI_GETOPSFLAG, &flags), 0);
	assert_int_equal(flags, FI_DELIVERY_COMPLETE);
	/* All aliases are closed before the endpoint. */
	assert_int_equal(fi_close(&ep->fid), -FI_EBUSY);
	CLOSE(alias);
	assert_int_equal(fi_close(&ep->fid), -FI_EBUSY);
	CLOSE(second);
	CLOSE(ep);
	fake_close(&f);
}

static void test_options(void **state)
{
	struct fid_ep *ep;
	size_t val, len;
	bool no = false;
	int half;

	fake_open(&f, NULL);
	ep = fake_ep_open(&f);
	val = 4096;
	assert_int_equal(fi_setopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &val,
				   sizeof(val)), 0);
	val = 0;
	len = sizeof(val);
	assert_int_equal(fi_getopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &val, &len), 0);
	assert_int_equal(val, 4096);
	half = 512;
	assert_int_equal(fi_setopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &half,
				   sizeof(half)), 0);
	assert_int_equal(fi_getopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &val, &len), 0);
	assert_int_equal(val, 512);
	assert_int_equal(fi_setopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &half, 2), -FI_EINVAL);
	len = 4;
	assert_int_equal(fi_getopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &val, &len),
			 -FI_ETOOSMALL);
	assert_int_equal(len, sizeof(size_t));
	assert_int_equal(fi_getopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_MAX_MSG_SIZE, &val, &len), 0);
	assert_int_equal(val, 1 << 20);
	val = 1 << 21;
	assert_int_equal(fi_setopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_MAX_RMA_SIZE, &val,
				   sizeof(val)), -FI_EINVAL);
	val = 1 << 10;
	assert_int_equal(fi_setopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_MAX_RMA_SIZE, &val,
				   sizeof(val)), 0);
	assert_int_equal(fi_getopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_MAX_RMA_SIZE, &val, &len), 0);
	assert_int_equal(val, 1 << 10);
	assert_int_equal(fi_getopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_INJECT_MSG_SIZE, &val, &len), 0);
	assert_int_equal(val, 64);
	/* What runtimes probe for. */
	assert_int_equal(fi_setopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_CUDA_API_PERMITTED, &no,
				   sizeof(no)), -FI_ENOPROTOOPT);
	assert_int_equal(fi_getopt(&ep->fid, 7, FI_OPT_MIN_MULTI_RECV, &val, &len),
			 -FI_ENOPROTOOPT);
	CLOSE(ep);
	fake_close(&f);
}

/* ---- completions ---------------------------------------------------------- */

static void test_completions(void **state)
{
	struct fi_cq_err_entry err = { .err = FI_EIO }, got;
	struct fi_cq_tagged_entry e;
	struct fid_cntr *cntr;
	struct fid_cq *cq;
	struct fid_av *av;
	struct fid_ep *fid;
	struct obj_ep *ep;

	fake_open(&f, NULL);
	cq = fake_cq(&f, FI_CQ_FORMAT_TAGGED, FI_WAIT_NONE);
	cntr = fake_cntr(&f, FI_WAIT_NONE);
	av = fake_av(&f);
	fid = fake_ep_open(&f);
	ep = obj_ep_of(fid);
	fi_ep_bind(fid, &cq->fid, FI_TRANSMIT | FI_SELECTIVE_COMPLETION);
	fi_ep_bind(fid, &cq->fid, FI_RECV);
	fi_ep_bind(fid, &cntr->fid, FI_SEND);
	fi_ep_bind(fid, &av->fid, 0);
	assert_int_equal(fi_enable(fid), 0);
	assert_false(obj_ep_want_tx_comp(ep, 0));
	assert_true(obj_ep_want_tx_comp(ep, FI_COMPLETION));
	assert_true(obj_ep_want_rx_comp(ep, 0));
	obj_ep_comp_tx(ep, false, (void *) 1, FI_SEND, 10, OBJ_CNTR_SEND);
	assert_int_equal(fi_cq_read(cq, &e, 1), -FI_EAGAIN);
	obj_ep_comp_tx(ep, true, (void *) 2, FI_SEND | FI_MSG, 10, OBJ_CNTR_SEND);
	assert_int_equal(fi_cq_read(cq, &e, 1), 1);
	assert_ptr_equal(e.op_context, 2);
	assert_int_equal(e.flags, FI_SEND | FI_MSG);
	assert_int_equal(fi_cntr_read(cntr), 2);
	/* A failure shows, asked for or not. */
	obj_ep_err_tx(ep, &err, NULL, 0, OBJ_CNTR_SEND);
	assert_int_equal(fi_cq_read(cq, &e, 1), -FI_EAVAIL);
	memset(&got, 0, sizeof(got));
	assert_int_equal(fi_cq_readerr(cq, &got, 0), 1);
	assert_int_equal(got.err, FI_EIO);
	assert_int_equal(fi_cntr_readerr(cntr), 1);
	assert_int_equal(fi_cntr_read(cntr), 2);
	CLOSE(fid);
	CLOSE(av);
	CLOSE(cntr);
	CLOSE(cq);
	fake_close(&f);
}

/* ---- domains, fabrics, passive endpoints ---------------------------------- */

static void test_domain(void **state)
{
	struct fi_info *info;
	struct fid_domain *domain;
	struct fid_ep *ep;
	struct fid_eq *eq;
	struct fi_mr_map_raw raw;
	struct fi_atomic_attr attr;
	uint64_t key = 77, out = 0;

	fake_open(&f, NULL);
	fake_log_start();
	info = fi_dupinfo(f.info);
	free(info->fabric_attr->name);
	info->fabric_attr->name = strdup("another");
	assert_int_equal(fi_domain(f.fabric, info, &domain, NULL), -FI_EINVAL);
	fi_freeinfo(info);
	assert_int_equal(fi_domain2(f.fabric, f.info, &domain, FI_PEER, NULL), -FI_EINVAL);
	assert_int_equal(fi_endpoint2(f.domain, f.info, &ep, FI_PEER_TRANSFER, NULL), -FI_EINVAL);
	eq = fake_eq(&f, FI_WAIT_NONE);
	assert_int_equal(fi_domain_bind(f.domain, &eq->fid, FI_MORE), -FI_EINVAL);
	assert_int_equal(fi_domain_bind(f.domain, &eq->fid, FI_REG_MR), 0);
	assert_int_equal(fi_domain_bind(f.domain, &eq->fid, FI_REG_MR), -FI_EINVAL);
	assert_int_equal(fi_close(&eq->fid), -FI_EBUSY);
	raw = (struct fi_mr_map_raw) { 0, 0, (uint8_t *) &key, 8, &out };
	assert_int_equal(fi_control(&f.domain->fid, FI_MAP_RAW_MR, &raw), 0);
	assert_int_equal(out, 77);
	raw.key_size = 4;
	assert_int_equal(fi_control(&f.domain->fid, FI_MAP_RAW_MR, &raw), -FI_EINVAL);
	assert_int_equal(fi_control(&f.domain->fid, FI_UNMAP_KEY, &out), 0);
	assert_int_equal(fi_control(&f.domain->fid, FI_FLUSH_WORK, NULL), -FI_ENOSYS);
	assert_int_equal(fi_query_atomic(f.domain, FI_INT8, FI_SUM, &attr, 0), -FI_EOPNOTSUPP);
	CLOSE(f.domain);
	CLOSE(eq);
	CLOSE(f.fabric);
	fi_freeinfo(f.info);
}

static void test_locks(void **state)
{
	struct {
		struct fake_want want;
		enum lock_kind kind;
	} cases[] = {
		{ { .threading = FI_THREAD_SAFE }, LOCK_MUTEX },
		{ { .threading = FI_THREAD_FID }, LOCK_MUTEX },
		{ { .threading = FI_THREAD_ENDPOINT }, LOCK_MUTEX },
		{ { .threading = FI_THREAD_DOMAIN }, LOCK_NONE },
		{ { .threading = FI_THREAD_COMPLETION }, LOCK_NONE },
		{ { .threading = FI_THREAD_DOMAIN, .progress = FI_PROGRESS_AUTO }, LOCK_MUTEX },
		{ { .threading = FI_THREAD_DOMAIN, .type = FI_EP_MSG }, LOCK_MUTEX },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fake_open(&f, &cases[i].want);
		assert_int_equal(obj_domain_of(f.domain)->prog_lock_kind, cases[i].kind);
		fake_close(&f);
	}
}

static void test_pep(void **state)
{
	struct fake_want want = { .type = FI_EP_MSG };
	struct fid_pep *a, *b;
	struct fid_eq *eq;
	int backlog = 5;

	fake_open(&f, &want);
	fake_log_start();
	eq = fake_eq(&f, FI_WAIT_NONE);
	assert_int_equal(fi_passive_ep(f.fabric, f.info, &a, NULL), 0);
	assert_int_equal(fi_passive_ep(f.fabric, f.info, &b, NULL), 0);
	assert_ptr_equal(obj_pep_of(a)->prog, obj_pep_of(b)->prog);
	assert_int_equal(fi_pep_bind(a, &f.domain->fid, 0), -FI_EINVAL);
	assert_int_equal(fi_pep_bind(a, &eq->fid, 0), 0);
	assert_int_equal(fi_pep_bind(a, &eq->fid, 0), -FI_EINVAL);
	assert_int_equal(fi_control(&a->fid, FI_BACKLOG, &backlog), 0);
	assert_int_equal(obj_pep_of(a)->backlog, 5);
	backlog = -1;
	assert_int_equal(fi_control(&a->fid, FI_BACKLOG, &backlog), -FI_EINVAL);
	assert_int_equal(fi_close(&eq->fid), -FI_EBUSY);
	CLOSE(a);
	CLOSE(b);
	CLOSE(eq);
	f.info->ep_attr->type = FI_EP_RDM;
	assert_int_equal(fi_passive_ep(f.fabric, f.info, &a, NULL), -FI_EINVAL);
	fake_close(&f);
}

/* What a forked child opens on objects that it inherited ends with its own close. */
static void test_of_child(void **state)
{
	struct fid_ep *ep, *alias = NULL;
	struct fid_stx *stx;

	fake_open(&f, NULL);
	ep = fake_ep_open(&f);
	obj_process++;			/* as fork() does */
	assert_int_equal(fi_stx_context(f.domain, NULL, &stx, NULL), 0);
	assert_int_equal(fi_ep_alias(ep, &alias, FI_TRANSMIT), 0);
	CLOSE(stx);
	CLOSE(alias);
	obj_process--;
	CLOSE(ep);
	fake_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_enable),
		cmocka_unit_test(test_bind_late),
		cmocka_unit_test(test_enable_msg),
		cmocka_unit_test(test_enable_caps),
		cmocka_unit_test(test_bind_errors),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_many_groups),
		cmocka_unit_test(test_shared),
		cmocka_unit_test(test_busy),
		cmocka_unit_test(test_av_removed),
		cmocka_unit_test(test_alias),
		cmocka_unit_test(test_of_child),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_completions),
		cmocka_unit_test(test_domain),
		cmocka_unit_test(test_locks),
		cmocka_unit_test(test_pep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
