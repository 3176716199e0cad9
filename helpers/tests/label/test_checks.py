"""Each question of the audit at its thresholds: a row is a set, a status, words of the finding."""

import itertools
import re
import shutil

from labelled_sets import BAD_SET, by_check, change, complete, document

from helpers.label import checks
from helpers.measure import chunks, evalset

LETTERS, MORE = [*"abcdefghij"], [*"klmnopqrst"]  # ten documents each


def made(queries=(), documents=(), judgments=(), highest=2, folder=BAD_SET, **more):
    """Return the case of a set without files; what is judged 1 or more is relevant."""
    queries = {query.query_id: query for query in queries}
    for query_id, doc_id, *grade in judgments:
        if grade[0]:
            ids = queries[query_id].relevant_doc_ids
            queries[query_id] = queries[query_id]._replace(relevant_doc_ids=(*ids, doc_id))
    labels = [label_of(*j) for j in judgments]
    grades = tuple(range(highest + 1))
    documents = {d.doc_id: d for d in documents}
    evals = evalset.EvalSet(folder, documents, queries, labels, grades=grades)
    rest = {"negatives": [], "second_pass": [], "twins": {}, "linked": set(), "rankers": {}}
    rest |= {"skipped": []} | more
    return checks.AuditCase(evals, **rest)


def label_of(query_id, doc_id, relevance, evidence=()):
    quotes = tuple(map(evalset.Quotes, evidence))
    return evalset.Judgment(query_id, doc_id, relevance, quotes)


def asks(query_id, answers="", wording="?", **fields):
    return evalset.Query(f"{query_id}", wording, tuple(answers.split()), **fields)


def pages(names, **fields):
    names = names.split() if isinstance(names, str) else [f"d{n}" for n in range(names)]
    return [evalset.Document(name, "", name, **fields) for name in names]


def sized(queries, documents):
    return made(map(asks, range(queries)), pages(documents))


def popularity(marks):
    return made([asks(n, popularity=mark) for n, mark in enumerate(marks.split())])


def promised(kind, answers, linked=(), **fields):
    """Return two queries of a kind and one of another; the first has these answers among a, b."""
    queries = [asks("q1", answers, kind=kind), asks("q2", "a b", kind=kind), asks(3, kind="x")]
    return made(queries, pages("a", **fields) + pages("b"), linked={*linked})


def halves(dev, test):
    """Return a query for each letter, which is its kind; "-" is none."""
    letters = [("dev", letter) for letter in dev] + [("test", letter) for letter in test]
    kinds = {"-": "unspecified"}
    return made([asks(n, split=s, kind=kinds.get(k, k)) for n, (s, k) in enumerate(letters)])


def theirs(case):
    """Return the case of an imported set."""
    return case._replace(evals=case.evals._replace(imported="beir"))


def overlapping(share):
    """Of twenty content words of the query so many stand in the answer."""
    words = [f"w{n}" for n in range(20)]
    answer = evalset.Document("d", "", " ".join(reversed(words[:share])))
    return made([asks("q", "d", " ".join(words))], [answer])


def worded(*wordings):
    """Return a query for each wording; all are answered by one document."""
    queries = [asks(f"q{n}", "d", words) for n, words in enumerate(wordings, 1)]
    return made(queries, [evalset.Document("d", "Disk full", "delete logs now")])


def copying(wording, kind="mail", words="words", title="Disk"):
    """Return the case of a query with one answer."""
    body = "Then wait for the next deploy of storage. 再起動してから待つことにする"
    case = made([asks("q", "d", wording, kind=kind)], [evalset.Document("d", title, body)])
    return case._replace(evals=case.evals._replace(tokenizer=words))


def doubles(*answers, wording=("disk full", "mail late")):
    """Return two queries; each of `answers` holds documents and, after a slash, a short answer."""
    queries = []
    for n, own in enumerate(answers):
        ids, _, short = own.partition("/")
        query = asks(f"q{n + 1}", ids, wording[n])
        queries.append(query._replace(answers=(short,) if short else ()))
    return made(queries)


def ranked(*solved):
    """Return three queries, and a ranker for each number of those whose answer it finds."""
    ids = ["q0", "q1", "q2"]
    run = lambda n: {q: [("a" if q in ids[:n] else "b", 1.0)] for q in ids}  # noqa: E731
    labels = [(q, "a", 2) for q in ids]
    return made(map(asks, ids), judgments=labels, rankers={f"r{n}": run(n) for n in solved})


def reaching(reached, documents, queries):
    return made([asks(n, f"d{n % reached}") for n in range(queries)], pages(documents))


def services(*answers):
    """Four documents of three services and two kinds, and a query for each of `answers`."""
    documents = pages("a", service="disk", kind="runbook") + pages("b", service="mail", kind="note")
    documents += pages("c", service="fax", kind="runbook") + pages("d")
    return made([asks(n, own) for n, own in enumerate(answers)], documents)


def labelled(*judgments, queries=2, **more):
    return made([asks(f"q{n}") for n in range(1, queries + 1)], judgments=judgments, **more)


def answers(n):
    return labelled(*(("q1", f"d{i}", 1 + i % 2) for i in range(n)), queries=1)


def negatives(easy, hard, relevant="", queries=2):
    rows = [{"query_id": "q1", "easy": easy, "hard": hard}]
    return made([asks("q1", relevant), asks("q2")][:queries], negatives=rows)


def reread(query_id, doc_id, first, second, final, reason="an edge", **more):
    names = ("query_id", "doc_id", "first", "second", "final", "reason")
    row = dict(zip(names, (query_id, doc_id, first, second, final, reason), strict=True))
    return {"round": 1} | row | more


def second_pass(rows, queries=2, labels=None):
    final = [(r["query_id"], r["doc_id"], r["final"]) for r in rows]
    return labelled(*(labels or final), queries=queries, second_pass=rows)


def readings(n, differ=0, labels=0):
    """Return n readings of the grades 0, 1, 2, 0, ...; the first `differ` differ by one.

    Of the `labels` only the first n are above 0.
    """
    grades = [(n % 3, (n % 3 + (n < differ)) % 3) for n in range(n)]
    rows = [reread("q1", f"d{n}", a, b, a) for n, (a, b) in enumerate(grades)]
    given = [("q1", f"d{m}", m % 3 * (m < n)) for m in range(labels)]
    return second_pass(rows, 1, given)


def read_again(disputed, others, differ=0):
    """Return 90 readings, 24 of which differ, and a round on so many of these and of the others."""
    case = readings(90, 24)
    again = case.second_pass[:disputed] + case.second_pass[24 : 24 + others]
    for n, row in enumerate(again):
        again[n] = row | {"round": 2, "second": (row["first"] + (n < differ)) % 3}
    return case._replace(second_pass=[*case.second_pass, *again])


def alike(*linked):
    return made([asks("q1", "a b"), asks("q2", "c")], twins=TWINS, linked={*linked})


def template(ids, share):
    """Return pages of which each is like each other; the first two answer a query each."""
    twins = dict.fromkeys(itertools.combinations(ids, 2), share)
    return made([asks("q1", "a"), asks("q2", "b")], twins=twins, linked={*twins})


LEAKING = [asks("q1", split="dev"), asks("q2", split="test"), asks("q3", split="test")]
FULL = [("q1", "a", 2), ("q1", "b", 2), ("q2", "a", 2), ("q3", "c", 2)]
PARTLY = [("q1", "a", 1), *FULL[1:2], ("q2", "a", 1), ("q2", "d", 2), ("q3", "c", 2)]
TWINS = {("a", "b"): 0.3, ("e", "f"): 0.5, ("c", "d"): 0.5, ("a", "c"): 0.2}
SHOWN = "c ~ d (0.50), e ~ f (0.50), a ~ b (0.30), a ~ c (0.20)"
TEN = "10 easy and 10 hard"
FOUR_GRADES = [("q1", "a", 1), ("q1", "b", 2), ("q2", "a", 1), ("q2", "b", 0)]
BARE = [("q1", "a", 1, ()), ("q1", "b", 2, ("b",)), ("q1", "c", 0), ("q2", "a", 1, ())]
UNLIKE = [reread("q1", "a", 0, 2, 2), reread("q1", "b", 1, 0, 1, " ")]
UNLIKE += [reread("q2", "a", 0, 0, 1, " "), reread("q2", "c", 2, 2, 2)]
THRICE = [reread("q1", "a", 0, 2, 2), reread("q1", "a", 0, 2, 2, round=2)]  # settled by majority
THRICE += [reread("q1", "b", 0, 2, 1), reread("q1", "b", 0, 1, 1, round=2)]
THRICE += [reread("q1", "c", 0, 2, 0), reread("q1", "c", 0, 2, 0, round=2)]
THRICE += [reread("q1", "d", 0, 2, 2), reread("q1", "d", 0, 2, 2, round=3)]
STALE = [("q1", "a", 2), ("q1", "b", 1), ("q2", "a", 0)]
ONE_ZERO = [reread("q2", "a", 0, 0, 0), reread("q1", "a", 0, 0, 0)]
ONE_ZERO += [reread("q1", "b", 0, 0, 0), reread("q2", "b", 0, 1, 0)]

TEN_OF_TWO, A_AND_B = [("q1", f"d{n}", 0) for n in range(10)], [("q2", "a", 0), ("q2", "b", 0)]
MANY_LIKE_Z = made(twins={(name, "z"): 0.5 for name in "abcdef"})
RANKERS = {
    "two": {"q1": [(f"d{n}", 10.0 - n) for n in range(10)], "q2": [("a", 2.0), ("b", 1.0)]},
    "one": {"q1": [("c", 1.0)], "q2": []},
    "none": {"q1": [], "q2": []},
}


def judged(*labels):
    return labelled(*labels, ("q1", "c", 0), rankers=RANKERS)


def without_answer(case):
    """Return a case whose q2 is set aside."""
    queries = dict(case.evals.queries)
    unanswered = {"q2": queries.pop("q2")}
    return case._replace(evals=case.evals._replace(queries=queries, unanswered=unanswered))


CASES = {  # check: sets, each with its status and words of the finding, in their order
    checks.check_size: [
        (sized(8, 2), "warn", "8 queries, 2 documents", "0.29", "100 or more"),
        (sized(29, 100), "warn", "29 show no"),
        (sized(30, 99), "warn", "30 queries, 99 documents", "Add documents"),
        (sized(30, 100), "pass", "30 queries, 100 documents"),
        (sized(1, 100), "warn", "1 query, ", "below 1.00"),
    ],
    checks.check_kinds: [
        (halves("-", ""), "warn", "Give each query a kind"),
        (halves("aa", ""), "fail", "a 2", "Write queries of other kinds"),
        (halves("-a", ""), "pass", "a 1, unspecified 1"),
        (halves("aaaacb", ""), "warn", "a 4, b 1, c 1", "kind b."),
        (halves("aaab", ""), "pass", "a 3, b 1"),
        (promised("multi", "a"), "warn", "x 1; multi with one answer: 1", "other part of q1, or"),
        (promised("multi", "a b"), "pass", "multi 2, x 1"),
        (promised("temporal", "a b"), "warn", "; temporal without a version: 2", "of q1, q2 a ver"),
        (promised("temporal", "b", version="2"), "warn", "a version: 1", "answers of q1 a"),
        (promised("temporal", "b", [("b", "c")]), "pass", "temporal 2, x 1"),
    ],
    checks.check_head_and_tail: [
        (popularity("head head"), "fail", "head 2", "rare needs (tail)"),
        (popularity("tail"), "fail", "tail 1", "frequent needs (head)"),
        (popularity("head head head head tail"), "warn", "nearer to half each"),
        (popularity("head head head tail"), "pass", ""),
        (made([asks(1, popularity="head"), asks(2, popularity="tail"), asks(3)]), "pass", "")
        + ("not marked 1",),
        (made([asks(1, popularity="head"), asks(2)]), "fail", "rare needs", "Mark the popularity"),
    ],
    checks.check_halves: [
        (halves("a" * 59, ""), "pass", "dev 59, test 0; a test half pays from 60 queries on"),
        (halves("a" * 60, ""), "fail", "dev 60, test 0 | Set about two thirds of the queries to t"),
        (halves("a" * 20, "a" * 39), "warn", "dev 20, test 39", "| Set all queries to dev."),
        (halves("a" * 20, "a" * 40), "pass", "dev 20, test 40"),
        (halves("", "a"), "fail", "queries to dev."),
        (theirs(halves("aab", "a")), "pass", "dev 3, test 1"),
        (theirs(halves("abbb", "aa")), "warn", "Spread evenly", "test: a, b."),
        (theirs(halves("aa" + "b" * 4, "a" * 4 + "bb")), "pass", ""),
        (theirs(halves("-------", "--")), "pass", ""),
        (theirs(halves("ab" * 7, "ab" * 22)), "pass", "dev 14, test 44"),
        (halves("ab" * 7, "ab" * 23), "warn", "Set 15 queries or more to dev: fewer"),
        (halves("a" * 50, "a" * 14), "warn", "dev 50, test 14", "or more to test: fewer"),
        (halves("a" * 14 + "b" * 6, "ab" * 60), "pass", "dev 20, test 120"),
        (halves("a" * 16 + "b" * 4, "ab" * 60), "warn", "test: b."),
        (halves("ab" * 60, "a" * 16 + "b" * 4), "warn", "test: b."),
    ],
    checks.check_overlap: [
        (overlapping(16), "pass", "answers 0.80; equal to a title: 0"),
        (overlapping(17), "warn", "Add paraphrases"),
        (overlapping(19), "warn", "Add paraphrases"),
        (overlapping(20), "fail", "answers 1.00; equal to a title: 0", "Write queries from needs"),
        (worded("disk: FULL", "storage gone"), "fail", "to a title: 1", "Ask q1 in"),
        (copying("why wait for the next deploy tomorrow"), "warn",
         "title: 0; copying a run of words of an answer: 1", "Put q in oth"),
        (copying("why wait for the next release tomorrow"), "pass", "title: 0"),
        (copying("wait for the next deploy", "alert"), "fail", "title: 0 | Write queries"),
        (copying("disk then wait for the", title=""), "pass", "title: 0"),
        (copying("再起動してか", words="bigrams"), "fail", "title: 0 | Write"),
        (copying("今すぐ再起動してから待つことにするのか", words="bigrams"), "warn", "answer: 1"),
    ],
    checks.check_duplicate_queries: [
        (worded("a b", "c", "A, b", "C!", "a-b", "b a"), "fail", "q1 = q3 = q5, q2 = q4"),
        (worded("A lowers B, not C", "B lowers A, not C"), "warn",
         "every query asked once; near-doubles: 1", "pair that is one need: q1 ~ q2."),
        (doubles("a", "a"), "pass", "every query asked once"),
        (doubles("a", "b", wording=("disk full", "the disk")), "warn", "once; near-doubles: 1",
         "; of them with other answers: 1", "need: q1 ~ q2. Where both", "answer: q1 ~ q2."),
        (doubles("a", "a", wording=("disk full now", "disk")), "pass", ""),
        (doubles("a b/Two", "b/two"), "warn", "near-doubles: 1; of them with other answers: 1"),
        (doubles("a/two", "a/two"), "warn", "near-doubles: 1 | Keep one"),
        (doubles("a/two", "b/two"), "pass", ""),
    ],
    checks.check_coverage: [
        (reaching(5, 10, 9), "pass", "5 of 10 documents reached (50%)"),
        (reaching(4, 10, 9), "fail", "4 of 10 documents reached (40%)", "none reaches"),
        (reaching(3, 100, 3), "pass", "3 of 100 documents"),
        (reaching(2, 100, 3), "fail", "2 of 100 documents"),
        (services("a", "d a"), "warn", "(50%)", "about service fax, service mail, kind note:"),
    ],
    checks.check_easy_queries: [
        (ranked(1, 3, 2), "pass", "1 of 3 queries solved by r1, by r3"),
        (ranked(3, 2), "warn", "2 of 3 queries solved by r2, by r3", "than q0, q1:"),
    ],
    checks.check_labels_per_query: [
        (labelled(*FOUR_GRADES), "pass", "1 to 2 relevant documents", "grade 0 1, 1 2, 2 1"),
        (labelled(*FOUR_GRADES[:2]), "fail", "0 to 2 relevant", "grade 1 1, 2 1", "Label q2,"),
        (answers(20), "pass", "20 relevant documents a query"),
        (answers(21), "warn", "Narrow q1: over 20"),
        (labelled(*(("q1", f"d{n}", 1) for n in range(21))), "fail", "Label q2", "Narrow q1",
         "Tell whole answers"),
        (answers(1), "warn", "1 relevant document a query; grade 1 1", "Tell whole"),
        (labelled(("q1", "a", 3), queries=1, highest=3), "warn", "answers (3) from"),
        (labelled(("q1", "a", 1), queries=1, highest=1), "pass", "grade 1 1"),
    ],
    checks.check_judged_depth: [  # each query counts alike: ten labels of one make half
        (judged(*TEN_OF_TWO[:9]), "fail", "45.0% of the first 10 of two are judged, the least of "
         "3 rankers (most 100"),
        (judged(*TEN_OF_TWO[:9])._replace(skipped=[{}]), "warn", "45.0% of the first 10 of two"),
        (judged(*TEN_OF_TWO), "warn", "50.0% of the first 10 of two"),
        (without_answer(judged(*TEN_OF_TWO)), "warn", "50.0% of the first 10 of two"),
        (judged(*TEN_OF_TWO, *A_AND_B), "pass", "100.0% of the first 10 of none"),
    ],
    checks.check_evidence: [
        (labelled(*BARE), "fail", "1 of 3 relevant labels quoted", "proves q1 a, q2 a."),
    ],
    checks.check_negatives: [
        (made([asks("q1")]), "warn", "for 0 of 1 query; 0 wrong", "| Run make freeze, which draws "
         "them, for q1. Hard ones are judged 0"),
        (negatives(["a", "c", "b"], ["d", "b", "c"], "a d", 1), "fail", f"{TEN} for 0 of 1 query; "
         "4 wrong", "q1 a (judged relevant), q1 d (judged relevant), q1 b (easy and hard), q1 c",
         "freeze draws"),
        (negatives(LETTERS[:9], MORE), "warn", "for 0 of 2 queries; 0 wrong", "for q1, q2. Hard"),
        (negatives(LETTERS, MORE[:9]), "warn", "for 0 of 2 queries; 0 wrong", "for q1, q2. Hard"),
        (negatives(LETTERS, MORE), "warn", "for 1 of 2 queries; 0 wrong", "for q2. Hard"),
        (negatives(LETTERS, MORE, queries=1), "pass", "for 1 of 1 query; 0 wrong"),
    ],
    checks.check_second_pass: [
        (second_pass([]), "warn", "no second reading", "Judge a share of the pairs again"),
        (second_pass(UNLIKE, labels=STALE), "fail", "4 pairs, 2 of grade 0, 50% agree, kappa 0.20",
         "jsonl: q2 a, q2 c. Sharpen the guide", "reason for q1 b."),
        (second_pass([{**row, "reason": "why" * (n == 3)} for n, row in enumerate(THRICE)]), "fail",
         "reason for q1 c."),
        (second_pass(ONE_ZERO), "fail", "75% agree, kappa 0.00", "Sharpen the guide"),
        (read_again(24, 23, 47), "pass", "round 1: 90 pairs, 30 of grade 0, 73% agree, kappa 0.60; "
         "round 2: 47 pairs, 16 of grade 0, 0% agree, kappa -0.50; judged by round 1"),
        (read_again(24, 24), "pass", "48 pairs", "100% agree, kappa 1.00; judged by round 2"),
        (read_again(24, 24, 48), "fail", "kappa -0.50; judged by round 2", "Sharpen the guide"),
        (read_again(0, 17), "warn", "judged by round 2", "at least 18 pairs"),
        (readings(90, 24), "pass", "kappa 0.60"),
        (readings(90, 27), "warn", "kappa 0.55", "Clear up the guide"),
        (readings(90, 36), "warn", "kappa 0.40"),
        (readings(90, 39), "fail", "kappa 0.35", "Sharpen the guide"),
        (readings(100), "pass", "kappa 1.00"),
        (readings(119, labels=700), "warn", "at least 120 pairs"),
        (readings(120, 1, labels=700), "pass", ""),
        (readings(20, labels=101), "warn", "at least 21 pairs"),
        (readings(20, labels=100), "pass", ""),
    ],
    checks.check_leakage: [
        (made(LEAKING, judgments=FULL, linked={("b", "c")}), "fail",
         "q1 and q2 through a, q1 and q3 through b ~ c", "into one half"),
        (made(LEAKING, judgments=PARTLY), "pass", "shared by dev and test; test queries that share "
         "a relevant document with dev: 1"),
        (made([asks("q1", "a", "full disk", split="dev"), asks("q2", "b", "full disk now",
               split="test")]), "fail", "q1 ~ q2, near-doubles | Put"),
    ],
    checks.check_near_duplicates: [
        (alike(("a", "b"), ("e", "f"), ("a", "x")), "warn", SHOWN, "Drop one of each pair",
         "leave those of one template"),
        (alike(("c", "d"), ("a", "c"), ("e", "f")), "fail", "label both alike: c and d, a and c."),
        (made(), "pass", "none"),
        (MANY_LIKE_Z, "warn", "a ~ z (0.50), b ~ z (0.50), c ~ z (0.50), d ~ z (0.50), e ~ z "
         "(0.50) and 1 more"),
        (template("abcde", 0.9), "warn", "a ~ b (0.90), a ~ c", "and 5 more", "| Do these say the",
         "beside their template? a and b, a and c, a and d, a and e, b and c and 2 more."),
        (template("abcd", 0.9), "fail", "label both alike: a and b, a and c"),
        (template("abcde", 1.0), "fail", "label both alike: a and b, a and c"),
    ],
}  # fmt: skip
ROWS = [(check, *row) for check, rows in CASES.items() for row in rows]


def in_order(finding, words):
    """Return whether `words` stand in a finding in this order, and a remedy where one is due."""
    stand = re.search(".*".join(map(re.escape, words)), f"{finding.found} | {finding.remedy}")
    return stand and (finding.remedy == "") == (finding.status == "pass")


def test_each_check_on_each_case():
    for check, case, status, *words in ROWS:
        finding = check(case)
        assert finding.status == status and in_order(finding, words), (finding, words)


CHUNKED = [  # chunks, the parts of the quote of q1 b, words of the finding
    ([("b", 0, 18), ("b", 16, 24)], "Disk full.", "2 quotes: 1 cut everywhere", "quotes of q1 b:"),
    ([("b", 14, 24)], "Disk full.", "2 quotes: 0 cut everywhere"),
    ([], "Disk full.", "2 quotes: 0 cut everywhere"),
    ([("b", 0, 13), ("b", 14, 24)], "Stop the job.+Disk full.", "2 quotes: 0 cut everywhere"),
    ([("b", 0, 13), ("b", 14, 20)], "Stop the job.+Disk full.", "2 quotes: 1 cut", "of q1 b:"),
]


def test_quotes_that_every_chunker_cuts(tmp_path):
    bodies = {"a": "Stop the job. Then wait.", "b": "Stop the job. Disk full."}
    documents = [evalset.Document(d, "", body) for d, body in bodies.items()]
    for n, (spans, quote, *words) in enumerate(CHUNKED):
        labels = [("q1", "a", 2, (("Then wait.",),)), ("q1", "b", 1, (tuple(quote.split("+")),))]
        spans = [("a", 0, 24), *spans] if spans else []
        units = [chunks.Chunk(d, m, start, end, 1) for m, (d, start, end) in enumerate(spans)]
        folder = tmp_path / str(n)
        if units:
            chunks.write_chunks(folder / "chunks" / "fixed.jsonl", units)
            chunks.write_chunks(folder / "chunks" / "other.jsonl", units[:1])
        case = made([asks("q1"), asks("q2")], documents, labels, folder=folder)
        finding = checks.check_quotes(case)
        assert finding.status == ("warn" if len(words) > 1 else "pass")
        assert in_order(finding, words), finding


HELD = "Stop the job, then wait for ten minutes."
NOWHERE, LOWER = "2 quotes: 0 cut everywhere |", "; in a document with a lower grade: 1 | "
ELSEWHERE = [  # parts of a quote of q a, other labels of q, words of the finding
    (HELD, [], "2 quotes: ", "; in one not judged: 1 | Judge anew", "only the answer says: q b."),
    (
        HELD,
        [("b", 0, ((HELD,),))],
        "2 quotes: ",
        "; in a document with a lower grade: 1 | ",
        "says: q b.",
    ),
    (HELD, [("b", 1)], "2 quotes: ", "; in a document with a lower grade: 1 | ", "says: q b."),
    (HELD, [("b", 2)], NOWHERE),
    (f"{HELD}+So:", [], "in one not judged: 1"),
    (f"{HELD}+Go on.", [], NOWHERE),
    ("op the job, then wait for ten", [("b", 0)], LOWER),
    ("Stop the job, then", [], NOWHERE),  # too few words to prove anything
    (f"{HELD} Go on.", [], NOWHERE),
]


def test_a_quote_that_stands_in_another_document_proves_a_grade_there():
    """It may be an old version; a document with the same words in other signs holds no quote."""
    bodies = {"a": f"So: {HELD} Go on.", "b": f"So: {HELD}", "c": HELD.replace(",", "")}
    documents = [evalset.Document(d, "", body, version="1") for d, body in bodies.items()]
    for quote, others, *words in ELSEWHERE:
        evidence = tuple(quote.split("+")), ("Go on.",)
        labels = [("q", "a", 2, evidence), *(("q", *label) for label in others)]
        finding = checks.check_quotes(made([asks("q")], documents, labels))
        assert in_order(finding, words), (quote, finding)


# On files: a whole set of two documents, broken in one place.

TABLE, JUDGED = "retrieval_queries.jsonl", "judgments.jsonl"
COPY = "Delete <old> logs. Then <|endoftext|> call Storage, now."


def remove(name):
    return lambda f: (f / name).unlink()


def guide(page):
    return lambda f: (f / "labeling_guide.md").write_text(page)


def page(doc_id, body):
    return lambda f: document(f, doc_id, body)


def filled_in(documents):
    """So many pages of one form of 40 words, each with ten words of its own; one is an answer."""
    form = " ".join(f"form{n}" for n in range(40))

    def damage(f):
        for page in range(documents):
            document(f, f"page{page}", f"{form} {' '.join(f'p{page}w{n}' for n in range(10))}")
        answers = {"q1": "page0", "q2": "queue-full"}
        change(f / TABLE, lambda row: {**row, "relevant_doc_ids": [answers[row["query_id"]]]})
        (f / JUDGED).unlink()

    return damage


BROKEN = [  # check, what is done to the set, status, words of the finding
    ("evidence", remove(JUDGED), "warn", "Write judgments.jsonl"),
    ("labelling guide", remove("labeling_guide.md"), "fail", "0 words", "Say when", "edge cases"),
    ("labelling guide", guide("A 0"), "fail", "2 words", "give grade 1, grade 2.", "edge cases"),
    ("labelling guide", guide("0 1 2" + " word" * 96), "fail", "99 words", "edge cases"),
    ("labelling guide", guide("0 1 2" + " word" * 97), "pass", "100 words"),
    ("near-duplicates", page("copy", COPY), "fail", "copy ~ disk-full (0.75)"),
    ("near-duplicates", filled_in(5), "warn", "page0 ~ page1 (0.64)", "leave those of one"),
    ("near-duplicates", filled_in(4), "fail", "page0 ~ page1 (0.64)", "label both alike"),
    ("manifest", page("disk-full", "Delete <old> logs."), "fail", "disk-full.md differs", "Look"),
    ("manifest", remove("manifest.json"), "warn", "manifest.json is missing", "make freeze"),
    ("manifest", lambda f: None, "pass", "7 files as listed"),
]


def test_each_check_on_a_set_broken_for_it(folder, tmp_path_factory):
    complete(folder)
    for check, damage, status, *words in BROKEN:
        copy = shutil.copytree(folder, tmp_path_factory.mktemp("copy") / "set")
        damage(copy)
        finding = by_check(copy)[check]
        assert finding.status == status and in_order(finding, words), finding
