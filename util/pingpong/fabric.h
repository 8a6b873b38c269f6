/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#ifndef PP_FABRIC_H
#define PP_FABRIC_H

/* The fabric objects of one process, from fi_getinfo to a connected endpoint. */

#include <stddef.h>

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

#include "ctrl.h"
#include "options.h"

struct pp_fabric {
	struct fi_info *list;		/* result of fi_getinfo */
	struct fi_info *info;		/* the entry in use: of list, or of a connection request */
	struct fi_info *request;	/* of a connection request, or NULL */
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_eq *eq;		/* MSG only */
	struct fid_pep *pep;		/* MSG server only */
	struct fid_av *av;		/* not with MSG */
	struct fid_cq *txcq;
	struct fid_cq *rxcq;
	struct fid_ep *ep;
	struct fid_mr *mr;		/* when the provider requires local registration */
	void *dest;			/* client: the server's address */
	fi_addr_t peer;			/* not with MSG */
	char *buf;			/* both buffers, page aligned */
	size_t buf_len;			/* of each half */
	char *tx_buf;
	char *rx_buf;
	void *desc;			/* of the registration, or NULL */
};

/* pp_fabric_kind - what no option says: the first of DGRAM, RDM and MSG that this machine has, for
 * the provider, domain and fabric that were named; DGRAM when it has none.  Both processes do so,
 * and PP_HELLO compares the results.
 */
void pp_fabric_kind(struct pp_options *o);

/* pp_fabric_offered - check that this machine has such an endpoint, whatever the peer.  Prints
 * the reason if not.
 * Errors: negative FI_E*.
 */
int pp_fabric_offered(const struct pp_options *o, struct pp_ctrl *ctrl);

/* pp_fabric_open - open an endpoint and connect it to the peer's.
 *
 * @ctrl: connected, first frame exchanged
 * @f:    [out] zeroed first; release with pp_fabric_close(), on errors too
 *
 * Errors are printed and sent to the peer.
 * Errors: negative FI_E*.
 */
int pp_fabric_open(const struct pp_options *o, struct pp_ctrl *ctrl, struct pp_fabric *f);
void pp_fabric_close(struct pp_fabric *f);

#endif
