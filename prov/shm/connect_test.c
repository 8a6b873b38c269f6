/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Connecting and closing: endpoints of one process and of several, peers that are killed
 * or restarted, and handshakes of other versions and of no version at all.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/swap.h"
#include "base/test/verify.h"
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "obj/test/log_catch.h"
#include "shm/test/fake.h"
#include "handshake.h"
#include "seg.h"

/* ---- connecting ------------------------------------------------------------------------------ */

static struct eng_ep *new_ep(fake_addr *name)
{
	struct eng_ep *ep = ep_at(NULL);

	*name = name_of(ep);
	return ep;
}

static void simultaneous_connects_end_with_one_connection(void **state)
{
	fake_simultaneous(new_ep, 200);
}

static void two_processes_connect_simultaneously(void **state)
{
	fake_two_processes(new_ep, 100);
}

static void sixty_four_endpoints_all_to_all(void **state)
{
	enum { N = 64 };
	struct eng_ep *ep[N];
	uint64_t got;
	int i, k;

	shm_conf.chan.conn_timeout_ms = 60000;	/* one process for all, on a busy machine */
	for (i = 0; i < N; i++)
		ep[i] = ep_at(NULL);
	for (i = 0; i < N; i++)
		for (k = 0; k < N; k++)
			fake_send(peer_at(ep[i], ep[k]), 64, 0);
	do {
		fake_poll();
		got = 0;
		for (i = 0; i < N; i++) {
			struct eng_peer *peer;

			fake_pull_some(ep[i]);
			list_for_each_entry(peer, &ep[i]->peers, node) {
				assert_int_equal(peer->down, 0);
				got += peer->rx_cnt;
			}
		}
	} while (got < N * N);
	for (i = 0; i < N; i++)
		fake_close(ep[i], 100);
}

static void a_name_without_endpoint_is_reported_once(void **state)
{
	struct eng_ep *a = ep_at(NULL);
	fake_addr addr = { "fi_shm://none" };
	struct eng_peer *peer = fake_peer(a, &addr);
	uint64_t began = clock_ns();

	fake_send(peer, 10, 0);
	fake_send(peer, 10000, 0);
	FAKE_UNTIL(3000, peer->down);
	assert_int_equal(peer->down, 1);
	assert_int_equal(peer->err, FI_ECONNREFUSED);
	assert_int_equal(peer->lost_cnt, 2);
	assert_int_equal(fake_done_status, -FI_ECONNREFUSED);
	assert_true(clock_ns() - began >= 150 * CLOCK_NS_PER_MS);	/* retried */
	fake_close(a, 100);
}

static void on_nothing(struct chan_src *src, uint32_t events)
{
}

/* Polls that are seconds apart, of a server whose sockets always have input, end what waits for a dead peer in a few. */
static void an_attempt_ends_beside_busy_sockets(void **state)
{
	enum { BUSY = 3 * CHAN_EVENTS_MAX };
	struct eng_ep *a = ep_at(NULL);
	struct chan_poller *poller = chan_link_of(a->link)->poller;
	fake_addr addr = { "fi_shm://none" };
	struct eng_peer *peer = fake_peer(a, &addr);
	struct chan_src busy[BUSY];
	int pair[2], i;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_int_equal(write(pair[1], "", 1), 1);
	for (i = 0; i < BUSY; i++) {
		busy[i] = (struct chan_src) { .fd = dup(pair[0]), .event = on_nothing };
		assert_int_equal(chan_src_want(poller, &busy[i], POLLIN), 0);
	}
	fake_send(peer, 10, 0);
	for (i = 0; i < 4 && !peer->down; i++) {
		usleep(250000);		/* longer than the retries: FI_CONN_RETRY is 200 ms here */
		fake_poll();
	}
	assert_int_equal(peer->down, 1);
	assert_int_equal(peer->lost_cnt, 1);
	for (i = 0; i < BUSY; i++) {
		chan_src_want(poller, &busy[i], 0);
		close(busy[i].fd);
	}
	close(pair[0]);
	close(pair[1]);
	fake_close(a, 100);
}

static void a_name_in_use_is_refused(void **state)
{
	char name[SHM_NAME_MAX];
	struct eng_ep *a, ep = { .info = { .src_addr = name } };
	struct eng_link *link;

	snprintf(name, sizeof(name), "test://name-%d", getpid());
	a = ep_at(name);
	ep.info.src_addrlen = strlen(name) + 1;
	ep.base.info = &ep.info;
	ep.base.prog = &fake_prog;
	ep.base.prov = &fake_prov;
	assert_int_equal(shm_link_ops.open(&ep, NULL, &link), -FI_EADDRINUSE);
	fake_close(a, 0);
	assert_int_equal(shm_link_ops.open(&ep, NULL, &link), 0);
	shm_link_ops.close(link, 0);
}

static void another_name_with_the_same_key_is_refused(void **state)
{
	char name[SHM_NAME_MAX];
	struct eng_ep *a, *b = ep_at(NULL);
	struct eng_peer *peer;
	fake_addr addr;

	snprintf(name, sizeof(name), "test://alias-%d", getpid());
	a = ep_at(name);
	snprintf(addr.name, sizeof(addr.name), "other://alias-%d", getpid());
	peer = fake_peer(b, &addr);
	fake_send(peer, 10, 0);
	FAKE_UNTIL(1000, peer->down);
	assert_int_equal(peer->err, FI_ECONNREFUSED);
	fake_close(a, 0);
	fake_close(b, 0);
}

/* ---- ends -------------------------------------------------------------------------------------- */

static void a_restarted_peer_is_connected_again(void **state)
{
	struct eng_ep *a = ep_at(NULL), *b;
	char name[SHM_NAME_MAX];
	struct eng_peer *ab;
	int round;

	snprintf(name, sizeof(name), "test://again-%d", getpid());
	b = ep_at(name);
	ab = peer_at(a, b);
	for (round = 1; round <= 5; round++) {
		fake_send(ab, 100, 0);
		FAKE_UNTIL(2000, (fake_pull_some(b), peer_at(b, a)->rx_cnt == 1));
		fake_close(b, 0);
		FAKE_UNTIL(2000, ab->down == round);
		b = ep_at(name);
	}
	/* it is closed when we connect, and opens again */
	fake_close(b, 0);
	fake_send(ab, 100, 0);
	for (round = 0; round < 100; round++)
		fake_poll();
	b = ep_at(name);
	FAKE_UNTIL(2000, (fake_pull_some(b), peer_at(b, a)->rx_cnt == 1));
	assert_int_equal(ab->down, 5);
	/* the new one connects before we have seen the end of the old one */
	fake_close(b, 0);
	b = ep_at(name);
	fake_send(peer_at(b, a), 5, 0);
	FAKE_UNTIL(2000, (fake_pull_some(a), peer_at(a, b)->rx_cnt >= 1));
	fake_close(a, 100);
	fake_close(b, 100);
}

static void a_send_to_a_closed_peer_fails_at_once(void **state)
{
	struct eng_ep *a = ep_at(NULL), *b;
	char name[SHM_NAME_MAX];
	struct eng_peer *ab;

	snprintf(name, sizeof(name), "test://left-%d", getpid());
	b = ep_at(name);
	ab = peer_at(a, b);
	fake_send(ab, 100, 0);
	FAKE_UNTIL(2000, (fake_pull_some(b), peer_at(b, a)->rx_cnt == 1));
	fake_close(b, 0);
	b = ep_at(name);
	assert_int_equal(fake_send(ab, 100, 0), -FI_EAGAIN);
	assert_int_equal(fake_send(ab, 100, 0), -FI_EAGAIN);
	FAKE_UNTIL(2000, ab->down == 1);
	fake_send(ab, 100, 0);
	FAKE_UNTIL(2000, (fake_pull_some(b), peer_at(b, a)->rx_cnt == 1));
	fake_close(a, 100);
	fake_close(b, 100);
}

static void packets_sent_before_close_arrive(void **state)
{
	size_t i;

	for (i = 0; i < 10; i++) {
		struct eng_ep *b = ep_at(NULL);
		fake_addr to = name_of(b);
		size_t cnt = i % 2 ? 1 : 200, k;
		struct eng_peer *ba = NULL;
		int status;
		pid_t pid = fork();

		if (!pid) {
			struct eng_ep *a;

			fake_start();	/* a group of our own */
			a = ep_at(NULL);
			for (k = 0; k < cnt; k++)
				fake_send(fake_peer(a, &to), i < 4 ? 100 : 100000, 0);
			fake_close(a, 30000);
			_exit(0);
		}
		b->quiet = i > 7;	/* pull nothing before the sender has closed */
		FAKE_UNTIL(10000, !list_empty(&b->peers));
		ba = container_of(b->peers.next, struct eng_peer, node);
		FAKE_UNTIL(10000, (fake_pull_some(b), ba->down));
		b->quiet = false;
		fake_pull_some(b);
		assert_int_equal(ba->rx_cnt, cnt);
		waitpid(pid, &status, 0);
		assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
		fake_close(b, 0);
	}
}

/* A process is killed while packets of all kinds are in flight: each has one outcome. */
static void a_killed_peer_is_reported_at_once(void **state)
{
	int round, status;

	for (round = 0; round < 10; round++) {
		struct eng_ep *b = ep_at(NULL);
		fake_addr to = name_of(b), addr = { "" };
		struct eng_peer *ba;
		uint64_t killed;
		pid_t pid = fork();
		int i;

		if (!pid) {
			struct eng_ep *a;

			fake_start();
			a = ep_at(NULL);
			for (;;) {
				fake_send(fake_peer(a, &to), some_size(), 0);
				fake_poll();
				fake_pull_some(a);
			}
		}
		FAKE_UNTIL(5000, !list_empty(&b->peers));
		ba = container_of(b->peers.next, struct eng_peer, node);
		addr = ba->addr;
		FAKE_UNTIL(5000, (fake_pull_some(b), ba->rx_cnt > 20));
		for (i = 0; i < 50; i++)
			fake_send(fake_peer(b, &addr), some_size(), 0);
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		killed = clock_ns();
		FAKE_UNTIL(5000, ba->down);
		assert_int_equal(ba->err, FI_ECONNRESET);
		assert_true(clock_ns() - killed < 1000 * CLOCK_NS_PER_MS);
		assert_true(ba->done_cnt + ba->lost_cnt >= 50);
		fake_pull_some(b);
		fake_close(b, 0);
	}
}

static void peer_put_completes_what_waits(void **state)
{
	struct eng_ep *a = ep_at(NULL), *b = ep_at(NULL);
	struct eng_peer *ab = peer_at(a, b);

	fake_send(ab, 100, 0);
	fake_send(ab, 1000000, 0);	/* waits for the connection */
	a->link->ops->peer_put(a->link, ab);
	assert_int_equal(ab->lost_cnt, 2);
	assert_int_equal(fake_done_status, -FI_ECANCELED);
	memset(ab->chan, 0, sizeof(ab->chan));
	ab->wanted = false;
	ab->tx_seq = 0;
	fake_send(ab, 100, 0);
	FAKE_UNTIL(2000, (fake_pull_some(b), peer_at(b, a)->rx_cnt >= 1));
	fake_close(a, 100);
	fake_close(b, 100);
}

/* ---- versions ---------------------------------------------------------------------- */

/* logged - is there a line with all three texts? */
static bool logged(const char *a, const char *b, const char *c)
{
	size_t i;

	for (i = 0; i < caught.cnt && i < CATCH_LINES; i++)
		if (strstr(caught.line[i], a) && strstr(caught.line[i], b) &&
		    strstr(caught.line[i], c))
			return true;
	return false;
}

/* refuse - a request @shake is answered by a REFUSE in the polls that follow it; what they log is caught. */
static void refuse(struct shm_handshake shake, enum chan_reason reason)
{
	struct eng_ep *a = ep_at(NULL);
	fake_addr addr = name_of(a);
	char key[SHM_KEY_MAX + 1];
	struct shm_fds fds;
	int fd, i;
	pid_t pid;

	assert_int_equal(shm_naming.key(addr.name, strlen(addr.name) + 1, key), 0);
	fd = shm_listen_connect(&fake_scope, key, &pid);
	assert_true(fd >= 0);
	assert_int_equal(pid, getpid());
	assert_int_equal(shm_handshake_send(fd, &shake, SHM_NO_FDS), 0);
	catch_start();
	for (i = 0; i < 100; i++)
		fake_poll();
	catch_stop();
	assert_int_equal(shm_handshake_recv(fd, &shake, &fds), 0);
	assert_int_equal(shake.type, SHM_REFUSE);
	assert_int_equal(shake.reason, reason);
	close(fd);
	fake_close(a, 0);
}

/* A request of another version, of the link or of the engine. */
static void refuse_version(struct chan_version theirs)
{
	struct chan_version ours = chan_version_ours(SHM_VERSION, SHM_OLDEST);
	char text[2][32];

	refuse((struct shm_handshake) { .magic = SHM_MAGIC, .version = theirs }, CHAN_VERSION_BAD);
	snprintf(text[0], sizeof(text[0]), "version %u.%u ", theirs.link, theirs.engine);
	snprintf(text[1], sizeof(text[1]), " with %u.%u ", ours.link, ours.engine);
	assert_true(logged("no shared memory with process", text[0], text[1]));
}

static void a_request_of_another_version_is_refused(void **state)
{
	struct chan_version other = chan_version_ours(SHM_VERSION + 1, SHM_OLDEST + 1);

	refuse_version(other);
	other = chan_version_ours(SHM_VERSION, SHM_OLDEST);
	other.engine_oldest = ++other.engine;
	refuse_version(other);
}

/* swapped - @shake as a process of the other byte order writes it. */
static struct shm_handshake swapped(struct shm_handshake shake)
{
	static const struct swap_field fields[] = {
		SWAP_FIELD(struct shm_handshake, magic),
		SWAP_FIELD(struct shm_handshake, version.link),
		SWAP_FIELD(struct shm_handshake, version.engine),
		SWAP_FIELD(struct shm_handshake, version.link_oldest),
		SWAP_FIELD(struct shm_handshake, version.engine_oldest),
		SWAP_FIELD(struct shm_handshake, version.release.commit),
		SWAP_FIELD(struct shm_handshake, type),
		SWAP_FIELD(struct shm_handshake, reason),
		SWAP_FIELD(struct shm_handshake, seg_size),
	};

	swap_bytes(&shake, fields, sizeof(fields) / sizeof(fields[0]));
	return shake;
}

static const char other_order[] = "it is built for processors of the other byte order";

static void a_request_in_the_other_byte_order_is_refused(void **state)
{
	struct shm_handshake shake = { .magic = SHM_MAGIC, .type = SHM_REQUEST,
				       .version = chan_version_ours(SHM_VERSION, SHM_OLDEST) };

	refuse(swapped(shake), CHAN_MALFORMED);
	assert_true(logged("no shared memory with process", other_order, ""));
}

/* A process whose rings are active, and that yields the processor in each poll, as one of many on
 * few processors does: a request is answered within some polls.
 */
static void a_request_is_seen_soon_by_a_process_that_seldom_runs(void **state)
{
	struct shm_handshake shake = { .magic = SHM_MAGIC, .version = chan_version_ours(SHM_VERSION + 1, SHM_OLDEST + 1) };
	struct eng_ep *a = ep_at(NULL), *b = ep_at(NULL);
	struct eng_peer *ab = peer_at(a, b);
	char key[SHM_KEY_MAX + 1];
	fake_addr addr = name_of(a);
	struct shm_fds fds;
	int fd, i, polls = 0;
	pid_t pid;

	fake_send(ab, 100, 0);
	FAKE_UNTIL(2000, (fake_pull_some(b), peer_at(b, a)->rx_cnt >= 1));
	for (i = 0; i < 5000; i++)
		fake_poll();
	assert_int_equal(shm_naming.key(addr.name, strlen(addr.name) + 1, key), 0);
	fd = shm_listen_connect(&fake_scope, key, &pid);
	assert_true(fd >= 0);
	assert_int_equal(shm_handshake_send(fd, &shake, SHM_NO_FDS), 0);
	catch_start();
	while (shm_handshake_recv(fd, &shake, &fds) == -FI_EAGAIN) {
		usleep(10000);
		fake_poll();
		assert_true(++polls <= 16);
	}
	catch_stop();
	assert_int_equal(shake.type, SHM_REFUSE);
	close(fd);
	fake_close(a, 0);
	fake_close(b, 0);
}

/* refused_by - an attempt to connect is answered with @shake, and fails; what is logged is caught. */
static void refused_by(const struct shm_handshake *shake)
{
	fake_addr addr = { "fi_shm://other-version" };
	struct eng_ep *a = ep_at(NULL);
	struct eng_peer *peer;
	int listener, fd = -1;
	pid_t pid;

	listener = shm_listen_open(&fake_scope, "other-version");
	assert_true(listener >= 0);
	peer = fake_peer(a, &addr);
	fake_send(peer, 10, 0);
	FAKE_UNTIL(1000, (fd = shm_listen_accept(listener, &pid)) >= 0);
	assert_int_equal(shm_handshake_send(fd, shake, SHM_NO_FDS), 0);
	catch_start();
	FAKE_UNTIL(1000, peer->down);
	catch_stop();
	assert_int_equal(peer->err, FI_EPROTO);
	assert_int_equal(peer->down, 1);
	assert_int_equal(peer->lost_cnt, 1);
	close(fd);
	shm_listen_close(listener, &fake_scope, "other-version");
	fake_close(a, 0);
}

/* The accepting process is of another version: it says so in a REFUSE of that version. */
static void a_peer_of_another_version_is_reported_once(void **state)
{
	struct shm_handshake shake = {
		.magic = SHM_MAGIC,
		.version = chan_version_ours(SHM_VERSION, SHM_OLDEST),
		.type = SHM_REFUSE,
		.reason = CHAN_VERSION_BAD,
	};
	char text[32];

	shake.version.engine += 3;
	shake.version.engine_oldest += 3;
	refused_by(&shake);
	snprintf(text, sizeof(text), "version %u.%u ", shake.version.link, shake.version.engine);
	assert_true(logged("no shared memory with process", text, "and this is libfabric"));
}

static void a_peer_of_the_other_byte_order_is_reported(void **state)
{
	struct shm_handshake shake = { .magic = SHM_MAGIC, .type = SHM_REFUSE, .reason = CHAN_MALFORMED,
				       .version = chan_version_ours(SHM_VERSION, SHM_OLDEST) };

	shake = swapped(shake);
	refused_by(&shake);
	assert_true(logged("no shared memory with process", other_order, ""));
}

/* ---- processes that do not poll --------------------------------------------------------------- */

#define LATE_MS 20	/* after which an answer is overdue here */

/* late_ep - an endpoint for which it is so, and in *peer_p its peer called @name. */
static struct eng_ep *late_ep(fake_addr name, struct eng_peer **peer_p)
{
	struct eng_ep *ep;

	shm_conf.chan.conn_timeout_ms = LATE_MS;
	ep = ep_at(NULL);
	*peer_p = fake_peer(ep, &name);
	return ep;
}

/* poll_on - for several times as long; nothing may fail. */
static void poll_on(const struct eng_peer *peer)
{
	uint64_t until = clock_deadline(5 * LATE_MS);

	while (clock_ns() < until) {
		fake_poll();
		assert_int_equal(peer->down, 0);
	}
}

/* request_from - a peer called @name, which the test plays, connects to @ep.  Returns its socket. */
static int request_from(struct eng_ep *ep, const char *name)
{
	struct shm_handshake shake = {
		.magic = SHM_MAGIC,
		.version = chan_version_ours(SHM_VERSION, SHM_OLDEST),
		.type = SHM_REQUEST,
		.seg_size = sizeof(struct shm_seg),
		.id = { .epoch = 77, .serial = 1 },
	};
	char key[SHM_KEY_MAX + 1];
	fake_addr addr = name_of(ep);
	struct shm_fds fds = SHM_NO_FDS;
	struct shm_seg *seg;
	int fd, ret;
	pid_t pid;

	shake.addr_len = (uint16_t) (strlen(name) + 1);
	memcpy(shake.addr, name, shake.addr_len);
	shake.to_len = (uint16_t) (strlen(addr.name) + 1);
	memcpy(shake.to, addr.name, shake.to_len);
	assert_int_equal(shm_naming.key(addr.name, shake.to_len, key), 0);
	fd = shm_listen_connect(&fake_scope, key, &pid);
	assert_true(fd >= 0);
	assert_int_equal(shm_seg_make(&seg, &fds.seg), 0);
	assert_int_equal(shm_handshake_send(fd, &shake, fds), 0);
	close(fds.seg);
	FAKE_UNTIL(2000, (ret = shm_handshake_recv(fd, &shake, &fds)) != -FI_EAGAIN);
	assert_int_equal(ret, 0);
	assert_int_equal(shake.type, SHM_ACCEPT);
	shm_fds_close(&fds);
	shm_seg_unmap(seg);
	return fd;
}

static bool peer_left(int fd)
{
	char byte;

	return !recv(fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK);
}

/* The peer has confirmed, and may have sent, while this process computed. */
static void a_confirmation_counts_however_late_it_is_read(void **state)
{
	struct eng_peer *peer;
	struct eng_ep *a = late_ep((fake_addr) { "fi_shm://played" }, &peer);
	int fd, i;

	fd = request_from(a, "fi_shm://played");
	assert_int_equal(shm_handshake_confirm(fd), 0);
	usleep(5 * LATE_MS * 1000);
	for (i = 0; i < 100; i++)
		fake_poll();
	assert_false(peer_left(fd));
	assert_int_equal(peer->up, 1);
	assert_int_equal(peer->down, 0);
	close(fd);
	FAKE_UNTIL(2000, peer->down);
	fake_close(a, 0);
}

/* It is the peer that computes, between ACCEPT and its confirmation. */
static void a_confirmation_is_waited_for_while_the_peer_lives(void **state)
{
	struct eng_peer *peer;
	struct eng_ep *a = late_ep((fake_addr) { "fi_shm://played" }, &peer);
	int fd;

	fd = request_from(a, "fi_shm://played");
	fake_send(peer, 10, 0);
	poll_on(peer);
	assert_int_equal(shm_handshake_confirm(fd), 0);
	FAKE_UNTIL(2000, peer->done_cnt == 1);
	close(fd);
	FAKE_UNTIL(2000, peer->down);
	fake_close(a, 0);
}

/* A process that listens lives: it computes, or is stopped.  Its end is seen at its socket. */
static void an_answer_is_waited_for_while_the_peer_lives(void **state)
{
	struct eng_peer *peer;
	struct eng_ep *a = late_ep((fake_addr) { "fi_shm://computes" }, &peer);
	int listener = shm_listen_open(&fake_scope, "computes"), fd;
	pid_t pid;

	assert_true(listener >= 0);
	catch_start();
	fake_send(peer, 10, 0);
	poll_on(peer);
	catch_stop();
	assert_true(logged("computes", "does not answer", "waiting for it"));
	fd = shm_listen_accept(listener, &pid);
	assert_true(fd >= 0);
	poll_on(peer);
	close(fd);
	shm_listen_close(listener, &fake_scope, "computes");
	FAKE_UNTIL(2000, peer->down);
	assert_int_equal(peer->lost_cnt, 1);
	fake_close(a, 0);
}

/* So does one that takes no connections from a queue that is full; its end is noticed after that, too. */
static void a_full_queue_is_waited_for_while_the_peer_lives(void **state)
{
	struct eng_peer *peer;
	struct eng_ep *a = late_ep((fake_addr) { "fi_shm://full" }, &peer);
	int listener = shm_listen_open(&fake_scope, "full"), fds[4], cnt = 0;
	pid_t pid;

	assert_true(listener >= 0 && !listen(listener, 0));
	while (cnt < 4 && (fds[cnt] = shm_listen_connect(&fake_scope, "full", &pid)) >= 0)
		cnt++;
	assert_in_range(cnt, 1, 3);
	assert_int_equal(fds[cnt], -FI_EBUSY);
	catch_start();
	fake_send(peer, 10, 0);
	poll_on(peer);
	catch_stop();
	assert_true(logged("full", "accepts no connections", "waiting for it"));
	assert_int_equal(caught.cnt, 1);
	shm_listen_close(listener, &fake_scope, "full");
	/* the name may come back: the attempt is repeated for a while */
	fake_poll();
	assert_int_equal(peer->down, 0);
	FAKE_UNTIL(2000, peer->down);
	assert_int_equal(peer->err, FI_ECONNREFUSED);
	while (cnt--)
		close(fds[cnt]);
	fake_close(a, 0);
}

/* Bytes that are no handshake end the connection. */
static void a_malformed_handshake_closes_the_socket(void **state)
{
	struct eng_ep *a = ep_at(NULL);
	struct shm_handshake shake;
	char key[SHM_KEY_MAX + 1];
	fake_addr addr = name_of(a);
	struct shm_fds fds;
	int fd, ret = 0;
	pid_t pid;

	assert_int_equal(shm_naming.key(addr.name, strlen(addr.name) + 1, key), 0);
	fd = shm_listen_connect(&fake_scope, key, &pid);
	assert_int_equal(send(fd, "GET / HTTP/1.1", 14, 0), 14);
	FAKE_UNTIL(1000, (ret = shm_handshake_recv(fd, &shake, &fds)) == -FI_ECONNRESET);
	assert_int_equal(ret, -FI_ECONNRESET);
	close(fd);
	fake_close(a, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(simultaneous_connects_end_with_one_connection),
		TEST(two_processes_connect_simultaneously),
		TEST(sixty_four_endpoints_all_to_all),
		TEST(a_name_without_endpoint_is_reported_once),
		TEST(an_attempt_ends_beside_busy_sockets),
		TEST(a_name_in_use_is_refused),
		TEST(another_name_with_the_same_key_is_refused),
		TEST(a_restarted_peer_is_connected_again),
		TEST(a_send_to_a_closed_peer_fails_at_once),
		TEST(packets_sent_before_close_arrive),
		TEST(a_killed_peer_is_reported_at_once),
		TEST(peer_put_completes_what_waits),
		TEST(a_request_is_seen_soon_by_a_process_that_seldom_runs),
		TEST(a_request_of_another_version_is_refused),
		TEST(a_request_in_the_other_byte_order_is_refused),
		TEST(a_peer_of_another_version_is_reported_once),
		TEST(a_peer_of_the_other_byte_order_is_reported),
		TEST(a_malformed_handshake_closes_the_socket),
		TEST(a_confirmation_counts_however_late_it_is_read),
		TEST(a_confirmation_is_waited_for_while_the_peer_lives),
		TEST(an_answer_is_waited_for_while_the_peer_lives),
		TEST(a_full_queue_is_waited_for_while_the_peer_lives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
