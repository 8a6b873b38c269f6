/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * ends.h - the objects of one end of a conversation over any provider and any type of
 * endpoint, and how it meets the other, which is a process of this host.
 *
 * What goes wrong ends the program and says at which end.  One end a process; one thread.
 */
#ifndef TESTS_VERBS_ENDS_H
#define TESTS_VERBS_ENDS_H

#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <stdbool.h>
#include <stdint.h>

#define ENDS_WAIT_S 60		/* nothing takes longer */

/* What the called end tells of itself, through a pipe. */
struct hello {
	uint8_t name[64];
	size_t name_len;
	uint64_t addr, key;	/* of its memory, for fi_read() */
};

struct ends {
	const char *who;	/* in messages */
	bool msg, dgram;	/* or neither: reliable datagrams */
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_eq *eq;	/* msg only */
	struct fid_av *av;	/* all others */
	struct fid_cq *tx_cq, *rx_cq;
	struct fid_pep *pep;
	struct fid_ep *ep;
	struct fid_mr *mr;	/* of @mem */
	void *desc;
	char *mem;
	size_t mem_len;
	fi_addr_t dest;		/* the other end, once it was reached */
};

extern struct ends ends;

/* ends_die, ends_must - @ret is what a call returned; one that is below 0 ends the program. */
_Noreturn void ends_die(const char *what, long ret);
void ends_must(const char *what, long ret);

/* ends_hints - what to ask for; the caller may add to it.
 * @type: msg, dgram or rdm
 */
struct fi_info *ends_hints(const char *prov, const char *type);

/* ends_find - the first offer with the address @local.  Ownership: frees @hints. */
void ends_find(struct fi_info *hints, const char *local);

/* ends_make - all but the endpoint, and @mem_len bytes of memory. */
void ends_make(size_t mem_len);

/* ends_make_endpoint - as @info says: our own, or that of a connection request. */
void ends_make_endpoint(struct fi_info *info);

/* ends_offer - the called end: objects, and what the other end needs to know of them.
 * Then ends_answer(): connected endpoints wait for the call.
 */
void ends_offer(size_t mem_len, struct hello *hello);
void ends_answer(void);

/* ends_reach - the calling end: objects, and the way to the other. */
void ends_reach(size_t mem_len, const struct hello *hello);

/* ends_name, ends_know - not connected: the called end learns where to send, too. */
void ends_name(struct hello *hello);
void ends_know(const struct hello *hello);

void ends_close(void);

#endif
