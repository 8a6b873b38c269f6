/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Which lines are logged, in what form and where.  Every case is a child process, since the
 * settings are read once per process.
 */

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <rdma/providers/fi_log.h>

#include "core/test/child_test.h"
#include "tests/limit.h"

static struct fi_provider tcp = { .name = "tcp" };
static struct fi_provider layered = { .name = "udp;ofi_rxd" };
static const char *set_name, *set_value, *set_name2, *set_value2;

/* One line for each level, two providers, two subsystems. */
static void chatter(void)
{
	setenv(set_name, set_value, 1);
	if (set_name2)
		setenv(set_name2, set_value2, 1);
	FI_WARN(&tcp, FI_LOG_CORE, "w-tcp-core");
	FI_TRACE(&tcp, FI_LOG_EQ, "t-tcp-eq");
	FI_INFO(&tcp, FI_LOG_CORE, "i-tcp-core");
	FI_LOG(&tcp, FI_LOG_DEBUG, FI_LOG_CORE, "d-tcp-core");
	FI_WARN(&layered, FI_LOG_EQ, "w-rxd-eq");
	FI_WARN(NULL, FI_LOG_MR, "w-none-mr");
}

static const char *const lines[] = {
	"w-tcp-core", "t-tcp-eq", "i-tcp-core", "d-tcp-core", "w-rxd-eq", "w-none-mr",
};

/* @want has a 1 for each of the lines above that must be logged. */
static void shows(const char *name, const char *value, const char *want)
{
	char out[4096];
	int i;

	set_name = name;
	set_value = value;
	assert_int_equal(child_run(chatter, out, sizeof(out)), 0);
	for (i = 0; i < 6; i++) {
		if (!!strstr(out, lines[i]) != (want[i] == '1'))
			print_message("%s=%s, line %s:\n%s", name, value, lines[i], out);
		assert_int_equal(!!strstr(out, lines[i]), want[i] == '1');
	}
}

static void test_level(void **state)
{
	set_name2 = NULL;
	shows("FI_LOG_NOSUCH", "x", "100011");
	shows("FI_LOG_LEVEL", "", "100011");
	shows("FI_LOG_LEVEL", "warn", "100011");
	shows("FI_LOG_LEVEL", "Trace", "110011");
	shows("FI_LOG_LEVEL", "info", "111011");
	shows("FI_LOG_LEVEL", "debug", "111111");
	shows("FI_LOG_LEVEL", "none", "000000");
	shows("FI_LOG_LEVEL", "loud", "100011");
	/* as other versions of the library take it */
	shows("FI_LOG_LEVEL", "error", "100011");
	shows("FI_LOG_LEVEL", "WARNING", "100011");
	shows("FI_LOG_LEVEL", "off", "000000");
	shows("FI_LOG_LEVEL", "-1", "000000");
	shows("FI_LOG_LEVEL", "0", "100011");
	shows("FI_LOG_LEVEL", "1", "110011");
	shows("FI_LOG_LEVEL", "2", "111011");
	shows("FI_LOG_LEVEL", "3", "111111");
	shows("FI_LOG_LEVEL", "99999999999999999999", "111111");
	shows("FI_LOG_LEVEL", "1x", "100011");
}

/* The words of other versions are accepted without a warning. */
static void test_level_of_others(void **state)
{
	static const char *const words[] = { "error", "warning", "off", "-1", "0", "3", "4" };
	char out[4096];
	size_t i;

	set_name = "FI_LOG_LEVEL";
	set_name2 = NULL;
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		set_value = words[i];
		assert_int_equal(child_run(chatter, out, sizeof(out)), 0);
		assert_null(strstr(out, "not a level"));
	}
}

static void test_prov(void **state)
{
	set_name2 = "FI_LOG_LEVEL";
	set_value2 = "info";
	shows("FI_LOG_PROV", "tcp", "111001");
	shows("FI_LOG_PROV", "^tcp", "000011");
	shows("FI_LOG_PROV", "ofi_rxd", "000011");
	shows("FI_LOG_PROV", "^ofi_rxd,shm", "111001");
	shows("FI_LOG_PROV", "udp,tcp", "111011");
}

static void test_subsys(void **state)
{
	set_name2 = "FI_LOG_LEVEL";
	set_value2 = "info";
	shows("FI_LOG_SUBSYS", "eq", "010010");
	shows("FI_LOG_SUBSYS", "^eq", "101001");
	shows("FI_LOG_SUBSYS", "core, mr", "101001");
}

/* ---- form ------------------------------------------------------------------- */

static void one_line(void)
{
	unsetenv("FI_LOG_LEVEL");
	fi_log(&tcp, FI_LOG_WARN, FI_LOG_EP_CTRL, "somewhere", 17, "%s %d\n", "text", 5);
}

static void test_form(void **state)
{
	char out[512], prov[32], subsys[32], func[32], level[32], text[32];
	long long when;
	int pid, line;

	assert_int_equal(child_run(one_line, out, sizeof(out)), 0);
	assert_int_equal(sscanf(out, "libfabric:%d:%lld:%31[^:]:%31[^:]:%31[^(]():%d<%31[^>]> %31[^\n]",
				&pid, &when, prov, subsys, func, &line, level, text), 8);
	assert_true(pid > 1 && pid != getpid());
	assert_string_equal(prov, "tcp");
	assert_string_equal(subsys, "ep_ctrl");
	assert_string_equal(func, "somewhere");
	assert_int_equal(line, 17);
	assert_string_equal(level, "warn");
	assert_string_equal(text, "text 5");
	assert_string_equal(strchr(out, '\n'), "\n");
}

static void long_line(void)
{
	char text[5000];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	FI_WARN(&tcp, FI_LOG_CORE, "%send", text);
}

static void test_long_line_is_whole(void **state)
{
	char out[8192];

	assert_int_equal(child_run(long_line, out, sizeof(out)), 0);
	assert_non_null(strstr(out, "xend\n"));
	assert_true(strlen(out) > 5000);
}

static void bad_settings(void)
{
	setenv("FI_LOG_LEVEL", "loud", 1);
	setenv("FI_LOG_SUBSYS", "core,knitting", 1);
	setenv("FI_LOG_INTERVAL", "often", 1);
	fi_log_enabled(&tcp, FI_LOG_WARN, FI_LOG_CORE);
}

static void test_bad_settings_say_so(void **state)
{
	char out[4096];

	assert_int_equal(child_run(bad_settings, out, sizeof(out)), 0);
	assert_non_null(strstr(out, "FI_LOG_LEVEL=loud"));
	assert_non_null(strstr(out, "knitting"));
	assert_non_null(strstr(out, "FI_LOG_INTERVAL=often"));
}

/* ---- what peers choose ---------------------------------------------------------- */

static void odd_text(void)
{
	FI_WARN(&tcp, FI_LOG_CORE, "a peer \033[2J called \"x\nlibfabric:1: forged\" \x9b %s\n",
		"gr\xc3\xbc\xc3\x9f \xc2\x9b.");
}

static void test_control_characters_are_written_out(void **state)
{
	char out[1024];

	assert_int_equal(child_run(odd_text, out, sizeof(out)), 0);
	assert_non_null(strstr(out, "a peer \\x1b[2J called \"x\\x0alibfabric:1: forged\" \\x9b "
			       "gr\xc3\xbc\xc3\x9f \\xc2\\x9b.\n"));
	assert_string_equal(strchr(out, '\n'), "\n");
}

/* ---- an environment that changes -------------------------------------------------- */

static void changed_environment(void)
{
	char *words = malloc(64);

	strcpy(words, "FI_LOG_PROV=tcp");
	putenv(words);
	FI_WARN(&tcp, FI_LOG_CORE, "before");
	unsetenv("FI_LOG_PROV");
	memset(words, 'x', 63);
	free(words);
	FI_WARN(&tcp, FI_LOG_CORE, "after");
	FI_WARN(&layered, FI_LOG_CORE, "other");
}

static void test_environment_may_change(void **state)
{
	char out[1024];

	assert_int_equal(child_run(changed_environment, out, sizeof(out)), 0);
	assert_non_null(strstr(out, "before"));
	assert_non_null(strstr(out, "after"));
	assert_null(strstr(out, "other"));
}

/* ---- output into a full pipe -------------------------------------------------------- */

static int quiet_end;

/* Far more than a pipe, a socket or a terminal holds. */
static void many_lines(void)
{
	char rest[8192];
	int i;

	limit_time(20, NULL);
	for (i = 0; i < 20000; i++)
		FI_WARN(&tcp, FI_LOG_CORE, "a line of some length that no process reads, number %d", i);
	fcntl(quiet_end, F_SETFL, O_NONBLOCK);
	while (read(quiet_end, rest, sizeof(rest)) > 0)
		;
	FI_WARN(&tcp, FI_LOG_CORE, "the last line");
	memset(rest, 0, sizeof(rest));
	CHILD_CHECK(read(quiet_end, rest, sizeof(rest) - 1) > 0);
	CHILD_CHECK(strstr(rest, "log lines were left out"));
	CHILD_CHECK(strstr(rest, "the last line\n"));
}

static void to_pipe(void)
{
	int fd[2];

	CHILD_CHECK(!pipe(fd));
	quiet_end = fd[0];
	dup2(fd[1], STDERR_FILENO);
	many_lines();
}

static void to_socket(void)
{
	int fd[2];

	CHILD_CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, fd));
	quiet_end = fd[0];
	dup2(fd[1], STDERR_FILENO);
	many_lines();
}

static void test_output_into_full_pipe(void **state)
{
	char out[512];

	assert_int_equal(child_run(to_pipe, out, sizeof(out)), 0);
	assert_int_equal(child_run(to_socket, out, sizeof(out)), 0);
}

/* ---- rate ------------------------------------------------------------------- */

static void sparse(void)
{
	int i;

	setenv("FI_LOG_INTERVAL", "100", 1);
	for (i = 0; i < 1000; i++)
		FI_WARN_SPARSE(&tcp, FI_LOG_CORE, "often");
	usleep(110000);
	for (i = 0; i < 3; i++) {
		FI_WARN_SPARSE(&tcp, FI_LOG_CORE, "other");
		FI_WARN_ONCE(&tcp, FI_LOG_CORE, "once");
	}
}

static int count(const char *text, const char *what)
{
	int n = 0;

	while ((text = strstr(text, what))) {
		text++;
		n++;
	}
	return n;
}

static void test_interval(void **state)
{
	char out[4096];

	assert_int_equal(child_run(sparse, out, sizeof(out)), 0);
	assert_int_equal(count(out, "often"), 1);
	assert_int_equal(count(out, "other"), 1);
	assert_int_equal(count(out, "once"), 1);
}

static void twice(void)
{
	uint64_t showtime = 0;

	setenv("FI_LOG_INTERVAL", "50", 1);
	CHILD_CHECK(fi_log_ready(&tcp, FI_LOG_WARN, FI_LOG_CORE, &showtime));
	CHILD_CHECK(!fi_log_ready(&tcp, FI_LOG_WARN, FI_LOG_CORE, &showtime));
	CHILD_CHECK(!fi_log_ready(&tcp, FI_LOG_DEBUG, FI_LOG_CORE, &showtime));
	usleep(60000);
	CHILD_CHECK(fi_log_ready(&tcp, FI_LOG_WARN, FI_LOG_CORE, &showtime));
}

static void test_ready(void **state)
{
	char out[512];

	assert_int_equal(child_run(twice, out, sizeof(out)), 0);
}

/* ---- destination ------------------------------------------------------------ */

static char dir[64];

static void read_file(const char *path, char *out, size_t size)
{
	int fd = open(path, O_RDONLY);
	ssize_t len;

	CHILD_CHECK(fd >= 0);
	len = read(fd, out, size - 1);
	CHILD_CHECK(len >= 0);
	out[len] = '\0';
	close(fd);
}

static void to_file(void)
{
	char path[128], out[512];
	struct stat st;

	snprintf(path, sizeof(path), "%s/log", dir);
	setenv("FI_LOG_LOCATION", path, 1);
	setenv("FI_LOG_LOCATION_MODE", "0640", 1);
	umask(0);
	FI_WARN(&tcp, FI_LOG_CORE, "to a file");
	CHILD_CHECK(!stat(path, &st) && (st.st_mode & 0777) == 0640);
	read_file(path, out, sizeof(out));
	unlink(path);
	CHILD_CHECK(strstr(out, "to a file"));
}

static void to_directory(void)
{
	char path[128], out[512];

	setenv("FI_LOG_LOCATION", dir, 1);
	FI_WARN(&tcp, FI_LOG_CORE, "to a directory");
	snprintf(path, sizeof(path), "%s/ofi_%d.log", dir, (int) getpid());
	read_file(path, out, sizeof(out));
	unlink(path);
	CHILD_CHECK(strstr(out, "to a directory"));
}

/* An existing file is not written to, and stderr says why. */
static void to_existing(void)
{
	char path[128];
	struct stat st;

	snprintf(path, sizeof(path), "%s/there", dir);
	close(open(path, O_CREAT | O_WRONLY, 0600));
	setenv("FI_LOG_LOCATION", path, 1);
	FI_WARN(&tcp, FI_LOG_CORE, "after all");
	CHILD_CHECK(!stat(path, &st) && !st.st_size);
	unlink(path);
}

/* The disk is full, or a limit is reached, which sends a signal otherwise: stderr says so once. */
static void to_full(void)
{
	struct rlimit limit = { 200, 200 };
	char path[128];
	sigset_t set;
	int i;

	snprintf(path, sizeof(path), "%s/full", dir);
	setenv("FI_LOG_LOCATION", path, 1);
	CHILD_CHECK(!setrlimit(RLIMIT_FSIZE, &limit));
	for (i = 0; i < 20; i++)
		FI_WARN(&tcp, FI_LOG_CORE, "many lines");
	CHILD_CHECK(!sigpending(&set) && !sigismember(&set, SIGXFSZ));
	CHILD_CHECK(!sigprocmask(SIG_BLOCK, NULL, &set) && !sigismember(&set, SIGXFSZ));
	unlink(path);
}

/* The same for stderr that is a file, as that of a batch job is. */
static void to_full_stderr(void)
{
	struct rlimit limit = { 0, 0 };
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/job", dir);
	fd = open(path, O_CREAT | O_WRONLY | O_APPEND, 0600);
	CHILD_CHECK(fd >= 0 && dup2(fd, STDERR_FILENO) == STDERR_FILENO);
	CHILD_CHECK(!setrlimit(RLIMIT_FSIZE, &limit));
	FI_WARN(&tcp, FI_LOG_CORE, "a line");
	unlink(path);
}

static void test_location(void **state)
{
	char out[1024];

	snprintf(dir, sizeof(dir), "/tmp/fi_log_test_XXXXXX");
	assert_non_null(mkdtemp(dir));
	assert_int_equal(child_run(to_file, out, sizeof(out)), 0);
	assert_string_equal(out, "");
	assert_int_equal(child_run(to_directory, out, sizeof(out)), 0);
	assert_string_equal(out, "");
	assert_int_equal(child_run(to_existing, out, sizeof(out)), 0);
	assert_non_null(strstr(out, "FI_LOG_LOCATION="));
	assert_non_null(strstr(out, "after all"));
	assert_int_equal(child_run(to_full, out, sizeof(out)), 0);
	assert_non_null(strstr(out, "/full takes no more lines: File too large"));
	assert_ptr_equal(strchr(out, '\n'), out + strlen(out) - 1);
	assert_int_equal(child_run(to_full_stderr, out, sizeof(out)), 0);
	assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_level),
		cmocka_unit_test(test_level_of_others),
		cmocka_unit_test(test_prov),
		cmocka_unit_test(test_subsys),
		cmocka_unit_test(test_form),
		cmocka_unit_test(test_long_line_is_whole),
		cmocka_unit_test(test_bad_settings_say_so),
		cmocka_unit_test(test_control_characters_are_written_out),
		cmocka_unit_test(test_environment_may_change),
		cmocka_unit_test(test_output_into_full_pipe),
		cmocka_unit_test(test_interval),
		cmocka_unit_test(test_ready),
		cmocka_unit_test(test_location),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
