/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Names: keys of listening sockets, numbers of endpoints, and names of nodes and services. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <rdma/fi_errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "name.h"

static int key_of(const char *name, char key[SHM_KEY_MAX + 1])
{
	return shm_naming.key(name, strlen(name) + 1, key);
}

static void a_key_is_the_name_without_its_prefix(void **state)
{
	char key[SHM_KEY_MAX + 1];

	assert_int_equal(key_of("fi_shm://x:1:2", key), 0);
	assert_string_equal(key, "x:1:2");
	assert_int_equal(key_of("bare", key), 0);
	assert_string_equal(key, "bare");
	assert_int_equal(key_of("fi_ns://", key), -FI_EINVAL);
	assert_int_equal(key_of("", key), -FI_EINVAL);
}

static void untrusted_names_are_checked(void **state)
{
	char key[SHM_KEY_MAX + 1], name[SHM_ADDR_MAX + 1];

	memset(name, 'a', sizeof(name));
	assert_int_equal(shm_naming.key(name, 10, key), -FI_EINVAL);	/* no zero byte */
	name[4] = 0;
	assert_int_equal(shm_naming.key(name, 10, key), -FI_EINVAL);	/* one in the middle */
	assert_int_equal(shm_naming.key(name, 5, key), 0);
	name[4] = 'a';
	name[SHM_NAME_MAX - 1] = 0;
	assert_int_equal(shm_naming.key(name, SHM_NAME_MAX, key), 0);
	name[SHM_NAME_MAX - 1] = 'a';
	name[SHM_NAME_MAX] = 0;
	assert_int_equal(shm_naming.key(name, SHM_NAME_MAX + 1, key), -FI_EINVAL);
}

/* An endpoint without a name, or with a numbered one, may get the next number. */
static void numbered_names_go_on(void **state)
{
	char name[SHM_ADDR_MAX], want[SHM_NAME_MAX], numbered[SHM_NAME_MAX];
	size_t len;

	assert_int_equal(shm_name_number("fi_shm://x", 7, numbered), 0);
	assert_int_equal(shm_naming.own(numbered, strlen(numbered) + 1, 0, name, &len), 0);
	assert_string_equal(name, numbered);
	assert_int_equal(len, strlen(numbered) + 1);
	assert_int_equal(shm_naming.own(numbered, strlen(numbered) + 1, 2, name, &len), 0);
	assert_int_equal(shm_name_number("fi_shm://x", 9, want), 0);
	assert_string_equal(name, want);
	assert_int_equal(shm_naming.own(NULL, 0, 3, name, &len), 0);
	assert_int_equal(shm_name_make(NULL, NULL, numbered), 0);
	snprintf(want, sizeof(want), "%s:%u:3", numbered, geteuid());
	assert_string_equal(name, want);
}

/* name_in - the name that a process gives itself in new namespaces @flags, as process 1 or with the number
 * of this one.  False: it may not make them.
 */
static bool name_in(int flags, char name[SHM_NAME_MAX])
{
	int fds[2], status;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (!pid) {
		if (unshare(flags))
			_exit(77);
		if (flags & CLONE_NEWPID && (pid = fork()))
			_exit(pid < 0 || waitpid(pid, &status, 0) != pid || status);
		_exit(shm_name_make(NULL, NULL, name) ||
		      write(fds[1], name, SHM_NAME_MAX) != SHM_NAME_MAX);
	}
	close(fds[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!status)
		assert_int_equal(read(fds[0], name, SHM_NAME_MAX), SHM_NAME_MAX);
	close(fds[0]);
	return !status;
}

/* Two containers: the processes of both have the number 1, and neither sees the other's sockets. */
static void processes_of_other_namespaces_have_other_names(void **state)
{
	char a[SHM_NAME_MAX] = "", b[SHM_NAME_MAX] = "", own[SHM_NAME_MAX];

	assert_int_equal(shm_name_make(NULL, NULL, own), 0);
	assert_false(shm_name_is_foreign(own));
	assert_false(shm_name_is_foreign("fi_shm://node:0:1"));
	assert_false(shm_name_is_foreign("fi_ns://12.0000000f:1"));
	assert_true(shm_name_is_foreign("fi_shm://12.0000000f:0:1"));
	if (!name_in(CLONE_NEWPID | CLONE_NEWNET, a) || !name_in(CLONE_NEWPID | CLONE_NEWNET, b))
		skip();
	assert_int_equal(strncmp(a, "fi_shm://1.", 11), 0);
	assert_int_equal(strncmp(b, "fi_shm://1.", 11), 0);
	strcat(b, ":0:0");
	assert_true(shm_name_is_foreign(b));
	b[strlen(b) - 4] = 0;
	/* the second one may have got the namespaces' numbers of the first, which has ended */
	assert_string_not_equal(strchr(a, '.'), strchr(own, '.'));
	assert_true(name_in(CLONE_NEWNET, b));
	assert_string_not_equal(strchr(b, '.'), strchr(own, '.'));
}

static void a_chosen_name_is_the_only_one(void **state)
{
	char name[SHM_ADDR_MAX];
	size_t len;

	assert_int_equal(shm_naming.own("test://a", 9, 0, name, &len), 0);
	assert_string_equal(name, "test://a");
	assert_int_equal(shm_naming.own("test://a", 9, 1, name, &len), -FI_ENODATA);
	assert_true(shm_name_is_any("fi_shm://node"));
	assert_false(shm_name_is_any("test://node"));
	assert_int_equal(shm_name_number("fi_shm://node", 1, name), 0);
	assert_false(shm_name_is_any(name));
}

static void long_names_are_refused(void **state)
{
	char numbered[SHM_NAME_MAX];
	char name[SHM_NAME_MAX], node[SHM_NAME_MAX + 8];

	memset(node, 'n', sizeof(node));
	node[sizeof(node) - 1] = 0;
	assert_int_equal(shm_name_make(node, NULL, name), -FI_EINVAL);
	assert_int_equal(shm_name_number(node, 1, name), -FI_EINVAL);
	/* the longest one is taken, and so is one of 239 that stands for any endpoint */
	node[SHM_NAME_MAX - 1 - strlen("fi_shm://")] = 0;
	assert_int_equal(shm_name_make(node, NULL, name), 0);
	assert_int_equal(strlen(name), 239);
	assert_int_equal(shm_name_number(name, UINT32_MAX, numbered), 0);
	assert_int_equal(strlen(numbered) < SHM_NAME_MAX, 1);
	assert_string_equal(strrchr(numbered, ':'), ":4294967295");
	assert_false(shm_name_is_any(numbered));
	node[40] = 0;
	assert_int_equal(shm_name_make(node, "4711", name), 0);
	assert_int_equal(strlen(name), strlen("fi_ns://") + 40 + strlen(":4711"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_key_is_the_name_without_its_prefix),
		cmocka_unit_test(untrusted_names_are_checked),
		cmocka_unit_test(numbered_names_go_on),
		cmocka_unit_test(processes_of_other_namespaces_have_other_names),
		cmocka_unit_test(a_chosen_name_is_the_only_one),
		cmocka_unit_test(long_names_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
