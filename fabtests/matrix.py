# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 the libfabric authors.
"""matrix - every call by pattern, size and way of taking completions: a ratio for each cell.

fi_bench_matrix measures all calls, patterns and sizes in one run; a run differs from the next in
how completions are taken, in the threading level and in who makes progress.
"""
import html
import math
import statistics

SIZES = [8, 64, 512, 4096, 16384, 65536, 262144, 1048576, 4194304]
SHORT_SIZES = [8, 4096, 65536, 1048576]
COMPLETIONS = {
    "queue, 1 entry": [],
    "queue, 64 entries": ["--batch", "64"],
    "counter": ["-t", "counter"],
    "selective": ["--selective"],
    "sread": ["-c", "sread"],
    "file descriptor": ["-c", "fd"],
}
PATTERNS = ["latency", "one-way", "both-ways"]
# Cells that ucx_perftest has, too, and the value of its rows that is theirs.  Its memory for RMA is mapped by
# both processes of one host, which memory that a program brings along cannot be: there messages alone count.
UCX_CELLS = {
    "tsend latency": ("-t tag_lat", "50.0_percentile_lat"),
    "tsend one-way": ("-t tag_bw", "overall_lat"),
    "write one-way": ("-t ucp_put_bw", "overall_lat"),
    "read latency": ("-t ucp_get -O 1", "50.0_percentile_lat"),
    "read one-way": ("-t ucp_get", "overall_lat"),
    "atomic one-way": ("-t ucp_add", "overall_lat"),
}
UCX_ON_ONE_HOST = ["tsend latency", "tsend one-way"]
# The rounds of a map take half a minute, in which the machine may change: a cell below this is measured again
# by itself, at least so many times in turn, each of which takes a fraction of a second.
AGAIN_BELOW = 0.95
AGAIN_ROUNDS = 9


class Mode:
    """How a run takes completions, and what it asks of the domain."""

    def __init__(self, completion, threading, progress):
        self.completion, self.threading, self.progress = completion, threading, progress
        self.argv = COMPLETIONS[completion] + ["--threading", threading, "--data-progress", progress]
        if progress == "auto":
            self.argv += ["--control-progress", "unspec"]

    def name(self):
        return "%s, FI_THREAD_%s, %s progress" % (self.completion, self.threading.upper(), self.progress)


def modes(short):
    """The short form changes one thing at a time."""
    if short:
        return [Mode(c, "domain", "manual") for c in COMPLETIONS] + \
               [Mode("queue, 1 entry", "safe", "manual"), Mode("queue, 1 entry", "domain", "auto")]
    return [Mode(c, t, p) for t in ("domain", "safe") for p in ("manual", "auto") for c in COMPLETIONS]


def argv(mode, sizes, cell_ms, only=None):
    cells = ["--cells", ",".join(only)] if only else []
    return ["fi_bench_matrix", "-S", ",".join(map(str, sizes)), "--cell-ms", str(cell_ms)] + mode.argv + cells


def ucx_batch(sizes, tls, only=None):
    """The lines of a batch file for ucx_perftest: a name, which is the cell's, and options."""
    cells = UCX_CELLS if tls.startswith("tcp") else UCX_ON_ONE_HOST
    return ["%s-%d %s -s %d -n %d -w %d" % (cell.replace(" ", "_"), size, UCX_CELLS[cell][0], size, count, count // 10)
            for cell in cells for size in (sizes if cell != "atomic one-way" else [8])
            for count in [max(40, min(20000, (64 << 20) // size))]
            if not only or "%s %d" % (cell, size) in only]


def ucx_rows(text):
    """{cell: {"usec": time}} of what ucx_perftest -v has printed."""
    rows, keys = {}, []
    for line in text.split("\n"):
        words = line.split(",")
        if "overall_lat" in words:
            keys = words[1:]
        elif len(words) == len(keys) + 1 and keys:
            cell, _, size = words[0].rpartition("-")
            cell = cell.replace("_", " ")
            usec = float(dict(zip(keys, words[1:]))[UCX_CELLS[cell][1]])
            if usec > 0:
                rows["%s %s" % (cell, size)] = {"usec": usec}
    return rows


def rounds(sides, run, count):
    """Every side in turn, @count times: {side: {cell: [usec]}} and {side: reason} of those that end early."""
    values, why = {s: {} for s in sides}, {}
    for _ in range(count):
        for side in sides:
            if side in why:
                continue
            rows, reason = run(side)
            if reason:
                why[side] = reason
            for cell, row in rows.items():
                values[side].setdefault(cell, []).append(row["usec"])
    return values, why


def one_table(provider, mode, ours, theirs, values, why, only=False):
    """The ratios of one side of ours to the best of the others, cell by cell.
    @only: leave out the cells that the others do not have
    """
    medians = {s: {c: statistics.median(v) for c, v in values[s].items()} for s in [ours] + theirs}
    cells = {}
    for cell, mine in medians[ours].items():
        others = [(medians[s][cell], s.name()) for s in theirs if medians[s].get(cell)]
        if only and not others:
            continue
        row = {"ours": mine}
        if others and mine:
            best, by = min(others)
            row.update(theirs=best, by=by, ratio=round(best / mine, 3))
        cells[cell] = row
    return {"provider": provider, "ours": ours.name(), "completion": mode.completion,
            "threading": mode.threading, "progress": mode.progress, "cells": cells,
            "failed": {s.name(): r for s, r in why.items() if s is ours or s in theirs}}


def low_cells(table):
    """Those to be measured again."""
    return [cell for cell, row in table["cells"].items() if row.get("ratio", AGAIN_BELOW) < AGAIN_BELOW]


def measured_again(table, again):
    """The cells of @again take the places of those in @table, whose ratios are kept as "first"."""
    table["failed"].update(again["failed"])
    for cell, row in again["cells"].items():
        if "ratio" in row and cell in table["cells"]:
            table["cells"][cell] = dict(row, first=table["cells"][cell]["ratio"])


def compared(tables):
    """(ratio, table, cell) of all cells that both have, the worst first."""
    return sorted(((row["ratio"], i, cell) for i, t in enumerate(tables)
                   for cell, row in t["cells"].items() if "ratio" in row))


def summary(tables):
    rows = compared(tables)
    if not rows:
        return "no pair of figures"
    all_of = [r for r, _, _ in rows]
    return "%d cells; median %.2f; below 1: %d (%.1f %%), below 0.95: %d (%.1f %%)" % (
        len(all_of), statistics.median(all_of), sum(r < 1 for r in all_of),
        100 * sum(r < 1 for r in all_of) / len(all_of), sum(r < 0.95 for r in all_of),
        100 * sum(r < 0.95 for r in all_of) / len(all_of))


def title(table):
    return "%s: %s, FI_THREAD_%s, %s progress" % (table["ours"], table["completion"],
                                                  table["threading"].upper(), table["progress"])


def worst(tables, count=20):
    return ["%.2f  %s  %s: %.3f against %.3f us (%s)" % (
        r, title(tables[i]), cell, tables[i]["cells"][cell]["ours"], tables[i]["cells"][cell]["theirs"],
        tables[i]["cells"][cell]["by"]) for r, i, cell in compared(tables)[:count] if r < 1]


def colour(ratio):
    """Red below 1, green above, white at 1; full at a factor of 4."""
    depth = max(-1.0, min(1.0, math.log(ratio, 4))) if ratio > 0 else -1.0
    pale = round(255 - 150 * abs(depth))
    return "rgb(255,%d,%d)" % (pale, pale) if depth < 0 else "rgb(%d,255,%d)" % (pale, pale)


def heat_map(table, size_text):
    cells = [(name.split(), row) for name, row in table["cells"].items()]
    sizes = sorted({int(words[2]) for words, _ in cells})
    by = {(w[0], w[1], int(w[2])): row for w, row in cells}
    calls = list(dict.fromkeys(w[0] for w, _ in cells))
    out = ["<h3>%s</h3>" % html.escape(title(table))]
    out += ["<p>%s: %s</p>" % (html.escape(k), html.escape(v)) for k, v in table["failed"].items()]
    out.append("<table class='heat'><tr><th></th>" + "".join(
        "<th colspan='%d'>%s</th>" % (len(sizes), p) for p in PATTERNS) + "</tr><tr><th></th>" + "".join(
            "<th>%s</th>" % html.escape(size_text(s)) for _ in PATTERNS for s in sizes) + "</tr>")
    for call in calls:
        row = "<td>%s</td>" % html.escape(call)
        for key in [(call, p, s) for p in PATTERNS for s in sizes]:
            cell = by.get(key, {})
            tip = "%s us" % ("%.3f" % cell["ours"] if cell else "-")
            if "ratio" in cell:
                tip += ", %s %.3f us" % (cell["by"], cell["theirs"])
            if "first" in cell:
                tip += "; measured again, %.2f at first" % cell["first"]
            row += "<td title='%s'%s>%s</td>" % (
                html.escape(tip, quote=True),
                " style='background:%s'" % colour(cell["ratio"]) if "ratio" in cell else "",
                "%.2f" % cell["ratio"] if "ratio" in cell else "")
        out.append("<tr>%s</tr>" % row)
    return "".join(out) + "</table>"


def page(tables, beside_ucx, size_text):
    """The part of the report that shows the matrix; empty without one."""
    out = ""
    for head, some in (("Matrix", tables), ("Beside UCX", beside_ucx)):
        if not some:
            continue
        lines = "".join("<li>%s</li>" % html.escape(w) for w in worst(some))
        out += "<h2>%s: time of theirs to time of ours; above 1 ours is better</h2><p>%s</p>%s%s" % (
            head, html.escape(summary(some)), "<p>The lowest:</p><ol>%s</ol>" % lines if lines else "",
            "".join(heat_map(t, size_text) for t in some))
    return out
