"""Sentences and tables of the write-up's appendix, from results.json and the set."""

from collections import Counter

import pandas as pd

from helpers import baseline, compare, evidence, figures, report, runs
from helpers.evalset import EvalSet
from helpers.report import worded
from helpers.text import how_many, inert, token_ids

SHOWN_MEASURES = "nDCG@10 MRR@10 hit@1 hit@5 recall@5 recall@10 recall@100 P@10 MAP".split()
MOST_NAMED = 20  # queries named in a sentence
SMALL_CORPUS = 10_000  # documents
SHARE = 20  # reranking looks at one document in so many
FILES = ("README.md", "labeling_guide.md", "notes.md", "retrieval_queries.jsonl", "judgments.jsonl")
FILES += ("results.json",)


# What was searched, and how.


def corpus(results: dict, evals: EvalSet) -> str:
    """Return how large documents, queries and labels are."""
    tokens = [len(token_ids(document.retrieval_text)) for document in evals.documents.values()]
    relevant = [judgment for judgment in evals.judgments if judgment.relevance > 0]
    reached = len({judgment.doc_id for judgment in relevant})
    return worded(
        "corpus",
        name=evals.name,
        documents=len(tokens),
        about=_kinds_and_services(evals),
        tokens=sum(tokens),
        median=pd.Series(tokens).median(),
        longest=max(tokens),
        long=sum(n > results["method"]["chunk_tokens"] for n in tokens),
        queries=len(evals.queries),
        judgments=len(evals.judgments),
        relevant=len(relevant),
        each=len(relevant) / len(evals.queries),
        reached=reached,
        share=reached / len(tokens),
    ) + (" " + worded("unanswered", n=len(evals.unanswered)) if evals.unanswered else "")


def _kinds_and_services(evals: EvalSet) -> str:
    """Return of how many kinds, about how many services; an imported set may not say."""
    found = ""
    for word, field in (("of", "kind"), ("about", "service")):
        names = {getattr(document, field) for document in evals.documents.values()}
        found += f" {word} {how_many(len(names), field)}" if names != {"unspecified"} else ""
    return found


def queries_by_kind(evals: EvalSet) -> pd.DataFrame:
    """Return the number of queries of each kind and half, with the first dev query."""
    queries = pd.DataFrame([query._asdict() for query in evals.queries.values()])
    counts = pd.crosstab(queries["kind"], queries["split"])
    examples = queries[queries["split"] == "dev"].groupby("kind")["query"].first()
    return counts.join(examples.rename("a dev query")).fillna("")


def method(results: dict, evals: EvalSet) -> pd.DataFrame:
    """Return what decides how the baseline searches and is measured."""
    at = results["method"]
    made = runs.read_card(evals.folder / "runs" / f"{at['chunker']}.json")
    rows = {
        "engine": f"{at['engine']}, k1 = {at['k1']}, b = {at['b']}",
        "IDF": f"{at['idf']}, epsilon = {at['epsilon']}",
        "words": f"{at['words']}; no stemming, no stop words",
        "chunks": f"{at['chunker']}: {at['chunk_tokens']} {at['encoding']} tokens, "
        f"{at['overlap_tokens']} overlap; {made['chunks']} chunks of title, blank line, body",
        "documents": f"{at['to_documents']}; runs to depth {at['depth']}; "
        "no shared word, no result",
        "order": f"score rounded to {runs.DECIMALS} decimals, descending; then id, ascending",
        "measures": "ir_measures; nDCG with linear gain and the ideal from the labels",
    }
    return pd.DataFrame({"choice": rows})


# The baseline.


def values(results: dict) -> pd.DataFrame:
    """Return every measure of each half, with its interval where there is one."""
    shown = {
        f"{split} (n = {at['n']})": {
            name: f"{at['measures'][name]:.3f}{_interval(at['intervals'].get(name))}"
            for name in SHOWN_MEASURES
        }
        | {"median first rank": _middle_rank(at["median_first_rank"], results["method"]["depth"])}
        for split, at in results["summary"].items()
    }
    return pd.DataFrame(shown)


def _interval(ends: list[float] | None) -> str:
    return f" ({ends[0]:.3f} to {ends[1]:.3f})" if ends else ""


def _middle_rank(value: float | None, depth: int) -> str:
    """Return a median rank in words; None means that more than half of the queries found none."""
    return f"{value:g}" if value else f"none within {depth}"


def ranks_on_dev(results: dict) -> pd.Series:
    """Return the rank of the first relevant document of each dev query."""
    rows = [row for row in results["per_query"] if row["split"] == "dev"]
    return pd.Series({row["query_id"]: row["first_rank"] for row in rows}, dtype="float")


def ranks(results: dict) -> str:
    """Return what the first ranks say, and how far apart the halves are."""
    found, splits = ranks_on_dev(results), results["summary"]
    sentence = worded(
        "ranks",
        first=int((found == 1).sum()),
        n=len(found),
        missed=int((found.isna() | (found > 10)).sum()),
        recall=splits["dev"]["measures"]["recall@100"],
    )
    if "test" not in splits:
        return sentence
    dev, test = (splits[half]["measures"]["nDCG@10"] for half in ("dev", "test"))
    return f"{sentence} {worded('halves', gap=abs(dev - test))}"


def kinds(results: dict) -> pd.DataFrame:
    """Return nDCG@10 and what is in the first five for each kind, then for head and tail."""
    found = {}
    for split, by_kind in results["by_kind"].items():
        for part, row in (by_kind | results["by_popularity"][split]).items():
            hits, ndcg = (row["measures"][name] for name in ("hit@5", "nDCG@10"))
            shown = found.setdefault(part, {})
            shown[f"{split} nDCG@10"] = f"{ndcg:.3f}"
            shown[f"{split} in five"] = f"{round(hits * row['n'])} of {row['n']}"
    return pd.DataFrame(found).T.fillna("")


def points(results: dict) -> pd.DataFrame:
    """Return kind and nDCG@10 of each dev query."""
    rows = [row for row in results["per_query"] if row["split"] == "dev"]
    shown = [{"kind": row["kind"], "value": row["measures"]["nDCG@10"]} for row in rows]
    return pd.DataFrame(shown)


def apart(results: dict) -> str:
    """Return how well the first score tells queries without an answer, "" where there are none."""
    found = {half: at for half, at in results["told_apart"].items() if at}
    parts = [
        worded("apart-half", half=half, auroc=at["AUROC"], **_without(at, "AUROC", "n"))
        for half, at in found.items()
    ]
    return worded("apart") + f" {'; '.join(parts)}." if parts else ""


def _without(row: dict, *names: str) -> dict:
    return {name: value for name, value in row.items() if name not in names}


# Other systems, and evidence.


def leaderboard(results: dict) -> pd.DataFrame:
    """Return the comparison as text, the baseline first."""
    columns = ["nDCG@10", "difference", "95 % interval", "p (Holm)", "detectable", "verdict"]
    return compare.board(results["compared_dev"])[columns]


def range_of_systems(results: dict) -> pd.DataFrame:
    """Return by kind of query n, the baseline's mean, the ends of all systems and who leads."""
    found = results["compared_dev"]["runs"]
    rows = {}
    for kind, first in found[0]["by_kind"].items() if found else ():
        means = {"baseline": first["base"]} | {
            run["name"]: run["by_kind"][kind]["run"] for run in found
        }
        best = max(means, key=lambda name: means[name])
        rows[kind] = {"n": str(first["n"]), "baseline": means["baseline"]}
        rows[kind] |= {"lowest": min(means.values()), "highest": means[best], "led by": best}
    return pd.DataFrame(rows).T


def evidence_recall(told_of: dict) -> pd.DataFrame:
    """Return evidence recall of each chunk set (rows) by tokens of context."""
    names = {f"{budget:,}": evidence.recall_name(budget) for budget in evidence.BUDGETS}
    rows = {
        chunks: {label: f"{at['means'][name]:.3f}" for label, name in names.items()}
        for chunks, at in told_of["sets"].items()
    }
    return pd.DataFrame(rows).T


def lost(results: dict, evals: EvalSet) -> pd.DataFrame:
    """Return where evidence is lost (rows), in dev queries."""
    places = results["evidence"]["lost"]
    kinds_of = {place: [] for place in evidence.LOSSES}
    for query_id, place in places.items():
        kinds_of[place].append(evals.queries[query_id].kind)
    return _kinds_counted(kinds_of)


def _kinds_counted(kinds_of: dict[str, list[str]]) -> pd.DataFrame:
    """Return for each name (rows) how many queries there are, and of which kinds."""
    rows = {}
    for name, found in kinds_of.items():
        counts = sorted(Counter(found).items(), key=lambda pair: (-pair[1], pair[0]))
        by_kind = ", ".join(f"{kind} {n}" for kind, n in counts)
        rows[name] = {"queries": str(len(found)), "by kind": by_kind}
    return pd.DataFrame(rows).T


def best_chunks(results: dict) -> str:
    """Return whether the two best chunk sets differ."""
    at = results["evidence"]["best"]
    shown = {name: at[name] for name in ("best", "next", "difference", "reason")}
    verdict, base = at["verdict"].capitalize(), results["method"]["chunker"]
    return worded("two-best", budget=evidence.BUDGET, verdict=verdict, base=base, **shown)


# Failures.


def causes(results: dict, evals: EvalSet) -> pd.DataFrame:
    """Return the causes (rows) of failures in dev queries, the most frequent first."""
    cards = results["cards"]
    often = Counter(card["cause"] for card in cards).most_common()
    kinds_of = {
        cause: [evals.queries[c["query_id"]].kind for c in cards if c["cause"] == cause]
        for cause, _ in often
    }
    found, unjudged = _kinds_counted(kinds_of), Counter(c["cause"] for c in cards if c["unjudged"])
    if unjudged:
        found["rival unjudged"] = [str(unjudged[cause]) for cause in found.index]
    return found


def failure(card: dict, results: dict, notes: dict[str, str]) -> str:
    """Return one failure in a few lines, with the note on it where there is one."""
    query_id = card["query_id"]
    row = next(row for row in results["per_query"] if row["query_id"] == query_id)
    order = [doc_id for doc_id, _ in row["retrieved"]]
    known = {name: _place(card[name], order) for name in ("wanted", "rival")}
    unjudged = ", which nobody has judged" if card["unjudged"] else ""
    sentence = worded(
        "card",
        query_id=query_id,
        query=row["query"],
        kind=row["kind"],
        value=row["measures"]["nDCG@10"],
        cause=card["cause"],
        lacks=", ".join(card["lacks"]) or "no word",
        wanted=card["wanted"],
        rival=card["rival"],
        wanted_at=known["wanted"],
        rival_at=known["rival"] + unjudged,
    )
    return sentence + (f"\n\n> {figures.with_code(notes[query_id])}" if query_id in notes else "")


def _place(doc_id: str, order: list[str]) -> str:
    return f"rank {order.index(doc_id) + 1}" if doc_id in order else "after rank 10"


def nothing_shared(results: dict) -> str:
    """Return which dev queries share no word with any document, "" where all do."""
    rows = [row for row in results["per_query"] if row["split"] == "dev"]
    names = [row["query_id"] for row in rows if not row["retrieved"]]
    return worded("nothing-shared", names=names) if names else ""


# What could repair it.


def deep(evals: EvalSet) -> int:
    """Return how many documents a reranker looks at: 5 % of the corpus, 10 to 100."""
    return min(100, max(10, len(evals.documents) // SHARE))


def repair_places(results: dict, evals: EvalSet) -> str:
    """Return for how many queries another order is enough, and where documents are missing."""
    rows = [row for row in results["per_query"] if row["split"] == "dev"]
    below = [row for row in rows if row["measures"]["nDCG@10"] < 1]
    found = compare.read_checked(evals.folder / baseline.FILE, evals).rankings
    depth = deep(evals)
    first = {q: {doc_id for doc_id, _ in ranking[:depth]} for q, ranking in found.items()}
    order = [q["query_id"] for q in below if {*q["relevant"]} <= first.get(q["query_id"], set())]
    fetch = [row["query_id"] for row in below if row["query_id"] not in order]
    share = depth / len(evals.documents)
    lines = [
        worded("below", below=len(below), n=len(rows)) + "\n",
        worded("rerank", depth=depth, share=share, n=len(order), names=_first_named(order)),
        worded("fetch", n=len(fetch), names=_first_named(fetch)) + "\n",
        worded("again"),
    ]
    return "\n".join(lines)


def _first_named(found: list[str]) -> str:
    """Return the first ids of a list and how many more there are."""
    more = f" and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
    return ", ".join(found[:MOST_NAMED]) + more or "none"


def limits(documents: int) -> str:
    """Return what the numbers don't say."""
    small = worded("small", documents=documents) + "\n" if documents < SMALL_CORPUS else ""
    return small + worded("limits")


def readings(evals: EvalSet) -> str:
    """Return how well two readings of the labels agree."""
    facts = report.label_facts(evals)
    lines = [
        worded("agreement", name=name.capitalize()) + f" {value}."
        for name, value in facts.items()
        if "second pass" in name
    ]
    return "  \n".join(lines) or worded("no-agreement")


def sources(evals: EvalSet) -> str:
    """Return links to the files of the set that stand beside the page."""
    names = [name for name in FILES if (evals.folder / name).exists()]
    return f"{worded('sources')} {', '.join(f'[{inert(name)}]({inert(name)})' for name in names)}."
