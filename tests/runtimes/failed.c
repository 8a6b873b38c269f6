/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Operations that fail, on each software provider: what their error entries say.
 *
 * Programs size a receive for the largest message and learn from the entry by how much it was too
 * short, and from whom; and a program that asks for completions of some sends alone must still
 * learn of each that failed.
 */
#include "rt.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROOM 64
#define LONG (1 << 20)
#define PATIENCE_S 30

static const struct link {
	const char *prov;
	enum fi_ep_type type;
} links[] = {
	{ "tcp", FI_EP_RDM }, { "tcp", FI_EP_MSG }, { "sockets", FI_EP_RDM }, { "shm", FI_EP_RDM },
	{ "loop", FI_EP_RDM }, { "udp;ofi_rxd", FI_EP_RDM }, { "udp;ofi_rxd", FI_EP_MSG },
	{ "tcp;ofi_rxm", FI_EP_RDM }, { "udp", FI_EP_DGRAM },
};
#define LINKS (sizeof(links) / sizeof(*links))

/* open_over - two endpoints, or false: there is no such provider here. */
static bool open_over(struct rt_world *w, const struct link *link, uint64_t caps, uint64_t bind_flags)
{
	struct rt_setup setup = { .cq_format = FI_CQ_FORMAT_TAGGED, .bind_flags = bind_flags };
	struct fi_info *hints = rt_hints(), *info;
	int ret;

	hints->caps = caps;
	hints->ep_attr->type = link->type;
	hints->fabric_attr->prov_name = strdup(link->prov);
	hints->mode = FI_CONTEXT | FI_CONTEXT2;
	ret = fi_getinfo(FI_VERSION(2, 0), NULL, NULL, 0, hints, &info);
	fi_freeinfo(hints);
	if (ret) {
		print_message("no %s here\n", link->prov);
		return false;
	}
	print_message("%s, %s\n", link->prov, link->type == FI_EP_MSG ? "MSG" :
		      link->type == FI_EP_RDM ? "RDM" : "DGRAM");
	rt_open(w, info, &setup);
	return true;
}

/* error_of - the next entry of queue @i, which is an error. */
static struct fi_cq_err_entry error_of(struct rt_world *w, int i)
{
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_tagged_entry entry;
	time_t end = time(NULL) + PATIENCE_S;
	ssize_t ret;

	while ((ret = fi_cq_read(w->cq[i], &entry, 1)) == -FI_EAGAIN && time(NULL) < end)
		if (w->cq[!i])
			fi_cq_read(w->cq[!i], NULL, 0);
	assert_int_equal(ret, -FI_EAVAIL);
	assert_int_equal(fi_cq_readerr(w->cq[i], &err, 0), 1);
	return err;
}

static void carry(struct rt_world *w, bool tagged)
{
	struct fi_context2 ctx;
	char in[ROOM], out[ROOM] = "what follows";
	void *desc = rt_desc(w, in, sizeof(in), FI_RECV);
	struct fi_cq_tagged_entry entry;

	if (tagged) {
		rt_do(w, fi_trecv(w->ep[1], in, sizeof(in), desc, FI_ADDR_UNSPEC, 7, 0, &ctx));
		rt_do(w, fi_tinject(w->ep[0], out, sizeof(out), w->addr[1], 7));
	} else {
		rt_do(w, fi_recv(w->ep[1], in, sizeof(in), desc, FI_ADDR_UNSPEC, &ctx));
		rt_do(w, fi_inject(w->ep[0], out, sizeof(out), w->addr[1]));
	}
	entry = rt_wait(w, 1);
	assert_ptr_equal(entry.op_context, &ctx);
	assert_int_equal(entry.len, sizeof(out));
	assert_string_equal(in, "what follows");
}

/* One byte too long: the receive has what fits, the entry counts one byte, and the next message is
 * whole.   @source: the entry names the sender
 */
static void one_too_long(const struct link *link, bool tagged, bool source)
{
	uint64_t caps = (tagged ? FI_TAGGED : FI_MSG) | (source ? FI_SOURCE : 0);
	struct fi_cq_err_entry err;
	struct fi_context2 ctx;
	char in[ROOM + 1], out[ROOM + 1];
	struct rt_world w;
	void *desc;

	if (!open_over(&w, link, caps, 0))
		return;
	memset(in, 1, sizeof(in));
	memset(out, 2, sizeof(out));
	desc = rt_desc(&w, in, ROOM, FI_RECV);
	if (tagged) {
		rt_do(&w, fi_trecv(w.ep[1], in, ROOM, desc, FI_ADDR_UNSPEC, 7, 0, &ctx));
		rt_do(&w, fi_tinject(w.ep[0], out, ROOM + 1, w.addr[1], 7));
	} else {
		rt_do(&w, fi_recv(w.ep[1], in, ROOM, desc, FI_ADDR_UNSPEC, &ctx));
		rt_do(&w, fi_inject(w.ep[0], out, ROOM + 1, w.addr[1]));
	}
	err = error_of(&w, 1);
	assert_int_equal(err.err, FI_ETRUNC);
	assert_ptr_equal(err.op_context, &ctx);
	assert_int_equal(err.flags & (FI_RECV | FI_MSG | FI_TAGGED),
			 FI_RECV | (tagged ? FI_TAGGED : FI_MSG));
	assert_int_equal(err.len, ROOM);
	assert_int_equal(err.olen, 1);
	if (tagged)
		assert_int_equal(err.tag, 7);
	if (source)
		assert_int_equal(err.src_addr, w.addr[0]);
	assert_int_equal(in[ROOM], 1);
	carry(&w, tagged);
	rt_close(&w);
}

static void test_one_too_long(void **state)
{
	size_t i;

	for (i = 0; i < LINKS; i++) {
		one_too_long(&links[i], false, false);
		if (links[i].type != FI_EP_DGRAM)
			one_too_long(&links[i], true, false);
	}
}

static void test_source(void **state)
{
	size_t i;

	for (i = 0; i < LINKS; i++) {
		if (links[i].type == FI_EP_MSG)
			continue;
		one_too_long(&links[i], false, true);
		if (links[i].type == FI_EP_RDM)
			one_too_long(&links[i], true, true);
	}
}

/* A receive that is canceled got nothing. */
static void test_canceled(void **state)
{
	struct fi_cq_err_entry err;
	struct fi_context2 ctx;
	struct rt_world w;
	char in[ROOM];
	size_t i;
	int ret;

	for (i = 0; i < LINKS; i++) {
		if (!open_over(&w, &links[i], FI_MSG, 0))
			continue;
		rt_do(&w, fi_recv(w.ep[1], in, ROOM, rt_desc(&w, in, ROOM, FI_RECV), FI_ADDR_UNSPEC, &ctx));
		ret = (int) fi_cancel(&w.ep[1]->fid, &ctx);
		assert_true(!ret || ret == -FI_ENOSYS);
		if (!ret) {
			err = error_of(&w, 1);
			assert_int_equal(err.err, FI_ECANCELED);
			assert_ptr_equal(err.op_context, &ctx);
			assert_int_equal(err.len, 0);
			assert_int_equal(err.olen, 0);
		}
		rt_close(&w);
	}
}

/* A send that asks for no completion has none when it succeeds, and an entry when it fails: the
 * peer goes while a long message waits for its receive.
 */
static void test_silent_send(void **state)
{
	char *out = calloc(1, LONG);
	struct fi_cq_tagged_entry entry;
	struct fi_cq_err_entry err;
	struct fi_context2 ctx;
	struct rt_world w;
	size_t i, j;

	setenv("FI_OFI_RXD_CONN_TIMEOUT", "1000", 1);
	for (i = 0; i < LINKS; i++) {
		if (links[i].type == FI_EP_DGRAM ||
		    !open_over(&w, &links[i], FI_MSG,
			       FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION))
			continue;
		rt_do(&w, fi_send(w.ep[0], out, LONG, rt_desc(&w, out, LONG, FI_SEND), w.addr[1], &ctx));
		for (j = 0; j < 2000; j++)
			rt_push(&w);
		assert_int_equal(fi_cq_read(w.cq[0], &entry, 1), -FI_EAGAIN);
		assert_int_equal(fi_close(&w.ep[1]->fid), 0);
		w.ep[1] = NULL;
		err = error_of(&w, 0);
		assert_int_not_equal(err.err, 0);
		assert_ptr_equal(err.op_context, &ctx);
		assert_int_equal(err.flags & (FI_SEND | FI_MSG), FI_SEND | FI_MSG);
		rt_close(&w);
	}
	free(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_too_long),
		cmocka_unit_test(test_source),
		cmocka_unit_test(test_canceled),
		cmocka_unit_test(test_silent_send),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
