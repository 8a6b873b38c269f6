/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "sim_net.h"

#include <arpa/inet.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/iov.h"
#include "net/opt.h"
#include "foreign.h"

struct dgram {
	struct dgram *next;	/* at the port, by time */
	uint64_t at;
	uint64_t order;		/* of those at one time */
	unsigned ecn;		/* NET_ECN_* */
	unsigned from;		/* outer number */
	size_t len;
	uint8_t data[];
};

struct port {
	struct rxd_dg dg;	/* first */
	struct rxd_poller *poller;
	bool open;
	struct dgram *in;
	uint64_t free_ns;	/* the bottleneck before it is busy until then */
	bool bad;		/* in a run of losses */
	bool ect;		/* datagrams are sent as ECT(0) */
};

struct snet_conf snet_conf;
uint64_t snet_now, snet_sent, snet_dropped, snet_marked;
unsigned snet_base, snet_rails, snet_down;
void (*snet_before_look)(struct rxd_poller *poller);
void (*snet_tap)(unsigned from, unsigned to, const uint8_t *data, size_t len);
bool (*snet_attack)(unsigned from, unsigned to, const uint8_t *data, size_t len);
static uint64_t state, order;
static struct port *ports[SNET_PORTS];	/* live ones */
bool snet_refuses;

static struct refusal {
	uint8_t data[RXD_ASK_MAX];
	size_t len;		/* 0: none */
} refused[SNET_PORTS];		/* the last one to each port */
static struct dgram *wire[SNET_PORTS];	/* in flight to each */
static uint64_t busy[SNET_PORTS];
static bool bad_run[SNET_PORTS][SNET_PORTS];
static uint64_t cut[SNET_PORTS][SNET_PORTS];
/* The address of a port, as others see it, is its outer number; at first its own. */
static unsigned outer[SNET_PORTS], inner[SNET_OUTER], moves;
uint64_t snet_strange_out, snet_strange_in;

uint64_t snet_rnd(uint64_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state * UINT64_C(2685821657736338717) >> 11) % n;
}

bool snet_chance(double p)
{
	return (double) snet_rnd(1 << 30) < p * (1 << 30);
}

static void drop_all(unsigned no)
{
	struct dgram *d;

	while ((d = wire[no])) {
		wire[no] = d->next;
		free(d);
	}
}

static void stay(unsigned no)
{
	outer[no] = inner[no] = no;
}

void snet_start(uint64_t seed, const struct snet_conf *conf)
{
	unsigned i;

	for (i = 0; i < SNET_PORTS; i++)
		drop_all(i);
	memset(busy, 0, sizeof(busy));
	memset(bad_run, 0, sizeof(bad_run));
	memset(cut, 0, sizeof(cut));
	state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	snet_conf = *conf;
	snet_now = CLOCK_NS_PER_S;
	snet_refuses = false;
	memset(refused, 0, sizeof(refused));
	snet_sent = snet_dropped = snet_marked = snet_strange_in = snet_strange_out = moves = 0;
	memset(inner, 0, sizeof(inner));
	for (i = 0; i < SNET_PORTS; i++)
		stay(i);
}

void snet_move(unsigned no, bool gone)
{
	unsigned to = SNET_PORTS + moves++ % (SNET_STRANGER - SNET_PORTS);

	if (gone)
		inner[outer[no]] = 0;
	outer[no] = to;
	inner[to] = no;
}

unsigned snet_seen_as(unsigned no)
{
	return outer[no];
}

void snet_cut(unsigned from, unsigned to, uint64_t until_ns)
{
	cut[from][to] = until_ns;
}

uint64_t snet_next(void)
{
	uint64_t next = UINT64_MAX;
	unsigned i;

	for (i = 0; i < SNET_PORTS; i++)
		if (wire[i] && wire[i]->at < next)
			next = wire[i]->at;
	return next;
}

/* ---- the wire -------------------------------------------------------------------- */

static void deliver(unsigned from, unsigned to, const uint8_t *data, size_t len, unsigned ecn,
		    uint64_t at)
{
	struct dgram *d = malloc(sizeof(*d) + len), **pos;

	d->at = at;
	d->order = order++;
	d->ecn = ecn;
	d->from = from;
	d->len = len;
	memcpy(d->data, data, len);
	if (len && snet_chance(snet_conf.corrupt))
		d->data[snet_rnd(len)] ^= (uint8_t) (1 << snet_rnd(8));
	for (pos = &wire[to]; *pos && (*pos)->at <= at; pos = &(*pos)->next)
		;
	d->next = *pos;
	*pos = d;
}

/* is_lost - single losses, or runs of them with the same share. */
static bool is_lost(unsigned from, unsigned to)
{
	bool *bad = &bad_run[from][to];

	if (snet_conf.burst <= 1)
		return snet_chance(snet_conf.loss);
	if (*bad)
		*bad = !snet_chance(1 / snet_conf.burst);
	else
		*bad = snet_chance(snet_conf.loss / (1 - snet_conf.loss) / snet_conf.burst);
	return *bad;
}

#define RAILS_KNOWN (sizeof(snet_conf.rail_mtu) / sizeof(snet_conf.rail_mtu[0]))

/* rail_mtu, rail_rate - of the path to or from port @no, if it has its own; else UINT32_MAX, 0. */
static uint32_t rail_mtu(unsigned no)
{
	unsigned i = no / SNET_RAIL;

	return i < RAILS_KNOWN && snet_conf.rail_mtu[i] ? snet_conf.rail_mtu[i] : UINT32_MAX;
}

static uint64_t rail_rate(unsigned no)
{
	unsigned i = no / SNET_RAIL;

	return i < RAILS_KNOWN ? snet_conf.rail_rate[i] : 0;
}

/* through - when a datagram has passed the bottleneck; 0: its queue is full. */
static uint64_t through(unsigned to, size_t len, unsigned *ecn)
{
	uint64_t start = busy[to] > snet_now ? busy[to] : snet_now, waits, rate = rail_rate(to);
	uint64_t queue = rate ? rate / 50 : snet_conf.queue;

	rate = rate ? rate : snet_conf.rate;
	if (!rate)
		return snet_now;
	waits = (start - snet_now) * rate / CLOCK_NS_PER_S;
	if (waits > queue)
		return 0;
	if (snet_conf.mark && waits > snet_conf.mark && *ecn) {
		*ecn = NET_ECN_CE;
		snet_marked++;
	}
	busy[to] = start + len * CLOCK_NS_PER_S / rate;
	return busy[to];
}

/* carry_mark - what the path does to an ECN codepoint. */
static unsigned carry_mark(unsigned ecn)
{
	if (snet_conf.marks == SNET_MARKS_CLEARED)
		return NET_ECN_NOT;
	return ecn && snet_conf.marks == SNET_MARKS_ALL ? NET_ECN_CE : ecn;
}

/* shift_versions - of a handshake or refusal: those of the engine, or the oldest of the link. */
static bool shift_versions(uint8_t *data)
{
	uint8_t type = data[offsetof(struct rxd_hdr, type)], *body = data + sizeof(struct rxd_hdr);
	bool hello = type == RXD_HELLO || type == RXD_WELCOME;

	if (!hello && type != RXD_REFUSE)
		return false;
	if (!snet_conf.foreign_engine) {
		body[hello ? offsetof(struct rxd_hello, oldest) :
			     offsetof(struct rxd_refuse, oldest)] ^= 0x40;
		return true;
	}
	body[hello ? offsetof(struct rxd_hello, engine) : offsetof(struct rxd_refuse, engine)] ^= 0x40;
	body[hello ? offsetof(struct rxd_hello, engine_oldest) :
		     offsetof(struct rxd_refuse, engine_oldest)] ^= 0x40;
	return true;
}

/* A version that both ends have becomes one that only the sender has. */
static const uint8_t *translate(const uint8_t *data, size_t len, uint8_t *buf)
{
	bool shifted;

	memcpy(buf, data, len);
	shifted = shift_versions(buf);
	if (!snet_conf.foreign_engine)
		buf[offsetof(struct rxd_hdr, version)] ^= 0x40;
	else if (!shifted)
		return data;
	rxd_seal(buf, len, NULL, 0);
	return buf;
}

static void carry(unsigned from, unsigned to, const uint8_t *data, size_t len, unsigned ecn)
{
	uint64_t at, late, held = cut[from][to] > snet_now ? cut[from][to] - snet_now : 0;
	unsigned copies = snet_chance(snet_conf.dup) ? 2 : 1;
	uint8_t other[65536];

	if (!foreign_discards(data, len)) {
		fprintf(stderr, "sim_net: a foreign endpoint would process this datagram\n");
		abort();
	}
	if (snet_tap)
		snet_tap(from, to, data, len);
	if (snet_attack && snet_attack(from, to, data, len))
		return;
	if (snet_conf.foreign && (from == snet_conf.foreign) != (to == snet_conf.foreign))
		data = translate(data, len, other);
	snet_sent++;
	if ((held && !snet_chance(snet_conf.held)) || is_lost(from, to) ||
	    (snet_conf.mtu && len > snet_conf.mtu) || len > rail_mtu(to) || (ecn && snet_conf.marks == SNET_MARKS_LOST)) {
		snet_dropped++;
		return;
	}
	at = through(to, len, &ecn);
	if (!at) {
		snet_dropped++;
		return;
	}
	while (copies--) {
		late = held + snet_conf.delay_ns + (snet_conf.jitter_ns ? snet_rnd(snet_conf.jitter_ns) : 0);
		if (snet_chance(snet_conf.stolen)) {
			deliver(SNET_STRANGER, to, data, len, carry_mark(ecn),
				at + late + snet_conf.stolen_ns);
			snet_strange_out += len;
		}
		deliver(outer[from], to, data, len, carry_mark(ecn), at + late);
	}
}

static unsigned number_of(const struct rxd_dg *dg)
{
	unsigned i;

	for (i = 0; !ports[i] || &ports[i]->dg != dg; i++)
		;
	return i;
}

/* ---- systems that answer for their ports ------------------------------------------------ */

void snet_refuse(unsigned to, const void *buf, size_t len)
{
	memcpy(refused[to].data, buf, len);
	refused[to].len = len;
}

void rxd_dg_ask(struct rxd_dg *dg, fi_addr_t to, const void *buf, size_t len)
{
	if (snet_refuses && !ports[to])
		snet_refuse(number_of(dg), buf, len);
}

size_t rxd_dg_refused(struct rxd_dg *dg, uint8_t *buf)
{
	struct refusal *refusal = &refused[number_of(dg)];
	size_t len = refusal->len;

	memcpy(buf, refusal->data, len);
	refusal->len = 0;
	return len;
}

void snet_forge(unsigned from, unsigned to, const void *buf, size_t len)
{
	deliver(from, to, buf, len, NET_ECN_NOT, snet_now + 1);
}

/* ---- dg.h -------------------------------------------------------------------------- */

uint64_t rxd_dg_now(void)
{
	return snet_now;
}

void rxd_dg_nap(uint64_t ns)
{
	snet_now += ns;
}

uint64_t rxd_dg_random(void)
{
	return snet_rnd(UINT64_C(1) << 53) << 11 ^ snet_rnd(1 << 30);
}

static unsigned number(const void *addr)
{
	const struct sockaddr_in *in = addr;

	return in->sin_port ? ntohs(in->sin_port) - snet_base : 0;
}

int rxd_dg_open(struct rxd_poller *poller, const struct fi_info *info, void *owner,
		struct rxd_dg **dg_p)
{
	unsigned no = number(info->src_addr);
	struct port *port = calloc(1, sizeof(*port));

	for (; !no || ports[no]; no = no ? no + 1 : SNET_PORTS / 2)
		;
	port->dg.owner = owner;
	port->dg.dgram_max = snet_conf.dgram_max;
	port->dg.room = 4 << 20;
	port->dg.iov_max = 4;
	port->dg.has_ecn = snet_conf.marks != SNET_MARKS_NONE;
	port->poller = poller;
	drop_all(no);
	memset(cut[no], 0, sizeof(cut[no]));
	stay(no);
	ports[no] = port;
	*dg_p = &port->dg;
	return 0;
}

/* rail_address - that of the rail at port @no: each is in a network of its own. */
static void rail_address(unsigned no, union net_sa *sa)
{
	memset(sa, 0, sizeof(*sa));
	sa->in.sin_family = AF_INET;
	sa->in.sin_addr.s_addr = htonl(0x0a000001 + (no / SNET_RAIL << 8));
	sa->in.sin_port = htons((uint16_t) (snet_base + no));
}

unsigned rxd_dg_rails(const struct fi_info *info, const struct sockaddr *own, struct net_rail *rail)
{
	unsigned i;

	for (i = 0; i < snet_rails; i++) {
		rail[i] = (struct net_rail) { .speed = 1000000000, .index = i };
		snprintf(rail[i].iface, sizeof(rail[i].iface), "sim%u", i);
		rail_address(number(own) + i * SNET_RAIL, &rail[i].addr);
	}
	return snet_rails;
}

bool rxd_dg_reaches(const struct net_rail *rail, const struct sockaddr *dest)
{
	return number(dest) / SNET_RAIL == rail->index;
}

bool rxd_dg_up(const struct net_rail *rail)
{
	return !(snet_down >> rail->index & 1);
}

int rxd_dg_open_rail(struct rxd_poller *poller, const struct fi_info *info, const struct net_rail *rail, void *owner,
		     struct rxd_dg **dg_p)
{
	union net_sa at = rail->addr;
	struct fi_info there = { .src_addr = &at, .src_addrlen = sizeof(at.in) };

	return rxd_dg_open(poller, &there, owner, dg_p);
}

struct rxd_link *snet_link(unsigned no)
{
	return ports[no] ? ports[no]->dg.owner : NULL;
}

void rxd_dg_close(struct rxd_dg *dg)
{
	unsigned no = number_of(dg);

	drop_all(no);
	free(ports[no]);
	ports[no] = NULL;
}

static int name(unsigned no, void *addr)
{
	struct sockaddr_in in = { .sin_family = AF_INET };

	in.sin_addr.s_addr = htonl(0x0a000001 + (snet_rails && no < SNET_PORTS ? no / SNET_RAIL << 8 : 0));
	in.sin_port = htons((uint16_t) (snet_base + no));
	memcpy(addr, &in, sizeof(in));
	return 0;
}

int rxd_dg_name(struct rxd_dg *dg, void *addr, size_t *len)
{
	*len = sizeof(struct sockaddr_in);
	return name(number_of(dg), addr);
}

int rxd_dg_addr(struct rxd_dg *dg, fi_addr_t to, void *addr)
{
	return name((unsigned) to, addr);
}

int rxd_dg_source(struct rxd_dg *dg, uint64_t source, void *addr, size_t *len)
{
	*len = sizeof(struct sockaddr_in);
	return name((unsigned) source, addr);
}

int rxd_dg_peer(struct rxd_dg *dg, const void *addr, fi_addr_t *to_p)
{
	*to_p = number(addr);
	return *to_p < SNET_OUTER ? 0 : -FI_EINVAL;
}

void rxd_dg_forget(struct rxd_dg *dg, fi_addr_t to)
{
}

void rxd_dg_mark(struct rxd_dg *dg, bool ect)
{
	container_of(dg, struct port, dg)->ect = ect && dg->has_ecn;
}

int rxd_dg_send(struct rxd_dg *dg, fi_addr_t to, const struct iovec *iov, size_t cnt)
{
	uint8_t buf[65536];
	size_t len = iov_total(iov, cnt);

	dg->blocked = snet_conf.loss > 0 && !snet_rnd(200);
	if (dg->blocked)
		return -FI_EAGAIN;
	if (len > dg->dgram_max || (snet_conf.mtu_known && len > rail_mtu(number_of(dg))))
		return -FI_EMSGSIZE;
	iov_gather(iov, cnt, 0, buf, len);
	if (to == SNET_STRANGER)
		snet_strange_in += len;
	if (inner[to])
		carry(number_of(dg), inner[to], buf, len,
		      container_of(dg, struct port, dg)->ect ? NET_ECN_ECT0 : NET_ECN_NOT);
	return 0;
}

/* One burst at a time, of any port. */
static struct {
	uint8_t heads[RXD_DG_BURST][RXD_DG_HEAD];
	struct iovec iov[RXD_DG_BURST][4];
	size_t iov_cnt[RXD_DG_BURST];
	fi_addr_t to;
	unsigned cnt;
} burst;

uint8_t *rxd_dg_head(struct rxd_dg *dg)
{
	return burst.heads[burst.cnt];
}

bool rxd_dg_add(struct rxd_dg *dg, fi_addr_t to, const struct iovec *iov, size_t cnt)
{
	memcpy(burst.iov[burst.cnt], iov, cnt * sizeof(*iov));
	burst.iov_cnt[burst.cnt] = cnt;
	burst.to = to;
	return ++burst.cnt == RXD_DG_BURST;
}

int rxd_dg_flush(struct rxd_dg *dg, unsigned *sent_p)
{
	unsigned cnt = burst.cnt, i;
	int ret = 0;

	for (i = 0; i < cnt && !ret; i++)
		ret = rxd_dg_send(dg, burst.to, burst.iov[i], burst.iov_cnt[i]);
	*sent_p = ret ? i - 1 : i;
	burst.cnt = 0;
	return ret;
}

unsigned snet_skips;
static bool armed;		/* the next poll leaves nothing out */

int rxd_dg_poll(struct rxd_poller *poller, unsigned budget, rxd_dg_fn *fn)
{
	bool skip = snet_skips && !armed;
	struct rxd_meta meta;
	struct dgram *d;
	unsigned i;
	int done = 0;

	armed = false;
	if (skip) {
		snet_skips--;
		return 0;
	}
	if (snet_before_look)
		snet_before_look(poller);
	for (i = 0; i < SNET_PORTS; i++) {
		while (ports[i] && ports[i]->poller == poller && (d = wire[i]) &&
		       d->at <= snet_now && budget) {
			wire[i] = d->next;
			meta.source = d->from;
			meta.ecn = ports[i]->dg.has_ecn ? d->ecn : NET_ECN_NOT;
			fn(ports[i]->dg.owner, d->data, d->len, meta);
			free(d);
			done++;
			budget--;
		}
	}
	return done;
}

int rxd_dg_arm(struct rxd_poller *poller)
{
	armed = true;
	return 0;
}
