/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Held payload: complete, still arriving, in the peer's memory, lost; pulled or dropped. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <rdma/fi_errno.h>
#include <string.h>

#include "channel/chan.h"
#include "channel/hold.h"
#include "channel/poller.h"

struct hold {
	struct chan_hold base;	/* first */
	char own[24];
};

static struct {
	unsigned takes, releases;
	int take_ret;
	struct chan_hold *hold;
	void *cookie;
} seen;

static int take(struct chan_hold *hold, const struct iovec *iov, size_t iov_cnt, void *cookie)
{
	seen.takes++;
	seen.hold = hold;
	seen.cookie = cookie;
	list_del(&hold->node);		/* the source forgets it */
	return seen.take_ret;
}

static void release(struct chan_hold *hold)
{
	seen.releases++;
	seen.hold = hold;
	list_del(&hold->node);
}

static struct {
	unsigned calls;
	void *cookie;
	int status;
	const struct chan_sink *sink;
} placed;

static const struct chan_hold_ops ops = { .take = take, .release = release };

static const char payload[] = "payload of a packet";

static struct chan_poller poller;
static struct chan_link owner = { .poller = &poller };

static struct chan_hold *make(size_t avail, bool remote)
{
	struct eng_rx rx = { .data = (const uint8_t *) payload, .avail = avail, .len = sizeof(payload) };
	struct chan_hold *hold = chan_hold_new(&poller.holds, sizeof(struct hold), &rx, remote, &ops);
	static const char zeros[24];

	memset(&seen, 0, sizeof(seen));
	assert_non_null(hold);
	assert_int_equal(hold->len, sizeof(payload));
	assert_memory_equal(((struct hold *) hold)->own, zeros, sizeof(zeros));
	assert_true(list_empty(&hold->node));
	return hold;
}

/* pull - into two pieces; what lies behind them is left alone. */
static int pull(struct chan_hold *hold, char out[32], size_t room)
{
	struct iovec iov[] = { { out, 5 }, { out + 5, room - 5 } };

	memset(out, '#', 32);
	return chan_pull(&owner.base, hold, iov, 2, &seen);
}

static void a_complete_payload_needs_no_source(void **state)
{
	uint64_t pulled = poller.pulled;
	char out[32];

	assert_int_equal(pull(make(sizeof(payload), false), out, sizeof(payload)), 1);
	assert_string_equal(out, payload);
	assert_int_equal(out[sizeof(payload)], '#');
	/* a list that is too short */
	assert_int_equal(pull(make(sizeof(payload), false), out, 9), 1);
	assert_memory_equal(out, "payload o###", 12);
	chan_pull(&owner.base, make(sizeof(payload), false), NULL, 0, NULL);
	assert_int_equal(seen.takes + seen.releases, 0);
	assert_int_equal(poller.pulled, pulled + 2);	/* what is dropped has met no receive */
}

static void what_is_still_arriving_is_taken_from_its_source(void **state)
{
	struct list source = { &source, &source };
	struct chan_hold *hold = make(4, false);
	char out[32];

	assert_memory_equal(hold->data, payload, 4);
	list_add_tail(&hold->node, &source);
	hold->source = &source;
	assert_int_equal(pull(hold, out, 20), 0);
	assert_int_equal(seen.takes, 1);
	assert_ptr_equal(seen.hold, hold);
	assert_ptr_equal(seen.cookie, &seen);
	assert_true(list_empty(&source));

	hold = make(4, false);
	list_add_tail(&hold->node, &source);
	hold->source = &source;
	chan_pull(&owner.base, hold, NULL, 0, NULL);
	assert_int_equal(seen.releases, 1);
	assert_true(list_empty(&source));
}

static void the_rest_may_complete_it(void **state)
{
	struct list source = { &source, &source };
	struct chan_hold *hold = make(4, false);
	char out[32];

	list_add_tail(&hold->node, &source);
	hold->source = &source;
	memcpy(hold->data + 4, payload + 4, sizeof(payload) - 4);
	chan_hold_done(hold);
	assert_true(list_empty(&source));
	assert_int_equal(pull(hold, out, 20), 1);
	assert_string_equal(out, payload);
	assert_int_equal(seen.takes, 0);
}

static void a_payload_in_the_peers_memory_has_no_room_here(void **state)
{
	struct chan_hold *hold = make(0, true);
	char out[32];

	assert_null(hold->data);
	hold->source = &seen;
	assert_int_equal(pull(hold, out, 20), 0);
	assert_int_equal(seen.takes, 1);
}

static void what_is_lost_with_its_source_is_an_error(void **state)
{
	struct list source = { &source, &source };
	struct chan_hold *hold = make(4, false);
	char out[32];

	list_add_tail(&hold->node, &source);
	hold->source = &source;
	chan_hold_lost(hold, FI_ECONNRESET);
	assert_true(list_empty(&source));
	assert_int_equal(pull(hold, out, 20), -FI_ECONNRESET);
	assert_int_equal(out[0], '#');
	hold = make(4, false);
	hold->source = &source;
	chan_hold_lost(hold, FI_ECONNRESET);
	chan_pull(&owner.base, hold, NULL, 0, NULL);
	assert_int_equal(seen.takes + seen.releases, 0);
}

static bool no_memory;

void *__real_malloc(size_t size);
/* Visible, since the runtimes of sanitizers call the function, too. */
__attribute__((visibility("default"))) void *__wrap_malloc(size_t size);

void *__wrap_malloc(size_t size)
{
	void *ptr = no_memory ? NULL : __real_malloc(size);

	return ptr ? memset(ptr, 0xa5, size) : NULL;
}

static void without_memory_there_is_no_hold(void **state)
{
	struct eng_rx rx = { .data = (const uint8_t *) payload, .avail = 4, .len = 4 };

	chan_holds_fini(&poller.holds);
	no_memory = true;
	assert_null(chan_hold_new(&poller.holds, sizeof(struct hold), &rx, false, &ops));
	no_memory = false;
}

static struct chan_hold *sized(size_t len)
{
	struct eng_rx rx = { .len = len };
	struct chan_hold *hold = chan_hold_new(&poller.holds, sizeof(*hold), &rx, false, &ops);

	assert_non_null(hold);
	return hold;
}

/* Memory of a hold serves the next of its size, and only that; what is kept has a limit. */
static void memory_of_holds_is_used_again(void **state)
{
	static struct chan_hold *many[1000];
	struct chan_hold *first = sized(100), *longer = sized(200), *longest = sized(1 << 20);
	size_t i;

	chan_pull(&owner.base, first, NULL, 0, NULL);
	chan_pull(&owner.base, longer, NULL, 0, NULL);
	assert_int_equal(poller.holds.kept, 3 * CHAN_HOLD_STEP + 5 * CHAN_HOLD_STEP);
	assert_ptr_equal(sized(200), longer);
	assert_ptr_equal(sized(101), first);
	assert_int_equal(poller.holds.kept, 0);
	chan_pull(&owner.base, longest, NULL, 0, NULL);
	assert_int_equal(poller.holds.kept, 0);
	chan_pull(&owner.base, first, NULL, 0, NULL);
	chan_pull(&owner.base, longer, NULL, 0, NULL);
	for (i = 0; i < 1000; i++)
		many[i] = sized(1000);
	for (i = 0; i < 1000; i++)
		chan_pull(&owner.base, many[i], NULL, 0, NULL);
	assert_in_range(poller.holds.kept, CHAN_HOLDS_KEPT - 2000, CHAN_HOLDS_KEPT);
	chan_holds_fini(&poller.holds);
	assert_int_equal(poller.holds.kept, 0);
}

/* The last size that is kept and the first that is not. */
static void long_holds_come_from_malloc(void **state)
{
	size_t most = (CHAN_HOLD_STEPS - 1) * CHAN_HOLD_STEP - sizeof(struct chan_hold);

	chan_pull(&owner.base, sized(most), NULL, 0, NULL);
	assert_int_equal(poller.holds.kept, most + sizeof(struct chan_hold));
	chan_pull(&owner.base, sized(most + 1), NULL, 0, NULL);
	assert_int_equal(poller.holds.kept, most + sizeof(struct chan_hold));
	chan_holds_fini(&poller.holds);
}

void eng_on_placed(struct eng_link *link, void *cookie, int status)
{
	placed.calls++;
	placed.cookie = cookie;
	placed.status = status;
	/* the sink may be used again by the upcall */
	assert_null(placed.sink->cookie);
}

static void a_sink_tells_the_hold_or_the_engine_once(void **state)
{
	struct list source = { &source, &source };
	struct chan_hold *hold;
	struct chan_sink sink = { .cookie = &seen };
	char out[32];

	memset(&placed, 0, sizeof(placed));
	placed.sink = &sink;
	chan_sink_end(&sink, NULL, 0);
	assert_int_equal(placed.calls, 1);
	assert_ptr_equal(placed.cookie, &seen);
	assert_int_equal(placed.status, 0);
	sink.cookie = &seen;
	chan_sink_end(&sink, NULL, FI_ECONNRESET);
	assert_int_equal(placed.status, -FI_ECONNRESET);
	chan_sink_end(&sink, NULL, 0);		/* there is nothing to tell */
	assert_int_equal(placed.calls, 2);

	hold = make(sizeof(payload), false);
	list_add_tail(&hold->node, &source);
	hold->source = &source;
	sink.hold = hold;
	chan_sink_end(&sink, NULL, 0);
	assert_null(sink.hold);
	assert_int_equal(pull(hold, out, 20), 1);
	hold = make(4, false);
	hold->source = &source;
	sink.hold = hold;
	chan_sink_end(&sink, NULL, FI_ECONNRESET);
	assert_int_equal(pull(hold, out, 20), -FI_ECONNRESET);
	assert_int_equal(placed.calls, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_complete_payload_needs_no_source),
		cmocka_unit_test(what_is_still_arriving_is_taken_from_its_source),
		cmocka_unit_test(the_rest_may_complete_it),
		cmocka_unit_test(a_payload_in_the_peers_memory_has_no_room_here),
		cmocka_unit_test(what_is_lost_with_its_source_is_an_error),
		cmocka_unit_test(without_memory_there_is_no_hold),
		cmocka_unit_test(memory_of_holds_is_used_again),
		cmocka_unit_test(long_holds_come_from_malloc),
		cmocka_unit_test(a_sink_tells_the_hold_or_the_engine_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
