/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/ft.h"

/* The library installs no signal handler, changes no mask, and a blocked
 * process dies of SIGTERM or SIGINT at once, its own handler being called.
 */
static volatile sig_atomic_t caught;

static void on_signal(int sig)
{
	caught = sig;
}

static const int watched[] = { SIGINT, SIGTERM, SIGHUP, SIGSEGV, SIGBUS, SIGPIPE, SIGCHLD, SIGUSR1 };

static void untouched(struct sigaction *before, const char *when)
{
	for (size_t i = 0; i < FT_COUNT(watched); i++) {
		struct sigaction now;

		sigaction(watched[i], NULL, &now);
		FT_WANT(now.sa_handler == before[i].sa_handler, "signal %d got a handler %s", watched[i], when);
	}
}

static void interrupted(struct ft *ft)
{
	struct sigaction sa = { .sa_handler = on_signal };
	struct fi_cq_attr attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct fi_cq_entry entry;
	struct fid_cq *cq;
	pid_t pid;

	FT_TRY(fi_cq_open(ft->domain, &attr, &cq, NULL));
	sigaction(SIGUSR1, &sa, NULL);
	pid = getpid();
	if (!fork()) {
		usleep(100000);
		kill(pid, SIGUSR1);
		_exit(0);
	}
	FT_WANT(fi_cq_sread(cq, &entry, 1, NULL, 1000) < 0, "an empty queue gave an entry");
	FT_WANT(caught == SIGUSR1, "a signal's handler was not called");
	while (wait(NULL) < 0)
		;
	FT_TRY(fi_close(&cq->fid));
}

static void killed(struct ft *ft, int sig)
{
	struct fi_cq_attr attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct fi_cq_entry entry;
	struct fid_cq *cq;
	int status;
	pid_t pid;

	FT_TRY(fi_cq_open(ft->domain, &attr, &cq, NULL));
	fflush(NULL);
	pid = fork();
	if (!pid) {
		fi_cq_sread(cq, &entry, 1, NULL, 20000);
		_exit(0);
	}
	usleep(100000);
	kill(pid, sig);
	FT_WANT(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == sig,
		"a process that waits in fi_cq_sread does not die of signal %d", sig);
	FT_TRY(fi_close(&cq->fid));
}

int main(int argc, char **argv)
{
	static const struct ft_test test = {
		.about = "Test: signals stay the program's own.",
		.local = true,
	};
	struct sigaction before[FT_COUNT(watched)];
	struct ft ft;

	signal(SIGINT, SIG_DFL);	/* a shell's background jobs have it ignored */
	signal(SIGTERM, SIG_DFL);
	for (size_t i = 0; i < FT_COUNT(watched); i++)
		sigaction(watched[i], NULL, &before[i]);
	ft_begin(&ft, &test, argc, argv);
	untouched(before, "by opening a domain");
	ft_ep_open(&ft, &ft.ep, ft.info);
	FT_TRY(ft.info->ep_attr->type == FI_EP_MSG ? 0 : fi_enable(ft.ep.ep));
	untouched(before, "by opening an endpoint");
	interrupted(&ft);
	killed(&ft, SIGTERM);
	killed(&ft, SIGINT);
	return ft_end(&ft);
}
