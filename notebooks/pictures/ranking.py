"""Pictures of session B: chunks, weights and scores."""

from collections.abc import Callable
from itertools import cycle

import matplotlib.pyplot as plt
import numpy as np

from helpers.evalset import Query
from helpers.figures import DARK, GREEN, LIGHT, marked, put, snippet
from helpers.text import Markup, how_many

PURPLE = "#8c5fa8"
LENGTHEN = 0.012  # of the axis: the least width of a mark
Stretch = tuple[int, int]  # start and end, in characters


def shortened_to(text: str, most: int) -> str:
    """Return a text of one line with at most so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"


# One document, cut by each chunker.


def spans(name: str, chunkers: dict[str, list[Stretch]], body: str, quotes: list[Stretch]) -> None:
    """Draw a document from left to right with its chunks, a row for each chunker.

    Below stand its headings and its `quotes`, those that a seam cuts with a cross above. The title
    names the largest chunk.
    """
    figure, ax = plt.subplots(figsize=(7, 1.6 + 0.75 * len(chunkers)))
    lost = {}
    for row, (chunker, found) in enumerate(chunkers.items()):
        _draw_chunks(ax, -row, found)
        lost[chunker] = [q for q in quotes if not any(a <= q[0] and q[1] <= b for a, b in found)]
        for start, end in lost[chunker]:
            ax.plot((start + end) / 2, -row, "x", color="black", markersize=9, markeredgewidth=2)
    rows = [f"{chunker}\n{how_many(len(found), 'chunk')}" for chunker, found in chunkers.items()]
    heads = heading_places(body)
    at_heads = [-len(rows) + 0.1] * len(heads)
    ax.plot(heads, at_heads, "|", color="black", markersize=11, clip_on=False)
    _draw_quotes(ax, -len(rows) - 0.65, quotes, len(body))
    under = [f"{how_many(len(heads), 'heading')}", how_many(len(quotes), "quote")]
    ax.set_yticks([*range(0, -len(rows), -1), -len(rows) + 0.1, -len(rows) - 0.65], rows + under)
    left = -0.012 * len(body)  # a mark at the first character stands clear of the axis
    ax.set(xlim=(left, len(body)), ylim=(-len(rows) - 1, 0.6), xlabel="characters of the document")
    ax.grid(visible=False)
    part, chunker = max((b - a, c) for c, found in chunkers.items() for a, b in found)
    share = part / max(1, len(body))
    told = f"The {chunker} chunker keeps {share:.0%} of {shortened_to(name, 30)} in one chunk"
    ax.set_title(told)
    counts = ", ".join(f"{chunker} {len(found)}" for chunker, found in lost.items())
    sizes = "; ".join(
        f"{chunker}: " + ", ".join(f"{a} to {b}" for a, b in found)
        for chunker, found in chunkers.items()
    )
    put(
        figure,
        f"{told}. Chunks by character: {sizes}. Quotes that a seam cuts, of {len(quotes)}: "
        f"{counts}.",
    )


def _draw_chunks(ax: plt.Axes, row: float, found: list[Stretch]) -> None:
    """Draw chunks as bars that step up and down, so that an overlap shows."""
    looks = cycle([(DARK, "", 0.0), (LIGHT, "///", -0.28)])
    for (start, end), (color, hatch, down) in zip(found, looks, strict=False):
        ax.barh(
            row + 0.14 + down, end - start, 0.27, start, color=color, hatch=hatch, edgecolor="white"
        )


def _draw_quotes(ax: plt.Axes, row: float, quotes: list[Stretch], length: int) -> None:
    for start, end in quotes:
        ax.barh(row, max(end - start, LENGTHEN * length), 0.3, start, color=GREEN)


def heading_places(body: str) -> list[int]:
    """Return the places at which a line begins with #."""
    lines = body.splitlines(keepends=True)
    starts = np.cumsum([0, *map(len, lines)])
    return [int(at) for at, line in zip(starts, lines, strict=False) if line.startswith("#")]


# What a word weighs.


def weights(curves: dict[str, list[float]], n_docs: int) -> None:
    """Draw the weight of a word against the number of documents that hold it, from 1 on.

    The title tells the largest rise: a weight that grows where a word gets more common.
    """
    figure, ax = plt.subplots(figsize=(7, 3.6))
    for (name, values), line in zip(curves.items(), ("o", "^"), strict=False):
        color = LIGHT if line == "o" else DARK
        df = range(1, len(values) + 1)
        ax.plot(df, values, line, color=color, markersize=3.5)
        at = 3 * len(values) // 4
        place = {"xytext": (0, 5), "textcoords": "offset points", "va": "bottom"}
        ax.annotate(name, (df[at], values[at]), color=color, fontsize=11, **place)
    name, at, low, high = largest_rise(curves)
    if high > low:
        ax.annotate(
            "", (at + 1, high), (at, low), arrowprops={"arrowstyle": "->", "color": "black"}
        )
        told = f"{name}: one more document, and the weight jumps from {low:.2f} to {high:.2f}"
    else:
        told = "The more documents hold a word, the less it weighs"
    ax.axhline(0, color="black", linewidth=1)
    ax.set(xlabel=f"documents that hold the word, of {n_docs}", ylabel="weight (IDF)", title=told)
    shown = sorted({1, max(1, n_docs // 4), at, min(at + 1, n_docs), n_docs})
    values = "; ".join(
        f"{name} " + ", ".join(f"{curve[df - 1]:.2f} at {df}" for df in shown)
        for name, curve in curves.items()
    )
    put(figure, f"{told}. {values}.")


def largest_rise(curves: dict[str, list[float]]) -> tuple[str, int, float, float]:
    """Return (name, documents before it, value before, value after) of the largest step up."""
    steps = [
        (after - before, name, df, before, after)
        for name, values in curves.items()
        for df, (before, after) in enumerate(zip(values, values[1:], strict=False), 1)
    ]
    return max(steps)[1:]


# What one more occurrence adds.


def saturation(worth: Callable, k1: float, b: float, length: int) -> None:
    """Draw the score of one word against how often it occurs, beside that of the defaults.

    `worth(times, k1, b, length)` is the score of a document of `length` words, where 100 is the
    average.
    """
    times = range(13)
    plain = [worth(n, 1.5, 0.75, 100) for n in times]
    moved_to = [worth(n, k1, b, length) for n in times]
    figure, ax = plt.subplots(figsize=(7, 3.6))
    ax.plot(times, plain, "s--", color="#6b6b6b", markersize=4, label="k1 1.5, b 0.75, length 100")
    name = f"k1 {k1:g}, b {b:g}, length {length}"
    if moved_to != plain:
        ax.plot(times, moved_to, "o-", color=DARK, markersize=5, label=name)
    ceiling = k1 + 1
    ax.axhline(ceiling, color=LIGHT, linestyle=":", linewidth=2)
    ax.annotate(
        f"ceiling k1 + 1 = {ceiling:g}", (0.1, ceiling), color="#9c5210", fontsize=10, va="bottom"
    )
    ax.set(xlabel="how often the word occurs", ylabel="score, for a weight of 1", xlim=(0, 12.3))
    ax.set_ylim(0, max(ceiling, 2.5) * 1.12)
    last = moved_to[-1] - moved_to[-2]
    told = f"The first occurrence earns {moved_to[1]:.2f}, the twelfth adds {last:.2f}"
    ax.set_title(told)
    ax.legend(loc="lower right", frameon=False, fontsize=10)
    values = ", ".join(f"{moved_to[n]:.2f} at {n}" for n in (1, 2, 4, 8, 12))
    put(figure, f"{told}. {name}: {values}; the ceiling is {ceiling:g}.")


# Why one chunk stands before another.


def score_parts(bars: dict[str, dict[str, float]], most: int = 5) -> None:
    """Draw scores as stacked bars, a part for each word of the query.

    The words that weigh most come first; the others are summed. The title tells which word does
    most to put the first bar ahead of the second.
    """
    (first, second), words = [*bars][:2], [*next(iter(bars.values()))]
    gap = {word: bars[first][word] - bars[second][word] for word in words}
    kept = sorted(words, key=lambda word: -max(abs(bar[word]) for bar in bars.values()))[:most]
    rest = [word for word in words if word not in kept]
    figure, ax = plt.subplots(figsize=(7, 1.5 + 0.7 * len(bars) + 0.2 * len(kept)))
    looks = [(DARK, ""), (LIGHT, "///"), (GREEN, "..."), ("#6b6b6b", "xx"), (PURPLE, "\\\\")]
    looks = [*looks[: len(kept)], ("#8a8a8a", "")]
    ends = {name: [0.0, 0.0] for name in bars}  # below and above 0
    for word, (color, hatch) in zip([*kept, *([None] if rest else [])], looks, strict=False):
        parts = [float(bar[word] if word else sum(bar[w] for w in rest)) for bar in bars.values()]
        starts = [ends[name][part > 0] for name, part in zip(bars, parts, strict=True)]
        label = shortened_to(word, 20) if word else how_many(len(rest), "other word")
        looks_of = {"color": color, "hatch": hatch, "edgecolor": "white", "label": label}
        ax.barh(_rows_of(bars), parts, 0.55, starts, **looks_of)
        for name, part in zip(bars, parts, strict=True):
            ends[name][part > 0] += part
    _write_totals(ax, bars, ends)
    word, ahead = max(gap, key=gap.get), sum(gap.values())
    name = shortened_to(word, 16)
    told = f"“{name}” alone puts the first {gap[word]:.1f} ahead, all words {ahead:.1f}"
    ax.set(xlabel="score", title=told)
    ax.legend(loc="upper center", bbox_to_anchor=(0.45, -0.28), ncols=3, frameon=False, fontsize=10)
    values = "; ".join(
        f"{name}: " + ", ".join(f"{w} {part:.2f}" for w, part in bar.items())
        for name, bar in bars.items()
    )
    put(figure, f"{told}. {values}.")


def _rows_of(bars: dict) -> list[int]:
    """Return a place for each bar, the first one on top."""
    return [*range(0, -len(bars), -1)]


def _write_totals(ax: plt.Axes, bars: dict[str, dict[str, float]], ends: dict) -> None:
    """Name each bar, and write its sum at its end."""
    ax.set_yticks(_rows_of(bars), [shortened_to(name, 34) for name in bars])
    for row, (name, bar) in zip(_rows_of(bars), bars.items(), strict=True):
        ax.annotate(f" {sum(bar.values()):.1f}", (ends[name][True], row), va="center", fontsize=11)
    ax.grid(axis="y", visible=False)
    ax.margins(x=0.12)


# What a search returned.


def result_card(
    query: Query, found: dict[str, tuple[str, str]], words: set, lost: list[str], top: int
) -> Markup:
    """Return the first `top` results and the best relevant one as markup, with `words` marked.

    `found` is {doc_id: (id of its chunk, text)}, best first; `lost` are the words of the query
    that no relevant document contains.
    """
    kind = f" ({query.kind})" if query.kind != Query._field_defaults["kind"] else ""
    card = Markup("<h4>{}</h4>").format(f"{query.query_id}{kind}: {query.query}")
    best = next((doc_id for doc_id in found if doc_id in query.relevant_doc_ids), None)
    for rank, (doc_id, (chunk_id, text)) in enumerate(found.items(), 1):
        if rank <= top or doc_id == best:
            tick = "✓" if doc_id in query.relevant_doc_ids else "·"
            stretch = marked(snippet(text, words), words)
            row = Markup("<p>{} {}. <b>{}</b><br>{}</p>")
            card += row.format(tick, rank, chunk_id, stretch)
    lacking = Markup("<p>Words in no relevant document: {}</p>")
    return card + lacking.format(", ".join(lost) or "none")
