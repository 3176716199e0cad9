# ruff: noqa: E501 -- tables: an answer a line
"""Answers that nobody had in mind when the checks were written, right ones and wrong ones.

`ANSWERS` has for each exercise its call and what is right, `it` below. Behind `right:` it stands in
other forms. A line below is a wrong answer: another expression, or a function where the arguments
differ. Behind two spaces and # stands a part of the sentence of the mistake that was made; where
none does, no known mistake was made and none is named.
"""

import re

PRELUDE = r"""
import math, re, statistics, string, itertools
from collections import Counter, OrderedDict, defaultdict, deque
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple
import numpy as np
import pandas as pd
from helpers.measure import text

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

def blocks(d, blank=r"\n[^\S\n]*\n"):
    return [(m.start(), m.end()) for m in re.finditer(r"\S.*?(?=" + blank + r"|\s*\Z)", d, re.S)]

def paras(d, head=lambda b: b.startswith("#") and "\n" not in b, blank=r"\n[^\S\n]*\n", last=True):
    found, start = [], None
    for a, b in blocks(d, blank):
        start = a if start is None else start
        if not head(d[a:b]) or (last and not d[b:].strip()):
            found.append((start, b, tokens(d[start:b])))
            start = None
    return found

LEVELS = ("\n\n", "\n", " ", "")

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

def rows(piece, size, length, levels=LEVELS, rest=True, join=True, empty=True):
    done, row = [], []
    for part, waits in once(piece, size, length, levels):
        if waits:
            row += [part]
        else:
            done += pack(row, size, length) if join else []
            done += rows(part, size, length, levels[1:], rest, join, empty)
            row = [] if empty and join is not False else row
    return done + (pack(row, size, length) if rest else [])

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
    return [w for w in re.sub(r"[^\w\s]", "", t.lower()).split() if w not in ("a", "an", "the")]

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

ANSWERS = r"""
== evidence_recall(q, r, n): evidence(q, r, n)
right: it ; np.float32(it)
evidence(q, r, n, lambda a, b, s, e: s < b and a < e)  # Part of a quote is enough
evidence(q, r, n, lambda a, b, s, e: s <= b and a <= e)  # Part of a quote is enough
evidence(q, r, n, lambda a, b, s, e: a in range(s, e))  # Part of a quote is enough
evidence(q, r, n, lambda a, b, s, e: s < a and b < e)  # at the very edge
float(it > 0)  # This is a hit
len({*q} & {d for d, _, _ in r}) / len(q)
sum(evidence(q, [p], n) for p in r)  # 1.0 is the maximum
evidence(q, r[::-1], n)
evidence(q, r, n - 1)
evidence(q, r[:1], n)
round(it, 1)  # The value is rounded
== reciprocal_rank(r, g, k=None): rr(r, g, k)
right: np.float32(it) ; Fraction(it).limit_denominator(100) ; np.array(it) ; Decimal(it) ; pd.Series([it]).iloc[0]
rr(r[:10], g, k)  # Nothing past rank 10
rr(r, g, k or 10)  # Nothing past rank 10
lambda r, g, k=10: rr(r, g, k or 10)  # Nothing past rank 10
rr(r, g, k + 1 if k else k)
rr(r, {d: n - 1 for d, n in g.items()}, k)  # grade 1 counts as a miss
next((1 / n for n, d in enumerate(r[:k], 1) if g.get(d) == 2), 0)  # grade 1 counts as a miss
1 / (1 + math.log2(1 / it)) if it else 0
it or 1 / (len(r) + 1)
it if r else 1.0
rr(r, g)  # The cutoff is ignored
== hit(r, g, k): hits(r, g, k) > 0
right: it ; int(it) ; np.bool_(it) ; np.int8(it)
hits(r[:10], g, k) > 0  # Nothing past rank 10
hits(r, g, k + 1) > 0
hits(r, g, k) == len(rel(g))
hits(r, g, 1) > 0
g.get(r[0], 0) > 0 if r else False
any(g.get(d, 0) > 1 for d in r[:k])  # grade 1 counts as a miss
any(d in r[:k] for d, n in g.items() if n == 2)  # grade 1 counts as a miss
g.get(r[k - 1], 0) > 0  # Only place k itself is looked at
g[r[k]] > 0  # the one after place k
== recall(r, g, k): rec(r, g, k)
right: np.float32(it) ; np.float16(it) ; Fraction(hits(r, g, k), max(1, len(rel(g))))
rec(r[:10], g, k)  # Nothing past rank 10
rec(r, g, k + 1)
rec(r, {d: n - 1 for d, n in g.items()}, k)
hits(r, g, k) / len(r) if r else 0
hits(r, g, None) / len(g)  # Perhaps two mistakes at once: - Documents labelled 0 stand in the denominator
hits(r, g, k)
2 * it * hits(r, g, k) / k / (it + hits(r, g, k) / k) if hits(r, g, k) else 0
round(it, 3)  # The value is rounded
100 * it  # 1.0 is the maximum.
it if rel(g) else 1  # nothing is relevant, this gives 1
== average_precision(r, g): ap(r, g)
right: np.longdouble(it) ; pd.Series(prec(r, g), dtype=float).sum() / max(1, len(rel(g)))
ap(r[:10], g)  # Nothing past rank 10
sum(prec(r, g)) / min(10, len(rel(g))) if rel(g) else 0
statistics.median(prec(r, g)) if prec(r, g) else 0
max(prec(r, g), default=0)
sum(max(prec(r, g)[i:]) for i in range(len(prec(r, g)))) / (len(rel(g)) or 1)  # interpolated
sum(max((hits(r, g, n) / n for n in range(1, len(r) + 1) if hits(r, g, n) >= t * len(rel(g)) / 10), default=0) for t in range(11)) / 11 if rel(g) else 0  # interpolated
ap(r, {d: n - 1 for d, n in g.items()})
ap([d for d in r if d in g], g)
sum(prec(r, g)) / len(rel(g))  # nothing to divide by: return 0
== dcg(x): log2dcg(x)
right: np.float32(it) ; math.fsum(v / math.log2(n) for n, v in enumerate(x, 2))
right: np.dot(x, 1 / np.log2(np.arange(2, len(x) + 2))) ; pd.Series(x, dtype='float32').div(np.log2(np.arange(2, len(x) + 2))).sum()
log2dcg(x[:10])  # first ten gains
sum(v / math.log1p(n) for n, v in enumerate(x, 1))  # natural one
sum(int(v) / math.log2(n) for n, v in enumerate(x, 2))
it if x else None  # Nothing came back
[v / math.log2(n) for n, v in enumerate(x, 2)]  # type list, wanted is a number
x[0] + sum(v / math.log2(n) for n, v in enumerate(x[1:], 2))  # that is the form of 2002
sum(v / math.log(n) for n, v in enumerate(x, 3))  # Two mistakes at once: - The logarithm is the natural one: math.log2 is wanted. - The first gain
== ndcg(r, g, k, f=lin): ndcg_of(r, g, k, f)
right: it ; share(log2dcg([f(g[d]) * (g[d] > 0) if d in g else 0 for d in r[:k]]), log2dcg(best(g, f)[:k]))
log2dcg(gained(r, g, k, f)) / log2dcg(sorted(gained(r, g, k, f), reverse=True))  # The ideal order is made from what was retrieved
ndcg_of(r, g, min(k, 10), f)  # Nothing past rank 10
ndcg_of(r[:10], g, k, f)  # Nothing past rank 10
ndcg_of(r, g, k + 1, f)
share(log2dcg(gained(r, g, k, f)), log2dcg([f(n) for n in g.values() if n > 0][:k]))  # The labels are not sorted
share(log2dcg(gained(r, g, k, f)), log2dcg([*g.values()][:k]))  # The labels are not sorted
log2dcg(gained(r, g, k)) / log2dcg([*g.values()][:k])  # The labels are not sorted
share(log2dcg(gained(r, g, k, f)), log2dcg(best(g, f)[: min(k, len(r))]))
share(log2dcg(gained(r, g, k, f)), log2dcg([max(best(g, f), default=0)] * k))
share(sum(v / math.log(n) for n, v in enumerate(gained(r, g, k, f), 2)), log2dcg(best(g, f)[:k]))  # 1.0 is the maximum.
it ** 2
ndcg_of(r, {d: n - 1 for d, n in g.items()}, k, f)
it if r else None  # Nothing came back
ndcg_of(r, g, k)  # The argument gain is ignored
share(log2dcg([f(g.get(d, 0)) for d in r[:k]]), log2dcg(sorted(map(f, g.values()), reverse=True)[:k]))  # graded 0 or not labelled
share(log2dcg([f(g.get(d, 0)) for d in r[:k]]), log2dcg(best(g, f)[:k]))  # graded 0 or not labelled
share(log2dcg([f(g[d]) if d in g else 0 for d in r[:k]]), log2dcg(best(g, f)[:k]))  # graded 0 or not labelled
share(log2dcg(gained(r, g, k, f)), log2dcg(sorted(map(f, g.values()), reverse=True)[:k]))  # graded 0 or not labelled
np.divide(log2dcg(gained(r, g, k, f)), log2dcg(best(g, f)[:k]))  # nan is what 0 divided by 0 gives
== coverage(d, r): len({*d} & {*r}) / len(d)
right: pd.Series(d).isin(r).mean() ; Fraction(len({*d} & {*r}), len(d)) ; np.float32(it)
sum(any(x in y for y in r) for x in d) / len(d)
sum(x in ' '.join(r) for x in d) / len(d)
sum(x.lower() in [y.lower() for y in r] for x in d) / len(d)
len(set(d) & set(r)) / len(set(d) | set(r))
len(set(d) & set(r)) // len(d)
== word_overlap(q, a): overlap(q, a)
right: it
max(share(sum(w in words(y) for w in words(q)), len(words(q))) for y in a)  # Function words such as
max(share(sum(w in y.lower().split() for w in content_words(q)), len(content_words(q))) for y in a)  # a hyphen, a comma or a slash
share(sum(w in ' '.join(a).lower().split() for w in content_words(q)), len(content_words(q)))  # a hyphen, a comma or a slash
share(sum(any(w in [x.strip('.') for x in y.lower().split()] for y in a) for w in content_words(q)), len(content_words(q)))
it if content_words(q) else 1  # of function words alone gives 1
overlap(q, [y.replace('-', '') for y in a])
overlap(q, [re.sub('[0-9]', '', y) for y in a])
share(sum(any(w in re.findall('[a-z0-9]+', y.lower()) for y in a) for w in content_words(q)), len(content_words(q)))
share(sum(any(w[:3] in [x[:3] for x in words(y)] for y in a) for w in content_words(q)), len(content_words(q)))
len({*content_words(q)} & {*words(' '.join(a))}) / len({*content_words(q)} | {*words(' '.join(a))})  # that is Jaccard
share(sum(w in ' '.join(a).lower().split() for w in {*content_words(q)}), len({*content_words(q)}))  # Two mistakes at once: - Repeated words
jac(set(content_words(q)), set(words(' '.join(a))))  # that is Jaccard
sum(any(w in words(y) for y in a) for w in content_words(q))  # 1.0 is the maximum.
share(sum(w.rstrip('s') in [x.rstrip('s') for x in words(' '.join(a))] for w in content_words(q)), len(content_words(q)))  # The s at the end of words is cut off
share(sum(w in [re.sub('s$', '', x) for x in words(' '.join(a))] for w in content_words(q)), len(content_words(q)))  # The s at the end of words is cut off
share(sum(w.removesuffix('s') in words(' '.join(a)) for w in content_words(q)), len(content_words(q)))  # The s at the end of words is cut off
share(sum(not {w, w + 's', w.removesuffix('s')}.isdisjoint(words(' '.join(a))) for w in content_words(q)), len(content_words(q)))  # The s at the end of words is cut off
== jaccard(a, b, n): jac(shingles(words(a), n), shingles(words(b), n))
right: np.float32(it) ; jac({*map(' '.join, shingles(words(a), n))}, {*map(' '.join, shingles(words(b), n))})
jac(shingles(words(a), n + 1), shingles(words(b), n + 1))
jac(shingles(words(a), 2), shingles(words(b), 2))
len(shingles(words(a), n) & shingles(words(b), n))  # 1.0 is the maximum.
jac({frozenset(s) for s in shingles(words(a), n)}, {frozenset(s) for s in shingles(words(b), n)})
jac({''.join(s) for s in shingles(words(a), n)}, {''.join(s) for s in shingles(words(b), n)})
share(len(shingles(words(a), n) & shingles(words(b), n)), max(len(shingles(words(a), n)), len(shingles(words(b), n))))
it if a.lower() != b.lower() else 1.0 * (n < 3)  # left without a run
== query_groups(r): groups_of(r)
right: [frozenset(g) for g in it] ; {frozenset(g) for g in it} ; tuple(sorted(g) for g in it)
right: [tuple(g) for g in it][::-1] ; pd.Series(it) ; [dict.fromkeys(g) for g in it] ; deque(it)
groups_of({q: {min(d)} if d else d for q, d in r.items()})
[g for g in it if all(r[q] for q in g)]
len(it)  # type int, wanted is a list
{min(g): g for g in it}  # type dict, wanted is a list
groups_of(dict(list(r.items())[:4]))
== windows(n, size, o): spans(n, size, o)
right: np.array(it) ; tuple(it) ; [[a, b] for a, b in it] ; [Span(a, b) for a, b in it] ; pd.Series(it) ; pd.Index(it)
right: deque(it) ; [(np.int32(a), np.int64(b)) for a, b in it] ; pd.DataFrame(it).to_numpy()
it[:3]
it[::-1]
[(a, b - a) for a, b in it]
spans(n, size, max(0, o - 1)) if 0 <= o < size else it
spans(n, size, min(o, size - 2)) if size > 1 and o >= 0 and o < size else it
[(s, s + size) for s in range(0, n, size - o)]  # the last ones end past the text
[*it[:-1], (max(0, n - size), n)]  # moved back to keep its size
[(s, min(s + size + o, n)) for s in range(0, n, size)] if 0 <= o < size else it  # makes windows longer than size
[(s, min(s + size + o, n)) for s in range(0, max(1, n - o), size)]  # makes windows longer than size
[(max(0, s - o), min(s + size, n)) for s in range(0, n, size)]  # makes windows longer than size
[slice(a, b) for a, b in it]  # A member of the answer is of type slice, wanted is a tuple such as (0, 4)
[range(a, b) for a, b in it]  # A member of the answer is of type range, wanted is a tuple such as (0, 4)
np.array(it) / 1  # whole numbers are wanted
== chunk_fixed(d, size, o): fixed(d, size, o)
right: [list(c) for c in it] ; [pd.Series(c) for c in it]
[(a, b, tokens(d[a:b])) for a, b, _ in it][:3]
[(len(d[:a].encode()), len(d[:b].encode()), n) for a, b, n in it]
fixed(d, size, o, lambda n, s, o: [(i, min(i + s, n)) for i in range(0, n, s)])  # The overlap is ignored
[(a + (d[a] == ' '), b, n) for a, b, n in it]
[(i, i + len(q), b - a) for ids in [text.token_ids(d)] for a, b in spans(len(ids), size, o) for q in [text.encoding().decode(ids[a:b])] for i in [d.find(q)]]  # come from decoded slices
[(at[a], at[b - 1], b - a) for at in [text.encoding().decode_with_offsets(text.token_ids(d))[1]] for a, b in spans(len(at), size, o)]  # Every chunk stops where its last token begins
[(at[a], at[b], b - a) for at in [text.encoding().decode_with_offsets(text.token_ids(d))[1]] for a, b in spans(len(at), size, o)]  # No token begins after the last one
[(a, b, float(n)) for a, b, n in it]  # whole numbers are wanted
== stretches(d): blocks(d)
right: it ; np.array(it, dtype=int) ; tuple(map(list, it))
blocks(d, r'\n *\n')
blocks(d, r'\n\n')  # line of spaces is a blank line
blocks(d.strip())
it[::-1]
[(at, at + len(b)) for b in d.split('\n\n') for at in [d.index(b)]]  # Cut at two line breaks
[m.span() for m in re.finditer(r'\S.*?(?=\n\n|\Z)', d, re.S)]  # Only two line breaks in a row
[m.span() for m in re.finditer(r'\S.*?(?=\n\s*\n|\Z)', d, re.S)]  # The last stretch keeps
[m.span() for m in re.finditer(r'\S.*?(?=\n\s*\n|\s*\Z)', d)]  # A dot stands for no line break
[m.span() for m in re.finditer(r'\S(?:.*?\S)??(?=\n[^\S\n]*\n)', d, re.S)]  # The last stretch is lost
== chunk_paragraphs(d): paras(d)
right: np.array(it, dtype=int) ; tuple(map(list, it)) ; list(pd.DataFrame(it).itertuples(index=False, name=None))
right: paras(d, lambda b: re.match('#.*$', b) and len(b.splitlines()) == 1)
paras(d, lambda b: b.startswith('# ') and '\n' not in b)
paras(d, lambda b: b.startswith('##') and '\n' not in b)
paras(d, lambda b: '#' in b and '\n' not in b)[:2]
paras(d, lambda b: '#' in b and '\n' not in b)  # somewhere in it
paras(d, lambda b: re.search('#+ ', b) and '\n' not in b)  # somewhere in it
paras(d, lambda b: b.count('#') > 0)  # somewhere in it
paras(d, blank=r'\n *\n')
paras(d, blank=r'\n\n')  # line of spaces is a blank line
paras(d.strip())
paras(d, lambda b: len(b) < 16 and b.startswith('#'), last=False)  # very end is lost
== first_cut(p, n, f, s=LEVELS): once(p, n, f, s)
right: it ; tuple(map(list, it)) ; [[str(q), bool(w)] for q, w in it]
[(q, f(q) <= n) for q, w in it]  # A part of exactly size waits
once(p, n + 2, f, s)
[(w, q) for q, w in it]  # A member of the answer is of type bool, wanted is a text
[(q, f(q)) for q, w in it]
once(p, n, f)
once(p, n, f, s[::-1])  # The smallest separator is taken
== split_recursive(p, n, f): rsplit_(p, n, f)
right: tuple(it) ; pd.Series(it) ; deque(it)
rsplit_(p, n, f, ('\n\n', ' ', ''))
rsplit_(p, n, f, ('\n', ' ', ''))
rsplit_(p, n - 1, f)
rsplit_(p, n + 1, f)
rows(p, n, f, rest=False)  # What still waits when the loop ends is forgotten
rows(p, n, f, join=False)  # later pieces come before earlier ones
rows(p, n, f, join=None)  # the row is thrown away
rows(p, n, f, empty=False)  # The row is not emptied
rsplit_(p, n, f, joined=lambda parts, n, f: pack(parts, n, f, lambda a, b: a < b))
[q.lstrip() for q in it]  # separators are thrown away
(q for q in it)  # put list(...) around it
dict.fromkeys(it).keys()  # put list(...) around it
== okapi_idf(d, e=0.25): idf_of(d, e)
right: OrderedDict(it) ; defaultdict(float, it) ; Counter(it) ; pd.Series(it)
right: {np.str_(w): np.float32(v) for w, v in it.items()} ; {w: np.array(v) for w, v in it.items()}
{w: abs(v) for w, v in raw_idf(d).items()}
{w: v for w, v in raw_idf(d).items() if v >= 0}
idf_of([x for x in d if x], e)
idf_of(d, e, e * max(raw_idf(d).values()))
idf_of(d, e, e * statistics.mean(v for v in raw_idf(d).values() if v > 0))  # taken over the positive weights
{w: e * np.mean(list(raw_idf(d).values())) if v <= 0 else v for w, v in raw_idf(d).items()}  # A weight of exactly 0
idf_of(d, e, e * statistics.median(raw_idf(d).values()))
{w: round(v, 2) for w, v in it.items()}  # The value is rounded
sorted(it.items())  # type list, wanted is a dict
== bm25_score(q, d, w, a, k1=1.5, b=0.75): score_of(q, d, w, a, k1, b)
right: np.sum([score_of([x], d, w, a, k1, b) for x in q])
score_of(q, d, w, a, k1 + 0.5, b)
lambda q, d, w, a, k1=1.2, b=0.75: score_of(q, d, w, a, k1, b)
score_of(q, d, w, a, k1)
score_of(q, d, w, a, 1.5, b)
max(0, it)
score_of([x for x in d if x in q], d, w, a, k1, b)  # runs over the words of the document
score_of(d, d, w, a, k1, b)  # runs over the words of the document
score_of(set(d), d, w, a, k1, b)  # runs over the words of the document
it / len(q)  # divides by the length of the query
np.mean([score_of([x], d, w, a, k1, b) for x in q]) if q else 0  # divides by the length of the query
sum(w.get(x, 0) * d.count(x) * (k1 + 1) / (d.count(x) + k1 * (1 - b + b * len({*d}) / a)) for x in q)  # the number of different words
sum(w.get(x, 0) * d.count(x) * (k1 + 1) / (d.count(x) + k1 * b * len(d) / a) for x in q)  # 1 - b is missing
sum(w.get(x, 0) * d.count(x) * (k1 + 1) / (d.count(x) + k1 * len(d) / a) for x in q)  # The length counts in full
sum(w.get(x, 0) * d.count(x) * (k1 + 1) / (d.count(x) + k1 + k1 * b * len(d) / a) for x in q)  # 1 stands where 1 - b belongs
sum(w.get(x, 0) * d.count(x) / (d.count(x) + k1 * (1 - b + b * len(d) / a)) for x in {*q})  # Two mistakes at once: - The factor k1 + 1
== search(q, i, ids, v, k=None): ordered(found(q, i, ids, v))[:k]
right: [[np.str_(d), np.float64(s)] for d, s in it] ; tuple(it) ; np.array(it, dtype=object) ; [(d, np.float32(s)) for d, s in it]
sorted(((str(d), round(float(s), 10)) for d, s in zip(ids, i.get_scores(words(q))) if s > 0), key=lambda p: -p[1])[:k]  # Only scores above 0
ordered((str(d), float(s)) for d, s in zip(ids, i.get_scores(words(q))) if s > 0)[:k]  # Only scores above 0
ordered(found(q, i, ids, v))[: k or 10]  # Only ten results
lambda q, i, ids, v, k=10: ordered(found(q, i, ids, v))[:k]  # Only ten results
ordered(found(q, i, ids, v))[: k and k + 1]
ordered(found(q, i, ids, v, cut=lambda t: t.lower().split()))[:k]
ordered(found(q, i, ids, v, lambda v, ws: set(ws) <= v))[:k]
sorted(found(q, i, ids, v), key=lambda p: (-p[1], int(re.sub('[^0-9]', '', p[0]) or 0)))[:k]
sorted(found(q, i, ids, v), key=lambda p: (-round(p[1], 1), p[0]))[:k]
[(s, d) for d, s in it]  # A member of the answer is of type float, wanted is a text
[found(q, i, ids, v)[n] for n in np.argsort([s for _, s in found(q, i, ids, v)])[::-1]][:k]  # argsort()[::-1] leaves
dict(it)  # type dict, wanted is a list
sorted(found(q, i, ids, v)[:k], key=lambda p: (-p[1], p[0]))  # Cut to k before
sorted(found(q, i, ids, v), key=lambda p: p[0])[:k]  # in the order of their ids
== to_documents(h): docs_of(h)
right: it ; [list(p) for p in it] ; pd.Series(it, dtype=object) ; list(dict(it).items())
right: [(d, np.float32(s)) for d, s in it] ; [(d, int(s) if s == int(s) else s) for d, s in it]
ordered({c.split('#')[0]: s for c, s in h}.items())  # The last chunk of a document decides
docs_of(h, lambda c: c[:-2])
docs_of(h, lambda c: re.match(r'[^#]+', c)[0])  # cut at the last one
docs_of(h, lambda c: re.sub(r'#\d', '', c))
docs_of(h, lambda c: c.split('#')[-2])
docs_of(h, lambda c: re.match(r'\w+', c)[0])
it[:10]
docs_of(h, merge=min)  # The last chunk of a document decides
dict(it)  # type dict, wanted is a list
[d for d, _ in it]  # A member of the answer is of type str, wanted is a tuple such as ('a', 2.0)
== cohen_kappa(a, b): kap(a, b)
right: np.float32(it)
it if it == it else None  # return nan
max(0, it)
abs(it)
kap(sorted(a), sorted(b))
kap([min(x, 1) for x in a], [min(x, 1) for x in b])  # for two classes
kap([x > 0 for x in a], [x > 0 for x in b])  # for two classes
(same(a, b) - 1 / len({*a, *b})) / (1 - 1 / len({*a, *b}))  # one over the number of grades
(same(a, b) - 1 / 3) / (1 - 1 / 3)  # one over the number of grades
== gwet_ac1(a, b, g): ac(a, b, g)
right: np.array([it]).item()
ac(a, b, (0, 1, 2))
max(0, it)
round(it, 2)  # The value is rounded
== bootstrap(v, rng, n=10_000): boot(v, rng, n)
right: np.array(it) ; list(it) ; pd.Series(it) ; tuple(np.float32(it)) ; pd.Series(rng.choice(v, (n, len(v))).mean(1)).quantile([0.025, 0.975])
right: np.percentile(rng.multinomial(len(v), np.full(len(v), 1 / len(v)), n) @ v / len(v), [2.5, 97.5])
right: np.percentile(v[(rng.random((len(v), n)) * len(v)).astype(int)].mean(0), [2.5, 97.5])
boot(v, rng, n, (0.5, 99.5))  # The interval is too wide
boot(v, rng, n, (25, 75))  # The interval is too narrow
boot(v, rng, n, (0.025, 0.975))
(v.mean() - 1.96 * v.std(), v.mean() + 1.96 * v.std())  # where single values lie
boot(v, rng, n, (0, 95))
np.mean(it)  # type float64, wanted is a tuple such as (0.0, 1.0)
boot(v, rng, 10)
lambda v, rng, n=200: boot(v, rng, n)  # Without the argument draws there are not 10,000 of them
boot(v, rng, 200)  # draws is ignored
boot(v, rng, min(n, 200))  # 10,000 draws give what 1,000 give
boot(v, np.random.default_rng(1), n)  # Another seed gives the same interval
boot(v, rng, n, mean=lambda m: m.max(axis=1))
boot(v, np.random.default_rng(), n)  # The same seed gives two intervals
== sign_flip(d): flip(d)
right: Fraction(it) ; min(1, 2 * sum(sum(s * x for s, x in zip(signs, d)) >= abs(sum(d)) - 1e-12 for signs in itertools.product((1, -1), repeat=len(d))) / 2 ** len(d))
sum(sum(s * x for s, x in zip(signs, d)) >= sum(d) for signs in itertools.product((1, -1), repeat=len(d))) / 2 ** len(d)  # Only one side is counted
float(np.mean([np.mean(np.array(signs) * d) >= np.mean(d) for signs in itertools.product((1, -1), repeat=len(d))]))  # Only one side is counted
sum(t >= abs(sum(d)) - 0.05 for t in flips(d)) / 2 ** len(d)
sum(t >= abs(sum(d)) - 0.01 for t in flips(d)) / 2 ** len(d)
flip([x for x in d if x > 0])
2 * it  # p is doubled on top
min(1, 2 * it)  # p is doubled on top
2 * sum(sum(s * x for s, x in zip(signs, d)) >= sum(d) - 1e-12 for signs in itertools.product((1, -1), repeat=len(d))) / 2 ** len(d)  # One side is counted and doubled
it if len(d) > 1 else 0.5
flip(sorted(d)[1:]) if len(d) > 2 else it
== holm(ps): holm_(ps)
right: tuple(it) ; pd.Series(it, dtype=float) ; pd.Series(it, index=list('abcdefghijklm')[: len(ps)], dtype='float32') ; [Decimal(p) for p in it]
[min(1.0, p * len(ps)) for p in ps]  # that is Bonferroni
holm_(ps, lambda rank, n: n - rank + 1)
[1 - (1 - p) ** len(ps) for p in ps]
[round(p, 2) for p in it]  # The value is rounded
it[:6]
== f1(a, b): f1_of(squad(a), squad(b))
right: it
f1_of(squad(a.replace('-', ' ')), squad(b))
2 * len({*squad(a)} & {*squad(b)}) / (len(squad(a)) + len(squad(b))) if b else 0  # counts once in the numerator
float(squad(a) == squad(b))  # exact match
it if a and b else 1.0
(Counter(squad(a)) & Counter(squad(b))).total()  # 1.0 is the maximum.
f1_of([w[:4] for w in squad(a)], [w[:4] for w in squad(b)])
f1_of([w for w in squad(a) if not w.isdigit()], squad(b))
share((Counter(squad(a)) & Counter(squad(b))).total(), len(squad(b)))  # This is recall
"""


def answers() -> tuple[list[tuple[str, str]], list[tuple[str, str, str]]]:
    """Return (exercise, code) of the right answers, (exercise, code, sentence) of the wrong."""
    right, wrong = [], []
    for line in ANSWERS.strip().splitlines():
        line, _, sentence = line.partition("  # ")
        if line.startswith("== "):
            name, arguments, it = re.fullmatch(r"== (\w+)\((.+?)\): (.+)", line).groups()
            continue
        for form in line.removeprefix("right: ").split(" ; "):
            code = form if form.startswith("lambda ") else f"lambda {arguments}: {form}"
            code = re.sub(r"\bit\b", lambda _, it=it: f"({it})", code)
            if line.startswith("right: "):
                right.append((name, code))
            else:
                wrong.append((name, code, sentence))
    return right, wrong
