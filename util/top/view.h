/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * view.h - what the screen shows of the answers: all processes, the endpoints of one, the peers of one of these,
 * or one peer.
 *
 * It draws into a file and is moved by keys, and knows no terminal.
 */
#ifndef UTIL_TOP_VIEW_H
#define UTIL_TOP_VIEW_H

#include <stdbool.h>
#include <stdio.h>

#include "gather.h"

enum view_level {
	VIEW_PROCESSES,
	VIEW_EPS,		/* of one process */
	VIEW_PEERS,		/* of one endpoint */
	VIEW_PEER,
	VIEW_LEVELS,
};

/* What a row is sorted by; each is a column. */
enum view_sort {
	SORT_NAME,
	SORT_SENDS,
	SORT_RECVS,
	SORT_UNEXP,
	SORT_KEPT,
	SORT_SENT,
	SORT_GOT,
	SORT_OLDEST,
	SORTS,
};

enum view_key {
	KEY_NONE,
	KEY_UP,
	KEY_DOWN,
	KEY_PAGE_UP,
	KEY_PAGE_DOWN,
	KEY_INTO,
	KEY_BACK,
	KEY_SORT,
	KEY_SORT_BACK,
	KEY_REVERSE,
	KEY_HELP,
	KEY_PAUSE,
	KEY_PATHS,
	KEY_QUIT,
};

struct row {
	uint64_t id;			/* the same at the next look; 0: none */
	uint64_t vals[SORTS];		/* [SORT_NAME] is its place in the answers */
	char name[2 * INSPECT_TEXT];
};

struct view {
	enum view_level level;
	enum view_sort sort;
	bool reverse, help, paused;
	uint64_t chosen[VIEW_LEVELS];	/* the row of each level; of the levels before, what was gone into */
	struct row *rows;		/* of the last view_fill() */
	size_t cnt, page;		/* page: rows that the screen had room for */
};

/* view_fill - the rows of @answers at the level of @view, sorted; one that is gone into and has ended leads back. */
void view_fill(struct view *view, const struct answers *answers);

/* view_move - what @key does to it; view_fill() comes next. */
void view_move(struct view *view, enum view_key key);

/* view_draw - @height lines of at most @width characters. */
void view_draw(struct view *view, const struct answers *answers, size_t height, size_t width, FILE *out);

void view_free(struct view *view);

#endif
