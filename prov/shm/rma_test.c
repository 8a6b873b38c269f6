/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Native RMA: a peer that is killed or stopped during an access, more regions than there
 * are leases, and counters of remote writes.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "obj/cq.h"
#include "shm/test/calls.h"

#define KEY 0x7005
#define LARGE (32u << 20)	/* a copy takes some ms: a peer is stopped in the middle */
#define PIECE (128u << 10)	/* more than the ring can take ahead of the target */
#define MANY 200		/* regions; a peer has 64 leases at most */

/* Two processes; the child accesses the memory of the parent. */
struct two {
	struct node n;		/* either's own */
	fi_addr_t peer;		/* the child's: of the parent */
	pid_t pid;		/* the parent's: of the child */
	int to[2], from[2];	/* to the child, and from it */
	uint8_t *region;	/* LARGE bytes, each has its own */
	struct fid_mr *mr;
};

static uint8_t *room(void)
{
	uint8_t *at = mmap(NULL, LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(at != MAP_FAILED);
	memset(at, 1, LARGE);
	return at;
}

static void reg(struct two *t, uint8_t *at, size_t len, uint64_t key, struct fid_mr **mr_p)
{
	CALL(fi_mr_reg(t->n.domain, at, len, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, key, 0, mr_p,
		       NULL));
}

/* meet - a message, after which the two are connected. */
static void meet(struct two *t)
{
	char word;

	if (!t->pid) {
		POST(&t->n, fi_send(t->n.ep, "", 1, NULL, t->peer, NULL));
	} else {
		POST(&t->n, fi_recv(t->n.ep, &word, 1, NULL, FI_ADDR_UNSPEC, NULL));
	}
	CHECK(!await(&t->n, 1));
}

/* begin - returns in the parent, which does @make before they connect; the child does @child. */
static void begin(struct two *t, void (*make)(struct two *), void (*child)(struct two *))
{
	char name[NAME_MAX_LEN];
	pid_t test = getpid();

	*t = (struct two) { 0 };
	CHECK(!pipe(t->to) && !pipe(t->from));
	t->pid = fork();
	t->region = room();
	name_of(name, test, 7);
	if (!t->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(t->to[1]);	/* each sees the other's end */
		close(t->from[0]);
		drain_wakeups(t->to[0]);
		open_node(&t->n, NULL);
		t->peer = add(&t->n, name);
		meet(t);
		drain_wakeups(t->to[0]);
		child(t);
		_exit(0);
	}
	close(t->to[0]);
	close(t->from[1]);
	open_node(&t->n, name);
	make(t);
	say(t->to[1]);
	meet(t);
	say(t->to[1]);	/* from here on it makes no progress */
}

static void end(struct two *t)
{
	close_node(&t->n);
	munmap(t->region, LARGE);
	close(t->to[1]);
	close(t->from[0]);
}

/* ---- ends ------------------------------------------------------------------------------ */

static void make_large(struct two *t)
{
	reg(t, t->region, LARGE, KEY, &t->mr);
}

static void write_for_ever(struct two *t)
{
	memset(t->region, 2, LARGE);
	say(t->from[1]);
	for (;;) {
		POST(&t->n, fi_write(t->n.ep, t->region, LARGE, NULL, t->peer, 0, KEY, NULL));
		if (await(&t->n, 1))
			pause();	/* the region is closed */
	}
}

/* untouched - no peer writes to the memory. */
static void untouched(struct two *t)
{
	uint64_t until = now_ms() + 50;
	size_t i;

	memset(t->region, 3, LARGE);
	while (now_ms() < until)
		usleep(1000);
	for (i = 0; i < LARGE; i += 512)
		assert_int_equal(t->region[i], 3);
}

static void pause_ms(unsigned ms)
{
	usleep(1000 * ms);
}

static void a_peer_killed_in_a_lease_no_longer_writes(void **state)
{
	struct two t;
	uint64_t began;
	unsigned round;
	int status;

	if (!may_write())
		skip();
	for (round = 0; round < 5; round++) {
		begin(&t, make_large, write_for_ever);
		drain_wakeups(t.from[0]);
		pause_ms(20 + round);
		if (round % 2) {	/* it cannot leave before it dies */
			kill(t.pid, SIGSTOP);
			pause_ms(20);
		}
		kill(t.pid, SIGKILL);
		began = now_ms();
		CALL(fi_close(&t.mr->fid));
		assert_true(now_ms() - began < 8000);	/* less than patience lasts */
		untouched(&t);
		assert_int_equal(waitpid(t.pid, &status, 0), t.pid);
		end(&t);
	}
}

/* close_stopped - Returns true if the peer was stopped during an access.  Either way it no
 * longer writes when the region is closed.
 */
static bool close_stopped(struct two *t)
{
	uint64_t began = now_ms();
	int ret;

	kill(t->pid, SIGSTOP);
	pause_ms(20);
	ret = fi_close(&t->mr->fid);
	assert_true(!ret || ret == -FI_EBUSY);
	assert_true(now_ms() - began < PATIENCE_MS);
	if (!ret)
		untouched(t);
	kill(t->pid, SIGCONT);
	if (ret)
		CALL(fi_close(&t->mr->fid));
	untouched(t);
	return ret;
}

static void closing_waits_for_a_stopped_peer_for_a_bounded_time(void **state)
{
	bool inside = false;
	struct two t;
	int round, status;

	if (!may_write())
		skip();
	for (round = 0; round < 20 && !inside; round++) {
		begin(&t, make_large, write_for_ever);
		drain_wakeups(t.from[0]);
		pause_ms(20);
		inside = close_stopped(&t);
		kill(t.pid, SIGKILL);
		assert_int_equal(waitpid(t.pid, &status, 0), t.pid);
		end(&t);
	}
	assert_true(inside);
}

/* close_it - what fi_close() of the region returns, and when. */
static struct {
	struct fid_mr *mr;
	_Atomic bool done;
	int ret;
} closing;

static void *close_it(void *arg)
{
	closing.ret = fi_close(&closing.mr->fid);
	atomic_store(&closing.done, true);
	return NULL;
}

/* close_between - the endpoint closes, then the region, while the peer is stopped; then @sig.  Returns true
 * if the peer was inside.
 */
static bool close_between(struct two *t, int sig)
{
	uint64_t began = now_ms();
	pthread_t thread;
	bool inside;

	kill(t->pid, SIGSTOP);
	pause_ms(20);
	CALL(fi_close(&t->n.ep->fid));
	assert_true(now_ms() - began < 8000);	/* it does not wait for the peer */
	closing.mr = t->mr;
	atomic_store(&closing.done, false);
	CHECK(!pthread_create(&thread, NULL, close_it, NULL));
	pause_ms(100);
	inside = !atomic_load(&closing.done);
	if (!inside)
		untouched(t);
	kill(t->pid, sig);
	CHECK(!pthread_join(thread, NULL));
	assert_int_equal(closing.ret, 0);
	untouched(t);
	return inside;
}

static void a_region_waits_for_a_peer_whose_endpoint_is_closed(void **state)
{
	static const int sigs[] = { SIGCONT, SIGKILL };
	int round, status, i;
	struct two t;
	bool inside;

	if (!may_write())
		skip();
	for (i = 0; i < 2; i++) {
		inside = false;
		for (round = 0; round < 20 && !inside; round++) {
			begin(&t, make_large, write_for_ever);
			drain_wakeups(t.from[0]);
			pause_ms(20 + (unsigned) round);
			inside = close_between(&t, sigs[i]);
			kill(t.pid, SIGKILL);
			assert_int_equal(waitpid(t.pid, &status, 0), t.pid);
			CALL(fi_close(&t.n.av->fid));
			CALL(fi_close(&t.n.cq->fid));
			CALL(fi_close(&t.n.domain->fid));
			CALL(fi_close(&t.n.fabric->fid));
			fi_freeinfo(t.n.info);
			munmap(t.region, LARGE);
			close(t.to[1]);
			close(t.from[0]);
		}
		assert_true(inside);
	}
}

/* ---- memory that may not be accessed ---------------------------------------------------------- */

/* Of the region, the first half may be read only, the second one is not there. */
static void make_closed(struct two *t)
{
	CHECK(!mprotect(t->region, LARGE / 2, PROT_READ));
	CHECK(!munmap(t->region + LARGE / 2, LARGE / 2));
	reg(t, t->region, LARGE, KEY, &t->mr);
}

/* write_two - by packets: two ranges of the region's first half. */
static int write_two(struct two *t)
{
	struct fi_rma_iov to[2] = { { .len = LARGE / 8, .key = KEY },
				    { .addr = LARGE / 4, .len = LARGE / 8, .key = KEY } };
	struct iovec from = { t->region, LARGE / 4 };
	struct fi_msg_rma msg = { .msg_iov = &from, .iov_count = 1, .addr = t->peer, .rma_iov = to,
				  .rma_iov_count = 2 };

	POST(&t->n, fi_writemsg(t->n.ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE));
	return await(&t->n, 1);
}

static void access_closed(struct two *t)
{
	size_t len;

	for (len = PIECE / 4; len <= LARGE / 2; len *= 4) {
		POST(&t->n, fi_write(t->n.ep, t->region, len, NULL, t->peer, 0, KEY, NULL));
		CHECK(await(&t->n, 1) == FI_EFAULT);
		POST(&t->n, fi_write(t->n.ep, t->region, len, NULL, t->peer, LARGE / 2, KEY, NULL));
		CHECK(await(&t->n, 1) == FI_EFAULT);
		POST(&t->n, fi_read(t->n.ep, t->region, len, NULL, t->peer, LARGE / 2, KEY, NULL));
		CHECK(await(&t->n, 1) == FI_EFAULT);
		POST(&t->n, fi_read(t->n.ep, t->region, len, NULL, t->peer, 0, KEY, NULL));
		CHECK(!await(&t->n, 1));
	}
	say(t->from[1]);
	CHECK(write_two(t) == FI_EFAULT);
	POST(&t->n, fi_send(t->n.ep, t->region, LARGE, NULL, t->peer, NULL));
	CHECK(!await(&t->n, 1));
	POST(&t->n, fi_send(t->n.ep, t->region, 100, NULL, t->peer, NULL));
	CHECK(!await(&t->n, 1));
	drain_wakeups(t->to[0]);
	close_node(&t->n);
}

/* The operation fails, and what follows it over the connection does not. */
static void memory_that_may_not_be_accessed_fails_the_operation(void **state)
{
	struct two t;
	char word[100];
	int i;

	if (!may_write())
		skip();
	begin(&t, make_closed, access_closed);
	drain_wakeups(t.from[0]);
	/* posted before and after the message has come */
	POST(&t.n, fi_recv(t.n.ep, t.region, LARGE, NULL, FI_ADDR_UNSPEC, NULL));
	assert_int_equal(await(&t.n, 1), FI_EFAULT);
	POST(&t.n, fi_recv(t.n.ep, word, sizeof(word), NULL, FI_ADDR_UNSPEC, NULL));
	assert_int_equal(await(&t.n, 1), 0);
	for (i = 0; i < (int) LARGE / 2; i += 4096)
		assert_int_equal(t.region[i], 1);
	say(t.to[1]);
	reap(t.pid);
	CALL(fi_close(&t.mr->fid));
	end(&t);
}

/* ---- more regions than there are leases ---------------------------------------------------- */

static struct fid_mr *mrs[MANY];

static void make_many(struct two *t)
{
	uint64_t i;

	for (i = 0; i < MANY; i++)
		reg(t, t->region + i * PIECE, PIECE, KEY + i, &mrs[i]);
}

static int write_nth(struct two *t, unsigned i)
{
	return (int) fi_write(t->n.ep, t->region + i * PIECE, PIECE, NULL, t->peer, 0, KEY + i, NULL);
}

/* At first the target makes no progress: what completes then needed none. */
static void write_many(struct two *t)
{
	struct fi_cq_tagged_entry entry;
	unsigned i, alone = 0, posted = 0;

	for (i = 0; i < MANY; i++)
		fill(t->region + i * PIECE, PIECE, i);
	for (posted = 0; posted < MANY && !write_nth(t, posted); posted++)
		;
	for (i = 0; i < 1000; i++)
		alone += fi_cq_read(t->n.cq, &entry, 1) == 1;
	CHECK(alone < MANY);	/* which ones it can do depends on the keys */
	say(t->from[1]);
	for (i = posted; i < MANY; i++)
		POST(&t->n, write_nth(t, i));
	CHECK(!await(&t->n, MANY - alone));
	POST(&t->n, fi_send(t->n.ep, "", 1, NULL, t->peer, NULL));
	CHECK(!await(&t->n, 1));
	drain_wakeups(t->to[0]);
	close_node(&t->n);
}

static void regions_beyond_the_table_go_through_the_target(void **state)
{
	struct two t;
	unsigned i;

	begin(&t, make_many, write_many);
	drain_wakeups(t.from[0]);
	meet(&t);
	for (i = 0; i < MANY; i++)
		verify(t.region + i * PIECE, PIECE, i);
	say(t.to[1]);
	reap(t.pid);
	for (i = 0; i < MANY; i++)
		CALL(fi_close(&mrs[i]->fid));
	end(&t);
}

/* ---- short writes to a target that makes progress now and then ------------------------------- */

#define SHORTS 4000
#define PLACES 7

/* short_of - length of write number @i: in slots, through the data ring, and native. */
static size_t short_of(unsigned i)
{
	static const size_t sizes[] = { 8, 16, 17, 64, 3000, 20000, 40000 };

	return sizes[i % PLACES];
}

static void make_places(struct two *t)
{
	reg(t, t->region, PLACES * PIECE, KEY, &t->mr);
}

/* Each write begins with its number; its place has those of the same length. */
static void write_shorts(struct two *t)
{
	unsigned i;

	for (i = 0; i < SHORTS; i++) {
		memset(t->region, (int) i, short_of(i));
		memcpy(t->region, &i, sizeof(i));
		POST(&t->n, fi_write(t->n.ep, t->region, short_of(i), NULL, t->peer, i % PLACES * PIECE,
				     KEY, NULL));
		CHECK(!await(&t->n, 1));	/* the buffer is ours again */
	}
	POST(&t->n, fi_send(t->n.ep, "", 1, NULL, t->peer, NULL));
	CHECK(!await(&t->n, 1));
	drain_wakeups(t->to[0]);
	close_node(&t->n);
}

/* serve_slowly - progress once a millisecond until the child has written all. */
static void serve_slowly(struct two *t)
{
	struct fi_cq_tagged_entry entry;
	char word;

	POST(&t->n, fi_recv(t->n.ep, &word, 1, NULL, FI_ADDR_UNSPEC, NULL));
	while (fi_cq_read(t->n.cq, &entry, 1) != 1)
		pause_ms(1);
}

static void end_places(struct two *t)
{
	say(t->to[1]);
	reap(t->pid);
	CALL(fi_close(&t->mr->fid));
	end(t);
}

/* The last write to each place is what stays, whichever way each of them went. */
static void short_writes_to_a_slow_target_keep_their_order(void **state)
{
	struct two t;
	unsigned i, no;

	begin(&t, make_places, write_shorts);
	serve_slowly(&t);
	for (i = SHORTS - PLACES; i < SHORTS; i++) {
		memcpy(&no, t.region + i % PLACES * PIECE, sizeof(no));
		assert_int_equal(no, i);
		assert_int_equal(t.region[i % PLACES * PIECE + short_of(i) - 1], i % 256);
	}
	end_places(&t);
}

/* A program that blocks waits for a completion when a call is refused, so there has to be one. */
static void write_and_block(struct two *t)
{
	struct fi_cq_tagged_entry entry;
	unsigned i, open = 0;
	ssize_t ret;

	CHECK(fi_cq_sread(t->n.cq, &entry, 1, NULL, 1) == -FI_EAGAIN);
	for (i = 0; i < SHORTS; i++) {
		while ((ret = fi_write(t->n.ep, t->region, short_of(i % 5), NULL, t->peer,
				       i % PLACES * PIECE, KEY, NULL)) == -FI_EAGAIN) {
			CHECK(open > 0);
			CHECK(fi_cq_sread(t->n.cq, &entry, 1, NULL, PATIENCE_MS) == 1);
			open--;
		}
		CHECK(!ret);
		open++;
		while (open && fi_cq_read(t->n.cq, &entry, 1) == 1)
			open--;
	}
	while (open--)
		CHECK(fi_cq_sread(t->n.cq, &entry, 1, NULL, PATIENCE_MS) == 1);
	POST(&t->n, fi_send(t->n.ep, "", 1, NULL, t->peer, NULL));
	CHECK(!await(&t->n, 1));
	drain_wakeups(t->to[0]);
	close_node(&t->n);
}

static void a_program_that_blocks_is_refused_only_with_operations_open(void **state)
{
	struct two t;

	begin(&t, make_places, write_and_block);
	serve_slowly(&t);
	end_places(&t);
}

static void write_shorts_for_ever(struct two *t)
{
	unsigned i;

	memset(t->region, 2, PLACES * PIECE);
	say(t->from[1]);
	for (i = 0;; i++)
		POST(&t->n, fi_inject_write(t->n.ep, t->region, short_of(i % 4), t->peer,
					    i % PLACES * PIECE, KEY));
}

static void a_peer_killed_in_short_writes_no_longer_writes(void **state)
{
	struct two t;
	unsigned i;
	int status;

	begin(&t, make_places, write_shorts_for_ever);
	drain_wakeups(t.from[0]);
	for (i = 0; i < 20; i++) {
		fi_cq_read(t.n.cq, NULL, 0);
		pause_ms(1);
	}
	kill(t.pid, SIGKILL);
	assert_int_equal(waitpid(t.pid, &status, 0), t.pid);
	for (i = 0; i < 1000; i++)	/* what is in the ring comes first */
		fi_cq_read(t.n.cq, NULL, 0);
	assert_int_equal(t.region[0], 2);
	untouched(&t);
	CALL(fi_close(&t.mr->fid));
	end(&t);
}

/* ---- counters -------------------------------------------------------------------------------- */

/* counted - an endpoint with a counter of bytes for @flags, instead of the node's own. */
static struct fid_cntr *counted(struct two *t, const char *name, uint64_t flags)
{
	struct fi_cntr_attr attr = { .events = FI_CNTR_EVENTS_BYTES };
	struct fid_cntr *cntr;

	CALL(fi_close(&t->n.ep->fid));
	CALL(fi_cntr_open(t->n.domain, &attr, &cntr, NULL));
	t->n.info->caps |= FI_RMA_EVENT;
	t->n.info->rx_attr->caps |= FI_RMA_EVENT;
	CALL(fi_endpoint(t->n.domain, t->n.info, &t->n.ep, NULL));
	if (name)
		CALL(fi_setname(&t->n.ep->fid, (void *) name, strlen(name) + 1));
	CALL(fi_ep_bind(t->n.ep, &t->n.cq->fid, FI_TRANSMIT | FI_RECV));
	CALL(fi_ep_bind(t->n.ep, &t->n.av->fid, 0));
	CALL(fi_ep_bind(t->n.ep, &cntr->fid, flags));
	CALL(fi_enable(t->n.ep));
	return cntr;
}

static struct fid_cntr *arrived;

static void make_counted(struct two *t)
{
	char name[NAME_MAX_LEN];

	name_of(name, getpid(), 7);
	arrived = counted(t, name, FI_REMOTE_WRITE);
	make_large(t);
}

static void write_counted(struct two *t)
{
	struct fid_cntr *written = counted(t, NULL, FI_WRITE);
	uint64_t end = now_ms() + PATIENCE_MS;

	meet(t);
	drain_wakeups(t->to[0]);		/* it has been taken: nothing is before the writes */
	POST(&t->n, fi_write(t->n.ep, t->region, LARGE, NULL, t->peer, 0, KEY, NULL));
	POST(&t->n, fi_write(t->n.ep, t->region, PIECE + 3, NULL, t->peer, 0, KEY, NULL));
	while (fi_cntr_read(written) < LARGE + PIECE + 3)
		CHECK(now_ms() < end);
	CHECK(fi_cntr_read(written) == LARGE + PIECE + 3);
	CHECK(!fi_cntr_readerr(written));
	CHECK(!await(&t->n, 2));
	say(t->from[1]);
	drain_wakeups(t->to[0]);
	CALL(fi_close(&t->n.ep->fid));
	CALL(fi_close(&written->fid));
}

/* The target makes no progress, and counts bytes, not calls. */
static void long_writes_are_counted_in_bytes(void **state)
{
	uint64_t end_ms = now_ms() + PATIENCE_MS;
	struct two t;

	begin(&t, make_counted, write_counted);
	meet(&t);
	say(t.to[1]);
	if (may_write())
		drain_wakeups(t.from[0]);
	while (fi_cntr_read(arrived) < LARGE + PIECE + 3)
		assert_true(now_ms() < end_ms);
	assert_int_equal(fi_cntr_read(arrived), LARGE + PIECE + 3);
	say(t.to[1]);
	reap(t.pid);
	CALL(fi_close(&t.mr->fid));
	CALL(fi_close(&t.n.ep->fid));
	CALL(fi_close(&arrived->fid));
	CALL(open_ep(&t.n, NULL));	/* for end() */
	end(&t);
}

/* ---- polls beside them ------------------------------------------------------------------------- */

static void write_and_poll(struct two *t)
{
	const struct obj_prog *prog = atomic_load(&obj_cq_of(t->n.cq)->wait.feed.single);
	struct fi_cq_tagged_entry entry;
	unsigned i, alone = 0;

	for (i = 0; i < 100; i++) {
		POST(&t->n, fi_write(t->n.ep, t->region, PIECE, NULL, t->peer, 0, KEY, NULL));
		if (fi_cq_read(t->n.cq, &entry, 1) != 1) {
			CHECK(!await(&t->n, 1));	/* the first ones go through the target */
			continue;
		}
		alone++;
		CHECK(fi_cq_read(t->n.cq, &entry, 1) == -FI_EAGAIN);
		CHECK(fi_cq_read(t->n.cq, &entry, 1) == -FI_EAGAIN);
		CHECK(prog->idle.polls < OBJ_IDLE_BLOCK);
	}
	CHECK(alone > 50);
	POST(&t->n, fi_send(t->n.ep, "", 1, NULL, t->peer, NULL));
	CHECK(!await(&t->n, 1));
	drain_wakeups(t->to[0]);
	close_node(&t->n);
}

/* A program that polls in vain between writes which are done in the call does not wait: it need not yield. */
static void polls_between_writes_are_no_wait(void **state)
{
	struct two t;

	if (!may_write())
		skip();
	begin(&t, make_large, write_and_poll);
	meet(&t);
	say(t.to[1]);
	reap(t.pid);
	CALL(fi_close(&t.mr->fid));
	end(&t);
}

/* ---- accesses that the target shares --------------------------------------------------------------- */

#define ROUNDS 300
#define SHARED_MAX (1u << 20)

/* Where and how long the access of round @i is: both processes know. */
static size_t len_of(unsigned i)
{
	return (64u << 10) + i * UINT64_C(2654435761) % (SHARED_MAX - (64u << 10));
}

static size_t off_of(unsigned i)
{
	return i * UINT64_C(40503) % SHARED_MAX;
}

static bool is_all(const uint8_t *at, size_t len, unsigned byte)
{
	return *at == (uint8_t) byte && !memcmp(at, at + 1, len - 1);
}

static void write_and_read(struct two *t)
{
	uint8_t *back = t->region + LARGE / 2;
	unsigned i;

	for (i = 0; i < ROUNDS; i++) {
		uint8_t *at = t->region + off_of(i);

		memset(at, (int) i, len_of(i));
		POST(&t->n, fi_write(t->n.ep, at, len_of(i), NULL, t->peer, off_of(i), KEY, NULL));
		CHECK(!await(&t->n, 1));
		POST(&t->n, fi_read(t->n.ep, back, len_of(i), NULL, t->peer, off_of(i), KEY, NULL));
		CHECK(!await(&t->n, 1));
		CHECK(is_all(back, len_of(i), i));
		POST(&t->n, fi_send(t->n.ep, "", 1, NULL, t->peer, NULL));
		CHECK(!await(&t->n, 1));
		drain_wakeups(t->to[0]);
	}
	close_node(&t->n);
}

/* A target that polls meanwhile finds the bytes of each write. */
static void accesses_that_the_target_shares_are_whole(void **state)
{
	struct two t;
	unsigned i;
	char word;

	if (!may_write())
		skip();
	begin(&t, make_large, write_and_read);
	for (i = 0; i < ROUNDS; i++) {
		POST(&t.n, fi_recv(t.n.ep, &word, 1, NULL, FI_ADDR_UNSPEC, NULL));
		CHECK(!await(&t.n, 1));
		assert_true(is_all(t.region + off_of(i), len_of(i), i));
		say(t.to[1]);
	}
	reap(t.pid);
	CALL(fi_close(&t.mr->fid));
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_peer_killed_in_a_lease_no_longer_writes),
		cmocka_unit_test(closing_waits_for_a_stopped_peer_for_a_bounded_time),
		cmocka_unit_test(a_region_waits_for_a_peer_whose_endpoint_is_closed),
		cmocka_unit_test(memory_that_may_not_be_accessed_fails_the_operation),
		cmocka_unit_test(regions_beyond_the_table_go_through_the_target),
		cmocka_unit_test(short_writes_to_a_slow_target_keep_their_order),
		cmocka_unit_test(a_program_that_blocks_is_refused_only_with_operations_open),
		cmocka_unit_test(a_peer_killed_in_short_writes_no_longer_writes),
		cmocka_unit_test(long_writes_are_counted_in_bytes),
		cmocka_unit_test(polls_between_writes_are_no_wait),
		cmocka_unit_test(accesses_that_the_target_shares_are_whole),
	};

	setenv("FI_CONN_RETRY", "30000", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
