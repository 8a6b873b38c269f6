/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include "json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Length of the well-formed UTF-8 sequence at @s, 0 when there is none. */
static int utf8_len(const unsigned char *s)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	int len = *s < 0x80 ? 1 : *s >> 5 == 6 ? 2 : *s >> 4 == 14 ? 3 : *s >> 3 == 30 ? 4 : 0;
	uint32_t code = len > 1 ? *s & (0xff >> (len + 1)) : *s;

	for (int i = 1; i < len; i++) {
		if (s[i] >> 6 != 2)
			return 0;
		code = code << 6 | (s[i] & 0x3f);
	}
	if (len > 1 && (code < least[len] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)))
		return 0;
	return len;
}

static void put_quoted(FILE *out, const char *text)
{
	const unsigned char *s = (const unsigned char *) text;

	putc('"', out);
	while (*s) {
		int len = utf8_len(s);

		if (!len) {
			fputs("\\ufffd", out);
			len = 1;
		} else if (*s == '"' || *s == '\\') {
			fprintf(out, "\\%c", *s);
		} else if (*s == '\n') {
			fputs("\\n", out);
		} else if (*s < 0x20 || *s == 0x7f) {
			fprintf(out, "\\u%04x", *s);
		} else {
			fwrite(s, 1, len, out);
		}
		s += len;
	}
	putc('"', out);
}

/* The comma, newline and key before a value. */
static void put_lead(struct json *j, const char *key)
{
	if (!j->depth)
		return;
	if (j->filled[j->depth - 1])
		putc(',', j->out);
	j->filled[j->depth - 1] = true;
	fprintf(j->out, "\n%*s", 2 * j->depth, "");
	assert(!key == (j->closer[j->depth - 1] == ']') && "a key in an object, no key in an array");
	if (key) {
		put_quoted(j->out, key);
		fputs(": ", j->out);
	}
}

static void begin_nest(struct json *j, const char *key, const char *brackets)
{
	put_lead(j, key);
	assert(j->depth < JSON_DEPTH_MAX && "nesting deeper than JSON_DEPTH_MAX");
	j->closer[j->depth] = brackets[1];
	j->filled[j->depth++] = false;
	putc(brackets[0], j->out);
}

void json_start(struct json *j, FILE *out)
{
	memset(j, 0, sizeof(*j));
	j->out = out;
}

void json_object(struct json *j, const char *key)
{
	begin_nest(j, key, "{}");
}

void json_array(struct json *j, const char *key)
{
	begin_nest(j, key, "[]");
}

void json_end(struct json *j)
{
	assert(j->depth && "json_end without an open object or array");
	j->depth--;
	if (j->filled[j->depth])
		fprintf(j->out, "\n%*s", 2 * j->depth, "");
	putc(j->closer[j->depth], j->out);
	if (!j->depth)
		putc('\n', j->out);
}

void json_str(struct json *j, const char *key, const char *val)
{
	put_lead(j, key);
	if (val)
		put_quoted(j->out, val);
	else
		fputs("null", j->out);
}

void json_u64(struct json *j, const char *key, uint64_t val)
{
	put_lead(j, key);
	fprintf(j->out, "%" PRIu64, val);
}

void json_i64(struct json *j, const char *key, int64_t val)
{
	put_lead(j, key);
	fprintf(j->out, "%" PRIi64, val);
}

void json_real(struct json *j, const char *key, double val, int digits)
{
	if (!isfinite(val)) {
		json_null(j, key);
		return;
	}
	put_lead(j, key);
	fprintf(j->out, "%.*f", digits, val);
}

void json_bool(struct json *j, const char *key, bool val)
{
	put_lead(j, key);
	fputs(val ? "true" : "false", j->out);
}

void json_null(struct json *j, const char *key)
{
	put_lead(j, key);
	fputs("null", j->out);
}
