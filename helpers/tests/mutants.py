"""Break copies of the workbook on purpose, one wrong edit at a time: each must turn its check red.

Run by `make mutants`. A mutant runs only the notebook or the test that should catch it.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import nbformat

ROOT = Path(__file__).resolve().parents[2]
A, B, C = (
    f"notebooks/session_{name}.ipynb"
    for name in ("a_corpus_and_labels", "b_chunking_and_bm25", "c_metrics_and_writeup")
)
WRITE_UP = "evals/retrieval_eval.ipynb"
(
    DATA,
    RUNS,
    PROJECT,
    POOL,
    AUDIT,
    PANEL,
    LOG,
    SCHEDULE,
    MERGE,
    LINKS,
    MANIFEST,
    COMPARE,
    IMPORT,
    QRELS,
    COLLECTIONS,
    CATALOGUE,
    EXPORT,
    SPARSE,
    LEARN,
    PROGRESS,
    REHEARSAL,
    VERDICT,
    VALUES,
    MEASURES,
    FAILURES,
    QUIZ,
    SESSIONS,
    COMMANDS,
) = (
    f"helpers/tests/{name}.py"
    for name in (
        "test_evalset",
        "test_runs_and_measures",
        "test_project",
        "labels/test_pooling",
        "labels/test_checks",
        "labels/test_panel",
        "labels/test_log",
        "labels/test_schedule",
        "labels/test_merge",
        "labels/test_links",
        "labels/test_manifest",
        "test_stats_and_compare",
        "sources/test_write",
        "sources/test_qrels",
        "sources/test_collections",
        "sources/test_catalogue",
        "sources/test_export",
        "test_sparse",
        "learn/test_copies",
        "learn/test_progress",
        "learn/test_rehearsal",
        "check/test_verdict",
        "check/test_values",
        "check/test_measures",
        "check/test_failures",
        "check/test_quick_test",
        "test_sessions",
        "test_commands",
    )
)
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
    Mutant("overlap of chunks ignored", B, "start += size - overlap", "start += size", B),
    Mutant("tail inside its neighbour kept", B, "if end == n:", "if start + size - overlap >= n:", B),
    Mutant("too large an overlap accepted", B, "if not 0 <= overlap < size:", "if not 0 <= overlap:", B),
    Mutant("a character lost at each seam", B, "(at[start], at[end],", "(at[start], at[end] - 1,", B),
    Mutant("headings cut off", B, 'is_heading = "\\n" not in match[0] and', 'is_heading = "\\n" in match[0] and', B),
    Mutant("recursive pieces one token longer", B, "if length(part) < size or", "if length(part) <= size or", B),
    Mutant("IDF without its floor", B, "word: floor if weight < 0 else weight for", "word: weight for", B),
    Mutant("another k1", B, "k1: float = 1.5", "k1: float = 1.2", B),
    Mutant("document length ignored", B, "b * len(doc) / average_length", "b", B),
    Mutant("ties in the order of the sort", B, "np.lexsort((found, -scores))", "np.argsort(scores)[::-1]", B),
    Mutant("documents without a shared word", B, "not vocabulary.isdisjoint(words)", "True", B),
    Mutant("a document's worst chunk", B, 'best.setdefault(chunk_id.rpartition("#")[0], score)', 'best[chunk_id.rpartition("#")[0]] = score', B),
    Mutant("no collapse to documents", B, "return to_documents(ranked(query, index))[:DEPTH]", "return ranked(query, index)[:DEPTH]", B),
    Mutant("cut before collapse", B, "to_documents(ranked(query, index))[:DEPTH]", "to_documents(ranked(query, index)[:DEPTH])", B),
    Mutant("discount without its logarithm", C, "gain / math.log2(rank + 1)", "gain / (rank + 1)", C),
    Mutant("natural logarithm", C, "gain / math.log2(rank + 1)", "gain / math.log(rank + 1)", C),
    Mutant("ideal from the retrieved list", C, "sorted(gains.values(), reverse=True)", "sorted((gains.get(d, 0) for d in ranking), reverse=True)", C),
    Mutant("cutoff of RR ignored", C, "enumerate(ranking[:k], 1):", "enumerate(ranking, 1):", C),
    Mutant("recall divided by k", C, "grades, k) / relevant if relevant else 0.0", "grades, k) / k", C),
    Mutant("AP over found documents", C, "return sum(at_hits) / relevant if relevant", "return sum(at_hits) / len(at_hits) if at_hits", C),
    Mutant("exponential gain unnamed", "helpers/measures.py", '"nDCG@10": nDCG @ 10', '"nDCG@10": nDCG(gains={1: 1, 2: 3}) @ 10', C),
    Mutant("missing query skipped", "helpers/measures.py", "for query_id in qrels}\n    named", "for query_id in run}\n    named", RUNS),
    Mutant("unfound left out of the median", "helpers/measures.py", "median(first_rank(row) or math.inf for row in values.values())",
           "median(first_rank(row) for row in values.values() if row['RR'])", RUNS),
    Mutant("ties left to the tools", "helpers/runs.py", "apart.append((found, min(score, ceiling)))", "apart.append((found, score))", RUNS),
    Mutant("any order accepted", "helpers/runs.py", "if keys != sorted(keys):", "if False:", RUNS),
    Mutant("evidence not looked up", "helpers/evalset.py", "if documents[doc_id].text and evidence not in documents[doc_id].retrieval_text:", "if False:", DATA),
    Mutant("files written in place", "helpers/records.py", "part.write_bytes(", 'path.write_text("")\n        part.write_bytes(', DATA),
    Mutant("line ends change the hash", "helpers/records.py", '.replace("\\r\\n", "\\n")', "", DATA),
    Mutant("null execution counts accepted", "helpers/workbook.py", "if [cell.execution_count for cell in cells] !=", "if False and [] !=", PROJECT),
    Mutant("stale files not compared", "helpers/workbook.py", "if not equal_files(committed / name, fresh / name)", "if False", PROJECT),
    Mutant("code shown in the page", "helpers/report.py", "exclude_input=True", "exclude_input=False", PROJECT),
    Mutant("package missing in the lock", "requirements.in", "pyyaml ", "pyyaml-not-locked ", PROJECT),
    Mutant("label dropped", "evals/judgments.jsonl", '{"query_id": "q01", "doc_id": "checkout-error-codes", "relevance": 1',
           '{"query_id": "q01", "doc_id": "checkout-error-codes", "relevance": 0', PROJECT),
    Mutant("grade changed", "evals/judgments.jsonl", '"doc_id": "checkout-connection-pool-exhausted", "relevance": 2',
           '"doc_id": "checkout-connection-pool-exhausted", "relevance": 1', C),
    Mutant("query moved across the split", "evals/retrieval_queries.jsonl", '"popularity": "tail", "split": "dev"', '"popularity": "tail", "split": "test"', PROJECT),
    Mutant("document edited after the run", "evals/corpus/rollback-v2.md", "slipway", "slipwai", WRITE_UP),
    Mutant("results edited by hand", "evals/results.json", '"n": 30', '"n": 31', WRITE_UP),
    Mutant("README number changed", "README.md", "| dev | 30 | 0.", "| dev | 30 | 0.9", BLOCKS),
    Mutant("pool deeper than asked", "helpers/labels/pooling.py", "in ranking[:depth]:", "in ranking:", POOL),
    Mutant("judged@k over answered queries", "helpers/measures.py", "calc_aggregate([Judged @ k], qrels,", "calc_aggregate([Judged @ k], {q: qrels[q] for q in run if run[q]},", POOL),
    Mutant("a relevant document as easy negative", "helpers/labels/pooling.py", " and not qrels[query_id].get(d)]", "]", POOL),
    Mutant("every text with a common run a duplicate", "helpers/text.py", "/ len(sets[other] | own)", "/ len(sets[other] & own)", POOL),
    Mutant("zeros left out of the export", "helpers/sources/export.py", "for j in evals.judgments", "for j in evals.judgments if j.relevance", EXPORT),
    Mutant("pooled document unjudged", "evals/judgments.jsonl", '{"query_id": "q01", "doc_id": "db-pgbouncer-settings", "relevance": 0}\n', "", PROJECT),
    Mutant("label file changed after the freeze", "evals/labeling_guide.md", "word for word", "in your own words", PROJECT),
    Mutant("versions no longer one document", "helpers/labels/links.py", "versions | one", "one", LINKS),
    Mutant("chains of queries not followed", "helpers/text.py", "whole = group.union(*(home[member] for member in group if member in home))", "whole = group", LINKS),
    Mutant("manifest blind to new files", "helpers/labels/manifest.py", "for name in {*listed, *present}", "for name in listed", MANIFEST),
    Mutant("kappa without chance", A, "(observed - chance) / (1 - chance) if chance < 1", "observed if chance < 1", A),
    Mutant("AC1 with kappa's chance", A, "share * (1 - share) for share in shares", "share * share for share in shares", A),
    Mutant("a log written without its lock", "helpers/labels/log.py", "with _locked(path), path.open", "with path.open", LOG),
    Mutant("a lock that a killed kernel keeps", "helpers/labels/log.py", "AcquireReturnProxy, FileLock", "AcquireReturnProxy, SoftFileLock as FileLock", LOG),
    Mutant("a judgment merged over another grade", "helpers/labels/merge.py", "if conflicts:", "if False:", MERGE),
    Mutant("kappa of one's own repeats without weights", "helpers/labels/schedule.py", 'grades, weights="linear")', "grades)", SCHEDULE),
    Mutant("undo writes but does not count", "helpers/labels/log.py", '_withdraw(kept, row["undo"])', "pass", PANEL),
    Mutant("grade without evidence taken", "helpers/labels/log.py", "if not wrong and judgment.relevance and", "if False and", PANEL),
    Mutant("blind repeats replace the label", "helpers/labels/log.py", "entry for entry in given if not entry.repeat}", "entry for entry in given}", SCHEDULE),
    Mutant("sign flip one-sided", C, "abs(total) >= seen", "total >= seen", C),
    Mutant("Holm without its steps", C, "(len(ps) - rank) * ps[place]", "len(ps) * ps[place]", C),
    Mutant("fusion by score", C, "1 / (k + rank)", "1 / (k + rank - 1)", C),
    Mutant("rival of a higher grade", C, "< grades[wanted]]", "<= grades[wanted]]", C),
    Mutant("another b in the card", C, "norm = index.k1 * (1 - b + b * length)", "norm = index.k1 * (1 - b + length)", C),
    Mutant("answer found inside a number", C, "(?<!\\w){re.escape(a)}(?!\\w)", "{re.escape(a)}", C),
    Mutant("better and worse exchanged", "helpers/stats.py", "(p < ALPHA and found.difference > 0, BETTER,", "(p < ALPHA and found.difference < 0, BETTER,", COMPARE),
    Mutant("too few taken for no difference", "helpers/stats.py", "> matters\n", "> 1\n", COMPARE),
    Mutant("interval of half the width", "helpers/stats.py", "1 - ALPHA / 2, len", "1 - ALPHA, len", COMPARE),
    Mutant("p of zero", "helpers/stats.py", "return float(found.pvalue)", "return max(0.0, float(found.pvalue) - 2 / DRAWS)", COMPARE),
    Mutant("ties counted as wins", "helpers/stats.py", "differences > TIE", "differences > -TIE", COMPARE),
    Mutant("another corpus accepted", "helpers/compare.py", "if found != wanted:", "if False:", COMPARE),
    Mutant("gate open for a worse run", "helpers/compare.py", "if stats.WORSE in verdicts:", "if False:", COMPARE),
    Mutant("no correction for several runs", "helpers/compare.py", 'row["p_holm"] = p\n        primary', 'row["p_holm"] = row["measures"][PRIMARY]["p"]\n        primary', COMPARE),
    Mutant("NaN scores accepted", "helpers/runs.py", "math.isfinite(value) and", "True and", COMPARE),
    Mutant("chunk's last score instead of its best", "helpers/runs.py", "max(score, best.get(doc_id, -math.inf))", "score", COMPARE),
    Mutant("unknown documents skipped", "helpers/runs.py", "document {ranked_id} is unknown, wanted {wanted}", "", COMPARE),
    Mutant("explicit zeros listed as relevant", "helpers/sources/write.py", "for doc_id, label in row.items() if label.grade]", "for doc_id, label in row.items()]", IMPORT),
    Mutant("a limited corpus loses relevant documents", "helpers/sources/write.py", 'elif tier == "relevant" or rooms[tier]:', "elif len(held) < (most or len(held) + 1):", IMPORT),
    Mutant("halves in the order of the file", "helpers/sources/qrels.py", "key=lambda group: hashlib.sha256(min(group).encode()).hexdigest()", "key=lambda group: 0", QRELS),
    Mutant("labels of another split accepted", "helpers/sources/qrels.py", "if not present and held:", "if False:", IMPORT),
    Mutant("an id that stands twice accepted", "helpers/sources/qrels.py", "if key in places:", "if False:", IMPORT),
    Mutant("a truncated corpus not marked", "helpers/sources/write.py", "lines += [TRUNCATED] if limited else []", "lines += []", IMPORT),
    Mutant("import into a folder that holds something", "helpers/sources/write.py", "any(to.iterdir()))", "False)", IMPORT),
    Mutant("a failed import leaves its part", "helpers/sources/write.py", "shutil.rmtree(part, ignore_errors=True)", "pass", IMPORT),
    Mutant("# in document ids", "helpers/sources/files.py", r'r"[\s/\\#%]"', r'r"[\s/\\%]"', COLLECTIONS),
    Mutant("byte-order mark kept", "helpers/records.py", 'encoding="utf-8-sig"', 'encoding="utf-8"', COLLECTIONS),
    Mutant("queries in the documents' language", "helpers/sources/catalogue.py", "for code in (language, asks)", "for code in (language, language)", CATALOGUE),
    Mutant("English asked of mMARCO", "helpers/sources/catalogue.py", 'if code == "en" else', "if False else", CATALOGUE),
    Mutant("a title alone counted twice", "helpers/sources/catalogue.py", '"" if whole == title else whole', "whole", CATALOGUE),
    Mutant("the set's tokenizer ignored", "helpers/evalset.py", "tokens.TOKENIZERS[self.tokenizer](text)", "tokens.words(text)", DATA),
    Mutant("overlap over function words", "helpers/evalset.py", "tokens.content_words(self.words(query.query))", "self.words(query.query)", DATA),
    Mutant("a second pass without rounds", "helpers/records.py", '            "round": "round",\n', "", AUDIT),
    Mutant("always three grades", "helpers/records.py", "CHECKS | grade_checks(grades)", "CHECKS | grade_checks(GRADES)", PANEL),
    Mutant("a panel for three grades", "helpers/labels/panel.py", "help_of(self.evals.grades)", "help_of(records.GRADES)", PANEL),
    Mutant("everything imported for --help", "helpers/__main__.py", "import sys\n", "import sys\nimport numpy\n", COMMANDS),
    Mutant("a folder read twice", "helpers/__main__.py", "findings = audit.findings(options.evals)", "from . import evalset; findings = audit.findings(evalset.load(options.folder))", COMMANDS),
    Mutant("a card with another engine", B, '"engine": engine_of(index)', '"engine": runs.BASELINE["engine"]', SESSIONS),
    Mutant("a large corpus with other words", B, "chunk_texts, words=evals.words", "chunk_texts", SESSIONS),
    Mutant("a large corpus searched less deep", B, "k), to_documents, DEPTH)", "k), to_documents, DEPTH - 1)", SESSIONS),
    Mutant("the order of equal scores in a large corpus", "helpers/sparse.py", "np.lexsort((found.places[documents], -rounded))", "np.lexsort((-found.places[documents], -rounded))", SESSIONS),
    Mutant("ties beyond the cut dropped", "helpers/sparse.py", "bound -= 1e-9 * max(1.0, abs(bound))", "bound += 1e-9", SPARSE),
    Mutant("ties in the order of the corpus", "helpers/sparse.py", "np.lexsort((found.places[documents], -rounded))", "np.argsort(-rounded, kind='stable')", SPARSE),
    Mutant("matches below zero lost", "helpers/sparse.py", "if found.positive and (weights > 0).all():", "if True:", SPARSE),
    Mutant("dimension -1 taken for the last", "helpers/sparse.py", "if vector and not 0 <= min(vector) <= max(vector) < dim:", "if vector and not max(vector) < dim:", SPARSE),
    Mutant("a kept encoding for another corpus", "helpers/sparse.py", "for part in (model, *texts):", "for part in (model, len(texts)):", SPARSE),
    Mutant("over-fetch stops at a tie", "helpers/sparse.py", "best[depth - 1][1] > hits[-1][1]", "best[depth - 1][1] >= hits[-1][1]", SPARSE),
    Mutant("weights without IDF", B, "values = idf[counts.indices] * tf", "values = tf", B),
    Mutant("learner's work overwritten", "helpers/learn/copies.py", "if (folder / name).exists()]", "if False]", LEARN),
    Mutant("fresh copies over yesterday's", "helpers/learn/copies.py", "next(path for path in names if not path.exists())", "names[0]", LEARN),
    Mutant("nested markers accepted", "helpers/learn/exercises.py", "if mark == BEGIN and start:", "if False:", LEARN),
    Mutant("an exercise without a check accepted", "helpers/learn/exercises.py", "if not after or not is_check(cells[after[0]]):", "if not after:", LEARN),
    Mutant("a solution told in a hint", "helpers/tests/learn/rehearsal.py", "if told and (share >= 0.5 or len(longest) >= 40):", "if False:", REHEARSAL),
    Mutant("links of a copy not moved", "helpers/learn/copies.py", "cell.source = LINK.sub(link, cell.source)", "pass", LEARN),
    Mutant("end of a solution left in the copy", "helpers/learn/copies.py", "lines[first - 1 : last] =", "lines[first - 1 : last - 1] =", LEARN),
    Mutant("a check that praises a stub", "helpers/tests/learn/rehearsal.py", 'if stub and (found is None or found.kind != "NotStarted"):', "if False:", REHEARSAL),
    Mutant("setup cells not run", "helpers/learn/progress.py", '"setup" in cell.metadata.get("tags", [])', "False", f"{PROGRESS}::test_progress_of_a_new_copy_then_of_every_solution"),
    Mutant("a broken cell not named", "helpers/learn/progress.py", "broken = broken or f", "broken = broken and f", f"{PROGRESS}::test_progress_where_cells_are_broken_gone_or_end_python"),
    Mutant("a kernel that outlives its program", "helpers/learn/progress.py", "cleanup_kc=True", "cleanup_kc=True, independent=True", f"{PROGRESS}::test_endless_cell_ends_with_the_program_that_runs_it"),
    Mutant("a kernel left running", "helpers/learn/progress.py", "cleanup_kc=True", "cleanup_kc=False", f"{PROGRESS}::test_the_kernel_is_this_python_without_a_trace"),
    Mutant("a cell that hears no interrupt stops all others", "helpers/learn/progress.py", "raise_on_iopub_timeout=True", "raise_on_iopub_timeout=False", f"{PROGRESS}::test_a_cell_that_ends_python_or_never_ends_stops_no_other"),
    Mutant("exit() left to Jupyter", "helpers/learn/progress.py", "from sys import exit, exit as quit", "pass", f"{PROGRESS}::test_a_cell_that_ends_python_or_never_ends_stops_no_other"),
    Mutant("a definition that fails breaks the copy", "helpers/learn/progress.py", "except Exception: pass", "except Exception: raise", f"{PROGRESS}::test_progress_where_cells_are_broken_gone_or_end_python"),
    Mutant("answers far off accepted", "notebooks/check/values.py", "abs(wanted - got) <= TOLERANCE", "abs(wanted - got) <= 0.3", VALUES),
    Mutant("the last of several explanations", "notebooks/check/verdict.py", "if (there, mean(agreed)) > best:", "if there:", MEASURES),
    Mutant("the first of several explanations", "notebooks/check/verdict.py", "if best == (1, 1):", "if found:", MEASURES),
    Mutant("a stub counted as wrong", "notebooks/check/verdict.py", "if is_empty(function):", "if False:", VERDICT),
    Mutant("changed arguments not seen", "notebooks/check/verdict.py", "if not wrong_at and changed:", "if False:", VERDICT),
    Mutant("every quick test passed", "notebooks/check/quick_test.py", "len(right) >= PASS * len(questions)", "len(right) >= 0", QUIZ),
    Mutant("reasons told before an answer", "notebooks/check/quick_test.py", "    if not given:\n        return f", "    if False:\n        return f", QUIZ),
    Mutant("causes kept without a reason", "notebooks/check/failures.py", "again = [q for q in differ if q not in kept]", "again = []", FAILURES),
    Mutant("metrics ticked without their checks", "helpers/report.py", "(right == METRICS,", "(True,", LEARN),
    Mutant("the report on test over that on dev", "helpers/compare.py", 'else f"-{split}"', 'else ""', COMPARE),
    Mutant("a set without dev queries accepted", "helpers/evalset.py", "if all(query.split != SPLITS[0] for query in self.queries.values()):", "if False:", DATA),
    Mutant("stored output cleared", C, "", "", GUARD),
]  # fmt: skip


def main() -> int:
    """Run the targets unbroken, then every mutant; return 1 if a target fails unbroken or a mutant survives."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        targets = unbroken()
        for target, status in zip(
            targets, pool.map(lambda target: run(target, None), targets), strict=True
        ):
            if status:
                print(f"unbroken, and yet it fails: {target[:60]}. Run make check first.")
                return 1
        survivors = 0
        for mutant, status in zip(
            MUTANTS, pool.map(lambda mutant: run(mutant.target, mutant), MUTANTS), strict=True
        ):
            survivors += not status
            print(
                f"{'caught' if status else 'SURVIVED':>8}  {mutant.name}  ({mutant.file})",
                flush=True,
            )
    print(f"{len(MUTANTS) - survivors} passed, {survivors} failed")
    return int(survivors > 0)


def unbroken() -> list[str]:
    """Return what must pass before anything is broken: all test files in one run, each other target."""
    targets = {mutant.target for mutant in MUTANTS}
    alone = {t for t in targets if t.endswith(".ipynb") or t.startswith("import ")}
    return [*sorted(alone), " ".join(sorted({t.partition("::")[0] for t in targets - alone}))]


def run(target: str, mutant: Mutant | None) -> int:
    """Return the exit status of `target` in a fresh copy of the workbook, broken by `mutant`."""
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / "workbook"
        shutil.copytree(ROOT, copy, ignore=left_out)
        if mutant:
            break_copy(copy / mutant.file, mutant)
        words = (
            ["-c", target]
            if target.startswith("import ")
            else ["-m", "pytest", "-x", *options(target), *target.split()]
        )
        quick = {name: value for name, value in os.environ.items() if name != "CI"}
        environment = {
            **quick,  # under CI pytest writes out whole differences, which may take minutes
            "EVALS": str(copy / "evals"),
            "PYTHONHASHSEED": "0",
            "PYTHONDONTWRITEBYTECODE": "1",
            "OPENBLAS_NUM_THREADS": "1",  # threads that wait in a loop slow the other mutants
        }
        return subprocess.run(
            [sys.executable, *words], cwd=copy, env=environment, capture_output=True
        ).returncode


def left_out(folder: str, names: list[str]) -> set[str]:
    """Return what a copy of the workbook does not need."""
    of_root = (
        shutil.ignore_patterns(".git", ".venv", "learn", "learn-*")
        if Path(folder) == ROOT
        else None
    )
    found = shutil.ignore_patterns("*.html")(folder, names)  # byte code may come along
    return found | (of_root(folder, names) if of_root else set())


def options(target: str) -> list[str]:
    """Return pytest's options for a notebook, none for a test file."""
    nbval = [
        "--nbval",
        "--nbval-current-env",
        "--nbval-cell-timeout=120",
        "--nbval-sanitize-with=helpers/tests/nbval_sanitize.cfg",
    ]
    return nbval if target.endswith(".ipynb") else []


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
    sys.exit(main())
