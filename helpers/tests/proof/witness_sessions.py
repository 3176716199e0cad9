"""The second witness of the sessions: chunks, what was to be guessed, and what goes further."""

import functools
import math
import re
import string
from collections import Counter
from itertools import combinations, count, pairwise
from statistics import fmean, stdev

import numpy as np
import pandas as pd
import snowballstemmer
import witness
from scipy import special, stats
from witness import Files, Okapi, chunk_texts, coding, order, scored, token_ids, tokens, words
from witness_evidence import Passage, delivered

# Chunks: [first character, end, tokens], in the order of the document.

SIZES = {"fixed-64": (64, 6), "fixed-128": (128, 12), "fixed-256": (256, 25), "fixed": (512, 50)}
SIZES["fixed-1024"] = (1024, 102)


def chunks(text: str, name: str) -> list[list[int]]:
    """Return the chunks of a text in the set of that name."""
    if name in SIZES:
        return windows(text, *SIZES[name])
    spans = {"paragraph": paragraphs, "recursive": pieces}.get(name, lambda t: [(0, len(t))])(text)
    return [[a, b, tokens(text[a:b])] for a, b in spans]


def windows(text: str, size: int, overlap: int) -> list[list[int]]:
    """Return windows of `size` tokens: as many as it takes to reach the end, none more."""
    ids = token_ids(text)
    _, begins = coding().decode_with_offsets(ids)
    begins.append(len(text))
    n = 1 + max(0, math.ceil((len(ids) - size) / (size - overlap)))
    starts = [(size - overlap) * place for place in range(n)]
    ends = [min(start + size, len(ids)) for start in starts]
    return [[begins[a], begins[b], b - a] for a, b in zip(starts, ends, strict=True)]


def paragraphs(text: str) -> list[tuple[int, int]]:
    """Return blocks of lines that are not blank; a heading alone is joined to what follows it."""
    found, first, at = [], None, 0
    for lines in re.split(r"(\n\s*\n)", text.rstrip()):
        at += len(lines)
        if lines.strip():
            first = at - len(lines.lstrip()) if first is None else first
            if "\n" in lines or not lines.startswith("#") or at == len(text.rstrip()):
                found.append((first, at))
                first = None
    return found


def pieces(text: str, start: int = 0, marks=("\n\n", "\n", " ", ""), size: int = 512):
    """Return what LangChain's recursive splitter keeps, without white space at the ends.

    Cut before each of the first mark that occurs. A part of `size` or more is cut by the next mark;
    between those the shorter ones fill pieces of at most `size`, their lengths added.
    """
    found, room = [], -1
    mark = next(mark for mark in marks if mark in text)
    edges = [0, *(hit.start() for hit in re.finditer(re.escape(mark), text)), len(text)]
    for a, b in pairwise(sorted({*edges})):
        n = tokens(text[a:b])
        if mark and n >= size:
            found += pieces(text[a:b], a, marks[marks.index(mark) + 1 :], size)
            room = -1
        elif n <= room:
            found[-1], room = (found[-1][0], b), room - n
        else:
            found.append((a, b))
            room = size - n
    if start or len(marks) < 4:  # an inner call: its places in the text around it
        return [(start + a, start + b) for a, b in found]
    inner = ((a, b, text[a:b]) for a, b in found if text[a:b].strip())
    return [(b - len(part.lstrip()), a + len(part.rstrip())) for a, b, part in inner]


def quotes_of(files: Files) -> dict[str, set[str]]:
    """Return the quotes of each document that has one."""
    quotes = {}
    for row in witness.rows(files.folder / "judgments.jsonl"):
        for own in witness.alternatives(row):
            quotes.setdefault(row["doc_id"], set()).update(own)
    return quotes


def cut_quotes(files: Files, name: str) -> int:
    """Return how many quotes stand in no chunk of their document."""
    texts = {}
    for unit, text in chunk_texts(files, name).items():
        texts.setdefault(unit.rpartition("#")[0], []).append(text)
    quotes = ((d, quote) for d, own in quotes_of(files).items() for quote in own)
    return sum(not any(quote in text for text in texts[d]) for d, quote in quotes)


def lengths(files: Files) -> dict[str, dict[str, int]]:
    """Return how many words and tokens documents have, as pandas describes a column."""
    texts = [document["text"] for document in files.documents.values()]
    table = {}
    for name, sizes in (
        ("words", [len(words(t)) for t in texts]),
        ("tokens", [*map(tokens, texts)]),
    ):
        parts = dict(zip(("10%", "50%", "90%"), np.percentile(sizes, (10, 50, 90)), strict=True))
        of = {"count": len(sizes), "mean": fmean(sizes), "std": stdev(sizes), **parts}
        for row, value in (of | {"min": min(sizes), "max": max(sizes)}).items():
            table.setdefault(row, {})[name] = round(value)
    return table


def orphan(size: int = 512, overlap: int = 50) -> tuple[int, list[tuple[int, int]]]:
    """Return the first length of which a range cuts a last window inside another, and the cuts."""
    step = size - overlap
    last = lambda n: (n - 1) // step * step  # noqa: E731 -- where the last window of a range begins
    n = next(n for n in count(1) if last(n) and last(n) + overlap >= n)
    return n, [(start, min(start + size, n)) for start in (0, last(n))]


# What learners guess before they see it.


def truths(files: Files, results: dict) -> dict[str, float | str]:
    """Return the truth of each prediction by its id; `results` is results.json."""
    kappa = {"c-judge-kappa": judge_agrees(files, free_judge(files, "text"))["kappa"]}
    return of_session_a(files) | of_session_b(files) | of_session_c(results) | kappa


def of_session_a(files: Files) -> dict[str, float | str]:
    sizes = [tokens(d["text"]) for d in files.documents.values()]
    kinds = witness.coverage(files, "kind")
    shared = {}
    for query_id, row in files.queries.items():
        shared.setdefault(row["kind"], []).append(witness.overlap(files, query_id))
    second = witness.rows(files.folder / "second_pass.jsonl")
    newest = [row for row in second if row["round"] == max(row["round"] for row in second)]
    return {
        "a-longer": 100 * fmean(n > 512 for n in sizes),
        "a-relevant": fmean(sum(g > 0 for g in files.grades[q].values()) for q in files.queries),
        "a-equal": 100 * fmean(row["first"] == row["second"] for row in newest),
        "a-overlap": fmean(value for values in shared.values() for value in values),
        "a-lowest": min(map(fmean, shared.values())),
        "a-coverage": 100 * len(witness.reached(files)) / len(files.documents),
        "a-least": min(kinds, key=lambda kind: kinds[kind]["share"]),
    }


def of_session_b(files: Files) -> dict[str, float]:
    engine = Okapi(chunk_texts(files, "fixed"))
    found = [engine.search(row["query"]) for row in files.queries.values() if row["split"] == "dev"]
    tens = [{unit.rpartition("#")[0] for unit, _ in hits[:10]} for hits in found]
    lengths = range(1, 5000)  # tokens of a document, in windows of 512 that share 50
    wasted = (math.ceil(n / 462) > 1 + max(0, math.ceil((n - 512) / 462)) for n in lengths)
    common = Okapi({str(n): f"rare{n}" + " common" * (n < 51) for n in range(100)})
    n_quotes = sum(map(len, quotes_of(files).values()))
    return {
        "b-orphans": 100 * sum(wasted) / len(lengths),
        "b-jump": common.idf["common"],
        "b-shared": 100 * fmean(len(hits) / len(engine.units) for hits in found),
        "b-cut-first": fmean(map(len, tens)),
        "b-quotes-cut": 100 * cut_quotes(files, "fixed-64") / n_quotes,
    }


def of_session_c(results: dict) -> dict[str, float | str]:
    dev, kinds = results["summary"]["dev"], results["by_kind"]["dev"]
    low, high = dev["intervals"]["nDCG@10"]
    runs = results["compared_dev"]["runs"]
    other = next(row for row in runs if row["name"].startswith("dense"))["measures"]["nDCG@10"]
    sets = results["evidence"]["dev"]["sets"]
    return {
        "c-ndcg": dev["measures"]["nDCG@10"],
        "c-top": dev["measures"]["hit@1"],
        "c-width": high - low,
        "c-kind": min(kinds, key=lambda kind: kinds[kind]["measures"]["nDCG@10"]),
        "c-other": other["difference"],
        "c-detectable": other["detectable"],
        "c-evidence": sets["fixed"]["means"]["evidence recall within 2000 tokens"],
    }


# Session A, further.


def ranked_ten(files: Files) -> dict[str, dict[str, list[str]]]:
    """Return the first ten documents of the pooled rankers that have a run in the folder."""
    folders = (files.folder / name for name in ("runs", "systems"))
    paths = [path for folder in folders for path in folder.glob("*.trec")]
    runs = {path.stem: witness.trec(path) for path in paths}
    return {name: {q: order(run, q)[:10] for q in run} for name, run in runs.items()}


def ndcg(found: list[str], grades: dict[str, int]) -> float:
    """Return nDCG@10, 0 where nothing is relevant."""
    return witness.measures(found, grades)["nDCG@10"] if any(grades.values()) else 0.0


def sided(files: Files, is_dev) -> dict[str, str]:
    """Return the halves of the queries whose documents of the highest grade are all on one side."""
    found = {}
    for q in files.queries:
        best = [d for d, g in files.grades[q].items() if g == max(files.grades[q].values())]
        sides = {bool(is_dev(files.documents[d])) for d in best}
        found |= {q: "dev" if sides.pop() else "test"} if len(sides) == 1 else {}
    return found


def other_halves(files: Files) -> dict[str, dict[str, str]]:
    """Return halves of version 2, of today, by time and by service."""
    old = witness.rows(files.folder / "version2.jsonl")
    services = sorted({d["service"] for d in files.documents.values()})
    dates = sorted(d["updated"] for d in files.documents.values())
    date = dates[len(dates) // 3]
    ways = {f"services, way {n + 1}": {*services[n::3]} for n in range(3)}
    return {
        "version 2": {r["query_id"]: r["split"] for r in old if r["query_id"] in files.queries},
        "version 3": {q: row["split"] for q, row in files.queries.items()},
        f"before {date}": sided(files, lambda d: d["updated"] < date),
    } | {n: sided(files, lambda d, own=own: d["service"] in own) for n, own in ways.items()}


def unlike(files: Files, halves: dict[str, str]) -> dict[str, float]:
    """Return sizes, what services the halves don't share, and how far dense is ahead in each."""
    labels, known = files.grades.items(), files.documents
    services = {q: [known[d]["service"] for d, g in row.items() if g] for q, row in labels}
    sizes, left = Counter(halves.values()), len(files.queries) - len(halves)
    row = {**sizes, "left out": left, "services apart": variation(services, halves)}
    runs = (ranked_ten(files)[name] for name in ("dense-minilm-titled", "fixed"))
    dense, base = (scored(files, run)["nDCG@10"] for run in runs)
    for half in sizes:
        own = [q for q in halves if halves[q] == half]
        row[f"dense ahead, {half}"] = (dense - base)[own].mean()
    return row


def variation(values: dict[str, list[str]], halves: dict[str, str]) -> float:
    """Return half of all differences in the shares of values; a query is shared by its own."""
    sums = {"dev": Counter(), "test": Counter()}
    for query_id, half in halves.items():
        for value in values[query_id]:
            sums[half][value] += 1 / len(values[query_id])
    dev, test = ({value: n / of.total() for value, n in of.items()} for of in sums.values())
    return sum(abs(dev.get(name, 0) - test.get(name, 0)) for name in {**dev, **test}) / 2


def content(text: str) -> set[str]:
    return {*words(text)} - witness.STOP_WORDS


def doubles(files: Files) -> list[bool]:
    """Return for each pair of near-double queries whether other documents answer them."""
    asked, known = files.queries, {q: content(row["query"]) for q, row in files.queries.items()}
    right = {q: {d for d, g in files.grades[q].items() if g} for q in asked}
    short = {q: {a.lower() for a in row.get("answers", [])} for q, row in asked.items()}
    found = []
    for a, b in combinations(asked, 2):
        alike = 2 * len(known[a] & known[b]) >= len(known[a] | known[b])
        if alike or (short[a] and short[a] == short[b] and right[a] & right[b]):
            found.append(right[a] != right[b])
    return found


def held_elsewhere(files: Files) -> tuple[int, int]:
    """Return how many pairs judged 0, and not judged, hold a quote of the query of five words."""
    weak = set()
    for row in witness.rows(files.folder / "judgments.jsonl"):
        for parts in witness.alternatives(row) if row["relevance"] else []:
            texts = files.documents.items() if max(len(words(p)) for p in parts) >= 5 else ()
            held = (d for d, page in texts if all(part in page["text"] for part in parts))
            weak |= {(row["query_id"], d) for d in held}
    zeros = {pair for pair in weak if files.grades[pair[0]].get(pair[1]) == 0}
    return len(zeros), len({(q, d) for q, d in weak if d not in files.grades[q]})


def first_places(files: Files) -> list[int]:
    """Return how many dev queries have their first answer in ten, in a twentieth, or deeper."""
    engine, ranks = Okapi({d: row["text"] for d, row in files.documents.items()}), []
    for query_id, row in files.queries.items():
        if row["split"] == "dev":
            found = [doc_id for doc_id, _ in engine.search(row["query"])[:100]]
            ranks.append(witness.first_rank(found, files.grades[query_id]) or math.inf)
    deep = max(20, len(files.documents) // 20)
    return [sum(a < r <= b for r in ranks) for a, b in ((0, 10), (10, deep), (deep, math.inf))]


# Session C, further.


IDF = {  # of n texts, of which k hold the word
    "Lucene IDF": lambda n, k: math.log(1 + (n - k + 0.5) / (k + 0.5)),
    "BM25+": lambda n, k: math.log((n + 1) / k),  # Lv and Zhai 2011; its bonus is the same for all
    "BM25L": lambda n, k: math.log((n + 1) / (k + 0.5)),
}


def idf(name: str, df: dict[str, int], n: int) -> dict[str, float]:
    """Return another weight of each word."""
    return {word: IDF[name](n, k) for word, k in df.items()}


class PublishedOkapi(Okapi):
    """BM25L as it was published (Lv and Zhai 2011)."""

    def gain(self, f, length):
        return (self.k1 + 1) * (f / length + 0.5) / (self.k1 + f / length + 0.5)


class LongOkapi(PublishedOkapi):
    """BM25L of rank_bm25, which multiplies that by the occurrences."""

    def gain(self, f, length):
        return f * super().gain(f, length)


stem = functools.cache(snowballstemmer.stemmer("english").stemWord)


def stems(text: str) -> list[str]:
    return [stem(word) for word in words(text)]


def variants(files: Files) -> dict[str, Okapi]:
    """Return every engine that session C tries on the baseline's chunks."""
    texts, stop = chunk_texts(files, "fixed"), witness.STOP_WORDS
    titled = {u: f"{t}\n{files.documents[u.rpartition('#')[0]]['title']}" for u, t in texts.items()}
    others = [(k1, b) for k1 in (0.9, 1.2, 1.5, 2.0) for b in (0.4, 0.75)]
    others.remove((1.5, 0.75))  # the baseline itself
    return {f"k1 = {k1}, b = {b}": Okapi(texts, k1=k1, b=b) for k1, b in others} | {
        "Lucene IDF": Okapi(texts, idf=functools.partial(idf, "Lucene IDF")),
        "BM25+": Okapi(texts, idf=functools.partial(idf, "BM25+")),
        "BM25L": LongOkapi(texts, idf=functools.partial(idf, "BM25L")),
        "stems": Okapi(texts, stems),
        "no stop words": Okapi(texts, lambda t: [w for w in words(t) if w not in stop]),
        "titles in all chunks": Okapi(titled),
    }


def ndcg_of(files: Files, engine: Okapi, split: str) -> pd.Series:
    """Return nDCG@10 of each query of one half."""
    half = {q: row["query"] for q, row in files.queries.items() if row["split"] == split}
    run = {q: witness.to_documents(engine.search(text)) for q, text in half.items()}
    return scored(files, run, split)["nDCG@10"]


def luck(gaps: np.ndarray) -> tuple[float, float]:
    """Return the mean best of variants that are equal, and what 1 of 20 worlds exceeds.

    `gaps` has a row for each variant and a column for each query, whose sign is tossed for all
    variants at once. Other random numbers than ours.
    """
    best = (witness.coin_tosses(gaps.shape[1]) @ gaps.T).max(axis=1) / gaps.shape[1]
    return float(best.mean()), float(np.quantile(best, 0.95))


def drawn(files: Files, base: dict) -> dict[str, tuple[float, float]]:
    """Return (percent, how far off) of the truths that are drawn: t tests, logs, other numbers."""
    gaps = gaps_of(files, base)
    sizes = abs(gaps[FIRST])
    rms = math.sqrt(fmean(sizes**2))
    return {
        "c-false-alarm": (2.5, 0.5),  # by design
        "c-false-alarm-four": (100 * lower_of_four(gaps[:4], files), 2),
        "c-peeking": (100 * significant_at_a_look(signed(sizes, 0)), 3),
        "c-betting": (100 * rich(signed(sizes, witness.detectable(200, rms))), 4),
    }


FIRST = 2  # place of the first run of systems/, behind two of other chunks


def gaps_of(files: Files, base: dict) -> np.ndarray:
    """Return the differences in nDCG@10 on dev from the baseline, a row for each of five runs."""
    before, five = scored(files, base, "dev")["nDCG@10"], [*witness.systems(files, base).values()]
    return np.array([scored(files, run, "dev")["nDCG@10"] - before for run in five[:5]])


def stopping(files: Files, base: dict) -> dict[float, list[float]]:
    """Return what one test and the bet find, by true difference: shares, the bet's end and mean.

    The mean is that at the end, of the rows in which the bet found a difference.
    """
    sizes, table = abs(gaps_of(files, base)[FIRST]), {}
    least = witness.detectable(200, math.sqrt(fmean(sizes**2)))
    for times in (1, 1.5, 2):
        differences = signed(sizes, times * least)
        tested = abs(t_values(differences)) > stats.t.ppf(0.975, 199)
        ends, seen = [], []
        for row, logs in zip(differences, log_wealth(differences), strict=True):
            (over,) = np.nonzero(logs >= math.log(20))
            ends.append(int(over[0]) + 1 if over.size else 200)
            seen += [row[: ends[-1]].mean()] if over.size else []
        table[times * least] = [tested.mean(), len(seen) / len(ends), fmean(ends), fmean(seen)]
    return table


def signed(sizes: np.ndarray, mean: float) -> np.ndarray:
    """Return 200 differences of these sizes in each of 5,000 rows, with that mean."""
    rng = np.random.Generator(np.random.MT19937(7))
    up = rng.binomial(1, 0.5 + mean / sizes.mean() / 2, (5000, 200))
    return rng.permuted(np.resize(sizes, (5000, 200)), axis=1) * (2 * up - 1)


def t_values(differences: np.ndarray) -> np.ndarray:
    return differences.mean(axis=1) / stats.sem(differences, axis=1)


def lower_of_four(gaps: np.ndarray, files: Files) -> float:
    """Return how often one of four runs with a mean of 0 is shown to be lower on as many as test.

    The queries are drawn anew, the same for each run.
    """
    n = sum(row["split"] == "test" for row in files.queries.values())
    picks = np.random.Generator(np.random.MT19937(7)).integers(gaps.shape[1], size=(5000, n))
    lower = [t_values((own - own.mean())[picks]) < stats.t.ppf(0.025, n - 1) for own in gaps]
    return float(np.any(lower, axis=0).mean())


def significant_at_a_look(differences: np.ndarray) -> float:
    looks = range(10, 201, 10)
    far = [abs(t_values(differences[:, :n])) > stats.t.ppf(0.975, n - 1) for n in looks]
    return float(np.any(far, axis=0).mean())


def log_wealth(differences: np.ndarray) -> np.ndarray:
    """Return the logarithm of the mean of 18 bets, from -.9 to .9, after each difference."""
    stakes = [sign * tenth / 10 for tenth in range(1, 10) for sign in (-1, 1)]
    logs = [np.log1p(stake * differences).cumsum(axis=1) for stake in stakes]
    return special.logsumexp(logs, axis=0) - math.log(18)


def rich(differences: np.ndarray) -> float:
    """Return how often the bets ever reach 20."""
    return float(np.any(log_wealth(differences) >= math.log(20), axis=1).mean())


def unjudged(files: Files, base: dict, run: dict) -> dict[str, float]:
    """Return nDCG@10 of `run` on dev where the first ten of `base` alone are judged.

    An unjudged result counts as 0, is left out, or counts as fully relevant; the ideal then has it.
    """
    sums = Counter()
    dev = [q for q, row in files.queries.items() if row["split"] == "dev"]
    for q in dev:
        judged, found = (order(of, q)[:10] for of in (base, run))
        known = {d: files.grades[q][d] for d in judged if d in files.grades[q]}
        new = {d: 2 for d in found if d not in known}
        sums["judged"] += 1 - len(new) / len(found)
        sums["as 0"] += ndcg(found, known)
        sums["left out"] += ndcg([d for d in found if d in known], known)
        sums["hopeful"] += ndcg(found, known | new)
        sums["true"] += ndcg(found, files.grades[q])
    return {name: value / len(dev) for name, value in sums.items()}


def bare(text: str) -> list[str]:
    """Return the words that SQuAD compares (Rajpurkar et al. 2016)."""
    kept = "".join(letter for letter in text.lower() if letter not in string.punctuation)
    return [word for word in kept.split() if word not in ("a", "an", "the")]


def holds(text: str, answers: list[str], strict: bool = True) -> bool:
    """Return whether a text has one of the answers, with no word reaching into it.

    Strictly that is letter by letter, else as SQuAD compares.
    """
    if strict:
        return any(re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", text) for answer in answers)
    has = f" {' '.join(bare(text))} "
    return any(f" {' '.join(bare(answer))} " in has for answer in answers)


def answered(files: Files) -> dict[str, list[str]]:
    """Return the short answers of the dev queries that have some."""
    rows = files.queries.items()
    return {q: row["answers"] for q, row in rows if row["split"] == "dev" and row.get("answers")}


def exact_match(files: Files, run: dict, k: int, strict: bool) -> float:
    """Return the share of queries with an answer in the first `k` documents (EM@k)."""
    hits = []
    for query_id, answers in answered(files).items():
        texts = [files.documents[d]["text"] for d in order(run, query_id)[:k]]
        hits.append(any(holds(text, answers, strict) for text in texts))
    return fmean(hits)


def answers_within(files: Files, lists: dict[str, list[Passage]], budget: int) -> float:
    """Return the share of queries with an answer in what a budget of tokens pays for."""
    pairs = ((answers, delivered(lists[q], budget)) for q, answers in answered(files).items())
    return fmean(any(holds(unit.text, answers) for unit in got) for answers, got in pairs)


def f1(found: str, wanted: str) -> float:
    """Return the harmonic mean of precision and recall of words (Rajpurkar et al. 2016)."""
    a, b = Counter(bare(found)), Counter(bare(wanted))
    same = sum(min(n, b[word]) for word, n in a.items())
    return 2 * same / (sum(a.values()) + sum(b.values()))


def reading(files: Files, run: dict) -> dict[str, list[float]]:
    """Return queries, mean F1 and mean best F1 of each outcome of the smallest reader."""
    weights, rows = Okapi(chunk_texts(files, "fixed")).idf, {}
    for query_id, answers in answered(files).items():
        texts = (files.documents[d]["text"] for d in order(run, query_id)[:5])
        parts = (re.split(r"(?<=[.!?])\s+|\n+", text) for text in texts)
        found = [part.strip() for text in parts for part in text if part.strip()]
        asked = {*words(files.queries[query_id]["query"])}
        worth = [sum(weights.get(w, 0) for w in asked & {*words(part)}) for part in found]
        picked = found[worth.index(max(worth))]
        outcome = "read" if holds(picked, answers, strict=False) else "retrieved, not read"
        if not any(holds(part, answers, strict=False) for part in found):
            outcome = "not retrieved"
        best = max(f1(part, answer) for part in found for answer in answers)
        rows.setdefault(outcome, []).append((max(f1(picked, a) for a in answers), best))
    return {name: [len(of), *map(fmean, zip(*of, strict=True))] for name, of in rows.items()}


def free_judge(files: Files, part: str) -> dict[str, dict[str, int]]:
    """Return the grades that the share of a query's words in title or text gives, cut on dev."""
    share = {}
    for q, row in files.asked.items():
        own = content(row["query"])
        for d in files.grades[q]:
            share[q, d] = len(own & content(files.documents[d][part])) / max(1, len(own))
    dev = [pair for pair in share if files.asked[pair[0]]["split"] == "dev"]
    lower = [np.mean([files.grades[q][d] < g for q, d in dev]) for g in (1, 2)]
    cuts = np.quantile([share[pair] for pair in dev], lower)
    return {q: {d: int(sum(share[q, d] > cuts)) for d in row} for q, row in files.grades.items()}


def judge_agrees(files: Files, judged: dict[str, dict[str, int]]) -> dict[str, float]:
    """Return how a judge's grades agree with the labels."""
    labels = ((g, judged[q][d]) for q, row in files.grades.items() for d, g in row.items())
    return witness.agreement([*labels])
