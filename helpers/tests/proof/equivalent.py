"""Wrong edits that change nothing anybody could see, each with its reason; at most 100.

`before` and `after` are the edited lines as the mutants part of proof prints them: spaces made one, several
lines joined. An entry whose text is gone is reported, so the table does not outlive the code.
"""

from typing import NamedTuple


class Equivalent(NamedTuple):
    """In `file` the lines `before` may as well read `after`."""

    file: str
    before: str
    after: str
    reason: str


EQUIVALENT = [
    Equivalent('helpers/stats.py', 'area = roc_auc_score(np.repeat([1, 0], [*map(len, groups)]), np.concatenate(groups))', 'area = roc_auc_score(np.repeat([2, 0], [*map(len, groups)]), np.concatenate(groups))', 'the larger of two labels is the positive one'),
    Equivalent('helpers/stats.py', 'return float(cohen_kappa_score(first, second, labels=list(grades), weights=weights))', 'return float(cohen_kappa_score(second, first, labels=list(grades), weights=weights))', 'kappa is symmetric'),
    Equivalent('notebooks/check/agreement.py', '("This is the observed agreement. AC1 takes chance away.", lambda a, b, g: _equal(a, b)),', '("This is the observed agreement. AC1 takes chance away.", lambda a, b, g: _equal(b, a)),', 'agreement is symmetric'),
    Equivalent('helpers/install.py', 'return ""', 'return None', 'nothing to say, either way'),
    Equivalent('helpers/install.py', 'words = ["--quiet", "--no-deps", "--require-hashes", "--requirement", str(wanted)]', 'words = ["--quiet", "--no-deps", "--require-hashes", "--requirement", (wanted)]', 'a process takes a path as it takes its text'),
    Equivalent('helpers/labels/log.py', 'LOCK_WAIT = 10 # seconds; another process holds the lock for one line', 'LOCK_WAIT = 11 # seconds; another process holds the lock for one line', 'how many seconds to wait for a lock: nothing but time'),
    Equivalent('helpers/labels/log.py', 'lock = FileLock(f"{path}.lock", LOCK_WAIT, poll_interval=0.01, fallback_to_soft=False)', 'lock = FileLock(f"{path}.lock", LOCK_WAIT, poll_interval=0.02, fallback_to_soft=False)', 'how often a lock is tried: nothing but time'),
    Equivalent('helpers/labels/checks.py', 'shown = min(stats.detectable(queries, SD), 1) if queries > 1 else 1', 'shown = min(stats.detectable(queries, SD), 1) if queries > 2 else 1', 'of two queries the bound is 1 either way'),
    Equivalent('helpers/sources/write.py', 'if max(grades, default=0) > files.GRADES[-1]:', 'if max(grades, default=1) > files.GRADES[-1]:', 'only a grade above 2 is written'),
    Equivalent('notebooks/session_a_corpus_and_labels.ipynb', 'return found.sort_values("share", kind="stable")', 'return found.sort_values("share", kind=\'stablex\')', 'numpy reads the first letter of the kind'),
    Equivalent('notebooks/check/measures.py', 'Example((["x", "a"], {"a": 1}), 1 / 2),', 'Example(([\'xx\', "a"], {"a": 1}), 1 / 2),', 'any unjudged document may stand first'),
    Equivalent('notebooks/check/measures.py', 'Example((["a", "b"], {"a": 1, "b": 1, "c": 1}, 5), 1.0),', 'Example((["a", "b"], {"a": 1, "b": 1, "c": 2}, 5), 1.0),', 'a hit knows relevant or not'),
    Equivalent('notebooks/check/labels.py', 'Example((["d1", "d10", "D10"], ["d10"]), 1 / 3),', 'Example(([\'d1x\', "d10", "D10"], ["d10"]), 1 / 3),', 'another id that is only alike'),
    Equivalent('notebooks/check/chunking.py', 'return "## First look" if rng.random() < 0.3 else "\\n".join(lines[: rng.integers(1, 3)])', 'return "## First look" if rng.random() <= 0.3 else "\\n".join(lines[: rng.integers(1, 3)])', 'a random number is never .3'),
    Equivalent('notebooks/check/statistics.py', '[0.1, 0.35, 0.4, 1.0, 0.95, 0.62, 0.0, 0.55],', '[0.1, 0.35, 0.4, 1.0, 0.95, 0.62, 1.0, 0.55],', 'made values to resample: any will do'),
    Equivalent('notebooks/check/labels.py', 'return len(a & b) / by(a, b) if a | b and by(a, b) else 0.0', 'return len(a & b) / by(a, b) if a & b and by(a, b) else 0.0', 'sets that share nothing give 0 either way'),
    Equivalent('helpers/install.py', 'subprocess.run([*make, str(folder)], check=True)', 'subprocess.run([*make, (folder)], check=True)', 'a process takes a path as it takes its text'),
    Equivalent('helpers/report.py', 'kappa = stats.kappa(first, second, grades)', 'kappa = stats.kappa(second, first, grades)', 'kappa is symmetric'),
    Equivalent('helpers/text.py', 'shared = sorted((frequency[run], run) for run in own if frequency[run] > 1)', 'shared = sorted((frequency[run], run) for run in own if True)', 'what stands in one text alone is shared with none: nothing but time'),
    Equivalent('notebooks/further/how_many_queries.ipynb', 'return float(np.mean((low <= dev_values.mean()) & (dev_values.mean() <= high)))', 'return float(np.mean((low <= dev_values.mean()) & (dev_values.mean() < high)))', 'no bound is the mean to the last bit'),
]  # fmt: skip
