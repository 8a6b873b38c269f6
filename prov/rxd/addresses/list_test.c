/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* What a peer may list, and which packets of rails are refused before anything in them is used. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"

#include <string.h>

#include "rxd/addresses/list.h"

#define KEY { { 3, UINT64_MAX } }

static union net_sa addr_of(const char *text)
{
	union net_sa sa;

	memset(&sa, 0, sizeof(sa));
	assert_int_equal(net_addr_parse(text, &sa), 0);
	return sa;
}

static void both_families_come_back(void **state)
{
	const struct siphash_key key = KEY;
	union net_sa at[2] = { addr_of("fi_sockaddr_in://10.1.2.3:4000"), addr_of("fi_sockaddr_in6://[2001:db8::7]:1") };
	union net_sa back[RXD_RAILS_LIST];
	struct siphash_key theirs;
	uint8_t buf[sizeof(struct rxd_wire_list) + 1];

	assert_int_equal(rxd_list_put(&key, at, 2, buf), sizeof(struct rxd_wire_list));
	assert_int_equal(rxd_list_take(buf, sizeof(struct rxd_wire_list), &theirs, back), 2);
	assert_memory_equal(&theirs, &key, sizeof(key));
	assert_int_equal(net_addr_cmp(&back[0].sa, &at[0].sa), 0);
	assert_int_equal(net_addr_cmp(&back[1].sa, &at[1].sa), 0);
}

/* They keep their places, so that the numbers of the others stay. */
static void addresses_of_no_network_are_dropped(void **state)
{
	static const char *const not[] = {
		"fi_sockaddr_in://127.0.0.1:5", "fi_sockaddr_in://224.0.0.1:5", "fi_sockaddr_in://255.255.255.255:5",
		"fi_sockaddr_in://169.254.1.1:5", "fi_sockaddr_in://0.0.0.0:5", "fi_sockaddr_in6://[fe80::1]:5",
		"fi_sockaddr_in://10.0.0.1:0",
	};
	const struct siphash_key key = KEY;
	union net_sa at[RXD_RAILS_LIST], back[RXD_RAILS_LIST];
	struct siphash_key theirs;
	uint8_t buf[sizeof(struct rxd_wire_list)];
	unsigned i;

	for (i = 0; i < 7; i++)
		at[i] = addr_of(not[i]);
	at[7] = addr_of("fi_sockaddr_in://10.0.0.1:5");
	rxd_list_put(&key, at, 8, buf);
	assert_int_equal(rxd_list_take(buf, sizeof(buf), &theirs, back), 8);
	for (i = 0; i < 7; i++)
		assert_int_equal(back[i].sa.sa_family, 0);
	assert_int_equal(net_addr_cmp(&back[7].sa, &at[7].sa), 0);
}

static void set_byte(uint8_t *buf, size_t at, uint8_t byte, int taken)
{
	uint8_t copy[sizeof(struct rxd_wire_list)];
	union net_sa back[RXD_RAILS_LIST];
	struct siphash_key theirs;

	memcpy(copy, buf, sizeof(copy));
	copy[at] = byte;
	assert_int_equal(rxd_list_take(copy, sizeof(copy), &theirs, back), taken);
}

static void other_private_data_is_no_list(void **state)
{
	const struct siphash_key key = KEY;
	union net_sa at = addr_of("fi_sockaddr_in://10.0.0.1:5"), back[RXD_RAILS_LIST];
	struct siphash_key theirs;
	uint8_t buf[sizeof(struct rxd_wire_list)];

	rxd_list_put(&key, &at, 1, buf);
	set_byte(buf, 0, 'x', -1);
	set_byte(buf, offsetof(struct rxd_wire_list, cnt), RXD_RAILS_LIST, RXD_RAILS_LIST);
	set_byte(buf, offsetof(struct rxd_wire_list, cnt), RXD_RAILS_LIST + 1, -1);
	set_byte(buf, offsetof(struct rxd_wire_list, version), RXD_RAILS_VERSION + 1, 1);
	set_byte(buf, offsetof(struct rxd_wire_list, version), RXD_RAILS_OLDEST - 1, -1);
	set_byte(buf, offsetof(struct rxd_wire_list, oldest), RXD_RAILS_VERSION + 1, -1);
	assert_int_equal(rxd_list_take(buf, sizeof(buf) - 1, &theirs, back), -1);
	assert_int_equal(rxd_list_take(buf, 0, &theirs, back), -1);
}

static void impossible_packets_are_refused(void **state)
{
	struct rxd_wire_rail rail = { .cid = 1, .nonce = 2, .hash = 3, .from = 7, .to = 7 }, back;
	uint8_t buf[64];

	assert_int_equal(rxd_rail_put(buf, 0, &rail), sizeof(rail));
	assert_null(rxd_rail_take(buf, sizeof(rail), &back));
	assert_memory_equal(&back, &rail, sizeof(rail));
	assert_non_null(rxd_rail_take(buf, sizeof(rail) - 1, &back));
	assert_non_null(rxd_rail_take(buf, sizeof(rail) + 1, &back));
	rail.from = RXD_RAILS_LIST;
	rxd_rail_put(buf, 0, &rail);
	assert_non_null(rxd_rail_take(buf, sizeof(rail), &back));
	rail.from = 0;
	rail.zero[5] = 1;
	rxd_rail_put(buf, 0, &rail);
	assert_non_null(rxd_rail_take(buf, sizeof(rail), &back));
	rail.zero[5] = 0;
	rail.cid = 0;
	rxd_rail_put(buf, 0, &rail);
	assert_non_null(rxd_rail_take(buf, sizeof(rail), &back));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_families_come_back),
		cmocka_unit_test(addresses_of_no_network_are_dropped),
		cmocka_unit_test(other_private_data_is_no_list),
		cmocka_unit_test(impossible_packets_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
