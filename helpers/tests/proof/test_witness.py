"""Published numbers against the second witness, by name: results.json, README, card, write-up."""

import copy
import html
import math
import re
from collections import Counter, defaultdict

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
    pattern,
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
        bounds = {"worst case, {} to {}": run["bounds"]} if "worst" in run["reason"] else {}
        said = re.sub("(below |±)0.05", "", run["reason"])
        tells(said, bounds | {"p (Holm) = {}": run["p_holm"]})


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
        wanted[split] = {name: half["measures"][name] for name in BASELINE} | {
            "n": n,
            "median rank of first relevant": half["median_first_rank"],
            "full hit@5, of those with a full answer": [full / these, these],
            "of all": full / n,
        }
    same_table(markdown_tables(page)[0], wanted)
    named = {
        f"Corpus: {corpus['name']}, {{}} documents, {{}} tokens": [
            corpus["documents"], corpus["tokens"]
        ],
        "Queries: {} and {} without an answer": [asked["n"], asked["unanswered"]],
        "{} judgments (grades {}, {}, {})": [asked["judgments"], *asked["grades"]],
        f"{method['engine']} (k1 = {{}}, b = {{}})": [method["k1"], method["b"]],
        "{} tokens with {} overlap": [method["chunk_tokens"], method["overlap_tokens"]],
    }  # fmt: skip
    for split in witness.SPLITS:
        at = published["evidence"][split]
        in_five = [at["by_k"][name][4] for name in ("evidence", "document")]
        recall = at["sets"]["fixed"]["means"][witness_evidence.NAMED]
        phrase = f"Evidence, {split} (n = {{}}): the first five chunks hold it for {{}} of the "
        phrase += "queries, and the right document for {}. The evidence recall within 2000 tokens"
        named[phrase + " is {}"] = [at["n"], *in_five, recall]
    tells(re.sub(r"(?m)^\|.*", "", page), named)


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
    zeros, last = second.query("round == 7 and first == 0"), second.query("round == 10")
    for _, own in second.query("round < 10").groupby(["query_id", "doc_id"]):
        split += len({own["first"].iloc[0], *own["second"][:2]}) == 3
    equal = last.query("first == second")["first"].value_counts().sort_index()
    says(card(), {
        "holds {} facts": len(witness.rows(ROOT / "helpers/tests/facts.jsonl")),
        "of the zeros read again, {} became relevant": sum(zeros["final"] > 0),
        "the check: {} of the final labels, fifty a grade": len(last),
        "the same grade to {} zeros, {} ones and {} twos": equal.tolist(),
        f"{COUNTS[split].capitalize()} pairs were split three ways": [],
        f"Dutch and German (`language`), {COUNTS[foreign['nl']]} each": [],
        f"For {COUNTS[none]} of them no document has an answer": [],
    })  # fmt: skip
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
    differ = {name: witness_labels.variation(values, split) for name, values in traits}
    reached = {half: set() for half in witness.SPLITS}
    shares = defaultdict(lambda: dict.fromkeys(witness.SPLITS, 0))  # of kinds and services
    halves = Counter(row["split"] for row in files.queries.values())
    for query_id, row in files.queries.items():
        half, relevant = row["split"], row["relevant_doc_ids"]
        reached[half].update(witness.answers(files, query_id))
        shares[row["kind"]][half] += 1
        for doc_id in relevant:
            share = 1 / len(relevant) / halves[half]
            shares[files.documents[doc_id]["service"]][half] += share
    says(card(), {
        "What came out: {} groups, the largest of {} queries": [len(sizes), max(sizes.values())],
        "kind by {} (": differ["kind"],
        "in service by {},": differ["service"],
        "in head and tail by {},": differ["head and tail"],
        "in the number of relevant documents by {};": differ["number"],
        "{} documents (versions as one) are relevant in both": len(set.intersection(
            *reached.values())),
        "{} test queries share no relevant document with dev": int(witness.apart(files).sum()),
    })  # fmt: skip
    says(card(), {f"{name} {{}} and {{}}": [*of.values()] for name, of in shares.items()})


def test_data_card_tells_how_systems_change_between_the_halves(files, rankers):
    values = {
        name: witness.scored(files, run)["nDCG@10"].to_numpy() for name, run in rankers.items()
    }
    is_dev = np.array([row["split"] == "dev" for row in files.queries.values()])
    base, table = values["fixed"], np.array([*values.values()])
    rng = witness.generator()
    random = [witness_labels.tau(table, rng.permuted(is_dev)) for _ in range(1000)]
    says(card(), {
        "nDCG@10 of BM25 is {} on dev and {} on test": [base[is_dev].mean(), base[~is_dev].mean()],
        "alone test would be {} lower": -witness_labels.mix(files, base, is_dev),
        "Kendall's tau {};": witness_labels.tau(table, is_dev),
    })  # fmt: skip
    told = re.search(pattern("give {} in the mean ({} to {} for 95 of 100)"), card())
    mean, *ends = map(float, told.groups())
    assert mean == pytest.approx(np.mean(random), abs=0.03)  # drawn
    assert ends == pytest.approx(np.quantile(random, [0.025, 0.975]), abs=0.05)
    wanted = {}
    for words, name in SYSTEMS.items():
        dev, test = ((values[name] - base)[half] for half in (is_dev, ~is_dev))
        between = witness.welch(dev, test)
        wanted[words] = {"dev": dev.mean(), "test": test.mean(), "test minus dev (95%)": between}
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
            baseline[name][column] = [half["measures"][name], *half["intervals"].get(name, [])]
        for name, mean in full["measures"].items():
            baseline[name][column] = [mean, full["n"]]
        baseline["median first rank"][column] = half["median_first_rank"]
    for split in witness.SPLITS:
        parts = published["by_kind"][split] | published["by_popularity"][split]
        for kind, part in parts.items():
            in_five = round(part["measures"]["hit@5"] * part["n"])
            kinds[kind][f"{split} nDCG@10"] = part["measures"]["nDCG@10"]
            kinds[kind][f"{split} in five"] = f"{in_five} of {part['n']}"
    same_table(html_table(*cells["r-baseline"]), baseline)
    same_table(html_table(*cells["r-kinds"]), kinds)


def test_table_of_comparisons(cells, published):
    compared = published["compared_dev"]
    rows = {"baseline": dict.fromkeys(("difference", "95 %, each by itself", "p (Holm)"), "")}
    rows["baseline"] |= {"nDCG@10": compared["base"]["means"]["nDCG@10"]}
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
            "nDCG@10": at["run"],
            "difference": at["difference"],
            "95 %, each by itself": [at["low"], at["high"]],
            "p (Holm)": row["p_holm"],
            "verdict": row["verdict"],
            "on test": on_test,
        }
    same_table(html_table(*cells["r-compared"]), rows)


def test_tables_of_failures(cells, files, published):
    evidence, budgets = published["evidence"], {}
    for name, at in evidence["dev"]["sets"].items():
        means = {f"{b:,}": at["means"][f"evidence recall within {b} tokens"] for b in BUDGETS}
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
    facts, n = witness.facts(files), len(files.queries)
    sizes = facts["tokens (cl100k_base)"]
    relevant = sum(grade > 0 for row in files.grades.values() for grade in row.values())
    documents = {"{} documents": len(files.documents)}
    long = sum(witness.tokens(document["text"]) > 512 for document in files.documents.values())
    tells(cells["r-corpus"][0], documents | {
        "of {} kinds about {} services": facts["documents"][1:],
        "{} tokens": sizes[0],
        "median document has {} tokens, the longest {}": sizes[2:],
        "{} are longer than one chunk": long,
        "Asked: {} queries": n,
        "{} judgments. {} of these are relevant, {} for each query": [
            facts["judgments"][0], relevant, round(relevant / n, 1),
        ],
        "reach {} documents ({})": facts["documents reached by a query"],
        "answers {} queries": len(files.asked) - n,
    })  # fmt: skip
    lead = {"{} questions": n, "the {} test questions": published["summary"]["test"]["n"]}
    tells(cells["r-lead"][1].partition("\n\n**Kinds of question.** ")[0], documents | lead)
    tells(cells["r-limits"][0], documents)
    readings = {}
    for name, row in witness.readings(files).items():
        grades = ", ".join("{}: {}" for _ in row[5::2])
        phrase = f"{name}: {{}} pairs, {{}} equal, Cohen's kappa {{}} ({{}} to {{}}); "
        readings[f"{phrase}equal by first grade {grades}"] = row
    tells(cells["r-agreement"][0], readings)


def test_sentences_about_the_baseline(cells, files, published, dev):
    values, test = (published["summary"][split]["measures"] for split in witness.SPLITS)
    said, _, rest = cells["r-baseline-text"][0].partition("Some queries are shown apart")
    tells(said, {
        "first result is relevant for {} of {} queries": [
            sum(row["first_rank"] == 1 for row in dev), len(dev),
        ],
        "for {} there's nothing relevant": sum(not row["measures"]["hit@10"] for row in dev),
        "among the first hundred, is {}": values["recall@100"],
        "differ by {} in nDCG@10": abs(values["nDCG@10"] - test["nDCG@10"]),
    })  # fmt: skip
    lines = re.findall(r"^\| (dev|test) \| (.+?) \| (.+) \|$", rest, re.MULTILINE)
    shown = {f"{half}, {name}": dict(enumerate(of.split(" | "))) for half, name, of in lines}
    same_table(shown, told_apart(files, published))
    runs = len(published["compared_dev"]["runs"])
    said = cells["r-compared-text"][0].partition("\n\n- *")[0]  # then systems, in their own words
    tells(said, {"the same {} dev queries": len(dev), "{} comparisons": runs})


def told_apart(files, published: dict) -> dict[str, dict]:
    """Return n, nDCG@10 and full hit@5 of all: 0 for a query without a full answer."""
    parts, found = {"in another language": [], "of round 4, the newest": []}, {}
    parts["without round 4"] = []
    for q, row in files.queries.items():
        name = "of round 4, the newest" if row.get("round") == 4 else "without round 4"
        parts[name].append(q)
        if "language" in row:
            parts["in another language"].append(q)
    for half in witness.SPLITS:
        for name, own in parts.items():
            rows = [
                row["measures"] for row in published["per_query"]
                if row["split"] == half and row["query_id"] in own
            ]  # fmt: skip
            means = [np.mean([of.get(n, 0) for of in rows]) for n in ("nDCG@10", "full hit@5")]
            found[f"{half}, {name}"] = dict(enumerate([len(rows), *means]))
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
    wanted = {"Of {} other runs": len(verdicts)}
    for side in ("better", "worse"):
        names = [name for name in verdicts if verdicts[name] == side]
        rank = "ranks" if len(names) == 1 else "rank"
        told = re.search(rf"{rank} {side} \((.*?)\)", said)[1]
        assert all(name.removeprefix("baseline + ") in told for name in names)
        wanted[f"{{}} {rank} {side}"] = len(names)
    counts = Counter(verdicts.values())
    wanted["{} makes no difference"] = counts["no difference shown"]
    wanted["for {} there are too few questions"] = counts["too few queries to tell"]
    tells(said.split(". ", 2)[2], wanted)


def test_three_numbers_count_questions(cells, published):
    test = [row for row in published["per_query"] if row["split"] == "test"]
    half, quoted = published["summary"]["test"], published["evidence"]["test"]
    at, ends = half["measures"], half["intervals"]
    n, in_five, these, full = five(published, "test")
    wanted = {
        "{} of {} test questions": [in_five, n],
        "might have been {} to {} of them": list(witness.wilson(in_five, n)),
        "{} of {} had one in first place": [sum(row["first_rank"] == 1 for row in test), n],
        "{} of the {} that have a full answer": [full, these],
        "For {} no document answers in full": n - these,
        "Of all {} that's {} ({} to {})": [n, full / n, *witness.wilson(full, n)],
        "{} of {} had the proof": [round(quoted["by_k"]["evidence"][4] * quoted["n"]), quoted["n"]],
        "from 0 to 1) is {},  interval {} to {}": [at["nDCG@10"], *ends["nDCG@10"]],
        "is {}, interval {} to {}": [at["MRR@10"], *ends["MRR@10"]],
    }
    text = cells["r-numbers"][0].replace("1 for a useful", "for a useful")
    tells(text.replace("1/2 in second, 1/3 in third", ""), wanted)


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
    wanted = {"{} comparisons": len(runs)}
    wanted["In {} of {} dev questions"] = [apart, len(published["cards"])]
    waiting = [row for row in runs if row["verdict"] == "too few queries to tell"]
    tells(said, wanted | cost_of_knowing(files, waiting) | advised(best))


def cost_of_knowing(files, waiting: list[dict]) -> dict[str, list[float]]:
    """Return the phrases about how many more labels would decide what is undecided."""
    of = {row["name"]: row["measures"]["nDCG@10"] for row in waiting}
    assert max(at["difference"] for at in of.values()) < witness.MATTERS
    widest = max(of, key=lambda name: of[name]["detectable"])
    n, needed = of[widest]["n"], witness.enough(witness.MATTERS, of[widest])
    pairs = round(sum(map(len, files.grades.values())) / len(files.asked))
    return {
        "Nothing undecided gains more than {}": [witness.MATTERS],
        f"as with *{widest}*, it takes {{}} questions": [needed],
        "Dev has {}, so label about {} more": [n, needed - n],
        "At {} judged pairs a question that's {} pairs": [pairs, pairs * (needed - n)],
    }


def advised(row: dict) -> dict[str, list[float]]:
    """Return the phrases about a system to switch to: on dev, on test, and apart from dev."""
    ends, halves, at = ("difference", "low", "high"), row["halves"], row["measures"]["nDCG@10"]
    apart = halves["test apart from dev"]
    no_shared = "the {} test questions that share no relevant document with dev it's {} "
    no_shared += "(, by itself: {} to {}),"
    return {
        "On {} dev questions it gains {} in nDCG@10 ( interval, by itself, {} to {};": [
            at[part] for part in ("n", *ends)
        ],
        "p = {}, adjusted": [row["p_holm"]],
        "On test it's {} (, by itself: {} to {})": [halves["test"][part] for part in ends],
        "(Test minus dev: {}, {} to {}.)": [halves["test minus dev"][part] for part in ends],
        f"{no_shared} {apart['verdict']} (p = {{}})": [apart[part] for part in ("n", *ends, "p")],
    }


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
    wanted = {
        "{} of {} dev queries score below {} in nDCG@10": [len(below), len(dev), 1],
        "among the first {}, {} of the corpus": [depth, depth / len(files.documents)],
        "wrong: {} queries": len(order),
        "among them: {} queries": len(fetch),
    }
    tells(re.sub(r" and \d+ more", "", said), wanted)


def test_write_up_shows_the_method(cells, published):
    at, told = published["method"], {}
    for row, text in html_table(*cells["r-method"]).items():
        told[row] = text["choice"]
    tells("; ".join(told[row] for row in ("engine", "documents", "chunks", "order")), {
        "k1 = {}, b = {}": [at["k1"], at["b"]],
        "depth {}": at["depth"],
        "to {} decimals": 10,
        "fixed: {}": at["chunk_tokens"],
        "{} overlap": at["overlap_tokens"],
        "{} chunks": len(witness.rows(FOLDER / "chunks" / "fixed.jsonl")),
    })  # fmt: skip
    assert at["engine"] in told["engine"] and at["words"] in told["words"]
    assert told["IDF"] == f"{at['idf']}, epsilon = {at['epsilon']}"


def test_the_five_lowest_cards_of_the_write_up(cells, files, published):
    rows = {row["query_id"]: row for row in published["per_query"]}
    for text, card in zip(cells["r-cards"][:5], published["cards"][:5], strict=True):
        row, said = rows[card["query_id"]], html.unescape(text)
        order = [doc_id for doc_id, _ in row["retrieved"]]
        assert said.startswith(f"#### {card['query_id']}: {row['query']}\n")
        assert f"Words it lacks: {', '.join(card['lacks']) or 'none'}." in said
        head = f"**{card['cause'].capitalize()}** ({row['kind']}, nDCG@10 {{}})"
        says(said, {head: row["measures"]["nDCG@10"]})
        for who in ("wanted", "rival"):
            rank = f"rank {order.index(card[who]) + 1}" if card[who] in order else "after rank 10"
            title = re.escape(files.documents[card[who]]["title"])
            place = f"{who.capitalize()}: “{title}” .<code>{card[who]}</code>., "
            assert re.search(place + rank, said)
