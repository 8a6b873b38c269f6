/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * burst_test.c - how many system calls messages cost, and what happens when one fails.  The
 * functions sendto(), syscall() and so on of this program replace the C library's: they count,
 * and fail on request.  Plain datagrams first, then framed ones.
 */

#include "udp/test/world.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
	unsigned routed;	/* sends with an address */
	unsigned sendto, sendmsg, sendmmsg, recvmsg, recvmmsg;
	unsigned received;	/* datagrams; a train received by one call counts as one */
} calls;

static bool framed;		/* what the tests run over */
static unsigned full;		/* number of sends that fail as if the socket were full */
static int send_err, recv_err;	/* the next call fails with this error */

static bool fails(int *once, unsigned *many)
{
	if (*once) {
		errno = *once;
		*once = 0;
		return true;
	}
	if (many && *many) {
		(*many)--;
		errno = EAGAIN;
		return true;
	}
	return false;
}

/* real - the C library's syscall(). */
static long (*real(void))(long nr, ...)
{
	static long (*next)(long nr, ...);

	if (!next)
		next = (__typeof__(next)) dlsym(RTLD_NEXT, "syscall");
	return next;
}

ssize_t sendto(int fd, const void *buf, size_t len, int flags, const struct sockaddr *to,
	       socklen_t to_len)
{
	calls.sendto++;
	calls.routed += !!to;
	if (fails(&send_err, &full))
		return -1;
	return real()(SYS_sendto, fd, buf, len, flags, to, to_len);
}

ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
	calls.sendmsg++;
	calls.routed += !!msg->msg_name;
	if (fails(&send_err, &full))
		return -1;
	return real()(SYS_sendmsg, fd, msg, flags);
}

#ifdef __GLIBC__
typedef int mmsg_flags;
#else
typedef unsigned mmsg_flags;
#endif

int sendmmsg(int fd, struct mmsghdr *msg, unsigned cnt, mmsg_flags flags)
{
	calls.sendmmsg++;
	if (fails(&send_err, &full))
		return -1;
	return (int) real()(SYS_sendmmsg, fd, msg, cnt, flags);
}

ssize_t recvmsg(int fd, struct msghdr *msg, int flags)
{
	ssize_t ret;

	calls.recvmsg++;
	if (fails(&recv_err, NULL))
		return -1;
	ret = real()(SYS_recvmsg, fd, msg, flags);
	calls.received += ret >= 0;
	return ret;
}

ssize_t recvfrom(int fd, void *buf, size_t len, int flags, struct sockaddr *from,
		 socklen_t *from_len)
{
	ssize_t ret = real()(SYS_recvfrom, fd, buf, len, flags, from, from_len);

	calls.received += ret >= 0;
	return ret;
}

int recvmmsg(int fd, struct mmsghdr *msg, unsigned cnt, mmsg_flags flags, struct timespec *timeout)
{
	int ret;

	calls.recvmmsg++;
	if (fails(&recv_err, NULL))
		return -1;
	ret = (int) real()(SYS_recvmmsg, fd, msg, cnt, flags, timeout);
	calls.received += ret > 0 ? (unsigned) ret : 0;
	return ret;
}

/* Of endpoints below prov/rxd, see net/io.h. */
long syscall(long nr, ...)
{
	long a[6];
	va_list list;
	unsigned i;

	va_start(list, nr);
	for (i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (nr == SYS_sendto)
		return sendto((int) a[0], (void *) a[1], (size_t) a[2], (int) a[3], (void *) a[4],
			      (socklen_t) a[5]);
	if (nr == SYS_sendmsg)
		return sendmsg((int) a[0], (void *) a[1], (int) a[2]);
	if (nr == SYS_recvfrom)
		return recvfrom((int) a[0], (void *) a[1], (size_t) a[2], (int) a[3], (void *) a[4],
				(void *) a[5]);
	return real()(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static void reset(void)
{
	memset(&calls, 0, sizeof(calls));
}

static unsigned send_calls(void)
{
	return calls.sendto + calls.sendmsg + calls.sendmmsg;
}

static char in[256][64];

static void post(struct end *e, unsigned cnt)
{
	unsigned i;

	for (i = 0; i < cnt; i++)
		OK(fi_recv(e->ep, in[i], sizeof(in[i]), NULL, FI_ADDR_UNSPEC, in[i]));
}

/* The next @cnt messages at @e have the numbers 0, 1, ... */
static void expect(struct end *e, unsigned cnt)
{
	struct fi_cq_data_entry entry;
	uint64_t no;
	unsigned i;

	for (i = 0; i < cnt; i++) {
		wait_one(e->cq, &entry);
		memcpy(&no, entry.op_context, sizeof(no));
		assert_int_equal(no, i);
		assert_int_equal(entry.data, framed ? i : 0);
	}
}

static void send_no(struct end *e, uint64_t no, uint64_t flags)
{
	struct iovec iov = { &no, sizeof(no) };
	struct fi_msg msg = {
		.msg_iov = &iov, .iov_count = 1, .addr = e->to[1], .data = no,
		.context = (void *) (uintptr_t) no,
	};

	OK(fi_sendmsg(e->ep, &msg, FI_INJECT | (framed ? FI_REMOTE_CQ_DATA : 0) | flags));
}

static void drain(struct fid_cq *cq, unsigned cnt)
{
	struct fi_cq_data_entry entry;

	while (cnt--)
		wait_one(cq, &entry);
}

/* ---- sending --------------------------------------------------------------- */

static void lone_message(void **state)
{
	struct conf c = { .framed = framed };
	struct world w;
	char big[1000] = "";

	world_open(&w, &c);
	post(&w.end[1], 2);
	reset();
	OK(fi_send(w.end[0].ep, "x", 1, NULL, w.end[0].to[1], NULL));
	assert_int_equal(send_calls(), 1);
	OK(fi_send(w.end[0].ep, big, sizeof(big), NULL, w.end[0].to[1], NULL));
	assert_int_equal(send_calls(), 2);
	world_close(&w);
}

static void burst(void **state)
{
	struct conf c = { .framed = framed };
	struct world w;
	unsigned i;

	world_open(&w, &c);
	post(&w.end[1], 20);
	reset();
	for (i = 0; i < 19; i++)
		send_no(&w.end[0], i, FI_MORE);
	assert_int_equal(send_calls(), 0);
	send_no(&w.end[0], i, 0);
	assert_int_equal(calls.sendmmsg, 1);
	assert_int_equal(send_calls(), 1);
	drain(w.end[0].cq, 20);
	expect(&w.end[1], 20);
	world_close(&w);
}

/* A burst without an end leaves when it is long, and when the program polls. */
static void burst_without_end(void **state)
{
	struct conf c = { .framed = framed };
	struct world w;
	unsigned i;

	world_open(&w, &c);
	post(&w.end[1], 100);
	reset();
	for (i = 0; i < 100; i++)
		send_no(&w.end[0], i, FI_MORE);
	assert_int_equal(send_calls(), 3);
	drain(w.end[0].cq, 100);
	assert_int_equal(send_calls(), 4);
	expect(&w.end[1], 100);
	world_close(&w);
}

/* Messages of every kind in one burst keep their order. */
static void mixed_burst(void **state)
{
	struct conf c = { .framed = framed };
	struct fi_cq_data_entry entry;
	struct iovec iov;
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1 };
	char big[1000], at[4][1000];
	struct world w;
	int i;

	world_open(&w, &c);
	msg.addr = w.end[0].to[1];
	pattern(big, sizeof(big), 9);
	for (i = 0; i < 4; i++)
		OK(fi_recv(w.end[1].ep, at[i], 1000, NULL, FI_ADDR_UNSPEC, at[i]));
	reset();
	iov = (struct iovec) { big, 1000 };
	OK(fi_sendmsg(w.end[0].ep, &msg, FI_MORE));
	iov = (struct iovec) { big, 100 };
	OK(fi_sendmsg(w.end[0].ep, &msg, FI_MORE | FI_INJECT));
	/* too long for the queue: the queued sends leave first */
	iov = (struct iovec) { big, 900 };
	OK(fi_sendmsg(w.end[0].ep, &msg, FI_MORE | FI_INJECT));
	assert_int_equal(send_calls(), 2);
	OK(fi_inject(w.end[0].ep, big, 50, w.end[0].to[1]));
	memset(big, 0, sizeof(big));
	for (i = 0; i < 4; i++) {
		static const size_t len[] = { 1000, 100, 900, 50 };

		wait_one(w.end[1].cq, &entry);
		assert_int_equal(entry.len, len[i]);
		check_pattern(at[i], len[i], 9);
	}
	world_close(&w);
}

static void full_socket(void **state)
{
	struct conf c = { .framed = framed };
	struct fi_cq_data_entry entry;
	char big[1000] = "";
	struct world w;
	unsigned i;

	world_open(&w, &c);
	post(&w.end[1], 64);
	full = 40;
	reset();
	for (i = 0; i < 50; i++)
		send_no(&w.end[0], i, i % 3 ? FI_MORE : 0);
	assert_int_equal(send_calls(), 1);	/* the others are queued behind the first */
	assert_int_equal(fi_inject(w.end[0].ep, big, sizeof(big), w.end[0].to[1]), -FI_EAGAIN);
	for (i = 0; i < 50; i++) {
		wait_one(w.end[0].cq, &entry);
		assert_int_equal((uintptr_t) entry.op_context, i);
	}
	expect(&w.end[1], 50);
	assert_int_equal(full, 0);
	send_no(&w.end[0], 0, 0);		/* afterwards sends are immediate again */
	expect(&w.end[1], 1);
	world_close(&w);
}

static void full_queue(void **state)
{
	struct conf c = { .framed = framed };
	struct fi_cq_err_entry err;
	struct world w;
	size_t i;

	world_open(&w, &c);
	full = 1;
	for (i = 0; i < w.info->tx_attr->size; i++)
		OK(fi_send(w.end[0].ep, "x", 1, NULL, w.end[0].to[1], &w));
	assert_int_equal(fi_send(w.end[0].ep, "x", 1, NULL, w.end[0].to[1], &w), -FI_EAGAIN);
	full = 1;
	OK(fi_cancel(&w.end[0].ep->fid, &w));
	wait_err(w.end[0].cq, &err);
	assert_int_equal(err.err, FI_ECANCELED);
	assert_int_equal(err.flags, FI_SEND | FI_MSG);
	drain(w.end[0].cq, (unsigned) i - 1);
	world_close(&w);
}

static void failing_send(void **state)
{
	struct conf c = { .framed = framed, .counters = true };
	struct fi_cq_err_entry err;
	struct world w;

	world_open(&w, &c);
	post(&w.end[1], 8);
	/* immediate send: the call returns the error, and nothing has happened */
	send_err = ENETUNREACH;
	assert_int_equal(fi_send(w.end[0].ep, "x", 1, NULL, w.end[0].to[1], NULL),
			 -FI_ENETUNREACH);
	send_err = ENOBUFS;
	assert_int_equal(fi_send(w.end[0].ep, "x", 1, NULL, w.end[0].to[1], NULL), -FI_EAGAIN);
	wait_none(w.end[0].cq);
	/* queued send: an error entry for that message only */
	send_no(&w.end[0], 7, FI_MORE);
	send_no(&w.end[0], 0, FI_MORE);
	send_err = ENETUNREACH;
	send_no(&w.end[0], 1, 0);
	wait_err(w.end[0].cq, &err);
	assert_int_equal(err.err, FI_ENETUNREACH);
	assert_int_equal((uintptr_t) err.op_context, 7);
	drain(w.end[0].cq, 2);
	expect(&w.end[1], 2);
	assert_int_equal(fi_cntr_read(w.end[0].sent), 2);
	assert_int_equal(fi_cntr_readerr(w.end[0].sent), 1);
	world_close(&w);
}

/* ---- receiving ------------------------------------------------------------- */

/* Many pending datagrams are received by few calls; an empty socket costs one. */
static void flood(void **state)
{
	struct conf c = { .framed = framed };
	struct world w;
	unsigned i;

	world_open(&w, &c);
	post(&w.end[1], 200);
	for (i = 0; i < 200; i++)
		send_no(&w.end[0], i, 0);
	reset();
	expect(&w.end[1], 200);
	assert_int_equal(calls.received, 200);
	assert_in_range(calls.recvmsg + calls.recvmmsg, 1, 16);
	world_close(&w);
}

static void no_receive_no_call(void **state)
{
	struct conf c = { .framed = framed };
	struct world w;
	unsigned i;

	world_open(&w, &c);
	for (i = 0; i < 10; i++)
		send_no(&w.end[0], i, 0);
	reset();
	wait_none(w.end[1].cq);
	assert_int_equal(calls.recvmsg + calls.recvmmsg, 0);
	post(&w.end[1], 10);
	expect(&w.end[1], 10);
	world_close(&w);
}

/* A ping-pong receives each message by one call, and polls an empty socket only while it waits. */
static void one_by_one(void **state)
{
	struct conf c = { .framed = framed };
	struct world w;
	unsigned i;

	world_open(&w, &c);
	post(&w.end[1], 100);
	wait_none(w.end[1].cq);
	for (i = 0; i < 50; i++) {
		send_no(&w.end[0], 0, 0);
		reset();
		expect(&w.end[1], 1);
		assert_int_equal(calls.recvmsg + calls.recvmmsg, 1);
		reset();
		wait_none(w.end[1].cq);
		assert_in_range(calls.recvmmsg, 0, 1);	/* the first poll asked for more */
	}
	world_close(&w);
}

static void failing_recv(void **state)
{
	struct conf c = { .framed = framed };
	struct fi_cq_err_entry err;
	struct world w;

	world_open(&w, &c);
	post(&w.end[1], 2);
	recv_err = ECONNREFUSED;	/* pending on the socket: affects no operation */
	wait_none(w.end[1].cq);
	recv_err = EFAULT;		/* the oldest buffer is not writable */
	wait_err(w.end[1].cq, &err);
	assert_int_equal(err.err, EFAULT);
	assert_ptr_equal(err.op_context, in[0]);
	send_no(&w.end[0], 0, 0);
	expect(&w.end[1], 1);
	world_close(&w);
}

/* More endpoints than are polled one by one: epoll finds those with datagrams. */
static void many_endpoints(void **state)
{
	struct conf c = { .framed = framed, .ends = ENDS_MAX };
	struct fi_cq_attr attr = { .format = FI_CQ_FORMAT_DATA };
	struct fi_cq_data_entry entry;
	struct fid_ep *ep[ENDS_MAX];
	struct sockaddr_in6 name;
	struct fid_cq *cq;
	struct world w;
	fi_addr_t to;
	size_t len;
	unsigned i, k;

	world_open(&w, &c);
	OK(fi_cq_open(w.domain, &attr, &cq, NULL));	/* one queue: one group */
	for (i = 0; i < ENDS_MAX; i++) {
		OK(fi_endpoint(w.domain, w.info, &ep[i], NULL));
		OK(fi_ep_bind(ep[i], &cq->fid, FI_SEND | FI_RECV));
		OK(fi_ep_bind(ep[i], &w.end[0].av->fid, 0));
		OK(fi_enable(ep[i]));
	}
	for (k = 0; k < 3; k++) {
		for (i = 0; i < ENDS_MAX; i++) {
			OK(fi_recv(ep[i], in[i], sizeof(in[i]), NULL, FI_ADDR_UNSPEC, ep[i]));
			if (k == 1)	/* a wait while nothing is posted would remove the socket
					 * from the set */
				assert_int_equal(fi_cq_read(cq, NULL, 0), -FI_EAGAIN);
		}
		reset();
		for (i = 0; i < 50; i++)
			assert_int_equal(fi_cq_read(cq, &entry, 1), -FI_EAGAIN);
		assert_int_equal(calls.recvmsg + calls.recvmmsg, 0);
		for (i = 0; i < ENDS_MAX; i++) {
			len = sizeof(name);
			OK(fi_getname(&ep[i]->fid, &name, &len));
			assert_int_equal(fi_av_insert(w.end[0].av, &name, 1, &to, 0, NULL), 1);
			OK(fi_inject(w.end[0].ep, "x", 1, to));
			wait_one(cq, &entry);
			assert_ptr_equal(entry.op_context, ep[i]);
		}
		assert_in_range(calls.recvmsg + calls.recvmmsg, ENDS_MAX, 3 * ENDS_MAX);
	}
	for (i = 0; i < ENDS_MAX; i++)
		OK(fi_close(&ep[i]->fid));
	OK(fi_close(&cq->fid));
	world_close(&w);
}

/* ---- the connected socket -------------------------------------------------- */

/* Send until the endpoint has made a connected socket; keep both queues short. */
static void make_connected(struct world *w)
{
	unsigned i;

	for (i = 0; i < 80; i++) {
		send_no(&w->end[0], 0, 0);
		expect(&w->end[1], 1);
		post(&w->end[1], 1);
		drain(w->end[0].cq, 1);
	}
	reset();
	send_no(&w->end[0], 0, 0);
	assert_int_equal(calls.sendto, 1);
	assert_int_equal(calls.routed, 0);
	expect(&w->end[1], 1);
	drain(w->end[0].cq, 1);
}

static void hot_peer(void **state)
{
	struct conf c = { .framed = framed, .ends = 3, .caps = FI_SOURCE };
	struct fi_cq_data_entry entry;
	char big[1000], at[1000];
	struct world w;
	fi_addr_t src;
	unsigned i;

	world_open(&w, &c);
	post(&w.end[1], 2);
	make_connected(&w);
	/* it still receives from all peers, and reports the right source */
	for (i = 1; i < 30; i++) {
		post(&w.end[0], 1);
		OK(fi_inject(w.end[1 + i % 2].ep, "x", 1, w.end[1 + i % 2].to[0]));
		assert_int_equal(wait_from(w.end[0].cq, &entry, &src), 1);
		assert_int_equal(src, w.end[0].to[1 + i % 2]);
	}
	/* and all peers receive from it, with the same source address */
	post(&w.end[2], 1);
	OK(fi_inject(w.end[0].ep, "x", 1, w.end[0].to[2]));
	assert_int_equal(wait_from(w.end[2].cq, &entry, &src), 1);
	assert_int_equal(src, w.end[2].to[0]);
	OK(fi_inject(w.end[0].ep, "x", 1, w.end[0].to[1]));
	assert_int_equal(wait_from(w.end[1].cq, &entry, &src), 1);
	assert_int_equal(src, w.end[1].to[0]);
	/* long messages too; a full connected socket is not an error */
	pattern(big, sizeof(big), 3);
	for (i = 0; i < 2; i++) {
		full = i;
		OK(fi_recv(w.end[1].ep, at, sizeof(at), NULL, FI_ADDR_UNSPEC, at));
		OK(fi_inject(w.end[0].ep, big, sizeof(big), w.end[0].to[1]));
		wait_one(w.end[1].cq, &entry);
		assert_int_equal(entry.len, sizeof(big));
		check_pattern(at, entry.len, 3);
	}
	world_close(&w);
}

/* other_addr - an IPv4 address of this host that is not a loopback address.  Returns false if it has none. */
static bool other_addr(struct sockaddr_in *sin)
{
	struct ifaddrs *list, *at;
	bool found = false;

	OK(getifaddrs(&list));
	for (at = list; at && !found; at = at->ifa_next) {
		if (!at->ifa_addr || at->ifa_addr->sa_family != AF_INET || !(at->ifa_flags & IFF_UP) ||
		    at->ifa_flags & IFF_LOOPBACK)
			continue;
		memcpy(sin, at->ifa_addr, sizeof(*sin));
		found = true;
	}
	freeifaddrs(list);
	return found;
}

/* peer_at - a socket of the test's at @sin, and its address in the AV of @e. */
static int peer_at(struct end *e, struct sockaddr_in *sin, fi_addr_t *to)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	socklen_t len = sizeof(*sin);

	sin->sin_port = 0;
	OK(bind(fd, (struct sockaddr *) sin, len));
	OK(getsockname(fd, (struct sockaddr *) sin, &len));
	assert_int_equal(fi_av_insert(e->av, sin, 1, to, 0, NULL), 1);
	return fd;
}

/* all_from_one_source - what @e sends to this peer, before and after it has a connected socket. */
static void all_from_one_source(struct end *e, int fd, fi_addr_t to)
{
	struct sockaddr_in first = { 0 }, from;
	socklen_t len;
	char buf[64];
	int i;

	for (i = 0; i < 80; i++) {
		reset();
		OK(fi_inject(e->ep, "x", 1, to));
		len = sizeof(from);
		assert_true(recvfrom(fd, buf, sizeof(buf), 0, (struct sockaddr *) &from, &len) > 0);
		if (!i)
			first = from;
		assert_int_equal(from.sin_addr.s_addr, first.sin_addr.s_addr);
		assert_int_equal(from.sin_port, ((struct sockaddr_in *) &e->name)->sin_port);
	}
	assert_int_equal(calls.routed, 0);
}

/* An endpoint at the wildcard address, whose busiest peer is now behind one interface, now behind another. */
static void hot_peer_elsewhere(void **state)
{
	struct sockaddr_in any = { .sin_family = AF_INET }, near = any, away;
	struct conf c = { .framed = framed, .ends = 1, .strangers = true };
	fi_addr_t to[2];
	struct world w;
	int fd[2], i;

	if (!other_addr(&away))
		skip();
	near.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	world_open(&w, &c);
	OK(fi_close(&w.end[0].ep->fid));
	OK(fi_close(&w.end[0].cq->fid));
	OK(fi_close(&w.end[0].av->fid));
	memcpy(w.info->src_addr, &any, sizeof(any));
	world_add(&w, &w.end[0], &c);
	fd[0] = peer_at(&w.end[0], &near, &to[0]);
	fd[1] = peer_at(&w.end[0], &away, &to[1]);
	for (i = 0; i < 4; i++)
		all_from_one_source(&w.end[0], fd[i % 2], to[i % 2]);
	close(fd[0]);
	close(fd[1]);
	world_close(&w);
}

/* The address of a removed peer may be given to another peer. */
static void hot_peer_replaced(void **state)
{
	struct conf c = { .framed = framed, .ends = 3 };
	uint64_t no = 0;
	struct world w;
	fi_addr_t to;

	world_open(&w, &c);
	post(&w.end[1], 8);
	post(&w.end[2], 1);
	make_connected(&w);
	OK(fi_av_remove(w.end[0].av, &w.end[0].to[1], 1, 0));
	assert_int_equal(fi_send(w.end[0].ep, "x", 1, NULL, w.end[0].to[1], NULL), -FI_EINVAL);
	assert_int_equal(fi_av_insert(w.end[0].av, &w.end[2].name, 1, &to, 0, NULL), 1);
	assert_int_equal(to, w.end[0].to[1]);	/* precondition of this test */
	OK(fi_inject(w.end[0].ep, &no, sizeof(no), to));
	expect(&w.end[2], 1);
	world_close(&w);
}

/* A connected socket reports ECONNREFUSED; the program must not see it. */
static void hot_peer_gone(void **state)
{
	struct conf c = { .framed = framed };
	struct world w;
	unsigned i;

	world_open(&w, &c);
	post(&w.end[0], 4);
	post(&w.end[1], 8);
	make_connected(&w);
	OK(fi_close(&w.end[1].ep->fid));
	for (i = 0; i < 50; i++) {
		send_no(&w.end[0], i, 0);
		drain(w.end[0].cq, 1);
	}
	wait_none(w.end[0].cq);
	OK(fi_inject(w.end[0].ep, "x", 1, w.end[0].to[0]));
	drain(w.end[0].cq, 1);
	OK(fi_endpoint(w.domain, w.info, &w.end[1].ep, NULL));
	world_close(&w);
}

/* ---- trains ---------------------------------------------------------------- */

#define TRAIN 8
#define CAR 1200

/* How many calls receive @cnt datagrams, sent singly or as a train? */
static unsigned come_up(struct world *w, unsigned cnt, bool train)
{
	static char room[4 * NET_TRAIN_MAX], out[CAR];
	static bool posted;
	struct iovec iov = { room, sizeof(room) }, one = { out, CAR };
	struct fi_msg in_msg = { .msg_iov = &iov, .iov_count = 1, .addr = FI_ADDR_UNSPEC };
	struct fi_msg msg = { .msg_iov = &one, .iov_count = 1, .addr = w->end[0].to[1] };
	struct fi_cq_data_entry e;
	unsigned i;

	pattern(out, CAR, 9);
	reset();
	for (i = 0; i < cnt; i++) {
		if (!posted)
			OK(fi_recvmsg(w->end[1].ep, &in_msg, FI_COMPLETION | FI_MULTI_RECV));
		posted = true;
		if (train && i % TRAIN == 0)
			for (unsigned car = 1; car <= TRAIN; car++)
				OK(fi_sendmsg(w->end[0].ep, &msg, car < TRAIN ? FI_MORE : 0));
		else if (!train)
			OK(fi_inject(w->end[0].ep, out, CAR, msg.addr));
		wait_one(w->end[1].cq, &e);
		assert_int_equal(e.len, CAR);
		check_pattern(e.buf, CAR, 9);
		posted = !(e.flags & FI_MULTI_RECV);
	}
	return calls.received;
}

/* UDP_GRO is on while trains arrive, and off otherwise, because it makes single datagrams more
 * expensive.
 */
static void trains_whole(void **state)
{
	struct conf c = { .trains = true, .no_ecn = true };
	struct world w;
	unsigned i;

	world_open(&w, &c);
	for (i = 0; i < 3; i++) {
		assert_int_equal(come_up(&w, TRAIN, true), TRAIN);
		assert_int_equal(come_up(&w, 2 * TRAIN, true), 2);
		assert_int_equal(come_up(&w, 100, false), 100);
		assert_int_equal(come_up(&w, TRAIN, true), 1);
		assert_int_equal(come_up(&w, 300, false), 300);
	}
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest both[] = {
		cmocka_unit_test(lone_message),
		cmocka_unit_test(burst),
		cmocka_unit_test(burst_without_end),
		cmocka_unit_test(mixed_burst),
		cmocka_unit_test(full_socket),
		cmocka_unit_test(full_queue),
		cmocka_unit_test(failing_send),
		cmocka_unit_test(flood),
		cmocka_unit_test(no_receive_no_call),
		cmocka_unit_test(one_by_one),
		cmocka_unit_test(failing_recv),
		cmocka_unit_test(many_endpoints),
		cmocka_unit_test(hot_peer),
		cmocka_unit_test(hot_peer_elsewhere),
		cmocka_unit_test(hot_peer_replaced),
		cmocka_unit_test(hot_peer_gone),
	};
	const struct CMUnitTest trains[] = { cmocka_unit_test(trains_whole) };
	int failed = cmocka_run_group_tests(both, NULL, NULL);

	framed = true;
	return failed + cmocka_run_group_tests(both, NULL, NULL) +
	       cmocka_run_group_tests(trains, NULL, NULL);
}
