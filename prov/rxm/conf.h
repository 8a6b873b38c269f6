/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * conf.h - what a person set in the environment; read once, then constant.
 */
#ifndef RXM_CONF_H
#define RXM_CONF_H

#include <rdma/providers/fi_log.h>
#include <rdma/providers/fi_prov.h>

#include "obj/log.h"

struct rxm_conf {
	struct fi_provider *prov;	/* for log lines and parameters */
	size_t buf_size;		/* of a posted buffer */
	size_t credits;			/* buffers for each connected peer */
	int conn_timeout_ms;		/* until a call has failed */
	int conn_retry_ms;		/* so long a refused call is repeated */
	int local;			/* reach peers on this host through shared memory */
	size_t inject_size;
	size_t tx_size, rx_size;	/* default queue sizes */
};

extern struct rxm_conf rxm_conf;

/* rxm_conf_define - make the parameters known (fi_info -e) and read them. */
void rxm_conf_define(void);

#define RXM_WARN(...)	OBJ_WARN(rxm_conf.prov, FI_LOG_EP_CTRL, __VA_ARGS__)
#define RXM_WARN_SPARSE(...) FI_WARN_SPARSE(rxm_conf.prov, FI_LOG_EP_CTRL, __VA_ARGS__)
#define RXM_INFO(...)	OBJ_INFO(rxm_conf.prov, FI_LOG_EP_CTRL, __VA_ARGS__)

#endif
