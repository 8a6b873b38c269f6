/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fold.h"
#include "show.h"

#define SELECTED "\033[7m"
#define PLAIN "\033[m"

static const char *const sort_names[SORTS] = {
	"name", "sends", "receives", "unexpected", "kept", "sent", "got", "oldest",
};

/* ---- rows ------------------------------------------------------------------------------------ */

/* Where view_fill() is in the answers. */
struct fill {
	struct view *view;
	const struct answer *answer;
	uint64_t ep;		/* id of the endpoint */
	struct row *row;	/* what follows belongs to it; NULL: none */
	bool failed;
};

/* id_of - FNV-1a of two texts; not 0. */
static uint64_t id_of(const char *one, const char *two)
{
	uint64_t id = UINT64_C(0xcbf29ce484222325);

	for (; *one; one++)
		id = (id ^ (unsigned char) *one) * UINT64_C(0x100000001b3);
	for (; *two; two++)
		id = (id ^ (unsigned char) *two) * UINT64_C(0x100000001b3);
	return id | 1;
}

/* process_id - several copies of the library may be in one process. */
static uint64_t process_id(const struct fill *fill, const struct answers *answers)
{
	const struct answer *before = fill->answer;
	uint64_t copy = 0;

	if (*before->host)
		return (uint64_t) (before - answers->of + 1) << 40 | (uint64_t) before->pid;
	while (before != answers->of && before[-1].pid == fill->answer->pid) {
		before--;
		copy++;
	}
	return copy << 32 | (uint64_t) fill->answer->pid;
}

static void add_row(struct fill *fill, uint64_t id)
{
	struct view *view = fill->view;
	struct row *rows = view->rows;

	if (!(view->cnt & (view->cnt - 1)))	/* the room is the next power of two */
		rows = realloc(rows, (view->cnt ? 2 * view->cnt : 1) * sizeof(*rows));
	fill->row = NULL;
	if (!rows) {
		fill->failed = true;
		return;
	}
	view->rows = rows;
	fill->row = &rows[view->cnt++];
	*fill->row = (struct row) { .id = id, .vals = { [SORT_NAME] = view->cnt } };
}

static void name_process(struct fill *fill, const char *command)
{
	char rank[24] = "-";

	if (fill->answer->rank >= 0)
		snprintf(rank, sizeof(rank), "%d", fill->answer->rank);
	snprintf(fill->row->name, sizeof(fill->row->name), "%7ld %5s  %s%s%s%s%s", (long) fill->answer->pid, rank, command,
		 *fill->answer->host ? " on " : "", fill->answer->host, fill->answer->silent ? ": " : "", fill->answer->silent ? fill->answer->silent : "");
}

static void count_ep(struct row *row, const struct inspect_ep *ep)
{
	row->vals[SORT_SENDS] += ep->sends;
	row->vals[SORT_RECVS] += ep->tagged + ep->msgs;
	row->vals[SORT_UNEXP] += ep->unexp_tagged + ep->unexp_msgs;
	row->vals[SORT_KEPT] += ep->held;
}

static void fill_ep(struct fill *fill, const struct inspect_ep *ep)
{
	struct view *view = fill->view;

	fill->ep = ep->id;
	if (view->level == VIEW_EPS) {
		add_row(fill, ep->id | 1);
		if (fill->row)
			snprintf(fill->row->name, sizeof(fill->row->name), "%s %s %s, %" PRIu64 " peers", ep->provider, ep->kind,
				 ep->addr, ep->peers);
	}
	if (fill->row && view->level <= VIEW_EPS)
		count_ep(fill->row, ep);
}

static void fill_peer(struct fill *fill, const struct inspect_peer *peer)
{
	if (fill->view->level == VIEW_PEERS) {
		add_row(fill, id_of(peer->addr, peer->link));
		if (!fill->row)
			return;
		snprintf(fill->row->name, sizeof(fill->row->name), "%s over %s, %s", peer->addr, peer->link, peer->state);
		fill->row->vals[SORT_SENDS] = peer->sends;
		fill->row->vals[SORT_UNEXP] = peer->msgs;
		fill->row->vals[SORT_KEPT] = peer->held;
	}
	if (!fill->row)
		return;
	fill->row->vals[SORT_SENT] += peer->per_s[0];
	fill->row->vals[SORT_GOT] += peer->per_s[1];
}

static void note_age(struct row *row, uint64_t age_ns)
{
	if (row && age_ns > row->vals[SORT_OLDEST])
		row->vals[SORT_OLDEST] = age_ns;
}

/* row_from - of the peers, the one with the address @from. */
static struct row *row_from(const struct view *view, const char *from)
{
	size_t len = strlen(from), i;

	for (i = 0; len && i < view->cnt; i++)
		if (!strncmp(view->rows[i].name, from, len) && !strncmp(view->rows[i].name + len, " over ", 6))
			return &view->rows[i];
	return NULL;
}

static void fill_recv(struct fill *fill, const struct inspect_recv *recv)
{
	struct row *row = fill->row;

	if (fill->view->level == VIEW_PEERS) {
		row = row_from(fill->view, recv->from);
		if (row)
			row->vals[SORT_RECVS]++;
	}
	note_age(row, recv->age_ns);
}

/* is_inside - does what follows belong to what was gone into? */
static bool is_inside(const struct fill *fill)
{
	return fill->view->level < VIEW_PEERS || (fill->ep | 1) == fill->view->chosen[VIEW_EPS];
}

static void fill_record(struct fill *fill, const union record *r)
{
	if (r->head.type == INSPECT_EP)
		fill_ep(fill, &r->ep);
	else if (!is_inside(fill))
		return;
	else if (r->head.type == INSPECT_PEER)
		fill_peer(fill, &r->peer);
	else if (r->head.type == INSPECT_SEND)
		note_age(fill->row, r->send.age_ns);
	else if (r->head.type == INSPECT_RECV)
		fill_recv(fill, &r->recv);
	else if (r->head.type == INSPECT_MSG)
		note_age(fill->view->level == VIEW_PEERS ? row_from(fill->view, r->msg.from) : fill->row, r->msg.age_ns);
}

static void fill_answer(struct fill *fill, const struct answers *answers)
{
	uint64_t id = process_id(fill, answers);
	union record r;
	size_t off = 0;

	fill->row = NULL;
	if (fill->view->level == VIEW_PROCESSES) {
		add_row(fill, id);
		if (fill->row)
			name_process(fill, fill->answer->command);
	} else if (id != fill->view->chosen[VIEW_PROCESSES]) {
		return;
	}
	while (!fill->failed && record_at(fill->answer, off, &r, &off)) {
		if (r.head.type == INSPECT_PROCESS && fill->row)
			name_process(fill, r.process.command);
		fill_record(fill, &r);
	}
}

/* ---- order ------------------------------------------------------------------------------------- */

static const struct view *sorted;	/* of compare_rows(): qsort() passes nothing on */

static int compare_rows(const void *a, const void *b)
{
	const struct row *one = a, *two = b;
	uint64_t x = one->vals[sorted->sort], y = two->vals[sorted->sort];
	int order;

	if (x == y)
		return one->vals[SORT_NAME] < two->vals[SORT_NAME] ? -1 : 1;
	order = x < y ? -1 : 1;
	return (sorted->sort == SORT_NAME) == sorted->reverse ? -order : order;
}

/* chosen_row - the place of the chosen row; the first, if it is gone. */
static size_t chosen_row(const struct view *view)
{
	size_t i;

	for (i = 0; i < view->cnt; i++)
		if (view->rows[i].id == view->chosen[view->level])
			return i;
	return 0;
}

void view_fill(struct view *view, const struct answers *answers)
{
	struct fill fill = { .view = view };
	enum view_level level = view->level;
	size_t i;

	if (level == VIEW_PEER)
		view->level = VIEW_PEERS;	/* the rows among which it is */
	view_free(view);
	for (i = 0; i < answers->cnt && !fill.failed; i++) {
		fill.answer = &answers->of[i];
		fill_answer(&fill, answers);
	}
	sorted = view;
	if (view->cnt)
		qsort(view->rows, view->cnt, sizeof(*view->rows), compare_rows);
	if (!view->cnt && view->level != VIEW_PROCESSES && level != VIEW_PEERS) {
		view->level--;
		view_fill(view, answers);
	} else {
		if (view->cnt && level != VIEW_PEER)
			view->chosen[view->level] = view->rows[chosen_row(view)].id;
		view->level = level;
	}
}

void view_free(struct view *view)
{
	free(view->rows);
	view->rows = NULL;
	view->cnt = 0;
}

/* ---- keys ----------------------------------------------------------------------------------------- */

static void view_choose(struct view *view, size_t at)
{
	if (view->cnt && view->level != VIEW_PEER)
		view->chosen[view->level] = view->rows[at < view->cnt ? at : view->cnt - 1].id;
}

static void view_step(struct view *view, size_t step, bool down)
{
	size_t at = chosen_row(view);

	view_choose(view, down ? at + step : at > step ? at - step : 0);
}

static void view_go(struct view *view, bool into)
{
	if (into && view->cnt && view->level != VIEW_PEER)
		view->level++;
	else if (!into && view->level != VIEW_PROCESSES)
		view->level--;
}

void view_move(struct view *view, enum view_key key)
{
	size_t page = view->page > 1 ? view->page - 1 : 1;

	switch (key) {
	case KEY_UP:
	case KEY_DOWN:
		view_step(view, 1, key == KEY_DOWN);
		break;
	case KEY_PAGE_UP:
	case KEY_PAGE_DOWN:
		view_step(view, page, key == KEY_PAGE_DOWN);
		break;
	case KEY_INTO:
	case KEY_BACK:
		view_go(view, key == KEY_INTO);
		break;
	case KEY_SORT:
	case KEY_SORT_BACK:
		view->sort = (view->sort + (key == KEY_SORT ? 1 : SORTS - 1)) % SORTS;
		break;
	case KEY_REVERSE:
		view->reverse = !view->reverse;
		break;
	case KEY_HELP:
		view->help = !view->help;
		break;
	case KEY_PAUSE:
		view->paused = !view->paused;
		break;
	default:
		break;
	}
}

/* ---- lines ------------------------------------------------------------------------------------------ */

/* What is left of the screen. */
struct page {
	size_t left, width;
	FILE *out;
};

/* put_line - @text, cut at the width. */
static void put_line(struct page *page, const char *text, size_t len, const char *style)
{
	if (!page->left)
		return;
	page->left--;
	if (len > page->width)
		len = page->width;
	fprintf(page->out, "%s%.*s", style, (int) len, text);
	if (*style)
		fprintf(page->out, "%*s" PLAIN, (int) (page->width - len), "");
	fprintf(page->out, "\033[K\r\n");
}

/* put_lines - at most @most lines of @text, folded at the width. */
static void put_lines(struct page *page, const char *text, size_t most)
{
	struct fold fold = { .text = text, .width = page->width };
	char line[FOLD_WIDTH_MAX + 1];

	if (fold.width < FOLD_WIDTH_MIN || fold.width > FOLD_WIDTH_MAX)
		fold.width = fold.width < FOLD_WIDTH_MIN ? FOLD_WIDTH_MIN : FOLD_WIDTH_MAX;
	for (; most && fold_next(&fold, line); most--)
		put_line(page, line, strlen(line), "");
}

static const char *amount_text(uint64_t val, char buf[16])
{
	static const char units[] = " kMGTPE";
	unsigned unit = 0;

	while (val >= 100000 && unit < sizeof(units) - 2) {
		val = (val + 500) / 1000;
		unit++;
	}
	snprintf(buf, 16, unit ? "%" PRIu64 "%c" : "%" PRIu64, val, units[unit]);
	return buf;
}

static void put_row(struct page *page, const struct row *row, bool chosen)
{
	char line[512], buf[16];
	size_t at = 0;
	int i;

	for (i = SORT_SENDS; i < SORT_OLDEST; i++)
		at += (size_t) snprintf(line + at, sizeof(line) - at, "%8s", amount_text(row->vals[i], buf));
	at += (size_t) snprintf(line + at, sizeof(line) - at, "%8" PRIu64, row->vals[SORT_OLDEST] / 1000000000);
	snprintf(line + at, sizeof(line) - at, "  %s", row->name);
	put_line(page, line, strlen(line), chosen ? SELECTED : "");
}

/* put_rows - a page of them, with the chosen one in it. */
static void put_rows(struct view *view, struct page *page, size_t most)
{
	size_t chosen = chosen_row(view), i;

	view->page = most < page->left ? most : page->left;
	i = view->page && chosen >= view->page ? chosen - view->page + 1 : 0;
	for (; i < view->cnt && most-- && page->left; i++)
		put_row(page, &view->rows[i], i == chosen);
}

static void put_heading(const struct view *view, struct page *page)
{
	static const char *const names[] = { "    PID  RANK  COMMAND", "ENDPOINT", "PEER" };
	char line[128];

	snprintf(line, sizeof(line), "   SENDS   RECVS   UNEXP    KEPT  SENT/S   GOT/S  OLDEST  %s", names[view->level]);
	put_line(page, line, strlen(line), "\033[1;7m");
}

/* ---- what stands beside the rows ------------------------------------------------------------------------ */

static const struct row *find_chosen(const struct view *view)
{
	return view->cnt ? &view->rows[chosen_row(view)] : NULL;
}

/* is_shown - of the records of the endpoint, the one of the peer, or what is of no peer in particular. */
static bool is_shown(const struct view *view, const union record *r, bool *of_peer)
{
	const char *from = r->head.type == INSPECT_RECV ? r->recv.from : r->msg.from;

	switch (r->head.type) {
	case INSPECT_PEER:
		*of_peer = id_of(r->peer.addr, r->peer.link) == view->chosen[VIEW_PEERS];
		return *of_peer && view->level == VIEW_PEER;
	case INSPECT_PATH_TEXT:
	case INSPECT_SEND:
		return *of_peer && view->level == VIEW_PEER;
	case INSPECT_RECV:
	case INSPECT_MSG:
		return view->level == VIEW_PEERS || !*from || row_from(view, from) == NULL ||
		       row_from(view, from)->id == view->chosen[VIEW_PEERS];
	default:
		return r->head.type == INSPECT_LATE || r->head.type == INSPECT_EP;
	}
}

static void write_answer(const struct view *view, const struct answer *answer, FILE *out)
{
	bool inside = false, of_peer = false;
	union record r;
	size_t off = 0;

	while (record_at(answer, off, &r, &off)) {
		if (r.head.type == INSPECT_EP)
			inside = (r.ep.id | 1) == view->chosen[VIEW_EPS];
		if (inside && is_shown(view, &r, &of_peer))
			show_record(&r, out);
	}
}

/* write_inside - the endpoint or peer that was gone into, in words. */
static void write_inside(const struct view *view, const struct answers *answers, FILE *out)
{
	size_t i;

	for (i = 0; i < answers->cnt; i++) {
		struct fill at = { .answer = &answers->of[i] };

		if (process_id(&at, answers) == view->chosen[VIEW_PROCESSES])
			write_answer(view, &answers->of[i], out);
	}
}

/* text_beside - the words for the level; NULL: there is no memory. */
static char *text_beside(const struct view *view, const struct answers *answers)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	if (view->level == VIEW_PROCESSES)
		show_waits(answers, out);
	else if (view->level != VIEW_EPS)
		write_inside(view, answers, out);
	fclose(out);
	return text;
}

static const char help_text[] =
	"Up, Down, k, j      choose a row                PgUp, PgDn   a page\n"
	"Enter, Right, l     go into it: a process, its endpoints, their peers\n"
	"Left, Esc, h        back\n"
	"s, S, <, >          sort by the next column, by the one before\n"
	"r                   the other way round\n"
	"p                   the path to each peer\n"
	"Space               stand still, go on\n"
	"q                   end\n"
	"\n"
	"SENDS    operations that are not complete       SENT/S, GOT/S  bytes a second\n"
	"RECVS    posted receives                        OLDEST         seconds since the oldest operation\n"
	"UNEXP    messages without a receive                            was seen first\n"
	"KEPT     bytes of them that are here\n";

static void put_title(const struct view *view, const struct answers *answers, struct page *page)
{
	static const char *const of[] = { "processes", "its endpoints", "its peers", "one peer" };
	char line[160];

	snprintf(line, sizeof(line), "fi_top: %zu processes; shown: %s; sorted by %s%s%s", answers->cnt, of[view->level],
		 sort_names[view->sort], view->reverse ? ", reversed" : "", view->paused ? "; stands still" : "");
	put_line(page, line, strlen(line), "\033[1m");
}

static void put_level(struct view *view, struct page *page, const char *beside)
{
	size_t third = page->left / 3, beside_rows = page->left > view->cnt + 1 ? page->left - view->cnt - 1 : 0;

	if (view->level == VIEW_PEER) {
		put_lines(page, beside, page->left);
		return;
	}
	if (view->level == VIEW_PROCESSES)
		put_lines(page, beside, beside_rows > third ? beside_rows : third);
	put_heading(view, page);
	put_rows(view, page, view->level == VIEW_PEERS && *beside ? page->left - third : page->left);
	if (view->level == VIEW_PEERS)
		put_lines(page, beside, page->left);
}

void view_draw(struct view *view, const struct answers *answers, size_t height, size_t width, FILE *out)
{
	static const char keys[] = "Enter into  Left back  s sort  r reverse  p paths  Space pause  ? help  q quit";
	struct page page = { height > 2 ? height - 1 : 1, width, out };
	char *beside = text_beside(view, answers);

	fputs("\033[H", out);
	put_title(view, answers, &page);
	if (view->help)
		put_lines(&page, help_text, page.left);
	else if (view->cnt || find_chosen(view))
		put_level(view, &page, beside ? beside : "");
	else
		put_lines(&page, "no process to look at, or no peer", 1);
	fprintf(out, "\033[J\033[%zu;1H%.*s\033[K", height, (int) width, keys);
	fflush(out);
	free(beside);
}
