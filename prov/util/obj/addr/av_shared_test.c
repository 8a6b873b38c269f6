/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <rdma/fi_errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "obj/av_shared.h"
#include "obj/av_table.h"
#include "obj/test/av_make.h"
#include "tests/limit.h"

static int child_inserts(const char *name, int ready, int go)
{
	struct obj_domain domain;
	struct sockaddr_in a = in4(7, 7);
	struct fid_av *av;
	fi_addr_t fi;
	char c = 0;

	make_domain(&domain, FI_SOCKADDR_IN);
	av = open_av(&domain, name, 0);
	if (fi_av_insert(av, &a, 1, &fi, 0, NULL) != 1 || fi != 1)
		return 1;
	if (write(ready, &c, 1) != 1 || read(go, &c, 1) != 1)
		return 2;
	/* Dies with the table open. */
	return 0;
}

static void processes_share_a_table(void **state)
{
	struct sockaddr_in a = in4(1, 1), got;
	struct obj_domain domain;
	struct fi_av_attr attr = { .flags = FI_READ };
	struct fid_av *av, *ro, *other;
	int ready[2], go[2], status;
	char name[64], c = 0;
	size_t len = sizeof(got);
	fi_addr_t fi;
	pid_t pid;

	snprintf(name, sizeof(name), "av_test.%d", (int) getpid());
	attr.name = name;
	make_domain(&domain, FI_SOCKADDR_IN);
	/* To read is not to create. */
	assert_int_equal(obj_av_open(&domain.fid, &attr, &ro, NULL), -FI_ENOENT);
	av = open_av(&domain, name, 0);
	assert_int_equal(fi_av_insert(av, &a, 1, &fi, 0, NULL), 1);
	assert_int_equal(fi, 0);
	assert_true(!pipe(ready) && !pipe(go));
	pid = fork();
	if (!pid)
		_exit(child_inserts(name, ready[1], go[0]));
	assert_int_equal(read(ready[0], &c, 1), 1);
	assert_int_equal(fi_av_lookup(av, 1, &got, &len), 0);
	assert_int_equal(ntohl(got.sin_addr.s_addr), 7);
	assert_int_equal(obj_av_open(&domain.fid, &attr, &ro, NULL), 0);
	assert_non_null(attr.map_addr);
	assert_int_equal(obj_av_find(obj_av_of(ro), &got, sizeof(got)), 1);
	assert_int_equal(fi_av_insert(ro, &a, 1, &fi, 0, NULL), -FI_EACCES);
	assert_int_equal(fi_av_remove(ro, &fi, 1, 0), -FI_EACCES);
	assert_int_equal(write(go[1], &c, 1), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	fi = 1;
	assert_int_equal(fi_av_remove(av, &fi, 1, 0), 0);
	assert_int_equal(fi_av_lookup(ro, 1, &got, &len), -FI_EINVAL);
	/* Another kind of address cannot come in under this name. */
	domain.addr_format = FI_SOCKADDR_IN6;
	attr.flags = 0;
	assert_int_equal(obj_av_open(&domain.fid, &attr, &other, NULL), -FI_EINVAL);
	domain.addr_format = FI_SOCKADDR_IN;
	attr.name = "a/b";
	assert_int_equal(obj_av_open(&domain.fid, &attr, &other, NULL), -FI_EINVAL);
	assert_int_equal(fi_close(&ro->fid), 0);
	assert_int_equal(fi_close(&av->fid), 0);
	close(ready[0]);
	close(ready[1]);
	close(go[0]);
	close(go[1]);
}

/* A reader that inserts nothing learns the numbers of what others have inserted, before and after. */
static void a_shared_table_tells_its_numbers(void **state)
{
	struct sockaddr_in a = in4(1, 1), got;
	struct fi_av_attr attr = { .type = FI_AV_TABLE, .count = 5000, .flags = FI_READ };
	struct obj_domain domain;
	struct fid_av *av, *ro;
	size_t len = sizeof(got);
	char name[64];
	fi_addr_t fi;

	snprintf(name, sizeof(name), "av_test_numbers.%d", (int) getpid());
	attr.name = name;
	make_domain(&domain, FI_SOCKADDR_IN);
	av = open_av(&domain, name, 0);
	assert_int_equal(obj_av_open(&domain.fid, &attr, &ro, NULL), 0);
	for (uint32_t i = 0; i < attr.count; i++) {
		a = in4(i + 1, 1);
		assert_int_equal(fi_av_insert(av, &a, 1, &fi, 0, NULL), 1);
		assert_true(((fi_addr_t *) attr.map_addr)[i] == fi);
	}
	assert_int_equal(fi_av_lookup(ro, ((fi_addr_t *) attr.map_addr)[4999], &got, &len), 0);
	assert_int_equal(ntohl(got.sin_addr.s_addr), 5000);
	assert_int_equal(fi_close(&ro->fid), 0);
	assert_int_equal(fi_close(&av->fid), 0);
}

static void a_killed_user_leaves_no_trace(void **state)
{
	struct sockaddr_in a = in4(1, 1);
	struct obj_domain domain;
	struct fid_av *av;
	char name[64], path[96];
	fi_addr_t fi;
	int status;
	pid_t pid;

	snprintf(name, sizeof(name), "av_test_killed.%d", (int) getpid());
	snprintf(path, sizeof(path), "/dev/shm/fi_av.%u.%s", (unsigned) geteuid(), name);
	make_domain(&domain, FI_SOCKADDR_IN);
	pid = fork();
	if (!pid) {
		av = open_av(&domain, name, 0);
		_exit(fi_av_insert(av, &a, 1, NULL, 0, NULL) != 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(access(path, F_OK), 0);
	/* The next user starts with an empty table, and the last one removes the file. */
	av = open_av(&domain, name, 0);
	assert_int_equal(obj_av_of(av)->live, 0);
	assert_int_equal(fi_av_insert(av, &a, 1, &fi, 0, NULL), 1);
	assert_int_equal(fi, 0);
	assert_int_equal(fi_close(&av->fid), 0);
	assert_int_equal(access(path, F_OK), -1);
}

/* kill_inside - a process inserts an address, removes entry 1, and is killed before its counts say so. */
static void kill_inside(struct obj_domain *domain, const char *name)
{
	struct sockaddr_in a = in4(9, 9);
	struct fid_av *av;
	int status;
	uint32_t i;
	pid_t pid = fork();

	if (!pid) {
		av = open_av(domain, name, 0);
		if (av_shared_enter(obj_av_of(av), true) || av_table_put(obj_av_of(av), &a, sizeof(a), &i))
			_exit(1);
		av_table_del(obj_av_of(av), 1);
		kill(getpid(), SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void a_killed_writer_blocks_no_reader(void **state)
{
	struct obj_domain domain;
	struct sockaddr_in a[4], got;
	struct fid_av *av, *ro;
	size_t len = sizeof(got);
	char name[64];
	fi_addr_t fi[4];
	uint32_t i;

	snprintf(name, sizeof(name), "av_test_inside.%d", (int) getpid());
	make_domain(&domain, FI_SOCKADDR_IN);
	for (i = 0; i < 4; i++)
		a[i] = in4(i + 1, 1);
	av = open_av(&domain, name, 0);
	ro = open_av(&domain, name, FI_READ);
	assert_int_equal(fi_av_insert(av, a, 3, fi, 0, NULL), 3);
	limit_time(60, NULL);
	kill_inside(&domain, name);
	/* a reader comes first, then a writer */
	assert_int_equal(fi_av_lookup(ro, 0, &got, &len), 0);
	assert_int_equal(fi_av_lookup(ro, 1, &got, &len), -FI_EINVAL);
	assert_int_equal(fi_av_lookup(ro, 3, &got, &len), -FI_EINVAL);
	assert_int_equal(obj_av_of(ro)->live, 2);
	assert_int_equal(fi_av_insert(av, &a[3], 1, fi, 0, NULL), 1);
	assert_int_equal(fi[0], 1);
	kill_inside(&domain, name);
	assert_int_equal(fi_av_insert(av, &a[3], 1, fi, 0, NULL), 1);
	assert_int_equal(fi[0], 1);
	assert_int_equal(obj_av_of(av)->live, 3);
	assert_int_equal(obj_av_of(av)->free_cnt, 0);
	assert_int_equal(fi_av_lookup(ro, 1, &got, &len), 0);
	limit_time(0, NULL);
	assert_int_equal(fi_close(&ro->fid), 0);
	assert_int_equal(fi_close(&av->fid), 0);
}

/* write_counted - insert and remove entries until it is killed; @ready says that there are some. */
static void write_counted(struct obj_domain *domain, const char *name, int ready)
{
	struct fid_av *av = open_av(domain, name, 0);
	struct sockaddr_in a[50];
	fi_addr_t fi[50];
	uint32_t i, k;
	char c = 0;

	for (k = 0; ; k++) {
		for (i = 0; i < 50; i++)
			a[i] = in4(k * 50 + i + 1, 1);
		fi_av_insert(av, a, 50, fi, 0, NULL);
		if (k == 2 && write(ready, &c, 1) != 1)
			_exit(1);
		if (k > 4)
			fi_av_remove(av, fi, 50, 0);
	}
}

static void writers_killed_at_any_time_block_no_reader(void **state)
{
	struct sockaddr_in got;
	struct obj_domain domain;
	struct fid_av *av, *ro;
	uint32_t i, k, live;
	int ready[2];
	char name[64], c;
	size_t len;
	pid_t pid;

	make_domain(&domain, FI_SOCKADDR_IN);
	assert_true(!pipe(ready));
	limit_time(60, NULL);
	for (k = 0; k < 12; k++) {
		snprintf(name, sizeof(name), "av_test_any.%d.%u", (int) getpid(), k);
		av = open_av(&domain, name, 0);
		pid = fork();
		if (!pid)
			write_counted(&domain, name, ready[1]);
		assert_int_equal(read(ready[0], &c, 1), 1);
		ro = open_av(&domain, name, FI_READ);
		usleep(1000 + 300 * k);
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		len = sizeof(got);
		assert_int_equal(fi_av_lookup(ro, 0, &got, &len), 0);
		for (live = i = 0; i < obj_av_of(ro)->top; i++)
			live += !fi_av_lookup(ro, i, &got, &len);
		assert_int_equal(obj_av_of(ro)->live, live);
		assert_int_equal(obj_av_of(ro)->free_cnt, obj_av_of(ro)->top - live);
		assert_int_equal(fi_close(&ro->fid), 0);
		assert_int_equal(fi_close(&av->fid), 0);
	}
	limit_time(0, NULL);
	close(ready[0]);
	close(ready[1]);
}

static void the_last_user_may_be_a_reader(void **state)
{
	struct obj_domain domain;
	struct fid_av *av, *ro;
	struct fi_av_attr attr = { .type = FI_AV_TABLE, .flags = FI_READ };
	char name[64], path[96];
	pid_t pid;

	snprintf(name, sizeof(name), "av_test_reader.%d", (int) getpid());
	snprintf(path, sizeof(path), "/dev/shm/fi_av.%u.%s", (unsigned) geteuid(), name);
	make_domain(&domain, FI_SOCKADDR_IN);
	av = open_av(&domain, name, 0);
	ro = open_av(&domain, name, FI_READ);
	assert_int_equal(fi_close(&av->fid), 0);
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(fi_close(&ro->fid), 0);
	assert_int_equal(access(path, F_OK), -1);

	/* So may one who finds what a killed program has left. */
	pid = fork();
	if (!pid)
		_exit(!open_av(&domain, name, 0));
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(access(path, F_OK), 0);
	attr.name = name;
	assert_int_equal(obj_av_open(&domain.fid, &attr, &ro, NULL), -FI_ENOENT);
	assert_int_equal(access(path, F_OK), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(processes_share_a_table),
		cmocka_unit_test(a_shared_table_tells_its_numbers),
		cmocka_unit_test(a_killed_user_leaves_no_trace),
		cmocka_unit_test(a_killed_writer_blocks_no_reader),
		cmocka_unit_test(writers_killed_at_any_time_block_no_reader),
		cmocka_unit_test(the_last_user_may_be_a_reader),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
