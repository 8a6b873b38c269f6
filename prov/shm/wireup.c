/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Wire-up: a channel gets its connection when it is first used, from either side, and
 * gets a new one after it was lost.
 *
 * The caller sends HELLO with a segment to receive in, the called one answers WELCOME
 * with its own.  A call that finds nobody is repeated for conn_retry_ms: the peer may be
 * about to start.  Every failure is reported from poll().
 */
#include <errno.h>
#include <rdma/fi_errno.h>
#include <unistd.h>

#include "engine/cross.h"
#include "engine/wire.h"
#include "link.h"
#include "pull.h"
#include "seg.h"

#define BACKOFF_FIRST_NS (2 * CLOCK_NS_PER_MS)
#define CROSSED_NS (CLOCK_NS_PER_S / 5)
#define BACKOFF_MAX_SHIFT 5			/* 64 ms */
#define DOOR_PAUSE_NS (20 * CLOCK_NS_PER_MS)	/* without descriptors */
#define NAMES_MAX 4096				/* names that an endpoint tries */

static const char *peer_text(struct shm_chan *chan, char text[SHM_TEXT_MAX])
{
	const struct shm_naming *naming = chan->link->naming;
	const void *addr = eng_peer_addr(shm_chan_peer(chan));

	return naming->text(addr, naming->len(addr), text);
}

/* ---- greetings -------------------------------------------------------------------------- */

/* fill - a greeting of ours on @conn; makes the segment that goes with it. */
static int fill(struct shm_conn *conn, struct shm_hello *hello, uint32_t type, int *seg_fd_p)
{
	struct shm_link *link = conn->link;

	*hello = (struct shm_hello) {
		.magic = SHM_MAGIC,
		.version = SHM_VERSION,
		.engine = WIRE_VERSION,
		.type = type,
		.seg_size = sizeof(struct shm_seg),
		.barrier = shm_conf.barrier,
		.epoch = link->epoch,
		.probe_addr = (uintptr_t) &conn->probe,
		.probe = conn->probe,
		.addr_len = (uint16_t) link->addr_len,
	};
	memcpy(hello->addr, link->addr, link->addr_len);
	return shm_seg_make(&conn->in.seg, seg_fd_p);
}

/* take_segment - what came with a greeting is where we send.  @fd is used up. */
static int take_segment(struct shm_conn *conn, int fd)
{
	int ret = fd == -FI_EMFILE ? fd : fd < 0 ? -FI_EINVAL : shm_seg_map(fd, &conn->out.seg);

	if (fd >= 0)
		close(fd);
	return ret;
}

/* try_pull - can the peer's memory be read?  It learns so from our segment. */
static void try_pull(struct shm_conn *conn, const struct shm_hello *hello)
{
	char text[SHM_TEXT_MAX];

	conn->can_pull = !shm_conf.disable_cma &&
			 shm_pull_try(conn->pid, hello->probe_addr, hello->probe);
	atomic_store_explicit(&conn->in.seg->rx.can_pull, conn->can_pull, memory_order_relaxed);
	conn->can_reach = conn->can_pull &&
			  shm_pull_try_write(conn->pid, hello->probe_addr, hello->probe);
	atomic_store_explicit(&conn->out.seg->tx.can_reach, conn->can_reach, memory_order_relaxed);
	SHM_INFO(conn->link, "%s: long messages %s%s\n",
		 conn->link->naming->text(hello->addr, hello->addr_len, text),
		 conn->can_pull ? "are read from its memory" :
		 "come through shared memory, its own cannot be read",
		 conn->can_reach ? ", which remote writes and reads copy to and from" : "");
}

/* refuse - say why, and hang up. */
static void refuse(struct shm_conn *conn, uint32_t reason)
{
	struct shm_link *link = conn->link;
	struct shm_hello hello = {
		.magic = SHM_MAGIC,
		.version = SHM_VERSION,
		.engine = WIRE_VERSION,
		.type = SHM_REFUSE,
		.reason = reason,
		.addr_len = (uint16_t) link->addr_len,
	};

	memcpy(hello.addr, link->addr, link->addr_len);
	shm_hello_send(conn->src.fd, &hello, -1);
	shm_conn_close(conn, FI_ECONNREFUSED);
}

/* ---- calling ----------------------------------------------------------------------------- */

/* With another way to the peer, only a process that ended in the middle of a call is
 * called again: it may have been restarted.
 */
static bool worth_repeating(const struct shm_chan *chan, int err)
{
	if (chan->link->near)
		return err == FI_ECONNRESET || err == EPIPE || chan->gone;
	switch (err) {
	case FI_ECONNREFUSED:
	case FI_ECONNRESET:
	case EPIPE:
	case FI_EAGAIN:
	case FI_EMFILE:
	case ENFILE:
	case ENOBUFS:
		return true;
	default:
		return false;
	}
}

/* call_failed - try again a little later, or have the failure reported. */
static void call_failed(struct shm_chan *chan, int err, bool final)
{
	uint64_t now = clock_ns();
	uint64_t end = chan->first_ns + (uint64_t) shm_conf.conn_retry_ms * CLOCK_NS_PER_MS;
	unsigned shift = chan->tries < BACKOFF_MAX_SHIFT ? chan->tries : BACKOFF_MAX_SHIFT;

	chan->err = err;
	chan->give_up = final || !worth_repeating(chan, err) || now >= end;
	chan->tries++;
	shm_chan_set_state(chan, SHM_CHAN_BACKOFF);
	shm_timer_set(chan->link->poller, &chan->timer,
		      chan->give_up ? 0 : now + (BACKOFF_FIRST_NS << shift));
}

/* begin - of a series of calls. */
static void begin(struct shm_chan *chan)
{
	chan->first_ns = clock_ns();
	chan->tries = 0;
	chan->told = false;
	chan->gone = false;
}

/* dial - knock and say HELLO.  Errors: nothing is left. */
static int dial(struct shm_chan *chan, struct shm_conn **conn_p)
{
	struct shm_link *link = chan->link;
	const void *to = eng_peer_addr(shm_chan_peer(chan));
	size_t to_len = link->naming->len(to);
	char key[SHM_KEY_MAX + 1];
	struct shm_hello hello;
	struct shm_conn *conn;
	int fd, ret, seg_fd = -1;
	pid_t pid = 0;

	ret = link->naming->key(to, to_len, key);
	if (ret)
		return ret;
	fd = shm_door_knock(&link->place, key, &pid);
	if (fd < 0)
		return fd;
	ret = shm_conn_new(link, fd, pid, SHM_CONN_GREETING, &conn);
	if (ret) {
		close(fd);
		return ret;
	}
	conn->ours = true;
	conn->chan = chan;
	conn->serial = ++link->serial;
	ret = fill(conn, &hello, SHM_HELLO, &seg_fd);
	if (!ret) {
		hello.serial = conn->serial;
		hello.prev = chan->peer_serial;
		hello.to_len = (uint16_t) to_len;
		memcpy(hello.to, to, to_len);
		ret = shm_hello_send(fd, &hello, seg_fd);
		close(seg_fd);
	}
	if (ret) {
		shm_conn_close(conn, FI_ECANCELED);
		return ret;
	}
	shm_timer_set(link->poller, &conn->timer, clock_ns() +
		      (uint64_t) shm_conf.conn_timeout_ms * CLOCK_NS_PER_MS);
	*conn_p = conn;
	return 0;
}

static void call(struct shm_chan *chan)
{
	int ret = dial(chan, &chan->dial);

	chan->gone = ret == -FI_ECONNREFUSED;
	if (ret)
		call_failed(chan, -ret, false);
	else
		shm_chan_set_state(chan, SHM_CHAN_DIALING);
}

static const char *advice(const struct shm_link *link, int err)
{
	switch (err) {
	case FI_ECONNREFUSED:
		return link->near ? "no endpoint has that address any more; has its process ended?" :
		       "no endpoint has that name; does its process run, and in this network "
		       "namespace (FI_SHM_DIR)?";
	case FI_EACCES:
		return "it belongs to another user; shm connects the processes of one user";
	case FI_EAGAIN:
		return "it does not take its callers in, or is out of memory or descriptors";
	case FI_EMFILE:
		return "raise the limit on open files (ulimit -n)";
	case FI_ETIMEDOUT:
		return "its process does not answer; is it stopped, or does it make no progress?";
	default:
		return fi_strerror(err);
	}
}

static void report_unreachable(struct shm_chan *chan)
{
	struct shm_link *link = chan->link;
	struct eng_peer *peer = shm_chan_peer(chan);
	char text[SHM_TEXT_MAX];

	if (!chan->gone && eng_on_unreachable(&link->base, peer, chan->err))
		return;
	if (!chan->told)
		SHM_WARN_SPARSE(link, "cannot reach %s: %s\n", peer_text(chan, text),
				advice(link, chan->err));
	shm_chan_set_state(chan, SHM_CHAN_IDLE);
	shm_chan_drain(chan, chan->err);
	if (!link->closing)
		eng_on_down(&link->base, peer, chan->err);
}

/* BACKOFF: the pause is over; CROSSED: the other side's call, which was to replace
 * ours, did not come.  Its process may have ended meanwhile: call again, and if it
 * lives and is only slow, it says the same once more.
 */
void shm_wireup_timer(struct eng_timer *timer, uint64_t now)
{
	struct shm_chan *chan = container_of(timer, struct shm_chan, timer);

	if (chan->state == SHM_CHAN_CROSSED && now >= chan->first_ns +
	    (uint64_t) shm_conf.conn_timeout_ms * CLOCK_NS_PER_MS)
		call_failed(chan, FI_ETIMEDOUT, true);
	else if (chan->state != SHM_CHAN_CROSSED && chan->give_up)
		report_unreachable(chan);
	else
		call(chan);
}

void shm_wireup_timeout(struct eng_timer *timer, uint64_t now)
{
	struct shm_conn *conn = container_of(timer, struct shm_conn, timer);

	shm_conn_fail(conn, FI_ETIMEDOUT);
}

/* ---- ourselves --------------------------------------------------------------------------- */

/* loop - one segment, both ends of it ours. */
static int loop(struct shm_link *link, struct shm_chan *chan)
{
	struct shm_conn *conn;
	int fd, ret;

	ret = shm_conn_new(link, -1, getpid(), SHM_CONN_GREETING, &conn);
	if (ret)
		return ret;
	ret = shm_seg_make(&conn->in.seg, &fd);
	if (ret) {
		shm_conn_close(conn, FI_ECANCELED);
		return ret;
	}
	close(fd);
	conn->out.seg = conn->in.seg;
	conn->can_pull = !shm_conf.disable_cma &&
			 shm_pull_try(conn->pid, (uintptr_t) &conn->probe, conn->probe);
	conn->can_reach = conn->can_pull &&
			  shm_pull_try_write(conn->pid, (uintptr_t) &conn->probe, conn->probe);
	atomic_store_explicit(&conn->in.seg->rx.can_pull, conn->can_pull, memory_order_relaxed);
	atomic_store_explicit(&conn->in.seg->tx.can_reach, conn->can_reach, memory_order_relaxed);
	conn->chan = chan;
	conn->out.fence = true;
	chan->conn = conn;
	shm_chan_set_state(chan, SHM_CHAN_READY);
	shm_conn_start(conn);
	return 0;
}

/* call_near - now or never. */
static int call_near(struct shm_chan *chan)
{
	struct shm_link *link = chan->link;
	char text[SHM_TEXT_MAX];
	int ret = dial(chan, &chan->dial);

	if (!ret)
		shm_chan_set_state(chan, SHM_CHAN_DIALING);
	else if (ret != -FI_ECONNREFUSED)	/* somebody or something is there */
		SHM_INFO(link, "%s is on this host, but no shared memory is set up with it: "
			 "%s\n", peer_text(chan, text), advice(link, -ret));
	return ret;
}

int shm_wireup_get(struct shm_link *link, struct shm_chan *chan)
{
	const void *addr = eng_peer_addr(shm_chan_peer(chan));

	if (chan->state != SHM_CHAN_IDLE)
		return 0;
	if (link->naming->same(addr, link->naming->len(addr), link->addr, link->addr_len))
		return loop(link, chan);
	begin(chan);
	if (link->near)
		return call_near(chan);
	call(chan);
	return 0;
}

/* ---- a connection ends ---------------------------------------------------------------------- */

/* lose - the channel's connection is gone: whatever waits for the peer ends. */
static void lose(struct shm_chan *chan, int err)
{
	struct eng_peer *peer = shm_chan_peer(chan);
	struct shm_conn *conn = chan->conn;
	struct shm_link *link = chan->link;

	chan->conn = NULL;
	shm_chan_set_state(chan, SHM_CHAN_IDLE);
	shm_conn_close(conn, err);
	shm_chan_drain(chan, err);
	if (!link->closing)
		eng_on_down(&link->base, peer, err);
}

void shm_wireup_lost(struct shm_conn *conn)
{
	struct shm_chan *chan = conn->chan;
	char text[SHM_TEXT_MAX];

	if (conn->was == SHM_CONN_READY) {
		if (conn->ended && eng_peer_waits(shm_chan_peer(chan)))
			SHM_WARN_SPARSE(conn->link, "%s closed the connection while operations "
					"waited for it; has that process ended?\n",
					peer_text(chan, text));
		else if (conn->ended)
			SHM_INFO(conn->link, "%s is gone\n", peer_text(chan, text));
		else if (!conn->told)
			SHM_WARN_SPARSE(conn->link, "lost the connection to %s: %s\n",
					peer_text(chan, text), fi_strerror(conn->err));
		lose(chan, conn->err);
		return;
	}
	if (conn->was == SHM_CONN_GREETING || conn->was == SHM_CONN_WELCOMED) {
		chan->dial = NULL;
		call_failed(chan, conn->err, false);
	}
	shm_conn_close(conn, conn->err);
}

/* ---- answers ------------------------------------------------------------------------------- */

/* note - what a greeting says of the other side. */
static void note(struct shm_conn *conn, const struct shm_hello *hello)
{
	conn->chan->peer_epoch = hello->epoch;
	conn->out.fence = !(hello->barrier && shm_conf.barrier);
	try_pull(conn, hello);
}

static void up(struct shm_conn *conn)
{
	struct shm_chan *chan = conn->chan;

	chan->conn = conn;
	chan->dial = NULL;
	shm_chan_set_state(chan, SHM_CHAN_READY);
	shm_conn_start(conn);
	shm_tx_pump(conn);
	if (conn->ours && conn->state == SHM_CONN_READY && !conn->link->closing)
		eng_on_up(&conn->link->base, shm_chan_peer(chan));
}

static void on_welcome(struct shm_conn *conn, const struct shm_hello *hello, int seg_fd)
{
	int ret = take_segment(conn, seg_fd);

	if (ret) {
		shm_conn_fail(conn, ret == -FI_EINVAL ? FI_EPROTO : -ret);
		return;
	}
	note(conn, hello);
	ret = shm_hello_confirm(conn->src.fd);
	if (ret)
		shm_conn_fail(conn, -ret);
	else
		up(conn);
}

/* on_confirm - the caller has all it needs, or has left. */
static void on_confirm(struct shm_conn *conn)
{
	int ret = shm_hello_confirmed(conn->src.fd);

	if (!ret)
		up(conn);
	else if (ret != -FI_EAGAIN)
		shm_conn_fail(conn, -ret);
}

static void on_refuse(struct shm_conn *conn, const struct shm_hello *hello)
{
	struct shm_chan *chan = conn->chan;
	char text[SHM_TEXT_MAX], other[SHM_TEXT_MAX];

	chan->dial = NULL;
	if (hello->reason == SHM_CROSSED) {
		shm_chan_set_state(chan, SHM_CHAN_CROSSED);
		shm_timer_set(conn->poller, &chan->timer, clock_ns() + CROSSED_NS);
	} else {
		if (!conn->link->near)
			SHM_WARN_SPARSE(conn->link, "%s refused our connection: %s%s%s\n",
					peer_text(chan, text), shm_reason_text(hello->reason),
					hello->reason == SHM_BAD_NAME ? ", use that: " : "",
					hello->reason == SHM_BAD_NAME ?
					conn->link->naming->text(hello->addr, hello->addr_len,
								 other) : "");
		chan->told = true;
		call_failed(chan, shm_reason_errno(hello->reason), hello->reason != SHM_BUSY);
	}
	shm_conn_close(conn, FI_ECONNREFUSED);
}

/* ---- callers -------------------------------------------------------------------------------- */

static enum eng_cross_verdict judge(const struct shm_conn *conn, const struct shm_chan *chan,
				    const struct shm_hello *hello)
{
	struct shm_link *link = conn->link;
	struct eng_cross cross = {
		.have = ENG_HAVE_NOTHING,
		.self_epoch = link->epoch,
		.peer_epoch = chan->peer_epoch,
	};
	struct eng_cross_call theirs = { hello->epoch, hello->serial, hello->prev };
	size_t len = link->addr_len < hello->addr_len ? link->addr_len : hello->addr_len;

	cross.order = memcmp(link->addr, hello->addr, len);
	if (!cross.order)
		cross.order = (int) link->addr_len - (int) hello->addr_len;
	if (chan->conn && chan->conn->state == SHM_CONN_FAILED)
		return ENG_CROSS_REPLACE;
	if (chan->conn) {
		cross.have = chan->conn->ours ? ENG_HAVE_OURS : ENG_HAVE_THEIRS;
		cross.serial = chan->conn->serial;
	} else if (chan->dial && chan->dial->state == SHM_CONN_WELCOMED) {
		cross.have = ENG_HAVE_THEIRS;
		cross.serial = chan->dial->serial;
	} else if (chan->dial && chan->dial->state == SHM_CONN_GREETING) {
		cross.have = ENG_HAVE_HELLO;
	}
	return eng_cross_judge(&cross, &theirs);
}

/* take_in - @conn becomes the channel's connection, once the caller confirms. */
static void take_in(struct shm_conn *conn, struct shm_chan *chan, const struct shm_hello *hello)
{
	struct shm_conn *dialed = chan->dial;
	struct shm_hello welcome;
	int ret, seg_fd = -1;

	conn->serial = hello->serial;
	ret = fill(conn, &welcome, SHM_WELCOME, &seg_fd);
	if (ret) {
		refuse(conn, SHM_BUSY);
		return;
	}
	conn->chan = chan;
	note(conn, hello);
	welcome.serial = hello->serial;
	ret = shm_hello_send(conn->src.fd, &welcome, seg_fd);
	close(seg_fd);
	if (ret) {	/* the caller is gone again */
		shm_conn_close(conn, -ret);
		return;
	}
	chan->peer_serial = hello->serial;
	if (dialed)
		shm_conn_close(dialed, FI_ECANCELED);
	chan->dial = conn;
	if (chan->state == SHM_CHAN_IDLE)
		begin(chan);
	shm_conn_set_state(conn, SHM_CONN_WELCOMED);
	shm_chan_set_state(chan, SHM_CHAN_ANSWERED);
	eng_on_up(&conn->link->base, shm_chan_peer(chan));
}

static void on_hello(struct shm_conn *conn, const struct shm_hello *hello, int seg_fd)
{
	struct shm_link *link = conn->link;
	char key[SHM_KEY_MAX + 1];
	struct eng_peer *peer;
	int ret;

	ret = take_segment(conn, seg_fd);
	if (ret == -FI_EMFILE) {
		SHM_WARN_SPARSE(link, "cannot take a caller in for now: %s; %s\n", fi_strerror(-ret),
				advice(link, -ret));
		refuse(conn, SHM_BUSY);
		return;
	}
	if (ret || link->naming->key(hello->addr, hello->addr_len, key)) {
		refuse(conn, SHM_BAD_SEGMENT);
		return;
	}
	if (!link->naming->same(hello->to, hello->to_len, link->addr, link->addr_len)) {
		refuse(conn, SHM_BAD_NAME);
		return;
	}
	peer = link->closing ? NULL : eng_peer_find(&link->base, hello->addr, hello->addr_len);
	if (!peer) {
		refuse(conn, SHM_BUSY);
		return;
	}
	switch (judge(conn, shm_chan_of(link, peer), hello)) {
	case ENG_CROSS_REFUSE:
	case ENG_CROSS_SELF:	/* nobody else has our epoch, and we do not call ourselves */
		refuse(conn, SHM_CROSSED);
		return;
	case ENG_CROSS_REPLACE:
		if (shm_conn_ended(conn)) {
			shm_conn_close(conn, FI_ECONNRESET);	/* the caller is gone again */
			return;
		}
		/* what it sent on the old one comes first */
		if (!shm_chan_of(link, peer)->conn)
			break;		/* was never confirmed */
		shm_rx_poll(shm_chan_of(link, peer)->conn, SHM_SLOTS);
		lose(shm_chan_of(link, peer), FI_ECONNRESET);
		peer = eng_peer_find(&link->base, hello->addr, hello->addr_len);
		if (!peer) {
			refuse(conn, SHM_BUSY);
			return;
		}
		break;
	default:
		break;
	}
	take_in(conn, shm_chan_of(link, peer), hello);
}

void shm_wireup_event(struct shm_conn *conn)
{
	struct shm_hello hello;
	int ret, seg_fd = -1;

	if (conn->state == SHM_CONN_WELCOMED) {
		on_confirm(conn);
		return;
	}
	ret = shm_hello_recv(conn->src.fd, &hello, &seg_fd);
	if (ret == -FI_EAGAIN)
		return;
	if (!ret && (conn->state == SHM_CONN_ASKED) != (hello.type == SHM_HELLO))
		ret = -FI_EPROTO;
	if (ret && seg_fd >= 0)
		close(seg_fd);
	if (ret == -FI_ENOPROTOOPT && conn->state == SHM_CONN_ASKED) {
		SHM_WARN_SPARSE(conn->link, "refused a caller with version %u.%u of the protocol, "
				"ours is %u.%u; both processes need the same library\n",
				hello.version, hello.engine, SHM_VERSION, WIRE_VERSION);
		refuse(conn, SHM_BAD_VERSION);
	} else if (ret) {
		shm_conn_fail(conn, ret == -FI_ENOPROTOOPT ? FI_EPROTO : -ret);
	} else if (hello.type == SHM_HELLO) {
		on_hello(conn, &hello, seg_fd);
	} else if (hello.type == SHM_WELCOME) {
		on_welcome(conn, &hello, seg_fd);
	} else {
		if (seg_fd >= 0)
			close(seg_fd);
		on_refuse(conn, &hello);
	}
}

/* ---- the door ------------------------------------------------------------------------------- */

static void on_door(struct shm_src *src, uint32_t events)
{
	struct shm_link *link = container_of(src, struct shm_link, door);
	struct shm_conn *conn;
	int fd, ret, i;
	pid_t pid = 0;

	for (i = 0; i < 64; i++) {
		fd = shm_door_answer(src->fd, &pid);
		if (fd == -FI_EACCES) {
			if (!link->near)
				SHM_WARN_SPARSE(link, "another user's process called, and was turned "
						"away: shm connects the processes of one user\n");
			continue;
		}
		if (fd == -FI_EAGAIN || fd == -ECONNABORTED)
			return;
		ret = fd < 0 ? fd : shm_conn_new(link, fd, pid, SHM_CONN_ASKED, &conn);
		if (ret)
			break;
		shm_timer_set(link->poller, &conn->timer, clock_ns() +
			      (uint64_t) shm_conf.conn_timeout_ms * CLOCK_NS_PER_MS);
	}
	if (i == 64)
		return;
	if (fd >= 0)
		close(fd);
	SHM_WARN_SPARSE(link, "cannot take callers in for now: %s; %s\n", fi_strerror(-ret),
			advice(link, -ret));
	shm_src_ignore(link->poller, src);
	shm_timer_set(link->poller, &link->door_timer, clock_ns() + DOOR_PAUSE_NS);
}

static void door_again(struct eng_timer *timer, uint64_t now)
{
	struct shm_link *link = container_of(timer, struct shm_link, door_timer);

	if (shm_src_watch(link->poller, &link->door))
		shm_timer_set(link->poller, timer, now + DOOR_PAUSE_NS);
}

static int bind_one(struct shm_link *link)
{
	int fd = link->naming->key(link->addr, link->addr_len, link->key);

	if (!fd)
		fd = shm_door_open(&link->place, link->key);
	if (fd < 0)
		return fd;
	link->door.fd = fd;
	link->door.event = on_door;
	return 0;
}

static void log_open(struct shm_link *link, int err)
{
	char text[SHM_TEXT_MAX];
	uid_t uid;

	link->naming->text(link->addr, link->addr_len, text);
	if (err == -FI_EADDRINUSE && shm_door_foreign(&link->place, link->key, &uid))
		SHM_WARN(link, "cannot open an endpoint called %s: a process of user %u listens "
			 "under that name; choose another one%s\n", text, (unsigned) uid,
			 link->place.dir ? "" : ", or set FI_SHM_DIR to a directory of your own");
	else
		SHM_WARN(link, "cannot open an endpoint called %s: %s\n", text,
			 err == -FI_EADDRINUSE ? "an endpoint of that name is open; close it, or choose "
						 "another name" : fi_strerror(-err));
}

int shm_wireup_open(struct shm_link *link, const void *src, size_t src_len)
{
	unsigned try;
	int ret;

	eng_timer_init(&link->door_timer, door_again);
	for (try = 0; try < NAMES_MAX; try++) {
		ret = link->naming->own(src, src_len, try, link->addr, &link->addr_len);
		if (ret)
			break;
		ret = bind_one(link);
		if (ret != -FI_EADDRINUSE)
			break;
	}
	if (ret == -FI_ENODATA || ret == -FI_EADDRINUSE)
		ret = -FI_EADDRINUSE;
	if (!ret) {
		ret = shm_src_watch(link->poller, &link->door);
		if (ret)
			shm_door_close(link->door.fd, &link->place, link->key);
	}
	if (ret)
		log_open(link, ret);
	return ret;
}

void shm_wireup_close(struct shm_link *link)
{
	eng_timer_off(&link->door_timer);
	shm_src_ignore(link->poller, &link->door);
	shm_door_close(link->door.fd, &link->place, link->key);
}
