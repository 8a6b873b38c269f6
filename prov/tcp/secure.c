/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "secure.h"

#include <assert.h>
#include <errno.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/iov.h"
#include "net/io.h"
#include "secure/channel.h"
#include "secure/handshake.h"
#include "secure/policy.h"
#include "types.h"

#define RECORD_ROOM (SEC_RECORD_MAX + SEC_RECORD_OVER)
#define OUT_SIZE (2 * RECORD_ROOM)	/* sealed before the socket is given them */
#define IN_SIZE (2 * RECORD_ROOM)	/* one that is incomplete, and one read */
#define TLS_HEAD 5			/* of a record: type, version, length (RFC 8446, section 5.1) */
#define TLS_TYPE_MIN 20			/* change_cipher_spec, alert, handshake, application_data */
#define TLS_TYPE_MAX 23
#define SEND_IOV (64 + 1)		/* entries that tx.c gathers, at most */

_Static_assert(IN_SIZE >= TLS_HEAD + SEC_SHAKE_IN_MAX, "a record of TLS fits");

struct tcp_sec {
	struct tcp_conn_end end;	/* first */
	struct sec_shake *shake;	/* NULL: it is done */
	struct sec_keys *keys;		/* of @shake */
	enum sec_level level;
	bool open;			/* the peer has proven the key: @chan is keyed */
	bool heard;			/* bytes of the handshake have come */
	bool any_to;			/* addresses may be translated on the way */
	struct sec_channel chan;
	uint8_t *out;			/* sealed bytes that the socket has not taken; NULL: none */
	size_t out_pos, out_end;
	uint8_t *in;			/* bytes that were read and are not opened; NULL: none */
	size_t in_pos, in_end;
};

enum sec_level tcp_sec_level(const struct tcp_conn *conn)
{
	return conn->sec ? conn->sec->level : SEC_NONE;
}

const char *tcp_sec_text(const struct tcp_conn *conn)
{
	static const char *const texts[] = {
		[SEC_NONE] = "not protected", [SEC_AUTH] = "authenticated", [SEC_ENCRYPT] = "encrypted",
	};

	return texts[tcp_sec_level(conn)];
}

bool tcp_sec_may_take(const struct tcp_link *link, const struct tcp_conn *conn)
{
	enum sec_level level = link->sec ? link->sec->level : SEC_NONE;

	if (level == tcp_sec_level(conn))
		return true;
	TCP_WARN(link->conf, "fi_accept: the connection request is %s, and FI_SECURITY or auth_key of this "
		 "endpoint asks for %s: set the same for the passive endpoint\n", tcp_sec_text(conn),
		 sec_level_name(level));
	return false;
}

/* ---- buffers -------------------------------------------------------------- */

static uint8_t *in_get(struct tcp_sec *sec)
{
	if (!sec->in)
		sec->in = malloc(IN_SIZE);
	return sec->in;
}

/* in_use - @len bytes have been used. */
static void in_use(struct tcp_sec *sec, size_t len)
{
	sec->in_pos += len;
	if (sec->in_pos < sec->in_end)
		return;
	free(sec->in);
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

	if (!in_get(sec)) {
		errno = ENOMEM;
		return -1;
	}
	if (sec->in_pos)
		memmove(sec->in, sec->in + sec->in_pos, have);
	sec->in_pos = 0;
	sec->in_end = have;
	ret = net_io_recv(conn->src.fd, sec->in + have, most < IN_SIZE - have ? most : IN_SIZE - have, MSG_DONTWAIT,
			  NULL, NULL);
	if (ret > 0)
		sec->in_end += (size_t) ret;
	if (!sec->in_end)
		in_use(sec, 0);
	return ret;
}

/* in_fill - read until @need bytes are kept, and no more.  1: they are; else as recv(). */
static ssize_t in_fill(struct tcp_conn *conn, size_t need)
{
	ssize_t ret;

	while (in_have(conn->sec) < need) {
		ret = in_read(conn, need - in_have(conn->sec));
		if (ret <= 0)
			return ret;
	}
	return 1;
}

/* ---- opening --------------------------------------------------------------- */

static uint8_t *put_port(uint8_t *at, uint16_t port)
{
	at[0] = (uint8_t) (port >> 8);
	at[1] = (uint8_t) port;
	return at + 2;
}

/* pack_addr - an address as both sides write it: IPv4 as it is mapped into IPv6. */
static void pack_addr(const union net_sa *addr, uint8_t to[SEC_TO_SIZE])
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	memset(to, 0, SEC_TO_SIZE);
	if (addr->sa.sa_family == AF_INET) {
		memcpy(to, mapped, sizeof(mapped));
		memcpy(to + 12, &addr->in.sin_addr, 4);
	} else {
		memcpy(to, &addr->in6.sin6_addr, 16);
	}
	put_port(to + 16, net_addr_port(&addr->sa));
}

/* set_to - whom the connecting peer means, or by what address the accepting one was reached. */
static void set_to(const struct tcp_conn *conn, struct sec_shake_attr *attr)
{
	union net_sa own;

	if (conn->link->conf->firewall_addr)
		return;
	if (conn->ours)
		pack_addr(&conn->peer, attr->to);
	else if (!net_sock_name(conn->src.fd, &own))
		pack_addr(&own, attr->to);
}

/* is_to_self - an endpoint may connect to itself, and then is both client and server. */
static bool is_to_self(const struct tcp_conn *conn)
{
	return conn->ours && !net_addr_cmp(&conn->peer.sa, &conn->link->name.sa);
}

static int open_shake(struct tcp_conn *conn, struct sec_policy *policy)
{
	struct tcp_sec *sec = conn->sec;
	struct sec_shake_attr attr = {
		.server = !conn->ours,
		.keys = sec->keys,
		.level = policy->level,
		.version = TCP_WIRE_VERSION,
		.oldest = TCP_WIRE_OLDEST,
	};

	memcpy(attr.id, policy->id, sizeof(attr.id));
	if (is_to_self(conn) && !sec_random(attr.id, sizeof(attr.id)))
		return -FI_ENOMEM;
	set_to(conn, &attr);
	return sec_shake_open(&attr, &sec->shake);
}

static void shake_close(struct tcp_sec *sec)
{
	if (sec->shake)
		sec_shake_close(sec->shake);
	sec->shake = NULL;
	if (sec->keys)
		sec_keys_wipe(sec->keys);
	free(sec->keys);
	sec->keys = NULL;
}

/* free_sec - nothing of the keys stays in memory. */
static void free_sec(struct tcp_conn_end *end)
{
	struct tcp_sec *sec = (struct tcp_sec *) end;	/* its first member */

	shake_close(sec);
	if (sec->open)
		sec_channel_close(&sec->chan);
	free(sec->out);
	free(sec->in);
	explicit_bzero(sec, sizeof(*sec));
	free(sec);
}

/* ---- the handshake ---------------------------------------------------------- */

bool tcp_sec_is_open(const struct tcp_conn *conn)
{
	return conn->sec->open;
}

bool tcp_sec_is_speaking(const struct tcp_conn *conn)
{
	return conn->sec && conn->sec->heard && !conn->sec->open;
}

/* send_shake - what the handshake has to say, which is shorter than any socket buffer. */
static int send_shake(struct tcp_conn *conn)
{
	uint8_t buf[4096];
	size_t len;
	ssize_t ret;

	while ((len = sec_shake_take(conn->sec->shake, buf, sizeof(buf)))) {
		ret = send(conn->src.fd, buf, len, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (ret < 0)
			return -errno;
		if ((size_t) ret < len)
			return -FI_ENOBUFS;
		tcp_conn_sent(conn);
	}
	return 0;
}

int tcp_sec_begin(struct tcp_conn *conn)
{
	return send_shake(conn);
}

static void log_peer(struct tcp_conn *conn, const char *what, const char *why)
{
	char text[NET_ADDR_TEXT_MAX];

	TCP_WARN_SPARSE(conn->link->conf, "%s %s: %s\n", net_addr_text(&conn->peer.sa, text), what, why);
}

static void on_plain_hello(struct tcp_conn *conn, const struct tcp_hello *hello, const void *data)
{
	tcp_conn_refuse(conn, CHAN_INSECURE, NULL, 0);
}

/* What a request that is not protected meets: it is read, so that it is refused in its own form. */
static const struct tcp_wireup plain_wireup = {
	.hello = on_plain_hello,
	.lost = tcp_conn_close,
};

/* read_as_plain - the byte that was read is the first of a request that is not protected. */
static void read_as_plain(struct tcp_conn *conn)
{
	conn->handshake->in[0] = conn->sec->in[0];
	conn->handshake->have = 1;
	conn->wireup = &plain_wireup;
	tcp_sec_free(conn->sec);
	conn->sec = NULL;
	conn->tx.indirect = false;
	tcp_conn_handshake_event(conn, TCP_CONN_IN);
}

/* refuse_plain - what came is no TLS: in the clear, or of another protocol. */
static void refuse_plain(struct tcp_conn *conn)
{
	if (conn->ours) {
		log_peer(conn, "is not used", "it does not protect connections, and FI_SECURITY or a key here asks "
			 "for that: set the same there");
		tcp_conn_fail(conn, FI_EACCES, false);
		return;
	}
	log_peer(conn, "was refused", "it does not protect connections, and FI_SECURITY or a key here asks for "
		 "that: set the same there");
	read_as_plain(conn);
}

/* refuse_shake - the alert has been sent.  The peer learns no more than that. */
static void refuse_shake(struct tcp_conn *conn)
{
	log_peer(conn, conn->ours ? "is not used" : "was refused", sec_shake_why(conn->sec->shake));
	if (conn->ours)
		tcp_conn_fail(conn, FI_EACCES, false);
	else
		tcp_conn_half_close(conn);
}

/* on_shaken - the peer has proven the key. */
static bool on_shaken(struct tcp_conn *conn)
{
	struct tcp_sec *sec = conn->sec;
	uint8_t exported[SEC_HASH_SIZE];

	sec->open = sec_shake_export(sec->shake, exported) &&
		    sec_channel_open(&sec->chan, sec->level, !conn->ours, exported, 0);
	explicit_bzero(exported, sizeof(exported));
	shake_close(sec);
	if (!sec->open)
		tcp_conn_fail(conn, FI_ENOMEM, false);
	return sec->open;
}

/* shake_read - one record of TLS.  1: it is kept; else as recv().  0 too where it has been refused. */
static ssize_t shake_read(struct tcp_conn *conn, size_t *len_p)
{
	struct tcp_sec *sec = conn->sec;
	ssize_t ret = in_fill(conn, sec->heard ? TLS_HEAD : 1);

	if (ret <= 0)
		return ret;
	if (sec->in[0] < TLS_TYPE_MIN || sec->in[0] > TLS_TYPE_MAX) {
		refuse_plain(conn);
		return 0;
	}
	sec->heard = true;
	ret = in_fill(conn, TLS_HEAD);
	if (ret <= 0)
		return ret;
	*len_p = TLS_HEAD + (size_t) (sec->in[3] << 8 | sec->in[4]);
	if (*len_p <= TLS_HEAD + SEC_SHAKE_IN_MAX)
		return in_fill(conn, *len_p);
	log_peer(conn, conn->ours ? "is not used" : "was refused", "it sends more than a handshake");
	tcp_conn_fail(conn, FI_EACCES, false);
	return 0;
}

/* read_ended - there is no more now; or the peer closed, or reset the connection. */
static void read_ended(struct tcp_conn *conn, ssize_t ret)
{
	if (!conn->sec)
		return;			/* it is read as what it is, and refused */
	if (ret < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (conn->state != TCP_CONN_HELLO_SENT && conn->state != TCP_CONN_HALF_OPEN)
		return;			/* it has been refused */
	tcp_conn_fail(conn, ret ? errno : FI_ECONNRESET, false);
}

bool tcp_sec_shake(struct tcp_conn *conn)
{
	struct tcp_sec *sec = conn->sec;
	enum sec_shake_state state;
	size_t len = 0;
	ssize_t ret;

	do {
		ret = shake_read(conn, &len);
		if (ret <= 0) {
			read_ended(conn, ret);
			return false;
		}
		state = sec_shake_feed(sec->shake, sec->in, len);
		in_use(sec, len);
		ret = send_shake(conn);
		if (ret) {
			tcp_conn_fail(conn, (int) -ret, false);
			return false;
		}
	} while (state == SEC_SHAKE_RUNNING);
	if (state == SEC_SHAKE_DONE)
		return on_shaken(conn);
	refuse_shake(conn);
	return false;
}

static ssize_t no_record(struct tcp_conn *conn)
{
	log_peer(conn, conn->ours ? "is not used" : "was refused", "its packet behind the handshake was altered, "
		 "repeated, or sealed by another");
	errno = EPROTO;
	return -1;
}

/* A record holds a whole packet, and nothing else. */
ssize_t tcp_sec_recv(struct tcp_conn *conn, uint8_t *buf, size_t size)
{
	struct tcp_sec *sec = conn->sec;
	uint8_t plain[SEC_RECORD_MAX];
	size_t need, len;
	ssize_t ret = in_fill(conn, SEC_RECORD_HEAD);

	if (ret <= 0)
		return ret;
	need = sec_channel_need(sec->in, SEC_RECORD_HEAD);
	if (!need || need > size + SEC_RECORD_OVER)
		return no_record(conn);
	ret = in_fill(conn, need);
	if (ret <= 0)
		return ret;
	if (sec_channel_take(&sec->chan, sec->in, plain, &len) != SEC_RECORD_DATA ||
	    len < TCP_WIRE_HELLO_SIZE || plain[0] != (uint8_t) TCP_WIRE_MAGIC[0] ||
	    tcp_hello_need(plain, len) != len)
		return no_record(conn);
	in_use(sec, need);
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
	if (conn->poller->seal_buf)
		free(sec->out);
	else
		conn->poller->seal_buf = sec->out;	/* for the next connection that seals */
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

	sec->out = conn->poller->seal_buf ? conn->poller->seal_buf : malloc(OUT_SIZE);
	conn->poller->seal_buf = NULL;
	sec->out_pos = sec->out_end = 0;
	return sec->out != NULL;
}

/* out_seal - seal bytes of @iov from @off on, as many as there is room for.  Returns how many. */
static size_t out_seal(struct tcp_sec *sec, const struct iovec *iov, size_t cnt, size_t off, size_t left)
{
	struct iovec part[SEND_IOV];
	size_t len, done = 0, part_cnt;

	for (; left && OUT_SIZE - sec->out_end >= RECORD_ROOM; left -= len, done += len) {
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

/* seal_end - seal the end of the stream behind what is kept, and send.  As out_send(). */
static int seal_end(struct tcp_conn *conn)
{
	struct tcp_sec *sec = conn->sec;
	int ret = sec->out ? out_send(conn) : 1;

	if (!sec->open || sec->chan.tx_ended || ret <= 0)
		return ret;
	if (!out_get(conn) || !sec_channel_seal(&sec->chan, SEC_RECORD_END, NULL, 0, 0, sec->out))
		return 1;		/* without memory: the peer finds that the stream was cut off */
	sec->out_end = SEC_RECORD_OVER;
	return out_send(conn);
}

bool tcp_sec_end(struct tcp_conn *conn)
{
	int ret = seal_end(conn);

	if (ret < 0)
		tcp_conn_fail(conn, errno, false);
	return ret > 0;
}

/* ---- life ------------------------------------------------------------------ */

/* end_sec - the stream ends in order: say so in a record, as far as the socket takes it now. */
static void end_sec(struct tcp_conn_end *end, struct tcp_conn *conn, void (*how)(struct tcp_conn *))
{
	if (how == tcp_conn_close_orderly && conn->state == TCP_CONN_READY)
		seal_end(conn);
}

int tcp_sec_new(struct tcp_conn *conn)
{
	struct sec_policy *policy = conn->link->sec;
	char why[SEC_WHY_MAX];

	if (!policy)
		return 0;
	conn->sec = calloc(1, sizeof(*conn->sec));
	if (!conn->sec)
		return -FI_ENOMEM;
	conn->sec->end.end = end_sec;
	conn->sec->end.free = free_sec;
	list_add_tail(&conn->sec->end.node, &conn->ends);
	conn->sec->level = policy->level;
	conn->sec->keys = malloc(sizeof(*conn->sec->keys));
	if (!conn->sec->keys)
		return -FI_ENOMEM;
	sec_policy_keys(policy, conn->sec->keys, why);
	if (*why)
		TCP_WARN(conn->link->conf, "the keys that were read before stay in use: %s\n", why);
	conn->tx.indirect = true;
	return open_shake(conn, policy);
}

/* ---- receiving ------------------------------------------------------------- */

bool tcp_sec_ended(const struct tcp_conn *conn)
{
	return conn->sec->chan.rx_ended;
}

ssize_t tcp_sec_more(struct tcp_conn *conn, size_t *asked_p)
{
	size_t most = conn->first ? conn->rx.left + SEC_RECORD_OVER - in_have(conn->sec) : IN_SIZE;
	size_t room = IN_SIZE - in_have(conn->sec);

	*asked_p = most < room ? most : room;
	return in_read(conn, most);
}

enum tcp_sec_took tcp_sec_take(struct tcp_conn *conn, uint8_t *buf, size_t *len_p)
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
	if (sec_channel_take(&sec->chan, sec->in + sec->in_pos, buf, len_p) == SEC_RECORD_BAD)
		return TCP_SEC_ALTERED;
	in_use(sec, need);
	return TCP_SEC_TAKEN;
}
