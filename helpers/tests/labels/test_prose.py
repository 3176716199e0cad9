"""What the data card says of the prose of a set."""

from helpers import evalset
from helpers.labels import prose


def made(*bodies, kinds=()):
    kinds = dict(enumerate(kinds))
    documents = {
        f"d{n}": evalset.Document(f"d{n}", "t", body, kinds.get(n, "unspecified"))
        for n, body in enumerate(bodies)
    }
    return evalset.EvalSet(evalset.DEFAULT, documents, {}, [])


def of(*bodies):
    return prose.prose_facts(made(*bodies))


def all_of(*bodies):
    (row,) = prose.prose_by_kind(made(*bodies))
    return dict(zip(prose.BY_KIND, row, strict=True))


def test_contractions_count_in_prose_and_not_in_code():
    found = all_of(
        "It's late, we don’t know. The host's name", "`it's` is\n```\nwon't\n```\nI'd say"
    )
    # eleven words, since don't is two and so on: it s late we don t know the host s name is i d say
    assert found["contractions per 1,000 words"] == f"{1000 * 3 / 15:.2f}"
    assert found["median words"] == "8"  # of eleven and four; 7.5 is rounded to even
    assert all_of("```\nx\n```")["contractions per 1,000 words"] == "0.00"


def test_kinds_stand_beside_all_where_there_are_several():
    evals = made("a " * 1200, "it's [a](b)", "b TBD", kinds=("x & y", "all", "all"))
    assert prose.prose_by_kind(evals) == [
        ["all", "3", "4", "0.83", "0.33", "1"],
        ["all", "2", "3", "166.67", "0.50", "1"],
        ["x &#38; y", "1", "1,200", "0.00", "0.00", "0"],
    ]
    assert prose.prose_by_kind(made("a", "b", kinds="xx")) == [
        ["all", "2", "1", *["0.00"] * 2, "0"]
    ]


def test_the_run_of_four_words_that_most_documents_hold():
    found = of(
        "on the next day we", "on the next day", "in the dark on the https://on.the.next.day"
    )
    assert found["most frequent run of four words"] == "on the next day, in 2 documents"
    assert of("b c d e", "a b c d")["most frequent run of four words"] == "a b c d, in 1 documents"
    assert of("a b c")["most frequent run of four words"] == "none, in 0 documents"
