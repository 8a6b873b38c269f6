/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * life - two endpoints, from fi_getinfo() to the last fi_close(), while allocation number n and up
 * to seven after it fail.
 *
 * Whatever fails: each call returns, each operation ends once, in bounded time; what is delivered is
 * right; every object closes; and endpoints that were opened work once memory is there again.
 *
 *	life                   a sample of n for each case
 *	NOMEM_FORM=long life   every n, in runs of 1 to 8
 *	life CASE              every n of one case
 *	life CASE N RUN        one of them, which says where it fails
 */
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../limit.h"
#include "alloc.h"

#define LEN_MAX 300000
#define RUN_MAX 8
#define CHILDREN 4		/* at once */
#define SAMPLE 10		/* of n for each case, in the short form */
#define ENDS_MS 40000		/* of polling, within which an operation ends: longer than a connect waits for its peer */
#define TAG_LAST 1000		/* of what is sent when memory is there again */

struct life_case {
	const char *name, *prov;
	enum fi_ep_type type;
	const char *env;	/* set to 0 */
	enum fi_progress progress;
};

static const struct life_case cases[] = {
	{ "tcp", "tcp", FI_EP_RDM, NULL, FI_PROGRESS_MANUAL },
	{ "tcp-sockets", "tcp", FI_EP_RDM, "FI_TCP_LOCAL", FI_PROGRESS_MANUAL },
	{ "tcp-auto", "tcp", FI_EP_RDM, NULL, FI_PROGRESS_AUTO },
	{ "tcp-msg", "tcp", FI_EP_MSG, NULL, FI_PROGRESS_MANUAL },
	{ "shm", "shm", FI_EP_RDM, NULL, FI_PROGRESS_MANUAL },
	{ "loop", "loop", FI_EP_RDM, NULL, FI_PROGRESS_MANUAL },
	{ "rxm", "tcp;ofi_rxm", FI_EP_RDM, NULL, FI_PROGRESS_MANUAL },
	{ "rxm-sockets", "tcp;ofi_rxm", FI_EP_RDM, "FI_OFI_RXM_LOCAL", FI_PROGRESS_MANUAL },
	{ "rxd", "udp;ofi_rxd", FI_EP_RDM, NULL, FI_PROGRESS_MANUAL },
	{ "rxd-sockets", "udp;ofi_rxd", FI_EP_RDM, "FI_OFI_RXD_LOCAL", FI_PROGRESS_MANUAL },
	{ "rxd-msg", "udp;ofi_rxd", FI_EP_MSG, NULL, FI_PROGRESS_MANUAL },
	{ "udp", "udp", FI_EP_DGRAM, NULL, FI_PROGRESS_MANUAL },
};
#define CASES (sizeof(cases) / sizeof(cases[0]))

static const struct life_case *the;
static struct fi_info *hints, *info;
static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct fid_av *av;
static struct fid_eq *eq;
static struct fid_pep *pep;
static struct fid_ep *ep[2];
static struct fid_cq *cq[2];
static struct fid_mr *mr;
static char names[2][256], out[LEN_MAX], in[LEN_MAX], far[LEN_MAX];
static fi_addr_t addr[2];
static struct fi_context2 ctx[4];
static enum { OPEN, ENDED, FAILED, TAKEN_BACK } ends[4];	/* of the operations */

enum { SEND, RECV, WRITE };

/* ---- what must not be ------------------------------------------------------------------ */

#define BAD(...) do { fprintf(stderr, __VA_ARGS__); fputc('\n', stderr); _exit(1); } while (0)

/* now_ms - processor time of this process, which polls while it waits: a limit counts no time in which it is
 * stopped, or others run.
 */
static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t) ts.tv_sec * 1000 + (uint64_t) ts.tv_nsec / 1000000;
}

/* fails - did a call return an error?  It is one that a call may return. */
static bool fails(long ret, const char *call)
{
	if (ret > 0 || ret < -FI_ERRNO_MAX)
		BAD("%s returns %ld", call, ret);
	if (ret && getenv("NOMEM_SHOW"))
		fprintf(stderr, "%s: %s\n", call, fi_strerror((int) -ret));
	return ret != 0;
}
#define TRY(call) do { if (fails((call), #call)) return false; } while (0)

/* ---- opening and closing ------------------------------------------------------------------ */

static bool ask(void)
{
	bool ip = strcmp(the->prov, "shm") && strcmp(the->prov, "loop");

	hints = fi_allocinfo();
	if (!hints)
		return false;
	hints->caps = the->type == FI_EP_DGRAM ? FI_MSG : FI_MSG | FI_TAGGED | FI_RMA;
	hints->mode = FI_CONTEXT | FI_CONTEXT2;
	hints->ep_attr->type = the->type;
	hints->domain_attr->data_progress = the->progress;
	if (the->type != FI_EP_DGRAM)
		hints->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
	hints->fabric_attr->prov_name = strdup(the->prov);
	if (!hints->fabric_attr->prov_name)
		return false;
	TRY(fi_getinfo(FI_VERSION(2, 0), ip ? "127.0.0.1" : NULL, NULL, ip ? FI_SOURCE : 0, hints, &info));
	return true;
}

static bool open_domain(void)
{
	struct fi_av_attr av_attr = { 0 };
	struct fi_eq_attr eq_attr = { .wait_obj = FI_WAIT_NONE };
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_TAGGED };
	int i;

	TRY(fi_fabric(info->fabric_attr, &fabric, NULL));
	TRY(fi_domain(fabric, info, &domain, NULL));
	if (the->type == FI_EP_MSG)
		TRY(fi_eq_open(fabric, &eq_attr, &eq, NULL));
	else
		TRY(fi_av_open(domain, &av_attr, &av, NULL));
	for (i = 0; i < 2; i++)
		TRY(fi_cq_open(domain, &cq_attr, &cq[i], NULL));
	if (the->type != FI_EP_DGRAM)
		TRY(fi_mr_reg(domain, far, sizeof(far), FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 3, 0, &mr, NULL));
	return true;
}

static bool open_ep(int i, struct fi_info *of)
{
	TRY(fi_endpoint(domain, of, &ep[i], NULL));
	TRY(fi_ep_bind(ep[i], &cq[i]->fid, FI_TRANSMIT | FI_RECV));
	TRY(eq ? fi_ep_bind(ep[i], &eq->fid, 0) : fi_ep_bind(ep[i], &av->fid, 0));
	TRY(fi_enable(ep[i]));
	return true;
}

/* open_rdm - both endpoints, which know each other. */
static bool open_rdm(void)
{
	size_t len;
	int i;

	for (i = 0; i < 2; i++) {
		if (!open_ep(i, info))
			return false;
		len = sizeof(names[i]);
		TRY(fi_getname(&ep[i]->fid, names[i], &len));
	}
	for (i = 0; i < 2; i++)
		if (fi_av_insert(av, names[i], 1, &addr[i], 0, NULL) != 1)
			return false;
	return true;
}

static void progress(void)
{
	int i;

	for (i = 0; i < 2; i++)
		if (cq[i])
			fi_cq_read(cq[i], NULL, 0);
}

/* accept_one - open the endpoint that was asked for; where that fails, the request is rejected. */
static void accept_one(struct fi_info *request)
{
	bool done = open_ep(1, request) && !fails(fi_accept(ep[1], NULL, 0), "fi_accept");

	if (!done && !ep[1])
		fails(fi_reject(pep, request->handle, NULL, 0), "fi_reject");
	else if (!done && !fi_close(&ep[1]->fid))
		ep[1] = NULL;
	fi_freeinfo(request);
}

/* await_connected - true once both ends say that they are connected. */
static bool await_connected(void)
{
	struct fi_eq_err_entry err = { 0 };
	struct fi_eq_cm_entry entry;
	uint64_t since = now_ms();
	int connected = 0;
	uint32_t event;
	ssize_t ret;

	while (connected < 2) {
		progress();
		ret = fi_eq_read(eq, &event, &entry, sizeof(entry), 0);
		if (ret == -FI_EAVAIL) {
			fi_eq_readerr(eq, &err, 0);
			return false;
		}
		if (ret == -FI_EAGAIN && now_ms() - since > ENDS_MS)
			BAD("HANG: %d of 2 connected", connected);
		if (ret == -FI_EAGAIN)
			continue;
		if (ret < 0)
			return !fails(ret, "fi_eq_read");
		if (event == FI_CONNREQ)
			accept_one(entry.info);
		else if (event == FI_CONNECTED)
			connected++;
		else if (event == FI_SHUTDOWN)
			return false;
	}
	return true;
}

static bool open_msg(void)
{
	size_t len = sizeof(names[0]);

	TRY(fi_passive_ep(fabric, info, &pep, NULL));
	TRY(fi_pep_bind(pep, &eq->fid, 0));
	TRY(fi_listen(pep));
	TRY(fi_getname(&pep->fid, names[0], &len));
	if (!open_ep(0, info))
		return false;
	TRY(fi_connect(ep[0], names[0], NULL, 0));
	return await_connected();
}

static bool open_all(void)
{
	return ask() && open_domain() && (the->type == FI_EP_MSG ? open_msg() : open_rdm());
}

static void close_one(struct fid *fid, const char *what)
{
	int ret = fi_close(fid);

	if (ret)
		BAD("%s does not close: %s", what, fi_strerror(-ret));
}
#define CLOSE(object) do { if (object) close_one(&(object)->fid, #object); } while (0)

static void close_all(void)
{
	CLOSE(ep[0]);
	CLOSE(ep[1]);
	CLOSE(pep);
	CLOSE(mr);
	CLOSE(cq[0]);
	CLOSE(cq[1]);
	CLOSE(av);
	CLOSE(eq);
	CLOSE(domain);
	CLOSE(fabric);
	fi_freeinfo(info);
	fi_freeinfo(hints);
}

/* ---- transfers ------------------------------------------------------------------------------ */

/* note_end - operation @op, of which @context is, has ended. */
static void note_end(void *context, int end)
{
	long op = (struct fi_context2 *) context - ctx;

	if (op < 0 || op > WRITE || ends[op] != OPEN)
		BAD("a completion of no operation, or the second one of operation %ld", op);
	ends[op] = end;
}

static void reap(void)
{
	struct fi_cq_tagged_entry entry;
	struct fi_cq_err_entry err;
	ssize_t ret;
	int i;

	for (i = 0; i < 2; i++) {
		ret = fi_cq_read(cq[i], &entry, 1);
		if (ret == 1)
			note_end(entry.op_context, ENDED);
		if (ret != -FI_EAVAIL)
			continue;
		memset(&err, 0, sizeof(err));
		if (fi_cq_readerr(cq[i], &err, 0) != 1)
			continue;
		if (getenv("NOMEM_SHOW"))
			fprintf(stderr, "operation ends: %s\n", fi_strerror(err.err));
		note_end(err.op_context, err.err == FI_ECANCELED ? TAKEN_BACK : FAILED);
	}
}

/* await - the end of an operation.  True if it succeeded. */
static bool await(int op, const char *what, size_t len)
{
	uint64_t since = now_ms();

	while (ends[op] == OPEN) {
		reap();
		if (now_ms() - since > ENDS_MS)
			BAD("HANG: a %s of %zu bytes does not end", what, len);
	}
	return ends[op] == ENDED;
}

static ssize_t post(int op, size_t len, uint64_t tag)
{
	if (the->type == FI_EP_DGRAM)
		return op == RECV ? fi_recv(ep[1], in, len, NULL, FI_ADDR_UNSPEC, &ctx[op]) :
		       fi_send(ep[0], out, len, NULL, addr[1], &ctx[op]);
	if (op == RECV)
		return fi_trecv(ep[1], in, len, NULL, FI_ADDR_UNSPEC, tag, 0, &ctx[op]);
	if (op == SEND)
		return fi_tsend(ep[0], out, len, NULL, addr[1], tag, &ctx[op]);
	return fi_write(ep[0], out, len, NULL, addr[1], 0, 3, &ctx[op]);
}

/* start - post an operation.  False: the call failed. */
static bool start(int op, const char *what, size_t len, uint64_t tag)
{
	uint64_t since = now_ms();
	ssize_t ret;

	ends[op] = OPEN;
	while ((ret = post(op, len, tag)) == -FI_EAGAIN) {
		reap();
		if (now_ms() - since > ENDS_MS)
			BAD("HANG: a %s of %zu bytes cannot be posted", what, len);
	}
	return !fails(ret, what);
}

/* take_back - a receive that no message comes for, unless one does. */
static void take_back(size_t len)
{
	uint64_t since = now_ms();

	while (the->type == FI_EP_DGRAM && ends[RECV] == OPEN && now_ms() - since < 20)
		reap();
	if (ends[RECV] == OPEN)
		fi_cancel(&ep[1]->fid, &ctx[RECV]);
	await(RECV, "cancelled receive", len);
}

static void check_in(size_t len)
{
	if (memcmp(in, out, len))
		BAD("WRONG DATA in a message of %zu bytes", len);
}

/* A write is in place before its initiator knows, which it does by a socket: an order that the thread sanitizer, with
 * both in one process, does not see.  So it does not look at these bytes either.
 */
#define ORDERED_BY_SOCKET __attribute__((noinline, no_sanitize("thread")))

ORDERED_BY_SOCKET static void clear_far(size_t len)
{
	volatile char *at = far;

	while (len--)
		*at++ = 0;
}

ORDERED_BY_SOCKET static void check_far(size_t len)
{
	const volatile char *at = far;
	size_t i;

	for (i = 0; i < len; i++)
		if (at[i] != out[i])
			BAD("WRONG DATA in a write of %zu bytes, at %zu", len, i);
}

/* send_one - a message, posted before its receive or after it.  True: it arrived. */
static bool send_one(size_t len, uint64_t tag, bool unexpected)
{
	bool sent;
	int i;

	if (!unexpected && !start(RECV, "receive", len, tag))
		return false;
	sent = start(SEND, "send", len, tag);
	for (i = 0; unexpected && sent && i < 100; i++)
		progress();
	/* the send ends with a receive only */
	for (i = 0; unexpected && sent && !start(RECV, "receive", len, tag); i++)
		if (i > 10 * RUN_MAX)
			BAD("memory is there again, but no receive can be posted");
	if (unexpected && !sent)
		return false;
	if (sent && await(SEND, "send", len) && the->type != FI_EP_DGRAM)
		await(RECV, "receive", len);
	else
		take_back(len);
	if (ends[RECV] != ENDED)
		return false;
	check_in(len);
	return sent && ends[SEND] == ENDED;
}

static bool write_one(size_t len)
{
	if (!start(WRITE, "write", len, 0) || !await(WRITE, "write", len))
		return false;
	check_far(len);
	return true;
}

/* transfer - number @n, of @kind.  True if it succeeded. */
static bool transfer(int n, int kind, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		out[i] = (char) (3 * i + (size_t) n);
	memset(in, 0, len);
	clear_far(len);
	return kind < 2 ? send_one(len, (uint64_t) n, kind) : write_one(len);
}

/* transfers - all kinds and lengths; over a connected endpoint up to the first error, which ends it. */
static bool transfers(int first)
{
	static const size_t lens[] = { 8, 3000, 70000, LEN_MAX };
	size_t kinds = the->type == FI_EP_DGRAM ? 2 : 3, i, each = the->type == FI_EP_DGRAM ? 1 : 4;
	bool good = true;

	for (i = 0; i < kinds * each; i++) {
		good &= transfer(first + (int) i, (int) (i / each), lens[i % each]);
		if (!good && the->type == FI_EP_MSG)
			return false;
	}
	return good;
}

/* live - Returns the number of allocations. */
static long live(long first, long run)
{
	bool opened;
	long cnt;

	alloc_arm(first, run);
	opened = open_all();
	if (first < 0 && !info)
		_exit(77);
	if (first < 0 && !opened)
		BAD("nothing fails, but the endpoints do not open");
	if (opened && !transfers(1) && first < 0)
		BAD("nothing fails, but a transfer does");
	cnt = alloc_disarm();
	if (first < 0 && !cnt)
		BAD("no allocation is counted: those of the library go elsewhere");
	/* a receive that had no memory left its message there: the tags are new */
	if (opened && the->type == FI_EP_RDM && !transfers(TAG_LAST))
		BAD("memory is there again, but a transfer fails");
	alloc_arm(first < cnt ? -1 : first - cnt, run);
	close_all();
	return cnt + alloc_disarm();
}

/* ---- many lives ------------------------------------------------------------------------------ */

static int bad_cnt, running;
static struct child { pid_t pid; long first, run; const struct life_case *of; } children[CHILDREN];

static void reap_child(void)
{
	int status, i;
	pid_t pid = wait(&status);

	for (i = 0; i < CHILDREN && children[i].pid != pid; i++)
		;
	if (i == CHILDREN)
		return;
	children[i].pid = 0;
	running--;
	if (!status)
		return;
	bad_cnt++;
	printf("not ok - life %s %ld %ld: %s %d\n", children[i].of->name, children[i].first, children[i].run,
	       WIFSIGNALED(status) ? "signal" : "status",
	       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

/* limit_child - a child ends in any case, and has the settings of its case. */
static void limit_child(void)
{
	struct rlimit core = { 0, 0 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* of a request that nothing answers, since its endpoint is closed again; the default is 60 s */
	if (the->type == FI_EP_MSG)
		setenv("FI_OFI_RXD_CONN_TIMEOUT", "10000", 0);
	if (the->env)
		setenv(the->env, "0", 1);
	setrlimit(RLIMIT_CORE, &core);
	limit_time(3 * ENDS_MS / 1000, NULL);
}

static void start_child(const struct life_case *of, long first, long run)
{
	int i;

	while (running == CHILDREN)
		reap_child();
	for (i = 0; children[i].pid; i++)
		;
	fflush(stdout);
	children[i] = (struct child) { fork(), first, run, of };
	running++;
	if (children[i].pid)
		return;
	the = of;
	limit_child();
	live(first, run);
	exit(0);
}

/* count - the allocations of a life without failures; -1: there is no such provider; -2: it fails. */
static long count(const struct life_case *of)
{
	long cnt = -1;
	int fds[2], status;
	pid_t pid;

	if (pipe(fds))
		return -1;
	pid = fork();
	if (!pid) {
		the = of;
		limit_child();
		cnt = live(-1, 0);
		exit(write(fds[1], &cnt, sizeof(cnt)) != sizeof(cnt));
	}
	close(fds[1]);
	if (read(fds[0], &cnt, sizeof(cnt)) != sizeof(cnt))
		cnt = -2;
	close(fds[0]);
	waitpid(pid, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) == 77 ? -1 : cnt;
}

static void play(const struct life_case *of, bool whole)
{
	long cnt = count(of), n, run, step = whole ? 1 : cnt / SAMPLE + 1, tried = 0;
	int was = bad_cnt;

	if (cnt < 0) {
		bad_cnt += cnt != -1;
		printf("%s - %s%s\n", cnt == -1 ? "ok" : "not ok", of->name, cnt == -1 ? " # SKIP not offered here" :
		       ": a life without failures");
		return;
	}
	for (n = whole ? 0 : (long) getpid() % step; n < cnt; n += step)
		for (run = 1; run <= RUN_MAX; run++)
			if (whole || run == 1 + (n / step) % RUN_MAX)
				start_child(of, n, run), tried++;
	while (running)
		reap_child();
	printf("%s - %s: %ld allocations, %ld lives\n", bad_cnt == was ? "ok" : "not ok", of->name, cnt, tried);
}

int main(int argc, char **argv)
{
	const char *form = getenv("NOMEM_FORM");
	size_t i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	setvbuf(stderr, NULL, _IONBF, 0);
	for (i = 0; i < CASES; i++) {
		if (argc > 1 && strcmp(argv[1], cases[i].name))
			continue;
		if (argc > 3) {
			the = &cases[i];
			limit_child();
			alloc_trace();
			live(atol(argv[2]), atol(argv[3]));
			return 0;
		}
		play(&cases[i], argc > 1 || (form && !strcmp(form, "long")));
	}
	return bad_cnt != 0;
}
