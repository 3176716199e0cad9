"""Check of the causes that a learner reads from failure cards, each with its evidence."""

import re
from collections.abc import Callable
from operator import itemgetter
from typing import NamedTuple

from ...measure import runs
from ...measure.text import content_words
from .passed import tell_passed
from .recorded import recorded
from .values import as_code
from .verdict import Wrong, not_started, value_of

NUMBER = re.compile(r"(?<![\w.])-?\d+\.\d+")
READ_AT_LEAST, SOME_CARDS = 3, 5  # cards to read, and to name
EVIDENCE_FIRST = "causes: beside each cause stands what shows it, from the card"
WORDS_OF_A_REASON = 3  # fewer are no reason


class Reading(NamedTuple):
    """What a learner names for a card; `reason` keeps a cause against the rule."""

    cause: object
    evidence: object = ""
    reason: object = ""


class Cause(NamedTuple):
    """What shows a cause: `proof` returns words, ids and numbers of a card, `told` says which."""

    told: str
    proof: Callable[[dict], list]


def _stronger(card: dict) -> list[str]:
    """Return the words that gave the rival more."""
    return [word for word, _, wanted, rival in card["words"] if rival > wanted]


def _lacked(card: dict) -> list[str]:
    return [word for word in _stronger(card) if word in card["lacks"]]


def _elsewhere(card: dict) -> list[str]:
    """Return the words that the wanted document holds outside its best chunk."""
    found = [word for word, idf, wanted, _ in card["words"] if wanted == 0 and idf is not None]
    return [word for word in found if word not in card["lacks"]]


CAUSES = {  # in the order of their rules
    "version confusion": Cause("the id of the rival", lambda card: [card["rival"]]),
    "no shared word": Cause(
        "a word of the query that the wanted document lacks, or a common one where it lacks none",
        lambda card: card["lacks"] or card["common"],
    ),
    "tie": Cause("the score of both", itemgetter("score")),
    "evidence split across chunks": Cause(
        "a score of the row 'each word from its best chunk', or a word that stands in another "
        "chunk",
        lambda card: [*card["best of all chunks"], *_elsewhere(card)],
    ),
    "length penalty": Cause("a score of the row 'ignore length'", itemgetter("without length")),
    "common word dominates": Cause(
        "a common word that gave the rival more",
        lambda card: [word for word in _stronger(card) if word in card["common"]],
    ),
    "missing word": Cause("a word that the rival has and the wanted document lacks", _lacked),
    "stronger match elsewhere": Cause("a word that gave the rival more", _stronger),
}


@recorded
def causes(named: dict | Callable, by_rule: dict[str, str], cards: dict[str, dict]) -> None:
    """Compare named causes with those by rule, and their evidence with the cards.

    `named` is {query_id: (cause, evidence)}, for three queries or as many as there are; the
    evidence is a short text with what shows the cause on the card. (cause, evidence, reason) is
    kept against the rule, by a reader who has looked twice.
    """
    named = value_of("causes", named)
    if not isinstance(named, dict):
        wanted = "a dict {query_id: (cause, evidence)}"
        raise Wrong(f"check.causes wants {wanted}, got {as_code(named)[:60]}")
    read = {}
    for query_id, found in named.items():
        if found is not None and found is not ...:
            read[query_id] = _reading(found)
    wanted = min(READ_AT_LEAST, len(by_rule))
    if not read and wanted:
        raise not_started("causes")
    _refuse_other_causes({q: reading.cause for q, reading in read.items()}, by_rule)
    _refuse_no_evidence(read)
    differ = [q for q, reading in read.items() if reading.cause != by_rule[q]]
    again = {q: read[q] for q in differ if not _is_kept(read[q])}
    weak = {}
    for query_id, reading in read.items():
        problem = "" if query_id in again else _problem(reading, cards[query_id])
        if problem:
            weak[query_id] = problem
    alike = f"causes: {len(read) - len({*differ, *weak})} of {len(read)} as by rule"
    _refuse_other_readings(alike, again, weak, by_rule)
    if len(read) < wanted:
        raise Wrong(f"{alike}, {len(read)} of {wanted} named: read on")
    kept = f", kept against it: {', '.join(differ)}" if differ else ""
    tell_passed("causes", alike + kept)


def _reading(found: object) -> Reading:
    """Return what stands in one to three places; anything else is taken for a cause."""
    if isinstance(found, tuple | list) and 0 < len(found) < 4:
        return Reading(*found)
    return Reading(found)


def _is_kept(reading: Reading) -> bool:
    return len(str(reading.reason).split()) >= WORDS_OF_A_REASON


def _refuse_other_causes(given: dict, by_rule: dict[str, str]) -> None:
    """Raise Wrong for what is no cause, and for queries without a card."""
    known = [*CAUSES]
    unknown = [f"  {q}: {as_code(cause)}" for q, cause in given.items() if cause not in known]
    if unknown:
        listed = "\n".join(f"  {name}" for name in known)
        told = ["causes: not a cause", *unknown, f"The causes are\n{listed}"]
        raise Wrong("\n".join(told), f"not a cause: {unknown[0].strip()}")
    strangers = sorted(str(q) for q in given if q not in by_rule)
    if strangers:
        some = runs.first_names(by_rule, SOME_CARDS)
        raise Wrong(f"causes: no card for {', '.join(strangers)}; cards: {some}")


def _refuse_no_evidence(read: dict[str, Reading]) -> None:
    """Raise Wrong where a cause stands without evidence."""
    lines, examples = [], []
    for q, (cause, evidence, _) in read.items():
        if not str(evidence).strip():
            lines.append(f"  {q}: no evidence yet; {cause!r} is shown by {CAUSES[cause].told}")
            examples.append(f"For example {q!r}: ({cause!r}, '...')")
    if lines:
        raise Wrong("\n".join([EVIDENCE_FIRST, *lines, examples[0]]), lines[0].strip())


def _problem(reading: Reading, card: dict) -> str:
    """Return what is wrong with the evidence of one card, empty if it shows the cause.

    A cause that is kept against the rule needs something of the card, whatever it is.
    """
    cause, evidence = reading.cause, str(reading.evidence)
    words = [row[0] for row in card["words"]]
    on_card = [card["wanted"], card["rival"], *words]
    for name in ("score", "best of all chunks", "without length"):
        on_card += card[name]
    proof = on_card if _is_kept(reading) else CAUSES[cause].proof(card)
    held = [item for item in proof if stands_in(item, evidence)]
    told = f"{as_code(evidence)[:60]} does not show it; wanted is {CAUSES[cause].told}"
    if not held:
        return told
    if all(_is_in_passing(item, evidence, words) for item in held):
        return f"{told}; if {as_code(held[0])} is meant, put it in quotes"
    if {*words} - {*proof} and all(stands_in(word, evidence) for word in words):
        return f"all words of the query stand there; wanted is {CAUSES[cause].told}"
    return ""


def _is_in_passing(item: str | float, evidence: str, words: list[str]) -> bool:
    """Return whether an item is a function word, not in quotes, in a sentence that may hold any.

    A list of `words` of the query is no sentence.
    """
    if not isinstance(item, str) or content_words([item.lower()]):
        return False
    quoted = re.search(rf"""["'`]{re.escape(item)}["'`]""", evidence, re.IGNORECASE)
    others = {*re.findall(r"\w+", evidence.lower())} - {word.lower() for word in words}
    return len(others) >= WORDS_OF_A_REASON and not quoted


def stands_in(item: str | float, evidence: str) -> bool:
    """Return whether a word, an id or a number of a card stands in a text, whole.

    A number may have any decimals, at least one.
    """
    if isinstance(item, str):
        return bool(re.search(rf"(?<!\w){re.escape(item)}(?!\w)", evidence, re.IGNORECASE))
    told = [(float(text), len(text.partition(".")[2])) for text in NUMBER.findall(evidence)]
    return any(abs(value - item) <= 0.5 * 10**-decimals + 1e-9 for value, decimals in told)


def _refuse_other_readings(
    alike: str, again: dict[str, Reading], weak: dict[str, str], by_rule: dict[str, str]
) -> None:
    """Raise Wrong for other causes than the rule's, unless kept, and for evidence that is weak."""
    lines = [f"  {q}: {_other_rule(reading.cause, by_rule[q])}" for q, reading in again.items()]
    if again:
        first, (cause, evidence, _) = next(iter(again.items()))
        lines.append(
            "Look at these cards again. If you still see one otherwise, keep it with your reason: "
            f"{first!r}: ({cause!r}, {evidence!r}, 'because ...')"
        )
    if weak:
        lines += [EVIDENCE_FIRST, *(f"  {q}: {words}" for q, words in weak.items())]
    if lines:
        short = next(line for line in lines if line.startswith("  "))
        raise Wrong("\n".join([alike, *lines]), short.strip())


def _other_rule(given: str, by_rule: str) -> str:
    """Return in which direction the rule that applies stands, without its name."""
    order = [*CAUSES]
    if order.index(by_rule) < order.index(given):
        return f"a rule above {given!r} applies already"
    return f"the rule of {given!r} does not hold, and a later one does"


# What makes each rule hold on a card where none does.
HOLDS = {
    "version confusion": {"versions": True},
    "no shared word": {"common": ["the"], "lacks": ["disk"]},
    "tie": {"score": [3.0, 3.0]},
    "evidence split across chunks": {"best of all chunks": [3.0, 3.0]},
    "length penalty": {"without length": [3.0, 3.0]},
    "common word dominates": {"without common words": [3.0, 3.0]},
    "missing word": {"without words it lacks": [3.0, 3.0]},
    "stronger match elsewhere": {},
}
SCORES = (
    "score",
    "best of all chunks",
    "without length",
    "without common words",
    "without words it lacks",
)
NO_RULE = {
    "query_id": "q",
    "words": [["the", 0.5, 1.0, 1.0], ["disk", 2.0, 1.99, 2.0]],
    "common": ["the"],
    "lacks": [],
    "versions": False,
    "unjudged": True,  # is no cause
    **dict.fromkeys(SCORES, [2.99, 3.0]),
}


@recorded
def cause(function: Callable[[dict], str]) -> None:
    """Try the rules on made cards: each alone, and each with all that come after it."""
    names = [*CAUSES]
    for place, name in enumerate(names):
        alone, with_later = dict(NO_RULE), dict(NO_RULE)
        for later in reversed(names[place:]):
            with_later |= HOLDS[later]
        for card in (alone | HOLDS[name], with_later):
            if function(card) != name:
                raise Wrong(f"cause: wanted {name!r}, got {as_code(function(card))} for {card}")
    said = f"cause: right on {2 * len(CAUSES)} made cards, each rule before those below it"
    tell_passed("cause", said)
