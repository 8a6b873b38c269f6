/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * dg.h - the datagram endpoint below: the only unit of this directory that does I/O or reads
 * a clock.  Any provider's FI_EP_DGRAM endpoint, through its public calls.
 *
 * Endpoints of a progress group that belong to the same interface share a domain
 * and a completion queue of the provider below, opened for one thread at a time:
 * the group's lock is what guards them.
 */
#ifndef RXD_DG_H
#define RXD_DG_H

#include <rdma/fabric.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/list.h"
#include "net/rail.h"

struct rxd_poller;
struct rxd_dom;			/* a domain below */

struct rxd_dg {
	struct list node;	/* on dom->dgs */
	struct rxd_dom *dom;
	void *owner;
	size_t dgram_max;	/* longest datagram */
	size_t room;		/* size of the socket buffer, by the system's count */
	size_t iov_max;		/* pieces of a datagram */
	bool blocked;		/* the last send returned -FI_EAGAIN */
	bool has_ecn;		/* rxd_dg_mark() works, and what arrives has its codepoint */
};

/* What is known of a datagram that arrived, beside its bytes. */
struct rxd_meta {
	uint64_t source;	/* number of the address it came from; 0: not known below */
	unsigned ecn;		/* NET_ECN_*, its codepoint; NET_ECN_NOT without has_ecn */
};

/* The receiver of a datagram: @buf is valid during the call. */
typedef void rxd_dg_fn(void *owner, const uint8_t *buf, size_t len, struct rxd_meta meta);

/* rxd_dg_now - the time.  Units: ns */
uint64_t rxd_dg_now(void);

/* rxd_dg_nap - sleep for @ns. */
void rxd_dg_nap(uint64_t ns);

/* rxd_dg_random - unpredictable bits. */
uint64_t rxd_dg_random(void);

/* rxd_dg_open - an endpoint for what @info (the program's) describes.
 *
 * @owner: what rxd_dg_fn gets
 * @dg_p:  [out] rxd_dg_close() frees it
 *
 * Errors: those of the calls below, logged by the provider below.
 * Threading: the group's lock, as for all here.
 */
int rxd_dg_open(struct rxd_poller *poller, const struct fi_info *info, void *owner,
		struct rxd_dg **dg_p);
void rxd_dg_close(struct rxd_dg *dg);

/* rxd_dg_rails - the interfaces by which an endpoint for @info with the address @own may be reached, too, its own among
 * them, the best first; as FI_RAILS and FI_RAILS_IFACES say.
 * @rail: [out] room for NET_RAILS_MAX.   Returns how many.
 * rxd_dg_reaches - does the interface @rail lead to @dest?   rxd_dg_up - is it up, and has it its address?
 * rxd_dg_open_rail - as rxd_dg_open(), at the address of @rail.
 * rxd_dg_bind - its datagrams go by the interface @name alone, where the system permits that: else routes decide.
 */
unsigned rxd_dg_rails(const struct fi_info *info, const struct sockaddr *own, struct net_rail *rail);
bool rxd_dg_reaches(const struct net_rail *rail, const struct sockaddr *dest);
bool rxd_dg_up(const struct net_rail *rail);
int rxd_dg_open_rail(struct rxd_poller *poller, const struct fi_info *info, const struct net_rail *rail, void *owner,
		     struct rxd_dg **dg_p);
void rxd_dg_bind(struct rxd_dg *dg, const char *name);

/* rxd_dg_name - its address.  @len: [in,out] room, then length. */
int rxd_dg_name(struct rxd_dg *dg, void *addr, size_t *len);

/* rxd_dg_peer - insert an address.  rxd_dg_forget - remove it.
 * Errors: -FI_EINVAL not an address; -FI_ENOMEM.
 */
int rxd_dg_peer(struct rxd_dg *dg, const void *addr, fi_addr_t *to_p);
void rxd_dg_forget(struct rxd_dg *dg, fi_addr_t to);

/* rxd_dg_addr - the address that rxd_dg_peer() got.  @addr: [out] RXD_ADDR_MAX bytes */
int rxd_dg_addr(struct rxd_dg *dg, fi_addr_t to, void *addr);

/* rxd_dg_source - the address behind the number of a datagram that came lately.
 * @addr: [out] RXD_ADDR_MAX bytes     @len: [out] bytes of it
 * Errors: -FI_ENOENT: too many others have sent since.
 */
int rxd_dg_source(struct rxd_dg *dg, uint64_t source, void *addr, size_t *len);

/* rxd_dg_ask - send a control packet to see whether there is a socket at @to; where the provider below
 * cannot tell, nothing is sent.
 * rxd_dg_refused - a packet that was sent so, and answered by the system there: it has no such socket.
 * @buf: [out] RXD_ASK_MAX bytes; as much of it as the answer quotes, or as a forged answer claims
 * Returns its length; 0: there is none.
 */
#define RXD_ASK_MAX 128
void rxd_dg_ask(struct rxd_dg *dg, fi_addr_t to, const void *buf, size_t len);
size_t rxd_dg_refused(struct rxd_dg *dg, uint8_t *buf);

/* rxd_dg_mark - with has_ecn: datagrams are sent as NET_ECN_ECT0 from now on, or are not.
 * Cheap where nothing changes.
 */
void rxd_dg_mark(struct rxd_dg *dg, bool ect);

/* rxd_dg_send - one datagram; the buffers are the caller's again.
 * Errors: -FI_EAGAIN no room just now; -FI_EMSGSIZE too long for the system;
 *         others: the datagram is lost.
 */
int rxd_dg_send(struct rxd_dg *dg, fi_addr_t to, const struct iovec *iov, size_t cnt);

/*
 * A burst: datagrams to one peer that are sent together.
 *
 * rxd_dg_head - memory for what goes before the payload of the next datagram, and for
 * short payloads with it: RXD_DG_HEAD bytes that are the caller's until rxd_dg_flush().
 *
 * rxd_dg_add - one more, its head there, its payload where it lies; both stay as they
 * are until rxd_dg_flush().  Returns true when the burst is full.
 *
 * rxd_dg_flush - send them.
 * @sent_p: [out] so many of the first ones are sent, or lost; the others are not sent
 * Errors: those of rxd_dg_send(), about the first that was not sent.
 */
#define RXD_DG_BURST 88			/* over Ethernet two messages of the system's maximum */
#define RXD_DG_HEAD 1408

uint8_t *rxd_dg_head(struct rxd_dg *dg);
bool rxd_dg_add(struct rxd_dg *dg, fi_addr_t to, const struct iovec *iov, size_t cnt);
int rxd_dg_flush(struct rxd_dg *dg, unsigned *sent_p);

/* rxd_dg_poll - pass on what has arrived, at most about @budget datagrams.
 * Returns how many.
 */
int rxd_dg_poll(struct rxd_poller *poller, unsigned budget, rxd_dg_fn *fn);

/* rxd_dg_arm - a thread is about to sleep on the poller's fd.
 * Returns 0, or -FI_EAGAIN when there is something to read now.
 */
int rxd_dg_arm(struct rxd_poller *poller);

#endif
