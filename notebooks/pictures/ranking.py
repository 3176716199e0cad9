"""Pictures of session B: chunks, weights and scores."""

import re
from collections.abc import Callable
from itertools import cycle, pairwise

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from helpers.evalset import Query
from helpers.figures import DARK, GREEN, LIGHT, axes, mark_words, show, snippet
from helpers.text import Markup, how_many

STACKED = 5  # words that have a part of their own
COLOURS = DARK, LIGHT, GREEN, "#6b6b6b", "#8c5fa8", "#8a8a8a"  # the last for all other words
HATCHES = "", "///", "...", "xx", "\\\\", ""
LENGTHEN = 0.012  # of the axis: the least width of a mark
Stretch = tuple[int, int]  # start and end, in characters


def shortened_to(text: str, most: int) -> str:
    """Return a text of one line with at most so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def spans(name: str, chunkers: dict[str, list[Stretch]], body: str, quotes: list[Stretch]) -> None:
    """Draw a document from left to right with its chunks, a row for each chunker.

    Below stand its headings and its `quotes`, those that a seam cuts with a cross above. The title
    names the largest chunk.
    """
    ax = axes(1.6 + 0.75 * len(chunkers))
    rows, sizes, cut = [], [], []  # what is said of each chunker
    for y, (chunker, chunks) in enumerate(chunkers.items()):
        n_cut = _chunks_of_one(ax, -y, chunks, quotes)
        rows.append(f"{chunker}\n{how_many(len(chunks), 'chunk')}")
        sizes.append(f"{chunker}: {', '.join(f'{a} to {b}' for a, b in chunks)}")
        cut.append(f"{chunker} {n_cut}")
    heads = [match.start() for match in re.finditer("^#", body, re.MULTILINE)]
    below, least = -len(chunkers), LENGTHEN * len(body)
    ax.plot(heads, [below + 0.1] * len(heads), "|", color="black", markersize=11, clip_on=False)
    for start, end in quotes:
        ax.barh(below - 0.65, max(end - start, least), 0.3, start, color=GREEN)
    rows += [how_many(len(heads), "heading"), how_many(len(quotes), "quote")]
    ax.set_yticks([*range(0, below, -1), below + 0.1, below - 0.65], rows)
    ax.set(xlim=(-least, len(body)), ylim=(below - 1, 0.6))  # clear of a mark at the start
    ax.grid(visible=False)
    longest, chunker = max((b - a, c) for c, chunks in chunkers.items() for a, b in chunks)
    share = longest / max(1, len(body))
    title = f"The {chunker} chunker keeps {share:.0%} of {shortened_to(name, 30)} in one chunk"
    values = f"Chunks by character: {'; '.join(sizes)}. Quotes that a seam cuts, of {len(quotes)}: "
    show(ax, title, f"{values}{', '.join(cut)}.", "characters of the document")


def _chunks_of_one(ax: plt.Axes, y: int, chunks: list[Stretch], quotes: list[Stretch]) -> int:
    """Draw the row of a chunker, and return how many quotes a seam cuts."""
    looks = cycle([(DARK, "", 0.14), (LIGHT, "///", -0.14)])  # up and down, to show overlaps
    for (start, end), (color, hatch, up) in zip(chunks, looks, strict=False):
        ax.barh(y + up, end - start, 0.27, start, color=color, hatch=hatch, edgecolor="white")
    cut = [(a, b) for a, b in quotes if not any(c <= a and b <= d for c, d in chunks)]
    middles = [(start + end) / 2 for start, end in cut]
    ax.plot(middles, [y] * len(cut), "x", color="black", markersize=9, markeredgewidth=2)
    return len(cut)


def weights(curves: dict[str, list[float]], n_docs: int) -> None:
    """Draw the weight of a word against the number of documents that hold it, from 1 on.

    The title tells the largest rise: a weight that grows where a word gets more common.
    """
    ax = axes(3.6)
    place = {"xytext": (0, 5), "textcoords": "offset points", "va": "bottom", "fontsize": 12}
    for (name, values), mark, color in zip(curves.items(), "o^", (LIGHT, DARK), strict=False):
        ax.plot(range(1, len(values) + 1), values, mark, color=color, markersize=3.5)
        n = 3 * len(values) // 4
        ax.annotate(name, (n + 1, values[n]), color=color, **place)
    rise, name, df = max(  # df documents before the largest step up
        (after - before, name, df)
        for name, values in curves.items()
        for df, (before, after) in enumerate(pairwise(values), 1)
    )
    title = "The more documents hold a word, the less it weighs"
    if rise > 0:
        low, high = curves[name][df - 1 : df + 1]
        arrow = {"arrowstyle": "->", "color": "black"}
        ax.annotate("", (df + 1, high), (df, low), arrowprops=arrow)
        title = f"{name}: one more document, and the weight jumps from {low:.2f} to {high:.2f}"
    ax.axhline(0, color="black", linewidth=1)
    places = sorted({1, max(1, n_docs // 4), df, min(df + 1, n_docs), n_docs})
    rows = (", ".join(f"{curve[n - 1]:.2f} at {n}" for n in places) for curve in curves.values())
    values = "; ".join(map("{} {}".format, curves, rows))
    show(ax, title, f"{values}.", f"documents that hold the word, of {n_docs}", "weight (IDF)")


def saturation(worth: Callable, k1: float, b: float, length: int) -> None:
    """Draw the score of one word against how often it occurs, beside that of the defaults.

    `worth(times, k1, b, length)` is the score of a document of `length` words, where 100 is the
    average.
    """
    times, ceiling = range(13), k1 + 1
    plain = [worth(n, 1.5, 0.75, 100) for n in times]
    scores = [worth(n, k1, b, length) for n in times]
    ax = axes(3.6)
    ax.plot(times, plain, "s--", color="#6b6b6b", markersize=4, label="k1 1.5, b 0.75, length 100")
    name = f"k1 {k1:g}, b {b:g}, length {length}"
    if scores != plain:
        ax.plot(times, scores, "o-", color=DARK, markersize=5, label=name)
    ax.axhline(ceiling, color=LIGHT, linestyle=":", linewidth=2)
    look = {"color": "#9c5210", "fontsize": 12, "va": "bottom"}
    ax.annotate(f"ceiling k1 + 1 = {ceiling:g}", (0.1, ceiling), **look)
    ax.set(xlim=(0, 12.3), ylim=(0, max(ceiling, 2.5) * 1.12))
    ax.legend(loc="lower right", frameon=False, fontsize=12)
    last = scores[-1] - scores[-2]
    title = f"The first occurrence earns {scores[1]:.2f}, the twelfth adds {last:.2f}"
    values = ", ".join(f"{scores[n]:.2f} at {n}" for n in (1, 2, 4, 8, 12))
    values = f"{name}: {values}; the ceiling is {ceiling:g}."
    show(ax, title, values, "how often the word occurs", "score, for a weight of 1")


def score_parts(bars: dict[str, dict[str, float]]) -> None:
    """Draw scores as stacked bars, a part for each word of the query.

    The words that weigh most come first; the others are summed. The title tells which word does
    most to put the first bar ahead of the second.
    """
    parts = pd.DataFrame(bars).astype(float)  # words by bars
    order = parts.abs().max(axis=1).sort_values(ascending=False, kind="stable").index
    stacked = parts.loc[order[:STACKED]].rename(lambda word: shortened_to(word, 20))
    ax = axes(1.5 + 0.7 * len(bars) + 0.2 * len(stacked))
    if others := len(parts) - len(stacked):
        stacked.loc[how_many(others, "other word")] = parts.loc[order[STACKED:]].sum()
    _stack(ax, stacked)
    ax.set_yticks(range(0, -len(bars), -1), [shortened_to(n, 34) for n in bars], fontsize=10)
    ax.grid(axis="y", visible=False)
    ax.margins(x=0.12)
    ax.legend(loc="upper center", bbox_to_anchor=(0.45, -0.28), ncols=3, frameon=False, fontsize=10)
    gap = parts.iloc[:, 0] - parts.iloc[:, 1]
    word = gap.idxmax()
    name = shortened_to(word, 16)
    title = f"“{name}” alone puts the first {gap[word]:.1f} ahead, all words {gap.sum():.1f}"
    rows = (", ".join(f"{word} {part:.2f}" for word, part in bar.items()) for bar in bars.values())
    values = "; ".join(map("{}: {}".format, bars, rows))
    show(ax, title, f"{values}.", "score")


def _stack(ax: plt.Axes, parts: pd.DataFrame) -> None:
    """Draw a bar for each column, the first on top, and its sum at its end."""
    rows = [*range(0, -len(parts.columns), -1)]
    ends = np.zeros((2, len(rows)))  # below and above 0
    for (label, widths), color, hatch in zip(parts.iterrows(), COLOURS, HATCHES, strict=False):
        side = np.where(widths > 0, 1, 0), np.arange(len(rows))
        look = {"color": color, "hatch": hatch, "edgecolor": "white", "label": label}
        ax.barh(rows, widths, 0.55, ends[side], **look)
        ends[side] += widths
    for row, end, total in zip(rows, ends[1], parts.sum(), strict=True):
        ax.annotate(f" {total:.1f}", (end, row), va="center", fontsize=12)


def result_card(
    query: Query, hits: dict[str, tuple[str, str]], words: set, missing: list[str], top: int
) -> Markup:
    """Return the first `top` results and the best relevant one as markup, with `words` marked.

    `hits` is {doc_id: (id of its chunk, text)}, best first; `missing` are the words of the query
    that no relevant document contains.
    """
    kind = f" ({query.kind})" if query.kind != "unspecified" else ""
    card = Markup("<h4>{}</h4>").format(f"{query.query_id}{kind}: {query.query}")
    row = Markup("<p>{} {}. <b>{}</b><br>{}</p>")
    best = next((doc_id for doc_id in hits if doc_id in query.relevant_doc_ids), None)
    for rank, (doc_id, (chunk_id, text)) in enumerate(hits.items(), 1):
        if rank <= top or doc_id == best:
            tick = "✓" if doc_id in query.relevant_doc_ids else "·"
            card += row.format(tick, rank, chunk_id, mark_words(snippet(text, words), words))
    lacking = Markup("<p>Words in no relevant document: {}</p>")
    return card + lacking.format(", ".join(missing) or "none")
