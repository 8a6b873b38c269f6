/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* Which process waits for which.  An edge is a receive that names its source, or a send that waits for a
 * receive; the process at its end is the one whose endpoint has that address.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "show.h"

#define EDGES_MAX 4096

struct edge {
	size_t from, to;	/* answers; to == edges.none: none of those that answered */
	char what[128];
	char addr[INSPECT_TEXT];
	bool in_cycle;		/* shown with it */
};

/* Whose endpoint has which address. */
struct owner {
	char addr[INSPECT_TEXT];
	size_t answer;
};

struct owners {
	struct owner *of;	/* sorted by address */
	size_t cnt;
};

static int compare_owners(const void *a, const void *b)
{
	return strcmp(((const struct owner *) a)->addr, ((const struct owner *) b)->addr);
}

static void add_owners(struct owners *owners, const struct answers *answers, size_t i)
{
	struct owner *of;
	union record r;
	size_t off = 0;

	while (record_at(&answers->of[i], off, &r, &off)) {
		if (r.head.type != INSPECT_EP || !*r.ep.addr)
			continue;
		of = realloc(owners->of, (owners->cnt + 1) * sizeof(*of));
		if (!of)
			return;
		owners->of = of;
		memcpy(of[owners->cnt].addr, r.ep.addr, INSPECT_TEXT);
		of[owners->cnt++].answer = i;
	}
}

static struct owners find_owners(const struct answers *answers)
{
	struct owners owners = { NULL, 0 };
	size_t i;

	for (i = 0; i < answers->cnt; i++)
		add_owners(&owners, answers, i);
	if (owners.cnt)
		qsort(owners.of, owners.cnt, sizeof(*owners.of), compare_owners);
	return owners;
}

/* owner_of - the answer, or @none. */
static size_t owner_of(const struct owners *owners, const char *addr, size_t none)
{
	struct owner key, *owner;

	snprintf(key.addr, sizeof(key.addr), "%s", addr);
	owner = owners->cnt ? bsearch(&key, owners->of, owners->cnt, sizeof(key), compare_owners) : NULL;
	return owner ? owner->answer : none;
}

struct edges {
	struct edge *of;
	size_t cnt, none;	/* none: a wait for one that has not answered */
	struct owners owners;
};

static struct edge *add_edge(struct edges *edges, size_t from, const char *addr)
{
	struct edge *edge;

	if (edges->cnt == EDGES_MAX || !edges->of)
		return NULL;
	edge = &edges->of[edges->cnt++];
	edge->from = from;
	edge->to = owner_of(&edges->owners, addr, edges->none);
	snprintf(edge->addr, sizeof(edge->addr), "%s", addr);
	return edge;
}

static void find_edges(const struct answers *answers, size_t i, struct edges *edges)
{
	char peer[INSPECT_TEXT] = "";
	struct edge *edge = NULL;
	union record r;
	size_t off = 0;

	while (record_at(&answers->of[i], off, &r, &off)) {
		if (r.head.type == INSPECT_PEER)
			memcpy(peer, r.peer.addr, sizeof(peer));
		if (r.head.type == INSPECT_SEND && !strcmp(r.send.waits, "a matching receive")) {
			edge = add_edge(edges, i, peer);
			if (edge)
				snprintf(edge->what, sizeof(edge->what), "its send of tag 0x%" PRIx64
					 " (%" PRIu64 " bytes) waits for a receive there", r.send.tag, r.send.len);
		} else if (r.head.type == INSPECT_RECV && *r.recv.from) {
			edge = add_edge(edges, i, r.recv.from);
			if (edge && r.recv.tagged)
				snprintf(edge->what, sizeof(edge->what), "its receive of tag 0x%" PRIx64
					 " waits for a message from there", r.recv.tag);
			else if (edge)
				snprintf(edge->what, sizeof(edge->what), "its receive waits for a message from there");
		}
	}
}

static void print_name(const struct answer *answer, FILE *out)
{
	fprintf(out, "process %ld", (long) answer->pid);
	if (answer->rank >= 0)
		fprintf(out, " (rank %d)", answer->rank);
	if (*answer->host)
		fprintf(out, " on %s", answer->host);
}

static void print_edge(const struct answers *answers, const struct edge *edge, FILE *out)
{
	fprintf(out, "  ");
	print_name(&answers->of[edge->from], out);
	fprintf(out, " waits for ");
	if (edge->to < answers->cnt)
		print_name(&answers->of[edge->to], out);
	else
		fprintf(out, "%s, which has not answered", edge->addr);
	fprintf(out, ": %s\n", edge->what);
}

/* cycle_from - follow the first edge of each process from @start.  Returns how many lead back to it; 0: they
 * do not.
 */
static size_t cycle_from(const struct answers *answers, const struct edges *edges, size_t start,
			 struct edge **path)
{
	size_t at = start, len = 0, i;

	while (len < answers->cnt) {
		for (i = 0; i < edges->cnt && edges->of[i].from != at; i++)
			;
		if (i == edges->cnt)
			return 0;
		path[len++] = &edges->of[i];
		at = edges->of[i].to;
		if (at == start)
			return len;
	}
	return 0;
}

static void show_cycles(const struct answers *answers, const struct edges *edges, FILE *out)
{
	struct edge **path = calloc(answers->cnt + 1, sizeof(*path));
	size_t start, len, i;
	bool lowest;

	for (start = 0; path && start < answers->cnt; start++) {
		len = cycle_from(answers, edges, start, path);
		lowest = len > 0;
		for (i = 0; i < len; i++)
			lowest &= path[i]->from >= start;
		if (!lowest)
			continue;
		fprintf(out, "deadlock: %zu processes wait for each other\n", len);
		for (i = 0; i < len; i++) {
			print_edge(answers, path[i], out);
			path[i]->in_cycle = true;
		}
	}
	free(path);
}

static void free_edges(struct edges *edges)
{
	free(edges->owners.of);
	free(edges->of);
}

static struct edges all_edges(const struct answers *answers)
{
	struct edges edges = {
		.of = calloc(EDGES_MAX, sizeof(*edges.of)),
		.none = answers->cnt,
		.owners = find_owners(answers),
	};
	size_t i;

	for (i = 0; i < answers->cnt; i++)
		find_edges(answers, i, &edges);
	return edges;
}

/* Texts of records have printable characters alone; a quote or a backslash in an address ends no string. */
static void dot_text(const char *text, FILE *out)
{
	for (; *text; text++)
		fputc(*text == '"' || *text == '\\' ? '?' : *text, out);
}

static void dot_name(const struct answers *answers, size_t i, const char *addr, FILE *out)
{
	if (i < answers->cnt) {
		fputc('"', out);
		print_name(&answers->of[i], out);
	} else {
		fprintf(out, "\"not asked: ");
		dot_text(addr, out);
	}
	fputc('"', out);
}

bool waits_beyond(const struct answers *answers)
{
	struct edges edges = all_edges(answers);
	bool beyond = false;
	size_t i;

	for (i = 0; i < edges.cnt; i++)
		beyond |= edges.of[i].to == edges.none;
	free_edges(&edges);
	return beyond;
}

void show_dot(const struct answers *answers, FILE *out)
{
	struct edges edges = all_edges(answers);
	size_t i;

	fprintf(out, "digraph waits {\n");
	for (i = 0; i < edges.cnt; i++) {
		fprintf(out, "  ");
		dot_name(answers, edges.of[i].from, "", out);
		fprintf(out, " -> ");
		dot_name(answers, edges.of[i].to, edges.of[i].addr, out);
		fprintf(out, " [label=\"");
		dot_text(edges.of[i].what, out);
		fprintf(out, "\"];\n");
	}
	fprintf(out, "}\n");
	free_edges(&edges);
}

void show_waits(const struct answers *answers, FILE *out)
{
	struct edges edges = all_edges(answers);
	bool headed = false;
	size_t i;

	show_cycles(answers, &edges, out);
	for (i = 0; i < edges.cnt; i++) {
		if (edges.of[i].in_cycle)
			continue;
		if (!headed)
			fprintf(out, "waiting:\n");
		headed = true;
		print_edge(answers, &edges.of[i], out);
	}
	free_edges(&edges);
}
