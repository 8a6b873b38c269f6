/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Handshakes with certificates, of a CA that is made here: who is accepted, who is not, and what the log would say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "secure/cert.h"
#include "secure/handshake.h"

static char dir[] = "/tmp/cert_test.XXXXXX";
static const uint8_t here[SEC_TO_SIZE] = { [10] = 0xff, 0xff, 127, 0, 0, 1, 0x12, 0x34 };

/* One side: the name of its certificate, and what it asks for. */
struct side {
	const char *name;
	const char *ca;			/* NULL: ca */
	bool crl;
	const char *peers;
	enum sec_level level;		/* SEC_NONE: encrypt */
	uint8_t version, oldest;	/* 0: 3, 2 */
};

static const char *path_of(const char *name, const char *ext)
{
	static char paths[8][128];
	static unsigned at;
	char *path = paths[at++ % 8];

	snprintf(path, sizeof(paths[0]), "%s/%s.%s", dir, name, ext);
	return path;
}

static struct sec_cert_files files_of(const struct side *side)
{
	return (struct sec_cert_files) {
		.cert = path_of(side->name, "pem"), .key = path_of(side->name, "key"),
		.ca = path_of(side->ca ? side->ca : "ca", "pem"),
		.crl = side->crl ? path_of("crl", "pem") : NULL, .peers = side->peers,
	};
}

static struct sec_shake *open_shake(const struct side *side, bool server, struct sec_certs **certs_p)
{
	struct sec_shake_attr attr = {
		.server = server, .level = side->level ? side->level : SEC_ENCRYPT,
		.version = side->version ? side->version : 3, .oldest = side->oldest ? side->oldest : 2,
	};
	struct sec_cert_files files = files_of(side);
	struct sec_shake *shake;
	char why[256] = "";

	if (sec_certs_open(&files, certs_p, why, sizeof(why)))
		fail_msg("%s", why);
	attr.certs = *certs_p;
	memcpy(attr.to, here, sizeof(attr.to));
	assert_int_equal(sec_shake_open(&attr, &shake), 0);
	return shake;
}

static bool carry(struct sec_shake *from, struct sec_shake *to)
{
	uint8_t buf[SEC_SHAKE_IN_MAX];
	size_t len = sec_shake_take(from, buf, sizeof(buf));

	if (len)
		sec_shake_feed(to, buf, len);
	return len != 0;
}

static bool carry_both(struct sec_shake *shakes[2])
{
	bool there = carry(shakes[0], shakes[1]);

	return carry(shakes[1], shakes[0]) || there;
}

/* shake - @reason: NULL: both accept one another, and export one secret; else why @refuses does not. */
static void shake(const struct side sides[2], int refuses, const char *reason)
{
	struct sec_certs *certs[2];
	struct sec_shake *shakes[2];
	uint8_t secret[2][SEC_HASH_SIZE];
	int i;

	for (i = 0; i < 2; i++)
		shakes[i] = open_shake(&sides[i], i, &certs[i]);
	while (carry_both(shakes))
		;
	if (!reason) {
		for (i = 0; i < 2; i++) {
			if (sec_shake_state(shakes[i]) != SEC_SHAKE_DONE)
				fail_msg("side %d: %s", i, sec_shake_why(shakes[i]));
			assert_true(sec_shake_export(shakes[i], secret[i]));
		}
		assert_memory_equal(secret[0], secret[1], SEC_HASH_SIZE);
	} else {
		assert_int_equal(sec_shake_state(shakes[refuses]), SEC_SHAKE_FAILED);
		if (!strstr(sec_shake_why(shakes[refuses]), reason))
			fail_msg("\"%s\" has no \"%s\"", sec_shake_why(shakes[refuses]), reason);
		if (!refuses)	/* a server accepts nothing before the client has accepted it */
			assert_int_not_equal(sec_shake_state(shakes[1]), SEC_SHAKE_DONE);
	}
	for (i = 0; i < 2; i++) {
		sec_shake_close(shakes[i]);
		sec_certs_close(certs[i]);
	}
}

static void members_are_accepted(void **state)
{
	static const struct side cases[][2] = {
		{ { .name = "node" }, { .name = "node" } },
		{ { .name = "guest", .crl = true }, { .name = "node", .crl = true } },
		{ { .name = "client" }, { .name = "node" } },
		{ { .name = "far" }, { .name = "node" } },		/* its address is its user's to compare */
		{ { .name = "guest" }, { .name = "node", .peers = "x.example,*.JOB.example" } },
		{ { .name = "node" }, { .name = "node", .peers = "127.0.0.1" } },
		{ { .name = "node", .level = SEC_AUTH }, { .name = "node", .level = SEC_AUTH } },
		{ { .name = "node", .version = 4, .oldest = 3 }, { .name = "node" } },
		{ { .name = "node", .peers = "none.example" }, { .name = "node" } },	/* of clients alone */
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		shake(cases[i], 0, NULL);
}

static void others_are_refused(void **state)
{
	static const struct {
		struct side sides[2];
		int refuses;
		const char *reason;
	} cases[] = {
		{ { { .name = "node" }, { .name = "far" } }, 0, "IP address mismatch" },
		{ { { .name = "node" }, { .name = "foreign" } }, 0, "unable to get local issuer" },
		{ { { .name = "foreign", .ca = "ca" }, { .name = "node" } }, 1, "unable to get local issuer" },
		{ { { .name = "node" }, { .name = "old" } }, 0, "expired" },
		{ { { .name = "old" }, { .name = "node" } }, 1, "expired" },
		{ { { .name = "node" }, { .name = "client" } }, 0, "purpose" },
		{ { { .name = "node", .crl = true }, { .name = "revoked" } }, 0, "revoked" },
		{ { { .name = "revoked" }, { .name = "node", .crl = true } }, 1, "revoked" },
		{ { { .name = "guest" }, { .name = "node", .peers = "node.job.example,far.*" } }, 1, "FI_TLS_PEERS" },
		{ { { .name = "guest" }, { .name = "node", .peers = "" } }, 1, "FI_TLS_PEERS" },
		{ { { .name = "guest" }, { .name = "node", .peers = "guest" } }, 1, "FI_TLS_PEERS" },	/* no subjectAltName */
		{ { { .name = "node", .level = SEC_AUTH }, { .name = "node" } }, 1, "another level" },
		{ { { .name = "node" }, { .name = "node", .level = SEC_AUTH } }, 1, "another level" },
		{ { { .name = "node", .version = 1, .oldest = 1 }, { .name = "node" } }, 1, "wire version" },
		{ { { .name = "node", .version = 9, .oldest = 8 }, { .name = "node" } }, 1, "wire version" },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		shake(cases[i].sides, cases[i].refuses, cases[i].reason);
}

/* What is kept of a client's certificate: its addresses, and its names for the log. */
static void a_clients_certificate_is_kept(void **state)
{
	static const struct {
		const char *name, *text;
		bool is_here;
	} cases[] = {
		{ "node", "127.0.0.1, ::1, node.job.example", true },
		{ "far", "192.0.2.1, far.job.example", false },
		{ "named", "localhost", false },
		{ "odd", "odd?[2J.job.example", false },
	};
	struct sec_certs *certs[2];
	struct sec_shake *shakes[2];
	struct sec_peer_cert *peer;
	char text[128];
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		shakes[0] = open_shake(&(struct side) { .name = cases[i].name }, false, &certs[0]);
		shakes[1] = open_shake(&(struct side) { .name = "node" }, true, &certs[1]);
		while (carry_both(shakes))
			;
		peer = sec_shake_peer(shakes[1]);
		assert_non_null(peer);
		assert_int_equal(sec_peer_cert_is_at(peer, here), cases[i].is_here);
		sec_peer_cert_text(peer, text, sizeof(text));
		assert_string_equal(text, cases[i].text);
		sec_peer_cert_text(peer, text, 8);
		assert_memory_equal(text, cases[i].text, 7);
		assert_int_equal(text[7], 0);
		sec_peer_cert_free(peer);
		sec_shake_close(shakes[0]);
		sec_shake_close(shakes[1]);
		sec_certs_close(certs[0]);
		sec_certs_close(certs[1]);
	}
}

/* A side with a key and one with a certificate do not talk. */
static void keys_are_no_certificates(void **state)
{
	static const struct side node = { .name = "node" };
	static struct sec_keys keys;
	struct sec_shake_attr attr = { .keys = &keys, .level = SEC_ENCRYPT, .version = 3, .oldest = 2 };
	uint8_t key[32] = { 0xa1, 0xb2 };
	struct sec_certs *certs;
	struct sec_shake *shakes[2];
	int server;

	assert_null(sec_keys_parse(&keys, key, sizeof(key)));
	for (server = 0; server < 2; server++) {
		attr.server = !server;
		shakes[server] = open_shake(&node, server, &certs);
		assert_int_equal(sec_shake_open(&attr, &shakes[!server]), 0);
		while (carry_both(shakes))
			;
		assert_int_not_equal(sec_shake_state(shakes[0]), SEC_SHAKE_DONE);
		assert_int_not_equal(sec_shake_state(shakes[1]), SEC_SHAKE_DONE);
		sec_shake_close(shakes[0]);
		sec_shake_close(shakes[1]);
		sec_certs_close(certs);
	}
}

static void refuse_files(const struct sec_cert_files *files, const char *reason)
{
	struct sec_certs *certs = NULL;
	char why[256] = "";

	assert_int_equal(sec_certs_open(files, &certs, why, sizeof(why)), -FI_EACCES);
	assert_null(certs);
	if (!strstr(why, reason))
		fail_msg("\"%s\" has no \"%s\"", why, reason);
}

static void files_are_checked(void **state)
{
	static const struct side node = { .name = "node" };
	struct sec_cert_files good = files_of(&node), files;

	files = good;
	files.key = NULL;
	refuse_files(&files, "FI_TLS_KEY is refused: it is not set");
	files = good;
	files.ca = "/nonexistent";
	refuse_files(&files, "FI_TLS_CA=/nonexistent");
	files = good;
	files.ca = "";
	refuse_files(&files, "FI_TLS_CA=");
	files = good;
	files.cert = good.key;
	refuse_files(&files, "no certificate");
	files = good;
	files.key = path_of("guest", "key");
	refuse_files(&files, "not the key");
	files = good;
	files.crl = good.ca;
	refuse_files(&files, "revoked");
	assert_int_equal(chmod(good.key, 0640), 0);
	refuse_files(&good, "chmod 600");
	assert_int_equal(chmod(good.key, 0600), 0);
	assert_int_equal(chmod(good.ca, 0666), 0);
	refuse_files(&good, "chmod 644");
	assert_int_equal(chmod(good.ca, 0644), 0);
}

static int begin(void **state)
{
	const char *top = getenv("top_srcdir");
	char command[256];

	if (!mkdtemp(dir))
		return -1;
	snprintf(command, sizeof(command), "%s/tests/secure/make_certs %s", top ? top : ".", dir);
	return system(command);
}

static int end(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_are_accepted),
		cmocka_unit_test(others_are_refused),
		cmocka_unit_test(a_clients_certificate_is_kept),
		cmocka_unit_test(keys_are_no_certificates),
		cmocka_unit_test(files_are_checked),
	};
	const char *why;

	if (!sec_shake_ready(&why) || system("openssl version > /dev/null 2>&1"))
		return 77;
	return cmocka_run_group_tests(tests, begin, end);
}
