"""The write-up: its sections, the tables beside them, and the rules behind both.

`write_up.jinja` holds the words; what a set doesn't show, they leave out. Every number comes from
results.json.
"""

import functools
import math
from collections import Counter
from collections.abc import Iterable
from statistics import median
from typing import Any, NamedTuple

import pandas as pd

from ..measure import (
    compare,
    evalset,
    evidence,
    inert,
    pages,
    report,
    runs,
    stats,
    systems,
)
from ..measure import results as saved
from ..measure.evalset import EvalSet
from ..measure.installation import TEMPLATES
from ..measure.stats import BETTER, TOO_FEW, WORSE
from . import data_card, figures

TEMPLATE = TEMPLATES / "write_up.jinja"
ENOUGH = 0.7  # the bar: a useful document among the first five, of this share of the questions
NO_WORD = {"no shared word", "missing word"}  # causes of session C that other words would repair
VERDICTS = {"better": BETTER, "worse": WORSE, "too_few": TOO_FEW}
MEASURES = "nDCG@10 MRR@10 hit@1 hit@5 recall@5 recall@10 recall@100 P@10 MAP".split()
METHOD = {  # what decides how the baseline searches and is measured
    "engine": "{engine}, k1 = {k1}, b = {b}",
    "IDF": "{idf}, epsilon = {epsilon}",
    "words": "{words}; no stemming, no stop words",
    "chunks": "{chunker}: {chunk_tokens} {encoding} tokens, {overlap_tokens} overlap; "
    "{chunks} chunks of title, blank line, body",
    "documents": "{to_documents}; runs to depth {depth}; no shared word, no result",
    "order": f"score rounded to {runs.DECIMALS} decimals, descending; then id, ascending",
    "measures": "ir_measures; nDCG with linear gain and the ideal from the labels",
}
NEEDS_READ = {  # what a reader gets: how the names of its measures end
    "first 5 chunks": "@5",
    "first 10 chunks": "@10",
    f"{evidence.BUDGET:,} tokens": f" within {evidence.BUDGET} tokens",
}
NEEDS_SHOWN = {
    "documents found": "document recall",
    "needs met": "need recall",
    "all needs met": "all needs met",
}
FULL = "full hit@5"  # of all questions here: 0 for one without a full answer
SHARE = 20  # reranking looks at one document in so many
BESIDE = "README.md labeling_guide.md notes.md retrieval_queries.jsonl judgments.jsonl results.json"


class Share(NamedTuple):
    """Of `n` questions `found` had what is wanted among the first five; with 95 % interval."""

    name: str
    found: int
    n: int
    low: float
    high: float

    @property
    def mean(self) -> float:
        """Return the share itself, 0 to 1."""
        return self.found / self.n

    @property
    def side(self) -> str:
        """Return on which side of the bar the whole interval lies; open: on both."""
        if self.low > ENOUGH:
            return "good"
        return "poor" if self.high < ENOUGH else "open"

    @classmethod
    def of(cls, name: str, hits: pd.Series) -> "Share":
        """Return a share with its interval."""
        found, n = round(hits.sum()), len(hits)
        return cls(name, found, n, *stats.share_interval(found, n))


class WriteUp:
    """What the cells of the write-up show of a set and its results.json."""

    def __init__(self, results: dict, evals: EvalSet) -> None:
        """Take results.json, as `results.read_current_results` returns it, and its set."""
        self.results, self.evals = results, evals
        self.half = "test" if "test" in results["summary"] else "dev"  # gives the final numbers
        rows = pd.DataFrame([row | row["measures"] for row in results["per_query"]])
        rows = rows.set_index("query_id")
        self.rows = {half: rows[rows["split"] == half] for half in ("dev", "test")}
        compared = results["compared_dev"]
        by_gain = [run | {"gain": run["measures"][run["primary"]]} for run in compared["runs"]]
        by_gain.sort(key=lambda run: -run["gain"]["difference"])
        self.systems = systems.read_cards(evals)
        self.compared = compared | {"runs": by_gain}
        filters = {"names": self.in_words, "median": median}
        self.template = inert.template(TEMPLATE, p=stats.p_text, **filters)

    def section(self, name: str, **more: object):
        """Return a section for a cell; `more` are further values of its sentences."""
        parts = self.template.blocks[name](self.template.new_context(self.values | more))
        return inert.markdown(inert.paragraphs("".join(parts)))

    def in_words(self, names: Iterable[str]) -> inert.Markup:
        """Return names in italics; of a run that isn't a system they say what it is."""
        in_italics = []
        for name in names:
            words = inert.Markup("*{}*")
            if name.startswith(systems.MERGED):
                words = inert.Markup("BM25 merged with *{}*")
            elif name in self.quoted_chunk_sets("dev"):
                words = inert.Markup("*{}* chunks")
            in_italics.append(words.format(name.removeprefix(systems.MERGED)))
        *most, last = in_italics
        return inert.Markup(", ").join(most) + " and " + last if most else last

    def quoted_chunk_sets(self, half: str) -> dict[str, dict]:
        """Return {chunk set: what it holds of the evidence}, {} where no label has a quote."""
        of_half = self.results["evidence"].get(half)
        return of_half["sets"] if of_half else {}

    @functools.cached_property
    def claims(self) -> dict[str, Any]:
        """Return what the sentences claim of the runs, the kinds and the failures."""
        by_verdict = {}
        for name, verdict in VERDICTS.items():
            by_verdict[name] = [run for run in self.compared["runs"] if run["verdict"] == verdict]
        useful, full = self.shares(), self.shares(FULL)
        n_asked = len(self.evals.queries) + len(self.evals.unanswered)
        return {
            **by_verdict,
            "useful": useful,
            "full": full,
            "failing": [kind.name for kind in useful[1:] if kind.side == "poor"],
            "hardest": self._hardest(),
            "advised": self._advised(),
            "widest": _widest(by_verdict["too_few"], self.compared["matters"]),
            "pairs_each": round(len(self.evals.judgments) / n_asked),
            "lacking": sum(card["cause"] in NO_WORD for card in self.results["cards"]),
            "systems": self.systems,
            "marked": self.marked_queries(),
        }

    @functools.cached_property
    def values(self) -> dict[str, Any]:
        """Return what the template is given: results.json and what follows from it."""
        evals, dev = self.evals, self.rows["dev"]
        facts = data_card.label_facts(evals).items()
        return {
            **self.results,
            **self.claims,
            **data_card.sizes(evals),
            **_reorder_or_fetch(dev, evals),
            **self.chunk_claims(),
            **self.need_claims(),
            "half": self.half,
            "documents": evals.documents,
            "few": report.without_halves(self.results),
            "bar": ENOUGH,
            "full_grade": evals.full_grade,
            "budget": evidence.BUDGET,
            "left_out": evalset.left_out(evals.waiting),
            "disclosure": data_card.disclosure(evals),
            "beside": [name for name in BESIDE.split() if (evals.folder / name).exists()],
            "dev": len(dev),
            "at_first": (dev["first_rank"] == 1).sum(),
            "missed": (~(dev["first_rank"] <= 10)).sum(),
            "sharing_nothing": [*dev.index[dev["retrieved"].str.len() == 0]],
            "kinds_in_words": figures.with_code(data_card.kinds_in_words(evals)),
            "readings": {name: words for name, words in facts if "second pass" in name},
        }

    def _advised(self) -> dict[str, Any]:
        """Return the best run that merges BM25 with a system that has a card, and what it gains.

        {} where test confirms none that may matter; the gain is that of the half that gains less.
        """
        for run in saved.confirmed(self.compared):
            name = run["name"].removeprefix(systems.MERGED)
            is_merged = run["name"].startswith(systems.MERGED)
            if not is_merged or name not in self.systems:
                continue
            may_matter = run["bounds"][1] > self.compared["matters"]
            if may_matter and compare.APART in run["halves"]:
                return self._advice(run, self.systems[name])
        return {}

    def _advice(self, run: dict, card: dict) -> dict[str, Any]:
        """Return what the sentences say of a run that merges BM25 with the system of a card."""
        test = run["halves"]["test"]
        gain = min(run["gain"]["difference"], test["difference"])
        kinds = [{"kind": kind, **means} for kind, means in run.get("by_kind", {}).items()]
        name = run["name"].removeprefix(systems.MERGED)
        return {
            "run": run,
            "card": card,
            "system": card.get("in_short") or self.in_words([name]),
            "gain": math.floor(gain * 100) / 100,
            "kinds": sorted(kinds, key=lambda kind: kind["difference"]),
        }

    def _hardest(self) -> dict[str, Any]:
        """Return the kind whose questions most often have no full answer, and who has one (0 to 1).

        {} where each question has one, or none has, or all are of one kind.
        """
        rows = self.rows[self.half]
        if FULL not in rows:
            return {}
        has_full = rows[FULL].notna()
        by_kind = has_full.groupby(rows["kind"]).mean()
        if has_full.nunique() == 1 or len(by_kind) == 1:
            return {}
        return {"name": by_kind.idxmin(), "mean": by_kind.min()}

    def chunk_claims(self) -> dict[str, Any]:
        """Return what the chunk sets hold, and those of dev beside the baseline's, best last."""
        others = self.chunk_sets()
        others = others[others.index == "dev"].sort_values("difference", kind="stable")
        return {"quotes": self.quotes(), "others": others.to_dict("records")}

    def shares(self, measure: str = "hit@5") -> list[Share]:
        """Return the share of all questions of the half, then of each kind, highest first.

        It is 0 for a question without a full answer; [] where none has one.
        """
        rows = self.rows[self.half]
        if measure not in rows or rows[measure].isna().all():
            return []
        rows = rows.fillna({measure: 0})
        whole = Share.of("all questions", rows[measure])
        kinds = [Share.of(kind, hits) for kind, hits in rows.groupby("kind")[measure]]
        if len(kinds) == 1:
            return [whole]
        return [whole, *sorted(kinds, key=lambda kind: (-kind.mean, kind.name))]

    def marked_queries(self) -> pd.DataFrame:
        """Return n and means of queries in another language, of the newest round and without it.

        By half; no row where no query or each of the set is one.
        """
        marked, marks = [], self._marks()
        for half, rows in self.rows.items():
            shown = rows.reindex(columns=["nDCG@10", FULL]).fillna({FULL: 0})
            for name, is_in in marks.items():
                own = shown[is_in[rows.index]]
                if len(own):
                    marked.append({"half": half, "queries": name, "n": len(own), **own.mean()})
        columns = ["half", "queries", "n", "nDCG@10", FULL]
        return pd.DataFrame(marked, columns=columns).set_index("half")

    def _marks(self) -> dict[str, pd.Series]:
        """Return {what some queries are and others aren't: whether each one is, by id}."""
        queries = pd.DataFrame(self.evals.queries.values()).set_index("query_id")
        newest = queries["round"].max()
        is_newest = queries["round"] == newest
        marks = {
            "in another language": queries["language"] != "",
            f"of round {newest}, the newest": is_newest,
            f"without round {newest}": ~is_newest,
        }
        return {name: is_in for name, is_in in marks.items() if is_in.nunique() > 1}

    def dev_queries(self) -> pd.DataFrame:
        """Return kind, first_rank (NaN: not found) and value (nDCG@10) of each dev query."""
        rows = self.rows["dev"].rename(columns={"nDCG@10": "value"})
        return rows[["kind", "first_rank", "value"]].astype({"first_rank": float})

    def cards(self) -> list[dict]:
        """Return the values of section "card" for the first five failures, with their notes."""
        notes, shown = saved.read_notes(self.evals.folder), []
        for card in self.results["cards"][:5]:
            query = self.rows["dev"].loc[card["query_id"]].to_dict()
            ranks = {doc_id: f"rank {n}" for n, (doc_id, _) in enumerate(query["retrieved"], 1)}
            note = figures.with_code(notes.get(card["query_id"], ""))
            shown.append({"card": card, "query": query, "ranks": ranks, "note": note})
        return shown

    # Tables.

    def quotes(self) -> pd.DataFrame:
        """Return what the chunk sets of each half hold: any quote of a label, and what suffices."""
        within = f"{evidence.BUDGET:,} tokens"
        columns = {
            "any_quote.evidence hit@5": "any quote, first five",
            "means.evidence hit@5": "what suffices, first five",
            f"any_quote.{evidence.DECIDES}": f"any quote, {within}",
            f"means.{evidence.DECIDES}": f"what suffices, {within}",
        }
        return self._chunk_columns(columns)

    def chunk_sets(self) -> pd.DataFrame:
        """Return how the chunk sets of each half differ from the baseline's, and the verdict."""
        names = ("difference", "low", "high", "verdict", "p_holm")
        return self._chunk_columns({f"against.{name}": name for name in names})

    def _chunk_columns(self, columns: dict[str, str | int]) -> pd.DataFrame:
        """Return values of the chunk sets of each half (rows) that have the first of them.

        `columns` are the values' places in results.json, "means.evidence hit@5", and their names.
        """
        rows = []
        for half in self.rows:
            for chunks, held in self.quoted_chunk_sets(half).items():
                rows.append({**held, "half": half, "chunks": chunks})
        frame = pd.json_normalize(rows).reindex(columns=["half", "chunks", *columns])
        has_first = frame[next(iter(columns))].notna()
        return frame[has_first].rename(columns=columns).set_index("half")

    def queries(self) -> pd.DataFrame:
        """Return the number of queries of each kind and half, with the first dev query."""
        queries = pd.DataFrame(self.evals.queries.values())
        counts = pd.crosstab(queries["kind"], queries["split"])
        examples = queries[queries["split"] == "dev"].groupby("kind")["query"].first()
        return counts.join(examples.rename("a dev query")).fillna("")

    def method(self) -> pd.DataFrame:
        """Return what decides how the baseline searches and is measured."""
        method = self.results["method"]
        card = runs.read_card(self.evals.folder / "runs" / f"{method['chunker']}.json")
        values = method | {"chunks": card["chunks"]}
        return pd.DataFrame({"choice": {k: v.format(**values) for k, v in METHOD.items()}})

    def means(self) -> pd.DataFrame:
        """Return every measure of each half, with its interval where there is one."""
        columns = {}
        for half, row in self.results["summary"].items():
            columns[f"{half} (n = {row['n']})"] = self._means_of(row)
        return pd.DataFrame(columns)

    def _means_of(self, row: dict) -> dict[str, str]:
        """Return every measure of a half, `row` of the summary, as text."""
        means, full = {}, row.get("full")
        for name in MEASURES:
            means[name] = f"{row['measures'][name]:.3f}"
            if name in row["intervals"]:
                means[name] += " ({:.3f} to {:.3f})".format(*row["intervals"][name])
        if full:
            for name, value in full["measures"].items():
                means[name] = f"{value:.3f} (n = {full['n']})"
        median_rank, depth = row["median_first_rank"], self.results["method"]["depth"]
        means["median first rank"] = f"{median_rank:g}" if median_rank else f"none within {depth}"
        return means

    def kinds(self) -> pd.DataFrame:
        """Return nDCG@10 and what is in the first five for each kind, then for head and tail."""
        columns = {}
        for half, by_kind in self.results["by_kind"].items():
            ndcg, in_five = {}, {}
            for kind, row in (by_kind | self.results["by_popularity"][half]).items():
                n, means = row["n"], row["measures"]
                ndcg[kind] = f"{means['nDCG@10']:.3f}"
                in_five[kind] = f"{round(means['hit@5'] * n)} of {n}"
            columns |= {f"{half} nDCG@10": ndcg, f"{half} in five": in_five}
        return pd.DataFrame(columns).fillna("")

    def leaderboard(self) -> pd.DataFrame:
        """Return the comparison as text, the baseline first."""
        on_test = {run["name"]: _on_test(run) for run in self.compared["runs"]}
        board = pages.leaderboard(self.results["compared_dev"])
        board = board.drop(columns=["p", "detectable", "wins/ties/losses", "judged@10"])
        return board.assign(**{"on test": [on_test.get(name, "") for name in board.index]})

    def evidence_recall(self) -> pd.DataFrame:
        """Return evidence recall on dev (0 to 1) of each chunk set (rows) by tokens of context."""
        names = {f"means.{evidence.recall_name(budget)}": budget for budget in evidence.BUDGETS}
        return self._chunk_columns(names).loc[["dev"]].set_index("chunks")

    def losses(self) -> pd.DataFrame:
        """Return where evidence is lost (rows), in dev queries."""
        lost = self.results["evidence"]["lost"]
        places = [p for p in evidence.LOSSES if p != evidence.PART or p in lost.values()]
        return self._counted_by_kind(lost, places)

    def need_claims(self) -> dict:
        """Return the shortest question with several needs, what it asked, what is met of such."""
        measured = self._measured_needs(self.half)
        several = [query for query in self.evals.queries.values() if query.needs]
        if not (several and measured):
            return {"asked": {}}
        example = min(several, key=lambda query: (len(query.query), query.query_id))
        return {"example": example.query, "asked": example.needs, "met": measured["means"]}

    def _measured_needs(self, half: str) -> dict | None:
        """Return what results.json says of the questions with several needs, None for nothing."""
        return self.results["evidence"].get(half, {}).get("needs")

    def needs(self) -> pd.DataFrame:
        """Return what chunks bring to the questions with several needs, by half; see NEEDS_READ."""
        rows = []
        for half in self.rows:
            measured = self._measured_needs(half)
            if not measured:
                continue
            for context, where in NEEDS_READ.items():
                row = {"half": f"{half} (n = {measured['n']})", "read": context}
                for column, name in NEEDS_SHOWN.items():
                    mean = measured["means"][name + where]
                    low, high = measured["intervals"][name + where]
                    row[column] = f"{mean:.3f} ({low:.3f} to {high:.3f})"
                rows.append(row)
        return pd.DataFrame(rows).set_index("half") if rows else pd.DataFrame()

    def causes(self) -> pd.DataFrame:
        """Return the causes (rows) of failures in dev queries, the most frequent first."""
        causes = {card["query_id"]: card["cause"] for card in self.results["cards"]}
        often = [cause for cause, _ in Counter(causes.values()).most_common()]
        table = self._counted_by_kind(causes, often)
        unjudged = Counter(card["cause"] for card in self.results["cards"] if card["unjudged"])
        if unjudged:
            table["rival unjudged"] = [str(unjudged[cause]) for cause in often]
        return table

    def _counted_by_kind(self, groups: dict[str, str], names: Iterable[str]) -> pd.DataFrame:
        """Return how many queries each group (rows) has and of which kinds; {query_id: group}."""
        rows = {}
        for name in names:
            queries = (self.evals.queries[q] for q, group in groups.items() if group == name)
            kinds = Counter(sorted(query.kind for query in queries))
            by_kind = ", ".join(f"{kind} {n}" for kind, n in kinds.most_common())
            rows[name] = {"queries": str(kinds.total()), "by kind": by_kind}
        return pd.DataFrame(rows).T


# Rules: what the numbers decide.


def questions_needed(row: dict, difference: float) -> int:
    """Return how many questions show a `difference`, with the spread of a comparison `row`."""
    spread = row["detectable"] / stats.detectable(row["n"], 1.0)
    return max(stats.queries_needed(difference, spread), row["n"])


def _on_test(run: dict) -> str:
    """Return what test says of a run that was compared on dev, if it was chosen for that."""
    if "halves" not in run:
        return "not chosen" if run["verdict"] in (BETTER, WORSE) else ""
    halves = run["halves"]
    words = f"{halves['test']['difference']:+.3f}, {halves['test minus dev']['verdict']}"
    apart = halves.get(compare.APART)
    if apart:
        words += f"; apart {apart['difference']:+.3f} (n = {apart['n']})"
    return words


def _widest(undecided: list[dict], matters: float) -> dict:
    """Return which of the undecided runs spreads most, and what shows a gain that matters."""
    waiting = [run for run in undecided if run["gain"]["detectable"]]
    if not waiting:
        return {}
    run = max(waiting, key=lambda run: run["gain"]["detectable"])
    needed, n = questions_needed(run["gain"], matters), run["gain"]["n"]
    more = 10 * math.ceil((needed - n) / 10)
    return {"name": run["name"], "n": n, "needed": needed, "more": more}


def _reorder_or_fetch(dev: pd.DataFrame, evals: EvalSet) -> dict:
    """Return which imperfect queries another order would repair, and which miss a document.

    A reranker looks at 5 % of the corpus, 10 to 100 documents (`depth`).
    """
    depth = min(len(evals.documents), 100, max(10, len(evals.documents) // SHARE))
    rankings = systems.read_checked(evals.folder / saved.RUN, evals).rankings
    first = {query_id: dict(ranking[:depth]) for query_id, ranking in rankings.items()}
    imperfect = dev["relevant"][dev["nDCG@10"] < 1].items()
    fetch = [q for q, relevant in imperfect if not {*relevant} <= {*first.get(q, ())}]
    reorder = [q for q in dev.index[dev["nDCG@10"] < 1] if q not in fetch]
    return {"depth": depth, "reorder": reorder, "fetch": fetch}
