/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Which provider files are loaded, which of two with one name is used, and when a file is
 * unloaded.
 */

#include <pthread.h>
#include <stdbool.h>

#include <rdma/fi_errno.h>

#include "core/test/child_test.h"
#include "core/test/listen.h"
#include "tests/limit.h"

#define NOW FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION)

enum { ALPHA_OLD = 1, GAMMA, OVER, ALPHA_NEW, FUTURE };

static char stderr_text[8192];

/* Each case is a child process: the registry starts empty, and the counts at 0. */
#define IN_CHILD(fn)							\
	static void test_##fn(void **state)				\
	{								\
		assert_int_equal(child_run(fn, stderr_text,		\
					   sizeof(stderr_text)), 0);	\
	}

static int query(const char *filter)
{
	struct fi_info *info;
	int ret;

	setenv("FI_PROVIDER", filter, 1);
	ret = fi_getinfo(FI_VERSION(1, 9), NULL, NULL, 0, NULL, &info);
	fi_freeinfo(info);
	return ret;
}

static struct fid_fabric *open_one(const char *prov, void *context)
{
	struct fi_fabric_attr attr = { .prov_name = (char *) prov, .name = "testnet" };
	struct fid_fabric *fabric = NULL;

	CHILD_CHECK(fi_fabric(&attr, &fabric, context) == 0);
	return fabric;
}

static void close_one(struct fid_fabric *fabric)
{
	CHILD_CHECK(fi_close(&fabric->fid) == 0);
}

/* ---- nothing is loaded without need ----------------------------------------------- */

static void lazy(void)
{
	setenv("FI_PROVIDER_PATH", testprov_dir("one"), 1);
	fi_version();
	CHILD_CHECK(heard[TESTPROV_LOAD] == 0);
	CHILD_CHECK(query("gamma") == 0);
	CHILD_CHECK(loaded(GAMMA) == 1 && loaded(ALPHA_OLD) == 0);
	CHILD_CHECK(loaded(OVER) == 0);
	CHILD_CHECK(query("nosuch") == -FI_ENODATA);
	CHILD_CHECK(heard[TESTPROV_LOAD] == 1);
	CHILD_CHECK(query("^alpha,beta") == 0);
	CHILD_CHECK(loaded(ALPHA_OLD) == 0 && loaded(OVER) == 1);
	CHILD_CHECK(query("alpha") == 0 && query("alpha") == 0);
	CHILD_CHECK(heard_tag[ALPHA_OLD][TESTPROV_LOAD] == 1);
	CHILD_CHECK(heard_tag[ALPHA_OLD][TESTPROV_UNLOAD] == 0);
}
IN_CHILD(lazy)

/* beta is in alpha's file: it is found only by reading all files. */
static void second_of_a_file(void)
{
	struct fid_fabric *fabric;

	setenv("FI_PROVIDER_PATH", testprov_dir("one"), 1);
	CHILD_CHECK(query("^gamma,ofi_over") == 0);
	fabric = open_one("beta", NULL);
	close_one(fabric);
	CHILD_CHECK(loaded(ALPHA_OLD) == 0);
	/* From now on the file of beta is known. */
	fabric = open_one("beta", NULL);
	CHILD_CHECK(loaded(ALPHA_OLD) == 1);
	close_one(fabric);
	CHILD_CHECK(query("beta") == 0);
}
IN_CHILD(second_of_a_file)

static void name_with_a_slash(void)
{
	struct fi_fabric_attr attr = { .name = "testnet" };
	struct fid_fabric *fabric;
	char name[128];

	setenv("FI_PROVIDER_PATH", testprov_dir("two"), 1);
	snprintf(name, sizeof(name), "../../one/.libs/libgamma");
	attr.prov_name = name;
	CHILD_CHECK(fi_fabric(&attr, &fabric, NULL) == -FI_ENODEV);
	CHILD_CHECK(heard[TESTPROV_LOAD] == 0);
}
IN_CHILD(name_with_a_slash)

/* ---- two providers of one name ------------------------------------------------------ */

static void path_of(char *buf, size_t size, const char *fmt, const char *a, const char *b)
{
	snprintf(buf, size, fmt, a, b);
	setenv("FI_PROVIDER_PATH", buf, 1);
}

/* Which of the files named alpha is used. */
static int answers(void)
{
	int old = heard_tag[ALPHA_OLD][TESTPROV_GETINFO];
	int new = heard_tag[ALPHA_NEW][TESTPROV_GETINFO];

	CHILD_CHECK(query("alpha") == 0);
	old = heard_tag[ALPHA_OLD][TESTPROV_GETINFO] - old;
	new = heard_tag[ALPHA_NEW][TESTPROV_GETINFO] - new;
	/* more than once when a layer asks it too */
	CHILD_CHECK(!old != !new);
	return old ? ALPHA_OLD : ALPHA_NEW;
}

static void newest_wins(void)
{
	struct fid_fabric *fabric;
	char path[1200];

	path_of(path, sizeof(path), "%s:%s", testprov_dir("one"), testprov_dir("two"));
	CHILD_CHECK(answers() == ALPHA_NEW);
	fabric = open_one("alpha", NULL);
	CHILD_CHECK(heard_tag[ALPHA_NEW][TESTPROV_FABRIC] == 1);
	close_one(fabric);
	CHILD_CHECK(answers() == ALPHA_NEW);
}
IN_CHILD(newest_wins)

static void first_wins(void)
{
	char path[1200];

	path_of(path, sizeof(path), "@%s:%s", testprov_dir("one"), testprov_dir("two"));
	CHILD_CHECK(answers() == ALPHA_OLD);
}
IN_CHILD(first_wins)

static void preferred_wins(void)
{
	char path[1200];

	path_of(path, sizeof(path), "%s:+%s/libalpha-fi.so", testprov_dir("two"),
		testprov_dir("one"));
	CHILD_CHECK(answers() == ALPHA_OLD);
}
IN_CHILD(preferred_wins)

/* A newer file that appears is used for fabrics opened later; the older one stays for open
 * fabrics.
 */
static void newer_turns_up(void)
{
	struct fid_fabric *old;
	char path[1200];

	setenv("FI_PROVIDER_PATH", testprov_dir("one"), 1);
	CHILD_CHECK(answers() == ALPHA_OLD);
	old = open_one("alpha", NULL);
	path_of(path, sizeof(path), "%s:%s", testprov_dir("one"), testprov_dir("two"));
	CHILD_CHECK(answers() == ALPHA_NEW);
	CHILD_CHECK(loaded(ALPHA_OLD) == 1);
	close_one(old);
	CHILD_CHECK(heard_tag[ALPHA_OLD][TESTPROV_CLOSE] == 1);
	CHILD_CHECK(loaded(ALPHA_OLD) == 0);
}
IN_CHILD(newer_turns_up)

/* ---- files that cannot be used -------------------------------------------------------- */

static void future(void)
{
	setenv("FI_PROVIDER_PATH", testprov_dir("future"), 1);
	CHILD_CHECK(query("future") == -FI_ENODATA);
	CHILD_CHECK(query("future") == -FI_ENODATA);
	CHILD_CHECK(heard_tag[FUTURE][TESTPROV_LOAD] == 1);
	CHILD_CHECK(loaded(FUTURE) == 0);
}

static void test_future(void **state)
{
	assert_int_equal(child_run(future, stderr_text, sizeof(stderr_text)), 0);
	assert_non_null(strstr(stderr_text, "future"));
	assert_non_null(strstr(stderr_text, "99.0"));
	assert_non_null(strstr(stderr_text, "install a newer library"));
}

static void broken(void)
{
	char dir[] = "/tmp/fi_registry_test_XXXXXX", path[128];
	FILE *file;

	CHILD_CHECK(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/libbroken-fi.so", dir);
	file = fopen(path, "w");
	CHILD_CHECK(file);
	fputs("this is no shared object\n", file);
	fclose(file);
	setenv("FI_PROVIDER_PATH", dir, 1);
	CHILD_CHECK(query("broken") == -FI_ENODATA);
	unlink(path);
	rmdir(dir);
}

static void test_broken(void **state)
{
	assert_int_equal(child_run(broken, stderr_text, sizeof(stderr_text)), 0);
	assert_non_null(strstr(stderr_text, "libbroken-fi.so cannot be loaded"));
}

static void wrong_filter(void)
{
	setenv("FI_PROVIDER_PATH", testprov_dir("one"), 1);
	CHILD_CHECK(query("gamma") == 0);
	CHILD_CHECK(query("gama") == -FI_ENODATA);
	CHILD_CHECK(query("gama") == -FI_ENODATA);
}

/* A misspelt FI_PROVIDER is reported once, at a level that is logged by default. */
static void test_wrong_filter(void **state)
{
	const char *line;

	assert_int_equal(child_run(wrong_filter, stderr_text, sizeof(stderr_text)), 0);
	line = strstr(stderr_text, "FI_PROVIDER=gama");
	assert_non_null(line);
	assert_non_null(strstr(line, " gamma"));
	assert_null(strstr(line + 1, "FI_PROVIDER=gama"));
}

/* ---- unloading --------------------------------------------------------------------------- */

static void stays_while_open(void)
{
	struct fid_fabric *one, *two;

	setenv("FI_PROVIDER_PATH", testprov_dir("one"), 1);
	one = open_one("gamma", NULL);
	two = open_one("gamma", NULL);
	CHILD_CHECK(loaded(GAMMA) == 1);
	close_one(one);
	CHILD_CHECK(loaded(GAMMA) == 1 && heard[TESTPROV_CLEANUP] == 0);
	CHILD_CHECK(query("gamma") == 0);
	CHILD_CHECK(loaded(GAMMA) == 1);
	close_one(two);
	CHILD_CHECK(loaded(GAMMA) == 0 && heard[TESTPROV_CLEANUP] == 1);
}
IN_CHILD(stays_while_open)

static void stays_when_close_fails(void)
{
	struct fid_fabric *fabric;

	setenv("FI_PROVIDER_PATH", testprov_dir("one"), 1);
	fabric = open_one("gamma", TESTPROV_STICKY);
	CHILD_CHECK(fi_close(&fabric->fid) == -FI_EBUSY);
	CHILD_CHECK(fi_close(&fabric->fid) == -FI_EBUSY);
	CHILD_CHECK(loaded(GAMMA) == 1);
	fabric->fid.context = NULL;
	close_one(fabric);
	CHILD_CHECK(loaded(GAMMA) == 0);
}
IN_CHILD(stays_when_close_fails)

#define ROUNDS 1000

static void thousand_times(void)
{
	struct fid_fabric *fabric;
	int i;

	setenv("FI_PROVIDER_PATH", testprov_dir("one"), 1);
	for (i = 1; i <= ROUNDS; i++) {
		CHILD_CHECK(query("gamma") == 0);
		fabric = open_one("gamma", NULL);
		CHILD_CHECK(loaded(GAMMA) == 1);
		close_one(fabric);
		CHILD_CHECK(loaded(GAMMA) == 0);
		CHILD_CHECK(heard_tag[GAMMA][TESTPROV_LOAD] == i);
	}
}
IN_CHILD(thousand_times)

#define THREADS 4

static void *opens_and_closes(void *arg)
{
	const char *const *name = arg;
	struct fid_fabric *fabric, *other;
	int i;

	for (i = 0; i < ROUNDS / THREADS; i++) {
		fabric = open_one(name[i & 1], NULL);
		if (i % 3 == 0)
			CHILD_CHECK(query("gamma,alpha") == 0);
		other = open_one(name[(i >> 1) & 1], NULL);
		close_one(fabric);
		close_one(other);
	}
	return NULL;
}

/* Several threads load and unload two files concurrently. */
static void thousand_times_by_many(void)
{
	static const char *const name[] = { "gamma", "alpha" };
	pthread_t thread[THREADS];
	int i;

	setenv("FI_PROVIDER_PATH", testprov_dir("one"), 1);
	setenv("FI_PROVIDER", "gamma,alpha", 1);
	for (i = 0; i < THREADS; i++)
		CHILD_CHECK(!pthread_create(&thread[i], NULL, opens_and_closes,
					    (void *) name));
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	CHILD_CHECK(heard[TESTPROV_FABRIC] == heard[TESTPROV_CLOSE]);
	close_one(open_one("gamma", NULL));
	close_one(open_one("alpha", NULL));
	CHILD_CHECK(loaded(GAMMA) == 0 && loaded(ALPHA_OLD) == 0);
	CHILD_CHECK(heard_tag[GAMMA][TESTPROV_LOAD] > 1);
}
IN_CHILD(thousand_times_by_many)

/* ---- fork ---------------------------------------------------------------------------------- */

static atomic_bool over;

static void *busy(void *arg)
{
	while (!atomic_load(&over))
		close_one(open_one("gamma", NULL));
	return NULL;
}

/* The child of a process whose other threads are inside the library can use it at once. */
static void fork_while_busy(void)
{
	pthread_t thread[2];
	int i, status;
	pid_t pid;

	setenv("FI_PROVIDER_PATH", testprov_dir("one"), 1);
	setenv("FI_PROVIDER", "gamma,alpha", 1);
	for (i = 0; i < 2; i++)
		CHILD_CHECK(!pthread_create(&thread[i], NULL, busy, NULL));
	for (i = 0; i < 50; i++) {
		pid = fork();
		CHILD_CHECK(pid >= 0);
		if (!pid) {
			limit_time(20, NULL);
			CHILD_CHECK(query("gamma,alpha") == 0);
			close_one(open_one("alpha", NULL));
			close_one(open_one("gamma", NULL));
			_exit(0);
		}
		CHILD_CHECK(waitpid(pid, &status, 0) == pid);
		CHILD_CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
	}
	atomic_store(&over, true);
	for (i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
}
#ifdef __SANITIZE_ADDRESS__	/* AddressSanitizer's allocator may deadlock in the child of a
				 * threaded process */
static void test_fork_while_busy(void **state)
{
	(void) &fork_while_busy;
	skip();
}
#else
IN_CHILD(fork_while_busy)
#endif

/* ---- fi_fabric's arguments --------------------------------------------------------------------- */

static void fabric_arguments(void)
{
	struct fi_fabric_attr attr = { .name = "testnet" };
	struct fi_info info = { .fabric_attr = &attr };
	struct fid_fabric *fabric;

	setenv("FI_PROVIDER_PATH", testprov_dir("one"), 1);
	setenv("FI_LOG_LEVEL", "none", 1);
	CHILD_CHECK(fi_fabric(NULL, &fabric, NULL) == -FI_EINVAL);
	CHILD_CHECK(fi_fabric(&attr, &fabric, NULL) == -FI_EINVAL);
	attr.prov_name = "nosuch";
	CHILD_CHECK(fi_fabric(&attr, &fabric, NULL) == -FI_ENODEV);
	attr.prov_name = "alpha;gamma";
	CHILD_CHECK(fi_fabric(&attr, &fabric, NULL) == -FI_EINVAL);
	attr.prov_name = "gamma;ofi_over";
	attr.api_version = FI_VERSION(1, 20);
	CHILD_CHECK(fi_fabric2(NULL, &fabric, 0, NULL) == -FI_EINVAL);
	CHILD_CHECK(fi_fabric2(&info, &fabric, 1, NULL) == -FI_EBADFLAGS);
	CHILD_CHECK(fi_fabric2(&info, &fabric, 0, &attr) == 0);
	CHILD_CHECK(heard_tag[OVER][TESTPROV_FABRIC] == 1 && !loaded(GAMMA));
	CHILD_CHECK(fabric->fid.context == &attr);
	CHILD_CHECK(fabric->api_version == FI_VERSION(1, 20));
	close_one(fabric);
}
IN_CHILD(fabric_arguments)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lazy),
		cmocka_unit_test(test_second_of_a_file),
		cmocka_unit_test(test_name_with_a_slash),
		cmocka_unit_test(test_newest_wins),
		cmocka_unit_test(test_first_wins),
		cmocka_unit_test(test_preferred_wins),
		cmocka_unit_test(test_newer_turns_up),
		cmocka_unit_test(test_future),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_wrong_filter),
		cmocka_unit_test(test_stays_while_open),
		cmocka_unit_test(test_stays_when_close_fails),
		cmocka_unit_test(test_thousand_times),
		cmocka_unit_test(test_thousand_times_by_many),
		cmocka_unit_test(test_fork_while_busy),
		cmocka_unit_test(test_fabric_arguments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
