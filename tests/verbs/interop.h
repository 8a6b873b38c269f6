/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * interop.h - one end of a connection, by librdmacm or by this library; the same
 * conversation goes over any pair of them.
 *
 * Each call waits for its end and returns 0, or prints what went wrong and returns -1.
 */
#ifndef INTEROP_H
#define INTEROP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MSG_MAX 65536u		/* bytes of a message */
#define RECVS 4u		/* buffers posted */
#define WAIT_S 60		/* for anything */

/* Memory of an end: what it sends, what it receives, what the peer may touch. */
struct memory {
	uint8_t out[MSG_MAX];
	uint8_t in[RECVS][MSG_MAX];
	uint8_t open[MSG_MAX];
	uint64_t sum;		/* the peer adds to it */
	uint64_t old;		/* where results come back */
};

struct end_ops {
	/* open - connect to @peer from @local, or with @peer NULL listen there for one call */
	int (*open)(struct memory *mem, const char *local, const char *peer);
	int (*send)(size_t len, const uint32_t *imm);
	/* recv - the next message; it is in mem->in[*i_p] until post(). */
	int (*recv)(unsigned *i_p, size_t *len_p, bool *has_imm_p, uint32_t *imm_p);
	int (*post)(unsigned i);
	int (*write)(uint64_t addr, uint32_t key, size_t len);	/* from mem->out */
	int (*read)(uint64_t addr, uint32_t key, size_t len);	/* into mem->out */
	int (*add)(uint64_t addr, uint32_t key, uint64_t value);	/* into mem->old */
	uint32_t (*key)(void);			/* of the memory */
	int (*close)(bool first);		/* the other waits for the first to close */
};

extern const struct end_ops end_rdmacm, end_fabric;

#endif
