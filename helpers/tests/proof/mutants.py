"""Break copies of the workbook on purpose, one wrong edit at a time: each must turn a check red.

Run by `make proof ONLY=mutants`; EDIT=evidence makes only the edits with this in name or file.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import nbformat
import pytest
from parts import NBVAL, ROOT

A, B, C = (
    f"notebooks/session_{name}.ipynb"
    for name in ("a_corpus_and_labels", "b_chunking_and_bm25", "c_metrics_and_writeup")
)
ANSWERS, BEST = (f"notebooks/further/{name}.ipynb" for name in ("answers", "best_of_many"))
AGREEMENT = "notebooks/further/agreement.ipynb"
WRITE_UP = "evals/retrieval_eval.ipynb"
MATRIX = "notebooks/further/weighted_terms.ipynb"
TESTS = "helpers/tests"
DATA = f"{TESTS}/test_evalset.py"
RUNS = f"{TESTS}/test_runs.py"
MEASURES = f"{TESTS}/test_measures.py"
PROJECT = f"{TESTS}/test_project.py"
SET = f"{TESTS}/proof/test_set.py"
POOL = f"{TESTS}/label/test_pooling.py"
AUDIT = f"{TESTS}/label/test_checks.py"
LOG = f"{TESTS}/label/test_log.py"
SCHEDULE = f"{TESTS}/label/test_schedule.py"
LINKS = f"{TESTS}/label/test_links.py"
HALVES = f"{TESTS}/label/test_halves.py"
MANIFEST = f"{TESTS}/label/test_manifest.py"
STATS = f"{TESTS}/test_stats.py"
COMPARE = f"{TESTS}/test_compare.py"
DEGENERATE = f"{TESTS}/test_degenerate_runs.py"
IMPORT = f"{TESTS}/label/test_write.py"
CATALOGUE = f"{TESTS}/label/test_catalogue.py"
EXPORT = f"{TESTS}/label/test_export.py"
SPARSE = f"{TESTS}/test_sparse.py"
LEARN = f"{TESTS}/teach/test_copies.py"
REHEARSAL = f"{TESTS}/proof/test_rehearsal.py"
VERDICT = f"{TESTS}/teach/check/test_verdict.py"
VALUES = f"{TESTS}/teach/check/test_values.py"
FAILURES = f"{TESTS}/teach/check/test_failures.py"
QUIZ = f"{TESTS}/teach/check/test_quick_test.py"
SESSIONS = f"{TESTS}/proof/test_sessions.py"
COMMANDS = f"{TESTS}/test_commands.py"
DISK = f"{TESTS}/test_files.py"
EVIDENCE = f"{TESTS}/test_evidence.py"
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
    Mutant("no collapse to documents", B, "sparse.over_fetch(lambda k: ranked(query, k), to_documents, DEPTH)", "ranked(query, DEPTH), ranked(query, DEPTH)", B),
    Mutant("cut before collapse", B, "sparse.over_fetch(lambda k: ranked(query, k), to_documents, DEPTH)", "ranked(query, DEPTH), to_documents(ranked(query, DEPTH))", B),
    Mutant("discount without its logarithm", C, "gain / math.log2(rank + 1)", "gain / (rank + 1)", C),
    Mutant("ideal from the retrieved list", C, "sorted(gains.values(), reverse=True)", "sorted((gains.get(d, 0) for d in ranking), reverse=True)", C),
    Mutant("cutoff of RR ignored", C, "enumerate(ranking[:k], 1):", "enumerate(ranking, 1):", C),
    Mutant("recall divided by k", C, "grades, k) / relevant if relevant else 0.0", "grades, k) / k", C),
    Mutant("AP over found documents", C, "return sum(at_hits) / relevant if relevant", "return sum(at_hits) / len(at_hits) if at_hits", C),
    Mutant("exponential gain unnamed", "helpers/measure/measures.py", '"nDCG": nDCG,', '"nDCG": nDCG(gains={1: 1, 2: 3}),', C),
    Mutant("both gains asked for at once", "helpers/measure/measures.py", "(linear, exponential)", "(names,)", MEASURES),
    Mutant("missing query skipped", "helpers/measure/measures.py", "for query_id in qrels}  # in", "for query_id in run}  # in", MEASURES),
    Mutant("unfound left out of the median", "helpers/measure/measures.py", "median(first_rank(row) or math.inf for row in values.values())",
           "median(first_rank(row) for row in values.values() if row['RR'])", MEASURES),
    Mutant("ties left to the tools", "helpers/measure/runs.py", "apart.append((ranked_id, min(score, ceiling)))", "apart.append((ranked_id, score))", RUNS),
    Mutant("files written in place", "helpers/measure/files.py", "        os.replace(part, path)\n    except", '        path.write_bytes(part.read_bytes())\n    except', DISK),
    Mutant("half characters are read", "helpers/measure/files.py", 'if "\\\\u" in text:', 'if "\\\\U" in text:', DISK),
    Mutant("half a folder is left", "helpers/measure/files.py", "            shutil.rmtree(part)", "            pass", DISK),
    Mutant("a folder that is not empty is exported over", "helpers/label/export.py", "write.empty_folder(to)", "to.resolve()", EXPORT),
    Mutant("line ends change the hash", "helpers/measure/files.py", '.replace(b"\\r\\n", b"\\n")', "", DISK),
    Mutant("package missing in the lock", "requirements.in", "pyyaml ", "pyyaml-not-locked ", PROJECT),
    Mutant("label dropped", "evals/judgments.jsonl", '{"query_id": "q01", "doc_id": "checkout-error-codes", "relevance": 1',
           '{"query_id": "q01", "doc_id": "checkout-error-codes", "relevance": 0', WRITE_UP),
    Mutant("grade changed", "evals/judgments.jsonl", '"doc_id": "checkout-connection-pool-exhausted", "relevance": 2',
           '"doc_id": "checkout-connection-pool-exhausted", "relevance": 1', WRITE_UP),
    Mutant("query moved across the split", "evals/retrieval_queries.jsonl", '"popularity": "tail", "split": "dev"', '"popularity": "tail", "split": "test"', WRITE_UP),
    Mutant("document edited after the run", "evals/corpus/rollback-v2.md", "slipway", "slipwai", WRITE_UP),
    Mutant("results edited by hand", "evals/results.json", '"n": 168', '"n": 169', WRITE_UP),
    Mutant("README number changed", "README.md", "| dev | 168 | 0.", "| dev | 168 | 0.9", STORED),
    Mutant("pool deeper than asked", "helpers/label/pooling.py", "in ranking[:depth]:", "in ranking:", POOL),
    Mutant("judged@k over answered queries", "helpers/measure/measures.py", "calc_aggregate([Judged @ k], qrels,", "calc_aggregate([Judged @ k], {q: qrels[q] for q in run if run[q]},", MEASURES),
    Mutant("a relevant document as easy negative", "helpers/label/pooling.py", " and not grades.get(d)]", "]", POOL),
    Mutant("zeros left out of the export", "helpers/label/export.py", "if query := evals.queries.get(query_id):", "if relevance and (query := evals.queries.get(query_id)):", EXPORT),
    Mutant("pooled document unjudged", "evals/judgments.jsonl", '{"query_id": "q01", "doc_id": "db-pgbouncer-settings", "relevance": 0}\n', "", WRITE_UP),
    Mutant("label file changed after the freeze", "evals/labeling_guide.md", "word for word", "in your own words", SET),
    Mutant("versions no longer one document", "helpers/measure/links.py", "versions | same", "same", LINKS),
    Mutant("chains of queries not followed", "helpers/measure/text.py", "whole = group.union(*(home[member] for member in group if member in home))", "whole = group", LINKS),
    Mutant("manifest blind to new files", "helpers/label/manifest.py", "for name in present.keys() - both", "for name in ()", MANIFEST),
    Mutant("kappa without chance", A, "(observed - chance) / (1 - chance) if chance < 1", "observed if chance < 1", A),
    Mutant("AC1 with kappa's chance", AGREEMENT, "share * (1 - share) for share in shares", "share * share for share in shares", AGREEMENT),
    Mutant("a log written without its lock", "helpers/label/labelling.py", "with lock_log(path):", "if True:", LOG),
    Mutant("a lock that a killed kernel keeps", "helpers/label/labelling.py", "from filelock import FileLock", "from filelock import SoftFileLock as FileLock", LOG),
    Mutant("kappa of one's own repeats without weights", "helpers/label/labellers.py", 'grades, weights="linear")', "grades)", SCHEDULE),
    Mutant("blind repeats replace the label", "helpers/label/labelling.py", "if entry.doc_id and not entry.repeat}", "if entry.doc_id}", SCHEDULE),
    Mutant("Holm without its steps", BEST, "(len(ps) - rank) * ps[place]", "len(ps) * ps[place]", BEST),
    Mutant("another b in the card", "helpers/teach/cards.py", "(1 - b + b * self.index", "(1 - b + self.index", C),
    Mutant("answer found inside a number", ANSWERS, "(?<!\\w){re.escape(a)}(?!\\w)", "{re.escape(a)}", ANSWERS),
    Mutant("better and worse exchanged", "helpers/measure/stats.py", "BETTER if pair.difference > 0", "BETTER if pair.difference < 0", STATS),
    Mutant("too few taken for no difference", "helpers/measure/stats.py", "-matters < low and high < matters", "-1 < low and high < 1", STATS),
    Mutant("interval of half the width", "helpers/measure/stats.py", "1 - ALPHA / 2, len", "1 - ALPHA, len", STATS),
    Mutant("p of zero", "helpers/measure/stats.py", "return float(flipped.pvalue)", "return max(0.0, float(flipped.pvalue) - 2 / DRAWS)", STATS),
    Mutant("ties counted as wins", "helpers/measure/stats.py", "differences > TIE", "differences > -TIE", STATS),
    Mutant("no correction for several runs", "helpers/measure/stats.py", 'holm([pair["p"] for pair in pairs])', '[pair["p"] for pair in pairs]', COMPARE),
    Mutant("distances go unnoticed", "helpers/measure/runs.py", "sum(row != sorted(row, reverse=True) for row in given)", "0", RUNS),
    Mutant("NaN scores accepted", "helpers/measure/runs.py", "if not math.isfinite(number):", "if False:", RUNS),
    Mutant("chunk's last score instead of its best", "helpers/measure/runs.py", "max(score, best.get(doc_id, -math.inf))", "score", RUNS),
    Mutant("unknown documents skipped", "helpers/measure/runs.py", "raise ValueError(fault)", "return ranked_id", RUNS),
    Mutant("doc#zzz is a chunk", "helpers/measure/runs.py", "elif not part.isdecimal():", "elif False:", RUNS),
    Mutant("a path of two files is the last one's", "helpers/measure/runs.py", 'spellings[spelled] = "" if spelled in spellings else known', "spellings[spelled] = known", RUNS),
    Mutant("an unknown set of chunks is taken", "helpers/measure/systems.py", 'if not (sets / f"{chunker}.jsonl").is_file():', "if False:", DEGENERATE),
    Mutant("a query finds the document that it is", "helpers/measure/runs.py", "if q not in own or", "if True or", f"{TESTS}/label/test_collections.py"),
    Mutant("further searches in the order of the file", "helpers/measure/runs.py", "sorted(scores, key=lambda search: search[1])", "scores", RUNS),
    Mutant("one run stands for a system that varies", "helpers/measure/compare.py", "after = stats.averaged(tables)", "after = tables[0]", COMPARE),
    Mutant("the pairs that move least", "helpers/measure/compare.py", "(-weights[pair], pair)", "(weights[pair], pair)", COMPARE),
    Mutant("what is judged is to be read", "helpers/measure/reading.py", "if pair not in judged:", "if True:", f"{TESTS}/label/test_reading.py"),
    Mutant("queries without an answer left out of the export", "helpers/label/export.py", "in evals.all_queries.values():", "in evals.queries.values():", EXPORT),
    Mutant("a template makes documents one", "helpers/measure/links.py", "words[b], template)", "words[b])", AUDIT),
    Mutant("explicit zeros listed as relevant", "helpers/label/write.py", "for doc_id, label in row.items() if label.grade]", "for doc_id, label in row.items()]", IMPORT),
    Mutant("a limited corpus loses relevant documents", "helpers/label/write.py", "if doc_id not in judged:", "if True:", IMPORT),
    Mutant("halves in the order of the file", "helpers/label/halves.py", "(-len(group), min(group))", "-len(group)", HALVES),
    Mutant("a hash deals the smallest group first", "helpers/label/halves.py", "(-len(group),", "(len(group),", HALVES),
    Mutant("the first halves drawn taken for the best", "helpers/label/halves.py", "dev, distances = min(found, key=lambda of: sum(of[1].values()))", "dev, distances = found[0]", HALVES),
    Mutant("a query counts for each of its services", "helpers/label/halves.py", "+= 1 / len(values)", "+= 1", HALVES),
    Mutant("partial answers tie queries", "helpers/measure/links.py", "answers(evals, links, evals.tying_grade):", "answers(evals, links):", LINKS),
    Mutant("near-doubles no tie", "helpers/measure/links.py", "[*ties.values(), *near_doubles(evals, links)]", "ties.values()", LINKS),
    Mutant("a strict split no stricter", "helpers/measure/evalset.py", "if full and not self.split else 1", "if full else 1", LINKS),
    Mutant("a truncated corpus not marked", "helpers/label/write.py", "TRUNCATED if is_truncated else", "'' if is_truncated else", IMPORT),
    Mutant("import into a folder that holds something", "helpers/label/write.py", "any(to.iterdir()))", "False)", IMPORT),
    Mutant("% in document ids", "helpers/label/readers.py", r'r"[\s/\\#%]"', r'r"[\s/\\#]"', "helpers/tests/label/test_readers.py"),
    Mutant("queries in the documents' language", "helpers/label/catalogue.py", "queries = [options.queries] if options.queries else splits.values()", "queries = splits.values()", CATALOGUE),
    Mutant("the set's tokenizer ignored", "helpers/measure/evalset.py", "TOKENIZERS[self.tokenizer](text)", 'TOKENIZERS["words"](text)', DATA),
    Mutant("overlap over function words", "helpers/measure/evalset.py", "content_words(self.words(query.query))", "self.words(query.query)", DATA),
    Mutant("a second pass without rounds", "evals/schema/second_pass.schema.json", '["query_id", "doc_id", "round"]', '["query_id", "doc_id"]', DISK),
    Mutant("a window inside the one before", "helpers/measure/baseline.py", "range(0, max(1, len(ids) - overlap), size - overlap)", "range(0, max(1, len(ids)), size - overlap)", INSTALLED),
    Mutant("an old baseline kept for new labels", "helpers/measure/baseline.py", "results.read_current_results(evals)", "results.read_results(evals.folder)", INSTALLED),
    Mutant("a search's order turned round", "helpers/measure/api.py", "(one, -n) if", "(one, n) if", INSTALLED),
    Mutant("test looked at by a function", "helpers/measure/systems.py", "    _refuse_unconfirmed(evals, [against, *others] if base else others, split)\n", "", INSTALLED),
    Mutant("make where there is none", "helpers/measure/installation.py", "    if IN_CHECKOUT:\n        return typed", "    if typed:\n        return typed", INSTALLED),
    Mutant("a failure that counts as passed", "helpers/measure/pages.py", '1: "failure"', '1: "system-out"', COMPARE),
    Mutant("everything imported for --help", "helpers/__main__.py", "import sys\n", "import sys\nimport numpy\n", COMMANDS),
    Mutant("a folder read twice", "helpers/label/audit.py", "findings = folder_findings(evals)", "findings = folder_findings(evalset.load(evals.folder))", COMMANDS),
    Mutant("a card with another engine", B, '"engine": engine', '"engine": runs.BASELINE["engine"]', SESSIONS),
    Mutant("a large corpus with other words", B, "bodies, words=evals.words", "bodies", SESSIONS),
    Mutant("a large corpus searched less deep", B, "k), to_documents, DEPTH)", "k), to_documents, DEPTH - 1)", SESSIONS),
    Mutant("the order of equal scores in a large corpus", "helpers/measure/sparse.py", "np.lexsort((documents.places[leading], -rounded))", "np.lexsort((-documents.places[leading], -rounded))", SESSIONS),
    Mutant("ties beyond the cut dropped", "helpers/measure/sparse.py", "return score - 1e-9 * (1 + abs(score))", "return score + 1e-9", SPARSE),
    Mutant("dimension -1 taken for the last", "helpers/measure/sparse.py", "    rows.check_format(full_check=True)\n", "", SPARSE),
    Mutant("weights without IDF", MATRIX, "values = idf[counts.indices] * tf", "values = tf", MATRIX),
    Mutant("a solution told in a hint", "helpers/tests/proof/rehearsal.py", "if told and (share >= 0.5 or len(longest) >= 40):", "if False:", REHEARSAL),
    Mutant("links of a copy not moved", "helpers/teach/copies.py", "cell.source = with_new_links(cell.source, place, home, copied)", "pass", LEARN),
    Mutant("end of a solution left in the copy", "helpers/teach/copies.py", "lines[first - 1 : last] =", "lines[first - 1 : last - 1] =", LEARN),
    Mutant("a check that praises a stub", "helpers/tests/proof/rehearsal.py", 'if not tells_not_started(cell.outputs):', "if False:", REHEARSAL),
    Mutant("answers far off accepted", "helpers/teach/check/values.py", "abs_tol=max(TOLERANCE, grain)", "abs_tol=0.3", VALUES),
    Mutant("the last of several explanations", "helpers/teach/check/verdict.py", "if share > best and made", "if share and made", VERDICT),
    Mutant("a crash that hides a mistake", "helpers/teach/check/verdict.py", "for raised in (False, True):", "for raised in (True, False):", VERDICT),
    Mutant("every quick test passed", "helpers/teach/check/quick_test.py", "len(right) >= PASS * len(questions)", "len(right) >= 0", QUIZ),
    Mutant("causes kept without a reason", "helpers/teach/check/failures.py", "if not _is_kept(read[q])}", "if False}", FAILURES),
    Mutant("reasons of wrong answers told", "helpers/teach/check/quick_test.py", "if n in right or passed else", "if n in given else", QUIZ),
    Mutant("the report on test over that on dev", "helpers/measure/compare.py", 'name += f"-{split}"', "pass", COMPARE),
    Mutant("half a quote counted", "helpers/measure/evidence.py", "chunk.start <= start and end <= chunk.end", "chunk.start < end and start < chunk.end", EVIDENCE),
    Mutant("a document counted for its quote", "helpers/measure/evidence.py", "[q for q in own if not holds_quote(q, chunk)]", "[]", EVIDENCE),
    Mutant("the last chunk that holds a quote", "helpers/measure/evidence.py", "del missing[chunk.doc_id]", "continue", EVIDENCE),
    Mutant("a budget overrun by the last chunk", "helpers/measure/evidence.py", "[*taken, chunk._replace(end=end, n_tokens=room)]", "[*taken, chunk]", EVIDENCE),
    Mutant("the ideal from what was delivered", "helpers/measure/evidence.py", "(fewest[d], grade) for d, grade in query.grades.items()", "(fewest[d], query.grades[d]) for d in ranks", EVIDENCE),
    Mutant("quotes needed together must stand in one chunk", "helpers/measure/evidence.py", "missing[chunk.doc_id] = left", "pass", EVIDENCE),
    Mutant("one of the quotes needed together is enough", "helpers/measure/evidence.py", "for quotes in label.evidence]", "for quotes in [[q] for own in label.evidence for q in own]]", EVIDENCE),
    Mutant("the ideal takes one chunk for what needs two", "helpers/measure/evidence.py", "return min(sizes, default=1)", "return 1", EVIDENCE),
    Mutant("the ideal forgives a cut", "helpers/measure/evidence.py", "return min(sizes, default=1)", "return min(sizes, default=99)", EVIDENCE),
    Mutant("the ideal takes the best grade first", "helpers/measure/evidence.py", "dict(left).items():", "[max(left, key=lambda of: of[1])] if left else []:", EVIDENCE),
    Mutant("a part that is delivered is lost", "helpers/measure/evidence.py", "return PART", "return BELOW", EVIDENCE),
    Mutant("passages paid for that nobody takes", "helpers/measure/evidence.py", "taken = rankings.get(query_id, [])[:k]", "taken = rankings.get(query_id, [])", COMPARE),
    Mutant("an answer in part counts as a full one", "helpers/measure/evidence.py", "query.grades.items() if grade >= full_grade]", "query.grades.items()]", COMPARE),
    Mutant("quotes needed together are saved as alternatives", "helpers/label/panel.py", "alternatives.append(quotes)", "alternatives += [[quote] for quote in quotes]", f"{TESTS}/label/test_panel.py"),
    Mutant("sentences of HotpotQA are alternatives", "helpers/label/questions.py", "evidence = (own,) if own else ()", "evidence = tuple((quote,) for quote in own)", f"{TESTS}/label/test_questions.py"),
    Mutant("shared text counted twice", "helpers/measure/evidence.py", "end in stretches)", "end in delivered)", EVIDENCE),
    Mutant("a span beyond its document", "helpers/measure/runs.py", "int(start) < int(end) <= length", "int(start) < int(end)", EVIDENCE),
    Mutant("stored output cleared", C, "", "", STORED),
]  # fmt: skip


WORKERS = 2
SECONDS = 900  # for a run of a test file or a notebook: an endless loop is caught
LEFT_OUT = (".git", ".venv", ".cache", "*.html", "learn", "learn-*", "site")


def main(wanted: str) -> int:
    """Make the edits, print which tier noticed each; return 1 if one survived."""
    chosen = [mutant for mutant in MUTANTS if wanted in mutant.name or wanted in mutant.file]
    if not chosen:
        print(f"found EDIT={wanted!r}, wanted a part of the name or the file of a listed edit")
        return 1
    targets, ended = sorted({mutant.target for mutant in chosen}), Counter()
    with ThreadPoolExecutor(WORKERS) as pool:
        failing = [*filter(None, pool.map(fails_unbroken, targets))]
        if failing:
            print(f"unbroken, and yet they fail: {' '.join(failing)}\nRun make check first.")
            return 1
        for mutant, how in zip(chosen, pool.map(run, chosen), strict=True):
            ended[how] += 1
            print(f"{how:>15}  {mutant.name}  ({mutant.file})", flush=True)
    survived = ended["SURVIVED"]
    print(f"{ended['caught by check']} of {len(chosen)} are caught by make check alone")
    print(f"{len(chosen) - survived} passed, {survived} failed")
    return int(survived > 0)


def fails_unbroken(target: str) -> str:
    """Return the name of a target that fails in a copy, "" if it passes."""
    with copied() as tree:
        return target if fails(tree, target) else ""


def run(mutant: Mutant) -> str:
    """Return which tier notices a mutant: its target as check runs it, or whole."""
    with copied() as tree:
        write_broken(tree / mutant.file, mutant)
        of_proof = "/proof/" in mutant.target or "/further/" in mutant.target
        if not of_proof and fails(tree, mutant.target, "-m", "not proof"):
            return "caught by check"
        return "caught by proof" if fails(tree, mutant.target) else "SURVIVED"


@contextmanager
def copied() -> Iterator[Path]:
    """Give a copy of the workbook in a temporary folder of its own, byte code with it."""
    with tempfile.TemporaryDirectory(prefix="mutant-") as scratch:
        tree = Path(scratch, "workbook")
        yield shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(*LEFT_OUT))


def write_broken(path: Path, mutant: Mutant) -> None:
    """Make the edit at the first place where `old` stands. Raises ValueError if nowhere."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        notebook = nbformat.reads(text, as_version=4)
        cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
        if not mutant.old:
            cells[1].update(outputs=[], execution_count=None)
        for cell in cells:
            if mutant.old and mutant.old in cell.source:
                cell.source = cell.source.replace(mutant.old, mutant.new, 1)
                break
        broken = nbformat.writes(notebook) + "\n"
    else:
        broken = text.replace(mutant.old, mutant.new, 1)
    if broken == text:
        raise ValueError(f"{mutant.name}: {mutant.old!r} is not in {mutant.file}")
    path.write_text(broken, encoding="utf-8")


def fails(tree: Path, target: str, *more: str) -> bool:
    """Return whether a test file or a notebook of a copy fails, or takes far too long."""
    nbval = NBVAL if target.endswith(".ipynb") else ["-p", "no:nbval"]
    command = [sys.executable, "-m", "pytest", "-x", "-p", "no:xdist", *nbval, *more, target]
    env = os.environ | {
        "EVALS": str(tree / "evals"),
        "PYTHONPATH": str(tree),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "OPENBLAS_NUM_THREADS": "1",
    }
    env.pop("CI", None)  # under CI pytest writes out whole differences, for minutes
    try:
        done = subprocess.run(command, cwd=tree, env=env, capture_output=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return True
    return done.returncode not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)


if __name__ == "__main__":
    sys.exit(main(os.environ.get("EDIT", "")))
