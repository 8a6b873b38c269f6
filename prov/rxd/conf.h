/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * conf.h - what a person set in the environment; read once, then constant.
 */
#ifndef RXD_CONF_H
#define RXD_CONF_H

#include <rdma/providers/fi_log.h>
#include <rdma/providers/fi_prov.h>

#include "rxd/recovery/cc.h"

struct rxd_conf {
	struct fi_provider *prov;	/* for log lines and parameters */
	int conn_timeout_ms;		/* until a call has failed */
	int peer_timeout_ms;		/* without a word from a peer that owes one */
	int keepalive_ms;		/* silence before an idle peer is asked; 0: never */
	int local;			/* reach peers on this host through shared memory */
	int checksum;			/* cover the payload, too */
	int ecn;			/* hear from long queues before they drop */
	size_t window;			/* most a peer may send ahead; 0: as the socket and path have it */
	size_t eager_size;
	size_t inject_size;
	size_t tx_size, rx_size;	/* default queue sizes */
	int cc;				/* enum rxd_cc_kind */
	int tolerance;			/* percent that a line may lose by itself */
};

extern struct rxd_conf rxd_conf;

/* rxd_conf_define - make the parameters known (fi_info -e) and read them. */
void rxd_conf_define(void);

#endif
