/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* The paths of a channel: who is path of what, and what of a striped packet was sent over which. */
#include "channel/test/fake_link.h"

#include "channel/path.h"

#define PATHS 3
#define LEN 1000

static struct chan *open_chan(struct fake_link *link, struct eng_peer *peer)
{
	struct chan *chan = fake_get(peer);

	fake_up(chan, true, EPOCH, chan->serial, 6);
	assert_null(chan->paths);
	return chan;
}

static void path_0_is_the_connection_of_the_channel(void **state)
{
	struct fake_link *link = fake_link("fake");
	struct eng_peer *peer = fake_peer(link, "p");
	struct chan *chan = open_chan(link, peer);
	struct chan_paths paths;
	unsigned i;

	chan_paths_init(&paths, chan, PATHS);
	assert_ptr_equal(chan->paths, &paths);
	assert_ptr_equal(paths.path[0].conn, chan->conn);
	for (i = 0; i < PATHS; i++)
		assert_ptr_equal(paths.path[i].link, &link->base);
	chan_paths_fini(&paths);
	assert_null(chan->paths);
	chan_paths_fini(&paths);		/* nothing more happens */
	fake_link_end(link);
	free(peer);
}

static void a_path_ends_and_is_free_again(void **state)
{
	struct fake_link *link = fake_link("fake");
	struct eng_peer *peer = fake_peer(link, "p");
	struct chan_paths paths;
	int conns[PATHS];

	chan_paths_init(&paths, open_chan(link, peer), PATHS);
	assert_false(chan_path_free(&paths, 0));
	assert_true(chan_path_free(&paths, 1));
	assert_false(chan_path_free(&paths, PATHS));
	chan_path_add(&paths, 2, &conns[2]);
	assert_false(chan_path_free(&paths, 2));
	assert_true(chan_path_free(&paths, 1));
	chan_path_remove(&paths, &conns[1]);		/* not one of them */
	chan_path_remove(&paths, &conns[2]);
	assert_true(chan_path_free(&paths, 2));
	chan_path_remove(&paths, paths.path[0].conn);	/* that ends with the channel alone */
	assert_non_null(paths.path[0].conn);
	chan_paths_fini(&paths);
	fake_link_end(link);
	free(peer);
}

/* Each path sends its part a piece at a time, in an order that does not matter. */
static void all_parts_together_are_the_payload(void **state)
{
	struct fake_link *link = fake_link("fake");
	struct eng_peer *peer = fake_peer(link, "p");
	unsigned char sent[LEN] = { 0 };
	struct eng_pkt pkt = { .len = LEN };
	struct chan_paths paths;
	size_t off, left, n;
	unsigned i, turn;

	chan_paths_init(&paths, open_chan(link, peer), PATHS);
	chan_paths_begin(&paths, &pkt);
	for (turn = 0; turn < 30; turn++) {
		i = turn % PATHS;
		left = chan_path_left(&paths, LEN, i, &off);
		n = left < 50 ? left : 50;
		while (n--) {
			sent[off++]++;
			paths.path[i].sent++;
		}
		chan_paths_begin(&paths, &pkt);		/* it is the same packet */
	}
	for (off = 0; off < LEN; off++)
		assert_int_equal(sent[off], 1);
	for (i = 0; i < PATHS; i++)
		assert_int_equal(chan_path_left(&paths, LEN, i, &off), 0);
	chan_paths_end(&paths);			/* another one in the same memory */
	chan_paths_begin(&paths, &pkt);
	assert_int_equal(chan_path_left(&paths, LEN, 0, &off), chan_path_part(&paths, LEN, 0, &off));
	chan_paths_fini(&paths);
	fake_link_end(link);
	free(peer);
}

static void the_next_connection_has_one_path(void **state)
{
	struct fake_link *link = fake_link("fake");
	struct eng_peer *peer = fake_peer(link, "p");
	struct chan *chan = open_chan(link, peer);
	struct chan_paths paths;

	chan_paths_init(&paths, chan, PATHS);
	IN_POLL(chan_lost(chan, FI_ECONNRESET, false));
	chan_paths_fini(&paths);		/* as the link's connection ends, later */
	chan = open_chan(link, peer);
	assert_null(chan->paths);
	fake_link_end(link);
	free(peer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(path_0_is_the_connection_of_the_channel),
		TEST(a_path_ends_and_is_free_again),
		TEST(all_parts_together_are_the_payload),
		TEST(the_next_connection_has_one_path),
	};

	return cmocka_run_group_tests_name("chan_path", tests, NULL, NULL);
}
