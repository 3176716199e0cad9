"""Pictures of session C: measures and comparisons."""

import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from ..figures import DARK, GREEN, LIGHT, axes, short, show

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
