/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* What each kind of device memory promises, over tests/fakegpu. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "base/clock.h"
#include "base/test/verify.h"
#include <pthread.h>
#include <rdma/fi_errno.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "../../../fabtests/common/device.h"
#include "../../../tests/fakegpu/use.h"
#include "hmem/mem.h"

#define LEN 300000

static const char *const words[] = { "cuda", "rocr", "ze" };
static const char *const libs[] = { "libcuda.so.1", "libhsa-runtime64.so.1", "libze_loader.so.1" };

struct fix {
	int kind;		/* in words */
	enum fi_hmem_iface iface;
	char *dev;
	struct hmem_loc loc;
	char out[LEN], in[LEN];
};

static void fill(char *buf, unsigned seed)
{
	size_t i;

	for (i = 0; i < LEN; i++)
		buf[i] = (char) (i * 7 + seed);
}

static void open_one(struct fix *f, int kind, int number)
{
	const char *why = NULL;

	memset(f, 0, sizeof(*f));
	f->kind = kind;
	assert_null(device_open(words[kind], number));
	f->iface = device_iface();
	f->dev = device_alloc(LEN);
	assert_non_null(f->dev);
	assert_int_equal(hmem_find(f->iface, (uint64_t) number, f->dev, LEN, 0, &f->loc, &why), 0);
}

static void close_one(struct fix *f)
{
	hmem_forget(&f->loc);
	device_free(f->dev);
}

static int wait_for(struct hmem_event *event)
{
	int ret;

	do {
		ret = hmem_copy_done(event);
	} while (!ret);
	return ret;
}

static void test_start(void **state)
{
	assert_true(hmem_start());
	assert_true(hmem_has(FI_HMEM_SYSTEM));
	assert_true(hmem_has(FI_HMEM_CUDA));
	assert_true(hmem_has(FI_HMEM_ROCR));
	assert_true(hmem_has(FI_HMEM_ZE));
	assert_false(hmem_has(FI_HMEM_NEURON));
	assert_non_null(strstr(hmem_why(FI_HMEM_NEURON), "libnrt.so.1"));
	assert_true(hmem_gdrcopy());
	/* looking for devices makes no context on one */
	assert_int_equal(fakegpu_number("libcuda.so.1", "fakegpu_contexts"), 0);
}

static void test_copy(void **state)
{
	static const size_t lens[] = { 1, 100, 5000, 70000, LEN };
	static struct fix f;
	size_t i;
	int k, number;

	for (k = 0; k < 3; k++)
		for (number = 0; number < 2; number++) {
			open_one(&f, k, number);
			for (i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
				fill(f.out, (unsigned) i);
				memset(f.in, 0, LEN);
				assert_int_equal(hmem_copy(HMEM_TO_DEVICE, &f.loc, f.dev, f.out, lens[i]), 0);
				assert_true(device_get(f.in, f.dev, lens[i]));
				assert_memory_equal(f.in, f.out, lens[i]);
				memset(f.in, 0, LEN);
				assert_int_equal(hmem_copy(HMEM_TO_HOST, &f.loc, f.dev, f.in, lens[i]), 0);
				assert_memory_equal(f.in, f.out, lens[i]);
			}
			close_one(&f);
		}
	assert_true(fakegpu_number("libgdrapi.so.2", "fakegpu_gdr_copies") > 0);
}

static void test_copy_start(void **state)
{
	struct hmem_event events[8];
	static struct fix f;
	const size_t part = LEN / 8;
	int k, i;

	for (k = 0; k < 3; k++) {
		open_one(&f, k, 1);
		fill(f.out, 5);
		hmem_pin(f.out, LEN);
		for (i = 0; i < 8; i++)
			assert_int_equal(hmem_copy_start(HMEM_TO_DEVICE, &f.loc, f.dev + i * part,
							 f.out + i * part, part, &events[i]), 0);
		for (i = 0; i < 8; i++)
			assert_int_equal(wait_for(&events[i]), 1);
		hmem_unpin(f.out);
		for (i = 0; i < 8; i++)
			assert_int_equal(hmem_copy_start(HMEM_TO_HOST, &f.loc, f.dev + i * part,
							 f.in + i * part, part, &events[i]), 0);
		for (i = 7; i >= 0; i--)
			assert_int_equal(wait_for(&events[i]), 1);
		assert_memory_equal(f.in, f.out, part * 8);
		close_one(&f);
	}
}

/* Memory that is another's, that was freed, or that is not the device's. */
static void test_find_refused(void **state)
{
	const char *why = NULL;
	static struct fix f;
	struct hmem_loc loc;
	char stack[16];
	int k;

	for (k = 0; k < 3; k++) {
		open_one(&f, k, 0);
		assert_int_equal(hmem_find(f.iface, 1, f.dev, LEN, 0, &loc, &why), -FI_EINVAL);
		assert_non_null(strstr(why, "another"));
		assert_int_equal(hmem_find(f.iface, 0, stack, sizeof(stack), 0, &loc, &why), -FI_EINVAL);
		assert_non_null(strstr(why, "does not know this memory"));
		assert_int_equal(hmem_find(f.iface, 0, f.dev, LEN, FI_HMEM_HOST_ALLOC, &loc, &why),
				 -FI_EINVAL);
		close_one(&f);
		assert_int_equal(hmem_find(f.iface, 0, f.dev, LEN, 0, &loc, &why), -FI_EINVAL);
	}
	assert_int_equal(hmem_find(FI_HMEM_NEURON, 0, stack, 1, 0, &loc, &why), -FI_EOPNOTSUPP);
	assert_non_null(strstr(why, "libnrt"));
}

static void test_detect(void **state)
{
	uint64_t device = 9;
	static struct fix f;
	char stack[16];
	int k;

	for (k = 0; k < 3; k++) {
		open_one(&f, k, 1);
		assert_int_equal(hmem_detect(f.dev + 5, &device), f.iface);
		assert_int_equal(device, 1);
		close_one(&f);
	}
	assert_int_equal(hmem_detect(stack, &device), FI_HMEM_SYSTEM);
}

/* Of three allocations the one in the middle is freed: both ends are memory of the device. */
static void test_find_over_a_gap(void **state)
{
	const char *why = NULL;
	static struct fix f;
	struct hmem_loc loc;
	char *at[3], *swap;
	int k, i, j;

	for (k = 0; k < 3; k++) {
		open_one(&f, k, 0);
		for (i = 0; i < 3; i++) {
			at[i] = device_alloc(LEN);
			assert_non_null(at[i]);
			for (j = i; j && (uintptr_t) at[j] < (uintptr_t) at[j - 1]; j--) {
				swap = at[j];
				at[j] = at[j - 1];
				at[j - 1] = swap;
			}
		}
		device_free(at[1]);
		assert_int_equal(hmem_find(f.iface, 0, at[0], (size_t) (at[2] + LEN - at[0]), 0, &loc,
					   &why), -FI_EINVAL);
		assert_non_null(why);
		device_free(at[0]);
		device_free(at[2]);
		close_one(&f);
	}
}

static struct {
	int (*alloc_managed)(uint64_t *, size_t, unsigned), (*push)(void *), (*pop)(void **);
	int (*reserve)(uint64_t *, size_t, size_t, uint64_t, unsigned long long);
	int (*create)(unsigned long long *, size_t, const int *, unsigned long long);
	int (*map)(uint64_t, size_t, size_t, unsigned long long, unsigned long long);
	int (*retain)(void **, int), (*unmap)(uint64_t, size_t), (*release)(unsigned long long);
} cu;

static void load_cuda(void)
{
	const char *lib = "libcuda.so.1";

#define GET(fn, name) do { void *sym_ = fakegpu_call(lib, name); memcpy(&cu.fn, &sym_, sizeof(sym_)); } while (0)
	GET(alloc_managed, "cuMemAllocManaged");
	GET(push, "cuCtxPushCurrent_v2");
	GET(pop, "cuCtxPopCurrent_v2");
	GET(retain, "cuDevicePrimaryCtxRetain");
	GET(reserve, "cuMemAddressReserve");
	GET(create, "cuMemCreate");
	GET(map, "cuMemMap");
	GET(unmap, "cuMemUnmap");
	GET(release, "cuMemRelease");
#undef GET
}

#define PIECE	65536
#define PIECES	3

/* Mapped memory, a piece by @device; -1: none there. */
static char *map_pieces(const int device[PIECES])
{
	unsigned long long handle;
	uint64_t at = 0;
	int i;

	assert_int_equal(cu.reserve(&at, PIECES * PIECE, 0, 0, 0), 0);
	for (i = 0; i < PIECES; i++) {
		int prop[8] = { 1, 0, 1, device[i] };

		if (device[i] < 0)
			continue;
		assert_int_equal(cu.create(&handle, PIECE, prop, 0), 0);
		assert_int_equal(cu.map(at + (uint64_t) i * PIECE, PIECE, 0, handle, 0), 0);
		assert_int_equal(cu.release(handle), 0);
	}
	return (char *) (uintptr_t) at;
}

static void unmap_pieces(char *at, const int device[PIECES])
{
	int i;

	for (i = 0; i < PIECES; i++)
		if (device[i] >= 0)
			assert_int_equal(cu.unmap((uintptr_t) at + (uint64_t) i * PIECE, PIECE), 0);
}

/* Managed memory is the CPU's, too. */
static void test_cuda_managed(void **state)
{
	const char *why = NULL;
	struct hmem_loc loc;
	uint64_t at = 0;
	void *ctx;

	load_cuda();
	assert_int_equal(cu.retain(&ctx, 0), 0);
	cu.push(ctx);
	assert_int_equal(cu.alloc_managed(&at, 100, 1), 0);
	assert_int_equal(hmem_find(FI_HMEM_CUDA, 0, (void *) at, 100, 0, &loc, &why), 0);
	assert_true(loc.host);
	assert_int_equal(hmem_find(FI_HMEM_CUDA, 0, (void *) at, 100, FI_HMEM_DEVICE_ONLY, &loc, &why),
			 -FI_EINVAL);
	cu.pop(&ctx);
}

/* Memory of several handles is one buffer. */
static void test_cuda_mapped(void **state)
{
	static const int device[PIECES] = { 0, 0, 0 };
	static char out[PIECES * PIECE], in[PIECES * PIECE];
	const char *why = NULL;
	struct hmem_loc loc;
	uint64_t off;
	char *at;
	int fd;

	load_cuda();
	at = map_pieces(device);
	assert_int_equal(hmem_find(FI_HMEM_CUDA, 0, at, sizeof(out), 0, &loc, &why), 0);
	assert_false(loc.host);
	memset(out, 0x5a, sizeof(out));
	assert_int_equal(hmem_copy(HMEM_TO_DEVICE, &loc, at, out, sizeof(out)), 0);
	assert_int_equal(hmem_copy(HMEM_TO_HOST, &loc, at, in, sizeof(in)), 0);
	assert_memory_equal(in, out, sizeof(out));
	/* what has no handle of either sort is refused with the call's name */
	assert_true(hmem_dmabuf(&loc, at, sizeof(out), &fd, &off) <= -HMEM_ERR_BASE);
	/* its number does not change when other handles are mapped there, so it has none */
	assert_int_equal(hmem_id(&loc, at, &off), -FI_EOPNOTSUPP);
	hmem_forget(&loc);
	unmap_pieces(at, device);
}

/* Every piece counts, also one between two of the device. */
static void test_cuda_mapped_apart(void **state)
{
	static const struct { int device[PIECES]; const char *why; } t[] = {
		{ { 0, 1, 0 }, "several kinds or devices" }, { { 0, 0, 1 }, "several kinds or devices" },
		{ { 0, -1, 0 }, "does not know this memory" }, { { 0, 0, -1 }, "does not know this memory" },
	};
	struct hmem_loc loc;
	const char *why;
	size_t i;
	char *at;

	load_cuda();
	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		at = map_pieces(t[i].device);
		assert_int_equal(hmem_find(FI_HMEM_CUDA, 0, at, PIECES * PIECE, 0, &loc, &why), -FI_EINVAL);
		assert_non_null(strstr(why, t[i].why));
		assert_int_equal(hmem_find(FI_HMEM_CUDA, 0, at, PIECE, 0, &loc, &why), 0);
		hmem_forget(&loc);
		fakegpu_plan("libcuda.so.1", "cuMemGetAddressRange", 1);
		assert_true(hmem_find(FI_HMEM_CUDA, 0, at, PIECE, 0, &loc, &why) <= -HMEM_ERR_BASE);
		fakegpu_plan("libcuda.so.1", "", 0);
		unmap_pieces(at, t[i].device);
	}
}

/* Also in a thread that has used no device, as one of progress is.  NULL if it is right. */
static void *range_of(void *arg)
{
	struct fix *f = arg;
	void *base;
	size_t len;
	int ret = hmem_range(&f->loc, f->dev + 5, &base, &len);

	return ret || base != f->dev || len < LEN ? f : NULL;
}

static void test_dmabuf_and_range(void **state)
{
	static struct fix f;
	pthread_t thread;
	void *wrong;
	uint64_t off;
	char got[8];
	int k, fd;

	for (k = 0; k < 3; k++) {
		open_one(&f, k, 0);
		fill(f.out, 1);
		assert_true(device_put(f.dev, f.out, LEN));
		assert_null(range_of(&f));
		assert_int_equal(pthread_create(&thread, NULL, range_of, &f), 0);
		assert_int_equal(pthread_join(thread, &wrong), 0);
		assert_null(wrong);
		assert_int_equal(hmem_dmabuf(&f.loc, f.dev + 100, 1000, &fd, &off), 0);
		assert_int_equal(pread(fd, got, sizeof(got), (off_t) off), sizeof(got));
		assert_memory_equal(got, f.out + 100, sizeof(got));
		close(fd);
		close_one(&f);
	}
}

/* The number is the allocation's, wherever in it one asks, and of no other at the same address. */
static void test_number(void **state)
{
	static struct fix f;
	uint64_t first, second;
	char *was;
	int k;

	for (k = 0; k < 3; k++) {
		open_one(&f, k, 0);
		was = f.dev;
		assert_true(hmem_exports(f.iface));
		assert_int_equal(hmem_id(&f.loc, f.dev, &first), 0);
		assert_int_equal(hmem_id(&f.loc, f.dev + LEN - 1, &second), 0);
		assert_int_equal(first, second);
		close_one(&f);
		assert_int_not_equal(hmem_id(&f.loc, was, &second), 0);
		open_one(&f, k, 0);
		assert_ptr_equal(f.dev, was);
		assert_int_equal(hmem_id(&f.loc, f.dev, &second), 0);
		assert_int_not_equal(first, second);
		close_one(&f);
	}
	assert_false(hmem_exports(FI_HMEM_NEURON));
	assert_int_equal(hmem_id(&(struct hmem_loc) { .iface = FI_HMEM_NEURON }, f.out, &first),
			 -FI_EOPNOTSUPP);
}

/* In a process of its own: open the handle that comes, read, write, close. */
static int other_side(int sock, int kind)
{
	struct { char handle[HMEM_IPC_SIZE]; size_t len; } msg;
	const char *why;
	struct hmem_loc loc;
	char *own, *base, buf[64];
	void *at;
	int ret;

	if (device_open(words[kind], 0) || !hmem_start())
		return 2;
	own = device_alloc(64);
	if (!own || hmem_find(device_iface(), 0, own, 64, 0, &loc, &why))
		return 3;
	if (read(sock, &msg, sizeof(msg)) != sizeof(msg))
		return 4;
	if (hmem_ipc_open(&loc, msg.handle, msg.len, &at))
		return 5;
	base = at;
	if (hmem_copy(HMEM_TO_HOST, &loc, base + 1000, buf, sizeof(buf)) ||
	    hmem_copy(HMEM_TO_DEVICE, &loc, base, buf, sizeof(buf)) || hmem_ipc_close(&loc, base))
		return 6;
	if (write(sock, "1", 1) != 1 || read(sock, buf, 1) != 1)
		return 7;
	/* freed meanwhile: a second try is refused */
	ret = hmem_ipc_open(&loc, msg.handle, msg.len, &at);
	hmem_forget(&loc);
	device_free(own);
	return ret <= -HMEM_ERR_BASE ? 0 : 8;
}

static void test_ipc(void **state)
{
	struct { char handle[HMEM_IPC_SIZE]; size_t len; } msg;
	static struct fix f;
	int k, sock[2], status;
	void *base;
	pid_t pid;
	char c;

	for (k = 0; k < 3; k++) {
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sock), 0);
		pid = fork();
		assert_true(pid >= 0);
		if (!pid) {
			char num[2][16];
			char *argv[] = { (char *) "copy_test", num[0], num[1], NULL };

			snprintf(num[0], sizeof(num[0]), "%d", sock[1]);
			snprintf(num[1], sizeof(num[1]), "%d", k);
			execv("/proc/self/exe", argv);
			_exit(99);
		}
		open_one(&f, k, 0);
		fill(f.out, 3);
		assert_true(device_put(f.dev, f.out, LEN));
		assert_int_equal(hmem_range(&f.loc, f.dev + 7, &base, &msg.len), 0);
		assert_int_equal(hmem_ipc_get(&f.loc, base, msg.handle), 0);
		assert_int_equal(write(sock[0], &msg, sizeof(msg)), sizeof(msg));
		assert_int_equal(read(sock[0], &c, 1), 1);
		assert_true(device_get(f.in, f.dev, 64));
		assert_memory_equal(f.in, f.out + 1000, 64);
		close_one(&f);
		assert_int_equal(write(sock[0], "2", 1), 1);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
		close(sock[0]);
		close(sock[1]);
	}
}

/* Each call that a copy makes fails in turn: an error with its name, and the next one works. */
static void test_failing_calls(void **state)
{
	static const struct { int kind; const char *plan, *named; bool start; } t[] = {
		{ 0, "cuCtxPushCurrent", "cuCtxPushCurrent", false },
		{ 0, "cuMemcpyHtoDAsync", "cuMemcpyHtoDAsync", false },
		{ 0, "cuStreamSynchronize", "cuStreamSynchronize", false },
		{ 0, "cuMemcpyHtoDAsync", "cuMemcpyHtoDAsync", true },
		{ 0, "cuEventRecord", "cuEventRecord", true },
		{ 0, "cuEventQuery", "cuEventQuery", true },
		{ 1, "hsa_amd_memory_async_copy", "hsa_amd_memory_async_copy", false },
		{ 1, "copy end", "hsa_amd_memory_async_copy (its end)", false },
		{ 1, "copy end", "hsa_amd_memory_async_copy (its end)", true },
		{ 2, "zeCommandListAppendMemoryCopy", "zeCommandListAppendMemoryCopy", false },
		{ 2, "zeEventHostSynchronize", "zeEventHostSynchronize", false },
		{ 2, "zeEventQueryStatus", "zeEventQueryStatus", true },
	};
	struct hmem_event event;
	static struct fix f;
	size_t i;
	int ret;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		open_one(&f, t[i].kind, 1);
		fakegpu_plan(libs[t[i].kind], t[i].plan, 1);
		if (t[i].start) {
			ret = hmem_copy_start(HMEM_TO_DEVICE, &f.loc, f.dev, f.out, LEN, &event);
			if (!ret)
				ret = wait_for(&event);
		} else {
			ret = hmem_copy(HMEM_TO_DEVICE, &f.loc, f.dev, f.out, LEN);
		}
		assert_true(ret <= -HMEM_ERR_BASE);
		assert_int_equal(hmem_errno(ret), -FI_EIO);
		assert_non_null(strstr(hmem_strerror(ret), t[i].named));
		assert_non_null(strstr(hmem_strerror(ret), "device 1"));
		fakegpu_plan(libs[t[i].kind], "", 0);
		assert_int_equal(hmem_copy(HMEM_TO_DEVICE, &f.loc, f.dev, f.out, LEN), 0);
		close_one(&f);
	}
	assert_null(hmem_strerror(FI_EIO));
	assert_int_equal(hmem_errno(-FI_EINVAL), -FI_EINVAL);
}

/* ---- memory without a context ------------------------------------------------------------------ */

static const char *const loose[] = { "cuda-map", "cuda-pool" };

static void open_loose(struct fix *f, const char *word)
{
	const char *why = NULL;

	memset(f, 0, sizeof(*f));
	assert_null(device_open(word, 0));
	f->dev = device_alloc(LEN);
	assert_non_null(f->dev);
	assert_int_equal(hmem_find(FI_HMEM_CUDA, 0, f->dev, LEN, 0, &f->loc, &why), 0);
	assert_true(f->loc.unshared);
}

/* What the program has copied there is read, and does not come after what we write: by a copy of any
 * length, also by a mapping.
 */
static void test_loose_order(void **state)
{
	static const size_t lens[] = { 2000, 5000, 70000, LEN };
	struct hmem_event event;
	static struct fix f;
	size_t i, k;

	for (k = 0; k < sizeof(loose) / sizeof(loose[0]); k++) {
		open_loose(&f, loose[k]);
		for (i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
			fill(f.out, (unsigned) i);
			assert_true(device_put(f.dev, f.out, lens[i]));
			assert_int_equal(hmem_copy(HMEM_TO_HOST, &f.loc, f.dev, f.in, lens[i]), 0);
			assert_memory_equal(f.in, f.out, lens[i]);
			fill(f.out, (unsigned) i + 10);
			assert_true(device_put(f.dev, f.out, lens[i]));
			assert_int_equal(hmem_copy_start(HMEM_TO_HOST, &f.loc, f.dev, f.in, lens[i], &event), 0);
			assert_int_equal(wait_for(&event), 1);
			assert_memory_equal(f.in, f.out, lens[i]);
			assert_true(device_put(f.dev, f.in, lens[i]));
			fill(f.out, (unsigned) i + 20);
			assert_int_equal(hmem_copy(HMEM_TO_DEVICE, &f.loc, f.dev, f.out, lens[i]), 0);
			assert_true(device_get(f.in, f.dev, lens[i]));
			assert_memory_equal(f.in, f.out, lens[i]);
		}
		close_one(&f);
	}
}

static double copy_ms(struct fix *f)
{
	uint64_t start = clock_ns();

	assert_int_equal(hmem_copy(HMEM_TO_HOST, &f->loc, f->dev, f->in, 5000), 0);
	return (double) (clock_ns() - start) / 1e6;
}

/* A kernel in the default stream is waited for once each time, and less long the next time; a copy
 * that is waited for with success restores the patience.
 */
static void test_loose_kernel(void **state)
{
	static struct fix f;
	double first, second;
	long asked;

	open_loose(&f, "cuda-pool");
	fakegpu_tell(libs[0], "fakegpu_kernel", 1);
	first = copy_ms(&f);
	asked = fakegpu_times(libs[0], "cuStreamQuery");
	copy_ms(&f);
	assert_int_equal(fakegpu_times(libs[0], "cuStreamQuery"), asked + 1);
	fakegpu_tell(libs[0], "fakegpu_kernel", 0);
	copy_ms(&f);
	fakegpu_tell(libs[0], "fakegpu_kernel", 1);
	second = copy_ms(&f);
	fakegpu_tell(libs[0], "fakegpu_kernel", 0);
	copy_ms(&f);
	assert_true(first >= 20);
	assert_true(second >= 5);
	assert_true(device_put(f.dev, f.out, LEN));
	assert_true(copy_ms(&f) < 1000);
	assert_memory_equal(f.in, f.out, 5000);
	close_one(&f);
}

static void copy_both_ways(struct fix *f)
{
	struct hmem_event event;

	fill(f->out, 3);
	assert_int_equal(hmem_copy_start(HMEM_TO_DEVICE, &f->loc, f->dev, f->out, LEN, &event), 0);
	assert_int_equal(wait_for(&event), 1);
	memset(f->in, 0, LEN);
	assert_int_equal(hmem_copy(HMEM_TO_HOST, &f->loc, f->dev, f->in, LEN), 0);
	assert_memory_equal(f->in, f->out, LEN);
	hmem_pin(f->out, LEN);
	hmem_unpin(f->out);
}

/* Copies do not end the capture of a graph by another thread, and the mode of this one stays. */
static void test_capture(void **state)
{
	int (*exchange)(int *mode);
	static struct fix f;
	int mode = 0;
	void *sym = fakegpu_call(libs[0], "cuThreadExchangeStreamCaptureMode");

	memcpy(&exchange, &sym, sizeof(sym));
	open_one(&f, 0, 1);
	fakegpu_tell(libs[0], "fakegpu_capture", 1);
	copy_both_ways(&f);
	assert_int_equal(fakegpu_number(libs[0], "fakegpu_spoiled"), 0);
	exchange(&mode);
	assert_int_equal(mode, 0);
	fakegpu_tell(libs[0], "fakegpu_capture", 0);
	close_one(&f);
	open_loose(&f, "cuda-map");
	fakegpu_tell(libs[0], "fakegpu_capture", 2);
	copy_both_ways(&f);
	assert_int_equal(fakegpu_number(libs[0], "fakegpu_spoiled"), 0);
	fakegpu_tell(libs[0], "fakegpu_capture", 0);
	close_one(&f);
}

/* Only devices whose memory was registered have a context. */
static void test_contexts(void **state)
{
	assert_int_equal(fakegpu_number("libcuda.so.1", "fakegpu_contexts"), 2);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_start),
		cmocka_unit_test(test_copy),
		cmocka_unit_test(test_copy_start),
		cmocka_unit_test(test_find_refused),
		cmocka_unit_test(test_detect),
		cmocka_unit_test(test_find_over_a_gap),
		cmocka_unit_test(test_cuda_managed),
		cmocka_unit_test(test_cuda_mapped),
		cmocka_unit_test(test_cuda_mapped_apart),
		cmocka_unit_test(test_dmabuf_and_range),
		cmocka_unit_test(test_number),
		cmocka_unit_test(test_ipc),
		cmocka_unit_test(test_failing_calls),
		cmocka_unit_test(test_loose_order),
		cmocka_unit_test(test_loose_kernel),
		cmocka_unit_test(test_capture),
		cmocka_unit_test(test_contexts),
	};

	fakegpu_use(argv);
	if (argc > 2)
		return other_side(atoi(argv[1]), atoi(argv[2]));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
