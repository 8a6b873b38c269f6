/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Operations that the compatible format does not have: each ends with an error and a line in the log. */
#include "rxm/compat/test/peer.h"

#include <rdma/fi_atomic.h>

static const char *log_file;

/* The log has got a line with @text; from then on it is another's. */
static void logged(const char *text)
{
	static long seen;
	char line[1000];
	FILE *file = fopen(log_file, "r");
	bool found = false;

	assert_non_null(file);
	fseek(file, seen, SEEK_SET);
	while (fgets(line, sizeof(line), file))
		found |= strstr(line, "which does not have ") && strstr(line, text);
	seen = ftell(file);
	fclose(file);
	if (!found)
		fail_msg("the log does not name %s", text);
}

static long send_msg(void *buf, size_t len, uint64_t flags)
{
	struct iovec iov = { buf, len };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .addr = us.peer };

	return (long) fi_sendmsg(us.ep, &msg, FI_COMPLETION | flags);
}

static long matched(void)
{
	return send_msg("abcd", 4, FI_MATCH_COMPLETE);
}

static long empty_delivered(void)
{
	return send_msg("", 0, FI_DELIVERY_COMPLETE);
}

static fi_addr_t context_of_peer(void)
{
	return fi_rx_addr(us.peer, 1, CTX_BITS);
}

static long context_send(void)
{
	return (long) fi_tsend(us.ep, "abcd", 4, NULL, context_of_peer(), 0xaabb, NULL);
}

static long context_read(void)
{
	return (long) fi_read(us.ep, us.memory, 8, NULL, context_of_peer(), 0, 7, NULL);
}

static long context_write(void)
{
	return (long) fi_write(us.ep, us.memory, 8, NULL, context_of_peer(), 0, 7, NULL);
}

static long context_atomic(void)
{
	static uint64_t operand = 1, old;

	return (long) fi_fetch_atomic(us.ep, &operand, 1, NULL, &old, NULL, context_of_peer(), 0x1000, 7,
				      FI_UINT64, FI_SUM, NULL);
}

/* What the peer cannot do ends with an error and a line in the log, at once, and what follows passes. */
static void unspoken(void **state)
{
	static const struct {
		long (*begin)(void);
		const char *what;	/* in the log; NULL: it is there already */
	} cannot[] = {
		{ matched, "FI_MATCH_COMPLETE" },
		{ empty_delivered, "FI_DELIVERY_COMPLETE of empty messages" },
		{ context_read, "named receive contexts" },
		{ context_write, NULL },
		{ context_atomic, NULL },
		{ context_send, NULL },
	};
	time_t until;
	size_t i;
	long ret;

	for (i = 0; i < sizeof(cannot) / sizeof(cannot[0]); i++) {
		they_connect();
		for (until = deadline(); (ret = cannot[i].begin()) == -FI_EAGAIN;)
			progress(until);
		OK(ret);
		assert_int_equal(failed_completion(), FI_EOPNOTSUPP);
		if (cannot[i].what)
			logged(cannot[i].what);
		OK(fi_send(us.ep, "abcd", 4, NULL, us.peer, NULL));
		they_get(EAGER, 4);
		completion();
		none();
		hang_up();
		peer.life++;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { T(unspoken) };
	char dir[] = "/tmp/peer_unsupported_test.XXXXXX", file[100];
	int ret;

	if (!mkdtemp(dir))
		return 1;
	snprintf(file, sizeof(file), "%s/log", dir);
	log_file = file;
	setenv("FI_LOG_LOCATION", file, 1);
	setenv("FI_LOG_LEVEL", "warn", 1);
	named_contexts = true;
	ret = cmocka_run_group_tests(tests, NULL, NULL);
	remove(file);
	rmdir(dir);
	return ret;
}
