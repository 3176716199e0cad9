"""Published numbers against the second witness, by name: results.json and every page.

A table is compared cell by cell. Prose is tested for showing named values: a number that is none
of them fails, and so does a phrase that belongs to one value and shows another.
"""

import html
import json
import math
import re
from collections import Counter, defaultdict
from functools import partial
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
import witness
import witness_evidence
import witness_labels
import witness_sessions
from scipy.sparse.csgraph import connected_components

from helpers.teach import write_up

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "evals"
SESSION_A = ROOT / "notebooks" / "session_a_corpus_and_labels.ipynb"


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
def lists(files):
    """Return what each set of chunks has for each query, as a reader would get it."""
    return witness_evidence.searched(files)


@pytest.fixture(scope="module")
def rankers(files):
    """Return the first ten documents of every pooled ranker."""
    return witness_labels.rankers(files)


@pytest.fixture(scope="module")
def cells():
    """Return {cell id: texts of its outputs} of every notebook: Markdown, else HTML, else plain."""
    texts = {}
    for path in [*(ROOT / "notebooks").rglob("*.ipynb"), *FOLDER.glob("*.ipynb")]:
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            for output in cell.get("outputs", []):
                data = output.get("data", {})
                text = data.get("text/markdown") or data.get("text/html") or output.get("text", "")
                texts.setdefault(cell["id"], []).append("".join(text))
    return texts


def read_json(name: str):
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


def page_of(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


# How numbers, prose and tables are compared.

NUMBER = r"(?<![\w@])(?<![\w.]-)[+-]?\d+(?:,\d{3})*(?:\.\d+)?(?: ?%)?(?![\w-])"  # not @10, k1, q01


def shows(text: str, value: float, rounded: bool = False) -> bool:
    """Return whether a text such as `121,246`, `+0.040` or `66%` is `value`, rounded as it is.

    With fewer than two decimals nothing may be lost, unless the text is `rounded`: 0.9 shows .900,
    never .938.
    """
    digits = text.replace(",", "").rstrip(" %")
    places = len(digits.partition(".")[2])
    most = 0.5 * 10**-places if rounded or places > 1 or text.endswith("%") else 0
    value = 100 * value if text.endswith("%") else value
    return math.isclose(float(digits), value, rel_tol=0, abs_tol=most + 1e-9)


near = partial(shows, rounded=True)


def fits(phrase: str, text: str, *values: float, rounded: bool = False) -> bool:
    """Return whether a phrase such as `{} of {} documents` stands in a text with these values."""
    hit = re.search(pattern(phrase), text)
    return bool(hit) and all(map(partial(shows, rounded=rounded), hit.groups(), values))


def pattern(phrase: str) -> str:
    return re.escape(phrase).replace(r"\{\}", f"({NUMBER})")


def tells(text: str, named: dict[str, float | list[float]], every: bool = True) -> None:
    """Check prose: a phrase such as `{} documents` stands there (`every` one) with its value.

    Every other number must show one of the values. The longest phrase that fits counts.
    """
    text = text.replace("95 %", "").replace("**", "")
    values = {phrase: v if isinstance(v, list) else [v] for phrase, v in named.items()}
    for phrase in sorted(values, key=len, reverse=True):
        for hit in (hits := list(re.finditer(pattern(phrase), text))):
            assert all(map(shows, hit.groups(), values[phrase])), (hit[0], values[phrase])
        assert hits or not every, (phrase, "does not stand in", text)
        text = re.sub(pattern(phrase), "_", text)
    for number in re.findall(NUMBER, text):
        assert any(shows(number, v) for some in values.values() for v in some), (number, text)


def markdown_tables(page: str) -> list[dict]:
    """Return {row: {column: text}} of each table of a Markdown page."""
    tables = []
    for lines in re.findall(r"(?:^\|.*\n?)+", page, re.MULTILINE):
        head, _, *body = ([c.strip() for c in line[1:-1].split("|")] for line in lines.splitlines())
        tables.append({row[0]: dict(zip(head[1:], row[1:], strict=True)) for row in body})
    return tables


def html_table(*outputs: str) -> dict[str, dict[str, str]]:
    """Return the first table as {row: {column: text}}; names of a head of two lines are joined."""
    table = re.search("<table.*?</table>", "".join(outputs), re.DOTALL)[0]
    root, head, rows, names = ElementTree.fromstring(table), [], {}, []
    for line in root.findall("thead/tr"):
        spread = [[c.text or ""] * int(c.get("colspan", 1)) for c in line]
        head.append([text for cell in spread for text in cell])
    head = [" ".join(filter(None, column)) for column in zip(*head, strict=True)]
    for line in root.findall("tbody/tr"):
        own = ["".join(cell.itertext()) for cell in line.findall("th")]
        names = names[: len(names) - len(own)] + own  # one that spans rows stands in the first
        texts = ["".join(cell.itertext()) for cell in line.findall("td")]
        rows[" ".join(names)] = dict(zip(head[len(names) :], texts, strict=True))
    return rows


def differences(table: str, shown: dict[str, dict], wanted: dict[str, dict]) -> list[tuple]:
    """Return what differs: a cell is a text as it is, or a number or several as it shows them."""
    cells = [{(r, c): part[r][c] for r in part for c in part[r]} for part in (shown, wanted)]
    wrong = [(table, *key, "stands on one side only") for key in cells[0].keys() ^ cells[1].keys()]
    for key in sorted(cells[0].keys() & cells[1].keys()):
        text, value = cells[0][key], cells[1][key]
        values = value if isinstance(value, list | tuple) else [value]
        if isinstance(value, str):
            right = text == value
        else:
            numbers = re.findall(NUMBER, text)
            right = len(numbers) == len(values) and all(map(shows, numbers, values))
        wrong += [] if right else [(table, *key, text, value)]
    return wrong


def agree(cells: dict[str, list[str]], tables: dict[str, dict[str, dict]]) -> None:
    """Compare the first table of each named cell with what it must show."""
    wrong = (differences(name, html_table(*cells[name]), tables[name]) for name in tables)
    assert not (problems := sum(wrong, [])), problems


# results.json, key by key, and what it is measured on.


def flat(value, name: str = "") -> dict:
    """Return {name/of/parts: value} of everything in nested dictionaries and lists."""
    if not isinstance(value, dict | list | tuple):
        return {name: value}
    parts = value.items() if isinstance(value, dict) else enumerate(value)
    return {f"{name} length": len(value)} | {
        key: part for n, v in parts for key, part in flat(v, f"{name}/{n}").items()
    }


def same(a, b, most: float = 1e-9) -> bool:
    numbers = isinstance(a, int | float) and isinstance(b, int | float)
    return math.isclose(a, b, rel_tol=0, abs_tol=most) if numbers else a == b


def tolerance(name: str) -> float:
    """Return how far a value may be from the published one."""
    if "told_apart" in name and name.endswith(("low", "high")):
        return 0.05  # the witness has another interval
    if "/bounds/" in name:
        return 0.004  # drawn by both
    drawn, by_iteration = "intervals" in name, "detectable" in name
    return 0.01 if drawn else 1e-6 if by_iteration else 1e-9


def pairs_in(value, name: str = "") -> dict[str, dict]:
    """Return {name/of/parts: comparison} of all comparisons of two means in nested values."""
    if isinstance(value, dict) and "p" in value:
        return {name: value}
    if not isinstance(value, dict | list):
        return {}
    parts = value.items() if isinstance(value, dict) else enumerate(value)
    return {key: at for n, v in parts for key, at in pairs_in(v, f"{name}/{n}").items()}


def drawn_like(own: dict, published: dict) -> None:
    """Put the published p where a drawn one of ours is near enough: what follows is exact."""
    theirs = pairs_in(published)
    for name, at in pairs_in(own).items():
        told = theirs[name]
        assert same(told["p"], at["p"], drawn_apart(at)), (name, told["p"], at)
        at |= {key: told[key] for key in ("p", "reason") if key in told}
    runs = zip(own["compared_dev"]["runs"], published["compared_dev"]["runs"], strict=True)
    for mine, told in runs:
        mine |= {"reason": told["reason"], "evidence": {}}  # prose, below; runs of documents
    for split in witness.SPLITS:
        witness_evidence.decided(own["evidence"][split]["sets"])
    witness.decided(own["compared_dev"])


def drawn_apart(at: dict) -> float:
    """Return how far a published p may be from ours: four standard errors of two such draws.

    Where all sign patterns fit into ten thousand p is exact. Else SciPy draws so many and doubles
    the smaller side, of which p / 2 of the patterns are, and adds one to it.
    """
    theirs, ours = 10_000, witness.DRAWS
    if 2 ** (at["wins"] + at["losses"]) <= theirs:
        return 1e-9
    p, half = at["p"], at["p"] / 2
    variance = 4 * half * (1 - half) / theirs + p * (1 - p) / ours
    return 4 * math.sqrt(variance) + 2 / theirs


def test_results_json_is_what_a_second_witness_finds(files, lists, published):
    own = witness.results(files) | {"evidence": witness_evidence.evidence(files, lists)}
    drawn_like(own, published)
    for card in own["cards"]:
        card["lost"] = own["evidence"]["lost"][card["query_id"]]
    own, theirs = flat(own), flat(published)
    assert set(own) ^ set(theirs) == set()
    assert not {n: (v, own[n]) for n, v in theirs.items() if not same(v, own[n], tolerance(n))}


def test_reasons_show_the_values_of_their_comparison(published):
    for run in published["compared_dev"]["runs"]:
        wanted = {"p (Holm) = {}": run["p_holm"], "±{}": 0.05}
        wanted |= {"worst case, {} to {}": run["bounds"]}
        tells(run["reason"], wanted, every=False)


@pytest.mark.parametrize("chunker", witness.CHUNKERS)
def test_runs_are_the_search_of_another_engine(files, chunker):
    engine = witness.Okapi(witness.chunk_texts(files, chunker))
    saved = witness.rows(FOLDER / f"runs/{chunker}.jsonl")
    chunk_run = {row["query_id"]: row["results"] for row in saved}
    run = witness.trec(FOLDER / "runs" / f"{chunker}.trec")
    assert [*run] == [q for q in chunk_run if chunk_run[q]] and {*chunk_run} == {*files.asked}
    for query_id, row in files.asked.items():
        hits = engine.search(row["query"])
        assert chunk_run[query_id] == [[u, pytest.approx(s, abs=1e-9)] for u, s in hits[:100]]
        documents = witness.to_documents(hits)
        found = run.get(query_id, [])
        assert [d for d, _ in found] == [d for d, _ in documents], query_id
        apart = [pytest.approx(s, abs=1e-4 * max(1, s)) for _, s in documents]  # ties pulled apart
        assert [s for _, s in found] == apart


def test_cards_of_runs_say_how_they_were_made(files):
    for chunker in witness.CHUNKERS:
        assert read_json(f"runs/{chunker}.json") == witness.card(files, chunker), chunker
    for path in (FOLDER / "systems").glob("*.json"):
        card = read_json(f"systems/{path.name}")
        assert card["corpus_sha256"] == witness.hashes(files)["corpus"], path.name
        assert card["topics_sha256"] == witness.hashes(files)["topics"], path.name


# The pages of the folder.

BASELINE = ("nDCG@10", "MRR@10", "hit@1", "hit@5", "recall@10", "recall@100")


def test_readme_shows_the_baseline(published):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    page = re.search(r"<!-- generated.*?-->\n(.*?)<!-- end -->", text, re.DOTALL)[1]
    corpus, asked = published["corpus"], published["queries"]
    method, wanted = published["method"], {}
    for split, half in published["summary"].items():
        wanted[split] = {name: half["measures"][name] for name in BASELINE} | {"n": half["n"]}
        wanted[split]["median rank of first relevant"] = half["median_first_rank"]
        n, _, these, full = five(published, split)
        wanted[split]["full hit@5, of those with a full answer"] = [full / these, these]
        wanted[split]["of all"] = full / n
    assert not differences("README", markdown_tables(page)[0], wanted)
    named = {f"{name} = {{}}": method[name] for name in ("k1", "b")}
    named |= {f"{{}} {name}": corpus[name] for name in ("documents", "tokens")}
    named |= {"Queries: {}": asked["n"], "{} judgments": asked["judgments"]}
    named |= {"{} without an answer": asked["unanswered"], "(grades {}, {}, {})": asked["grades"]}
    named |= {"of {} tokens": method["chunk_tokens"], "{} overlap": method["overlap_tokens"]}
    tells(page.partition("\n\n| half")[0], named)
    assert corpus["name"] in page and method["engine"] in page


def five(published: dict, split: str) -> list[int]:
    """Return n, the useful in five; those that have a full answer, and those with it in five."""
    rows = [row["measures"] for row in published["per_query"] if split in (row["split"], "all")]
    full = [row["full hit@5"] for row in rows if "full hit@5" in row]
    return [len(rows), sum(row["hit@5"] for row in rows), len(full), sum(full)]


COUNTS = "zero one two three four five six seven eight nine ten".split() + [""] * 39 + ["fifty"]


def test_data_card_shows_the_facts(files):
    wanted = {name: {"count": values} for name, values in witness.facts(files).items()}
    manner = {name: {"found": values} for name, values in witness.manner(files).items()}
    counts, found, by_kind, *_ = markdown_tables(page_of("README.md"))
    assert not differences("data card", counts, wanted)
    assert not differences("how texts are written", found, manner)
    assert not differences("texts by kind", by_kind, witness.manner_by_kind(files))


def card() -> str:
    """Return the data card, with a zero before each point that has none."""
    return re.sub(r"(?<!\d)\.(?=\d)", "0.", page_of("README.md"))


def card_tells(named: dict[str, float | list[float]]) -> None:
    """Check that phrases stand in the data card with these values."""
    for phrase, values in named.items():
        values = values if isinstance(values, list) else [values]
        assert fits(phrase, card(), *values), (phrase, values)


def test_data_card_tells_the_truth_about_the_queries(files):
    page = page_of("README.md")
    kinds = {row["kind"] for row in files.asked.values()}
    assert all(f"`{kind}`" in page for kind in kinds) and "`dev`" in page
    card_tells({"holds {} facts": len(witness.rows(ROOT / "helpers/tests/facts.jsonl"))})
    foreign = Counter(row["language"] for row in files.asked.values() if "language" in row)
    assert foreign == {"nl": 8, "de": 8} and "in Dutch and German (`language`), eight each" in page
    none = sum("language" in row for q, row in files.asked.items() if q not in files.queries)
    assert f"For {COUNTS[none]} of them no document has an answer" in page


def test_the_pool_is_what_another_code_of_its_rankers_brings(files, rankers):
    page = page_of("README.md")
    further = {"paragraph", "recursive", "dense-minilm"}
    assert len(rankers.keys() - further) == 7 and further < rankers.keys()
    assert "seven rankers of different kinds" in page and "three further runs" in page
    assert f"first {COUNTS[10]} documents of" in page
    brought = {(q, d, name) for name, run in rankers.items() for q in run for d in run[q]}
    pool = witness_labels.pooled(files)
    assert brought == {(q, d, name) for q, d, names in pool for name in names}
    pairs = {(row["query_id"], row["doc_id"]) for row in witness.rows(FOLDER / "pool.jsonl")}
    assert pairs == {(q, d) for q, row in files.grades.items() for d in row}


def version_2() -> dict[str, dict]:
    return {row["query_id"]: row for row in witness.rows(FOLDER / "version2.jsonl")}


AGAINST = {("q120", "payments-ask-channel-october"): 0}  # only its title answers, says the card


def test_most_readings_decide_every_label(files):
    """Rounds 7 to 9 do; where two readings differ there is a third. Round 10 changes nothing."""
    told, earlier = witness_labels.readings(files, last=9), version_2()
    labels = {(q, d): grade for q, row in files.grades.items() for d, grade in row.items()}
    given = {pair: witness_labels.most_given(grades) for pair, grades in told.items()}
    unlike = {pair for pair, grade in given.items() if grade != labels[pair]}
    assert unlike == AGAINST.keys() and all(labels[pair] == AGAINST[pair] for pair in unlike)
    assert all(pair[1] in page_of("README.md") for pair in AGAINST)
    assert not [pair for pair, grades in told.items() if len({*grades}) > 1 and len(grades) < 3]
    before = {(q, d): g for q in earlier.keys() & files.asked.keys()
              for d, g in earlier[q]["grades"].items()}  # fmt: skip
    assert before.keys() | {pair for pair, grade in labels.items() if grade} <= told.keys()
    for row in witness.rows(FOLDER / "second_pass.jsonl"):
        pair = row["query_id"], row["doc_id"]
        assert row["final"] == labels[pair] and row["reader"] == "model", pair
        first = {7: before.get(pair, 0), 10: labels[pair]}.get(row["round"], row["first"])
        assert row["first"] == first, pair


def test_data_card_tells_the_truth_about_the_readings(files):
    told = witness_labels.readings(files, last=9)
    second = pd.DataFrame(witness.rows(FOLDER / "second_pass.jsonl"))
    zeros, last = (second[second["round"] == n] for n in (7, 10))
    zeros, same = zeros[zeros["first"] == 0], last[last["first"] == last["second"]]
    split = sum(len({*grades[:3]}) == 3 for grades in told.values())
    assert f"{COUNTS[split].capitalize()} pairs were split three ways" in card()
    assert {*second["round"]} == {7, 8, 9, 10} and {*last["first"].value_counts()} == {50}
    agreed = [sum(same["first"] == grade) for grade in (0, 1, 2)]
    card_tells({
        "of version 2, {} zeros (": len(zeros),
        "of the zeros read again, {} became relevant": sum(zeros["final"] > 0),
        "the check: {} of the final labels, fifty a grade": len(last),
        "the same grade to {} zeros, {} ones and {} twos": agreed,
    })  # fmt: skip


def test_data_card_tells_the_truth_about_negatives(files):
    page, negatives = page_of("README.md"), witness.rows(FOLDER / "negatives.jsonl")
    brought = {(q, d): len(rankers) for q, d, rankers in witness_labels.pooled(files)}
    assert [row["query_id"] for row in negatives] == list(files.queries)
    (easy,), (hard,) = ({len(set(row[name])) for row in negatives} for name in ("easy", "hard"))
    assert f"{COUNTS[easy]} easy (drawn at random" in page and f"{COUNTS[hard]} hard (" in page
    for row in negatives:
        query_id, grades = row["query_id"], files.grades[row["query_id"]]
        assert not brought.keys() & {(query_id, doc_id) for doc_id in row["easy"]}
        assert not any(grades.get(doc_id) for doc_id in row["easy"])
        assert all(grades[doc_id] == 0 for doc_id in row["hard"])
        by_many = {d: brought.get((query_id, d), 0) for d, grade in grades.items() if grade == 0}
        rest = [n for doc_id, n in by_many.items() if doc_id not in row["hard"] + row["easy"]]
        assert min(by_many[d] for d in row["hard"]) >= max(rest, default=0), query_id


def test_no_group_of_queries_is_cut_and_none_would_make_the_halves_more_alike(files):
    """The draw ends where no change of one group helps; the largest one stays in test."""
    group = witness_labels.groups(files)
    split = {query_id: row["split"] for query_id, row in files.asked.items()}
    sides = {(number, split[query_id]) for query_id, number in group.items()}
    assert len(sides) == len({*group.values()})
    (largest, size), *_ = Counter(group.values()).most_common()
    assert (largest, "test") in sides
    shared = witness_labels.several(files, group)
    found = witness_labels.distances(files, split, shared)
    for number, side in sides - {(largest, "test")}:
        other = "test" if side == "dev" else "dev"
        moved = {q: other if own == number else split[q] for q, own in group.items()}
        changed = witness_labels.distances(files, moved, shared)
        assert sum(changed.values()) > sum(found.values()) - 1e-9, number
    came_out = {"What came out: {} groups, the largest of {} queries": [len(sides), size]}
    for name, words in (("kind", "kind by {} ("), ("service", "in service by {},"),
                        ("head and tail", "in head and tail by {},"),
                        ("number", "in the number of relevant documents by {};")):  # fmt: skip
        came_out[words] = found[name]
    card_tells(came_out)


def test_data_card_tells_the_truth_about_the_halves(files, rankers):
    reached = set(), set()
    for query_id, row in files.queries.items():
        assert {d for d, g in files.grades[query_id].items() if g} == {*row["relevant_doc_ids"]}
        reached[row["split"] == "dev"].update(witness.answers(files, query_id))
    halves = {q: row["split"] for q, row in version_2().items()}
    then_dev = sum(halves.get(q) == "dev" for q in files.queries
                   if files.queries[q]["split"] == "test")  # fmt: skip
    values = witness_labels.by_system(files, rankers)
    is_dev = np.array([row["split"] == "dev" for row in files.queries.values()])
    base, table = values["fixed"], np.array([*values.values()])
    rng = np.random.Generator(np.random.MT19937(7))
    random = [witness_labels.tau(table, rng.permuted(is_dev)) for _ in range(1000)]
    card_tells({
        "{} documents (versions as one) are relevant in both": len(set.intersection(*reached)),
        "{} test queries share no relevant document with dev": int(witness.apart(files).sum()),
        "{} of today's test queries were dev queries in version 2": then_dev,
        "nDCG@10 of BM25 is {} on dev and {} on test": [base[is_dev].mean(), base[~is_dev].mean()],
        "alone test would be {} lower": -witness_labels.mix(files, base, is_dev),
        "Kendall's tau {};": witness_labels.tau(table, is_dev),
    })  # fmt: skip
    card_tells({f"{name} {{}} and {{}}": of for name, of in by_half(files).items()})
    told = re.search(pattern("give {} in the mean ({} to {} for 95 of 100)"), card())
    mean, *ends = map(float, told.groups())
    assert mean == pytest.approx(np.mean(random), abs=4 * np.std(random) * (2 / 1000) ** 0.5)
    step = 2 / math.comb(len(values), 2)  # of tau; a quantile may be its neighbour, and is rounded
    assert ends == pytest.approx(np.quantile(random, [0.025, 0.975]), abs=step + 0.005)
    shown = markdown_tables(re.sub("^  ", "", card(), flags=re.MULTILINE))[-1]
    wanted = {}
    for words, name in SYSTEMS.items():
        dev, test, *between = witness_labels.changes(base, values[name], is_dev)
        wanted[words] = {"dev": dev, "test": test, "test minus dev (95%)": between}
    assert not differences("data card", shown, wanted)


def by_half(files):
    """Return the queries of each kind, and the shares of each service, on dev and on test."""
    found = defaultdict(lambda: [0, 0])
    sizes = Counter(row["split"] for row in files.queries.values())
    for row in files.queries.values():
        found[row["kind"]][row["split"] == "test"] += 1
        relevant = row["relevant_doc_ids"]
        for doc_id in relevant:
            share = 1 / len(relevant) / sizes[row["split"]]
            found[files.documents[doc_id]["service"]][row["split"] == "test"] += share
    return found


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


def test_manifest_counts_the_labels(files):
    grades = Counter(grade for judged in files.grades.values() for grade in judged.values())
    counts = {"documents": len(files.documents), "queries": len(files.queries)}
    counts["judgments"] = {str(grade): n for grade, n in grades.items()}
    assert counts.items() <= read_json("manifest.json")["counts"].items()


def test_session_a_opens_with_the_titles_and_the_rank_that_the_search_gives(cells, files):
    engine = witness.Okapi(witness.chunk_texts(files, "fixed"))

    def order(query: str) -> list[str]:
        return list(dict.fromkeys(unit.rpartition("#")[0] for unit, _ in engine.search(query)))

    page = SESSION_A.read_text(encoding="utf-8")
    titles = re.findall("<li><b>(.*?)</b>", re.sub("</?mark>", "", cells["a-ask"][0]))
    asked = re.search(r'"ask\(\\"(.+?)\\"\)', page)[1]
    texts = (files.documents[d]["text"] for d in order(asked)[:5])
    assert [html.unescape(title) for title in titles] == [t.partition("\n")[0] for t in texts]
    ranks = {}
    for q, row in files.queries.items():
        if (row["split"], row["kind"]) == ("dev", "mismatch"):
            found, grades = order(row["query"]), files.grades[q]
            best = {d for d, grade in grades.items() if grade == max(grades.values())}
            first = next((n for n, d in enumerate(found, 1) if d in best), 0)
            ranks[q] = first, len(found), found[first - 1 : first]
    hardest = max(ranks, key=ranks.get)
    assert cells["a-open-shown"][0].startswith(files.queries[hardest]["query"] + "\n")
    assert fits("best answer: rank {} of {} found", cells["a-open-shown"][0], *ranks[hardest][:2])
    shared, told = witness.overlap(files, hardest), cells["a-overlap-all"][0]
    alone = witness.overlap(files, hardest, ranks[hardest][2])
    assert fits("that failed: {}, with its best answer alone: {}", told, shared, alone)
    mismatch = [q for q, row in files.queries.items() if row["kind"] == "mismatch"]
    assert min(shared, np.mean([witness.overlap(files, q) for q in mismatch])) > 0.5
    assert "they share more than half of their content words. The question from the start" in page
    assert alone < shared  # "another matter"


def test_session_a_draws_the_groups_of_each_half(cells, files):
    """Tied are queries that a document answers in full, and chains of them."""
    full = [{d for d, grade in files.grades[q].items() if grade == 2} for q in files.queries]
    group = connected_components(np.array([[bool(a & b) for b in full] for a in full]))[1]
    halves = [row["split"] for row in files.queries.values()]
    sizes = Counter(zip(group, halves, strict=True))
    assert fits("groups in one half: {} of {}", cells["a-halves-run"][0], len({*group}), len(sizes))
    drawn = [[n for (_, half), n in sizes.items() if half == name] for name in ("dev", "test")]
    page = SESSION_A.read_text(encoding="utf-8")
    told = "Groups of dev: {}, the largest {}; test: {}, the largest {}."
    assert fits(told, page, *(number for row in drawn for number in (len(row), max(row))))


def test_coverage_shows_what_the_queries_reach(cells, files):
    """Page and cells are made by code of their own."""
    page, reached, n = page_of("coverage.md"), witness.reached(files), len(files.documents)
    for table, field in zip(markdown_tables(page), ("service", "kind"), strict=True):
        assert not differences(field, table, witness.coverage(files, field))
        shares = [float(row["share"][:-1]) for row in table.values()]
        assert shares == sorted(shares)
    share = len(reached) / n
    named = {"{} of {} documents ({})": [len(reached), n, share], "Queries: {}": len(files.queries)}
    tells(page.partition("##")[0], named)
    assert fits("{} of {} documents", cells["a-coverage-all"][0], share, n)
    assert fits("{} of {} documents reached ({})", cells["a-audit-run"][0], len(reached), n, share)
    left = [d for d in files.documents if d not in reached]
    by_service = sorted(left, key=lambda d: (files.documents[d]["service"], d))
    assert re.findall(r"^- (\S+)$", page, re.MULTILINE) == by_service


# Tables of the write-up.


BUDGETS = witness_evidence.BUDGETS
SIGNS = "wins/ties/losses"


def test_tables_of_the_baseline(cells, files, published):
    summary = published["summary"]
    asked = pd.DataFrame(files.queries.values())
    queries = pd.crosstab(asked["kind"], asked["split"])
    queries["a dev query"] = asked[asked["split"] == "dev"].groupby("kind")["query"].first()
    names = (*BASELINE, "recall@5", "P@10", "MAP", *summary["dev"]["full"]["measures"])
    baseline = {name: {} for name in (*names, "median first rank")}
    for split, half in summary.items():
        values = half["measures"] | {"median first rank": half["median_first_rank"]}
        values |= half["full"]["measures"]
        for name, row in baseline.items():
            ends = half["intervals"].get(name, [half["full"]["n"]] * name.startswith("full"))
            row[f"{split} (n = {half['n']})"] = [values[name], *ends]
    kinds = {}
    for split in witness.SPLITS:
        parts = published["by_kind"][split] | published["by_popularity"][split]
        for kind, part in parts.items():
            row = kinds.setdefault(kind, {})
            row[f"{split} nDCG@10"] = part["measures"]["nDCG@10"]
            in_five = round(part["measures"]["hit@5"] * part["n"])
            row[f"{split} in five"] = f"{in_five} of {part['n']}"
    tables = {"r-queries": queries.to_dict("index"), "r-baseline": baseline, "r-kinds": kinds}
    agree(cells, tables)


def test_tables_of_comparisons(cells, published):
    compared, by_system = board(published), {}
    left_out = (SIGNS, "detectable")
    short = {n: {c: v for c, v in row.items() if c not in left_out} for n, row in compared.items()}
    for row in published["compared_dev"]["runs"]:
        for kind, at in (row["by_kind"] | row["by_popularity"]).items():
            of_kind = by_system.setdefault(kind, {"n": at["n"], "baseline": at["base"]})
            of_kind[row["name"]] = at["run"]
        on_test = "not looked at" if row["verdict"] in ("better", "worse") else ""
        if "halves" in row:
            at = row["halves"]["test"]["difference"]
            on_test = f"{at:+.3f}, {row['halves']['test minus dev']['verdict']}"
            apart = row["halves"].get("test apart from dev")
            on_test += f"; apart {apart['difference']:+.3f} (n = {apart['n']})" if apart else ""
        short[row["name"]]["on test"] = on_test
    short["baseline"]["on test"] = ""
    tables = {"r-compared": short, "c-compare-run": compared}
    agree(cells, tables | {"c-compare-kinds": by_system})


def test_tables_of_failures(cells, files, published):
    evidence = published["evidence"]
    causes = {card["query_id"]: card["cause"] for card in published["cards"]}
    places = {name: {"queries": 0, "by kind": ""} for name in html_table(*cells["r-evidence-lost"])}
    budgets = {
        name: {f"{b:,}": at["means"][f"evidence recall within {b} tokens"] for b in BUDGETS}
        | {"verdict": at.get("against", {"verdict": "the baseline"})["verdict"]}
        for name, at in evidence["dev"]["sets"].items()
    }
    tables = {"r-causes": counts_of_kinds(files, causes), "r-evidence-budgets": budgets}
    lost = places | counts_of_kinds(files, evidence["lost"])
    agree(cells, tables | {"r-evidence-lost": lost})


def board(published: dict) -> dict:
    """Return the leaderboard, base first."""
    columns = ("difference", "95 %, each by itself", "p (Holm)", "detectable", SIGNS)
    base = published["compared_dev"]["base"]["means"]["nDCG@10"]
    rows = {"baseline": dict.fromkeys(columns, "") | {"nDCG@10": base, "verdict": "the baseline"}}
    for row in published["compared_dev"]["runs"]:
        at = row["measures"]["nDCG@10"]
        rows[row["name"]] = {name: at[name] for name in ("difference", "detectable")} | {
            "nDCG@10": at["run"],
            "95 %, each by itself": [at["low"], at["high"]],
            "p (Holm)": row["p_holm"],
            SIGNS: [at["wins"], at["ties"], at["losses"]],
            "verdict": row["verdict"],
        }
    return rows


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


# Sentences of the write-up.


def test_sentences_about_the_set(cells, files, published):
    facts, n = witness.facts(files), len(files.queries)
    sizes = facts["tokens (cl100k_base)"]
    relevant = sum(grade > 0 for row in files.grades.values() for grade in row.values())
    judged = [facts["judgments"][0], relevant, round(relevant / n, 1)]
    long = sum(witness.tokens(document["text"]) > 512 for document in files.documents.values())
    documents = {"{} documents": len(files.documents)}
    corpus = {
        "of {} kinds about {} services": facts["documents"][1:],
        "{} tokens": sizes[0],
        "median document has {} tokens, the longest {}": sizes[2:],
        "{} are longer than one chunk": long,
        "Asked: {} queries": n,
        "{} judgments. {} of these are relevant, {} for each query": judged,
        "reach {} documents ({})": facts["documents reached by a query"],
        "answers {} queries": len(files.asked) - n,
    }
    lead = {"{} questions": n, "the {} test questions": published["summary"]["test"]["n"]}
    said, _, kinds = html.unescape(cells["r-lead"][1]).partition("\n\n**Kinds of question.** ")
    tells(said, documents | lead)
    assert re.sub("</?code>", "`", kinds) in (FOLDER / "README.md").read_text("utf-8")
    assert {*re.findall(r"<code>(\w+)", kinds)} == {row["kind"] for row in files.asked.values()}
    tells(cells["r-corpus"][0], documents | corpus)
    tells(cells["r-limits"][0], documents)
    readings = {}
    for name, row in facts.items():
        if name.startswith("second pass"):
            ends = " ({} to {})" if row[1] < 1 else ""
            grades = ", ".join("{}: {}" for _ in row[5 if ends else 3 :: 2])
            phrase = "{}: {{}} pairs, {{}} equal, Cohen's kappa {{}}{}; equal by first grade {}"
            readings[phrase.format(name.removeprefix("second pass, "), ends, grades)] = row
    tells(cells["r-agreement"][0], readings)


def test_sentences_about_the_baseline(cells, files, published, dev):
    values, test = (published["summary"][split]["measures"] for split in witness.SPLITS)
    first = [sum(row["first_rank"] == 1 for row in dev), len(dev)]
    baseline = {
        "first result is relevant for {} of {} queries": first,
        "for {} there's nothing relevant": sum(not row["measures"]["hit@10"] for row in dev),
        "among the first hundred, is {}": values["recall@100"],
        "differ by {} in nDCG@10": abs(values["nDCG@10"] - test["nDCG@10"]),
    }
    said, _, table = cells["r-baseline-text"][0].partition("Some queries are shown apart")
    tells(said, baseline)
    lines = re.findall(r"^\| (dev|test) \| (.+?) \| (.+) \|$", table, re.MULTILINE)
    shown = {f"{half}, {name}": dict(enumerate(of.split(" | "))) for half, name, of in lines}
    assert not differences("told apart", shown, told_apart(files, published))
    runs = len(published["compared_dev"]["runs"])
    said = cells["r-compared-text"][0].partition("\n\n- *")[0]  # then systems, in their own words
    tells(said, {"the same {} dev queries": len(dev), "{} comparisons": runs})


def told_apart(files, published: dict) -> dict[str, dict]:
    """Return n, nDCG@10 and full hit@5 of all: 0 for a query without a full answer."""
    parts, found = {
        "in another language": lambda row: "language" in row,
        "of round 4, the newest": lambda row: row.get("round") == 4,
        "without round 4": lambda row: row.get("round") != 4,
    }, {}  # fmt: skip
    for half in witness.SPLITS:
        rows = [row for row in published["per_query"] if row["split"] == half]
        for name, is_part in parts.items():
            own = [row["measures"] for row in rows if is_part(files.queries[row["query_id"]])]
            means = [np.mean([of.get(n, 0) for of in own]) for n in ("nDCG@10", "full hit@5")]
            found[f"{half}, {name}"] = dict(enumerate([len(own), *means]))
    return found


BAR = 0.7


def test_the_verdict_is_that_of_the_intervals(cells, published):
    said = re.sub(r"[*]", "", html.unescape(cells["r-lead"][0]))
    test = pd.DataFrame(row for row in published["per_query"] if row["split"] == "test")
    names = {"a useful document": "hit@5", "a full answer": "full hit@5"}
    for (what, name), sentence in zip(names.items(), said.split(". "), strict=False):
        sides = {"good": set(), "poor": set(), "open": set()}
        for kind, rows in test.groupby("kind"):
            found = sum(row.get(name, 0) for row in rows["measures"])
            low, high = witness.wilson(found, len(rows))
            sides["good" if low > BAR else "poor" if high < BAR else "open"].add(kind)
        told = {"good": sentence.partition(", but not")[0], "open": sentence.partition(";")[2]}
        told["poor"] = sentence.partition(", but not")[2].partition(";")[0]
        assert f"put {what} among the first five" in sentence
        for side, names in sides.items():
            shown = {kind for kind in {*test["kind"]} if re.search(rf"\b{kind}\b", told[side])}
            assert shown == names, (what, side)
    verdicts = {row["name"]: row["verdict"] for row in published["compared_dev"]["runs"]}
    for side in ("better", "worse"):
        names = [name for name in verdicts if verdicts[name] == side]
        told = re.search(rf"(\d+) ranks? {side} \((.*?)\)", said) or [0, 0, ""]
        assert int(told[1]) == len(names)
        said = said.replace(f"{told[1]} rank", "rank")
        assert all(name.removeprefix("baseline + ") in told[2] for name in names)
    counts = Counter(verdicts.values())
    same, few = counts["no difference shown"], counts["too few queries to tell"]
    wanted = {"Of {} other runs": len(verdicts)}
    wanted |= {f"{{}} {'makes' if same == 1 else 'make'} no difference": same} if same else {}
    wanted |= {"for {} there are too few questions": few} if few else {}
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
    compared = {row["name"]: row for row in published["compared_dev"]["runs"]}
    rows = {name: row["measures"]["nDCG@10"] for name, row in compared.items()}
    sides = {"better": [], "worse": [], "too few queries to tell": [], "no difference shown": []}
    for name in sorted(rows, key=lambda name: -rows[name]["difference"]):
        sides[compared[name]["verdict"]].append(name)
    said = html.unescape(cells["r-next"][0]).replace("**", "")
    said = re.sub(r"The other system is .*? stronger\.", "", said)  # its card's own words
    halves = {name: row["halves"] for name, row in compared.items() if "halves" in row}
    seen = [n for n in sides["better"] if n in halves]
    seen = [n for n in seen if halves[n]["test minus dev"]["verdict"] == "confirmed"]
    best = (seen or sides["better"])[:1]
    name = best[0].removeprefix("baseline + ")
    assert f"Try BM25 merged with *{name}*." in said if seen else "Stay with BM25" in said
    for name in sides["worse"]:
        assert re.search(rf"Don't switch to .*\*{re.escape(name)}\*", said)
    causes = Counter(card["cause"] for card in published["cards"])
    apart = causes["no shared word"] + causes["missing word"]
    wanted = {"{} comparisons": len(rows)}
    wanted["In {} of {} dev questions"] = [apart, len(published["cards"])]
    waiting = {name: rows[name] for name in sides["too few queries to tell"]}
    wanted |= cost_of_knowing(files, waiting)
    for name in best:
        wanted |= advised(compared[name])
    tells(said, wanted)


def cost_of_knowing(files, waiting: dict[str, dict]) -> dict[str, list[float]]:
    """Return the phrases about how many more labels would decide what is undecided."""
    assert max(at["difference"] for at in waiting.values()) < witness.MATTERS
    widest = max(waiting, key=lambda name: waiting[name]["detectable"])
    at, needed = waiting[widest], witness.enough(witness.MATTERS, waiting[widest])
    judged, more = len(witness.rows(FOLDER / "judgments.jsonl")), needed - at["n"]
    pairs = round(judged / len(files.asked))
    return {
        "Nothing undecided gains more than {}": [witness.MATTERS],
        f"as with *{widest}*, it takes {{}} questions": [needed],
        "Dev has {}, so label about {} more": [at["n"], more],
        "At {} judged pairs a question that's {} pairs": [pairs, more * pairs],
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


MOST = 20  # queries named in a sentence, and rows of a table that a reader reads


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
    rest = [len(names) - MOST for names in (order, fetch)]
    assert re.findall(r"and (\d+) more", said) == [str(n) for n in rest if n > 0]
    wanted = {
        "{} of {} dev queries score below {} in nDCG@10": [len(below), len(dev), 1],
        "among the first {}, {} of the corpus": [depth, depth / len(files.documents)],
        "wrong: {} queries": len(order),
        "among them: {} queries": len(fetch),
    }
    tells(re.sub(r" and \d+ more", "", said), wanted)


def test_write_up_shows_the_method(cells, published):
    table, at = html_table(*cells["r-method"]), published["method"]
    told = {row: text["choice"] for row, text in table.items()}
    phrases = {f"{name} = {{}}": at[name] for name in ("k1", "b")}
    phrases |= {"depth {}": at["depth"], "to {} decimals": 10, "{} overlap": at["overlap_tokens"]}
    phrases |= {"fixed: {}": at["chunk_tokens"]}
    phrases |= {"{} chunks": len(witness.rows(FOLDER / "chunks" / "fixed.jsonl"))}
    tells("; ".join(told[row] for row in ("engine", "documents", "chunks", "order")), phrases)
    assert at["engine"] in told["engine"] and at["words"] in told["words"]
    assert told["IDF"] == f"{at['idf']}, epsilon = {at['epsilon']}"


def test_the_five_lowest_cards_of_the_write_up(cells, files, published):
    rows = {row["query_id"]: row for row in published["per_query"]}
    for text, card in zip(cells["r-cards"][:5], published["cards"][:5], strict=True):
        row, lacks, said = rows[card["query_id"]], card["lacks"], html.unescape(text)
        order = [doc_id for doc_id, _ in row["retrieved"]]
        assert said.startswith(f"#### {card['query_id']}: {row['query']}\n")
        assert f"Words it lacks: {', '.join(lacks) or 'none'}." in said
        facts = re.search(r"\n\*\*(.*?)\*\* \((\w+), (nDCG@10 [\d.]+)\)", said)
        assert (facts[2], facts[1].lower()) == (row["kind"], card["cause"])
        tells(facts[3], {"nDCG@10 {}": row["measures"]["nDCG@10"]})
        for who in ("wanted", "rival"):
            rank = f"rank {order.index(card[who]) + 1}" if card[who] in order else ""
            title = re.escape(files.documents[card[who]]["title"])
            place = f"{who.capitalize()}: “{title}” .<code>{card[who]}</code>., "
            assert re.search(place + (rank or "after rank 10"), said)


def test_the_three_lowest_cards_of_session_c(cells, files, base, published):
    rows = {row["query_id"]: row for row in published["per_query"]}
    for page, card in zip(cells["c-failures"], published["cards"][:3], strict=True):
        row, order = rows[card["query_id"]], witness.order(base, card["query_id"])
        head, _, tables = page.partition("<details>")[0].partition("</ul>")
        head = html.unescape(head.partition("</style>")[2])
        asked = f"<h4>{row['query']}</h4><p>{row['query_id']}, {row['kind']}, nDCG@10 "
        assert head.startswith(asked)
        tells(head.partition("<ul>")[0], {"nDCG@10 {}": row["measures"]["nDCG@10"]})
        for who in ("wanted", "rival"):
            place = f"rank {order.index(card[who]) + 1})" if card[who] in order else "not found)"
            title = f"<b>{files.documents[card[who]]['title']}</b>"
            assert f"<li>{who.capitalize()}: {title} <code>{card[who]}</code> ({place}" in head
        notes = {" (common)": card["common"], " (lacked)": card["lacks"]}
        told = {w: w + "".join(n for n, of in notes.items() if w in of) for w, *_ in card["words"]}
        gave = {told[word]: pair for word, _, *pair in card["words"] if any(pair)}
        shown = {"score": "as it is", "best of all chunks": "each word from its best chunk"}
        shown |= {"without length": "ignore length (b = 0)"}
        scores = {words: card[name] for name, words in shown.items()}
        for table, wanted in zip(tables.split("<p>"), (gave, scores), strict=True):
            pairs = {name: {"wanted": a, "rival": b} for name, (a, b) in wanted.items()}
            assert not differences("card", html_table(table), pairs)
        idle = [told[word] for word, _, *pair in card["words"] if not any(pair)]
        said = re.search("Neither scores with: (.*?)[.]</p>", tables)[1]
        assert sorted(said.split(", ")) == sorted(idle or ["no word"])


def test_causes_are_decided_in_the_order_of_session_c():
    path = ROOT / "notebooks" / "session_c_metrics_and_writeup.ipynb"
    sources = {c["id"]: "".join(c["source"]) for c in json.loads(path.read_text("utf-8"))["cells"]}
    assert [*markdown_tables(sources["c-cause"])[0]] == list(witness.CAUSES)
    assert sorted(sum(write_up.REPAIRS.values(), ())) == sorted(witness.CAUSES)


# What the sessions show.


def test_every_truth_of_a_prediction(cells, files, base, published):
    text = "\n".join(line for told in cells.values() for line in told)
    said = dict(re.findall(r"^([abc]-[a-z-]+): (\S+)$", text, re.MULTILINE))
    wanted, drawn = witness_sessions.truths(files, published), witness_sessions.drawn(files, base)
    assert said.keys() == wanted.keys() | drawn.keys()
    for name, (value, far) in drawn.items():
        assert abs(float(said[name]) - value) <= far, (name, said[name], value)
    for name, value in wanted.items():
        right = said[name] == value if isinstance(value, str) else near(said[name], value)
        assert right, (name, said[name], value)


def test_session_a_shows_what_other_halves_cost(cells, files, rankers):
    shown = html_table(*cells["f-leaks-told-run"]) | html_table(*cells["f-leaks-other-run"])
    halves, values = witness_sessions.other_halves(files), witness_labels.by_system(files, rankers)
    wanted = {name: witness_sessions.unlike(files, of) for name, of in halves.items()}
    for name, of in halves.items():
        kept = np.array([query_id in of for query_id in files.queries])
        is_dev = np.array([of[query_id] == "dev" for query_id in files.queries if query_id in of])
        table = np.array([row[kept] for row in values.values()])
        wanted[name]["tau"] = witness_labels.tau(table, is_dev)
    assert not differences("halves", shown, wanted)


def test_session_a_shows_the_pool_and_its_bias(cells, files, rankers):
    alone, pairs = witness_labels.found_alone(files), witness_labels.pooled(files)
    assert f"{len(alone)} rankers, {len(pairs)} pairs in the pool" in cells["a-pool"][0]
    rows = {name: {"relevant found alone": len(own)} for name, own in alone.items()}
    for name, row in rows.items():  # all are judged, and a query without results counts as 0
        some = {query_id for query_id, _, names in pairs if name in names} & files.queries.keys()
        row["judged@10"] = len(some) / len(files.queries)
    columns = {}
    for name, (whole, left) in witness_labels.pool_bias(files, rankers).items():
        columns[name] = {"nDCG@10": whole, "left out of the pool": left, "difference": left - whole}
    agree(cells, {"a-judged-table": rows, "a-bias-table": columns})


def test_the_rounds_of_reading_are_counted_again(cells):
    """Round 8 has a low kappa by how its pairs were picked, round 7 a high one with doubtful ones.

    Where two readings differ, the pair's next round has the third.
    """
    at, pairs, three = {}, {}, {}
    for row in witness.rows(FOLDER / "second_pass.jsonl"):
        at[row["query_id"], row["doc_id"], row["round"]] = row["first"], row["second"]
        pairs.setdefault(row["round"], []).append((row["first"], row["second"]))
    found = {number: witness.agreement(two) for number, two in pairs.items()}
    wanted = {}
    for number, agreed in found.items():
        ones = dict(zip(agreed["by grade"][::2], agreed["by grade"][1::2], strict=True))[1]
        about = {name: agreed[name] for name in ("pairs", "equal", "kappa")}
        wanted[str(number)] = about | {"equal of the ones": ones}
    agree(cells, {"f-agreement-rounds": wanted})
    assert wanted["7"]["kappa"] > 0.8 and wanted["7"]["equal of the ones"] < 0.75
    assert found[8]["kappa"] < min(found[number]["kappa"] for number in (7, 9, 10))
    for (query_id, doc_id, number), (first, second) in at.items():
        again = at.get((query_id, doc_id, number + 1))
        if again and first != second:
            three.setdefault((query_id, doc_id), (first, second, again[1]))
    for place, name in enumerate(("first", "second")):
        equal = sum(readings[place] == readings[2] for readings in three.values())
        told = f"the third agrees with the {name} on {equal} of {len(three)} pairs"
        assert told in cells["a-disagree-table"][0]


def test_the_reader_who_differs_from_all_the_others_is_counted_again(cells):
    """The readings are drawn in the same order; they are compared pair by pair, without tables."""
    rng, n, columns = np.random.default_rng(2026), 90, {}
    right = rng.choice([0, 1, 2], n).tolist()
    for name in ("person:ab", "person:cd", "person:ef"):
        slips, others = rng.random(n), rng.choice([0, 1, 2], n).tolist()
        rows = zip(right, slips, others, strict=True)
        columns[name] = [other if slip < 0.1 else grade for grade, slip, other in rows]
    for at, lenient in enumerate(rng.random(n)):
        if right[at] == 0 and lenient < 0.4:
            columns["person:ef"][at] = 1
    pairwise, alone = {}, {}
    for one, other in combinations(columns, 2):
        found = witness.agreement(list(zip(columns[one], columns[other], strict=True)))
        ends = dict(zip(("low", "high"), found["interval"], strict=True))
        pairwise[f"{one} and {other}"] = {"pairs": n, "kappa": found["kappa"], **ends}
    for name in columns:
        own, *others = columns[name], *(columns[other] for other in columns if other != name)
        same_two = [(g, a) for g, a, b in zip(own, *others, strict=True) if a == b]
        apart = [grade > agreed for grade, agreed in same_two if grade != agreed]
        alone[name] = {"the others agree": len(same_two), "differs alone": len(apart)}
        alone[name] |= {"of these higher": sum(apart)}
    agree(cells, {"f-agreement-pairwise": pairwise, "f-agreement-alone": alone})
    # What the text says of them.
    kappas = {name: row["kappa"] for name, row in pairwise.items()}
    assert max(kappas, key=kappas.get) == "person:ab and person:cd"
    assert max(alone, key=lambda name: alone[name]["differs alone"]) == "person:ef"
    assert alone["person:ef"]["of these higher"] > 0.8 * alone["person:ef"]["differs alone"]
    read = pd.read_json(FOLDER / "second_pass.jsonl", lines=True, dtype={"batch": str})
    twice = read.merge(read, on=["query_id", "doc_id"]).query("round_x < round_y")
    assert twice.groupby(["batch_x", "batch_y"]).size().max() < 10  # a few pairs


def test_sessions_count_lengths_windows_shared_words_and_useful_documents(cells, files, published):
    sizes = witness_sessions.lengths(files)
    agree(cells, {"a-hist": sizes})
    total = witness.facts(files)["tokens (cl100k_base)"][0]
    longest = sizes["max"]["tokens"] / sizes["50%"]["tokens"]
    told = "{} tokens; the longest document has {} times the median"
    assert fits(told, cells["a-hist"][0], total, longest, rounded=True)
    n, by_range = witness_sessions.orphan()
    shown = r"example (\d+) tokens\nrange: +(.*)\nwindows: (.*)"
    assert re.search(shown, cells["b-windows-count"][0]).groups() == (
        str(n),
        str(by_range),
        str([(0, n)]),
    )
    engine = witness.Okapi(witness.chunk_texts(files, "fixed"))
    query_id = next(q for q, row in files.queries.items() if row["split"] == "dev")
    some = [len(engine.search(files.queries[query_id]["query"])), len(engine.units)]
    said = cells["b-first-search-run"][0].partition(f"{query_id}: ")[2].partition("\n")[2]
    tells(said, {"{} of {} chunks share a word with it": some})
    asked, useful, full, found = five(published, "dev")
    phrases = {"of {} dev queries {} find a useful document in five": [asked, useful]}
    phrases["{} find a full answer there, of {} that have one"] = [found, full]
    tells(cells["c-full"][0], phrases)


def test_session_b_shows_first_ranks(cells, files, dev):
    """The five queries stand at quarters of their order by the first relevant rank."""
    ranks = {row["query_id"]: row["first_rank"] or math.inf for row in dev}
    order, wanted = sorted(ranks, key=lambda query_id: (ranks[query_id], query_id)), {}
    for query_id in (order[round(n * (len(order) - 1) / 4)] for n in range(5)):
        row, rank = files.queries[query_id], ranks[query_id]
        shown = "> 100" if math.isinf(rank) else str(rank)
        wanted[query_id] = {"kind": row["kind"], "query": row["query"].replace("\n", r"\n")}
        wanted[query_id] |= {"rank of first relevant": shown}
    agree(cells, {"b-choose": wanted})
    counts = re.findall(r"^ *(\d+) ", cells["b-published-run"][0], re.MULTILINE)
    assert counts == [str(n) for n in witness_sessions.first_places(files)]


def test_session_c_shows_both_halves_and_kinds(cells, files, published):
    means = {}
    for split, half in published["summary"].items():
        values = {name: value for name, value in half["measures"].items() if name != "MRR"}
        means[f"{split} (n={half['n']})"] = values
    kinds, columns = {}, ("nDCG@10", "MRR@10", "hit@5", "recall@10")
    for field in ("kind", "popularity"):
        for kind, row in published[f"by_{field}"]["dev"].items():
            asked = [q for q, r in files.queries.items() if (r[field], r["split"]) == (kind, "dev")]
            overlap = np.mean([witness.overlap(files, q) for q in asked])
            kinds[kind] = {name: row["measures"][name] for name in columns}
            kinds[kind] |= {"n": row["n"], "overlap": overlap}
    agree(cells, {"c-summary": means, "c-kinds-run": kinds})
    unanswered = len(files.asked) - len(files.queries)
    tells(cells["c-summary"][0], {"not in n: {} queries": unanswered})
    ndcg, ends = (published["summary"]["dev"][of]["nDCG@10"] for of in ("measures", "intervals"))
    text = cells["c-interval-then"][0].partition("by hand")[0]
    tells(text, {"nDCG@10 {},": ndcg, "interval {} to {}": ends})


def test_session_c_shows_the_lowest_queries(cells, published, dev):
    by_ndcg = sorted(dev, key=lambda row: row["measures"]["nDCG@10"])
    failing = [row for row in by_ndcg if row["measures"]["nDCG@10"] < 1]
    lowest = {}
    for row in failing[:MOST]:
        columns = {n: row["measures"][n] for n in ("nDCG@10", "RR@10", "hit@5", "recall@10", "AP")}
        columns |= {"kind": row["kind"], "first rank": row["first_rank"] or "<NA>"}
        lowest[row["query_id"]] = columns
    agree(cells, {"c-per-query": lowest})
    perfect = {"{} of {} are perfect": [len(dev) - len(failing), len(dev)]}
    tells(cells["c-per-query"][0], perfect | {"the {} lowest": len(lowest)})
    with_card = {"{} with a card": len(published["cards"])}
    tells(cells["c-card-run"][0], {"{} queries": len(failing)} | with_card)


def test_session_c_says_how_far_another_system_is(cells, published):
    dense = next(r for r in published["compared_dev"]["runs"] if r["name"].startswith("dense"))
    at = dense["measures"]["nDCG@10"]
    wide = witness.stats.t.ppf(0.975, at["n"] - 1)
    sd = (at["high"] - at["low"]) / 2 / wide * at["n"] ** 0.5
    ends = {"{} ({} to {})": [at["difference"], at["low"], at["high"]]}
    counts = {"better {}, equal {}, worse {}": [at["wins"], at["ties"], at["losses"]]}
    tells(cells["c-other"][0], ends | counts)
    tells(cells["c-flip-real"][0], {"flip test {}": at["p"], "t test {}": at["t_p"]})
    said = "".join(cells["c-detectable"])
    told, _, needed = said.partition("\nc-detectable")[0].rpartition(" difference of .05: ")
    told, rule, shown = told.partition(" = ")
    phrases = {"{} queries, spread {}": [at["n"], sd], "from {} up": at["detectable"]}
    tells(told.rpartition("\n")[0], phrases)
    assert rule and shows(shown.split()[0], 2.8 * sd / at["n"] ** 0.5)
    n = int(needed.split()[0])  # so many find .05, one fewer do not
    assert witness.detectable(n, sd) <= 0.05 < witness.detectable(n - 1, sd)


def test_session_c_shows_budgets(cells, files, lists):
    asked = witness_evidence.quoted(files, "dev")

    def recall(name: str, budget: int, cut: bool) -> float:
        shares = []
        for query_id, labels in asked.items():
            got = witness_evidence.delivered(lists[name][query_id], budget, cut)
            shares.append(len(witness_evidence.seen_at(labels, got)) / len(labels))
        return float(np.mean(shares))

    rules = {
        f"{name} {rule}": {f"{b:,} tokens": recall(name, b, cut) for b in BUDGETS}
        for name in ("fixed-256", "fixed", "fixed-1024")
        for rule, cut in (("cut", True), ("whole or not at all", False))
    }
    agree(cells, {"c-evidence-rule-run": rules})


def test_session_c_shows_answers_and_a_reader(cells, files, base, lists):
    within = partial(witness_sessions.answers_within, files)
    match = partial(witness_sessions.exact_match, files, base)
    answers = {n: {f"{b:,} tokens": within(of, b) for b in BUDGETS} for n, of in lists.items()}
    exact = {f"EM@{k}": {"strict": match(k, True), "SQuAD": match(k, False)} for k in (1, 5, 10)}
    outcomes = {
        outcome: dict(zip(("queries", "F1", "best"), values, strict=True))
        for outcome, values in witness_sessions.reading(files, base).items()
    }
    tables = {"c-evidence-answers-run": answers, "c-answers-em": exact}
    agree(cells, tables | {"c-reader-run": outcomes})
    n = len(witness_sessions.answered(files))
    for cell in ("c-evidence-answers-run", "c-answers-em"):
        assert cells[cell][0].startswith(f"{n} dev queries "), cell


def test_session_c_shows_variants_and_the_luck_of_the_best(cells, files, base):
    before = {split: witness.scored(files, base, split)["nDCG@10"] for split in witness.SPLITS}
    engines = witness_sessions.variants(files)
    values = {name: witness_sessions.ndcg_of(files, of, "dev") for name, of in engines.items()}
    of_dev = {name: witness.bounded(before["dev"], v) for name, v in values.items()}
    table = html_table(*cells["c-variants-board"])
    assert table.keys() == {"baseline", *of_dev}
    ps = [float(table[name]["p"].replace("<", "0")) for name in of_dev]
    for (name, at), p, adjusted in zip(of_dev.items(), ps, witness.holm(ps), strict=True):
        at["nDCG@10"] = at["run"]
        for column in ("nDCG@10", "difference", "detectable"):
            assert near(table[name][column], at[column]), (name, column)
        assert abs(p - at["p"]) <= drawn_apart(at) + 0.0005, (name, p, at["p"])  # three decimals
        assert table[name]["verdict"] == witness.verdict(at, adjusted), name
    best = max(of_dev, key=lambda name: of_dev[name]["run"])
    text = cells["c-confirm"][0]
    assert f"chosen on dev among {len(engines)}: {best}\n" in text
    after = witness.paired(before["test"], witness_sessions.ndcg_of(files, engines[best], "test"))
    for half, at in (("dev", of_dev[best]), ("test", after)):
        ends = at["difference"], at["low"], at["high"]
        assert fits(f"{half}: {{}} ({{}} to {{}})", text, *ends, rounded=True), half
    idf = partial(witness_sessions.idf, "BM25L")
    paper = witness_sessions.PublishedOkapi(witness.chunk_texts(files, "fixed"), idf=idf)
    at = witness.bounded(before["dev"], witness_sessions.ndcg_of(files, paper, "dev"))
    page = (ROOT / "notebooks/further/best_of_many.ipynb").read_text(encoding="utf-8")
    assert fits("on the workbook's own dev half is {}, and", page, at["difference"], rounded=True)
    assert f"the verdict is *{witness.verdict(at, at['p'])}*" in page
    gaps = np.array([v - before["dev"] for v in values.values()])
    lucky = [of_dev[best]["difference"], *witness_sessions.luck(gaps)]
    shown = [float(number) for number in re.findall(r"[+-]\.?\d\S*", cells["c-luck"][0])]
    assert shown == pytest.approx(lucky, abs=0.0015)  # drawn


def test_session_c_shows_the_range_of_unjudged_documents(cells, files, base):
    dense = witness.trec(FOLDER / "systems/dense-minilm-titled.trec")
    shares = witness_sessions.unjudged(files, base, dense)
    phrases = {"judged": "judged@10 {}", "as 0": "{} (as 0)", "left out": "{} (left out)"}
    phrases |= {"hopeful": "{} (all relevant)", "true": "with every label: {}"}
    tells(cells["c-unjudged-run"][0], {phrases[name]: value for name, value in shares.items()})


def test_the_audit_shows_what_another_count_finds(cells, files):
    lines = cells["a-audit-run"][0].splitlines()
    found = " ".join(" ".join(line[26:64] for line in lines).split())
    multi = (files.grades[q] for q, row in files.queries.items() if row["kind"] == "multi")
    single = [row for row in multi if sum(map(bool, row.values())) == 1]
    twice = {(r["query_id"], r["doc_id"]) for r in witness.rows(FOLDER / "second_pass.jsonl")}
    right = {(q, d) for q, row in files.grades.items() for d, g in row.items() if g}
    unlike = witness_sessions.doubles(files)
    zeros, unjudged = witness_sessions.held_elsewhere(files)
    assert fits("multi with one answer: {}", found, len(single))
    assert fits("near-doubles: {}; of them with other answers: {}", found, len(unlike), sum(unlike))
    assert fits("in a document judged 0: {}; in one not judged: {}", found, zeros, unjudged)
    assert right <= twice and "relevant labels read once" not in found


def test_the_judges_that_cost_nothing_are_made_by_other_code(cells, files):
    """Their kappa, AC1 and the nDCG@10 of every run under their labels."""
    runs = witness_sessions.ranked_ten(files)
    runs["baseline"] = runs.pop("fixed")
    kappas, scores = {}, {name: {} for name in runs}
    for judge, part in {"title alone": "title", "common words": "text"}.items():
        grades = witness_sessions.free_judge(files, part)
        agreed = witness_sessions.judge_agrees(files, grades)
        kappas[judge] = {"pairs": agreed["pairs"], "kappa": agreed["kappa"], "AC1": agreed["AC1"]}
        for name, run in runs.items():
            values = [witness_sessions.ndcg(run.get(q, []), grades[q]) for q in files.queries]
            scores[name][judge] = np.mean(values)
    table = html_table(*cells["f-judge-kappa-run"])
    assert not differences("kappa", {name: table[name] for name in kappas}, kappas)
    table = html_table(*cells["f-judge-scores"])
    table = {name: {judge: row[judge] for judge in kappas} for name, row in table.items()}
    assert not differences("nDCG@10", table, scores)
