/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * records.c - what a protected connection sends and receives, as sealed records.
 */
#include "tcp/secure/state.h"

#include <assert.h>
#include <errno.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/iov.h"
#include "net/io.h"

#define RECORD_ROOM (SEC_RECORD_MAX + SEC_RECORD_OVER)
#define BUF_SIZE (8 * RECORD_ROOM)	/* what is sealed before the socket is given it; or records that were read: with
					 * 2, 1 MiB one way was 0.77 as fast (tests/cost/secure) */
#define TLS_MAJOR 3			/* the second byte of a record of TLS */
#define SEND_IOV (64 + 1)		/* entries that tx.c gathers, at most */

_Static_assert(BUF_SIZE >= TLS_HEAD + SEC_SHAKE_IN_MAX, "a record of TLS fits");

void tcp_sec_log(struct tcp_conn *conn, const char *what, const char *why)
{
	char text[NET_ADDR_TEXT_MAX];

	TCP_WARN_SPARSE(conn->link->conf, "%s %s: %s\n", net_addr_text(&conn->peer.sa, text), what, why);
}

/* ---- buffers -------------------------------------------------------------- */

/* buf_get - a buffer of BUF_SIZE, the poller's spare one if it is there; NULL without memory. */
static uint8_t *buf_get(uint8_t **spare)
{
	uint8_t *buf = *spare ? *spare : malloc(BUF_SIZE);

	*spare = NULL;
	return buf;
}

/* buf_put - keep one for the next connection that needs it: malloc() of so many bytes costs a microsecond. */
static void buf_put(uint8_t **spare, uint8_t *buf)
{
	if (*spare)
		free(buf);
	else
		*spare = buf;
}

static uint8_t *in_get(struct tcp_conn *conn)
{
	if (!conn->sec->in)
		conn->sec->in = buf_get(&conn->poller->open_buf);
	return conn->sec->in;
}

void tcp_sec_in_use(struct tcp_conn *conn, size_t len)
{
	struct tcp_sec *sec = conn->sec;

	sec->in_pos += len;
	if (sec->in_pos < sec->in_end)
		return;
	buf_put(&conn->poller->open_buf, sec->in);
	sec->in = NULL;
	sec->in_pos = sec->in_end = 0;
}

static size_t in_have(const struct tcp_sec *sec)
{
	return sec->in_end - sec->in_pos;
}

bool tcp_sec_has_input(const struct tcp_conn *conn)
{
	return conn->sec && conn->sec->in;
}

/* in_read - read at most @most bytes behind those that are kept.  As recv(). */
static ssize_t in_read(struct tcp_conn *conn, size_t most)
{
	struct tcp_sec *sec = conn->sec;
	size_t have = in_have(sec);
	ssize_t ret;

	if (!in_get(conn)) {
		errno = ENOMEM;
		return -1;
	}
	if (sec->in_pos)
		memmove(sec->in, sec->in + sec->in_pos, have);
	sec->in_pos = 0;
	sec->in_end = have;
	ret = net_io_recv(conn->src.fd, sec->in + have, most < BUF_SIZE - have ? most : BUF_SIZE - have, MSG_DONTWAIT,
			  NULL, NULL);
	if (ret > 0)
		sec->in_end += (size_t) ret;
	if (!sec->in_end)
		tcp_sec_in_use(conn, 0);
	return ret;
}

ssize_t tcp_sec_in_fill(struct tcp_conn *conn, size_t need)
{
	ssize_t ret;

	while (in_have(conn->sec) < need) {
		ret = in_read(conn, need - in_have(conn->sec));
		if (ret <= 0)
			return ret;
	}
	return 1;
}

static ssize_t no_record(struct tcp_conn *conn)
{
	tcp_sec_log(conn, conn->ours ? "is not used" : "was refused", "its packet behind the handshake was altered, "
		 "repeated, or sealed by another");
	errno = EPROTO;
	return -1;
}

/* refused_cert - a server verifies the certificate of a client after that has done all of its part, and says so in
 * a record of TLS.
 */
static ssize_t refused_cert(struct tcp_conn *conn)
{
	tcp_sec_log(conn, "refuses our certificate", "its log says why");
	errno = EACCES;
	return -1;
}

/* A record holds a whole packet, and nothing else. */
ssize_t tcp_sec_recv(struct tcp_conn *conn, uint8_t *buf, size_t size)
{
	struct tcp_sec *sec = conn->sec;
	uint8_t plain[SEC_RECORD_MAX];
	size_t need, len;
	ssize_t ret = tcp_sec_in_fill(conn, SEC_RECORD_HEAD);

	if (ret <= 0)
		return ret;
	need = sec_channel_need(sec->in, SEC_RECORD_HEAD);
	if (!need && conn->ours && sec->by_cert && sec->in[1] == TLS_MAJOR)
		return refused_cert(conn);
	if (!need || need > size + SEC_RECORD_OVER)
		return no_record(conn);
	ret = tcp_sec_in_fill(conn, need);
	if (ret <= 0)
		return ret;
	if (sec_channel_take(&sec->chan, sec->in, NULL, 0, plain, &len) != SEC_RECORD_DATA ||
	    len < TCP_WIRE_HELLO_SIZE || plain[0] != (uint8_t) TCP_WIRE_MAGIC[0] ||
	    tcp_hello_need(plain, len) != len)
		return no_record(conn);
	tcp_sec_in_use(conn, need);
	memcpy(buf, plain, len);
	return (ssize_t) len;
}

/* ---- sending -------------------------------------------------------------- */

bool tcp_sec_pending(const struct tcp_conn *conn)
{
	return conn->sec && conn->sec->out;
}

/* out_send - 1: all is sent; 0: the socket is full; -1 with errno. */
static int out_send(struct tcp_conn *conn)
{
	struct tcp_sec *sec = conn->sec;
	ssize_t ret;

	while (sec->out_pos < sec->out_end) {
		ret = net_io_send(conn->src.fd, sec->out + sec->out_pos, sec->out_end - sec->out_pos,
				  MSG_NOSIGNAL | MSG_DONTWAIT, NULL, 0);
		if (ret < 0)
			return errno == EAGAIN || errno == EINTR ? 0 : -1;
		tcp_conn_sent(conn);
		sec->out_pos += (size_t) ret;
	}
	buf_put(&conn->poller->seal_buf, sec->out);
	sec->out = NULL;
	sec->out_pos = sec->out_end = 0;
	return 1;
}

bool tcp_sec_push(struct tcp_conn *conn)
{
	int ret = tcp_sec_pending(conn) ? out_send(conn) : 1;

	if (ret < 0)
		tcp_conn_fail(conn, errno, false);
	return ret > 0;
}

static bool out_get(struct tcp_conn *conn)
{
	struct tcp_sec *sec = conn->sec;

	sec->out = buf_get(&conn->poller->seal_buf);
	sec->out_pos = sec->out_end = 0;
	return sec->out != NULL;
}

/* out_seal - seal bytes of @iov from @off on, as many as there is room for.  Returns how many. */
static size_t out_seal(struct tcp_sec *sec, const struct iovec *iov, size_t cnt, size_t off, size_t left)
{
	struct iovec part[SEND_IOV];
	size_t len, done = 0, part_cnt;

	for (; left && BUF_SIZE - sec->out_end >= RECORD_ROOM; left -= len, done += len) {
		len = left < SEC_RECORD_MAX ? left : SEC_RECORD_MAX;
		part_cnt = iov_slice(iov, cnt, off + done, len, part);
		if (!sec_channel_seal(&sec->chan, SEC_RECORD_DATA, part, part_cnt, len, sec->out + sec->out_end))
			break;
		sec->out_end += len + SEC_RECORD_OVER;
	}
	return done;
}

ssize_t tcp_sec_send(struct tcp_conn *conn, const struct iovec *iov, size_t cnt)
{
	size_t total = iov_total(iov, cnt), done = 0, len;
	struct tcp_sec *sec = conn->sec;
	int ret = sec->out ? out_send(conn) : 1;

	assert(cnt <= SEND_IOV);
	for (; ret > 0 && done < total; done += len) {
		if (!out_get(conn)) {
			errno = ENOMEM;
			return -1;
		}
		len = out_seal(sec, iov, cnt, done, total - done);
		if (!len) {
			errno = EPROTO;
			return -1;
		}
		ret = out_send(conn);
	}
	return ret < 0 ? -1 : (ssize_t) done;
}

/* seal_end - seal the end of the stream behind what is kept, and send.  1: all is sent; 0: the socket is full;
 * -1 with errno.
 */
static int seal_end(struct tcp_conn *conn)
{
	struct tcp_sec *sec = conn->sec;
	int ret = sec->out ? out_send(conn) : 1;

	if (!sec->open || sec->chan.tx_ended || ret <= 0)
		return ret;
	if (!out_get(conn))
		return 1;		/* without memory: the peer finds that the stream was cut off */
	if (sec_channel_seal(&sec->chan, SEC_RECORD_END, NULL, 0, 0, sec->out))
		sec->out_end = SEC_RECORD_OVER;
	return out_send(conn);
}

void tcp_sec_leave(struct tcp_conn *conn)
{
	seal_end(conn);
}

bool tcp_sec_end(struct tcp_conn *conn)
{
	int ret = seal_end(conn);

	if (ret < 0)
		tcp_conn_fail(conn, errno, false);
	return ret > 0;
}

/* ---- receiving ------------------------------------------------------------- */

bool tcp_sec_ended(const struct tcp_conn *conn)
{
	return conn->sec->chan.rx_ended;
}

ssize_t tcp_sec_more(struct tcp_conn *conn, size_t *asked_p)
{
	size_t most = conn->first ? conn->rx.left + SEC_RECORD_OVER - in_have(conn->sec) : BUF_SIZE;
	size_t room = BUF_SIZE - in_have(conn->sec);

	*asked_p = most < room ? most : room;
	return in_read(conn, most);
}

enum tcp_sec_took tcp_sec_take(struct tcp_conn *conn, const struct iovec *place, size_t place_cnt, uint8_t *buf,
			       size_t *len_p)
{
	struct tcp_sec *sec = conn->sec;
	size_t need;

	if (!sec->in)
		return TCP_SEC_MORE;
	need = sec_channel_need(sec->in + sec->in_pos, in_have(sec));
	if (!need)
		return TCP_SEC_NO_RECORD;
	if (in_have(sec) < need)
		return TCP_SEC_MORE;
	if (sec_channel_take(&sec->chan, sec->in + sec->in_pos, place, place_cnt, buf, len_p) == SEC_RECORD_BAD)
		return TCP_SEC_ALTERED;
	tcp_sec_in_use(conn, need);
	return TCP_SEC_TAKEN;
}
