/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "channel/park.h"

#include <errno.h>
#include <rdma/fi_errno.h>
#include <stdatomic.h>

#include "channel/chan.h"
#include "channel/poller.h"

#define MUST 2				/* connections to park where one waits for a descriptor */
#define WANT_MAX 8			/* connections to park at a time */
#define PAUSE_NS (2 * CLOCK_NS_PER_MS)	/* between two checks whether there is room */
#define DENIED_NS (100 * CLOCK_NS_PER_MS) /* a peer that has refused is not asked again for so long */
#define RESERVE_MIN 2
#define RESERVE_MAX 64
#define PROGRAM_SHARE 128		/* of the descriptors are left to the program */
#define PROGRAM_MAX 16

static _Atomic int open_conns;		/* of the process, which can be parked */

/* ---- descriptors ------------------------------------------------------------------------- */

rlim_t chan_park_fd_limit(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) ? RLIM_INFINITY : limit.rlim_cur;
}

bool chan_park_reserved(int fd)
{
	rlim_t limit = chan_park_fd_limit(), reserve = limit / 8;

	if (limit == RLIM_INFINITY)
		return false;
	if (reserve < RESERVE_MIN)
		reserve = RESERVE_MIN;
	if (reserve > RESERVE_MAX)
		reserve = RESERVE_MAX;
	return (rlim_t) fd + reserve >= limit;
}

bool chan_park_last(int fd)
{
	rlim_t limit = chan_park_fd_limit(), rest = limit / PROGRAM_SHARE;

	return limit != RLIM_INFINITY && (rlim_t) fd + (rest < PROGRAM_MAX ? rest : PROGRAM_MAX) >= limit;
}

bool chan_park_full(int most)
{
	return most && atomic_load(&open_conns) >= most;
}

void chan_park_opened(struct chan_poller *poller, int fd, int most)
{
	int cnt = atomic_fetch_add(&open_conns, 1) + 1;

	if (most && cnt > most)
		chan_park_want(poller, (unsigned) (cnt - most));
	else if (chan_park_reserved(fd))
		chan_park_want(poller, 1);
}

void chan_park_closed(struct chan_poller *poller)
{
	atomic_fetch_sub(&open_conns, 1);
	if (poller->hold_connects)
		chan_poller_timer(poller, &poller->park.timer, 0);
}

/* ---- which connections ------------------------------------------------------------------- */

/* is_idle - has the connection of @chan nothing to send and nothing half received?
 * @used_p: [out] the poll in which it was last used
 */
static bool is_idle(const struct chan *chan, uint64_t *used_p)
{
	return chan->state == CHAN_READY && list_empty(&chan->pending) && !chan->link->closing &&
	       chan->link->ops->idle(chan, used_p);
}

static struct chan_parkable *find_least_used(struct chan_park *park, uint64_t now, bool waits)
{
	struct chan_parkable *parkable, *best = NULL;
	uint64_t used, best_used = UINT64_MAX;

	list_for_each_entry(parkable, &park->ready, node) {
		if (!is_idle(parkable->chan, &used) || (best && used >= best_used) ||
		    now - parkable->asked_ns <= DENIED_NS ||
		    eng_peer_waits(chan_peer(parkable->chan)) != waits)
			continue;
		best = parkable;
		best_used = used;
	}
	return best;
}

/* close_parked - both peers have consented. */
static void close_parked(struct chan *chan, bool orderly)
{
	chan->link->ops->close(chan, FI_ECANCELED, orderly);
	chan_parked(chan, chan->link->conf.parked_check_ns);
}

static void request_park(struct chan_parkable *parkable)
{
	struct chan *chan = parkable->chan;
	int ret;

	parkable->asked_ns = chan_now(chan->link);
	ret = chan->link->ops->park(chan, CHAN_PARK_ASK);
	if (ret > 0)
		close_parked(chan, false);
	else if (!ret && !chan->failed)
		chan_set_state(chan, CHAN_PARKING);
}

static void make_room(struct timer *timer, uint64_t now)
{
	struct chan_park *park = container_of(timer, struct chan_park, timer);
	struct chan_poller *poller = container_of(park, struct chan_poller, park);
	struct chan_parkable *parkable;
	unsigned left;

	poller->hold_connects = false;	/* connects that wait are tried again after this */
	for (left = park->want; left; left--) {
		parkable = find_least_used(park, now, false);
		if (!parkable && park->must)
			parkable = find_least_used(park, now, true);
		if (!parkable)
			break;
		request_park(parkable);
	}
	park->want = 0;
	park->must = false;
}

bool chan_park_must(struct chan_poller *poller)
{
	poller->park.must = true;
	return chan_park_want(poller, MUST);
}

bool chan_park_want(struct chan_poller *poller, unsigned cnt)
{
	struct chan_park *park = &poller->park;

	if (!park->usable || list_empty(&park->ready))
		return false;
	if (cnt > WANT_MAX)
		cnt = WANT_MAX;
	if (park->want < cnt)
		park->want = cnt;
	if (!park->timer.at)
		chan_poller_timer(poller, &park->timer, chan_poller_now(poller) + PAUSE_NS);
	return true;
}

bool chan_park_hold_back(struct chan *chan, int err)
{
	struct chan_poller *poller = chan->link->poller;

	if (err != FI_EMFILE && err != ENFILE)
		return false;
	chan->busy |= atomic_load(&open_conns) > 0;
	if (!chan_park_must(poller))
		return false;
	poller->hold_connects = true;
	return true;
}

void chan_park_timer(struct chan *chan, uint64_t now)
{
	uint64_t check_ns = chan->link->conf.parked_check_ns;

	if (check_ns)
		chan_timer_set(chan, now + check_ns);
}

void chan_park_init(struct chan_poller *poller, unsigned connecting_max)
{
	struct chan_park *park = &poller->park;
	rlim_t share = chan_park_fd_limit() / 4;

	list_init(&park->ready);
	park->timer.fire = make_room;
	park->usable = !timers_join(&poller->timers);
	poller->connecting_max = share < connecting_max ? (unsigned) share : connecting_max;
	if (!poller->connecting_max)
		poller->connecting_max = 1;
}

void chan_park_add(struct chan_poller *poller, struct chan_parkable *parkable, struct chan *chan)
{
	parkable->chan = chan;
	list_add_tail(&parkable->node, &poller->park.ready);
}

/* ---- control packets --------------------------------------------------------------------- */

static int on_ask(struct chan *chan)
{
	const struct chan_ops *ops = chan->link->ops;
	uint64_t used;

	if (chan->link->closing)
		return 0;		/* the end of the connection answers it */
	if (chan->state == CHAN_PARKING)	/* simultaneous requests */
		close_parked(chan, false);
	else if (is_idle(chan, &used) && !ops->park(chan, CHAN_PARK_CONSENT))
		close_parked(chan, true);
	else
		return ops->park(chan, CHAN_PARK_DENY);
	return 0;
}

int chan_park_on_ctl(struct chan_parkable *parkable, enum chan_park_ctl ctl)
{
	struct chan *chan = parkable->chan;

	if (list_empty(&parkable->node) || (ctl != CHAN_PARK_ASK && chan->state != CHAN_PARKING))
		return -FI_EPROTO;
	if (ctl == CHAN_PARK_ASK)
		return on_ask(chan);
	if (ctl == CHAN_PARK_CONSENT) {
		close_parked(chan, false);
		return 0;
	}
	chan_set_state(chan, CHAN_READY);
	parkable->asked_ns = chan_now(chan->link);
	return 0;
}
