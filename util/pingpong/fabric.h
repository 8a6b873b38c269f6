/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#ifndef PP_FABRIC_H
#define PP_FABRIC_H

/* The fabric objects of one side, from fi_getinfo to a connected endpoint. */

#include <stddef.h>

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

#include "ctrl.h"
#include "options.h"

struct pp_fabric {
	struct fi_info *list;		/* what fi_getinfo said */
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
	struct fid_mr *mr;		/* where the provider wants local registration */
	void *dest;			/* client: the server's address */
	fi_addr_t peer;			/* not with MSG */
	char *buf;			/* both buffers, page aligned */
	size_t buf_len;			/* of each half */
	char *tx_buf;
	char *rx_buf;
	void *desc;			/* of the registration, or NULL */
};

/* pp_fabric_offered - whether this machine has such an endpoint at all, whoever the
 * other side is.  What speaks against it is told to the user.
 * Errors: negative FI_E*.
 */
int pp_fabric_offered(const struct pp_options *o, struct pp_ctrl *ctrl);

/* pp_fabric_open - find the other side and get ready to carry messages to it.
 *
 * @ctrl: connected, hello done
 * @f:    [out] zeroed first; release with pp_fabric_close(), on errors too
 *
 * A failure is told to the user and to the other side.
 * Errors: negative FI_E*.
 */
int pp_fabric_open(const struct pp_options *o, struct pp_ctrl *ctrl, struct pp_fabric *f);
void pp_fabric_close(struct pp_fabric *f);

#endif
