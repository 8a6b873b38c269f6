/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Handshakes: what the check accepts and rejects, and how they pass a socket. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <fcntl.h>
#include <rdma/fi_errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "handshake.h"

static struct shm_handshake valid(uint32_t type)
{
	return (struct shm_handshake) {
		.magic = SHM_MAGIC,
		.version = chan_version_ours(SHM_VERSION),
		.type = type,
		.reason = type == SHM_REFUSE ? CHAN_BUSY : CHAN_OK,
		.seg_size = sizeof(struct shm_seg),
		.addr_len = 5,
		.to_len = 5,
	};
}

static int check(struct shm_handshake shake)
{
	return shm_handshake_check(&shake, sizeof(shake));
}

static void each_type_is_accepted(void **state)
{
	uint32_t type;

	for (type = SHM_REQUEST; type <= SHM_REFUSE; type++)
		assert_int_equal(check(valid(type)), 0);
}

/* A field at its bound is accepted, one beyond is not. */
#define REJECTS(shake_type, field, value)				\
	do {								\
		struct shm_handshake bad_ = valid(shake_type);		\
		bad_.field = (value);					\
		assert_int_equal(check(bad_), -FI_EPROTO);		\
	} while (0)

static void impossible_fields_are_rejected(void **state)
{
	struct shm_handshake shake = valid(SHM_REQUEST);

	shake.addr_len = shake.to_len = SHM_ADDR_MAX;
	assert_int_equal(check(shake), 0);
	REJECTS(SHM_REQUEST, magic, SHM_MAGIC + 1);
	REJECTS(SHM_REQUEST, type, 0);
	REJECTS(SHM_REQUEST, type, SHM_REFUSE + 1);
	REJECTS(SHM_REQUEST, zero, 1);
	REJECTS(SHM_REQUEST, addr_len, 0);
	REJECTS(SHM_REQUEST, addr_len, SHM_ADDR_MAX + 1);
	REJECTS(SHM_REQUEST, to_len, 0);
	REJECTS(SHM_REQUEST, to_len, SHM_ADDR_MAX + 1);
	REJECTS(SHM_REQUEST, seg_size, sizeof(struct shm_seg) - 1);
	REJECTS(SHM_ACCEPT, addr_len, 0);
	REJECTS(SHM_ACCEPT, seg_size, 0);
	REJECTS(SHM_REFUSE, reason, CHAN_OK);
}

static void every_shorter_message_is_rejected(void **state)
{
	struct shm_handshake shake = valid(SHM_ACCEPT);
	size_t len;

	for (len = 0; len < sizeof(shake); len++)
		assert_int_equal(shm_handshake_check(&shake, len), -FI_EPROTO);
}

/* The versions are read of any handshake that is long enough to have them. */
static void another_version_is_told_apart(void **state)
{
	struct shm_handshake shake = valid(SHM_REQUEST);

	shake.version.link++;
	shake.type = 99;
	assert_int_equal(check(shake), -FI_ENOPROTOOPT);
	assert_int_equal(shm_handshake_check(&shake, 8), -FI_ENOPROTOOPT);
	assert_int_equal(shm_handshake_check(&shake, 7), -FI_EPROTO);
	shake = valid(SHM_REQUEST);
	shake.version.engine--;
	assert_int_equal(check(shake), -FI_ENOPROTOOPT);
}

static void a_descriptor_passes_with_it(void **state)
{
	struct shm_handshake shake = valid(SHM_REQUEST), got;
	int pair[2], seg_fd = -1, extra = -1;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	assert_int_equal(shm_handshake_recv(pair[1], &got, &seg_fd), -FI_EAGAIN);
	assert_int_equal(shm_handshake_send(pair[0], &shake, pair[0]), 0);
	assert_int_equal(shm_handshake_recv(pair[1], &got, &seg_fd), 0);
	assert_true(seg_fd >= 0 && fcntl(seg_fd, F_GETFD) == FD_CLOEXEC);
	assert_memory_equal(&got, &shake, sizeof(got));
	close(seg_fd);
	/* none comes with a message that is rejected */
	shake.zero = 1;
	assert_int_equal(shm_handshake_send(pair[0], &shake, pair[0]), 0);
	assert_int_equal(shm_handshake_recv(pair[1], &got, &extra), -FI_EPROTO);
	assert_int_equal(extra, -1);
	assert_int_equal(shm_handshake_confirmed(pair[1]), -FI_EAGAIN);
	assert_int_equal(shm_handshake_confirm(pair[0]), 0);
	assert_int_equal(shm_handshake_confirmed(pair[1]), 0);
	close(pair[0]);
	assert_int_equal(shm_handshake_confirmed(pair[1]), -FI_ECONNRESET);
	close(pair[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_type_is_accepted),
		cmocka_unit_test(impossible_fields_are_rejected),
		cmocka_unit_test(every_shorter_message_is_rejected),
		cmocka_unit_test(another_version_is_told_apart),
		cmocka_unit_test(a_descriptor_passes_with_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
