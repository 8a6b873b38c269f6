/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Hooks over a tcp RDM endpoint that sends to itself: what they log, and that all calls still
 * work.  Log lines are captured by an imported logger.
 */
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_ext.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/test/verify.h"

/* ---- the log ------------------------------------------------------------------------- */

static char log_text[1 << 20];
static size_t log_len;
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;

static int log_enabled(const struct fi_provider *prov, enum fi_log_level level,
		       enum fi_log_subsys subsys, uint64_t flags)
{
	return level <= FI_LOG_TRACE;
}

static int log_ready(const struct fi_provider *prov, enum fi_log_level level,
		     enum fi_log_subsys subsys, uint64_t flags, uint64_t *showtime)
{
	return level <= FI_LOG_TRACE;
}

static void log_line(const struct fi_provider *prov, enum fi_log_level level,
		     enum fi_log_subsys subsys, const char *func, int line, const char *msg)
{
	pthread_mutex_lock(&log_lock);
	log_len += (size_t) snprintf(log_text + log_len, sizeof(log_text) - log_len, "%s %s",
				     prov->name, msg);
	if (log_len > sizeof(log_text) - 4096)
		log_len = 0;
	pthread_mutex_unlock(&log_lock);
}

static struct fi_ops_log log_ops = {
	.size = sizeof(log_ops), .enabled = log_enabled, .ready = log_ready, .log = log_line,
};

static struct fid_logging logging = {
	.fid = { .fclass = FI_CLASS_LOG }, .ops = &log_ops,
};

static int import_log(void **state)
{
	return fi_import(FI_VERSION(2, 0), "logging", NULL, 0, 0, &logging.fid, NULL);
}

static bool said(const char *text)
{
	bool found;

	pthread_mutex_lock(&log_lock);
	found = strstr(log_text, text) != NULL;
	pthread_mutex_unlock(&log_lock);
	return found;
}

static void must_say(const char *text)
{
	if (!said(text))
		fail_msg("the log lacks \"%s\":\n%s", text, log_text);
}

/* ---- an endpoint that sends to itself ---------------------------------------------------- */

struct world {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_cq *cq;
	struct fid_cntr *cntr;
	struct fid_av *av;
	struct fid_mr *mr;
	struct fid_ep *ep;
	fi_addr_t self;
	char buf[256];
};

static void open_world(struct world *w, const char *prov, const char *hooks)
{
	struct fi_info *hints = fi_allocinfo();
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_TAGGED, .wait_obj = FI_WAIT_UNSPEC };
	struct fi_cntr_attr cntr_attr = {
		.events = FI_CNTR_EVENTS_COMP, .wait_obj = FI_WAIT_UNSPEC,
	};
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE };
	char name[128];
	size_t len = sizeof(name);

	memset(w, 0, sizeof(*w));
	log_len = 0;
	log_text[0] = '\0';
	hints->caps = FI_MSG | FI_TAGGED | FI_RMA;
	hints->ep_attr->type = FI_EP_RDM;
	hints->domain_attr->mr_mode = 0;
	hints->fabric_attr->prov_name = strdup(prov);
	assert_int_equal(fi_getinfo(FI_VERSION(2, 0), "127.0.0.1", NULL, FI_SOURCE, hints,
				    &w->info), 0);
	fi_freeinfo(hints);
	setenv("FI_HOOK", hooks, 1);
	assert_int_equal(fi_fabric(w->info->fabric_attr, &w->fabric, NULL), 0);
	unsetenv("FI_HOOK");
	assert_int_equal(fi_domain(w->fabric, w->info, &w->domain, NULL), 0);
	assert_int_equal(fi_cq_open(w->domain, &cq_attr, &w->cq, NULL), 0);
	assert_int_equal(fi_cntr_open(w->domain, &cntr_attr, &w->cntr, NULL), 0);
	assert_int_equal(fi_av_open(w->domain, &av_attr, &w->av, NULL), 0);
	assert_int_equal(fi_endpoint(w->domain, w->info, &w->ep, NULL), 0);
	assert_int_equal(fi_ep_bind(w->ep, &w->cq->fid, FI_SEND | FI_RECV), 0);
	assert_int_equal(fi_ep_bind(w->ep, &w->cntr->fid, FI_SEND), 0);
	assert_int_equal(fi_ep_bind(w->ep, &w->av->fid, 0), 0);
	assert_int_equal(fi_enable(w->ep), 0);
	assert_int_equal(fi_getname(&w->ep->fid, name, &len), 0);
	assert_int_equal(fi_av_insert(w->av, name, 1, &w->self, 0, NULL), 1);
	assert_int_equal(fi_mr_reg(w->domain, w->buf, sizeof(w->buf),
				   FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 7, 0, &w->mr, NULL), 0);
}

static void close_world(struct world *w)
{
	assert_int_equal(fi_close(&w->ep->fid), 0);
	assert_int_equal(fi_close(&w->mr->fid), 0);
	assert_int_equal(fi_close(&w->av->fid), 0);
	assert_int_equal(fi_close(&w->cntr->fid), 0);
	assert_int_equal(fi_close(&w->cq->fid), 0);
	assert_int_equal(fi_close(&w->domain->fid), 0);
	assert_int_equal(fi_close(&w->fabric->fid), 0);
	fi_freeinfo(w->info);
}

static void wait_for(struct world *w, int completions)
{
	struct fi_cq_tagged_entry entry;
	ssize_t ret;

	while (completions) {
		ret = fi_cq_sread(w->cq, &entry, 1, NULL, 10000);
		if (ret == -FI_EAGAIN)
			continue;
		assert_int_equal(ret, 1);
		completions--;
	}
}

/* A tagged message to itself, and a write into its own memory. */
static void use(struct world *w)
{
	char in[8], out[8] = "hooked!";
	struct iovec iov = { out, 8 };
	struct fi_rma_iov remote = { .len = 8, .key = fi_mr_key(w->mr) };
	struct fi_msg_rma msg = {
		.msg_iov = &iov, .iov_count = 1, .addr = w->self,
		.rma_iov = &remote, .rma_iov_count = 1,
	};

	assert_int_equal(fi_cq_read(w->cq, in, 0), -FI_EAGAIN);
	assert_int_equal(fi_trecv(w->ep, in, 8, NULL, FI_ADDR_UNSPEC, 42, 0, &in), 0);
	assert_int_equal(fi_tsend(w->ep, out, 8, NULL, w->self, 42, &out), 0);
	wait_for(w, 2);
	assert_string_equal(in, "hooked!");
	assert_int_equal(fi_writemsg(w->ep, &msg, FI_DELIVERY_COMPLETE), 0);
	wait_for(w, 1);
	assert_string_equal(w->buf, "hooked!");
	assert_int_equal(fi_cntr_wait(w->cntr, 1, 10000), 0);
}

/* ---- tests ------------------------------------------------------------------------- */

static void trace_shows_calls(void **state)
{
	struct world w;
	char line[128];

	open_world(&w, "tcp", "ofi_hook_trace");
	use(&w);
	must_say("ofi_hook_trace tcp: fi_domain(");
	must_say("fi_control(");
	must_say("(FI_ENABLE)");
	snprintf(line, sizeof(line), "fi_tsend(ep %p, buf ", (void *) w.ep);
	must_say(line);
	must_say("len 8, to 0, tag 0x2a, context ");
	must_say("fi_mr_reg(");
	must_say("fi_writemsg(ep ");
	must_say("ranges 1, ");
	must_say("fi_cq_sread(");
	must_say(" calls found nothing");
	close_world(&w);
	snprintf(line, sizeof(line), "fi_close(object %p) = 0", (void *) w.fabric);
	must_say(line);
}

static void failed_calls_say_why(void **state)
{
	struct world w;
	char line[128];

	open_world(&w, "tcp", "trace");
	assert_int_equal(fi_close(&w.domain->fid), -FI_EBUSY);
	snprintf(line, sizeof(line), "= -16, %s", strerror(EBUSY));
	must_say(line);
	close_world(&w);
}

/* The line of a read error says which operation failed and why. */
static void failed_transfers_say_why(void **state)
{
	struct fi_cq_err_entry err = { 0 };
	struct world w;
	char in[8], line[128];
	ssize_t ret;

	open_world(&w, "tcp", "trace");
	assert_int_equal(fi_recv(w.ep, in, 8, NULL, FI_ADDR_UNSPEC, &line), 0);
	assert_int_equal(fi_cancel(&w.ep->fid, &line), 0);
	while ((ret = fi_cq_readerr(w.cq, &err, 0)) == -FI_EAGAIN)
		;
	assert_int_equal(ret, 1);
	assert_int_equal(err.err, FI_ECANCELED);
	snprintf(line, sizeof(line), ": context %p, err %d (%s)", err.op_context, err.err,
		 fi_strerror(err.err));
	must_say(line);
	close_world(&w);
}

static void profile_counts(void **state)
{
	struct world w;

	open_world(&w, "tcp", "profile");
	use(&w);
	close_world(&w);
	must_say("ofi_hook_profile tcp: fi_tsend                          1            0        0 "
		 "               8  <=64:1");
	must_say("fi_mr_reg                         1            0        0              256  "
		 "<=512:1");
}

static void perf_measures(void **state)
{
	struct world w;

	open_world(&w, "tcp", "perf");
	use(&w);
	close_world(&w);
	must_say("ofi_hook_perf tcp: call ");
	must_say("ofi_hook_perf tcp: fi_tsend                          1 ");
}

static void several_at_once(void **state)
{
	struct world w;

	open_world(&w, "tcp", "perf;ofi_hook_profile; trace");
	use(&w);
	close_world(&w);
	must_say("ofi_hook_perf tcp: fi_tsend ");
	must_say("ofi_hook_profile tcp: fi_tsend ");
	must_say("ofi_hook_trace tcp: fi_tsend(");
}

static void unknown_hooks_are_left_out(void **state)
{
	struct world w;

	open_world(&w, "tcp", "ofi_hook_nonsense");
	use(&w);
	close_world(&w);
	must_say("FI_HOOK names ofi_hook_nonsense, which is not available");
}

/* A layer opens the provider below it through the library: the hooks of both are logged. */
static void layers_show_both(void **state)
{
	struct world w;

	open_world(&w, "tcp;ofi_rxm", "trace");
	use(&w);
	close_world(&w);
	must_say("ofi_hook_trace tcp;ofi_rxm: fi_tsend(");
}

/* An alias is a separate object with the provider's tables. */
static void aliases(void **state)
{
	struct fid_ep *alias = NULL;
	struct world w;
	char line[128];

	open_world(&w, "tcp", "trace");
	assert_int_equal(fi_ep_alias(w.ep, &alias, FI_TRANSMIT | FI_DELIVERY_COMPLETE), 0);
	assert_int_equal(fi_inject(alias, "x", 1, w.self), 0);
	snprintf(line, sizeof(line), "fi_inject(ep %p, ", (void *) alias);
	must_say(line);
	assert_int_equal(fi_close(&alias->fid), 0);
	use(&w);
	close_world(&w);
}

/* A program that opens one fabric twice gets two hooks, or shares one if the provider returns
 * one object.
 */
static void two_fabrics(void **state)
{
	struct world a, b;

	open_world(&a, "tcp", "profile");
	open_world(&b, "tcp", "profile");
	use(&a);
	use(&b);
	close_world(&a);
	use(&b);
	close_world(&b);
	must_say("ofi_hook_profile tcp: fi_tsend ");
}

static void hooks_are_listed_not_offered(void **state)
{
	struct fi_info *info, *i;
	int hooks = 0;

	assert_int_equal(fi_getinfo(FI_VERSION(2, 0), NULL, NULL, FI_PROV_ATTR_ONLY, NULL, &info),
			 0);
	for (i = info; i; i = i->next)
		hooks += !strncmp(i->fabric_attr->prov_name, "ofi_hook_", 9);
	fi_freeinfo(info);
	assert_int_equal(hooks, 4);
	assert_int_equal(fi_getinfo(FI_VERSION(2, 0), NULL, NULL, 0, NULL, &info), 0);
	for (i = info; i; i = i->next)
		assert_null(strstr(i->fabric_attr->prov_name, "hook"));
	fi_freeinfo(info);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trace_shows_calls),
		cmocka_unit_test(failed_calls_say_why),
		cmocka_unit_test(failed_transfers_say_why),
		cmocka_unit_test(profile_counts),
		cmocka_unit_test(perf_measures),
		cmocka_unit_test(several_at_once),
		cmocka_unit_test(unknown_hooks_are_left_out),
		cmocka_unit_test(layers_show_both),
		cmocka_unit_test(aliases),
		cmocka_unit_test(two_fabrics),
		cmocka_unit_test(hooks_are_listed_not_offered),
	};

	return cmocka_run_group_tests_name("hook", tests, import_log, NULL);
}
