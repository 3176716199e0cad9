"""Pictures of session A: lengths of documents, shared words, and what nobody asks about."""

from math import ceil

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.colors import PowerNorm

from helpers import figures
from helpers.figures import DARK, LIGHT, offsets

ROWS = 18  # kinds or services a picture holds; those with the fewest documents are one row
SQUARES = 50  # a row of the grid; where a service has more documents, a square stands for several
REST = "all others"


def frequent(column: pd.Series) -> pd.Series:
    """Return a column of kinds or services: the most frequent by name, the others as one."""
    counts = column.value_counts()
    kept = counts.index if len(counts) <= ROWS else counts.index[: ROWS - 1]
    return column.where(column.isin(kept), REST)


def lengths(corpus: pd.DataFrame, chunk_size: int = 512) -> None:
    """Plot how long documents are, and below it which kinds make each hump, the shortest first.

    `corpus` has the columns `tokens` and `kind`; `chunk_size` is drawn as a line.
    """
    kinds = frequent(corpus.kind)
    medians = corpus.tokens.groupby(kinds).median().sort_values(kind="stable")
    high = 0.26 * len(medians)  # inches of the rows
    figure, (top, below) = plt.subplots(
        2, sharex=True, figsize=(7, 3 + high), height_ratios=[2, 0.3 + high]
    )
    _, edges, _ = top.hist(corpus.tokens, bins=30, color=DARK)
    top.set(ylabel="documents")
    top.yaxis.get_major_locator().set_params(integer=True)
    counts = [np.histogram(corpus.tokens[kinds == kind], edges)[0] for kind in medians.index]
    more = PowerNorm(0.5, vmin=0)  # few documents are seen, too
    below.pcolormesh(edges, range(len(medians) + 1), counts, cmap="Blues", norm=more)
    middle = np.arange(len(medians)) + 0.5
    below.plot(medians, middle, "o", color="black", markerfacecolor="white", markersize=6)
    below.set_yticks(middle, medians.index)
    below.grid(visible=False)
    below.set(xlabel="tokens (darker: more documents of the kind; circle: its median)")
    for ax in (top, below):
        ax.axvline(chunk_size, color=LIGHT, linestyle="--", linewidth=2)
    share = (corpus.tokens > chunk_size).mean()
    title = f"{share:.0%} of the documents are longer than {chunk_size} tokens"
    if len(medians) > 1:
        title += f";\n{medians.index[0]} is the shortest kind, {medians.index[-1]} the longest"
    top.set_title(title)
    values = ", ".join(f"{kind} {median:.0f}" for kind, median in medians.items())
    figures.display_figure(figure, f"{title}. Median tokens by kind: {values}.".replace("\n", " "))


def coverage(corpus: pd.DataFrame) -> None:
    """Plot a square for each document in a row for its service: asked for, or not.

    `corpus` has the columns `service` and `reached`; the service that is reached least comes first.
    """
    rows = corpus.reached.groupby(frequent(corpus.service)).agg(["count", "sum", "mean"])
    rows = rows.sort_values(["mean", "count"], ascending=[False, True], kind="stable")
    each = ceil(rows["count"].max() / SQUARES)  # documents that a square stands for
    figure, ax = plt.subplots(figsize=(7, 1 + 0.27 * len(rows)))
    look = {"marker": "s", "linestyle": "none", "markersize": 5, "color": DARK}
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
    figure, ax = plt.subplots(figsize=(7, 1.3 + 0.5 * len(means)))
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
