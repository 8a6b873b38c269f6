/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Attackers of the proof: processes of the same user that have another key or none, that replay, reflect or hand on
 * what a member says, or that connect and say nothing.  None gets a descriptor, and none keeps a member out.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "channel/route.h"
#include "obj/test/log_catch.h"
#include "secure/crypto.h"
#include "secure/policy.h"
#include "shm/test/fake.h"
#include "handshake.h"
#include "link.h"
#include "secure/proof.h"
#include "seg.h"

#define FLIGHT 4096

static struct sec_policy *job, *other_job, *lower;

static struct sec_policy *policy_of(enum sec_level level, uint8_t byte)
{
	uint8_t key[32];
	struct sec_source source = { .ep_key = key, .ep_key_len = sizeof(key) };
	struct sec_policy *policy;
	char why[SEC_WHY_MAX];

	memset(key, byte, sizeof(key));
	if (sec_policy_open(&source, &policy, why))
		fail_msg("%s", why);
	policy->level = level;
	return policy;
}

/* member - an endpoint with a policy like @sec, and an id of its own. */
static struct eng_ep *member(const struct sec_policy *sec)
{
	static struct sec_policy own[64];
	static unsigned cnt;
	struct eng_ep *ep;

	if (sec) {
		assert_true(cnt < sizeof(own) / sizeof(own[0]));
		own[cnt] = *sec;
		assert_true(sec_random(own[cnt].id, sizeof(own[cnt].id)));
		fake_sec = &own[cnt++];
	}
	ep = ep_at(NULL);
	fake_sec = NULL;
	return ep;
}

static void find_key_name(struct eng_ep *ep, char key[SHM_KEY_MAX + 1])
{
	fake_addr addr = name_of(ep);

	assert_int_equal(shm_naming.key(addr.name, strlen(addr.name) + 1, key), 0);
}

/* raw_connect - a socket to @ep that no library reads. */
static int raw_connect(struct eng_ep *ep)
{
	char key[SHM_KEY_MAX + 1];
	pid_t pid;
	int fd;

	find_key_name(ep, key);
	fd = shm_listen_connect(&fake_scope, key, &pid);
	assert_true(fd >= 0);
	return fd;
}

static unsigned count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned cnt = 0;

	assert_non_null(dir);
	while (readdir(dir))
		cnt++;
	closedir(dir);
	return cnt;
}

static bool logged(const char *text)
{
	size_t i;

	for (i = 0; i < caught.cnt && i < CATCH_LINES; i++)
		if (strstr(caught.line[i], text))
			return true;
	return false;
}

static void poll_some(unsigned cnt)
{
	while (cnt--)
		fake_poll();
}

/* talks - a message of @a to @b, and one back. */
static void talk(struct eng_ep *a, struct eng_ep *b)
{
	struct eng_peer *ab = peer_at(a, b), *ba;

	fake_send(ab, 100, 0);
	FAKE_UNTIL(5000, (fake_pull_some(b), ba = peer_at(b, a), ba->rx_cnt >= 1));
	fake_send(ba, 100000, 0);
	FAKE_UNTIL(5000, (fake_pull_some(a), ab->rx_cnt >= 1));
	assert_int_equal(ab->down + ba->down, 0);
}

/* ---- members ---------------------------------------------------------------------------- */

static void members_talk(void **state)
{
	struct sec_policy *policies[] = { job, lower };
	struct chan_route route;
	struct eng_ep *a, *b;
	size_t i;

	for (i = 0; i < 2; i++) {
		a = member(policies[i]);
		b = member(policies[i]);
		talk(a, b);
		shm_route((struct chan *) peer_at(a, b)->chan, &route);
		assert_non_null(strstr(route.way, i ? "(auth)" : "(encrypt)"));
		fake_close(a, 100);
		fake_close(b, 100);
	}
}

static void members_connect_simultaneously(void **state)
{
	enum { N = 12 };
	struct eng_ep *ep[N];
	struct eng_peer *peer;
	uint64_t got;
	int i, k;

	for (i = 0; i < N; i++)
		ep[i] = member(job);
	for (i = 0; i < N; i++)
		for (k = 0; k < N; k++)
			fake_send(peer_at(ep[i], ep[k]), 64, 0);
	do {
		fake_poll();
		for (got = i = 0; i < N; i++) {
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

/* ---- another key, another level, none --------------------------------------------------------- */

/* refused - @a does not reach @b: what it sends ends with FI_EACCES, and both logs say why. */
static void refused(struct sec_policy *a_sec, struct sec_policy *b_sec, const char *a_text, const char *b_text)
{
	struct eng_ep *a = member(a_sec), *b = member(b_sec), *c = member(b_sec);
	struct eng_peer *ab = peer_at(a, b);

	catch_start();
	fake_send(ab, 100, 0);
	FAKE_UNTIL(5000, ab->down);
	catch_stop();
	assert_int_equal(ab->err, FI_EACCES);
	assert_int_equal(ab->lost_cnt, 1);
	assert_true(list_empty(&b->peers));
	if (!logged(a_text) || !logged(b_text))
		fail_msg("no line has \"%s\" or \"%s\", but: %s | %s", a_text, b_text, caught.line[0], caught.line[1]);
	talk(c, b);
	fake_close(a, 0);
	fake_close(b, 0);
	fake_close(c, 0);
}

static void others_are_refused(void **state)
{
	refused(other_job, job, "the peer does not have our key", "the peer's key is none of ours");
	refused(lower, job, "the peer does not have our key", "another level of FI_SECURITY");
	refused(NULL, job, "its connections are protected and ours are not", "it does not protect connections");
	refused(job, NULL, "it does not protect connections", "its connections are protected and ours are not");
}

/* ---- raw processes -------------------------------------------------------------------------- */

/* A request of a process without the key, with descriptors, 1000 times: they are not taken, and none is left. */
static void descriptors_before_the_proof_are_dropped(void **state)
{
	struct shm_handshake shake = { .magic = SHM_MAGIC, .version = chan_version_ours(SHM_VERSION, SHM_OLDEST),
				       .type = SHM_REQUEST }, answer;
	struct eng_ep *a = member(job);
	unsigned before = count_fds();
	struct shm_seg *seg;
	struct shm_fds fds;
	int fd, seg_fd, i;

	assert_int_equal(shm_seg_make(&seg, &seg_fd), 0);
	catch_start();
	for (i = 0; i < 1000; i++) {
		fd = raw_connect(a);
		assert_int_equal(shm_handshake_send(fd, &shake, (struct shm_fds) { seg_fd, -1 }), 0);
		answer.type = 0;
		FAKE_UNTIL(5000, shm_handshake_recv(fd, &answer, &fds) == 0);
		assert_int_equal(answer.type, SHM_REFUSE);
		assert_int_equal(answer.reason, CHAN_INSECURE);
		assert_int_equal(fds.seg, -1);
		close(fd);
	}
	poll_some(10);
	catch_stop();
	assert_int_equal(count_fds(), before + 1);
	close(seg_fd);
	shm_seg_unmap(seg);
	assert_true(list_empty(&a->peers));
	fake_close(a, 0);
}

/* first_flight - what @a says first to whom it connects: @name is listened at by the attacker.
 * @fd_p: [out] the attacker's end of the connection
 */
static ssize_t first_flight(struct eng_ep *a, const char *name, uint8_t *bytes, int *fd_p)
{
	int listener = shm_listen_open(&fake_scope, name);
	fake_addr addr;
	ssize_t len = -1;
	pid_t pid;

	assert_true(listener >= 0);
	snprintf(addr.name, sizeof(addr.name), "fi_shm://%s", name);
	fake_send(fake_peer(a, &addr), 10, 0);
	FAKE_UNTIL(5000, (*fd_p = shm_listen_accept(listener, &pid)) >= 0);
	FAKE_UNTIL(5000, (len = recv(*fd_p, bytes, FLIGHT, MSG_DONTWAIT)) > 0);
	shm_listen_close(listener, &fake_scope, name);
	return len;
}

/* no_descriptors - nothing that comes at @fd is a handshake message with memory; until the end. */
static void no_descriptors(int fd, bool ends)
{
	uint64_t until = clock_ns() + 300 * CLOCK_NS_PER_MS;
	union { char room[CMSG_SPACE(4 * sizeof(int))]; struct cmsghdr align; } ctl;
	uint8_t bytes[FLIGHT];
	struct iovec iov = { bytes, sizeof(bytes) };
	struct msghdr msg;
	ssize_t len = 1;

	while (clock_ns() < until && len) {
		fake_poll();
		msg = (struct msghdr) { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &ctl,
					.msg_controllen = sizeof(ctl) };
		len = recvmsg(fd, &msg, MSG_DONTWAIT);
		if (len > 0) {
			assert_int_equal(msg.msg_controllen, 0);
			assert_true(shm_proof_is_tls(bytes));
		}
	}
	assert_int_equal(len == 0, ends);
}

/* What a member said, sent back to it: over the connection, and to its own name. */
static void a_reflection_is_refused(void **state)
{
	struct eng_ep *a = member(job);
	uint8_t bytes[FLIGHT];
	int fd, back;
	ssize_t len;

	len = first_flight(a, "proof-reflect", bytes, &fd);
	assert_int_equal(send(fd, bytes, (size_t) len, MSG_NOSIGNAL), len);
	catch_start();
	back = raw_connect(a);
	assert_int_equal(send(back, bytes, (size_t) len, MSG_NOSIGNAL), len);
	no_descriptors(back, true);
	no_descriptors(fd, true);
	catch_stop();
	assert_true(logged("it is our own message, sent back to us") || logged("the peer means another process"));
	close(back);
	close(fd);
	fake_close(a, 0);
}

/* What a member said to one endpoint, said to another: the answer is of no use without the key. */
static void a_replay_gets_nothing(void **state)
{
	struct eng_ep *a = member(job), *b = member(job);
	uint8_t bytes[FLIGHT];
	int fd, again;
	ssize_t len;

	len = first_flight(a, "proof-replay", bytes, &fd);
	again = raw_connect(b);
	assert_int_equal(send(again, bytes, (size_t) len, MSG_NOSIGNAL), len);
	no_descriptors(again, false);	/* the first answer of a handshake, and no more */
	assert_int_equal(send(again, bytes, (size_t) len, MSG_NOSIGNAL), len);
	no_descriptors(again, true);
	assert_true(list_empty(&b->peers));
	close(again);
	close(fd);
	fake_close(a, 0);
	talk(b, b);
	fake_close(b, 0);
}

/* hand_on - another process between two members: it hands on every message until one end closes.
 * @ready: a byte is written to it once the process listens
 */
static void hand_on(struct eng_ep *victim, int ready)
{
	int listener = shm_listen_open(&fake_scope, "proof-between"), to = raw_connect(victim);

	struct pollfd fds[2] = { { .fd = -1, .events = POLLIN }, { .fd = to, .events = POLLIN } };
	uint8_t bytes[FLIGHT];
	ssize_t len;
	pid_t pid;
	int i;

	if (write(ready, "", 1) != 1)
		_exit(3);
	do {
		poll(NULL, 0, 1);
		fds[0].fd = shm_listen_accept(listener, &pid);
	} while (fds[0].fd < 0);
	while (poll(fds, 2, 5000) > 0)
		for (i = 0; i < 2; i++) {
			if (!fds[i].revents)
				continue;
			len = recv(fds[i].fd, bytes, sizeof(bytes), MSG_DONTWAIT);
			if (len <= 0 || send(fds[!i].fd, bytes, (size_t) len, MSG_NOSIGNAL) < 0)
				_exit(len > 0 && !shm_proof_is_tls(bytes));
		}
	_exit(2);
}

static void a_process_in_between_is_refused(void **state)
{
	struct eng_ep *a = member(job), *b = member(job);
	fake_addr addr = { "fi_shm://proof-between" };
	struct eng_peer *peer;
	int ready[2], status;
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid)
		hand_on(b, ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	catch_start();
	peer = fake_peer(a, &addr);
	fake_send(peer, 10, 0);
	FAKE_UNTIL(10000, peer->down);
	catch_stop();
	assert_int_equal(peer->err, FI_EACCES);
	assert_true(list_empty(&b->peers));
	assert_true(logged("the peer means another process"));
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	close(ready[0]);
	close(ready[1]);
	fake_close(a, 0);
	fake_close(b, 0);
}

/* Each byte of a member's first message altered: refused, or no answer that helps. */
static void altered_bytes_are_refused(void **state)
{
	struct eng_ep *a = member(job), *b = member(job);
	unsigned before = count_fds(), left;
	uint8_t bytes[FLIGHT];
	ssize_t len, at;
	int fd, again;

	len = first_flight(a, "proof-alter", bytes, &fd);
	catch_start();
	for (at = 0; at < len; at++) {
		bytes[at] ^= (uint8_t) (1 << at % 8);
		again = raw_connect(b);
		assert_int_equal(send(again, bytes, (size_t) len, MSG_NOSIGNAL), len);
		poll_some(3);
		close(again);
		bytes[at] ^= (uint8_t) (1 << at % 8);
	}
	catch_stop();
	close(fd);
	FAKE_UNTIL(5000, (left = count_fds()) <= before);
	assert_true(list_empty(&b->peers));
	talk(b, b);
	fake_close(a, 0);
	fake_close(b, 0);
}

/* Many that connect and say nothing keep no member out, and have few descriptors. */
static void silent_processes_keep_none_out(void **state)
{
	enum { N = 400 };
	struct eng_ep *a = member(job), *b = member(job);
	unsigned before = count_fds();
	int fd[N], i;

	for (i = 0; i < N; i++) {
		fd[i] = raw_connect(b);
		fake_poll();
	}
	poll_some(100);
	assert_true(count_fds() <= before + N + 70);
	talk(a, b);
	for (i = 0; i < N; i++)
		close(fd[i]);
	fake_close(a, 0);
	fake_close(b, 0);
}

static int make_policies(void **state)
{
	const char *why;

	if (!sec_crypto_get(&why)) {
		printf("skip: %s\n", why);
		exit(77);
	}
	setenv("FI_LOG_INTERVAL", "1", 1);
	job = policy_of(SEC_ENCRYPT, 0xa1);
	other_job = policy_of(SEC_ENCRYPT, 0xb2);
	lower = policy_of(SEC_AUTH, 0xa1);
	return 0;
}

static int close_policies(void **state)
{
	sec_policy_close(job);
	sec_policy_close(other_job);
	sec_policy_close(lower);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(members_talk),
		TEST(members_connect_simultaneously),
		TEST(others_are_refused),
		TEST(descriptors_before_the_proof_are_dropped),
		TEST(a_reflection_is_refused),
		TEST(a_replay_gets_nothing),
		TEST(a_process_in_between_is_refused),
		TEST(altered_bytes_are_refused),
		TEST(silent_processes_keep_none_out),
	};

	return cmocka_run_group_tests(tests, make_policies, close_policies);
}
