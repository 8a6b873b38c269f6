/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* The text forms of structs; those of values are compared with the tables of
 * tests/abi.
 */

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/mman.h>

#include <rdma/fi_domain.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>

#include "base/ib_addr.h"
#include "base/release.h"
#include "core/test/child_test.h"

static void has(const char *text, const char *line)
{
	if (!strstr(text, line))
		print_message("%s", text);
	assert_non_null(strstr(text, line));
}

static void test_empty_info(void **state)
{
	struct fi_info info = { 0 };

	assert_string_equal(fi_tostr(&info, FI_TYPE_INFO),
			    "fi_info:\n"
			    "    caps: [  ]\n"
			    "    mode: [  ]\n"
			    "    addr_format: FI_FORMAT_UNSPEC\n"
			    "    src_addrlen: 0\n"
			    "    dest_addrlen: 0\n"
			    "    src_addr: (null)\n"
			    "    dest_addr: (null)\n"
			    "    handle: (nil)\n"
			    "    fi_tx_attr: (null)\n"
			    "    fi_rx_attr: (null)\n"
			    "    fi_ep_attr: (null)\n"
			    "    fi_domain_attr: (null)\n"
			    "    fi_fabric_attr: (null)\n"
			    "    nic: (nil)\n");
}

static void test_tx(void **state)
{
	struct fi_tx_attr tx = {
		.caps = FI_MSG | FI_SEND, .msg_order = FI_ORDER_SAS, .size = 17,
		.tclass = FI_TC_LOW_LATENCY,
	};

	assert_string_equal(fi_tostr(&tx, FI_TYPE_TX_ATTR),
			    "fi_tx_attr:\n"
			    "    caps: [ FI_MSG, FI_SEND ]\n"
			    "    mode: [  ]\n"
			    "    op_flags: [  ]\n"
			    "    msg_order: [ FI_ORDER_SAS ]\n"
			    "    comp_order: [ FI_ORDER_NONE ]\n"
			    "    inject_size: 0\n"
			    "    size: 17\n"
			    "    iov_limit: 0\n"
			    "    rma_iov_limit: 0\n"
			    "    tclass: 0x201\n");
	tx.comp_order = FI_ORDER_STRICT | FI_ORDER_DATA;
	has(fi_tostr(&tx, FI_TYPE_TX_ATTR), "[ FI_ORDER_STRICT, FI_ORDER_DATA ]");
}

static void test_nested(void **state)
{
	struct fi_device_attr device = { .name = "mlx5_0" };
	struct fi_bus_attr bus = { .bus_type = FI_BUS_PCI, .attr.pci.bus_id = 3 };
	struct fi_link_attr link = { .state = FI_LINK_UP, .speed = 100 };
	struct fid_nic nic = {
		.device_attr = &device, .bus_attr = &bus, .link_attr = &link,
	};
	struct fi_ep_attr ep = { .type = FI_EP_RDM, .protocol = FI_PROTO_XNET,
				 .mem_tag_format = 0x1f };
	struct fi_domain_attr domain = {
		.name = "eth0", .threading = FI_THREAD_SAFE,
		.mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR,
		.resource_mgmt = FI_RM_ENABLED,
	};
	struct fi_fabric_attr fabric = { .name = "10.0.0.0/8", .prov_name = "tcp",
					 .prov_version = FI_VERSION(206, 0),
					 .api_version = FI_VERSION(1, 9) };
	struct fi_info info = { .ep_attr = &ep, .domain_attr = &domain,
				.fabric_attr = &fabric, .nic = &nic };
	const char *text = fi_tostr(&info, FI_TYPE_INFO);

	has(text, "\n    fi_ep_attr:\n        type: FI_EP_RDM\n");
	has(text, "\n        protocol: FI_PROTO_XNET\n");
	has(text, "\n        mem_tag_format: 0x000000000000001f\n");
	has(text, "\n        name: eth0\n        threading: FI_THREAD_SAFE\n");
	has(text, "\n        mr_mode: [ FI_MR_LOCAL, FI_MR_VIRT_ADDR ]\n");
	has(text, "\n        resource_mgmt: FI_RM_ENABLED\n");
	has(text, "\n        prov_version: 206.0\n        api_version: 1.9\n");
	has(text, "\n    nic:\n        fi_device_attr:\n            name: mlx5_0\n");
	has(text, "\n            bus_type: FI_BUS_PCI\n            fi_pci_attr:\n");
	has(text, "\n            state: FI_LINK_UP\n");
}

/* Members of 2.7: in an info of a program for that interface, not in one of an older program. */
static void test_interface(void **state)
{
	struct fi_ep_attr ep = { .xpu_ctx = (void *) 0x1230 };
	struct fi_domain_attr domain = { .max_xpu_ctx_cnt = 4 };
	struct fi_fabric_attr fabric = { .api_version = FI_VERSION(2, 7) };
	struct fi_info info = { .ep_attr = &ep, .domain_attr = &domain, .fabric_attr = &fabric };

	has(fi_tostr(&info, FI_TYPE_INFO), "\n        auth_key_size: 0\n        xpu_ctx: 0x1230\n");
	has(fi_tostr(&info, FI_TYPE_INFO),
	    "\n        max_err_cntr_value: 0\n        max_xpu_ctx_cnt: 4\n    fi_fabric_attr:\n");
	fabric.api_version = FI_VERSION(2, 6);
	assert_null(strstr(fi_tostr(&info, FI_TYPE_INFO), "xpu"));
	info.fabric_attr = NULL;
	assert_null(strstr(fi_tostr(&info, FI_TYPE_INFO), "xpu"));
	has(fi_tostr(&ep, FI_TYPE_EP_ATTR), "\n    auth_key_size: 0\n    xpu_ctx: 0x1230\n");
	has(fi_tostr(&domain, FI_TYPE_DOMAIN_ATTR),
	    "\n    max_err_cntr_value: 0\n    max_xpu_ctx_cnt: 4\n");
}

/* Attributes of queues and counters carry no version: their flags say whether there is more. */
static void test_short_attrs(void **state)
{
	size_t page = (size_t) sysconf(_SC_PAGESIZE);
	char *map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct fi_cntr_attr cntr = { .flags = FI_XPU, .xpu_ctx = (void *) 0x1230 };
	struct fi_cq_attr cq = { .flags = FI_XPU };
	const void *edge;

	assert_true(map != MAP_FAILED);
	assert_int_equal(mprotect(map + page, page, PROT_NONE), 0);
	edge = map + page - offsetof(struct fi_cq_attr, xpu_ctx);
	assert_null(strstr(fi_tostr(edge, FI_TYPE_CQ_ATTR), "xpu"));
	edge = map + page - offsetof(struct fi_cntr_attr, xpu_ctx);
	assert_null(strstr(fi_tostr(edge, FI_TYPE_CNTR_ATTR), "xpu"));
	has(fi_tostr(&cq, FI_TYPE_CQ_ATTR), "\n    wait_set: (nil)\n    xpu_ctx: (nil)\n");
	has(fi_tostr(&cntr, FI_TYPE_CNTR_ATTR), "\n    flags: 0x100000000000\n    xpu_ctx: 0x1230\n");
	munmap(map, 2 * page);
}

static void addr_is(uint32_t format, const void *addr, size_t len, const char *want)
{
	struct fi_info info = { .addr_format = format, .src_addr = (void *) addr,
				.src_addrlen = len };
	char line[256];

	snprintf(line, sizeof(line), "\n    src_addr: %s\n", want);
	has(fi_tostr(&info, FI_TYPE_INFO), line);
}

static void test_addr(void **state)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(77) };
	struct sockaddr_in6 sin6 = { .sin6_family = AF_INET6, .sin6_port = htons(78) };
	struct ib_ud ud;
	struct ib_sa sa;
	char first[32];

	inet_pton(AF_INET, "192.0.2.1", &sin.sin_addr);
	inet_pton(AF_INET6, "fe80::1", &sin6.sin6_addr);
	addr_is(FI_SOCKADDR_IN, &sin, sizeof(sin), "fi_sockaddr_in://192.0.2.1:77");
	addr_is(FI_SOCKADDR, &sin, sizeof(sin), "fi_sockaddr_in://192.0.2.1:77");
	addr_is(FI_SOCKADDR_IN6, &sin6, sizeof(sin6), "fi_sockaddr_in6://[fe80::1]:78");
	addr_is(FI_SOCKADDR_IP, &sin6, sizeof(sin6), "fi_sockaddr_in6://[fe80::1]:78");
	assert_int_equal(ib_ud_parse("fi_addr_ib_ud://[fe80::1]:17", &ud), 0);
	addr_is(FI_ADDR_IB_UD, &ud, sizeof(ud), "fi_addr_ib_ud://[fe80::1]:17/0x1234567/0/0/0xffff");
	addr_is(FI_ADDR_IB_UD, &ud, 2, "fi_addr_ib_ud://fe80");
	assert_int_equal(ib_sa_parse("fi_sockaddr_ib://[fe80::1]:17", &sa), 0);
	addr_is(FI_SOCKADDR_IB, &sa, sizeof(sa), "fi_sockaddr_ib://[fe80::1]:17/0xffff");
	addr_is(FI_SOCKADDR, &sa, sizeof(sa), "fi_sockaddr_ib://[fe80::1]:17/0xffff");
	addr_is(FI_ADDR_STR, "fi_shm://12", 12, "fi_shm://12");
	addr_is(FI_ADDR_STR, "fi_shm://12 and more", 9, "fi_shm://");
	addr_is(FI_ADDR_EFA, "\1\2", 2, "fi_addr_efa://0102");
	addr_is(FI_SOCKADDR_IN, &sin, 3, "fi_sockaddr_in://");
	snprintf(first, sizeof(first), "fi_sockaddr://%02x", *(const uint8_t *) &sin);
	addr_is(FI_SOCKADDR, &sin, 1, first);
}

static void test_objects(void **state)
{
	struct fi_cq_err_entry err = { .err = FI_ETRUNC, .olen = 9 };
	struct fi_cq_attr cq = { .format = FI_CQ_FORMAT_TAGGED, .wait_obj = FI_WAIT_FD };
	struct fi_av_attr av = { .type = FI_AV_TABLE, .count = 5, .name = "shared" };
	struct fi_cntr_attr cntr = { .events = FI_CNTR_EVENTS_BYTES };
	struct iovec iov = { .iov_base = NULL, .iov_len = 64 };
	struct fi_mr_attr mr = { .mr_iov = &iov, .iov_count = 1,
				 .access = FI_REMOTE_READ, .requested_key = 0x17 };
	struct fid fid = { 0 };
	char want[64];

	has(fi_tostr(&cq, FI_TYPE_CQ_ATTR), "    format: FI_CQ_FORMAT_TAGGED\n");
	has(fi_tostr(&cq, FI_TYPE_CQ_ATTR), "    wait_obj: FI_WAIT_FD\n");
	has(fi_tostr(&av, FI_TYPE_AV_ATTR), "    count: 5\n");
	has(fi_tostr(&av, FI_TYPE_AV_ATTR), "    name: shared\n");
	has(fi_tostr(&cntr, FI_TYPE_CNTR_ATTR), "    events: FI_CNTR_EVENTS_BYTES\n");
	has(fi_tostr(&mr, FI_TYPE_MR_ATTR), "    access: [ FI_REMOTE_READ ]\n");
	has(fi_tostr(&mr, FI_TYPE_MR_ATTR), "        iov: (nil), 64 bytes\n");
	has(fi_tostr(&mr, FI_TYPE_MR_ATTR), "    requested_key: 0x17\n");
	has(fi_tostr(&err, FI_TYPE_CQ_ERR_ENTRY), "    err: 265 (");
	has(fi_tostr(&err, FI_TYPE_CQ_ERR_ENTRY), "    olen: 9\n");
	snprintf(want, sizeof(want), "fid: %p\n", (void *) &fid);
	assert_string_equal(fi_tostr(&fid, FI_TYPE_FID), want);
}

/* NULL arguments are printed and do not crash. */
static void test_null(void **state)
{
	char buf[16];
	int type;

	for (type = 0; type <= FI_TYPE_WAIT_OBJ + 5; type++)
		assert_non_null(fi_tostr(NULL, type));
	assert_string_equal(fi_tostr(NULL, FI_TYPE_TX_ATTR), "fi_tx_attr: (null)\n");
	assert_string_equal(fi_tostr(NULL, FI_TYPE_VERSION), release_long());
	assert_string_equal(fi_tostr(NULL, 4711), "Unknown type");
	assert_null(fi_tostr_r(NULL, 7, NULL, FI_TYPE_INFO));
	*buf = 'x';
	assert_ptr_equal(fi_tostr_r(buf, 0, NULL, FI_TYPE_VERSION), buf);
	assert_int_equal(*buf, 'x');
	assert_string_equal(fi_tostr_r(buf, 3, NULL, FI_TYPE_VERSION), "2.");
}

static void test_unknown_bits(void **state)
{
	uint64_t caps = FI_MSG | (1ULL << 63);

	assert_string_equal(fi_tostr(&caps, FI_TYPE_CAPS), "FI_MSG, 0x8000000000000000");
}

/* ---- threads do not share the buffer ----------------------------------------------- */

static void *other(void *arg)
{
	enum fi_ep_type type = FI_EP_MSG;

	return fi_tostr(&type, FI_TYPE_EP_TYPE);
}

static void test_threads(void **state)
{
	enum fi_ep_type type = FI_EP_RDM;
	const char *text = fi_tostr(&type, FI_TYPE_EP_TYPE);
	pthread_t thread;
	void *theirs;

	assert_int_equal(pthread_create(&thread, NULL, other, NULL), 0);
	assert_int_equal(pthread_join(thread, &theirs), 0);
	assert_ptr_not_equal(theirs, text);
	assert_string_equal(text, "FI_EP_RDM");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty_info),
		cmocka_unit_test(test_tx),
		cmocka_unit_test(test_nested),
		cmocka_unit_test(test_interface),
		cmocka_unit_test(test_short_attrs),
		cmocka_unit_test(test_addr),
		cmocka_unit_test(test_objects),
		cmocka_unit_test(test_null),
		cmocka_unit_test(test_unknown_bits),
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
