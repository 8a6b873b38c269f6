/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* The text of a path, its reasons, and the lines in the log. */
#include "channel/test/fake_link.h"

#include <sys/socket.h>

#include "channel/host.h"
#include "channel/route.h"
#include "obj/inspect/record.h"
#include "obj/test/log_catch.h"

static struct chan_route given;

static void give(const struct chan *chan, struct chan_route *path)
{
	*path = given;
	chan_route_avoids(chan, path);
}

static const struct chan_version ours = { 4, 7, 3, 7, { 2, 7, 0, 0, 0x1234abcd } };

static struct fake_link *link_of(const char *name)
{
	struct fake_link *link = fake_link(name);
	static struct chan_ops ops;

	ops = *link->base.ops;
	ops.route = give;
	link->base.ops = &ops;
	given = (struct chan_route) { .way = "by air" };
	return link;
}

static struct chan *up(struct fake_link *link, struct eng_peer *peer, uint32_t host)
{
	struct chan_version theirs = { 3, 7, 2, 6, { 2, 6, 1, 0, 0xfeed0001 } };
	struct chan *chan = chan_of(&link->base, peer);

	chan_route_said(chan, ours, &theirs, host);
	fake_may_call = true;
	chan_up(chan, &peer->chan.conn, &(struct chan_id) { EPOCH, 1, 0 }, true);
	fake_may_call = false;
	return chan;
}

static void test_versions(void **state)
{
	struct fake_link *link = link_of("air");
	struct eng_peer *peer = fake_peer(link, "peer");
	struct chan *chan = up(link, peer, 0);
	char text[CHAN_ROUTE_TEXT_MAX];
	struct chan_route path;

	assert_string_equal(chan_route_text(chan, &path, text), "by air; native wire format 3, "
			    "peer's release 2.6.1 (commit feed0001)");
	given.format = "published";
	assert_string_equal(chan_route_text(chan, &path, text), "by air; published wire format");
	chan->knows = false;
	given = (struct chan_route) { .format = NULL };
	assert_string_equal(chan_route_text(chan, &path, text), "air; native wire format");
	fake_link_end(link);
	free(peer);
}

/* What is read without being asked for costs system calls. */
static void test_traffic(void **state)
{
	struct fake_link *link = link_of("air");
	struct eng_peer *peer = fake_peer(link, "peer");
	struct inspect_peer rec = { .sent_bytes = 0 };
	char text[INSPECT_PATH] = "";

	up(link, peer, 0);
	given.traffic = (struct chan_traffic) { 1000, 2000, 3, 4, 50, 6000 };
	chan_look(peer, &rec, 0, text);
	assert_string_equal(rec.state, "ready");
	assert_true(!rec.sent_bytes && !*text);
	chan_look(peer, &rec, INSPECT_TRAFFIC, text);
	assert_true(rec.sent_bytes == 1000 && rec.got_bytes == 2000 && rec.sent_packets == 3 &&
		    rec.got_packets == 4 && rec.resent_bytes == 50 && rec.rtt_ns == 6000);
	assert_true(!*text);
	chan_look(peer, &rec, INSPECT_PATHS, text);
	assert_non_null(strstr(text, "by air"));
	fake_link_end(link);
	free(peer);
}

static void test_reasons(void **state)
{
	struct fake_link *link = link_of("air");
	struct eng_peer *peer = fake_peer(link, "peer");
	struct chan *chan = up(link, peer, 0);
	char text[CHAN_ROUTE_TEXT_MAX];
	struct chan_route path;

	assert_null(strstr(chan_route_text(chan, &path, text), "shared memory"));
	given.same_host = true;
	assert_non_null(strstr(chan_route_text(chan, &path, text), "this endpoint has none"));
	link->base.local_cnt = 1;
	assert_non_null(strstr(chan_route_text(chan, &path, text), "its log has the reason"));
	chan->local_err = FI_EACCES;
	assert_non_null(strstr(chan_route_text(chan, &path, text), "another user"));
	chan->local_err = FI_ECONNREFUSED;
	assert_non_null(strstr(chan_route_text(chan, &path, text), "no process listens there"));
	chan->local_err = FI_EMFILE;
	assert_non_null(strstr(chan_route_text(chan, &path, text), "descriptors are short"));
	chan->local_err = FI_ENOPROTOOPT;
	assert_non_null(strstr(chan_route_text(chan, &path, text), "another version"));
	chan->local_err = FI_EIO;
	assert_non_null(strstr(chan_route_text(chan, &path, text), fi_strerror(FI_EIO)));
	link->base.local_cnt = 0;
	link->base.msg = true;
	assert_non_null(strstr(chan_route_text(chan, &path, text), "FI_EP_MSG"));
	link->base.msg = false;
	fake_link_end(link);
	free(peer);
}

static void test_other_container(void **state)
{
	struct fake_link *link = link_of("air");
	struct eng_peer *peer = fake_peer(link, "peer");
	char text[CHAN_ROUTE_TEXT_MAX];
	struct chan_route path;
	struct chan *chan = up(link, peer, chan_host_mark());

	if (chan_host_mark())
		assert_non_null(strstr(chan_route_text(chan, &path, text), "in another container"));
	chan_route_said(chan, ours, &ours, chan_host_mark() + 1);
	assert_null(strstr(chan_route_text(chan, &path, text), "container"));
	fake_link_end(link);
	free(peer);
}

/* The interfaces of this host, where no speed is known of most; the choice itself has its test in net/iface. */
static void test_slow(void **state)
{
	struct chan_route path = { .same_host = true };

	chan_route_slow("lo", AF_INET, &path);
	path.same_host = false;
	chan_route_slow("", AF_INET, &path);
	chan_route_slow("lo", AF_INET, &path);
	chan_route_slow("nonesuch", AF_INET, &path);
	assert_true(!*path.why && path.surprise == CHAN_EXPECTED);
	snprintf(path.why, sizeof(path.why), "another reason");
	chan_route_slow("lo", AF_INET, &path);
	assert_string_equal(path.why, "another reason");
}

/* A line for each connection; one warning for each kind of surprise. */
static void test_log(void **state)
{
	struct fake_link *link = link_of("air");
	struct eng_peer *peer = fake_peer(link, "peer"), *other = fake_peer(link, "other");

	assert_int_equal(catch_start(), 0);
	up(link, peer, 0);
	assert_non_null(catch_find("path to "));
	assert_non_null(catch_find("by air; native wire format 3"));
	assert_null(catch_find("slower path"));
	given.same_host = true;
	catch_clear();
	up(link, peer, 0);
	assert_null(catch_find("slower path"));	/* as it was set up */
	link->base.local_cnt = 1;
	up(link, peer, 0);
	assert_non_null(catch_find("slower path than its host allows: by air; shared memory is not used"));
	catch_clear();
	up(link, other, 0);
	assert_null(catch_find("slower path"));
	assert_non_null(catch_find("path to "));
	catch_clear();
	given.same_host = false;
	given.surprise = CHAN_COPIES;
	up(link, other, 0);
	assert_non_null(catch_find("slower path"));
	catch_stop();
	link->base.local_cnt = 0;
	fake_link_end(link);
	free(peer);
	free(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_slow),
		TEST(test_log),		/* first: what is warned of once */
		TEST(test_versions),
		TEST(test_traffic),
		TEST(test_reasons),
		TEST(test_other_container),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
