"""Bad input gets one clear line for each mistake; good input passes unharmed."""

import hashlib
import json
import os
import shutil
import subprocess
import sys

import pytest
from conftest import write_rows

from helpers import evalset, files, results, text
from helpers.labels import pooling


def problems(folder):
    with pytest.raises(evalset.EvalSetError) as caught:
        evalset.load(folder)
    return [
        problem.replace(f"{folder}{os.sep}", "").replace(os.sep, "/")
        for problem in caught.value.problems
    ]


def test_valid_folder(folder):
    evals = evalset.load(folder)
    assert list(evals.documents) == ["disk-full", "queue-full"]
    assert evals.qrels("dev") == {"q1": {"disk-full": 2, "queue-full": 0}}
    assert (
        evals.documents["disk-full"].retrieval_text
        == "disk-full\n\nDelete <old> logs.\n\nThen <|endoftext|> call Storage."
    )


def test_jsonl_corpus_and_binary_labels(folder):
    for path in (folder / "corpus").iterdir():
        path.unlink()
    (folder / "judgments.jsonl").unlink()
    rows = [
        {"doc_id": name, "title": name, "text": f"about {name}", "extra": 1}
        for name in ("disk-full", "queue-full")
    ]
    write_rows(folder / "corpus.jsonl", *rows)
    evals = evalset.load(folder)
    assert evals.documents["disk-full"].text == "about disk-full"
    assert evals.qrels() == {"q1": {"disk-full": 1}, "q2": {"queue-full": 1}}


def test_windows_line_ends_and_byte_order_mark_change_nothing(folder):
    before = evalset.load(folder)
    for path in [*(folder / "corpus").iterdir(), *folder.glob("*.jsonl")]:
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    after = evalset.load(folder)
    assert (after.corpus_hash(), after.queries_hash()) == (
        before.corpus_hash(),
        before.queries_hash(),
    )


def test_hashes_see_every_change(folder):
    before = evalset.load(folder)
    write_rows(
        folder / "judgments.jsonl",
        {"query_id": "q1", "doc_id": "disk-full", "relevance": 1},
        {"query_id": "q2", "doc_id": "queue-full", "relevance": 1},
    )
    path = folder / "corpus" / "queue-full.md"
    path.write_text(path.read_text().replace("consumer", "worker"))
    after = evalset.load(folder)
    assert (
        after.corpus_hash() != before.corpus_hash()
        and after.queries_hash() != before.queries_hash()
    )


QUERY = '{"query_id": "q1", "query": "disk is full", "relevant_doc_ids": ["disk-full"]'
BAD_QUERIES = {
    "broken": (QUERY, "retrieval_queries.jsonl:1: broken JSON"),
    "no object": ("[1]", "retrieval_queries.jsonl:1: found [1], wanted a JSON object"),
    "missing": (
        '{"query_id": "q1", "relevant_doc_ids": ["disk-full"]}',
        "retrieval_queries.jsonl:1: field query is missing",
    ),
    "mistyped": (
        QUERY.replace('["disk-full"]', '"disk-full"') + "}",
        'field relevant_doc_ids is "disk-full", wanted a list',
    ),
    "not there": (
        QUERY.replace("disk-full", "disk-ful") + "}",
        "retrieval_queries.jsonl:1: document disk-ful is not in the corpus",
    ),
    "slash": (
        QUERY.replace('"q1"', '"q/1"') + "}",
        'retrieval_queries.jsonl:1: field query_id is "q/1", wanted text of up to 1,000',
    ),
    "split": (QUERY + ', "split": "train"}', 'field split is "train", wanted dev or test'),
    "unknown field": (
        QUERY + ', "splitt": "dev"}',
        "field splitt is unknown, wanted one of: query_id, query, relevant_doc_ids",
    ),
    "duplicate": (
        QUERY + "}\n" + QUERY + "}",
        "retrieval_queries.jsonl:2: query_id q1 stands already at line 1",
    ),
    "list as popularity": (
        QUERY + ', "popularity": []}',
        "field popularity is [], wanted head or tail",
    ),
}


@pytest.mark.parametrize("name", BAD_QUERIES)
def test_bad_query_file(folder, name):
    lines, wanted = BAD_QUERIES[name]
    (folder / "judgments.jsonl").unlink()
    (folder / "retrieval_queries.jsonl").write_text(lines + "\n", encoding="utf-8")
    found = problems(folder)
    assert len(found) == 1 and wanted in found[0], found


BAD_JUDGMENTS = {
    "grade": (
        {"query_id": "q1", "doc_id": "disk-full", "relevance": 7},
        "judgments.jsonl:1: field relevance is 7, wanted 0, 1 or 2",
    ),
    "boolean": (
        {"query_id": "q1", "doc_id": "disk-full", "relevance": True},
        "field relevance is true, wanted 0, 1 or 2",
    ),
    "evidence": (
        {"query_id": "q1", "doc_id": "disk-full", "relevance": 2, "evidence": "delete logs"},
        "judgments.jsonl:1: evidence 'delete logs' is not in disk-full, wanted a verbatim quote",
    ),
    "query": (
        {"query_id": "q9", "doc_id": "disk-full", "relevance": 0},
        "judgments.jsonl:1: query q9 is not in",
    ),
    "document": (
        {"query_id": "q1", "doc_id": "disk", "relevance": 0},
        "judgments.jsonl:1: document disk is not in the corpus",
    ),
    "not listed": (
        {"query_id": "q2", "doc_id": "disk-full", "relevance": 1},
        "judgments.jsonl:1: query q2: disk-full is judged 1 or more but not listed",
    ),
}


@pytest.mark.parametrize("name", BAD_JUDGMENTS)
def test_bad_judgment(folder, name):
    row, wanted = BAD_JUDGMENTS[name]
    good = [
        {"query_id": q, "doc_id": d, "relevance": 1}
        for q, d in (("q1", "disk-full"), ("q2", "queue-full"))
    ]
    write_rows(
        folder / "judgments.jsonl",
        row,
        *[g for g in good if (g["query_id"], g["doc_id"]) != (row["query_id"], row["doc_id"])],
    )
    found = problems(folder)
    assert len(found) == 1 and wanted in found[0], found


def test_listed_but_not_judged_names_the_query_line(folder):
    write_rows(
        folder / "judgments.jsonl", {"query_id": "q1", "doc_id": "disk-full", "relevance": 2}
    )
    assert problems(folder)[0].startswith(
        "retrieval_queries.jsonl:2: query q2: queue-full is listed but not judged"
    )


def test_pair_judged_twice(folder):
    rows = [{"query_id": "q1", "doc_id": "disk-full", "relevance": grade} for grade in (1, 2)]
    write_rows(folder / "judgments.jsonl", *rows)
    assert (
        "judgments.jsonl:2: the pair q1 disk-full stands already at line 1, wanted each once"
        in problems(folder)
    )


HEAD = "---\ntitle: Disk\n---\n"
BAD_DOCUMENTS = {
    "empty": (HEAD.encode(), "corpus/disk-full.md:3: empty document"),
    "no front matter": (b"Delete logs.\n", "corpus/disk-full.md:1: no front matter"),
    "bad yaml": (b"---\ntitle: [Disk\n---\nDelete.\n", "corpus/disk-full.md:3: bad front matter"),
    "a list": (b"---\n- Disk\n---\nDelete.\n", "corpus/disk-full.md:2: bad front matter (a list)"),
    "no title": (
        b"---\nkind: runbook\n---\nDelete.\n",
        "corpus/disk-full.md:1: field title is missing",
    ),
    "bad date": (
        b"---\ntitle: Disk\nupdated: yesterday\n---\nDelete.\n",
        'field updated is "yesterday", wanted a date',
    ),
    "unknown field": (
        b"---\ntitle: Disk\nservise: disk\n---\nDelete.\n",
        "field servise is unknown",
    ),
    "not utf-8": (HEAD.encode() + b"Caf\xe9\n", "corpus/disk-full.md:4: byte 0xe9 is not UTF-8"),
}


@pytest.mark.parametrize("name", BAD_DOCUMENTS)
def test_bad_document(folder, name):
    content, wanted = BAD_DOCUMENTS[name]
    (folder / "corpus" / "disk-full.md").write_bytes(content)
    found = problems(folder)
    assert len(found) == 1 and wanted in found[0], found


def test_file_name_that_is_no_id(folder):
    (folder / "corpus" / "disk full.md").write_text(HEAD + "Delete.\n")
    assert problems(folder) == [
        "corpus/disk full.md:1: the file name gives the id 'disk full', "
        "wanted text of up to 1,000 characters, without spaces, slashes, # or invisible ones"
    ]


def test_empty_folder(tmp_path):
    found = problems(tmp_path)
    assert len(found) == 1 and "no documents found" in found[0]


@pytest.mark.parametrize("content", [None, "", "\n"])
def test_corpus_without_queries_loads(folder, content):
    (folder / "judgments.jsonl").unlink()
    path = folder / "retrieval_queries.jsonl"
    path.unlink() if content is None else path.write_text(content)
    evals = evalset.load(folder)
    assert len(evals.documents) == 2 and not evals.queries and not evals.judgments
    command = [sys.executable, "-m", "helpers", "audit", "--evals", str(folder)]
    done = subprocess.run(command, cwd=evalset.DEFAULT.parent, capture_output=True, text=True)
    assert done.returncode == 1 and "write retrieval_queries.jsonl, one line" in done.stderr


def test_queries_may_wait_for_labels_but_nothing_is_measured(folder, capsys):
    (folder / "judgments.jsonl").unlink()
    path = folder / "retrieval_queries.jsonl"
    path.write_text(path.read_text().replace('["queue-full"]', "[]"))
    evals = evalset.load(folder)
    assert evals.waiting == ["q2"] and "1 query waits for a relevant document: q2" in (
        evals.next_step()
    )
    command = [sys.executable, "-m", "helpers", "report", "--evals", str(folder)]
    done = subprocess.run(command, cwd=evalset.DEFAULT.parent, capture_output=True, text=True)
    assert done.returncode == 1 and "session A's panel" in done.stderr
    assert not (folder / "results.json").exists()


def test_missing_queries_with_labels_are_a_problem(folder):
    (folder / "retrieval_queries.jsonl").unlink()
    assert "judgments.jsonl:1: query q1 is not in retrieval_queries.jsonl" in problems(folder)[0]


def test_settings_widen_the_grades_and_name_the_words(folder):
    path = folder / "judgments.jsonl"
    path.write_text(path.read_text().replace('"relevance": 2', '"relevance": 4'))
    assert "field relevance is 4, wanted 0, 1 or 2" in problems(folder)[0]
    (folder / "settings.json").write_text('{"words": "bigrams", "highest_grade": 4}')
    evals = evalset.load(folder)
    assert evals.grades == (0, 1, 2, 3, 4) and evals.qrels()["q1"]["disk-full"] == 4
    assert evals.tokenizer == "bigrams" and evals.words("東京都") == ["東京", "京都"]
    path.write_text(path.read_text().replace('"relevance": 4', '"relevance": 5'))
    assert "field relevance is 5, wanted a whole number from 0 to 4" in problems(folder)[0]


def test_a_second_set_leaves_the_first_its_tokenizer(folder):
    (folder / "settings.json").write_text('{"words": "bigrams"}')
    page = "---\ntitle: 東京タワー\n---\n東京タワーは高い\n"
    (folder / "corpus" / "disk-full.md").write_text(page, encoding="utf-8")
    (folder / "judgments.jsonl").unlink()
    path = folder / "retrieval_queries.jsonl"
    path.write_text(path.read_text().replace("disk is full", "京タ"))
    first = evalset.load(folder)
    assert evalset.load().tokenizer == "words"
    assert first.words("東京都") == ["東京", "京都"]
    found = pooling.by_ranker(first)
    for name in ("lucene-stemmed", "relevance-model"):
        assert [doc_id for doc_id, _ in found[name]["q1"]] == ["disk-full"], name


def test_overlap_counts_content_words_that_stand_in_any_answer(folder):
    evals = evalset.load(folder)
    both = evals.queries["q1"]._replace(
        query="Is the disk full of old consumers, full?",
        relevant_doc_ids=("disk-full", "queue-full"),
    )
    assert text.content_words(evals.words(both.query)) == "disk full old consumers full".split()
    assert evals.word_overlap(both) == 4 / 5
    assert evals.word_overlap(both._replace(relevant_doc_ids=("queue-full",))) == 2 / 5
    assert evals.word_overlap(both._replace(query="is it the")) == 0


BAD_SETTINGS = {
    '{"words": "bigram"}': 'field words is "bigram", wanted one of: words, unicode-words, bigrams',
    '{"words": ["bigrams"]}': 'field words is ["bigrams"], wanted one of: words',
    '{"highest_grade": true}': "field highest_grade is true, wanted a whole number from 1 to 999",
    '{"tokens": 1}': "field tokens is unknown, wanted one of: words, highest_grade",
    "[]": "found [], wanted a JSON object",
    "{": "broken JSON",
}


@pytest.mark.parametrize("content", BAD_SETTINGS)
def test_bad_settings(folder, content):
    (folder / "settings.json").write_text(content)
    found = problems(folder)
    assert len(found) == 1 and found[0].startswith(f"settings.json:1: {BAD_SETTINGS[content]}")


def test_a_row_without_a_title_is_searched_by_its_text_alone(folder):
    shutil.rmtree(folder / "corpus")
    rows = [{"doc_id": d, "title": "", "text": "one"} for d in ("disk-full", "queue-full")]
    write_rows(folder / "corpus.jsonl", *rows)
    (folder / "judgments.jsonl").unlink()
    evals = evalset.load(folder)
    assert evals.documents["disk-full"].retrieval_text == "one"
    asked = evals._replace(queries={"q": evals.queries["q1"]._replace(query="one")})
    found = pooling.by_ranker(asked)["relevance-model"]
    assert {doc_id for doc_id, _ in found["q"]} == {"disk-full", "queue-full"}


def test_all_problems_come_at_once(folder):
    (folder / "corpus" / "disk-full.md").write_text(HEAD)
    with (folder / "retrieval_queries.jsonl").open("a") as file:
        file.write("{\n[]\n")
    with (folder / "judgments.jsonl").open("a") as file:
        file.write('{"query_id": "q1"}\n')
    assert len(problems(folder)) == 5


def test_command_fails_with_the_lines_and_writes_nothing(folder):
    (folder / "corpus" / "disk-full.md").write_text(HEAD)
    before = sorted(folder.rglob("*"))
    command = [sys.executable, "-m", "helpers", "report", "--evals", str(folder)]
    done = subprocess.run(command, cwd=evalset.DEFAULT.parent, capture_output=True, text=True)
    assert (
        done.returncode == 1
        and "disk-full.md:3: empty document" in done.stderr
        and "Traceback" not in done.stderr
    )
    assert sorted(folder.rglob("*")) == before


def test_failed_write_leaves_the_former_file(tmp_path):
    path = tmp_path / "results.json"
    files.write(path, "former\n")
    with pytest.raises(UnicodeEncodeError):
        files.write(path, "half \ud800")
    assert path.read_text() == "former\n" and list(tmp_path.iterdir()) == [path]


def test_a_broken_query_line_is_reported_once_and_not_for_each_of_its_labels(folder):
    queries = folder / "retrieval_queries.jsonl"
    queries.write_text(queries.read_text().replace('"query": ', '"qeury": ', 1))
    found = problems(folder)
    assert found and not any("judgments.jsonl" in line for line in found)


def test_an_unknown_document_names_the_nearest_and_an_empty_table_itself(folder):
    queries = folder / "retrieval_queries.jsonl"
    queries.write_text(queries.read_text().replace("disk-full", "disk_full"))
    assert any("the nearest is disk-full" in line for line in problems(folder))
    shutil.rmtree(folder / "corpus")
    (folder / "corpus.jsonl").write_text("")
    assert any("corpus.jsonl:1: the file is empty" in line for line in problems(folder))


def test_queries_that_are_all_of_test_wait(folder):
    queries = folder / "retrieval_queries.jsonl"
    rows = [{**json.loads(line), "split": "test"} for line in queries.read_text().splitlines()]
    queries.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert "every query has the split test" in evalset.load(folder).next_step()


def test_a_notebook_shows_the_problems_and_no_frames():
    assert evalset.EvalSetError(["a:1: one", "b:2: two"])._render_traceback_() == [
        "a:1: one",
        "b:2: two",
    ]


# Queries that no document answers.


def with_none(folder):
    """Set q2 aside, of which there are a judgment of 0 and rows in the other files."""
    path = folder / "retrieval_queries.jsonl"
    path.write_text(path.read_text().replace('["queue-full"]', '[], "kind": "none"'))
    judged = [json.loads(line) for line in (folder / "judgments.jsonl").read_text().splitlines()]
    zero = {"query_id": "q2", "doc_id": "queue-full", "relevance": 0}
    write_rows(folder / "judgments.jsonl", *judged[:2], zero)
    pooled = [{"query_id": q, "doc_id": "disk-full", "rankers": ["hand"]} for q in ("q1", "q2")]
    write_rows(folder / "pool.jsonl", *pooled)
    return evalset.load(folder)


def test_a_query_of_kind_none_stays_out_of_what_is_measured(folder):
    evals = with_none(folder)
    assert [*evals.queries] == [*evals.qrels()] == ["q1"] and [*evals.unanswered] == ["q2"]
    assert evals.unanswered["q2"].query == "queue" and [*evals.asked] == ["q1", "q2"]
    assert evals.qrels("dev") == evals.qrels() and evals.next_step() == ""
    # what was read for it counts: nobody may say "no answer" without having looked
    assert {j.query_id for j in evals.judgments} == {"q1", "q2"}
    assert [row["query_id"] for row in evalset.read_extra(evals, "pool.jsonl")] == ["q1", "q2"]


def test_kind_none_and_relevant_documents_exclude_each_other(folder):
    path = folder / "retrieval_queries.jsonl"
    path.write_text(path.read_text().replace('["queue-full"]', '["queue-full"], "kind": "none"'))
    assert problems(folder) == [
        "retrieval_queries.jsonl:2: kind none says that no document answers, "
        "wanted no relevant_doc_ids"
    ]
    path.write_text(path.read_text().replace('["queue-full"]', "[]"))
    assert "q2: queue-full is judged 1 or more but not listed" in problems(folder)[0]


def test_the_judgments_of_a_deleted_query_are_one_problem(folder):
    path = folder / "retrieval_queries.jsonl"
    path.write_text(path.read_text().splitlines()[1] + "\n")
    (problem,) = problems(folder)
    assert problem == (
        "judgments.jsonl:1: query q1 is not in retrieval_queries.jsonl and stands in 2 lines "
        "here: write it there again, or take all its rows out of every file: make drop QUERY=q1 "
        f"EVALS={folder}"
    )


def test_rows_of_a_deleted_query_are_one_problem_in_the_other_files_too(folder):
    pooled = [{"query_id": q, "doc_id": "disk-full", "rankers": ["x"]} for q in ("q1", "q9")]
    pooled.append({**pooled[1], "doc_id": "queue-full"})
    write_rows(folder / "pool.jsonl", *pooled)
    with pytest.raises(evalset.EvalSetError) as caught:
        evalset.read_extra(evalset.load(folder), "pool.jsonl")
    (problem,) = caught.value.problems
    assert "pool.jsonl:2: query q9 is not in" in problem and "in 2 lines here" in problem


def test_numbers_of_queries_read_as_english(folder):
    (folder / "judgments.jsonl").unlink()
    path = folder / "retrieval_queries.jsonl"
    rows = [{"query_id": f"q-{n}", "query": "x", "relevant_doc_ids": []} for n in range(6)]
    write_rows(path, *rows)
    told = evalset.load(folder).next_step()
    assert told.startswith("6 queries wait for a relevant document: q-0, q-1, q-2, q-3, q-4, ...;")
    write_rows(path, rows[0])
    told = evalset.load(folder).next_step()
    assert told.startswith("1 query waits for a relevant document: q-0; ") and told.endswith(")")
    assert [text.how_many(n, "document") for n in (0, 1, 2)] == [
        "0 documents",
        "1 document",
        "2 documents",
    ]


# Small rules.


def set_of(*documents, queries=(), judgments=()):
    """Return a set that no folder holds."""
    keyed = {d.doc_id: d for d in documents}
    asked = {q.query_id: q for q in queries}
    return evalset.EvalSet(evalset.DEFAULT, keyed, asked, list(judgments))


def test_versions_are_pairs_of_one_stem():
    ids = ("a-v1", "a-v12", "a-2024", "b-v1", "c", "c-v1")
    documents = [evalset.Document(d, "t", "x", version="1") for d in ids]
    plain = [evalset.Document(d, "t", "x") for d in ("e-v1", "e-v2")]
    found = {("a-v1", "a-v12"), ("a-2024", "a-v1"), ("a-2024", "a-v12"), ("c", "c-v1")}
    assert set_of(*documents, *plain).versions() == found


def test_copies_are_one_family_with_their_original_and_its_versions():
    one = evalset.Document("a-v1", "t", "x", version="1")
    copies = [evalset.Document(d, "t", "x", copy_of=of) for d, of in (("old", "a-v2"), ("p", "q"))]
    rest = [evalset.Document("q", "t", "x"), evalset.Document("of a", "t", "x")]
    found = set_of(one, one._replace(doc_id="a-v2"), *copies, *rest).versions()
    assert found == {("a-v1", "a-v2"), ("a-v1", "old"), ("a-v2", "old"), ("p", "q")}


def test_a_copy_names_another_document(folder):
    page = folder / "corpus" / "disk-full.md"
    whole = page.read_text()
    for wrong in ("disk-full", "disk-ful"):
        page.write_text(whole.replace("---\n", f"---\ncopy_of: {wrong}\n", 1))
        assert problems(folder) == [
            f"corpus/disk-full.md:1: copy_of is '{wrong}', wanted the id of another document"
        ]
    page.write_text(whole.replace("---\n", "---\ncopy_of: queue-full\n", 1))
    assert evalset.load(folder).versions() == {("disk-full", "queue-full")}


def test_a_copy_in_a_table_is_told_at_its_line(folder):
    shutil.rmtree(folder / "corpus")
    rows = [{"doc_id": d, "title": "", "text": "x"} for d in ("queue-full", "disk-full")]
    write_rows(folder / "corpus.jsonl", rows[0], {**rows[1], "copy_of": "none-such"})
    (folder / "judgments.jsonl").unlink()
    assert problems(folder) == [
        "corpus.jsonl:2: copy_of is 'none-such', wanted the id of another document"
    ]


def test_each_field_that_counts_changes_its_hash():
    document, query = evalset.Document("d", "t", "x"), evalset.Query("q", "ask", ("d",))
    label = evalset.Judgment("q", "d", 1)

    def hashes(document=document, query=query, label=label):
        evals = set_of(document, queries=[query], judgments=[label._replace(query_id=query[0])])
        return evals.corpus_hash(), evals.queries_hash(), evals.topics_hash()

    for changed, which in (
        ({"document": document._replace(doc_id="e")}, {0}),
        ({"document": document._replace(title="u")}, {0}),
        ({"document": document._replace(text="y")}, {0}),
        ({"document": document._replace(kind="k")}, set()),
        ({"query": query._replace(query_id="r")}, {1, 2}),
        ({"query": query._replace(query="other")}, {1, 2}),
        ({"query": query._replace(split="test")}, {1}),
        ({"query": query._replace(kind="k")}, set()),
        ({"label": label._replace(relevance=2)}, {1}),
        ({"label": label._replace(doc_id="e")}, {1}),
    ):
        pairs = zip(hashes(), hashes(**changed), strict=True)
        assert {i for i, (a, b) in enumerate(pairs) if a != b} == which, changed


def test_notes_are_one_line_a_query_and_a_set_without_a_card_has_its_folders_name(folder):
    (folder / "notes.md").write_text("# Notes\n\n## q1\nfirst\nsecond\n\n## q2\nthird\n")
    assert results.notes(folder) == {"q1": "first second", "q2": "third"}
    assert evalset.load(folder).name == folder.name
    (folder / "README.md").write_text("no heading\n")
    assert evalset.load(folder).name == folder.name


def test_an_empty_variable_names_the_default_folder(monkeypatch):
    monkeypatch.setenv("EVALS", "")
    assert evalset.folder() == evalset.DEFAULT


def test_a_folder_has_one_kind_of_corpus_and_long_evidence_is_cut(folder):
    write_rows(folder / "corpus.jsonl", {"doc_id": "x", "title": "", "text": "y"})
    wrong = {"query_id": "q1", "doc_id": "disk-full", "relevance": 2, "evidence": "z" * 90}
    write_rows(folder / "judgments.jsonl", wrong)
    corpus, label = problems(folder)[:2]
    assert corpus == "corpus.jsonl:1: there is also a folder corpus/, keep one of the two"
    assert f"evidence '{'z' * 60}' is not in disk-full" in label


def test_documents_of_the_other_files_must_exist(folder):
    write_rows(folder / "pool.jsonl", {"query_id": "q1", "doc_id": "nil", "rankers": ["x"]})
    write_rows(folder / "negatives.jsonl", {"query_id": "q1", "easy": ["nil"], "hard": ["nul"]})
    for name, missing in (("pool.jsonl", ["nil"]), ("negatives.jsonl", ["nil", "nul"])):
        with pytest.raises(evalset.EvalSetError) as caught:
            evalset.read_extra(evalset.load(folder), name)
        told = [problem.partition(": ")[2].split()[1] for problem in caught.value.problems]
        assert told == missing


@pytest.mark.parametrize(
    "name, field, value, told",
    [
        ("negatives.jsonl", "easy", ["a", "a"], "wanted a list of different document ids"),
        ("second_pass.jsonl", "round", 0, "field round is 0, wanted a number from 1"),
        ("settings.json", "highest_grade", 1000, "field highest_grade is 1000"),
        ("judgments.jsonl", "relevance", 3, "0, 1 or 2 (more with highest_grade in settings.json)"),
        ("judgments.jsonl", "doc_id", "a " * 99, 'field doc_id is "' + "a " * 29 + "a, wanted"),
    ],
)
def test_a_field_that_does_not_fit_is_told(name, field, value, told):
    found = files.complaints({field: value}, files.SCHEMAS[name])
    assert told in " | ".join(found)


def test_line_ends_of_any_kind_and_the_byte_that_is_not_utf8(tmp_path):
    (tmp_path / "a").write_bytes(b"x\ry\r\nz\n")
    assert files.page(tmp_path / "a", print) == "x\ny\nz\n"
    said = []
    (tmp_path / "b").write_bytes(b"ok\n\xe9t\xe9\n")
    assert [line for _, line in files.lines(tmp_path / "b", said.append)] == ["ok"]
    assert said == [f"{tmp_path / 'b'}:2: byte 0xe9 is not UTF-8, save the file as UTF-8"]


# Every field, bound and line of a folder.


def table(folder, *rows):
    """Put corpus.jsonl in the place of corpus/, with the documents that the queries name."""
    shutil.rmtree(folder / "corpus")
    known = [{"doc_id": d, "title": d, "text": "x"} for d in ("queue-full", "disk-full")]
    write_rows(folder / "corpus.jsonl", *known, *rows)
    (folder / "judgments.jsonl").unlink()


def test_each_field_of_a_row_reaches_its_document_query_and_label(folder):
    more = {"kind": "runbook", "service": "disk", "updated": "2026-04-08", "version": "2"}
    more["copy_of"] = "disk-full"
    table(folder, {"doc_id": "a", "title": "A", "text": " b\n", **more, "extra": 1})
    path = folder / "retrieval_queries.jsonl"
    whole = {"query_id": "q0", "query": "ask", "relevant_doc_ids": ["a", "disk-full"]}
    named = {"kind": "how", "popularity": "tail", "split": "test", "answers": ["b"]}
    path.write_text(json.dumps(whole | named) + "\n" + path.read_text())
    evals = evalset.load(str(folder))
    assert [*evals.documents] == ["a", "disk-full", "queue-full"]
    assert evals.documents["a"] == ("a", "A", " b\n", *more.values())
    assert evals.documents["disk-full"][3:] == ("unspecified", "unspecified", "", "", "")
    ids = ("a", "disk-full")
    assert evals.queries["q0"] == ("q0", "ask", ids, "how", "tail", "test", ("b",))
    assert evals.queries["q1"][3:] == ("unspecified", "", "dev", ())
    assert evals.judgments[:2] == [("q0", "a", 1, ()), ("q0", "disk-full", 1, ())]
    assert evals[4:] == ("words", (0, 1, 2), {}, "") and evals.folder == folder


def test_queries_are_in_the_order_of_their_ids_whatever_their_lines(folder):
    (folder / "judgments.jsonl").unlink()
    rows = [
        {"query_id": q, "query": q, "relevant_doc_ids": [], "kind": kind}
        for q, kind in (("b", "x"), ("d", "none"), ("c", "none"), ("a", "x"))
    ]
    write_rows(folder / "retrieval_queries.jsonl", *rows)
    evals = evalset.load(folder)
    assert ([*evals.queries], [*evals.unanswered]) == (["a", "b"], ["c", "d"])
    assert [*evals.asked] == ["a", "b", "c", "d"]


def test_labels_keep_their_evidence_and_may_be_of_one_half(folder):
    evals = evalset.load(folder)
    assert evals.judgments[0] == ("q1", "disk-full", 2, ("Delete <old> logs.",))
    assert evals.judgments[1] == ("q1", "queue-full", 0, ())
    assert evals.qrels("test") == {"q2": {"queue-full": 1}}
    assert evals.qrels() == evals.qrels("dev") | evals.qrels("test")


def test_evidence_may_stand_in_the_title_and_a_document_without_text_has_any():
    documents = {d: evalset.Document(d, "Title", body) for d, body in (("a", "body"), ("b", ""))}
    for doc_id, evidence, told in (
        ("a", "Title\n\nbo", ""),
        (
            "a",
            ["bo", "Body"],
            "evidence 'Body' is not in a, wanted a verbatim quote, line ends included",
        ),
        ("a", "", ""),
        ("a", "Body", "evidence 'Body' is not in a, wanted a verbatim quote, line ends included"),
        ("b", "Body", ""),
        ("c", "", "document c is not in the corpus, wanted one of its 2 ids"),
    ):
        judgment = evalset.Judgment("q", doc_id, 1, files.quotes({"evidence": evidence}))
        assert evalset.misplaced(judgment, {"q": 0}, documents) == told
    told = "query r is not in retrieval_queries.jsonl, wanted one of its ids"
    assert evalset.misplaced(judgment._replace(query_id="r"), {"q": 0}, documents) == told


@pytest.mark.parametrize(
    ("page", "told"),
    [
        ("---\ntitle: A\n---\n \n\t\n", ["3: empty document, wanted a body after ---"]),
        ("---\ntitle: A\n---", ["3: empty document, wanted a body after ---"]),
        ("---\nkind: ''\n---\n", ["3: empty document", "1: field title", "1: field kind"]),
        ("---\n- a\n---\n", ["2: bad front matter", "3: empty document"]),
        ("---\n- a\n---\nbody", ["2: bad front matter"]),
        ("body\n", ["1: no front matter, wanted a block between two lines of ---"]),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_page_is_told_at_its_line(folder, page, told):
    (folder / "corpus" / "a.md").write_text(page)
    found = problems(folder)
    assert len(found) == len(told)
    for line, wanted in zip(found, told, strict=True):
        assert line.startswith(f"corpus/a.md:{wanted}")


def test_the_body_of_a_page_keeps_its_spaces_and_loses_the_empty_lines_around_it(folder):
    (folder / "corpus" / "a.md").write_text("---\ntitle: ' A '\n---\n\n\n  one\n\ntwo \n\n")
    document = evalset.load(folder).documents["a"]
    assert (document.title, document.text) == (" A ", "  one\n\ntwo ")


def test_a_page_that_cannot_be_used_does_not_make_its_labels_wrong_too(folder):
    for content in (b"no front matter", b"\xff", b"---\ntitle: 'A'\nmore: b\n---\nother\n"):
        (folder / "corpus" / "disk-full.md").write_bytes(content)
        (problem,) = problems(folder)
        assert problem.startswith("corpus/disk-full.md:")


def test_a_table_tells_its_empty_documents_and_is_empty_only_without_a_line(folder):
    table(folder, {"doc_id": "a", "title": "A", "text": " \n"})
    assert problems(folder) == ["corpus.jsonl:3: document a is empty, wanted a text"]
    (folder / "retrieval_queries.jsonl").unlink()
    for content, told in (
        ("", "the file is empty, wanted a document a line"),
        ("7\n", "found 7, wanted a JSON object such as {...}"),
    ):
        (folder / "corpus.jsonl").write_text(content)
        assert problems(folder) == [f"corpus.jsonl:1: {told}"]


def test_a_folder_without_documents_is_told_what_is_wanted(tmp_path):
    told = "corpus:1: no documents found, wanted corpus/*.md or corpus.jsonl"
    assert problems(tmp_path) == [told]


def test_settings_that_cannot_be_read_are_one_problem(folder):
    (folder / "settings.json").write_bytes(b'{"words": "\xff"}')
    byte = "settings.json:1: byte 0xff is not UTF-8, save the file as UTF-8"
    assert problems(folder) == [byte]
    (folder / "settings.json").write_text("{")
    (told,) = problems(folder)
    assert told.startswith("settings.json:1: broken JSON (") and told.endswith("wanted one object")
    (folder / "settings.json").write_text('{"words": "x", "highest_grade": 0}')
    assert [line[:28] for line in problems(folder)] == [
        "settings.json:1: field words",
        "settings.json:1: field highe",
    ]


def test_settings_say_where_a_set_is_from_and_an_empty_file_says_nothing(folder):
    (folder / "settings.json").write_text('{"imported": "BEIR"}')
    assert evalset.load(folder)[4:] == ("words", (0, 1, 2), {}, "BEIR")
    (folder / "settings.json").write_text("")
    assert evalset.load(folder) == evalset.load(folder)._replace(imported="", tokenizer="words")


@pytest.mark.parametrize(("highest", "grades"), [(1, (0, 1)), (3, (0, 1, 2, 3))])
def test_grades_begin_at_zero_and_end_at_the_highest(folder, highest, grades):
    (folder / "settings.json").write_text(json.dumps({"highest_grade": highest}))
    (folder / "judgments.jsonl").unlink()
    assert evalset.load(folder).grades == grades


def test_labels_that_disagree_with_the_queries_are_told_in_order_at_their_lines(folder):
    path = folder / "retrieval_queries.jsonl"
    rows = [
        {"query_id": f"q{n}", "query": "x", "relevant_doc_ids": ["disk-full"]} for n in range(20)
    ]
    write_rows(path, *rows)
    judged = [
        {"query_id": row["query_id"], "doc_id": "queue-full", "relevance": 1} for row in rows[::-1]
    ]
    write_rows(folder / "judgments.jsonl", *judged)
    end = "listed, wanted the same in relevant_doc_ids and in judgments.jsonl"
    numbers = sorted(range(20), key=str)
    assert problems(folder) == [
        f"judgments.jsonl:{20 - n}: query q{n}: queue-full is judged 1 or more but not {end}"
        for n in numbers
    ] + [
        f"retrieval_queries.jsonl:{n + 1}: query q{n}: disk-full is listed but not judged 1 or "
        f"more, {end[8:]}"
        for n in numbers
    ]


def test_labels_are_held_against_the_queries_only_where_their_own_lines_are_sound(folder):
    rows = {"query_id": "q1", "doc_id": "disk-full", "relevance": 9}
    write_rows(folder / "judgments.jsonl", rows)
    (problem,) = problems(folder)
    assert problem.startswith("judgments.jsonl:1: field relevance is 9")


def test_a_label_of_a_query_that_stands_nowhere_is_told_even_if_another_line_is_broken(folder):
    path = folder / "retrieval_queries.jsonl"
    path.write_text(path.read_text() + '{"query_id": "q3"}\n')
    with (folder / "judgments.jsonl").open("a") as file:
        for query_id in ("q3", "q"):
            file.write(f'{{"query_id": "{query_id}", "doc_id": "disk-full", "relevance": 0}}\n')
    told = [problem.partition(" is ")[0] for problem in problems(folder)]
    assert told == [
        "retrieval_queries.jsonl:3: field query",
        "retrieval_queries.jsonl:3: field relevant_doc_ids",
        "judgments.jsonl:5: query q",
    ]


@pytest.mark.parametrize(
    ("asked", "end"), [("disk_full", ", the nearest is disk-full"), ("zzz", "")]
)
def test_an_unknown_document_is_told_with_the_number_of_ids(folder, asked, end):
    (folder / "judgments.jsonl").unlink()
    row = {"query_id": "q1", "query": "x", "relevant_doc_ids": [asked]}
    write_rows(folder / "retrieval_queries.jsonl", row)
    told = f"document {asked} is not in the corpus, wanted one of its 2 ids{end}"
    assert problems(folder) == [f"retrieval_queries.jsonl:1: {told}"]


@pytest.mark.parametrize(
    ("waiting", "said"),
    [
        (1, "1 query waits for a relevant document: q0; "),
        (5, "5 queries wait for a relevant document: q0, q1, q2, q3, q4; "),
        (6, "6 queries wait for a relevant document: q0, q1, q2, q3, q4, ...; "),
    ],
)
def test_the_next_step_names_up_to_five_queries(waiting, said):
    empty = [evalset.Query(f"q{n}", "x", ()) for n in range(waiting)]
    evals = set_of(queries=[*empty, evalset.Query("z", "x", ("d",))])
    assert evals.next_step() == said + evalset.LABEL_NEXT
    assert evals.waiting == [query.query_id for query in empty]


def test_the_next_step_without_queries_and_with_all_of_them_set_aside():
    query = evalset.Query("q", "x", ("d",))
    assert set_of().next_step() == evalset.NO_QUERIES
    assert set_of()._replace(unanswered={"q": query}).next_step() == evalset.ALL_SET_ASIDE
    assert set_of(queries=[query]).next_step() == ""
    both = [query, query._replace(query_id="r", split="test")]
    assert set_of(queries=both).next_step() == ""
    assert set_of(queries=both[1:]).next_step().startswith("every query has the split test; set")


def test_a_set_is_named_by_the_first_heading_of_its_card(folder):
    evals = evalset.load(folder)
    (folder / "README.md").write_text("text # no\n## Small\n#Close\n#  The set \n# Other\n")
    assert evals.name == "The set"
    (folder / "README.md").unlink()
    assert evals.name == folder.name


def test_hashes_are_sha256_of_json_lines():
    query = evalset.Query("é", "ask", ("b", "a"), split="test")
    labels = [evalset.Judgment("é", d, grade) for d, grade in (("b", 2), ("a", 1))]
    documents = evalset.Document("a", "T", "x"), evalset.Document("b", "", "y")
    evals = set_of(*documents, queries=[query], judgments=labels)
    for found, lines in (
        (evals.corpus_hash(), '["a", "T\\n\\nx"]\n["b", "y"]\n'),
        (evals.queries_hash(), '["é", "ask", "test", [["a", 1], ["b", 2]]]\n'),
        (evals.topics_hash(), '["é", "ask"]\n'),
    ):
        assert found == hashlib.sha256(lines.encode()).hexdigest()


def test_near_duplicates_are_those_of_the_bodies():
    body = "one two three four five six seven eight"
    documents = [evalset.Document(d, "title", body) for d in "ba"]
    documents += [evalset.Document("c", body, "other")]
    evals = set_of(*documents)
    assert evals.near_duplicates() == {("a", "b"): 1.0} == evals.near_duplicates(1.0)
    assert evals.near_duplicates(1.1) == {}


def test_notes_end_at_the_next_query_and_a_set_may_have_none(folder):
    assert results.notes(folder) == {}
    (folder / "notes.md").write_text(
        "## q1\n\n a \n### part\nb  c\n## not one\nd\n## q2\n## q-3\ne", encoding="utf-8"
    )
    found = results.notes(folder)
    assert found == {"q1": "a ### part b c", "q2": "", "q-3": "e"}


def test_the_other_files_give_their_rows_and_tell_each_fault_at_its_line(folder):
    evals = evalset.load(folder)
    assert evalset.read_extra(evals, "pool.jsonl") == []
    pair = {"query_id": "q1", "doc_id": "disk-full"}
    rows = [{**pair, "rankers": ["x"], "first": 2}, {**pair, "doc_id": "queue-full", "rankers": []}]
    write_rows(folder / "pool.jsonl", *rows)
    assert evalset.read_extra(evals, "pool.jsonl") == rows
    grades = {"first": 3, "second": 0, "final": 0, "reason": ""}
    write_rows(folder / "second_pass.jsonl", {**pair, "round": 1, **grades})
    with pytest.raises(
        evalset.EvalSetError, match=r"second_pass.jsonl:1: field first is 3, wanted"
    ):
        evalset.read_extra(evals, "second_pass.jsonl")
    wider = evals._replace(grades=(0, 1, 2, 3))
    assert len(evalset.read_extra(wider, "second_pass.jsonl")) == 1
    write_rows(
        folder / "negatives.jsonl",
        {"query_id": "q1", "easy": ["disk-ful"], "hard": ["disk-full"]},
        {"query_id": "q2", "easy": [], "hard": ["zzz"]},
    )
    with pytest.raises(evalset.EvalSetError) as caught:
        evalset.read_extra(evals, "negatives.jsonl")
    end = "is not in the corpus, wanted one of its 2 ids"
    path = folder / "negatives.jsonl"
    assert caught.value.problems == [
        f"{path}:1: document disk-ful {end}, the nearest is disk-full",
        f"{path}:2: document zzz {end}",
    ]


def test_the_folder_is_the_one_of_the_variable(monkeypatch, folder):
    monkeypatch.setenv("EVALS", f"{folder}/corpus/..")
    assert evalset.folder() == folder.resolve() and evalset.load().folder == folder.resolve()


def test_overlap_of_a_query_without_answers_is_nothing():
    asked = evalset.Query("q", "disk full", ())
    document = evalset.Document("d", "disk", "x")
    assert set_of(document).word_overlap(asked) == 0
    assert set_of(document).word_overlap(asked._replace(relevant_doc_ids=("d",))) == 0.5


# What is no file that can be read.


@pytest.mark.parametrize("name", evalset.PROSE)
def test_a_page_in_another_encoding_is_told_with_its_line(folder, name):
    (folder / name).write_bytes(b"# A set\n\n## q1\ncaf\xe9\n")
    assert problems(folder) == [f"{name}:4: byte 0xe9 is not UTF-8, save the file as UTF-8"]


def test_a_page_that_an_editor_marked_is_read(folder):
    (folder / "README.md").write_bytes(b"\xef\xbb\xbf# A set\r\n")
    (folder / "notes.md").write_bytes(b"\xef\xbb\xbf## q1\r\nread \r\n")
    assert evalset.load(folder).name == "A set" and results.notes(folder) == {"q1": "read"}


FILES = "settings.json corpus.jsonl retrieval_queries.jsonl judgments.jsonl".split()


@pytest.mark.parametrize("name", [*FILES, *evalset.PROSE])
def test_a_link_whose_file_is_gone_is_no_missing_file(folder, name):
    (folder / name).unlink(missing_ok=True)
    if name == "corpus.jsonl":
        shutil.rmtree(folder / "corpus")
    (folder / name).symlink_to("gone")
    wanted = "cannot be read (No such file or directory), wanted a readable file"
    assert f"{name}:1: {wanted}" in problems(folder)


@pytest.mark.parametrize("name", ["pool.jsonl", "second_pass.jsonl", "negatives.jsonl"])
def test_a_link_whose_file_is_gone_is_no_empty_pool(folder, name):
    (folder / name).symlink_to("gone")
    with pytest.raises(evalset.EvalSetError, match=f"{name}:1: cannot be read"):
        evalset.read_extra(evalset.load(folder), name)


# Twins, floods and what is no file.


def test_queries_that_differ_by_case_are_told_except_in_an_imported_set(folder):
    rows = [json.loads(line) for line in (folder / "retrieval_queries.jsonl").open()]
    write_rows(folder / "retrieval_queries.jsonl", *rows, {**rows[0], "query_id": "Q1"})
    (folder / "judgments.jsonl").unlink()
    (told,) = problems(folder)
    assert told.startswith("retrieval_queries.jsonl:3: id Q1 differs from q1 (line 1) in case")
    (folder / "settings.json").write_text('{"imported": "beir"}')
    assert len(evalset.load(folder).queries) == 3


def test_documents_in_a_table_may_differ_by_case_but_not_by_unicode_form(folder):
    named = [{"doc_id": d, "title": "", "text": "x"} for d in ("Foo", "foo", "é", "e\u0301")]
    table(folder, *named)
    (told,) = problems(folder)
    assert told.startswith("corpus.jsonl:6: id e\u0301 differs from é (line 5) in Unicode form")


def test_a_flood_of_problems_is_counted_and_few_nearest_ids_are_sought(folder, monkeypatch):
    sought = []
    monkeypatch.setattr("difflib.get_close_matches", lambda *asked: sought.append(asked) or [])
    row = {"query_id": "q1", "relevance": 1, "evidence": "x"}
    write_rows(folder / "judgments.jsonl", *({**row, "doc_id": f"d{n}"} for n in range(2000)))
    with pytest.raises(evalset.EvalSetError) as caught:
        evalset.load(folder)
    assert caught.value.count == 2000 and len(caught.value.problems) < 200
    assert len(sought) == evalset.HINTS


@pytest.mark.skipif(os.name == "nt", reason="Windows has no FIFOs in folders")
@pytest.mark.parametrize(
    "name",
    [
        *("README.md", "notes.md", "corpus/fifo.md", "settings.json"),
        *("retrieval_queries.jsonl", "judgments.jsonl"),
    ],
)
def test_a_file_of_a_set_that_never_ends_is_not_opened(folder, name):
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)
    assert f"{name}:1: is a FIFO, wanted a regular file" in problems(folder)


def test_a_card_or_notes_in_another_encoding_are_told(folder):
    for name in ("README.md", "notes.md"):
        (folder / name).write_bytes("# caf\xe9\n".encode("latin-1"))
    assert problems(folder) == [
        f"{name}:1: byte 0xe9 is not UTF-8, save the file as UTF-8"
        for name in ("README.md", "notes.md")
    ]


def test_a_set_without_a_single_word_is_told_before_anything_runs(folder):
    shutil.rmtree(folder / "corpus")
    (folder / "judgments.jsonl").unlink()
    rows = [{"doc_id": d, "title": "", "text": "!?"} for d in ("disk-full", "queue-full")]
    write_rows(folder / "corpus.jsonl", *rows)
    assert evalset.load(folder).next_step().startswith("no document holds a word: ")
    write_rows(folder / "corpus.jsonl", rows[0], rows[1] | {"title": "a"})
    assert evalset.load(folder).next_step() == ""


def test_a_lesson_says_in_a_line_what_it_needs(folder):
    evals = evalset.load(folder)
    assert evals.require() is evals is evals.require("judgments.jsonl")
    with pytest.raises(evalset.EvalSetError, match="fixed.trec: found nothing; run the session be"):
        evals.require("judgments.jsonl", "runs/fixed.trec")
    with pytest.raises(evalset.EvalSetError, match="^no queries yet: write retrieval_queries"):
        evals._replace(queries={}).require("gone")


def test_an_example_is_of_its_kind_else_of_dev_else_any(folder):
    evals = evalset.load(folder)
    one, two = (
        query._replace(kind=kind) for query, kind in zip(evals.queries.values(), "ab", strict=True)
    )
    both = evals._replace(queries={"q1": one, "q2": two._replace(split="dev")})
    assert both.examples("b") == [two._replace(split="dev")]
    assert both.examples("c") == [one, two._replace(split="dev")]
    assert evals._replace(queries={"q2": two}).examples("a") == [two]
    assert [q.query for q in evals._replace(queries={}).examples("a")] == ["disk-full"]
