/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* What each form promises; ./check --portable runs it over the POSIX ones. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/os/alarm.h"
#include "base/os/barrier.h"
#include "base/os/event.h"
#include "base/os/memory.h"
#include "base/os/process.h"
#include "base/os/word.h"

#define LATE_NS (2 * CLOCK_NS_PER_S)	/* of a busy machine */

static bool readable(int fd, int ms)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	return poll(&pfd, 1, ms) == 1 && pfd.revents & POLLIN;
}

/* ---- events ---------------------------------------------------------------------------- */

static void test_event(void **state)
{
	struct os_event ev;
	int i;

	assert_int_equal(os_event_open(&ev), 0);
	assert_true(fcntl(ev.fd, F_GETFD) & FD_CLOEXEC);
	assert_false(readable(ev.fd, 0));
	assert_false(os_event_clear(&ev));
	for (i = 0; i < 200000; i++)	/* more than a pipe holds */
		os_event_signal(&ev);
	assert_true(readable(ev.fd, 0));
	assert_true(os_event_clear(&ev));
	assert_false(readable(ev.fd, 0));
	os_event_signal(&ev);
	assert_true(readable(ev.fd, 0));
	os_event_close(&ev);
	assert_int_equal(ev.fd, -1);
	os_event_close(&ev);
}

static void *signal_event(void *arg)
{
	os_event_signal(arg);
	return NULL;
}

static void test_event_thread(void **state)
{
	pthread_t thread;
	struct os_event ev;

	assert_int_equal(os_event_open(&ev), 0);
	pthread_create(&thread, NULL, signal_event, &ev);
	assert_true(readable(ev.fd, 10000));
	pthread_join(thread, NULL);
	os_event_close(&ev);
}

/* ---- alarms ---------------------------------------------------------------------------- */

static void test_alarm(void **state)
{
	uint64_t at = clock_ns() + 20 * CLOCK_NS_PER_MS, now;
	struct os_alarm alarm, other;

	assert_int_equal(os_alarm_open(&alarm), 0);
	assert_int_equal(os_alarm_open(&other), 0);
	assert_false(readable(alarm.event.fd, 0));
	os_alarm_set(&alarm, at);
	os_alarm_set(&other, at + 3600 * CLOCK_NS_PER_S);
	assert_true(readable(alarm.event.fd, 10000));
	now = clock_ns();
	assert_true(now >= at && now < at + LATE_NS);
	assert_true(readable(alarm.event.fd, 0));	/* and stays so */
	assert_false(readable(other.event.fd, 0));
	os_alarm_set(&alarm, UINT64_MAX);
	assert_false(readable(alarm.event.fd, 0));
	os_alarm_set(&alarm, 0);
	assert_true(readable(alarm.event.fd, 10000));
	os_alarm_set(&alarm, clock_ns() + 3600 * CLOCK_NS_PER_S);
	assert_false(readable(alarm.event.fd, 0));
	os_alarm_set(&other, clock_ns() + CLOCK_NS_PER_MS);	/* sooner than before */
	assert_true(readable(other.event.fd, 10000));
	assert_false(readable(alarm.event.fd, 0));
	os_alarm_close(&alarm);
	os_alarm_close(&other);
	os_alarm_close(&other);
}

/* A child closes what it has inherited, and has alarms of its own. */
static void test_alarm_fork(void **state)
{
	struct os_alarm alarm, own;
	int status;
	pid_t pid;

	assert_int_equal(os_alarm_open(&alarm), 0);
	os_alarm_set(&alarm, clock_ns() + 3600 * CLOCK_NS_PER_S);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		alarm.event.fd >= 0 ? os_alarm_close(&alarm) : abort();
		if (os_alarm_open(&own))
			_exit(2);
		os_alarm_set(&own, clock_ns() + CLOCK_NS_PER_MS);
		_exit(!readable(own.event.fd, 10000));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	os_alarm_set(&alarm, 1);
	assert_true(readable(alarm.event.fd, 10000));
	os_alarm_close(&alarm);
}

/* ---- words ----------------------------------------------------------------------------- */

static unsigned word;

static void *wait_for_word(void *arg)
{
	while (!__atomic_load_n(&word, __ATOMIC_ACQUIRE))
		os_word_wait(&word, 0);
	return NULL;
}

static void test_word(void **state)
{
	pthread_t thread;
	int i;

	os_word_wait(&word, 1);		/* it is 0: returns at once */
	for (i = 0; i < 200; i++) {
		__atomic_store_n(&word, 0, __ATOMIC_RELAXED);
		pthread_create(&thread, NULL, wait_for_word, NULL);
		if (i % 2)
			usleep(100);
		__atomic_store_n(&word, 1, __ATOMIC_RELEASE);
		os_word_wake(&word);
		pthread_join(thread, NULL);
	}
}

/* ---- barriers -------------------------------------------------------------------------- */

static void test_barrier(void **state)
{
	if (os_barrier_able()) {
		assert_int_equal(os_barrier_enroll(), 0);
		assert_int_equal(os_barrier_threads(), 0);
	} else {
		assert_true(os_barrier_threads() < 0);
	}
	if (os_barrier_join())
		assert_int_equal(os_barrier_joined(), 0);
	else
		assert_true(os_barrier_joined() < 0);
#ifdef PORTABLE
	assert_false(os_barrier_able());
	assert_false(os_barrier_join());
#endif
}

/* ---- memory ---------------------------------------------------------------------------- */

static void test_memory(void **state)
{
	const size_t size = 1 << 20;
	int fd = os_memory_make(size), other = os_memory_make(size);
	char *mem, *same;

	assert_true(fd >= 0 && other >= 0);
	assert_true(os_memory_is_fixed(fd));
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	mem = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	same = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	assert_true(mem != MAP_FAILED && same != MAP_FAILED);
	os_memory_keep(mem, size);
	os_memory_place(mem, size);
	assert_int_equal(same[size - 1], 0);
	strcpy(mem + 100, "seen");
	assert_string_equal(same + 100, "seen");
	munmap(mem, size);
	munmap(same, size);
	close(fd);
	close(other);
	fd = open("/dev/null", O_RDONLY);
	assert_false(os_memory_is_fixed(fd));
	close(fd);
}

/* ---- processes ------------------------------------------------------------------------- */

static void test_memory_of_process(void **state)
{
	char from[] = "read this", to[sizeof(from)] = "";
	struct iovec here = { to, sizeof(to) }, there = { from, sizeof(from) };
	ssize_t ret = os_process_read(getpid(), &here, 1, &there, 1);

	if (ret < 0) {
		assert_true(ret == -ENOSYS || ret == -EPERM);
		assert_non_null(os_process_forbidden(getpid()));
		return;
	}
	assert_int_equal(ret, sizeof(from));
	assert_string_equal(to, from);
	strcpy(to, "other ..");
	assert_int_equal(os_process_write(getpid(), &here, 1, &there, 1), sizeof(from));
	assert_string_equal(from, "other ..");
}

static void test_process_ends(void **state)
{
	pid_t pid = fork();
	int fd, status;

	assert_true(pid >= 0);
	if (!pid)
		for (;;)
			pause();
	assert_true(os_process_lives(pid));
	fd = os_process_open(pid);
	assert_true(fd >= 0 || fd == -ENOSYS || fd == -EPERM);
	assert_false(fd >= 0 && readable(fd, 0));
	kill(pid, SIGKILL);
	assert_true(fd < 0 || readable(fd, 10000));
	waitpid(pid, &status, 0);
	assert_false(os_process_lives(pid));
	if (fd >= 0)
		close(fd);
}

static void test_peer(void **state)
{
	pid_t pid = 0;
	uid_t uid = geteuid() + 1;
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_int_equal(os_process_peer(fds[0], &pid, &uid), 0);
	assert_int_equal(uid, geteuid());
	assert_true(pid == getpid() || pid == -1);
	close(fds[0]);
	close(fds[1]);
}

/* The overflow user is any one that is not mapped, but where all are. */
static void test_user_unmapped(void **state)
{
	unsigned overflow = 65534;
	FILE *file = fopen("/proc/sys/kernel/overflowuid", "re");
	pid_t pid;
	int status;

	assert_true(!file || fscanf(file, "%u", &overflow) == 1);
	if (file)
		fclose(file);
	assert_false(os_user_unmapped(overflow + 1));
	assert_false(os_user_unmapped(overflow - 1));
	pid = fork();
	if (!pid) {
		if (unshare(CLONE_NEWUSER))
			_exit(77);
		_exit(!os_user_unmapped(overflow) || os_user_unmapped(overflow - 1));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (status == 77 << 8)
		skip();
#ifdef PORTABLE
	assert_int_equal(status, 1 << 8);
#else
	assert_int_equal(status, 0);
#endif
}

static void test_identity(void **state)
{
	char one[64] = "", two[64] = "", name[32] = "?";
	size_t len = os_boot_id(one, sizeof(one));

	assert_int_equal(os_boot_id(two, sizeof(two)), len);
	assert_string_equal(one, two);
	assert_true(os_namespace("pid") == os_namespace("pid"));
	assert_true(os_namespace("no such") == 0);
	os_process_command(name, sizeof(name));
	assert_null(strchr(name, '\n'));
	assert_string_not_equal(name, "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_event),
		cmocka_unit_test(test_event_thread),
		cmocka_unit_test(test_alarm),
		cmocka_unit_test(test_alarm_fork),
		cmocka_unit_test(test_word),
		cmocka_unit_test(test_barrier),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_memory_of_process),
		cmocka_unit_test(test_process_ends),
		cmocka_unit_test(test_peer),
		cmocka_unit_test(test_user_unmapped),
		cmocka_unit_test(test_identity),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
