/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"

#include <stdlib.h>
#include <string.h>

#include "channel/rail.h"

static bool may_list(const char *text)
{
	union net_sa sa;

	assert_int_equal(net_addr_parse_host(text, &sa), 0);
	net_addr_set_port(&sa.sa, 4000);
	return chan_rail_may_list(&sa.sa);
}

static void what_a_peer_may_list(void **state)
{
	static const char *const bad[] = {
		"0.0.0.0", "0.1.2.3", "127.0.0.1", "127.255.0.1", "224.0.0.1", "239.255.255.255", "240.0.0.1",
		"255.255.255.255", "169.254.1.1", "::", "::1", "ff02::1", "fe80::1", "::ffff:127.0.0.1", "::ffff:192.0.2.1",
		"::192.0.2.1",
	};
	union net_sa sa;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_false(may_list(bad[i]));
	assert_true(may_list("192.0.2.1"));
	assert_true(may_list("10.0.0.1"));
	assert_true(may_list("2001:db8::1"));
	assert_true(may_list("fd00::1"));
	net_addr_parse_host("192.0.2.1", &sa);
	assert_false(chan_rail_may_list(&sa.sa));	/* no port */
	memset(&sa, 0, sizeof(sa));
	assert_false(chan_rail_may_list(&sa.sa));
}

/* A bit for each pair. */
static bool reaches(void *arg, unsigned our, unsigned their)
{
	return *(const uint64_t *) arg >> (8 * our + their) & 1;
}

static void equal_ones_in_order(void **state)
{
	struct chan_rail rail[CHAN_RAILS_MAX];
	uint64_t all = UINT64_MAX;
	unsigned i;

	assert_int_equal(chan_rails_pair(3, 5, reaches, &all, rail), 3);
	for (i = 0; i < 3; i++)
		assert_true(rail[i].ours == i && rail[i].theirs == i);
	assert_int_equal(chan_rails_pair(8, 2, reaches, &all, rail), 2);
	assert_int_equal(chan_rails_pair(0, 8, reaches, &all, rail), 0);
}

static void one_gives_way_to_another(void **state)
{
	struct chan_rail rail[CHAN_RAILS_MAX];
	uint64_t map = 0x0103;		/* our first reaches both, our second the first alone */

	assert_int_equal(chan_rails_pair(2, 2, reaches, &map, rail), 2);
	assert_true(rail[0].ours == 0 && rail[0].theirs == 1 && rail[1].ours == 1 && rail[1].theirs == 0);
}

/* most_pairs - by trying all. */
static unsigned most_pairs(uint64_t map, unsigned our, unsigned ours, unsigned theirs, unsigned used)
{
	unsigned best, i, found;

	if (our == ours)
		return 0;
	best = most_pairs(map, our + 1, ours, theirs, used);
	for (i = 0; i < theirs; i++) {
		if (used >> i & 1 || !reaches(&map, our, i))
			continue;
		found = 1 + most_pairs(map, our + 1, ours, theirs, used | 1u << i);
		best = found > best ? found : best;
	}
	return best;
}

static void as_many_as_possible(void **state)
{
	unsigned seed = 46, i, k, cnt, used_ours, used_theirs;
	struct chan_rail rail[CHAN_RAILS_MAX];
	uint64_t map;

	for (i = 0; i < 2000; i++) {
		unsigned ours = (unsigned) rand_r(&seed) % 6, theirs = (unsigned) rand_r(&seed) % 6;

		map = ((uint64_t) rand_r(&seed) << 32 | (uint64_t) rand_r(&seed)) & ((uint64_t) rand_r(&seed) << 32 | (uint64_t) rand_r(&seed));
		cnt = chan_rails_pair(ours, theirs, reaches, &map, rail);
		assert_int_equal(cnt, most_pairs(map, 0, ours, theirs, 0));
		for (used_ours = used_theirs = k = 0; k < cnt; k++) {
			assert_true(reaches(&map, rail[k].ours, rail[k].theirs));
			assert_false(used_ours >> rail[k].ours & 1 || used_theirs >> rail[k].theirs & 1);
			used_ours |= 1u << rail[k].ours;
			used_theirs |= 1u << rail[k].theirs;
		}
	}
}

/* An address that does not answer is left alone after CHAN_RAIL_PROBES; one that has, is tried for ever. */
static void attempts_are_few_and_spaced(void **state)
{
	struct chan_rail rail = { .ours = 0 };
	uint64_t now, last = 0;
	unsigned cnt = 0;

	for (now = 1; now < 100 * CHAN_RAIL_EVERY_NS; now += CHAN_RAIL_EVERY_NS / 10) {
		if (!chan_rail_due(&rail, now))
			continue;
		assert_true(!cnt || now - last >= CHAN_RAIL_EVERY_NS);
		chan_rail_tried(&rail, now);
		last = now;
		cnt++;
	}
	assert_int_equal(cnt, CHAN_RAIL_PROBES);
	rail = (struct chan_rail) { .ours = 0 };
	chan_rail_tried(&rail, 1);
	chan_rail_made(&rail, 2);
	for (cnt = 0, now = 2 * CHAN_RAIL_EVERY_NS; now < 100 * CHAN_RAIL_EVERY_NS; now += CHAN_RAIL_EVERY_NS / 10) {
		if (!chan_rail_due(&rail, now))
			continue;
		chan_rail_tried(&rail, now);
		chan_rail_failed(&rail, now);
		cnt++;
	}
	assert_true(cnt > 80 && cnt <= 98);
}

/* lost_after - it is made at @now, and lost @stood later.  Returns how long it is left alone. */
static uint64_t lost_after(struct chan_rail *rail, uint64_t now, uint64_t stood)
{
	chan_rail_tried(rail, now);
	chan_rail_made(rail, now);
	chan_rail_failed(rail, now + stood);
	assert_false(chan_rail_due(rail, rail->due_ns - 1));
	assert_true(chan_rail_due(rail, rail->due_ns));
	return rail->due_ns - (now + stood);
}

/* One that is lost again and again soon after it was made is tried less and less often, until it has stood. */
static void one_that_is_lost_soon_waits_longer(void **state)
{
	struct chan_rail rail = { .ours = 0 };
	uint64_t now = CHAN_RAIL_STEADY_NS, every = CHAN_RAIL_EVERY_NS;
	unsigned i;

	for (i = 0; i < 10; i++, now += CHAN_RAIL_STEADY_NS)
		assert_int_equal(lost_after(&rail, now, CHAN_RAIL_STEADY_NS - 1),
				 every << (i < CHAN_RAIL_SOON_MAX ? i : CHAN_RAIL_SOON_MAX - 1));
	/* a connect that fails is no loss */
	chan_rail_tried(&rail, now);
	chan_rail_failed(&rail, now);
	assert_int_equal(rail.due_ns, now + every);
	now += every;
	assert_int_equal(lost_after(&rail, now, CHAN_RAIL_STEADY_NS), every);
	assert_int_equal(lost_after(&rail, now, 1), every);
	assert_int_equal(lost_after(&rail, now, 1), 2 * every);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_peer_may_list),
		cmocka_unit_test(equal_ones_in_order),
		cmocka_unit_test(one_gives_way_to_another),
		cmocka_unit_test(as_many_as_possible),
		cmocka_unit_test(attempts_are_few_and_spaced),
		cmocka_unit_test(one_that_is_lost_soon_waits_longer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
