"""Pictures of session A: a question and its page, lengths, halves, and what nobody asks about."""

from math import ceil

import numpy as np
import pandas as pd
from matplotlib.colors import PowerNorm

from ...measure import results, text
from ...measure.evalset import Document, EvalSet, Query
from ...measure.text import how_many
from .. import figures
from ..figures import DARK, LIGHT, in_words

ROWS = 18  # kinds or services a picture holds; those with the fewest documents are one row
SQUARES = 60  # a row of the grid; where a service has more documents, a square stands for several
REST = "all others"


def words_of_both(evals: EvalSet, query: Query, document: Document) -> None:
    """Say and plot which content words of a query its page has, and what it says for others."""
    page = {*evals.words(document.retrieval_text)}
    asked = [*dict.fromkeys(text.content_words(evals.words(query.query)))]
    shared = [word for word in asked if word in page]
    missing = [word for word in asked if word not in page]
    instead = {}
    for own, other in results.read_word_pairs(evals.folder, query.query_id):
        words = evals.words(own)
        if {*words} <= {*missing} and {*evals.words(other)} <= page:
            instead[own] = other
            missing = [word for word in missing if word not in words]
    share = f"share {len(shared)} of {how_many(len(asked), 'content word')}"
    told = f"They {share}: {', '.join(shared) or 'none'}."
    if instead:
        own, others = ", ".join(instead), ", ".join(instead.values())
        told = f"The question says {own}; the page says {others}. {told}"
    print(told)
    rows = {word: word for word in shared} | instead | dict.fromkeys(missing, "")
    _draw_words([*rows.items()][:ROWS], f"Question and page {share}", told)


def _draw_words(rows: list[tuple[str, str]], title: str, told: str) -> None:
    """Draw the words of a question on the left, those of its page on the right, and link them."""
    ax = figures.axes(1.2 + 0.34 * len(rows))
    size = {"va": "center", "fontsize": figures.LETTERS}
    for y, (own, other) in enumerate(rows):
        face, color, line = (DARK, "white", "-") if own == other else ("white", "black", ":")
        look = {"color": color, "bbox": {"boxstyle": "round", "facecolor": face}} | size
        ax.text(0.36, y, own, ha="right", **look)
        ax.text(0.64, y, other, **look)
        if other:
            ax.plot([0.4, 0.6], [y, y], line, color=DARK, linewidth=2)
    ax.text(0.36, -1, "the question", ha="right", **size)
    ax.text(0.64, -1, "the page", **size)
    key = "dark: the word is in both\ndotted: what the page says instead"
    ax.text(0.5, len(rows), key, ha="center", **size)
    ax.axis([0, 1, len(rows) + 0.5, -1.5])
    ax.axis("off")
    figures.show(ax, title, told)


def frequent(column: pd.Series) -> pd.Series:
    """Return a column of kinds or services: the most frequent by name, the others as one."""
    counts = column.value_counts()
    kept = counts.index if len(counts) <= ROWS else counts.index[: ROWS - 1]
    return column.where(column.isin(kept), REST)


def lengths(corpus: pd.DataFrame, chunk_size: int = 512) -> None:
    """Plot a row for each kind: where its documents lie by length, the shortest kind on top.

    `corpus` has the columns `tokens` and `kind`; `chunk_size` is drawn as a line.
    """
    kinds = frequent(corpus.kind)
    medians = corpus.tokens.groupby(kinds).median().sort_values(kind="stable")
    places = medians.index.get_indexer(kinds)
    ax = figures.axes(1 + 0.165 * len(medians))
    bins = np.linspace(0, corpus.tokens.max(), 41), np.arange(len(medians) + 1) - 0.5
    more = PowerNorm(0.5, vmin=0)  # few documents are seen, too
    ax.hist2d(corpus.tokens, places, bins, cmap="Blues", norm=more)
    ax.autoscale(axis="x")  # the line may lie beyond
    ax.plot([], [], "s", color=DARK, label="darker: more")
    ax.plot(medians, range(len(medians)), "o", color="black", mfc="white", label="median")
    line = {"color": LIGHT, "linestyle": "--", "linewidth": 2}
    ax.axvline(chunk_size, label=f"{chunk_size} tokens", **line)
    figures.name_rows(ax, medians.index)
    ax.tick_params(labelsize=10)  # rows are low
    ax.grid(visible=False)
    ax.figure.legend(loc="outside lower right", ncols=3, frameon=False)
    share = (corpus.tokens > chunk_size).mean()
    title = f"{share:.0%} of documents have over {chunk_size} tokens"
    values = f"Median tokens by kind: {in_words(medians, '.0f')}."
    figures.show(ax, title, values, "tokens of a document")


def halves(sizes: pd.Series, half: pd.Series) -> None:
    """Plot a row for each half with a block for each group of queries, the largest first.

    `sizes` are the queries of each group, `half` says where they stand.
    """
    rows = {name: sizes[half == name].sort_values(ascending=False) for name in sorted({*half})}
    ax = figures.axes(0.9 + 0.5 * len(rows))
    edge = min(0.5, 60 / len(sizes))  # many are thin, and those of one query have none
    size = {"va": "center", "fontsize": figures.LETTERS}
    for y, of in enumerate(rows.values()):
        edges = np.where(of > 1, edge, 0)
        look = {"color": DARK, "edgecolor": "white", "linewidth": edges}
        ax.barh([y] * len(of), of, 0.7, of.cumsum() - of, **look)
        ax.text(of.iloc[0] / 2, y, of.iloc[0], color="white", ha="center", **size)
    figures.name_rows(ax, [f"{name}: {how_many(len(of), 'group')}" for name, of in rows.items()])
    title = "No full answer is in both halves"
    if torn := sum(" and " in name for name in half):
        title = f"{how_many(torn, 'group')} in both halves: a leak"
    elif len(rows) == 1:
        title = f"All queries are in {half.iloc[0]}"
    values = "; ".join(f"{n}: {len(of)}, the largest {of.iloc[0]}" for n, of in rows.items())
    below = "queries; a block: those tied by shared full answers;\nnumber: in the largest block"
    figures.show(ax, title, f"Groups of {values}.", below)


def coverage(corpus: pd.DataFrame) -> None:
    """Plot a square for each document in a row for its service: asked for, or not.

    `corpus` has the columns `service` and `reached`; the service that is reached least comes first.
    """
    rows = corpus.reached.groupby(frequent(corpus.service)).agg(["count", "sum", "mean"])
    rows = rows.sort_values(["mean", "count"], ascending=[False, True], kind="stable")
    each = ceil(rows["count"].max() / SQUARES)  # documents that a square stands for
    ax = figures.axes(1 + 0.2 * len(rows))
    look = {"marker": "s", "linestyle": "none", "markersize": 4, "color": DARK}
    for y, (n, reached, _) in enumerate(rows.itertuples(index=False)):
        filled, squares = round(reached / each), ceil(n / each)
        ax.plot(range(filled), [y] * filled, **look)
        empty = range(filled, squares)
        ax.plot(empty, [y] * len(empty), markerfacecolor="white", **look)
    labels = [f"{service}  {reached} of {n}" for service, n, reached, _ in rows.itertuples()]
    ax.set_yticks(range(len(rows)), labels)
    ax.set_xticks([])
    ax.tick_params(length=0)
    ax.grid(visible=False)
    ax.spines[:].set_visible(False)
    many = "a document" if each == 1 else f"{each} documents"
    ax.set_xlim(-1, SQUARES)
    ax.margins(y=0.5 / len(rows))
    title = f"Queries ask for {corpus.reached.sum()} of {len(corpus)} documents"
    if len(rows) > 1:
        title += f", least for {rows.index[-1]}"
    values = f"{', '.join(labels[::-1])}.".replace("  ", " ")
    figures.show(ax, title, values, f"a square is {many}: filled where a query asks for it")


def overlap(queries: pd.DataFrame) -> None:
    """Plot each query's word overlap (column `overlap`) as a point in a row for its `kind`.

    A bar shows the mean of the kind, and its end says it.
    """
    kinds = frequent(queries.kind)
    means = queries.overlap.groupby(kinds).mean().sort_values()
    ax = figures.axes(1.3 + 0.4 * len(means))
    ax.barh(range(len(means)), means, color="#cfdbe8", edgecolor=DARK, linewidth=0.8)
    places = means.index.get_indexer(kinds)
    places = figures.equal_apart(places, queries.overlap.round(6), 0.7, 9)
    ax.plot(queries.overlap, places, "o", color=DARK, alpha=0.7, markersize=4)
    figures.name_rows(ax, [f"{kind}  {mean:.2f}" for kind, mean in means.items()])
    ax.set_xlim(-0.02, 1.02)
    title = f"Queries share {means.iloc[0]:.2f} of their content words with an answer, on average"
    if len(means) > 1:
        lowest = means.index[means.round(2) == means.round(2).iloc[0]]
        title = f"Fewest shared words: {' and '.join(lowest)}, {means.iloc[0]:.2f} on average"
    values = f"Mean share by kind: {in_words(means[::-1], '.2f')}. Each point is a query."
    figures.show(ax, title, values, "share of content words found in a relevant document")
