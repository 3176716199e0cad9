"""Pictures of session C: measures and comparisons."""

import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.ticker import MaxNLocator

from helpers.figures import DARK, GREEN, LIGHT, put

PALE = "#c3cfdc"
PATTERNS = 10_000  # sign patterns or samples drawn for a histogram


def _start(height: float = 3.4) -> tuple[plt.Figure, plt.Axes]:
    figure, ax = plt.subplots(figsize=(7, height))
    ax.tick_params(labelsize=12)
    return figure, ax


def _put_with(ax: plt.Axes, title: str, values: str, x: str = "", y: str = "") -> None:
    """Set the words of a picture in a size that a phone can show, and display it."""
    ax.set_title(title, fontsize=13)
    ax.set_xlabel(x, fontsize=12)
    ax.set_ylabel(y, fontsize=12)
    put(ax.figure, f"{title.replace(chr(10), ' ')}. {values}")


def _short(value: float) -> str:
    """Return a share with two decimals and no leading zero, as the lesson writes it."""
    return f"{value:.2f}".replace("0.", ".", 1)


def discount_by_rank(ranking: list[str], grades: dict[str, int]) -> None:
    """Draw the discount of DCG as a line and what each rank contributes as a bar."""
    ranks = np.arange(1, len(ranking) + 1)
    discount = 1 / np.log2(ranks + 1)
    gave = discount * [grades.get(doc_id, 0) for doc_id in ranking]
    _, ax = _start()
    ax.bar(ranks, gave, color=PALE, edgecolor=DARK, width=0.6)
    ax.plot(ranks, discount, "o-", color=LIGHT)
    ax.annotate("discount", (ranks[-1], discount[-1]), (0, 8), textcoords="offset points",
                ha="center", fontsize=12, color="black")  # fmt: skip
    for rank, value in zip(ranks, gave, strict=True):
        if value:
            ax.text(rank, value + 0.03, f"adds {value:.2f}", ha="center", fontsize=12)
    labels = [f"rank {rank}\n{d}: grade {grades.get(d, 0)}" for rank, d in enumerate(ranking, 1)]
    ax.set_xticks(ranks, labels)
    ax.set_ylim(0, max(1, *gave) * 1.15)
    most = int(np.argmax(gave))
    said = f", {gave[most]:.2f} of it from rank {most + 1}" if gave[most] else ""
    title = f"DCG {gave.sum():.2f}{said}"
    rows = [f"rank {r}: discount {d:.2f}, adds {g:.2f}" for r, d, g in zip(ranks, discount, gave,
                                                                          strict=True)]  # fmt: skip
    _put_with(ax, title, "; ".join(rows), y="discount, contribution")


def measures_by_place(values: dict[str, list[float]], doc_id: str, rank: int) -> None:
    """Draw each measure with one document at every rank in turn; `rank` is where it stands."""
    _, ax = _start()
    for (name, row), mark, color in zip(values.items(), "os^", (DARK, LIGHT, GREEN), strict=False):
        places = range(1, len(row) + 1)
        ax.plot(places, row, f"{mark}-", color=color, alpha=0.8)
        ax.plot(rank, row[rank - 1], mark, color=color, markersize=12, markeredgecolor="black")
        ax.annotate(f"  {name}", (len(row), row[-1]), va="center", fontsize=12)
    ax.axvline(rank, color="black", linewidth=1, linestyle=":")
    ax.set(xlim=(0.8, len(row) + 0.8), ylim=(0, 1.05), xticks=[*places])
    now = ", ".join(f"{name} {_short(row[rank - 1])}" for name, row in values.items())
    listed = "; ".join(f"{n} {' '.join(map(_short, row))}" for n, row in values.items())
    _put_with(
        ax, f"{doc_id} at rank {rank}: {now}", f"By rank from 1: {listed}", f"rank of {doc_id}"
    )


def bootstrap_means(values: np.ndarray, low: float, high: float, name: str) -> None:
    """Draw the means of samples drawn anew from `values`, with the mean and its interval."""
    rng = np.random.default_rng(2026)
    means = rng.choice(values, size=(PATTERNS, len(values))).mean(axis=1)
    _, ax = _start()
    ax.hist(means, bins=40, color=PALE, edgecolor=DARK, linewidth=0.4)
    ax.axvline(values.mean(), color="black")
    top = ax.get_ylim()[1]
    for end, aside in ((low, "right"), (high, "left")):
        ax.axvline(end, color=LIGHT, linestyle="--")
        ax.text(end, top * 0.9, f" {end:.2f} ", ha=aside, fontsize=12)
    title = f"{name} {values.mean():.2f}: other queries could have given {low:.2f} to {high:.2f}"
    said = f"Histogram of {PATTERNS:,} means; the middle 95 % lie between {low:.3f} and {high:.3f}"
    _put_with(ax, title, said, f"mean of {len(values)} values drawn anew", "draws")


def flipped_means(differences: np.ndarray, p: float, name: str) -> None:
    """Draw the mean differences that random signs give, with the one that was seen."""
    signs = np.random.default_rng(2026).choice([-1, 1], size=(PATTERNS, len(differences)))
    means, seen = signs @ differences / len(differences), differences.mean()
    _, ax = _start()
    ax.hist(means, bins=40, color=PALE, edgecolor=DARK, linewidth=0.4)
    for at, line in ((seen, "-"), (-seen, "--")):
        ax.axvline(at, color=LIGHT, linestyle=line)
    ax.text(seen, ax.get_ylim()[1] * 0.92, f" seen {seen:+.3f} ", fontsize=12,
            ha="left" if seen > 0 else "right")  # fmt: skip
    told = "Fewer than .001" if p < 0.001 else _short(p)
    title = f"{told} of the coin tosses lie at least as far out as {seen:+.3f}"
    said = f"{name}: histogram of {PATTERNS:,} means with random signs; p {p:.4f}"
    _put_with(ax, title, said, "mean difference with signs tossed", "tosses")


def overlap_and_score(dev: pd.DataFrame) -> float:
    """Draw a point for each query (columns kind, overlap, nDCG@10); return Spearman's rho.

    The kind with the lowest mean is marked. rho is 0 where nothing varies.
    """
    means = dev.groupby("kind")[["overlap", "nDCG@10"]].mean().sort_values("nDCG@10")
    lowest, rest = dev[dev.kind == means.index[0]], dev[dev.kind != means.index[0]]
    rho = dev["overlap"].rank().corr(dev["nDCG@10"].rank())
    rho = 0.0 if math.isnan(rho) else float(rho)
    _, ax = _start(4.0)
    aside = np.random.default_rng(2026).uniform(-0.012, 0.012, len(dev))  # equal points apart
    aside = pd.Series(aside, dev.index)
    for part, mark, color, label in (
        (rest, "o", DARK, "other kinds"),
        (lowest, "^", LIGHT, f"{means.index[0] or 'all'}: lowest mean"),
    ):
        if len(part):
            x = part["overlap"] + aside[part.index]
            ax.plot(x, part["nDCG@10"], mark, color=color, alpha=0.75, markersize=7, label=label)
    ax.set(xlim=(-0.04, 1.04), ylim=(-0.05, 1.1))
    ax.figure.legend(fontsize=12, loc="outside lower right", ncols=2)
    rows = [f"{k or 'all'}: overlap {r.iloc[0]:.2f}, nDCG@10 {r.iloc[1]:.2f}" for k, r in
            means.iterrows()]  # fmt: skip
    how = "More shared words, higher nDCG" if rho > 0.2 else "Shared words explain little"
    title = f"{how} (rank correlation {rho:.2f})"
    _put_with(ax, title, "; ".join(rows), "share of the query's words in an answer", "nDCG@10")
    return rho


def forest_of_systems(compared: dict, matters: float) -> None:
    """Draw the difference of each run from the baseline with its interval and verdict.

    The band holds differences that would change no decision.
    """
    rows = [(row["name"], row["measures"][row["primary"]], row["verdict"])
            for row in reversed(compared["runs"])]  # fmt: skip
    _, ax = _start(1.2 + 0.55 * len(rows))
    ax.axvspan(-matters, matters, color="#e3e6ea")
    ax.axvline(0, color="black", linewidth=1)
    for place, (name, at, verdict) in enumerate(rows):
        mark = {"better": ">", "worse": "<"}.get(verdict, "o")
        color = LIGHT if mark != "o" else DARK
        if at["low"] is not None:
            ax.plot([at["low"], at["high"]], [place, place], color=color, linewidth=2.5)
        ax.plot(at["difference"], place, mark, color=color, markersize=10)
        ax.text(at["difference"], place + 0.22, name, ha="center", fontsize=11)
    ax.set(yticks=[], ylim=(-0.5, len(rows) - 0.2))
    shown = sum(verdict in ("better", "worse") for *_, verdict in rows)
    listed = [f"{n} {at['difference']:+.3f}" + ("" if at["low"] is None else
              f" ({at['low']:+.3f} to {at['high']:+.3f})") + f", {v}"
              for n, at, v in reversed(rows)]  # fmt: skip
    title = f"{shown} of {len(rows)} systems are shown to differ from the baseline"
    _put_with(ax, title, "; ".join(listed), f"difference in nDCG@10; grey: within ±{matters:g}")


def document_and_evidence(by_k: dict[str, list[float]], n: int) -> None:
    """Draw in how many queries the first k chunks hold the right document, and its evidence."""
    _, ax = _start()
    cutoffs = range(1, len(by_k["document"]) + 1)
    for name, mark, color in (("document", "o", LIGHT), ("evidence", "s", DARK)):
        ax.plot(cutoffs, by_k[name], f"{mark}-", color=color, markersize=5)
        above = 1 if name == "document" else -1
        ax.annotate(name, (cutoffs[-1], by_k[name][-1]), (0, 10 * above - 4), ha="right",
                    textcoords="offset points", fontsize=12)  # fmt: skip
    ax.fill_between(cutoffs, by_k["evidence"], by_k["document"], color="#e3e6ea")
    ax.set(ylim=(0, 1.1), xlim=(0.5, cutoffs[-1] + 0.5))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    five = min(5, len(cutoffs)) - 1
    title = (f"In {five + 1} chunks: right document {by_k['document'][five]:.0%}, "
             f"its evidence {by_k['evidence'][five]:.0%}")  # fmt: skip
    said = "; ".join(f"k = {k}: {by_k['document'][k - 1]:.2f} and {by_k['evidence'][k - 1]:.2f}"
                     for k in cutoffs)  # fmt: skip
    _put_with(ax, title, said, "first k chunks", f"share of {n} queries")


def recall_within_budgets(table: pd.DataFrame, base: str, budget: int) -> None:
    """Draw evidence recall by tokens of context, a line for each chunk set (rows of `table`).

    The baseline and the best at `budget` are named; the others stay grey.
    """
    at = [*table.columns].index(budget)
    best = str(table[budget].idxmax())
    _, ax = _start(4.0)
    ax.axvline(budget, color="black", linestyle=":", linewidth=1)
    for name, row in table.iterrows():
        mark, color = {base: ("o", DARK)}.get(
            name, ("s", LIGHT) if name == best else ("", "#8a8a8a")
        )
        thick = 2.5 if mark else 1
        ax.plot(table.columns, row, f"{mark}-", color=color, linewidth=thick, zorder=thick)
    named = dict.fromkeys([best, base])
    for name, (dx, dy, side) in zip(named, ((-8, 8, "right"), (8, -14, "left")), strict=False):
        label = f"{name}{' (baseline)' * (name == base)}"
        ax.annotate(label, (budget, table.loc[name].iloc[at]), (dx, dy), ha=side, fontsize=12,
                    textcoords="offset points", bbox={"fc": "white", "ec": "none"})  # fmt: skip
    ax.set_xscale("log")
    ax.set_xticks(table.columns, [f"{column:,}" for column in table.columns])
    ax.minorticks_off()
    ax.set_ylim(0, 1.02)
    listed = "; ".join(f"{n}: {' '.join(map(_short, row))}" for n, row in table.iterrows())
    title = f"Within {budget:,} tokens {best} delivers the most evidence, {table[budget].max():.0%}"
    said = f"By tokens {', '.join(f'{c:,}' for c in table.columns)}: {listed}"
    _put_with(ax, title, said, "tokens of context", "evidence recall")


def two_documents(found: dict) -> None:
    """Draw what each word of a failure card gave to the wanted document and to its rival.

    Words that gave nothing to either are left out; the wanted document may lack a word.
    """
    rows = [(w, mine, other) for w, _, mine, other in found["words"] if mine or other]
    rows = sorted(rows, key=lambda row: row[1] - row[2], reverse=True)
    kinds = (("common", found["common"]), ("lacked", found["lacks"]))
    notes = {w: ", ".join(kind for kind, of in kinds if w in of) for w, *_ in rows}
    _, ax = _start(1.7 + 0.42 * max(1, len(rows)))
    places = np.arange(len(rows))
    sides = [("wanted", 1, 0.2, DARK, None), ("rival", 2, -0.2, "#f0d9c4", "///")]
    for label, column, aside, color, hatch in sides:
        widths = [row[column] for row in rows]
        bars = ax.barh(places + aside, widths, 0.38, color=color, edgecolor="black", linewidth=0.6,
                       hatch=hatch, label=label)  # fmt: skip
        ax.bar_label(bars, [f"{width:.2f}" for width in widths], padding=2, fontsize=9)
    ax.margins(x=0.08)  # room for the numbers
    labels = [w + (f" ({notes[w]})" if notes[w] else "") for w, *_ in rows]
    ax.set_yticks(places, labels)
    ax.grid(axis="y", visible=False)
    if rows:
        ax.figure.legend(fontsize=12, loc="outside lower right", ncols=2)
    mine, other = found["score"]
    most = f'; "{rows[-1][0]}" decides most' if rows and rows[-1][2] > rows[-1][1] else ""
    title = f"{found['query_id']}: wanted {mine:.2f}, rival {other:.2f}{most}"
    said = "; ".join(f"{label} {a:.2f} and {b:.2f}" for label, (_, a, b) in
                     zip(labels, rows, strict=True))  # fmt: skip
    _put_with(ax, title, f"Wanted and rival by word: {said}", "what each word gave")
