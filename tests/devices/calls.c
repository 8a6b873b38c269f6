/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * calls PROVIDER KIND LEN [CALL ...] - one message of LEN bytes from device to device; prints how
 * often the sender made each CALL of the device's libraries for it, and how many devices have a
 * context in either process.  With PAIR_AUTO set a write instead, with automatic progress, to a
 * process that makes no call of the library meanwhile.
 */
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../fabtests/common/device.h"
#include "../fakegpu/use.h"
#include "pair.h"

struct region {
	uint64_t key, addr;
};

static struct fi_context2 ctx;

static long times(const struct pair *p, const char *call)
{
	return fakegpu_times(strncmp(call, "gdr_", 4) ? p->lib : "libgdrapi.so.2", call);
}

static void check_contexts(const struct pair *p)
{
	if (!strcmp(p->kind, "cuda"))
		PAIR_TRUE(fakegpu_number(p->lib, "fakegpu_contexts") == 1);
}

static void receive(struct pair *p)
{
	struct pair_end end;

	PAIR_OK(fi_trecv(p->ep, p->dev, p->len, fi_mr_desc(p->mr), FI_ADDR_UNSPEC, 1, 0, &ctx));
	pair_put(p, "", 1);
	pair_wait(p, &ctx, &end);
	PAIR_OK(end.err);
}

/* The library's thread copies to the device, in the device's context. */
static void be_written(struct pair *p)
{
	struct region r = { fi_mr_key(p->mr), p->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ?
			    (uintptr_t) p->dev : 0 };
	char c;

	pair_put(p, &r, sizeof(r));
	PAIR_TRUE(read(p->sock, &c, 1) == 1);
}

static int second(char **argv)
{
	struct pair p;
	size_t i;
	char c;

	pair_join(&p, argv);
	pair_open(&p);
	PAIR_OK(pair_reg(&p));
	if (getenv("PAIR_AUTO"))
		be_written(&p);
	else
		receive(&p);
	PAIR_TRUE(device_get(p.host, p.dev, p.len));
	for (i = 0; i < p.len; i++)
		PAIR_TRUE(p.host[i] == (char) (i * 7));
	check_contexts(&p);
	pair_put(&p, "", 1);
	pair_get(&p, &c, 1);
	pair_close(&p);
	return 0;
}

static void send_it(struct pair *p)
{
	struct pair_end end;
	char c;

	pair_get(p, &c, 1);
	PAIR_OK(fi_tsend(p->ep, p->dev, p->len, fi_mr_desc(p->mr), p->peer, 1, &ctx));
	pair_wait(p, &ctx, &end);
	PAIR_OK(end.err);
	pair_get(p, &c, 1);
}

static void write_it(struct pair *p)
{
	struct iovec iov = { p->dev, p->len };
	void *desc = fi_mr_desc(p->mr);
	struct fi_rma_iov remote = { .len = p->len };
	struct fi_msg_rma msg = { .msg_iov = &iov, .desc = &desc, .iov_count = 1, .addr = p->peer,
				  .rma_iov = &remote, .rma_iov_count = 1, .context = &ctx };
	struct pair_end end;
	struct region r;
	char c;

	pair_get(p, &r, sizeof(r));
	remote.addr = r.addr;
	remote.key = r.key;
	PAIR_OK(fi_writemsg(p->ep, &msg, FI_DELIVERY_COMPLETE));
	pair_wait(p, &ctx, &end);
	PAIR_OK(end.err);
	pair_put(p, "", 1);
	pair_get(p, &c, 1);
}

int main(int argc, char **argv)
{
	long before[16] = { 0 };
	struct pair p;
	size_t i, len;
	int k;

	fakegpu_use(argv);
	if (argc == 5 && atoi(argv[1]) > 0)
		return second(argv);
	if (argc < 4 || argc > 20) {
		fprintf(stderr, "usage: %s PROVIDER cuda|rocr|ze LEN [CALL ...]\n", argv[0]);
		return 2;
	}
	len = strtoul(argv[3], NULL, 0);
	pair_start(&p, argv[1], argv[2], len);
	pair_open(&p);
	for (i = 0; i < len; i++)
		p.host[i] = (char) (i * 7);
	PAIR_TRUE(device_put(p.dev, p.host, len));
	for (k = 4; k < argc; k++)
		before[k - 4] = times(&p, argv[k]);
	PAIR_OK(pair_reg(&p));
	if (getenv("PAIR_AUTO"))
		write_it(&p);
	else
		send_it(&p);
	for (k = 4; k < argc; k++)
		printf("%s%s %ld", k == 4 ? "" : ", ", argv[k], times(&p, argv[k]) - before[k - 4]);
	check_contexts(&p);
	pair_put(&p, "", 1);
	pair_close(&p);
	pair_stop(&p);
	printf("\n");
	return 0;
}
