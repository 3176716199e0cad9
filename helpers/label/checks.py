"""What a careful reader asks of an evaluation set, a function for each question."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import cache
from itertools import chain, combinations
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
    """Return how many there are of each, where there are some."""
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
    queries = case.evals.queries.values()
    counts = Counter(query.kind for query in queries)
    rarest = min(counts, key=lambda kind: (counts[kind], kind))
    unmarked = {*counts} == {"unspecified"}
    dated = set(chain.from_iterable(case.linked))
    dated |= {doc_id for doc_id, document in case.evals.documents.items() if document.version}
    single = [q.query_id for q in queries if q.kind == "multi" and len(q.relevant_doc_ids) == 1]
    temporal = [q for q in queries if q.kind == "temporal"]
    undated = [q.query_id for q in temporal if dated.isdisjoint(q.relevant_doc_ids)]
    alone = "Write queries of other kinds: one kind shows one side of a system."
    warn = {
        "Give each query a kind (keyword, symptom, question, ...).": unmarked,
        f"Write more of the kind {rarest}.": max(counts.values()) > IMBALANCE * counts[rarest],
        f"Label what answers the other part of {_some(single)}, or change their kind.": single,
        f"Give the answers of {_some(undated)} a version, or change their kind.": undated,
    }
    fail = {alone: len(counts) == 1 and not unmarked}
    also = _also({"multi with one answer": single, "temporal without a version": undated})
    return _finding("kinds", counted(counts) + also, fail, warn)


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
    sizes = {"dev": dev.total(), "test": test.total()}
    share, kinds = sizes["dev"] / len(queries), sorted({*dev, *test} - {"unspecified"})
    uneven = [kind for kind in kinds if _is_uneven(dev[kind], test[kind], share)]
    few = len(queries) < stats.HALVES_FROM
    fail = {"Set about a third of the queries to dev.": not sizes["dev"]}
    fail["Set about two thirds of the queries to test."] = not (sizes["test"] or few)
    small = [split for split, n in sizes.items() if 0 < n < QUERIES / 2 and not few]
    warn = {
        f"Set {QUERIES // 2} queries or more to {_some(small)}: fewer measure little.": small,
        f"Spread evenly over dev and test: {_some(uneven)}.": uneven and all(sizes.values()),
    }
    found = counted(sizes)
    if few:
        found += f"; a test half pays from {stats.HALVES_FROM} queries on"
        if not case.evals.imported:  # else the source has its halves, or they were asked for
            warn = {"Set all queries to dev.": sizes["test"]}
    return _finding("halves", found, fail, warn)


def _is_uneven(dev: int, test: int, share: float) -> bool:
    """Return whether a kind is twice as frequent in one half; `share` of all queries are dev."""
    few, many = sorted((dev * (1 - share), test * share))
    return abs(dev - share * (dev + test)) > 0.5 and many > 2 * few  # five cannot be halved


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
    queries, same, answering = case.evals.queries, defaultdict(list), defaultdict(list)
    for query_id, query in queries.items():
        same[tuple(case.evals.words(query.query))].append(query_id)
        if query.answers:
            answers = frozenset(answer.lower() for answer in query.answers)
            for doc_id in query.relevant_doc_ids:
                answering[doc_id, answers].append(query_id)
    twice = [" = ".join(ids) for ids in same.values() if len(ids) > 1]
    content = {ids[0]: text.content_words([*words]) for words, ids in same.items()}
    pairs = set(text.near_duplicates(content, links.DOUBLE, size=1))
    for ids in answering.values():
        pairs.update(combinations(ids, 2))
    near, unlike = [], []
    for one, other in sorted(pairs):
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


# Labels.


def check_reach(case: AuditCase) -> Finding:
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
    grades, shares = defaultdict(dict), {}
    for query_id, doc_id, grade, _ in case.evals.judgments:
        grades[query_id][doc_id] = grade
    for name, run in case.rankers.items():
        answered = {q: grades[q] for q in case.evals.settled_queries if run.get(q)}
        shares[name] = 1.0  # where nothing is found, nothing is to be judged
        if answered:
            shares[name] = measures.judged_at(answered, run, DEPTH)
    worst = min(sorted(shares), key=shares.get)
    found = f"{shares[worst]:.1%} of the first {DEPTH} of {worst} are judged, the least of "
    found += f"{len(shares)} rankers (most {max(shares.values()):.1%})"
    remedy = f"Judge the first {DEPTH} of each ranker: an unjudged answer counts as wrong."
    few = shares[worst] < 0.5 and not case.skipped
    warn = {remedy: not few and shares[worst] < 1}
    return _finding("judged depth", found, fail={remedy: few}, warn=warn)


def check_solved(case: AuditCase) -> Finding:
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
    relevant, cut = [j for j in case.evals.judgments if j.relevance], _always_cut(case.evals)
    quotes = {quote for label in relevant for quote in label.evidence}
    holders, earned = _holders(case.evals, quotes), defaultdict(int)  # the grade, by pair
    for label in relevant:
        for doc_id in chain.from_iterable(holders[quote] for quote in label.evidence):
            pair = label.query_id, doc_id
            earned[pair] = max(earned[pair], label.relevance)
    grades = {label.pair: label.relevance for label in case.evals.judgments}
    confirmed = {text.pair_of(row) for row in case.second_pass}
    wanting = sorted(p for p in earned.keys() - confirmed if grades.get(p, -1) < earned[p])
    lower = [pair for pair in wanting if pair in grades]
    unjudged = [pair for pair in wanting if pair not in grades]
    again = _some(map(" ".join, wanting))
    warn = {
        f"Every chunker cuts the quotes of {_some(cut)}: quote the shortest passage.": cut,
        f"Judge anew, or quote what only the answer says: {again}.": wanting,
    }
    n = sum(len(label.evidence) for label in relevant)
    found = f"{how_many(n, 'quote')}: {len(cut)} cut everywhere"
    found += _also({"in a document with a lower grade": lower, "in one not judged": unjudged})
    return _finding("quotes", found, warn=warn)


def _holders(evals: EvalSet, quotes: set[tuple[str, ...]]) -> dict[tuple[str, ...], list[str]]:
    """Return {quote, as its parts: documents that hold them all}, of quotes of five words or more.

    Only documents with its rarest run of words are looked at, of a template's the first COPIES.
    """
    runs = {part: text.shingles(evals.words(part)) for quote in quotes for part in quote}
    wanted, having = set().union(*runs.values()), defaultdict(list)
    bodies = evals.texts
    for doc_id, body in bodies.items():
        for run in wanted & text.shingles(evals.words(body)):
            having[run].append(doc_id)
    holders = {}
    for quote in quotes:
        own = having.keys() & set().union(*(runs[part] for part in quote))
        holders[quote] = []
        for doc_id in min((having[run] for run in own), key=len, default=()):
            if all(part in bodies[doc_id] for part in quote):
                holders[quote].append(doc_id)
            if len(holders[quote]) == text.COPIES:
                break
    return holders


def _always_cut(evals: EvalSet) -> list[str]:
    """Return "query document" of each label whose evidence is whole in no saved set of chunks."""
    chunks_of = defaultdict(lambda: defaultdict(list))  # of a document: by their file
    for path in (evals.folder / "chunks").glob("*.jsonl"):
        for chunk in chunks.read_chunks(path):
            chunks_of[chunk.doc_id][path].append(chunk)
    cut = []
    for query_id, wanted in evidence.quoted_queries(evals).items() if chunks_of else ():
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
    rows = _second_readings(case)
    labels = {" ".join(label.pair): label.relevance for label in case.evals.judgments}
    newest = _newest_check(rows)
    check = rows[rows["round"] == newest]
    kappa = stats.kappa(check["first"], check["second"], case.evals.grades)
    pairs = rows["pair"]
    stale = pairs[pairs.map(labels) != rows["final"]].unique()
    silent = {*pairs[~rows["equal"]]} - {*pairs[rows["settled"]]}
    poor = kappa is not None and kappa < POOR_KAPPA
    wanted = min(SECOND_PAIRS, ceil(SECOND_SHARE * len(labels)))
    fail = {
        f"The final grade is not the one in judgments.jsonl: {_some(stale)}.": len(stale),
        "Sharpen the guide, then judge again.": poor,
    }
    unclear = "Clear up the guide where the readings differ; include hard pairs."
    warn = {
        unclear: not poor and (kappa is None or kappa < FAIR_KAPPA),
        f"Judge at least {how_many(wanted, 'pair')} twice.": len(check) < wanted,
        f"Give a reason for {_some(sorted(silent))}.": silent,
    }
    found = [_readings(n, own, case.evals.grades) for n, own in rows.groupby("round")]
    if len(found) > 1:
        found.append(f"judged by round {newest}")
    return _finding("second pass", "; ".join(found), fail, warn)


def _second_readings(case: AuditCase) -> pd.DataFrame:
    """Return the rows with `pair`, `equal` grades, and `settled`, by most readings or a reason."""
    rows = pd.DataFrame(case.second_pass)
    rows["pair"] = rows["query_id"] + " " + rows["doc_id"]
    rows["equal"] = rows["first"] == rows["second"]
    majority = {" ".join(pair): n for pair, n in stats.majorities(case.second_pass).items()}
    rows["settled"] = rows["pair"].map(majority) == rows["final"]
    rows["settled"] |= rows["reason"].str.strip() != ""
    return rows


def _newest_check(rows: pd.DataFrame) -> int:
    """Return the newest round that didn't mostly settle pairs on which earlier readers differed."""
    since = rows[~rows["equal"]].groupby("pair")["round"].min()
    disputed = rows["pair"].map(since) < rows["round"]
    return max(n for n, again in disputed.groupby(rows["round"]) if again.mean() <= 0.5)


def _readings(number: int, rows: pd.DataFrame, grades: tuple[int, ...]) -> str:
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
        query_id, easy, hard = row["query_id"], row["easy"], row["hard"]
        relevant = case.evals.all_queries[query_id].relevant_doc_ids
        for doc_id in [*easy, *hard]:
            if doc_id in relevant:
                wrong.append(f"{query_id} {doc_id} (judged relevant)")
        for doc_id in sorted({*easy} & {*hard}):
            wrong.append(f"{query_id} {doc_id} (easy and hard)")
        if min(len(easy), len(hard)) >= NEGATIVES:
            short.discard(query_id)
    found = f"{goal} for {len(queries) - len(short)} of {how_many(queries, 'query')}"
    fail = {f"Replace {_some(wrong)}: {command('freeze')} draws negatives anew.": wrong}
    warn = {
        f"Run {command('freeze')}, which draws them, for {_some(sorted(short))}. Hard ones are "
        "judged 0, easy ones brought by no ranker: where they stay too few, judge more or add "
        "documents.": short,
    }
    return _finding("negatives", f"{found}; {len(wrong)} wrong", fail, warn)


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
        if (one, other) in case.linked and any((one in own) != (other in own) for own in answers):
            group = torn
            if min(near[one], near[other]) >= links.TEMPLATE - 1 and case.twins[one, other] < 1:
                group = boilerplate
            group.append(f"{one} and {other}")
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
    check_reach,
    check_labels_per_query,
    check_judged_depth,
    check_solved,
    check_evidence,
    check_quotes,
    check_guide,
    check_second_pass,
    check_negatives,
    check_leakage,
    check_near_duplicates,
    check_manifest,
]
