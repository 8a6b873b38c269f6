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
		.version = chan_version_ours(SHM_VERSION, SHM_OLDEST),
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
	shake.bell = SHM_BELLS;
	assert_int_equal(check(shake), 0);
	REJECTS(SHM_REQUEST, magic, SHM_MAGIC + 1);
	REJECTS(SHM_REQUEST, type, 0);
	REJECTS(SHM_REQUEST, type, SHM_REFUSE + 1);
	REJECTS(SHM_REQUEST, bell, SHM_BELLS + 1);
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
	shake.version.link_oldest++;
	shake.type = 99;
	assert_int_equal(check(shake), -FI_ENOPROTOOPT);
	assert_int_equal(shm_handshake_check(&shake, 8), -FI_ENOPROTOOPT);
	assert_int_equal(shm_handshake_check(&shake, 7), -FI_EPROTO);
	shake = valid(SHM_REQUEST);
	shake.version.engine = --shake.version.engine_oldest;
	assert_int_equal(check(shake), -FI_ENOPROTOOPT);
}

static void descriptors_pass_with_it(void **state)
{
	struct shm_handshake shake = valid(SHM_REQUEST), got;
	struct shm_fds fds = SHM_NO_FDS;
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	assert_int_equal(shm_handshake_recv(pair[1], &got, &fds), -FI_EAGAIN);
	assert_int_equal(shm_handshake_send(pair[0], &shake, (struct shm_fds) { pair[0], -1 }), 0);
	assert_int_equal(shm_handshake_recv(pair[1], &got, &fds), 0);
	assert_true(fds.seg >= 0 && fcntl(fds.seg, F_GETFD) == FD_CLOEXEC && fds.bells == -1);
	assert_memory_equal(&got, &shake, sizeof(got));
	shm_fds_close(&fds);
	assert_int_equal(fds.seg, -1);
	shake.bell = 1;
	assert_int_equal(shm_handshake_send(pair[0], &shake, (struct shm_fds) { pair[0], pair[1] }), 0);
	assert_int_equal(shm_handshake_recv(pair[1], &got, &fds), 0);
	assert_true(fds.seg >= 0 && fds.bells >= 0 && fcntl(fds.bells, F_GETFD) == FD_CLOEXEC);
	shm_fds_close(&fds);
	assert_int_equal(shm_handshake_confirmed(pair[1]), -FI_EAGAIN);
	assert_int_equal(shm_handshake_confirm(pair[0]), 0);
	assert_int_equal(shm_handshake_confirmed(pair[1]), 0);
	close(pair[0]);
	assert_int_equal(shm_handshake_confirmed(pair[1]), -FI_ECONNRESET);
	close(pair[1]);
}

/* None comes with a message that is rejected, for its own fields or for what came with it. */
static void descriptors_that_do_not_belong_are_closed(void **state)
{
	static const struct {
		uint32_t bell, seg_less;
		bool seg, bells;
	} cases[] = {
		{ 1, 0, true, false }, { 0, 0, true, true }, { 0, 1, true, false }, { 0, 1, true, true },
	};
	struct shm_handshake shake, got;
	struct shm_fds fds;
	int pair[2], lowest, next;
	size_t i;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	lowest = dup(pair[0]);
	close(lowest);
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		shake = valid(SHM_REQUEST);
		shake.bell = cases[i].bell;
		shake.seg_size -= cases[i].seg_less;
		fds = (struct shm_fds) { cases[i].seg ? pair[0] : -1, cases[i].bells ? pair[1] : -1 };
		assert_int_equal(shm_handshake_send(pair[0], &shake, fds), 0);
		assert_int_equal(shm_handshake_recv(pair[1], &got, &fds), -FI_EPROTO);
		assert_true(fds.seg == -1 && fds.bells == -1);
		next = dup(pair[0]);
		assert_int_equal(next, lowest);
		close(next);
	}
	close(pair[0]);
	close(pair[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_type_is_accepted),
		cmocka_unit_test(impossible_fields_are_rejected),
		cmocka_unit_test(every_shorter_message_is_rejected),
		cmocka_unit_test(another_version_is_told_apart),
		cmocka_unit_test(descriptors_pass_with_it),
		cmocka_unit_test(descriptors_that_do_not_belong_are_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
