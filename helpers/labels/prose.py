"""How the texts of a set are written: counts that tell a tidy collection from one in use."""

import re
from collections import Counter
from collections.abc import Iterable

from .. import evalset
from ..text import inert

CODE = re.compile(r"^(```|~~~).*?^\1|`[^`\n]*`|https?://\S+", re.MULTILINE | re.DOTALL)
CONTRACTION = re.compile(
    r"\b(?:\w+(?:n't|'re|'ll|'ve|'d|'m)|(?:it|that|there|what|here|who|let)'s)\b", re.IGNORECASE
)
ADDRESS, OPEN = r"https?://|\]\(", r"\b(?:TODO|TBD|FIXME)\b"
LOWER_HEADING = re.compile(r"^##+ +(.+)", re.MULTILINE)  # level 1 repeats the title
TONE = ("nobody", "never", "at once")


def prose_facts(evals: evalset.EvalSet) -> dict[str, str]:
    """Return what the data card says of the prose, a row for each, inert.

    Code and addresses are no words.
    """
    bodies = [document.text.replace("’", "'") for document in evals.documents.values()]
    plain = [CODE.sub(" ", body) for body in bodies]
    words = [evals.words(body) for body in plain]
    contractions = len(CONTRACTION.findall("\n".join(plain)))
    links, marks = (len(re.findall(mark, "\n".join(bodies))) for mark in (ADDRESS, OPEN))
    run, n_run = _most_frequent(zip(w, w[1:], w[2:], w[3:], strict=False) for w in words)
    outlines = [tuple(h.strip().lower() for h in LOWER_HEADING.findall(body)) for body in plain]
    outline, n_outline = _most_frequent([outline] for outline in outlines if len(outline) > 1)
    alike = f"{inert(' / '.join(outline))}, in {n_outline} documents"
    tone = (f"{word} in {sum(word in body.lower() for body in plain)}" for word in TONE)
    return {
        "contractions per 1,000 words": f"{1000 * contractions / max(1, sum(map(len, words))):.2f}",
        "links; TODO, TBD or FIXME": f"{links}; {marks}",
        "most frequent run of four words": f"{inert(' '.join(run))}, in {n_run} documents",
        "most frequent list of headings": alike if n_outline > 1 else "none stands twice",
        "documents with a word of tone": ", ".join(tone),
    }


def _most_frequent(of_documents: Iterable[Iterable[tuple]]) -> tuple[tuple, int]:
    """Return what most documents hold, the first by its words, and how many they are."""
    counts = Counter(part for own in of_documents for part in {*own})
    return min(counts.items(), key=lambda item: (-item[1], item[0]), default=(("none",), 0))
