/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Connecting: the steps of the handshake (handshake.h) on either side, and the listening
 * socket.  When to connect, and what to do about an attempt that fails, is decided by
 * channel/chan.h.
 */
#include <errno.h>
#include <pthread.h>
#include <rdma/fi_errno.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "channel/route.h"
#include "channel/poller.h"
#include "handshake.h"
#include "link.h"
#include "cma.h"
#include "name.h"
#include "secure/proof.h"
#include "seg.h"

#define ACCEPTS_MAX 64				/* connections taken per event */
#define NAMES_MAX 4096				/* addresses that an endpoint tries */

/* ---- handshakes -------------------------------------------------------------------------- */

static void handshake_fill(const struct shm_link *link, struct shm_handshake *shake, uint32_t type)
{
	*shake = (struct shm_handshake) {
		.magic = SHM_MAGIC,
		.version = chan_version_ours(SHM_VERSION, SHM_OLDEST),
		.type = type,
		.seg_size = sizeof(struct shm_seg),
		.barrier = shm_conf.barrier,
		.id.epoch = link->base.epoch,
		.addr_len = (uint16_t) link->base.addr_len,
	};
	memcpy(shake->addr, link->addr, link->base.addr_len);
}

/* What peers try to read, and write, in our memory.  Not a part of anything that is freed: a peer that is stopped in
 * the middle writes it long after its attempt has ended.
 */
static uint64_t probe_word;

static void draw_probe(void)
{
	if (getrandom(&probe_word, sizeof(probe_word), GRND_NONBLOCK) != sizeof(probe_word))
		probe_word = clock_ns();
}

static const uint64_t *probe_at(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, draw_probe);
	return &probe_word;
}

/* send_memory - send a REQUEST or ACCEPT with our segment, and with our bells if there is one left.
 * Closes @seg_fd.
 */
static int send_memory(struct shm_conn *conn, struct shm_handshake *shake, int seg_fd)
{
	struct shm_fds fds = { seg_fd, -1 };
	int ret;

	conn->bell = shm_bell_give(&conn->poller->bells, conn);
	if (conn->bell >= 0) {
		fds.bells = conn->poller->bells.fd;
		shake->bell = (uint32_t) conn->bell + 1;
	}
	shake->probe_addr = (uintptr_t) probe_at();
	shake->probe = *probe_at();
	ret = shm_handshake_send(conn->src.fd, shake, fds);
	close(seg_fd);
	return ret;
}

/* take_memory - map what came with a handshake, to send in.  Closes @fds. */
static int take_memory(struct shm_conn *conn, const struct shm_handshake *shake, struct shm_fds *fds)
{
	int ret = fds->seg == -FI_EMFILE ? fds->seg : fds->seg < 0 ? -FI_EINVAL :
		  shm_seg_map(fds->seg, &conn->out.seg);

	if (!ret && fds->bells >= 0) {
		ret = shm_mem_map(fds->bells, sizeof(*conn->out_bells), (void **) &conn->out_bells);
		if (!ret)
			conn->out.bell = &conn->out_bells->bell[shake->bell - 1];
	}
	shm_fds_close(fds);
	return ret;
}

/* probe_memory - can the peer's memory be read and written?  The peer sees the result in the
 * segments.
 */
static void probe_memory(struct shm_conn *conn, uint64_t addr, uint64_t value)
{
	conn->can_read = !shm_conf.disable_cma && shm_cma_probe(conn->pid, false, addr, value);
	conn->can_write = conn->can_read && shm_cma_probe(conn->pid, true, addr, value);
	atomic_store_explicit(&conn->in.seg->rx.can_read, conn->can_read, memory_order_relaxed);
	atomic_store_explicit(&conn->out.seg->tx.can_write, conn->can_write, memory_order_relaxed);
}

/* record_peer - keep what a REQUEST or ACCEPT says about the peer. */
static void record_peer(struct shm_conn *conn, const struct shm_handshake *shake)
{
	conn->id = shake->id;
	conn->version = shake->version;
	conn->out.fence = !(shake->barrier && shm_conf.barrier);
	probe_memory(conn, shake->probe_addr, shake->probe);
}

static void conn_refuse(struct shm_conn *conn, enum chan_reason reason)
{
	struct shm_handshake shake;

	handshake_fill(conn->link, &shake, SHM_REFUSE);
	shake.reason = reason;
	shm_handshake_send(conn->src.fd, &shake, SHM_NO_FDS);
	shm_conn_close(conn, FI_ECONNREFUSED);
}

/* conn_up - the handshake is complete. */
static void conn_up(struct shm_conn *conn)
{
	bool ours = conn->state == SHM_CONN_REQUESTING;
	struct shm_chan *chan = conn->chan;

	chan->pending_conn = NULL;
	shm_conn_start(conn);
	chan_route_said(&chan->base, chan_version_ours(SHM_VERSION, SHM_OLDEST), &conn->version, 0);
	chan_up(&chan->base, conn, &conn->id, ours);
	shm_tx_pump(conn);
}

/* ---- our attempts ------------------------------------------------------------------------ */

/* set_timer - until the peer's next step is overdue. */
static void set_timer(struct shm_conn *conn)
{
	struct chan_link *link = &conn->link->base;

	chan_poller_timer(link->poller, &conn->timer, chan_now(link) +
			  (uint64_t) link->conf.conn_timeout_ms * CLOCK_NS_PER_MS);
}

/* connect_self - one segment, both ends of it ours.  The next poll reports it. */
static int connect_self(struct shm_link *link, struct shm_conn **conn_p)
{
	struct shm_conn *conn;
	int fd, ret;

	ret = shm_conn_new(link, -1, getpid(), SHM_CONN_REQUESTING, &conn);
	if (ret)
		return ret;
	/* there is no socket to rely on without a bell */
	conn->bell = shm_bell_give(&conn->poller->bells, conn);
	ret = conn->bell < 0 ? conn->bell : shm_seg_make(&conn->in.seg, &fd);
	if (ret) {
		shm_conn_close(conn, FI_ECANCELED);
		return ret;
	}
	close(fd);
	conn->out.seg = conn->in.seg;
	conn->out.fence = true;
	conn->out.bell = &conn->poller->bells.mem->bell[conn->bell];
	conn->id.epoch = link->base.epoch;
	probe_memory(conn, (uintptr_t) probe_at(), *probe_at());
	chan_poller_timer(link->base.poller, &conn->timer, 0);
	*conn_p = conn;
	return 0;
}

/* send_request - ask the peer for the connection, with our memory. */
static int send_request(struct shm_conn *conn, struct chan *chan)
{
	const void *to = eng_peer_addr(chan_peer(chan));
	struct shm_handshake shake;
	int seg_fd, ret;

	handshake_fill(conn->link, &shake, SHM_REQUEST);
	shake.id.serial = chan->serial;
	shake.id.prev = chan->peer_serial;
	shake.to_len = (uint16_t) conn->link->naming->len(to);
	memcpy(shake.to, to, shake.to_len);
	ret = shm_seg_make(&conn->in.seg, &seg_fd);
	if (!ret)
		ret = send_memory(conn, &shake, seg_fd);
	chan->asked |= !ret;
	return ret;
}

static int connect_peer(struct shm_link *link, struct chan *chan, const void *to, size_t to_len,
			struct shm_conn **conn_p)
{
	char key[SHM_KEY_MAX + 1];
	struct shm_conn *conn;
	pid_t pid = 0;
	int fd, ret;

	ret = link->naming->key(to, to_len, key);
	if (ret)
		return ret;
	fd = shm_listen_connect(&link->scope, key, &pid);
	if (fd < 0)
		return fd;
	ret = shm_conn_new(link, fd, pid, SHM_CONN_REQUESTING, &conn);
	if (ret) {
		close(fd);
		return ret;
	}
	ret = link->sec ? shm_proof_new(conn, false) : send_request(conn, chan);
	if (ret) {
		shm_conn_close(conn, FI_ECANCELED);
		return ret;
	}
	set_timer(conn);
	*conn_p = conn;
	return 0;
}

int shm_connect(struct chan *chan)
{
	struct shm_link *link = shm_link_of(chan->link);
	const void *to = eng_peer_addr(chan_peer(chan));
	size_t to_len = link->naming->len(to);
	struct shm_conn *conn = NULL;
	int ret;

	if (link->naming->same(to, to_len, link->addr, link->base.addr_len))
		ret = connect_self(link, &conn);
	else
		ret = connect_peer(link, chan, to, to_len, &conn);
	if (ret)
		return ret;
	conn->chan = shm_chan_of(chan);
	conn->chan->pending_conn = conn;
	return 0;
}

/* on_overdue - the peer's process lives, or its socket would show the end, and does not answer: it
 * computes, or is stopped.  It is waited for, and no longer counts as one of the attempts in flight.
 */
static void on_overdue(struct shm_conn *conn)
{
	char text[CHAN_TEXT_MAX];

	chan_overdue(&conn->chan->base);
	CHAN_WARN_SPARSE(&conn->link->base, "%s does not answer: its program makes no progress (it "
			 "computes, or is stopped); waiting for it\n",
			 chan_peer_text(&conn->chan->base, text));
}

/* Once a peer has sent its REQUEST, or begun a proof, only its socket ends the handshake. */
void shm_connect_timer(struct timer *timer, uint64_t now)
{
	struct shm_conn *conn = container_of(timer, struct shm_conn, timer);

	if (conn->src.fd < 0)
		conn_up(conn);
	else if (conn->state == SHM_CONN_REQUESTING)
		on_overdue(conn);
	else if (!shm_proof_is_waited_for(conn))
		shm_conn_fail(conn, FI_ETIMEDOUT);
}

void shm_connect_abort(struct chan *chan)
{
	struct shm_conn *conn = shm_chan_of(chan)->pending_conn;

	shm_chan_of(chan)->pending_conn = NULL;
	if (conn)
		shm_conn_close(conn, FI_ECANCELED);
}

void shm_connect_close(struct chan *chan, int err, bool orderly)
{
	shm_connect_abort(chan);
	if (chan->conn)
		shm_conn_close(chan->conn, err);
}

const char *shm_connect_advice(const struct chan *chan, int err)
{
	switch (err) {
	case FI_ECONNREFUSED:
		if (!shm_link_of(chan->link)->local &&
		    shm_name_is_foreign(eng_peer_addr(eng_peer_of((void *) chan))))
			return "its process is in another container or on another host, where its sockets are "
			       "not seen from here; for containers of one host set FI_SHM_DIR to a directory "
			       "that both have";
		return shm_link_of(chan->link)->local ?
		       "no endpoint has that address any more; has its process ended?" :
		       "no endpoint has that name; does its process run, and in this network "
		       "namespace (FI_SHM_DIR)?";
	case FI_EACCES:
		return "it belongs to another user; shm connects the processes of one user";
	case FI_EBUSY:
		return "its program makes no progress (it computes, or is stopped), and accepts no connections";
	case FI_EAGAIN:
		return "it accepts no connections at present, or lacks memory or descriptors";
	case FI_EMFILE:
		return "raise the limit on open files (ulimit -n)";
	default:
		return NULL;
	}
}

/* ---- a connection ends ---------------------------------------------------------------------- */

void shm_connect_failed(struct shm_conn *conn)
{
	struct shm_chan *chan = conn->chan;

	if (conn->was == SHM_CONN_READY) {
		chan_lost(&chan->base, conn->err, conn->ended);
		return;
	}
	if (chan) {
		chan->pending_conn = NULL;
		chan_connect_failed(&chan->base, conn->err, false);
	}
	shm_conn_close(conn, conn->err);
}

/* ---- answers to our requests ----------------------------------------------------------------- */

static void on_accept(struct shm_conn *conn, const struct shm_handshake *shake, struct shm_fds *fds)
{
	char text[CHAN_TEXT_MAX];
	int ret = take_memory(conn, shake, fds);

	if (ret == -FI_EINVAL) {
		CHAN_WARN_SPARSE(&conn->link->base, "%s accepted the connection without a sealed "
				 "segment\n", chan_peer_text(&conn->chan->base, text));
		ret = -FI_EPROTO;
	}
	if (!ret) {
		record_peer(conn, shake);
		ret = shm_handshake_confirm(conn->src.fd);
	}
	if (ret)
		shm_conn_fail(conn, -ret);
	else
		conn_up(conn);
}

/* on_confirm - input after our ACCEPT: the confirmation, or the end. */
static void on_confirm(struct shm_conn *conn)
{
	int ret = shm_handshake_confirmed(conn->src.fd);

	if (!ret)
		conn_up(conn);
	else if (ret != -FI_EAGAIN)
		shm_conn_fail(conn, -ret);
}

/* log_name - the endpoint there has another name than the one that was connected to. */
static void log_name(struct shm_conn *conn, const struct shm_handshake *shake)
{
	char text[CHAN_TEXT_MAX], other[CHAN_TEXT_MAX];
	struct chan *chan = &conn->chan->base;

	CHAN_WARN_SPARSE(&conn->link->base, "%s refused our connection: the endpoint there has "
			 "another name, use that: %s\n", chan_peer_text(chan, text),
			 chan_text(&conn->link->base, shake->addr, shake->addr_len, other));
	chan->logged = true;
}

static void on_refuse(struct shm_conn *conn, const struct shm_handshake *shake)
{
	struct chan *chan = &conn->chan->base;
	uint32_t reason = shake->reason;

	conn->chan->pending_conn = NULL;
	if (reason == CHAN_NO_ENDPOINT && !conn->link->local)
		log_name(conn, shake);
	/* the endpoint's own link is tried at once where this one is refused */
	if (reason != CHAN_SIMULTANEOUS && (conn->link->local || reason == CHAN_NO_ENDPOINT))
		chan_connect_failed(chan, chan_reason_errno(reason), true);
	else
		chan_refused(chan, reason);
	shm_conn_close(conn, FI_ECONNREFUSED);
}

/* ---- requests of peers ----------------------------------------------------------------------- */

static int names_order(const struct shm_link *link, const struct shm_handshake *shake)
{
	size_t own_len = link->base.addr_len;
	size_t len = own_len < shake->addr_len ? own_len : shake->addr_len;
	int ret = memcmp(link->addr, shake->addr, len);

	return ret ? ret : (int) own_len - (int) shake->addr_len;
}

/* accept_request - @conn becomes the channel's connection, once the peer confirms. */
static void accept_request(struct shm_conn *conn, struct chan *chan,
			   const struct shm_handshake *theirs)
{
	struct shm_handshake shake;
	int seg_fd, ret;

	if (shm_seg_make(&conn->in.seg, &seg_fd)) {
		conn_refuse(conn, CHAN_BUSY);
		return;
	}
	/* in the segments before the peer uses them */
	record_peer(conn, theirs);
	handshake_fill(conn->link, &shake, SHM_ACCEPT);
	shake.id.serial = theirs->id.serial;
	shake.id.prev = conn->link->base.serial;
	ret = send_memory(conn, &shake, seg_fd);
	if (ret) {	/* the peer has left */
		shm_conn_close(conn, -ret);
		return;
	}
	chan_taken(chan);
	conn->chan = shm_chan_of(chan);
	conn->chan->pending_conn = conn;
	timer_off(&conn->poller->base.timers, &conn->timer);
	shm_conn_set_state(conn, SHM_CONN_CONFIRMING);
	chan_accepting(chan, &conn->id);
}

/* replace_dead - the peer does not know the connection that stands: it is dead. */
static struct chan *replace_dead(struct chan *chan, const struct shm_handshake *shake)
{
	if (!chan->conn)
		return chan;	/* it was never confirmed */
	/* packets that the peer has sent over it come first */
	shm_rx_poll(chan->conn, SHM_SLOTS, true);
	return chan_replace(chan, shake->addr, shake->addr_len);
}

/* request_reason - may the peer connect?  CHAN_OK, or why not. */
static enum chan_reason request_reason(struct shm_conn *conn, const struct shm_handshake *shake,
				       struct shm_fds *fds)
{
	struct shm_link *link = conn->link;
	char key[SHM_KEY_MAX + 1];
	int ret = take_memory(conn, shake, fds);

	if (ret && ret != -FI_EINVAL) {
		CHAN_WARN_SPARSE(&link->base, "cannot accept a connection: %s\n", fi_strerror(-ret));
		return CHAN_BUSY;
	}
	if (ret || link->naming->key(shake->addr, shake->addr_len, key))
		return CHAN_MALFORMED;
	if (!link->naming->same(shake->to, shake->to_len, link->addr, link->base.addr_len))
		return CHAN_NO_ENDPOINT;
	return link->base.closing ? CHAN_BUSY : CHAN_OK;
}

static void on_request(struct shm_conn *conn, const struct shm_handshake *shake, struct shm_fds *fds)
{
	enum chan_reason reason = request_reason(conn, shake, fds);
	struct shm_link *link = conn->link;
	enum chan_verdict verdict;
	struct chan *chan = NULL;

	if (reason == CHAN_OK)
		chan = chan_find(&link->base, shake->addr, shake->addr_len);
	if (!chan) {
		conn_refuse(conn, reason == CHAN_OK ? CHAN_BUSY : reason);
		return;
	}
	verdict = chan_decide(chan, names_order(link, shake), &shake->id);
	/* CHAN_SELF: an endpoint makes no request to itself, so its epoch is forged */
	if (verdict == CHAN_REFUSE || verdict == CHAN_SELF) {
		conn_refuse(conn, CHAN_SIMULTANEOUS);
		return;
	}
	if (verdict == CHAN_REPLACE && shm_conn_ended(conn)) {
		shm_conn_close(conn, FI_ECONNRESET);	/* the peer has left again */
		return;
	}
	if (verdict == CHAN_REPLACE)
		chan = replace_dead(chan, shake);
	if (chan)
		accept_request(conn, chan, shake);
	else
		conn_refuse(conn, CHAN_BUSY);
}

/* on_unlike - the two processes cannot share memory; @why is a clause.  The peer gets our handshake, by which
 * it comes to the same result.
 */
static void on_unlike(struct shm_conn *conn, enum chan_reason reason, const char *why)
{
	bool request = conn->state == SHM_CONN_ACCEPTED;

	CHAN_WARN_SPARSE(&conn->link->base, "no shared memory with process %ld%s: %s\n",
			 (long) conn->pid, conn->link->local ? ", which is reached over sockets" : "", why);
	if (request)
		conn_refuse(conn, reason);
	else
		shm_conn_fail(conn, FI_EPROTO);
}

/* on_version - a handshake of another version. */
static void on_version(struct shm_conn *conn, const struct shm_handshake *shake)
{
	struct chan_version ours = chan_version_ours(SHM_VERSION, SHM_OLDEST), theirs = shake->version;
	char text[CHAN_VERSION_TEXT_MAX];

	chan_version_first(&theirs, SHM_RANGED);
	on_unlike(conn, CHAN_VERSION_BAD, chan_version_text(&ours, &theirs, text));
}

/* on_tls - the peer proves a key, and this side has none. */
static void on_tls(struct shm_conn *conn)
{
	on_unlike(conn, CHAN_MALFORMED, "its connections are protected and ours are not: set FI_SECURITY and the key "
		  "of both, or of none");
}

/* on_malformed - a message that is no handshake, or not the one that is due. */
static void on_malformed(struct shm_conn *conn)
{
	CHAN_WARN_SPARSE(&conn->link->base, "process %ld sent a malformed handshake\n",
			 (long) conn->pid);
	shm_conn_fail(conn, FI_EPROTO);
}

/* proof_refused - our attempt ends: the endpoint's own link is tried at once, where there is one. */
static void proof_refused(struct shm_conn *conn)
{
	struct chan *chan = &conn->chan->base;

	conn->chan->pending_conn = NULL;
	chan->logged = true;
	chan_connect_failed(chan, FI_EACCES, true);
	shm_conn_close(conn, FI_EACCES);
}

/* on_proof - input before the REQUEST of a protected connection. */
static void on_proof(struct shm_conn *conn)
{
	enum shm_proof_step step = shm_proof_event(conn);
	bool ours = conn->state == SHM_CONN_REQUESTING;
	int ret = 0;

	if (step == SHM_PROOF_DONE && ours)
		ret = send_request(conn, &conn->chan->base);
	else if (step == SHM_PROOF_ENDED)
		ret = -FI_ECONNRESET;
	else if ((step == SHM_PROOF_REFUSED || step == SHM_PROOF_PLAIN) && ours)
		proof_refused(conn);
	else if (step == SHM_PROOF_PLAIN)
		conn_refuse(conn, CHAN_INSECURE);
	else if (step == SHM_PROOF_REFUSED)
		shm_conn_close(conn, FI_EACCES);
	if (ret)
		shm_conn_fail(conn, -ret);
}

void shm_connect_event(struct shm_conn *conn)
{
	struct shm_handshake shake;
	struct shm_fds fds = SHM_NO_FDS;
	int ret;

	shake.magic = 0;
	if (conn->proof) {
		on_proof(conn);
		return;
	}
	if (conn->state == SHM_CONN_CONFIRMING) {
		on_confirm(conn);
		return;
	}
	ret = shm_handshake_recv(conn->src.fd, &shake, &fds);
	if (ret == -FI_EAGAIN)
		return;
	if (!ret && (conn->state == SHM_CONN_ACCEPTED) != (shake.type == SHM_REQUEST))
		ret = -FI_EPROTO;
	if (ret || shake.type == SHM_REFUSE)
		shm_fds_close(&fds);
	if (ret == -FI_ENOPROTOOPT)
		on_version(conn, &shake);
	else if (ret == -FI_EPROTO && shake.magic == __builtin_bswap32(SHM_MAGIC))
		on_unlike(conn, CHAN_MALFORMED, "it is built for processors of the other byte order");
	else if (ret == -FI_EPROTO && shm_proof_is_tls(&shake))
		on_tls(conn);
	else if (ret == -FI_EPROTO)
		on_malformed(conn);
	else if (ret)
		shm_conn_fail(conn, -ret);
	else if (shake.type == SHM_REQUEST)
		on_request(conn, &shake, &fds);
	else if (shake.type == SHM_ACCEPT)
		on_accept(conn, &shake, &fds);
	else
		on_refuse(conn, &shake);
}

/* ---- the listening socket -------------------------------------------------------------------- */

/* take_one - accept one connection.  Returns 0; -FI_EAGAIN: there is none; -FI_E*: no
 * memory or descriptors.
 */
static int take_one(struct shm_link *link)
{
	struct shm_conn *conn;
	pid_t pid = 0;
	int ret, fd = shm_listen_accept(link->listener.src.fd, &pid);

	if (fd == -FI_EACCES) {
		if (!link->local)
			CHAN_WARN_SPARSE(&link->base, "refused a connection of another user's "
					 "process: shm connects the processes of one user\n");
		return 0;
	}
	if (fd == -ECONNABORTED)
		return -FI_EAGAIN;
	if (fd < 0)
		return fd;
	shm_proof_make_room(link);
	ret = shm_conn_new(link, fd, pid, SHM_CONN_ACCEPTED, &conn);
	if (ret) {
		close(fd);
		return ret;
	}
	set_timer(conn);
	ret = shm_proof_new(conn, true);
	if (ret)
		shm_conn_close(conn, FI_ENOMEM);
	return ret;
}

static void on_listener(struct chan_src *src, uint32_t events)
{
	struct shm_link *link = container_of(src, struct shm_link, listener.src);
	int i, ret = 0;

	for (i = 0; i < ACCEPTS_MAX && !ret; i++)
		ret = take_one(link);
	if (!ret || ret == -FI_EAGAIN)
		return;
	CHAN_WARN_SPARSE(&link->base, "cannot accept connections for %d ms: %s; raise the limit "
			 "on open files (ulimit -n)\n",
			 CHAN_LISTEN_PAUSE_MS, fi_strerror(-ret));
	chan_listener_pause(&link->listener);
}

static int listen_at(struct shm_link *link)
{
	int fd = link->naming->key(link->addr, link->base.addr_len, link->key);

	if (!fd)
		fd = shm_listen_open(&link->scope, link->key);
	if (fd < 0)
		return fd;
	link->listener.src.fd = fd;
	return 0;
}

static void log_open(const struct shm_link *link, int err)
{
	char text[CHAN_TEXT_MAX];
	uid_t uid;

	chan_text(&link->base, link->addr, link->base.addr_len, text);
	if (err == -FI_EADDRINUSE && shm_listen_user(&link->scope, link->key, &uid))
		CHAN_WARN(&link->base, "cannot open an endpoint called %s: a process of user %u "
			  "listens under that name; choose another one%s\n", text, (unsigned) uid,
			  link->scope.dir ? "" : ", or set FI_SHM_DIR to a private directory");
	else
		CHAN_WARN(&link->base, "cannot open an endpoint called %s: %s\n", text,
			  err == -FI_EADDRINUSE ? "an endpoint of that name is open; close it, or "
						  "choose another name" : fi_strerror(-err));
}

/* log_passed_over - our user's number is in the name before this one, yet another user has it. */
static void log_passed_over(const struct shm_link *link, const char *key)
{
	char text[CHAN_TEXT_MAX];
	uid_t uid;

	if (!shm_listen_user(&link->scope, key, &uid))
		return;
	chan_text(&link->base, link->addr, link->base.addr_len, text);
	CHAN_WARN_SPARSE(&link->base, "a process of user %u listens under the name %s; this endpoint is "
			 "called %s%s\n", (unsigned) uid, key, text, link->scope.dir ? "" :
			 " (FI_SHM_DIR, a private directory, keeps other users out)");
}

int shm_connect_open(struct shm_link *link, const void *src, size_t src_len)
{
	char taken[sizeof(link->key)];
	unsigned try;
	int ret;

	for (try = 0; try < NAMES_MAX; try++) {
		ret = link->naming->own(src, src_len, try, link->addr, &link->base.addr_len);
		if (ret)
			break;
		ret = listen_at(link);
		if (ret != -FI_EADDRINUSE)
			break;
		strcpy(taken, link->key);
	}
	if (!ret && try)
		log_passed_over(link, taken);
	if (ret == -FI_ENODATA)
		ret = -FI_EADDRINUSE;
	if (!ret) {
		ret = chan_listener_start(&link->listener, link->base.poller, on_listener);
		if (ret)
			shm_listen_close(link->listener.src.fd, &link->scope, link->key);
	}
	if (ret)
		log_open(link, ret);
	return ret;
}

void shm_connect_end(struct shm_link *link)
{
	chan_listener_stop(&link->listener);
	shm_listen_close(link->listener.src.fd, &link->scope, link->key);
}
