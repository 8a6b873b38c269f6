/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Two handshakes, and an attacker on the path between them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "secure/handshake.h"

#define FLIGHT_MAX 4096
#define FLIGHTS 8

static struct sec_keys job, other, both;

struct world {
	struct sec_shake_attr attr[2];		/* client, server */
	struct sec_shake *shake[2];
	size_t chunk;				/* bytes at once; 0: all */
	int flight, alter_flight;		/* the flight that is altered; -1: none */
	size_t alter_at;			/* byte of it */
	uint8_t bytes[FLIGHTS][FLIGHT_MAX];	/* what was said, as it was sent */
	size_t len[FLIGHTS];
};

static void make_keys(struct sec_keys *keys, uint8_t first, unsigned cnt)
{
	uint8_t file[SEC_KEYS_MAX * SEC_KEY_RECORD_SIZE];
	unsigned i;

	for (i = 0; i < cnt; i++) {
		memcpy(file + i * SEC_KEY_RECORD_SIZE, SEC_KEY_HEAD, SEC_KEY_HEAD_SIZE);
		memset(file + i * SEC_KEY_RECORD_SIZE + SEC_KEY_HEAD_SIZE, first - (int) i, SEC_KEY_SIZE);
	}
	assert_null(sec_keys_parse(keys, file, cnt * SEC_KEY_RECORD_SIZE));
}

static struct world *new_world(void)
{
	struct world *w = calloc(1, sizeof(*w));
	int i;

	assert_non_null(w);
	for (i = 0; i < 2; i++) {
		w->attr[i] = (struct sec_shake_attr) { .server = i, .keys = &job, .level = SEC_ENCRYPT,
						       .version = 3, .oldest = 2 };
		memset(w->attr[i].id, 1 + i, sizeof(w->attr[i].id));
	}
	w->alter_flight = -1;
	return w;
}

static void begin(struct world *w)
{
	int i;

	for (i = 0; i < 2; i++)
		assert_int_equal(sec_shake_open(&w->attr[i], &w->shake[i]), 0);
}

static void feed(struct world *w, struct sec_shake *to, const uint8_t *buf, size_t len)
{
	size_t at, part;

	for (at = 0; at < len; at += part) {
		part = w->chunk && w->chunk < len - at ? w->chunk : len - at;
		sec_shake_feed(to, buf + at, part);
	}
}

/* Carry one flight.  False: nothing to say. */
static bool carry(struct world *w, int from)
{
	uint8_t *buf = w->bytes[w->flight];
	size_t len = sec_shake_take(w->shake[from], buf, FLIGHT_MAX);

	if (!len)
		return false;
	assert_true(len < FLIGHT_MAX && w->flight < FLIGHTS - 1);
	w->len[w->flight] = len;
	if (w->flight == w->alter_flight && w->alter_at < len)
		buf[w->alter_at] ^= 0x20;
	feed(w, w->shake[1 - from], buf, len);
	w->flight++;
	return true;
}

static void run(struct world *w)
{
	bool said;

	do {
		said = carry(w, 0);
		said = carry(w, 1) || said;
	} while (said);
}

static bool both_done(const struct world *w)
{
	return sec_shake_state(w->shake[0]) == SEC_SHAKE_DONE && sec_shake_state(w->shake[1]) == SEC_SHAKE_DONE;
}

static void end(struct world *w)
{
	sec_shake_close(w->shake[0]);
	sec_shake_close(w->shake[1]);
	free(w);
}

static void agree(struct world *w)
{
	uint8_t secret[2][SEC_HASH_SIZE];
	int i;

	for (i = 0; i < 2; i++)
		assert_true(sec_shake_export(w->shake[i], secret[i]));
	assert_memory_equal(secret[0], secret[1], SEC_HASH_SIZE);
}

static void accepted(void **state)
{
	static const size_t chunks[] = { 0, 1, 7, 100 };
	uint8_t secret[2][SEC_HASH_SIZE];
	struct world *w;
	size_t i;

	for (i = 0; i < sizeof(chunks) / sizeof(*chunks); i++) {
		w = new_world();
		w->chunk = chunks[i];
		begin(w);
		run(w);
		assert_true(both_done(w));
		agree(w);
		assert_memory_equal(sec_shake_context(w->shake[1])->client, w->attr[0].id, 16);
		assert_true(sec_shake_export(w->shake[0], secret[i % 2]));
		if (i)
			assert_memory_not_equal(secret[0], secret[1], SEC_HASH_SIZE);
		end(w);
	}
}

/* The three steps of an exchange of keys: processes that are one step apart accept each other. */
static void rotation(void **state)
{
	struct sec_keys turned = both;
	const struct sec_keys *steps[] = { &job, &both, &turned, &other };
	struct world *w;
	int i;

	turned.key[0] = both.key[1];
	turned.key[1] = both.key[0];
	for (i = 0; i < 6; i++) {
		w = new_world();
		w->attr[i % 2].keys = steps[i / 2];
		w->attr[1 - i % 2].keys = steps[i / 2 + 1];
		begin(w);
		run(w);
		assert_true(both_done(w));
		agree(w);
		end(w);
	}
}

static void refused(struct world *w, const char *reason)
{
	begin(w);
	run(w);
	assert_int_equal(sec_shake_state(w->shake[1]), SEC_SHAKE_FAILED);
	assert_int_equal(sec_shake_state(w->shake[0]), SEC_SHAKE_FAILED);
	if (!strstr(sec_shake_why(w->shake[1]), reason))
		fail_msg("\"%s\" does not say \"%s\"", sec_shake_why(w->shake[1]), reason);
}

/* A key that is unknown and one that is wrong get the same answer. */
static void wrong_keys(void **state)
{
	struct sec_keys forged = job;
	struct world *unknown = new_world(), *wrong = new_world();

	unknown->attr[0].keys = &other;
	refused(unknown, "none of ours");
	forged.key[0].bytes[0] ^= 1;
	wrong->attr[0].keys = &forged;
	refused(wrong, "does not have the key");
	assert_int_equal(unknown->len[1], wrong->len[1]);
	assert_memory_equal(unknown->bytes[1], wrong->bytes[1], wrong->len[1]);
	end(unknown);
	end(wrong);
}

static void other_contexts(void **state)
{
	struct world *w = new_world();

	w->attr[0].level = SEC_AUTH;
	refused(w, "level");
	end(w);
	w = new_world();
	w->attr[0].version = w->attr[0].oldest = 1;
	refused(w, "wire version");
	end(w);
	w = new_world();
	w->attr[0].oldest = w->attr[0].version = 4;
	refused(w, "wire version");
	end(w);
	w = new_world();
	memcpy(w->attr[0].id, w->attr[1].id, sizeof(w->attr[0].id));
	refused(w, "our own");
	end(w);
}

/* A bit of any byte of any flight: not both accept, but for the version in the head of a flight's first
 * record, which RFC 8446 has ignored.
 */
static void altered(void **state)
{
	size_t at, lens[3];
	struct world *w = new_world();
	int flight;

	begin(w);
	run(w);
	for (flight = 0; flight < 3; flight++)
		lens[flight] = w->len[flight];
	end(w);
	for (flight = 0; flight < 3; flight++)
		for (at = 0; at < lens[flight]; at++) {
			w = new_world();
			w->alter_flight = flight;
			w->alter_at = at;
			begin(w);
			run(w);
			if (both_done(w)) {
				agree(w);
				assert_true(at == 1 || at == 2);
			}
			end(w);
		}
}

/* Messages of one handshake in another: of the same keys, later. */
static void replayed(void **state)
{
	struct world *old = new_world(), *w = new_world();

	begin(old);
	run(old);
	assert_true(both_done(old));
	begin(w);
	/* The old client's first message gets an answer, its last does not fit. */
	feed(w, w->shake[1], old->bytes[0], old->len[0]);
	assert_int_equal(sec_shake_state(w->shake[1]), SEC_SHAKE_RUNNING);
	feed(w, w->shake[1], old->bytes[2], old->len[2]);
	assert_int_equal(sec_shake_state(w->shake[1]), SEC_SHAKE_FAILED);
	/* The old server's answer does not fit the new client. */
	feed(w, w->shake[0], old->bytes[1], old->len[1]);
	assert_int_equal(sec_shake_state(w->shake[0]), SEC_SHAKE_FAILED);
	end(old);
	end(w);
}

/* The client's own messages sent back, in either role. */
static void reflected(void **state)
{
	struct world *w = new_world();
	uint8_t buf[FLIGHT_MAX];
	size_t len;

	memcpy(w->attr[1].id, w->attr[0].id, sizeof(w->attr[1].id));	/* one endpoint that does both */
	begin(w);
	len = sec_shake_take(w->shake[0], buf, sizeof(buf));
	feed(w, w->shake[0], buf, len);
	assert_int_equal(sec_shake_state(w->shake[0]), SEC_SHAKE_FAILED);
	feed(w, w->shake[1], buf, len);
	assert_int_equal(sec_shake_state(w->shake[1]), SEC_SHAKE_FAILED);
	assert_non_null(strstr(sec_shake_why(w->shake[1]), "our own"));
	end(w);
}

/* It connects to itself, by an address that it does not know as its own. */
static void to_self(void **state)
{
	struct world *w = new_world();

	memcpy(w->attr[1].id, w->attr[0].id, sizeof(w->attr[1].id));
	memset(w->attr[0].to, 7, sizeof(w->attr[0].to));
	memset(w->attr[1].to, 7, sizeof(w->attr[1].to));
	begin(w);
	run(w);
	agree(w);
	end(w);
}

static void garbage(void **state)
{
	uint8_t buf[1024];
	struct world *w;
	int i, round;

	srand(1);
	for (round = 0; round < 200; round++) {
		w = new_world();
		begin(w);
		for (i = 0; i < 40; i++) {
			for (size_t k = 0; k < sizeof(buf); k++)
				buf[k] = (uint8_t) rand();
			feed(w, w->shake[round % 2], buf, 1 + (size_t) rand() % sizeof(buf));
		}
		assert_int_equal(sec_shake_state(w->shake[round % 2]), SEC_SHAKE_FAILED);
		end(w);
	}
	/* The head of a long record, and then little at a time: bounded. */
	w = new_world();
	begin(w);
	memset(buf, 0, sizeof(buf));
	memcpy(buf, "\x16\x03\x01\x40\x00\x01\x00\x3f\xfc", 9);
	for (i = 0; i < 20; i++) {
		feed(w, w->shake[1], buf, sizeof(buf));
		memset(buf, 0, sizeof(buf));
	}
	assert_int_equal(sec_shake_state(w->shake[1]), SEC_SHAKE_FAILED);
	end(w);
}

/* Bytes behind the last message are not taken for a part of what follows. */
static void behind(void **state)
{
	struct world *w = new_world();
	uint8_t buf[FLIGHT_MAX];
	size_t len;

	begin(w);
	carry(w, 0);
	carry(w, 1);
	len = sec_shake_take(w->shake[0], buf, sizeof(buf) - 1);
	buf[len] = 0x17;
	assert_int_equal(sec_shake_feed(w->shake[1], buf, len + 1), SEC_SHAKE_FAILED);
	end(w);
}

/* What the system's configuration of OpenSSL has does not make the first flight longer than a datagram may have of it,
 * nor leave out the Diffie-Hellman exchange.
 */
static void configured(void **state)
{
	struct world *w = new_world();
	const uint8_t *modes;

	begin(w);
	run(w);
	agree(w);
	assert_true(w->len[0] <= 512);
	modes = memmem(w->bytes[0], w->len[0], "\x00\x2d", 2);	/* psk_key_exchange_modes: psk_dhe_ke alone */
	assert_non_null(modes);
	assert_memory_equal(modes, "\x00\x2d\x00\x02\x01\x01", 6);
	end(w);
}

static void by_configuration(void **state)
{
	char path[] = "/tmp/handshake_test.XXXXXX", command[PATH_MAX + 64], self[PATH_MAX];
	static const char text[] = "openssl_conf = all\n[all]\nssl_conf = ssl\n[ssl]\nsystem_default = ours\n[ours]\n"
		"Groups = ffdhe4096:X25519\nOptions = AllowNoDHEKEX\nMaxProtocol = TLSv1.2\n";
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int fd = mkstemp(path);

	assert_true(len > 0 && fd >= 0);
	self[len] = '\0';
	assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	close(fd);
	snprintf(command, sizeof(command), "OPENSSL_CONF=%s '%s' configured", path, self);
	assert_int_equal(system(command), 0);
	unlink(path);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest child[] = { cmocka_unit_test(configured) };
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepted),
		cmocka_unit_test(rotation),
		cmocka_unit_test(wrong_keys),
		cmocka_unit_test(other_contexts),
		cmocka_unit_test(altered),
		cmocka_unit_test(replayed),
		cmocka_unit_test(reflected),
		cmocka_unit_test(to_self),
		cmocka_unit_test(garbage),
		cmocka_unit_test(behind),
		cmocka_unit_test(configured),
		cmocka_unit_test(by_configuration),
	};
	const char *why;

	if (!sec_shake_ready(&why)) {
		printf("skipped: %s\n", why);
		return 77;
	}
	make_keys(&job, 0x10, 1);
	make_keys(&both, 0x10, 2);
	make_keys(&other, 0x0f, 1);
	if (argc > 1 && !strcmp(argv[1], "configured"))
		return cmocka_run_group_tests(child, NULL, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
