"""What a careful reader asks of an evaluation set, a function for each question."""

from collections import Counter
from collections.abc import Iterable
from math import ceil
from typing import NamedTuple

from .. import chunks, evalset, evidence, files, measures, stats, text
from ..runs import BASELINE
from ..text import how_many
from . import links, manifest, pooling

QUERIES, DOCUMENTS = 30, 100  # below these a set says little
SD = 0.25  # of nDCG differences between two systems, a usual value
IMBALANCE = 3  # largest over smallest count from which a balance is worth a warning
COPIED, CLOSE = 0.95, 0.8  # mean word overlap of queries with their answers
MANY_ANSWERS = 20  # relevant documents of one query
DEPTH, NEGATIVES = 10, 10
SECOND_PAIRS, SECOND_SHARE = 120, 0.2
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

    evals: evalset.EvalSet
    negatives: list[dict]
    second_pass: list[dict]
    twins: dict[tuple[str, str], float]  # near-duplicates that are no versions, with their Jaccard
    linked: set[tuple[str, str]]  # documents that count as one: versions, and the same text twice


def _finding(
    check: str, found: str, fails: dict | None = None, warns: dict | None = None
) -> Finding:
    """Return the finding of a check from {remedy: whether it is needed}, the gravest first."""
    failing = [remedy for remedy, needed in (fails or {}).items() if needed]
    warning = [remedy for remedy, needed in (warns or {}).items() if needed]
    status = "fail" if failing else "warn" if warning else "pass"
    return Finding(check, status, found, " ".join([*failing, *warning]))


def _some(names: Iterable, most: int = 4) -> str:
    """Return the first names, and how many more there are; a pair is query and document."""
    names = [name if isinstance(name, str) else " ".join(name) for name in names]
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + rest


def _counted(counts: dict) -> str:
    return ", ".join(f"{name} {n}" for name, n in sorted(counts.items()))


# Queries.


def check_size(case: AuditCase) -> Finding:
    """Warn below 30 queries, with the difference that so few can show, or 100 documents."""
    queries, documents = len(case.evals.queries), len(case.evals.documents)
    seen = min(stats.detectable(queries, SD), 1) if queries > 1 else 1
    few = (
        f"{how_many(queries, 'query')} can show no difference below {seen:.2f} nDCG (sd {SD}, "
        f"paired t, 80 % power), {QUERIES} none below {stats.detectable(QUERIES, SD):.2f}: "
        "write more."
    )
    by_chance = (
        f"Ten results out of {documents} hit an answer by chance: add documents until there are "
        f"{DOCUMENTS} or more."
    )
    found = f"{how_many(queries, 'query')}, {how_many(documents, 'document')}"
    warns = {few: queries < QUERIES, by_chance: documents < DOCUMENTS}
    return _finding("size", found, warns=warns)


def check_kinds(case: AuditCase) -> Finding:
    """Fail where all queries are of one kind; warn where none says its kind, or few are of one."""
    counts = Counter(query.kind for query in case.evals.queries.values())
    unmarked, fewest = {*counts} == {"unspecified"}, min(counts.values())
    rarest = min(kind for kind in counts if counts[kind] == fewest)
    alone = "Write queries of other kinds: one kind shows one side of a system."
    warns = {
        "Give each query a kind (keyword, symptom, question, ...).": unmarked,
        f"Write more of the kind {rarest}.": max(counts.values()) > IMBALANCE * fewest,
    }
    return _finding("kinds", _counted(counts), {alone: len(counts) == 1 and not unmarked}, warns)


def check_head_and_tail(case: AuditCase) -> Finding:
    """Fail where only frequent or only rare needs are asked for; warn where one side is small."""
    counts = Counter(query.popularity or "not marked" for query in case.evals.queries.values())
    few, many = sorted((counts["head"], counts["tail"]))
    other = "rare needs (tail)" if counts["head"] else "frequent needs (head)"
    one_side = f"Add queries for {other}: the average hides how they fare."
    warns = {
        "Bring head and tail nearer to half each.": few and many > IMBALANCE * few,
        "Mark the popularity of each query: head or tail.": counts["not marked"],
    }
    found = _counted({name: n for name, n in counts.items() if n})
    return _finding("head and tail", found, {one_side: many and not few}, warns)


def check_halves(case: AuditCase) -> Finding:
    """Fail without dev or test; warn where a kind is uneven across them."""
    counts = {split: Counter() for split in evalset.SPLITS}
    for query in case.evals.queries.values():
        counts[query.split][query.kind] += 1
    dev, test = counts.values()
    sizes = {split: counts[split].total() for split in evalset.SPLITS}
    share = sizes["dev"] / sum(sizes.values())
    kinds = sorted({*dev, *test} - {"unspecified"})
    uneven = [kind for kind in kinds if _is_uneven(dev[kind], test[kind], share)]
    fails = {
        f"Set the split of about half of the queries to {split}.": not n
        for split, n in sizes.items()
    }
    warns = {f"Spread evenly over dev and test: {_some(uneven)}.": uneven and all(sizes.values())}
    return _finding("halves", _counted(sizes), fails, warns)


def _is_uneven(dev: int, test: int, share: float) -> bool:
    """Return whether a kind is twice as frequent in one half; `share` of all queries are dev."""
    share = share if 1 / 3 <= share <= 2 / 3 else 0.5  # no design puts halves further apart
    few, many = sorted((dev * (1 - share), test * share))
    return abs(dev - share * (dev + test)) > 0.5 and many > 2 * few  # five cannot be halved


def check_overlap(case: AuditCase) -> Finding:
    """Fail where queries are copied from titles or nearly all their words stand in the answers."""
    words, queries = case.evals.words, case.evals.queries
    titles = {tuple(words(document.title)) for document in case.evals.documents.values()}
    copies = [q for q, query in queries.items() if tuple(words(query.query)) in titles]
    mean = sum(map(case.evals.word_overlap, queries.values())) / len(queries)
    fails = {
        f"Ask {_some(copies)} in the words of somebody who has not seen the title.": copies,
        "Write queries from needs, before reading the answers.": mean > COPIED,
    }
    close = "Add paraphrases: most words are those of the answer."
    found = f"mean share of words found in the answers {mean:.2f}; equal to a title: {len(copies)}"
    return _finding("overlap", found, fails, {close: CLOSE < mean <= COPIED})


def check_duplicate_queries(case: AuditCase) -> Finding:
    """Fail where two queries are the same words in one order, whatever case and punctuation."""
    groups: dict[tuple, list[str]] = {}
    for query in case.evals.queries.values():
        groups.setdefault(tuple(case.evals.words(query.query)), []).append(query.query_id)
    twice = [" = ".join(ids) for ids in groups.values() if len(ids) > 1]
    fails = {"Keep one of each: a query asked twice counts twice.": twice}
    return _finding("same query", _some(twice) or "every query asked once", fails)


# Labels.


def check_reach(case: AuditCase) -> Finding:
    """Fail where the queries reach too few documents; warn where they miss a service or kind.

    Wanted: half of the documents, or, in a large corpus, as many as there are queries.
    """
    documents, queries = case.evals.documents, case.evals.queries
    reached = {d for query in queries.values() for d in query.relevant_doc_ids}
    share, wanted = len(reached) / len(documents), min(0.5, len(queries) / len(documents))
    missed = []
    for field in ("service", "kind"):
        names = {getattr(document, field) for document in documents.values()} - {"unspecified"}
        asked = {getattr(documents[doc_id], field) for doc_id in reached}
        missed += [f"{field} {name}" for name in sorted(names - asked)]
    found = f"{len(reached)} of {how_many(len(documents), 'document')} reached ({share:.0%})"
    found += f", none of {_some(missed)}" if missed else ""
    fails = {"Write queries for documents that none reaches.": share < wanted}
    warns = {f"Nobody asks about {_some(missed)}: add a query or leave it out.": missed}
    return _finding("coverage", found, fails, warns)


def check_labels_per_query(case: AuditCase) -> Finding:
    """Fail for a query without labels; warn for over 20 relevant documents or a single grade."""
    relevant = {q: sum(g > 0 for g in row.values()) for q, row in case.evals.qrels().items()}
    none = [q for q, n in relevant.items() if not n]
    many = [q for q, n in relevant.items() if n > MANY_ANSWERS]
    grades = Counter(judgment.relevance for judgment in case.evals.judgments)
    highest, low, high = case.evals.grades[-1], min(relevant.values()), max(relevant.values())
    warns = {
        f"Narrow {_some(many)}: over {MANY_ANSWERS} answers.": many,
        f"Tell whole answers ({highest}) from partial ones (1).": highest > 1
        and len(grades.keys() - {0}) < 2,
    }
    found = f"{low} to " * (low < high) + f"{how_many(high, 'relevant document')} a query"
    found += "; grade " + _counted(grades) if grades else ""
    return _finding("labels per query", found, {f"Label {_some(none)}, or drop them.": none}, warns)


def check_judged_depth(case: AuditCase) -> Finding:
    """Fail where under half of some ranker's first ten are judged, of any query; warn below all."""
    qrels, shares = _judged(case.evals), {}
    for name, run in pooling.by_ranker(case.evals, DEPTH).items():
        answered = {q: qrels[q] for q, ranking in run.items() if ranking}  # else nothing to judge
        shares[name] = measures.judged_at(answered, run, DEPTH) if answered else 1.0
    worst = min(shares, key=lambda name: (shares[name], name))
    found = f"{shares[worst]:.1%} of the first {DEPTH} of {worst} are judged, the least of "
    found += f"{len(shares)} rankers (most {max(shares.values()):.1%})"
    remedy = f"Judge the first {DEPTH} of each ranker: an unjudged answer counts as wrong."
    few = shares[worst] < 0.5
    return _finding("judged depth", found, {remedy: few}, {remedy: not few and shares[worst] < 1})


def _judged(evals: evalset.EvalSet) -> measures.Qrels:
    """Return {query_id: {doc_id: grade}}, also of the queries without an answer."""
    qrels = {query_id: {} for query_id in evals.asked}
    for judgment in evals.judgments:
        qrels[judgment.query_id][judgment.doc_id] = judgment.relevance
    return qrels


def check_evidence(case: AuditCase) -> Finding:
    """Fail where a relevant label has no quote; warn where there is no judgments.jsonl at all."""
    relevant = [judgment for judgment in case.evals.judgments if judgment.relevance]
    bare = [judgment[:2] for judgment in relevant if not judgment.evidence]
    found = f"{len(relevant) - len(bare)} of {how_many(len(relevant), 'relevant label')} quoted"
    graded = (case.evals.folder / "judgments.jsonl").exists()
    fails = {f"Quote the passage that proves {_some(bare)}.": bare and graded}
    warns = {"Write judgments.jsonl: a grade and a verbatim quote for each answer.": not graded}
    return _finding("evidence", found, fails, warns)


def check_quotes(case: AuditCase) -> Finding:
    """Warn of quotes longer than a chunk, cut by every chunker, or standing in other documents."""
    quotes = {j[:2]: j.evidence for j in case.evals.judgments if j.relevance and j.evidence}
    most = BASELINE["chunk_tokens"]
    long = [pair for pair, own in quotes.items() if any(len(text.token_ids(q)) > most for q in own)]
    cut, shared = _always_cut(case.evals, quotes), _elsewhere(case.evals, quotes)
    only_cut = [pair for pair in cut if pair not in long]
    warns = {
        f"No chunk holds the quotes of {_some(long)}: quote the shortest passage.": long,
        f"Every chunker cuts the quotes of {_some(only_cut)}.": only_cut,
        f"A quote stands in other documents, too: {_some(shared)}.": shared,
    }
    n = how_many(sum(map(len, quotes.values())), "quote")
    found = f"{n}: {len(long)} too long, {len(cut)} cut everywhere, {len(shared)} not unique"
    return _finding("quotes", found, warns=warns)


def _always_cut(evals: evalset.EvalSet, quotes: dict[tuple, tuple[str, ...]]) -> list[tuple]:
    """Return the pairs of which no quote is whole in any chunk of any saved set of chunks."""
    by_document: dict[str, list[chunks.Chunk]] = {}
    for path in sorted((evals.folder / "chunks").glob("*.jsonl")):
        for chunk in chunks.read_chunks(path):
            by_document.setdefault(chunk.doc_id, []).append(chunk)
    cut = []
    for (query_id, doc_id), own in quotes.items():
        body = evals.documents[doc_id].retrieval_text
        places = [place for quote in own for place in evidence.places(quote, body)]
        if not any(evidence.whole(places, chunk) for chunk in by_document.get(doc_id, ())):
            cut.append((query_id, doc_id))
    return cut if by_document else []  # nothing was cut yet


def _elsewhere(evals: evalset.EvalSet, quotes: dict[tuple, tuple[str, ...]]) -> list[tuple]:
    """Return the pairs with a quote that stands in another document, too.

    A version or a copy may say the same in the same words.
    """
    bodies = {doc_id: document.retrieval_text for doc_id, document in evals.documents.items()}
    same = {(d, d) for d in bodies} | {
        pair for a, b in evals.versions() for pair in ((a, b), (b, a))
    }
    return [
        (query_id, doc_id)
        for (query_id, doc_id), own in quotes.items()
        if any(q in body for q in own for d, body in bodies.items() if (doc_id, d) not in same)
    ]


def check_guide(case: AuditCase) -> Finding:
    """Fail where labeling_guide.md is missing, short, or silent about a grade that was given."""
    path = case.evals.folder / "labeling_guide.md"
    if not path.exists():
        remedy = "Write down how each grade is decided, with edge cases."
        return _finding("labelling guide", "no labeling_guide.md", {remedy: True})
    words = case.evals.words(files.optional_page(path))
    grades = sorted({judgment.relevance for judgment in case.evals.judgments})
    silent = [f"grade {grade}" for grade in grades if str(grade) not in words]
    short = "Add a test for each grade, edge cases and worked examples."
    fails = {f"Say when to give {_some(silent)}.": silent, short: len(words) < GUIDE_WORDS}
    return _finding("labelling guide", how_many(len(words), "word"), fails)


def check_second_pass(case: AuditCase) -> Finding:
    """Compare two readings: Cohen's kappa (Cohen 1960, unweighted), size, reasons, final grades."""
    rows = case.second_pass
    if not rows:
        remedy = "Judge a share of the pairs again, blind, into second_pass.jsonl."
        return _finding("second pass", "no second reading", warns={remedy: True})
    readings = ([row[name] for row in rows] for name in ("first", "second"))
    kappa, qrels = stats.kappa(*readings, case.evals.grades), _judged(case.evals)
    stale, silent, differ = [], [], 0
    for row in rows:
        pair, differs = (row["query_id"], row["doc_id"]), row["first"] != row["second"]
        differ += differs
        stale += [pair] * (qrels[pair[0]].get(pair[1]) != row["final"])
        silent += [pair] * (differs and not row["reason"].strip())
    poor = kappa is not None and kappa < POOR_KAPPA
    unclear = not poor and (kappa is None or kappa < FAIR_KAPPA)
    wanted = min(SECOND_PAIRS, SECOND_SHARE * len(case.evals.judgments))
    fails = {
        f"The final grade is not the one in judgments.jsonl: {_some(stale)}.": stale,
        "Sharpen the guide, then judge again.": poor,
    }
    warns = {
        "Clear up the guide where the readings differ; include hard pairs.": unclear,
        f"Judge at least {how_many(ceil(wanted), 'pair')} twice.": len(rows) < wanted,
        f"Give a reason for {_some(silent)}.": silent,
    }
    zeros, agreed = sum(row["first"] == 0 for row in rows), 1 - differ / len(rows)
    shown = "kappa undefined (one grade only)" if kappa is None else f"kappa {kappa:.2f}"
    found = f"{how_many(len(rows), 'pair')}, {zeros} of grade 0; {agreed:.0%} agree, {shown}"
    people = [row["first"] == row["second"] for row in rows if row.get("reader") == "person"]
    found += f"; people: {sum(people)} of {how_many(len(people), 'pair')}" * bool(people)
    return _finding("second pass", found, fails, warns)


def check_negatives(case: AuditCase) -> Finding:
    """Fail where a negative is judged relevant, unknown or both easy and hard; warn below ten."""
    goal, queries = f"{NEGATIVES} easy and {NEGATIVES} hard", case.evals.queries
    if not case.negatives:
        remedy = f"Write negatives.jsonl: {goal} ones a query."
        return _finding("negatives", "no negatives", warns={remedy: True})
    wrong, short = [], {*queries}
    for row in case.negatives:
        query_id, easy, hard = row["query_id"], row["easy"], row["hard"]
        relevant = case.evals.asked[query_id].relevant_doc_ids
        wrong += [f"{query_id} {d} (judged relevant)" for d in [*easy, *hard] if d in relevant]
        wrong += [f"{query_id} {d} (easy and hard)" for d in sorted({*easy} & {*hard})]
        short -= {query_id} if min(len(easy), len(hard)) >= NEGATIVES else set()
    whole = f"{len(queries) - len(short)} of {how_many(len(queries), 'query')}"
    fails = {f"Replace {_some(wrong)}.": wrong}
    warns = {f"Choose {goal} ones for {_some(q for q in queries if q in short)}.": short}
    return _finding("negatives", f"{goal} for {whole}; {len(wrong)} wrong", fails, warns)


def check_leakage(case: AuditCase) -> Finding:
    """Fail where queries of both halves share an answer, or answers that count as one."""
    leaks = [
        f"{dev} and {test} through {a if a == b else f'{a} ~ {b}'}"
        for dev, test, a, b in links.leaking_answers(case.evals, case.linked)
    ]
    fails = {"Put the queries of each group into one half.": leaks}
    return _finding("leakage", _some(leaks) or "no answer is shared by dev and test", fails)


def check_near_duplicates(case: AuditCase) -> Finding:
    """Fail where one of two documents that count as one is an answer; warn of near-duplicates."""
    queries = case.evals.queries.values()
    relevant = {
        doc_id: {query.query_id for query in queries if doc_id in query.relevant_doc_ids}
        for pair in case.twins
        for doc_id in pair
    }
    same = sorted(case.linked & {*case.twins})
    torn = [f"{a} and {b}" for a, b in same if relevant[a] != relevant[b]]
    alike = sorted(case.twins, key=lambda pair: (-case.twins[pair], pair))
    found = _some(f"{a} ~ {b} ({case.twins[a, b]:.2f})" for a, b in alike) or "none"
    fails = {f"Drop one, or label both alike: {_some(torn)}.": torn}
    warns = {"Drop one of each pair, or mark them as versions.": alike and not torn}
    return _finding("near-duplicates", found, fails, warns)


def check_manifest(case: AuditCase) -> Finding:
    """Fail where a file is not the one in the manifest; warn where there is no manifest."""
    differing = manifest.differences(case.evals.folder)
    if differing == [manifest.NO_MANIFEST]:
        remedy = "Write one (make freeze), so that a later change of an input is seen."
        return _finding("manifest", "no manifest.json", warns={remedy: True})
    inputs = how_many(len(manifest.inputs(case.evals.folder)), "file")
    remedy = "Look at what changed, then restore the file or write the manifest anew."
    return _finding("manifest", _some(differing) or f"{inputs} as listed", {remedy: differing})


AUDIT_CHECKS = (
    *(check_size, check_kinds, check_head_and_tail, check_halves, check_overlap),
    *(check_duplicate_queries, check_reach, check_labels_per_query, check_judged_depth),
    *(check_evidence, check_quotes, check_guide, check_second_pass, check_negatives),
    *(check_leakage, check_near_duplicates, check_manifest),
)
