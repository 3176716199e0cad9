"""Prompts hold what a judge must see and nothing else; answers become rows or are told by line."""

import hashlib
import json

from conftest import write_rows
from labelled_sets import GUIDE, complete, rows

from helpers.label import audit, judge, manifest
from helpers.measure import evalset

PAIR = {"query_id": "q1", "doc_id": "disk-full"}
MADE = {**PAIR, "prompt_sha256": "0f" * 32, "model": "m 1"}


def test_a_prompt_holds_guide_query_and_document_and_its_hash_only_the_guide(folder):
    """Neither a field of the template in a text nor a dollar becomes something else."""
    small = complete(folder)
    (small / "labeling_guide.md").write_text(GUIDE + "Say $query, $5 and {grade}.")
    evals, path = evalset.load(small), small / "prompts.jsonl"
    pairs = [("q1", "disk-full"), ("q2", "queue-full")]
    judge.write_prompts(evals, pairs, path)
    first, second = rows(path)
    assert [(row["query_id"], row["doc_id"]) for row in (first, second)] == pairs
    template, guide = judge.TEMPLATE.read_text(), (small / "labeling_guide.md").read_text()
    shared = hashlib.sha256((template + guide).encode()).hexdigest()
    assert first["prompt_sha256"] == second["prompt_sha256"] == shared
    body = evals.documents["disk-full"].retrieval_text
    for part in (guide, "Query: server refuses to write logs\n", f"\n\n{body}\n\n"):
        assert first["prompt"].count(part) == 1
    assert "disk-full" not in first["prompt"].replace(body, "")
    (small / "labeling_guide.md").write_text(GUIDE)
    judge.write_prompts(evalset.load(small), pairs, path)
    assert rows(path)[0]["prompt_sha256"] != shared


ANSWERS = [  # what the model said, the row's own fields or what is told
    ('{"relevance": 2, "evidence": "Delete"}', {"relevance": 2, "evidence": "Delete"}),
    ('\n {"relevance": 0}\n', {"relevance": 0}),
    ('It helps: {"relevance": 2}', "answer: broken JSON (Expecting value: line 1 column 1"),
    ('{"relevance": 2} It helps.', "answer: broken JSON (Extra data: line 1 column 18 (char 17))"),
    ("2", "answer: found 2, wanted a JSON object"),
    ('{"relevance": 3}', "field relevance is 3, wanted at most 2, unless"),
    ('{"evidence": "Delete"}', "field relevance is missing, wanted a grade: 0, 1 or 2"),
    ('{"relevance": 1, "why": "it fits"}', {"relevance": 1}),
    (json.dumps({**MADE, "query_id": "q2", "doc_id": "d", "model": "m", "relevance": 1}),
     {"relevance": 1}),
    (json.dumps({"prompt_sha256": "1" * 64, "relevance": 1}), {"relevance": 1}),
]  # fmt: skip


def test_an_answer_becomes_a_row_or_is_told_with_its_line(tmp_path):
    path, problems = tmp_path / "answers.jsonl", []
    asked = [{**MADE, "doc_id": f"d{n}"} for n in range(len(ANSWERS))]
    answers = [answer for answer, _ in ANSWERS]
    write_rows(path, *(r | {"answer": a} for r, a in zip(asked, answers, strict=True)))
    path.write_text(path.read_text() + '{"query_id": \n')
    made = judge.read_answers(path, (0, 1, 2), problems)
    kept = [asked[n] | fields for n, (_, fields) in enumerate(ANSWERS) if isinstance(fields, dict)]
    assert made == kept
    told = [f":{n}: {said}" for n, (_, said) in enumerate(ANSWERS, 1) if isinstance(said, str)]
    for problem, words in zip(problems, [*told, f":{len(ANSWERS) + 1}: broken JSON"], strict=True):
        assert problem.startswith(f"{path}{words}"), problem
    assert "nothing around it" in problems[0]
    write_rows(path, MADE | {"answer": '{"relevance": 3}'})
    assert judge.read_answers(path, (0, 1, 2, 3), []) == [MADE | {"relevance": 3}]


JUDGED = [  # what is wrong with the second row of judge.jsonl, what is told
    ({"query_id": "q9"}, "query q9 is not in retrieval_queries.jsonl"),
    ({"relevance": 3}, "field relevance is 3, wanted at most 2, unless"),
    ({}, "stands already at line 1, wanted each once"),
]


def test_the_rows_of_a_judge_are_read_with_their_places_and_other_judges_beside_them(folder):
    small = complete(folder)
    evals, row = evalset.load(small), {**MADE, "relevance": 1}
    others = [row | {"model": "m 2"}, row | {"prompt_sha256": "1" * 64}]
    write_rows(small / "judge.jsonl", row, *others)
    assert evalset.read_extra(evals, "judge.jsonl") == [row, *others]
    assert manifest.unreadable(evals, audit.EXTRAS) == []
    for change, words in JUDGED:
        write_rows(small / "judge.jsonl", row, row | change)
        (problem,) = manifest.unreadable(evals, audit.EXTRAS)
        assert problem.startswith(f"{small / 'judge.jsonl'}:2: ") and words in problem
