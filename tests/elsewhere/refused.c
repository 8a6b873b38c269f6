/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Writes and atomics that the target refuses: outside of a region, with a wrong key, without the right.
 *
 * fi_rma(3) has the rule: what is 32 KiB and longer, asks for FI_DELIVERY_COMPLETE, or returns a value, ends with
 * the error, over every link.  The rest ends with it where it is known by then, or succeeds, and a line in the log of the
 * initiator has the refusal.  All lengths, levels and reasons, before and after the initiator has accessed the
 * region.  No byte changes but those that the write may reach.
 */
#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/runtimes/rt.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define REGION (2u << 20)
#define LONG_MIN (32u << 10)	/* of fi_rma(3) */
#define LEN_MAX (1u << 20)
#define UNREACHED 0x5a		/* each byte of the region */

static const struct link {
	const char *name, *prov, *env;	/* env: NAME=value; NULL: none */
	enum fi_ep_type type;
} links[] = {
	{ "tcp", "tcp", "FI_TCP_LOCAL=0", FI_EP_RDM },
	{ "tcp, shared memory", "tcp", NULL, FI_EP_RDM },
	{ "tcp, connected", "tcp", NULL, FI_EP_MSG },
	{ "sockets", "sockets", NULL, FI_EP_RDM },
	{ "shm", "shm", NULL, FI_EP_RDM },
	{ "shm, no direct copies", "shm", "FI_SHM_DISABLE_CMA=1", FI_EP_RDM },
	{ "loop", "loop", NULL, FI_EP_RDM },
	{ "rxd", "udp;ofi_rxd", "FI_OFI_RXD_LOCAL=0", FI_EP_RDM },
	{ "rxd, shared memory", "udp;ofi_rxd", NULL, FI_EP_RDM },
	{ "rxd, connected", "udp;ofi_rxd", NULL, FI_EP_MSG },
	{ "rxm", "tcp;ofi_rxm", "FI_OFI_RXM_LOCAL=0", FI_EP_RDM },
	{ "rxm, shared memory", "tcp;ofi_rxm", NULL, FI_EP_RDM },
};

/* Why it is refused. */
static const struct reason {
	const char *text;
	int err;
} reasons[] = {
	{ "outside", FI_EINVAL },
	{ "wrong key", FI_ENOKEY },
	{ "no permission", FI_EACCES },
};
enum { OUTSIDE, WRONG_KEY, NO_RIGHT };

static const struct rt_setup plain = { .av_type = FI_AV_TABLE, .cq_format = FI_CQ_FORMAT_TAGGED };

static const struct link *the;
static struct rt_world w;
static char *out, *mem, *read_only;
static struct fid_mr *mr, *read_only_mr;
static struct fi_context2 ctx, good_ctx;

static struct fid_mr *region(void *buf, uint64_t access, uint64_t key)
{
	struct fid_mr *made;

	assert_int_equal(fi_mr_reg(w.domain, buf, REGION, access, 0, key, 0, &made, NULL), 0);
	return made;
}

static int open_link(void **state)
{
	bool ip = strcmp(the->prov, "shm") && strcmp(the->prov, "loop");
	struct fi_info *hints = rt_hints(), *info;

	hints->caps = FI_MSG | FI_RMA | FI_ATOMIC;
	hints->mode = FI_CONTEXT | FI_CONTEXT2;
	hints->ep_attr->type = the->type;
	hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	hints->fabric_attr->prov_name = strdup(the->prov);
	assert_int_equal(fi_getinfo(FI_VERSION(2, 6), ip ? "127.0.0.1" : NULL, NULL, ip ? FI_SOURCE : 0, hints,
				    &info), 0);
	fi_freeinfo(hints);
	hints = fi_dupinfo(info);
	fi_freeinfo(info);
	rt_open(&w, hints, &plain);
	out = calloc(1, REGION);
	mem = malloc(REGION);
	read_only = malloc(REGION);
	memset(mem, UNREACHED, REGION);
	memset(read_only, UNREACHED, REGION);
	mr = region(mem, FI_REMOTE_READ | FI_REMOTE_WRITE, 0x44);
	read_only_mr = region(read_only, FI_REMOTE_READ, 0x45);
	return 0;
}

static int close_link(void **state)
{
	assert_int_equal(fi_close(&mr->fid), 0);
	assert_int_equal(fi_close(&read_only_mr->fid), 0);
	rt_close(&w);
	free(out);
	free(mem);
	free(read_only);
	return 0;
}

/* ---- one operation ---------------------------------------------------------------------------- */

/* next_end - what the next operation of the initiator ends with: 0 or a positive error. */
static int next_end(void **context_p)
{
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_tagged_entry entry;
	long left = 20000000;
	ssize_t ret;

	while ((ret = fi_cq_read(w.cq[0], &entry, 1)) == -FI_EAGAIN && left--)
		fi_cq_read(w.cq[1], NULL, 0);
	if (ret == 1) {
		*context_p = entry.op_context;
		return 0;
	}
	assert_int_equal(ret, -FI_EAVAIL);
	assert_int_equal(fi_cq_readerr(w.cq[0], &err, 0), 1);
	*context_p = err.op_context;
	return err.err;
}

static uint64_t base_of(const char *buf)
{
	return w.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t) buf : 0;
}

/* bad_range - @len bytes that may not be written, since @reason. */
static struct fi_rma_iov bad_range(unsigned reason, size_t len)
{
	switch (reason) {
	case OUTSIDE:
		return (struct fi_rma_iov) { base_of(mem) + REGION - len / 2, len, fi_mr_key(mr) };
	case WRONG_KEY:
		return (struct fi_rma_iov) { base_of(mem), len, fi_mr_key(mr) + 0x1000 };
	default:
		return (struct fi_rma_iov) { base_of(read_only), len, fi_mr_key(read_only_mr) };
	}
}

/* settle - a good write is complete, so everything before it has ended; the bytes are those that are there. */
static void settle(void)
{
	struct iovec iov = { out, 8 };
	struct fi_rma_iov remote = { base_of(mem), 8, fi_mr_key(mr) };
	struct fi_msg_rma msg = { .msg_iov = &iov, .iov_count = 1, .addr = w.addr[1], .rma_iov = &remote,
				  .rma_iov_count = 1, .context = &good_ctx };
	void *context;

	memset(out, UNREACHED, 8);
	rt_do(&w, fi_writemsg(w.ep[0], &msg, FI_DELIVERY_COMPLETE | FI_COMPLETION));
	assert_int_equal(next_end(&context), 0);
	assert_ptr_equal(context, &good_ctx);
	memset(out, 0, 8);
}

static void check_end(const char *what, size_t len, unsigned reason, bool answered)
{
	void *context;
	int err = next_end(&context);

	if (err != reasons[reason].err && (answered || err))
		fail_msg("%s: %s, %zu bytes, %s: %s", the->name, what, len, reasons[reason].text,
			 err ? fi_strerror(err) : "success");
	assert_ptr_equal(context, &ctx);
	settle();
}

static bool is_answered(size_t len, uint64_t flags)
{
	return len >= LONG_MIN || flags & FI_DELIVERY_COMPLETE;
}

/* ---- writes -------------------------------------------------------------------------------------- */

static void write_flags(size_t len, uint64_t flags, unsigned reason)
{
	struct fi_rma_iov remote = bad_range(reason, len);
	struct iovec iov = { out, len };
	struct fi_msg_rma msg = { .msg_iov = &iov, .iov_count = 1, .addr = w.addr[1], .rma_iov = &remote,
				  .rma_iov_count = 1, .context = &ctx };
	char text[64];

	rt_do(&w, fi_writemsg(w.ep[0], &msg, flags | FI_COMPLETION));
	snprintf(text, sizeof(text), "fi_writemsg, flags 0x%llx", (unsigned long long) flags);
	check_end(text, len, reason, is_answered(len, flags));
}

/* The last of two ranges is the bad one; two buffers. */
static void write_list(size_t len, uint64_t flags, unsigned reason)
{
	struct fi_rma_iov remote[2] = { { base_of(mem), 0, fi_mr_key(mr) }, bad_range(reason, len - len / 4) };
	struct iovec iov[2] = { { out, len / 2 }, { out + len, len - len / 2 } };
	struct fi_msg_rma msg = { .msg_iov = iov, .iov_count = 2, .addr = w.addr[1], .rma_iov = remote,
				  .rma_iov_count = 2, .context = &ctx };

	remote[0].len = len / 4;
	memset(out, UNREACHED, 2 * len);
	rt_do(&w, fi_writemsg(w.ep[0], &msg, flags | FI_COMPLETION));
	check_end("a list", len, reason, is_answered(len, flags));
	memset(out, 0, 2 * len);
}

static void write_calls(size_t len, unsigned reason)
{
	struct fi_rma_iov remote = bad_range(reason, len);
	struct iovec iov[2] = { { out, len / 2 }, { out + len, len - len / 2 } };

	rt_do(&w, fi_write(w.ep[0], out, len, NULL, w.addr[1], remote.addr, remote.key, &ctx));
	check_end("fi_write", len, reason, is_answered(len, 0));
	rt_do(&w, fi_writev(w.ep[0], iov, NULL, 2, w.addr[1], remote.addr, remote.key, &ctx));
	check_end("fi_writev", len, reason, is_answered(len, 0));
	rt_do(&w, fi_writedata(w.ep[0], out, len, NULL, 7, w.addr[1], remote.addr, remote.key, &ctx));
	check_end("fi_writedata", len, reason, is_answered(len, 0));
}

/* An inject reports nothing but an error, and none that comes later than the call. */
static void inject(size_t len, unsigned reason)
{
	struct fi_rma_iov remote = bad_range(reason, len);

	if (len > w.info->tx_attr->inject_size)
		return;
	write_flags(len, FI_INJECT, reason);
	write_flags(len, FI_INJECT | FI_DELIVERY_COMPLETE, reason);
	rt_do(&w, fi_inject_write(w.ep[0], out, len, w.addr[1], remote.addr, remote.key));
	settle();
	rt_do(&w, fi_inject_writedata(w.ep[0], out, len, 7, w.addr[1], remote.addr, remote.key));
	settle();
}

static void table_of_writes(void)
{
	static const size_t lens[] = { 8, 4096, 20000, LONG_MIN - 1, LONG_MIN, 60000, LEN_MAX };
	static const uint64_t levels[] = { 0, FI_INJECT_COMPLETE, FI_TRANSMIT_COMPLETE, FI_DELIVERY_COMPLETE };
	unsigned i, k, reason;

	for (reason = 0; reason < COUNT(reasons); reason++)
		for (i = 0; i < COUNT(lens); i++) {
			for (k = 0; k < COUNT(levels); k++)
				write_flags(lens[i], levels[k], reason);
			write_list(lens[i], 0, reason);
			write_list(lens[i], FI_DELIVERY_COMPLETE, reason);
			write_calls(lens[i], reason);
			inject(lens[i], reason);
		}
}

/* The longest write outside of the region begins in it: bytes before its end may have been written. */
static void check_memory(void)
{
	size_t i;

	for (i = 0; i < REGION; i++)
		assert_true((mem[i] == UNREACHED || i >= REGION - LEN_MAX / 2) && read_only[i] == UNREACHED);
}

/* access_all - as a program that has accessed both regions already: over shm it has leases of them then. */
static void access_all(void)
{
	static char in[64];
	void *context;

	settle();
	rt_do(&w, fi_read(w.ep[0], in, sizeof(in), NULL, w.addr[1], base_of(read_only), fi_mr_key(read_only_mr), &ctx));
	assert_int_equal(next_end(&context), 0);
	settle();
}

static void writes_that_are_refused(void **state)
{
	table_of_writes();
	access_all();
	table_of_writes();
	check_memory();
}

/* The first operation of an endpoint is a refused one. */
static void a_first_write_that_is_refused(void **state)
{
	write_flags(60000, 0, WRONG_KEY);
	write_flags(60000, 0, NO_RIGHT);
	check_memory();
}

/* ---- atomics --------------------------------------------------------------------------------------- */

/* Each of @cnt elements, of which the last ones are outside of a region. */
static void atomics(size_t cnt, unsigned reason)
{
	size_t len = cnt * sizeof(uint64_t);
	struct fi_rma_iov bad = bad_range(reason, len);
	uint64_t addr = bad.addr & ~UINT64_C(7), old[512];
	struct fi_ioc ioc = { out, cnt };
	struct fi_rma_ioc remote = { addr, cnt, bad.key };
	struct fi_msg_atomic msg = { .msg_iov = &ioc, .iov_count = 1, .addr = w.addr[1], .rma_iov = &remote,
				     .rma_iov_count = 1, .datatype = FI_UINT64, .op = FI_SUM, .context = &ctx };

	if (reason == OUTSIDE)
		remote.addr = addr = base_of(mem) + REGION - len + 8;
	rt_do(&w, fi_atomic(w.ep[0], out, cnt, NULL, w.addr[1], addr, bad.key, FI_UINT64, FI_SUM, &ctx));
	check_end("fi_atomic", len, reason, false);
	rt_do(&w, fi_atomicmsg(w.ep[0], &msg, FI_TRANSMIT_COMPLETE | FI_COMPLETION));
	check_end("fi_atomicmsg", len, reason, false);
	rt_do(&w, fi_atomicmsg(w.ep[0], &msg, FI_DELIVERY_COMPLETE | FI_COMPLETION));
	check_end("fi_atomicmsg, delivery", len, reason, true);
	rt_do(&w, fi_fetch_atomic(w.ep[0], out, cnt, NULL, old, NULL, w.addr[1], addr, bad.key, FI_UINT64, FI_SUM,
				  &ctx));
	check_end("fi_fetch_atomic", len, reason, true);
	if (len > w.info->tx_attr->inject_size)
		return;
	rt_do(&w, fi_inject_atomic(w.ep[0], out, cnt, w.addr[1], addr, bad.key, FI_UINT64, FI_SUM));
	settle();
}

static void atomics_that_are_refused(void **state)
{
	unsigned reason, again;

	memset(out, 1, 4096);
	for (again = 0; again < 2; again++) {
		for (reason = 0; reason < COUNT(reasons); reason++) {
			atomics(1, reason);
			atomics(512, reason);
		}
		access_all();
	}
	check_memory();
}

/* ---- what is said of it ------------------------------------------------------------------------------ */

/* A refusal that no completion reports is in the log. */
static void a_line_in_the_log_has_the_refusal(void **state)
{
	static char text[1 << 16];

	rt_hush();
	write_flags(8, 0, WRONG_KEY);
	rt_said(text, sizeof(text));
	assert_non_null(strstr(text, "refused a write or an atomic that was complete already"));
}

/* ---- links --------------------------------------------------------------------------------------------- */

#define CASE(f) cmocka_unit_test_setup_teardown(f, open_link, close_link)

static const char *link_name(size_t i)
{
	return i < COUNT(links) ? links[i].name : NULL;
}

static int run_link(size_t i)
{
	const struct CMUnitTest tests[] = {
		CASE(a_line_in_the_log_has_the_refusal),
		CASE(a_first_write_that_is_refused),
		CASE(writes_that_are_refused),
		CASE(atomics_that_are_refused),
	};

	the = &links[i];
	if (the->env)
		putenv((char *) the->env);
	return cmocka_run_group_tests_name(the->name, tests, NULL, NULL);
}

int main(int argc, char **argv)
{
	return rt_each_link(argc, argv, link_name, run_link);
}
