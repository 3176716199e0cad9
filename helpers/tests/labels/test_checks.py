"""Each question of the audit at its thresholds: a row is a check, a set, a status, its words."""

import shutil

from labelled_sets import BAD_SET, GUIDE, add_pool, by_check, change, complete, document

from helpers import chunks, evalset
from helpers.labels import checks

LETTERS, MORE = [*"abcdefghij"], [*"klmnopqrst"]  # ten documents each


def made(queries=(), documents=(), judgments=(), highest=2, folder=BAD_SET, **more):
    """Return the case of a set without files."""
    evals = evalset.EvalSet(
        folder,
        {d.doc_id: d for d in documents},
        {q.query_id: q for q in queries},
        [evalset.Judgment(*j) for j in judgments],
        grades=tuple(range(highest + 1)),
    )
    rest = {"negatives": [], "second_pass": [], "twins": {}, "linked": set()} | more
    return checks.AuditCase(evals, **rest)


def asks(query_id, answers="", wording="?", **fields):
    return evalset.Query(f"{query_id}", wording, tuple(answers.split()), **fields)


def asked(n, **fields):
    return [asks(f"q{i}", **fields) for i in range(n)]


def pages(names, **fields):
    names = names.split() if isinstance(names, str) else [f"d{n}" for n in range(names)]
    return [evalset.Document(name, "", name, **fields) for name in names]


def marked(name, marks):
    """Return a query for each mark, which is its field `name`."""
    return made([asks(n, **{name: mark}) for n, mark in enumerate(marks)])


def popular(marks):
    return marked("popularity", [{"h": "head", "t": "tail", "-": ""}[mark] for mark in marks])


def halves(dev, test):
    """Return a query for each letter, which is its kind; "-" is none."""
    kinds = [("dev", k) for k in dev] + [("test", k) for k in test]
    fields = ({"split": half, "kind": k.replace("-", "unspecified")} for half, k in kinds)
    return made([asks(n, **own) for n, own in enumerate(fields)])


def overlapping(share):
    """Of twenty content words of the query so many stand in the answer."""
    words = [f"w{n}" for n in range(20)]
    answer = evalset.Document("d", "", " ".join(words[:share]))
    return made([asks("q", "d", " ".join(words))], [answer])


def titled(*wordings):
    """Each query is answered by a document with the title "Disk full"."""
    queries = [asks(f"q{n}", "d", words) for n, words in enumerate(wordings, 1)]
    return made(queries, [evalset.Document("d", "Disk full", "delete logs now")])


def worded(*wordings):
    return made([asks(f"q{n}", wording=words) for n, words in enumerate(wordings, 1)])


def reaching(reached, documents, queries):
    return made([asks(n, f"d{n % reached}") for n in range(queries)], pages(documents))


def services(*answers):
    """Four documents of three services and two kinds, and a query for each of `answers`."""
    documents = [
        *pages("a", service="disk", kind="runbook"),
        *pages("b", service="mail", kind="note"),
        *pages("c", service="fax", kind="runbook"),
        *pages("d"),
    ]
    return made([asks(n, own) for n, own in enumerate(answers)], documents)


def labelled(*judgments, queries=2, **more):
    return made([asks(f"q{n}") for n in range(1, queries + 1)], judgments=judgments, **more)


def answers(n):
    return labelled(*(("q1", f"d{i}", 1 + i % 2) for i in range(n)), queries=1)


def negatives(easy, hard, relevant="", queries=2):
    rows = [{"query_id": "q1", "easy": easy, "hard": hard}]
    return made([asks("q1", relevant), *asked(queries)[2:], asks("q2")][:queries], negatives=rows)


def reread(query_id, doc_id, first, second, final, reason="an edge", **more):
    names = ("query_id", "doc_id", "first", "second", "final", "reason")
    return dict(zip(names, (query_id, doc_id, first, second, final, reason), strict=True)) | more


def second_pass(rows, queries=2, labels=None):
    given = [(r["query_id"], r["doc_id"], r["final"]) for r in rows] if labels is None else labels
    return labelled(*given, queries=queries, second_pass=rows)


def readings(n, differ=0, labels=None):
    """Return n readings of the grades 0, 1, 2, 0, ...; the first `differ` differ by one grade."""
    grades = [(n % 3, (n % 3 + (n < differ)) % 3) for n in range(n)]
    rows = [reread("q1", f"d{n}", a, b, a) for n, (a, b) in enumerate(grades)]
    judged = None if labels is None else [("q1", f"d{n}", n % 3) for n in range(labels)]
    return second_pass(rows, 1, judged)


LEAKING = [asks("q1", "a b", split="dev"), asks("q2", "a", split="test")]
LEAKING.append(asks("q3", "c", split="test"))
TWINS = {("a", "b"): 0.3, ("e", "f"): 0.5, ("c", "d"): 0.5, ("a", "c"): 0.2}
SHOWN = "c ~ d (0.50), e ~ f (0.50), a ~ b (0.30), a ~ c (0.20)"


def alike(*linked):
    return made([asks("q1", "a b"), asks("q2", "c")], twins=TWINS, linked={*linked})


FEW = (
    "8 queries can show no difference below 0.29 nDCG (sd 0.25, paired t, 80 % power), 30 none "
    "below 0.13: write more. Ten results out of 2 hit an answer by chance: add documents until "
    "there are 100 or more."
)
RARE = "Add queries for rare needs (tail): the average hides how they fare."
UNEVEN = "Spread evenly over dev and test: a, b."
SHARE = "mean share of words found in the answers"
ONCE = "Keep one of each: a query asked twice counts twice."
UNREACHED = "Write queries for documents that none reaches."
UNASKED = "service fax, service mail, kind note"
UNCLEAR = "Clear up the guide where the readings differ; include hard pairs."
TEN = "10 easy and 10 hard"
PARTS = "Tell whole answers (2) from partial ones (1)."
FOUR_GRADES = [("q1", "a", 1), ("q1", "b", 2), ("q2", "a", 1), ("q2", "b", 0)]
BARE = [("q1", "a", 1, ()), ("q1", "b", 2, ("b",)), ("q1", "c", 0), ("q2", "a", 1, ())]
WRONG = (
    f"{TEN} for 0 of 1 query; 4 wrong | Replace q1 a (judged relevant), q1 d (judged relevant), "
    f"q1 b (easy and hard), q1 c (easy and hard). Choose {TEN} ones for q1."
)
UNLIKE = [reread("q1", "a", 0, 2, 2), reread("q1", "b", 1, 0, 1, " ")]
UNLIKE += [reread("q2", "a", 0, 0, 1), reread("q2", "c", 2, 2, 2)]
BY_WHOM = [reread("q2", "a", 0, 0, 0, reader="person"), reread("q1", "a", 0, 0, 0, reader="model")]
STALE = (
    "4 pairs, 2 of grade 0; 50% agree, kappa 0.20 | The final grade is not the one in "
    "judgments.jsonl: q2 a, q2 c. Sharpen the guide, then judge again. Give a reason for q1 b."
)
LEAKS = "q1 and q2 through a, q1 and q3 through b ~ c | Put the queries of each group into one"

CASES = {  # check: sets, each with its status and part of "what was found | remedy"
    "size": [
        (made(asked(8), pages("d e")), "warn", f"8 queries, 2 documents | {FEW}"),
        (made(asked(29), pages(100)), "warn", "nDCG (sd 0.25, paired t, 80 % power), 30 none"),
        (made(asked(30), pages(99)), "warn", "30 queries, 99 documents | Ten results out of"),
        (made(asked(30), pages(100)), "pass", "30 queries, 100 documents | "),
        (made(asked(1), pages(100)), "warn", "| 1 query can show no difference below 1.00"),
    ],
    "kinds": [
        (marked("kind", ["unspecified"]), "warn", "| Give each query a kind (keyword, sym"),
        (marked("kind", "aa"), "fail", "a 2 | Write queries of other kinds: one kind shows"),
        (marked("kind", ["unspecified", "a"]), "pass", "a 1, unspecified 1 | "),
        (marked("kind", "aaaacb"), "warn", "a 4, b 1, c 1 | Write more of the kind b."),
        (marked("kind", "aaaabbc"), "warn", "| Write more of the kind c."),
        (marked("kind", "aaab"), "pass", "a 3, b 1 | "),
    ],
    "head and tail": [
        (popular("hh"), "fail", f"head 2 | {RARE}"),
        (popular("t"), "fail", "tail 1 | Add queries for frequent needs (head): the"),
        (popular("ht"), "pass", "head 1, tail 1 | "),
        (popular("hhhht"), "warn", "| Bring head and tail nearer to half each."),
        (popular("hhht"), "pass", "| "),
        (popular("htttt"), "warn", "| Bring head and tail nearer to half each."),
        (popular("-"), "warn", "| Mark the popularity of each query: head or tail."),
        (popular("ht-"), "warn", "head 1, not marked 1, tail 1 | Mark the popularity"),
        (popular("h-"), "fail", f"{RARE} Mark the popularity of each query"),
    ],
    "halves": [
        (halves("aaa", ""), "fail", "dev 3, test 0 | Set the split of about half of the qu"),
        (halves("", "a"), "fail", "about half of the queries to dev."),
        (halves("aab", "a"), "pass", "dev 3, test 1 | "),
        (halves("aaa", "a"), "warn", "dev 3, test 1 | Spread evenly over dev and test: a."),
        (halves("abbb", "ba"), "pass", "| "),
        (halves("abbb", "aa"), "warn", f"| {UNEVEN}"),
        (halves("abbbb", "aaab"), "warn", f"| {UNEVEN}"),
        (halves("ab" * 3, "ab" * 6), "pass", "| "),
        (halves("aa" + "b" * 4, "ab" * 6), "pass", "| "),
        (halves("aa" + "b" * 4, "a" * 4 + "bb"), "pass", "| "),
        (halves("bb", "aa"), "warn", f"| {UNEVEN}"),
        (halves("-------", "--"), "pass", "| "),
    ],
    "overlap": [
        (overlapping(16), "pass", f"{SHARE} 0.80; equal to a title: 0 | "),
        (overlapping(17), "warn", "| Add paraphrases: most words are those of the answer."),
        (overlapping(19), "warn", "| Add paraphrases"),
        (overlapping(20), "fail", f"{SHARE} 1.00; equal to a title: 0 | Write queries from needs"),
        (
            titled("disk: FULL", "storage gone"),
            "fail",
            "title: 1 | Ask q1 in the words of somebody",
        ),
    ],
    "same query": [
        (worded("a b", "c", "A, b", "C!", "a-b", "b a"), "fail", f"q1 = q3 = q5, q2 = q4 | {ONCE}"),
        (worded("A lowers B, not C", "B lowers A, not C"), "pass", "every query asked once | "),
    ],
    "coverage": [
        (reaching(5, 10, 9), "pass", "5 of 10 documents reached (50%) | "),
        (reaching(4, 10, 9), "fail", f"4 of 10 documents reached (40%) | {UNREACHED}"),
        (reaching(3, 100, 3), "pass", "3 of 100 documents"),
        (reaching(2, 100, 3), "fail", "2 of 100 documents"),
        (services("a", "d a"), "warn", f"(50%), none of {UNASKED} | Nobody asks about {UNASKED}: "),
        (services("a", "a"), "fail", f"{UNREACHED} Nobody asks"),
        (services("a b c d"), "pass", "reached (100%) | "),
    ],
    "labels per query": [
        (
            labelled(*FOUR_GRADES),
            "pass",
            "1 to 2 relevant documents a query; grade 0 1, 1 2, 2 1 | ",
        ),
        (
            labelled(*FOUR_GRADES[:2]),
            "fail",
            "0 to 2 relevant documents a query; grade 1 1, 2 1 | L",
        ),
        (labelled(), "fail", f"0 relevant documents a query | Label q1, q2, or drop them. {PARTS}"),
        (answers(20), "pass", "20 relevant documents a query"),
        (answers(21), "warn", "| Narrow q1: over 20 answers."),
        (answers(1), "warn", f"1 relevant document a query; grade 1 1 | {PARTS}"),
        (labelled(("q1", "a", 3), queries=1, highest=3), "warn", "answers (3) from"),
        (labelled(("q1", "a", 1), queries=1, highest=1), "pass", "grade 1 1 | "),
    ],
    "evidence": [
        (
            labelled(*BARE),
            "fail",
            "1 of 3 relevant labels quoted | Quote the passage that proves q1 a, q2",
        ),
    ],
    "negatives": [
        (made([asks("q1")]), "warn", f"no negatives | Write negatives.jsonl: {TEN} ones a"),
        (negatives(["a", "c", "b"], ["d", "b", "c"], "a d", 1), "fail", WRONG),
        (
            negatives(LETTERS[:9], MORE),
            "warn",
            f"for 0 of 2 queries; 0 wrong | Choose {TEN} ones for q1, q2.",
        ),
        (negatives(LETTERS, MORE[:9]), "warn", "ones for q1, q2."),
        (
            negatives(LETTERS, MORE),
            "warn",
            f"for 1 of 2 queries; 0 wrong | Choose {TEN} ones for q2.",
        ),
        (negatives(LETTERS, MORE, queries=1), "pass", "for 1 of 1 query; 0 wrong | "),
    ],
    "second pass": [
        (second_pass([]), "warn", "no second reading | Judge a share of the pairs again"),
        (
            second_pass(UNLIKE, labels=[("q1", "a", 2), ("q1", "b", 1), ("q2", "a", 0)]),
            "fail",
            STALE,
        ),
        (
            second_pass(BY_WHOM),
            "warn",
            f"undefined (one grade only); people: 1 of 1 pair | {UNCLEAR}",
        ),
        (readings(90, 24), "pass", "kappa 0.60 | "),
        (readings(90, 27), "warn", f"kappa 0.55 | {UNCLEAR}"),
        (readings(90, 36), "warn", "kappa 0.40"),
        (readings(90, 39), "fail", "kappa 0.35 | Sharpen the guide, then judge again."),
        (readings(119, labels=700), "warn", "| Judge at least 120 pairs twice."),
        (readings(120, labels=700), "pass", ""),
        (readings(20, labels=101), "warn", "| Judge at least 21 pairs twice."),
        (readings(20, labels=100), "pass", ""),
    ],
    "leakage": [
        (made(LEAKING, pages("a b c"), linked={("b", "c")}), "fail", LEAKS),
        (made(LEAKING[::2], pages("a b c")), "pass", "no answer is shared by dev and test | "),
    ],
    "near-duplicates": [
        (
            alike(("a", "b"), ("e", "f"), ("a", "x")),
            "warn",
            f"{SHOWN} | Drop one of each pair, or mark",
        ),
        (alike(("c", "d"), ("a", "c"), ("e", "f")), "fail", "label both alike: a and c, c and d."),
        (made(), "pass", "none | "),
    ],
}


def said(finding):
    return f"{finding.found} | {finding.remedy}"


def test_each_check_on_each_case():
    for check, rows in CASES.items():
        name = {"same query": "duplicate_queries", "coverage": "reach"}.get(check, check)
        ask = getattr(checks, f"check_{name.replace(' ', '_').replace('-', '_')}")
        for case, status, told in rows:
            finding = ask(case)
            assert (finding.check, finding.status) == (check, status), (finding, told)
            words = said(finding)  # "| " at the end: there is no remedy
            assert words.endswith(told) if told.endswith("| ") else told in words, (finding, told)


def test_the_gravest_status_counts_and_the_first_four_names_stand_for_many():
    twins = {(name, "z"): 0.5 for name in "abcdef"}
    finding = checks.check_near_duplicates(made(asked(1), twins=twins))
    shown = ", ".join(f"{name} ~ z (0.50)" for name in "abcd")
    assert finding.found == f"{shown} and 2 more"
    finding = checks.check_labels_per_query(labelled(*(("q1", f"d{n}", 1) for n in range(21))))
    assert finding.status == "fail"
    assert finding.remedy == f"Label q2, or drop them. Narrow q1: over 20 answers. {PARTS}"


RANKERS = {
    "two": {"q1": [(f"d{n}", 10.0 - n) for n in range(10)], "q2": [("a", 2.0), ("b", 1.0)]},
    "one": {"q1": [("c", 1.0)], "q2": []},
    "none": {"q1": [], "q2": []},
}


def test_judged_depth_names_the_worst_ranker_and_the_best_share(monkeypatch):
    """Each query counts alike: ten labels of one make half."""
    monkeypatch.setattr(checks.pooling, "by_ranker", lambda evals, depth: {10: RANKERS}[depth])
    for judged, status, share, worst in (
        (9, "fail", "45.0", "two"),
        (10, "warn", "50.0", "two"),
        (20, "pass", "100.0", "none"),
    ):
        labels = [("q1", f"d{n}", 0) for n in range(min(judged, 10))] + [("q1", "c", 0)]
        labels += [("q2", name, 0) for name in "ab" * (judged > 10)]
        found = f"{share}% of the first 10 of {worst} are judged, the least of 3 rankers (most 100"
        finding = checks.check_judged_depth(labelled(*labels))
        assert finding.status == status and finding.found.startswith(found)
        assert finding.remedy.startswith("Judge the first 10 of each ranker") == (status != "pass")


LONG = "disk " * 600
QUOTES = [  # chunks, the quote of q1 b, what is found, part of the remedy
    ([], "Disk full.", (1, 0, 0), "chunk holds the quotes of q1 a:"),
    (
        [("a", 0, 20), ("b", 0, 18), ("b", 16, 24)],
        "Disk full.",
        (1, 2, 0),
        "cuts the quotes of q1 b.",
    ),
    (
        [("a", 14, 24), ("b", 0, 18)],
        "Disk full.",
        (1, 1, 0),
        "Every chunker cuts the quotes of q1 b.",
    ),
    ([], "Stop the job.", (1, 0, 1), "stands in other documents, too: q1 b."),
]


def test_quotes_that_are_long_cut_by_every_chunker_or_not_unique(tmp_path):
    bodies = {"a": f"Stop the job. Then wait. {LONG}end", "b": "Stop the job. Disk full."}
    documents = [evalset.Document(d, "", body) for d, body in bodies.items()]
    for n, (spans, quote, counts, remedy) in enumerate(QUOTES):
        labels = [("q1", "a", 2, ("Then wait.", f"{LONG}end")), ("q1", "b", 1, (quote,))]
        labels.append(("q2", "a", 0, ("Stop the job.",)))  # zeros need no proof
        units = [chunks.Chunk(d, m, start, end, 1) for m, (d, start, end) in enumerate(spans)]
        folder = tmp_path / str(n)
        if units:
            chunks.write_chunks(folder / "chunks" / "fixed.jsonl", units)
            chunks.write_chunks(folder / "chunks" / "other.jsonl", units[:1])
        case = made([asks("q1"), asks("q2")], documents, labels, folder=folder)
        finding = checks.check_quotes(case)
        long, cut, shared = counts
        found = f"3 quotes: {long} too long, {cut} cut everywhere, {shared} not unique"
        assert finding[1:3] == ("warn", found) and remedy in finding.remedy


# On files: a whole set of two documents, broken in one place.

TABLE, JUDGED = "retrieval_queries.jsonl", "judgments.jsonl"
COPY = "Delete <old> logs. Then <|endoftext|> call Storage, now."


def remove(name):
    return lambda f: (f / name).unlink()


def guide(page):
    return lambda f: (f / "labeling_guide.md").write_text(page)


def page(doc_id, body):
    return lambda f: document(f, doc_id, body)


def relabel(**answers):
    """Let the queries have other answers, without grades."""

    def edit(row):
        return {**row, "relevant_doc_ids": [answers.get(row["query_id"], "disk-full")]}

    return lambda f: [change(f / TABLE, edit), (f / JUDGED).unlink()]


def twins(common):
    """Texts of 54 words share runs; one of them is an answer."""
    words = [f"w{n}" for n in range(108)]

    def damage(f):
        document(f, "twin", " ".join(words[:54]))
        document(f, "other", " ".join(words[54 - common : 108 - common]))
        relabel(q1="twin", q2="queue-full")(f)

    return damage


def bury(f):
    for n in range(3):
        document(f, f"page{n}", f"server refuses worker wanted logs {'x' * n}")


BROKEN = [  # check, what is done to the set, status, part of what is said
    ("judged depth", bury, "fail", "of 4 rankers"),
    ("evidence", remove(JUDGED), "warn", "| Write judgments.jsonl: a grade and a verbatim quote"),
    ("labelling guide", remove("labeling_guide.md"), "fail", "no labeling_guide.md | Write down"),
    ("labelling guide", guide(GUIDE.replace("1", "one")), "fail", "| Say when to give grade 1."),
    ("labelling guide", guide("A 0"), "fail", "2 words | Say when to give grade 1, grade 2. Add a"),
    ("labelling guide", guide("0 1 2" + " word" * 96), "fail", "99 words | Add a test for each"),
    ("labelling guide", guide("0 1 2" + " word" * 97), "pass", "100 words | "),
    ("leakage", relabel(), "fail", "q1 and q2 through disk-full | "),
    ("near-duplicates", page("copy", COPY), "fail", "copy ~ disk-full (0.75)"),
    ("near-duplicates", twins(20), "warn", "other ~ twin (0.19)"),
    ("near-duplicates", twins(28), "fail", "other ~ twin (0.32)"),
    (
        "manifest",
        page("disk-full", "Delete <old> logs."),
        "fail",
        "corpus/disk-full.md differs | Lo",
    ),
    ("manifest", add_pool, "fail", "pool.jsonl is not in the manifest"),
    ("manifest", lambda f: (f / "manifest.json").write_text("[]"), "fail", "cannot be read"),
    ("manifest", remove("manifest.json"), "warn", "no manifest.json | Write one (make freeze)"),
    ("manifest", lambda f: None, "pass", "7 files as listed | "),
]


def test_each_check_on_a_set_broken_for_it(folder, tmp_path_factory):
    complete(folder)
    for check, damage, status, told in BROKEN:
        copy = shutil.copytree(folder, tmp_path_factory.mktemp("copy") / "set")
        damage(copy)
        finding = by_check(copy)[check]
        assert finding.status == status and told in said(finding), finding
