"""What the write-up decides: a verdict by rule, three numbers, what to do next, and its price."""

from collections import Counter
from typing import NamedTuple

from helpers import stats
from helpers.evalset import EvalSet
from helpers.report import worded

ENOUGH = 0.7  # the bar: a useful document among the first five, of this share of the questions
GOOD, POOR, UNDECIDED = "good", "poor", "open"
REPAIRS = {  # which causes of session C a repair would remove
    "words": ("no shared word", "missing word"),
    "weights": ("length penalty", "common word dominates", "stronger match elsewhere", "tie"),
    "chunks": ("evidence split across chunks",),
    "versions": ("version confusion",),
}


class Share(NamedTuple):
    """Of `n` questions `found` had a useful document among the first five; with 95 % interval."""

    name: str
    found: int
    n: int
    low: float
    high: float

    @property
    def side(self) -> str:
        """Return on which side of the bar the whole interval lies, UNDECIDED where on both."""
        return GOOD if self.low > ENOUGH else POOR if self.high < ENOUGH else UNDECIDED


def named_half(results: dict) -> str:
    """Return the half that gives the final numbers."""
    return "test" if "test" in results["summary"] else "dev"


def shares(results: dict) -> list[Share]:
    """Return the share of all questions of the named half, then of each kind, highest first."""
    half = named_half(results)
    rows = [row for row in results["per_query"] if row["split"] == half]
    kinds = Counter(row["kind"] for row in rows)
    of = {"all questions": rows}
    if len(kinds) > 1:
        of |= {kind: [row for row in rows if row["kind"] == kind] for kind in kinds}
    made = [
        _share_of(name, [row["measures"]["hit@5"] for row in part]) for name, part in of.items()
    ]
    return [made[0], *sorted(made[1:], key=lambda share: (-share.found / share.n, share.name))]


def _share_of(name: str, hits: list[float]) -> Share:
    """Return a share with its Wilson interval, which holds for few questions too (Wilson 1927)."""
    from statsmodels.stats.proportion import proportion_confint

    found, n = round(sum(hits)), len(hits)
    low, high = proportion_confint(found, n, method="wilson")
    return Share(name, found, n, float(low), float(high))


def two_sentences(results: dict) -> str:
    """Return two sentences: what the baseline is good enough for, and what else was shown."""
    return f"**{_good_enough(shares(results))}.** {_others(results['compared_dev'])}"


def _good_enough(found: list[Share]) -> str:
    whole, *kinds = found
    names = {side: [k.name for k in kinds if k.side == side] for side in (GOOD, POOR, UNDECIDED)}
    if not (names[GOOD] or names[POOR]):
        return worded(f"all-{whole.side}", found=whole.found, n=whole.n)
    parts = [worded(GOOD, names=names[GOOD])] if names[GOOD] else []
    if names[POOR]:
        parts.append(worded("but-poor" if parts else POOR, names=names[POOR]))
    if names[UNDECIDED]:
        parts.append(worded(UNDECIDED, names=names[UNDECIDED]))
    return "".join(parts)


def by_verdict(compared: dict) -> dict[str, list[dict]]:
    """Return the runs under each verdict, the largest difference first."""
    runs = sorted(compared["runs"], key=lambda run: -_at(run)["difference"])
    verdicts = (stats.BETTER, stats.WORSE, stats.SAME, stats.TOO_FEW)
    return {name: [run for run in runs if run["verdict"] == name] for name in verdicts}


def _at(run: dict) -> dict:
    """Return the comparison on the measure that decides."""
    return run["measures"][run["primary"]]


def _names_of_runs(runs: list[dict]) -> list[str]:
    return [run["name"] for run in runs]


def _others(compared: dict) -> str:
    runs = by_verdict(compared)
    if not compared["runs"]:
        return worded("alone")
    shown = [
        _runs_that_rank(name, runs[name]) for name in (stats.BETTER, stats.WORSE) if runs[name]
    ]
    parts = [worded("others", n=len(compared["runs"])), " "]
    parts.append(" and ".join(shown or [worded("undecided")]))
    same, few = len(runs[stats.SAME]), len(runs[stats.TOO_FEW])
    if same:
        parts.append(worded("same", n=same, make="makes" if same == 1 else "make"))
    if few:
        parts.append(worded("few", n=few))
    return f"{''.join(parts)}."


def _runs_that_rank(name: str, runs: list[dict]) -> str:
    """Return which runs rank better, or worse."""
    return worded(name, names=_names_of_runs(runs), rank="ranks" if len(runs) == 1 else "rank")


def numbers(results: dict) -> str:
    """Return three numbers in words and the two measures with their names spelled out."""
    half = named_half(results)
    at, whole = results["summary"][half], shares(results)[0]
    first, ten = (round(at["n"] * at["measures"][name]) for name in ("hit@1", "hit@10"))
    lines = [
        worded("number-five", half=half, **whole._asdict()),
        worded("number-first", found=first, n=at["n"]),
    ]
    quoted = results["evidence"].get(half)
    if quoted:
        passages = round(quoted["n"] * quoted["by_k"]["evidence"][4])
        lines.append(worded("number-evidence", found=passages, n=quoted["n"]))
    else:
        lines.append(worded("number-none", found=at["n"] - ten, n=at["n"]))
    return "\n".join(lines) + "\n\n" + _measures_in_words(at)


def _measures_in_words(at: dict) -> str:
    (low, high), (mrr_low, mrr_high) = (at["intervals"][name] for name in ("nDCG@10", "MRR@10"))
    ndcg, mrr = (at["measures"][name] for name in ("nDCG@10", "MRR@10"))
    return worded(
        "measures", ndcg=ndcg, low=low, high=high, mrr=mrr, mrr_low=mrr_low, mrr_high=mrr_high
    )


def actions(results: dict, evals: EvalSet) -> str:
    """Return what to do next: what was shown, the largest repair, what it costs to know more."""
    runs, half = by_verdict(results["compared_dev"]), named_half(results)
    lines = [_try(runs[stats.BETTER][0], results, half) if runs[stats.BETTER] else worded("stay")]
    if runs[stats.WORSE]:
        lines.append(worded("leave", names=_names_of_runs(runs[stats.WORSE])))
    lines += [_judge(results["cards"]), _largest_repair(results["cards"]), _cost(results, evals)]
    return "\n".join([line for line in lines if line])


def _try(run: dict, results: dict, half: str) -> str:
    at, runs = _at(run), len(results["compared_dev"]["runs"])
    gained = {name: at[name] for name in ("n", "difference", "low", "high")}
    sentence = worded("try", name=run["name"], p=stats.p_text(run["p_holm"]), runs=runs, **gained)
    if run["name"].startswith("baseline + "):
        sentence += " " + worded("fused")
    return f"{sentence} {worded('confirm-test' if half == 'test' else 'confirm-new')}"


def _judge(cards: list[dict]) -> str:
    count = sum(card["unjudged"] for card in cards)
    return worded("judge", count=count, n=len(cards)) if count else ""


def repairs(cards: list[dict]) -> dict[str, int]:
    """Return {repair: dev questions that it may help}, the largest first, none that helps none."""
    count = Counter(card["cause"] for card in cards)
    helped = {name: sum(count[cause] for cause in causes) for name, causes in REPAIRS.items()}
    return {name: n for name, n in sorted(helped.items(), key=lambda pair: -pair[1]) if n}


def _largest_repair(cards: list[dict]) -> str:
    helped = repairs(cards)
    if not helped:
        return ""
    name = next(iter(helped))
    return worded(name, count=helped[name], n=len(cards))


def needed(at: dict, difference: float) -> int:
    """Return how many questions show a `difference`, with the spread of a comparison `at`."""
    spread = at["detectable"] / stats.detectable(at["n"], 1.0)
    return max(stats.queries_needed(difference, spread), at["n"])


def _cost(results: dict, evals: EvalSet) -> str:
    """Return how many labels would decide the most promising of what is undecided."""
    compared = results["compared_dev"]
    undecided = [run for run in by_verdict(compared)[stats.TOO_FEW] if _at(run)["detectable"]]
    if not undecided:
        return worded("label-none")
    run, at, matters = undecided[0], _at(undecided[0]), compared["matters"]
    gains, least = at["difference"] > matters, needed(at, matters)
    wanted = needed(at, at["difference"]) if gains else least
    known = {"name": run["name"], "matters": matters, "least": least, "needed": wanted}
    known |= {"n": at["n"], "difference": at["difference"], "runs": len(compared["runs"])}
    pairs = round(len(evals.judgments) / (len(evals.queries) + len(evals.unanswered)))
    known |= {"more": wanted - at["n"], "pairs": pairs, "cost": (wanted - at["n"]) * pairs}
    sure = wanted == at["n"]  # these questions are enough: something else keeps it undecided
    names = ("label-alone", "label") if gains else ("label-enough", "label-any")
    return worded(names[0] if sure else names[1], **known)


def measured_on(results: dict) -> str:
    """Return on what was measured."""
    half = named_half(results)
    return worded(
        "measured",
        name=results["corpus"]["name"],
        documents=results["corpus"]["documents"],
        queries=results["queries"]["n"],
        n=results["summary"][half]["n"],
        half=half,
    )
