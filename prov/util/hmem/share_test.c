/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Two processes: one allocates, frees and describes, the other opens and copies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "base/test/verify.h"
#include <rdma/fi_errno.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "../../../fabtests/common/device.h"
#include "../../../tests/fakegpu/use.h"
#include "hmem/share.h"

#define LEN 200000
#define SAME_MAX 100

static const char *const words[] = { "cuda", "rocr", "ze" };
static const char *const libs[] = { "libcuda.so.1", "libhsa-runtime64.so.1", "libze_loader.so.1" };

/* ---- the owner: a process that does what it is told ---------------------------------------- */

enum { ALLOC, FREE };

static int owner(int sock, const char *kind)
{
	struct hmem_share share;
	char *at = NULL, *fill = malloc(LEN), cmd[2];
	struct hmem_loc loc;
	const char *why;

	if (!fill || device_open(kind, 0) || !hmem_start())
		return 2;
	while (read(sock, cmd, sizeof(cmd)) == sizeof(cmd)) {
		memset(fill, cmd[1], LEN);
		memset(&share, 0, sizeof(share));
		if (cmd[0] == FREE)
			device_free(at);
		if (cmd[0] == ALLOC) {
			at = device_alloc(LEN);
			if (!at || !device_put(at, fill, LEN) ||
			    hmem_find(device_iface(), 0, at, LEN, 0, &loc, &why) ||
			    hmem_share_of(&loc, at + 100, LEN - 100, &share))
				return 3;
			hmem_forget(&loc);
		}
		if (write(sock, &share, sizeof(share)) != sizeof(share))
			return 4;
	}
	free(fill);
	return 0;
}

struct fix {
	int kind, sock;
	pid_t pid;
	char *dev;
	struct hmem_loc loc;
	char got[LEN];
};

static struct fix f;

/* The owner is a program of its own: libraries of devices do not survive fork(). */
static void start(int kind)
{
	const char *why = NULL;
	int sock[2];

	memset(&f, 0, sizeof(f));
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sock), 0);
	f.pid = fork();
	assert_true(f.pid >= 0);
	if (!f.pid) {
		char num[16], *argv[] = { (char *) "share_test", num, (char *) words[kind], NULL };

		close(sock[0]);
		snprintf(num, sizeof(num), "%d", sock[1]);
		execv("/proc/self/exe", argv);
		_exit(99);
	}
	close(sock[1]);
	f.sock = sock[0];
	f.kind = kind;
	assert_null(device_open(words[kind], 1));
	f.dev = device_alloc(LEN);
	assert_non_null(f.dev);
	assert_int_equal(hmem_find(device_iface(), 1, f.dev, LEN, 0, &f.loc, &why), 0);
}

static void stop(void)
{
	int status;

	close(f.sock);
	assert_int_equal(waitpid(f.pid, &status, 0), f.pid);
	assert_int_equal(status, 0);
	hmem_share_trim();
	assert_int_equal(hmem_share_cnt(), 0);
	hmem_forget(&f.loc);
	device_free(f.dev);
}

static struct hmem_share tell(char cmd, char val)
{
	struct hmem_share share;
	char msg[2] = { cmd, val };

	assert_int_equal(write(f.sock, msg, sizeof(msg)), sizeof(msg));
	assert_int_equal(read(f.sock, &share, sizeof(share)), sizeof(share));
	return share;
}

/* ---- the other process ------------------------------------------------------------------- */

static struct hmem_opened *fetch(const struct hmem_share *share, char val)
{
	struct hmem_opened *opened;
	struct hmem_event event;
	char *base;
	int ret, i;

	assert_int_equal(hmem_share_open(&f.loc, share, &opened, &base), 0);
	ret = hmem_copy_start(HMEM_ON_DEVICE, &f.loc, f.dev, base, LEN, &event);
	assert_int_equal(ret, 0);
	do {
		ret = hmem_copy_done(&event);
	} while (!ret);
	assert_int_equal(ret, 1);
	assert_true(device_get(f.got, f.dev, LEN));
	for (i = 0; i < LEN; i++)
		assert_int_equal(f.got[i], val);
	return opened;
}

static void test_kept_open(void **state)
{
	struct hmem_opened *one, *two;
	struct hmem_share share;
	char *base;
	int k;

	for (k = 0; k < 3; k++) {
		start(k);
		share = tell(ALLOC, 7);
		one = fetch(&share, 7);
		two = fetch(&share, 7);
		assert_ptr_equal(one, two);
		hmem_share_close(one);
		hmem_share_close(two);
		assert_int_equal(hmem_share_cnt(), 1);
		/* opened once: a second time would fail */
		fakegpu_plan(libs[k], k == 0 ? "cuIpcOpenMemHandle" : k == 1 ?
			     "hsa_amd_ipc_memory_attach" : "zeMemOpenIpcHandle", 1);
		hmem_share_close(fetch(&share, 7));
		hmem_share_trim();
		assert_true(hmem_share_open(&f.loc, &share, &one, &base) <= -HMEM_ERR_BASE);
		fakegpu_plan(libs[k], "", 0);
		tell(FREE, 0);
		stop();
	}
}

/* The owner frees, and its next allocation, at the same address or not, has other bytes. */
static void test_reuse(void **state)
{
	struct hmem_share was, is;
	struct hmem_opened *busy;
	int k, i, same;

	for (k = 0; k < 3; k++) {
		start(k);
		was = tell(ALLOC, 1);
		hmem_share_close(fetch(&was, 1));
		for (i = same = 0; i < SAME_MAX && !same; i++) {
			tell(FREE, 0);
			is = tell(ALLOC, (char) (i + 2));
			same = is.base == was.base;
			hmem_share_close(fetch(&is, (char) (i + 2)));
			was = is;
		}
		assert_true(same);
		/* what is replaced while it is in use closes with its last user */
		busy = fetch(&is, (char) (i + 1));
		is.id ^= 1;
		is.handle[63] ^= 1;
		hmem_share_close(fetch(&is, (char) (i + 1)));
		assert_true(busy->stale);
		hmem_share_close(busy);
		tell(FREE, 0);
		stop();
	}
}

static void test_limit(void **state)
{
	static struct hmem_share shares[70];
	int i;

	start(0);
	for (i = 0; i < 70; i++) {
		shares[i] = tell(ALLOC, (char) i);
		hmem_share_close(fetch(&shares[i], (char) i));
	}
	assert_int_equal(hmem_share_cnt(), 64);
	/* the oldest were closed, and open again */
	hmem_share_close(fetch(&shares[0], 0));
	assert_int_equal(hmem_share_cnt(), 64);
	stop();
}

/* A description is a peer's: one that is too long, or of another interface, is refused. */
static void test_refused(void **state)
{
	struct hmem_opened *opened;
	struct hmem_share share, bad;
	char *base;
	int k;

	for (k = 0; k < 3; k++) {
		start(k);
		share = bad = tell(ALLOC, 9);
		bad.len += UINT64_C(1) << 40;
		assert_true(hmem_share_open(&f.loc, &bad, &opened, &base) < 0);
		bad = share;
		bad.iface = share.iface % 3 + 1;
		assert_int_equal(hmem_share_open(&f.loc, &bad, &opened, &base), -FI_EOPNOTSUPP);
		memset(bad.handle, 0x5a, sizeof(bad.handle));
		bad.iface = share.iface;
		assert_true(hmem_share_open(&f.loc, &bad, &opened, &base) <= -HMEM_ERR_BASE);
		assert_int_equal(hmem_share_cnt(), 0);
		tell(FREE, 0);
		assert_true(hmem_share_open(&f.loc, &share, &opened, &base) <= -HMEM_ERR_BASE);
		stop();
	}
}

/* Of this process: no driver opens its own handles, and none is needed. */
static void test_own(void **state)
{
	struct hmem_opened *opened;
	struct hmem_share share;
	char *base;

	start(0);
	assert_int_equal(hmem_share_of(&f.loc, f.dev, LEN, &share), 0);
	assert_int_equal(hmem_share_open(&f.loc, &share, &opened, &base), 0);
	assert_null(opened);
	assert_ptr_equal(base, f.dev);
	/* the number of this process is no secret: a peer may tell of memory that is not there */
	share.base += 65536;
	assert_int_equal(hmem_share_open(&f.loc, &share, &opened, &base), -FI_EINVAL);
	share.base = (uintptr_t) f.got & ~(uintptr_t) 65535;
	assert_true(hmem_share_open(&f.loc, &share, &opened, &base) < 0);
	/* beyond the end of the allocation */
	assert_int_equal(hmem_share_of(&f.loc, f.dev, (size_t) 1 << 40, &share), -FI_EOPNOTSUPP);
	f.loc.unshared = true;
	assert_int_equal(hmem_share_of(&f.loc, f.dev, LEN, &share), -FI_EOPNOTSUPP);
	stop();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kept_open),
		cmocka_unit_test(test_reuse),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_own),
	};

	setenv("FAKEGPU_DELAY_US", "20", 0);
	fakegpu_use(argv);
	if (argc == 3)
		return owner(atoi(argv[1]), argv[2]);
	hmem_start();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
