/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "channel/route.h"

#include <net/if.h>
#include <pthread.h>
#include <rdma/fi_errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/net_addr.h"
#include "channel/chan.h"
#include "channel/host.h"
#include "net/iface.h"
#include "obj/inspect/record.h"

void chan_route_said(struct chan *chan, struct chan_version ours, const struct chan_version *theirs,
		    uint32_t host)
{
	struct chan_version used;

	if (!chan_version_agree(&ours, theirs, &used))
		return;
	chan->said = (struct chan_said) {
		.wire = (uint8_t) used.link,
		.release = { theirs->release.major, theirs->release.minor, theirs->release.micro },
		.commit = theirs->release.commit,
	};
	chan->knows = true;
	eng_on_version(chan_peer(chan), used.engine);
	chan->beside = host && host == chan_host_mark();
}

bool chan_route_same_host(const struct chan *chan)
{
	const struct eng_peer *to = eng_peer_of((void *) chan);
	const struct chan_link *link = chan->link;
	union net_sa peer, self;

	return !net_addr_copy(eng_peer_addr(to), eng_peer_addr_len(to), &peer) &&
	       !net_addr_copy(link->addr, link->addr_len, &self) &&
	       net_addr_same_host(&peer.sa, &self.sa);
}

/* ---- why no faster one -------------------------------------------------------------------- */

/* refusal_text - why a further link could not reach a peer at an address of this host. */
static const char *refusal_text(int err)
{
	switch (err) {
	case 0:
		return "the peer connected by sockets, so its log has the reason";
	case FI_ECONNREFUSED:
	case FI_ENOENT:
		return "no process listens there for connections by shared memory (it has none, by its "
		       "settings or limits, or is in another container)";
	case FI_EACCES:
	case FI_EPERM:
		return "its process belongs to another user";
	case FI_ENOPROTOOPT:
		return "its release speaks another version of that";
	case FI_EMFILE:
		return "descriptors are short";
	default:
		return err < CHAN_LOCAL_ERR_MAX ? fi_strerror(err) : "another error, which is in the log";
	}
}

void chan_route_avoids(const struct chan *chan, struct chan_route *path)
{
	const struct chan_link *link = chan->link;

	if (!path->same_host && !chan->beside)
		return;
	if (link->msg) {
		snprintf(path->why, sizeof(path->why),
			 "shared memory is not used: endpoints of type FI_EP_MSG have sockets alone");
		return;
	}
	path->surprise = path->same_host && !link->local_cnt ? CHAN_EXPECTED : CHAN_SOCKETS;
	if (!path->same_host)
		snprintf(path->why, sizeof(path->why), "shared memory is not used: the peer is on this host, "
			 "but in another container (network namespace), or at an address that is not its own");
	else if (!link->local_cnt)
		snprintf(path->why, sizeof(path->why), "shared memory is not used: this endpoint has none "
			 "(by its settings or its address; the log of its opening has the reason)");
	else
		snprintf(path->why, sizeof(path->why), "shared memory is not used: %s",
			 refusal_text(chan->local_err));
}

/* What the last look at the interfaces has found for one of them. */
static struct {
	pthread_mutex_t lock;
	int family;
	char name[IF_NAMESIZE];
	char why[CHAN_WHY_MAX];		/* "": it is the fastest */
} fastest = { .lock = PTHREAD_MUTEX_INITIALIZER };

static unsigned mbit_of(uint64_t speed)
{
	return (unsigned) (speed / 1000000);
}

static void look_for_faster(const char *name, int family)
{
	const struct net_iface *faster;
	struct net_list list;

	snprintf(fastest.name, sizeof(fastest.name), "%s", name);
	fastest.family = family;
	*fastest.why = '\0';
	if (net_list_recent(&list))
		return;
	faster = net_list_faster(&list, name, family);
	if (faster)
		snprintf(fastest.why, sizeof(fastest.why), "%s of %u Mbit/s is up, too, and faster than %s: the peer's "
			 "address and the kernel's route to it choose the interface (fi_info --path)", faster->name,
			 mbit_of(faster->speed), name);
	net_list_free(&list);
}

void chan_route_slow(const char *iface, int family, struct chan_route *path)
{
	if (path->same_host || *path->why || !*iface)
		return;
	pthread_mutex_lock(&fastest.lock);
	if (fastest.family != family || strcmp(fastest.name, iface))
		look_for_faster(iface, family);
	snprintf(path->why, sizeof(path->why), "%s", fastest.why);
	pthread_mutex_unlock(&fastest.lock);
	if (*path->why)
		path->surprise = CHAN_SLOW;
}

/* ---- texts ---------------------------------------------------------------------------------- */

static void ask_link(struct chan *chan, struct chan_route *path)
{
	*path = (struct chan_route) { .format = NULL };
	if (chan->link->ops->route)
		chan->link->ops->route(chan, path);
	if (!*path->way)
		snprintf(path->way, sizeof(path->way), "%s", chan->link->base.ops->name);
}

/* versions_text - "native wire format 4, peer's release 2.7.0 (commit 12345678)". */
static void versions_text(const struct chan *chan, const struct chan_route *path, char *buf, size_t size)
{
	const struct chan_said *said = &chan->said;
	struct release theirs = { said->release[0], said->release[1], said->release[2], 0, said->commit };
	char release[RELEASE_TEXT_MAX];

	if (path->format)
		snprintf(buf, size, "%s wire format", path->format);
	else if (!chan->knows)
		snprintf(buf, size, "native wire format");
	else
		snprintf(buf, size, "native wire format %u, peer's release %s", said->wire,
			 release_text(theirs, release));
}

static const char *text_of(const struct chan *chan, const struct chan_route *path, char *buf)
{
	char versions[128];

	versions_text(chan, path, versions, sizeof(versions));
	snprintf(buf, CHAN_ROUTE_TEXT_MAX, "%s; %s%s%s", path->way, versions, *path->why ? "; " : "",
		 path->why);
	return buf;
}

const char *chan_route_text(struct chan *chan, struct chan_route *path, char *buf)
{
	ask_link(chan, path);
	return text_of(chan, path, buf);
}

/* ---- for inspection --------------------------------------------------------------------------- */

#define QUEUED_MAX 1000		/* packets that are counted */

static const char *state_text(const struct chan *chan)
{
	static const char *const texts[] = {
		[CHAN_IDLE] = "idle", [CHAN_QUEUED] = "to connect", [CHAN_CONNECTING] = "connecting",
		[CHAN_YIELDED] = "yielded", [CHAN_BACKOFF] = "retries", [CHAN_ACCEPTING] = "accepting",
		[CHAN_READY] = "ready", [CHAN_PARKING] = "parking", [CHAN_PARKED] = "parked",
	};

	return texts[chan->state];
}

/* look_path - of a connection that stands. */
static void look_path(struct chan *chan, struct inspect_peer *rec, uint32_t want, char *text)
{
	char whole[CHAN_ROUTE_TEXT_MAX];
	struct chan_route path;

	if (!want)
		return;
	chan_route_text(chan, &path, whole);
	if (want & INSPECT_PATHS)
		snprintf(text, INSPECT_PATH, "%.*s", INSPECT_PATH - 1, whole);
	rec->sent_bytes = path.traffic.sent_bytes;
	rec->got_bytes = path.traffic.got_bytes;
	rec->sent_packets = path.traffic.sent_packets;
	rec->got_packets = path.traffic.got_packets;
	rec->resent_bytes = path.traffic.resent_bytes;
	rec->rtt_ns = path.traffic.rtt_ns;
}

void chan_look(struct eng_peer *peer, struct inspect_peer *rec, uint32_t want, char *path)
{
	struct chan *chan = eng_peer_chan(peer);
	struct list *item;

	if (!chan->link)
		return;
	inspect_text(rec->state, sizeof(rec->state), state_text(chan));
	for (item = chan->pending.next; item != &chan->pending && rec->queued < QUEUED_MAX; item = item->next)
		rec->queued++;
	if (chan->state == CHAN_READY)
		look_path(chan, rec, want & (INSPECT_PATHS | INSPECT_TRAFFIC), path);
}

/* ---- the log ----------------------------------------------------------------------------------- */

/* warn_once - each kind of surprise, in the life of the process. */
static void warn_once(struct chan *chan, const char *peer, const struct chan_route *path)
{
	static atomic_bool warned[CHAN_SURPRISES];

	if (!path->surprise || atomic_exchange(&warned[path->surprise], true))
		return;
	CHAN_WARN_SPARSE(chan->link, "%s is reached by a slower path than its host allows: %s; %s (said once; "
			 "FI_LOG_LEVEL=info shows the path of each peer)\n", peer, path->way, path->why);
}

void chan_route_log(struct chan *chan, const char *peer)
{
	char text[CHAN_ROUTE_TEXT_MAX];
	struct chan_route path;

	ask_link(chan, &path);
	warn_once(chan, peer, &path);
	CHAN_INFO(chan->link, "path to %s: %s\n", peer, text_of(chan, &path, text));
}
