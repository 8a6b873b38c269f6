/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * meet.h - what programs have in common whose processes run over two libraries: they find each other
 * through files of one directory, and check what they exchange.  Written for the headers of 1.17.
 */
#ifndef COMPAT_MEET_H
#define COMPAT_MEET_H

#include <stddef.h>
#include <stdint.h>

#include <rdma/fabric.h>

/* meet_must - ends the process with a text, unless @ret is 0. */
void meet_must(const char *what, long ret);

/* meet_now_ms - of a clock that does not jump. */
uint64_t meet_now_ms(void);

/* meet_publish - file @name of @dir has @len bytes of @data, at once. */
void meet_publish(const char *dir, const char *name, const void *data, size_t len);

/* meet_look - read @len bytes of file @name.  Returns 0, or -1 where it is not there. */
int meet_look(const char *dir, const char *name, void *data, size_t len);

/* meet_mix - a number that looks random, the same for the same @x. */
uint64_t meet_mix(uint64_t x);

/* meet_size - from 1 to @max bytes, each power of two as often as another. */
size_t meet_size(uint64_t random, size_t max);

/* meet_fill, meet_check - the bytes of message @seed.
 * meet_check returns -1 where they are all there, or the offset of the first that is not.
 */
void meet_fill(uint8_t *buf, size_t len, uint64_t seed);
long meet_check(const uint8_t *buf, size_t len, uint64_t seed);

/* meet_info - what @provider has for endpoints of @type on 127.0.0.1, or the address MEET_ADDRESS;
 * NULL: nothing.
 */
struct fi_info *meet_info(const char *provider, enum fi_ep_type type, uint64_t caps);

#endif
