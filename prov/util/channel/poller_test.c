/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Pollers: one for each group, timers, work lists, whose poll it is; see attempt_test.c for the
 * queue of attempts.
 */
#include "channel/test/fake_link.h"
#include "progress/fdset.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>

struct item {
	struct list node;
	struct list *again;	/* to which list it goes back when it is handled */
	unsigned seen;
};

struct fake_timer {
	struct timer timer;
	uint64_t fired_ns;
	unsigned fired;
};

static void on_fire(struct timer *timer, uint64_t now)
{
	struct fake_timer *fake = container_of(timer, struct fake_timer, timer);

	fake->fired++;
	fake->fired_ns = now;
}

static void a_group_has_one_poller(void **state)
{
	struct chan_poller *other = NULL;
	struct obj_prog *prog;

	assert_int_equal(chan_poller_get(fake_prog, &fake_poller_ops, sizeof(*other), &fake_prov,
					 &other), 0);
	assert_ptr_equal(other, fake_poller);
	assert_true(list_empty(&other->queued) && list_empty(&other->dirty));
	assert_true(list_empty(&other->failed) && list_empty(&other->paused));
	assert_int_equal(timers_next(&other->timers), UINT64_MAX);
	assert_int_equal(other->connecting_max, 0);

	/* another group has another one */
	assert_int_equal(obj_prog_new(NULL, LOCK_NONE, &prog), 0);
	assert_int_equal(chan_poller_get(prog, &fake_poller_ops, sizeof(*other), &fake_prov, &other), 1);
	assert_ptr_not_equal(other, fake_poller);
	list_del(&fake_poller->base.node);
	chan_poller_free(fake_poller);
	obj_prog_put(fake_prog);
	fake_prog = prog;		/* fake_teardown() ends that one */
	fake_poller = other;
}

static void timers_fire_when_they_are_due(void **state)
{
	struct fake_timer soon = { .timer.fire = on_fire }, late = soon, now = soon;

	for (int i = 0; i < 3; i++)
		assert_int_equal(timers_join(&fake_poller->timers), 0);
	chan_poller_timer(fake_poller, &late.timer, fake_now + 9);
	chan_poller_timer(fake_poller, &soon.timer, fake_now + 5);
	chan_poller_timer(fake_poller, &now.timer, 0);
	assert_true(fake_poller->chores);
	assert_int_equal(fake_poll(), 1);
	assert_int_equal(now.fired, 1);
	assert_int_equal(fake_poll_at(4), 0);
	assert_int_equal(fake_poll_at(5), 1);
	assert_int_equal(soon.fired_ns, fake_now);
	assert_int_equal(late.fired, 0);
	chan_poller_timer(fake_poller, &late.timer, fake_now + 1);	/* replaces what was set */
	assert_int_equal(fake_poll_at(6), 1);
	assert_int_equal(fake_poll_at(100), 0);
	assert_int_equal(late.fired, 1);
	for (int i = 0; i < 3; i++)
		timers_leave(&fake_poller->timers);
}

/* ---- what has arrived counts before time does ---------------------------------------------- */

static struct fake_timer limit;		/* of something that a peer has to do */

static void start_limit(uint64_t ns)
{
	limit = (struct fake_timer) { .timer.fire = on_fire };
	assert_int_equal(timers_join(&fake_poller->timers), 0);
	chan_poller_timer(fake_poller, &limit.timer, chan_poller_now(fake_poller) + ns);
}

static void end_limit(void)
{
	timer_off(&fake_poller->timers, &limit.timer);
	timers_leave(&fake_poller->timers);
}

/* The peer has done it. */
static void in_time(void)
{
	timer_off(&fake_poller->timers, &limit.timer);
}

static void what_has_arrived_is_looked_at_before_a_timer_fires(void **state)
{
	start_limit(500 * MS);
	fake_poll_at(499 * MS);
	assert_int_equal(fake_looks, 0);	/* nothing is due: other parts of the poll look */
	fake_arrived = in_time;
	assert_int_equal(fake_poll_at(700 * MS), 0);
	assert_int_equal(fake_looks, 1);
	assert_int_equal(limit.fired, 0);
	end_limit();
}

/* look_in_vain - a limit is over, and each poll but the last one leaves something. */
static void look_in_vain(void)
{
	start_limit(500 * MS);
	fake_more = true;
	for (int i = 1; i < CHAN_LOOKS_MAX; i++)
		assert_int_equal(fake_poll_at(700 * MS), 0);
}

static void a_timer_waits_while_more_has_arrived_than_was_looked_at(void **state)
{
	look_in_vain();
	fake_more = false;
	fake_arrived = in_time;
	assert_int_equal(fake_poll_at(700 * MS), 0);
	assert_int_equal(limit.fired, 0);
	end_limit();
}

/* Another one always comes: no queue holds so many, so that all that was there at first has been seen. */
static void a_timer_fires_although_there_always_is_more(void **state)
{
	look_in_vain();
	assert_int_equal(fake_poll_at(700 * MS), 1);
	assert_int_equal(limit.fired, 1);
	end_limit();
}

/* pause_for - the process computes, or is stopped: no thread polls. */
static void pause_for(uint64_t ns)
{
	fake_now += ns;
}

static void time_without_polls_does_not_count(void **state)
{
	start_limit(15 * CLOCK_NS_PER_S);
	fake_poll();
	for (int i = 1; i < 15; i++) {	/* one step each */
		pause_for(120 * CLOCK_NS_PER_S);
		assert_int_equal(fake_poll(), 0);
	}
	pause_for(120 * CLOCK_NS_PER_S);
	assert_int_equal(fake_poll(), 1);
	end_limit();
}

/* What a call between the pause and the poll notes does not lie in the future. */
static void a_call_after_a_pause_has_the_time_of_the_poll(void **state)
{
	uint64_t before, after;

	start_limit(15 * CLOCK_NS_PER_S);
	before = chan_poller_now(fake_poller);
	pause_for(120 * CLOCK_NS_PER_S);
	after = chan_poller_now(fake_poller);
	assert_int_equal(after - before, CHAN_STEP_NS);
	fake_poll();
	assert_int_equal(chan_poller_now(fake_poller), after);
	end_limit();
}

/* A limit that begins after a long time without polls is not shorter or longer for it. */
static void a_limit_begins_when_it_is_set(void **state)
{
	pause_for(120 * CLOCK_NS_PER_S);
	start_limit(900 * MS);
	pause_for(899 * MS);
	assert_int_equal(fake_poll(), 0);
	pause_for(1 * MS);
	assert_int_equal(fake_poll(), 1);
	end_limit();
}

static void time_asleep_counts(void **state)
{
	start_limit(15 * CLOCK_NS_PER_S);
	assert_int_equal(fake_poll_at(15 * CLOCK_NS_PER_S), 1);
	end_limit();
}

/* It does so, too, while another thread polls now and then. */
static void time_in_which_one_thread_sleeps_counts(void **state)
{
	uint64_t deadline = UINT64_MAX;

	start_limit(15 * CLOCK_NS_PER_S);
	obj_prog_enter_sleep(fake_prog);
	chan_poller_sleep(fake_poller, &deadline);
	pause_for(MS);
	assert_int_equal(fake_poll(), 0);
	pause_for(15 * CLOCK_NS_PER_S - MS);
	obj_prog_leave_sleep(fake_prog);
	assert_int_equal(fake_poll(), 1);
	end_limit();
}

/* A thread that is stopped asleep wakes later than it asked for. */
static void time_stopped_asleep_does_not_count(void **state)
{
	start_limit(15 * CLOCK_NS_PER_S);
	assert_int_equal(fake_poll_at(120 * CLOCK_NS_PER_S), 0);
	assert_int_equal(fake_poll(), 0);
	pause_for(CHAN_STEP_NS);	/* that sleep is over: it counts no longer */
	assert_int_equal(fake_poll(), 0);
	end_limit();
}

/* A sleeper is woken by the system's clock, after a pause, too. */
static void a_deadline_is_by_the_systems_clock(void **state)
{
	uint64_t deadline = UINT64_MAX;

	start_limit(15 * CLOCK_NS_PER_S);
	pause_for(120 * CLOCK_NS_PER_S);
	assert_int_equal(fake_poll(), 0);
	chan_poller_sleep(fake_poller, &deadline);
	assert_int_equal(deadline, fake_now + 14 * CLOCK_NS_PER_S);
	end_limit();
}

/* sleeper - a thread has armed the group and sleeps; is there a wake-up for it? */
static bool woken(int ms)
{
	struct pollfd fd = { .fd = obj_prog_fd(fake_prog), .events = POLLIN };

	assert_true(fd.fd >= 0);
	fdset_settle(fd.fd);
	return poll(&fd, 1, ms) == 1;
}

static void a_sleeper_wakes_for_work_that_no_descriptor_shows(void **state)
{
	struct fake_timer timer = { .timer.fire = on_fire };

	assert_int_equal(timers_join(&fake_poller->timers), 0);
	woken(0);
	obj_prog_enter_sleep(fake_prog);
	assert_int_equal(obj_prog_arm(fake_prog), 0);
	assert_false(woken(0));
	fake_poller->polling = true;	/* poll() itself will see it */
	chan_poller_kick(fake_poller);
	assert_false(woken(0));
	fake_poller->polling = false;
	fake_poller->chores = false;
	chan_poller_kick(fake_poller);
	assert_true(woken(5000));
	assert_true(fake_poller->chores);
	/* a timer that is due at once */
	fake_prog->timer_ns = 1;
	assert_int_equal(obj_prog_arm(fake_prog), 0);
	assert_false(woken(0));
	chan_poller_timer(fake_poller, &timer.timer, 0);
	assert_true(woken(5000));
	obj_prog_leave_sleep(fake_prog);
	timer_off(&fake_poller->timers, &timer.timer);
	timers_leave(&fake_poller->timers);
}

static void a_poll_is_the_applications_or_the_progress_threads(void **state)
{
	uint64_t seq = fake_poller->seq;

	atomic_fetch_add(&fake_prog->polls, 1);		/* as obj_prog_poll() does */
	chan_poller_begin(fake_poller);
	assert_true(fake_poller->app_active);
	assert_true(fake_poller->polling);
	chan_poller_begin(fake_poller);
	assert_false(fake_poller->app_active);
	assert_int_equal(fake_poller->seq, seq + 2);
}

static int handle(struct list *node)
{
	struct item *item = container_of(node, struct item, node);

	assert_true(list_empty(node));
	item->seen++;
	if (item->again)
		list_add_tail(node, item->again);
	return 2;
}

static void what_is_added_to_a_list_meanwhile_waits(void **state)
{
	struct list list, *item;
	struct item items[3] = { { .again = NULL }, { .again = &list }, { .again = NULL } };

	list_init(&list);
	assert_int_equal(chan_poller_drain(&list, handle), 0);
	for (int i = 0; i < 3; i++)
		list_add_tail(&items[i].node, &list);
	assert_int_equal(chan_poller_drain(&list, handle), 6);
	for (int i = 0; i < 3; i++)
		assert_int_equal(items[i].seen, 1);
	item = list_pop(&list);
	assert_ptr_equal(item, &items[1].node);
	assert_true(list_empty(&list));
}

/* The engine refuses the packets of a peer that holds all its memory: most polls do not ask it. */
static void a_refused_packet_is_offered_in_one_poll_of_some(void **state)
{
	struct list node;
	uint64_t deadline = UINT64_MAX, now = 5;
	int i, offered = 0;

	list_init(&node);
	assert_false(chan_poller_resumes(fake_poller));
	chan_poller_arm_paused(fake_poller, now, &deadline);
	assert_int_equal(deadline, UINT64_MAX);
	list_add_tail(&node, &fake_poller->paused);
	for (i = 0; i < 10 * CHAN_RESUME_EVERY; i++) {
		chan_poller_begin(fake_poller);
		offered += chan_poller_resumes(fake_poller);
		assert_false(chan_poller_resumes(fake_poller));
	}
	assert_int_equal(offered, 10);
	/* and the first one after a sleep, which is short */
	chan_poller_begin(fake_poller);
	chan_poller_resumes(fake_poller);
	chan_poller_begin(fake_poller);
	assert_false(chan_poller_resumes(fake_poller));
	chan_poller_arm_paused(fake_poller, now, &deadline);
	assert_int_equal(deadline, now + CHAN_RESUME_NS);
	chan_poller_begin(fake_poller);
	assert_true(chan_poller_resumes(fake_poller));
	/* one that is left to the next poll is no refusal, and no thread sleeps before it */
	chan_poller_resume_next(fake_poller);
	assert_false(chan_poller_resumes(fake_poller));
	chan_poller_arm_paused(fake_poller, now, &deadline);
	assert_int_equal(deadline, now);
	chan_poller_begin(fake_poller);
	assert_true(chan_poller_resumes(fake_poller));
	list_del(&node);
}

/* taken - how many unexpected messages of @len bytes a poll takes. */
static unsigned taken(size_t len)
{
	unsigned cnt = 0;

	chan_poller_begin(fake_poller);
	while (!chan_poller_is_full(fake_poller)) {
		chan_poller_unexpected(fake_poller, len);
		cnt++;
	}
	return cnt;
}

static void a_poll_takes_some_unexpected_messages(void **state)
{
	assert_int_equal(taken(0), CHAN_UNEXPECTED_MAX / CHAN_UNEXPECTED_COST);
	assert_int_equal(taken(CHAN_UNEXPECTED_MAX), 1);
}

struct fake_src {
	struct chan_src src;
	struct chan_src *other;		/* taken out of the set by the handler */
	uint32_t events;
	unsigned seen;
};

static void on_event(struct chan_src *src, uint32_t events)
{
	struct fake_src *fake = container_of(src, struct fake_src, src);

	fake->seen++;
	fake->events = events;
	if (fake->other)
		assert_int_equal(chan_src_want(fake_poller, fake->other, 0), 0);
}

static void sources_have_the_events_that_they_want(void **state)
{
	struct fake_src a = { .src.event = on_event }, b = a;
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	a.src.fd = pair[0];
	b.src.fd = pair[1];
	assert_int_equal(chan_poller_events(fake_poller), 0);
	assert_int_equal(chan_src_want(fake_poller, &a.src, EPOLLIN), 0);
	assert_int_equal(chan_poller_events(fake_poller), 0);
	assert_int_equal(chan_src_want(fake_poller, &a.src, EPOLLIN | EPOLLOUT), 0);
	assert_int_equal(chan_poller_events(fake_poller), 1);
	assert_int_equal(a.events, EPOLLOUT);
	assert_int_equal(chan_src_want(fake_poller, &b.src, EPOLLOUT), 0);
	assert_int_equal(fake_poller->src_cnt, 2);

	/* one handler takes the other source out of the set: its event is not delivered any more */
	a.other = &b.src;
	b.other = &a.src;
	a.seen = b.seen = 0;
	assert_int_equal(chan_poller_events(fake_poller), 2);
	assert_int_equal(a.seen + b.seen, 1);
	assert_int_equal(chan_src_want(fake_poller, &a.src, 0), 0);
	assert_int_equal(chan_src_want(fake_poller, &b.src, 0), 0);
	assert_int_equal(chan_poller_events(fake_poller), 0);
	close(pair[0]);
	close(pair[1]);
	assert_int_equal(chan_src_want(fake_poller, &a.src, EPOLLIN), -EBADF);
	assert_int_equal(a.src.events, 0);
	assert_int_equal(fake_poller->src_cnt, 0);
}

/* More than one call reports: each is reported in turn, although all have events for ever. */
static void all_sources_are_seen_in_some_calls(void **state)
{
	enum { N = 2 * CHAN_EVENTS_MAX + 5 };
	struct fake_src src[N] = { 0 };
	unsigned calls;
	int pair[2], i;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_int_equal(chan_poller_calls(fake_poller), 1);
	for (i = 0; i < N; i++) {
		src[i].src = (struct chan_src) { .fd = dup(pair[i % 2]), .event = on_event };
		assert_int_equal(chan_src_want(fake_poller, &src[i].src, EPOLLOUT), 0);
	}
	for (calls = chan_poller_calls(fake_poller); calls; calls--)
		assert_int_equal(chan_poller_events(fake_poller), CHAN_EVENTS_MAX);
	for (i = 0; i < N; i++) {
		assert_true(src[i].seen > 0);
		assert_int_equal(chan_src_want(fake_poller, &src[i].src, 0), 0);
		close(src[i].src.fd);
	}
	close(pair[0]);
	close(pair[1]);
}

static void on_connection(struct chan_src *src, uint32_t events)
{
}

/* A connection waits in the backlog, so the set would report it in each poll. */
static void a_paused_listener_waits(void **state)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0), peer = socket(AF_UNIX, SOCK_STREAM, 0);
	struct chan_listener listener = { .src.fd = fd };
	socklen_t len = sizeof(name);

	chan_listener_stop(&listener);		/* not started */
	assert_int_equal(bind(fd, (void *) &name, sizeof(sa_family_t)), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, (void *) &name, &len), 0);
	assert_int_equal(chan_listener_start(&listener, fake_poller, on_connection), 0);
	assert_int_equal(chan_poller_events(fake_poller), 0);
	assert_int_equal(connect(peer, (void *) &name, len), 0);
	assert_int_equal(chan_poller_events(fake_poller), 1);
	chan_listener_pause(&listener);
	assert_int_equal(chan_poller_events(fake_poller), 0);
	assert_int_equal(fake_poll(), 0);
	assert_int_equal(chan_poller_events(fake_poller), 0);
	assert_int_equal(fake_poll_at(CHAN_LISTEN_PAUSE_MS * MS), 1);
	assert_int_equal(chan_poller_events(fake_poller), 1);
	chan_listener_pause(&listener);
	chan_listener_stop(&listener);		/* paused */
	assert_int_equal(timers_next(&fake_poller->timers), UINT64_MAX);
	assert_int_equal(listener.src.events, 0);
	close(peer);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_group_has_one_poller),
		TEST(timers_fire_when_they_are_due),
		TEST(what_has_arrived_is_looked_at_before_a_timer_fires),
		TEST(a_timer_waits_while_more_has_arrived_than_was_looked_at),
		TEST(a_timer_fires_although_there_always_is_more),
		TEST(time_without_polls_does_not_count),
		TEST(a_call_after_a_pause_has_the_time_of_the_poll),
		TEST(a_limit_begins_when_it_is_set),
		TEST(time_asleep_counts),
		TEST(time_in_which_one_thread_sleeps_counts),
		TEST(time_stopped_asleep_does_not_count),
		TEST(a_deadline_is_by_the_systems_clock),
		TEST(a_sleeper_wakes_for_work_that_no_descriptor_shows),
		TEST(a_poll_is_the_applications_or_the_progress_threads),
		TEST(what_is_added_to_a_list_meanwhile_waits),
		TEST(a_refused_packet_is_offered_in_one_poll_of_some),
		TEST(a_poll_takes_some_unexpected_messages),
		TEST(sources_have_the_events_that_they_want),
		TEST(all_sources_are_seen_in_some_calls),
		TEST(a_paused_listener_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
