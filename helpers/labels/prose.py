"""How the texts of a set are written: counts that tell a tidy collection from one in use."""

import re
from collections import Counter

from .. import evalset
from ..text import inert

CODE = re.compile(r"^(```|~~~).*?^\1|`[^`\n]*`|https?://\S+", re.MULTILINE | re.DOTALL)
CONTRACTION = re.compile(
    r"\b(?:\w+(?:n't|'re|'ll|'ve|'d|'m)|(?:it|that|there|what|here|who|let)'s)\b", re.IGNORECASE
)
ADDRESS = re.compile(r"https?://|\]\(")
OPEN = re.compile(r"\b(?:TODO|TBD|FIXME)\b")
LOWER_HEADING = re.compile(r"^##+ +(.+)", re.MULTILINE)  # level 1 repeats the title
TONE = ("nobody", "never", "at once")


def manner(evals: evalset.EvalSet) -> dict[str, str]:
    """Return what the data card says of the prose, a row for each.

    Code and addresses are no words.
    """
    bodies = [document.text.replace("’", "'") for document in evals.documents.values()]
    plain = [CODE.sub(" ", body) for body in bodies]
    words = [evals.words(body) for body in plain]
    short = sum(len(CONTRACTION.findall(body)) for body in plain)
    share = 1000 * short / max(1, sum(map(len, words)))
    links, marks = (sum(len(wanted.findall(b)) for b in bodies) for wanted in (ADDRESS, OPEN))
    tone = (f"{inert(word)} in {sum(word in body.lower() for body in plain):d}" for word in TONE)
    return {
        "contractions per 1,000 words": f"{share:.2f}",
        "links; TODO, TBD or FIXME": f"{links:d}; {marks:d}",
        "most frequent run of four words": _run_of_four(words),
        "most frequent list of headings": _skeleton(bodies),
        "documents with a word of tone": ", ".join(tone),
    }


def _run_of_four(texts: list[list[str]]) -> str:
    """Return the run of four words that stands in most documents, with their number."""
    runs = ({*zip(words, words[1:], words[2:], words[3:], strict=False)} for words in texts)
    ranked = sorted(
        Counter(run for own in runs for run in own).items(), key=lambda x: (-x[1], x[0])
    )
    return f"{inert(' '.join(ranked[0][0]))}, in {ranked[0][1]:d} documents" if ranked else "none"


def _skeleton(bodies: list[str]) -> str:
    """Return the list of two headings or more that most documents have, with their number."""
    lists = (
        tuple(h.strip().lower() for h in LOWER_HEADING.findall(CODE.sub(" ", b))) for b in bodies
    )
    found = sorted(Counter(h for h in lists if len(h) > 1).items(), key=lambda x: (-x[1], x[0]))
    if not found or found[0][1] == 1:
        return "none stands twice"
    return f"{inert(' / '.join(found[0][0]))}, in {found[0][1]:d} documents"
