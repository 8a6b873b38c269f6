/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * conf.h - parameters from the environment, FI_OFI_RXD_*; read once, then constant.
 */
#ifndef RXD_CONF_H
#define RXD_CONF_H

#include <rdma/providers/fi_log.h>
#include <rdma/providers/fi_prov.h>

#include "info/rails.h"
#include "rxd/recovery/cc.h"

struct layer;

struct rxd_conf {
	struct fi_provider *prov;	/* for log lines and parameters */
	const struct layer *layer;	/* how it is offered */
	int conn_timeout_ms;		/* until an attempt to connect fails */
	int peer_timeout_ms;		/* without an answer that is due: the peer is declared lost */
	int local;			/* reach peers on the same host through shared memory */
	int checksum;			/* of the payload, too */
	int ecn;			/* explicit congestion notification */
	size_t eager_size;
	size_t inject_size;
	size_t tx_size, rx_size;	/* default queue sizes */
	int cc;				/* enum rxd_cc_kind */
	int tolerance;			/* percent of loss that is no congestion */
	struct info_rails rails;	/* FI_RAILS */
};

extern struct rxd_conf rxd_conf;

/* rxd_conf_define - make the parameters known (fi_info -e) and read them. */
void rxd_conf_define(void);

#endif
