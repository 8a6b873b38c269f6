/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <rdma/fi_errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "link.h"
#include "secure/proof.h"
#include "seg.h"

#define BIT(state) (1u << (state))

/* The legal edges. */
static const unsigned edges[] __attribute__((unused)) = {
	[SHM_CONN_REQUESTING] = BIT(SHM_CONN_READY) | BIT(SHM_CONN_FAILED) | BIT(SHM_CONN_CLOSED),
	[SHM_CONN_ACCEPTED] = BIT(SHM_CONN_CONFIRMING) | BIT(SHM_CONN_FAILED) | BIT(SHM_CONN_CLOSED),
	[SHM_CONN_CONFIRMING] = BIT(SHM_CONN_READY) | BIT(SHM_CONN_FAILED) | BIT(SHM_CONN_CLOSED),
	[SHM_CONN_READY] = BIT(SHM_CONN_FAILED) | BIT(SHM_CONN_CLOSED),
	[SHM_CONN_FAILED] = BIT(SHM_CONN_CLOSED),
	[SHM_CONN_CLOSED] = 0,
};

void shm_conn_set_state(struct shm_conn *conn, enum shm_conn_state state)
{
	assert(edges[conn->state] & BIT(state) && "the state of a connection only advances");
	/* the poller waits for sockets more often while handshakes are in flight */
	if (conn->state < SHM_CONN_READY && state >= SHM_CONN_READY)
		conn->poller->handshake_cnt--;
	if (conn->state == SHM_CONN_READY)
		conn->poller->ready_cnt--;
	if (state == SHM_CONN_READY)
		conn->poller->ready_cnt++;
	conn->state = state;
	conn->ready = state == SHM_CONN_READY;
	conn->fast = false;
}

/* ---- events -------------------------------------------------------------------------- */

/* Not recv(): the end lies behind wake-ups that no thread has read. */
bool shm_socket_ended(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLRDHUP };

	return poll(&pfd, 1, 0) == 1;
}

bool shm_conn_ended(const struct shm_conn *conn)
{
	return shm_socket_ended(conn->src.fd);
}

void shm_conn_check(struct shm_conn *conn)
{
	uint64_t tick;

	if (shm_poller_heard(conn->poller) || conn->src.fd < 0 || conn->ended)
		return;
	tick = clock_coarse_ns();
	if (tick == conn->checked)
		return;
	conn->checked = tick;
	if (shm_conn_ended(conn))
		shm_conn_peer_closed(conn);
}

bool shm_conn_can_write(struct shm_conn *conn)
{
	if (conn->state != SHM_CONN_READY || !conn->can_write)
		return false;
	shm_conn_check(conn);
	return !conn->ended && !shm_out_closed(&conn->out);
}

/* take_wakeup - read the byte that woke us; a second one, which is rare, wakes us again.  False: the
 * peer has closed the socket.
 */
static bool take_wakeup(const struct shm_conn *conn)
{
	char byte;
	ssize_t ret;

	do
		ret = recv(conn->src.fd, &byte, sizeof(byte), MSG_DONTWAIT);
	while (ret < 0 && errno == EINTR);
	return ret > 0 || (ret < 0 && errno == EAGAIN);
}

void shm_conn_peer_closed(struct shm_conn *conn)
{
	conn->ended = true;
	chan_src_want(&conn->poller->base, &conn->src, 0);
	shm_poller_activate(conn->poller, conn);
	chan_poller_kick(&conn->poller->base);
}

/* on_event - input on the socket: before READY a handshake, then wake-ups and the end.  The
 * ring is looked at in the next poll.
 */
static void on_event(struct chan_src *src, uint32_t events)
{
	struct shm_conn *conn = container_of(src, struct shm_conn, src);

	if (conn->state < SHM_CONN_READY) {
		shm_connect_event(conn);
		return;
	}
	if (conn->state != SHM_CONN_READY)
		return;
	shm_poller_activate(conn->poller, conn);
	if (!take_wakeup(conn))
		shm_conn_peer_closed(conn);
}

bool shm_conn_wait(struct shm_conn *conn)
{
	uint64_t *until = conn->link->base.closing ? &conn->link->give_up_ns : &conn->give_up_ns;
	uint64_t now = clock_ns();

	if (!*until)
		*until = now + obj_lease_patience_ns;
	if (now > *until) {
		CHAN_WARN(&conn->link->base, "process %ld is copying from or to our memory and does not "
			  "finish; is it stopped? It may still write there\n", (long) conn->pid);
		return false;
	}
	sched_yield();
	return true;
}

void shm_conn_wake(struct shm_conn *conn)
{
	if (conn->src.fd < 0)
		chan_poller_kick(&conn->poller->base);
	else if (send(conn->src.fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 && errno == EINTR)
		conn->out.woken = 0;	/* the next packet tries again */
}

/* ---- states --------------------------------------------------------------------------- */

int shm_conn_new(struct shm_link *link, int fd, pid_t pid, enum shm_conn_state state,
		 struct shm_conn **conn_p)
{
	struct shm_conn *conn = aligned_alloc(SHM_LINE, sizeof(*conn));
	struct shm_tenant *tenant = shm_tenant_new(fd, pid);
	int ret = -FI_ENOMEM;

	if (!conn || !tenant) {
		free(conn);
		free(tenant);
		return ret;
	}
	memset(conn, 0, sizeof(*conn));
	conn->tenant = tenant;
	conn->src.fd = fd;
	conn->src.event = on_event;
	conn->state = state;
	conn->pid = pid;
	conn->bell = -1;
	conn->poller = shm_link_poller(link);
	conn->link = link;
	conn->tx.free = UINT64_MAX;
	list_init(&conn->rx.remote);
	list_init(&conn->state_node);
	list_init(&conn->blocked_node);
	list_init(&conn->split_node);
	list_init(&conn->early_node);
	list_init(&conn->unread_node);
	conn->timer.fire = shm_connect_timer;
	ret = timers_join(&link->base.poller->timers);
	if (ret)
		goto free_conn;
	ret = shm_poller_reserve(conn->poller);
	if (ret)
		goto leave_timers;
	ret = fd >= 0 ? chan_src_want(&conn->poller->base, &conn->src, POLLIN) : 0;
	if (ret)
		goto release_room;
	conn->poller->handshake_cnt++;
	list_add_tail(&conn->node, &link->conns);
	*conn_p = conn;
	return 0;

release_room:
	shm_poller_release(conn->poller);
leave_timers:
	timers_leave(&link->base.poller->timers);
free_conn:
	free(tenant);
	free(conn);
	return ret;
}

/* Both segments are mapped.  The first poll reads the ring even without a wake-up, because the peer
 * may have sent before this side became active.
 */
void shm_conn_start(struct shm_conn *conn)
{
	timer_off(&conn->poller->base.timers, &conn->timer);
	shm_conn_set_state(conn, SHM_CONN_READY);
	conn->received = true;
	conn->out.slow = true;	/* until it has taken packets soon */
	shm_poller_activate(conn->poller, conn);
	shm_tenant_join(conn);
}

/* May be called from send(), where no upcall is allowed: the next poll reports the failure. */
void shm_conn_fail(struct shm_conn *conn, int err)
{
	if (conn->state >= SHM_CONN_FAILED)
		return;
	conn->was = conn->state;
	conn->err = err;
	list_del(&conn->state_node);	/* paused */
	conn->paused = false;
	shm_conn_set_state(conn, SHM_CONN_FAILED);
	if (conn->was == SHM_CONN_READY) {
		conn->chan->base.failed = true;
		conn->chan->base.err = err;
	}
	list_add_tail(&conn->state_node, &conn->poller->base.failed);
	chan_poller_kick(&conn->poller->base);
}

void shm_conn_malformed(struct shm_conn *conn, const char *what)
{
	char text[CHAN_TEXT_MAX];

	CHAN_WARN_SPARSE(&conn->link->base, "%s sent %s: the connection is closed, its operations "
			 "end with an error\n", chan_peer_text(&conn->chan->base, text), what);
	shm_conn_fail(conn, FI_EPROTO);
}

void shm_conn_close(struct shm_conn *conn, int err)
{
	if (conn->state == SHM_CONN_CLOSED)
		return;
	shm_poller_deactivate(conn->poller, conn);
	shm_poller_release(conn->poller);
	if (conn->bell >= 0)
		shm_bell_take(&conn->poller->bells, conn->bell);
	conn->bell = -1;
	shm_conn_set_state(conn, SHM_CONN_CLOSED);
	list_del(&conn->state_node);
	list_del(&conn->blocked_node);
	list_del(&conn->split_node);
	list_del(&conn->early_node);
	shm_unread_end(conn);
	list_del(&conn->node);
	timer_off(&conn->poller->base.timers, &conn->timer);
	timers_leave(&conn->poller->base.timers);
	/* first stop the peer from sending and from accessing this process's memory, and record where it still
	 * is; then give the buffers back to the engine
	 */
	if (conn->in.seg)
		shm_in_close(&conn->in);
	shm_tenant_leave(conn);
	shm_proof_free(conn->proof);
	conn->proof = NULL;
	shm_split_end(conn);
	shm_split_access_end(conn);
	shm_rx_drop(conn, err);
	shm_tx_drop(conn, err);
	if (conn->src.fd >= 0)
		chan_src_want(&conn->poller->base, &conn->src, 0);
	shm_tenant_hang_up(conn);
	conn->src.fd = -1;
	list_add_tail(&conn->state_node, &conn->poller->dead);
	chan_poller_chore(&conn->poller->base);
	if (!conn->poller->base.polling)
		shm_poller_reap(conn->poller);
}

void shm_conn_free(struct shm_conn *conn)
{
	shm_tenant_part(conn);
	shm_mem_unmap(conn->out_bells, sizeof(*conn->out_bells));
	free(conn);
}
