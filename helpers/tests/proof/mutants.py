"""Break copies of the workbook on purpose, one wrong edit at a time: each must turn a check red.

Run by `make proof ONLY=mutants`: the list below, of which none may survive, and a seeded sample of systematic
edits (mutation.py) of which 85 % must be caught (75 % in check and learn), as many from every room.
SEED=, N= and ROOM= choose another sample; with ROOM= the list is left out. A mutant runs only what
reaches its line; what that is stands in .cache/reach until the sources or that test file change.
"""

import multiprocessing
import os
import sys
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import mutation
import nbformat
import pytest
import reach
from equivalent import EQUIVALENT

ROOT = Path(__file__).resolve().parents[3]
A, B, C = (
    f"notebooks/session_{name}.ipynb"
    for name in ("a_corpus_and_labels", "b_chunking_and_bm25", "c_metrics_and_writeup")
)
ANSWERS, BEST = (f"notebooks/further/{name}.ipynb" for name in ("answers", "best_of_many"))
AGREEMENT = "notebooks/further/agreement.ipynb"
WRITE_UP = "evals/retrieval_eval.ipynb"
MATRIX = "notebooks/further/bm25_matrix.ipynb"
(
    DATA,
    RUNS,
    MEASURES,
    PROJECT,
    SET,
    POOL,
    AUDIT,
    LOG,
    SCHEDULE,
    LINKS,
    MANIFEST,
    STATS,
    COMPARE,
    IMPORT,
    QRELS,
    COLLECTIONS,
    CATALOGUE,
    EXPORT,
    SPARSE,
    LEARN,
    REHEARSAL,
    VERDICT,
    VALUES,
    FAILURES,
    QUIZ,
    SESSIONS,
    COMMANDS,
    DISK,
    EVIDENCE,
) = (
    f"helpers/tests/{name}.py"
    for name in (
        "test_evalset",
        "test_runs",
        "test_measures",
        "test_project",
        "proof/test_set",
        "labels/test_pooling",
        "labels/test_checks",
        "labels/test_log",
        "labels/test_schedule",
        "labels/test_links",
        "labels/test_manifest",
        "test_stats",
        "test_compare",
        "sources/test_write",
        "sources/test_qrels",
        "sources/test_collections",
        "sources/test_catalogue",
        "sources/test_export",
        "test_sparse",
        "learn/test_copies",
        "proof/test_rehearsal",
        "check/test_verdict",
        "check/test_values",
        "check/test_failures",
        "check/test_quick_test",
        "proof/test_sessions",
        "test_commands",
        "test_disk",
        "test_evidence",
    )
)
SETUP = "helpers/tests/proof/test_setup.py"
BLOCKS = "import sys; from helpers import evalset, workbook; sys.exit(bool(workbook.stale_blocks(evalset.DEFAULT)))"
GUARD = "import sys; from helpers import workbook; sys.exit(any(map(workbook.guard, workbook.NOTEBOOKS)))"


class Mutant(NamedTuple):
    """Replace `old` by `new`, once, in `file`; then `target` must fail."""

    name: str
    file: str
    old: str
    new: str
    target: str


MUTANTS = [
    Mutant("coverage counts a document twice", A, "len(set(doc_ids) & set(reached))", "len(reached)", A),
    Mutant("overlap over different words", A, "/ len(asked) if asked", "/ len(found) if asked", A),
    Mutant("test queries shown as dev", A, 'if q.split == "dev"', 'if q.split == "test"', A),
    Mutant("overlap of chunks ignored", B, "spans[-1][0] + size - overlap", "spans[-1][0] + size", B),
    Mutant("tail inside its neighbour kept", B, "while spans[-1][1] < n:", "while spans[-1][0] + size - overlap < n:", B),
    Mutant("a character lost at each seam", B, "(at[start], at[end],", "(at[start], at[end] - 1,", B),
    Mutant("IDF without its floor", B, "word: floor if weight < 0 else weight for", "word: weight for", B),
    Mutant("another k1", B, "k1: float = 1.5", "k1: float = 1.2", B),
    Mutant("document length ignored", B, "b * len(doc) / average_length", "b", B),
    Mutant("ties in the order of the sort", B, "np.lexsort((found, -scores))", "np.argsort(scores)[::-1]", B),
    Mutant("documents without a shared word", B, "not vocabulary.isdisjoint(words)", "True", B),
    Mutant("a document's worst chunk", B, 'best.setdefault(chunk_id.rpartition("#")[0], score)', 'best[chunk_id.rpartition("#")[0]] = score', B),
    Mutant("no collapse to documents", B, "return hits[:DEPTH], to_documents(hits)[:DEPTH]", "return hits[:DEPTH], hits[:DEPTH]", B),
    Mutant("cut before collapse", B, "to_documents(hits)[:DEPTH]", "to_documents(hits[:DEPTH])", B),
    Mutant("discount without its logarithm", C, "gain / math.log2(rank + 1)", "gain / (rank + 1)", C),
    Mutant("ideal from the retrieved list", C, "sorted(gains.values(), reverse=True)", "sorted((gains.get(d, 0) for d in ranking), reverse=True)", C),
    Mutant("cutoff of RR ignored", C, "enumerate(ranking[:k], 1):", "enumerate(ranking, 1):", C),
    Mutant("recall divided by k", C, "grades, k) / relevant if relevant else 0.0", "grades, k) / k", C),
    Mutant("AP over found documents", C, "return sum(at_hits) / relevant if relevant", "return sum(at_hits) / len(at_hits) if at_hits", C),
    Mutant("exponential gain unnamed", "helpers/measures.py", '"nDCG": nDCG,', '"nDCG": nDCG(gains={1: 1, 2: 3}),', C),
    Mutant("missing query skipped", "helpers/measures.py", "for query_id in qrels}  # in", "for query_id in run}  # in", MEASURES),
    Mutant("unfound left out of the median", "helpers/measures.py", "median(first_rank(row) or math.inf for row in values.values())",
           "median(first_rank(row) for row in values.values() if row['RR'])", MEASURES),
    Mutant("ties left to the tools", "helpers/runs.py", "apart.append((ranked_id, min(score, ceiling)))", "apart.append((ranked_id, score))", RUNS),
    Mutant("files written in place", "helpers/files.py", "        os.replace(part, path)\n    finally:", '        path.write_bytes(part.read_bytes())\n    finally:', DISK),
    Mutant("what a live writer holds is cleared", "helpers/files.py", "if not held:", "if True:", DISK),
    Mutant("half a stamp counts as whole", "helpers/files.py", "left in (_whole(folder, stamp), *parts)", "left in (*parts,)", DISK),
    Mutant("a folder that is no export is replaced", "helpers/sources/export.py", "if strange or missing:", "if missing and not strange:", EXPORT),
    Mutant("line ends change the hash", "helpers/files.py", '.replace("\\r\\n", "\\n")', "", DATA),
    Mutant("package missing in the lock", "requirements.in", "pyyaml ", "pyyaml-not-locked ", PROJECT),
    Mutant("label dropped", "evals/judgments.jsonl", '{"query_id": "q01", "doc_id": "checkout-error-codes", "relevance": 1',
           '{"query_id": "q01", "doc_id": "checkout-error-codes", "relevance": 0', WRITE_UP),
    Mutant("grade changed", "evals/judgments.jsonl", '"doc_id": "checkout-connection-pool-exhausted", "relevance": 2',
           '"doc_id": "checkout-connection-pool-exhausted", "relevance": 1', WRITE_UP),
    Mutant("query moved across the split", "evals/retrieval_queries.jsonl", '"popularity": "tail", "split": "dev"', '"popularity": "tail", "split": "test"', WRITE_UP),
    Mutant("document edited after the run", "evals/corpus/rollback-v2.md", "slipway", "slipwai", WRITE_UP),
    Mutant("results edited by hand", "evals/results.json", '"n": 127', '"n": 128', WRITE_UP),
    Mutant("README number changed", "README.md", "| dev | 127 | 0.", "| dev | 127 | 0.9", BLOCKS),
    Mutant("pool deeper than asked", "helpers/labels/pooling.py", "in ranking[:depth]:", "in ranking:", POOL),
    Mutant("judged@k over answered queries", "helpers/measures.py", "calc_aggregate([Judged @ k], qrels,", "calc_aggregate([Judged @ k], {q: qrels[q] for q in run if run[q]},", POOL),
    Mutant("a relevant document as easy negative", "helpers/labels/pooling.py", " and not qrels[query_id].get(d)]", "]", POOL),
    Mutant("zeros left out of the export", "helpers/sources/export.py", "for j in evals.judgments", "for j in evals.judgments if j.relevance", EXPORT),
    Mutant("pooled document unjudged", "evals/judgments.jsonl", '{"query_id": "q01", "doc_id": "db-pgbouncer-settings", "relevance": 0}\n', "", WRITE_UP),
    Mutant("label file changed after the freeze", "evals/labeling_guide.md", "word for word", "in your own words", SET),
    Mutant("versions no longer one document", "helpers/labels/links.py", "versions | one", "one", LINKS),
    Mutant("chains of queries not followed", "helpers/text.py", "whole = group.union(*(home[member] for member in group if member in home))", "whole = group", LINKS),
    Mutant("manifest blind to new files", "helpers/labels/manifest.py", "for name in sorted({*listed, *present})", "for name in sorted(listed)", MANIFEST),
    Mutant("kappa without chance", A, "(observed - chance) / (1 - chance) if chance < 1", "observed if chance < 1", A),
    Mutant("AC1 with kappa's chance", AGREEMENT, "share * (1 - share) for share in shares", "share * share for share in shares", AGREEMENT),
    Mutant("a log written without its lock", "helpers/labels/log.py", "with locked(self.path), self.path.open", "with self.path.open", LOG),
    Mutant("a lock that a killed kernel keeps", "helpers/labels/log.py", "AcquireReturnProxy, FileLock", "AcquireReturnProxy, SoftFileLock as FileLock", LOG),
    Mutant("kappa of one's own repeats without weights", "helpers/labels/schedule.py", 'grades, weights="linear")', "grades)", SCHEDULE),
    Mutant("blind repeats replace the label", "helpers/labels/log.py", "if entry.doc_id and not entry.repeat}", "if entry.doc_id}", SCHEDULE),
    Mutant("Holm without its steps", BEST, "(len(ps) - rank) * ps[place]", "len(ps) * ps[place]", BEST),
    Mutant("another b in the card", "notebooks/cards.py", "(1 - b + b * self.index", "(1 - b + self.index", C),
    Mutant("answer found inside a number", ANSWERS, "(?<!\\w){re.escape(a)}(?!\\w)", "{re.escape(a)}", ANSWERS),
    Mutant("better and worse exchanged", "helpers/stats.py", "BETTER if pair.difference > 0", "BETTER if pair.difference < 0", STATS),
    Mutant("too few taken for no difference", "helpers/stats.py", "-matters <= pair.low and pair.high <= matters", "-1 <= pair.low and pair.high <= 1", STATS),
    Mutant("interval of half the width", "helpers/stats.py", "1 - ALPHA / 2, len", "1 - ALPHA, len", STATS),
    Mutant("p of zero", "helpers/stats.py", "return float(flipped.pvalue)", "return max(0.0, float(flipped.pvalue) - 2 / DRAWS)", STATS),
    Mutant("ties counted as wins", "helpers/stats.py", "differences > TIE", "differences > -TIE", STATS),
    Mutant("no correction for several runs", "helpers/compare.py", 'stats.holm([pair["p"] for pair in pairs]) if pairs', '[pair["p"] for pair in pairs] if pairs', COMPARE),
    Mutant("NaN scores accepted", "helpers/runs.py", "if math.isfinite(number):", "if True:", RUNS),
    Mutant("chunk's last score instead of its best", "helpers/runs.py", "max(score, best.get(doc_id, -math.inf))", "score", RUNS),
    Mutant("unknown documents skipped", "helpers/runs.py", "document {ranked_id} is unknown, wanted {wanted}", "", RUNS),
    Mutant("explicit zeros listed as relevant", "helpers/sources/write.py", "for doc_id, label in row.items() if label.grade]", "for doc_id, label in row.items()]", IMPORT),
    Mutant("a limited corpus loses relevant documents", "helpers/sources/write.py", 'elif tier == "relevant" or rooms[tier]:', "elif len(held) < (most or len(held) + 1):", IMPORT),
    Mutant("halves in the order of the file", "helpers/sources/qrels.py", "key=lambda group: hashlib.sha256(min(group).encode()).hexdigest()", "key=lambda group: 0", QRELS),
    Mutant("a truncated corpus not marked", "helpers/sources/write.py", "lines += [TRUNCATED] if truncated else []", "lines += []", IMPORT),
    Mutant("import into a folder that holds something", "helpers/sources/write.py", "any(to.iterdir()))", "False)", IMPORT),
    Mutant("% in document ids", "helpers/sources/readers.py", r'r"[\s/\\#%]"', r'r"[\s/\\#]"', "helpers/tests/sources/test_readers.py"),
    Mutant("queries in the documents' language", "helpers/sources/catalogue.py", "queries = [options.queries] if options.queries else splits.values()", "queries = splits.values()", CATALOGUE),
    Mutant("the set's tokenizer ignored", "helpers/evalset.py", "tokens.TOKENIZERS[self.tokenizer](text)", "tokens.words(text)", DATA),
    Mutant("overlap over function words", "helpers/evalset.py", "tokens.content_words(self.words(query.query))", "self.words(query.query)", DATA),
    Mutant("a second pass without rounds", "helpers/files.py", '            "round": "round",\n', "", AUDIT),
    Mutant("everything imported for --help", "helpers/__main__.py", "import sys\n", "import sys\nimport numpy\n", COMMANDS),
    Mutant("a folder read twice", "helpers/__main__.py", "findings = audit.of_folder(options.evals)", "from . import evalset; findings = audit.of_folder(evalset.load(options.folder))", COMMANDS),
    Mutant("a card with another engine", B, '"engine": engine', '"engine": runs.BASELINE["engine"]', SESSIONS),
    Mutant("a large corpus with other words", B, "bodies, words=evals.words", "bodies", SESSIONS),
    Mutant("a large corpus searched less deep", B, "k), to_documents, DEPTH)", "k), to_documents, DEPTH - 1)", SESSIONS),
    Mutant("the order of equal scores in a large corpus", "helpers/sparse.py", "np.lexsort((documents.places[matches], -rounded))", "np.lexsort((-documents.places[matches], -rounded))", SESSIONS),
    Mutant("ties beyond the cut dropped", "helpers/sparse.py", "floor -= 1e-9 * (1 + abs(floor))", "floor += 1e-9", SPARSE),
    Mutant("dimension -1 taken for the last", "helpers/sparse.py", "(dims < 0) | (dims >= dim)", "dims >= dim", SPARSE),
    Mutant("a kept encoding for another corpus", "helpers/sparse.py", "json.dumps([model, texts], sort_keys=True)", "json.dumps([model, len(texts)], sort_keys=True)", SPARSE),
    Mutant("weights without IDF", MATRIX, "values = idf[counts.indices] * tf", "values = tf", MATRIX),
    Mutant("a solution told in a hint", "helpers/tests/proof/rehearsal.py", "if told and (share >= 0.5 or len(longest) >= 40):", "if False:", REHEARSAL),
    Mutant("links of a copy not moved", "helpers/learn/copies.py", "cell.source = LINK.sub(link, cell.source)", "pass", LEARN),
    Mutant("end of a solution left in the copy", "helpers/learn/copies.py", "lines[first - 1 : last] =", "lines[first - 1 : last - 1] =", LEARN),
    Mutant("a check that praises a stub", "helpers/tests/proof/rehearsal.py", 'if stub and (found is None or found.kind != "NotStarted"):', "if False:", REHEARSAL),
    Mutant("answers far off accepted", "notebooks/check/values.py", "abs(wanted - got) <= near", "abs(wanted - got) <= 0.3", VALUES),
    Mutant("the last of several explanations", "notebooks/check/verdict.py", "if share > best:", "if share:", VERDICT),
    Mutant("every quick test passed", "notebooks/check/quick_test.py", "len(right) >= PASS * len(questions)", "len(right) >= 0", QUIZ),
    Mutant("causes kept without a reason", "notebooks/check/failures.py", "if not _is_kept(read[q])}", "if False}", FAILURES),
    Mutant("reasons of wrong answers told", "notebooks/check/quick_test.py", "if right or passed else", "if given else", QUIZ),
    Mutant("the report on test over that on dev", "helpers/compare.py", 'else f"-{split}"', 'else ""', COMPARE),
    Mutant("half a quote counted", "helpers/evidence.py", "chunk.start <= start and end <= chunk.end", "chunk.start < end and start < chunk.end", EVIDENCE),
    Mutant("a document counted for its quote", "helpers/evidence.py", " and whole(sought, chunk):", ":", EVIDENCE),
    Mutant("the last chunk that holds a quote", "helpers/evidence.py", "chunk.doc_id not in ranks and ", "", EVIDENCE),
    Mutant("a budget overrun by the last chunk", "helpers/evidence.py", "[*taken, cut_to(chunk, room, documents)]", "[*taken, chunk]", EVIDENCE),
    Mutant("the ideal from what was delivered", "helpers/evidence.py", "sorted(query.grades.values(), reverse=True)", "sorted((query.grades[d] for d in ranks), reverse=True) or [1]", EVIDENCE),
    Mutant("shared text counted twice", "helpers/evidence.py", "in _without_overlap(held)", "in held", EVIDENCE),
    Mutant("a span beyond its document", "helpers/runs.py", "int(start) < int(end) <= length", "int(start) < int(end)", EVIDENCE),
    Mutant("stored output cleared", C, "", "", GUARD),
]  # fmt: skip


SEED, SAMPLED, WORKERS = 2026, 100, 2
WANTED = defaultdict(lambda: 0.85, check=0.75, learn=0.75)  # of a room, or of all together


def main() -> int:
    """Run the list and a sample, or with ROOM= a sample of that room; return 1 if they fail."""
    room, seed = os.environ.get("ROOM", ""), int(os.environ.get("SEED") or SEED)
    n = int(os.environ.get("N") or (60 if room else SAMPLED))
    edits, gone = mutation.without_equivalents(mutation.all_edits(ROOT), EQUIVALENT)
    for entry in gone:
        print(f"equivalent.py names an edit that is none any more: {entry.file}: {entry.before}")
    chosen = drawn(edits, n, seed, room)
    reach.warm()
    fork = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(WORKERS, fork) as pool:
        try:
            recorded = list(pool.map(reach.record, wanted_files(edits, room)))
        except RuntimeError as error:
            print(f"{error}\nRun make check first.")
            return 1
    global REACHED
    REACHED = reach.Reach(recorded)  # the workers, forked next, have it
    print(f"{len(edits)} wrong edits, {len(chosen)} sampled with SEED={seed}", flush=True)
    with ProcessPoolExecutor(WORKERS, fork) as pool:
        failed = 0 if room else run_list(pool)
        share = run_sample(pool, chosen)
    if share < WANTED[room]:
        print(f"wanted {WANTED[room]:.0%} caught: kill the survivors, or name the equivalent ones")
    return int(bool(gone) or failed > 0 or share < WANTED[room])


def wanted_files(edits: list, room: str) -> list[str]:
    """Return the test files and notebooks to run unbroken: all, or those near the room."""
    if not room:
        return reach.test_files()
    files = {edit.file for edit in edits if mutation.room_of(edit.file) == room}
    if room == "sessions":  # an edited cell runs its notebook, then these
        return [f for f in reach.test_files() if "/check/" in f or f == reach.SESSIONS_TEST]
    near = {name for file in files for name in reach.mirrors(file)}
    near |= {*reach.files_for({Path(file).stem for file in files} | {room})}
    return [file for file in reach.test_files() if file in near]


def drawn(edits: list, n: int, seed: int, room: str = "") -> list:
    """Return `n` edits of the room, or as many from every room as make up `n` together."""
    rooms = defaultdict(list)
    for edit in edits:
        rooms[mutation.room_of(edit.file)].append(edit)
    if room and room not in rooms:
        raise SystemExit(f"ROOM={room} is unknown, wanted one of: {' '.join(sorted(rooms))}")
    names = [room] if room else sorted(rooms)
    shares = {name: n // len(names) + (k < n % len(names)) for k, name in enumerate(names)}
    return [e for r in names for e in mutation.sample(ROOT, rooms[r], shares[r], seed)]


def run_list(pool: ProcessPoolExecutor) -> int:
    """Run every listed mutant and print how it ended; return how many survived."""
    ended = Counter()
    for mutant, how in zip(MUTANTS, pool.map(run_listed, MUTANTS), strict=True):
        ended[how] += 1
        print(f"{how:>15}  {mutant.name}  ({mutant.file})", flush=True)
    alone, both = ended["caught by check"], len(MUTANTS) - ended["SURVIVED"]
    print(f"{alone} of {len(MUTANTS)} are caught by make check alone, {both} by both tiers")
    print(f"{both} passed, {ended['SURVIVED']} failed")
    return ended["SURVIVED"]


def run_listed(mutant: Mutant) -> str:
    """Return which tier notices a mutant in a fresh copy: its target as check runs it, or whole."""
    target, of_proof = mutant.target, ("/proof/", "/further/")
    with reach.copied() as tree:
        break_copy(tree / mutant.file, mutant)
        if target.startswith("import "):
            caught = reach.forked(tree, lambda: status_of(target), 120).status
            return "caught by check" if caught else "SURVIVED"
        beyond = any(part in target for part in of_proof)
        if not beyond and try_target(tree, target, *reach.as_check_runs(target)):
            return "caught by check"
        return "caught by proof" if try_target(tree, target) else "SURVIVED"


def try_target(tree: Path, target: str, *more: str) -> bool:
    """Return whether a test file or notebook fails in a copy."""
    words = ["-x", *reach.options(target), *more, target]
    status = reach.forked(tree, lambda: pytest.main(words), 300).status
    return status not in (0, pytest.ExitCode.NO_TESTS_COLLECTED)


def status_of(code: str) -> int:
    """Run code that ends with sys.exit; return its status."""
    try:
        exec(code, {})
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def run_sample(pool: ProcessPoolExecutor, chosen: list) -> float:
    """Run the sampled edits, print the survivors and each room's share; return the share caught."""
    caught, rooms = defaultdict(int), Counter(mutation.room_of(edit.file) for edit in chosen)
    for edit, how in zip(chosen, pool.map(run_sampled, chosen), strict=True):
        caught[mutation.room_of(edit.file)] += how.startswith("caught")
        where = f"{edit.file}:{edit.cell + ':' if edit.cell else ''}{edit.line}"
        shown = "" if how.startswith("caught") else f"\n  - {edit.before}\n  + {edit.after}"
        print(f"{how}  {where}  [{edit.kind}]{shown}", flush=True)
    for room in sorted(rooms):
        print(estimate(room, caught[room], rooms[room]))
    print(estimate("together", sum(caught.values()), len(chosen)))
    return sum(caught.values()) / len(chosen)


def estimate(room: str, caught: int, n: int) -> str:
    """Return a room's line: how many of its mutants were caught, their share and its interval."""
    low, high = mutation.wilson(caught, n)
    return f"{room:>10}  {caught}/{n} caught  {caught / n:.2f} [{low:.2f}, {high:.2f}]"


def run_sampled(edit: mutation.Edit) -> str:
    """Return "caught", "SURVIVED" or "NOT COVERED", with what was run, for an edit in a fresh copy."""
    with reach.copied() as tree:
        break_at(tree / edit.file, edit)
        if edit.cell:
            return of_cell(tree, edit)
        return of_module(tree, edit)


def break_at(path: Path, edit: mutation.Edit) -> None:
    """Make the edit in its file or its cell; byte code of the old text goes."""
    if edit.cell:
        changed = lambda name, text: mutation.apply(text, edit) if name == edit.cell else None  # noqa: E731
        reach.write_cell(path, changed)
        return
    path.write_text(mutation.apply(path.read_text(encoding="utf-8"), edit), encoding="utf-8")
    for old in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
        old.unlink()


def of_cell(tree: Path, edit: mutation.Edit) -> str:
    """Run the notebook of an edited cell, then the tests that play the sessions and the exercises."""
    if reach.run_notebook(tree, edit.file).status:
        return "caught by its notebook"
    checks = [f for f in reach.test_files() if "/check/test_" in f]
    done = reach.run_tests(tree, REACHED, [*checks, reach.SESSIONS_TEST])
    return "caught by the sessions" if done.status else "SURVIVED (notebook, checks, sessions)"


def of_module(tree: Path, edit: mutation.Edit) -> str:
    """Run the test files that reach an edited line, then one notebook."""
    text, first = (ROOT / edit.file).read_text(encoding="utf-8"), reach.mirrors(edit.file)
    lines = reach.lines_around(text, edit.line)
    if mutation.room_of(edit.file) == "check":  # its own trace hides lines from coverage
        lines = range(1, text.count("\n") + 2)
    names = REACHED.of(edit.file, lines)
    if mutation.room_of(edit.file) == "install":  # it runs in processes that coverage can't see
        names = {SETUP}
    if not names:
        return "NOT COVERED"
    books = sorted(name for name in names if name.endswith(".ipynb"))
    order = REACHED.order(names - {*books}, first)
    if order and reach.run_tests(tree, REACHED, order).status:
        return "caught by tests"
    if books and reach.run_notebook(tree, books[0]).status:
        return "caught by a notebook"
    return f"SURVIVED ({len(order)} of {len(names)} test files, {len(books[:1])} notebook)"


def break_copy(path: Path, mutant: Mutant) -> None:
    """Apply the wrong edit at the first place where `old` stands. Raises ValueError where it does not."""
    if path.suffix == ".ipynb":
        notebook = nbformat.read(path, as_version=4)
        cells = [
            cell
            for cell in notebook.cells
            if cell.cell_type == "code" and mutant.old in cell.source
        ]
        if not mutant.old:
            cells[1].update(outputs=[], execution_count=None)
        else:
            cell = next(iter(cells), None)
            if not cell:
                raise ValueError(f"{mutant.name}: {mutant.old!r} is not in {mutant.file}")
            cell.source = cell.source.replace(mutant.old, mutant.new, 1)
        nbformat.write(notebook, path)
        return
    text = path.read_text(encoding="utf-8")
    if mutant.old not in text:
        raise ValueError(f"{mutant.name}: {mutant.old!r} is not in {mutant.file}")
    path.write_text(text.replace(mutant.old, mutant.new, 1), encoding="utf-8")


if __name__ == "__main__":
    fixed = {
        "PYTHONHASHSEED": "0",
        "OPENBLAS_NUM_THREADS": "1",
    }  # threads that wait slow the others
    if not fixed.items() <= os.environ.items():
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | fixed)
    sys.exit(main())
