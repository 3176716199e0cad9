"""A second witness: published numbers once more, from the plain files of evals/ alone.

It imports nothing of helpers/ or the notebooks. What they share is the meaning of a number, which
stands here as a formula with its source. A function returns one published thing, by name.

It recomputes every number of results.json, the write-up and the README, and one value of each
figure that a session tells. nbval holds the other cells against a fresh run.
"""

import functools
import hashlib
import json
import math
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from statistics import mean, median
from typing import NamedTuple
from unittest import mock

import numpy as np
import pandas as pd
import tiktoken
import yaml
from scipy import optimize, stats
from sklearn.feature_extraction.text import CountVectorizer

METHOD = {  # the baseline as design and README name it; the runs must follow from it
    "engine": "rank_bm25.BM25Okapi",
    "idf": "ln((N - df + 0.5) / (df + 0.5)), negative values become epsilon times the mean",
    "k1": 1.5,
    "b": 0.75,
    "epsilon": 0.25,
    "chunker": "fixed",
    "chunk_tokens": 512,
    "overlap_tokens": 50,
    "encoding": "cl100k_base",
    "to_documents": "best chunk of each document",
    "depth": 100,
    "words": r"re.findall(r'\w+', text.lower())",
}
SPLITS, CHUNKERS = ("dev", "test"), ("fixed", "paragraph", "recursive")
COMPARED = ("nDCG@10", "RR@10", "hit@5", "recall@10", "recall@100", "AP")
MEAN = {"RR@10": "MRR@10", "RR": "MRR", "AP": "MAP", "full RR@10": "full MRR@10"}
MATTERS, ALPHA, TIE = 0.05, 0.05, 1e-9
STOP_WORDS = set(
    "a again an and any are as at be but by can did do does for from had has have how i if in into "
    "is it its may me must my next no not of off on only or our out s so t than that the their "
    "them then there they this to too up us was we were what when where which who whose why "
    "will with you your".split()
)


# The plain files.


class Files(NamedTuple):
    """What people wrote: documents, queries and grades, each by id in id order.

    `queries` have an answer, `asked` are all.
    """

    folder: Path
    documents: dict[str, dict]
    queries: dict[str, dict]
    grades: dict[str, dict[str, int]]
    asked: dict[str, dict]


class Passage(NamedTuple):
    """A chunk as a reader would get it; `start` is its first character, `n` its tokens."""

    doc_id: str
    text: str
    start: int
    n: int


def rows(path: Path) -> list[dict]:
    """Return the objects of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def read(folder: Path) -> Files:
    """Read the documents, the queries and their labels."""
    documents = {}
    for path in sorted((folder / "corpus").glob("*.md"), key=lambda path: path.stem):
        _, front, body = path.read_text(encoding="utf-8").split("---\n", 2)
        facts, body = yaml.safe_load(front), body.strip("\n")
        documents[path.stem] = facts | {"text": f"{facts['title']}\n\n{body}"}
    asked = {row["query_id"]: row for row in rows(folder / "retrieval_queries.jsonl")}
    asked = dict(sorted(asked.items()))
    queries = {q: row for q, row in asked.items() if row.get("kind") != "none"}
    grades = {query_id: {} for query_id in asked}
    for row in rows(folder / "judgments.jsonl"):
        grades[row["query_id"]][row["doc_id"]] = row["relevance"]
    return Files(folder, documents, queries, grades, asked)


def passages(files: Files, name: str) -> dict[str, Passage]:
    """Return the chunks of a set by their id."""
    found = {}
    for row in rows(files.folder / "chunks" / f"{name}.jsonl"):
        doc_id, start = row["doc_id"], row["start"]
        text = files.documents[doc_id]["text"][start : row["end"]]
        found[f"{doc_id}#{row['chunk_idx']}"] = Passage(doc_id, text, start, row["n_tokens"])
    return found


def trec(path: Path) -> dict[str, list[tuple[str, float]]]:
    """Return {query_id: [(doc_id, score), ...]}: score descending, then id, the first hundred."""
    run = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        query_id, _, doc_id, _, score, _ = line.split()
        run.setdefault(query_id, {})[doc_id] = float(score)
    return {query_id: first_hundred(scores) for query_id, scores in run.items()}


def first_hundred(scores: dict[str, float]) -> list[tuple[str, float]]:
    """Return (doc_id, score), the best first, equal ones by id."""
    return sorted(scores.items(), key=lambda hit: (-round(hit[1], 10), hit[0]))[:100]


def words(text: str) -> list[str]:
    """Return the words of a text as the baseline counts them."""
    return re.findall(r"\w+", text.lower())


@functools.cache
def coding() -> tiktoken.Encoding:
    """Return cl100k_base from the vocabulary in the repository."""
    here = str(Path(__file__).parents[2] / "measure" / "vocabulary")
    with mock.patch.dict(os.environ, TIKTOKEN_CACHE_DIR=here):
        return tiktoken.get_encoding("cl100k_base")


@functools.cache
def token_ids(text: str) -> tuple[int, ...]:
    """Return the cl100k_base tokens of a text."""
    return tuple(coding().encode(text, disallowed_special=()))


def tokens(text: str) -> int:
    """Return the number of cl100k_base tokens."""
    return len(token_ids(text))


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file, with line ends as Git has them."""
    return hashlib.sha256(path.read_bytes().replace(b"\r\n", b"\n")).hexdigest()


def digest(lines: Iterable) -> str:
    """Return the SHA-256 of some lines of JSON."""
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    return hashlib.sha256(text.encode()).hexdigest()


def corpus_hash(files: Files) -> str:
    """Return the SHA-256 of the documents' ids and texts."""
    return digest([doc_id, d["text"]] for doc_id, d in files.documents.items())


def queries_hash(files: Files) -> str:
    """Return the SHA-256 of the queries with their halves and labels."""
    lines = []
    for q, row in files.asked.items():
        labels = sorted(files.grades[q].items()) if q in files.queries else []
        lines.append([q, row["query"], row["split"], labels])
    return digest(lines)


# Measures of one query, and of many.


def dcg(gains: list[int]) -> float:
    """Linear gain, log2(rank + 1) (Järvelin and Kekäläinen 2002)."""
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


def measures(found: list[str], grades: dict[str, int]) -> dict[str, float]:
    """Return every measure of one ranking; Voorhees 1999 for RR, Buckley and Voorhees 2000."""
    gains = [grades.get(doc_id, 0) for doc_id in found]
    ideal = sorted(grades.values(), reverse=True)
    ranks = [rank for rank, gain in enumerate(gains, 1) if gain > 0]
    n = sum(grade > 0 for grade in ideal)
    return {
        "nDCG@10": dcg(gains[:10]) / dcg(ideal[:10]),
        "RR@10": 1 / ranks[0] if ranks and ranks[0] <= 10 else 0.0,
        **{f"hit@{k}": float(any(r <= k for r in ranks)) for k in (1, 5, 10)},
        **{f"recall@{k}": sum(r <= k for r in ranks) / n for k in (5, 10, 100)},
        "P@10": sum(r <= 10 for r in ranks) / 10,
        "AP": sum(i / rank for i, rank in enumerate(ranks, 1)) / n,
        "RR": 1 / ranks[0] if ranks else 0.0,
    }


def in_full(found: list[str], grades: dict[str, int]) -> dict[str, float]:
    """Return the measures of a ranking for which only full answers count, {} where there is none.

    A document of grade 2 answers in full; no setting of our set says otherwise.
    """
    full = {doc_id: 1 for doc_id, grade in grades.items() if grade >= 2}
    names = ("hit@5", "RR@10", "recall@10") if full else ()
    return {f"full {name}": measures(found, full)[name] for name in names}


def first_rank(found: list[str], grades: dict[str, int]) -> int | None:
    """Return the rank of the first relevant document."""
    return next((rank for rank, d in enumerate(found, 1) if grades.get(d, 0) > 0), None)


def order(run: dict, query_id: str) -> list[str]:
    """Return the documents that a run has for a query."""
    return [doc_id for doc_id, _ in run.get(query_id, [])]


def scored(files: Files, run: dict, split: str | None = None, of=measures) -> pd.DataFrame:
    """Return a row of measures for each query of one half, or of all, that has some."""
    queries = [q for q, row in files.queries.items() if split in (None, row["split"])]
    values = {q: of(order(run, q), files.grades[q]) for q in queries}
    return pd.DataFrame.from_dict({q: row for q, row in values.items() if row}, orient="index")


def means(values: pd.DataFrame) -> dict[str, float]:
    """Return the mean of each measure, under the name of a mean."""
    return values.mean().rename(MEAN).to_dict()


# How sure: intervals and tests.

DRAWS = 40_000


def generator() -> np.random.Generator:
    """Return other random numbers than ours, each time the same."""
    return np.random.Generator(np.random.MT19937(7))


def bootstrap(values: pd.Series) -> list[float]:
    """95 % percentile interval of the mean (Efron 1979)."""
    drawn = generator().choice(values.to_numpy(), (10_000, len(values))).mean(axis=1)
    return np.percentile(drawn, [2.5, 97.5]).tolist()


@functools.cache
def coin_tosses(n: int) -> np.ndarray:
    """Return random signs for `n` differences, a row for each pattern."""
    return generator().choice([-1.0, 1.0], (DRAWS, n))


def sign_flip_p(differences: np.ndarray) -> float:
    """Two-sided p: all sign patterns up to 13 differences, else random ones (Fisher 1935)."""
    nonzero = differences[abs(differences) > TIE]
    seen = abs(nonzero.sum()) - TIE
    if len(nonzero) <= 13:
        signs = np.array([*product((-1, 1), repeat=len(nonzero))])
        return np.mean(abs(signs @ nonzero) >= seen)
    sums = coin_tosses(len(differences)) @ differences
    return (np.sum(abs(sums) >= seen) + 1) / (DRAWS + 1)


def detectable(n: int, sd: float) -> float:
    """Smallest difference seen in four of five samples: noncentral t (Cohen 1988)."""
    cut = stats.t.ppf(1 - ALPHA / 2, n - 1)

    def lack(effect: float) -> float:
        far = effect * math.sqrt(n)
        return stats.nct.sf(cut, n - 1, far) + stats.nct.cdf(-cut, n - 1, far) - 0.8

    return sd * optimize.brentq(lack, 1e-6, min(1, 8 / math.sqrt(n)))


def wilson(successes: float, n: int) -> list[float]:
    """95 % interval of a share (Wilson 1927)."""
    found = stats.binomtest(int(successes), n).proportion_ci(method="wilson")
    return [found.low, found.high]


def enough(difference: float, at: dict) -> int:
    """Fewest queries, from those of a comparison on, that see a `difference` with its spread."""
    sd = at["detectable"] / detectable(at["n"], 1)
    return next(n for n in range(at["n"], 100_000) if detectable(n, sd) <= difference)


def paired(base: pd.Series, run: pd.Series) -> dict:
    """Return what a comparison of two systems says of one measure (Student 1908 for t)."""
    d, n = (run - base).to_numpy(), len(base)
    sd = d.std(ddof=1)
    error = sd / math.sqrt(n)
    reach = stats.t.ppf(1 - ALPHA / 2, n - 1) * error
    return {
        "n": n,
        "base": base.mean(),
        "run": run.mean(),
        "difference": d.mean(),
        "low": d.mean() - reach,
        "high": d.mean() + reach,
        "p": sign_flip_p(d),
        "t_p": 2 * stats.t.sf(abs(d.mean() / error), n - 1) if error else None,
        "detectable": detectable(n, sd),
        "wins": sum(d > TIE),
        "ties": sum(abs(d) <= TIE),
        "losses": sum(d < -TIE),
    }


def welch(dev: pd.Series, test: pd.Series) -> dict[str, float]:
    """Return how far the mean of test is above that of dev, and its 95 % interval (Welch 1947)."""
    ends = stats.ttest_ind(test, dev, equal_var=False).confidence_interval()
    return {"difference": test.mean() - dev.mean(), "low": ends.low, "high": ends.high}


def holm(ps: list[float]) -> list[float]:
    """Return adjusted p values (Holm 1979): the smallest times m, the next times m - 1, ..."""
    ordered = pd.Series(ps, dtype=float).sort_values()
    steps = (ordered * np.arange(len(ps), 0, -1)).clip(upper=1).cummax()
    return steps.sort_index().tolist()


def adjusted(pairs: list[dict]) -> Iterator[tuple[dict, float]]:
    """Return each of some comparisons with its p adjusted for their number."""
    return zip(pairs, holm([at["p"] for at in pairs]), strict=True)


def worst_case(base: pd.Series, run: pd.Series) -> list[float]:
    """Ends of the mean with a query imagined that loses or gains all (Gaffke 2005)."""
    weights = generator().dirichlet(np.ones(len(base) + 1), 20_000)
    low, high = (weights @ np.append(run - base, imagined) for imagined in (-1, 1))
    return [np.percentile(low, 2.5), np.percentile(high, 97.5)]


def bounded(base: pd.Series, run: pd.Series) -> dict:
    """Return a comparison of two systems with the ends of the worst case."""
    return paired(base, run) | {"bounds": worst_case(base, run)}


def verdict(at: dict, p: float) -> str:
    """Return the verdict: shown by p, else shown equal by the worst case, else not known."""
    if p < ALPHA:
        return "better" if at["difference"] > 0 else "worse"
    low, high = at["bounds"]
    if min(low, -high) > -MATTERS:
        return "no difference shown"
    return "too few queries to tell"


# The engine: BM25 by its formula (Robertson and Zaragoza 2009, IDF as in METHOD).


K1 = METHOD["k1"]


def with_floor(df: dict[str, int], n: int) -> dict[str, float]:
    """Return the IDF of each word as METHOD names it, from the number of texts that hold it."""
    idf = {word: math.log((n - k + 0.5) / (k + 0.5)) for word, k in df.items()}
    floor = METHOD["epsilon"] * mean(idf.values())
    return {word: floor if value < 0 else value for word, value in idf.items()}


class Okapi:
    """Chunks by id, and what each word of a query gives them."""

    def __init__(self, chunks: dict[str, Passage], b: float = METHOD["b"]):
        self.units = sorted(chunks)  # equal scores go by id
        counter = CountVectorizer(analyzer=words)
        counts = counter.fit_transform([chunks[unit].text for unit in self.units]).tocoo()
        self.columns = counter.vocabulary_
        self.df = dict(zip(counter.get_feature_names_out(), counts.getnnz(0), strict=True))
        self.idf = self.weights(self.df, len(chunks))
        sizes = np.asarray(counts.sum(axis=1)).ravel()
        length = (1 - b + b * sizes / sizes.mean())[counts.row]
        parts = counts.astype(float)  # of one occurrence of each word (column) in a query
        parts.data = self.gain(parts.data, length) * np.array([*self.idf.values()])[parts.col]
        self.parts = parts.tocsc()

    weights = staticmethod(with_floor)

    def gain(self, f: np.ndarray, length: np.ndarray) -> np.ndarray:
        """Return what `f` occurrences of a word of weight 1 give to a text of relative length."""
        return f * (K1 + 1) / (f + K1 * length)

    def search(self, query: str) -> list[tuple[str, float]]:
        """Return all chunks that share a word with the query, in the order of design.md."""
        parts = self.parts[:, [self.columns[w] for w in words(query) if w in self.columns]]
        shared, scores = np.unique(parts.indices), np.asarray(parts.sum(axis=1)).ravel().round(10)
        best = shared[np.argsort(-scores[shared], kind="stable")]
        return [(self.units[place], scores[place]) for place in best]


class LongOkapi(Okapi):
    """BM25L as it was published (Lv and Zhai 2011)."""

    @staticmethod
    def weights(df: dict[str, int], n: int) -> dict[str, float]:
        return {word: math.log((n + 1) / (k + 0.5)) for word, k in df.items()}

    def gain(self, f: np.ndarray, length: np.ndarray) -> np.ndarray:
        return (K1 + 1) * (f / length + 0.5) / (K1 + f / length + 0.5)


def to_documents(hits: list[tuple[str, float]]) -> list[tuple[str, float]]:
    """Return the documents by their best chunk, the first hundred."""
    best = {}
    for unit, score in hits:
        best.setdefault(unit.rpartition("#")[0], score)
    return first_hundred(best)


def fused(first: dict, second: dict) -> dict:
    """Return the reciprocal rank fusion, k = 60 (Cormack, Clarke and Büttcher 2009)."""
    run = {}
    for query_id in first:
        scores = Counter()
        for hits in (first[query_id], second[query_id]):
            scores.update({doc_id: 1 / (60 + rank) for rank, (doc_id, _) in enumerate(hits, 1)})
        run[query_id] = first_hundred(scores)
    return run


# results.json.

FIELDS = {"kind": "", "popularity": "", "language": "own", "round": "earlier"}  # without a mark


def results(files: Files) -> dict:
    """Return all of results.json but evidence."""
    run = trec(files.folder / "runs" / "fixed.trec")
    given = [grade for grades in files.grades.values() for grade in grades.values()]
    heading = (files.folder / "README.md").read_text(encoding="utf-8").splitlines()[0]
    return {
        "corpus": {
            "name": heading.removeprefix("# "),
            "documents": len(files.documents),
            "tokens": sum(tokens(d["text"]) for d in files.documents.values()),
            "sha256": corpus_hash(files),
        },
        "queries": {
            "n": len(files.queries),
            "unanswered": len(files.asked) - len(files.queries),
            "judgments": len(given),
            "grades": sorted(set(given)),
            "sha256": queries_hash(files),
        },
        "run": {
            "file": "runs/fixed.trec",
            "sha256": file_hash(files.folder / "runs" / "fixed.trec"),
            "chunks_sha256": file_hash(files.folder / "chunks" / "fixed.jsonl"),
        },
        "method": METHOD,
        "summary": {split or "all": half(files, run, split) for split in (*SPLITS, None)},
        **{
            f"by_{field}": {split: by_field(files, run, split, field) for split in SPLITS}
            for field in FIELDS
        },
        "told_apart": {split: told_apart(files, run, split) for split in SPLITS},
        "compared_dev": compared(files, run),
        "cards": cards(files, run),
        "per_query": [per_query(files, run, query_id) for query_id in files.queries],
    }


def half(files: Files, run: dict, split: str | None) -> dict:
    """Return n, means, intervals and the median first rank of one half."""
    values, full = scored(files, run, split), scored(files, run, split, in_full)
    ranks = [first_rank(order(run, q), files.grades[q]) or math.inf for q in values.index]
    return {
        "n": len(values),
        "measures": means(values),
        "intervals": {MEAN.get(name, name): bootstrap(values[name]) for name in COMPARED},
        "median_first_rank": median(ranks),
        "full": {"n": len(full), "measures": means(full)},
    }


def grouped(files: Files, values: pd.DataFrame, field: str) -> Iterable:
    """Return the values of each kind (or popularity, ...) of query by its name."""
    marks = {q: str(row.get(field, FIELDS[field])) for q, row in files.queries.items()}
    return values.groupby(marks.get)


def by_field(files: Files, run: dict, split: str, field: str) -> dict:
    """Return n and means of each kind (or popularity, ...) of query in one half."""
    groups = grouped(files, scored(files, run, split), field)
    return {name: {"n": len(group), "measures": means(group)} for name, group in groups}


def told_apart(files: Files, run: dict, split: str) -> dict:
    """Return AUROC of the first score, by the rank sum (Mann and Whitney 1947), and its interval.

    The interval is DeLong's (1988), another one than that of the results: for a wide comparison.
    No results are below all others.
    """
    answerable, others = [], []
    for q, row in files.asked.items():
        if row["split"] == split:
            hits = run.get(q) or [("", -math.inf)]
            (answerable if q in files.queries else others).append(hits[0][1])
    above = np.greater.outer(answerable, others)
    wins = above / 2 + np.greater_equal.outer(answerable, others) / 2
    auroc = wins.mean()
    reach = 1.96 * sum(wins.mean(axis=1 - n).var(ddof=1) / wins.shape[n] for n in (0, 1)) ** 0.5
    sizes = {"n": len(answerable), "unanswerable": len(others)}
    return sizes | {"AUROC": auroc, "low": auroc - reach, "high": auroc + reach}


def per_query(files: Files, run: dict, query_id: str) -> dict:
    """Return the labels, the first ten documents and the measures of one query."""
    found, grades = order(run, query_id), files.grades[query_id]
    facts = {name: files.queries[query_id][name] for name in ("query_id", "query", "kind", "split")}
    return facts | {
        "relevant": {doc_id: grade for doc_id, grade in grades.items() if grade > 0},
        "retrieved": run.get(query_id, [])[:10],
        "first_rank": first_rank(found, grades),
        "measures": measures(found, grades) | in_full(found, grades),
    }


def systems(files: Files, base: dict) -> dict[str, dict]:
    """Return the runs that are held against the baseline, in their order."""
    paths = sorted((files.folder / "systems").glob("*.trec"))
    others = {path.stem: trec(path) for path in paths}
    own = {name: trec(files.folder / "runs" / f"{name}.trec") for name in CHUNKERS[1:]}
    return own | others | {f"baseline + {name}": fused(base, run) for name, run in others.items()}


def compared(files: Files, base: dict) -> dict:
    """Return the comparison on dev; what follows from its p values is left to `decided`."""
    found = {
        "evaluation_set": "Brindle incident triage",
        "corpus_sha256": corpus_hash(files),
        "queries_sha256": queries_hash(files),
        "split": "dev",
        "n": len(scored(files, base, "dev")),
        "matters": MATTERS,
        "decides": "nDCG@10",
        "base": {"name": "baseline", **described(files, base)},
        "runs": [],
    }
    for name, run in systems(files, base).items():
        row = {"name": name, **described(files, run), **held(files, run, base)}
        if name in confirmed(files):
            row["halves"] = halves(files, run, base)
        found["runs"].append(row)
    return found


def confirmed(files: Files) -> dict[str, str]:
    """Return the systems that were chosen on dev, each with its day."""
    return json.loads((files.folder / "settings.json").read_text(encoding="utf-8"))["confirmed"]


def halves(files: Files, run: dict, base: dict) -> dict:
    """Return nDCG@10 of a run beside the base on both halves, and how these differ (Welch 1947)."""
    scores = {s: [scored(files, of, s)[[*COMPARED]] for of in (base, run)] for s in SPLITS}
    dev = set().union(*(answers(files, q) for q in scores["dev"][0].index))
    asked = scores["test"][0].index
    apart = [answers(files, q).isdisjoint(dev) for q in asked]
    newest = [files.queries[q].get("round") == 5 for q in asked]
    parts = scores | {
        "test apart from dev": [of[apart] for of in scores["test"]],
        "test, newest round": [of[newest] for of in scores["test"]],
    }
    found = {}
    for name, both in parts.items():
        found[name] = bounded(*(of["nDCG@10"] for of in both)) | {"means": means(both[1])}
    gains = [after["nDCG@10"] - before["nDCG@10"] for before, after in scores.values()]
    return found | {"test minus dev": welch(*gains)}


def family(files: Files, doc_id: str) -> str:
    """Return the name that a document shares with its versions and copies."""
    whole = files.documents[doc_id].get("copy_of", doc_id)
    is_version = "version" in files.documents[whole]
    return re.sub(r"-(v\d+|20\d\d)$", "", whole) if is_version else whole


def answers(files: Files, query_id: str) -> set[str]:
    """Return the families of the relevant documents."""
    return {family(files, d) for d, grade in files.grades[query_id].items() if grade}


def decided(published: dict) -> None:
    """Write into results.json what follows from its p values: Holm's p, verdicts of runs, sets."""
    runs = published["compared_dev"]["runs"]
    over_runs = adjusted([run["measures"]["nDCG@10"] for run in runs])
    for run, (deciding, p) in zip(runs, over_runs, strict=True):
        run["p_holm"] = p
        say(run, deciding | {"bounds": run["bounds"]}, p)
        for measured in (run["measures"], run["full"]["measures"]):
            for at, p_holm in adjusted([*measured.values()]):
                at["p_holm"] = p_holm
    chosen = [run for run in runs if "halves" in run]
    for half in ("test", "test apart from dev", "test, newest round"):
        for at, p in adjusted([run["halves"][half] for run in chosen]):
            say(at, at, p)
    for run in chosen:
        dev, test, between = (run["halves"][name] for name in ("dev", "test", "test minus dev"))
        dev |= {name: run[name] for name in ("verdict", "alone")}
        between["verdict"] = both_say(dev, test)
    for half in SPLITS:
        sets = published["evidence"][half]["sets"].values()
        for at, p in adjusted([of["against"] for of in sets if "against" in of]):
            at["p_holm"] = p
            say(at, at, p)


def say(row: dict, at: dict, p: float) -> None:
    """Write into `row` the verdict of a comparison by the adjusted `p`, and by its own alone."""
    row |= {"verdict": verdict(at, p), "alone": verdict(at, at["p"])}


def both_say(dev: dict, test: dict) -> str:
    """Return whether test confirms what dev says."""
    said = {dev["verdict"], test["verdict"]}
    if said & {"better", "worse"} and (dev["difference"] < 0) != (test["difference"] < 0):
        return "contradicted"
    alike = len(said) == 1 and said != {"too few queries to tell"}
    return "confirmed" if alike else "not confirmed"


def described(files: Files, run: dict) -> dict:
    """Return means and judged@10 of a run that deserves no warning."""
    values = scored(files, run, "dev")
    tens = {q: order(run, q)[:10] for q in values.index}
    judged = [sum(d in files.grades[q] for d in ten) / (len(ten) or 1) for q, ten in tens.items()]
    return {
        "means": means(values[[*COMPARED]]),
        "judged@10": mean(judged),
        "warnings": [],
        "primary": "nDCG@10",
        "told_apart": told_apart(files, run, "dev"),
    }


def held(files: Files, run: dict, base: dict) -> dict:
    """Return one run beside the base: measures, kinds, and the queries that moved most."""
    before, after = (scored(files, side, "dev") for side in (base, run))
    ndcg = pd.DataFrame({"base": before["nDCG@10"], "run": after["nDCG@10"]})
    ndcg["difference"] = ndcg["run"] - ndcg["base"]
    row = {"measures": {name: paired(before[name], after[name]) for name in COMPARED}}
    row |= {"bounds": worst_case(ndcg["base"], ndcg["run"]), "same_run": run == base}
    row["new_failures"] = [q for q in before.index if order(base, q) and not order(run, q)]
    before, after = (scored(files, side, "dev", in_full) for side in (base, run))
    of_full = {name: paired(before[name], after[name]) for name in before}
    row["full"] = {"n": len(before), "measures": of_full}
    lost = before.index[(before["full RR@10"] > 0) & (after["full RR@10"] == 0)]
    row["full_lost"] = sorted(lost)  # from the first ten
    for field in FIELDS:
        groups = grouped(files, ndcg, field)
        row[f"by_{field}"] = {name: {"n": len(of), **of.mean()} for name, of in groups}
    ordered = ndcg.rename_axis("query_id").sort_values(["difference", "query_id"])
    lost, won = (ordered[side * ordered["difference"] > TIE] for side in (-1, 1))
    row["moved"] = [
        {name: files.queries[q][name] for name in ("query_id", "kind", "query")}
        | {side: ndcg.loc[q, side] for side in ("base", "run")}
        for q in [*lost.index[:5], *won.index[-5:]]
    ]
    return row


# Labels.


def second_pass(files: Files) -> pd.DataFrame:
    """Return a row for each time that a label was read again."""
    return pd.DataFrame(rows(files.folder / "second_pass.jsonl"))


def readings(files: Files) -> list[str]:
    """Return what the write-up says of each round of reading.

    Kappa is Cohen's (1960), its interval that of Fleiss, Cohen and Everitt (1969).
    """
    found = []
    for number, own in second_pass(files).groupby("round"):
        n, table = len(own), pd.crosstab(own["first"], own["second"], normalize=True).to_numpy()
        first, second, equal = table.sum(1), table.sum(0), np.trace(table)
        chance = first @ second
        kappa = (equal - chance) / (1 - chance)
        weights = np.eye(3) - (1 - kappa) * np.add.outer(second, first)
        spread = (table * weights**2).sum() - (kappa - chance * (1 - kappa)) ** 2
        reach = 1.959964 * math.sqrt(spread / n) / (1 - chance)
        shares = enumerate(table.diagonal() / first)
        by_grade = ", ".join(f"{grade}: {share:.0%}" for grade, share in shares)
        found.append(
            f"round {number}, by a model: {n:,} pairs, {equal:.1%} equal, Cohen's kappa "
            f"{kappa:.2f} ({kappa - reach:.2f} to {kappa + reach:.2f}); equal by first grade "
            f"{by_grade}; readers: language models of one family"
        )
    return found


def reached(files: Files) -> set[str]:
    """Return the documents that are relevant to a query."""
    return {d for judged in files.grades.values() for d, grade in judged.items() if grade}


def overlap(files: Files, query_id: str, among: Iterable[str] = ()) -> float:
    """Return the share of a query's content words in relevant documents, or in those `among`."""
    query = files.queries[query_id]
    asked = [word for word in words(query["query"]) if word not in STOP_WORDS]
    documents = among or query["relevant_doc_ids"]
    held = {w for d in documents for w in words(files.documents[d]["text"])}
    return mean(word in held for word in asked) if asked else 0.0


# Failure cards.


def cards(files: Files, run: dict) -> list[dict]:
    """Return a card for each dev query with a misplaced document, the lowest nDCG@10 first."""
    chunks, found = passages(files, "fixed"), []
    engines = Okapi(chunks), Okapi(chunks, b=0)  # the second one knows no length
    for query_id in scored(files, run, "dev")["nDCG@10"].sort_values(kind="stable").index:
        pair = misplaced(order(run, query_id), files.grades[query_id])
        if pair:
            row = one_card(files, *engines, query_id, pair)
            found.append(row | {"cause": cause(row)})
    return found


def misplaced(found: list[str], grades: dict[str, int]) -> tuple[str, str] | None:
    """Return the best-labelled document below a lower-labelled one, and the first of those."""
    place = {doc_id: found.index(doc_id) if doc_id in found else len(found) for doc_id in grades}
    for wanted in sorted(grades, key=lambda d: (-grades[d], place[d], d)):
        above = [d for d in found[: place[wanted]] if grades.get(d, 0) < grades[wanted]]
        if above:
            return wanted, above[0]
    return None


def one_card(files: Files, engine: Okapi, flat: Okapi, query_id: str, pair: tuple) -> dict:
    """Return what each word of a query gave to the wanted document and to its rival."""
    asked = Counter(words(files.queries[query_id]["query"]))
    parts, flat = ([given(of, asked, doc_id) for doc_id in pair] for of in (engine, flat))
    best = [table.loc[table.sum(axis=1).idxmax()] for table in parts]  # chunk of each document
    common = [w for w in asked if engine.df.get(w, 0) > len(engine.units) / 4]
    lacks = [w for w in asked if not parts[0][w].any()]

    def score(tables: list[pd.DataFrame], left_out: list[str]) -> list[float]:
        return [round(t.drop(columns=left_out).sum(axis=1).max(), 10) for t in tables]

    return {
        "query_id": query_id,
        "wanted": pair[0],
        "rival": pair[1],
        "unjudged": pair[1] not in files.grades[query_id],
        "versions": len({family(files, d) for d in pair}) == 1,
        "words": [[w, engine.idf.get(w), best[0][w], best[1][w]] for w in asked],
        "common": common,
        "lacks": lacks,
        "score": score(parts, []),
        "best of all chunks": [round(table.max().sum(), 10) for table in parts],
        "without length": score(flat, []),
        "without common words": score(parts, common),
        "without words it lacks": score(parts, lacks),
    }


def given(engine: Okapi, asked: Counter, doc_id: str) -> pd.DataFrame:
    """Return what the words of a query (columns) give to the chunks of a document (rows)."""
    places = [n for n, unit in enumerate(engine.units) if unit.rpartition("#")[0] == doc_id]
    table = pd.DataFrame(0.0, index=places, columns=[*asked])
    for word in asked & engine.columns.keys():
        table[word] = asked[word] * engine.parts[places, engine.columns[word]].toarray().ravel()
    return table


def cause(row: dict) -> str:
    """Return the first cause that explains a card, in session C's order."""
    if row["versions"]:
        return "version confusion"
    if {w for w, *_ in row["words"]} == {*row["common"], *row["lacks"]}:
        return "no shared word"
    wanted, rival = row["score"]
    if wanted == rival:
        return "tie"
    for name, explained in {
        "best of all chunks": "evidence split across chunks",
        "without length": "length penalty",
        "without common words": "common word dominates",
        "without words it lacks": "missing word",
    }.items():
        wanted, rival = row[name]
        if wanted >= rival:
            return explained
    return "stronger match elsewhere"
