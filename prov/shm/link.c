/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * The link: what the engine calls.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_log.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/memory.h"
#include "channel/hold.h"
#include "engine/api.h"
#include "channel/select.h"
#include "net/iface.h"
#include "name.h"
#include "rma.h"
#include "secure/policy.h"

#define RMA_MIN (32u << 10)	/* below this a write is cheaper as a packet than by a system call */
/* Longest payload of an eager packet, and of a segment of a long message. */
#define EAGER_LIMIT (64u << 10)
#define SEG_SIZE (1u << 20)

/* A process with one thread joins at once; with more, the kernel waits for a grace period,
 * some 10 ms.
 */
static void join_once(void)
{
	shm_conf.barrier = shm_barrier_join();
}

static void prepare_once(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, join_once);
}

/* check_limit - connections of an endpoint that is opened under a smaller limit on the size of files would
 * fail, one by one.
 */
static int check_limit(struct chan_link *link)
{
	if (os_memory_admits(sizeof(struct shm_seg)))
		return 0;
	CHAN_WARN(link, "no shared memory: the limit on the size of files holds for it, too, and is less than the "
		  "%zu KiB that a connection takes; raise it (ulimit -f, LimitFSIZE= of systemd)\n",
		  sizeof(struct shm_seg) / 1024 + 1);
	return -FI_ENOSPC;
}

/* check_proof - names and process numbers are in no certificate. */
static int check_proof(struct shm_link *link)
{
	if (!link->sec || !link->sec->certs)
		return 0;
	if (!link->local)
		CHAN_WARN(&link->base, "certificates (FI_TLS_CERT) prove nothing over shared memory: set FI_AUTH_KEY_FILE\n");
	return -FI_EACCES;
}

int shm_link_make(struct eng_ep *ep, const struct chan_ops *ops, const struct shm_naming *naming,
		  struct shm_scope scope, const void *src, size_t src_len,
		  struct shm_link **link_p)
{
	struct obj_ep *base = eng_ep_base(ep);
	struct shm_link *link = calloc(1, sizeof(*link));
	int ret;

	if (!link)
		return -FI_ENOMEM;
	prepare_once();
	chan_link_init(&link->base, ops, &shm_conf.chan, base->prov);
	link->naming = naming;
	link->scope = scope;
	link->sec = base->sec;
	link->base.addr = link->addr;
	list_init(&link->conns);
	link->base.base.ops = &shm_link_ops;
	link->base.base.ep = ep;
	link->base.base.prog = base->prog;
	link->base.base.attr = (struct eng_link_attr) {
		.max_payload = SHM_PAYLOAD_MAX,
		.eager_limit = EAGER_LIMIT,
		.seg_size = SEG_SIZE,
		.addr_len = naming->addr_len,
		.once_max = SHM_PIECE_MAX,
		.rma_min = RMA_MIN,
		.same_host = true,
	};
	ret = check_limit(&link->base);
	if (!ret)
		ret = check_proof(link);
	if (!ret)
		ret = shm_poller_get(base->prog, &link->base.poller);
	if (!ret)
		ret = shm_connect_open(link, src, src_len);
	if (ret) {
		free(link);
		return ret;
	}
	*link_p = link;
	return 0;
}

/* pulls_finish - have the peer read the payload of PULLs. */
static bool pulls_finish(struct chan *chan)
{
	struct shm_conn *conn = chan->conn;
	bool none = list_empty(&chan->pending);

	if (!conn || !~conn->tx.free)
		return none;
	if (none && conn->state == SHM_CONN_READY)
		shm_tx_flush(conn);
	return false;
}

static const char *name_text(const void *addr, size_t len, char buf[CHAN_TEXT_MAX])
{
	_Static_assert(CHAN_TEXT_MAX >= SHM_NAME_MAX, "room for a name");
	snprintf(buf, CHAN_TEXT_MAX, "%.*s", (int) strnlen(addr, len), (const char *) addr);
	return buf;
}

/* local_retry_ms - a link beside another one repeats an attempt only for a process that
 * ended in the middle of it, and whose name is gone: it may be restarted.
 */
static int local_retry_ms(const struct chan *chan, int err)
{
	return err == FI_ECONNRESET || err == EPIPE || err == FI_ECONNREFUSED ?
	       chan->link->conf.retry_ms : 0;
}

/* name_retry_ms - a process that listens lives, even if it takes no connections from the queue of its
 * socket, which is full.
 */
static int name_retry_ms(const struct chan *chan, int err)
{
	if (err == FI_EBUSY)
		return INT_MAX;
	return err == FI_EAGAIN || err == FI_EMFILE || err == ENFILE || err == ENOBUFS ||
	       local_retry_ms(chan, err) ? chan->link->conf.retry_ms : 0;
}

#define CHAN_OPS					\
	.connect = shm_connect,				\
	.abort = shm_connect_abort,			\
	.close = shm_connect_close,			\
	.finish = pulls_finish,				\
	.advice = shm_connect_advice,			\
	.route = shm_route

static const struct chan_ops name_ops = {
	CHAN_OPS,
	.retry_ms = name_retry_ms,
	.text = name_text,
};

const struct chan_ops shm_local_ops = {
	CHAN_OPS,
	.retry_ms = local_retry_ms,
};

/* There are no passive endpoints, without ops->cm. */
static int link_open(struct eng_ep *ep, struct eng_pep *pep, struct eng_link **link_p)
{
	const struct fi_info *info = eng_ep_base(ep)->info;
	struct shm_scope scope = { eng_ep_base(ep)->prov->name, shm_conf.dir };
	struct shm_link *link;
	int ret;

	ret = shm_link_make(ep, &name_ops, &shm_naming, scope, info->src_addr, info->src_addrlen,
			    &link);
	if (!ret)
		*link_p = &link->base.base;
	return ret;
}

static void link_close(struct eng_link *base, int linger_ms)
{
	struct shm_link *link = shm_link_of(chan_link_of(base));
	struct shm_conn *conn;

	/* shm_rx_one() does not check it */
	link->base.closing = true;
	list_for_each_entry(conn, &link->conns, node)
		conn->fast = false;
	chan_link_end(&link->base, linger_ms);
	while (!list_empty(&link->conns))
		shm_conn_close(container_of(link->conns.next, struct shm_conn, node), FI_ECANCELED);
	shm_connect_end(link);
	free(link);
}

static int link_setname(struct eng_link *base, const void *addr, size_t len)
{
	struct shm_link *link = shm_link_of(chan_link_of(base)), was = *link;
	char text[CHAN_TEXT_MAX];
	int ret;

	if (len > SHM_ADDR_MAX)
		return -FI_EINVAL;
	if (!list_empty(&link->conns))
		return -FI_EBUSY;
	memset(link->addr, 0, sizeof(link->addr));
	memcpy(link->addr, addr, len);
	link->base.addr_len = link->naming->len(link->addr);
	ret = link->naming->key(link->addr, link->base.addr_len, link->key);
	if (!ret)
		ret = shm_listen_open(&link->scope, link->key);
	if (ret < 0) {
		CHAN_WARN(&link->base, "the endpoint cannot be called %s: %s\n",
			  chan_text(&link->base, link->addr, link->base.addr_len, text),
			  fi_strerror(-ret));
		memcpy(link->addr, was.addr, sizeof(was.addr));
		memcpy(link->key, was.key, sizeof(was.key));
		link->base.addr_len = was.base.addr_len;
		return ret;
	}
	chan_src_want(link->base.poller, &link->listener.src, 0);
	shm_listen_close(link->listener.src.fd, &link->scope, was.key);
	link->listener.src.fd = ret;
	return chan_src_want(link->base.poller, &link->listener.src, POLLIN);
}

/* ---- peers and packets ----------------------------------------------------------------------- */

/* log_absent - an address of this host at which nothing has a socket for shared memory.  The
 * interfaces are read only where the line is wanted.
 */
static void log_absent(struct chan *chan)
{
	const struct chan_link *main = chan->link->main;
	const union net_sa *sa = eng_peer_addr(chan_peer(chan));
	char text[CHAN_TEXT_MAX];
	struct net_list list;
	bool here;

	if (!fi_log_enabled(main->prov, FI_LOG_INFO, FI_LOG_EP_CTRL) || net_list_recent(&list))
		return;
	here = net_addr_is_loopback(&sa->sa) || net_list_find(&list, &sa->sa);
	net_list_free(&list);
	if (here)
		CHAN_INFO(main, "%s is on this host, but is reached over %s: no endpoint for shared "
			  "memory has that address; one that is bound to the wildcard address is "
			  "found at the address that its fi_getname() returns, and one of another "
			  "library or network namespace is not found\n",
			  chan_peer_text(chan, text), main->base.ops->name);
}

/* peer_get - a link beside another one fails at once where no process has a socket with the
 * peer's address; the endpoint's own link is tried next.
 */
static int peer_get(struct eng_link *base, struct eng_peer *peer)
{
	struct shm_link *link = shm_link_of(chan_link_of(base));
	struct chan *chan;
	char text[CHAN_TEXT_MAX];
	const char *advice;
	int ret;

	if (!link->local)
		return chan_peer_get(base, peer);
	chan = chan_of(&link->base, peer);
	if (!chan)
		return -FI_ENOMEM;
	if (chan->state != CHAN_IDLE)
		return 0;
	ret = chan_try(chan);
	if (!ret)
		return 0;
	if (ret == -FI_ECONNREFUSED) {
		log_absent(chan);
		return ret;
	}
	advice = shm_connect_advice(chan, -ret);
	CHAN_INFO(chan->link, "%s is on this host, but no shared memory is set up with it: %s%s%s\n",
		  chan_peer_text(chan, text), fi_strerror(-ret), advice ? "; " : "",
		  advice ? advice : "");
	return ret;
}

static int send_pkt(void *chan_p, struct eng_pkt *pkt)
{
	struct chan *chan = chan_p;

	if (__builtin_expect(chan->conn != NULL, 1))
		return shm_tx_send(chan->conn, pkt);
	return pkt->flags & ENG_PKT_ONCE ? -FI_ENOBUFS : chan_queue(chan, pkt);
}

static void link_grant(struct eng_link *base, struct eng_peer *peer, uint64_t key)
{
	struct chan *chan = eng_peer_chan(peer);

	if (chan->conn)
		shm_tenant_grant(chan->conn, key);
}

static const struct eng_link_native native = {
	.rma = shm_rma,
	.grant = link_grant,
};

const struct eng_link_ops shm_link_ops = {
	.size = sizeof(struct eng_link_ops),
	.name = "shm",
	.chan_size = sizeof(struct shm_chan),
	.open = link_open,
	.close = link_close,
	.getname = chan_getname,
	.look = chan_look,
	.setname = link_setname,
	.peer_get = peer_get,
	.peer_put = chan_peer_put,
	.slot = shm_tx_slot,
	.post = shm_tx_post,
	.send = send_pkt,
	.held = { .hold = shm_rx_hold, .pull = chan_pull, .unplace = shm_rx_unplace },
	.native = &native,
	.secures = true,
};

/* Endpoints of other providers reach peers on this host by such a link. */
static __attribute__((constructor)) void register_local(void)
{
	static struct chan_local local = {
		.name = "shm",
		.prepare = prepare_once,
		.open = shm_local_open,
	};

	chan_local_register(&local);
}
