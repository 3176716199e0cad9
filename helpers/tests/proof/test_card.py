"""What the data card says in its prose and in the tables that were written by hand.

Scores and shares are recomputed by the second witness; groups and rankers are the product's, which
hold their own tests. The table that `make refresh` writes is compared by `make check`.
"""

import re
from collections import Counter

import numpy as np
import pandas as pd
import pytest
import witness
from scipy import stats
from witness_pages import FOLDER, ROOT, markdown_tables, page_of, same_table, says

from helpers.label import pooling
from helpers.measure import evalset, links

COUNTS = "zero one two three four five six seven eight nine ten".split()


@pytest.fixture(scope="module")
def files():
    return witness.read(FOLDER)


@pytest.fixture(scope="module")
def card():
    """Return the data card, with a zero before each point that has none."""
    return re.sub(r"(?<!\d)\.(?=\d)", "0.", page_of(FOLDER / "README.md"))


@pytest.fixture(scope="module")
def evals():
    return evalset.load(evalset.DEFAULT)


@pytest.fixture(scope="module")
def ndcg(files, evals):
    """Return nDCG@10 of each query (row) with each pooled ranker (column)."""
    pooled = pooling.by_ranker(evals)
    return pd.DataFrame({n: witness.scored(files, run)["nDCG@10"] for n, run in pooled.items()})


@pytest.fixture(scope="module")
def dev(files):
    """Return which queries with an answer are of the dev half."""
    return pd.Series({q: row["split"] == "dev" for q, row in files.queries.items()})


def test_queries_readings_and_negatives_are_counted(card, files):
    second = witness.second_pass(files)
    read = second.query("round == 7 and first == 0")
    new, check = second.query("round == 11"), second.query("round == 13")
    (sides,) = {
        (len({*row["easy"]}), len({*row["hard"]}))
        for row in witness.rows(FOLDER / "negatives.jsonl")
    }
    says(
        card,
        f"holds {len(witness.rows(ROOT / 'helpers/tests/facts.jsonl'))} facts",
        f"of the zeros read again, {sum(read['final'] > 0)} became relevant",
        f"(round 11: {len(new):,} pairs, {sum(new['first'] == new['second']):,} with the same",
        f"is the check: {len(check)} of the final labels, fifty a grade, "
        f"{sum(check['first'] == check['second'])} with the same grade",
        f"{COUNTS[sides[0]]} easy (drawn at random",
        f"{COUNTS[sides[1]]} hard (judged 0",
    )


def test_queries_of_version_4_are_counted(card, files):
    """Count by language, round, full answer and need, and what follows another query."""
    asked, answered = files.asked, files.queries
    foreign = [row["language"] for row in asked.values() if "language" in row]
    round_5 = [q for q, row in asked.items() if row.get("round") == 5]
    without = [q for q in round_5 if q not in answered]
    full = {q for q, row in files.grades.items() if max(row.values()) == 2}
    needs = {q: row["needs"] for q, row in asked.items() if "needs" in row}
    proved = set()
    for row in witness.rows(FOLDER / "judgments.jsonl"):
        for alternative in row.get("evidence", []):
            if isinstance(alternative, dict):
                proved |= {(row["query_id"], need) for need in alternative["needs"]}
    follow = witness.rows(FOLDER / "followups.jsonl")
    older = [witness.rows(FOLDER / f"version{n}.jsonl") for n in (2, 3)]
    seen = {row["query_id"] for rows in older for row in rows if row.get("split") == "dev"}
    known = {row["query_id"] for row in older[1] if "split" in row}
    test = {q for q, row in answered.items() if row["split"] == "test"}
    says(
        card,
        f"Of the {len(round_5)} queries {len(without)} have no answer",
        f"**{len(foreign)} queries** are Dutch ({foreign.count('nl')}) or "
        f"German ({foreign.count('de')}; `language`)",
        f"For {sum('language' in asked[q] for q in asked.keys() - answered.keys())} of them no",
        f"Of the queries with an answer, {len(answered.keys() - full)} have no full one",
        f"{len(needs)} hold several needs ({sum(map(len, needs.values()))} in all)",
        f"{len(proved)} needs are proved",
        f"in no mean): {len(follow)} queries",
        f"{sum(any(row['grades'].values()) for row in follow)} have an answer",
        f"{len(test & seen)} of today's test queries were dev queries in version 2 or 3",
        f"{len(test - known)} are new",
    )


def test_halves_came_out_as_told(card, files, evals):
    rows = []
    for q, row in files.asked.items():
        relevant = [d for d, grade in files.grades[q].items() if grade]
        traits = {
            "kind": [row["kind"]],
            "language": [row.get("language", "")],
            "head and tail": [row["popularity"]],
            "service": [files.documents[d]["service"] for d in relevant],
        }
        if relevant:
            traits["the number of relevant documents"] = [np.digitize(len(relevant), (2, 3, 5))]
            traits["full answers"] = [max(files.grades[q].values()) == 2]
        for name, values in traits.items():
            rows += [(name, value, row["split"], 1 / len(values)) for value in values]
    table = pd.DataFrame(rows, columns=["trait", "value", "half", "weight"])
    told = []
    for name, own in table.groupby("trait"):
        sums = own.pivot_table("weight", "value", "half", aggfunc="sum", fill_value=0)
        shares = sums / sums.sum()
        told.append(f"in {name} by {abs(shares['dev'] - shares['test']).sum() / 2:.3f}")
        if name == "service":
            told += [f"{of} {at['dev']:.0%} and {at['test']:.0%}" for of, at in shares.iterrows()]
        if name == "kind":
            sums = sums.drop("none")
            told += [f"{of} {at['dev']:.0f} and {at['test']:.0f}" for of, at in sums.iterrows()]
    sizes = [len(group) for group in links.components(evals)]
    says(card, f"came out: {len(sizes)} groups, the largest of {max(sizes)} queries", *told)


def test_halves_share_partial_answers_as_told(card, files, dev):
    of_dev = set().union(*(witness.answers(files, q) for q in dev.index[dev]))
    of_test = [witness.answers(files, q) for q in dev.index[~dev]]
    both, alone = of_dev & set().union(*of_test), [row.isdisjoint(of_dev) for row in of_test]
    says(
        card,
        f"{len(both)} documents (versions as one) are relevant in both",
        f"{sum(alone)} test queries share no relevant document with dev",
    )


SYSTEMS = {  # as the card calls them
    "stemmed BM25": "lucene-stemmed",
    "character n-grams": "character-ngrams",
    "latent semantic analysis": "latent-semantics",
    "RM3": "relevance-model",
    "paragraph chunks": "paragraph",
    "recursive chunks": "recursive",
    "dense, titled": "dense-minilm-titled",
    "dense": "dense-minilm",
    "SPLADE": "splade-tiny",
}


def test_systems_change_between_the_halves_as_told(card, files, ndcg, dev):
    kinds = pd.Series({q: row["kind"] for q, row in files.queries.items()})
    base, shares = ndcg["fixed"], pd.crosstab(kinds, dev, normalize="columns")
    lower = base.groupby(kinds).mean() @ (shares[True] - shares[False])

    def tau(half: pd.Series) -> float:
        return stats.kendalltau(ndcg[half].mean(), ndcg[~half].mean()).statistic

    assert abs(lower) < 0.001  # "the mix of kinds explains nothing"
    says(
        card,
        f"of BM25 is {base[dev].mean():.3f} on dev and {base[~dev].mean():.3f} on test",
        f"With Kendall's tau {tau(dev):.2f};",
    )
    rng = witness.generator()
    drawn = [tau(pd.Series(rng.permuted(dev), dev.index)) for _ in range(1000)]
    told = re.search("give (.*?) in the mean [(](.*?) to (.*?) for 95 of 100[)]", card)
    wanted = [np.mean(drawn), *np.quantile(drawn, [0.025, 0.975])]
    assert [*map(float, told.groups())] == pytest.approx(wanted, abs=0.05)
    rows = {}
    for words, name in SYSTEMS.items():
        change = ndcg[name] - base
        of_dev, of_test = change[dev], change[~dev]
        between = witness.welch(of_dev, of_test)
        rows[words] = {
            "dev": f"{of_dev.mean():+.3f}",
            "test": f"{of_test.mean():+.3f}",
            "test minus dev (95%)": "{difference:+.3f} ({low:+.3f} to {high:+.3f})".format(
                **between
            ),
        }
    same_table(markdown_tables(re.sub("(?m)^  ", "", card))[-1], rows)


# How the texts are written.

BARE = r"(?<!]\()https?://"  # an address that is no target of a link
SHORT_FORM = re.compile(r".*(n't|'(re|ll|ve|d|m))|(it|that|there|what|here|who|let)'s")


def without_code(body: str) -> str:
    """Return the lines outside of fences, without addresses and what stands between backticks."""
    body = re.sub(r"^(```|~~~).*\n(.*\n)*?\1.*$", "", body, flags=re.MULTILINE)
    lines = []
    for line in body.split("\n"):
        lines.append(re.sub("`.*?`", " ", line) if line.count("`") % 2 == 0 else line)
    return re.sub(r"https?://\S+", " ", "\n".join(lines))


def test_texts_are_written_as_told(card, files):
    rows, fours, headings, tones = [], Counter(), Counter(), Counter()
    for document in files.documents.values():
        body = document["text"].partition("\n\n")[2]
        plain = without_code(body.replace("\u2019", "'")).lower()
        words = witness.words(plain)
        fours.update({*zip(*(words[n:] for n in range(4)), strict=False)})
        own = re.findall(r"^##+ *(.*?) *$", plain, re.MULTILINE)
        headings.update([" / ".join(own)] if len(own) > 1 else [])
        tones.update(tone for tone in ("nobody", "never", "at once") if tone in plain)
        rows.append({
            "kind": document["kind"],
            "words": len(words),
            "short": sum(bool(SHORT_FORM.fullmatch(w)) for w in re.findall(r"[\w']+", plain)),
            "links": len(re.findall(r"]\(", body)) + len(re.findall(BARE, body)),
            "marks": len(re.findall(r"\b(?:TODO|TBD|FIXME)\b", body)),
        })  # fmt: skip
    four, heads = (min(of, key=lambda key: (-of[key], key)) for of in (fours, headings))
    _, found, by_kind, *_ = markdown_tables(card)
    in_tone = [f"{tone} in {tones[tone]}" for tone in ("nobody", "never", "at once")]
    wanted = {
        "most frequent run of four words": f"{' '.join(four)}, in {fours[four]} documents",
        "most frequent list of headings": f"{heads}, in {headings[heads]} documents",
        "documents with a word of tone": ", ".join(in_tone),
    }
    same_table(found, {name: {"found": text} for name, text in wanted.items()})
    table, wanted = pd.DataFrame(rows), {}
    for kind, of in [("all", table), *table.groupby("kind")]:
        wanted[kind] = {
            "documents": len(of),
            "median words": f"{of['words'].median():,.0f}",
            "contractions per 1,000 words": f"{1000 * of['short'].sum() / of['words'].sum():.2f}",
            "links a document": f"{of['links'].mean():.2f}",
            "TODO, TBD or FIXME": of["marks"].sum(),
        }
    same_table(by_kind, wanted)
