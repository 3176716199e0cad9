"""The second witness of the labels: who pooled, what the readers gave, how queries were halved."""

import functools
import math
from collections import Counter, defaultdict
from statistics import fmean

import numpy as np
import witness
from scipy import sparse, stats
from scipy.sparse.csgraph import connected_components
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize
from witness import Files, Okapi, answers
from witness_sessions import content, idf, ndcg, ranked_ten, stems, variation

SEED = 2026  # of latent semantic analysis


def readings(files: Files, last: int) -> dict[tuple[str, str], list[int]]:
    """Return the grades that readers gave each (query, document) up to the round `last`.

    The first is that of version 2, or of who read what the new pool had brought.
    """
    found = {}
    for row in sorted(witness.rows(files.folder / "second_pass.jsonl"), key=lambda r: r["round"]):
        if row["round"] <= last:
            pair = row["query_id"], row["doc_id"]
            assert found.setdefault(pair, [row["first"]])[0] == row["first"], pair
            found[pair].append(row["second"])
    return found


def most_given(grades: list[int]) -> int | None:
    """Return the grade that more readings gave than any other, None where two were given as often.

    It is the majority of three; where all three differ a fourth one decides.
    """
    (grade, n), *rest = Counter(grades).most_common()
    return None if rest and rest[0][1] == n else grade


# Halves.


def jaccard(a: set, b: set) -> float:
    return len(a & b) / len(a | b) if a and b else 0.0


def groups(files: Files) -> dict[str, int]:
    """Return the number of the group of each query, also of those without an answer.

    Tied are queries with a family that answers both in full, with half of their content words in
    common, or with three quarters of the families that are relevant to either.
    """
    asked = files.asked.items()
    asked = [(content(row["query"]), answers(files, q), answers(files, q, 2)) for q, row in asked]
    ties = [
        [bool(c & z) or jaccard(a, x) >= 0.5 or jaccard(b, y) >= 0.75 for x, y, z in asked]
        for a, b, c in asked
    ]
    return dict(zip(files.asked, map(int, connected_components(np.array(ties))[1]), strict=True))


def several(files: Files, group: dict[str, int]) -> dict[str, set[str]]:
    """Return the queries of each family that is relevant in more than one group."""
    found = defaultdict(set)
    for query_id in files.asked:
        for name in answers(files, query_id):
            found[name].add(query_id)
    return {name: own for name, own in found.items() if len({group[q] for q in own}) > 1}


def traits(files: Files) -> dict[str, dict[str, list[str]]]:
    """Return by trait what each query counts for: one of several values in part."""
    found = {name: {} for name in ("kind", "head and tail", "number", "service")}
    for query_id, row in files.asked.items():
        right = [d for d, grade in files.grades[query_id].items() if grade]
        found["kind"][query_id] = [row["kind"]]
        found["head and tail"][query_id] = [row["popularity"]]
        found["number"][query_id] = ["1 2 3-4 3-4 5+".split()[min(len(right), 5) - 1]] * bool(right)
        found["service"][query_id] = [files.documents[d]["service"] for d in right]
    return found


def distances(files: Files, split: dict[str, str], shared: dict[str, set[str]]) -> dict[str, float]:
    """Return how far the halves are from each other in size and traits.

    `shared` are those of `several`: a tenth of their share that both halves reach.
    """
    found = {"queries": abs([*split.values()].count("dev") / len(split) - 1 / 3)}
    found |= {trait: variation(values, split) for trait, values in traits(files).items()}
    both = [len({split[q] for q in own}) > 1 for own in shared.values()]
    return found | {"families": 0.1 * sum(both) / len(both)}


# The pool.


def pooled(files: Files) -> list[tuple[str, str, set[str]]]:
    """Return (query, document, rankers that brought it); earlier pools were of other documents."""
    pairs = witness.rows(files.folder / "pool.jsonl")
    brought = ((p["query_id"], p["doc_id"], {*p["rankers"]} - {"earlier-pool"}) for p in pairs)
    return [row for row in brought if row[2]]


def found_alone(files: Files) -> dict[str, set[tuple[str, str]]]:
    """Return the relevant pairs that one ranker alone brought, by ranker."""
    alone = {ranker: set() for *_, rankers in pooled(files) for ranker in rankers}
    for query_id, doc_id, rankers in pooled(files):
        if len(rankers) == 1 and files.grades[query_id].get(doc_id):
            alone[min(rankers)].add((query_id, doc_id))
    return alone


def pool_bias(files: Files, runs: dict) -> dict[str, tuple[float, float]]:
    """Return nDCG@10 of each of `rankers`: with all labels, and without its own finds."""
    alone, bias = found_alone(files), {}
    for name, run in runs.items():
        values = []
        for q in files.queries:
            left = {d: g for d, g in files.grades[q].items() if (q, d) not in alone[name]}
            values.append([ndcg(run.get(q, []), labels) for labels in (files.grades[q], left)])
        bias[name] = tuple(map(fmean, zip(*values, strict=True)))
    return bias


def rankers(files: Files) -> dict[str, dict[str, list[str]]]:
    """Return the first ten documents of every pooled ranker for every query."""
    texts = {d: document["text"] for d, document in files.documents.items()}
    lucene = Okapi(texts, stems, idf=functools.partial(idf, "Lucene IDF"))
    asked = {q: row["query"] for q, row in files.asked.items()}
    found = {"lucene-stemmed": {q: dict(lucene.search(text)) for q, text in asked.items()}}
    grams = CountVectorizer(analyzer="char_wb", ngram_range=(3, 5))
    found["character-ngrams"] = cosines(texts, asked, grams)
    found["latent-semantics"] = cosines(texts, asked, CountVectorizer(analyzer=stems), 100)
    grown = RelevanceModel({d: Counter(stems(text)) for d, text in texts.items()})
    found["relevance-model"] = {q: grown.search(stems(text)) for q, text in asked.items()}
    return ranked_ten(files) | {
        name: {q: first_ten(scores) for q, scores in run.items()} for name, run in found.items()
    }


def first_ten(scores: dict[str, float]) -> list[str]:
    return sorted(scores, key=lambda doc_id: (-round(scores[doc_id], 10), doc_id))[:10]


def cosines(texts: dict, asked: dict, counter: CountVectorizer, dimensions: int = 0) -> dict:
    """Return {query_id: {doc_id: cosine}} above 0 of (1 + ln tf)(1 + ln((n + 1) / (df + 1))).

    With `dimensions` both are put into the space of the largest singular values (Deerwester 1990):
    that which a random start finds, since the exact one orders a tenth of the documents otherwise.
    """
    sides = [counter.fit_transform(texts.values()), counter.transform(asked.values())]
    weight = 1 + np.log((len(texts) + 1) / (sides[0].getnnz(axis=0) + 1))
    sides = [side.astype(float) for side in sides]
    for side in sides:
        side.data = 1 + np.log(side.data)
    sides = [normalize(side @ sparse.diags(weight)) for side in sides]
    if dimensions:
        space = TruncatedSVD(dimensions, random_state=SEED).fit(sides[0])
        sides = [normalize(space.transform(side)) for side in sides]
    table = sides[1] @ sides[0].T
    table = table.toarray() if sparse.issparse(table) else table
    return {
        q: {d: float(value) for d, value in zip(texts, row, strict=True) if value > 1e-9}
        for q, row in zip(asked, table, strict=True)
    }


class RelevanceModel:
    """RM3 (Abdul-Jaleel et al. 2004): half the query, half twenty words of its first ten texts.

    Texts rank by the likelihood of the query, smoothed by Dirichlet's prior of a thousand words.
    """

    def __init__(self, counts: dict[str, Counter]):
        self.counts, self.holders = counts, defaultdict(dict)
        for doc_id, own in counts.items():
            for word, n in own.items():
                self.holders[word][doc_id] = n
        often = sum(counts.values(), Counter())
        self.prior = {word: 1000 * n / often.total() for word, n in often.items()}

    def score(self, model: dict[str, float]) -> dict[str, float]:
        scores = Counter()
        for word, weight in model.items():
            for doc_id, n in self.holders[word].items():
                scores[doc_id] += weight * math.log(1 + n / self.prior[word])
        return {d: s - math.log(1 + self.counts[d].total() / 1000) for d, s in scores.items()}

    def search(self, said: list[str]) -> dict[str, float]:
        asked = Counter(word for word in said if word in self.prior)
        if not asked:
            return {}
        model = Counter({word: n / asked.total() for word, n in asked.items()})
        scores, likely = self.score(model), Counter()
        first = first_ten(scores)
        for doc_id in first:
            share = math.exp(asked.total() * (scores[doc_id] - scores[first[0]]))
            for word, n in self.counts[doc_id].items():
                likely[word] += share * n / self.counts[doc_id].total()
        least = sorted(likely.values())[-min(20, len(likely))]
        likely = {word: value for word, value in likely.items() if value >= least}
        total = sum(likely.values())
        model.update({word: value / total for word, value in likely.items()})
        return self.score({word: value / 2 for word, value in model.items()})


def by_system(files: Files, runs: dict) -> dict[str, np.ndarray]:
    """Return nDCG@10 of each of `rankers` for each query that has an answer."""
    return {n: witness.scored(files, run)["nDCG@10"].to_numpy() for n, run in runs.items()}


def changes(base: np.ndarray, run: np.ndarray, is_dev: np.ndarray) -> list[float]:
    """Return the difference on dev, on test, and test minus dev with its interval (Welch 1947)."""
    dev, test = (run - base)[is_dev], (run - base)[~is_dev]
    return [dev.mean(), test.mean(), *witness.welch(dev, test)]


def tau(values: np.ndarray, is_dev: np.ndarray) -> float:
    """Return how alike the halves order systems (Kendall 1938); a row of values for each."""
    return stats.kendalltau(values[:, is_dev].mean(1), values[:, ~is_dev].mean(1)).statistic


def mix(files: Files, values: np.ndarray, is_dev: np.ndarray) -> float:
    """Return what the halves' mix of kinds alone makes of test minus dev."""
    kinds = np.array([row["kind"] for row in files.queries.values()])
    shares = {k: [np.mean(kinds[half] == k) for half in (is_dev, ~is_dev)] for k in {*kinds}}
    return sum(values[kinds == k].mean() * (test - dev) for k, (dev, test) in shares.items())
