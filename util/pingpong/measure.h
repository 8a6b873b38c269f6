/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#ifndef PP_MEASURE_H
#define PP_MEASURE_H

/* Round trips over one or two paths, in alternating slices. */

#include <stddef.h>
#include <stdint.h>

#include "options.h"
#include "path.h"

/* The result of one size on one path. */
struct pp_figure {
	uint64_t sent;			/* messages of the client */
	uint64_t acked;			/* replies; fewer when datagrams were lost */
	double seconds;			/* of all slices together */
	double usec;			/* half a round trip: median over the slices */
};

struct pp_result {
	size_t size;
	struct pp_figure fabric;
	struct pp_figure socket;	/* with --baseline */
};

struct pp_measure {
	const struct pp_options *o;
	struct pp_ctrl *ctrl;
	struct pp_path *fabric;
	struct pp_path *socket;		/* or NULL */
	uint64_t trips;			/* of the fabric, the warm-up's included */
	uint64_t lost;			/* those of them without a reply */
	char *pattern;			/* of the messages, or NULL without -c */
	/* called repeatedly: completed part of the size, 0 to 1 */
	void (*progress)(void *arg, size_t size, double done);
	void *progress_arg;
};

/* pp_measure_open - allocate for messages of up to @len bytes.
 * pp_measure_close - free; the paths stay open.
 */
int pp_measure_open(struct pp_measure *m, size_t len);
void pp_measure_close(struct pp_measure *m);

/* pp_measure_size - measure one size; both processes call it with the same size.
 *
 * @r_p: [out] the figures, by this process's clock
 *
 * Datagrams may be lost: the client continues after a second without a reply.
 * Errors: printed and sent to the peer.
 */
int pp_measure_size(struct pp_measure *m, size_t size, struct pp_result *r_p);

#endif
