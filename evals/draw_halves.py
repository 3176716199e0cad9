"""Draw the halves of an evaluation set anew, and write them into retrieval_queries.jsonl.

The command is: .venv/bin/python evals/draw_halves.py [FOLDER].

Queries that share a full answer, or are near-doubles, come into one half; with "split": "strict" in
settings.json those that share any answer. The draw (helpers/label/halves.py) sees labels and no
ranking, and its seed is fixed: the same labels give the same halves, however often it is run.
Afterwards make freeze writes the manifest anew, and make report measures.
"""

import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from helpers.label import halves
from helpers.measure import evalset, files, links


def main() -> None:
    """Draw, rewrite the field split of every query, and print what came out."""
    evals = evalset.load(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
    linked = links.alike_documents(evals)[1]
    groups = links.components(evals, linked)
    drawn, distances = halves.draw_halves(evals, groups, linked)
    path = evals.folder / "retrieval_queries.jsonl"
    rows = [row for _, row in files.rows(path)]
    for row in rows:
        if row["query_id"] in drawn:  # one that waits for a label is in no group
            row["split"] = drawn[row["query_id"]]
    moved = sum(evals.all_queries[query_id].split != half for query_id, half in drawn.items())
    files.write_jsonl(path, rows)
    evals = evalset.load(evals.folder)
    sizes = Counter(query.split for query in evals.queries.values())
    reached = {(family, drawn[query_id]) for query_id, family, _ in links.answers(evals, linked)}
    both = Counter(family for family, _ in reached)
    print(f"groups: {len(groups)}, the largest of {max(map(len, groups))} queries")
    print(f"dev: {sizes['dev']}, test: {sizes['test']}, of other halves before: {moved}")
    told = ", ".join(f"{trait} {value:.3f}" for trait, value in distances.items())
    print("distances:", told or f"none, over {halves.MOST} groups are dealt at random")
    print(
        f"documents (versions as one) relevant in both halves: {sum(n > 1 for n in both.values())}"
    )
    print(
        f"test queries that share no relevant document with dev: {len(links.apart_from_dev(evals))}"
    )
    print("leaks:", ", ".join(links.leaks(evals, linked)) or "none")


if __name__ == "__main__":
    main()
