/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#ifndef PP_PATH_H
#define PP_PATH_H

/*
 * A path transfers messages in both directions, one at a time.  The fabric and the bare socket
 * are measured by the same loop over this interface, so that the figures differ by the path
 * only.
 */

#include <stddef.h>

#include "ctrl.h"
#include "fabric.h"
#include "options.h"

struct pp_path;

struct pp_path_ops {
	/* Send the first @len bytes of tx; may return before they have left. */
	int (*send)(struct pp_path *path, size_t len);
	/* Returns 1: a message of @len bytes is in rx, and all sends have completed;
	 * 0: not yet.  Each call makes progress.
	 */
	int (*poll)(struct pp_path *path, size_t len);
	/* Make progress; what arrives is returned by a later poll. */
	int (*progress)(struct pp_path *path);
	/* Allow rx to be overwritten. */
	int (*rearm)(struct pp_path *path);
	void (*close)(struct pp_path *path);
};

struct pp_path {
	const struct pp_path_ops *ops;
	struct pp_ctrl *ctrl;		/* for error reports */
	char *tx;			/* buffer for messages to send */
	char *rx;			/* buffer for received messages */
};

/* pp_path_fabric - a path over an open fabric.
 * pp_path_socket - one over a separate socket: TCP or, with datagram endpoints, UDP; connected
 * on return.
 *
 * @len:    longest message
 * @path_p: [out] released with ops->close; the fabric stays the caller's
 *
 * Errors are printed and sent to the peer.
 */
int pp_path_fabric(const struct pp_options *o, struct pp_ctrl *ctrl, struct pp_fabric *f,
		   struct pp_path **path_p);
int pp_path_socket(const struct pp_options *o, struct pp_ctrl *ctrl, size_t len,
		   struct pp_path **path_p);

#endif
