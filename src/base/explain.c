/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <rdma/fi_errno.h>
#include <rdma/providers/fi_log.h>
#include <rdma/providers/fi_prov.h>

#include <stdio.h>
#include <string.h>

#include "base/explain.h"

#define INTRO "explain:"

/* The keys in the order in which they are written, and the member of each. */
static const struct {
	const char *key;
	size_t off;
	size_t len;
} fields[] = {
#define FIELD(name) { #name, offsetof(struct explain_line, name), \
		      sizeof(((struct explain_line *) 0)->name) }
	FIELD(provider), FIELD(domain), FIELD(addr), FIELD(ep_type),
	FIELD(attr), FIELD(wanted), FIELD(offered),
#undef FIELD
};

#define FIELD_CNT (sizeof(fields) / sizeof(fields[0]))

/* Output position; counts past the end of the buffer, as snprintf does. */
struct out {
	char *buf;
	size_t len;
	size_t used;
};

static void out_char(struct out *out, char c)
{
	if (out->used + 1 < out->len)
		out->buf[out->used] = c;
	out->used++;
}

static void out_str(struct out *out, const char *s)
{
	while (*s)
		out_char(out, *s++);
}

static bool is_bare(char c)
{
	return c > ' ' && c < 0x7f && c != '"' && c != '\\';
}

static bool all_bare(const char *s)
{
	if (!*s)
		return false;
	for (; *s; s++)
		if (!is_bare(*s))
			return false;
	return true;
}

static void out_value(struct out *out, const char *s)
{
	if (all_bare(s)) {
		out_str(out, s);
		return;
	}
	out_char(out, '"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			out_char(out, '\\');
		if (*s == '\n')
			out_str(out, "\\n");
		else
			out_char(out, (unsigned char) *s < ' ' ? ' ' : *s);
	}
	out_char(out, '"');
}

size_t explain_format(const struct explain_line *ex, char *buf, size_t len)
{
	struct out out = { .buf = buf, .len = len };
	size_t i;

	out_str(&out, INTRO);
	for (i = 0; i < FIELD_CNT; i++) {
		out_char(&out, ' ');
		out_str(&out, fields[i].key);
		out_char(&out, '=');
		out_value(&out, (const char *) ex + fields[i].off);
	}
	if (len)
		buf[out.used < len ? out.used : len - 1] = '\0';
	return out.used;
}

/* Copies a value.  A value that is cut ends in "...", so that a reader can tell. */
static void set_text(char *dst, size_t len, const char *src)
{
	size_t n;

	if (!src || !*src)
		src = "-";
	n = strnlen(src, len);
	if (n < len) {
		memcpy(dst, src, n + 1);
		return;
	}
	memcpy(dst, src, len - 4);
	memcpy(dst + len - 4, "...", 4);
}

/* ---- refusals ------------------------------------------------------------------- */

static const struct explain_taker *taker;

void explain_set_taker(const struct explain_taker *to)
{
	taker = to;
}

static bool is_set(enum fi_type type)
{
	return type == FI_TYPE_CAPS || type == FI_TYPE_MODE || type == FI_TYPE_OP_FLAGS ||
	       type == FI_TYPE_MSG_ORDER || type == FI_TYPE_MR_MODE;
}

/* names_text - the narrow types are 32 bits wide.  An empty set is printed explicitly, because an
 * empty text could be read as a missing value.
 */
static void names_text(enum fi_type type, uint64_t number, char *buf, size_t len)
{
	uint32_t narrow = (uint32_t) number;
	bool wide = is_set(type) && type != FI_TYPE_MR_MODE;

	if (!number && is_set(type))
		snprintf(buf, len, "none");
	else
		fi_tostr_r(buf, len, wide ? (const void *) &number : &narrow, type);
}

const char *explain_value_text(const struct explain_value *value, char *buf, size_t len)
{
	switch (value->kind) {
	case EXPLAIN_TEXT:
		return value->text;
	case EXPLAIN_NUMBER:
		snprintf(buf, len, "%llu", (unsigned long long) value->number);
		break;
	case EXPLAIN_NAMES:
		names_text(value->type, value->number, buf, len);
		break;
	}
	return buf;
}

bool explain_logged(const struct fi_provider *prov)
{
	return taker ? taker->is_logged(prov) :
		       fi_log_enabled(prov, FI_LOG_INFO, FI_LOG_CORE);
}

bool explain_on(const struct fi_provider *prov)
{
	return (taker && taker->wants()) || explain_logged(prov);
}

static void set_value(char *dst, size_t len, const struct explain_value *value)
{
	char buf[EXPLAIN_VALUE_MAX];

	set_text(dst, len, explain_value_text(value, buf, sizeof(buf)));
}

static void line_write(const struct explain_refusal *refusal)
{
	const struct explain_label *label = refusal->label;
	const struct fi_provider *prov = refusal->prov;
	char line[EXPLAIN_LINE_MAX];
	struct explain_line ex;

	set_text(ex.provider, sizeof(ex.provider), prov ? prov->name : NULL);
	set_text(ex.domain, sizeof(ex.domain), label ? label->domain : NULL);
	set_text(ex.addr, sizeof(ex.addr), label ? label->addr : NULL);
	set_value(ex.ep_type, sizeof(ex.ep_type), &refusal->ep_type);
	set_text(ex.attr, sizeof(ex.attr), refusal->attr);
	set_value(ex.wanted, sizeof(ex.wanted), &refusal->wanted);
	set_value(ex.offered, sizeof(ex.offered), &refusal->offered);
	explain_format(&ex, line, sizeof(line));
	fi_log(prov, FI_LOG_INFO, FI_LOG_CORE, "explain_refusal", __LINE__, "%s\n", line);
}

void explain_refuse(const struct explain_refusal *refusal)
{
	if (taker && taker->wants())
		taker->take(refusal);
	if (explain_logged(refusal->prov))
		line_write(refusal);
}

void explain_refusal(const struct fi_provider *prov, const struct explain_label *label,
		 const char *ep_type, const char *attr, const char *wanted,
		 const char *offered)
{
	struct explain_refusal refusal = {
		.prov = prov, .label = label, .ep_type.text = ep_type, .attr = attr,
		.wanted.text = wanted, .offered.text = offered,
	};

	explain_refuse(&refusal);
}

/* ---- reading a line --------------------------------------------------------------- */

static const char *parse_bare(const char *s, char *dst, size_t len)
{
	size_t n = 0;

	while (is_bare(s[n]))
		n++;
	if (!n || n >= len)
		return NULL;
	memcpy(dst, s, n);
	dst[n] = '\0';
	return s + n;
}

/* @s points behind the opening quote; returns the position behind the closing one. */
static const char *parse_quoted(const char *s, char *dst, size_t len)
{
	size_t n = 0;

	for (; *s != '"'; s++) {
		char c = *s;

		if (!c || n + 1 >= len)
			return NULL;
		if (c == '\\') {
			c = *++s;
			if (c == 'n')
				c = '\n';
			else if (c != '"' && c != '\\')
				return NULL;
		}
		dst[n++] = c;
	}
	dst[n] = '\0';
	return s + 1;
}

static const char *parse_field(const char *s, size_t i, struct explain_line *ex)
{
	char *dst = (char *) ex + fields[i].off;
	size_t keylen = strlen(fields[i].key);

	if (*s != ' ' || strncmp(s + 1, fields[i].key, keylen) || s[1 + keylen] != '=')
		return NULL;
	s += keylen + 2;
	if (*s == '"')
		return parse_quoted(s + 1, dst, fields[i].len);
	return parse_bare(s, dst, fields[i].len);
}

int explain_parse(const char *line, struct explain_line *ex_p)
{
	struct explain_line ex;
	const char *s;
	size_t i;

	s = strstr(line, INTRO " ");
	if (!s)
		return -FI_ENOENT;
	s += sizeof(INTRO) - 1;
	for (i = 0; i < FIELD_CNT; i++) {
		s = parse_field(s, i, &ex);
		if (!s)
			return -FI_EINVAL;
	}
	*ex_p = ex;
	return 0;
}
