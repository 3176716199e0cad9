"""Pictures of session C: measures and comparisons."""

import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from ..figures import (
    DARK,
    GREEN,
    GREY,
    LETTERS,
    LIGHT,
    axes,
    equal_apart,
    name_ends,
    name_rows,
    short,
    show,
)

PALE = "#c3cfdc"
HEIGHT = 3.4  # inches
FIRST = 10  # results in which a useful one is looked for
PATTERNS = 10_000  # sign patterns or samples drawn for a histogram


def first_k(ranking: list[str], grades: dict[str, int], k: int) -> None:
    """Draw the ranks as cells, those of relevant documents filled and the first `k` framed."""
    relevant = {doc_id for doc_id in grades if grades[doc_id] > 0}
    found, missed = len(relevant & {*ranking[:k]}), ", ".join(sorted(relevant - {*ranking}))
    ax, last = axes(1.7), len(ranking)
    for rank, doc_id in enumerate(ranking, 1):
        color, ink = (DARK, "white") if doc_id in relevant else ("white", "black")
        ax.bar(rank, 1, 1, color=color, edgecolor=DARK)
        ax.text(rank, 0.5, doc_id, ha="center", va="center", color=ink, size=14)
    ax.add_patch(plt.Rectangle((0.5, -0.1), k, 1.2, fill=False, color=LIGHT, linewidth=4))
    shares = f"hit@{k} = {found > 0:d}\nrecall@{k} = {found}/{len(relevant)}\nP@{k} = {found}/{k}"
    ax.text(last + 0.8, 0.5, shares, va="center", linespacing=1.4, fontsize=LETTERS)
    ax.set(xlim=(0.3, last + 0.7), ylim=(-0.15, 1.15), xticks=range(1, last + 1), yticks=[])
    ax.grid(visible=False)
    ax.spines[:].set_visible(False)
    title = f"{found} of the first {k} are relevant, of {len(relevant)} in all"
    below = f"rank; filled: relevant; not found: {missed or 'none'}"
    show(ax, title, shares.replace("\n", ", "), below)


def gains_against_ideal(ranking: list[str], grades: dict[str, int], k: int) -> None:
    """Draw what each of the first `k` documents adds to DCG, above the same of the ideal order."""
    ideal = sorted(grades, key=lambda doc_id: -grades[doc_id])
    ax, dcg, words = axes(2.2), {}, []
    for y, (name, order) in enumerate({"yours": ranking, "ideal": ideal}.items()):
        left = 0.0
        for rank, doc_id in enumerate(order[:k], 1):
            grade = grades.get(doc_id, 0)
            if grade > 0:
                gain = grade / math.log2(rank + 1)
                color, ink = (DARK, "white") if grade == max(grades.values()) else (PALE, "black")
                bar = ax.barh(y, gain, 0.8, left, color=color, edgecolor="white")
                look = {"label_type": "center", "color": ink, "fontsize": LETTERS}
                ax.bar_label(bar, [f"{doc_id}\nrank {rank}"], **look)
                words.append(f"{name}: {doc_id} at rank {rank} adds {gain:.2f}")
                left += gain
        dcg[name] = left
        ax.text(left, y, f" {left:.2f}", va="center", fontsize=LETTERS)
    name_rows(ax, [*dcg])
    ax.set_xlim(0, 1.1 * max(dcg.values()) or 1)
    ndcg = dcg["yours"] / dcg["ideal"] if dcg["ideal"] else 0.0  # no positive grade
    title = f"nDCG@{k} is {dcg['yours']:.2f} of {dcg['ideal']:.2f}: {short(ndcg)}"
    show(ax, title, "; ".join(words), "grade × discount, added up; dark: the highest grade")


def measures_by_place(values: dict[str, list[float]], doc_id: str, rank: int) -> None:
    """Draw each measure with one document at every rank in turn; `rank` is where it stands."""
    ax = axes(HEIGHT)
    for (name, row), mark, color in zip(values.items(), "os^", (DARK, LIGHT, GREEN), strict=False):
        places = range(1, len(row) + 1)
        ax.plot(places, row, f"{mark}-", color=color, alpha=0.8)
        ax.plot(rank, row[rank - 1], mark, color=color, markersize=12, markeredgecolor="black")
        ax.annotate(f"  {name}", (len(row), row[-1]), va="center", fontsize=LETTERS)
    ax.axvline(rank, color="black", linewidth=1, linestyle=":")
    ax.set(xlim=(0.8, len(row) + 0.8), ylim=(0, 1.05), xticks=[*places])
    now = ", ".join(f"{name} {short(row[rank - 1])}" for name, row in values.items())
    listed = "; ".join(f"{name} {' '.join(map(short, row))}" for name, row in values.items())
    show(ax, f"{doc_id} at rank {rank}: {now}", f"By rank from 1: {listed}", f"rank of {doc_id}")


def one_draw(values: np.ndarray, seed: int) -> None:
    """Draw the values as points, hollow where a draw with replacement missed them, and the draw."""
    n = len(values)
    places = np.random.default_rng(seed).choice(n, n)
    missed = np.setdiff1d(np.arange(n), places)
    both = np.array([values, values[places]])
    points = pd.Series(both.ravel())
    heights = equal_apart(np.repeat([0, 1], n), points.round(2), 0.7, 30)
    ax = axes(HEIGHT)
    ax.plot(points, heights, "o", color=DARK, markersize=4)
    ax.plot(points[missed], heights[missed], "o", color=DARK, mfc="white", markersize=4)
    means = both.mean(axis=1)
    ax.plot(means, [0, 1], "|", color=LIGHT, markersize=60, markeredgewidth=3)
    for y, mean in enumerate(means):
        ax.text(mean, y + 0.48, f"mean {mean:.3f}", ha="center", va="center", fontsize=LETTERS)
    name_rows(ax, ["our values", "one draw"])
    ax.set_ylim(1.65, -0.5)
    title = f"One draw leaves out {len(missed)} of {n} queries: its mean is "
    title += f"{means[1]:.3f}, not {means[0]:.3f}"
    show(ax, title, f"draw number {seed}", "nDCG@10 of a query; hollow: not drawn this time")


def bootstrap_means(values: np.ndarray, low: float, high: float, name: str) -> None:
    """Draw the means of samples drawn anew from `values`, with the mean and its interval."""
    samples = np.random.default_rng(2026).choice(values, size=(PATTERNS, len(values)))
    ax, top = _histogram(samples.mean(axis=1))
    ax.axvline(values.mean(), color="black")
    for end, side in ((low, "right"), (high, "left")):
        ax.axvline(end, color=LIGHT, linestyle="--")
        ax.text(end, top * 0.9, f" {end:.2f} ", ha=side, fontsize=LETTERS)
    title = f"{name} {values.mean():.2f}: other queries could have given {low:.2f} to {high:.2f}"
    words = f"Histogram of {PATTERNS:,} means; the middle 95 % lie between {low:.3f} and {high:.3f}"
    show(ax, title, words, f"mean of {len(values)} values drawn anew", "draws")


def flipped_means(differences: np.ndarray, p: float, name: str) -> None:
    """Draw the mean differences that random signs give, with the one that was seen."""
    signs = np.random.default_rng(2026).choice([-1, 1], size=(PATTERNS, len(differences)))
    ax, top = _histogram(signs @ differences / len(differences))
    seen = differences.mean()
    ax.axvline(seen, color="black")  # neutral: the verdict is the table's
    ax.axvline(-seen, color="black", linestyle="--")
    side = "left" if seen > 0 else "right"
    ax.text(seen, top * 0.92, f" seen {seen:+.3f} ", fontsize=LETTERS, ha=side)
    share = "Fewer than .001" if p < 0.001 else short(p)
    title = f"{share} of the means with random signs are as far from 0 as {seen:+.3f}"
    words = f"{name}: histogram of {PATTERNS:,} means with random signs; p {p:.4f}"
    show(ax, title, words, "mean difference with signs tossed", "tosses")


def _histogram(means: np.ndarray) -> tuple[plt.Axes, float]:
    """Draw the histogram of means; return its axes and where they end at the top."""
    ax = axes(HEIGHT)
    ax.hist(means, bins=40, color=PALE, edgecolor=DARK, linewidth=0.4)
    ax.xaxis.get_major_locator().set_params(nbins=5)  # numbers of three decimals are long
    return ax, ax.get_ylim()[1]


def hit_by_k(queries: pd.DataFrame) -> None:
    """Draw hit@k of each kind, k from 1 to 10 (columns kind, first rank; NA: not found)."""
    ranks = queries["first rank"].astype(float)
    names = queries["kind"].replace("", "all")
    hits = pd.DataFrame({k: (ranks <= k).groupby(names).mean() for k in range(1, FIRST + 1)})
    hits = hits.sort_values(5)
    lowest, highest = hits.index[[0, -1]]
    ax = axes(4.0)
    for name, row in hits.iterrows():
        color = {highest: DARK, lowest: LIGHT}.get(name, GREY)
        width = 1 if color == GREY else 3
        ax.plot(row, color=color, linewidth=width, zorder=width)
    name_ends(ax, FIRST, hits[FIRST])
    ax.axvline(5, color="black", linewidth=1, linestyle=":")
    ax.set(xlim=(1, FIRST), ylim=(0, 1.16), xticks=hits.columns)
    title = f"Five results help {hits[5][highest]:.0%} of {highest} queries"
    if len(hits) > 1:
        title += f", {hits[5][lowest]:.0%} of {lowest} queries"
    words = "; ".join(f"{name}: {' '.join(map(short, row))}" for name, row in hits.iterrows())
    show(ax, title, f"By k from 1: {words}", "first k results", "queries with a useful one (hit@k)")


def needs_and_documents(met: pd.DataFrame, where: str) -> None:
    """Draw how many queries have each pair of need recall and document recall, named `where`."""
    documents, needs = met[f"document recall{where}"], met[f"need recall{where}"]
    ax = axes(4.0)
    ax.plot([0, 1], [0, 1], color="black", linewidth=1, linestyle=":")
    for (x, y), n in pd.concat([documents, needs], axis=1).value_counts().items():
        color = {1: DARK, 0: GREY, -1: LIGHT}[np.sign(y - x)]
        ax.plot(x, y, "o", color=color, markersize=17)
        ax.text(x, y, n, ha="center", va="center", color="white", fontsize=LETTERS)
    look = {"fontsize": LETTERS, "va": "center"}
    ax.text(0.03, 0.85, "needs met,\ndocuments missing", color=DARK, **look)
    ax.text(0.97, 0.15, "documents found,\nneeds not met", color=LIGHT, ha="right", **look)
    ax.set(xlim=(-0.06, 1.06), ylim=(-0.06, 1.06))
    more, less = sum(needs > documents), sum(needs < documents)
    title = f"Of {len(met)} queries, needs are met better than documents are found "
    title += f"for {more}, worse for {less}"
    words = f"means: needs {needs.mean():.2f}, documents {documents.mean():.2f}"
    show(ax, title, words, f"document recall{where}; number: queries", "need recall")


def overlap_and_score(dev: pd.DataFrame) -> float:
    """Draw a point for each query (columns kind, overlap, nDCG@10); return Spearman's rho.

    The kind with the lowest mean is marked. rho is 0 where nothing varies.
    """
    means = dev.groupby("kind")[["overlap", "nDCG@10"]].mean().sort_values("nDCG@10")
    lowest = means.index[0]
    rho = dev["overlap"].rank().corr(dev["nDCG@10"].rank())
    rho = float(np.nan_to_num(rho))
    ax = axes(4.0)
    x = dev["overlap"] + np.random.default_rng(2026).uniform(-0.012, 0.012, len(dev))
    for part, mark, color, label in (  # equal points lie apart
        (dev.kind != lowest, "o", DARK, "other kinds"),
        (dev.kind == lowest, "^", LIGHT, f"{lowest or 'all'}: lowest mean"),
    ):
        if part.any():
            y = dev["nDCG@10"][part]
            ax.plot(x[part], y, mark, color=color, alpha=0.75, markersize=7, label=label)
    ax.set(xlim=(-0.04, 1.04), ylim=(-0.05, 1.1))
    ax.figure.legend(fontsize=LETTERS, loc="outside lower right", ncols=2)
    rows = means.itertuples()
    words = "; ".join(f"{k or 'all'}: overlap {x:.2f}, nDCG@10 {y:.2f}" for k, x, y in rows)
    how = "More shared words, higher nDCG" if rho > 0.2 else "Shared words explain little"
    title = f"{how} (rank correlation {rho:.2f})"
    show(ax, title, words, "share of the query's words in an answer", "nDCG@10")
    return rho
