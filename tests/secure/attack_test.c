/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Attackers of protected connections.
 *
 * A member has an endpoint; another one connects to it through a proxy, which is the attacker on the path: it
 * has every byte, and alters, leaves out, repeats or redirects what it wants.  Attackers off the path have a raw
 * socket.  After each attack the member's buffer is as it was, or has the whole message, and a bystander's
 * connection to the member goes on.
 *
 * FI_TCP_FIREWALL_ADDR lets the proxy have an address of its own; that a connection is refused which was led
 * elsewhere is shown in a process without.
 */
#include "tests/secure/proxy.h"

#define WAIT_MS 20000
#define STRANGERS 1000

static struct side bystander;
static uint8_t job_key[SIDE_KEY_SIZE], other_key[SIDE_KEY_SIZE];

/* ---- one attempt -------------------------------------------------------------------- */

static void check_buffer(bool came)
{
	static const uint8_t empty[SIZE];

	CHECK(!memcmp(member.buf, came ? message : empty, SIZE));
}

/* attempt - @s sends one message to @to.  Returns whether it came to the member, whose buffer has all of it, or
 * nothing.  What is not altered comes in any case, perhaps over a further connection.
 */
static bool attempt(struct side *s, const struct sockaddr_in *to)
{
	uint64_t until = now_ms() + WAIT_MS;
	bool came = false, over = false;
	int ret;

	proxy.broken = false;
	post_send(s, knows(s, to));
	while (!came && !over && now_ms() < until) {
		proxy_poll();
		ret = poll_side(s);
		came = poll_side(&member) > 0;
		if (!came)
			check_buffer(false);
		over = ret < 0 || (proxy.broken && now_ms() > proxy.broken_ms + QUIET_MS && proxy.fd[0] < 0);
	}
	CHECK(came || over);
	check_buffer(came);
	if (came)
		post_recv(&member);
	return came;
}

static void bystander_goes_on(void)
{
	proxy.attack = (struct attack) { PASS, 0, 0, 0 };
	CHECK(attempt(&bystander, &member.name));
}

/* attack - a new endpoint connects through the proxy.  Returns whether its message came. */
static bool attack(enum way way, int dir, size_t at, int bit)
{
	struct side s;
	bool came;

	logged_len = 0;
	*logged = '\0';
	proxy_end();
	proxy.conns = 0;
	proxy.attack = (struct attack) { way, dir, at, bit };
	open_side(&s, getenv("LEVEL"), job_key);
	came = attempt(&s, &proxy.name);
	close_side(&s);
	proxy_end();
	return came;
}

/* ---- the table: at either level ------------------------------------------------------- */

/* What was sent is on the wire at auth, and is not at encrypt. */
static void a_capture(void **state)
{
	bool seen;

	assert_true(attack(PASS, 0, 0, 0));
	seen = memmem(proxy.bytes[0], proxy.len[0], message, SIZE) != NULL;
	assert_int_equal(seen, !strcmp(getenv("LEVEL"), "auth"));
	assert_null(memmem(proxy.bytes[0], proxy.len[0], job_key, 16));
	assert_null(memmem(proxy.bytes[1], proxy.len[1], job_key, 16));
}

/* Each byte of both directions, a bit of it: handshake, HELLO, WELCOME, frames, the end. */
static void bits_are_flipped(void **state)
{
	size_t len[2], at;
	int dir;

	assert_true(attack(PASS, 0, 0, 0));
	memcpy(len, proxy.len, sizeof(len));
	assert_true(len[0] > 400 && len[1] > 300);
	for (dir = 0; dir < 2; dir++)
		for (at = 0; at < len[dir]; at++)
			attack(FLIP, dir, at, (int) (at % 8));
	bystander_goes_on();
}

static void streams_are_cut(void **state)
{
	size_t len[2], at;
	int dir;

	assert_true(attack(PASS, 0, 0, 0));
	memcpy(len, proxy.len, sizeof(len));
	for (dir = 0; dir < 2; dir++)
		for (at = 0; at < len[dir]; at += 7)
			attack(CUT, dir, at, 0);
	bystander_goes_on();
}

/* Records behind the handshake: left out, repeated, reordered, of another connection. */
static void records_are_moved(void **state)
{
	static const enum way ways[] = { DROP, TWICE, SWAP, SPLICE };
	size_t i, at;
	int dir;

	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		for (dir = 0; dir < 2; dir++)
			for (at = 0; at < (dir ? 1 : 2); at++) {
				assert_true(attack(PASS, 0, 0, 0));
				attack(ways[i], dir, at, 0);
				if (ways[i] == SPLICE && dir == 0)
					assert_logged("sealed by another");
			}
	bystander_goes_on();
}

static void bytes_are_reflected(void **state)
{
	attack(REFLECT, 0, 0, 0);
	bystander_goes_on();
}

/* The whole of what a member said, again: from a raw socket. */
static void a_connection_is_replayed(void **state)
{
	uint64_t until;
	uint8_t byte;
	int fd;

	assert_true(attack(PASS, 0, 0, 0));
	fd = connect_to(&member.name);
	assert_int_equal(send(fd, proxy.bytes[0], proxy.len[0], MSG_NOSIGNAL), proxy.len[0]);
	until = now_ms() + 5 * QUIET_MS;
	while (now_ms() < until) {
		assert_true(poll_side(&member) <= 0);
		check_buffer(false);
		recv(fd, &byte, 1, MSG_DONTWAIT);
	}
	close(fd);
	assert_logged("was refused");
	bystander_goes_on();
}

/* Keys and levels that are not the member's: the message never comes, and both logs say why. */
static void others_are_refused(void **state)
{
	const char *level = getenv("LEVEL"), *lower = strcmp(level, "auth") ? "auth" : "encrypt";
	const struct {
		const char *level;
		const uint8_t *key;
		const char *text[2];
	} cases[] = {
		{ level, other_key, { "does not have our key", "is none of ours" } },
		{ lower, job_key, { "does not have our key", "another level of FI_SECURITY" } },
		{ "none", NULL, { "its connections are protected and ours are not", "does not protect connections" } },
	};
	struct side s;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		logged_len = 0;
		open_side(&s, cases[i].level, cases[i].key);
		assert_false(attempt(&s, &member.name));
		assert_int_equal(s.err, FI_EACCES);
		assert_logged(cases[i].text[0]);
		assert_logged(cases[i].text[1]);
		close_side(&s);
		bystander_goes_on();
	}
}

/* A member does not talk with an endpoint that has no key. */
static void a_plain_member_is_not_used(void **state)
{
	struct side plain, s;
	uint64_t until = now_ms() + WAIT_MS;
	int ret = 0;

	logged_len = 0;
	open_side(&plain, "none", NULL);
	open_side(&s, getenv("LEVEL"), job_key);
	post_recv(&plain);
	post_send(&s, knows(&s, &plain.name));
	while (!ret && now_ms() < until) {
		ret = poll_side(&s);
		assert_true(poll_side(&plain) <= 0);
	}
	assert_int_equal(ret, -1);
	assert_null(memmem(plain.buf, SIZE, message, 1));
	assert_logged("a TLS client");
	close_side(&s);
	close_side(&plain);
}

/* Off the path: bytes of other protocols, and of nothing at all. */
static void strangers_speak(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
	} said[] = {
		{ "GET / HTTP/1.1\r\n\r\n", 18 },
		{ "\x16\x03\x01\x40\x01", 5 },				/* longer than a handshake */
		{ "\x16\x03\x03\x00\x05hello", 10 },
		{ "\x17\x03\x03\x00\x10" "0123456789abcdef", 21 },	/* data before the handshake */
		{ "\x15\x03\x03\x00\x02\x02\x28", 7 },			/* an alert */
		{ "\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00", 10 },	/* a published format */
		{ "", 0 },
	};
	uint64_t until;
	size_t i;
	int fd;

	for (i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
		fd = connect_to(&member.name);
		assert_int_equal(send(fd, said[i].bytes, said[i].len, MSG_NOSIGNAL), said[i].len);
		for (until = now_ms() + QUIET_MS; now_ms() < until;)
			assert_true(poll_side(&member) <= 0);
		check_buffer(false);
		close(fd);
		bystander_goes_on();
	}
}

/* standing - how many of the strangers' connections the member has not closed. */
static unsigned standing(const int *fd)
{
	unsigned cnt = 0;
	char bytes[FLIGHT];
	ssize_t ret;
	size_t i;

	for (i = 0; i < STRANGERS; i++) {
		while ((ret = recv(fd[i], bytes, sizeof(bytes), MSG_DONTWAIT)) > 0)
			;
		cnt += ret < 0 && errno == EAGAIN;
	}
	return cnt;
}

/* source_limit - half of the half-open connections, which are a quarter of the descriptors or 1024. */
static unsigned source_limit(void)
{
	struct rlimit limit;

	CALL(getrlimit(RLIMIT_NOFILE, &limit));
	return (limit.rlim_cur / 4 < 1024 ? (unsigned) limit.rlim_cur / 4 : 1024) / 2;
}

/* Many that connect and say nothing, or begin a handshake and say no more, keep no member out; those of one
 * address have no more than half of the places.
 */
static void strangers_crowd(void **state)
{
	static int fd[STRANGERS];
	uint8_t begun[600];
	size_t i, len;

	assert_true(attack(PASS, 0, 0, 0));
	len = TLS_HEAD + (size_t) (proxy.bytes[0][3] << 8 | proxy.bytes[0][4]);
	assert_true(len <= sizeof(begun));
	memcpy(begun, proxy.bytes[0], len);
	for (i = 0; i < STRANGERS; i++) {
		fd[i] = connect_to(&member.name);
		if (i % 4 == 2)		/* a byte is no handshake */
			assert_true(send(fd[i], begun, 1, MSG_NOSIGNAL) > 0 || errno == ECONNRESET || errno == EPIPE);
		if (i % 2)
			assert_true(send(fd[i], begun, len, MSG_NOSIGNAL) > 0 || errno == ECONNRESET || errno == EPIPE);
		poll_side(&member);
	}
	assert_true(attack(PASS, 0, 0, 0));
	bystander_goes_on();
	assert_true(standing(fd) <= source_limit());
	for (i = 0; i < STRANGERS; i++)
		close(fd[i]);
}

/* A connection that was led to another holder of the key is refused. */
static void a_connection_is_led_elsewhere(void **state)
{
	struct side s;

	logged_len = 0;
	proxy.attack = (struct attack) { PASS, 0, 0, 0 };
	open_side(&s, getenv("LEVEL"), job_key);
	assert_false(attempt(&s, &proxy.name));
	assert_int_equal(s.err, FI_EACCES);
	assert_logged("means another address");
	close_side(&s);
	proxy_end();
	bystander_goes_on();
}

/* ---- processes ------------------------------------------------------------------------ */

static int begin(void **state)
{
	const char *level = getenv("LEVEL");
	size_t i;

	for (i = 0; i < sizeof(message); i++)
		message[i] = (uint8_t) (0x41 + i);
	memset(job_key, 0xa1, sizeof(job_key));
	memset(other_key, 0xb2, sizeof(other_key));
	proxy.listener = listen_at(&proxy.name);
	CALL(fi_import_log(FI_VERSION(2, 0), 0, &log_fid));
	open_side(&member, level, job_key);
	open_side(&bystander, level, job_key);
	post_recv(&member);
	bystander_goes_on();
	return 0;
}

static int end(void **state)
{
	close_side(&bystander);
	close_side(&member);
	close(proxy.listener);
	return 0;
}

static int on_path(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_capture),
		cmocka_unit_test(bits_are_flipped),
		cmocka_unit_test(streams_are_cut),
		cmocka_unit_test(records_are_moved),
		cmocka_unit_test(bytes_are_reflected),
		cmocka_unit_test(a_connection_is_replayed),
		cmocka_unit_test(others_are_refused),
		cmocka_unit_test(a_plain_member_is_not_used),
		cmocka_unit_test(strangers_speak),
		cmocka_unit_test(strangers_crowd),
	};

	setenv("FI_TCP_FIREWALL_ADDR", "1", 1);
	return cmocka_run_group_tests(tests, begin, end);
}

static int led(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_connection_is_led_elsewhere),
	};

	return cmocka_run_group_tests(tests, begin, end);
}

/* in_child - the library reads some variables once. */
static int in_child(int (*run)(void), const char *prov, const char *level)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid) {
		printf("# %s, %s\n", prov, level);
		setenv("PROV", prov, 1);
		setenv("LEVEL", level, 1);
		exit(run() ? 1 : 0);
	}
	return pid < 0 || waitpid(pid, &status, 0) != pid || status;
}

int main(void)
{
	static const char *const provs[] = {
		"tcp",
#if HAVE_RXM
		"tcp;ofi_rxm",
#endif
	};
	int failed = 0;
	size_t i;

	setvbuf(stdout, NULL, _IONBF, 0);
	setenv("FI_LOG_INTERVAL", "1", 1);
	unsetenv("FI_AUTH_KEY_FILE");
	setenv("FI_TCP_LOCAL", "0", 1);		/* shared memory: prov/shm/proof_test.c */
	setenv("FI_OFI_RXM_LOCAL", "0", 1);
	for (i = 0; i < sizeof(provs) / sizeof(provs[0]); i++)
		failed += in_child(on_path, provs[i], "encrypt") + in_child(on_path, provs[i], "auth") +
			  in_child(led, provs[i], "encrypt") + in_child(led, provs[i], "auth");
	return failed ? 1 : 0;
}
