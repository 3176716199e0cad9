"""Queries are connected through shared and alike documents, and leaks are named."""

from labelled_sets import BAD_SET, document

from helpers.measure import evalset, links


def small_set(**queries):
    """Return a set without files: name_of_query=(split, "documents", query).

    A document answers in full; one after a question mark in part. Without a text a query is its
    name.
    """
    found, labels = {}, []
    for q, (split, ids, *text) in queries.items():
        grades = {d.strip("?"): 1 if d[0] == "?" else 2 for d in ids.split()}
        kind = "" if grades else "none"
        found[q] = evalset.Query(q, (text or [q])[0], tuple(grades), kind, "", split)
        labels += [evalset.Judgment(q, d, grade) for d, grade in grades.items()]
    documents = {d: evalset.Document(d, d, d) for d in sorted({*"abcdef", *(j[1] for j in labels)})}
    answered, unanswered = ({q: row for q, row in found.items() if (row.kind == "none") == none}
                            for none in (False, True))  # fmt: skip
    return evalset.EvalSet(BAD_SET, documents, answered, labels, unanswered=unanswered)


def test_components_join_through_shared_and_alike_documents():
    four = small_set(q1=("dev", "a"), q2=("dev", "a b"), q3=("test", "c"), q4=("test", "d"))
    by_first_id = small_set(q3=("dev", "c"), q1=("test", "b"), q2=("dev", "a b"), q4=("dev", "b"))
    names = small_set(a=("dev", "b"), b=("test", "a"))  # a query and a document of one name are two
    for evals, alike, joined in (
        (four, {("b", "c"), ("c", "d")}, ["q1 q2 q3 q4"]),
        (four, {("b", "e"), ("d", "e")}, ["q1 q2", "q3", "q4"]),  # e answers nothing
        (by_first_id, set(), ["q1 q2 q4", "q3"]),
        (names, set(), ["a", "b"]),
    ):
        assert links.components(evals, alike) == [{*group.split()} for group in joined]


TIED = [  # answers and text of two queries, documents that are one, what ties them
    ("a b", "?a c", {}, ""),  # what is in full for one only
    ("?a ?b", "?a ?c", {}, ""),
    ("?a ?b c", "?a ?b d", {("c", "d")}, "through c ~ d"),
    ("?a ?b", "?a ?c", {("b", "c")}, "near-doubles"),  # versions are one
    ("a ?b ?c ?d", "?a ?b ?c", {}, "near-doubles"),  # three of four
    ("a ?b ?c", "?b ?c", {}, ""),
    (("", "why is the disk full"), ("a", "a full disk"), {}, "near-doubles"),
    (("a", "disk full now"), ("b", "disk late now"), {}, "near-doubles"),  # two of four
    (("a", "disk full now"), ("b", "now late mail"), {}, ""),
    (("a", "why"), ("b", "who"), {}, ""),  # no content word at all
]


def test_queries_are_tied_by_full_answers_and_as_near_doubles(monkeypatch):
    for first, second, alike, tie in TIED:
        both = ([own] if isinstance(own, str) else own for own in (first, second))
        rows = [(half, *own) for half, own in zip(evalset.SPLITS, both, strict=True)]
        evals = small_set(q1=rows[0], q2=rows[1], q3=("dev", "e"))
        joined = [{"q1", "q2"}, {"q3"}] if tie else [{"q1"}, {"q2"}, {"q3"}]
        assert links.components(evals, {*alike}) == joined, (first, second)
        told = links.leaks(evals, {*alike})
        assert bool(told) == bool(tie) and tie in " ".join(told), told
    monkeypatch.setattr(links, "WORDED", 2)
    many = small_set(q1=("dev", "a", "disk"), q2=("dev", "b", "disk"), q3=("dev", "c", "mail"))
    assert len(links.components(many, set())) == 3


def test_any_shared_answer_ties_where_none_is_full_or_the_split_is_strict():
    partly = small_set(q1=("dev", "?a ?b"), q2=("test", "?b ?c"))
    graded = small_set(q1=("dev", "?a ?b"), q2=("test", "?b ?c"), q3=("dev", "d"))
    for evals, grade in ((partly, 1), (graded, 2), (graded._replace(split="strict"), 1)):
        assert evals.tying_grade == grade
        assert ({"q1", "q2"} in links.components(evals, set())) == (grade == 1)
        assert links.leaks(evals, set()) == ["q1 and q2 through b"] * (grade == 1)
    assert graded._replace(full_grade=3).tying_grade == 1


def test_leaks_name_queries_and_documents_in_order():
    mixed = small_set(q1=("test", "a"), q2=("dev", "a b"), q3=("test", "c"), q4=("dev", "d"))
    three = small_set(q3=("dev", "c"), q1=("test", "b"), q2=("dev", "a b"), q4=("dev", "b"))
    for evals, alike, shared in (
        (mixed, {("b", "c")}, ["q2 q1 a a", "q2 q3 b c"]),
        (mixed, {("c", "d")}, ["q2 q1 a a", "q4 q3 d c"]),
        (mixed, {("c", "e"), ("d", "e")}, ["q2 q1 a a"]),
        (three, {("a", "b")}, ["q2 q1 a b", "q2 q1 b b", "q4 q1 b b"]),
    ):
        assert links.shared_answers(evals, alike) == [tuple(leak.split()) for leak in shared]
    near = ["q1 ~ q2, near-doubles", "q1 ~ q4, near-doubles"]
    assert links.leaks(three, {("a", "b")})[3:] == near


def test_apart_from_dev_are_test_queries_that_share_nothing_with_it():
    evals = small_set(q1=("dev", "a ?b"), q2=("test", "?b c"), q3=("test", "c"), q4=("test", "?d"))
    assert links.apart_from_dev(evals) == ["q3", "q4"]
    copy = {"d": evals.documents["d"]._replace(copy_of="a")}
    assert links.apart_from_dev(evals._replace(documents=evals.documents | copy)) == ["q3"]


def test_alike_documents_are_told_apart_from_versions(folder):
    words = [f"w{n}" for n in range(60)]
    others = words[40:] + [f"x{n}" for n in range(40)]
    for name, body in (("one", words), ("same", [*words, "more"]), ("near", others)):
        document(folder, name, " ".join(body))
    for name in ("old-v1", "old-v2"):
        document(folder, name, " ".join(f"{word}{name[-1]}" for word in words))
        path = folder / "corpus" / f"{name}.md"
        path.write_text(path.read_text().replace("kind:", f"version: '{name[-1]}'\nkind:"))
    near, one = links.alike_documents(evalset.load(folder))
    assert set(near) == {("one", "same"), ("near", "one"), ("near", "same")}
    assert near["one", "same"] == 56 / 57 and near["near", "one"] == 16 / 96
    assert one == {("one", "same"), ("old-v1", "old-v2")}
