/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * conf.h - what a person set in the environment; read once, then constant.
 */
#ifndef RXM_CONF_H
#define RXM_CONF_H

#include <stddef.h>
#include <rdma/providers/fi_prov.h>

/* Which wire formats connections may have. */
enum rxm_conf_wire {
	RXM_WIRE_AUTO,		/* native with this library, compatible with others */
	RXM_WIRE_NATIVE,
	RXM_WIRE_COMPATIBLE,
};

struct rxm_conf {
	struct fi_provider *prov;	/* for log lines and parameters */
	size_t buf_size;		/* bytes of a message of the native format; the eager limit of the
					 * compatible one */
	int wire;			/* enum rxm_conf_wire */
	int rndv_write;			/* peers in the compatible format write rendezvous */
	size_t credits;			/* receive buffers for messages of each connected peer */
	int conn_timeout_ms;		/* until an attempt has failed */
	int conn_retry_ms;		/* FI_CONN_RETRY: how long a refused attempt is repeated */
	int local;			/* reach peers on this host through shared memory */
	size_t inject_size;		/* limit of fi_inject() that endpoints offer */
	size_t tx_size, rx_size;	/* default queue sizes */
};

extern struct rxm_conf rxm_conf;

/* rxm_conf_define - make the parameters known (fi_info -e) and read them. */
void rxm_conf_define(void);

#endif
