/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * path.c - records into the socket of a path, and out of it.
 *
 * A record in the middle of which the peer acknowledges its bytes, which it has by another path, is sent to its
 * end nevertheless, whatever is in the ring by then: the peer drops it by its place in the stream.
 */
#include <endian.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <rdma/fi_errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#undef TCP_INFO			/* conf.h has one that logs */
#include "tcp/recover/state.h"

#include "base/iov.h"
#include "net/io.h"

#define QUEUE_MAX (128 << 10)	/* bytes that a socket has not sent, where there are several paths */
#define READ_SIZE (16 << 10)	/* of a read that is not into the ring */
#define DIRECT_MIN 4096		/* a rest of a record this long is read into the ring */

/* ---- sending -------------------------------------------------------------- */

/* head_write - the header of a record to @out, and with it what was taken. */
static inline void head_write(struct tcp_recover *rec, uint8_t *out, enum tcp_record_kind kind, uint64_t at, size_t len)
{
	struct tcp_wire_record head = {
		.len = htole32((uint32_t) len),
		.kind = htole32(kind),
		.at = htole64(at),
		.taken = htole64(rec->got.taken),
	};

	rec->said = rec->got.taken;
	memcpy(out, &head, sizeof(head));
}

static void piece_begin(struct tcp_path *path, enum tcp_record_kind kind, uint64_t at, size_t len)
{
	head_write(path->rec, path->out.head, kind, at, len);
	path->out.have = 0;
	path->out.at = at;
	path->out.left = len;
	path->out.list = NULL;
	path->sending = true;
}

/* find_best - the path that takes short messages: one by the best interface. */
static void find_best(struct tcp_recover *rec)
{
	struct tcp_path *path = rec->path;

	rec->best = NULL;
	for (; path < rec->path + TCP_LANES_MAX; path++)
		if (tcp_path_stands(path) && !path->mute &&
		    (!rec->best || (unsigned) path->ours < (unsigned) rec->best->ours))
			rec->best = path;
}

/* path_mute - the socket takes nothing any more.  It may have input, which ends with an error. */
static void path_mute(struct tcp_path *path)
{
	path->mute = true;
	find_best(path->rec);
	chan_kept_lost(&path->rec->kept, &path->sent);
	path->rec->said = 0;		/* the record that said it may be lost, too */
	path->rec->end_sent = path->rec->ex.sent = false;
	path->rec->ex.down |= path->rec->ex.told;
}

/* piece_sent - @len bytes of it were. */
static void piece_sent(struct tcp_piece *out, size_t len)
{
	size_t head = TCP_RECORD_SIZE - out->have;

	if (len < head)
		head = len;
	out->have += head;
	out->at += len - head;
	out->list += out->list ? len - head : 0;
	out->left -= len - head;
}

/* piece_send - 1: all of it; 0: the socket is full; -1: it takes nothing any more. */
static int piece_send(struct tcp_path *path)
{
	struct tcp_piece *out = &path->out;
	struct iovec iov[3];
	struct msghdr msg = { .msg_iov = iov };
	size_t head, cnt;
	ssize_t ret;

	while (out->have < TCP_RECORD_SIZE || out->left) {
		head = TCP_RECORD_SIZE - out->have;
		iov[0] = (struct iovec) { out->head + out->have, head };
		cnt = head ? 1 : 0;
		if (out->list)
			iov[cnt++] = (struct iovec) { out->list, out->left };
		else
			cnt += chan_kept_iov(&path->rec->kept, out->at, out->left, iov + cnt);
		msg.msg_iovlen = cnt;
		ret = net_io_sendmsg(path->src.fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (ret < 0 && (errno == EAGAIN || errno == EINTR))
			return 0;
		if (ret < 0) {
			path_mute(path);
			return -1;
		}
		piece_sent(out, (size_t) ret);
	}
	path->sending = false;
	return 1;
}

void tcp_path_watch(struct tcp_path *path)
{
	chan_src_want(&path->rec->conn->poller->base, &path->src, TCP_CONN_IN | (path->blocked ? POLLOUT : 0));
}

/* path_takes - may the path have some of what waits?  A short message goes by the best rail; of long payload each
 * takes the next piece when its socket has room, so that each has as much as it delivers.
 */
static bool path_takes(const struct tcp_path *path)
{
	const struct tcp_recover *rec = path->rec;

	return !rec->ex.on || rec->kept.again.cnt ||
	       rec->kept.end - rec->kept.fresh >= rec->conn->link->conf->rail_min ||
	       (rec->best && path->ours == rec->best->ours);
}

/* piece_of_rails - what is to be said of rails goes first.  False: nothing. */
static bool piece_of_rails(struct tcp_path *path)
{
	struct tcp_exchange *ex = &path->rec->ex;

	if (path->proves) {
		piece_begin(path, TCP_RECORD_PROOF, path->proof, 0);
		path->proves = false;
	} else if (ex->on && !ex->sent) {
		piece_begin(path, TCP_RECORD_RAILS, 0, ex->list_len);
		path->out.list = (uint8_t *) &ex->list;
		ex->sent = true;
	} else if (ex->down) {
		piece_begin(path, TCP_RECORD_DOWN, (uint64_t) __builtin_ctz(ex->down), 0);
		ex->told |= ex->down & -ex->down;
		ex->down &= ex->down - 1;
	}
	return path->sending;
}

/* piece_next - begin the next record, if there is one. */
static bool piece_next(struct tcp_path *path)
{
	struct tcp_recover *rec = path->rec;
	uint64_t at;
	size_t len;

	if (path->sending || piece_of_rails(path))
		return true;
	if (!path_takes(path))
		return false;
	len = chan_kept_next(&rec->kept, &path->sent, TCP_RECORD_MAX, &at);
	if (!len && (!rec->ended || rec->end_sent))
		return false;
	piece_begin(path, len ? TCP_RECORD_DATA : TCP_RECORD_END, len ? at : rec->kept.end, len);
	rec->end_sent |= !len;
	return true;
}

/* path_push - send one record.  True: it was sent, and the path may take another. */
static bool path_push(struct tcp_path *path)
{
	int ret;

	if (!tcp_path_stands(path) || path->blocked || path->mute || !piece_next(path))
		return false;
	ret = piece_send(path);
	if (ret)
		return ret > 0;
	path->blocked = true;
	tcp_path_watch(path);
	return false;
}

/* push_end - the paths have what they take. */
static void push_end(struct tcp_recover *rec)
{
	if (rec->got.taken - rec->said >= TCP_SAY_EVERY)
		tcp_paths_say(rec);	/* what has said it was lost with its path, or all were full */
	rec->busy |= rec->kept.end - rec->kept.taken >= TCP_STRIPE_MIN;
	if (rec->kept.taken < rec->kept.end)
		tcp_recover_watch(rec);
}

void tcp_paths_push(struct tcp_recover *rec)
{
	bool more = true;
	unsigned i;

	while (more)
		for (more = false, i = 0; i < TCP_LANES_MAX; i++)
			more |= path_push(&rec->path[i]);
	push_end(rec);
}

/* has_one_taker - does one path alone take what waits? */
static bool has_one_taker(const struct tcp_recover *rec)
{
	if (!rec->best || rec->kept.again.cnt)
		return false;
	return rec->ex.on ? rec->kept.end - rec->kept.fresh < rec->conn->link->conf->rail_min : rec->want <= 1;
}

void tcp_paths_send(struct tcp_recover *rec)
{
	if (!has_one_taker(rec)) {
		tcp_paths_push(rec);
		return;
	}
	while (path_push(rec->best) && rec->best && chan_kept_waits(&rec->kept))
		;
	push_end(rec);
}

/* sends_short - does the best path take @len bytes now, and no other? */
static bool sends_short(const struct tcp_recover *rec, size_t len)
{
	const struct tcp_path *best = rec->best;

	return best && len <= rec->short_max && !best->blocked && !best->sending && !best->proves &&
	       !chan_kept_waits(&rec->kept) && (!rec->ex.on || (rec->ex.sent && !rec->ex.down));
}

/* short_rest - of a record in @record the socket has taken @ret bytes, fewer than all; negative: an error. */
static void short_rest(struct tcp_path *path, const uint8_t *record, uint64_t at, size_t len, ssize_t ret)
{
	if (ret < 0 && errno != EAGAIN && errno != EINTR) {
		path_mute(path);
		tcp_paths_push(path->rec);
		return;
	}
	path->out = (struct tcp_piece) { .at = at, .left = len };
	memcpy(path->out.head, record, TCP_RECORD_SIZE);
	piece_sent(&path->out, ret > 0 ? (size_t) ret : 0);
	path->sending = path->blocked = true;
	tcp_path_watch(path);
}

/* send_kept - tcp_recover_send_staged() where one record over one path will not do. */
static __attribute__((noinline)) size_t send_kept(struct tcp_conn *conn, uint8_t *buf, size_t len)
{
	return (size_t) tcp_recover_send(conn, &(struct iovec) { buf, len }, 1);
}

size_t tcp_recover_send_staged(struct tcp_conn *conn, uint8_t *buf, size_t len)
{
	struct tcp_recover *rec = conn->rec;
	struct tcp_path *best = rec->best;
	uint8_t *record = buf - TCP_RECORD_SIZE;
	uint64_t at;
	ssize_t ret;

	if (!sends_short(rec, len) || !chan_kept_send(&rec->kept, &best->sent, buf, len, &at))
		return send_kept(conn, buf, len);
	head_write(rec, record, TCP_RECORD_DATA, at, len);
	ret = net_io_send(best->src.fd, record, TCP_RECORD_SIZE + len, MSG_NOSIGNAL | MSG_DONTWAIT, NULL, 0);
	if (ret < (ssize_t) (TCP_RECORD_SIZE + len))
		short_rest(best, record, at, len, ret);
	rec->busy |= rec->kept.end - rec->kept.taken >= TCP_STRIPE_MIN;
	tcp_recover_watch(rec);
	return len;
}

void tcp_paths_say(struct tcp_recover *rec)
{
	struct tcp_path *path = rec->path;

	for (; rec->said < rec->got.taken && path < rec->path + TCP_LANES_MAX; path++) {
		if (!tcp_path_stands(path) || path->blocked || path->sending || path->mute || path->proves)
			continue;
		tcp_recover_watch(rec);
		piece_begin(path, TCP_RECORD_TAKEN, 0, 0);
		if (!piece_send(path)) {
			path->blocked = true;
			tcp_path_watch(path);
		}
	}
}

/* ---- receiving ------------------------------------------------------------- */

/* path_prove - the first record of a rail that the peer has made has @proof.  False: it is not the peer. */
static bool path_prove(struct tcp_path *path, uint64_t proof)
{
	if (proof != path->answer)
		return false;
	path->unproven = false;
	path->in.left = 0;
	tcp_path_made(path);
	return true;
}

/* path_note_long - long payload comes: the side that made the first path makes the others. */
static void path_note_long(struct tcp_path *path, uint64_t len)
{
	struct tcp_recover *rec = path->rec;

	if (len < TCP_RECORD_MAX || rec->busy)
		return;
	rec->busy = true;
	tcp_recover_watch(rec);
}

static bool list_len_fits(uint64_t len)
{
	return len >= TCP_RAILS_KEY_SIZE && len <= sizeof(struct tcp_wire_rails) &&
	       (len - TCP_RAILS_KEY_SIZE) % sizeof(struct tcp_wire_addr) == 0;
}

/* path_on_down - the peer's address @their does not work: what was sent there goes again. */
static bool path_on_down(struct tcp_path *path, uint64_t their)
{
	struct tcp_recover *rec = path->rec;
	unsigned i;

	if (!rec->ex.got || their >= rec->ex.their_cnt)
		return false;
	for (i = 0; i < TCP_LANES_MAX; i++)
		if (&rec->path[i] != path && tcp_path_stands(&rec->path[i]) &&
		    net_addr_same_host(&rec->path[i].peer.sa, &rec->ex.their[their].sa))
			tcp_path_lost(&rec->path[i], ENETDOWN);
	return true;
}

bool tcp_path_begin(struct tcp_path *path)
{
	struct tcp_recover *rec = path->rec;
	struct tcp_wire_record head;
	uint64_t at, len;

	memcpy(&head, path->in.head, sizeof(head));
	at = le64toh(head.at);
	len = le32toh(head.len);
	if (path->unproven)
		return !len && le32toh(head.kind) == TCP_RECORD_PROOF && path_prove(path, at);
	if (!chan_kept_ack(&rec->kept, le64toh(head.taken)))
		return false;
	path->in.at = at;
	path->in.left = (size_t) len;
	path->in.list = NULL;
	switch (le32toh(head.kind)) {
	case TCP_RECORD_DATA:
		path_note_long(path, len);
		return len && len <= TCP_RECORD_MAX && chan_got_fits(&rec->got, at, len) &&
		       (!rec->peer_ended || at + len <= rec->peer_end);
	case TCP_RECORD_END:
		if (len || at < rec->got.next || (rec->peer_ended && at != rec->peer_end))
			return false;
		rec->peer_ended = true;
		rec->peer_end = at;
		return true;
	case TCP_RECORD_TAKEN:
		return !len;
	case TCP_RECORD_RAILS:
		path->in.list = path->list;
		path->list_len = (size_t) len;
		return rec->ex.on && list_len_fits(len);
	case TCP_RECORD_DOWN:
		return !len && path_on_down(path, at);
	default:
		return false;
	}
}

/* path_list - bytes of the peer's list of rails, which counts when it is complete. */
static size_t path_list(struct tcp_path *path, const uint8_t *buf, size_t len)
{
	memcpy(path->in.list, buf, len);
	path->in.list += len;
	path->in.left -= len;
	if (path->in.left)
		return len;
	tcp_recover_watch(path->rec);
	return tcp_exchange_came(path->rec, path->list, path->list_len) ? len : 0;
}

/* path_body - bytes of a record that are in @buf.  Returns how many; 0: the peer has left too many gaps. */
static size_t path_body(struct tcp_path *path, const uint8_t *buf, size_t have)
{
	size_t len = have < path->in.left ? have : path->in.left, skip, cnt;
	struct iovec iov[2];

	if (path->in.list)
		return path_list(path, buf, len);
	cnt = chan_got_room(&path->rec->got, path->in.at, len, &skip, iov);
	iov_scatter(iov, cnt, 0, buf + skip, len - skip);
	if (!chan_got_put(&path->rec->got, path->in.at, len))
		return 0;
	path->in.at += len;
	path->in.left -= len;
	return len;
}

bool tcp_path_parse(struct tcp_path *path, const uint8_t *buf, size_t have)
{
	struct tcp_piece *in = &path->in;
	size_t len;

	for (; have; buf += len, have -= len) {
		if (in->left) {
			len = path_body(path, buf, have);
			if (!len)
				return false;
			continue;
		}
		len = TCP_RECORD_SIZE - in->have < have ? TCP_RECORD_SIZE - in->have : have;
		memcpy(in->head + in->have, buf, len);
		in->have += len;
		if (in->have < TCP_RECORD_SIZE)
			continue;
		in->have = 0;
		if (!tcp_path_begin(path))
			return false;
	}
	return true;
}

void tcp_path_failed(struct tcp_path *path, ssize_t ret)
{
	if (!ret || (errno != EAGAIN && errno != EINTR))
		tcp_path_lost(path, ret ? errno : FI_ECONNRESET);
}

/* The rest of a long record goes into the ring, and what follows into a buffer. */
int tcp_path_read(struct tcp_path *path)
{
	struct tcp_recover *rec = path->rec;
	uint8_t buf[READ_SIZE];
	struct iovec iov[3];
	struct msghdr msg = { .msg_iov = iov };
	size_t skip = 0, direct = 0, cnt = 0, room;
	ssize_t ret;

	if (path->in.left >= DIRECT_MIN && !path->in.list) {
		cnt = chan_got_room(&rec->got, path->in.at, path->in.left, &skip, iov);
		direct = skip ? 0 : path->in.left;	/* what was taken already is read into the buffer */
		cnt = skip ? 0 : cnt;
	}
	iov[cnt++] = (struct iovec) { buf, sizeof(buf) };
	msg.msg_iovlen = cnt;
	room = iov_total(iov, cnt);
	ret = net_io_recvmsg(path->src.fd, &msg, MSG_DONTWAIT);
	if (ret <= 0) {
		tcp_path_failed(path, ret);
		return 0;
	}
	rec->reads++;
	if (direct > (size_t) ret)
		direct = (size_t) ret;
	if (direct && !chan_got_put(&rec->got, path->in.at, direct))
		return -1;
	path->in.at += direct;
	path->in.left -= direct;
	return tcp_path_parse(path, buf, (size_t) ret - direct) ? (size_t) ret == room : -1;
}

/* The acknowledgement comes first: the peer, which closes, waits for it. */
void tcp_recover_taken(struct tcp_conn *conn)
{
	struct tcp_recover *rec = conn->rec;

	if (conn->state != TCP_CONN_READY || conn->rx.kept || conn->poller->rest == conn ||
	    !rec->peer_ended || rec->got.taken < rec->peer_end)
		return;
	tcp_paths_say(rec);
	tcp_conn_fail(conn, FI_ECONNRESET, conn->rx.body == TCP_BODY_NONE && !conn->rx.stash_len);
}

/* ---- a path ----------------------------------------------------------------- */

/* set_queue - bound what waits in the socket: a slow path is not given what a fast one would send meanwhile. */
static void set_queue(int fd)
{
#ifdef TCP_NOTSENT_LOWAT
	setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &(int) { QUEUE_MAX }, sizeof(int));
#endif
}

/* find_ours - which of our interfaces a socket uses; -1: none that is a rail. */
static int find_ours(const struct tcp_recover *rec, int fd)
{
	const struct tcp_rails *rails = rec->ex.on ? rec->conn->link->rails : NULL;
	union net_sa name;
	unsigned i;

	if (!rails || net_sock_name(fd, &name))
		return -1;
	for (i = 0; i < rails->cnt; i++)
		if (net_addr_same_host(&rails->rail[i].addr.sa, &name.sa))
			return (int) i;
	return -1;
}

static void find_peer(int fd, union net_sa *peer_p)
{
	socklen_t len = sizeof(*peer_p);

	memset(peer_p, 0, sizeof(*peer_p));
	getpeername(fd, &peer_p->sa, &len);
}

void tcp_path_made(struct tcp_path *path)
{
	struct tcp_recover *rec = path->rec;
	struct tcp_conn *conn = rec->conn;
	struct tcp_rail *rail = tcp_rail_find(rec, path->ours);
	char text[NET_ADDR_TEXT_MAX];

	find_best(rec);
	if (rail)
		chan_rail_made(&rail->base, chan_poller_now(&conn->poller->base));
	if (path->ours >= 0) {
		rec->ex.down &= ~(1u << path->ours);
		rec->ex.told &= ~(1u << path->ours);
	}
	rec->down_ns = rec->refused_ns = 0;
	rec->tries = 0;
	rec->said = 0;			/* the record that said it may be lost */
	rec->end_sent = false;
	if (rec->made_cnt++)
		TCP_INFO(conn->link->conf, "%s: a path is made%s%s, %u stand\n", net_addr_text(&conn->peer.sa, text),
			 path->ours < 0 ? "" : " by ", path->ours < 0 ? "" : conn->link->rails->rail[path->ours].iface,
			 tcp_recover_paths(conn));
	tcp_paths_push(rec);
	tcp_paths_say(rec);
}

/* find_free - a path of no socket, or one that has proven nothing yet and gives way; NULL: all stand. */
static struct tcp_path *find_free(struct tcp_recover *rec)
{
	struct tcp_path *path, *unproven = NULL;

	for (path = rec->path; path < rec->path + TCP_LANES_MAX; path++) {
		if (path->src.fd < 0)
			return path;
		if (path->unproven)
			unproven = path;
	}
	return unproven;
}

int tcp_path_open(struct tcp_recover *rec, int fd, void (*event)(struct chan_src *src, uint32_t events),
		  struct tcp_path **path_p)
{
	struct tcp_path *path = find_free(rec);
	int ret;

	if (!path)
		return -FI_EMFILE;
	tcp_path_close(path);
	path->src = (struct chan_src) { .fd = fd, .event = event };
	path->rec = rec;
	path->blocked = path->sending = path->mute = path->unproven = path->proves = false;
	path->ours = find_ours(rec, fd);
	find_peer(fd, &path->peer);
	path->out = path->in = (struct tcp_piece) { .have = 0 };
	chan_sent_init(&path->sent);
	if (rec->want > 1 || rec->ex.on)
		set_queue(fd);
	ret = chan_src_want(&rec->conn->poller->base, &path->src, TCP_CONN_IN);
	if (ret) {
		path->src.fd = -1;
		return ret;
	}
	*path_p = path;
	return 0;
}

void tcp_path_close(struct tcp_path *path)
{
	if (path->src.fd < 0)
		return;
	chan_src_want(&path->rec->conn->poller->base, &path->src, 0);
	close(path->src.fd);
	path->src.fd = -1;
	find_best(path->rec);
}

void tcp_path_lost(struct tcp_path *path, int err)
{
	struct tcp_recover *rec = path->rec;
	struct tcp_conn *conn = rec->conn;
	struct tcp_rail *rail = tcp_rail_find(rec, path->ours);
	char text[NET_ADDR_TEXT_MAX];

	if (path->unproven) {
		tcp_path_close(path);
		return;
	}
	path_mute(path);
	tcp_path_close(path);
	rec->lost_cnt++;
	if (rail)
		chan_rail_failed(&rail->base, chan_poller_now(&conn->poller->base));
	if (!rec->peer_ended)
		TCP_WARN_SPARSE(conn->link->conf, "%s: a path is lost%s%s (%s), %u stand; what was sent over it goes again\n",
				net_addr_text(&conn->peer.sa, text), rail && conn->link->rails ? " by " : "",
				rail && conn->link->rails ? conn->link->rails->rail[path->ours].iface : "", fi_strerror(err),
				tcp_recover_paths(conn));
	tcp_recover_lost(rec);
}
