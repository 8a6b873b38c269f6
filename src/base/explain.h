/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * explain.h - why a candidate was not offered, as one log line.
 *
 * When fi_getinfo leaves a candidate out, the provider writes one line at
 * FI_LOG_INFO, subsystem FI_LOG_CORE.  fi_info --explain reads these lines back.
 * A refusal is a structure until a line is written: the core ranks the structures for the
 * warning that it may have to write, and programs that find what they want pay for no text.
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

#include <rdma/fabric.h>

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

/* A value that a hint has, or a candidate; text only for a reader. */
struct explain_value {
	enum explain_kind {
		EXPLAIN_TEXT,		/* @text; NULL for "-" */
		EXPLAIN_NUMBER,		/* @number, decimal */
		EXPLAIN_NAMES,		/* @number by the names of @type; an empty set is "none" */
	} kind;
	enum fi_type type;
	uint64_t number;
	const char *text;
};

/* Why one candidate is left out.  All that it points to is the caller's, for the call. */
struct explain_refusal {
	const struct fi_provider *prov;
	const struct explain_label *label;	/* may be NULL */
	struct explain_value ep_type;
	const char *attr;			/* "domain_attr->threading" */
	struct explain_value wanted;
	struct explain_value offered;
};

#define EXPLAIN_VALUE_TEXT(s)		((struct explain_value) { .text = (s) })
#define EXPLAIN_VALUE_NUMBER(n)		((struct explain_value) { .kind = EXPLAIN_NUMBER, .number = (n) })
#define EXPLAIN_VALUE_NAMES(t, n) \
	((struct explain_value) { .kind = EXPLAIN_NAMES, .type = (t), .number = (n) })

/* explain_value_text - the value as text, in @buf or where it is already. */
const char *explain_value_text(const struct explain_value *value, char *buf, size_t len);

/* What takes refusals as structures, before there is a line.  The core is the only one, for the
 * providers of the same file; a provider that is loaded has a copy of explain.c without one, and
 * its lines reach the core through fi_log().
 */
struct explain_taker {
	bool (*wants)(void);		/* does the calling thread collect refusals? */
	void (*take)(const struct explain_refusal *refusal);
	bool (*is_logged)(const struct fi_provider *prov);	/* would the line pass the filters? */
};

/* explain_set_taker - Threading: once, before the first refusal. */
void explain_set_taker(const struct explain_taker *taker);

/* explain_on - true when a refusal is logged or taken; test it before preparing one. */
bool explain_on(const struct fi_provider *prov);

/* explain_logged - true when the line is logged; test it before formatting what is for the line
 * only: the label.
 */
bool explain_logged(const struct fi_provider *prov);

/* explain_refuse - pass a refusal to the taker, and write the line where it is logged. */
void explain_refuse(const struct explain_refusal *refusal);

/* explain_refusal - the same for values that are texts.
 *
 * @label:   may be NULL
 * @ep_type: FI_EP_*, by name; NULL for "-"
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
