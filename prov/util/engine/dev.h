/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * dev.h - requests whose buffer is memory of a device.
 *
 * The CPU may not touch it, so payload goes through buffers of the host: a short one by a copy
 * at the call or when it arrives; a long one in chunks, some of which are copied while others
 * are with the link, so that the copy engine and the wire work at the same time.
 *
 * An endpoint without FI_HMEM never comes here: the calls that look at a desc are in tables of
 * their own (eng_dev_set_tables()).
 */
#ifndef ENG_DEV_H
#define ENG_DEV_H

#include "engine/grp.h"
#include "engine/recv.h"
#include "engine/sink.h"
#include "hmem/mem.h"
#include "obj/mr.h"

struct eng_pump;
struct eng_tx;
struct wire_msg;

/* Payload up to this is copied while the caller waits. */
#define ENG_DEV_SHORT (64u << 10)
/* A chunk, and what a pump copies at a time; the longest DATA piece of a link is a chunk. */
#define ENG_DEV_CHUNK (1u << 20)
#define ENG_DEV_PIECE (512u << 10)
/* Chunks of one payload, and of a group; what comes in may have all, what goes out half. */
#define ENG_DEV_DEPTH 4
#define ENG_DEV_CHUNKS 32

/* A buffer of the host, in one of these states: of its owner; the link fills it (its sink is
 * the cookie); a copy to or from it is in flight.
 */
struct eng_chunk {
	struct list node;		/* free, on a pump's list, or on dev->busy */
	struct eng_grp *grp;
	char *buf;
	size_t len;			/* payload */
	size_t off;			/* where it goes in the owner's list */
	bool pooled;			/* ENG_DEV_CHUNK bytes, pinned; else malloc */
	bool out;			/* counts among those that go out */
	struct hmem_opened *opened;	/* memory of another process that is copied from; or NULL */
	struct eng_out *answer;		/* to its owner; or NULL: no memory is shared */
	uint32_t tx_id;			/* its name for the request */
	void *owner;			/* struct eng_pump or struct eng_sink */
	struct eng_sink sink;		/* the link fills it */
	struct hmem_event event[ENG_IOV_MAX];
	unsigned event_cnt;
	int err;			/* a copy failed */
};

/* Of a group with FI_HMEM. */
struct eng_dev_grp {
	struct list free;		/* pooled chunks */
	struct list busy;		/* copies to devices, in the order of their start */
	unsigned used, used_out;	/* pooled chunks */
	struct pool devs;		/* struct eng_dev */
	struct eng_work work;		/* looks at @busy */
	struct eng_grp *grp;
};

/* What a request with memory of a device has beside its list. */
struct eng_dev {
	struct eng_grp *grp;
	struct obj_mr *mrs[ENG_IOV_MAX];	/* of each entry; NULL: system memory */
	struct eng_chunk *chunk;	/* payload in the host's memory, or NULL */
	struct eng_out *nack;		/* @in_place: for the receiver, if a copy fails */
	bool in_place;			/* payload to send stays where it is until the pump fetches it */
	bool shared;			/* tx: the receiver may open the payload; rx: will, if it can */
	bool told;			/* rx: such a copy failed, and the sender has a NACK */
	int err;			/* a copy failed: the rest of the payload is passed over */
};

/* eng_dev_name_all - all of @cnt entries are of @mr. */
static inline void eng_dev_name_all(struct obj_mr **mrs, struct obj_mr *mr, size_t cnt)
{
	while (cnt--)
		mrs[cnt] = mr;
}

/* eng_dev_get - describe the memory of @cnt entries.  NULL: no memory. */
struct eng_dev *eng_dev_get(struct eng_grp *grp, void *const *desc, size_t cnt);
void eng_dev_put(struct eng_dev *dev);

/* eng_dev_limit - an endpoint with FI_HMEM cuts payload so that a piece fits a chunk. */
static inline void eng_dev_limit(struct eng_link_attr *attr)
{
	if (attr->seg_size > ENG_DEV_CHUNK)
		attr->seg_size = ENG_DEV_CHUNK;
	if (attr->eager_limit > ENG_DEV_CHUNK)
		attr->eager_limit = ENG_DEV_CHUNK;
}

/* eng_dev_grp_fini - the group ends; nothing of it is in flight. */
void eng_dev_grp_fini(struct eng_grp *grp);

/* ---- chunks (chunk.c) ---------------------------------------------------------- */

/* eng_chunk_get - room for @len bytes.
 * @must: if the pool is empty, or has no such size, by malloc
 * NULL: no memory, or all chunks are in use.
 */
struct eng_chunk *eng_chunk_get(struct eng_grp *grp, size_t len, bool out, bool must);
void eng_chunk_put(struct eng_chunk *chunk);

/* eng_chunk_copy - begin to copy chunk->len bytes, at chunk->off of the list. */
void eng_chunk_copy(struct eng_chunk *chunk, enum hmem_dir dir, const struct obj_mr_list *list);
/* eng_chunk_done - 0: in flight; 1: the copy has ended, and chunk->err says how. */
int eng_chunk_done(struct eng_chunk *chunk);
/* eng_chunk_wait - until then. */
void eng_chunk_wait(struct eng_chunk *chunk);

/* ---- out (out.c) ----------------------------------------------------------------- */

/* eng_dev_of_tx - @tx, which asks for DATA, has them put into such a list.  NULL: no memory. */
struct eng_dev *eng_dev_of_tx(struct eng_tx *tx, void *const *desc, size_t cnt);

/* eng_dev_stage - copy a payload to the host now; @host_p is where it is while @tx lives.
 * Errors: -FI_EAGAIN no memory, -FI_EIO the device.
 */
int eng_dev_stage(struct eng_tx *tx, const struct iovec *iov, void *const *desc, size_t cnt,
		  size_t len, struct iovec *host_p);

/* eng_dev_stage_late - the same for a payload that was to be announced and is not, as tx->pkt lists it.
 * 0 also where it is none of a device.
 * Errors: -FI_ENOMEM, -FI_EIO.
 */
int eng_dev_stage_late(struct eng_tx *tx);

/* eng_dev_attach - as eng_tx_attach(), for a list with memory of a device.
 * @in_place: the payload stays where it is, to be announced and pumped; else it is copied now
 * Errors: those of eng_dev_stage().
 */
int eng_dev_attach(struct eng_tx *tx, const struct iovec *iov, void *const *desc, size_t cnt,
		   size_t len, bool inject, bool in_place);

/* eng_dev_mrs - for the pump of an announced message; NULL: its payload is with the host. */
static inline struct obj_mr *const *eng_dev_mrs(const struct eng_dev *dev)
{
	return dev->in_place ? dev->mrs : NULL;
}

/* eng_dev_tell - the pump of @tx failed half way: the receiver's sink @rx_id gets no more. */
void eng_dev_tell(struct eng_tx *tx, uint32_t rx_id);

/* A pump with memory of a device: eng_dev_begin - it starts.  eng_dev_push - its pump_push().
 * eng_dev_stop - what it copies ends.
 */
void eng_dev_begin(struct eng_pump *pump);
int eng_dev_push(struct eng_pump *pump);
void eng_dev_stop(struct eng_pump *pump);

/* ---- in (in.c) --------------------------------------------------------------------- */

/* eng_dev_describe - the list of a receive that is being filled in.  False: no memory. */
bool eng_dev_describe(struct eng_recv *recv, void *const *desc, size_t cnt);
/* eng_dev_part - @part lies in the multi-receive @buffer.  False: no memory. */
bool eng_dev_part(struct eng_recv *part, const struct eng_recv *buffer);

/* eng_dev_on_data - a valid piece of DATA for @sink. */
enum eng_rx_verdict eng_dev_on_data(struct eng_sink *sink, struct eng_peer *peer,
				    struct eng_rx *rx, const struct wire_msg *msg);
/* eng_dev_take - an eager payload, or what there is of it, for a matched receive. */
enum eng_rx_verdict eng_dev_take(struct eng_recv *recv, struct eng_rx *rx);
/* eng_dev_pull - the payload of @msg, which the link holds; returns as its pull() does. */
int eng_dev_pull(struct eng_recv *recv, struct eng_msg *msg);
/* eng_dev_arrived - what was placed for @recv goes to the device.  Returns its status. */
int eng_dev_arrived(struct eng_recv *recv, int status);
/* eng_dev_settle - wait for all copies to devices that are in flight. */
void eng_dev_settle(struct eng_grp *grp);

/* eng_chunk_end - @chunk, of a sink, is done with: the sink may be complete, and gone. */
void eng_chunk_end(struct eng_chunk *chunk);
/* eng_chunk_to_sink - the copy of @chunk to its sink's device has begun. */
void eng_chunk_to_sink(struct eng_chunk *chunk);

/* ---- between processes (share.c) ------------------------------------------------------
 *
 * Where the link says that the peer is a process of this host, a long payload in memory of a
 * device is offered (RTS, announced WRITE) to be copied by the receiver, from device to device.
 * A receiver whose buffer is memory of a device, too, asks for it (CTS), opens what it is told
 * (SHARE) and says when it is copied (ACK).  If it cannot open it, it asks for the payload (CTS),
 * and that goes through buffers of the host.  Who reads into memory of a device asks in its READ.
 */

/* eng_dev_announces - is a write of @len bytes from a device better announced to @peer? */
bool eng_dev_announces(const struct eng_peer *peer, size_t len);
/* eng_dev_offer - of @tx, with a payload in place: WIRE_F_SHARE if it may be opened, else 0.
 * eng_dev_offered - was that so?
 */
uint8_t eng_dev_offer(struct eng_tx *tx);
bool eng_dev_offered(const struct eng_tx *tx);
/* eng_dev_share - answer the CTS @msg.  False: it cannot be, send DATA. */
bool eng_dev_share(struct eng_tx *tx, const struct wire_msg *msg);
/* eng_dev_tell_share - tell @peer's sink @rx_id of @len bytes of @mr at @buf; its answer names
 * @tx_id.  False: no handle, or no memory.
 */
bool eng_dev_tell_share(struct eng_peer *peer, struct obj_mr *mr, const void *buf, size_t len,
			uint32_t tx_id, uint32_t rx_id);
/* eng_dev_accept - WIRE_F_SHARE if @sink can be filled by such a copy, else 0. */
uint8_t eng_dev_accept(const struct eng_ep *ep, struct eng_sink *sink);
/* eng_dev_shares - may @mr be copied by another process, as far as @ep is concerned? */
bool eng_dev_shares(const struct eng_ep *ep, const struct obj_mr *mr);
/* eng_dev_on_share - SHARE has passed wire_parse().  @why_p: as of eng_sink_on_data() */
enum eng_rx_verdict eng_dev_on_share(struct eng_peer *peer, const struct wire_msg *msg,
				     const char **why_p);
/* eng_dev_answer - the copy of @chunk has ended, and chunk->err says how. */
void eng_dev_answer(struct eng_chunk *chunk);

/* ---- calls --------------------------------------------------------------------------- */

/* eng_dev_set_tables - of an endpoint with FI_HMEM: tables whose calls look at the desc, and
 * take the way of all others if it is not of a device (calls.c).
 */
void eng_dev_set_tables(struct fid_ep *ep);

/* The calls for lists with memory of a device, each in the file of its noun. */
ssize_t eng_dev_send(struct fid_ep *ep, const struct fi_msg_tagged *msg, uint64_t flags,
		     bool tagged);
ssize_t eng_dev_recv(struct fid_ep *ep, const struct fi_msg_tagged *msg, uint64_t flags,
		     bool tagged);
ssize_t eng_dev_rma(struct fid_ep *ep, const struct fi_msg_rma *msg, uint64_t flags, bool write);

#endif
