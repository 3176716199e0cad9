"""Break copies of the workbook on purpose, one wrong edit at a time: each must turn a check red.

Run by `make proof ONLY=mutants`: the list below, of which none may survive, and a seeded sample of
systematic edits (mutation.py) of which 85 % must be caught (75 % in check and learn), as many from
every room. SEED=, N= and ROOM= choose another sample; with ROOM= the list is left out. An edit runs
the test files that import its module, those of its name first, and one notebook.
"""

import os
import re
import resource
import shutil
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import forks
import mutation
import nbformat
import pytest
from equivalent import EQUIVALENT
from statsmodels.stats.proportion import proportion_confint

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "helpers" / "tests"))
from weight import imported  # noqa: E402

A, B, C = (
    f"notebooks/session_{name}.ipynb"
    for name in ("a_corpus_and_labels", "b_chunking_and_bm25", "c_metrics_and_writeup")
)
ANSWERS, BEST = (f"notebooks/further/{name}.ipynb" for name in ("answers", "best_of_many"))
AGREEMENT = "notebooks/further/agreement.ipynb"
WRITE_UP = "evals/retrieval_eval.ipynb"
MATRIX = "notebooks/further/bm25_matrix.ipynb"
TESTS = "helpers/tests"
DATA = f"{TESTS}/test_evalset.py"
RUNS = f"{TESTS}/test_runs.py"
MEASURES = f"{TESTS}/test_measures.py"
PROJECT = f"{TESTS}/test_project.py"
SET = f"{TESTS}/proof/test_set.py"
POOL = f"{TESTS}/labels/test_pooling.py"
AUDIT = f"{TESTS}/labels/test_checks.py"
LOG = f"{TESTS}/labels/test_log.py"
SCHEDULE = f"{TESTS}/labels/test_schedule.py"
LINKS = f"{TESTS}/labels/test_links.py"
HALVES = f"{TESTS}/labels/test_halves.py"
MANIFEST = f"{TESTS}/labels/test_manifest.py"
STATS = f"{TESTS}/test_stats.py"
COMPARE = f"{TESTS}/test_compare.py"
DEGENERATE = f"{TESTS}/test_degenerate_runs.py"
IMPORT = f"{TESTS}/sources/test_write.py"
QRELS = f"{TESTS}/sources/test_qrels.py"
CATALOGUE = f"{TESTS}/sources/test_catalogue.py"
EXPORT = f"{TESTS}/sources/test_export.py"
SPARSE = f"{TESTS}/test_sparse.py"
LEARN = f"{TESTS}/learn/test_copies.py"
REHEARSAL = f"{TESTS}/proof/test_rehearsal.py"
VERDICT = f"{TESTS}/check/test_verdict.py"
VALUES = f"{TESTS}/check/test_values.py"
FAILURES = f"{TESTS}/check/test_failures.py"
QUIZ = f"{TESTS}/check/test_quick_test.py"
SESSIONS = f"{TESTS}/proof/test_sessions.py"
COMMANDS = f"{TESTS}/test_commands.py"
DISK = f"{TESTS}/test_files.py"
EVIDENCE = f"{TESTS}/test_evidence.py"
SETUP = f"{TESTS}/proof/test_setup.py"
STORED = f"{TESTS}/test_workbook.py"
INSTALLED = f"{TESTS}/test_installation.py"


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
    Mutant("ties in the order of the sort", B, "sorted(hits, key=lambda hit: (-hit[1], hit[0]))", "sorted(hits, key=lambda hit: hit[1])[::-1]", B),
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
    Mutant("both gains asked for at once", "helpers/measures.py", "if n.startswith(EXPONENTIAL) == gain}", "}", MEASURES),
    Mutant("missing query skipped", "helpers/measures.py", "for query_id in qrels}  # in", "for query_id in run}  # in", MEASURES),
    Mutant("unfound left out of the median", "helpers/measures.py", "median(first_rank(row) or math.inf for row in values.values())",
           "median(first_rank(row) for row in values.values() if row['RR'])", MEASURES),
    Mutant("ties left to the tools", "helpers/runs.py", "apart.append((ranked_id, min(score, ceiling)))", "apart.append((ranked_id, score))", RUNS),
    Mutant("files written in place", "helpers/files.py", "        os.replace(part, path)\n    except", '        path.write_bytes(part.read_bytes())\n    except', DISK),
    Mutant("half characters are read", "helpers/files.py", 'if "\\\\u" in text else', 'if "\\\\U" in text else', DISK),
    Mutant("half a folder is left", "helpers/files.py", "shutil.rmtree(part) if part.is_dir()", "None if part.is_dir()", DISK),
    Mutant("a folder that is not empty is exported over", "helpers/sources/export.py", "write.empty_folder(to)", "to.resolve()", EXPORT),
    Mutant("line ends change the hash", "helpers/files.py", '.replace(b"\\r\\n", b"\\n")', "", DISK),
    Mutant("package missing in the lock", "requirements.in", "pyyaml ", "pyyaml-not-locked ", PROJECT),
    Mutant("label dropped", "evals/judgments.jsonl", '{"query_id": "q01", "doc_id": "checkout-error-codes", "relevance": 1',
           '{"query_id": "q01", "doc_id": "checkout-error-codes", "relevance": 0', WRITE_UP),
    Mutant("grade changed", "evals/judgments.jsonl", '"doc_id": "checkout-connection-pool-exhausted", "relevance": 2',
           '"doc_id": "checkout-connection-pool-exhausted", "relevance": 1', WRITE_UP),
    Mutant("query moved across the split", "evals/retrieval_queries.jsonl", '"popularity": "tail", "split": "dev"', '"popularity": "tail", "split": "test"', WRITE_UP),
    Mutant("document edited after the run", "evals/corpus/rollback-v2.md", "slipway", "slipwai", WRITE_UP),
    Mutant("results edited by hand", "evals/results.json", '"n": 103', '"n": 104', WRITE_UP),
    Mutant("README number changed", "README.md", "| dev | 103 | 0.", "| dev | 103 | 0.9", STORED),
    Mutant("pool deeper than asked", "helpers/labels/pooling.py", "in ranking[:depth]:", "in ranking:", POOL),
    Mutant("judged@k over answered queries", "helpers/measures.py", "calc_aggregate([Judged @ k], qrels,", "calc_aggregate([Judged @ k], {q: qrels[q] for q in run if run[q]},", MEASURES),
    Mutant("a relevant document as easy negative", "helpers/labels/pooling.py", " and not grades.get(d)]", "]", POOL),
    Mutant("zeros left out of the export", "helpers/sources/export.py", "for j in evals.judgments", "for j in evals.judgments if j.relevance", EXPORT),
    Mutant("pooled document unjudged", "evals/judgments.jsonl", '{"query_id": "q01", "doc_id": "db-pgbouncer-settings", "relevance": 0}\n', "", WRITE_UP),
    Mutant("label file changed after the freeze", "evals/labeling_guide.md", "word for word", "in your own words", SET),
    Mutant("versions no longer one document", "helpers/labels/links.py", "versions | same", "same", LINKS),
    Mutant("chains of queries not followed", "helpers/text.py", "whole = group.union(*(home[member] for member in group if member in home))", "whole = group", LINKS),
    Mutant("manifest blind to new files", "helpers/labels/manifest.py", "for name in present.keys() - both", "for name in ()", MANIFEST),
    Mutant("kappa without chance", A, "(observed - chance) / (1 - chance) if chance < 1", "observed if chance < 1", A),
    Mutant("AC1 with kappa's chance", AGREEMENT, "share * (1 - share) for share in shares", "share * share for share in shares", AGREEMENT),
    Mutant("a log written without its lock", "helpers/labels/log.py", "with lock_log(path):", "if True:", LOG),
    Mutant("a lock that a killed kernel keeps", "helpers/labels/log.py", "from filelock import FileLock", "from filelock import SoftFileLock as FileLock", LOG),
    Mutant("kappa of one's own repeats without weights", "helpers/labels/schedule.py", 'grades, weights="linear")', "grades)", SCHEDULE),
    Mutant("blind repeats replace the label", "helpers/labels/log.py", "if entry.doc_id and not entry.repeat}", "if entry.doc_id}", SCHEDULE),
    Mutant("Holm without its steps", BEST, "(len(ps) - rank) * ps[place]", "len(ps) * ps[place]", BEST),
    Mutant("another b in the card", "notebooks/cards.py", "(1 - b + b * self.index", "(1 - b + self.index", C),
    Mutant("answer found inside a number", ANSWERS, "(?<!\\w){re.escape(a)}(?!\\w)", "{re.escape(a)}", ANSWERS),
    Mutant("better and worse exchanged", "helpers/stats.py", "BETTER if pair.difference > 0", "BETTER if pair.difference < 0", STATS),
    Mutant("too few taken for no difference", "helpers/stats.py", "-matters < low and high < matters", "-1 < low and high < 1", STATS),
    Mutant("interval of half the width", "helpers/stats.py", "1 - ALPHA / 2, len", "1 - ALPHA, len", STATS),
    Mutant("p of zero", "helpers/stats.py", "return float(flipped.pvalue)", "return max(0.0, float(flipped.pvalue) - 2 / DRAWS)", STATS),
    Mutant("ties counted as wins", "helpers/stats.py", "differences > TIE", "differences > -TIE", STATS),
    Mutant("no correction for several runs", "helpers/stats.py", 'holm([pair["p"] for pair in pairs])', '[pair["p"] for pair in pairs]', COMPARE),
    Mutant("distances go unnoticed", "helpers/runs.py", "sum(row != sorted(row, reverse=True) for row in given)", "0", RUNS),
    Mutant("NaN scores accepted", "helpers/runs.py", "if not math.isfinite(number):", "if False:", RUNS),
    Mutant("chunk's last score instead of its best", "helpers/runs.py", "max(score, best.get(doc_id, -math.inf))", "score", RUNS),
    Mutant("unknown documents skipped", "helpers/runs.py", "raise ValueError(fault)", "return ranked_id", RUNS),
    Mutant("doc#zzz is a chunk", "helpers/runs.py", "elif not part.isdecimal():", "elif False:", RUNS),
    Mutant("a path of two files is the last one's", "helpers/runs.py", 'spellings[spelled] = "" if spelled in spellings else known', "spellings[spelled] = known", RUNS),
    Mutant("an unknown set of chunks is taken", "helpers/compare.py", "if numbered and run.chunker and not", "if False and not", DEGENERATE),
    Mutant("a query finds the document that it is", "helpers/runs.py", "if q not in own or", "if True or", f"{TESTS}/sources/test_collections.py"),
    Mutant("further searches in the order of the file", "helpers/runs.py", "sorted(scores, key=lambda search: search[1])", "scores", RUNS),
    Mutant("one run stands for a system that varies", "helpers/compare.py", "after = stats.averaged(tables)", "after = tables[0]", COMPARE),
    Mutant("the pairs that move least", "helpers/compare.py", "(-weights[pair], pair)", "(weights[pair], pair)", COMPARE),
    Mutant("what is judged is to be read", "helpers/labels/reading.py", "if pair not in judged:", "if True:", f"{TESTS}/labels/test_reading.py"),
    Mutant("queries without an answer left out of the export", "helpers/sources/export.py", "in evals.all_queries.values():", "in evals.queries.values():", EXPORT),
    Mutant("a template makes documents one", "helpers/labels/links.py", "words[b], template)", "words[b])", AUDIT),
    Mutant("explicit zeros listed as relevant", "helpers/sources/write.py", "for doc_id, label in row.items() if label.grade]", "for doc_id, label in row.items()]", IMPORT),
    Mutant("a limited corpus loses relevant documents", "helpers/sources/write.py", "elif places_left[tier]:", "elif len(written) < (task.options.max_docs or len(written) + 1):", IMPORT),
    Mutant("halves in the order of the file", "helpers/labels/halves.py", "(-len(group), min(group))", "-len(group)", HALVES),
    Mutant("a hash deals the smallest group first", "helpers/labels/halves.py", "(-len(group),", "(len(group),", HALVES),
    Mutant("the first halves drawn taken for the best", "helpers/labels/halves.py", "dev, distances = min(found, key=lambda of: sum(of[1].values()))", "dev, distances = found[0]", HALVES),
    Mutant("a query counts for each of its services", "helpers/labels/halves.py", "+= 1 / len(values)", "+= 1", HALVES),
    Mutant("partial answers tie queries", "helpers/labels/links.py", "answers(evals, links, evals.tying_grade):", "answers(evals, links):", LINKS),
    Mutant("near-doubles no tie", "helpers/labels/links.py", "[*ties.values(), *near_doubles(evals, links)]", "ties.values()", LINKS),
    Mutant("a strict split no stricter", "helpers/evalset.py", "if full and not self.split else 1", "if full else 1", LINKS),
    Mutant("a truncated corpus not marked", "helpers/sources/write.py", "*([TRUNCATED] if truncated else [])", "", IMPORT),
    Mutant("import into a folder that holds something", "helpers/sources/write.py", "any(to.iterdir()))", "False)", IMPORT),
    Mutant("% in document ids", "helpers/sources/readers.py", r'r"[\s/\\#%]"', r'r"[\s/\\#]"', "helpers/tests/sources/test_readers.py"),
    Mutant("queries in the documents' language", "helpers/sources/catalogue.py", "queries = [options.queries] if options.queries else splits.values()", "queries = splits.values()", CATALOGUE),
    Mutant("the set's tokenizer ignored", "helpers/evalset.py", "tokens.TOKENIZERS[self.tokenizer](text)", "tokens.words(text)", DATA),
    Mutant("overlap over function words", "helpers/evalset.py", "tokens.content_words(self.words(query.query))", "self.words(query.query)", DATA),
    Mutant("a second pass without rounds", "evals/schema/second_pass.schema.json", '["query_id", "doc_id", "round"]', '["query_id", "doc_id"]', DISK),
    Mutant("a window inside the one before", "helpers/baseline.py", "range(0, max(1, len(ids) - overlap), size - overlap)", "range(0, max(1, len(ids)), size - overlap)", INSTALLED),
    Mutant("an old baseline kept for new labels", "helpers/baseline.py", "results.read_current_results(evals)", "results.read_results(evals.folder)", INSTALLED),
    Mutant("a search's order turned round", "helpers/api.py", "(one, -n) if", "(one, n) if", INSTALLED),
    Mutant("test looked at by a function", "helpers/compare.py", "    _refuse_unconfirmed(evals, found if base else found[1:], split)\n", "", INSTALLED),
    Mutant("make where there is none", "helpers/installation.py", "    if IN_CHECKOUT:\n        return typed", "    if typed:\n        return typed", INSTALLED),
    Mutant("a failure that counts as passed", "helpers/compare.py", '1: "failure"', '1: "system-out"', COMPARE),
    Mutant("everything imported for --help", "helpers/__main__.py", "import sys\n", "import sys\nimport numpy\n", COMMANDS),
    Mutant("a folder read twice", "helpers/__main__.py", "findings = audit.folder_findings(evals)", "from . import evalset; findings = audit.folder_findings(evalset.load(evals.folder))", COMMANDS),
    Mutant("a card with another engine", B, '"engine": engine', '"engine": runs.BASELINE["engine"]', SESSIONS),
    Mutant("a large corpus with other words", B, "bodies, words=evals.words", "bodies", SESSIONS),
    Mutant("a large corpus searched less deep", B, "k), to_documents, DEPTH)", "k), to_documents, DEPTH - 1)", SESSIONS),
    Mutant("the order of equal scores in a large corpus", "helpers/sparse.py", "np.lexsort((documents.places[matches], -rounded))", "np.lexsort((-documents.places[matches], -rounded))", SESSIONS),
    Mutant("ties beyond the cut dropped", "helpers/sparse.py", "floor -= 1e-9 * (1 + abs(floor))", "floor += 1e-9", SPARSE),
    Mutant("dimension -1 taken for the last", "helpers/sparse.py", "    rows.check_format(full_check=True)\n", "", SPARSE),
    Mutant("weights without IDF", MATRIX, "values = idf[counts.indices] * tf", "values = tf", MATRIX),
    Mutant("a solution told in a hint", "helpers/tests/proof/rehearsal.py", "if told and (share >= 0.5 or len(longest) >= 40):", "if False:", REHEARSAL),
    Mutant("links of a copy not moved", "helpers/learn/copies.py", "cell.source = with_new_links(cell.source, place, home, copied)", "pass", LEARN),
    Mutant("end of a solution left in the copy", "helpers/learn/copies.py", "lines[first - 1 : last] =", "lines[first - 1 : last - 1] =", LEARN),
    Mutant("a check that praises a stub", "helpers/tests/proof/rehearsal.py", 'if [error.ename for error in errors] != ["NotStarted"]:', "if False:", REHEARSAL),
    Mutant("answers far off accepted", "notebooks/check/values.py", "abs_tol=max(TOLERANCE, grain)", "abs_tol=0.3", VALUES),
    Mutant("the last of several explanations", "notebooks/check/verdict.py", "if share > best and made", "if share and made", VERDICT),
    Mutant("a crash that hides a mistake", "notebooks/check/verdict.py", "for raised in (False, True):", "for raised in (True, False):", VERDICT),
    Mutant("every quick test passed", "notebooks/check/quick_test.py", "len(right) >= PASS * len(questions)", "len(right) >= 0", QUIZ),
    Mutant("causes kept without a reason", "notebooks/check/failures.py", "if not _is_kept(read[q])}", "if False}", FAILURES),
    Mutant("reasons of wrong answers told", "notebooks/check/quick_test.py", "if n in right or passed else", "if n in given else", QUIZ),
    Mutant("the report on test over that on dev", "helpers/compare.py", 'else f"-{split}"', 'else ""', COMPARE),
    Mutant("half a quote counted", "helpers/evidence.py", "chunk.start <= start and end <= chunk.end", "chunk.start < end and start < chunk.end", EVIDENCE),
    Mutant("a document counted for its quote", "helpers/evidence.py", "[q for q in own if not holds_quote(q, chunk)]", "[]", EVIDENCE),
    Mutant("the last chunk that holds a quote", "helpers/evidence.py", "del missing[chunk.doc_id]", "continue", EVIDENCE),
    Mutant("a budget overrun by the last chunk", "helpers/evidence.py", "[*taken, chunk._replace(end=end, n_tokens=room)]", "[*taken, chunk]", EVIDENCE),
    Mutant("the ideal from what was delivered", "helpers/evidence.py", "(fewest[d], grade) for d, grade in query.grades.items()", "(fewest[d], query.grades[d]) for d in ranks", EVIDENCE),
    Mutant("quotes needed together must stand in one chunk", "helpers/evidence.py", "missing[chunk.doc_id] = left", "pass", EVIDENCE),
    Mutant("one of the quotes needed together is enough", "helpers/evidence.py", "for quotes in label.evidence]", "for quotes in [[q] for own in label.evidence for q in own]]", EVIDENCE),
    Mutant("the ideal takes one chunk for what needs two", "helpers/evidence.py", "return min(sizes, default=1)", "return 1", EVIDENCE),
    Mutant("the ideal forgives a cut", "helpers/evidence.py", "return min(sizes, default=1)", "return min(sizes, default=99)", EVIDENCE),
    Mutant("the ideal takes the best grade first", "helpers/evidence.py", "dict(left).items():", "[max(left, key=lambda of: of[1])] if left else []:", EVIDENCE),
    Mutant("a part that is delivered is lost", "helpers/evidence.py", "return PART", "return BELOW", EVIDENCE),
    Mutant("as much evidence as a run that is beaten", "helpers/evidence.py", ' and not p["instead"]]', "]", COMPARE),
    Mutant("as much evidence by the mean alone", "helpers/evidence.py", " and stats.worst_case_bounds(change)[0] > -matters", "", COMPARE),
    Mutant("quotes needed together are saved as alternatives", "helpers/labels/panel.py", "evidence = [quotes] if", "evidence = quotes if", f"{TESTS}/labels/test_panel.py"),
    Mutant("sentences of HotpotQA are alternatives", "helpers/sources/questions.py", "evidence = (own,) * bool(own)", "evidence = tuple((quote,) for quote in own)", f"{TESTS}/sources/test_questions.py"),
    Mutant("shared text counted twice", "helpers/evidence.py", "end in stretches)", "end in delivered)", EVIDENCE),
    Mutant("a span beyond its document", "helpers/runs.py", "int(start) < int(end) <= length", "int(start) < int(end)", EVIDENCE),
    Mutant("stored output cleared", C, "", "", STORED),
]  # fmt: skip


SEED, SAMPLED, WORKERS = 2026, 100, 2
WANTED = defaultdict(lambda: 0.85, check=0.75, learn=0.75)  # of a room, or of all together
MOST = 70  # seconds of tests that an edit may cost, beside the notebook
WHEEL = f"{TESTS}/proof/test_wheel.py"  # installs for minutes: run by its part alone
SLOW = ("test_sessions", "test_rehearsal", "test_witness", "test_panel", "test_fuzz")  # last
NBVAL = "--nbval --nbval-current-env --nbval-cell-timeout=300 -p helpers.tests.nbval_alt "
NBVAL += "--nbval-sanitize-with=helpers/tests/nbval_sanitize.cfg"


def main() -> int:
    """Run the list and a sample, or with ROOM= a sample of that room; return 1 if they fail."""
    room, seed = os.environ.get("ROOM", ""), int(os.environ.get("SEED") or SEED)
    n = int(os.environ.get("N") or (60 if room else SAMPLED))
    edits = mutation.all_edits(ROOT)
    known, equivalent = set(map(lines_of, edits)), set(map(lines_of, EQUIVALENT))
    for file, before, _ in equivalent - known:
        print(f"equivalent.py names an edit that is none any more: {file}: {before}")
    chosen = drawn([edit for edit in edits if lines_of(edit) not in equivalent], n, seed, room)
    print(f"{len(edits)} wrong edits, {len(chosen)} sampled with SEED={seed}", flush=True)
    forks.warm()
    with ProcessPoolExecutor(WORKERS, get_context("fork")) as pool:
        tests = sorted({test for edit in chosen for test in plan(edit)})
        failing = [*filter(None, pool.map(fails_unbroken, tests))]
        if failing:
            print(f"unbroken, and yet they fail: {' '.join(failing)}\nRun make check first.")
            return 1
        survived = 0 if room else run_list(pool)
        share = run_sample(pool, chosen)
    if share < WANTED[room]:
        print(f"wanted {WANTED[room]:.0%} caught: kill the survivors, or name the equivalent ones")
    return int(bool(equivalent - known) or survived > 0 or share < WANTED[room])


def lines_of(edit: NamedTuple) -> tuple[str, str, str]:
    """Return how an edit is known: its file, the lines before and after."""
    return edit.file, edit.before, edit.after


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


def run_sample(pool: ProcessPoolExecutor, chosen: list) -> float:
    """Run the sampled edits, print the survivors and each room's share; return the share caught."""
    caught, rooms = Counter(), Counter(mutation.room_of(edit.file) for edit in chosen)
    for edit, how in zip(chosen, pool.map(run_sampled, chosen), strict=True):
        caught[mutation.room_of(edit.file)] += how.startswith("caught")
        where = f"{edit.file}:{edit.cell + ':' if edit.cell else ''}{edit.line}"
        shown = "" if how.startswith("caught") else f"\n  - {edit.before}\n  + {edit.after}"
        print(f"{how}  {where}  [{edit.kind}]{shown}", flush=True)
    for room, n in [*sorted(rooms.items()), ("together", len(chosen))]:
        good = caught.total() if room == "together" else caught[room]
        low, high = proportion_confint(good, n, method="wilson")
        print(f"{room:>10}  {good}/{n} caught  {good / n:.2f} [{low:.2f}, {high:.2f}]")
    return caught.total() / len(chosen)


# One edit, in a copy.


@contextmanager
def copied() -> Iterator[Path]:
    """Give a copy of the workbook in a temporary folder of its own, byte code with it."""
    of_root = (".git", ".venv", ".cache", "learn", "learn-*", "site")

    def left_out(folder: str, names: list[str]) -> set[str]:
        more = of_root if Path(folder) == ROOT else ()
        return shutil.ignore_patterns("*.html", *more)(folder, names)

    with tempfile.TemporaryDirectory(prefix="mutant-") as scratch:
        yield Path(shutil.copytree(ROOT, Path(scratch, "workbook"), ignore=left_out))


def run_listed(mutant: Mutant) -> str:
    """Return which tier notices a mutant: its target as check runs it, or whole."""
    with copied() as tree:
        write_broken(tree / mutant.file, mutant)
        of_proof = "/proof/" in mutant.target or "/further/" in mutant.target
        if not of_proof and fails(tree, [mutant.target], "-m", "not proof"):
            return "caught by check"
        return "caught by proof" if fails(tree, [mutant.target]) else "SURVIVED"


def write_broken(path: Path, mutant: Mutant) -> None:
    """Make the edit at the first place where `old` stands. Raises ValueError if nowhere."""
    is_notebook = path.suffix == ".ipynb"
    notebook = nbformat.read(path, as_version=4) if is_notebook else None
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"] if is_notebook else []
    if not mutant.old:
        cells[1].update(outputs=[], execution_count=None)
    for cell in cells:
        if mutant.old and mutant.old in cell.source:
            cell.source = cell.source.replace(mutant.old, mutant.new, 1)
            break
    before = path.read_text(encoding="utf-8")
    after = before.replace(mutant.old, mutant.new, 1)
    after = nbformat.writes(notebook) + "\n" if is_notebook else after
    if after == before:
        raise ValueError(f"{mutant.name}: {mutant.old!r} is not in {mutant.file}")
    path.write_text(after, encoding="utf-8")


def run_sampled(edit: mutation.Edit) -> str:
    """Return "caught" or "SURVIVED", with what was run, for an edit in a fresh copy."""
    with copied() as tree:
        path, broken = tree / edit.file, mutation.apply(mutation.text_of(ROOT, edit), edit)
        tests, books = plan(edit), notebooks(edit)
        if edit.cell:
            notebook = nbformat.read(path, as_version=4)
            next(cell for cell in notebook.cells if cell.id == edit.cell).source = broken
            nbformat.write(notebook, path)
            if runs_otherwise(tree, edit.file):
                return "caught by its notebook"
            books = []
        else:
            path.write_text(broken, encoding="utf-8")
        if tests and fails(tree, tests, budget=MOST):
            return "caught by tests"
        if books and runs_otherwise(tree, books[0]):
            return "caught by a notebook"
        return f"SURVIVED ({len(tests)} test files, {len(books[:1])} notebook)"


def fails_unbroken(test: str) -> str:
    """Return the name of a test file that fails in a copy, "" if it passes."""
    with copied() as tree:
        return test if fails(tree, [test], budget=MOST) else ""


class Budget:
    """A plugin of pytest: what begins after so many seconds, those of children too, is skipped."""

    def __init__(self, seconds: float):
        self.end = sum(os.times()[:4]) + seconds

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item) -> bool | None:
        return True if sum(os.times()[:4]) > self.end else None


def fails(tree: Path, names: list[str], *more: str, budget: float = 300) -> bool:
    """Return whether test files or a notebook fail in a copy, or take far too long."""
    nbval = NBVAL.split() if names[0].endswith(".ipynb") else ["-p", "no:nbval"]

    def job() -> int:
        inside(tree)
        seconds = int(60 + 2 * budget)  # of the processor: an endless loop is caught
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        words = ["-x", "--tb=line", "-p", "no:xdist", *nbval, *more, *names]
        return pytest.main(words, plugins=[Budget(budget)])

    status = forks.run(job, tree, 600 + 10 * budget)
    return status not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)


def inside(tree: Path) -> None:
    """Let a fork find the copy's modules, and none of ours."""
    os.environ.update(EVALS=str(tree / "evals"), PYTHONDONTWRITEBYTECODE="1")
    os.environ.pop("CI", None)  # under CI pytest writes out whole differences, for minutes
    sys.dont_write_bytecode = True
    ours = [str(ROOT), str(ROOT / TESTS), str(ROOT / TESTS / "proof")]
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None) or ""
        if name != "__main__" and file.startswith((f"{ROOT}/helpers/", f"{ROOT}/notebooks/")):
            del sys.modules[name]
    sys.path[:] = [str(tree), *(place for place in sys.path if place not in ours)]


def runs_otherwise(tree: Path, name: str) -> bool:
    """Return whether a notebook fails, shows something else or derives another file."""
    if fails(tree, [name]):
        return True
    derived = [p for p in (ROOT / "evals").rglob("*") if p.suffix in (".md", ".jsonl", ".trec")]
    derived.append(ROOT / "evals" / "results.json")
    copies = [tree / path.relative_to(ROOT) for path in derived]
    pairs = zip(copies, derived, strict=True)
    return any(not new.exists() or new.read_bytes() != old.read_bytes() for new, old in pairs)


# What to run for an edit.


def plan(edit: mutation.Edit) -> list[str]:
    """Return the test files for an edit: those named after its module, then what imports it.

    Of these, those that name the edited function come first. For a cell, which has run its
    notebook, these are the tests of the sessions and of the exercises.
    """
    tests = sorted({*(ROOT / TESTS).rglob("test_*.py")} - {ROOT / WHEEL})
    if edit.cell:
        return [SESSIONS, *(str(t.relative_to(ROOT)) for t in tests if t.parent.name == "check")]
    path = ROOT / edit.file
    words, wing = {*path.stem.strip("_").split("_")}, path.parent.name.replace("helpers", "tests")
    function = function_around(path, edit.line)
    ranked = []
    for test in tests:
        steps, text = distance(test, path), test.read_text(encoding="utf-8")
        named = words <= {*test.stem.split("_")} and test.parent.name in (wing, "proof")
        named = named or edit.file in text  # it runs the file
        if named or steps < 3:
            there = bool(function) and function in text
            ranked.append((not named, test.stem in SLOW, steps > 1, not there, steps, test))
    return [test.relative_to(ROOT).as_posix() for *_, test in sorted(ranked)]


def notebooks(edit: mutation.Edit) -> list[str]:
    """Return the notebooks that load an edited module, the nearest first."""
    books = sorted((ROOT / "notebooks").glob("session_*.ipynb"))
    books += sorted((ROOT / "notebooks" / "further").glob("*.ipynb"))
    books.append(ROOT / WRITE_UP)
    steps = {book: distance(book, ROOT / edit.file) for book in books}
    near = sorted((book for book in books if steps[book] < 9), key=steps.get)
    return [book.relative_to(ROOT).as_posix() for book in near]


def function_around(path: Path, line: int) -> str:
    """Return the name of the function, class or constant that begins last before a line, or ""."""
    above = "\n".join(path.read_text(encoding="utf-8").splitlines()[:line])
    names = re.findall(r"^(?:def |class )?(\w+)(?=[(:]| =)", above, re.MULTILINE)
    return names[-1] if names else ""


@cache
def imports(path: Path) -> set[Path]:
    """Return our files that a module or a notebook imports."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        cells = nbformat.reads(text, as_version=4).cells
        lines = "\n".join(cell.source for cell in cells if cell.cell_type == "code").splitlines()
        text = "\n".join(line for line in lines if not line.startswith(("%", "!")))
    return imported(text, path)


@cache
def distance(path: Path, module: Path) -> float:
    """Return over how many imports a file reaches a module, infinity if over none."""
    steps, seen, new = 0, {path}, {path}
    while new and module not in new:
        new = set().union(*map(imports, new)) - seen
        seen |= new
        steps += 1
    return steps if new else float("inf")


if __name__ == "__main__":
    fixed = {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"}  # waiting threads slow the others
    if not fixed.items() <= os.environ.items():
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | fixed)
    sys.exit(main())
