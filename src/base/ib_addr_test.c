/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <arpa/inet.h>
#include <endian.h>
#include <rdma/fi_errno.h>
#include <string.h>

#include "base/ib_addr.h"

static struct ib_ud good(void)
{
	struct ib_ud ud = { .gid = { 0xfe, 0x80, [15] = 1 }, .qpn = htonl(17),
			    .qkey = htonl(0x80010000), .lid = htons(5), .pkey = htons(0xffff), .sl = 3 };

	return ud;
}

/* The bytes are the same on every machine. */
static void layout(void **state)
{
	static const uint8_t want[32] = {
		0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
		0, 0, 0, 17, 0x80, 1, 0, 0, 0, 5, 0xff, 0xff, 3, 0, 0x1d, 0x2f,
	};
	struct ib_ud ud = good();

	ud.service = htons(7471);
	assert_memory_equal(&ud, want, sizeof(want));
}

static void ud_wrong(const char *word, struct ib_ud ud)
{
	const char *why = ib_ud_wrong(&ud, sizeof(ud));

	assert_non_null(why);
	assert_non_null(strstr(why, word));
}

static void checks_ud(void **state)
{
	char apart[sizeof(struct ib_ud) + 1];
	struct ib_ud ud = good();

	assert_null(ib_ud_wrong(&ud, sizeof(ud)));
	memcpy(apart + 1, &ud, sizeof(ud));
	assert_null(ib_ud_wrong(apart + 1, sizeof(ud)));
	assert_non_null(ib_ud_wrong(&ud, sizeof(ud) - 1));
#define WRONG(word, field, value) do { ud = good(); ud.field = value; ud_wrong(word, ud); } while (0)
	WRONG("number 0", qpn, 0);
	WRONG("24 bits", qpn, htonl(0x1000000));
	WRONG("multicast", qpn, htonl(0xffffff));
	WRONG("multicast", gid[0], 0xff);
	WRONG("LID", lid, htons(0xc000));
	WRONG("service level", sl, 16);
	WRONG("partition", pkey, htons(0x8000));
	WRONG("reserved byte", zero, 1);
	ud = good();
	memset(ud.gid, 0, sizeof(ud.gid));
	ud_wrong("GID", ud);
}

static void checks_sa(void **state)
{
	struct ib_sa sa = { .family = IB_SA_FAMILY, .gid = { 0xfe, 0x80, [15] = 1 }, .sid = 1 };

	assert_null(ib_sa_wrong(&sa, sizeof(sa)));
	assert_non_null(ib_sa_wrong(&sa, sizeof(sa) - 1));
	sa.family = 2;
	assert_non_null(strstr(ib_sa_wrong(&sa, sizeof(sa)), "AF_IB"));
	sa.family = IB_SA_FAMILY;
	sa.sid = 0;
	assert_non_null(strstr(ib_sa_wrong(&sa, sizeof(sa)), "service"));
	sa.sid = 1;
	sa.gid[0] = 0xff;
	assert_non_null(strstr(ib_sa_wrong(&sa, sizeof(sa)), "multicast"));
}

static void texts_ud(void **state)
{
	static const char *const malformed[] = {
		"fi_addr_ib_ud://", "fi_addr_ib_ud://fe80::1:17", "fi_addr_ib_ud://[fe80::1", "fi_addr_ib_ud://[]",
		"fi_addr_ib_ud://[fe80::1]:", "fi_addr_ib_ud://[fe80::1]:0x1000000", "fi_addr_ib_ud://[fe80::1]:-1",
		"fi_addr_ib_ud://[fe80::1]:1/4294967296", "fi_addr_ib_ud://[fe80::1]:1/1/65536",
		"fi_addr_ib_ud://[fe80::1]:1/1/1/16", "fi_addr_ib_ud://[fe80::1]:1/1/1/1/65536",
		"fi_addr_ib_ud://[fe80::1]:1/1/1/1/1/1", "fi_addr_ib_ud://[fe80::1]:1?service=65536",
		"fi_addr_ib_ud://[fe80::1]:1?qos=3", "fi_addr_ib_ud://[fe80::1]:1x", "fi_addr_ib_ud://[fe80::1] ",
		"fi_addr_ib_ud://[1111:1111:1111:1111:1111:1111:1111:1111:1111:1111]:1",
		"fi_addr_ib_ud://[10.0.0.1]:1", "fi_addr_ib_ud://[fe80::1]:18446744073709551617",
	};
	char text[IB_ADDR_TEXT_MAX];
	struct ib_ud ud = good(), back;
	size_t i;

	assert_string_equal(ib_ud_text(&ud, text), "fi_addr_ib_ud://[fe80::1]:17/0x80010000/5/3/0xffff");
	assert_int_equal(ib_ud_parse(text, &back), 0);
	assert_memory_equal(&ud, &back, sizeof(ud));
	ud.service = htons(7471);
	assert_non_null(strstr(ib_ud_text(&ud, text), "?service=7471"));
	assert_int_equal(ib_ud_parse(text, &back), 0);
	assert_memory_equal(&ud, &back, sizeof(ud));
	memset(&ud, 0xff, sizeof(ud));		/* the longest there is */
	assert_true(strlen(ib_ud_text(&ud, text)) < IB_ADDR_TEXT_MAX - 1);

	assert_int_equal(ib_ud_parse("fi_addr_ib_ud://[::ffff:10.0.0.1]", &back), 0);
	assert_int_equal(back.gid[12], 10);
	assert_int_equal(back.qpn, 0);
	assert_int_equal(ntohl(back.qkey), IB_UD_QKEY);
	assert_int_equal(ntohs(back.pkey), IB_PKEY);
	assert_int_equal(ib_ud_parse("fi_addr_ib_ud://[fe80::1]:0x11?service=9", &back), 0);
	assert_int_equal(ntohl(back.qpn), 17);
	assert_int_equal(ntohs(back.service), 9);
	back.sl = 9;
	for (i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++)
		assert_int_equal(ib_ud_parse(malformed[i], &back), -FI_EINVAL);
	assert_int_equal(ib_ud_parse("fi_sockaddr_in://10.0.0.1:7", &back), -FI_ENODATA);
	assert_int_equal(back.sl, 9);
}

static void texts_sa(void **state)
{
	char text[IB_ADDR_TEXT_MAX];
	struct ib_sa sa, back;

	assert_int_equal(ib_sa_parse("fi_sockaddr_ib://[fe80::2:c903:0:1]:7471", &sa), 0);
	assert_int_equal(be64toh(sa.sid), IB_SID_TCP | 7471);
	assert_int_equal(ntohs(sa.pkey), IB_PKEY);
	assert_null(ib_sa_wrong(&sa, sizeof(sa)));
	assert_string_equal(ib_sa_text(&sa, text), "fi_sockaddr_ib://[fe80::2:c903:0:1]:7471/0xffff");
	assert_int_equal(ib_sa_parse(text, &back), 0);
	assert_memory_equal(&sa, &back, sizeof(sa));
	ib_sa_set_port(&sa, 80);
	assert_string_equal(ib_sa_text(&sa, text), "fi_sockaddr_ib://[fe80::2:c903:0:1]:80/0xffff");
	ib_sa_set_port(&sa, 0);
	assert_non_null(ib_sa_wrong(&sa, sizeof(sa)));
	sa.sid = htobe64(UINT64_C(0x1000000000000123));
	assert_string_equal(ib_sa_text(&sa, text),
			    "fi_sockaddr_ib://[fe80::2:c903:0:1]:0x1000000000000123/0xffff");
	assert_int_equal(ib_sa_parse(text, &back), 0);
	assert_memory_equal(&sa, &back, sizeof(sa));
	memset(&sa, 0xff, sizeof(sa));
	assert_true(strlen(ib_sa_text(&sa, text)) < IB_ADDR_TEXT_MAX - 1);
	assert_int_equal(ib_sa_parse("fi_sockaddr_ib://[fe80::1]:7/0x10000", &back), -FI_EINVAL);
	assert_int_equal(ib_sa_parse("fi_sockaddr_ib://fe80::1", &back), -FI_EINVAL);
	assert_int_equal(ib_sa_parse("fi_sockaddr_ib://[fe80::1]:18446744073709551616", &back), -FI_EINVAL);
	assert_int_equal(ib_sa_parse("fi_addr_ib_ud://[fe80::1]", &back), -FI_ENODATA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(layout),
		cmocka_unit_test(checks_ud),
		cmocka_unit_test(checks_sa),
		cmocka_unit_test(texts_ud),
		cmocka_unit_test(texts_sa),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
