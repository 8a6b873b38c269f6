/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Mercury NA-OFI: the provider and its protocol by name, blocking by fd. */

#include "mercury_hints.h"

#include <poll.h>
#include <string.h>

static const struct mercury_class sockets = {
	.prov = "sockets", .protocol = FI_PROTO_SOCK_TCP, .addr_format = FI_SOCKADDR_IN,
	.progress = FI_PROGRESS_AUTO, .extra_caps = FI_MULTI_RECV,
};
static const struct mercury_class shm = {
	.prov = "shm", .protocol = FI_PROTO_SHM, .addr_format = FI_ADDR_STR,
	.progress = FI_PROGRESS_MANUAL,
};
static const struct mercury_class tcp_rxm = {
	.prov = "tcp;ofi_rxm", .protocol = FI_PROTO_RXM, .addr_format = FI_SOCKADDR_IN,
	.progress = FI_PROGRESS_MANUAL, .extra_caps = FI_MULTI_RECV,
};
static const struct mercury_class verbs_rxm = {
	.prov = "verbs;ofi_rxm", .protocol = FI_PROTO_RXM, .addr_format = FI_SOCKADDR_IB,
	.progress = FI_PROGRESS_MANUAL, .extra_caps = FI_MULTI_RECV,
};

static void ask_all(const struct mercury_class *class)
{
	struct rt_query q = { .version = FI_VERSION(1, 20),
			      .hints = mercury_hints(class, FI_THREAD_SAFE) };
	struct fi_info *info = rt_all(&q);

	for (const struct fi_info *i = info; i; i = i->next) {
		assert_int_equal(i->ep_attr->protocol, class->protocol);
		assert_string_equal(i->fabric_attr->prov_name, class->prov);
	}
	fi_freeinfo(info);
	fi_freeinfo(q.hints);
}

static void test_tcp(void **state)
{
	ask_all(&mercury_tcp);
}

static void test_sockets(void **state)
{
	ask_all(&sockets);
}

static void test_shm(void **state)
{
	ask_all(&shm);
}

static void test_tcp_rxm(void **state)
{
	ask_all(&tcp_rxm);
}

static void test_verbs_rxm(void **state)
{
	ask_all(&verbs_rxm);
}

/* Without the protocol number of tcp's RDM endpoints the runtime does not find them. */
static void test_protocol_number(void **state)
{
	static const uint32_t version[] = { FI_VERSION(1, 9), FI_VERSION(1, 13), FI_VERSION(1, 20) };
	static const enum fi_threading level[] = { FI_THREAD_SAFE, FI_THREAD_DOMAIN };
	struct rt_query q = { 0 };
	struct fi_info *info;

	for (int i = 0; i < 6; i++) {
		q.version = version[i / 2];
		q.hints = mercury_hints(&mercury_tcp, level[i % 2]);
		info = rt_now(&q);
		assert_int_equal(info->ep_attr->protocol, FI_PROTO_XNET);
		assert_int_equal(info->addr_format, FI_SOCKADDR_IN);
		assert_int_equal(info->domain_attr->threading, level[i % 2]);
		fi_freeinfo(info);
		fi_freeinfo(q.hints);
	}
}

/* A numeric address of this host selects its interface, by name. */
static void test_source_picks_the_domain(void **state)
{
	struct rt_query q = { .version = FI_VERSION(1, 20), .node = "127.0.0.1", .service = "0",
			      .flags = FI_SOURCE | FI_NUMERICHOST,
			      .hints = mercury_hints(&mercury_tcp, FI_THREAD_SAFE) };
	struct fi_info *info;

	q.hints->domain_attr->name = strdup("lo");
	info = rt_now(&q);
	assert_string_equal(info->domain_attr->name, "lo");
	assert_non_null(info->src_addr);
	fi_freeinfo(info);
	fi_freeinfo(q.hints);
}

static void open_world(struct rt_world *w, struct rt_query *q)
{
	static const struct rt_setup setup = { .av_type = FI_AV_MAP,
					       .cq_format = FI_CQ_FORMAT_TAGGED,
					       .cq_size = 131072, .wait_obj = FI_WAIT_FD };

	*q = (struct rt_query) { .version = FI_VERSION(1, 20), .node = "127.0.0.1",
				 .flags = FI_SOURCE | FI_NUMERICHOST,
				 .hints = mercury_hints(&mercury_tcp, FI_THREAD_SAFE) };
	rt_open(w, rt_now(q), &setup);
}

/* Block on the queue's fd as an event loop does: trywait, then poll. */
static int sleep_on(struct rt_world *w, int i, int ms)
{
	struct fid *fid = &w->cq[i]->fid;
	struct pollfd pfd = { .events = POLLIN };

	assert_int_equal(fi_control(fid, FI_GETWAIT, &pfd.fd), 0);
	if (fi_trywait(w->fabric, &fid, 1) != 0)
		return 1;
	return poll(&pfd, 1, ms);
}

static void test_wait_by_fd(void **state)
{
	struct rt_query q;
	struct fi_context ctx[2];
	struct rt_world w;
	ssize_t n = -FI_EAGAIN;
	struct fi_cq_tagged_entry entry;
	char in[8];

	open_world(&w, &q);
	rt_carry_tagged(&w, 100, 1);	/* connected from here on */
	/* nothing in flight: the fd must stay unreadable, however often trywait is called */
	for (int i = 0; i < 5 && sleep_on(&w, 1, 50); i++)
		fi_cq_read(w.cq[1], NULL, 0);
	assert_int_equal(sleep_on(&w, 1, 100), 0);
	rt_do(&w, fi_trecv(w.ep[1], in, sizeof(in), NULL, FI_ADDR_UNSPEC, 2, 0, &ctx[1]));
	rt_do(&w, fi_tsend(w.ep[0], "wake up", 8, NULL, w.addr[1], 2, &ctx[0]));
	rt_wait(&w, 0);
	for (int i = 0; i < 100 && n == -FI_EAGAIN; i++) {
		assert_int_equal(sleep_on(&w, 1, 5000), 1);
		n = fi_cq_read(w.cq[1], &entry, 1);
	}
	assert_int_equal(n, 1);
	assert_memory_equal(in, "wake up", 8);
	rt_close(&w);
	fi_freeinfo(q.hints);
}

/* Unknown options return an error; known ones read back. */
static void test_options(void **state)
{
	size_t val = 4096, len = sizeof(val);
	struct rt_query q;
	struct rt_world w;

	open_world(&w, &q);
	assert_int_equal(fi_setopt(&w.ep[0]->fid, FI_OPT_ENDPOINT, 0x7fffff, &val, sizeof(val)),
			 -FI_ENOPROTOOPT);
	assert_int_equal(fi_setopt(&w.ep[0]->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &val,
				   sizeof(val)), 0);
	val = 0;
	assert_int_equal(fi_getopt(&w.ep[0]->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &val,
				   &len), 0);
	assert_int_equal(val, 4096);
	rt_close(&w);
	fi_freeinfo(q.hints);
}

static void test_messages(void **state)
{
	struct rt_query q;
	struct rt_world w;

	open_world(&w, &q);
	rt_carry(&w, 4096);
	rt_carry_tagged(&w, 65536, 0xffffffffULL);
	rt_close(&w);
	fi_freeinfo(q.hints);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tcp),
		cmocka_unit_test(test_sockets),
		cmocka_unit_test(test_shm),
		cmocka_unit_test(test_tcp_rxm),
		cmocka_unit_test(test_verbs_rxm),
		cmocka_unit_test(test_protocol_number),
		cmocka_unit_test(test_source_picks_the_domain),
		cmocka_unit_test(test_wait_by_fd),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
