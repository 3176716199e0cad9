"""Pictures of session C: measures and comparisons."""

import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from ..figures import DARK, GREEN, GREY, LIGHT, axes, name_ends, name_rows, offsets, short, show

PALE = "#c3cfdc"
HEIGHT = 3.4  # inches
PATTERNS = 10_000  # sign patterns or samples drawn for a histogram


def first_k(ranking: list[str], grades: dict[str, int], k: int) -> None:
    """Draw the ranks as cells, those of relevant documents filled and the first `k` framed."""
    relevant = {doc_id for doc_id in grades if grades[doc_id] > 0}
    found, missed = len(relevant & {*ranking[:k]}), ", ".join(sorted(relevant - {*ranking}))
    ranks, ax = np.arange(1, len(ranking) + 1), axes(1.7)
    ax.bar(ranks, 1, 1, color=[DARK if d in relevant else "white" for d in ranking], edgecolor=DARK)
    for rank, doc_id in zip(ranks, ranking, strict=True):
        color = "white" if doc_id in relevant else "black"
        ax.text(rank, 0.5, doc_id, ha="center", va="center", color=color, size=14)
    ax.add_patch(plt.Rectangle((0.5, -0.1), k, 1.2, fill=False, color=LIGHT, linewidth=4))
    shares = f"hit@{k} = {found > 0:d}\nrecall@{k} = {found}/{len(relevant)}\nP@{k} = {found}/{k}"
    ax.text(ranks[-1] + 0.8, 0.5, shares, va="center", linespacing=1.4)
    ax.set(xlim=(0.3, ranks[-1] + 0.7), ylim=(-0.15, 1.15), xticks=ranks, yticks=[])
    ax.grid(visible=False)
    ax.spines[:].set_visible(False)
    title = f"{found} of the first {k} are relevant, of {len(relevant)} in all"
    below = f"rank; filled: relevant; not found: {missed or 'none'}"
    show(ax, title, shares.replace("\n", ", "), below)


def gains_against_ideal(ranking: list[str], grades: dict[str, int], k: int) -> None:
    """Draw what each of the first `k` documents adds to DCG, above the same of the ideal order."""
    ideal = sorted(grades, key=lambda doc_id: -grades[doc_id])
    ax, sums, words = axes(2.2), [], []
    for y, (name, order) in enumerate({"yours": ranking, "ideal": ideal}.items()):
        left = 0.0
        for rank, doc_id in enumerate(order[:k], 1):
            grade = grades.get(doc_id, 0)
            if grade > 0:
                gain, strong = grade / math.log2(rank + 1), grade == max(grades.values())
                ax.barh(y, gain, 0.8, left, color=DARK if strong else PALE, edgecolor="white")
                ink, where = "white" if strong else "black", (left + gain / 2, y)
                ax.text(*where, f"{doc_id}\nrank {rank}", ha="center", va="center", color=ink)
                words.append(f"{name}: {doc_id} at rank {rank} adds {gain:.2f}")
                left += gain
        sums.append(left)
        ax.text(left, y, f" {left:.2f}", va="center")
    name_rows(ax, ["yours", "ideal"])
    ax.set_xlim(0, 1.1 * max(sums))
    title = f"nDCG@{k} is {sums[0]:.2f} of {sums[1]:.2f}: {short(sums[0] / sums[1])}"
    show(ax, title, "; ".join(words), "grade × discount, added up; dark: the highest grade")


def measures_by_place(values: dict[str, list[float]], doc_id: str, rank: int) -> None:
    """Draw each measure with one document at every rank in turn; `rank` is where it stands."""
    ax = axes(HEIGHT)
    for (name, row), mark, color in zip(values.items(), "os^", (DARK, LIGHT, GREEN), strict=False):
        places = range(1, len(row) + 1)
        ax.plot(places, row, f"{mark}-", color=color, alpha=0.8)
        ax.plot(rank, row[rank - 1], mark, color=color, markersize=12, markeredgecolor="black")
        ax.annotate(f"  {name}", (len(row), row[-1]), va="center", fontsize=12)
    ax.axvline(rank, color="black", linewidth=1, linestyle=":")
    ax.set(xlim=(0.8, len(row) + 0.8), ylim=(0, 1.05), xticks=[*places])
    now = ", ".join(f"{name} {short(row[rank - 1])}" for name, row in values.items())
    listed = "; ".join(f"{name} {' '.join(map(short, row))}" for name, row in values.items())
    show(ax, f"{doc_id} at rank {rank}: {now}", f"By rank from 1: {listed}", f"rank of {doc_id}")


def one_draw(values: np.ndarray, seed: int) -> None:
    """Draw the values as points, hollow where a draw with replacement missed them, and the draw."""
    places = np.random.default_rng(seed).choice(len(values), len(values))
    missed = np.setdiff1d(np.arange(len(values)), places)
    drawn, ax = values[places], axes(HEIGHT)
    for y, points in enumerate((values, drawn)):
        up = offsets(pd.Series(0, range(len(points))), pd.Series(points).round(2), 0.7, 30)
        ax.plot(points, y + up, "o", color=DARK, markersize=4)
        if y == 0:  # left out of this draw
            ax.plot(values[missed], up[missed], "o", color=DARK, mfc="white", markersize=4)
        ax.plot(points.mean(), y, "|", color=LIGHT, ms=60, markeredgewidth=3)
        ax.text(points.mean(), y + 0.48, f"mean {points.mean():.3f}", ha="center", va="center")
    name_rows(ax, ["our values", "one draw"])
    ax.set_ylim(1.65, -0.5)
    title = f"One draw leaves out {len(missed)} of {len(values)} queries: its mean is "
    title += f"{drawn.mean():.3f}, not {values.mean():.3f}"
    show(ax, title, f"draw number {seed}", "nDCG@10 of a query; hollow: not drawn this time")


def bootstrap_means(values: np.ndarray, low: float, high: float, name: str) -> None:
    """Draw the means of samples drawn anew from `values`, with the mean and its interval."""
    samples = np.random.default_rng(2026).choice(values, size=(PATTERNS, len(values)))
    ax, top = _histogram(samples.mean(axis=1))
    ax.axvline(values.mean(), color="black")
    for end, side in ((low, "right"), (high, "left")):
        ax.axvline(end, color=LIGHT, linestyle="--")
        ax.text(end, top * 0.9, f" {end:.2f} ", ha=side, fontsize=12)
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
    ax.text(seen, top * 0.92, f" seen {seen:+.3f} ", fontsize=12, ha=side)
    share = "Fewer than .001" if p < 0.001 else short(p)
    title = f"{share} of the coin tosses lie at least as far out as {seen:+.3f}"
    words = f"{name}: histogram of {PATTERNS:,} means with random signs; p {p:.4f}"
    show(ax, title, words, "mean difference with signs tossed", "tosses")


def _histogram(means: np.ndarray) -> tuple[plt.Axes, float]:
    """Draw the histogram of means; return its axes and where they end at the top."""
    ax = axes(HEIGHT)
    ax.hist(means, bins=40, color=PALE, edgecolor=DARK, linewidth=0.4)
    return ax, ax.get_ylim()[1]


def hit_by_k(queries: pd.DataFrame, most: int = 10) -> None:
    """Draw hit@k of each kind for k up to `most` (columns kind, first rank; NA: not found)."""
    ranks, cutoffs = queries["first rank"].astype(float), range(1, most + 1)
    names = queries["kind"].replace("", "all")
    hits = pd.DataFrame({k: (ranks <= k).groupby(names).mean() for k in cutoffs}).sort_values(5)
    low, high, ax = hits.index[0], hits.index[-1], axes(4.0)
    looks = dict.fromkeys(hits.index, (GREY, 1)) | {high: (DARK, 3), low: (LIGHT, 3)}
    for name, row in hits.iterrows():
        color, width = looks[name]
        ax.plot(cutoffs, row, color=color, linewidth=width, zorder=width)
    name_ends(ax, most, hits[most])
    ax.axvline(5, color="black", linewidth=1, linestyle=":")
    ax.set(xlim=(1, most), ylim=(0, 1.16), xticks=cutoffs)
    title = f"Five results help {hits[5][high]:.0%} of {high} queries"
    if len(hits) > 1:
        title += f", {hits[5][low]:.0%} of {low} queries"
    words = "; ".join(f"{name}: {' '.join(map(short, row))}" for name, row in hits.iterrows())
    show(ax, title, f"By k from 1: {words}", "first k results", "queries with a useful one (hit@k)")


def needs_and_documents(met: pd.DataFrame, where: str) -> None:
    """Draw how many queries have each pair of need recall and document recall, named `where`."""
    documents, needs = met[f"document recall{where}"], met[f"need recall{where}"]
    side = np.sign(needs - documents)
    ax = axes(4.0)
    ax.plot([0, 1], [0, 1], color="black", linewidth=1, linestyle=":")
    for (x, y), n in pd.Series([*zip(documents, needs, strict=True)]).value_counts().items():
        color = DARK if y > x else LIGHT if y < x else GREY
        ax.plot(x, y, "o", color=color, markersize=15, clip_on=False)
        ax.text(x, y, n, ha="center", va="center", color="white")
    ax.text(0.03, 0.8, "needs met,\ndocuments missing", color=DARK)
    ax.text(0.97, 0.1, "documents found,\nneeds not met", color=LIGHT, ha="right")
    ax.set(xlim=(-0.06, 1.06), ylim=(-0.06, 1.06))
    title = f"{sum(side > 0)} of {len(met)} queries get a larger share of their needs than of "
    title += f"their documents, {sum(side < 0)} a smaller one"
    words = f"means: needs {needs.mean():.2f}, documents {documents.mean():.2f}"
    show(ax, title, words, f"document recall{where}; number: queries", "need recall")


def overlap_and_score(dev: pd.DataFrame) -> float:
    """Draw a point for each query (columns kind, overlap, nDCG@10); return Spearman's rho.

    The kind with the lowest mean is marked. rho is 0 where nothing varies.
    """
    means = dev.groupby("kind")[["overlap", "nDCG@10"]].mean().sort_values("nDCG@10")
    lowest = means.index[0]
    rho = dev["overlap"].rank().corr(dev["nDCG@10"].rank())
    rho = 0.0 if math.isnan(rho) else float(rho)
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
    ax.figure.legend(fontsize=12, loc="outside lower right", ncols=2)
    rows = means.itertuples()
    words = "; ".join(f"{k or 'all'}: overlap {x:.2f}, nDCG@10 {y:.2f}" for k, x, y in rows)
    how = "More shared words, higher nDCG" if rho > 0.2 else "Shared words explain little"
    title = f"{how} (rank correlation {rho:.2f})"
    show(ax, title, words, "share of the query's words in an answer", "nDCG@10")
    return rho
