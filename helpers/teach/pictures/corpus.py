"""Pictures of session A: lengths, halves, shared words, and what nobody asks about."""

from math import ceil

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.colors import PowerNorm

from ...measure.text import how_many
from .. import figures
from ..figures import DARK, LIGHT, offsets

ROWS = 18  # kinds or services a picture holds; those with the fewest documents are one row
SQUARES = 60  # a row of the grid; where a service has more documents, a square stands for several
REST = "all others"


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
    edges = np.linspace(0, corpus.tokens.max(), 41)
    counts = [np.histogram(corpus.tokens[kinds == kind], edges)[0] for kind in medians.index]
    figure, ax = plt.subplots(figsize=(figures.PAGE, 1 + 0.165 * len(medians)))
    more, middle = PowerNorm(0.5, vmin=0), range(len(medians))  # few documents are seen, too
    ax.pcolormesh(edges, np.arange(len(medians) + 1) - 0.5, counts, cmap="Blues", norm=more)
    ax.plot([], [], "s", color=DARK, label="darker: more")
    look = {"color": "black", "markerfacecolor": "white", "markersize": 6}
    ax.plot(medians, middle, "o", label="median", **look)
    line = {"color": LIGHT, "linestyle": "--", "linewidth": 2}
    ax.axvline(chunk_size, label=f"{chunk_size} tokens", **line)
    figures.name_rows(ax, medians.index)
    ax.set(xlabel="tokens of a document")
    ax.grid(visible=False)
    figure.legend(loc="outside lower right", ncols=3, frameon=False)
    share = (corpus.tokens > chunk_size).mean()
    title = f"{share:.0%} of documents have over {chunk_size} tokens"
    ax.set_title(title)
    values = ", ".join(f"{kind} {median:.0f}" for kind, median in medians.items())
    figures.display_figure(figure, f"{title}. Median tokens by kind: {values}.")


def halves(sizes: pd.Series, half: pd.Series) -> None:
    """Plot a row for each half with a block for each group of queries, the largest first.

    `sizes` are the queries of each group, `half` says where they stand.
    """
    rows = {name: sizes[half == name].sort_values(ascending=False) for name in sorted({*half})}
    figure, ax = plt.subplots(figsize=(figures.PAGE, 0.9 + 0.5 * len(rows)))
    edge = {"edgecolor": "white", "linewidth": min(0.5, 60 / len(sizes))}  # many are thin
    for y, of in enumerate(rows.values()):
        ax.barh([y] * len(of), of, 0.7, of.cumsum() - of, color=DARK, **edge)
        ax.text(of.iloc[0] / 2, y, of.iloc[0], color="white", ha="center", va="center")
    figures.name_rows(ax, [f"{name}: {how_many(len(of), 'group')}" for name, of in rows.items()])
    title = f"Largest group: {sizes.max()} of {sizes.sum()} queries"
    ax.set(xlabel="queries; a block is a group", title=title)
    values = "; ".join(f"{n}: {len(of)}, the largest {of.iloc[0]}" for n, of in rows.items())
    figures.display_figure(figure, f"{title}. Groups of {values}.")


def coverage(corpus: pd.DataFrame) -> None:
    """Plot a square for each document in a row for its service: asked for, or not.

    `corpus` has the columns `service` and `reached`; the service that is reached least comes first.
    """
    rows = corpus.reached.groupby(frequent(corpus.service)).agg(["count", "sum", "mean"])
    rows = rows.sort_values(["mean", "count"], ascending=[False, True], kind="stable")
    each = ceil(rows["count"].max() / SQUARES)  # documents that a square stands for
    figure, ax = plt.subplots(figsize=(7, 1 + 0.2 * len(rows)))
    look = {"marker": "s", "linestyle": "none", "markersize": 4, "color": DARK}
    for y, (n, reached, _) in enumerate(rows.itertuples(index=False)):
        filled, squares = round(reached / each), ceil(n / each)
        ax.plot(range(filled), [y] * filled, **look)
        empty = range(filled, squares)
        ax.plot(empty, [y] * len(empty), markerfacecolor="white", **look)
    labels = [f"{service}  {reached} of {n}" for service, n, reached, _ in rows.itertuples()]
    ax.set_yticks(range(len(rows)), labels)
    ax.set_xticks([])
    ax.tick_params(axis="y", length=0)
    ax.grid(visible=False)
    ax.spines[:].set_visible(False)
    many = "a document" if each == 1 else f"{each} documents"
    ax.set(xlabel=f"a square is {many}: filled where a query asks for it", xlim=(-1, SQUARES))
    ax.margins(y=0.5 / len(rows))
    title = f"Queries ask for {corpus.reached.sum()} of {len(corpus)} documents"
    title += f", least for {rows.index[-1]}" if len(rows) > 1 else ""
    ax.set_title(title)
    figures.display_figure(figure, f"{title}. {', '.join(labels[::-1])}.".replace("  ", " "))


def overlap(queries: pd.DataFrame) -> None:
    """Plot each query's word overlap (column `overlap`) as a point in a row for its `kind`.

    A bar shows the mean of the kind, and its end says it.
    """
    kinds = frequent(queries.kind)
    means = queries.overlap.groupby(kinds).mean().sort_values(ascending=False)
    figure, ax = plt.subplots(figsize=(7, 1.3 + 0.4 * len(means)))
    ax.barh(range(len(means)), means, color="#cfdbe8", edgecolor=DARK, linewidth=0.8)
    places = kinds.map({kind: n for n, kind in enumerate(means.index)})
    places = places + offsets(kinds, queries.overlap.round(6), 0.7, 9)
    ax.plot(queries.overlap, places, "o", color=DARK, alpha=0.7, markersize=4)
    ax.set_yticks(range(len(means)), [f"{kind}  {mean:.2f}" for kind, mean in means.items()])
    ax.grid(axis="y", visible=False)
    ax.set(xlabel="share of content words found in a relevant document", xlim=(-0.02, 1.02))
    title = f"Queries share {means.iloc[-1]:.2f} of their content words with an answer, on average"
    if len(means) > 1:
        lowest = means.index[means.round(2) == means.round(2).iloc[-1]]
        title = f"Fewest shared words: {' and '.join(lowest)}, {means.iloc[-1]:.2f} on average"
    ax.set_title(title)
    values = ", ".join(f"{kind} {mean:.2f}" for kind, mean in means.items())
    figures.display_figure(figure, f"{title}. Mean share by kind: {values}. Each point is a query.")
