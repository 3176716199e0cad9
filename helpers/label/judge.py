"""Another judge, such as a language model: prompts to ask it elsewhere, its answers to read."""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from string import Template

from ..measure import files
from ..measure.evalset import EvalSet
from ..measure.text import Pair

TEMPLATE = Path(__file__).with_name("judge_prompt.txt")
ALONE = 'a JSON object and nothing around it: {"relevance": 1, "evidence": "..."}'


def write_prompts(evals: EvalSet, pairs: Iterable[Pair], path: Path) -> None:
    """Write a JSON line with the prompt for each pair: the set's guide, query, whole document.

    `prompt_sha256` is that of template and guide, which all share. Whoever asks puts `model` and
    `answer` in the place of `prompt`, and `read_answers` reads that.
    """
    guide = files.optional_page(evals.folder / "labeling_guide.md")
    template, rows = TEMPLATE.read_text(encoding="utf-8"), []
    digest = hashlib.sha256((template + guide).encode()).hexdigest()
    for query_id, doc_id in pairs:
        texts = {"guide": guide, "query": evals.all_queries[query_id].query}
        texts["document"] = evals.documents[doc_id].retrieval_text
        row = {"query_id": query_id, "doc_id": doc_id, "prompt_sha256": digest}
        rows.append(row | {"prompt": Template(template).substitute(texts)})
    files.write_jsonl(path, rows)


def read_answers(path: Path, grades: tuple[int, ...], problems: list[str]) -> list[dict]:
    """Return the rows for judge.jsonl that a file of answers gives; `problems` names the others.

    The answer of a line stands there as it came: a JSON object, a grade of `grades`, no prose. Only
    grade and evidence are read of it.
    """
    rows = []
    for place, row in files.rows(path, problems):
        try:
            answer = files.json_object(str(row.pop("answer", "")), ALONE)
            row |= {name: answer[name] for name in ("relevance", "evidence") if name in answer}
            faults = files.schema("judge").faults(row, grades)
        except ValueError as error:
            faults = [f"answer: {error}"]
        problems += [f"{place}: {fault}" for fault in faults]
        if not faults:
            rows.append(row)
    return rows
