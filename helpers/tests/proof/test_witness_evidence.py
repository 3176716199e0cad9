"""The second witness of evidence on made sets whose labels take several quotes together."""

import numpy as np
import pytest
import witness
import witness_evidence
from conftest import write_rows

from helpers import chunks, compare, evalset, evidence, results, runs, text

PAGE = "---\ntitle: {0}\nkind: runbook\nservice: disk\nupdated: 2026-04-08\n---\n{1}\n"
WORDS = "disk queue logs full slow stop call add wait storage".split()
NAMES = [f"d{n}" for n in range(8)]


@pytest.fixture(params=range(4))
def made(tmp_path, request):
    """Return a made set, cut into two sets of chunks, with a ranking of each for every query."""
    rng = np.random.default_rng(request.param)
    sentences = {d: [_sentence(rng) for _ in range(rng.integers(2, 40))] for d in NAMES}
    (tmp_path / "corpus").mkdir()
    for doc_id, own in sentences.items():
        (tmp_path / "corpus" / f"{doc_id}.md").write_text(PAGE.format(doc_id, " ".join(own)))
    asked = [f"q{n:02}" for n in range(24)]
    judged = [(q, d) for q in asked for d in rng.permutation(NAMES)[: rng.integers(1, 5)]]
    labels = [
        {"query_id": q, "doc_id": d, "relevance": int(rng.integers(1, 3)),
         "evidence": [_alternative(rng, sentences[d]) for _ in range(rng.integers(1, 3))]}
        for q, d in judged
    ]  # fmt: skip
    write_rows(tmp_path / "judgments.jsonl", *labels)
    splits = ("dev", "test")
    queries = [{"query_id": q, "query": q, "split": splits[n % 2]} for n, q in enumerate(asked)]
    write_rows(tmp_path / "retrieval_queries.jsonl", *queries)
    evals = evalset.load(tmp_path)
    known = {name: _cut(rng, evals, size) for name, size in (("small", 30), ("fixed", 300))}
    for name, units in known.items():
        chunks.write_chunks(tmp_path / "chunks" / f"{name}.jsonl", units)
    ranked = {
        name: {q: [units[n] for n in rng.permutation(len(units))[:90]] for q in asked}
        for name, units in known.items()
    }
    return evals, known, ranked


def _sentence(rng) -> str:
    return " ".join(rng.choice(WORDS, rng.integers(3, 12))) + "."


def _alternative(rng, sentences: list[str]) -> str | list[str]:
    some = [str(s) for s in rng.choice(sentences, min(len(sentences), rng.integers(1, 4)), False)]
    return some[0] if len(some) == 1 else some


def _cut(rng, evals, size: int) -> list[chunks.Chunk]:
    """Return chunks that overlap, of up to `size` characters and more, by their tokens."""
    units = []
    for doc_id, document in evals.documents.items():
        body, start, own = document.retrieval_text, 0, 0
        while start < len(body):
            end = min(len(body), start + int(rng.integers(size, 3 * size)))
            n_tokens = len(text.token_ids(body[start:end]))
            units.append(chunks.Chunk(doc_id, own, start, end, n_tokens))
            start, own = (end - size // 4 if end < len(body) else end), own + 1
    return units


def witnessed(evals, name, ranked):
    """Return the second witness' files and what its labels and passages are, of a set of chunks."""
    files = witness.read(evals.folder)
    units = witness_evidence.passages(files, name)
    lists = {q: [units[c.chunk_id] for c in ranking] for q, ranking in ranked[name].items()}
    return files, [*units.values()], lists


def test_measures_losses_and_shares_of_what_suffices_and_of_any_quote(made):
    evals, known, ranked = made
    places = set()
    for name in known:
        files, units, lists = witnessed(evals, name, ranked)
        found = results.evidence_content(evals, known, ranked, name)
        for split in ("dev", "test"):
            asked = witness_evidence.quoted(files, split)
            queries = evidence.quoted_queries(evals, split)
            alone = {q: witness_evidence.each_alone(labels) for q, labels in asked.items()}
            for mine, theirs in ((queries, asked), (evidence.any_quote(queries), alone)):
                values = evidence.by_query(evals, mine, ranked[name], known[name])
                assert values == {
                    q: pytest.approx(witness_evidence.scored(files, labels, lists[q], units))
                    for q, labels in theirs.items()
                }
            by_k = witness_evidence.by_k(asked, lists)
            assert found[split]["by_k"] == {k: pytest.approx(row) for k, row in by_k.items()}
            lost = evidence.losses(evals, queries, ranked[name], known[name])
            assert lost == {
                q: witness_evidence.where(of, lists[q], units) for q, of in asked.items()
            }
            places |= {*lost.values()}
    assert evidence.PART in places


def test_results_show_any_quote_beside_what_suffices(made, monkeypatch):
    evals, known, ranked = made
    evals = evals._replace(confirmed={"small": "2026-11-23"})
    (evals.folder / "settings.json").write_text('{"confirmed": {"small": "2026-11-23"}}')
    monkeypatch.setattr(witness_evidence, "SETS", ("small", "fixed"))
    lists = {name: witnessed(evals, name, ranked)[2] for name in known}
    found = results.evidence_content(evals, known, ranked, "fixed")
    wanted = witness_evidence.evidence(witness.read(evals.folder), lists)
    for half in ("dev", "test"):
        for name in known:
            mine, theirs = (of[half]["sets"][name]["any_quote"] for of in (found, wanted))
            assert mine == pytest.approx(theirs) and len(mine) == 6


def test_a_comparison_shows_what_suffices_beside_any_quote(made):
    evals, known, ranked = made
    base, run = (_run_of(evals, name, ranked[name]) for name in known)
    row = compare.compare(evals, base, [run], None)["runs"][0]["evidence"]
    for side, name in (("base", "small"), ("run", "fixed")):
        files, units, lists = witnessed(evals, name, ranked)
        asked = witness_evidence.quoted(files, "dev") | witness_evidence.quoted(files, "test")
        for counted, of in (("measures", dict), ("any_quote", witness_evidence.each_alone)):
            rows = [
                witness_evidence.scored(files, of(a), lists[q], units) for q, a in asked.items()
            ]
            for measure in ("evidence hit@10", "evidence recall@10", "evidence nDCG@10"):
                mean = np.mean([values[measure] for values in rows])
                assert row[counted][measure][side] == pytest.approx(mean)


def _run_of(evals, name, ranked) -> runs.Run:
    path = evals.folder / f"{name}.jsonl"
    write_rows(
        path,
        *(
            {"query_id": q, "results": [[c.chunk_id, -n] for n, c in enumerate(ranking)]}
            for q, ranking in ranked.items()
        ),
    )
    return runs.read_run(path, evals)._replace(chunker=name)
