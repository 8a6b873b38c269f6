/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#ifndef UTIL_JSON_H
#define UTIL_JSON_H

/*
 * A JSON writer for the tools.  The writer adds commas, indentation and escapes.  In an object
 * every value has a key, in an array the key is NULL.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_DEPTH_MAX 16

struct json {
	FILE *out;			/* output stream; the caller closes it */
	int depth;			/* number of open objects and arrays */
	char closer[JSON_DEPTH_MAX];	/* closing character of each */
	bool filled[JSON_DEPTH_MAX];	/* it has a member already */
};

/* json_start - begin a document on @out; the first value must be an object or an array.
 * json_object, json_array - open one; json_end closes the innermost, and the outermost ends the
 * document with a newline.
 *
 * Errors: none; output errors stay with the stream (ferror).  Depth past JSON_DEPTH_MAX is a
 *         programming error and asserts.
 * Threading: one thread per writer.
 */
void json_start(struct json *j, FILE *out);
void json_object(struct json *j, const char *key);
void json_array(struct json *j, const char *key);
void json_end(struct json *j);

/* json_str - a string, or null when @val is NULL.  Bytes that are not UTF-8 are replaced by
 * U+FFFD, so that the document is always valid.
 * json_real - a number with @digits decimals; null when it is not finite.
 */
void json_str(struct json *j, const char *key, const char *val);
void json_u64(struct json *j, const char *key, uint64_t val);
void json_i64(struct json *j, const char *key, int64_t val);
void json_real(struct json *j, const char *key, double val, int digits);
void json_bool(struct json *j, const char *key, bool val);
void json_null(struct json *j, const char *key);

#endif
