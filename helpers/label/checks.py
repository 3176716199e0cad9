"""What a careful reader asks of an evaluation set, a function for each question."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import cache
from itertools import chain, combinations, islice
from math import ceil
from statistics import mean
from typing import NamedTuple

import pandas as pd

from ..measure import chunks, evidence, files, links, measures, stats, text
from ..measure.evalset import EvalSet
from ..measure.installation import command
from ..measure.text import counted, how_many
from . import manifest, pooling

QUERIES, DOCUMENTS = 30, 100  # below these a set says little
IMBALANCE = 3  # largest over smallest count from which a balance is worth a warning
COPIED, CLOSE = 0.95, 0.8  # mean word overlap of queries with their answers
PASTED = "alert"  # the kind of queries that copy by nature: a pasted alert or line of a log
MANY_ANSWERS = 20  # relevant documents of one query
DEPTH, NEGATIVES = 10, 10
WORST = 5  # pairs of near-duplicates that are named
SECOND_PAIRS, SECOND_SHARE = 120, 0.2
SOLVED = 1 / 3  # of the queries, by the weakest and the strongest ranker
POOR_KAPPA, FAIR_KAPPA = 0.4, 0.6
GUIDE_WORDS = 100


class Finding(NamedTuple):
    """What one check found. `remedy` is empty where the status is pass, the reason with n/a."""

    check: str
    status: str  # pass, warn, fail, n/a
    found: str
    remedy: str


class AuditCase(NamedTuple):
    """What the checks look at: the set, its optional files, and which documents are alike."""

    evals: EvalSet
    negatives: list[dict]
    second_pass: list[dict]
    twins: dict[text.Pair, float]  # near-duplicates that are no versions, with their Jaccard
    linked: set[text.Pair]  # documents that count as one: versions, and the same text twice
    rankers: dict[str, pooling.Run]  # built and saved ones, each to DEPTH
    skipped: list[dict]


def _finding(check: str, found: str, fail: dict | None = None, warn: dict | None = None) -> Finding:
    """Return the finding of a check; `fail` and `warn` are {remedy: whether it is needed}."""
    failing = [remedy for remedy, is_needed in (fail or {}).items() if is_needed]
    warning = [remedy for remedy, is_needed in (warn or {}).items() if is_needed]
    status = "fail" if failing else "warn" if warning else "pass"
    return Finding(check, status, found, " ".join(failing + warning))


def _some(names: Iterable[str], most: int = 4) -> str:
    """Return the first names, and how many more there are."""
    names = list(names)
    first = ", ".join(names[:most])
    return f"{first} and {len(names) - most} more" if len(names) > most else first


def _also(facts: dict) -> str:
    """Return "; fact: 3" for each of {fact: names} that is one of some names."""
    return "".join(f"; {fact}: {len(names)}" for fact, names in facts.items() if names)


# Queries.


def check_size(case: AuditCase) -> Finding:
    """Warn below 30 queries, with the difference that so few can show, or 100 documents."""
    queries, documents = len(case.evals.queries), len(case.evals.documents)
    shown = min(stats.detectable(queries, stats.USUAL_SD), 1) if queries > 1 else 1
    few = f"Write {QUERIES} queries or more: {queries} show no nDCG difference below {shown:.2f} "
    few += f"(standard deviation {stats.USUAL_SD:g})."
    by_chance = f"Add documents, {DOCUMENTS} or more: among few, ten results hit one by chance."
    found = f"{how_many(queries, 'query')}, {how_many(documents, 'document')}"
    warn = {few: queries < QUERIES, by_chance: documents < DOCUMENTS}
    return _finding("size", found, warn=warn)


def check_kinds(case: AuditCase) -> Finding:
    """Fail where all queries are of one kind; warn of kinds not marked, rare or not kept to."""
    counts = Counter(query.kind for query in case.evals.queries.values())
    rarest = min(counts, key=lambda kind: (counts[kind], kind))
    unmarked = {*counts} == {"unspecified"}
    single, undated = _multi_with_one_answer(case.evals), _temporal_without_version(case)
    alone = "Write queries of other kinds: one kind shows one side of a system."
    fail = {alone: len(counts) == 1 and not unmarked}
    warn = {
        "Give each query a kind (keyword, symptom, question, ...).": unmarked,
        f"Write more of the kind {rarest}.": max(counts.values()) > IMBALANCE * counts[rarest],
        f"Label what answers the other part of {_some(single)}, or change their kind.": single,
        f"Give the answers of {_some(undated)} a version, or change their kind.": undated,
    }
    also = _also({"multi with one answer": single, "temporal without a version": undated})
    return _finding("kinds", counted(counts) + also, fail, warn)


def _multi_with_one_answer(evals: EvalSet) -> list[str]:
    """Return the queries of the kind multi that only one document answers."""
    multi = [query for query in evals.queries.values() if query.kind == "multi"]
    return [query.query_id for query in multi if len(query.relevant_doc_ids) == 1]


def _temporal_without_version(case: AuditCase) -> list[str]:
    """Return the queries of the kind temporal with no answer that has versions."""
    versioned = set(chain.from_iterable(case.linked))
    versioned |= {d for d, document in case.evals.documents.items() if document.version}
    temporal = [query for query in case.evals.queries.values() if query.kind == "temporal"]
    return [q.query_id for q in temporal if versioned.isdisjoint(q.relevant_doc_ids)]


def check_head_and_tail(case: AuditCase) -> Finding:
    """Fail where only frequent or only rare needs are asked for; warn where one side is small."""
    counts = Counter(query.popularity or "not marked" for query in case.evals.queries.values())
    few, many = sorted((counts["head"], counts["tail"]))
    other = "rare needs (tail)" if counts["head"] else "frequent needs (head)"
    one_side = f"Add queries for {other}: the average hides how they fare."
    mark = "Mark the popularity of queries: head or tail; only those between have none."
    unmarked = counts["not marked"]
    warn = {
        "Bring head and tail nearer to half each.": few and many > IMBALANCE * few,
        mark: unmarked and unmarked >= few + many,
    }
    fail = {one_side: many and not few}
    return _finding("head and tail", counted(counts), fail, warn)


def check_halves(case: AuditCase) -> Finding:
    """Fail without dev or test; warn of one too small to measure on and of uneven kinds.

    Of few queries all are dev, unless they're imported with halves.
    """
    queries = case.evals.queries.values()
    dev = Counter(query.kind for query in queries if query.split == "dev")
    test = Counter(query.kind for query in queries if query.split == "test")
    sizes, uneven = {"dev": dev.total(), "test": test.total()}, _uneven_kinds(dev, test)
    fail = {"Set about a third of the queries to dev.": not sizes["dev"]}
    spread = {f"Spread evenly over dev and test: {_some(uneven)}.": uneven}
    if len(queries) < stats.HALVES_FROM:
        found = f"{counted(sizes)}; a test half pays from {stats.HALVES_FROM} queries on"
        warn = {"Set all queries to dev.": sizes["test"]}
        if case.evals.imported:  # its source has these halves, or they were asked for
            warn = spread
        return _finding("halves", found, fail, warn)
    fail["Set about two thirds of the queries to test."] = not sizes["test"]
    small = [split for split, n in sizes.items() if 0 < n < QUERIES / 2]
    more = f"Set {QUERIES // 2} queries or more to {_some(small)}: fewer measure little."
    return _finding("halves", counted(sizes), fail, {more: small} | spread)


def _uneven_kinds(dev: Counter, test: Counter) -> list[str]:
    """Return the kinds that are twice as frequent in one half, [] where a half is empty."""
    if not dev or not test:
        return []
    share = dev.total() / (dev.total() + test.total())
    uneven = []
    for kind in sorted({*dev, *test} - {"unspecified"}):
        few, many = sorted((dev[kind] * (1 - share), test[kind] * share))
        excess = abs(dev[kind] - share * (dev[kind] + test[kind]))
        if excess > 0.5 and many > 2 * few:  # five cannot be halved
            uneven.append(kind)
    return uneven


def check_overlap(case: AuditCase) -> Finding:
    """Fail where queries are copied from titles or share nearly all words; warn of copied runs."""
    words, queries = case.evals.words, case.evals.queries
    titles = {tuple(words(document.title)) for document in case.evals.documents.values()}
    copies = [q for q, query in queries.items() if tuple(words(query.query)) in titles]
    share = sum(map(case.evals.word_overlap, queries.values())) / len(queries)
    runs = _copied_runs(case.evals)
    fail = {
        f"Ask {_some(copies)} in the words of somebody who has not seen the title.": copies,
        "Write queries from needs, before reading the answers.": share > COPIED,
    }
    warn = {
        "Add paraphrases: most words are those of the answer.": CLOSE < share <= COPIED,
        f"Put {_some(runs)} in other words than the answer's.": runs,
    }
    found = f"mean share of words found in the answers {share:.2f}; equal to a title: {len(copies)}"
    found += _also({"copying a run of words of an answer": runs})
    return _finding("overlap", found, fail, warn)


def _copied_runs(evals: EvalSet) -> list[str]:
    """Return the queries, unless pasted, that share a run of words with one of their answers."""
    size = text.SHINGLE
    if evals.tokenizer == "bigrams":  # a pair is less than a word
        size = 2 * text.SHINGLE

    @cache  # most documents answer several queries
    def runs_of(doc_id: str) -> set[str]:
        return text.shingles(evals.words(evals.documents[doc_id].retrieval_text), size)

    copied = []
    for query_id, query in evals.queries.items():
        own = text.shingles(evals.words(query.query), size)
        answers = map(runs_of, query.relevant_doc_ids)
        if query.kind != PASTED and not all(map(own.isdisjoint, answers)):
            copied.append(query_id)
    return copied


def check_duplicate_queries(case: AuditCase) -> Finding:
    """Fail where two queries are the same words in one order, in any case; warn of near-doubles."""
    queries, same = case.evals.queries, defaultdict(list)
    for query_id, query in queries.items():
        same[tuple(case.evals.words(query.query))].append(query_id)
    twice = [" = ".join(ids) for ids in same.values() if len(ids) > 1]
    near, unlike = [], []
    for one, other in _near_doubles(case.evals, same):
        near.append(f"{one} ~ {other}")
        if {*queries[one].relevant_doc_ids} != {*queries[other].relevant_doc_ids}:
            unlike.append(f"{one} ~ {other}")
    fail = {"Keep one of each: a query asked twice counts twice.": twice}
    warn = {
        f"Keep one of each pair that is one need: {_some(near)}.": near,
        f"Where both are kept, see why other documents answer: {_some(unlike)}.": unlike,
    }
    found = _some(twice) or "every query asked once"
    found += _also({"near-doubles": near, "of them with other answers": unlike})
    return _finding("same query", found, fail, warn)


def _near_doubles(evals: EvalSet, same: dict[tuple[str, ...], list[str]]) -> list[text.Pair]:
    """Return the pairs of queries that share half of their content words, or document and answer.

    `same` are {words of a query: ids of the queries with just these}, of which the first counts.
    """
    content = {ids[0]: text.content_words([*words]) for words, ids in same.items()}
    pairs = set(text.near_duplicates(content, links.DOUBLE, size=1))
    answering = defaultdict(list)
    for query_id, query in evals.queries.items():
        if query.answers:
            answers = frozenset(answer.lower() for answer in query.answers)
            for doc_id in query.relevant_doc_ids:
                answering[doc_id, answers].append(query_id)
    for ids in answering.values():
        pairs.update(combinations(ids, 2))
    return sorted(pairs)


# Labels.


def check_coverage(case: AuditCase) -> Finding:
    """Fail where the queries reach too few documents; warn where they miss a service or kind.

    Wanted: half of the documents, or, in a large corpus, as many as there are queries.
    """
    documents, queries = case.evals.documents, case.evals.queries
    reached = case.evals.relevant_documents
    share, wanted = len(reached) / len(documents), min(0.5, len(queries) / len(documents))
    missed = []
    for field in ("service", "kind"):
        names = {getattr(document, field) for document in documents.values()} - {"unspecified"}
        names -= {getattr(documents[doc_id], field) for doc_id in reached}
        missed += [f"{field} {name}" for name in sorted(names)]
    found = f"{len(reached)} of {how_many(documents, 'document')} reached ({share:.0%})"
    fail = {"Write queries for documents that none reaches.": share < wanted}
    warn = {f"Nobody asks about {_some(missed)}: add a query or leave it out.": missed}
    return _finding("coverage", found, fail, warn)


def check_labels_per_query(case: AuditCase) -> Finding:
    """Fail for a query without labels; warn for over 20 relevant documents or a single grade."""
    queries = case.evals.queries
    answers = {query_id: len(query.relevant_doc_ids) for query_id, query in queries.items()}
    none = [query_id for query_id, n in answers.items() if not n]
    many = [query_id for query_id, n in answers.items() if n > MANY_ANSWERS]
    grades = Counter(judgment.relevance for judgment in case.evals.judgments)
    highest, low, high = case.evals.grades[-1], min(answers.values()), max(answers.values())
    one_grade = highest > 1 and len(grades.keys() - {0}) < 2
    warn = {
        f"Narrow {_some(many)}: over {MANY_ANSWERS} answers.": many,
        f"Tell whole answers ({highest}) from partial ones (1).": one_grade,
    }
    found = f"{how_many(high, 'relevant document')} a query; grade {counted(grades)}"
    if low < high:
        found = f"{low} to {found}"
    fail = {f"Label {_some(none)}, or drop them.": none}
    return _finding("labels per query", found, fail, warn)


def check_judged_depth(case: AuditCase) -> Finding:
    """Fail where under half of some ranker's first ten are judged, of any query; warn below all.

    What stops left unread in the order that finds is a choice, so there it's a warning, too.
    """
    shares = _judged_shares(case)
    worst = min(sorted(shares), key=shares.get)
    found = f"{shares[worst]:.1%} of the first {DEPTH} of {worst} are judged, the least of "
    found += f"{len(shares)} rankers (most {max(shares.values()):.1%})"
    remedy = f"Judge the first {DEPTH} of each ranker: an unjudged answer counts as wrong."
    few = shares[worst] < 0.5 and not case.skipped
    warn = {remedy: not few and shares[worst] < 1}
    return _finding("judged depth", found, fail={remedy: few}, warn=warn)


def _judged_shares(case: AuditCase) -> dict[str, float]:
    """Return {ranker: share of its first ten that is judged, 0 to 1, the mean over queries}."""
    grades, shares = defaultdict(dict), {}
    for query_id, doc_id, grade, _ in case.evals.judgments:
        grades[query_id][doc_id] = grade
    for name, run in case.rankers.items():
        answered = {q: grades[q] for q in case.evals.settled_queries if run.get(q)}
        shares[name] = 1.0  # where nothing is found, nothing is to be judged
        if answered:
            shares[name] = measures.judged_at(answered, run, DEPTH)
    return shares


def check_easy_queries(case: AuditCase) -> Finding:
    """Warn where the weakest and the strongest ranker both solve many queries (nDCG@10 is 1)."""
    qrels, scores = case.evals.qrels(), {}
    for name, run in case.rankers.items():
        values = measures.per_query(qrels, run, ["nDCG@10"])
        scores[name] = [values[query_id]["nDCG@10"] for query_id in qrels]
    weakest, *_, strongest = sorted(scores, key=lambda name: (mean(scores[name]), name))
    lowest = map(min, scores[weakest], scores[strongest])
    solved = [q for q, score in zip(qrels, lowest, strict=True) if score > 1 - stats.TIE]
    found = f"{len(solved)} of {how_many(qrels, 'query')} solved by {weakest}, by {strongest}"
    harder = f"Add harder queries than {_some(solved)}: these tell no two systems apart."
    return _finding("easy queries", found, warn={harder: len(solved) > SOLVED * len(qrels)})


def check_evidence(case: AuditCase) -> Finding:
    """Fail where a relevant label has no quote; warn where there is no judgments.jsonl at all."""
    relevant = [judgment for judgment in case.evals.judgments if judgment.relevance]
    bare = [" ".join(judgment.pair) for judgment in relevant if not judgment.evidence]
    found = f"{len(relevant) - len(bare):,} of {how_many(relevant, 'relevant label')} quoted"
    graded = (case.evals.folder / "judgments.jsonl").exists()
    unproved = evidence.unproved_needs(case.evals)
    fail = {f"Quote the passage that proves {_some(bare)}.": bare and graded}
    warn = {
        "Write judgments.jsonl: a grade and a verbatim quote for each answer.": not graded,
        f"Say which quotes meet {_some(unproved)}: no measure counts these needs.": unproved,
    }
    return _finding("evidence", found, fail, warn)


def check_quotes(case: AuditCase) -> Finding:
    """Warn of quotes that every chunker cuts, or that stand in a document with a lower grade.

    What a second reading confirmed isn't listed.
    """
    cut, proved = _always_cut(case.evals), _proved_grades(case.evals)
    grades = {label.pair: label.relevance for label in case.evals.judgments}
    confirmed = {text.pair_of(row) for row in case.second_pass}
    wanting = sorted(p for p in proved.keys() - confirmed if grades.get(p, -1) < proved[p])
    lower = [pair for pair in wanting if pair in grades]
    unjudged = [pair for pair in wanting if pair not in grades]
    again = _some(map(" ".join, wanting))
    warn = {
        f"Every chunker cuts the quotes of {_some(cut)}: quote the shortest passage.": cut,
        f"Judge anew, or quote what only the answer says: {again}.": wanting,
    }
    n = sum(len(label.evidence) for label in case.evals.judgments if label.relevance)
    found = f"{how_many(n, 'quote')}: {len(cut)} cut everywhere"
    found += _also({"in a document with a lower grade": lower, "in one not judged": unjudged})
    return _finding("quotes", found, warn=warn)


def _proved_grades(evals: EvalSet) -> dict[text.Pair, int]:
    """Return {(query_id, doc_id): highest grade that a quote in the document proves}.

    The quotes are those of the query's labels; most documents that hold one have the label itself.
    """
    relevant = [label for label in evals.judgments if label.relevance]
    holders = _holders(evals, {quote for label in relevant for quote in label.evidence})
    proved = defaultdict(int)
    for label in relevant:
        for doc_id in chain.from_iterable(holders[quote] for quote in label.evidence):
            pair = label.query_id, doc_id
            proved[pair] = max(proved[pair], label.relevance)
    return proved


def _holders(evals: EvalSet, quotes: set[tuple[str, ...]]) -> dict[tuple[str, ...], list[str]]:
    """Return {quote, as its parts: documents that hold them all}, of quotes of five words or more.

    Only documents with its rarest run of words are looked at, of a template's the first COPIES.
    """
    runs = {part: text.shingles(evals.words(part)) for quote in quotes for part in quote}
    wanted, having = set().union(*runs.values()), defaultdict(list)
    bodies, holders = evals.texts, {}
    for doc_id, body in bodies.items():
        for run in wanted & text.shingles(evals.words(body)):
            having[run].append(doc_id)
    for quote in quotes:
        own = having.keys() & set().union(*(runs[part] for part in quote))
        rarest = min((having[run] for run in own), key=len, default=())
        holding = (d for d in rarest if all(part in bodies[d] for part in quote))
        holders[quote] = [*islice(holding, text.COPIES)]
    return holders


def _always_cut(evals: EvalSet) -> list[str]:
    """Return "query document" of each label whose evidence is whole in no saved set of chunks."""
    chunks_of = defaultdict(lambda: defaultdict(list))  # of a document: by their file
    for path in (evals.folder / "chunks").glob("*.jsonl"):
        for chunk in chunks.read_chunks(path):
            chunks_of[chunk.doc_id][path].append(chunk)
    if not chunks_of:
        return []
    cut = []
    for query_id, wanted in evidence.quoted_queries(evals).items():
        for doc_id in wanted.quotes:
            sets = chunks_of[doc_id].values()
            if not any(evidence.evidence_ranks(wanted.quotes, own) for own in sets):
                cut.append(f"{query_id} {doc_id}")
    return cut


def check_guide(case: AuditCase) -> Finding:
    """Fail where labeling_guide.md is missing, short, or silent about a grade that was given."""
    words = case.evals.words(files.optional_page(case.evals.folder / "labeling_guide.md"))
    grades = sorted({judgment.relevance for judgment in case.evals.judgments})
    silent = [f"grade {grade}" for grade in grades if str(grade) not in words]
    short = "Write in labeling_guide.md a test for each grade, edge cases and worked examples."
    fail = {f"Say when to give {_some(silent)}.": silent, short: len(words) < GUIDE_WORDS}
    return _finding("labelling guide", how_many(words, "word"), fail)


def check_second_pass(case: AuditCase) -> Finding:
    """Judge the newest check by its size and Cohen's kappa (1960, unweighted), all by reasons."""
    if not case.second_pass:
        remedy = "Judge a share of the pairs again, blind, into second_pass.jsonl."
        return _finding("second pass", "no second reading", warn={remedy: True})
    grades, rows = case.evals.grades, _second_readings(case)
    newest, pairs = _newest_check(rows), rows["pair"]
    check = rows[rows["round"] == newest]
    kappa = stats.kappa(check["first"], check["second"], grades)
    is_poor = kappa is not None and kappa < POOR_KAPPA
    is_unclear = not is_poor and (kappa is None or kappa < FAIR_KAPPA)
    wanted = min(SECOND_PAIRS, ceil(SECOND_SHARE * len(case.evals.labels)))
    stale = pairs[rows["stale"]].unique()
    silent = sorted({*pairs[~rows["equal"]]} - {*pairs[rows["settled"]]})
    fail = {
        f"The final grade is not the one in judgments.jsonl: {_some(stale)}.": len(stale),
        "Sharpen the guide, then judge again.": is_poor,
    }
    warn = {
        "Clear up the guide where the readings differ; include hard pairs.": is_unclear,
        f"Judge at least {how_many(wanted, 'pair')} twice.": len(check) < wanted,
        f"Give a reason for {_some(silent)}.": silent,
    }
    found = [_round_in_words(n, own, grades) for n, own in rows.groupby("round")]
    if len(found) > 1:
        found.append(f"judged by round {newest}")
    return _finding("second pass", "; ".join(found), fail, warn)


def _second_readings(case: AuditCase) -> pd.DataFrame:
    """Return the rows with their pair, and whether they are equal, stale and settled.

    A `stale` final grade isn't the label's. Most readings settle a pair, or a reason does.
    """
    rows = pd.DataFrame(case.second_pass)
    rows["pair"] = rows["query_id"] + " " + rows["doc_id"]
    rows["equal"] = rows["first"] == rows["second"]
    labels = {" ".join(label.pair): label.relevance for label in case.evals.judgments}
    rows["stale"] = rows["pair"].map(labels) != rows["final"]
    majority = {" ".join(pair): n for pair, n in stats.majorities(case.second_pass).items()}
    has_reason = rows["reason"].str.strip() != ""
    rows["settled"] = has_reason | (rows["pair"].map(majority) == rows["final"])
    return rows


def _newest_check(rows: pd.DataFrame) -> int:
    """Return the newest round that didn't mostly settle pairs on which earlier readers differed."""
    since = rows[~rows["equal"]].groupby("pair")["round"].min()
    disputed = rows["pair"].map(since) < rows["round"]
    return max(n for n, again in disputed.groupby(rows["round"]) if again.mean() <= 0.5)


def _round_in_words(number: int, rows: pd.DataFrame, grades: tuple[int, ...]) -> str:
    kappa = stats.kappa(rows["first"], rows["second"], grades)
    value = "undefined (one grade only)" if kappa is None else f"{kappa:.2f}"
    zeros, agree = sum(rows["first"] == 0), rows["equal"].mean()
    found = f"round {number}: {how_many(rows, 'pair')}, {zeros:,} of grade 0"
    return f"{found}, {agree:.0%} agree, kappa {value}"


def check_negatives(case: AuditCase) -> Finding:
    """Fail where a negative is judged relevant or both easy and hard; warn below ten of each."""
    goal, queries = f"{NEGATIVES} easy and {NEGATIVES} hard", case.evals.queries
    wrong, short = [], {*queries}
    for row in case.negatives:
        wrong += _wrong_negatives(row, case.evals)
        if min(len(row["easy"]), len(row["hard"])) >= NEGATIVES:
            short.discard(row["query_id"])
    found = f"{goal} for {len(queries) - len(short)} of {how_many(queries, 'query')}"
    fail = {f"Replace {_some(wrong)}: {command('freeze')} draws negatives anew.": wrong}
    warn = {
        f"Run {command('freeze')}, which draws them, for {_some(sorted(short))}. Hard ones are "
        "judged 0, easy ones brought by no ranker: where they stay too few, judge more or add "
        "documents.": short,
    }
    return _finding("negatives", f"{found}; {len(wrong)} wrong", fail, warn)


def _wrong_negatives(row: dict, evals: EvalSet) -> list[str]:
    """Return what is wrong with the negatives of one query, "q1 d3 (easy and hard)"."""
    query_id, easy, hard = row["query_id"], row["easy"], row["hard"]
    relevant = evals.all_queries[query_id].relevant_doc_ids
    wrong = [f"{query_id} {d} (judged relevant)" for d in [*easy, *hard] if d in relevant]
    return wrong + [f"{query_id} {d} (easy and hard)" for d in sorted({*easy} & {*hard})]


def check_leakage(case: AuditCase) -> Finding:
    """Fail where queries of both halves share a full answer or are near-doubles; count the rest."""
    leaks = links.leaks(case.evals, case.linked)
    partly = {test for _, test, *_ in links.shared_answers(case.evals, case.linked)}
    found = _some(leaks) or "no answer in full is shared by dev and test"
    found += _also({"test queries that share a relevant document with dev": partly})
    fail = {"Put the queries of each group into one half.": leaks}
    return _finding("leakage", found, fail)


def check_near_duplicates(case: AuditCase) -> Finding:
    """Fail where one of two documents that count as one is an answer; warn of near-duplicates.

    Pages with as many near-duplicates as a template has warn, too, unless they say all the same.
    """
    answers = [query.relevant_doc_ids for query in case.evals.queries.values()]
    near = Counter(chain.from_iterable(case.twins))  # of a document: its near-duplicates
    alike = sorted(case.twins, key=lambda pair: (-case.twins[pair], pair))
    torn, boilerplate = [], []
    for one, other in alike:
        is_torn = any((one in own) != (other in own) for own in answers)
        if not is_torn or (one, other) not in case.linked:
            continue
        is_template = min(near[one], near[other]) >= links.TEMPLATE - 1
        if is_template and case.twins[one, other] < 1:
            boilerplate.append(f"{one} and {other}")
        else:
            torn.append(f"{one} and {other}")
    found = _some((f"{' ~ '.join(pair)} ({case.twins[pair]:.2f})" for pair in alike), WORST)
    fail = {f"Drop one, or label both alike: {_some(torn, WORST)}.": torn}
    leave = "Drop one of each pair, or mark them as versions; leave those of one template."
    look = f"Do these say the same beside their template? {_some(boilerplate, WORST)}."
    warn = {look: boilerplate, leave: alike and not (torn or boilerplate)}
    return _finding("near-duplicates", found or "none", fail, warn)


def check_manifest(case: AuditCase) -> Finding:
    """Fail where a file is not the one in the manifest; warn where there is no manifest."""
    differing = manifest.differences(case.evals.folder)
    missing = differing == [manifest.NO_MANIFEST]
    inputs = how_many(manifest.inputs(case.evals.folder), "file")
    remedy = "Look at what changed, then restore the file or write the manifest anew."
    fail = {remedy: differing and not missing}
    warn = {f"Write one ({command('freeze')}), so that a later change is seen.": missing}
    return _finding("manifest", _some(differing) or f"{inputs} as listed", fail, warn)


AUDIT_CHECKS = [
    check_size,
    check_kinds,
    check_head_and_tail,
    check_halves,
    check_overlap,
    check_duplicate_queries,
    check_coverage,
    check_labels_per_query,
    check_judged_depth,
    check_easy_queries,
    check_evidence,
    check_quotes,
    check_guide,
    check_second_pass,
    check_negatives,
    check_leakage,
    check_near_duplicates,
    check_manifest,
]
