/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * seal - what the cipher of protected connections takes by itself: MB/s of one processor that seals, and of one that
 * opens, records of the size that connections have.
 *
 *	seal [BYTES [LEVEL]]	bytes of plain data in all; encrypt or auth
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "secure/channel.h"

#define BATCH 32		/* records, sealed and then opened */

static uint8_t plain[SEC_RECORD_MAX], opened[SEC_RECORD_MAX];
static uint8_t sealed[BATCH][SEC_RECORD_MAX + SEC_RECORD_OVER];

static void fail(const char *what)
{
	fprintf(stderr, "seal: %s\n", what);
	exit(1);
}

int main(int argc, char **argv)
{
	static const uint8_t exported[SEC_HASH_SIZE] = { 1 };
	size_t total = argc > 1 ? strtoull(argv[1], NULL, 0) : 1u << 28, done, len;
	enum sec_level level = argc > 2 && !strcmp(argv[2], "auth") ? SEC_AUTH : SEC_ENCRYPT;
	struct iovec iov = { plain, sizeof(plain) };
	struct sec_channel client = { 0 }, server = { 0 };
	uint64_t seal_ns = 0, open_ns = 0, at;
	int i;

	if (!sec_crypto_get(NULL) || !sec_channel_open(&client, level, false, exported, 0) ||
	    !sec_channel_open(&server, level, true, exported, 0))
		fail("no cipher");
	for (done = 0; done < total; done += BATCH * sizeof(plain)) {
		at = clock_ns();
		for (i = 0; i < BATCH; i++)
			if (!sec_channel_seal(&client, SEC_RECORD_DATA, &iov, 1, sizeof(plain), sealed[i]))
				fail("a record is not sealed");
		seal_ns += clock_ns() - at;
		at = clock_ns();
		for (i = 0; i < BATCH; i++)
			if (sec_channel_take(&server, sealed[i], NULL, 0, opened, &len) != SEC_RECORD_DATA)
				fail("a record does not open");
		open_ns += clock_ns() - at;
	}
	printf("%.0f %.0f\n", (double) done * 1e3 / (double) seal_ns, (double) done * 1e3 / (double) open_ns);
	sec_channel_close(&client);
	sec_channel_close(&server);
	return 0;
}
