"""The write-up: what it decides by rule, its sections from a template, its tables.

`write_up.jinja` holds the words. Every number and name comes from results.json and the set.
"""

import functools
import re
from collections import Counter
from pathlib import Path
from statistics import median
from typing import NamedTuple

import jinja2
import pandas as pd
from statsmodels.stats.proportion import proportion_confint

from helpers import compare, evidence, figures, report, runs, stats, text
from helpers import results as saved
from helpers.evalset import EvalSet

TEMPLATE = Path(__file__).with_suffix(".jinja")
ENOUGH = 0.7  # the bar: a useful document among the first five, of this share of the questions
SIDES = ("good", "poor", "open")  # of the bar, for a whole interval; open: on both
REPAIRS = {  # which causes of session C a repair would remove
    "words": ("no shared word", "missing word"),
    "weights": ("length penalty", "common word dominates", "stronger match elsewhere", "tie"),
    "chunks": ("evidence split across chunks",),
    "versions": ("version confusion",),
}
MEASURES = "nDCG@10 MRR@10 hit@1 hit@5 recall@5 recall@10 recall@100 P@10 MAP".split()
MOST_NAMED = 20  # queries named in a sentence
SMALL_CORPUS = 10_000  # documents
SHARE = 20  # reranking looks at one document in so many
BESIDE = "README.md labeling_guide.md notes.md retrieval_queries.jsonl judgments.jsonl results.json"


class Share(NamedTuple):
    """Of `n` questions `found` had a useful document among the first five; with 95 % interval."""

    name: str
    found: int
    n: int
    low: float
    high: float

    @property
    def side(self) -> str:
        """Return on which of SIDES the interval lies."""
        return SIDES[0 if self.low > ENOUGH else 1 if self.high < ENOUGH else 2]


class WriteUp:
    """What the cells of the write-up show of a set and its results.json."""

    def __init__(self, results: dict, evals: EvalSet) -> None:
        """Take results.json, as `results.verified` returns it, and its set."""
        self.results, self.evals = results, evals
        self.half = "test" if "test" in results["summary"] else "dev"  # gives the final numbers

    def section(self, name: str, **more: object):
        """Return a section of the template as Markdown for a cell; `more` are further values."""
        template = _template()
        parts = template.blocks[name](template.new_context(self.values | more))
        return text.markdown(text.Markup(_unwrapped("".join(parts))))

    @functools.cached_property
    def values(self) -> dict:
        """Return what the template is given: results.json and what follows from it."""
        whole, *kinds = self.shares
        cards, too_few = self.results["cards"], self._runs(stats.TOO_FEW)
        by_side = {side: [kind.name for kind in kinds if kind.side == side] for side in SIDES}
        readings = report.label_facts(self.evals).items()
        rows = [row for row in self.results["per_query"] if row["split"] == "dev"]
        return {
            **self.results,
            **by_side,
            "all": whole,
            "half": self.half,
            "bar": ENOUGH,
            "better": self._runs(stats.BETTER),
            "worse": self._runs(stats.WORSE),
            "same": self._runs(stats.SAME),
            "too_few": too_few,
            "undecided": _price(too_few, self.compared["matters"], self.evals),
            "unjudged": sum(card["unjudged"] for card in cards),
            "repair": _largest_repair(cards),
            "budget": evidence.BUDGET,
            "disclosure": report.disclosure(self.evals),
            "beside": [name for name in BESIDE.split() if (self.evals.folder / name).exists()],
            "dev": len(rows),
            "at_first": sum(row["first_rank"] == 1 for row in rows),
            "missed": sum((row["first_rank"] or 11) > 10 for row in rows),
            "sharing_nothing": [row["query_id"] for row in rows if not row["retrieved"]],
            "small_corpus": SMALL_CORPUS,
            "readings": [(name, words) for name, words in readings if "second pass" in name],
            **_sizes(self.evals, self.results["method"]["chunk_tokens"]),
            **_repair_places(rows, self.evals),
        }

    @functools.cached_property
    def compared(self) -> dict:
        """Return the comparison on dev, its runs by their difference, the largest first."""
        compared = self.results["compared_dev"]
        ordered = sorted(compared["runs"], key=lambda run: -_primary(run)["difference"])
        return compared | {"runs": ordered}

    def _runs(self, verdict: str) -> list[dict]:
        return [run for run in self.compared["runs"] if run["verdict"] == verdict]

    @functools.cached_property
    def shares(self) -> list[Share]:
        """Return the share of all questions of the half, then of each kind, highest first."""
        hits: dict[str, list[float]] = {}
        for row in self.results["per_query"]:
            if row["split"] == self.half:
                hits.setdefault(row["kind"], []).append(row["measures"]["hit@5"])
        whole = _share("all questions", sum(hits.values(), []))
        kinds = [_share(name, values) for name, values in hits.items()] if len(hits) > 1 else []
        return [whole, *sorted(kinds, key=lambda kind: (-kind.found / kind.n, kind.name))]

    def dev_queries(self) -> pd.DataFrame:
        """Return kind, first_rank (NaN: not found) and value (nDCG@10) of each dev query."""
        rows = {
            row["query_id"]: (row["kind"], row["first_rank"], row["measures"]["nDCG@10"])
            for row in self.results["per_query"]
            if row["split"] == "dev"
        }
        frame = pd.DataFrame.from_dict(rows, "index", columns=["kind", "first_rank", "value"])
        return frame.astype({"first_rank": float})

    def cards(self, most: int = 5) -> list[dict]:
        """Return the values of section "card" for the first failures, with their notes."""
        queries = {row["query_id"]: row for row in self.results["per_query"]}
        notes = saved.notes(self.evals.folder)
        shown = []
        for card in self.results["cards"][:most]:
            query_id = card["query_id"]
            order = [doc_id for doc_id, _ in queries[query_id]["retrieved"]]
            ranks = {doc_id: f"rank {rank}" for rank, doc_id in enumerate(order, 1)}
            values = {"card": card, "query": queries[query_id]}
            values |= {f"{n}_at": ranks.get(card[n], "after rank 10") for n in ("wanted", "rival")}
            shown.append(values | {"note": figures.with_code(notes.get(query_id, ""))})
        return shown

    # Tables.

    def queries(self) -> pd.DataFrame:
        """Return the number of queries of each kind and half, with the first dev query."""
        queries = pd.DataFrame([query._asdict() for query in self.evals.queries.values()])
        counts = pd.crosstab(queries["kind"], queries["split"])
        examples = queries[queries["split"] == "dev"].groupby("kind")["query"].first()
        return counts.join(examples.rename("a dev query")).fillna("")

    def method(self) -> pd.DataFrame:
        """Return what decides how the baseline searches and is measured."""
        method = self.results["method"]
        card = runs.read_card(self.evals.folder / "runs" / f"{method['chunker']}.json")
        rows = {
            "engine": "{engine}, k1 = {k1}, b = {b}",
            "IDF": "{idf}, epsilon = {epsilon}",
            "words": "{words}; no stemming, no stop words",
            "chunks": "{chunker}: {chunk_tokens} {encoding} tokens, {overlap_tokens} overlap; "
            "{chunks} chunks of title, blank line, body",
            "documents": "{to_documents}; runs to depth {depth}; no shared word, no result",
            "order": f"score rounded to {runs.DECIMALS} decimals, descending; then id, ascending",
            "measures": "ir_measures; nDCG with linear gain and the ideal from the labels",
        }
        values = method | {"chunks": card["chunks"]}
        return pd.DataFrame({"choice": {k: words.format(**values) for k, words in rows.items()}})

    def means(self) -> pd.DataFrame:
        """Return every measure of each half, with its interval where there is one."""
        columns = {}
        for half, row in self.results["summary"].items():
            column = columns[f"{half} (n = {row['n']})"] = {}
            for name in MEASURES:
                ends = row["intervals"].get(name)
                interval = f" ({ends[0]:.3f} to {ends[1]:.3f})" if ends else ""
                column[name] = f"{row['measures'][name]:.3f}{interval}"
            middle, depth = row["median_first_rank"], self.results["method"]["depth"]
            column["median first rank"] = f"{middle:g}" if middle else f"none within {depth}"
        return pd.DataFrame(columns)

    def kinds(self) -> pd.DataFrame:
        """Return nDCG@10 and what is in the first five for each kind, then for head and tail."""
        rows: dict[str, dict[str, str]] = {}
        for half, by_kind in self.results["by_kind"].items():
            for kind, row in (by_kind | self.results["by_popularity"][half]).items():
                hits, ndcg = (row["measures"][name] for name in ("hit@5", "nDCG@10"))
                cells = rows.setdefault(kind, {})
                cells[f"{half} nDCG@10"] = f"{ndcg:.3f}"
                cells[f"{half} in five"] = f"{round(hits * row['n'])} of {row['n']}"
        return pd.DataFrame(rows).T.fillna("")

    def leaderboard(self) -> pd.DataFrame:
        """Return the comparison as text, the baseline first."""
        columns = ["nDCG@10", "difference", "95 % interval", "p (Holm)", "detectable", "verdict"]
        return compare.board(self.results["compared_dev"])[columns]

    def systems_by_kind(self) -> pd.DataFrame:
        """Return by kind of query n, the baseline's mean, the ends of all systems and who leads."""
        compared = self.results["compared_dev"]["runs"]
        rows = {}
        for kind, first in compared[0]["by_kind"].items() if compared else ():
            means = {"baseline": first["base"]}
            means |= {run["name"]: run["by_kind"][kind]["run"] for run in compared}
            best = max(means, key=lambda name: means[name])
            rows[kind] = {"n": str(first["n"]), "baseline": means["baseline"]}
            rows[kind] |= {"lowest": min(means.values()), "highest": means[best], "led by": best}
        return pd.DataFrame(rows).T

    def evidence_recall(self) -> pd.DataFrame:
        """Return evidence recall on dev (0 to 1) of each chunk set (rows) by tokens of context."""
        sets = self.results["evidence"]["dev"]["sets"]
        recall = {budget: evidence.recall_name(budget) for budget in evidence.BUDGETS}
        rows = {
            chunks: {budget: row["means"][name] for budget, name in recall.items()}
            for chunks, row in sets.items()
        }
        return pd.DataFrame(rows).T

    def losses(self) -> pd.DataFrame:
        """Return where evidence is lost (rows), in dev queries."""
        places: dict[str, list[str]] = {place: [] for place in evidence.LOSSES}
        for query_id, place in self.results["evidence"]["lost"].items():
            places[place].append(query_id)
        return self._counted_by_kind(places)

    def causes(self) -> pd.DataFrame:
        """Return the causes (rows) of failures in dev queries, the most frequent first."""
        cards = self.results["cards"]
        often = Counter(card["cause"] for card in cards).most_common()
        failed = {c: [card["query_id"] for card in cards if card["cause"] == c] for c, _ in often}
        table = self._counted_by_kind(failed)
        unjudged = Counter(card["cause"] for card in cards if card["unjudged"])
        if unjudged:
            table["rival unjudged"] = [str(unjudged[cause]) for cause in table.index]
        return table

    def _counted_by_kind(self, queries: dict[str, list[str]]) -> pd.DataFrame:
        """Return for each name (rows) how many queries there are, and of which kinds."""
        rows = {}
        for name, ids in queries.items():
            counts = Counter(self.evals.queries[query_id].kind for query_id in ids)
            ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
            by_kind = ", ".join(f"{kind} {n}" for kind, n in ordered)
            rows[name] = {"queries": str(len(ids)), "by kind": by_kind}
        return pd.DataFrame(rows).T


# The template.


@functools.cache
def _template() -> jinja2.Template:
    """Return the template: all that it is given becomes inert unless it is Markup."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATE.parent),
        finalize=text.inert,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {
        "number": lambda value, form: text.Markup(f"{{:{form}}}").format(value),
        "interval": lambda ends, form=".3f": text.Markup(f"{{:{form}}} to {{:{form}}}").format(
            *ends
        ),
        "many": text.how_many,
        "names": _names,
        "some": _some,
        "p": stats.p_text,
    }
    return environment.get_template(TEMPLATE.name)


def _names(names: list[str]) -> text.Markup:
    """Return names in italics, with "and" before the last."""
    *most, last = [text.Markup("*{}*").format(name) for name in names]
    return text.Markup(", ").join(most) + " and " + last if most else last


def _some(names: list[str]) -> str:
    """Return the first names and how many more there are."""
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more or "none"


def _unwrapped(page: str) -> str:
    """Return Markdown with a line for each paragraph, item and heading."""
    return re.sub(r"(?<![ \n])\n *(?![ \n#>]|- )", " ", page.strip())


# Rules: what the numbers decide.


def _share(name: str, hits: list[float]) -> Share:
    """Return a share with its Wilson interval, which holds for few questions too (Wilson 1927)."""
    found, n = round(sum(hits)), len(hits)
    low, high = proportion_confint(found, n, method="wilson")
    return Share(name, found, n, float(low), float(high))


def _primary(run: dict) -> dict:
    """Return a run's comparison on the measure that decides."""
    return run["measures"][run["primary"]]


def questions_needed(row: dict, difference: float) -> int:
    """Return how many questions show a `difference`, with the spread of a comparison `row`."""
    spread = row["detectable"] / stats.detectable(row["n"], 1.0)
    return max(stats.queries_needed(difference, spread), row["n"])


def _price(runs_too_few: list[dict], matters: float, evals: EvalSet) -> dict:
    """Return what would decide the most promising of what is undecided, {} where nothing waits.

    `more` questions than there are, each with `pairs` judged documents; it `gains` where its
    difference is one that matters.
    """
    waiting = [run for run in runs_too_few if _primary(run)["detectable"]]
    if not waiting:
        return {}
    row = _primary(waiting[0])
    least, gains = questions_needed(row, matters), row["difference"] > matters
    needed = questions_needed(row, row["difference"]) if gains else least
    pairs = round(len(evals.judgments) / (len(evals.queries) + len(evals.unanswered)))
    priced = {"gains": gains, "least": least, "needed": needed, "more": needed - row["n"]}
    return row | priced | {"name": waiting[0]["name"], "pairs": pairs}


def _largest_repair(cards: list[dict]) -> dict:
    """Return the repair that helps most dev queries and how many, {} where none helps."""
    count = Counter(card["cause"] for card in cards)
    helped = {name: sum(count[cause] for cause in causes) for name, causes in REPAIRS.items()}
    largest = max(helped, key=lambda name: helped[name])
    return {"name": largest, "helped": helped[largest]} if helped[largest] else {}


def _sizes(evals: EvalSet, chunk_tokens: int) -> dict[str, float]:
    """Return what results.json does not say of the size of documents, queries and labels."""
    tokens = [len(text.token_ids(document.retrieval_text)) for document in evals.documents.values()]
    relevant = [judgment.doc_id for judgment in evals.judgments if judgment.relevance > 0]
    unspecified = {"unspecified"}  # an imported set may not say
    return {
        "kinds": len({document.kind for document in evals.documents.values()} - unspecified),
        "services": len({document.service for document in evals.documents.values()} - unspecified),
        "median": median(tokens),
        "longest": max(tokens),
        "long": sum(n > chunk_tokens for n in tokens),
        "relevant": len(relevant),
        "reached": len({*relevant}),
    }


def _repair_places(rows: list[dict], evals: EvalSet) -> dict:
    """Return which imperfect queries another order would repair, and which miss a document.

    A reranker looks at 5 % of the corpus, 10 to 100 documents (`depth`).
    """
    depth = min(len(evals.documents), 100, max(10, len(evals.documents) // SHARE))
    rankings = compare.read_checked(evals.folder / saved.RUN, evals).rankings
    reorder, fetch = [], []
    for row in rows:
        if row["measures"]["nDCG@10"] < 1:
            first = {doc_id for doc_id, _ in rankings.get(row["query_id"], [])[:depth]}
            (reorder if {*row["relevant"]} <= first else fetch).append(row["query_id"])
    return {"depth": depth, "reorder": reorder, "fetch": fetch}
