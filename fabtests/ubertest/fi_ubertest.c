/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/* The client reads the file; for each combination both sides open, run, close. */
#include <stdlib.h>
#include <string.h>

#include "uber.h"

static const struct uber *tuned;	/* for tune_hints(), which is given nothing else */

static void tune_hints(struct fi_info *h)
{
	const struct uber_case *c = &tuned->c;

	h->caps |= c->v[KEY_CAPS];
	if (c->given >> KEY_MODE & 1)
		h->mode = c->v[KEY_MODE];
	if (c->given >> KEY_MR_MODE & 1)
		h->domain_attr->mr_mode = (int) c->v[KEY_MR_MODE];
	h->domain_attr->threading = c->v[KEY_THREADING];
	h->domain_attr->data_progress = c->v[KEY_PROGRESS];
	h->domain_attr->control_progress = c->v[KEY_PROGRESS];
}

static uint64_t class_caps(const struct uber_case *c)
{
	switch (c->v[KEY_CLASS]) {
	case CLASS_MSG: return FI_MSG;
	case CLASS_TAGGED: return FI_TAGGED;
	case CLASS_RMA: return FI_MSG | FI_RMA;
	default: return FI_MSG | FI_ATOMIC;
	}
}

static void describe_waits(struct uber *u)
{
	const struct uber_case *c = &u->c;
	uint64_t select = c->v[KEY_COMP] == COMP_CNTR ? FI_SELECTIVE_COMPLETION : 0;

	u->waits = (struct ft_waits) { c->v[KEY_EQ_WAIT], c->v[KEY_CQ_WAIT], c->v[KEY_CNTR_WAIT] };
	u->test = (struct ft_test) {
		.ep_type = c->v[KEY_EP_TYPE], .caps = class_caps(c), .tx_flags = c->v[KEY_TX_OP],
		.rx_flags = c->v[KEY_RX_OP], .tx_bind = c->v[KEY_TX_BIND] | select,
		.rx_bind = c->v[KEY_RX_BIND] | select, .waits = &u->waits, .tune = tune_hints,
		.cq_data_size = uber_with_data(c) ? UBER_DATA_LEN : 0,
		.cntrs = c->v[KEY_COMP] != COMP_QUEUE,
	};
	for (uint32_t i = 0; i < c->size_cnt; i++)
		if (3 * c->sizes[i] > u->test.buf_size)
			u->test.buf_size = 3 * c->sizes[i];
}

/* ---- opening: a combination that the provider does not offer is no failure ---- */

static bool is_refused(struct uber *u, int ret, const char *what)
{
	if (!ret)
		return false;
	if (ret != -FI_ENODATA && ret != -FI_ENOSYS && ret != -FI_EOPNOTSUPP)
		ft_fail("%s: %d (%s)", what, ret, fi_strerror(-ret));
	snprintf(u->reason, sizeof(u->reason), "%s: %s", what, fi_strerror(-ret));
	return true;
}

static bool try_waits(struct uber *u)
{
	struct ft *ft = &u->ft;
	struct fi_cq_attr cq_attr = { .wait_obj = u->waits.cq, .format = FI_CQ_FORMAT_TAGGED };
	struct fi_cntr_attr cntr_attr = { .wait_obj = u->waits.cntr };
	struct fid_cntr *cntr;
	struct fid_cq *cq;

	if (is_refused(u, fi_cq_open(ft->domain, &cq_attr, &cq, NULL), "fi_cq_open"))
		return false;
	FT_TRY(fi_close(&cq->fid));
	if (u->c.v[KEY_COMP] == COMP_QUEUE)
		return true;
	if (is_refused(u, fi_cntr_open(ft->domain, &cntr_attr, &cntr, NULL), "fi_cntr_open"))
		return false;
	FT_TRY(fi_close(&cntr->fid));
	return true;
}

static bool try_atomic(struct uber *u)
{
	enum uber_func func = u->c.v[KEY_FUNC];
	uint64_t flags = func >= FUNC_COMPARE ? FI_COMPARE_ATOMIC : func >= FUNC_FETCH ?
			 FI_FETCH_ATOMIC : 0;
	struct fi_atomic_attr attr;

	if (u->c.v[KEY_CLASS] != CLASS_ATOMIC)
		return true;
	return !is_refused(u, fi_query_atomic(u->ft.domain, u->c.v[KEY_DATATYPE], u->c.v[KEY_OP], &attr,
					      flags), "fi_query_atomic");
}

static bool try_open(struct uber *u)
{
	struct ft *ft = &u->ft;
	struct fi_eq_attr attr = { .wait_obj = u->waits.eq };
	struct fid_fabric *fabric;
	struct fid_eq *eq;
	bool ok;

	ft->hints = ft_hints(ft);
	if (is_refused(u, ft_find(ft), "fi_getinfo"))
		return false;
	FT_TRY(fi_fabric(ft->info->fabric_attr, &fabric, NULL));
	ok = !is_refused(u, fi_eq_open(fabric, &attr, &eq, NULL), "fi_eq_open");
	if (ok)
		FT_TRY(fi_close(&eq->fid));
	FT_TRY(fi_close(&fabric->fid));
	if (!ok)
		return false;
	ft_open_domain(ft);
	return try_waits(u) && try_atomic(u);
}

static void release_case(struct uber *u)
{
	ft_shut(&u->ft);
	free(u->ft.tx.p);
	free(u->ft.rx.p);
	free(u->ctx);
}

/* Returns whether it was run, or why not. */
static bool one_case(struct ft *main_ft, const struct uber_case *c, char *reason, size_t len)
{
	struct uber u = { .c = *c };
	char mine, theirs;

	tuned = &u;
	describe_waits(&u);
	u.ft = (struct ft) { .test = &u.test, .opt = main_ft->opt, .name = main_ft->name,
			     .server = main_ft->server, .ctl = main_ft->ctl, .here = main_ft->here,
			     .there = main_ft->there };
	u.ft.opt.ep_type = c->v[KEY_EP_TYPE];
	u.ft.opt.av_type = c->v[KEY_AV_TYPE];
	u.ft.opt.counter = u.ft.opt.tagged = false;
	if (*c->prov)
		u.ft.opt.prov = u.c.prov;
	mine = try_open(&u);
	ft_ctl_swap(&u.ft, &mine, &theirs, 1);
	if (mine && theirs) {
		u.ctx = calloc((size_t) c->window + 2, sizeof(*u.ctx));
		ft_open(&u.ft);
		uber_run(&u);
		ft_at("meeting the peer after a combination");
		ft_sync(&u.ft);
	}
	snprintf(reason, len, "%s", mine ? "the server says so" : u.reason);
	release_case(&u);
	return mine && theirs;
}

/* ---- the two sides ---- */

static void complete_case(const struct ft *ft, struct uber_case *c)
{
	static const uint64_t quick[] = { 1, 64, 4096, 40000 };
	bool fast = c->v[KEY_TEST_FLAGS] & FLAG_QUICK;

	if (ft->opt.prov)	/* -p: the file's combinations, over another provider */
		snprintf(c->prov, sizeof(c->prov), "%s", ft->opt.prov);
	c->size_cnt = fast ? FT_COUNT(quick) : (uint32_t) ft->opt.size_cnt;
	for (uint32_t i = 0; i < c->size_cnt; i++)
		c->sizes[i] = fast ? quick[i] : ft->opt.sizes[i];
	c->iters = c->v[KEY_TYPE] == TYPE_UNIT ? 2 : fast && ft->opt.iters > 20 ? 20 : ft->opt.iters;
	c->window = ft->opt.window < 16 ? ft->opt.window : 16;
}

static void serve_cases(struct ft *ft)
{
	struct uber_case c;
	char line[512], reason[128];

	for (;;) {
		ft_watch(ft->opt.limit_s);
		ft_case(NULL);
		ft_at("waiting for the client's next combination");
		if (ft_ctl_recv(ft, &c, sizeof(c)) != sizeof(c))
			ft_fail("the client's words are not those of this server");
		if (!c.number)
			return;
		uber_say(&c, line, sizeof(line));
		ft_case(line);
		one_case(ft, &c, reason, sizeof(reason));
	}
}

static void lead_cases(struct ft *ft, struct uber_case *all, uint32_t cnt)
{
	struct uber_case last = { 0 };
	uint32_t ran = 0, not_offered = 0;
	char line[512], reason[128];

	for (uint32_t i = 0; i < cnt; i++) {
		struct uber_case *c = &all[i];

		if (i + 1 < (uint32_t) ft->opt.first || (ft->opt.last && i + 1 > (uint32_t) ft->opt.last))
			continue;
		c->number = i + 1;
		complete_case(ft, c);
		uber_say(c, line, sizeof(line));
		ft_case(line);
		ft_watch(ft->opt.limit_s);
		ft_ctl_send(ft, c, sizeof(*c));
		if (ft->opt.verbose || c->v[KEY_TYPE] != TYPE_UNIT)
			printf("%u/%u %s\n", i + 1, cnt, line);
		if (one_case(ft, c, reason, sizeof(reason))) {
			ran++;
			continue;
		}
		not_offered++;
		printf("%u/%u %s: not offered (%s)\n", i + 1, cnt, line, reason);
	}
	ft_case(NULL);
	ft_ctl_send(ft, &last, sizeof(last));
	printf("%u combinations passed, %u are not offered\n", ran, not_offered);
	if (!ran)
		ft_skip("none of the %u combinations is offered", cnt);
}

int main(int argc, char **argv)
{
	static const struct ft_test test = {
		.about = "Test: combinations from a configuration file (client: -u FILE).",
		.bench = true, .client_rules = true, .iters = 200, .no_open = true,
	};
	struct uber_case *all = NULL;
	uint32_t cnt = 0;
	struct ft ft;

	ft_meet(&ft, &test, argc, argv);
	if (ft.opt.device)
		ft_skip("-D %s: this test uses the host's memory only", ft.opt.device);
	if (ft.server) {
		serve_cases(&ft);
	} else {
		if (!ft.opt.config)
			ft_fail("the client needs -u FILE, a file of combinations (test_configs has some)");
		all = uber_read(&ft, ft.opt.config, &cnt);
		lead_cases(&ft, all, cnt);
	}
	free(all);
	return ft_end(&ft);
}
