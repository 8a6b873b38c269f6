/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#ifndef PP_OPTIONS_H
#define PP_OPTIONS_H

/* The command line of fi_pingpong. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rdma/fabric.h>

#define PP_DEFAULT_PORT 47592
#define PP_SIZES_MAX 64

enum pp_role { PP_SERVER, PP_CLIENT };

struct pp_options {
	enum pp_role role;
	const char *host;		/* the server's name, on the client */
	uint16_t src_port;		/* of the control socket; 0: any */
	uint16_t dst_port;
	bool ipv6;
	bool local;			/* both processes on this host, started here */
	const char *domain;		/* filters, NULL when not given */
	const char *fabric;
	const char *provider;
	const char *source;		/* this side's address or name */
	enum fi_ep_type ep_type;	/* FI_EP_UNSPEC: the first kind that pp_fabric_kind() finds */
	bool tagged;
	uint32_t iters;
	uint32_t warmup;		/* round trips before the clock starts */
	size_t sizes[PP_SIZES_MAX];	/* ascending */
	int size_cnt;
	bool strict_sizes;		/* sizes given by the user: none may be left out */
	bool check;			/* verify each message */
	bool baseline;			/* measure a bare socket for comparison */
	bool json;
	bool verbose;
	bool help;
};

/* pp_options_parse - parse the command line.
 *
 * @o_p: [out] filled in, with defaults where nothing was given
 *
 * Prints errors to stderr.
 * Errors: -FI_EINVAL.
 */
int pp_options_parse(int argc, char **argv, struct pp_options *o_p);

/* pp_options_ep_name - "dgram", "msg" or "rdm". */
const char *pp_options_ep_name(enum fi_ep_type type);

/* pp_options_text - the options that must be the same on both sides, as text. */
void pp_options_text(const struct pp_options *o, char *buf, size_t len);

void pp_options_usage(void);

#endif
