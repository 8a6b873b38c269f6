/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Where the key of FI_AUTH_KEY_FILE is: while endpoints are open, only in memory that no core file has; afterwards
 * nowhere in this process; never in a line of the log or in the environment.
 */
#include "tests/secure/side.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define KEY_SIZE 32
#define MASK 0x5a		/* this program has the key in no other form */
#define CHUNK (1 << 20)
#define WAIT_MS 20000

static uint8_t masked[KEY_SIZE];
static char path[] = "/tmp/memory_test.XXXXXX";
static uint8_t *chunk;		/* what was read; not looked at itself */

/* count_key - how often the key is among @len bytes. */
static unsigned count_key(const uint8_t *bytes, size_t len)
{
	unsigned cnt = 0;
	size_t at, i;

	for (at = 0; at + KEY_SIZE <= len; at++) {
		for (i = 0; i < KEY_SIZE && bytes[at + i] == (masked[i] ^ MASK); i++)
			;
		cnt += i == KEY_SIZE;
	}
	return cnt;
}

/* count_range - in a mapping; pieces overlap, so that a key at their border is found. */
static unsigned count_range(int mem, uintptr_t from, uintptr_t to)
{
	unsigned cnt = 0;
	ssize_t ret;

	for (; from < to; from += (size_t) ret > KEY_SIZE ? (size_t) ret - KEY_SIZE + 1 : (size_t) ret) {
		ret = pread(mem, chunk, to - from < CHUNK ? to - from : CHUNK, (off_t) from);
		if (ret <= 0)
			break;
		cnt += count_key(chunk, (size_t) ret);
		explicit_bzero(chunk, (size_t) ret);
		if ((size_t) ret == to - from)
			break;
	}
	return cnt;
}

/* find_key - in memory that a core file has, and in memory that it has not. */
static void find_key(unsigned *dumped_p, unsigned *hidden_p)
{
	FILE *maps = fopen("/proc/self/smaps", "r");
	int mem = open("/proc/self/mem", O_RDONLY);
	uintptr_t from = 0, to = 0, a, b;
	char line[512], perms[8];

	*dumped_p = *hidden_p = 0;
	assert_non_null(maps);
	assert_true(mem >= 0);
	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %4s", &a, &b, perms) == 3 && strchr(line, '-') < strchr(line, ' ')) {
			from = *perms == 'r' ? a : b;
			to = b;
		} else if (!strncmp(line, "VmFlags:", 8) && from <= (uintptr_t) chunk && (uintptr_t) chunk < to) {
			*hidden_p += from < (uintptr_t) chunk ? count_range(mem, from, (uintptr_t) chunk) : 0;
			if (to > (uintptr_t) chunk + CHUNK)
				*hidden_p += count_range(mem, (uintptr_t) chunk + CHUNK, to);
		} else if (!strncmp(line, "VmFlags:", 8)) {
			*(strstr(line, " dd") ? hidden_p : dumped_p) += count_range(mem, from, to);
		}
	}
	fclose(maps);
	close(mem);
}

static void exchange_message(struct side *from, struct side *to)
{
	uint64_t until = now_ms() + WAIT_MS;
	int ret = 0;

	post_recv(to);
	post_send(from, knows(from, &to->name));
	while (!ret && now_ms() < until) {
		poll_side(from);
		ret = poll_side(to);
	}
	assert_int_equal(ret, 1);
}

static void a_key_is_in_no_core(void **state)
{
	static const char *const levels[] = { "auth", "encrypt" };
	unsigned dumped, hidden;
	struct side one, two;
	size_t i;

	for (i = 0; i < 2; i++) {
		open_side(&one, levels[i], NULL);
		open_side(&two, levels[i], NULL);
		exchange_message(&one, &two);
		exchange_message(&two, &one);
		find_key(&dumped, &hidden);
		assert_int_equal(dumped, 0);
		assert_int_equal(hidden, 2);		/* that of each endpoint: the test would find one */
		close_side(&one);
		close_side(&two);
		find_key(&dumped, &hidden);
		assert_int_equal(dumped + hidden, 0);
	}
}

/* Lines of all levels and of a hook that traces each call, raw and as hexadecimal digits. */
static void a_key_is_in_no_line(void **state)
{
	char hex[9];

	assert_true(logged_len > 0);
	assert_int_equal(count_key((const uint8_t *) logged, logged_len), 0);
	snprintf(hex, sizeof(hex), "%02x%02x%02x%02x", masked[0] ^ MASK, masked[1] ^ MASK, masked[2] ^ MASK,
		 masked[3] ^ MASK);
	assert_null(strcasestr(logged, hex));
}

static int begin(void **state)
{
	uint8_t record[KEY_SIZE];
	int fd = mkstemp(path), random = open("/dev/urandom", O_RDONLY), i;

	chunk = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(chunk != MAP_FAILED && !madvise(chunk, CHUNK, MADV_DONTDUMP));
	CHECK(fd >= 0 && random >= 0 && read(random, record, KEY_SIZE) == KEY_SIZE);
	CHECK(write(fd, record, KEY_SIZE) == KEY_SIZE);
	for (i = 0; i < KEY_SIZE; i++)
		masked[i] = record[i] ^ MASK;
	explicit_bzero(record, sizeof(record));
	close(random);
	close(fd);
	setenv("FI_AUTH_KEY_FILE", path, 1);
	setenv("PROV", "tcp", 1);
	setenv("FI_HOOK", "trace", 1);
	log_all = true;
	CALL(fi_import_log(FI_VERSION(2, 0), 0, &log_fid));
	return 0;
}

static int end(void **state)
{
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_key_is_in_no_core),
		cmocka_unit_test(a_key_is_in_no_line),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
