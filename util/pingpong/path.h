/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#ifndef PP_PATH_H
#define PP_PATH_H

/*
 * A path: something that carries messages there and back, one at a time.  The
 * fabric and the bare socket are measured by the same loop over this interface,
 * so that the two figures differ by the path alone.
 */

#include <stddef.h>

#include "ctrl.h"
#include "fabric.h"
#include "options.h"

struct pp_path;

struct pp_path_ops {
	/* Send the first @len bytes of tx; may return before they are out. */
	int (*send)(struct pp_path *path, size_t len);
	/* 1: a message of @len bytes is in rx, and all that was sent is out.
	 * 0: not yet; makes progress each time it is called. */
	int (*poll)(struct pp_path *path, size_t len);
	/* Let the provider work; what arrives meanwhile waits for poll. */
	int (*progress)(struct pp_path *path);
	/* rx may be written again. */
	int (*rearm)(struct pp_path *path);
	void (*close)(struct pp_path *path);
};

struct pp_path {
	const struct pp_path_ops *ops;
	struct pp_ctrl *ctrl;		/* for what goes wrong */
	char *tx;			/* messages are put here */
	char *rx;			/* and found here */
};

/* pp_path_fabric - a path over an open fabric.
 * pp_path_socket - one over a socket of its own, TCP or, with datagram
 *		    endpoints, UDP; connected when this returns.
 *
 * @len:    longest message
 * @path_p: [out] end it with ops->close; the fabric stays the caller's
 *
 * A failure is told to the user and to the other side.
 */
int pp_path_fabric(const struct pp_options *o, struct pp_ctrl *ctrl, struct pp_fabric *f,
		   struct pp_path **path_p);
int pp_path_socket(const struct pp_options *o, struct pp_ctrl *ctrl, size_t len,
		   struct pp_path **path_p);

#endif
