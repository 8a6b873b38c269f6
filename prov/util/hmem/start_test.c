/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Which interfaces start, by what libraries there are and what the environment says, and the reason
 * why one does not.  Each case is a process of its own with a folder of links to tests/fakegpu, under
 * the names that libraries ship by.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "base/test/verify.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hmem/mem.h"

static char dir[] = "/tmp/hmem_start_XXXXXX", report[4096];

/* What a process finds: a line for each interface, and what goes with it. */
static int tell(void)
{
	enum fi_hmem_iface i;

	hmem_params();
	hmem_start();
	for (i = FI_HMEM_CUDA; i < HMEM_KINDS; i++)
		printf("%s: %s%s\n", hmem_name(i), hmem_has(i) ? "yes" : hmem_why(i),
		       hmem_exports(i) ? ", dma-bufs" : "");
	printf("gdrcopy: %s\n", hmem_gdrcopy() ? "yes" : "no");
	return 0;
}

static void drop_links(void)
{
	char cmd[sizeof(dir) + 32];

	snprintf(cmd, sizeof(cmd), "rm -f %s/*", dir);
	assert_int_equal(system(cmd), 0);
}

static void link_as(const char *name, const char *fake)
{
	char at[256], to[512];

	snprintf(at, sizeof(at), "%s/%s", dir, name);
	snprintf(to, sizeof(to), "%s/%s", FAKEGPU_DIR, fake);
	assert_int_equal(symlink(to, at), 0);
}

/* run - @set: an environment variable and its value, or NULL */
static void run(const char *set, const char *value)
{
	const char *libs = getenv("LD_LIBRARY_PATH");
	char path[PATH_MAX];
	int out[2], status;
	size_t len = 0;
	ssize_t n;
	pid_t pid;

	assert_int_equal(pipe(out), 0);
	pid = fork();
	if (!pid) {
		snprintf(path, sizeof(path), "%s:%s", dir, libs ? libs : "");
		setenv("LD_LIBRARY_PATH", path, 1);
		setenv("FI_LOG_LEVEL", "warn", 1);
		if (set)
			setenv(set, value, 1);
		dup2(out[1], 1);
		execl("/proc/self/exe", "start_test", "tell", NULL);
		_exit(99);
	}
	close(out[1]);
	while ((n = read(out[0], report + len, sizeof(report) - 1 - len)) > 0)
		len += (size_t) n;
	report[len] = 0;
	close(out[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void says(const char *text)
{
	if (!strstr(report, text))
		fail_msg("not said: %s\nbut:\n%s", text, report);
}

static void one(const char *name, const char *fake, const char *text)
{
	drop_links();
	link_as(name, fake);
	run(NULL, NULL);
	says(text);
}

static void names(void **state)
{
	one("libcuda.so.1", "libcuda.so.1", "CUDA: yes, dma-bufs\n");
	one("libcuda.so", "libcuda.so.1", "CUDA: yes, dma-bufs\n");
	one("libhsa-runtime64.so.1", "libhsa-runtime64.so.1", "ROCr: yes, dma-bufs\n");
	one("libhsa-runtime64.so", "libhsa-runtime64.so.1", "ROCr: yes, dma-bufs\n");
	one("libze_loader.so.1", "libze_loader.so.1", "Level Zero: yes, dma-bufs\n");
	one("libze_loader.so", "libze_loader.so.1", "Level Zero: yes, dma-bufs\n");
	says("gdrcopy: no\n");
	one("libSynapse.so", "libze_loader.so.1", "SynapseAI: yes, dma-bufs\n");
}

static void gdrcopy_names(void **state)
{
	static const char *const names[] = { "libgdrapi.so.2", "libgdrapi.so" };
	int i;

	for (i = 0; i < 2; i++) {
		drop_links();
		link_as("libcuda.so.1", "libcuda.so.1");
		link_as(names[i], "libgdrapi.so.2");
		run(NULL, NULL);
		says("gdrcopy: yes\n");
		run("FI_HMEM_CUDA_USE_GDRCOPY", "0");
		says("gdrcopy: no\n");
	}
}

/* Each name that was tried is in the reason. */
static void missing(void **state)
{
	if (dlopen("libcuda.so.1", RTLD_LAZY) || dlopen("libze_loader.so.1", RTLD_LAZY) ||
	    dlopen("libhsa-runtime64.so.1", RTLD_LAZY))
		skip();
	drop_links();
	run(NULL, NULL);
	says("CUDA: libcuda.so.1: cannot open");
	says("; libcuda.so: cannot open");
	says("ROCr: libhsa-runtime64.so.1: cannot open");
	says("; libhsa-runtime64.so: cannot open");
	says("Level Zero: libze_loader.so.1: cannot open");
	says("; libze_loader.so: cannot open");
	says("Neuron: libnrt.so.1: cannot open");
	says("SynapseAI: libSynapse.so: cannot open");
}

/* A library that is too old, or is something else. */
static void wrong_library(void **state)
{
	one("libcuda.so.1", "libgdrapi.so.2", "CUDA: its library has no function cuInit: it is older");
	one("libhsa-runtime64.so.1", "libgdrapi.so.2", "ROCr: its library has no function hsa_init");
	one("libze_loader.so.1", "libgdrapi.so.2", "Level Zero: its library has no function zeInit");
	one("libnrt.so.1", "libgdrapi.so.2", "Neuron: its library has no function nrt_get_dmabuf_fd");
}

static void link_all(void)
{
	drop_links();
	link_as("libcuda.so.1", "libcuda.so.1");
	link_as("libhsa-runtime64.so.1", "libhsa-runtime64.so.1");
	link_as("libze_loader.so.1", "libze_loader.so.1");
}

/* The libraries are there, and no device, or a call of theirs fails. */
static void no_device(void **state)
{
	static const struct { const char *fail, *text; } t[] = {
		{ "cuInit:1", "CUDA: the driver does not start: cuInit or cuDeviceGetCount: "
			      "CUDA_ERROR_LAUNCH_FAILED (719)" },
		{ "cuDeviceGetCount:1", "CUDA: the driver does not start" },
		{ "hsa_init:1", "ROCr: the runtime does not start: hsa_init or hsa_iterate_agents" },
		{ "hsa_iterate_agents:1", "ROCr: the runtime does not start" },
		{ "zeInit:1", "Level Zero: " },
	};
	size_t i;

	link_all();
	run("FAKEGPU_DEVICES", "0");
	says("CUDA: the driver does not start: cuInit or cuDeviceGetCount: CUDA_ERROR_NO_DEVICE (100)");
	says("ROCr: the runtime does not start");
	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		run("FAKEGPU_FAIL", t[i].fail);
		says(t[i].text);
	}
	assert_null(strstr(report, "Level Zero: yes"));
}

static void by_environment(void **state)
{
	link_all();
	run("FI_HMEM", "rocr;system");
	says("CUDA: FI_HMEM=rocr;system does not name cuda\n");
	says("ROCr: yes");
	says("Level Zero: FI_HMEM=rocr;system does not name ze\n");
	run("FI_HMEM", "CUDA,ze");
	says("CUDA: yes");
	says("ROCr: FI_HMEM=CUDA,ze does not name rocr\n");
	says("Level Zero: yes");
	run("FI_HMEM_DISABLE_P2P", "1");
	assert_null(strstr(report, "dma-bufs"));
	says("CUDA: yes\n");
}

static int open_dir(void **state)
{
	return mkdtemp(dir) ? 0 : -1;
}

static int close_dir(void **state)
{
	drop_links();
	return rmdir(dir);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(gdrcopy_names),
		cmocka_unit_test(missing),
		cmocka_unit_test(wrong_library),
		cmocka_unit_test(no_device),
		cmocka_unit_test(by_environment),
	};

	if (argc > 1)
		return tell();
	return cmocka_run_group_tests(tests, open_dir, close_dir);
}
