/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* words.h - the word lists of FI_PROVIDER, FI_LOG_PROV and FI_LOG_SUBSYS.
 *
 * "a,b,c" includes these names, "^a,b,c" excludes them.  Case and blanks around a word are
 * ignored; an empty list has no effect.  Lists are parsed in place: no copy and no allocation.
 */
#ifndef CORE_WORDS_H
#define CORE_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/* core_words_next - step through the words of a list.
 * @list_p: [in,out] rest of the list; start with the list without its '^'
 * @sep:    the separator
 * @len_p:  [out] length of the word that is returned
 * Returns the word, not NUL-terminated, or NULL at the end.  Empty words are skipped.
 */
const char *core_words_next(const char **list_p, char sep, size_t *len_p);

/* core_words_empty - true when @list (may be NULL) has no words. */
bool core_words_empty(const char *list);

/* core_words_exclude - true when @list begins with '^'; *body_p is what follows. */
bool core_words_exclude(const char *list, const char **body_p);

/* core_word_is - compare a word with a NUL-terminated name, ignoring case. */
bool core_word_is(const char *word, size_t len, const char *name);

/* core_words_allow - true when @list includes @name.  NULL and "" include all names. */
bool core_words_allow(const char *list, const char *name);

#endif
