/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * event.c - what the set reports of a path.  The paths know nothing of what is above them; here the reader goes on with
 * what has arrived, and the sender where there is room again.
 *
 * What is the next of the stream does not go through the ring: records that are complete, as those of short messages are,
 * are handed on from the buffer that they were read into, and payload is read into its destination.
 */
#include <endian.h>
#include <errno.h>
#include <rdma/fi_errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/iov.h"
#include "net/io.h"
#include "secure/channel.h"
#include "tcp/recover/state.h"

#define PLACE_MIN 4096			/* a rest of a record this long is read into place */
#define READS_MAX 16			/* of one event */
#define PASS_SIZE SEC_RECORD_MAX	/* of a read that is not into the ring; tcp_rx_alloc() has room for it */

/* may_pass - is the reader between two packets, and the path between two records? */
static inline bool may_pass(const struct tcp_path *path)
{
	const struct tcp_conn *conn = path->rec->conn;

	return conn->state == TCP_CONN_READY && conn->rx.body == TCP_BODY_NONE && !conn->rx.stash_len && !conn->rx.kept &&
	       !conn->poller->rest && !path->in.left && !path->in.have && !path->unproven;
}

/* pass_record - hand on the record at @pos of @buf, poller->rx.  Returns its size; 0: it has to go into the ring; negative:
 * it is not possible.
 */
static ssize_t pass_record(struct tcp_path *path, const uint8_t *buf, size_t pos, size_t end)
{
	struct tcp_wire_record head;
	size_t size;

	if (end - pos <= TCP_RECORD_SIZE || !may_pass(path))
		return 0;
	memcpy(&head, buf + pos, sizeof(head));
	size = TCP_RECORD_SIZE + (size_t) le32toh(head.len);
	if (le32toh(head.kind) != TCP_RECORD_DATA || size > end - pos ||
	    !chan_got_pass(&path->rec->got, le64toh(head.at), size - TCP_RECORD_SIZE))
		return 0;
	memcpy(path->in.head, buf + pos, TCP_RECORD_SIZE);
	if (!tcp_path_begin(path))
		return -1;
	path->in.left = 0;
	tcp_rx_packets(path->rec->conn, pos + TCP_RECORD_SIZE, pos + size);
	return (ssize_t) size;
}

/* read_passing - tcp_path_read() while records may pass.
 * @all_p: [out] set to false if some did not
 */
static int read_passing(struct tcp_path *path, bool *all_p)
{
	struct tcp_conn *conn = path->rec->conn;
	uint8_t *buf = conn->poller->rx;
	ssize_t ret = net_io_recv(path->src.fd, buf, PASS_SIZE, MSG_DONTWAIT, NULL, NULL), used = 1;
	size_t pos = 0;

	if (ret <= 0) {
		if (!ret || errno != EAGAIN)
			tcp_path_failed(path, ret);
		return 0;
	}
	path->rec->reads++;
	while (pos < (size_t) ret && used > 0) {
		used = pass_record(path, buf, pos, (size_t) ret);
		pos += used > 0 ? (size_t) used : 0;
	}
	if (used < 0 || conn->state != TCP_CONN_READY)
		return used < 0 ? -1 : 0;
	*all_p &= pos == (size_t) ret;
	if (pos < (size_t) ret && !tcp_path_parse(path, buf + pos, (size_t) ret - pos))
		return -1;
	return ret == PASS_SIZE;
}

/* limit_iov - leave @len bytes of it.  Returns how many entries that are. */
static size_t limit_iov(struct iovec *iov, size_t cnt, size_t len)
{
	size_t i = 0;

	for (; i < cnt && len; len -= iov[i++].iov_len)
		if (iov[i].iov_len > len)
			iov[i].iov_len = len;
	return i;
}

/* read_placed - tcp_path_read() where the rest of a record is the next of a payload: it goes to its destination.  Behind it
 * the header of the next record is read, so that the next read begins with its bytes.
 * Returns as that; 2: it is not so.
 */
static int read_placed(struct tcp_path *path)
{
	struct tcp_recover *rec = path->rec;
	struct iovec iov[ENG_IOV_MAX + 1];
	struct msghdr msg = { .msg_iov = iov };
	uint8_t head[TCP_RECORD_SIZE];
	size_t cnt, room, len, behind = 0;
	ssize_t ret;

	if (path->in.left < PLACE_MIN || path->in.list || path->unproven || !chan_got_is_next(&rec->got, path->in.at))
		return 2;
	cnt = limit_iov(iov, tcp_rx_place(rec->conn, iov), path->in.left);
	room = iov_total(iov, cnt);
	if (!room)
		return 2;
	if (room == path->in.left) {
		iov[cnt++] = (struct iovec) { head, sizeof(head) };
		behind = sizeof(head);
	}
	msg.msg_iovlen = cnt;
	ret = net_io_recvmsg(path->src.fd, &msg, MSG_DONTWAIT);
	if (ret <= 0) {
		if (ret < 0 && errno == EFAULT)
			return 2;
		tcp_path_failed(path, ret);
		return 0;
	}
	rec->reads++;
	len = (size_t) ret < room ? (size_t) ret : room;
	path->in.at += len;
	path->in.left -= len;
	chan_got_placed(&rec->got, len);
	tcp_rx_placed(rec->conn, len);
	if ((size_t) ret > len && !tcp_path_parse(path, head, (size_t) ret - len))
		return -1;
	return (size_t) ret == room + behind;
}

/* path_input - one read. */
static int path_input(struct tcp_path *path, bool *all_p)
{
	struct tcp_poller *poller = path->rec->conn->poller;
	int ret;

	if (may_pass(path) && !chan_got_waits(&path->rec->got)) {
		if (!poller->rx)
			poller->rx = tcp_rx_alloc(poller);
		if (poller->rx)
			return read_passing(path, all_p);
	}
	*all_p = false;
	ret = read_placed(path);
	return ret == 2 ? tcp_path_read(path) : ret;
}

/* reader_goes_on - with what is in the ring: then the next bytes of a payload have a destination. */
static void reader_goes_on(struct tcp_recover *rec)
{
	if (chan_got_waits(&rec->got) && rec->conn->state == TCP_CONN_READY && !rec->conn->rx.kept)
		tcp_rx_resume(rec->conn);
}

/* goes_on - is there more to do than to read what comes? */
static bool goes_on(const struct tcp_recover *rec)
{
	return rec->conn->tx.blocked || chan_kept_waits(&rec->kept) || rec->peer_ended ||
	       rec->got.taken - rec->said >= TCP_SAY_EVERY;
}

/* tcp_path_event - input is read until there is none: the window bounds it. */
void tcp_path_event(struct chan_src *src, uint32_t events)
{
	struct tcp_path *path = container_of(src, struct tcp_path, src);
	struct tcp_recover *rec = path->rec;
	struct tcp_conn *conn = rec->conn;
	bool all = !(events & POLLOUT);
	uint64_t reads = rec->reads;
	int ret = 1, i;

	if (conn->state != TCP_CONN_READY)
		return;
	if (!conn->active && !conn->rx.kept)
		tcp_poller_activate(conn->poller, conn);
	if (events & POLLOUT) {
		path->blocked = false;
		tcp_path_watch(path);
	}
	for (i = 0; i < READS_MAX && ret > 0 && path->src.fd >= 0 && events & ~(uint32_t) POLLOUT; i++) {
		ret = path_input(path, &all);
		reader_goes_on(rec);
	}
	if (rec->reads != reads) {
		conn->used_seq = conn->poller->base.seq;
		tcp_recover_watch(rec);
	}
	if (ret < 0 && path->unproven) {
		tcp_path_close(path);	/* another process, which is not the peer */
		return;
	}
	if (ret < 0) {
		tcp_rx_refuse(conn, "an impossible record");
		return;
	}
	if (conn->state != TCP_CONN_READY || (path->src.fd >= 0 && all && !goes_on(rec)))
		return;
	tcp_paths_push(rec);
	if (conn->tx.blocked && rec->kept.end - rec->kept.taken < rec->kept.size)
		tcp_tx_pump(conn);
	reader_goes_on(rec);
	tcp_recover_taken(conn);
}
