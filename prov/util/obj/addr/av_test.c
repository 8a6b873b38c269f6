/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <arpa/inet.h>
#include <net/if.h>
#include <netdb.h>
#include <pthread.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/ib_addr.h"
#include "obj/av.h"
#include "obj/domain.h"
#include "obj/ep.h"
#include "obj/test/av_make.h"
#include "obj/test/log_catch.h"

/* ---- against a model ------------------------------------------------------ */

#define MODEL_MAX 600

/* The plainest address vector there is: an array of addresses, 0 for unused. */
static uint32_t model[MODEL_MAX];

static uint32_t model_insert(uint32_t host)
{
	uint32_t i;

	for (i = 0; model[i]; i++)
		;
	model[i] = host;
	return i;
}

static uint64_t model_find(uint32_t host)
{
	uint32_t i;

	for (i = 0; i < MODEL_MAX; i++)
		if (model[i] == host)
			return i;
	return FI_ADDR_NOTAVAIL;
}

static void check_against_model(struct fid_av *av, int v6)
{
	struct sockaddr_in6 got;
	uint32_t i, host;
	size_t len;
	int ret;

	for (i = 0; i < MODEL_MAX; i++) {
		len = sizeof(got);
		ret = fi_av_lookup(av, i, &got, &len);
		assert_int_equal(ret, model[i] ? 0 : -FI_EINVAL);
		if (ret)
			continue;
		assert_int_equal(len, v6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in));
		memcpy(&host, v6 ? (char *) &got.sin6_addr + 12
				 : (char *) &((struct sockaddr_in *) &got)->sin_addr, 4);
		assert_int_equal(ntohl(host), model[i]);
	}
}

static void random_operations(uint32_t format, unsigned seed)
{
	struct obj_domain domain;
	struct fid_av *av;
	struct sockaddr_in sin;
	struct sockaddr_in6 sin6;
	void *addr = format == FI_SOCKADDR_IN ? (void *) &sin : &sin6;
	size_t len = format == FI_SOCKADDR_IN ? sizeof(sin) : sizeof(sin6);
	int step, live = 0;
	fi_addr_t fi;
	uint32_t host, i;

	make_domain(&domain, format);
	av = open_av(&domain, NULL, 0);
	memset(model, 0, sizeof(model));
	srandom(seed);
	for (step = 0; step < 6000; step++) {
		host = 0x0a000001 + (uint32_t) random() % 200;	/* few, so that many are duplicates */
		sin = in4(host, 7000);
		memset(&sin6, 0, sizeof(sin6));
		sin6.sin6_family = AF_INET6;
		sin6.sin6_port = htons(7000);
		memcpy((char *) &sin6.sin6_addr + 12, &sin.sin_addr, 4);
		switch (random() % 4) {
		case 0:
		case 1:
			if (live == MODEL_MAX - 1)
				break;
			assert_int_equal(fi_av_insert(av, addr, 1, &fi, 0, NULL), 1);
			assert_int_equal(fi, model_insert(host));
			live++;
			break;
		case 2:
			i = (uint32_t) random() % MODEL_MAX;
			fi = i;
			assert_int_equal(fi_av_remove(av, &fi, 1, 0), model[i] ? 0 : -FI_EINVAL);
			live -= !!model[i];
			model[i] = 0;
			break;
		default:
			assert_int_equal(obj_av_find(obj_av_of(av), addr, len), model_find(host));
		}
	}
	check_against_model(av, format == FI_SOCKADDR_IN6);
	assert_int_equal(obj_av_of(av)->live, live);
	assert_int_equal(fi_close(&av->fid), 0);
}

static void matches_a_model(void **state)
{
	unsigned seed;

	for (seed = 1; seed <= 5; seed++) {
		random_operations(FI_SOCKADDR_IN, seed);
		random_operations(FI_SOCKADDR_IN6, seed);
	}
}

/* ---- size and speed ------------------------------------------------------- */

static size_t resident(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	unsigned long size, rss = 0;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%lu %lu", &size, &rss), 2);
	fclose(f);
	return rss * (size_t) sysconf(_SC_PAGESIZE);
}

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double) ts.tv_sec + (double) ts.tv_nsec * 1e-9;
}

static void a_million_entries(void **state)
{
	enum { N = 1000000 };
	struct sockaddr_in *addrs = malloc(N * sizeof(*addrs));
	struct obj_domain domain;
	struct fid_av *av;
	size_t before, after, indexed, i;
	double start, took;

	make_domain(&domain, FI_SOCKADDR_IN);
	for (i = 0; i < N; i++)
		addrs[i] = in4(0x0a000000 + (uint32_t) i / 100 + 1, (uint16_t) (1024 + i % 100));
	av = open_av(&domain, NULL, 0);
	before = resident();
	start = seconds();
	assert_int_equal(fi_av_insert(av, addrs, N, NULL, 0, NULL), N);
	took = seconds() - start;
	after = resident();
	assert_int_equal(obj_av_find(obj_av_of(av), &addrs[777777], sizeof(addrs[0])), 777777);
	indexed = resident();
	print_message("1,000,000 IPv4 entries: %.3f s, %.1f MiB resident, %.1f with the reverse index\n",
		      took, (double) (after - before) / 1048576, (double) (indexed - before) / 1048576);
#ifndef HAVE_SANITIZER
	assert_true(after - before <= 24u << 20);
	assert_true(indexed - before <= 24u << 20);
#endif
	for (i = 0; i < N; i++)
		if (obj_av_find(obj_av_of(av), &addrs[i], sizeof(addrs[0])) != i)
			fail_msg("entry %zu is not found", i);
	assert_int_equal(fi_close(&av->fid), 0);
	free(addrs);
}

/* ---- bad input ------------------------------------------------------------ */

static void bad_input_changes_nothing(void **state)
{
	struct obj_domain domain;
	struct fi_av_attr attr = { .type = 77 };
	struct fid_av *av;
	struct sockaddr_in a[4] = { in4(1, 1), in4(0x7f000001, 0), in4(INADDR_ANY, 5), in4(2, 2) };
	fi_addr_t fi[4];
	int err[4];
	char buf[4];
	size_t len = sizeof(buf);

	make_domain(&domain, FI_SOCKADDR_IN);
	assert_int_equal(obj_av_open(&domain.fid, &attr, &av, NULL), -FI_EINVAL);
	attr.type = FI_AV_MAP;
	attr.flags = UINT64_C(1) << 62;
	assert_int_equal(obj_av_open(&domain.fid, &attr, &av, NULL), -FI_EINVAL);
	attr.flags = FI_READ;
	assert_int_equal(obj_av_open(&domain.fid, &attr, &av, NULL), -FI_EINVAL);
	assert_int_equal(obj_av_open(&domain.fid, NULL, &av, NULL), -FI_EINVAL);
	domain.addr_format = FI_ADDR_PSMX2;
	attr.flags = 0;
	assert_int_equal(obj_av_open(&domain.fid, &attr, &av, NULL), -FI_ENOSYS);
	domain.addr_format = FI_SOCKADDR_IN;

	av = open_av(&domain, NULL, 0);
	assert_int_equal(fi_av_insert(av, a, 4, fi, FI_SYNC_ERR, err), 2);
	assert_true(fi[0] == 0 && fi[1] == FI_ADDR_NOTAVAIL && fi[2] == FI_ADDR_NOTAVAIL && fi[3] == 1);
	assert_true(!err[0] && err[1] == FI_EINVAL && err[2] == FI_EINVAL && !err[3]);
	a[0].sin_family = AF_INET6;
	assert_int_equal(fi_av_insert(av, a, 1, fi, 0, NULL), 0);
	assert_int_equal(fi_av_insert(av, NULL, 1, fi, 0, NULL), -FI_EINVAL);
	assert_int_equal(fi_av_insert(av, NULL, 0, NULL, 0, NULL), 0);
	assert_int_equal(fi_av_insert(av, a, 1, fi, FI_RECV, NULL), -FI_EINVAL);
	assert_int_equal(fi_av_insert(av, a, 1, NULL, FI_AV_USER_ID, NULL), -FI_EINVAL);
	fi[0] = 2;
	assert_int_equal(fi_av_remove(av, fi, 1, 0), -FI_EINVAL);
	fi[0] = FI_ADDR_UNSPEC;
	assert_int_equal(fi_av_remove(av, fi, 1, 0), -FI_EINVAL);
	fi[0] = UINT64_C(1) << 32;
	assert_int_equal(fi_av_remove(av, fi, 1, 0), -FI_EINVAL);
	assert_int_equal(fi_av_lookup(av, FI_ADDR_UNSPEC, buf, &len), -FI_EINVAL);
	/* Too little room: what fits, and the true length. */
	assert_int_equal(fi_av_lookup(av, 1, buf, &len), 0);
	assert_int_equal(len, sizeof(struct sockaddr_in));
	len = 0;
	assert_int_equal(fi_av_lookup(av, 1, NULL, &len), 0);
	assert_int_equal(len, sizeof(struct sockaddr_in));
	assert_int_equal(fi_av_insert_auth_key(av, buf, 4, fi, 0), -FI_ENOSYS);
	assert_int_equal(fi_close(&av->fid), 0);
}

static void busy_while_used(void **state)
{
	struct obj_domain domain;
	struct fi_av_set_attr attr = {
		.start_addr = FI_ADDR_NOTAVAIL, .end_addr = FI_ADDR_NOTAVAIL,
	};
	struct fid_av_set *set;
	struct fid_av *av;

	make_domain(&domain, FI_SOCKADDR_IN);
	av = open_av(&domain, NULL, 0);
	assert_int_equal(fi_av_set(av, &attr, &set, NULL), 0);
	assert_int_equal(fi_close(&av->fid), -FI_EBUSY);
	assert_int_equal(fi_close(&set->fid), 0);
	assert_int_equal(obj_refs_busy(&domain.refs, &domain.fid.fid, &av_prov, FI_LOG_DOMAIN), -FI_EBUSY);
	assert_int_equal(fi_close(&av->fid), 0);
	assert_int_equal(obj_refs_busy(&domain.refs, &domain.fid.fid, &av_prov, FI_LOG_DOMAIN), 0);
}

/* ---- names, ranges, strings, ids ----------------------------------------- */

static void expect_text(struct fid_av *av, fi_addr_t fi, const char *want)
{
	char addr[64], text[128];
	size_t len = sizeof(addr), textlen = sizeof(text);

	assert_int_equal(fi_av_lookup(av, fi, addr, &len), 0);
	assert_string_equal(fi_av_straddr(av, addr, text, &textlen), want);
	assert_int_equal(textlen, strlen(want) + 1);
}

/* Addresses of InfiniBand: by bytes, by text; what no peer can have is refused in words. */
static void infiniband(void **state)
{
	struct obj_domain domain;
	struct fid_av *av;
	struct ib_ud ud[3];
	fi_addr_t fi[3];
	size_t len = 10;
	char text[10];

	assert_int_equal(ib_ud_parse("fi_addr_ib_ud://[fe80::1]:17", &ud[0]), 0);
	ud[1] = ud[2] = ud[0];
	ud[1].qpn = 0;
	ud[2].gid[0] = 0xff;
	make_domain(&domain, FI_ADDR_IB_UD);
	av = open_av(&domain, NULL, 0);
	assert_int_equal(catch_start(), 0);
	assert_int_equal(fi_av_insert(av, ud, 3, fi, 0, NULL), 1);
	assert_non_null(catch_find("address 1 of the insertion is none of a peer: it names no queue pair"));
	assert_non_null(catch_find("address 2 of the insertion is none of a peer: its GID is that of a multicast"));
	assert_true(fi[1] == FI_ADDR_NOTAVAIL && fi[2] == FI_ADDR_NOTAVAIL);
	expect_text(av, fi[0], "fi_addr_ib_ud://[fe80::1]:17/0x1234567/0/0/0xffff");
	assert_ptr_equal(fi_av_straddr(av, ud, text, &len), text);
	assert_string_equal(text, "fi_addr_i");
	assert_int_equal(len, 50);
	assert_int_equal(fi_av_insertsvc(av, "fi_addr_ib_ud://[fe80::2]:18/5/6/7/0x8001", NULL, fi, 0, NULL), 1);
	expect_text(av, fi[0], "fi_addr_ib_ud://[fe80::2]:18/0x5/6/7/0x8001");
	assert_int_equal(fi_av_insertsvc(av, "fi_addr_ib_ud://[fe80::2]", NULL, fi, 0, NULL), 0);
	assert_int_equal(fi_av_insertsvc(av, "fi_addr_ib_ud://fe80::2:18", NULL, fi, 0, NULL), -FI_EINVAL);
	assert_non_null(catch_find("[GID]:QPN"));
	assert_int_equal(fi_av_insertsvc(av, "10.0.0.1", "7", fi, 0, NULL), -FI_ENOSYS);
	catch_stop();
	assert_int_equal(fi_close(&av->fid), 0);

	make_domain(&domain, FI_SOCKADDR_IB);
	av = open_av(&domain, NULL, 0);
	assert_int_equal(fi_av_insertsvc(av, "fi_sockaddr_ib://[fe80::2]:7471", NULL, fi, 0, NULL), 1);
	expect_text(av, fi[0], "fi_sockaddr_ib://[fe80::2]:7471/0xffff");
	assert_int_equal(fi_av_insertsvc(av, "fi_sockaddr_ib://[fe80::2]", NULL, fi, 0, NULL), 0);
	assert_int_equal(fi_close(&av->fid), 0);
}

static void ranges_count_services_first(void **state)
{
	struct obj_domain domain;
	struct fid_av *av;
	fi_addr_t fi[4];

	make_domain(&domain, FI_SOCKADDR_IN);
	av = open_av(&domain, NULL, 0);
	assert_int_equal(fi_av_insertsym(av, "10.1.1.1", 2, "5000", 2, fi, 0, NULL), 4);
	expect_text(av, fi[0], "fi_sockaddr_in://10.1.1.1:5000");
	expect_text(av, fi[1], "fi_sockaddr_in://10.1.1.1:5001");
	expect_text(av, fi[2], "fi_sockaddr_in://10.1.1.2:5000");
	expect_text(av, fi[3], "fi_sockaddr_in://10.1.1.2:5001");
	assert_int_equal(fi_av_insertsvc(av, "127.0.0.1", "99", fi, 0, NULL), 1);
	expect_text(av, fi[0], "fi_sockaddr_in://127.0.0.1:99");
	assert_int_equal(fi_av_insertsvc(av, "fi_sockaddr_in://127.0.0.1:98", NULL, fi, 0, NULL), 1);
	expect_text(av, fi[0], "fi_sockaddr_in://127.0.0.1:98");
	/* Ports end at 65535. */
	assert_int_equal(fi_av_insertsym(av, "10.1.1.1", 1, "65535", 2, fi, 0, NULL), 1);
	assert_true(fi[1] == FI_ADDR_NOTAVAIL);
	assert_int_equal(fi_av_insertsym(av, "localhost", 2, "1", 1, fi, 0, NULL), -FI_EINVAL);
	assert_int_equal(fi_av_insertsym(av, "10.1.1.1", 0, "1", 1, fi, 0, NULL), -FI_EINVAL);
	assert_int_equal(fi_av_insertsvc(av, NULL, "1", fi, 0, NULL), -FI_EINVAL);
	assert_int_equal(fi_close(&av->fid), 0);
}

/* what fi_av_insertsvc() returns for a service that one protocol alone has, and its port */
static void expect_service(struct fid_av *av, const char *service, const struct servent *entry)
{
	char text[64];
	fi_addr_t fi;

	if (!entry) {
		assert_int_equal(fi_av_insertsvc(av, "127.0.0.1", service, &fi, 0, NULL), -FI_ENODATA);
		return;
	}
	snprintf(text, sizeof(text), "fi_sockaddr_in://127.0.0.1:%d", ntohs(entry->s_port));
	assert_int_equal(fi_av_insertsvc(av, "127.0.0.1", service, &fi, 0, NULL), 1);
	expect_text(av, fi, text);
}

static void services_are_of_the_endpoints_protocol(void **state)
{
	static const struct {
		enum fi_ep_type type;
		uint32_t protocol;
		const char *name;
	} kinds[] = {
		{ FI_EP_MSG, FI_PROTO_SOCK_TCP, "tcp" }, { FI_EP_RDM, FI_PROTO_XNET, "tcp" },
		{ FI_EP_RDM, FI_PROTO_RXM, "tcp" }, { FI_EP_RDM, FI_PROTO_RXD, "udp" },
		{ FI_EP_MSG, FI_PROTO_RXD, "udp" }, { FI_EP_DGRAM, FI_PROTO_UDP, "udp" },
	};
	static const char *const services[] = { "ssh", "tftp", "domain" };
	struct obj_domain domain;
	struct fid_av *av;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		make_domain(&domain, FI_SOCKADDR_IN);
		endpoints.type = kinds[i].type;
		endpoints.protocol = kinds[i].protocol;
		av = open_av(&domain, NULL, 0);
		for (size_t s = 0; s < sizeof(services) / sizeof(*services); s++)
			expect_service(av, services[s], getservbyname(services[s], kinds[i].name));
		assert_int_equal(fi_close(&av->fid), 0);
	}
}

static void ipv6_ranges_carry(void **state)
{
	struct obj_domain domain;
	struct fid_av *av;
	fi_addr_t fi[2];

	make_domain(&domain, FI_SOCKADDR_IN6);
	av = open_av(&domain, NULL, 0);
	assert_int_equal(fi_av_insertsym(av, "fd00::ffff", 2, "80", 1, fi, 0, NULL), 2);
	expect_text(av, fi[0], "fi_sockaddr_in6://[fd00::ffff]:80");
	expect_text(av, fi[1], "fi_sockaddr_in6://[fd00::1:0]:80");
	assert_int_equal(fi_close(&av->fid), 0);
}

static void string_addresses(void **state)
{
	struct obj_domain domain;
	struct fid_av *av;
	char longest[OBJ_ADDR_MAX + 8];
	const char *names[] = { "shm-a", "shm-bcdefgh", longest };
	char got[32];
	size_t len = sizeof(got);
	fi_addr_t fi[3];

	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	make_domain(&domain, FI_ADDR_STR);
	av = open_av(&domain, NULL, 0);
	assert_int_equal(fi_av_insert(av, names, 3, fi, 0, NULL), 2);
	assert_true(fi[2] == FI_ADDR_NOTAVAIL);
	assert_int_equal(fi_av_lookup(av, fi[1], got, &len), 0);
	assert_string_equal(got, "shm-bcdefgh");
	assert_int_equal(len, 12);
	assert_int_equal(obj_av_find(obj_av_of(av), "shm-a", 6), fi[0]);
	assert_true(obj_av_find(obj_av_of(av), "shm-b", 6) == FI_ADDR_NOTAVAIL);
	/* the way programs have them from fi_getname() */
	assert_int_equal(fi_av_insert(av, "fi_shm://1\0x\0fi_shm://3", 3, fi, 0, NULL), 3);
	assert_int_equal(obj_av_find(obj_av_of(av), "fi_shm://1", 11), fi[0]);
	assert_int_equal(obj_av_find(obj_av_of(av), "x", 2), fi[1]);
	assert_int_equal(obj_av_find(obj_av_of(av), "fi_shm://3", 11), fi[2]);
	assert_int_equal(fi_close(&av->fid), 0);
}

static void user_ids_replace_the_index(void **state)
{
	struct obj_domain domain;
	struct fid_av *av;
	struct sockaddr_in a[2] = { in4(1, 1), in4(2, 2) };
	fi_addr_t fi[2] = { 1000, 2000 };

	make_domain(&domain, FI_SOCKADDR_IN);
	av = open_av(&domain, NULL, 0);
	assert_int_equal(fi_av_insert(av, a, 2, fi, FI_AV_USER_ID, NULL), 2);
	assert_true(fi[0] == 0 && fi[1] == 1);
	assert_int_equal(obj_av_find(obj_av_of(av), &a[1], sizeof(a[1])), 2000);
	assert_int_equal(fi_av_set_user_id(av, 1, 3000, 0), 0);
	assert_int_equal(obj_av_user_id(obj_av_of(av), 1), 3000);
	assert_int_equal(fi_av_set_user_id(av, 9, 3000, 0), -FI_EINVAL);
	assert_int_equal(fi_close(&av->fid), 0);
}

/* ---- endpoints are told --------------------------------------------------- */

static fi_addr_t told;

static void record_removal(struct obj_ep *ep, fi_addr_t fi_addr)
{
	struct sockaddr_in sin;
	size_t len;

	told = fi_addr;
	/* The address can still be looked up. */
	assert_int_equal(obj_av_addr(ep->av, fi_addr, &sin, &len), 0);
}

static void endpoints_hear_of_removals(void **state)
{
	static const struct obj_ep_ops ops = { .av_removed = record_removal };
	struct sockaddr_in a = in4(1, 1);
	struct obj_prog prog = { 0 };
	struct obj_domain domain;
	struct obj_ep ep = { 0 };
	struct fid_av *av;
	fi_addr_t fi;

	make_domain(&domain, FI_SOCKADDR_IN);
	av = open_av(&domain, NULL, 0);
	lock_init(&prog.lock, LOCK_MUTEX);
	ep.ops = &ops;
	ep.enabled = true;
	ep.prog = &prog;
	ep.av = obj_av_of(av);
	list_add_tail(&ep.av_node, &ep.av->eps);
	assert_int_equal(fi_av_insert(av, &a, 1, &fi, 0, NULL), 1);
	told = 99;
	assert_int_equal(fi_av_remove(av, &fi, 1, 0), 0);
	assert_int_equal(told, fi);
	list_del(&ep.av_node);
	lock_destroy(&prog.lock);
	assert_int_equal(fi_close(&av->fid), 0);
}

/* ---- sets ----------------------------------------------------------------- */

static void expect_members(struct fid_av_set *fid, size_t cnt, const fi_addr_t *want)
{
	struct obj_av_set *set = obj_av_set_of(fid);

	assert_int_equal(set->cnt, cnt);
	assert_memory_equal(set->addrs, want, cnt * sizeof(*want));
}

static void sets_keep_their_order(void **state)
{
	struct fi_av_set_attr all = { .flags = FI_UNIVERSE };
	struct fi_av_set_attr odd = { .start_addr = 1, .end_addr = 7, .stride = 2 };
	struct fi_av_set_attr none = { .start_addr = FI_ADDR_NOTAVAIL, .end_addr = FI_ADDR_NOTAVAIL };
	struct fid_av_set *a, *b, *c;
	struct sockaddr_in addrs[8];
	struct obj_domain domain;
	struct fid_av *av;
	fi_addr_t one;
	int i;

	make_domain(&domain, FI_SOCKADDR_IN);
	av = open_av(&domain, NULL, 0);
	for (i = 0; i < 8; i++)
		addrs[i] = in4(1, (uint16_t) (i + 1));
	assert_int_equal(fi_av_insert(av, addrs, 8, NULL, 0, NULL), 8);
	assert_int_equal(fi_av_set(av, &all, &a, NULL), 0);
	expect_members(a, 8, (fi_addr_t[]) { 0, 1, 2, 3, 4, 5, 6, 7 });
	assert_int_equal(fi_av_set(av, &odd, &b, NULL), 0);
	expect_members(b, 4, (fi_addr_t[]) { 1, 3, 5, 7 });
	assert_int_equal(fi_av_set(av, &none, &c, NULL), 0);
	expect_members(c, 0, (fi_addr_t[]) { 0 });
	assert_int_equal(fi_close(&c->fid), 0);
	none.stride = 2;
	assert_int_equal(fi_av_set(av, &none, &c, NULL), -FI_EINVAL);
	none.stride = 1;
	assert_int_equal(fi_av_set(av, &none, &c, NULL), 0);
	expect_members(c, 0, (fi_addr_t[]) { 0 });
	assert_int_equal(fi_av_set_insert(c, 6), 0);
	assert_int_equal(fi_av_set_insert(c, 3), 0);
	assert_int_equal(fi_av_set_insert(c, 3), -FI_EINVAL);
	assert_int_equal(fi_av_set_insert(c, 8), -FI_EINVAL);
	assert_int_equal(fi_av_set_union(c, b), 0);
	expect_members(c, 5, (fi_addr_t[]) { 6, 3, 1, 5, 7 });
	assert_int_equal(fi_av_set_intersect(c, b), 0);
	expect_members(c, 4, (fi_addr_t[]) { 3, 1, 5, 7 });
	assert_int_equal(fi_av_set_diff(a, b), 0);
	expect_members(a, 4, (fi_addr_t[]) { 0, 2, 4, 6 });
	assert_int_equal(fi_av_set_remove(a, 2), 0);
	assert_int_equal(fi_av_set_remove(a, 2), -FI_EINVAL);
	expect_members(a, 3, (fi_addr_t[]) { 0, 4, 6 });
	assert_int_equal(fi_av_set_addr(a, &one), 0);
	odd.start_addr = 9;
	assert_int_equal(fi_av_set(av, &odd, &c, NULL), -FI_EINVAL);
	assert_int_equal(fi_close(&a->fid), 0);
	assert_int_equal(fi_close(&b->fid), 0);
	assert_int_equal(fi_close(&c->fid), 0);
	assert_int_equal(fi_close(&av->fid), 0);
}

static void a_link_local_address_is_on_our_link(void **state)
{
	struct sockaddr_in6 src = { .sin6_family = AF_INET6, .sin6_scope_id = 7 };
	struct sockaddr_in6 peer = { .sin6_family = AF_INET6, .sin6_port = htons(1) }, got;
	struct fi_domain_attr attr = { .name = "lo" };
	struct fi_info info = { .src_addr = &src, .src_addrlen = sizeof(src), .domain_attr = &attr,
				.ep_attr = &endpoints };
	struct obj_domain domain;
	size_t len = sizeof(got);
	struct fid_av *av;
	fi_addr_t fi[4];
	unsigned i;

	for (i = 0; i < 2; i++) {
		make_domain(&domain, FI_SOCKADDR_IN6);
		domain.info = &info;
		if (i)
			src.sin6_scope_id = 0;	/* the interface is known by its name alone */
		av = open_av(&domain, NULL, 0);
		inet_pton(AF_INET6, "fe80::2", &peer.sin6_addr);
		peer.sin6_scope_id = 0;
		assert_int_equal(fi_av_insert(av, &peer, 1, &fi[0], 0, NULL), 1);
		peer.sin6_scope_id = 9;
		assert_int_equal(fi_av_insert(av, &peer, 1, &fi[1], 0, NULL), 1);
		inet_pton(AF_INET6, "fd00::2", &peer.sin6_addr);
		peer.sin6_scope_id = 0;
		assert_int_equal(fi_av_insert(av, &peer, 1, &fi[2], 0, NULL), 1);
		assert_int_equal(fi_av_insertsvc(av, "fe80::3", "5", &fi[3], 0, NULL), 1);
		assert_int_equal(fi_av_lookup(av, fi[0], &got, &len), 0);
		assert_int_equal(got.sin6_scope_id, i ? if_nametoindex("lo") : 7);
		assert_int_equal(fi_av_lookup(av, fi[1], &got, &len), 0);
		assert_int_equal(got.sin6_scope_id, 9);
		assert_int_equal(fi_av_lookup(av, fi[2], &got, &len), 0);
		assert_int_equal(got.sin6_scope_id, 0);
		assert_int_equal(fi_av_lookup(av, fi[3], &got, &len), 0);
		assert_int_equal(got.sin6_scope_id, i ? if_nametoindex("lo") : 7);
		assert_int_equal(fi_close(&av->fid), 0);
	}
}

/* The bits for receive contexts leave 32 for the entries of a table. */
static void contexts_take_up_to_32_bits(void **state)
{
	static const int bits[] = { 0, 1, 16, 20, 32, 33, -1 };
	struct obj_domain domain;
	struct fid_av *av;
	unsigned rx, i;

	make_domain(&domain, FI_SOCKADDR_IN);
	for (i = 0; i < sizeof(bits) / sizeof(*bits); i++) {
		struct fi_av_attr attr = { .type = FI_AV_TABLE, .rx_ctx_bits = bits[i] };
		int ret = obj_av_open(&domain.fid, &attr, &av, NULL);

		assert_int_equal(ret, i < 5 ? 0 : -FI_EINVAL);
		if (ret)
			continue;
		assert_int_equal(obj_av_index((struct obj_av *) av, i ? fi_rx_addr(77, 1, bits[i]) : 77, &rx), 77);
		assert_int_equal(rx, i ? 1 : 0);
		assert_int_equal(fi_close(&av->fid), 0);
	}
}

/* ---- threads --------------------------------------------------------------- */

static _Atomic int stop;

static void *read_addresses(void *arg)
{
	struct obj_av *av = arg;
	struct sockaddr_in sin;
	size_t len;

	while (!atomic_load(&stop)) {
		fi_addr_t fi = (fi_addr_t) (random() % 3000);

		if (!obj_av_addr(av, fi, &sin, &len) &&
		    ntohs(sin.sin_port) != 1 + ntohl(sin.sin_addr.s_addr) % 50000)
			return arg;	/* half of one address, half of another */
	}
	return NULL;
}

static void readers_see_whole_entries(void **state)
{
	struct obj_domain domain;
	struct fid_av *av;
	pthread_t thread;
	void *torn;
	fi_addr_t fi[64];
	struct sockaddr_in a;
	uint32_t i, k;

	make_domain(&domain, FI_SOCKADDR_IN);
	av = open_av(&domain, NULL, 0);
	atomic_store(&stop, 0);
	assert_int_equal(pthread_create(&thread, NULL, read_addresses, obj_av_of(av)), 0);
	for (i = 0; i < 2000; i++) {
		for (k = 0; k < 64; k++) {
			uint32_t host = i * 64 + k + 1;

			a = in4(host, (uint16_t) (1 + host % 50000));
			assert_int_equal(fi_av_insert(av, &a, 1, &fi[k], 0, NULL), 1);
		}
		assert_int_equal(fi_av_remove(av, fi, i % 64, 0), 0);
	}
	atomic_store(&stop, 1);
	pthread_join(thread, &torn);
	assert_null(torn);
	assert_int_equal(fi_close(&av->fid), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(matches_a_model),
		cmocka_unit_test(a_million_entries),
		cmocka_unit_test(bad_input_changes_nothing),
		cmocka_unit_test(busy_while_used),
		cmocka_unit_test(infiniband),
		cmocka_unit_test(ranges_count_services_first),
		cmocka_unit_test(services_are_of_the_endpoints_protocol),
		cmocka_unit_test(ipv6_ranges_carry),
		cmocka_unit_test(string_addresses),
		cmocka_unit_test(contexts_take_up_to_32_bits),
		cmocka_unit_test(user_ids_replace_the_index),
		cmocka_unit_test(endpoints_hear_of_removals),
		cmocka_unit_test(sets_keep_their_order),
		cmocka_unit_test(a_link_local_address_is_on_our_link),
		cmocka_unit_test(readers_see_whole_entries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
