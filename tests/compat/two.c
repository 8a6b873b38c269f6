/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * two - a process with two libfabrics, as one with MPI and a plug-in that brings its own.
 *
 *   two [--deep] LIBRARY=PROVIDER LIBRARY=PROVIDER
 *
 * Each library is loaded by its path, RTLD_LOCAL, the second with RTLD_DEEPBIND where --deep says so;
 * with LD_PRELOAD the first is one that the process was linked with. Prints "ok WHAT" for each step; the
 * first failure ends it with status 1.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 2000
#define SIZE 4096
#define TIMEOUT_S 30

typedef int getinfo_fn(uint32_t, const char *, const char *, uint64_t, const struct fi_info *, struct fi_info **);

/* A library: its functions by name, since a call by name would always reach the same one. */
struct lib {
	const char *path;
	char *prov;
	void *handle;
	getinfo_fn *getinfo;
	struct fi_info *(*dupinfo)(const struct fi_info *);
	void (*freeinfo)(struct fi_info *);
	int (*fabric_open)(struct fi_fabric_attr *, struct fid_fabric **, void *);
	uint32_t (*version)(void);

	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_ep *ep;
	struct fid_cq *cq;
	struct fid_av *av;
	fi_addr_t self;
};

static void fail(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	printf("failed: ");
	vprintf(fmt, args);
	printf("\n");
	va_end(args);
	exit(1);
}

static void must(const struct lib *lib, const char *what, long ret)
{
	if (ret)
		fail("%s of %s: %ld", what, lib->path, ret);
}

static void *find_symbol(const struct lib *lib, const char *name)
{
	void *sym = dlsym(lib->handle, name);
	Dl_info from;

	if (!sym || !dladdr(sym, &from))
		fail("%s has no %s", lib->path, name);
	if (strcmp(from.dli_fname, lib->path))
		fail("%s of %s is that of %s", name, lib->path, from.dli_fname);
	return sym;
}

static void load_lib(struct lib *lib, char *arg, int flags)
{
	lib->path = arg;
	lib->prov = strchr(arg, '=');
	if (!lib->prov)
		fail("%s names no provider", arg);
	*lib->prov++ = 0;
	lib->handle = dlopen(lib->path, RTLD_NOW | RTLD_LOCAL | flags);
	if (!lib->handle)
		fail("%s", dlerror());
	lib->getinfo = (getinfo_fn *) find_symbol(lib, "fi_getinfo");
	lib->dupinfo = (struct fi_info *(*)(const struct fi_info *)) find_symbol(lib, "fi_dupinfo");
	lib->freeinfo = (void (*)(struct fi_info *)) find_symbol(lib, "fi_freeinfo");
	lib->fabric_open = (int (*)(struct fi_fabric_attr *, struct fid_fabric **, void *)) find_symbol(lib, "fi_fabric");
	lib->version = (uint32_t (*)(void)) find_symbol(lib, "fi_version");
}

static int ask(struct lib *lib, struct fi_info **info_p)
{
	struct fi_info *hints = lib->dupinfo(NULL);
	int ret;

	hints->caps = FI_MSG;
	hints->ep_attr->type = FI_EP_RDM;
	hints->fabric_attr->prov_name = strdup(lib->prov);
	if (!strncmp(lib->prov, "tcp", 3))
		hints->addr_format = FI_SOCKADDR_IN;
	ret = lib->getinfo(FI_VERSION(1, 17), strncmp(lib->prov, "tcp", 3) ? NULL : "127.0.0.1", NULL,
			   strncmp(lib->prov, "tcp", 3) ? 0 : FI_SOURCE, hints, info_p);
	lib->freeinfo(hints);
	return ret;
}

static void open_lib(struct lib *lib)
{
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_CONTEXT };
	struct fi_av_attr av_attr = { .type = FI_AV_MAP };
	size_t len = 256;
	char name[256];

	must(lib, "fi_getinfo", ask(lib, &lib->info));
	must(lib, "fi_fabric", lib->fabric_open(lib->info->fabric_attr, &lib->fabric, NULL));
	must(lib, "fi_domain", fi_domain(lib->fabric, lib->info, &lib->domain, NULL));
	must(lib, "fi_endpoint", fi_endpoint(lib->domain, lib->info, &lib->ep, NULL));
	must(lib, "fi_cq_open", fi_cq_open(lib->domain, &cq_attr, &lib->cq, NULL));
	must(lib, "fi_av_open", fi_av_open(lib->domain, &av_attr, &lib->av, NULL));
	must(lib, "fi_ep_bind", fi_ep_bind(lib->ep, &lib->cq->fid, FI_SEND | FI_RECV));
	must(lib, "fi_ep_bind", fi_ep_bind(lib->ep, &lib->av->fid, 0));
	must(lib, "fi_enable", fi_enable(lib->ep));
	must(lib, "fi_getname", fi_getname(&lib->ep->fid, name, &len));
	if (fi_av_insert(lib->av, name, 1, &lib->self, 0, NULL) != 1)
		fail("fi_av_insert of %s", lib->path);
}

static void close_lib(struct lib *lib)
{
	must(lib, "fi_close", fi_close(&lib->ep->fid));
	must(lib, "fi_close", fi_close(&lib->av->fid));
	must(lib, "fi_close", fi_close(&lib->cq->fid));
	must(lib, "fi_close", fi_close(&lib->domain->fid));
	must(lib, "fi_close", fi_close(&lib->fabric->fid));
	lib->freeinfo(lib->info);
}

/* reap - @cnt completions. */
static void reap(struct lib *lib, int cnt)
{
	struct fi_cq_entry entry;
	time_t end = time(NULL) + TIMEOUT_S;
	ssize_t ret;

	while (cnt) {
		ret = fi_cq_read(lib->cq, &entry, 1);
		if (ret == 1)
			cnt--;
		else if (ret != -FI_EAGAIN)
			fail("fi_cq_read of %s: %zd", lib->path, ret);
		else if (time(NULL) > end)
			fail("%s: no completion in %d s", lib->path, TIMEOUT_S);
	}
}

static void *exchange(void *arg)
{
	char out[SIZE], in[SIZE];
	struct lib *lib = arg;
	ssize_t ret;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		memset(out, i, sizeof(out));
		memset(in, ~i, sizeof(in));
		must(lib, "fi_recv", fi_recv(lib->ep, in, sizeof(in), NULL, FI_ADDR_UNSPEC, NULL));
		while ((ret = fi_send(lib->ep, out, sizeof(out), NULL, lib->self, NULL)) == -FI_EAGAIN)
			(void) fi_cq_read(lib->cq, NULL, 0);
		must(lib, "fi_send", ret);
		reap(lib, 2);
		if (memcmp(in, out, sizeof(in)))
			fail("%s: message %d is not what was sent", lib->path, i);
	}
	return NULL;
}

static void exchange_both(struct lib *libs)
{
	pthread_t thread;

	must(&libs[0], "pthread_create", pthread_create(&thread, NULL, exchange, &libs[0]));
	exchange(&libs[1]);
	must(&libs[0], "pthread_join", pthread_join(thread, NULL));
}

/* ---- what of the process may not change ----------------------------------- */

#define SIGNALS 65

static struct sigaction actions[SIGNALS];
static sigset_t mask;
extern char **environ;
static int variables;

static int count_environ(void)
{
	int cnt = 0;

	while (environ[cnt])
		cnt++;
	return cnt;
}

static void keep_process(void)
{
	int sig;

	for (sig = 1; sig < SIGNALS; sig++)
		sigaction(sig, NULL, &actions[sig]);
	sigprocmask(SIG_BLOCK, NULL, &mask);
	variables = count_environ();
}

static void compare_process(const char *when)
{
	struct sigaction now;
	sigset_t now_mask;
	int sig;

	for (sig = 1; sig < SIGNALS; sig++)
		if (!sigaction(sig, NULL, &now) && now.sa_handler != actions[sig].sa_handler)
			fail("%s: the handler of signal %d has changed", when, sig);
	sigprocmask(SIG_BLOCK, NULL, &now_mask);
	for (sig = 1; sig < SIGNALS; sig++)
		if (sigismember(&mask, sig) != sigismember(&now_mask, sig))
			fail("%s: signal %d is blocked or not as it was not before", when, sig);
	if (count_environ() != variables)
		fail("%s: the environment has changed", when);
}

/* open_quietly - the older library's provider shm has handlers of signals; ours may not touch them. */
static void open_quietly(struct lib *lib)
{
	keep_process();
	open_lib(lib);
	if (FI_MAJOR(lib->version()) >= 2)
		compare_process(lib->path);
}

/* A child that asks each library: the fork handlers of both have run, and neither's locks are held. */
static void fork_child(struct lib *libs)
{
	struct fi_info *info;
	int i, status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		fail("fork: %s", strerror(errno));
	if (!pid) {
		alarm(TIMEOUT_S);
		for (i = 0; i < 2; i++) {
			if (ask(&libs[i], &info))
				_exit(2 + i);
			libs[i].freeinfo(info);
		}
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		fail("the child ended with status %#x", status);
}

static void *fork_often(void *arg)
{
	struct lib *libs = arg;
	int i;

	for (i = 0; i < 20; i++)
		fork_child(libs);
	return NULL;
}

int main(int argc, char **argv)
{
	int deep = argc > 1 && !strcmp(argv[1], "--deep");
	struct lib libs[2] = { 0 };
	pthread_t thread;
	int first;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc != 3 + deep)
		fail("usage: two [--deep] LIBRARY=PROVIDER LIBRARY=PROVIDER");
	load_lib(&libs[0], argv[1 + deep], 0);
	load_lib(&libs[1], argv[2 + deep], deep ? RTLD_DEEPBIND : 0);
	if (libs[0].version() == libs[1].version())
		fail("both are %#x", libs[0].version());
	printf("ok each has its own functions: %u.%u and %u.%u\n",
	       FI_MAJOR(libs[0].version()), FI_MINOR(libs[0].version()),
	       FI_MAJOR(libs[1].version()), FI_MINOR(libs[1].version()));
	open_quietly(&libs[0]);
	open_quietly(&libs[1]);
	printf("ok endpoints of both; ours changes neither signals nor the environment\n");
	exchange_both(libs);
	printf("ok messages over both at once\n");
	must(&libs[0], "pthread_create", pthread_create(&thread, NULL, fork_often, libs));
	exchange_both(libs);
	pthread_join(thread, NULL);
	printf("ok children, while messages pass\n");
	for (first = 0; first < 2; first++) {
		close_lib(&libs[first]);
		exchange(&libs[!first]);
		open_lib(&libs[first]);
	}
	printf("ok either goes on while the other is closed\n");
	close_lib(&libs[0]);
	dlclose(libs[0].handle);
	exchange(&libs[1]);
	printf("ok the second goes on when the first is unloaded\n");
	close_lib(&libs[1]);
	dlclose(libs[1].handle);
	printf("ok closed\n");
	return 0;
}
