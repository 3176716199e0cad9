"""Pictures of session B: chunks, weights and scores."""

import textwrap
from collections.abc import Callable
from itertools import pairwise

import matplotlib.pyplot as plt
import pandas as pd

from ...measure.evalset import Query
from ...measure.inert import Markup, mark_words, template, visible, without_markdown
from ...measure.installation import TEMPLATES
from ...measure.text import how_many, snippet
from .. import record
from ..figures import DARK, GREEN, HALO, LETTERS, LIGHT, LINE, PALE, axes, in_words, show

STACKED = 5  # words that have a part of their own
WIDE = 0.08  # of the longest bar, for a number inside a part
SMALL = {"fontsize": LETTERS}
INSIDE = {"ha": "center", "va": "center", "path_effects": HALO} | SMALL
COLOURS = DARK, LIGHT, GREEN, "#6b6b6b", "#8c5fa8", "#8a8a8a"  # the last for all other words
HATCHES = "", "///", "...", "xx", "\\\\", ""
TINTS, SHARED = ("#dbe8f4", "#fdf0dc"), "#a9bccd"  # of chunks in turn; of what two share
OWN = "session_b.png"
Stretch = tuple[int, int]  # start and end, in characters


def shortened_to(text: str, most: int) -> str:
    """Return a text of one line with at most so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def chunk_page(body: str, spans: list[Stretch]) -> Markup:
    """Return a text as markup with its chunks tinted in turn, what two of them share darkest.

    The number of each chunk stands where it begins and where it ends, for who sees no tints.
    `spans` are in the order of the text; what lies past its end is left out.
    """
    stretches = []
    edges = {edge for span in spans for edge in span if edge < len(body)}
    for start, end in pairwise(sorted({0, *edges, len(body)})):
        holding, begun, ended = [], [], []
        for number, (first, last) in enumerate(spans, 1):
            if first <= start and end <= last:
                holding.append(number)
            if first == start:
                begun.append(number)
            if last == end:
                ended.append(number)
        stretches.append((Markup(_tint(holding)), begun, body[start:end], ended))
    page = template(TEMPLATES / "chunk_page.jinja")
    return Markup(page.render(stretches=stretches))


def _tint(holding: list[int]) -> str:
    """Return the colour of a stretch that the chunks with these numbers hold."""
    if not holding:
        return "#ffffff"
    return SHARED if len(holding) > 1 else TINTS[(holding[0] - 1) % 2]


def weights(curves: dict[str, list[float]], n_docs: int) -> None:
    """Draw the weight of a word against the number of documents that hold it, from 1 on.

    The title tells how the first of `curves` rises past half of the documents: where ln(...) is
    negative, rank_bm25 puts a part of the mean in its place.
    """
    ax, told, half = axes(3.6), [], n_docs // 2
    places = sorted({1, max(1, n_docs // 4), half, half + 1, n_docs})
    place = {"xytext": (0, 5), "textcoords": "offset points", "va": "bottom", "fontsize": 12}
    for (name, values), mark, color in zip(curves.items(), "o^", (LIGHT, DARK), strict=False):
        ax.plot(range(1, len(values) + 1), values, mark, color=color, markersize=3.5)
        n = 3 * len(values) // 4
        ax.annotate(name, (n + 1, values[n]), color=color, **place)
        weights_at = ", ".join(f"{values[n - 1]:.2f} at {n}" for n in places)
        told.append(f"{name} {weights_at}")
    name = next(iter(curves))
    low, high = curves[name][half - 1 : half + 1]
    arrow = {"arrowstyle": "->", "color": "black"}
    ax.annotate("", (half + 1, high), (half, low), arrowprops=arrow)
    title = f"{name}: one more document, and the weight jumps from {low:.2f} to {high:.2f}"
    ax.axhline(0, color="black", linewidth=1)
    show(
        ax,
        title,
        f"{'; '.join(told)}.",
        f"documents that hold the word, of {n_docs}",
        "weight (IDF)",
    )


def saturation(worth: Callable, k1: float, b: float, length: int) -> None:
    """Draw the score of one word against how often it occurs, beside that of the defaults.

    `worth(times, k1, b, length)` is the score of a document of `length` words, where 100 is the
    average.
    """
    times, ceiling = range(13), k1 + 1
    plain = [worth(n, 1.5, 0.75, 100) for n in times]
    scores = [worth(n, k1, b, length) for n in times]
    ax = axes(3.6)
    usual = "k1 1.5, b 0.75, length 100"
    ax.plot(times, plain, "s--", color="#6b6b6b", markersize=4, label=usual)
    name = f"k1 {k1:g}, b {b:g}, length {length}"
    if name != usual:  # where the values agree, it lies on the other
        ax.plot(times, scores, "o-", color=DARK, markersize=5, label=name)
    ax.axhline(ceiling, color=LIGHT, linestyle=":", linewidth=2)
    look = {"color": "#9c5210", "fontsize": 12, "va": "bottom"}
    ax.annotate(f"ceiling k1 + 1 = {ceiling:g}", (0.1, ceiling), **look)
    ax.set(xlim=(0, 12.3), ylim=(0, max(ceiling, 2.5) * 1.12))
    ax.legend(loc="lower right", frameon=False, fontsize=LETTERS)
    last = scores[-1] - scores[-2]
    title = f"The first occurrence earns {scores[1]:.2f}, the twelfth adds {last:.2f}"
    values = ", ".join(f"{scores[n]:.2f} at {n}" for n in (1, 2, 4, 8, 12))
    values = f"{name}: {values}; the ceiling is {ceiling:g}."
    show(ax, title, values, "how often the word occurs", "score, for a weight of 1")


def useful_in_five(counts: dict[str, int], n: int) -> None:
    """Draw how many of `n` questions have a useful page in the first five, a bar for each search.

    The newest of `counts` comes last, and the title is about it.
    """
    ax = axes(1.1 + 0.4 * len(counts))
    *former, newest = counts
    colors = [*[PALE] * len(former), LIGHT]
    ax.barh(range(len(counts)), [*counts.values()], 0.8, color=colors)
    for row, (name, count) in enumerate(counts.items()):
        ax.text(0, row, f" {name}", va="center", fontsize=LETTERS, path_effects=HALO)
        ax.annotate(f" {count}", (count, row), va="center", fontsize=LETTERS)
    ax.set(xlim=(0, n), yticks=[])
    ax.invert_yaxis()
    title = f"{newest}: a useful page for {counts[newest]} of {n} questions"
    show(ax, title, f"{in_words(counts)}.", "dev questions with a useful page in the first five")


def own_ranking(question: str, bars: dict[str, dict[str, float]]) -> None:
    """Draw the first results of a learner's question, and write them beside their copy.

    `bars` is {rank and title: {word: what it adds to the score}}, as in `score_parts`.
    """
    if not bars:
        print("no document shares a word with this question: try other words")
        return
    record.save_figure(score_parts(bars, shortened_to(visible(question), 55)), OWN)


def score_parts(bars: dict[str, dict[str, float]], question: str = "") -> plt.Figure:
    """Draw scores as stacked bars, a part for each word of the query, and return the figure.

    The words that weigh most in any bar come first; the others are summed. With a `question` the
    title tells which word adds most to the first bar; without one, which word does most to put the
    first bar ahead of the second.
    """
    parts = pd.DataFrame(bars).astype(float)  # words by bars
    order = parts.abs().max(axis=1).sort_values(ascending=False, kind="stable").index
    stacked = parts.loc[order[:STACKED]].rename(lambda word: shortened_to(word, 20))
    ax = axes(1.6 + 0.8 * len(bars) + 0.12 * len(stacked))
    if others := len(parts) - len(stacked):
        stacked.loc[how_many(others, "other word")] = parts.loc[order[STACKED:]].sum()
    _stack(ax, stacked)
    for row, name in enumerate(bars):
        ax.text(0, row - 0.3, shortened_to(name, LINE), **SMALL)
    ax.set(yticks=[], ylim=(len(bars) - 0.4, -0.7))
    ax.margins(x=0.12)
    ax.figure.legend(loc="outside lower left", ncols=2, frameon=False, **SMALL)
    values = "; ".join(f"{name}: {in_words(bar, '.2f')}" for name, bar in bars.items())
    title = _heaviest(parts.iloc[:, 0]) if question else _ahead(parts)
    below = textwrap.fill(f"score for “{question}”", LINE) if question else "score"
    show(ax, title, f"{values}.", below)
    return ax.figure


def _heaviest(parts: pd.Series) -> str:
    """Return which word adds most to a score."""
    word = shortened_to(parts.idxmax(), 16)
    return f"“{word}” brings the first page {parts.max():.1f} of its {parts.sum():.1f} points"


def _ahead(parts: pd.DataFrame) -> str:
    """Return which word does most to put the first column ahead of the second."""
    gap = parts.iloc[:, 0] - parts.iloc[:, 1]
    word = gap.idxmax()
    alone = f"“{shortened_to(word, 16)}” alone gives it {gap[word]:.1f}"
    return f"The first leads by {gap.sum():.1f} points; {alone}"


def _stack(ax: plt.Axes, parts: pd.DataFrame) -> None:
    """Draw a bar for each column, the first on top, with its sum; wide parts show their size."""
    sums = parts.sum()
    look = {"width": 0.5, "color": COLOURS, "edgecolor": "white"}
    parts.T.plot.barh(stacked=True, ax=ax, legend=False, **look)
    for bars, hatch in zip(ax.containers, HATCHES, strict=False):
        plt.setp(bars, hatch=hatch)
        for bar in bars:
            if bar.get_width() > WIDE * sums.max():
                ax.text(*bar.get_center(), f"{bar.get_width():.1f}", **INSIDE)
    ends = parts.clip(lower=0).sum()
    for row, (end, total) in enumerate(zip(ends, sums, strict=True)):
        ax.annotate(f" {total:.1f}", (end, row), va="center", **SMALL)


def result_card(
    query: Query, hits: dict[str, tuple[str, str]], words: set, missing: list[str], top: int
) -> Markup:
    """Return the first `top` results and the best relevant one as markup, with `words` marked.

    `hits` is {doc_id: (title, text of its best chunk)}, best first; `missing` are the words of the
    query that no relevant document contains.
    """
    best = next((doc_id for doc_id in hits if doc_id in query.relevant_doc_ids), None)
    filters = {"plain": without_markdown, "snippet": snippet, "mark": mark_words}
    card = template(TEMPLATES / "result_card.jinja", **filters).render(
        query=query, hits=hits, top=top, best=best, words=words, missing=missing
    )
    return Markup(card)
