"""A search log beside pages becomes a sample of queries that wait for labels."""

import json
from collections import Counter

import pytest
from conftest import write_rows
from importing import bring, problems, put, task

from helpers.label import query_log
from helpers.measure import text

LOG = """query,count,clicked
disk full,"1,200",/a
Disk  full?,3,a
queue,40,
"mail ann.lee+x@a-b.example, now",30,a
card 4111-1111 1111 1111,5,
+49 (170) 1234567,5,
lag on 2026-04-08,5,a
???,2,
rotate certs,1,
"""
MASKED = [
    ("ann@b.example or bob@c.d.example", "*** or ***"),
    ("call +49 170 1234567 now", "call *** now"),
    ("iban DE89 3704 0044 0532", "iban DE***"),
    ("error 0123456", "error ***"),
    ("error 012345 and 2026-04-08 on port 8080", "error 012345 and 2026-04-08 on port 8080"),
    ("me@home of\tv1.27.3 ", "me@home of v1.27.3"),
]


def pages(tmp_path, log=LOG, name="log.csv"):
    put(tmp_path / "docs" / "a.md", "# Disk\n\nDelete logs.\n")
    return tmp_path / "docs", str(put(tmp_path / name, log))


def test_what_is_easy_to_see_is_masked_and_counted():
    for query, shown in MASKED:
        log = task()
        assert query_log.masked(query, log) == shown
        assert sum(log.changed.values()) == shown.count("***"), query


def test_queries_of_a_log_wait_unlabelled_and_the_import_tells_how_they_were_drawn(tmp_path):
    docs, log = pages(tmp_path)
    lines, evals = bring("markdown", docs, tmp_path / "to", queries=log)
    asked = {query.query: query.popularity for query in evals.waiting.values()}
    assert asked == {
        "disk full": "head",
        "queue": "tail",
        "mail ***, now": "tail",
        "card ***": "tail",
        "lag on 2026-04-08": "tail",
        "rotate certs": "tail",
    }
    assert {query.split for query in evals.waiting.values()} == {"dev"}
    assert not evals.queries and not (tmp_path / "to" / "to_read.jsonl").exists()
    assert (tmp_path / "to" / "labeling_guide.md").exists()
    assert lines == [
        "documents: 1",
        "queries: 6",
        "judgments: 0",
        "sample of the log: head 1 of 1, torso 0 of 0, tail 5 of 5",
        query_log.DUTY,
        f"left out: lines of the log without a word to search: 2, first {log}:7",
        "changed: mail addresses in the log, masked as ***: 1",
        "changed: numbers of seven or more digits in the log, masked as ***: 2",
    ]
    card = (tmp_path / "to" / "README.md").read_text()
    assert "--queries log.csv`" in card and query_log.DUTY in card and str(tmp_path) not in card


def test_a_sample_has_a_size_and_its_torso_is_neither_head_nor_tail(tmp_path):
    docs, log = pages(tmp_path, "query,count\na,9\nb,5\nc,4\nd,3\ne,3\nf,1\n")
    lines, evals = bring("markdown", docs, tmp_path / "to", queries=log, sample=3)
    assert [query.popularity for query in evals.waiting.values()] == ["head", "", "tail"]
    assert "sample of the log: head 1 of 1, torso 1 of 2, tail 1 of 3" in lines


FORMS = [  # file, content, --columns
    ("log.tsv", "search_term\tn\na\t2\nb\t1\n", None),
    ("log.jsonl", '{"query": "a", "count": 2}\n{"query": "b", "count": 1.0}\n', None),
    ("log.json", '[{"q": "a", "searches": 2}, {"q": "b", "searches": 1}]', None),
    ("log.csv", "Ask,Often,query\na,2,no\nb,1,no\n", "query=Ask,count=Often"),
    ("log.csv", "when,query\n1,a\n2,b\n3,A\n", None),
]


@pytest.mark.parametrize(("name", "content", "columns"), FORMS)
def test_logs_of_other_forms(name, content, columns, tmp_path):
    _, log = pages(tmp_path, content, name)
    own = task("code", queries=log, columns=columns)
    assert query_log.read_log(text.words, own) == {"a": 2, "b": 1}
    once = "lines of the log without a count, each of which counts once"
    assert own.changed[once] == (3 if "when" in content else 0) and not own.problems


WRONG = [  # the log, words of each problem
    ("query;count\na;1\n", "log.csv:2: no query, found query;count, wanted one of: query, sea"),
    ("query,count\na,many\nb,-1\n", "log.csv:2: count is 'many', wanted how often")
    + ("log.csv:3: count is '-1', wanted how often",),
    ("query,count\n!,1\n", "log.csv: found no queries, wanted a log with some"),
    ("query,count\na,1,2\nb,1\n", "log.csv:2: found more or fewer cells, wanted 2 as in the"),
]


def test_what_is_wrong_with_a_log_is_told_with_its_place(tmp_path):
    for content, *wanted in WRONG:
        docs, log = pages(tmp_path, content)
        found = problems("markdown", docs, tmp_path / "to", queries=log)
        for problem, words in zip(found, wanted, strict=True):
            assert words in problem, found
    docs, log = pages(tmp_path)
    write_rows(tmp_path / "judged.jsonl", {"query": "x", "doc_id": "a", "relevance": 1})
    labels = str(tmp_path / "judged.jsonl")
    (both,) = problems("markdown", docs, tmp_path / "to", queries=log, labels=labels)
    put(docs / "eval_queries.json", json.dumps([{"id": 1, "query": "q", "relevant_docs": ["a"]}]))
    (other,) = problems("markdown", docs, tmp_path / "to", queries=log)
    assert both == other and both.startswith("--queries: found labelled queries, too")


STRATA = [  # counts, those of head, torso and tail
    ([9, 5, 4, 3, 3, 2, 1], ([9], [5, 4], [3, 3, 2, 1])),
    ([5, 5, 5, 1], ([5, 5, 5], [], [1])),
    ([50, 1, 1], ([50], [], [1, 1])),
    ([4, 4, 3, 3, 2, 2, 2], ([4, 4], [3, 3], [2, 2, 2])),
    ([3, 3], ([], [], [3, 3])),
]


def test_strata_have_a_third_of_the_searches_and_keep_equals_together():
    for counts, wanted in STRATA:
        asked = Counter({f"q{n}": count for n, count in enumerate(counts)})
        strata = query_log.by_frequency(asked)
        assert tuple([asked[q] for q in own] for own in strata.values()) == wanted, counts


def test_a_draw_is_equal_over_strata_seeded_and_without_near_doubles():
    sizes = {"head": 2, "torso": 30, "tail": 30}
    strata = {name: [f"{name}{n}" for n in range(size)] for name, size in sizes.items()}
    drawn, doubles = query_log.draw(strata, 20, text.words)
    assert Counter(drawn.values()) == {"head": 2, "torso": 9, "tail": 9}
    assert doubles == 0 and query_log.draw(strata, 20, text.words) == (drawn, 0)
    numbers = [int(query.removeprefix("tail")) for query in drawn if query.startswith("tail")]
    assert max(numbers) - min(numbers) > 8
    near = ["reset my password", "reset the password now", "how to", "how to do it", "how can we"]
    strata = {"tail": near}
    drawn, doubles = query_log.draw(strata, 9, text.words)
    assert (len(drawn), doubles) == (3, 2)
