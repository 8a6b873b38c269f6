/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * Reading a configuration file, and the combinations that it stands for.
 *
 *	# a comment ends with its line
 *	{
 *		prov_name: tcp,
 *		ep_type: [ FI_EP_MSG, FI_EP_RDM ],
 *		class_function: FT_FUNC_SEND,
 *	},
 *	{ ... }
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "uber.h"

#define MOST_VALUES	64
#define MOST_PROVS	16

struct values {
	uint64_t v[MOST_VALUES];
	size_t cnt;
};

struct set {
	char prov[MOST_PROVS][64];
	size_t prov_cnt;
	struct values keys[KEY_CNT];
};

struct reader {
	struct ft *ft;
	const char *path;
	FILE *f;
	int line;
	char word[80];		/* the token: a word, or one sign of { } [ ] : , | */
	bool quoted;
};

static __attribute__((noreturn, format(printf, 2, 3))) void fail_at(const struct reader *r,
								    const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	ft_fail("%s:%d: %s", r->path, r->line, text);
}

static int next_char(struct reader *r)
{
	int c = getc(r->f);

	if (c == '\n')
		r->line++;
	return c;
}

static int skip_blank(struct reader *r)
{
	int c = next_char(r);

	while (c != EOF && (isspace(c) || c == '#')) {
		if (c == '#')
			while (c != '\n' && c != EOF)
				c = next_char(r);
		else
			c = next_char(r);
	}
	return c;
}

static bool is_sign(int c)
{
	return c && strchr("{}[]:,|", c);
}

static void add_char(struct reader *r, size_t *n, int c)
{
	if (*n + 1 == sizeof(r->word))
		fail_at(r, "a word is longer than %zu letters", sizeof(r->word) - 1);
	r->word[(*n)++] = (char) c;
}

/* The next token; false at the end of the file. */
static bool next_token(struct reader *r)
{
	int c = skip_blank(r);
	size_t n = 0;

	memset(r->word, 0, sizeof(r->word));
	r->quoted = c == '"';
	if (c == EOF)
		return false;
	if (r->quoted) {
		while ((c = next_char(r)) != '"') {
			if (c == EOF || c == '\n')
				fail_at(r, "a quotation mark is not closed");
			add_char(r, &n, c);
		}
		return true;
	}
	add_char(r, &n, c);
	if (is_sign(c))
		return true;
	while ((c = next_char(r)) != EOF && !isspace(c) && !is_sign(c) && c != '#')
		add_char(r, &n, c);
	if (c != EOF) {
		ungetc(c, r->f);
		r->line -= c == '\n';
	}
	return true;
}

static bool at_sign(const struct reader *r, char sign)
{
	return !r->quoted && r->word[0] == sign && !r->word[1];
}

static void must_next(struct reader *r, const char *what)
{
	if (!next_token(r))
		fail_at(r, "the file ends where %s should stand", what);
}

static void add_prov(struct reader *r, struct set *s)
{
	if (s->prov_cnt == MOST_PROVS || strlen(r->word) >= sizeof(s->prov[0]))
		fail_at(r, "too many providers, or too long a name: '%s'", r->word);
	strcpy(s->prov[s->prov_cnt++], r->word);
}

/* @go_on: the word adds a flag to the value before it. */
static void add_value(struct reader *r, struct set *s, int key, bool go_on)
{
	struct values *v = &s->keys[key];
	uint64_t value;

	if (key == KEY_CNT) {
		add_prov(r, s);
		return;
	}
	if (!uber_key_value(key, r->word, &value))
		fail_at(r, "'%s' is no value of %s", r->word, uber_key_name(key));
	if (v->cnt && (uber_key_ors(key) || go_on)) {
		v->v[v->cnt - 1] |= value;
		return;
	}
	if (v->cnt == MOST_VALUES)
		fail_at(r, "too many values of %s", uber_key_name(key));
	v->v[v->cnt++] = value;
}

/* A value, or several in brackets; ends on the token behind them. */
static void read_values(struct reader *r, struct set *s, int key)
{
	bool many, go_on = false;

	must_next(r, "a value");
	many = at_sign(r, '[');
	if (many)
		must_next(r, "a value");
	while (!(many && at_sign(r, ']'))) {
		if (!r->quoted && is_sign(r->word[0]))
			fail_at(r, "'%s' stands where a value should", r->word);
		add_value(r, s, key, go_on);
		must_next(r, "a comma or a bracket");
		go_on = at_sign(r, '|');
		if (!go_on && !many)
			return;
		if (go_on || at_sign(r, ','))
			must_next(r, "a value");
		else if (!at_sign(r, ']'))
			fail_at(r, "'%s' stands where a comma or ']' should", r->word);
	}
	must_next(r, "a comma or '}'");
}

static void read_set(struct reader *r, struct set *s)
{
	memset(s, 0, sizeof(*s));
	must_next(r, "a key");
	while (!at_sign(r, '}')) {
		int key = uber_key_find(r->word);

		if (key < 0)
			fail_at(r, "'%s' is no key (the manual page fi_ubertest(1) lists them)", r->word);
		if (key < KEY_CNT && s->keys[key].cnt)
			fail_at(r, "%s stands twice in one set: put all values into one list",
				uber_key_name(key));
		must_next(r, "a colon");
		if (!at_sign(r, ':'))
			fail_at(r, "'%s' stands where a colon should", r->word);
		read_values(r, s, key);
		if (at_sign(r, ','))
			must_next(r, "a key or '}'");
		else if (!at_sign(r, '}'))
			fail_at(r, "'%s' stands where a comma or '}' should", r->word);
	}
}

/* ---- combinations ---- */

static void set_defaults(struct set *s)
{
	static const uint64_t by_class[] = { FUNC_SEND, FUNC_SEND, FUNC_WRITE, FUNC_ATOMIC };

	if (!s->keys[KEY_EP_TYPE].cnt)
		s->keys[KEY_EP_TYPE] = (struct values) { { FI_EP_RDM }, 1 };
	if (!s->keys[KEY_CLASS].cnt)
		s->keys[KEY_CLASS] = (struct values) { { CLASS_MSG }, 1 };
	if (!s->keys[KEY_FUNC].cnt)
		for (size_t i = 0; i < s->keys[KEY_CLASS].cnt; i++)
			s->keys[KEY_FUNC].v[s->keys[KEY_FUNC].cnt++] = by_class[s->keys[KEY_CLASS].v[i]];
	if (!s->keys[KEY_OP].cnt)
		s->keys[KEY_OP] = (struct values) { { FI_SUM, FI_CSWAP }, 2 };
	if (!s->keys[KEY_DATATYPE].cnt)
		s->keys[KEY_DATATYPE] = (struct values) { { FI_UINT64 }, 1 };
	if (!s->keys[KEY_EQ_WAIT].cnt)
		s->keys[KEY_EQ_WAIT] = (struct values) { { FI_WAIT_UNSPEC }, 1 };
	if (!s->prov_cnt)
		s->prov_cnt = 1;
	for (int k = 0; k < KEY_CNT; k++)
		if (!s->keys[k].cnt)
			s->keys[k].cnt = 1;
}

static bool is_compare(enum fi_op op)
{
	return op >= FI_CSWAP && op <= FI_MSWAP;
}

/* Whether a key that does not matter to this case stands at its first value, so
 * that the case is not run once for each of them, and what belongs to one class
 * stays there.
 */
static bool makes_sense(const struct uber_case *c, const size_t *at)
{
	enum uber_func func = c->v[KEY_FUNC];
	enum uber_class class = c->v[KEY_CLASS];
	bool needs_rx = class == CLASS_MSG || class == CLASS_TAGGED;
	bool reads = (func >= FUNC_READ && func <= FUNC_READMSG) || func >= FUNC_FETCH;

	if (uber_class_of(func) != (class == CLASS_TAGGED ? CLASS_MSG : class))
		return false;
	if (class != CLASS_ATOMIC && (at[KEY_OP] || at[KEY_DATATYPE]))
		return false;
	if (class == CLASS_ATOMIC && is_compare(c->v[KEY_OP]) != (func >= FUNC_COMPARE))
		return false;
	if (c->v[KEY_EP_TYPE] == FI_EP_MSG && at[KEY_AV_TYPE])
		return false;
	if (c->v[KEY_COMP] == COMP_QUEUE && at[KEY_CNTR_WAIT])
		return false;
	/* Nothing would say that a message has come, or that the data is there. */
	if (c->v[KEY_COMP] == COMP_QUEUE && needs_rx && !uber_rx_shows(c))
		return false;
	return c->v[KEY_COMP] != COMP_QUEUE || !reads || uber_tx_shows(c);
}

static uint64_t keys_given(const struct set *s)
{
	uint64_t bits = 0;

	for (int k = 0; k < KEY_CNT; k++)
		if (s->keys[k].cnt)
			bits |= 1ULL << k;
	return bits;
}

static bool next_combination(size_t *at, const struct set *s)
{
	for (int k = KEY_CNT - 1; k >= 0; k--) {
		if (++at[k] < s->keys[k].cnt)
			return true;
		at[k] = 0;
	}
	return false;
}

struct cases {
	struct uber_case *c;
	uint32_t cnt, room;
};

static void add_case(struct cases *all, const struct uber_case *c)
{
	if (all->cnt == all->room) {
		all->room = all->room ? 2 * all->room : 64;
		all->c = realloc(all->c, all->room * sizeof(*all->c));
		if (!all->c)
			ft_fail("out of memory for %u combinations", all->room);
	}
	all->c[all->cnt++] = *c;
}

static void add_set(struct cases *all, struct set *s)
{
	struct uber_case c = { .given = keys_given(s) };

	set_defaults(s);
	for (size_t p = 0; p < s->prov_cnt; p++) {
		size_t at[KEY_CNT] = { 0 };

		strcpy(c.prov, s->prov[p]);
		do {
			for (int k = 0; k < KEY_CNT; k++)
				c.v[k] = s->keys[k].v[at[k]];
			if (makes_sense(&c, at))
				add_case(all, &c);
		} while (next_combination(at, s));
	}
}

struct uber_case *uber_read(struct ft *ft, const char *path, uint32_t *cnt_p)
{
	struct reader r = { .ft = ft, .path = path, .line = 1, .f = fopen(path, "r") };
	struct cases all = { 0 };
	struct set s;

	if (!r.f)
		ft_fail("configuration file %s: %s", path, strerror(errno));
	while (next_token(&r)) {
		if (at_sign(&r, ','))
			continue;
		if (!at_sign(&r, '{'))
			fail_at(&r, "'%s' stands where a set should begin with '{'", r.word);
		read_set(&r, &s);
		add_set(&all, &s);
	}
	fclose(r.f);
	if (!all.cnt)
		ft_fail("%s holds no combination that makes sense: is each class_function one of its test_class?",
			path);
	*cnt_p = all.cnt;
	return all.c;
}
