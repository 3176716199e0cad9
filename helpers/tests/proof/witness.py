"""A second witness: published numbers once more, from the plain files of evals/ alone.

It imports nothing of helpers/ or the notebooks. What they share is the meaning of a number, which
stands here as a formula with its source. A function returns one published thing, by name.

It recomputes every number of results.json, the write-up, the README and the data card of today,
and of each figure that a session tells one value. nbval holds the other cells against a fresh run.
"""

import functools
import hashlib
import json
import math
import os
import re
from collections import Counter
from collections.abc import Iterable
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


def rows(path: Path) -> list[dict]:
    """Return the objects of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def read(folder: Path) -> Files:
    """Read the documents, the queries and their labels."""
    documents = {}
    for path in sorted((folder / "corpus").glob("*.md"), key=lambda path: path.stem):
        _, front, body = path.read_text(encoding="utf-8").split("---\n", 2)
        facts, body = yaml.safe_load(front), body.strip("\n")
        documents[path.stem] = facts | {"body": body, "text": f"{facts['title']}\n\n{body}"}
    asked = {row["query_id"]: row for row in rows(folder / "retrieval_queries.jsonl")}
    asked = dict(sorted(asked.items()))
    queries = {q: row for q, row in asked.items() if row.get("kind") != "none"}
    grades = {query_id: {} for query_id in asked}
    for row in rows(folder / "judgments.jsonl"):
        grades[row["query_id"]][row["doc_id"]] = row["relevance"]
    return Files(folder, documents, queries, grades, asked)


def alternatives(row: dict) -> list[list[str]]:
    """Return the evidence of a label: lists of quotes that are needed together, one is enough."""
    some = row.get("evidence", [])
    some = some if isinstance(some, list) else [some]
    return [own if isinstance(own, list) else [own] for own in some]


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
    """Return the documents a run has for a query; it may be one of ids without scores."""
    return [hit if isinstance(hit, str) else hit[0] for hit in run.get(query_id, [])]


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
    """Two-sided p: all sign patterns up to 20 differences, else random ones (Fisher 1935)."""
    nonzero = differences[abs(differences) > TIE]
    seen = abs(nonzero.sum()) - TIE
    if len(nonzero) > 20:
        sums = coin_tosses(len(differences)) @ differences
        return float((np.sum(abs(sums) >= seen) + 1) / (DRAWS + 1))
    sums = np.zeros(1)
    for d in nonzero:
        sums = np.concatenate([sums + d, sums - d])
    return float(np.mean(abs(sums) >= seen))


def detectable(n: int, sd: float) -> float:
    """Smallest difference seen in four of five samples: noncentral t (Cohen 1988)."""
    cut = stats.t.ppf(1 - ALPHA / 2, n - 1)

    def lack(effect: float) -> float:
        far = effect * math.sqrt(n)
        return stats.nct.sf(cut, n - 1, far) + stats.nct.cdf(-cut, n - 1, far) - 0.8

    return sd * optimize.brentq(lack, 1e-6, min(1, 8 / math.sqrt(n)))


def wilson(successes: int, n: int) -> list[float]:
    """95 % interval of a share (Wilson 1927)."""
    found = stats.binomtest(int(successes), n).proportion_ci(method="wilson")
    return [found.low, found.high]


def enough(difference: float, at: dict) -> int:
    """Fewest queries, from those of a comparison on, that see a `difference` with its spread."""
    sd = at["detectable"] / detectable(at["n"], 1)
    return next(n for n in range(at["n"], 100_000) if detectable(n, sd) <= difference)


def paired(base, run) -> dict:
    """Return what a comparison of two systems says of one measure (Student 1908 for t)."""
    d, n = np.subtract(run, base), len(base)
    sd = d.std(ddof=1)
    error = sd / math.sqrt(n)
    reach = stats.t.ppf(1 - ALPHA / 2, n - 1) * error
    row = {
        "n": n,
        "base": np.mean(base),
        "run": np.mean(run),
        "difference": d.mean(),
        "low": d.mean() - reach,
        "high": d.mean() + reach,
        "p": sign_flip_p(d),
        "detectable": detectable(n, sd),
        "wins": (d > TIE).sum(),
        "ties": (abs(d) <= TIE).sum(),
        "losses": (d < -TIE).sum(),
    }
    t_p = 2 * stats.t.sf(abs(d.mean() / error), n - 1) if error else None
    return {name: float(value) for name, value in row.items()} | {"t_p": t_p}


def welch(dev: np.ndarray, test: np.ndarray) -> list[float]:
    """Return how far the mean of test is above that of dev, and its 95 % interval (Welch 1947)."""
    ends = stats.ttest_ind(test, dev, equal_var=False).confidence_interval()
    return [float(value) for value in (np.mean(test) - np.mean(dev), ends.low, ends.high)]


def holm(ps: list[float]) -> list[float]:
    """Return adjusted p values (Holm 1979): the smallest times m, the next times m - 1, ..."""
    ordered = pd.Series(ps).sort_values()
    steps = (ordered * np.arange(len(ps), 0, -1)).clip(upper=1).cummax()
    return steps.sort_index().tolist()


def adjusted(pairs: Iterable[dict]) -> list[tuple[dict, float]]:
    """Return each of some comparisons with its p adjusted for their number."""
    pairs = [*pairs]
    return [*zip(pairs, holm([at["p"] for at in pairs]) if pairs else [], strict=True)]


def worst_case(base, run) -> list[float]:
    """Ends of the mean with a query imagined that loses or gains all (Gaffke 2005)."""
    d = np.subtract(run, base)
    weights = generator().dirichlet(np.ones(len(d) + 1), 20_000)
    low, high = (weights @ np.append(d, imagined) for imagined in (-1, 1))
    return [float(np.percentile(low, 2.5)), float(np.percentile(high, 97.5))]


def bounded(base, run) -> dict:
    """Return a comparison of two systems with the ends of the worst case."""
    return paired(base, run) | {"bounds": worst_case(base, run)}


def verdict(at: dict, p: float, matters=MATTERS) -> str:
    """Return the verdict: shown by p, else shown equal by the worst case, else not known."""
    if p < ALPHA:
        return "better" if at["difference"] > 0 else "worse"
    low, high = at["bounds"]
    return "no difference shown" if -matters < low and high < matters else "too few queries to tell"


def agreement(pairs: list[tuple[int, int]], grades=(0, 1, 2)) -> dict[str, float]:
    """Return share equal, kappa (Cohen 1960) with its 95 % interval.

    "by grade" has for each grade of the first reading how often the second gave the same.
    """
    table = np.array([[pairs.count((a, b)) for b in grades] for a in grades]) / len(pairs)
    first, second = table.sum(1), table.sum(0)
    equal, chance = np.trace(table), first @ second
    kappa = float((equal - chance) / (1 - chance))
    weights = (1 - kappa) * np.add.outer(second, first)  # Fleiss, Cohen and Everitt 1969
    weights = np.eye(len(grades)) - weights
    spread = (table * weights**2).sum() - (kappa - chance * (1 - kappa)) ** 2
    reach = 1.959964 * math.sqrt(max(0, spread) / len(pairs)) / (1 - chance)
    shares = zip(grades, table.diagonal() / first, strict=True)
    return {
        "equal": float(equal),
        "kappa": kappa,
        "low": kappa - reach,
        "high": min(1, kappa + reach),
        "by grade": dict(shares),
    }


# The engine: BM25 by its formula (Robertson and Zaragoza 2009, IDF as in METHOD).


class Okapi:
    """Texts by id, each `doc_id#n`, and what each word of a query gives them.

    `cut` makes words of a text; the parameters and the IDF are the baseline's unless they are told.
    """

    def __init__(self, texts: dict[str, str], cut=words, k1=METHOD["k1"], b=METHOD["b"], idf=None):
        self.cut, self.k1 = cut, k1
        self.units = sorted(texts)  # equal scores go by id
        counter = CountVectorizer(analyzer=cut)
        self.counts = counter.fit_transform([texts[unit] for unit in self.units]).tocoo()
        self.columns = counter.vocabulary_
        self.df = dict(zip(counter.get_feature_names_out(), self.counts.getnnz(0), strict=True))
        self.idf = (idf or with_floor)(self.df, len(texts))
        sizes = np.asarray(self.counts.sum(axis=1)).ravel()
        length = (1 - b + b * sizes / sizes.mean())[self.counts.row]
        parts = self.counts.astype(float)  # of one occurrence of each word (column) in a query
        parts.data = self.gain(parts.data, length) * np.array([*self.idf.values()])[parts.col]
        self.parts = parts.tocsc()

    def gain(self, f: np.ndarray, length: np.ndarray) -> np.ndarray:
        """Return what `f` occurrences of a word of weight 1 give to a text of relative length."""
        return f * (self.k1 + 1) / (f + self.k1 * length)

    def search(self, query: str) -> list[tuple[str, float]]:
        """Return all texts that share a word with the query, in the order of design.md."""
        parts = self.parts[:, [self.columns[w] for w in self.cut(query) if w in self.columns]]
        shared, scores = np.unique(parts.indices), np.asarray(parts.sum(axis=1)).ravel().round(10)
        best = shared[np.argsort(-scores[shared], kind="stable")]
        return [(self.units[place], float(scores[place])) for place in best]


def with_floor(df: dict[str, int], n: int) -> dict[str, float]:
    """Return the IDF of each word as METHOD names it, from the number of texts that hold it."""
    idf = {word: math.log((n - k + 0.5) / (k + 0.5)) for word, k in df.items()}
    floor = METHOD["epsilon"] * mean(idf.values())
    return {word: floor if value < 0 else value for word, value in idf.items()}


def chunk_texts(files: Files, chunker: str) -> dict[str, str]:
    """Return {chunk_id: text} of a chunk file."""
    texts = {}
    for row in rows(files.folder / "chunks" / f"{chunker}.jsonl"):
        body = files.documents[row["doc_id"]]["text"]
        texts[f"{row['doc_id']}#{row['chunk_idx']}"] = body[row["start"] : row["end"]]
    return texts


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


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file, with line ends as Git has them."""
    return hashlib.sha256(path.read_bytes().replace(b"\r\n", b"\n")).hexdigest()


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
    spread = sum(wins.mean(axis=1 - n).var(ddof=1) / wins.shape[n] for n in (0, 1)) ** 0.5
    ends = {"low": wins.mean() - 1.96 * spread, "high": wins.mean() + 1.96 * spread}
    sizes = {"n": len(answerable), "unanswerable": len(others)}
    return sizes | {"AUROC": float(wins.mean())} | ends


def per_query(files: Files, run: dict, query_id: str) -> dict:
    """Return the labels, the first ten documents and the measures of one query."""
    found, grades = order(run, query_id), files.grades[query_id]
    facts = {name: files.queries[query_id][name] for name in ("query_id", "query", "kind", "split")}
    return facts | {
        "relevant": {doc_id: grade for doc_id, grade in grades.items() if grade > 0},
        "retrieved": [list(hit) for hit in run.get(query_id, [])[:10]],
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
    runs = systems(files, base).items()
    return {
        "evaluation_set": "Brindle incident triage",
        "corpus_sha256": corpus_hash(files),
        "queries_sha256": queries_hash(files),
        "split": "dev",
        "n": len(scored(files, base, "dev")),
        "matters": MATTERS,
        "decides": "nDCG@10",
        "base": {"name": "baseline", **described(files, base)},
        "runs": [
            {"name": name, **described(files, run), **held(files, run, base)}
            | ({"halves": halves(files, run, base)} if name in confirmed(files) else {})
            for name, run in runs
        ],
    }


def confirmed(files: Files) -> dict[str, str]:
    """Return the systems that were chosen on dev, each with its day."""
    return json.loads((files.folder / "settings.json").read_text(encoding="utf-8"))["confirmed"]


def halves(files: Files, run: dict, base: dict) -> dict:
    """Return nDCG@10 of a run beside the base on both halves, and how these differ (Welch 1947)."""
    both = {s: [scored(files, of, s)["nDCG@10"] for of in (base, run)] for s in SPLITS}
    difference, low, high = welch(*(after - before for before, after in both.values()))
    pairs = {split: bounded(*pair) for split, pair in both.items()}
    return pairs | {
        "test minus dev": {"difference": difference, "low": low, "high": high},
        "test apart from dev": bounded(*(of[apart(files)] for of in both["test"])),
    }


def family(files: Files, doc_id: str) -> str:
    """Return the name that a document shares with its versions and copies."""
    whole = files.documents[doc_id].get("copy_of", doc_id)
    is_version = "version" in files.documents[whole]
    return re.sub(r"-(v\d+|20\d\d)$", "", whole) if is_version else whole


def answers(files: Files, query_id: str, least: int = 1) -> set[str]:
    """Return the families of the documents of a grade."""
    return {family(files, d) for d, grade in files.grades[query_id].items() if grade >= least}


def apart(files: Files) -> np.ndarray:
    """Return which test queries share no relevant document with dev; versions, copies are one."""
    reached = {split: [] for split in SPLITS}
    for query_id, row in files.queries.items():
        reached[row["split"]].append(answers(files, query_id))
    dev = set().union(*reached["dev"])
    return np.array([names.isdisjoint(dev) for names in reached["test"]])


def decided(published: dict) -> None:
    """Write into results.json what follows from its p values: Holm's p, verdicts of runs, sets."""
    runs = published["compared_dev"]["runs"]
    over_runs = adjusted(run["measures"]["nDCG@10"] for run in runs)
    for run, (deciding, p) in zip(runs, over_runs, strict=True):
        run["p_holm"] = p
        say(run, deciding | {"bounds": run["bounds"]}, p)
        for measured in (run["measures"], run["full"]["measures"]):
            for at, p_holm in adjusted(measured.values()):
                at["p_holm"] = p_holm
    chosen = [run for run in runs if "halves" in run]
    for half in ("test", "test apart from dev"):
        for at, p in adjusted(run["halves"][half] for run in chosen):
            say(at, at, p)
    for run in chosen:
        dev, test, between = (run["halves"][name] for name in ("dev", "test", "test minus dev"))
        dev |= {name: run[name] for name in ("verdict", "alone")}
        between["verdict"] = both_say(dev, test)
    for half in SPLITS:
        sets = published["evidence"][half]["sets"].values()
        for at, p in adjusted(of["against"] for of in sets if "against" in of):
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
    return {
        "means": means(values[[*COMPARED]]),
        "judged@10": judged(files, run, values.index),
        "warnings": [],
        "primary": "nDCG@10",
        "told_apart": told_apart(files, run, "dev"),
    }


def judged(files: Files, run: dict, queries: Iterable[str]) -> float:
    """Return the share of the first ten documents that has a grade, 0 of an empty list."""
    tens = {q: order(run, q)[:10] for q in queries}
    return mean(sum(d in files.grades[q] for d in t) / (len(t) or 1) for q, t in tens.items())


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


# The other pages: data card, coverage, word overlap.


def facts(files: Files) -> dict[str, str | int]:
    """Return the rows of the data card's table, as they must read."""
    documents, queries = files.documents.values(), files.queries.values()
    sizes = [tokens(d["text"]) for d in documents]
    grades = [g for judged in files.grades.values() for g in judged.values()]
    kinds, services = ({d[field] for d in documents} for field in ("kind", "service"))
    halves = Counter(row[field] for row in queries for field in ("split", "popularity"))
    pool = rows(files.folder / "pool.jsonl")
    relevant = [p for p in pool if "first" in p and files.grades[p["query_id"]][p["doc_id"]]]
    missed = sum(not p["first"] for p in relevant)
    n, n_reached = len(documents), len(reached(files))
    by_grade = ", ".join(f"{grades.count(grade)} of grade {grade}" for grade in (0, 1, 2))
    return {
        "documents": f"{n} of {len(kinds)} kinds about {len(services)} services",
        "tokens (cl100k_base)": f"{sum(sizes):,}: shortest document {min(sizes)}, "
        f"median {median(sizes)}, longest {max(sizes):,}",
        "queries": f"{len(queries)}: "
        + ", ".join(f"{halves[name]} {name}" for name in sorted(halves)),
        "queries that no document answers": len(files.asked) - len(queries),
        "judgments": f"{len(grades)}: {by_grade}",
        "documents reached by a query": f"{n_reached} ({n_reached / n:.0%})",
        "queries with short answers": sum("answers" in row for row in queries),
        "pairs judged in the pool": len(pool),
        "relevant, missed by the first labelling": f"{missed} of {len(relevant)}",
        "disputed, read three times or more": disputed(files),
    } | {f"second pass, {name}": text for name, text in readings(files).items()}


def second_pass(files: Files) -> pd.DataFrame:
    """Return a row for each time that a label was read again, in the order of the rounds."""
    return pd.DataFrame(rows(files.folder / "second_pass.jsonl")).sort_values("round")


def rounds(files: Files) -> dict[int, dict]:
    """Return the agreement of each round of reading, and how many pairs it had."""
    found = {}
    for number, own in second_pass(files).groupby("round"):
        pairs = [*zip(own["first"], own["second"], strict=True)]
        found[number] = {"pairs": len(pairs)} | agreement(pairs)
    return found


def readings(files: Files) -> dict[str, str]:
    """Return what card and write-up say of each round of reading."""
    found = {}
    for number, at in rounds(files).items():
        grades = ", ".join(f"{grade}: {share:.0%}" for grade, share in at["by grade"].items())
        found[f"round {number}, by a model"] = (
            f"{at['pairs']:,} pairs, {at['equal']:.1%} equal, Cohen's kappa {at['kappa']:.2f} "
            f"({at['low']:.2f} to {at['high']:.2f}); equal by first grade {grades}; "
            "readers: language models of one family"
        )
    return found


def disputed(files: Files) -> str:
    """Return how many pairs got unlike grades in several rounds, the decided and the tied ones."""
    tied = []
    for _, own in second_pass(files).groupby(["query_id", "doc_id"]):
        votes = Counter([own["first"].iloc[0], *own["second"]]).most_common()
        if len(own) > 1 and len(votes) > 1:
            tied.append(votes[0][1] == votes[1][1])
    decided = len(tied) - sum(tied)
    return f"{len(tied)} pairs, {decided} with one most frequent grade, {sum(tied)} tied"


def without_code(body: str) -> str:
    """Return the lines outside of fences, without addresses and what stands between backticks."""
    body = re.sub(r"^(```|~~~).*\n(.*\n)*?\1.*$", "", body, flags=re.MULTILINE)
    lines = (
        re.sub("`.*?`", " ", line) if line.count("`") % 2 == 0 else line
        for line in body.split("\n")
    )
    return re.sub(r"https?://\S+", " ", "\n".join(lines))


BARE = r"(?<!]\()https?://"  # an address that is no target of a link
SHORT_FORM = re.compile(r".*(n't|'(re|ll|ve|d|m))|(it|that|there|what|here|who|let)'s")


def manner(files: Files) -> dict[str, str]:
    """Return the rows of the data card about the prose, as they must read."""
    plain = [without_code(d["body"].replace("\u2019", "'")) for d in files.documents.values()]
    runs = (zip(*(words(body)[n:] for n in range(4)), strict=False) for body in plain)
    fours = Counter(four for own in runs for four in {*own})
    most = min(fours, key=lambda four: (-fours[four], four))
    listed = (re.findall(r"^##+ *(.*?) *$", body.lower(), re.MULTILINE) for body in plain)
    heads = Counter(" / ".join(names) for names in listed if len(names) > 1)
    in_tone = {w: sum(w in body.lower() for body in plain) for w in ("nobody", "never", "at once")}
    tones = [f"{word} in {n}" for word, n in in_tone.items()]
    first = min(heads, key=lambda names: (-heads[names], names))
    return {
        "most frequent run of four words": f"{' '.join(most)}, in {fours[most]} documents",
        "most frequent list of headings": f"{first}, in {heads[first]} documents",
        "documents with a word of tone": ", ".join(tones),
    }


def manner_by_kind(files: Files) -> dict[str, dict[str, str]]:
    """Return the table of the data card about all texts and those of each kind, as it must read."""
    table = pd.DataFrame([
        {
            "kind": d["kind"],
            "words": len(words(body := without_code(d["body"].replace("\u2019", "'")))),
            "short": sum(map(bool, map(SHORT_FORM.fullmatch, re.findall(r"[\w']+", body.lower())))),
            "links": len(re.findall(r"]\(", d["body"])) + len(re.findall(BARE, d["body"])),
            "marks": len(re.findall(r"\b(?:TODO|TBD|FIXME)\b", d["body"])),
        }
        for d in files.documents.values()
    ])  # fmt: skip
    return {
        kind: {
            "documents": f"{len(of)}",
            "median words": f"{of['words'].median():,.0f}",
            "contractions per 1,000 words": f"{1000 * of['short'].sum() / of['words'].sum():.2f}",
            "links a document": f"{of['links'].mean():.2f}",
            "TODO, TBD or FIXME": f"{of['marks'].sum()}",
        }
        for kind, of in [("all", table), *table.groupby("kind")]
    }


def reached(files: Files) -> set[str]:
    """Return the documents that are relevant to a query."""
    return {d for judged in files.grades.values() for d, grade in judged.items() if grade}


def coverage(files: Files, field: str) -> dict[str, dict[str, float]]:
    """Return documents, reached and share for each service or kind."""
    table = pd.DataFrame(files.documents.values(), index=[*files.documents])
    hits = pd.Series(table.index.isin(reached(files)), table.index).groupby(table[field])
    return hits.agg(documents="count", reached="sum", share="mean").to_dict("index")


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
    texts, found = chunk_texts(files, "fixed"), []
    engines = Okapi(texts), Okapi(texts, b=0)  # the second one knows no length
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

    def is_level(name: str) -> bool:
        return row[name][0] >= row[name][1]

    explains = {
        "version confusion": row["versions"],
        "no shared word": {w for w, *_ in row["words"]} == {*row["common"], *row["lacks"]},
        "tie": row["score"][0] == row["score"][1],
        "evidence split across chunks": is_level("best of all chunks"),
        "length penalty": is_level("without length"),
        "common word dominates": is_level("without common words"),
        "missing word": is_level("without words it lacks"),
        "stronger match elsewhere": True,
    }
    return next(name for name in explains if explains[name])
