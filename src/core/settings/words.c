/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "core/words.h"

static bool is_blank(char c)
{
	return isspace((unsigned char) c);
}

const char *core_words_next(const char **list_p, char sep, size_t *len_p)
{
	const char *word, *end, *s = *list_p;

	while (*s && (*s == sep || is_blank(*s)))
		s++;
	word = s;
	while (*s && *s != sep)
		s++;
	*list_p = s;
	for (end = s; end > word && is_blank(end[-1]); end--)
		;
	*len_p = (size_t) (end - word);
	return end > word ? word : NULL;
}

bool core_words_exclude(const char *list, const char **body_p)
{
	while (list && is_blank(*list))
		list++;
	*body_p = list ? list : "";
	if (!list || *list != '^')
		return false;
	(*body_p)++;
	return true;
}

bool core_words_empty(const char *list)
{
	const char *body;
	size_t len;

	core_words_exclude(list, &body);
	return !core_words_next(&body, ',', &len);
}

bool core_word_is(const char *word, size_t len, const char *name)
{
	return strlen(name) == len && !strncasecmp(word, name, len);
}

bool core_words_allow(const char *list, const char *name)
{
	const char *body, *word;
	bool exclude, found = false;
	size_t len;

	if (core_words_empty(list))
		return true;
	exclude = core_words_exclude(list, &body);
	while (!found && (word = core_words_next(&body, ',', &len)))
		found = core_word_is(word, len, name);
	return found != exclude;
}
