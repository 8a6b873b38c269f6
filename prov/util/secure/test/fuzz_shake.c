/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * fuzz_shake - libFuzzer target: an attacker on the path alters, cuts and repeats what a client and a server of a handshake
 * say to each other, with a key or with certificates (and with them the application protocol).
 *
 * The input is a list of changes, of four bytes each: which flight and how, where (two bytes), and the bits.  Where both
 * ends are done they share a secret that no change has reached.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "secure/cert.h"
#include "secure/handshake.h"

#define FLIGHTS 6
#define CHANGE_SIZE 4
#define ROOM (2 * SEC_SHAKE_IN_MAX)

enum how { ALTER, CUT, TWICE, INSERT, HOWS };

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct sec_keys keys;
static struct sec_certs *certs;

static void make_certs(void)
{
	char dir[] = "/tmp/fuzz_shake.XXXXXX", cmd[512], cert[64], key[64], why[512];
	struct sec_cert_files files = { .cert = cert, .key = key, .ca = cert };

	if (!mkdtemp(dir))
		abort();
	snprintf(cert, sizeof(cert), "%s/cert", dir);
	snprintf(key, sizeof(key), "%s/key", dir);
	snprintf(cmd, sizeof(cmd), "umask 077; openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes "
		 "-subj /CN=fuzz -addext subjectAltName=IP:127.0.0.1 -days 9 -keyout %s -out %s 2> /dev/null", key, cert);
	if (system(cmd) || sec_certs_open(&files, &certs, why, sizeof(why))) {
		fprintf(stderr, "fuzz_shake: no certificates\n");
		exit(77);
	}
	unlink(cert);
	unlink(key);
	rmdir(dir);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static const uint8_t key[SEC_KEY_SIZE] = { 0x80 };
	const char *why;

	if (!sec_shake_ready(&why) || sec_keys_parse(&keys, key, sizeof(key)))
		abort();
	make_certs();
	return 0;
}

static struct sec_shake *open_end(bool server, bool by_cert)
{
	struct sec_shake_attr attr = { .server = server, .keys = &keys, .certs = by_cert ? certs : NULL, .level = SEC_AUTH,
				       .version = 4, .oldest = 4, .id = { server }, .to = { [10] = 0xff, 0xff, 127, 0, 0, 1 } };
	struct sec_shake *shake;

	if (sec_shake_open(&attr, &shake))
		abort();
	return shake;
}

/* change - @buf has @len bytes and room for as many again, and 64.  Returns how many there are then. */
static size_t change(const uint8_t *step, uint8_t *buf, size_t len)
{
	size_t at = len ? (step[1] | (size_t) step[2] << 8) % len : 0;

	if (!len)
		return 0;
	switch (step[0] / FLIGHTS % HOWS) {
	case ALTER:
		buf[at] ^= step[3];
		return len;
	case CUT:
		return at;
	case TWICE:
		memcpy(buf + len, buf, at);
		return len + at;
	default:
		memmove(buf + at + 1, buf + at, len - at);
		buf[at] = step[3];
		return len + 1;
	}
}

/* hand_on - what @from says, changed, to @to.  False: it has nothing to say. */
static bool hand_on(struct sec_shake *from, struct sec_shake *to, unsigned flight, const uint8_t *data, size_t size)
{
	static uint8_t buf[2 * ROOM + 64];
	size_t len = sec_shake_take(from, buf, SEC_SHAKE_IN_MAX);
	bool spoke = len > 0;

	for (; size >= CHANGE_SIZE; data += CHANGE_SIZE, size -= CHANGE_SIZE)
		if (data[0] % FLIGHTS == flight && len <= SEC_SHAKE_IN_MAX)
			len = change(data, buf, len);
	if (len)
		sec_shake_feed(to, buf, len);
	return spoke;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t secret[2][SEC_HASH_SIZE];
	struct sec_shake *end[2];
	unsigned flight;
	int i;

	if (!size)
		return 0;
	for (i = 0; i < 2; i++)
		end[i] = open_end(i, data[0] & 1);
	for (flight = 0; flight < FLIGHTS; flight++)
		if (!hand_on(end[flight % 2], end[!(flight % 2)], flight, data + 1, size - 1))
			break;
	if (sec_shake_state(end[0]) == SEC_SHAKE_DONE && sec_shake_state(end[1]) == SEC_SHAKE_DONE) {
		for (i = 0; i < 2; i++)
			if (!sec_shake_export(end[i], secret[i]))
				abort();
		if (memcmp(secret[0], secret[1], SEC_HASH_SIZE))
			abort();
	} else if (size < 1 + CHANGE_SIZE) {
		abort();	/* nothing was changed */
	}
	for (i = 0; i < 2; i++)
		sec_shake_close(end[i]);
	return 0;
}
