"""Pictures of session C: measures and comparisons."""

import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from helpers.figures import DARK, GREEN, LIGHT, axes, short, show

PALE = "#c3cfdc"
HEIGHT = 3.4  # inches
PATTERNS = 10_000  # sign patterns or samples drawn for a histogram


def discount_by_rank(ranking: list[str], grades: dict[str, int]) -> None:
    """Draw the discount of DCG as a line and what each rank contributes as a bar."""
    ranks = np.arange(1, len(ranking) + 1)
    discount = 1 / np.log2(ranks + 1)
    gains = discount * [grades.get(doc_id, 0) for doc_id in ranking]
    ax = axes(HEIGHT)
    ax.bar(ranks, gains, color=PALE, edgecolor=DARK, width=0.6)
    ax.plot(ranks, discount, "o-", color=LIGHT)
    place = {"xytext": (0, 8), "textcoords": "offset points", "ha": "center"}
    ax.annotate("discount", (ranks[-1], discount[-1]), fontsize=12, **place)
    for rank, gain in zip(ranks[gains > 0], gains[gains > 0], strict=True):
        ax.text(rank, gain + 0.03, f"adds {gain:.2f}", ha="center", fontsize=12)
    labels = [f"rank {rank}\n{d}: grade {grades.get(d, 0)}" for rank, d in enumerate(ranking, 1)]
    ax.set_xticks(ranks, labels)
    ax.set_ylim(0, max(1, *gains) * 1.15)
    most = int(np.argmax(gains))
    share = f", {gains[most]:.2f} of it from rank {most + 1}" if gains[most] else ""
    rows = zip(ranks, discount, gains, strict=True)
    values = "; ".join(f"rank {r}: discount {d:.2f}, adds {g:.2f}" for r, d, g in rows)
    show(ax, f"DCG {gains.sum():.2f}{share}", values, y="discount, contribution")


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
            look = {"color": color, "alpha": 0.75, "markersize": 7, "label": label}
            ax.plot(x[part], dev["nDCG@10"][part], mark, **look)
    ax.set(xlim=(-0.04, 1.04), ylim=(-0.05, 1.1))
    ax.figure.legend(fontsize=12, loc="outside lower right", ncols=2)
    rows = means.itertuples()
    words = "; ".join(f"{k or 'all'}: overlap {x:.2f}, nDCG@10 {y:.2f}" for k, x, y in rows)
    how = "More shared words, higher nDCG" if rho > 0.2 else "Shared words explain little"
    title = f"{how} (rank correlation {rho:.2f})"
    show(ax, title, words, "share of the query's words in an answer", "nDCG@10")
    return rho


def two_documents(card: dict) -> None:
    """Draw what each word of a failure card gave to the wanted document and to its rival.

    Words that gave nothing to either are left out; the wanted document may lack a word.
    """
    rows = pd.DataFrame(card["words"], columns=["word", "idf", "wanted", "rival"]).set_index("word")
    rows = rows[(rows.wanted != 0) | (rows.rival != 0)]
    ahead = (rows.wanted - rows.rival).sort_values(ascending=False, kind="stable")
    rows = rows.loc[ahead.index]
    names = {"common": card["common"], "lacked": card["lacks"]}
    labels = []
    for word in rows.index:
        notes = ", ".join(name for name, words in names.items() if word in words)
        labels.append(f"{word} ({notes})" if notes else word)
    ax = axes(1.7 + 0.42 * max(1, len(rows)))
    places = np.arange(len(rows))
    sides = ("wanted", 0.2, DARK, None), ("rival", -0.2, "#f0d9c4", "///")
    for column, up, color, hatch in sides:
        look = {"color": color, "edgecolor": "black", "linewidth": 0.6, "hatch": hatch}
        bars = ax.barh(places + up, rows[column], 0.38, label=column, **look)
        ax.bar_label(bars, fmt="{:.2f}", padding=2, fontsize=9)
    ax.margins(x=0.08)  # room for the numbers
    ax.set_yticks(places, labels)
    ax.grid(axis="y", visible=False)
    if labels:
        ax.figure.legend(fontsize=12, loc="outside lower right", ncols=2)
    wanted, rival = card["score"]
    title = f"{card['query_id']}: wanted {wanted:.2f}, rival {rival:.2f}"
    if labels and ahead.iloc[-1] < 0:
        title += f'; "{ahead.index[-1]}" decides most'
    pairs = zip(labels, rows.wanted, rows.rival, strict=True)
    values = "; ".join(f"{label} {a:.2f} and {b:.2f}" for label, a, b in pairs)
    show(ax, title, f"Wanted and rival by word: {values}", "what each word gave")
