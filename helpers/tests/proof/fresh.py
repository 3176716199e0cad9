# ruff: noqa: E501 -- tables: an answer a line
"""Answers that nobody had in mind when the checks were written, wrong ones and right ones.

A wrong one stands with what is said of it: part of the sentence of the mistake that was made,
"" where none of the known mistakes was, which is then not named either.
"""

PRELUDE = """
import math, re, statistics, string, itertools
from collections import Counter, OrderedDict, defaultdict, deque
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple
import numpy as np
import pandas as pd
from helpers import text

words = text.words
STOP = set("how do i a the of is".split())
rel = lambda g: {d for d, n in g.items() if n > 0}
rr = lambda r, g, k=None: next((1 / n for n, d in enumerate(r[:k], 1) if g.get(d, 0) > 0), 0.0)
hits = lambda r, g, k: sum(g.get(d, 0) > 0 for d in r[:k])
rec = lambda r, g, k: hits(r, g, k) / len(rel(g)) if rel(g) else 0.0
prec = lambda r, g: [hits(r, g, n) / n for n, d in enumerate(r, 1) if g.get(d, 0) > 0]
ap = lambda r, g: sum(prec(r, g)) / len(rel(g)) if rel(g) else 0.0
log2dcg = lambda gains: float(sum(x / math.log2(n) for n, x in enumerate(gains, 2)))
lin = lambda n: n
gained = lambda r, g, k, f=lin: [f(g[d]) if g.get(d, 0) > 0 else 0 for d in r[:k]]
best = lambda g, f=lin: sorted((f(n) for n in g.values() if n > 0), reverse=True)
share = lambda a, b: a / b if b else 0.0
content_words = lambda q: [w for w in words(q) if w not in STOP]
overlap = lambda q, a: share(sum(any(w in words(x) for x in a) for w in content_words(q)), len(content_words(q)))
shingles = lambda ws, n: {tuple(ws[i : i + n]) for i in range(max(1, len(ws) - n + 1))}
jac = lambda a, b: share(len(a & b), len(a | b))
same = lambda a, b: sum(x == y for x, y in zip(a, b)) / len(a)
chance = lambda a, b: sum(a.count(g) * b.count(g) for g in {*a, *b}) / len(a) ** 2
kap = lambda a, b: (same(a, b) - chance(a, b)) / (1 - chance(a, b)) if chance(a, b) < 1 else math.nan
pooled = lambda a, b, g: [(a.count(x) + b.count(x)) / 2 / len(a) for x in g]
ac = lambda a, b, g: (same(a, b) - sum(p * (1 - p) for p in pooled(a, b, g)) / (len(g) - 1)) / (1 - sum(p * (1 - p) for p in pooled(a, b, g)) / (len(g) - 1))
flips = lambda d: [abs(sum(s * x for s, x in zip(signs, d))) for signs in itertools.product((1, -1), repeat=len(d))]
flip = lambda d: sum(t >= abs(sum(d)) - 1e-12 for t in flips(d)) / 2 ** len(d)
ndcg_of = lambda r, g, k, f=lin: share(log2dcg(gained(r, g, k, f)), log2dcg(best(g, f)[:k]))
doc_of = lambda c: c.rpartition("#")[0]
ordered = lambda pairs: sorted(pairs, key=lambda p: (-p[1], p[0]))

def groups_of(relevant):
    groups = []
    for q, docs in relevant.items():
        near = [g for g in groups if any(relevant[p] & docs for p in g)]
        groups = [g for g in groups if g not in near] + [{q}.union(*near)]
    return groups

def spans(n, size, o):
    if not 0 <= o < size:
        raise ValueError
    found, start = [], 0
    while True:
        found.append((start, min(start + size, n)))
        if start + size >= n:
            return found
        start += size - o

def fixed(d, size, o, cut=spans):
    ids = text.token_ids(d)
    at = [*text.encoding().decode_with_offsets(ids)[1], len(d)]
    return [(at[a], at[b], b - a) for a, b in cut(len(ids), size, o)]

def tokens(d):
    return len(text.token_ids(d))

def blocks(d, blank=r"\\n[^\\S\\n]*\\n"):
    return [(m.start(), m.end()) for m in re.finditer(r"\\S.*?(?=" + blank + r"|\\s*\\Z)", d, re.S)]

def paras(d, head=lambda b: b.startswith("#") and "\\n" not in b, blank=r"\\n[^\\S\\n]*\\n", last=True):
    found, start = [], None
    for a, b in blocks(d, blank):
        start = a if start is None else start
        if not head(d[a:b]) or (last and not d[b:].strip()):
            found.append((start, b, tokens(d[start:b])))
            start = None
    return found

LEVELS = ("\\n\\n", "\\n", " ", "")

def pack(parts, size, length, fits=lambda a, b: a <= b):
    rows = []
    for part in parts:
        if rows and fits(sum(map(length, rows[-1])) + length(part), size):
            rows[-1].append(part)
        else:
            rows.append([part])
    return ["".join(row) for row in rows]

def rsplit_(piece, size, length, levels=LEVELS, wait=lambda a, b: a < b, cut=None, joined=pack):
    level, *rest = levels[next(i for i, s in enumerate(levels) if s in piece) :]
    parts = [p for p in (cut or split_at)(piece, level) if p]
    done, row = [], []
    for part in parts:
        if wait(length(part), size) or not rest:
            row.append(part)
            continue
        done += joined(row, size, length) + rsplit_(part, size, length, tuple(rest), wait, cut, joined)
        row = []
    return done + joined(row, size, length)

def split_at(piece, level):
    return re.split(f"(?={re.escape(level)})", piece) if level else list(piece)

def once(piece, size, length, levels=LEVELS):
    level = next(s for s in levels if s in piece)
    return [(p, length(p) < size or not level) for p in split_at(piece, level) if p]

def raw_idf(docs, log=math.log):
    df = Counter(w for d in docs for w in set(d))
    return {w: log((len(docs) - n + 0.5) / (n + 0.5)) for w, n in df.items()}

def idf_of(docs, e=0.25, floor=None):
    raw = raw_idf(docs)
    floor = e * sum(raw.values()) / len(raw) if floor is None else floor
    return {w: floor if v < 0 else v for w, v in raw.items()}

def score_of(q, d, w, a, k1=1.5, b=0.75):
    norm = k1 * (1 - b + b * len(d) / a)
    return sum(w.get(x, 0) * d.count(x) * (k1 + 1) / (d.count(x) + norm) for x in q)

def found(q, index, ids, known, keep=lambda v, ws: v & set(ws), cut=words):
    ws = cut(q)
    return [(str(i), round(float(s), 10)) for i, s, v in zip(ids, index.get_scores(ws), known) if keep(v, ws)]

def docs_of(hits, doc=doc_of, merge=max):
    scores = {}
    for c, s in hits:
        scores.setdefault(doc(c), []).append(s)
    return ordered((d, merge(s)) for d, s in scores.items())

def squad(t):
    return [w for w in re.sub(r"[^\\w\\s]", "", t.lower()).split() if w not in ("a", "an", "the")]

def f1_of(a, b):
    n = (Counter(a) & Counter(b)).total()
    return 2 * n / (len(a) + len(b)) if n else 0.0

def holm_(ps, factor=lambda rank, n: n - rank):
    out, run = [0.0] * len(ps), 0.0
    for rank, at in enumerate(sorted(range(len(ps)), key=lambda i: ps[i])):
        run = max(run, min(1.0, factor(rank, len(ps)) * ps[at]))
        out[at] = run
    return out

def evidence(quotes, ranking, budget, inside=lambda a, b, s, e: s <= a and b <= e):
    seen = set()
    for doc, start, end in ranking:
        end = min(end, start + budget)
        budget -= end - start
        seen |= {doc} if any(inside(a, b, start, end) for a, b in quotes.get(doc, [])) else set()
    return len(seen) / len(quotes)

def boot(v, rng, n=10_000, ends=(2.5, 97.5), mean=lambda m: m.mean(axis=1)):
    return tuple(np.percentile(mean(rng.choice(v, (n, len(v)))), ends))

class Span(NamedTuple):
    start: int
    end: int
"""

# fmt: off
WRONG = {
    "evidence_recall": [
        ("lambda q, r, n: evidence(q, r, n, lambda a, b, s, e: s < b and a < e)", ""),
        ("lambda q, r, n: evidence(q, r, n, lambda a, b, s, e: s < a and b < e)", "at the very edge"),
        ("lambda q, r, n: float(evidence(q, r, n) > 0)", "This is a hit"),
        ("lambda q, r, n: len({*q} & {d for d, _, _ in r}) / len(q)", ""),
        ("lambda q, r, n: sum(evidence(q, [p], n) for p in r)", "1.0 is the maximum"),
        ("lambda q, r, n: evidence(q, r[::-1], n)", ""),
        ("lambda q, r, n: evidence(q, r, n - 1)", ""),
        ("lambda q, r, n: evidence(q, r[:1], n)", ""),
        ("lambda q, r, n: round(evidence(q, r, n), 1)", "The value is rounded"),
    ],
    "reciprocal_rank": [
        ("lambda r, g, k=None: rr(r[:10], g, k)", "Nothing past rank 10"),
        ("lambda r, g, k=None: rr(r, g, k or 10)", "Nothing past rank 10"),
        ("lambda r, g, k=10: rr(r, g, k or 10)", "Nothing past rank 10"),
        ("lambda r, g, k=None: rr(r, g, k + 1 if k else k)", ""),
        ("lambda r, g, k=None: rr(r, {d: n - 1 for d, n in g.items()}, k)", ""),
        ("lambda r, g, k=None: 1 / (1 + math.log2(1 / rr(r, g, k))) if rr(r, g, k) else 0", ""),
        ("lambda r, g, k=None: rr(r, g, k) or 1 / (len(r) + 1)", ""),
        ("lambda r, g, k=None: rr(r, g, k) if r else 1.0", ""),
        ("lambda r, g, k=None: rr([d for d in r if d in g], g, k)", ""),
        ("lambda r, g, k=None: float(rr(r, g, k) > 0)", ""),
        ("lambda r, g, k=None: rr(r[::-1], g, k)", ""),
        ("lambda r, g, k=None: rr(r, g)", "The cutoff is ignored"),
        ("lambda r, g, k=None: np.mean([1 / n for n, d in enumerate(r[:k], 1) if g.get(d, 0) > 0] or [0])", ""),
        ("lambda r, g, k=None: 1 / (1 + r.index(max(g, key=g.get))) if max(g, key=g.get) in r[:k] else 0", ""),
    ],
    "hit": [
        ("lambda r, g, k: hits(r[:10], g, k) > 0", "Nothing past rank 10"),
        ("lambda r, g, k: hits(r, g, k + 1) > 0", ""),
        ("lambda r, g, k: hits(r, g, k) == len(rel(g))", ""),
        ("lambda r, g, k: hits(r, g, 1) > 0", ""),
        ("lambda r, g, k: g.get(r[0], 0) > 0 if r else False", ""),
        ("lambda r, g, k: any(g.get(d, 0) > 1 for d in r[:k])", ""),
        ("lambda r, g, k: any(g.get(d, 1) > 0 for d in r[:k])", ""),
        ("lambda r, g, k: hits(r, g, k) >= 2", ""),
    ],
    "recall": [
        ("lambda r, g, k: rec(r[:10], g, k)", "Nothing past rank 10"),
        ("lambda r, g, k: rec(r, g, k + 1)", ""),
        ("lambda r, g, k: rec(r, {d: n - 1 for d, n in g.items()}, k)", ""),
        ("lambda r, g, k: hits(r, g, k) / len(r) if r else 0", ""),
        ("lambda r, g, k: hits(r, g, k)", ""),
        ("lambda r, g, k: 2 * rec(r, g, k) * hits(r, g, k) / k / (rec(r, g, k) + hits(r, g, k) / k) if hits(r, g, k) else 0", ""),
        ("lambda r, g, k: hits(r, g, k) / max(1, hits(r, g, None))", ""),
        ("lambda r, g, k: rec(r, g, k) if rel(g) else 1.0", ""),
        ("lambda r, g, k: round(rec(r, g, k), 3)", "The value is rounded"),
        ("lambda r, g, k: 100 * rec(r, g, k)", "1.0 is the maximum."),
    ],
    "average_precision": [
        ("lambda r, g: ap(r[:10], g)", "Nothing past rank 10"),
        ("lambda r, g: sum(prec(r, g)) / min(10, len(rel(g))) if rel(g) else 0", ""),
        ("lambda r, g: statistics.median(prec(r, g)) if prec(r, g) else 0", ""),
        ("lambda r, g: max(prec(r, g), default=0)", ""),
        ("lambda r, g: ap(r, {d: n - 1 for d, n in g.items()})", ""),
        ("lambda r, g: ap([d for d in r if d in g], g)", ""),
        ("lambda r, g: prec(r, g)[-1] if prec(r, g) else 0", ""),
        ("lambda r, g: sum(prec(r, g)) / sum(g.values()) if rel(g) else 0", ""),
        ("lambda r, g: sum(hits(r, g, n - 1) / n for n, d in enumerate(r, 1) if g.get(d, 0) > 0) / max(1, len(rel(g)))", ""),
        ("lambda r, g: np.trapezoid(prec(r, g)) if len(prec(r, g)) > 1 else ap(r, g)", ""),
        ("lambda r, g: sum(prec(r, g)) / len(rel(g))", "nothing to divide by: return 0"),
    ],
    "dcg": [
        ("lambda x: log2dcg(x[:10])", "first ten gains"),
        ("lambda x: sum(v / math.log1p(n) for n, v in enumerate(x, 1))", "natural one"),
        ("lambda x: sum(int(v) / math.log2(n) for n, v in enumerate(x, 2))", ""),
        ("lambda x: log2dcg(x) if x else None", "Nothing came back"),
        ("lambda x: [v / math.log2(n) for n, v in enumerate(x, 2)]", "type list, wanted is a number"),
        ("lambda x: round(log2dcg(x), 4)", "The value is rounded"),
        ("lambda x: [log2dcg(x)]", "type list, wanted is a number"),
        ("lambda x: np.array([log2dcg(x)])", "type ndarray, wanted is a number"),
        ("lambda x: pd.Series([log2dcg(x)])", "type Series, wanted is a number"),
        ("lambda x: (log2dcg(x),)", "type tuple, wanted is a number"),
        ("lambda x: complex(log2dcg(x))", "type complex, wanted is a number"),
        ("lambda x: (v for v in [log2dcg(x)])", "type generator, wanted is a number"),
    ],
    "ndcg": [
        ("lambda r, g, k, f=lin: log2dcg(gained(r, g, k, f)) / log2dcg(sorted(gained(r, g, k, f), reverse=True))", "The ideal order is made from what was retrieved"),
        ("lambda r, g, k, f=lin: ndcg_of(r, g, min(k, 10), f)", "Nothing past rank 10"),
        ("lambda r, g, k, f=lin: ndcg_of(r[:10], g, k, f)", "Nothing past rank 10"),
        ("lambda r, g, k, f=lin: ndcg_of(r, g, k + 1, f)", ""),
        ("lambda r, g, k, f=lin: share(log2dcg(gained(r, g, k, f)), log2dcg(best(g, f)[: min(k, len(r))]))", ""),
        ("lambda r, g, k, f=lin: share(log2dcg(gained(r, g, k, f)), log2dcg([max(best(g, f), default=0)] * k))", ""),
        ("lambda r, g, k, f=lin: share(sum(v / math.log(n) for n, v in enumerate(gained(r, g, k, f), 2)), log2dcg(best(g, f)[:k]))", "1.0 is the maximum."),
        ("lambda r, g, k, f=lin: ndcg_of(r, g, k, f) ** 2", ""),
        ("lambda r, g, k, f=lin: ndcg_of(r, {d: n - 1 for d, n in g.items()}, k, f)", ""),
        ("lambda r, g, k, f=lin: ndcg_of(r, g, k, f) if rel(g) else 1.0", ""),
        ("lambda r, g, k, f=lin: ndcg_of(r, g, k, f) if r else None", "Nothing came back"),
        ("lambda r, g, k, f=lin: ndcg_of(r, {d: min(n, 2) for d, n in g.items()}, k, f)", ""),
        ("lambda r, g, k, f=lin: ndcg_of(r, g, k)", "The argument gain is ignored"),
        ("lambda r, g, k, f=lin: share(log2dcg([f(g.get(d, 0)) for d in r[:k]]), log2dcg(sorted(map(f, g.values()), reverse=True)[:k]))", "graded 0 or not labelled"),
        ("lambda r, g, k, f=lin: share(log2dcg([f(g.get(d, 0)) for d in r[:k]]), log2dcg(best(g, f)[:k]))", "graded 0 or not labelled"),
        ("lambda r, g, k, f=lin: share(log2dcg([f(g[d]) if d in g else 0 for d in r[:k]]), log2dcg(best(g, f)[:k]))", "graded 0 or not labelled"),
        ("lambda r, g, k, f=lin: share(log2dcg(gained(r, g, k, f)), log2dcg(sorted(map(f, g.values()), reverse=True)[:k]))", "graded 0 or not labelled"),
        ("lambda r, g, k, f=lin: np.divide(log2dcg(gained(r, g, k, f)), log2dcg(best(g, f)[:k]))", "nan is what 0 divided by 0 gives"),
    ],
    "coverage": [
        ("lambda d, r: sum(any(x in y for y in r) for x in d) / len(d)", ""),
        ("lambda d, r: sum(x in ' '.join(r) for x in d) / len(d)", ""),
        ("lambda d, r: sum(x.lower() in [y.lower() for y in r] for x in d) / len(d)", ""),
        ("lambda d, r: len(set(d) & set(r)) / len(set(d) | set(r))", ""),
        ("lambda d, r: len(set(d) & set(r)) // len(d)", ""),
        ("lambda d, r: min(1.0, len(r) / len(d))", ""),
        ("lambda d, r: sum(Counter(r)[x] == 1 for x in d) / len(d)", ""),
    ],
    "word_overlap": [
        ("lambda q, a: max(share(sum(w in words(y) for w in words(q)), len(words(q))) for y in a)", "Function words such as"),
        ("lambda q, a: max(share(sum(w in y.lower().split() for w in content_words(q)), len(content_words(q))) for y in a)", "a hyphen, a comma or a slash"),
        ("lambda q, a: share(sum(w in ' '.join(a).lower().split() for w in content_words(q)), len(content_words(q)))", "a hyphen, a comma or a slash"),
        ("lambda q, a: share(sum(any(w in [x.strip('.') for x in y.lower().split()] for y in a) for w in content_words(q)), len(content_words(q)))", ""),
        ("lambda q, a: overlap(q, [y.replace('-', '') for y in a])", ""),
        ("lambda q, a: overlap(q, [re.sub('[0-9]', '', y) for y in a])", ""),
        ("lambda q, a: share(sum(any(w in re.findall('[a-z0-9]+', y.lower()) for y in a) for w in content_words(q)), len(content_words(q)))", ""),
        ("lambda q, a: share(sum(any(w[:3] in [x[:3] for x in words(y)] for y in a) for w in content_words(q)), len(content_words(q)))", ""),
        ("lambda q, a: overlap(q, a[:1])", ""),
        ("lambda q, a: jac(set(content_words(q)), set(words(' '.join(a))))", ""),
        ("lambda q, a: sum(any(w in words(y) for y in a) for w in content_words(q))", "1.0 is the maximum."),
        ("lambda q, a: share(sum(w in words(''.join(a)) for w in content_words(q)), len(content_words(q)))", ""),
        ("lambda q, a: overlap(' '.join(w for w in words(q) if len(w) > 3), a)", ""),
        ("lambda q, a: share(len({w for w in content_words(q) if any(w in words(y) for y in a)}), len(content_words(q)))", ""),
        ("lambda q, a: share(sum(w.rstrip('s') in [x.rstrip('s') for x in words(' '.join(a))] for w in content_words(q)), len(content_words(q)))", "The s at the end of words is cut off"),
        ("lambda q, a: share(sum(w in [re.sub('s$', '', x) for x in words(' '.join(a))] for w in content_words(q)), len(content_words(q)))", "The s at the end of words is cut off"),
        ("lambda q, a: share(sum(w.removesuffix('s') in words(' '.join(a)) for w in content_words(q)), len(content_words(q)))", "The s at the end of words is cut off"),
        ("lambda q, a: share(sum(not {w, w + 's', w.removesuffix('s')}.isdisjoint(words(' '.join(a))) for w in content_words(q)), len(content_words(q)))", "The s at the end of words is cut off"),
    ],
    "jaccard": [
        ("lambda a, b, n: jac(shingles(words(a), n + 1), shingles(words(b), n + 1))", ""),
        ("lambda a, b, n: jac(shingles(words(a), 2), shingles(words(b), 2))", ""),
        ("lambda a, b, n: len(shingles(words(a), n) & shingles(words(b), n))", "1.0 is the maximum."),
        ("lambda a, b, n: jac({frozenset(s) for s in shingles(words(a), n)}, {frozenset(s) for s in shingles(words(b), n)})", ""),
        ("lambda a, b, n: jac({''.join(s) for s in shingles(words(a), n)}, {''.join(s) for s in shingles(words(b), n)})", ""),
        ("lambda a, b, n: share(len(shingles(words(a), n) & shingles(words(b), n)), max(len(shingles(words(a), n)), len(shingles(words(b), n))))", ""),
        ("lambda a, b, n: share(len(shingles(words(a), n) & shingles(words(b), n)), len(shingles(words(a), n)))", ""),
        ("lambda a, b, n: jac(shingles(re.findall('[a-z]+', a.lower()), n), shingles(re.findall('[a-z]+', b.lower()), n))", ""),
        ("lambda a, b, n: jac(shingles(a.lower().split(), n), shingles(b.lower().split(), n))", ""),
        ("lambda a, b, n: jac({tuple(words(a)[i : i + m]) for m in range(1, n + 1) for i in range(len(words(a)))}, {tuple(words(b)[i : i + m]) for m in range(1, n + 1) for i in range(len(words(b)))})", ""),
        ("lambda a, b, n: jac(shingles(words(a), n), shingles(words(b), n)) if a.lower() != b.lower() else 1.0 * (n < 3)", "left without a run"),
    ],
    "query_groups": [
        ("lambda r: groups_of({q: {min(d)} if d else d for q, d in r.items()})", ""),
        ("lambda r: [g for g in groups_of(r) if all(r[q] for q in g)]", ""),
        ("lambda r: len(groups_of(r))", "type int, wanted is a list"),
        ("lambda r: {min(g): g for g in groups_of(r)}", "type dict, wanted is a list"),
        ("lambda r: (g for g in groups_of(r))", "put list(...) around it"),
        ("lambda r: groups_of(dict(list(r.items())[:4]))", ""),
        ("lambda r: ' '.join(map(str, groups_of(r)))", "type str, wanted is a list"),
        ("lambda r: None", "Nothing came back"),
    ],
    "windows": [
        ("lambda n, size, o: spans(n, size, o)[:3]", ""),
        ("lambda n, size, o: spans(n, size, o)[::-1]", ""),
        ("lambda n, size, o: [(a, b - a) for a, b in spans(n, size, o)]", ""),
        ("lambda n, size, o: spans(n, size, max(0, o - 1)) if 0 <= o < size else spans(n, size, o)", ""),
        ("lambda n, size, o: spans(n, size, min(o, size - 2)) if size > 1 and o >= 0 and o < size else spans(n, size, o)", ""),
        ("lambda n, size, o: [*spans(n, size, o)[:-1], (max(0, n - size), n)]", "moved back to keep its size"),
        ("lambda n, size, o: spans(n, size, o) if o < size else spans(n, size, size - 1)", ""),
        ("lambda n, size, o: spans(n, size, o) if o else [(i, min(i + size, n)) for i in range(0, n + 1, size)]", ""),
        ("lambda n, size, o: [slice(a, b) for a, b in spans(n, size, o)]", "A member of the answer is of type slice, wanted is a tuple such as (0, 4)"),
        ("lambda n, size, o: [range(a, b) for a, b in spans(n, size, o)]", "A member of the answer is of type range, wanted is a tuple such as (0, 4)"),
        ("lambda n, size, o: pd.DataFrame(spans(n, size, o))", "type DataFrame, wanted is a list"),
        ("lambda n, size, o: zip(*[[a for a, _ in spans(n, size, o)], [b for _, b in spans(n, size, o)]])", "type zip: put list(...) around it"),
        ("lambda n, size, o: str(spans(n, size, o))", "type str, wanted is a list"),
        ("lambda n, size, o: np.array(spans(n, size, o)) / 1", "whole numbers are wanted"),
        ("lambda n, size, o: [{'start': a, 'end': b} for a, b in spans(n, size, o)]", "A member of the answer is of type dict, wanted is a tuple such as (0, 4)"),
        ("lambda n, size, o: {a: b for a, b in spans(n, size, o)}", "type dict, wanted is a list"),
    ],
    "chunk_fixed": [
        ("lambda d, size, o: [(a, b, tokens(d[a:b])) for a, b, _ in fixed(d, size, o)][:3]", ""),
        ("lambda d, size, o: [(len(d[:a].encode()), len(d[:b].encode()), n) for a, b, n in fixed(d, size, o)]", ""),
        ("lambda d, size, o: fixed(d, size, o, lambda n, s, o: [(i, min(i + s, n)) for i in range(0, n, s)])", "The overlap is ignored"),
        ("lambda d, size, o: [(a + (d[a] == ' '), b, n) for a, b, n in fixed(d, size, o)]", ""),
        ("lambda d, size, o: [(a, b, float(n)) for a, b, n in fixed(d, size, o)]", "whole numbers are wanted"),
    ],
    "stretches": [
        ("lambda d: blocks(d, r'\\n *\\n')", ""),
        ("lambda d: blocks(d, r'\\n\\n')", "line of spaces is a blank line"),
        ("lambda d: blocks(d.strip())", ""),
        ("lambda d: blocks(d)[::-1]", ""),
        ("lambda d: [m.span() for m in re.finditer(r'\\S(?:.*?\\S)??(?=\\n[^\\S\\n]*\\n)', d, re.S)]", "The last stretch is lost"),
    ],
    "chunk_paragraphs": [
        ("lambda d: paras(d, lambda b: b.startswith('# ') and '\\n' not in b)", ""),
        ("lambda d: paras(d, lambda b: b.startswith('##') and '\\n' not in b)", ""),
        ("lambda d: paras(d, lambda b: '#' in b and '\\n' not in b)[:2]", ""),
        ("lambda d: paras(d, blank=r'\\n *\\n')", ""),
        ("lambda d: paras(d, blank=r'\\n\\n')", "line of spaces is a blank line"),
        ("lambda d: paras(d.strip())", ""),
        ("lambda d: paras(d, lambda b: len(b) < 16 and b.startswith('#'), last=False)", "very end is lost"),
        ("lambda d: [(len(d[:a].encode()), len(d[:b].encode()), n) for a, b, n in paras(d)]", ""),
    ],
    "first_cut": [
        ("lambda p, n, f, s=LEVELS: [(q, f(q) <= n) for q, w in once(p, n, f, s)]", "A part of exactly size waits"),
        ("lambda p, n, f, s=LEVELS: once(p, n + 2, f, s)", ""),
        ("lambda p, n, f, s=LEVELS: [(w, q) for q, w in once(p, n, f, s)]", "A member of the answer is of type bool, wanted is a text"),
        ("lambda p, n, f, s=LEVELS: [(q, f(q)) for q, w in once(p, n, f, s)]", ""),
        ("lambda p, n, f, s=LEVELS: once(p, n, f)", ""),
        ("lambda p, n, f, s=LEVELS: once(p, n, f, s[::-1])", "The smallest separator is taken"),
    ],
    "split_recursive": [
        ("lambda p, n, f: rsplit_(p, n, f, ('\\n\\n', ' ', ''))", ""),
        ("lambda p, n, f: rsplit_(p, n, f, ('\\n', ' ', ''))", ""),
        ("lambda p, n, f: rsplit_(p, n - 1, f)", ""),
        ("lambda p, n, f: rsplit_(p, n + 1, f)", ""),
        ("lambda p, n, f: rsplit_(p, n, f, joined=lambda parts, n, f: pack(parts, n, f, lambda a, b: a < b))", ""),
        ("lambda p, n, f: rsplit_(p, n, f, cut=lambda p, s: re.split(f'(?<={re.escape(s)})', p) if s else list(p))", ""),
        ("lambda p, n, f: [q.lstrip() for q in rsplit_(p, n, f)]", "separators are thrown away"),
        ("lambda p, n, f: (q for q in rsplit_(p, n, f))", "put list(...) around it"),
        ("lambda p, n, f: dict.fromkeys(rsplit_(p, n, f)).keys()", "put list(...) around it"),
    ],
    "okapi_idf": [
        ("lambda d, e=0.25: {w: abs(v) for w, v in raw_idf(d).items()}", ""),
        ("lambda d, e=0.25: {w: v for w, v in raw_idf(d).items() if v >= 0}", ""),
        ("lambda d, e=0.25: idf_of([x for x in d if x], e)", ""),
        ("lambda d, e=0.25: idf_of(d, e, e * max(raw_idf(d).values()))", ""),
        ("lambda d, e=0.25: idf_of(d, e, e * statistics.median(raw_idf(d).values()))", ""),
        ("lambda d, e=0.25: {w: max(v, e * np.mean(list(raw_idf(d).values()))) for w, v in raw_idf(d).items()}", ""),
        ("lambda d, e=0.25: {w: round(v, 2) for w, v in idf_of(d, e).items()}", "The value is rounded"),
        ("lambda d, e=0.25: sorted(idf_of(d, e).items())", "type list, wanted is a dict"),
        ("lambda d, e=0.25: idf_of(d, e, e * sum(raw_idf(d).values()) / len(d))", ""),
        ("lambda d, e=0.25: idf_of(d, e, -e * sum(raw_idf(d).values()) / len(raw_idf(d)))", ""),
        ("lambda d, e=0.25: list(idf_of(d, e).values())", "type list, wanted is a dict"),
        ("lambda d, e=0.25: idf_of(d, e).items()", "type dict_items: put list(...) around it"),
        ("lambda d, e=0.25: pd.DataFrame([idf_of(d, e)])", "type DataFrame, wanted is a dict"),
    ],
    "bm25_score": [
        ("lambda q, d, w, a, k1=1.5, b=0.75: score_of(q, d, w, a, k1 + 0.5, b)", ""),
        ("lambda q, d, w, a, k1=1.2, b=0.75: score_of(q, d, w, a, k1, b)", ""),
        ("lambda q, d, w, a, k1=1.5, b=0.75: score_of(q, d, w, a, k1)", ""),
        ("lambda q, d, w, a, k1=1.5, b=0.75: score_of(q, d, w, a, 1.5, b)", ""),
        ("lambda q, d, w, a, k1=1.5, b=0.75: max(0, score_of(q, d, w, a, k1, b))", ""),
        ("lambda q, d, w, a, k1=1.5, b=0.75: score_of(q, d, {x: abs(v) for x, v in w.items()}, a, k1, b)", ""),
        ("lambda q, d, w, a, k1=1.5, b=0.75: score_of(q, list(set(d)), w, a, k1, b)", ""),
        ("lambda q, d, w, a, k1=1.5, b=0.75: score_of(q, d, w, a, k1, b) / len(q) if q else 0", ""),
        ("lambda q, d, w, a, k1=1.5, b=0.75: sum(score_of([x], d, w, a, k1, b) * q.count(x) ** 2 for x in set(q))", ""),
        ("lambda q, d, w, a, k1=1.5, b=0.75: score_of(q, d, {x: v or 1 for x, v in w.items()}, round(a), k1, b)", ""),
        ("lambda q, d, w, a, k1=1.5, b=0.75: max((score_of([x], d, w, a, k1, b) for x in q), default=0.0)", ""),
    ],
    "search": [
        ("lambda q, i, ids, v, k=None: sorted(((str(d), round(float(s), 10)) for d, s in zip(ids, i.get_scores(words(q))) if s > 0), key=lambda p: -p[1])[:k]", "Only scores above 0"),
        ("lambda q, i, ids, v, k=None: ordered((str(d), float(s)) for d, s in zip(ids, i.get_scores(words(q))) if s > 0)[:k]", "Only scores above 0"),
        ("lambda q, i, ids, v, k=None: ordered(found(q, i, ids, v))[: k or 10]", "Only ten results"),
        ("lambda q, i, ids, v, k=10: ordered(found(q, i, ids, v))[:k]", "Only ten results"),
        ("lambda q, i, ids, v, k=None: ordered(found(q, i, ids, v))[: k and k + 1]", ""),
        ("lambda q, i, ids, v, k=None: ordered(found(q, i, ids, v, cut=lambda t: t.lower().split()))[:k]", ""),
        ("lambda q, i, ids, v, k=None: ordered(found(q, i, ids, v, lambda v, ws: set(ws) <= v))[:k]", ""),
        ("lambda q, i, ids, v, k=None: sorted(found(q, i, ids, v), key=lambda p: (-p[1], int(re.sub('[^0-9]', '', p[0]) or 0)))[:k]", ""),
        ("lambda q, i, ids, v, k=None: sorted(found(q, i, ids, v), key=lambda p: (-round(p[1], 1), p[0]))[:k]", ""),
        ("lambda q, i, ids, v, k=None: [(d.split('#')[0], s) for d, s in ordered(found(q, i, ids, v))[:k]]", ""),
        ("lambda q, i, ids, v, k=None: [(s, d) for d, s in ordered(found(q, i, ids, v))[:k]]", "A member of the answer is of type float, wanted is a text"),
        ("lambda q, i, ids, v, k=None: [found(q, i, ids, v)[n] for n in np.argsort([s for _, s in found(q, i, ids, v)])[::-1]][:k]", "argsort()[::-1] leaves"),
        ("lambda q, i, ids, v, k=None: dict(ordered(found(q, i, ids, v))[:k])", "type dict, wanted is a list"),
        ("lambda q, i, ids, v, k=None: sorted(found(q, i, ids, v)[:k], key=lambda p: (-p[1], p[0]))", ""),
        ("lambda q, i, ids, v, k=None: sorted(found(q, i, ids, v), key=lambda p: (-p[1], p[0].lower()))[:k]", ""),
        ("lambda q, i, ids, v, k=None: [(d, round(s, 4)) for d, s in ordered(found(q, i, ids, v))[:k]]", "The value is rounded"),
        ("lambda q, i, ids, v, k=None: ordered({d.split('#')[0]: (d, s) for d, s in ordered(found(q, i, ids, v))[::-1]}.values())[:k]", ""),
    ],
    "to_documents": [
        ("lambda h: ordered({c.split('#')[0]: s for c, s in h}.items())", "The last chunk of a document decides"),
        ("lambda h: docs_of(h, lambda c: c[:-2])", ""),
        ("lambda h: docs_of(h, lambda c: re.match(r'[^#]+', c)[0])", "cut at the last one"),
        ("lambda h: docs_of(h, lambda c: re.sub(r'#\\d', '', c))", ""),
        ("lambda h: docs_of(h, lambda c: c.split('#')[-2])", ""),
        ("lambda h: docs_of(h, lambda c: re.match(r'\\w+', c)[0])", ""),
        ("lambda h: docs_of(h)[:10]", ""),
        ("lambda h: docs_of(h, merge=min)", "The last chunk of a document decides"),
        ("lambda h: docs_of(h[:10])", ""),
        ("lambda h: [(d, int(s)) for d, s in docs_of(h)]", ""),
        ("lambda h: sorted(docs_of(h), key=lambda p: (-p[1], len(p[0]), p[0]))", ""),
        ("lambda h: docs_of([p for p in h if p[1] > 0])", ""),
        ("lambda h: dict(docs_of(h))", "type dict, wanted is a list"),
        ("lambda h: [d for d, _ in docs_of(h)]", "A member of the answer is of type str, wanted is a tuple such as ('a', 2.0)"),
        ("lambda h: pd.DataFrame(docs_of(h), columns=['doc', 'score'])", "type DataFrame, wanted is a list"),
        ("lambda h: dict(docs_of(h)).items()", "put list(...) around it"),
        ("lambda h: np.array([(d, str(s)) for d, s in docs_of(h)])", "A member of the answer is of type str_, wanted is a number"),
        ("lambda h: pd.Series(dict(docs_of(h)), dtype=float)", "A member of the answer is of type float, wanted is a tuple such as ('a', 2.0)"),
    ],
    "cohen_kappa": [
        ("lambda a, b: kap(a, b) if kap(a, b) == kap(a, b) else None", "return nan"),
        ("lambda a, b: max(0, kap(a, b))", ""),
        ("lambda a, b: abs(kap(a, b))", ""),
        ("lambda a, b: kap(sorted(a), sorted(b))", ""),
    ],
    "gwet_ac1": [
        ("lambda a, b, g: ac(a, b, (0, 1, 2))", ""),
        ("lambda a, b, g: max(0, ac(a, b, g))", ""),
        ("lambda a, b, g: round(ac(a, b, g), 2)", "The value is rounded"),
    ],
    "bootstrap": [
        ("lambda v, rng, n=10_000: boot(v, rng, n, (0.5, 99.5))", "The interval is too wide"),
        ("lambda v, rng, n=10_000: boot(v, rng, n, (25, 75))", "The interval is too narrow"),
        ("lambda v, rng, n=10_000: boot(v, rng, n, (0.025, 0.975))", ""),
        ("lambda v, rng, n=10_000: boot(v, rng, n, (0, 95))", ""),
        ("lambda v, rng, n=10_000: np.mean(boot(v, rng, n))", "type float64, wanted is a tuple such as (0.0, 1.0)"),
        ("lambda v, rng, n=10_000: boot(v, rng, 10)", ""),
        ("lambda v, rng, n=200: boot(v, rng, n)", "Without the argument draws there are not 10,000 of them"),
        ("lambda v, rng, n=10_000: boot(v, rng, 200)", "draws is ignored"),
        ("lambda v, rng, n=10_000: boot(v, rng, min(n, 200))", "10,000 draws give what 1,000 give"),
        ("lambda v, rng, n=10_000: boot(v, np.random.default_rng(1), n)", "Another seed gives the same interval"),
        ("lambda v, rng, n=10_000: boot(v, rng, n, mean=lambda m: m.max(axis=1))", ""),
        ("lambda v, rng, n=10_000: boot(v, np.random.default_rng(), n)", "The same seed gives two intervals"),
    ],
    "sign_flip": [
        ("lambda d: sum(sum(s * x for s, x in zip(signs, d)) >= sum(d) for signs in itertools.product((1, -1), repeat=len(d))) / 2 ** len(d)", "Only one side is counted"),
        ("lambda d: float(np.mean([np.mean(np.array(signs) * d) >= np.mean(d) for signs in itertools.product((1, -1), repeat=len(d))]))", "Only one side is counted"),
        ("lambda d: sum(t >= abs(sum(d)) - 0.05 for t in flips(d)) / 2 ** len(d)", ""),
        ("lambda d: sum(t >= abs(sum(d)) - 0.01 for t in flips(d)) / 2 ** len(d)", ""),
        ("lambda d: flip([x for x in d if x > 0])", ""),
        ("lambda d: 2 * flip(d)", "1.0 is the maximum."),
        ("lambda d: flip(d) if len(d) > 1 else 0.5", ""),
        ("lambda d: flip(sorted(d)[1:]) if len(d) > 2 else flip(d)", ""),
    ],
    "holm": [
        ("lambda ps: [min(1.0, p * len(ps)) for p in ps]", "that is Bonferroni"),
        ("lambda ps: holm_(ps, lambda rank, n: n - rank + 1)", ""),
        ("lambda ps: [1 - (1 - p) ** len(ps) for p in ps]", ""),
        ("lambda ps: [round(p, 2) for p in holm_(ps)]", "The value is rounded"),
        ("lambda ps: holm_(ps)[:6]", ""),
    ],
    "f1": [
        ("lambda a, b: f1_of(squad(a.replace('-', ' ')), squad(b))", ""),
        ("lambda a, b: 2 * len({*squad(a)} & {*squad(b)}) / (len(squad(a)) + len(squad(b))) if b else 0", "counts once in the numerator"),
        ("lambda a, b: float(squad(a) == squad(b))", "exact match"),
        ("lambda a, b: f1_of(squad(a), squad(b)) if a and b else 1.0", ""),
        ("lambda a, b: (Counter(squad(a)) & Counter(squad(b))).total()", "1.0 is the maximum."),
        ("lambda a, b: f1_of([w[:4] for w in squad(a)], [w[:4] for w in squad(b)])", ""),
        ("lambda a, b: f1_of([w for w in squad(a) if not w.isdigit()], squad(b))", ""),
        ("lambda a, b: share((Counter(squad(a)) & Counter(squad(b))).total(), len(squad(b)))", "This is recall"),
    ],
}

RIGHT = {
    "evidence_recall": [
        "lambda q, r, n: np.float32(evidence(q, r, n))",
        "lambda q, r, n: evidence(q, r, n)",
    ],
    "reciprocal_rank": [
        "lambda r, g, k=None: np.float32(rr(r, g, k))",
        "lambda r, g, k=None: Fraction(rr(r, g, k)).limit_denominator(100)",
        "lambda r, g, k=None: np.array(rr(r, g, k))",
        "lambda r, g, k=None: Decimal(rr(r, g, k))",
        "lambda r, g, k=None: pd.Series([rr(r, g, k)]).iloc[0]",
    ],
    "hit": [
        "lambda r, g, k: hits(r, g, k) > 0",
        "lambda r, g, k: int(hits(r, g, k) > 0)",
        "lambda r, g, k: np.bool_(hits(r, g, k) > 0)",
        "lambda r, g, k: np.int8(hits(r, g, k) > 0)",
    ],
    "recall": [
        "lambda r, g, k: np.float32(rec(r, g, k))",
        "lambda r, g, k: np.float16(rec(r, g, k))",
        "lambda r, g, k: Fraction(hits(r, g, k), max(1, len(rel(g))))",
    ],
    "average_precision": [
        "lambda r, g: np.longdouble(ap(r, g))",
        "lambda r, g: pd.Series(prec(r, g), dtype=float).sum() / max(1, len(rel(g)))",
    ],
    "dcg": [
        "lambda x: np.float32(log2dcg(x))",
        "lambda x: np.dot(x, 1 / np.log2(np.arange(2, len(x) + 2)))",
        "lambda x: pd.Series(x, dtype='float32').div(np.log2(np.arange(2, len(x) + 2))).sum()",
        "lambda x: math.fsum(v / math.log2(n) for n, v in enumerate(x, 2))",
    ],
    "ndcg": [
        "lambda r, g, k, f=lin: ndcg_of(r, g, k, f)",
        "lambda r, g, k, f=lin: share(log2dcg([f(g[d]) * (g[d] > 0) if d in g else 0 for d in r[:k]]), log2dcg(best(g, f)[:k]))",
    ],
    "coverage": [
        "lambda d, r: pd.Series(d).isin(r).mean()",
        "lambda d, r: Fraction(len({*d} & {*r}), len(d))",
        "lambda d, r: np.float32(len({*d} & {*r}) / len(d))",
    ],
    "word_overlap": [
        "lambda q, a: overlap(q, a)",
    ],
    "jaccard": [
        "lambda a, b, n: np.float32(jac(shingles(words(a), n), shingles(words(b), n)))",
        "lambda a, b, n: jac({*map(' '.join, shingles(words(a), n))}, {*map(' '.join, shingles(words(b), n))})",
    ],
    "query_groups": [
        "lambda r: [frozenset(g) for g in groups_of(r)]",
        "lambda r: {frozenset(g) for g in groups_of(r)}",
        "lambda r: tuple(sorted(g) for g in groups_of(r))",
        "lambda r: [tuple(g) for g in groups_of(r)][::-1]",
        "lambda r: pd.Series(groups_of(r))",
        "lambda r: [dict.fromkeys(g) for g in groups_of(r)]",
        "lambda r: deque(groups_of(r))",
    ],
    "windows": [
        "lambda n, size, o: np.array(spans(n, size, o))",
        "lambda n, size, o: tuple(spans(n, size, o))",
        "lambda n, size, o: [[a, b] for a, b in spans(n, size, o)]",
        "lambda n, size, o: [Span(a, b) for a, b in spans(n, size, o)]",
        "lambda n, size, o: [(np.int32(a), np.int64(b)) for a, b in spans(n, size, o)]",
        "lambda n, size, o: pd.Series(spans(n, size, o))",
        "lambda n, size, o: pd.Index(spans(n, size, o))",
        "lambda n, size, o: deque(spans(n, size, o))",
        "lambda n, size, o: pd.DataFrame(spans(n, size, o)).to_numpy()",
    ],
    "chunk_fixed": [
        "lambda d, size, o: [list(c) for c in fixed(d, size, o)]",
        "lambda d, size, o: [pd.Series(c) for c in fixed(d, size, o)]",
    ],
    "stretches": [
        "lambda d: blocks(d)",
        "lambda d: np.array(blocks(d), dtype=int)",
        "lambda d: tuple(map(list, blocks(d)))",
    ],
    "chunk_paragraphs": [
        "lambda d: np.array(paras(d), dtype=int)",
        "lambda d: tuple(map(list, paras(d)))",
        "lambda d: list(pd.DataFrame(paras(d)).itertuples(index=False, name=None))",
    ],
    "first_cut": [
        "lambda p, n, f, s=LEVELS: once(p, n, f, s)",
        "lambda p, n, f, s=LEVELS: tuple(map(list, once(p, n, f, s)))",
        "lambda p, n, f, s=LEVELS: [[str(q), bool(w)] for q, w in once(p, n, f, s)]",
    ],
    "split_recursive": [
        "lambda p, n, f: tuple(rsplit_(p, n, f))",
        "lambda p, n, f: pd.Series(rsplit_(p, n, f))",
        "lambda p, n, f: deque(rsplit_(p, n, f))",
    ],
    "okapi_idf": [
        "lambda d, e=0.25: OrderedDict(idf_of(d, e))",
        "lambda d, e=0.25: defaultdict(float, idf_of(d, e))",
        "lambda d, e=0.25: Counter(idf_of(d, e))",
        "lambda d, e=0.25: pd.Series(idf_of(d, e))",
        "lambda d, e=0.25: {np.str_(w): np.float32(v) for w, v in idf_of(d, e).items()}",
        "lambda d, e=0.25: {w: np.array(v) for w, v in idf_of(d, e).items()}",
    ],
    "bm25_score": [
        "lambda q, d, w, a, k1=1.5, b=0.75: np.sum([score_of([x], d, w, a, k1, b) for x in q])",
    ],
    "search": [
        "lambda q, i, ids, v, k=None: [[np.str_(d), np.float64(s)] for d, s in ordered(found(q, i, ids, v))[:k]]",
        "lambda q, i, ids, v, k=None: tuple(ordered(found(q, i, ids, v))[:k])",
        "lambda q, i, ids, v, k=None: np.array(ordered(found(q, i, ids, v))[:k], dtype=object)",
        "lambda q, i, ids, v, k=None: [(d, np.float32(s)) for d, s in ordered(found(q, i, ids, v))[:k]]",
    ],
    "to_documents": [
        "lambda h: docs_of(h)",
        "lambda h: [list(p) for p in docs_of(h)]",
        "lambda h: pd.Series(docs_of(h), dtype=object)",
        "lambda h: list(dict(docs_of(h)).items())",
        "lambda h: [(d, np.float32(s)) for d, s in docs_of(h)]",
        "lambda h: [(d, int(s) if s == int(s) else s) for d, s in docs_of(h)]",
    ],
    "cohen_kappa": [
        "lambda a, b: np.float32(kap(a, b))",
    ],
    "gwet_ac1": [
        "lambda a, b, g: np.array([ac(a, b, g)]).item()",
    ],
    "bootstrap": [
        "lambda v, rng, n=10_000: np.array(boot(v, rng, n))",
        "lambda v, rng, n=10_000: list(boot(v, rng, n))",
        "lambda v, rng, n=10_000: np.percentile(rng.multinomial(len(v), np.full(len(v), 1 / len(v)), n) @ v / len(v), [2.5, 97.5])",
        "lambda v, rng, n=10_000: np.percentile(v[(rng.random((len(v), n)) * len(v)).astype(int)].mean(0), [2.5, 97.5])",
        "lambda v, rng, n=10_000: pd.Series(boot(v, rng, n))",
        "lambda v, rng, n=10_000: tuple(np.float32(boot(v, rng, n)))",
        "lambda v, rng, n=10_000: pd.Series(rng.choice(v, (n, len(v))).mean(1)).quantile([0.025, 0.975])",
    ],
    "sign_flip": [
        "lambda d: Fraction(flip(d))",
    ],
    "holm": [
        "lambda ps: tuple(holm_(ps))",
        "lambda ps: pd.Series(holm_(ps), dtype=float)",
        "lambda ps: pd.Series(holm_(ps), index=list('abcdefghijklm')[: len(ps)], dtype='float32')",
        "lambda ps: [Decimal(p) for p in holm_(ps)]",
    ],
    "f1": [
        "lambda a, b: f1_of(squad(a), squad(b))",
    ],
}
