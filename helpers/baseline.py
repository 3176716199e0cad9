"""The saved baseline: results.json, the run that it measured, and whether both are of this set."""

import functools
import json
import re
from collections.abc import Callable
from pathlib import Path

import fastjsonschema

from . import evalset, files, runs

FILE = f"runs/{runs.BASELINE['chunker']}.trec"

# What is read of results.json, and its types by JSON Schema. "*" stands for fields that the set
# names, such as kinds and ids; a field that ends in "?" may be missing. A list holds any number of
# what it shows, a tuple these values in this order.

BY_MEASURE = {"*": "number"}
INTERVALS = {"*": ("number", "number")}
GROUPS = {"*": {"*": {"n": "integer", "measures": BY_MEASURE}}}
PAIR_OF_MEANS = {"n": "integer", "base": "number", "run": "number", "difference": "number"}
SYSTEM = {"name": "string", "primary": "string", "judged@10": "number"}
QUOTED = {
    "n": "integer",
    "by_k": {"document": ["number"], "evidence": ["number"]},
    "sets": {"*": {"means": BY_MEASURE, "intervals": INTERVALS}},
}
PARTS = {
    "corpus": {"name": "string", "documents": "integer", "tokens": "integer", "sha256": "string"},
    "queries": {
        "n": "integer",
        "unanswered": "integer",
        "judgments": "integer",
        "grades": ["integer"],
        "sha256": "string",
    },
    "run": {"sha256": "string"},
    "method": {
        **dict.fromkeys("engine idf words chunker encoding to_documents".split(), "string"),
        **dict.fromkeys("chunk_tokens overlap_tokens depth".split(), "integer"),
        **dict.fromkeys("k1 b epsilon".split(), "number"),
    },
    "summary": {
        "*": {
            "n": "integer",
            "measures": BY_MEASURE,
            "intervals": INTERVALS,
            "median_first_rank": "number or null",
        }
    },
    "by_kind": GROUPS,
    "by_popularity": GROUPS,
    "told_apart": {"*": BY_MEASURE},
    "compared_dev": {
        "n": "integer",
        "matters": "number",
        "base": {**SYSTEM, "means": BY_MEASURE},
        "runs": [
            {
                **SYSTEM,
                "p_holm": "number",
                "verdict": "string",
                "measures": {
                    "*": {
                        **PAIR_OF_MEANS,
                        **dict.fromkeys("low high detectable".split(), "number or null"),
                        "p": "number",
                        **dict.fromkeys("wins ties losses".split(), "integer"),
                    }
                },
                "by_kind": {"*": PAIR_OF_MEANS},
            }
        ],
    },
    "evidence": {
        "dev?": QUOTED,
        "test?": QUOTED,
        "best?": {
            **dict.fromkeys("best? next? verdict? reason?".split(), "string"),
            "difference?": "number",
        },
        "lost?": {"*": "string"},
    },
    "cards": [
        {
            **dict.fromkeys("query_id wanted rival cause".split(), "string"),
            "unjudged": "boolean",
            "lacks": ["string"],
        }
    ],
    "per_query": [
        {
            **dict.fromkeys("query_id query kind split".split(), "string"),
            "relevant": {"*": "integer"},
            "retrieved": [("string", "number")],
            "first_rank": "number or null",
            "measures": BY_MEASURE,
        }
    ],
}


def schema(of: str | list | tuple | dict) -> dict:
    """Return the JSON Schema of a part of PARTS."""
    match of:
        case str():
            return {"type": of.split(" or ")}
        case list():
            return {"type": "array", "items": schema(of[0])}
        case tuple():
            return {"type": "array", "items": [*map(schema, of)], "minItems": len(of)}
    fields = {name.removesuffix("?"): schema(part) for name, part in of.items()}
    needed = [name for name in fields if name in of and name != "*"]
    every = fields.pop("*", {})
    found = {"type": "object", "required": needed, "properties": fields}
    return found | {"additionalProperties": every}


@functools.cache
def _check_of_results() -> Callable[[dict], dict]:
    draft = "http://json-schema.org/draft-04/schema#"  # from draft 6 on 1.0 is an integer
    return fastjsonschema.compile({"$schema": draft, **schema(PARTS)})


def misfit(found: dict) -> str:
    """Return the first field of results.json that is missing or of another type, "" if none is."""
    try:
        _check_of_results()(found)
    except fastjsonschema.JsonSchemaValueException as error:
        field = error.name[len("data.") :]
        if error.rule == "required":
            lost = next(name for name in error.rule_definition if name not in error.value)
            return f"field {field}{'.' * bool(field)}{lost} is missing"
        shown = json.dumps(error.value, ensure_ascii=False)[:60]
        wanted = re.sub("^(be|contain) ", "", error.message.rpartition(" must ")[2])
        return f"field {field}: found {shown}, wanted {wanted}"
    return ""


def measured_run(folder: Path) -> dict[str, str]:
    """Return which run of the folder is measured, with the SHA-256 of its file."""
    return {"file": FILE, "sha256": files.file_hash(folder / FILE)}


def read_results(folder: Path) -> dict:
    """Return results.json of `folder`.

    Raises EvalSetError where it is no file of session C, or a field has another type.
    """
    path = folder / "results.json"
    try:
        found = files.json_object(files.page(path, evalset.stop))
    except evalset.EvalSetError:
        raise
    except ValueError as error:
        wanted = str(error).replace("one object a line", "one object")
        raise evalset.EvalSetError([f"{path}:1: {wanted}; {again(folder)}"]) from None
    wrong = misfit(found)
    if wrong:
        raise evalset.EvalSetError([f"{path}:1: {wrong}; {again(folder)}"])
    return found


def again(folder: Path) -> str:
    """Return what mends a baseline."""
    return f"make report EVALS={folder} measures the baseline anew"


def changed(evals: evalset.EvalSet, found: dict) -> dict[str, tuple[str, str]]:
    """Return {what is not as it was measured: (its hash then, its hash now)}.

    `found` comes from `read_results`. A run that is missing has the hash "nothing".
    """
    run = evals.folder / FILE
    sides = {
        "another corpus": (found["corpus"]["sha256"], evals.corpus_hash()),
        "other queries and labels": (found["queries"]["sha256"], evals.queries_hash()),
        f"another {FILE}": (
            found["run"]["sha256"],
            files.file_hash(run) if run.is_file() else "nothing",
        ),
    }
    return {what: (then, now) for what, (then, now) in sides.items() if then != now}


def faults(evals: evalset.EvalSet) -> list[str]:
    """Return why `verified` would raise an error, [] where it would not."""
    try:
        verified(evals)
    except evalset.EvalSetError as error:
        return error.problems
    return []


def verified(evals: evalset.EvalSet) -> dict:
    """Return results.json of the set's folder.

    Raises EvalSetError where it, or the run that it measured, is not of these documents, queries
    and labels.
    """
    found, path = read_results(evals.folder), evals.folder / "results.json"
    wrong = [
        f"{path}: made on {what} ({then[:12]}, the folder has {now[:12]}): {again(evals.folder)}, "
        "or check out the folder that it was made on"
        for what, (then, now) in changed(evals, found).items()
    ]
    if wrong:
        raise evalset.EvalSetError(wrong)
    return found
