/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * calls_test.c - every data transfer call of a DGRAM endpoint, and every error
 * that one can return or report.
 */

#include "udp/test/world.h"

#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <sys/socket.h>
#include <unistd.h>

static struct conf v4 = { .family = AF_INET }, v6 = { .family = AF_INET6 };
static struct conf framed_v4 = { .family = AF_INET, .framed = true };
static struct conf framed_v6 = { .family = AF_INET6, .framed = true };

static int open_state(void **state, const struct conf *c)
{
	struct world *w = malloc(sizeof(*w));

	world_open(w, c);
	*state = w;
	return 0;
}

static int setup_v4(void **state)
{
	return open_state(state, &v4);
}

static int setup_v6(void **state)
{
	return open_state(state, &v6);
}

static int setup_framed_v4(void **state)
{
	return open_state(state, &framed_v4);
}

static int setup_framed_v6(void **state)
{
	return open_state(state, &framed_v6);
}

static bool is_framed(const struct world *w)
{
	return w->info->ep_attr->protocol == NET_PROTO_UDP_FRAMED;
}

static int teardown(void **state)
{
	world_close(*state);
	free(*state);
	return 0;
}

/* ---- the calls ------------------------------------------------------------- */

#define LEN 1000

enum send_by { SEND, SENDV, SENDMSG, SENDMSG_DATA, INJECT, SENDDATA, INJECTDATA, SEND_CNT };
enum recv_by { RECV, RECVV, RECVMSG, RECV_CNT };

static bool has_data(enum send_by by)
{
	return by == SENDMSG_DATA || by == SENDDATA || by == INJECTDATA;
}

static bool is_inject(enum send_by by)
{
	return by == INJECT || by == INJECTDATA;
}

static void split(struct iovec *iov, char *buf, size_t len)
{
	iov[0] = (struct iovec) { buf, len / 4 };
	iov[1] = (struct iovec) { buf + len / 4, 0 };
	iov[2] = (struct iovec) { buf + len / 4, len / 3 };
	iov[3] = (struct iovec) { buf + len / 4 + len / 3, len - len / 4 - len / 3 };
}

static ssize_t do_send(struct end *e, enum send_by by, char *buf, size_t len, fi_addr_t to)
{
	struct iovec iov[4];
	struct fi_msg msg = {
		.msg_iov = iov, .iov_count = 4, .addr = to, .context = buf, .data = 0xabcdef12345,
	};

	split(iov, buf, len);
	switch (by) {
	case SEND:
		return fi_send(e->ep, buf, len, NULL, to, buf);
	case SENDV:
		return fi_sendv(e->ep, iov, NULL, 4, to, buf);
	case SENDMSG:
		return fi_sendmsg(e->ep, &msg, 0);
	case SENDMSG_DATA:
		return fi_sendmsg(e->ep, &msg, FI_REMOTE_CQ_DATA);
	case INJECT:
		return fi_inject(e->ep, buf, len, to);
	case SENDDATA:
		return fi_senddata(e->ep, buf, len, NULL, 0xabcdef12345, to, buf);
	default:
		return fi_injectdata(e->ep, buf, len, 0xabcdef12345, to);
	}
}

static ssize_t do_recv(struct end *e, enum recv_by by, char *buf, size_t len)
{
	struct iovec iov[4];
	struct fi_msg msg = {
		.msg_iov = iov, .iov_count = 4, .addr = FI_ADDR_UNSPEC, .context = buf,
	};

	split(iov, buf, len);
	switch (by) {
	case RECV:
		return fi_recv(e->ep, buf, len, NULL, FI_ADDR_UNSPEC, buf);
	case RECVV:
		return fi_recvv(e->ep, iov, NULL, 4, FI_ADDR_UNSPEC, buf);
	default:
		return fi_recvmsg(e->ep, &msg, 0);
	}
}

static void one_message(struct world *w, enum send_by sb, enum recv_by rb, size_t len)
{
	char *out = malloc(len + 1), *in = calloc(1, len + 100);
	struct end *a = &w->end[0], *b = &w->end[1];
	struct fi_cq_data_entry e;

	if (has_data(sb) && !is_framed(w))
		sb = SENDV;
	pattern(out, len, sb * 3 + rb);
	OK(do_recv(b, rb, in, len + 100));
	OK(do_send(a, sb, out, len, a->to[1]));
	if (!is_inject(sb)) {
		wait_one(a->cq, &e);
		assert_ptr_equal(e.op_context, out);
		assert_int_equal(e.flags & (FI_SEND | FI_MSG), FI_SEND | FI_MSG);
	}
	wait_one(b->cq, &e);
	assert_ptr_equal(e.op_context, in);
	assert_int_equal(e.flags, FI_RECV | FI_MSG | (has_data(sb) ? FI_REMOTE_CQ_DATA : 0));
	assert_int_equal(e.len, len);
	assert_int_equal(e.data, has_data(sb) ? 0xabcdef12345 : 0);
	check_pattern(in, len, sb * 3 + rb);
	wait_none(a->cq);
	free(out);
	free(in);
}

static void every_call(void **state)
{
	int sb, rb;

	for (sb = 0; sb < SEND_CNT; sb++)
		for (rb = 0; rb < RECV_CNT; rb++)
			one_message(*state, sb, rb, LEN);
}

static void every_size(void **state)
{
	struct world *w = *state;
	size_t max = w->info->ep_attr->max_msg_size, len;

	assert_true(max >= 1472);
	for (len = 0; len < 520; len++)
		one_message(w, len % SEND_CNT, len % RECV_CNT, len);
	for (; len < max; len += len / 5)
		one_message(w, len % SEND_CNT, len % RECV_CNT, len);
	for (len = 0; len < SEND_CNT; len++)
		one_message(w, len, RECV, max);
}

static void oversize(void **state)
{
	struct world *w = *state;
	size_t len = w->info->ep_attr->max_msg_size + 1;
	char *buf = calloc(1, len);
	int sb;

	for (sb = 0; sb < SEND_CNT; sb++)
		if (is_framed(w) || !has_data(sb))
			assert_int_equal(do_send(&w->end[0], sb, buf, len, w->end[0].to[1]),
					 -FI_EMSGSIZE);
	wait_none(w->end[0].cq);
	free(buf);
}

/* A buffer in the upper half of the address space is fine, one that reaches beyond its end is not. */
static void lengths_that_wrap(void **state)
{
	struct world *w = *state;
	struct end *a = &w->end[0];
	char buf[8] = "";
	struct iovec sums[2] = { { buf, SIZE_MAX }, { buf, 2 } };
	char *upper = (char *) (UINTPTR_MAX / 2), *end = (char *) (UINTPTR_MAX - 99);
	struct fi_cq_err_entry err;
	int i;

	assert_int_equal(fi_send(a->ep, buf, SIZE_MAX, NULL, a->to[1], NULL), -FI_EINVAL);
	assert_int_equal(fi_inject(a->ep, buf, SIZE_MAX, a->to[1]), -FI_EINVAL);
	assert_int_equal(fi_sendv(a->ep, sums, NULL, 2, a->to[1], NULL), -FI_EINVAL);
	for (i = 0; i < 2; i++) {	/* the first receive has to make memory */
		assert_int_equal(fi_recv(a->ep, end, 101, NULL, FI_ADDR_UNSPEC, NULL), -FI_EINVAL);
		assert_int_equal(fi_recv(a->ep, buf, SIZE_MAX, NULL, FI_ADDR_UNSPEC, NULL), -FI_EINVAL);
		assert_int_equal(fi_recv(a->ep, NULL, SIZE_MAX, NULL, FI_ADDR_UNSPEC, NULL), -FI_EINVAL);
		assert_int_equal(fi_recvv(a->ep, sums, NULL, 2, FI_ADDR_UNSPEC, NULL), -FI_EINVAL);
		OK(fi_recv(a->ep, upper, 100, NULL, FI_ADDR_UNSPEC, upper));
		OK(fi_recv(a->ep, end, 100, NULL, FI_ADDR_UNSPEC, end));
		OK(fi_cancel(&a->ep->fid, upper));
		wait_err(a->cq, &err);
		OK(fi_cancel(&a->ep->fid, end));
		wait_err(a->cq, &err);
	}
}

static void without_buffer(void **state)
{
	struct world *w = *state;
	struct fi_cq_data_entry e;

	OK(fi_recv(w->end[1].ep, NULL, 0, NULL, FI_ADDR_UNSPEC, NULL));
	OK(fi_recvv(w->end[1].ep, NULL, NULL, 0, FI_ADDR_UNSPEC, NULL));
	OK(fi_send(w->end[0].ep, NULL, 0, NULL, w->end[0].to[1], NULL));
	OK(fi_sendv(w->end[0].ep, NULL, NULL, 0, w->end[0].to[1], NULL));
	wait_one(w->end[1].cq, &e);
	wait_one(w->end[1].cq, &e);
	assert_int_equal(e.len, 0);
}

/* ---- errors ---------------------------------------------------------------- */

static void truncated(void **state)
{
	struct world *w = *state;
	struct fi_cq_err_entry err;
	struct fi_cq_data_entry e;
	char out[300], in[100], next[300];

	pattern(out, sizeof(out), 1);
	OK(fi_recv(w->end[1].ep, in, sizeof(in), NULL, FI_ADDR_UNSPEC, in));
	OK(fi_recv(w->end[1].ep, next, sizeof(next), NULL, FI_ADDR_UNSPEC, next));
	if (is_framed(w))
		OK(fi_senddata(w->end[0].ep, out, sizeof(out), NULL, 77, w->end[0].to[1], NULL));
	else
		OK(fi_send(w->end[0].ep, out, sizeof(out), NULL, w->end[0].to[1], NULL));
	wait_err(w->end[1].cq, &err);
	assert_int_equal(err.err, FI_ETRUNC);
	assert_ptr_equal(err.op_context, in);
	assert_int_equal(err.len, 100);
	assert_int_equal(err.olen, 200);
	assert_int_equal(err.data, is_framed(w) ? 77 : 0);
	assert_int_equal(err.flags, FI_RECV | FI_MSG | (is_framed(w) ? FI_REMOTE_CQ_DATA : 0));
	check_pattern(in, sizeof(in), 1);
	OK(fi_send(w->end[0].ep, out, sizeof(out), NULL, w->end[0].to[1], NULL));
	wait_one(w->end[1].cq, &e);
	assert_ptr_equal(e.op_context, next);
}

static void bad_arguments(void **state)
{
	struct world *w = *state;
	struct end *a = &w->end[0];
	struct iovec iov[5] = { { 0 } };
	struct fi_msg msg = { .msg_iov = iov, .iov_count = 5, .addr = a->to[1] };

	assert_int_equal(fi_sendv(a->ep, iov, NULL, 5, a->to[1], NULL), -FI_EINVAL);
	assert_int_equal(fi_recvv(a->ep, iov, NULL, 5, a->to[1], NULL), -FI_EINVAL);
	assert_int_equal(fi_sendmsg(a->ep, &msg, 0), -FI_EINVAL);
	assert_int_equal(fi_recvmsg(a->ep, &msg, 0), -FI_EINVAL);
	msg.iov_count = 1;
	assert_int_equal(fi_sendmsg(a->ep, &msg, FI_DELIVERY_COMPLETE), -FI_EBADFLAGS);
	assert_int_equal(fi_recvmsg(a->ep, &msg, FI_PEEK), -FI_EBADFLAGS);
	assert_int_equal(fi_sendmsg(a->ep, &msg, FI_MULTICAST), -FI_EINVAL);
	assert_int_equal(fi_send(a->ep, "", 1, NULL, 17, NULL), -FI_EINVAL);
	assert_int_equal(fi_send(a->ep, "", 1, NULL, FI_ADDR_UNSPEC, NULL), -FI_EINVAL);
	assert_int_equal(fi_send(a->ep, "", 1, NULL, UINT64_C(1) << 62, NULL), -FI_EINVAL);
	assert_int_equal(fi_tsend(a->ep, "", 1, NULL, a->to[1], 1, NULL), -FI_ENOSYS);
	assert_int_equal(fi_write(a->ep, "", 1, NULL, a->to[1], 0, 0, NULL), -FI_ENOSYS);
	assert_int_equal(fi_connect(a->ep, &a->name, NULL, 0), -FI_ENOSYS);
	wait_none(a->cq);
}

/* What a call does may also be said in its flags, as over the other providers. */
static void kind_in_flags(void **state)
{
	struct world *w = *state;
	struct fi_cq_data_entry e;
	char in[16], out[] = "flags";
	struct iovec to = { in, sizeof(in) }, from = { out, sizeof(out) };
	struct fi_msg recv = { .msg_iov = &to, .iov_count = 1, .addr = FI_ADDR_UNSPEC, .context = in };
	struct fi_msg send = { .msg_iov = &from, .iov_count = 1, .addr = w->end[0].to[1] };

	OK(fi_recvmsg(w->end[1].ep, &recv, FI_MSG | FI_RECV));
	OK(fi_sendmsg(w->end[0].ep, &send, FI_MSG | FI_SEND));
	wait_one(w->end[1].cq, &e);
	assert_ptr_equal(e.op_context, in);
	assert_string_equal(in, "flags");
}

/* A plain datagram has no place for data: no call drops it without an error. */
static void no_data(void **state)
{
	struct world *w = *state;
	struct end *a = &w->end[0];
	struct fi_msg msg = { .addr = a->to[1], .data = 1 };

	assert_int_equal(w->info->domain_attr->cq_data_size, 0);
	assert_int_equal(fi_senddata(a->ep, "", 1, NULL, 1, a->to[1], NULL), -FI_ENOSYS);
	assert_int_equal(fi_injectdata(a->ep, "", 1, 1, a->to[1]), -FI_ENOSYS);
	assert_int_equal(fi_sendmsg(a->ep, &msg, FI_REMOTE_CQ_DATA), -FI_EBADFLAGS);
	wait_none(a->cq);
}

static void not_enabled(void **state)
{
	struct world *w = *state;
	struct fid_ep *ep;
	struct fid_mc *mc;

	OK(fi_endpoint(w->domain, w->info, &ep, NULL));
	assert_int_equal(fi_send(ep, "", 1, NULL, 0, NULL), -FI_EOPBADSTATE);
	assert_int_equal(fi_recv(ep, NULL, 0, NULL, 0, NULL), -FI_EOPBADSTATE);
	assert_int_equal(fi_join(ep, NULL, 0, &mc, NULL), -FI_EOPBADSTATE);
	assert_int_equal(fi_cancel(&ep->fid, NULL), -FI_ENOENT);
	OK(fi_close(&ep->fid));
}

static void full_queue(void **state)
{
	struct world *w = *state;
	size_t i;

	for (i = 0; i < w->info->rx_attr->size; i++)
		OK(fi_recv(w->end[0].ep, NULL, 0, NULL, FI_ADDR_UNSPEC, NULL));
	assert_int_equal(fi_recv(w->end[0].ep, NULL, 0, NULL, FI_ADDR_UNSPEC, NULL), -FI_EAGAIN);
	OK(fi_cancel(&w->end[0].ep->fid, NULL));
	OK(fi_recv(w->end[0].ep, NULL, 0, NULL, FI_ADDR_UNSPEC, NULL));
}

static void cancel(void **state)
{
	struct world *w = *state;
	struct fi_cq_err_entry err;
	struct fi_cq_data_entry e;
	char in[3][8];
	int i;

	for (i = 0; i < 3; i++)
		OK(fi_recv(w->end[1].ep, in[i], 8, NULL, FI_ADDR_UNSPEC, in[i]));
	OK(fi_cancel(&w->end[1].ep->fid, in[1]));
	assert_int_equal(fi_cancel(&w->end[1].ep->fid, in[1]), -FI_ENOENT);
	wait_err(w->end[1].cq, &err);
	assert_int_equal(err.err, FI_ECANCELED);
	assert_ptr_equal(err.op_context, in[1]);
	assert_int_equal(err.flags, FI_RECV | FI_MSG);
	for (i = 0; i < 3; i += 2) {
		OK(fi_inject(w->end[0].ep, "12345678", 8, w->end[0].to[1]));
		wait_one(w->end[1].cq, &e);
		assert_ptr_equal(e.op_context, in[i]);
	}
}

/* A datagram to a closed port causes an ICMP error. */
static void nobody_there(void **state)
{
	struct world *w = *state;
	struct end *a = &w->end[0];
	struct sockaddr_in6 gone = w->end[1].name;
	struct fi_cq_data_entry e;
	fi_addr_t to;
	char in[8];
	int i;

	OK(fi_close(&w->end[1].ep->fid));
	OK(fi_endpoint(w->domain, w->info, &w->end[1].ep, NULL));
	assert_int_equal(fi_av_insert(a->av, &gone, 1, &to, 0, NULL), 1);
	OK(fi_recv(a->ep, in, sizeof(in), NULL, FI_ADDR_UNSPEC, in));
	for (i = 0; i < 20; i++) {
		OK(fi_send(a->ep, "x", 1, NULL, to, NULL));
		wait_one(a->cq, &e);
		assert_int_equal(e.flags, FI_SEND | FI_MSG);
	}
	OK(fi_inject(a->ep, "self", 5, a->to[0]));
	wait_one(a->cq, &e);
	assert_string_equal(in, "self");
}

/* ask_for - NET_OPT_ASK of @a about the socket at @name. */
static int ask_for(struct end *a, const struct sockaddr_in6 *name, const char *text)
{
	struct net_ask ask = { .len = strlen(text) };

	memcpy(ask.addr, name, a->name_len);
	memcpy(ask.data, text, ask.len);
	return fi_setopt(&a->ep->fid, FI_OPT_ENDPOINT, NET_OPT_ASK, &ask, sizeof(ask));
}

static int answer_of(struct end *a, struct net_ask *answer)
{
	size_t len = sizeof(*answer);

	return fi_getopt(&a->ep->fid, FI_OPT_ENDPOINT, NET_OPT_ASK, answer, &len);
}

/* The system of a socket that is gone says so, with what it was asked; that of one that is there does not.
 * The question itself is a datagram like any other.
 */
static void is_a_socket_there(void **state)
{
	struct world *w = *state;
	struct end *a = &w->end[0], *b = &w->end[1];
	struct sockaddr_in6 name = b->name;
	struct net_ask answer;
	struct fi_cq_data_entry e;
	char in[8] = "";
	int i;

	assert_int_equal(answer_of(a, &answer), -FI_EAGAIN);
	OK(fi_recv(b->ep, in, sizeof(in), NULL, FI_ADDR_UNSPEC, in));
	OK(ask_for(a, &name, "there?"));
	wait_one(b->cq, &e);
	assert_string_equal(in, "there?");
	assert_int_equal(answer_of(a, &answer), -FI_EAGAIN);
	OK(fi_close(&b->ep->fid));
	OK(fi_endpoint(w->domain, w->info, &b->ep, NULL));
	for (i = 0; i < 3; i++) {
		OK(ask_for(a, &name, i ? "still?" : "gone?"));
		OK(answer_of(a, &answer));
		assert_int_equal(answer.len, i ? 6 : 5);
		assert_memory_equal(answer.data, i ? "still?" : "gone?", answer.len);
		assert_int_equal(answer_of(a, &answer), -FI_EAGAIN);
	}
	assert_int_equal(fi_setopt(&a->ep->fid, FI_OPT_ENDPOINT, NET_OPT_ASK, &answer, 7), -FI_EINVAL);
	answer.len = NET_ASK_MAX + 1;
	assert_int_equal(fi_setopt(&a->ep->fid, FI_OPT_ENDPOINT, NET_OPT_ASK, &answer, sizeof(answer)),
			 -FI_EINVAL);
}

/* ---- programs with a socket ------------------------------------------------- */

static int socket_of(const struct end *e, struct sockaddr_in6 *name)
{
	struct timeval patience = { .tv_sec = 5 };
	socklen_t len = (socklen_t) e->name_len;
	int fd = socket(((const struct sockaddr *) &e->name)->sa_family, SOCK_DGRAM, 0);

	assert_true(fd >= 0);
	*name = e->name;	/* another port of the same address */
	((struct sockaddr_in *) name)->sin_port = 0;
	assert_int_equal(bind(fd, (void *) name, len), 0);
	assert_int_equal(getsockname(fd, (void *) name, &len), 0);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)), 0);
	return fd;
}

/* What the endpoint sends by @sb, a socket receives: the payload alone, from the endpoint's name. */
static void to_socket(struct end *e, enum send_by sb, size_t size, int fd, fi_addr_t to)
{
	char *out = malloc(size + 1), *in = malloc(size + 100);
	struct sockaddr_in6 from;
	struct fi_cq_data_entry entry;
	socklen_t len = sizeof(from);

	pattern(out, size, sb);
	OK(do_send(e, sb, out, size, to));
	assert_int_equal(recvfrom(fd, in, size + 100, 0, (void *) &from, &len), size);
	check_pattern(in, size, sb);
	assert_int_equal(len, e->name_len);
	assert_int_equal(from.sin6_port, e->name.sin6_port);
	if (!is_inject(sb))
		wait_one(e->cq, &entry);
	free(out);
	free(in);
}

static void with_socket(void **state)
{
	struct world *w = *state;
	struct end *e = &w->end[0];
	struct fi_cq_data_entry entry;
	struct sockaddr_in6 name;
	char out[2000], in[2000];
	int fd = socket_of(e, &name), sb, rb;
	fi_addr_t to;
	size_t len;

	assert_int_equal(fi_av_insert(e->av, &name, 1, &to, 0, NULL), 1);
	for (len = 0; len <= 1472; len += 1 + len / 3)
		for (sb = 0; sb < SEND_CNT; sb++)
			if (!has_data(sb))
				to_socket(e, sb, len, fd, to);
	for (len = 0; len < sizeof(in); len += 1 + len / 3) {
		for (rb = 0; rb < RECV_CNT; rb++) {
			OK(do_recv(e, rb, in, sizeof(in)));
			pattern(out, len, rb);
			assert_int_equal(sendto(fd, out, len, 0, (void *) &e->name, e->name_len), len);
			wait_one(e->cq, &entry);
			assert_int_equal(entry.len, len);
			assert_int_equal(entry.flags, FI_RECV | FI_MSG);
			check_pattern(in, len, rb);
		}
	}
	close(fd);
}

/* Datagrams of another program are dropped by a framed endpoint alone. */
static void foreign_datagrams(void **state)
{
	struct world *w = *state;
	struct end *b = &w->end[1];
	int fd = socket(((struct sockaddr *) &b->name)->sa_family, SOCK_DGRAM, 0);
	struct fi_cq_data_entry e;
	char junk[2000], in[100];
	size_t len;

	assert_true(fd >= 0);
	memset(junk, 0x5a, sizeof(junk));
	OK(fi_recv(b->ep, in, sizeof(in), NULL, FI_ADDR_UNSPEC, in));
	for (len = 0; len < sizeof(junk); len += 1 + len / 2)
		assert_int_equal(sendto(fd, junk, len, 0, (void *) &b->name, b->name_len), len);
	close(fd);
	wait_none(b->cq);
	OK(fi_inject(w->end[0].ep, "good", 5, w->end[0].to[1]));
	wait_one(b->cq, &e);
	assert_int_equal(e.len, 5);
	assert_string_equal(in, "good");
}

/* ---- names and options ----------------------------------------------------- */

static void names(void **state)
{
	struct world *w = *state;
	struct sockaddr_in6 name, want = w->end[0].name;
	struct fid_ep *ep;
	size_t len = 0;

	assert_int_equal(fi_getname(&w->end[0].ep->fid, NULL, &len), -FI_ETOOSMALL);
	assert_int_equal(len, w->end[0].name_len);
	assert_int_equal(fi_setname(&w->end[0].ep->fid, &name, sizeof(name)), -FI_EOPBADSTATE);

	OK(fi_endpoint(w->domain, w->info, &ep, NULL));
	assert_int_equal(fi_setname(&ep->fid, &want, 1), -FI_EINVAL);
	assert_int_equal(fi_setname(&ep->fid, &want, w->end[0].name_len), -FI_EADDRINUSE);
	OK(fi_close(&w->end[0].ep->fid));
	OK(fi_setname(&ep->fid, &want, w->end[0].name_len));
	len = sizeof(name);
	OK(fi_getname(&ep->fid, &name, &len));
	assert_memory_equal(&name, &want, len);
	w->end[0].ep = ep;
}

static void options(void **state)
{
	struct world *w = *state;
	struct fid *fid = &w->end[0].ep->fid;
	size_t val = 65536, got = 0, len = sizeof(got);

	OK(fi_setopt(fid, FI_OPT_ENDPOINT, FI_OPT_RECV_BUF_SIZE, &val, len));
	OK(fi_getopt(fid, FI_OPT_ENDPOINT, FI_OPT_RECV_BUF_SIZE, &got, &len));
	assert_in_range(got, val, 2 * val);
	OK(fi_setopt(fid, FI_OPT_ENDPOINT, FI_OPT_SEND_BUF_SIZE, &val, len));
	OK(fi_getopt(fid, FI_OPT_ENDPOINT, FI_OPT_SEND_BUF_SIZE, &got, &len));
	assert_in_range(got, val, 2 * val);
	len = 1;
	assert_int_equal(fi_getopt(fid, FI_OPT_ENDPOINT, FI_OPT_SEND_BUF_SIZE, &got, &len),
			 -FI_ETOOSMALL);
	len = sizeof(got);
	assert_int_equal(fi_getopt(fid, FI_OPT_ENDPOINT, 999, &got, &len), -FI_ENOPROTOOPT);
	assert_int_equal(fi_setopt(fid, FI_OPT_ENDPOINT, 999, &got, len), -FI_ENOPROTOOPT);
}

/* Longer messages than other implementations offer: for a program that asks for them. */
static void long_messages(void **state)
{
	struct conf c = { .max_msg = 8000 };
	struct world w;

	world_open(&w, &c);
	assert_true(w.info->ep_attr->max_msg_size >= 8000);
	assert_int_equal(w.info->tx_attr->inject_size, w.info->ep_attr->max_msg_size);
	one_message(&w, SEND, RECV, 8000);
	one_message(&w, INJECT, RECV, w.info->ep_attr->max_msg_size);
	world_close(&w);
}

/* NET_OPT_TRAINS needs the header. */
static void no_trains(void **state)
{
	struct conf c = { .ends = 1 };
	struct world w;
	struct fid_ep *ep;
	int on = 1;

	world_open(&w, &c);
	OK(fi_endpoint(w.domain, w.info, &ep, NULL));
	assert_int_equal(fi_setopt(&ep->fid, FI_OPT_ENDPOINT, NET_OPT_TRAINS, &on, sizeof(on)),
			 -FI_EOPBADSTATE);
	OK(fi_close(&ep->fid));
	world_close(&w);
}

/* bound_to - NET_OPT_DEVICE with the first @len bytes of @name. */
static int bound_to(struct fid_ep *ep, const char *name, size_t len)
{
	return fi_setopt(&ep->fid, FI_OPT_ENDPOINT, NET_OPT_DEVICE, name, len);
}

static void one_device(void **state)
{
	struct conf c = { .ends = 2 };
	struct world w;

	world_open(&w, &c);
	assert_int_equal(bound_to(w.end[0].ep, "lo", 2), -FI_EINVAL);
	assert_int_equal(bound_to(w.end[0].ep, "", 0), -FI_EINVAL);
	assert_int_equal(bound_to(w.end[0].ep, "no-such-device", 15), -FI_ENODEV);
	if (bound_to(w.end[0].ep, "lo", 3) == -FI_EPERM)
		skip();
	one_message(&w, SEND, RECV, 100);
	world_close(&w);
}

#define PLAIN(name) \
	cmocka_unit_test_setup_teardown(name, setup_v4, teardown), \
	cmocka_unit_test_setup_teardown(name, setup_v6, teardown)
#define FRAMED(name) \
	cmocka_unit_test_setup_teardown(name, setup_framed_v4, teardown), \
	cmocka_unit_test_setup_teardown(name, setup_framed_v6, teardown)
#define BOTH(name) PLAIN(name), FRAMED(name)

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(every_call),
		BOTH(every_size),
		BOTH(oversize),
		BOTH(lengths_that_wrap),
		BOTH(without_buffer),
		BOTH(truncated),
		BOTH(bad_arguments),
		BOTH(kind_in_flags),
		PLAIN(no_data),
		PLAIN(not_enabled),
		PLAIN(full_queue),
		BOTH(cancel),
		BOTH(nobody_there),
		PLAIN(with_socket),
		FRAMED(foreign_datagrams),
		FRAMED(is_a_socket_there),
		cmocka_unit_test(long_messages),
		cmocka_unit_test(no_trains),
		cmocka_unit_test(one_device),
		PLAIN(names),
		PLAIN(options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
