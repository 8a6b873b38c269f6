/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Queues as deep as programs expect.  One-sided communication over point-to-point, and programs
 * that post all before they let anything complete, post more than tx_attr->size sends and
 * rx_attr->size receives; where one of these calls waited for a completion, both sides would
 * wait for ever.  Both endpoints of a pair post all their operations before a queue is read.
 *
 * DEEP_COUNT sets the number of short messages each way [10000], DEEP_LONG that of long ones [500],
 * DEEP_LEN their length [200000].
 */
#include "rt.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SHORT 8
#define PATIENCE_S 120

static const struct link {
	const char *prov;
	enum fi_ep_type type;
} links[] = {
	{ "tcp", FI_EP_RDM }, { "tcp", FI_EP_MSG }, { "sockets", FI_EP_RDM }, { "shm", FI_EP_RDM },
	{ "udp;ofi_rxd", FI_EP_RDM }, { "udp;ofi_rxd", FI_EP_MSG }, { "tcp;ofi_rxm", FI_EP_RDM },
};
#define LINKS (sizeof(links) / sizeof(*links))

enum order { RECV_FIRST, IN_ORDER, REVERSE };

struct run {
	struct rt_world w;
	size_t cnt, len;
	char *out, *in[2];	/* @in: one slot a message, of SHORT bytes; long ones share a buffer */
	size_t done[2];		/* completions read at each side */
};

static size_t number_of(const char *name, size_t cnt)
{
	return getenv(name) ? strtoul(getenv(name), NULL, 0) : cnt;
}

static char *slot(struct run *r, int side, size_t i)
{
	return r->in[side] + (r->len == SHORT ? i * SHORT : 0);
}

static void post_sends(struct run *r)
{
	size_t i;
	int side;

	for (i = 0; i < r->cnt; i++)
		for (side = 0; side < 2; side++) {
			const char *buf = r->len == SHORT ? r->out + i * SHORT : r->out;

			assert_int_equal(fi_tsend(r->w.ep[side], buf, r->len, NULL, r->w.addr[!side], i,
						  NULL), 0);
		}
}

static void post_recvs(struct run *r, bool reverse)
{
	size_t i;
	int side;

	for (i = 0; i < r->cnt; i++)
		for (side = 0; side < 2; side++) {
			size_t tag = reverse ? r->cnt - 1 - i : i;

			assert_int_equal(fi_trecv(r->w.ep[side], slot(r, side, tag), r->len, NULL,
						  FI_ADDR_UNSPEC, tag, 0, NULL), 0);
		}
}

/* Each side has as many completions of sends as of receives. */
static void reap(struct run *r)
{
	struct fi_cq_tagged_entry e[64];
	time_t end = time(NULL) + PATIENCE_S;
	struct fi_cq_err_entry err = { 0 };
	ssize_t got;
	int side;

	while (r->done[0] + r->done[1] < 4 * r->cnt) {
		for (side = 0; side < 2; side++) {
			got = fi_cq_read(r->w.cq[side], e, 64);
			if (got == -FI_EAVAIL) {
				fi_cq_readerr(r->w.cq[side], &err, 0);
				fail_msg("side %d: %s", side, fi_strerror(err.err));
			}
			if (got <= 0)
				continue;
			r->done[side] += (size_t) got;
			end = time(NULL) + PATIENCE_S;
		}
		if (time(NULL) > end)
			fail_msg("%zu and %zu of %zu completions, and no other for %d s", r->done[0],
				 r->done[1], 2 * r->cnt, PATIENCE_S);
	}
	assert_int_equal(r->done[0], 2 * r->cnt);
}

static void verify(struct run *r)
{
	size_t i;
	int side;

	for (side = 0; side < 2; side++)
		for (i = 0; r->len == SHORT && i < r->cnt; i++)
			assert_memory_equal(slot(r, side, i), r->out + i * SHORT, SHORT);
}

static void exchange(struct run *r, enum order order)
{
	size_t bytes = r->len == SHORT ? r->cnt * SHORT : r->len, i;
	int side;

	r->out = calloc(1, bytes);
	for (i = 0; i + sizeof(i) <= bytes; i += sizeof(i))
		memcpy(r->out + i, &i, sizeof(i));
	for (side = 0; side < 2; side++)
		r->in[side] = calloc(1, bytes);
	memset(r->done, 0, sizeof(r->done));
	if (order == RECV_FIRST)
		post_recvs(r, false);
	post_sends(r);
	if (order != RECV_FIRST)
		post_recvs(r, order == REVERSE);
	reap(r);
	verify(r);
	for (side = 0; side < 2; side++)
		free(r->in[side]);
	free(r->out);
}

static void over(const struct link *link, size_t cnt, size_t len)
{
	static const struct rt_setup setup = { .av_type = FI_AV_TABLE,
					       .cq_format = FI_CQ_FORMAT_TAGGED };
	struct fi_info *hints = rt_hints(), *info;
	struct run r = { .cnt = cnt, .len = len };
	enum order order;

	hints->caps = FI_TAGGED;
	hints->mode = FI_CONTEXT | FI_CONTEXT2;
	hints->ep_attr->type = link->type;
	hints->fabric_attr->prov_name = strdup(link->prov);
	if (fi_getinfo(FI_VERSION(1, 20), NULL, NULL, 0, hints, &info)) {
		print_message("no %s here\n", link->prov);
		fi_freeinfo(hints);
		return;
	}
	print_message("%s, %s: %zu messages of %zu bytes each way\n", link->prov,
		      link->type == FI_EP_MSG ? "MSG" : "RDM", cnt, len);
	rt_open(&r.w, info, &setup);
	for (order = RECV_FIRST; order <= REVERSE; order++)
		exchange(&r, order);
	rt_close(&r.w);
	fi_freeinfo(hints);
}

static void test_short(void **state)
{
	size_t i;

	for (i = 0; i < LINKS; i++)
		over(&links[i], number_of("DEEP_COUNT", 10000), SHORT);
}

static void test_long(void **state)
{
	size_t i;

	for (i = 0; i < LINKS; i++)
		over(&links[i], number_of("DEEP_LONG", 500), number_of("DEEP_LEN", 200000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_short),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
