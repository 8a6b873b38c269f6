/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * explain.h - why a candidate was not offered, as one log line.
 *
 * When fi_getinfo leaves a candidate out, the provider writes one line at
 * FI_LOG_INFO, subsystem FI_LOG_CORE.  fi_info --explain reads these lines back.
 *
 *	line   = "explain:" 7*( SP key "=" value )
 *	key    = "provider" / "domain" / "addr" / "ep_type" / "attr" / "wanted" / "offered"
 *	value  = bare / quoted
 *	bare   = 1*( any printable byte but SP, DQUOTE and backslash )
 *	quoted = DQUOTE *( plain / "\" DQUOTE / "\\" / "\n" ) DQUOTE
 *
 * The keys stand in this order, each once; one that does not apply has the
 * value "-".  attr is the hint in C, from fi_info on: caps,
 * domain_attr->threading.  Where a hint is a set of bits, wanted has the bits
 * that are not offered.  Bytes before "explain:" are the logger's and are
 * skipped; bytes after the last value are not part of the line.
 */
#ifndef EXPLAIN_H
#define EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>

struct fi_provider;

/* Longest value; a longer one is cut and ends in "...". */
#define EXPLAIN_VALUE_MAX	448
#define EXPLAIN_LINE_MAX	2048

/* Which candidate a line speaks about; NULL members print as "-". */
struct explain_label {
	const char *domain;	/* interface or device name */
	const char *addr;	/* source address as text */
};

/* One line, read back; every member is terminated. */
struct explain_line {
	char provider[64];
	char domain[64];
	char addr[128];
	char ep_type[32];
	char attr[64];
	char wanted[EXPLAIN_VALUE_MAX];
	char offered[EXPLAIN_VALUE_MAX];
};

/* explain_on - true when the line would be logged; test it before formatting the values. */
bool explain_on(const struct fi_provider *prov);

/* explain_refusal - write the line.
 *
 * @label:   may be NULL
 * @ep_type: FI_EP_*, by name; NULL for "-"
 * @attr:    "domain_attr->threading"
 * @wanted, @offered: texts of the values
 */
void explain_refusal(const struct fi_provider *prov, const struct explain_label *label,
		 const char *ep_type, const char *attr, const char *wanted,
		 const char *offered);

/* explain_format - write the line into @buf; returns its full length, as snprintf does. */
size_t explain_format(const struct explain_line *ex, char *buf, size_t len);

/* explain_parse - parse a line; the explain part may begin anywhere in @line.
 * @ex_p: [out] untouched on error
 * Errors: -FI_ENOENT: no explain part; -FI_EINVAL: malformed explain part.
 */
int explain_parse(const char *line, struct explain_line *ex_p);

#endif
