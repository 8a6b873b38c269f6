/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Rotation of keys while a job runs: two hosts, each with a file of its own, change them in three steps (the new key
 * is added behind the old one, put first, and the old one removed), one host after the other.  Before and after each
 * change messages go on over the connection that stands, and new endpoints of either host reach the other one.
 */
#include "tests/secure/side.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "secure/key.h"

#define WAIT_MS 20000
#define MESSAGES 50
#define HOSTS 2

static char paths[HOSTS][64];
static struct side members[HOSTS];
static fi_addr_t other[HOSTS];		/* the other member, as each knows it */

/* write_keys - @list: "0", "01", ...: the numbers of keys, the one that is offered first.  The file is replaced. */
static void write_keys(const char *path, const char *list)
{
	uint8_t record[SEC_KEY_RECORD_SIZE] = SEC_KEY_HEAD;
	char fresh[80];
	int fd;

	snprintf(fresh, sizeof(fresh), "%s.new", path);
	fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL, 0600);
	CHECK(fd >= 0);
	for (; *list; list++) {
		memset(record + SEC_KEY_HEAD_SIZE, (uint8_t) (0xa0 + *list), SEC_KEY_SIZE);
		CHECK(write(fd, record, sizeof(record)) == sizeof(record));
	}
	close(fd);
	CALL(rename(fresh, path));
}

static void open_on(struct side *s, int host)
{
	setenv("FI_AUTH_KEY_FILE", paths[host], 1);
	open_side(s, getenv("LEVEL"), NULL);
}

/* pass - one message of @from to @to.  Returns 0, or the error of the send. */
static int pass(struct side *from, fi_addr_t addr, struct side *to)
{
	uint64_t until = now_ms() + WAIT_MS;
	bool came = false, sent = false;
	int ret;

	message[0]++;
	post_recv(to);
	post_send(from, addr);
	while (!came || !sent) {
		CHECK(now_ms() < until);
		ret = poll_side(from);
		if (ret < 0)
			return from->err;
		sent |= ret > 0;
		came |= poll_side(to) > 0;
	}
	CHECK(!memcmp(to->buf, message, SIZE));
	return 0;
}

/* standing - the connection of the members carries on, in both directions. */
static void standing(void)
{
	int i, host;

	for (i = 0; i < MESSAGES; i++)
		for (host = 0; host < HOSTS; host++)
			CALL(pass(&members[host], other[host], &members[!host]));
}

static void new_ones_connect(void)
{
	struct side s;
	int host;

	for (host = 0; host < HOSTS; host++) {
		open_on(&s, host);
		CALL(pass(&s, knows(&s, &members[!host].name), &members[!host]));
		CALL(pass(&members[!host], knows(&members[!host], &s.name), &s));
		close_side(&s);
		standing();
	}
}

static void rotate(void **state)
{
	static const char *const steps[] = { "0", "01", "10", "1" };
	struct side late;
	size_t step;
	int host;

	for (host = 0; host < HOSTS; host++) {
		write_keys(paths[host], steps[0]);
		open_on(&members[host], host);
	}
	for (host = 0; host < HOSTS; host++)
		other[host] = knows(&members[host], &members[!host].name);
	standing();
	for (step = 1; step < sizeof(steps) / sizeof(steps[0]); step++)
		for (host = 0; host < HOSTS; host++) {
			write_keys(paths[host], steps[step]);
			standing();
			new_ones_connect();
		}
	write_keys(paths[0], "0");	/* who has the old key alone is out */
	open_on(&late, 0);
	logged_len = 0;
	assert_int_equal(pass(&late, knows(&late, &members[1].name), &members[1]), FI_EACCES);
	assert_logged("is none of ours");
	close_side(&late);
	standing();
	for (host = 0; host < HOSTS; host++)
		close_side(&members[host]);
}

static int run_in_child(const char *prov, const char *level, const char *local)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(rotate) };
	int status = 0;
	pid_t pid = fork();

	if (!pid) {
		printf("# %s, %s, local %s\n", prov, level, local);
		setenv("PROV", prov, 1);
		setenv("LEVEL", level, 1);
		setenv("FI_TCP_LOCAL", local, 1);
		setenv("FI_OFI_RXM_LOCAL", local, 1);
		CALL(fi_import_log(FI_VERSION(2, 0), 0, &log_fid));
		exit(cmocka_run_group_tests(tests, NULL, NULL) ? 1 : 0);
	}
	return pid < 0 || waitpid(pid, &status, 0) != pid || status;
}

int main(void)
{
	static const char *const provs[] = {
		"tcp",
#if HAVE_RXM
		"tcp;ofi_rxm",
#endif
	};
	char dir[] = "/tmp/rotate_test.XXXXXX";
	int failed = 0, host;
	size_t i;

	setvbuf(stdout, NULL, _IONBF, 0);
	setenv("FI_LOG_INTERVAL", "1", 1);
	CHECK(mkdtemp(dir));
	for (host = 0; host < HOSTS; host++)
		snprintf(paths[host], sizeof(paths[host]), "%s/%d", dir, host);
	for (i = 0; i < sizeof(provs) / sizeof(provs[0]); i++)
		failed += run_in_child(provs[i], "encrypt", "0") + run_in_child(provs[i], "auth", "0") +
			  run_in_child(provs[i], "encrypt", "1");
	for (host = 0; host < HOSTS; host++)
		unlink(paths[host]);
	rmdir(dir);
	return failed ? 1 : 0;
}
