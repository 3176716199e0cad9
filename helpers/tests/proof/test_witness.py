"""Published numbers against the second witness, by name: results.json, README, card, write-up."""

import copy
import html
import math
import re
from collections import Counter, defaultdict
from statistics import median

import numpy as np
import pandas as pd
import pytest
import witness
import witness_evidence
import witness_labels
import witness_sessions
from witness_pages import (
    FOLDER,
    ROOT,
    five,
    html_table,
    markdown_tables,
    notebook_cells,
    page_of,
    read_json,
    same_table,
    says,
    tells,
)


@pytest.fixture(scope="module")
def files():
    return witness.read(FOLDER)


@pytest.fixture(scope="module")
def published():
    return read_json("results.json")


@pytest.fixture(scope="module")
def dev(published):
    return [row for row in published["per_query"] if row["split"] == "dev"]


@pytest.fixture(scope="module")
def base():
    return witness.trec(FOLDER / "runs" / "fixed.trec")


@pytest.fixture(scope="module")
def rankers(files):
    """Return the first ten documents of every pooled ranker."""
    return witness_labels.rankers(files)


@pytest.fixture(scope="module")
def cells():
    return notebook_cells()


# results.json, key by key, and what it is measured on.


def flat(value, name: str = "") -> dict:
    """Return {name/of/parts: value} of everything in nested dictionaries and lists."""
    if isinstance(value, dict):
        parts = value.items()
    elif isinstance(value, list | tuple):
        parts = [("length", len(value)), *enumerate(value)]
    else:
        return {name: value}
    found = {}
    for key, part in parts:
        found |= flat(part, f"{name}/{key}")
    return found


def same(a, b, most: float = 1e-9) -> bool:
    numbers = isinstance(a, int | float) and isinstance(b, int | float)
    return math.isclose(a, b, rel_tol=0, abs_tol=most) if numbers else a == b


FOLLOWS = ("p_holm", "verdict", "alone", "reason")  # from p


def tolerance(name: str, published: dict) -> float:
    """Return how far a value may be from the published one."""
    if name.endswith("/p"):
        around = name.removesuffix("p")
        return drawn_apart(
            published[name], published[around + "wins"] + published[around + "losses"]
        )
    if "told_apart" in name and name.endswith(("low", "high")):
        return 0.05  # the witness has another interval
    if "/bounds/" in name:
        return 0.004  # drawn by both
    drawn, by_iteration = "intervals" in name, "detectable" in name
    return 0.01 if drawn else 1e-6 if by_iteration else 1e-9


def drawn_apart(p: float, unlike: int) -> float:
    """Return how far a p of so many differences may be: four standard errors of two such draws.

    Where all sign patterns fit into ten thousand p is exact. Else SciPy draws so many and doubles
    the smaller side, of which p / 2 of the patterns are, and adds one to it.
    """
    theirs, ours = 10_000, witness.DRAWS
    if 2**unlike <= theirs:
        return 1e-9
    variance = p * (2 - p) / theirs + p * (1 - p) / ours
    return 4 * math.sqrt(variance) + 2 / theirs


def test_results_json_is_what_a_second_witness_finds(files, published):
    own = witness.results(files) | {"evidence": witness_evidence.evidence(files)}
    for card in own["cards"]:
        card["lost"] = own["evidence"]["lost"][card["query_id"]]
    own, theirs = flat(own), flat(published)
    first = {name for name in theirs if not name.endswith(FOLLOWS)}
    assert first ^ own.keys() == set()
    assert not {n: (theirs[n], own[n]) for n in first
                if not same(theirs[n], own[n], tolerance(n, theirs))}  # fmt: skip


def test_verdicts_follow_from_the_published_p(published):
    again = copy.deepcopy(published)
    witness.decided(again)
    own, theirs = flat(again), flat(published)
    assert own.keys() == theirs.keys()
    assert not {n: (v, own[n]) for n, v in theirs.items() if not same(v, own[n])}


def test_reasons_show_the_values_of_their_comparison(published):
    for run in published["compared_dev"]["runs"]:
        (low, high), p = run["bounds"], f"p (Holm) = {run['p_holm']:.4f}"
        if run["verdict"] in ("better", "worse"):
            tells(run["reason"], f"{p}, below 0.05")
        else:
            tells(run["reason"], f"{p}; the worst case, {low:+.3f} to {high:+.3f},", "±0.05")


@pytest.mark.parametrize("chunker", witness.CHUNKERS)
def test_runs_are_the_search_of_another_engine(files, chunker):
    """Ties of documents are pulled apart a little in the file."""
    engine = witness.Okapi(witness.chunk_texts(files, chunker))
    rows = witness.rows(FOLDER / f"runs/{chunker}.jsonl")
    saved = {row["query_id"]: row["results"] for row in rows}
    run = witness.trec(FOLDER / "runs" / f"{chunker}.trec")
    assert saved.keys() == files.asked.keys()
    for query_id, row in files.asked.items():
        hits = engine.search(row["query"])
        documents = witness.to_documents(hits)
        pairs = (saved[query_id], hits[:100], 1e-9), (run.get(query_id, []), documents, 2e-3)
        for found, wanted, far in pairs:
            assert [unit for unit, _ in found] == [unit for unit, _ in wanted], query_id
            scores = [score for _, score in found]
            assert scores == pytest.approx([score for _, score in wanted], abs=far), query_id


@pytest.mark.parametrize("name", witness_evidence.SETS)
def test_chunks_are_cut_as_another_chunker_cuts(files, name):
    """The places of a cut are the same, and what just fits stays whole."""
    wanted = []
    for doc_id, document in files.documents.items():
        spans = witness_sessions.chunks(document["text"], name)
        wanted += [[doc_id, n, *span] for n, span in enumerate(spans)]
    assert [list(c.values()) for c in witness.rows(FOLDER / f"chunks/{name}.jsonl")] == wanted


# README and data card.

BASELINE = ("nDCG@10", "MRR@10", "hit@1", "hit@5", "recall@10", "recall@100")


def test_readme_shows_the_baseline(published):
    page = page_of(ROOT / "README.md")
    page = re.search(r"<!-- generated.*?-->\n(.*?)<!-- end -->", page, re.DOTALL)[1]
    corpus, asked, method = published["corpus"], published["queries"], published["method"]
    wanted = {}
    for split, half in published["summary"].items():
        n, _, these, full = five(published, split)
        wanted[split] = {name: f"{half['measures'][name]:.3f}" for name in BASELINE} | {
            "n": n,
            "median rank of first relevant": f"{half['median_first_rank']:.0f}",
            "full hit@5, of those with a full answer": f"{full / these:.3f} (n = {these})",
            "of all": f"{full / n:.3f}",
        }
    same_table(markdown_tables(page)[0], wanted)
    told = [
        f"Corpus: {corpus['name']}, {corpus['documents']} documents, {corpus['tokens']:,} tokens",
        f"Queries: {asked['n']} and {asked['unanswered']} without an answer",
        f"{asked['judgments']:,} judgments (grades 0, 1, 2)",
        f"{method['engine']} (k1 = {method['k1']}, b = {method['b']})",
        f"{method['chunk_tokens']} tokens with {method['overlap_tokens']} overlap",
    ]
    for split in witness.SPLITS:
        at = published["evidence"][split]
        evidence, document = (at["by_k"][name][4] for name in ("evidence", "document"))
        recall = at["sets"]["fixed"]["means"][witness_evidence.NAMED]
        told += [
            f"Evidence, {split} (n = {at['n']}): the first five chunks hold it for {evidence:.3f} "
            f"of the queries, and the right document for {document:.3f}. "
            f"The evidence recall within 2000 tokens is {recall:.3f}."
        ]
    tells(re.sub(r"(?m)^\|.*", "", page), *told)


COUNTS = "zero one two three four five six seven eight nine ten".split()


def card() -> str:
    """Return the data card, with a zero before each point that has none."""
    return re.sub(r"(?<!\d)\.(?=\d)", "0.", page_of(FOLDER / "README.md"))


def test_data_card_shows_the_facts(files):
    counts, found, by_kind, *_ = markdown_tables(page_of(FOLDER / "README.md"))
    same_table(counts, {name: {"count": row} for name, row in witness.facts(files).items()})
    same_table(found, {name: {"found": row} for name, row in witness.manner(files).items()})
    same_table(by_kind, witness.manner_by_kind(files))


def test_data_card_counts_queries_readings_and_negatives(files):
    foreign = Counter(row["language"] for row in files.asked.values() if "language" in row)
    none = sum("language" in row for q, row in files.asked.items() if q not in files.queries)
    second, split = witness.second_pass(files), 0
    read, last = second.query("round == 7 and first == 0"), second.query("round == 10")
    for _, own in second.query("round < 10").groupby(["query_id", "doc_id"]):
        split += len({own["first"].iloc[0], *own["second"][:2]}) == 3
    zeros, ones, twos = last.query("first == second")["first"].value_counts().sort_index()
    says(
        card(),
        f"holds {len(witness.rows(ROOT / 'helpers/tests/facts.jsonl'))} facts",
        f"of the zeros read again, {sum(read['final'] > 0)} became relevant",
        f"the check: {len(last)} of the final labels, fifty a grade",
        f"the same grade to {zeros} zeros, {ones} ones and {twos} twos",
        f"{COUNTS[split].capitalize()} pairs were split three ways",
        f"Dutch and German (`language`), {COUNTS[foreign['nl']]} each",
        f"For {COUNTS[none]} of them no document has an answer",
    )
    assert foreign["nl"] == foreign["de"]
    for row in witness.rows(FOLDER / "negatives.jsonl"):
        easy, hard = (COUNTS[len({*row[side]})] for side in ("easy", "hard"))
        assert f"{easy} easy (drawn at random" in card() and f"{hard} hard (judged 0" in card()


def test_data_card_tells_how_the_halves_came_out(files):
    group = witness_labels.groups(files)
    split = {query_id: row["split"] for query_id, row in files.asked.items()}
    sizes = Counter(group.values())
    assert len({(number, split[q]) for q, number in group.items()}) == len(sizes)
    traits = witness_labels.traits(files).items()
    halves = {name: witness_labels.shares(values, split) for name, values in traits}
    differ = {name: abs(own["dev"] - own["test"]).sum() / 2 for name, own in halves.items()}
    reached = {half: set() for half in witness.SPLITS}
    for query_id in files.queries:
        reached[split[query_id]].update(witness.answers(files, query_id))
    both, alone = set.intersection(*reached.values()), witness.apart(files)
    says(
        card(),
        f"What came out: {len(sizes)} groups, the largest of {max(sizes.values())} queries",
        f"The halves differ in kind by {differ['kind']:.3f}",
        f"in service by {differ['service']:.3f}",
        f"in head and tail by {differ['head and tail']:.3f}",
        f"in the number of relevant documents by {differ['number']:.3f}",
        f"{len(both)} documents (versions as one) are relevant in both",
        f"{sum(alone)} test queries share no relevant document with dev",
    )
    for service, own in halves["service"].iterrows():
        says(card(), f"{service} {own['dev']:.0%} and {own['test']:.0%}")
    kinds = Counter((row["kind"], row["split"]) for row in files.queries.values())
    for kind in halves["kind"].index.drop("none"):
        says(card(), f"{kind} {kinds[kind, 'dev']} and {kinds[kind, 'test']}")


def test_data_card_tells_how_systems_change_between_the_halves(files, rankers):
    values = {
        name: witness.scored(files, run)["nDCG@10"].to_numpy() for name, run in rankers.items()
    }
    is_dev = np.array([row["split"] == "dev" for row in files.queries.values()])
    base, table = values["fixed"], np.array([*values.values()])
    rng = witness.generator()
    random = [witness_labels.tau(table, rng.permuted(is_dev)) for _ in range(1000)]
    mixed, tau = witness_labels.mix(files, base, is_dev), witness_labels.tau(table, is_dev)
    says(
        card(),
        f"of BM25 is {base[is_dev].mean():.3f} on dev and {base[~is_dev].mean():.3f} on test",
        f"from the mix of kinds alone test would be {-mixed:.3f} lower",
        f"With Kendall's tau {tau:.2f};",
    )
    told = re.search("give (.*?) in the mean [(](.*?) to (.*?) for 95 of 100[)]", card())
    mean, *ends = map(float, told.groups())
    assert mean == pytest.approx(np.mean(random), abs=0.03)  # drawn
    assert ends == pytest.approx(np.quantile(random, [0.025, 0.975]), abs=0.05)
    wanted = {}
    for words, name in SYSTEMS.items():
        dev, test = ((values[name] - base)[half] for half in (is_dev, ~is_dev))
        between, low, high = witness.welch(dev, test)
        wanted[words] = {
            "dev": f"{dev.mean():+.3f}",
            "test": f"{test.mean():+.3f}",
            "test minus dev (95%)": f"{between:+.3f} ({low:+.3f} to {high:+.3f})",
        }
    same_table(markdown_tables(re.sub("(?m)^  ", "", card()))[-1], wanted)


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


# The write-up: tables.

BUDGETS = witness_evidence.BUDGETS


def test_tables_of_the_baseline(cells, files, published):
    asked = pd.DataFrame(files.queries.values())
    queries = pd.crosstab(asked["kind"], asked["split"])
    queries["a dev query"] = asked[asked["split"] == "dev"].groupby("kind")["query"].first()
    same_table(html_table(*cells["r-queries"]), queries.to_dict("index"))
    names = (*BASELINE, "recall@5", "P@10", "MAP")
    baseline, kinds = defaultdict(dict), defaultdict(dict)
    for split, half in published["summary"].items():
        column, full = f"{split} (n = {half['n']})", half["full"]
        for name in names:
            baseline[name][column] = f"{half['measures'][name]:.3f}"
        for name, (low, high) in half["intervals"].items():
            baseline[name][column] += f" ({low:.3f} to {high:.3f})"
        for name, mean in full["measures"].items():
            baseline[name][column] = f"{mean:.3f} (n = {full['n']})"
        baseline["median first rank"][column] = f"{half['median_first_rank']:.0f}"
    for split in witness.SPLITS:
        parts = published["by_kind"][split] | published["by_popularity"][split]
        for kind, part in parts.items():
            in_five = round(part["measures"]["hit@5"] * part["n"])
            kinds[kind][f"{split} nDCG@10"] = f"{part['measures']['nDCG@10']:.3f}"
            kinds[kind][f"{split} in five"] = f"{in_five} of {part['n']}"
    same_table(html_table(*cells["r-baseline"]), baseline)
    same_table(html_table(*cells["r-kinds"]), kinds)


def test_table_of_comparisons(cells, published):
    compared = published["compared_dev"]
    rows = {"baseline": dict.fromkeys(("difference", "95 %, each by itself", "p (Holm)"), "")}
    rows["baseline"] |= {"nDCG@10": f"{compared['base']['means']['nDCG@10']:.3f}"}
    rows["baseline"] |= {"verdict": "the baseline", "on test": ""}
    for row in compared["runs"]:
        at, on_test = row["measures"]["nDCG@10"], ""
        if "halves" in row:
            halves = row["halves"]
            apart = halves["test apart from dev"]
            on_test = f"{halves['test']['difference']:+.3f}, {halves['test minus dev']['verdict']}"
            on_test += f"; apart {apart['difference']:+.3f} (n = {apart['n']})"
        elif row["verdict"] in ("better", "worse"):
            on_test = "not looked at"
        rows[row["name"]] = {
            "nDCG@10": f"{at['run']:.3f}",
            "difference": f"{at['difference']:+.3f}",
            "95 %, each by itself": f"{at['low']:+.3f} to {at['high']:+.3f}",
            "p (Holm)": f"{row['p_holm']:.4f}",
            "verdict": row["verdict"],
            "on test": on_test,
        }
    same_table(html_table(*cells["r-compared"]), rows)


def test_tables_of_failures(cells, files, published):
    evidence, budgets = published["evidence"], {}
    for name, at in evidence["dev"]["sets"].items():
        recall = {b: at["means"][f"evidence recall within {b} tokens"] for b in BUDGETS}
        means = {f"{b:,}": f"{value:.3f}" for b, value in recall.items()}
        budgets[name] = means | {"verdict": at.get("against", {}).get("verdict", "the baseline")}
    same_table(html_table(*cells["r-evidence-budgets"]), budgets)
    causes = {card["query_id"]: card["cause"] for card in published["cards"]}
    same_table(html_table(*cells["r-causes"]), counts_of_kinds(files, causes))
    shown = html_table(*cells["r-evidence-lost"])
    places = {name: {"queries": 0, "by kind": ""} for name in shown}
    same_table(shown, places | counts_of_kinds(files, evidence["lost"]))


def counts_of_kinds(files, names: dict[str, str]) -> dict:
    """Return a table that counts the names of queries, and the kinds of query of each."""
    kinds, table = {}, {}
    for query_id, name in names.items():
        kinds.setdefault(name, Counter())[files.queries[query_id]["kind"]] += 1
    for name, counts in kinds.items():
        most_first = sorted((-n, kind) for kind, n in counts.items())
        by_kind = ", ".join(f"{kind} {-n}" for n, kind in most_first)
        table[name] = {"queries": counts.total(), "by kind": by_kind}
    return table


# The write-up: sentences.


def test_sentences_about_the_set(cells, files, published):
    n, documents = len(files.queries), len(files.documents)
    kinds, services = ({d[f] for d in files.documents.values()} for f in ("kind", "service"))
    sizes = [witness.tokens(document["text"]) for document in files.documents.values()]
    reached, judgments = len(witness.reached(files)), sum(map(len, files.grades.values()))
    relevant = sum(grade > 0 for row in files.grades.values() for grade in row.values())
    tells(
        cells["r-corpus"][0],
        f"{documents} documents of {len(kinds)} kinds about {len(services)} services, "
        f"{sum(sizes):,} tokens",
        f"median document has {median(sizes)} tokens, the longest {max(sizes):,}",
        f"{sum(size > 512 for size in sizes)} are longer than one chunk",
        f"Asked: {n} queries",
        f"{judgments:,} judgments. {relevant:,} of these are relevant, {relevant / n:.1f} for each",
        f"reach {reached} documents ({reached / documents:.0%})",
        f"answers {len(files.asked) - n} queries",
    )
    lead = cells["r-lead"][1].partition("\n\n**Kinds of question.** ")[0]
    n_test = published["summary"]["test"]["n"]
    tells(lead, f"{documents} documents, {n} questions", f"the {n_test} test questions")
    tells(cells["r-limits"][0], f"{documents} documents")
    told = [f"{name}: {text}" for name, text in witness.readings(files).items()]
    tells(cells["r-agreement"][0], *told)


def test_sentences_about_the_baseline(cells, files, published, dev):
    values, test = (published["summary"][split]["measures"] for split in witness.SPLITS)
    said, _, rest = cells["r-baseline-text"][0].partition("Some queries are shown apart")
    said = said.partition("First result relevant")[0]
    first, n = sum(row["first_rank"] == 1 for row in dev), len(dev)
    tells(
        said,
        f"first result is relevant for {first} of {n} queries",
        f"for {sum(not row['measures']['hit@10'] for row in dev)} there's nothing relevant",
        f"among the first hundred, is {values['recall@100']:.3f}",
        f"differ by {abs(values['nDCG@10'] - test['nDCG@10']):.3f} in nDCG@10",
    )
    lines = re.findall(r"^\| (dev|test) \| (.+?) \| (.+) \|$", rest, re.MULTILINE)
    shown = {f"{half}, {name}": of for half, name, of in lines}
    assert shown == told_apart(files, published)
    runs = len(published["compared_dev"]["runs"])
    said = cells["r-compared-text"][0].partition("\n\n- *")[0]  # then systems, in their own words
    tells(said, f"the same {n} dev queries", f"{runs} comparisons")


def told_apart(files, published: dict) -> dict[str, str]:
    """Return n, nDCG@10 and full hit@5 of all: 0 for a query without a full answer."""
    asked, found = files.queries.items(), {}
    parts = {
        "in another language": [q for q, row in asked if "language" in row],
        "of round 4, the newest": [q for q, row in asked if row.get("round") == 4],
        "without round 4": [q for q, row in asked if row.get("round") != 4],
    }
    for half in witness.SPLITS:
        for name, own in parts.items():
            rows = [
                row["measures"] for row in published["per_query"]
                if row["split"] == half and row["query_id"] in own
            ]  # fmt: skip
            ndcg, full = (np.mean([of.get(n, 0) for of in rows]) for n in ("nDCG@10", "full hit@5"))
            found[f"{half}, {name}"] = f"{len(rows)} | {ndcg:.3f} | {full:.3f}"
    return found


BAR = 0.7


def test_the_verdict_is_that_of_the_intervals(cells, published):
    said = html.unescape(cells["r-lead"][0]).replace("*", "")
    test = pd.DataFrame(row for row in published["per_query"] if row["split"] == "test")
    names = {"a useful document": "hit@5", "a full answer": "full hit@5"}
    for (what, name), sentence in zip(names.items(), said.split(". "), strict=False):
        assert f"put {what} among the first five" in sentence
        decided, _, rest = sentence.partition(";")
        good, _, poor = decided.partition(", but not")
        for kind, rows in test.groupby("kind"):
            found = sum(row.get(name, 0) for row in rows["measures"])
            low, high = witness.wilson(found, len(rows))
            side = good if low > BAR else poor if high < BAR else rest
            named = [part for part in (good, poor, rest) if re.search(rf"\b{kind}\b", part)]
            assert named == [side], (what, kind)
    verdicts = {row["name"]: row["verdict"] for row in published["compared_dev"]["runs"]}
    said, counts = said.split(". ", 2)[2], Counter(verdicts.values())
    for side in ("better", "worse"):
        names = [name for name in verdicts if verdicts[name] == side]
        told = re.search(rf"{len(names)} ranks? {side} \((.*?)\)", said)
        assert all(name.removeprefix("baseline + ") in told[1] for name in names)
        said = said.replace(told[0], "")
    tells(
        said,
        f"Of {len(verdicts)} other runs",
        f"{counts['no difference shown']} makes no difference",
        f"for {counts['too few queries to tell']} there are too few questions",
    )


def test_three_numbers_count_questions(cells, published):
    test = [row for row in published["per_query"] if row["split"] == "test"]
    half, quoted = published["summary"]["test"], published["evidence"]["test"]
    at, ends = half["measures"], half["intervals"]
    n, in_five, these, full = five(published, "test")
    low, high = witness.wilson(in_five, n)
    full_low, full_high = witness.wilson(full, n)
    ndcg, mrr = (f"{ends[m][0]:.3f} to {ends[m][1]:.3f}" for m in ("nDCG@10", "MRR@10"))
    proven = round(quoted["by_k"]["evidence"][4] * quoted["n"])
    tells(
        cells["r-numbers"][0],
        f"{in_five:.0f} of {n} test questions",
        f"might have been {low:.0%} to {high:.0%} of them",
        f"{sum(row['first_rank'] == 1 for row in test)} of {n} had one in first place",
        f"{full:.0f} of the {these} that have a full answer",
        f"For {n - these} no document answers in full",
        f"Of all {n} that's {full / n:.0%} ({full_low:.0%} to {full_high:.0%})",
        f"{proven} of {quoted['n']} had the proof",
        f"from 0 to 1) is {at['nDCG@10']:.3f}, 95 % interval {ndcg}",
        "1 for a useful document in first place, 1/2 in second, 1/3 in third",
        f"is {at['MRR@10']:.3f}, interval {mrr}",
    )


def test_what_to_do_next_follows_from_the_comparison(cells, files, published):
    runs = sorted(
        published["compared_dev"]["runs"], key=lambda row: -row["measures"]["nDCG@10"]["difference"]
    )
    said = html.unescape(cells["r-next"][0]).replace("**", "")
    said = re.sub(r"The other system is .*? stronger\.", "", said)  # its card's own words
    best = next(row for row in runs if row["verdict"] == "better")
    assert best["halves"]["test minus dev"]["verdict"] == "confirmed"
    assert f"Try BM25 merged with *{best['name'].removeprefix('baseline + ')}*." in said
    for row in runs:
        if row["verdict"] == "worse":
            assert re.search(rf"Don't switch to .*\*{row['name']}\*", said)
    causes = Counter(card["cause"] for card in published["cards"])
    apart = causes["no shared word"] + causes["missing word"]
    waiting = [row for row in runs if row["verdict"] == "too few queries to tell"]
    tells(
        said,
        *advised(best, len(runs)),
        f"In {apart} of {len(published['cards'])} dev questions",
        *cost_of_knowing(files, waiting),
    )


def cost_of_knowing(files, waiting: list[dict]) -> list[str]:
    """Return the sentences about how many more labels would decide what is undecided."""
    of = {row["name"]: row["measures"]["nDCG@10"] for row in waiting}
    assert max(at["difference"] for at in of.values()) < witness.MATTERS
    widest = max(of, key=lambda name: of[name]["detectable"])
    n, needed = of[widest]["n"], witness.enough(witness.MATTERS, of[widest])
    more = round(needed - n, -1)
    pairs = round(sum(map(len, files.grades.values())) / len(files.asked))
    return [
        f"Nothing undecided gains more than {witness.MATTERS}",
        f"as with *{widest}*, it takes {needed} questions",
        f"Dev has {n}, so label about {more} more",
        f"At {pairs} judged pairs a question that's {pairs * more:,} pairs",
    ]


def advised(row: dict, runs: int) -> list[str]:
    """Return the sentences about a system to switch to: on dev, on test, and apart from dev."""
    halves, at = row["halves"], row["measures"]["nDCG@10"]
    apart, test, between = (
        halves[name] for name in ("test apart from dev", "test", "test minus dev")
    )
    return [
        f"On {at['n']} dev questions it gains {at['difference']:+.3f} in nDCG@10 (95 % interval, "
        f"by itself, {at['low']:+.3f} to {at['high']:+.3f}; "
        f"p = {row['p_holm']:.4f}, adjusted for {runs} comparisons)",
        f"On test it's {test['difference']:+.3f} (95 %, by itself: "
        f"{test['low']:+.3f} to {test['high']:+.3f})",
        f"(Test minus dev: {between['difference']:+.3f}, "
        f"{between['low']:+.3f} to {between['high']:+.3f}.)",
        f"On the {apart['n']} test questions that share no relevant document with dev it's "
        f"{apart['difference']:+.3f} (95 %, by itself: {apart['low']:+.3f} to {apart['high']:+.3f})"
        f", {apart['verdict']} (p = {apart['p']:.4f})",
    ]


MOST = 20  # queries named in a sentence


def test_write_up_names_the_queries_that_could_be_repaired(cells, files, base, dev):
    depth = len(files.documents) // 20
    below = {row["query_id"]: row for row in dev if row["measures"]["nDCG@10"] < 1}
    order, fetch = [], []
    for query_id, row in below.items():
        near_the_top = {*witness.order(base, query_id)[:depth]}
        (order if row["relevant"].keys() <= near_the_top else fetch).append(query_id)
    said = cells["r-repairs"][0]
    listed = [re.findall(r"q\d+", line) for line in re.findall(r"\((q[^)]*)", said)]
    assert listed == [order[:MOST], fetch[:MOST]]
    rest = [f"{len(names) - MOST}" for names in (order, fetch) if len(names) > MOST]
    assert re.findall(r"and (\d+) more", said) == rest
    tells(
        re.sub(r" and \d+ more", "", said),
        f"{len(below)} of {len(dev)} dev queries score below 1 in nDCG@10",
        f"among the first {depth}, {depth / len(files.documents):.0%} of the corpus",
        f"wrong: {len(order)} queries",
        f"among them: {len(fetch)} queries",
    )


def test_write_up_shows_the_method(cells, published):
    at, told = published["method"], {}
    for row, text in html_table(*cells["r-method"]).items():
        told[row] = text["choice"]
    tells(
        "; ".join(told[row] for row in ("engine", "documents", "chunks", "order")),
        f"k1 = {at['k1']}, b = {at['b']}",
        f"depth {at['depth']}",
        "to 10 decimals",
        f"fixed: {at['chunk_tokens']} cl100k_base tokens, {at['overlap_tokens']} overlap",
        f"{len(witness.rows(FOLDER / 'chunks' / 'fixed.jsonl'))} chunks",
    )
    assert at["engine"] in told["engine"] and at["words"] in told["words"]
    assert told["IDF"] == f"{at['idf']}, epsilon = {at['epsilon']}"


def test_the_five_lowest_cards_of_the_write_up(cells, files, published):
    rows = {row["query_id"]: row for row in published["per_query"]}
    for text, card in zip(cells["r-cards"][:5], published["cards"][:5], strict=True):
        row, said = rows[card["query_id"]], html.unescape(text)
        order = [doc_id for doc_id, _ in row["retrieved"]]
        assert said.startswith(f"#### {card['query_id']}: {row['query']}\n")
        assert f"Words it lacks: {', '.join(card['lacks']) or 'none'}." in said
        ndcg = row["measures"]["nDCG@10"]
        head = f"**{card['cause'].capitalize()}** ({row['kind']}, nDCG@10 {ndcg:.3f})"
        says(said, head)
        for who in ("wanted", "rival"):
            rank = f"rank {order.index(card[who]) + 1}" if card[who] in order else "after rank 10"
            title = re.escape(files.documents[card[who]]["title"])
            place = f"{who.capitalize()}: “{title}” .<code>{card[who]}</code>., "
            assert re.search(place + rank, said)
