"""Check of the causes that a learner reads from failure cards."""

from collections.abc import Callable

from .values import shown
from .verdict import Wrong, not_started, returned

CAUSES = (  # in the order of their rules
    "version confusion",
    "no shared word",
    "tie",
    "evidence split across chunks",
    "length penalty",
    "common word dominates",
    "missing word",
    "stronger match elsewhere",
)


def check_causes(named: dict | Callable, by_rule: dict[str, str]) -> None:
    """Compare the causes that a learner named with those by rule, both {query_id: cause}.

    `named` needs five queries, or as many as there are. A pair (cause, reason) is kept against
    the rule, by a reader who has looked twice.
    """
    named = returned("causes", named)
    if not isinstance(named, dict):
        raise Wrong(f"check.causes wants a dict {{query_id: cause}}, got {shown(named)[:60]}")
    read = {q: cause for q, cause in named.items() if cause is not None and cause is not ...}
    wanted = min(5, len(by_rule))
    if not read and wanted:
        raise not_started("causes")
    kept = {q for q, cause in read.items() if isinstance(cause, tuple) and len(cause) == 2}
    given = {q: cause[0] if q in kept else cause for q, cause in read.items()}
    _refuse_other_causes(given, by_rule)
    differ = [q for q in given if given[q] != by_rule[q]]
    again = [q for q in differ if q not in kept]
    alike = f"causes: {len(given) - len(differ)} of {len(given)} as by rule"
    if again:
        advice = (
            "Look at these cards again. If you still see one otherwise, keep it with your reason: "
            f"{again[0]!r}: ({given[again[0]]!r}, 'because ...')"
        )
        lines = [f"  {q}: {_other_rule(given[q], by_rule[q])}" for q in again]
        raise Wrong("\n".join([alike, *lines, advice]))
    if len(given) < wanted:
        raise Wrong(f"{alike}, {len(given)} of {wanted} named: read on")
    against = [q for q in differ if q in kept]
    print(alike + (f", kept against it: {', '.join(against)}" if against else ""))


def _other_rule(given: str, by_rule: str) -> str:
    """Return in which direction the rule that applies stands, without its name."""
    if CAUSES.index(by_rule) < CAUSES.index(given):
        return f"a rule above {given!r} applies already"
    return f"the rule of {given!r} does not hold, and a later one does"


def _refuse_other_causes(given: dict, by_rule: dict[str, str]) -> None:
    """Raise Wrong for what is no cause, and for queries without a card."""
    unknown = [f"  {q}: {shown(cause)}" for q, cause in given.items() if cause not in CAUSES]
    if unknown:
        known = "\n".join(f"  {name}" for name in CAUSES)
        raise Wrong("\n".join(["causes: not a cause", *unknown, f"The causes are\n{known}"]))
    strangers = sorted(q for q in given if q not in by_rule)
    if strangers:
        raise Wrong(f"causes: no card for {', '.join(strangers)}; cards: {', '.join(by_rule)}")


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
SCORES = ("score", "best of all chunks", "without length")
SCORES += ("without common words", "without words it lacks")
NO_RULE = {
    "query_id": "q",
    "words": [["the", 0.5, 1.0, 1.0], ["disk", 2.0, 1.99, 2.0]],
    "common": ["the"],
    "lacks": [],
    "versions": False,
    "unjudged": True,  # is no cause
    **dict.fromkeys(SCORES, [2.99, 3.0]),
}


def check_cause(cause: Callable[[dict], str]) -> None:
    """Try the rules on made cards: each alone, and each with all that come after it."""
    for place, name in enumerate(CAUSES):
        alone, with_later = dict(NO_RULE), dict(NO_RULE)
        for later in reversed(CAUSES[place:]):
            with_later |= HOLDS[later]
        for card in (alone | HOLDS[name], with_later):
            if cause(card) != name:
                raise Wrong(f"cause: wanted {name!r}, got {shown(cause(card))} for {card}")
    print(f"cause: right on {2 * len(CAUSES)} made cards, each rule before those below it")
