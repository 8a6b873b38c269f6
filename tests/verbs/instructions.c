/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * instructions - what a message of 8 bytes there and one back cost in user space, in
 * instructions of one side: post a receive, send, take completions away (steps.h).
 *
 *   instructions PROVIDER TYPE HOW LOCAL PEER    ours; TYPE: msg or rdm
 *   instructions -- SERVER -- CLIENT             two commands; counts the client
 *
 * HOW: inject, or send, which takes a completion of each message, too. The server of a
 * pair of commands listens on a TCP port; the client is started once it does, and both
 * are ended.
 *
 * Prints one line "N instructions a message", and where they were; with the addresses
 * where STEPS_ADDRESSES is set.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ends.h"
#include "steps.h"

#define LEN 8u
#define TURNS 64u		/* four times what is signalled together, at most */
#define PAUSE_MS 150u
#define WARM 200u		/* rounds before it is counted */
#define TRIES 60u		/* seconds until it does nothing else any more */
#define ANY_MESSAGE 64u		/* room of a receive */

static struct steps_told *progress;
static bool by_send;
static struct fi_context2 rx_context, tx_context;

/* In place of libc's, for all libraries of the process.  While it is stepped its clock is that of
 * a processor which executes an instruction in a nanosecond: it does not see how long it was
 * held, and does not do with each message what it does every so many milliseconds.
 */
__attribute__((visibility("default")))
int clock_gettime(clockid_t id, struct timespec *ts)
{
	static __typeof__(&clock_gettime) real;
	static struct timespec begin;
	uint64_t ns;
	int ret;

	if (!real)
		*(void **) &real = dlsym(RTLD_NEXT, "clock_gettime");
	ret = real(id, ts);		/* what it costs is counted, too */
	if (!progress || !progress->executed) {
		begin.tv_sec = 0;
		return ret;
	}
	if (!begin.tv_sec)
		begin = *ts;
	ns = (uint64_t) begin.tv_nsec + progress->executed;
	ts->tv_sec = begin.tv_sec + (time_t) (ns / 1000000000);
	ts->tv_nsec = (long) (ns % 1000000000);
	return ret;
}

/* What a program has in hand while it sends. */
struct hand {
	struct fid_ep *ep;
	char *buf;
	void *desc;
	fi_addr_t dest;
};

/* No call on the way that is counted but those that are meant. */
static inline void check(const char *what, ssize_t ret)
{
	if (__builtin_expect(ret < 0, 0))
		ends_die(what, ret);
}

static inline void take(struct fid_cq *cq)
{
	struct fi_cq_msg_entry entry;
	ssize_t got;

	while ((got = fi_cq_read(cq, &entry, 1)) == -FI_EAGAIN)
		progress->in_vain++;
	check("fi_cq_read", got);
}

static inline void post(const struct hand *h)
{
	check("fi_recv", fi_recv(h->ep, h->buf, ANY_MESSAGE, h->desc, FI_ADDR_UNSPEC, &rx_context));
}

/* @send: known where it is called, as in a program */
static inline __attribute__((always_inline)) void put(const struct hand *h, const bool send)
{
	ssize_t ret;

	do {
		ret = send ? fi_send(h->ep, h->buf + ANY_MESSAGE, LEN, h->desc, h->dest,
				     &tx_context) :
			     fi_inject(h->ep, h->buf + ANY_MESSAGE, LEN, h->dest);
	} while (ret == -FI_EAGAIN && fi_cq_read(ends.tx_cq, NULL, 0) >= -FI_EAVAIL);
	check("fi_send", ret);
	if (send)
		take(ends.tx_cq);
}

static struct hand in_hand(void)
{
	return (struct hand) { ends.ep, ends.mem, ends.desc, ends.dest };
}

static _Noreturn void ping(void)
{
	struct hand h = in_hand();

	while (by_send) {
		post(&h);
		put(&h, true);
		take(ends.rx_cq);
		progress->messages++;
	}
	for (;; progress->messages++) {
		post(&h);
		put(&h, false);
		take(ends.rx_cq);
	}
}

static _Noreturn void pong(void)
{
	struct hand h = in_hand();

	for (post(&h);;) {
		take(ends.rx_cq);
		post(&h);
		put(&h, by_send);
	}
}

static void find(char **argv, const char *local)
{
	struct fi_info *hints = ends_hints(argv[1], argv[2]);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	hints->domain_attr->threading = FI_THREAD_DOMAIN;
	hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
	hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	ends_find(hints, local);
}

static void say(int out, const struct hello *hello)
{
	if (write(out, hello, sizeof(*hello)) != sizeof(*hello))
		exit(1);
}

static void hear(int in, struct hello *hello)
{
	if (read(in, hello, sizeof(*hello)) != sizeof(*hello))
		exit(1);
}

static void called(char **argv, int in, int out)
{
	static struct steps_told nobody;	/* what it does is not counted */
	struct hello hello;

	progress = &nobody;
	find(argv, argv[5]);
	ends_offer(2 * ANY_MESSAGE, &hello);
	say(out, &hello);
	ends_answer();
	if (!ends.msg) {
		hear(in, &hello);
		ends_know(&hello);
	}
	pong();
}

static void calling(char **argv, int in, int out)
{
	struct hello hello;

	find(argv, argv[4]);
	hear(in, &hello);
	ends_reach(2 * ANY_MESSAGE, &hello);
	if (!ends.msg) {
		ends_name(&hello);
		say(out, &hello);
	}
	ping();
}

/* ---- what counts ------------------------------------------------------------------------ */

static int report(pid_t pid, struct steps_told *told)
{
	struct steps steps;
	unsigned try, late;
	double mean;

	for (try = 0; try < TRIES; try++) {
		if (waitpid(pid, NULL, WNOHANG))
			break;
		if (steps_spins(pid) && (!told || told->messages >= WARM) &&
		    steps_count(pid, TURNS, PAUSE_MS, told, &steps))
			break;
	}
	if (try == TRIES || kill(pid, 0)) {
		fprintf(stderr, "it does not come to its loop\n");
		return 1;
	}
	kill(pid, SIGSTOP);
	mean = steps_mean(&steps, &late);
	printf("%.1f instructions a message (%u turns, %u messages, %u late)\n", mean,
	       steps.turns, steps.messages, late);
	steps_where(pid, &steps, getenv("STEPS_ADDRESSES") != NULL);
	return 0;
}

static pid_t start(char **argv)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(2, 1);
		execvp(argv[0], argv);
		perror(argv[0]);
		_exit(127);
	}
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static int commands(char **server)
{
	char **client = server;
	pid_t pids[2];
	int rc;

	while (*client && strcmp(*client, "--"))
		client++;
	if (!*client || !client[1])
		return 2;
	*client++ = NULL;
	pids[0] = start(server);
	sleep(3);
	pids[1] = start(client);
	rc = report(pids[1], NULL);
	end(pids[1]);
	end(pids[0]);
	return rc;
}

int main(int argc, char **argv)
{
	int there[2], back[2], rc;
	pid_t pids[2];

	if (argc > 4 && !strcmp(argv[1], "--"))
		return commands(&argv[2]);
	progress = mmap(NULL, sizeof(*progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	if (argc != 6 || progress == MAP_FAILED ||
	    pipe(there) || pipe(back))
		return 2;
	by_send = !strcmp(argv[3], "send");
	pids[0] = fork();
	if (!pids[0])
		called(argv, back[0], there[1]);
	pids[1] = fork();
	if (!pids[1])
		calling(argv, there[0], back[1]);
	rc = report(pids[1], progress);
	end(pids[1]);
	end(pids[0]);
	return rc;
}
