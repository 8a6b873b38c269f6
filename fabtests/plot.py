# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 the libfabric authors.
"""plot - panels of lines over logarithmic axes, as SVG, with nothing but Python."""
import html
import math

WIDTH, HEIGHT = 560, 330		# of a panel
LEFT, RIGHT, TOP, BOTTOM = 62, 28, 34, 40
HEAD = 64				# above the panels


class Line:
    """points: {x: y}; band: {x: (low, high)} or None."""

    def __init__(self, label, points, colour, band=None, dashed=False, strong=False):
        self.label, self.points, self.colour = label, points, colour
        self.band, self.dashed, self.strong = band, dashed, strong


def text(x, y, words, size=12, anchor="start", extra=""):
    return '<text x="%.1f" y="%.1f" font-size="%d" text-anchor="%s"%s>%s</text>' % (
        x, y, size, anchor, extra, html.escape(words))


def decades(low, high):
    """Ticks at 1, and at 2 and 5 too where the range is short."""
    steps = (1, 2, 5) if math.log10(high / low) < 2.5 else (1,)
    e = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [s * 10.0 ** i for i in e for s in steps if low <= s * 10.0 ** i <= high]


def number(v):
    return "%g" % v if v < 10000 else "%gk" % (v / 1000) if v < 1e6 else "%gM" % (v / 1e6)


class Panel:
    def __init__(self, title, unit, lines, x_text):
        self.title, self.unit, self.x_text = title, unit, x_text
        self.lines = [l for l in lines if l.points]
        self.xs = sorted({x for l in self.lines for x in l.points})
        ys = [y for l in self.lines for y in l.points.values() if y > 0]
        ys += [y for l in self.lines for b in (l.band or {}).values() for y in b if y > 0]
        self.low, self.high = (min(ys) * 0.8, max(ys) * 1.25) if ys else (1, 10)

    def x(self, v):
        span = math.log(self.xs[-1] / self.xs[0]) or 1
        return LEFT + (WIDTH - LEFT - RIGHT) * math.log(v / self.xs[0]) / span

    def y(self, v):
        part = math.log(max(v, self.low) / self.low) / math.log(self.high / self.low)
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * part

    def axes(self):
        out = [text(LEFT - 50, 16, self.title, 13, extra=' font-weight="bold"')]
        out.append(text(LEFT - 50, TOP - 4, self.unit, 11, extra=' fill="#555"'))
        for v in decades(self.low, self.high):
            out.append('<path d="M%d %.1fH%d" stroke="#e2e2e2"/>' % (LEFT, self.y(v), WIDTH - RIGHT))
            out.append(text(LEFT - 6, self.y(v) + 4, number(v), 11, "end"))
        for v in self.xs:
            out.append('<path d="M%.1f %dV%d" stroke="#f0f0f0"/>' % (self.x(v), TOP, HEIGHT - BOTTOM))
            out.append(text(self.x(v), HEIGHT - BOTTOM + 16, self.x_text(v), 11, "middle"))
        out.append('<path d="M%d %dV%dH%d" fill="none" stroke="#555"/>' % (
            LEFT, TOP, HEIGHT - BOTTOM, WIDTH - RIGHT))
        return out

    def line(self, l):
        at = [(self.x(x), self.y(l.points[x])) for x in sorted(l.points)]
        out = []
        if l.band:
            xs = sorted(l.band)
            edge = [(self.x(x), self.y(l.band[x][1])) for x in xs]
            edge += [(self.x(x), self.y(l.band[x][0])) for x in reversed(xs)]
            out.append('<polygon points="%s" fill="%s" opacity="0.13"/>' % (
                " ".join("%.1f,%.1f" % p for p in edge), l.colour))
        out.append('<polyline points="%s" fill="none" stroke="%s" stroke-width="%.1f"%s/>' % (
            " ".join("%.1f,%.1f" % p for p in at), l.colour, 2.6 if l.strong else 1.5,
            ' stroke-dasharray="5 4"' if l.dashed else ""))
        if not l.dashed:
            out += ['<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>' % (p + (l.colour,)) for p in at]
        return out

    def covered(self, x0, y0, wide, high):
        """How much of the lines a box would hide, sampled along them."""
        n = 0
        for l in self.lines:
            at = [(self.x(x), self.y(l.points[x])) for x in sorted(l.points)]
            for (xa, ya), (xb, yb) in zip(at, at[1:]):
                n += sum(x0 <= xa + (xb - xa) * i / 20 <= x0 + wide and
                         y0 <= ya + (yb - ya) * i / 20 <= y0 + high for i in range(21))
        return n

    def legend(self):
        """In the corner where it hides least."""
        wide, high = 7 * max(len(l.label) for l in self.lines) + 30, 16 * len(self.lines) + 4
        corners = [(x, y) for y in (TOP + 2, HEIGHT - BOTTOM - high - 6)
                   for x in (LEFT + 12, WIDTH - RIGHT - wide)]
        x0, y0 = min(corners, key=lambda c: self.covered(c[0] - 4, c[1], wide, high))
        out = ['<rect x="%d" y="%d" width="%d" height="%d" fill="#fff" opacity="0.8"/>' % (
            x0 - 4, y0, wide, high)]
        for i, l in enumerate(self.lines):
            y = y0 + 12 + 16 * i
            out.append('<path d="M%d %dh20" stroke="%s" stroke-width="%.1f"%s/>' % (
                x0, y - 4, l.colour, 2.6 if l.strong else 1.5,
                ' stroke-dasharray="5 4"' if l.dashed else ""))
            out.append(text(x0 + 26, y, l.label, 11))
        return out

    def draw(self):
        if not self.lines:
            return [text(LEFT, TOP, self.title + ": no figures", 13)]
        return self.axes() + [s for l in self.lines for s in self.line(l)] + self.legend()


def svg(title, subtitle, panels):
    cols = min(2, len(panels)) or 1
    rows = (len(panels) + cols - 1) // cols
    w, h = cols * WIDTH, HEAD + rows * HEIGHT
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" '
           'font-family="DejaVu Sans, Arial, sans-serif">' % (w, h, w, h),
           '<rect width="%d" height="%d" fill="#fff"/>' % (w, h),
           text(12, 24, title, 16, extra=' font-weight="bold"'),
           text(12, 44, subtitle, 12, extra=' fill="#555"')]
    for i, p in enumerate(panels):
        out.append('<g transform="translate(%d %d)">' % (i % cols * WIDTH, HEAD + i // cols * HEIGHT))
        out += p.draw() + ["</g>"]
    return "\n".join(out + ["</svg>"])
