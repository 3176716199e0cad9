"""Histories of a corpus, made by a seeded generator that knows where every sentence went.

Pages are lists of sentences, each with its origin: (page, number) in the old corpus. Whatever
happens to a page, a sentence keeps its origin, so the truth about a label is read off the pages.
"""

from random import Random
from typing import NamedTuple

WORDS = [a + b + c for a in "ba de fi go ku la me ni po ru".split() for b in "lt nd rk st".split()
         for c in "a el in os um er".split()]  # fmt: skip
STOCK = ("Ask the team.", "Then wait.", "Check the log first.", "Do not restart it twice.")


class Sentence(NamedTuple):
    """A sentence, where it stood in the old corpus (None: nowhere), and whether its words are."""

    words: str
    origin: tuple[str, int] | None = None
    is_edited: bool = False


class History(NamedTuple):
    """Old and new pages by id, and labels: (query, page, grade, alternatives of parts).

    A part is (origin, quote).
    """

    old: dict[str, list[Sentence]]
    new: dict[str, list[Sentence]]
    labels: list[tuple[str, str, int, list[list[tuple]]]]

    def homes(self, label: tuple) -> dict[str, bool]:
        """Return {new page that still holds an alternative of a label: whether word for word}.

        A stock phrase is at home, too, in a page with other sentences of the old one: nobody can
        tell it from the one that stood there.
        """
        homes = {}
        for page, sentences in self.new.items():
            there = {s.origin: s.words for s in sentences if s.origin}
            goes_on = sum(name == label[1] for name, _ in there) > 1
            whole = text(sentences) if goes_on else ""
            for parts in label[3]:
                exact = [quote in there.get(o, "") or quote in whole for o, quote in parts]
                if all(same or o in there for same, (o, _) in zip(exact, parts, strict=True)):
                    homes[page] = homes.get(page, False) or all(exact)
        return homes


def history(seed: int, n_pages: int = 120, n_labels: int = 300) -> History:
    """Return a history of `n_pages` pages with `n_labels` labels."""
    rng = Random(seed)
    old = {f"page-{n:03d}": page for n, page in enumerate(first_pages(rng, n_pages))}
    old = {d: [Sentence(words, (d, n)) for n, words in enumerate(old[d])] for d in old}
    return History(old, changed(rng, old), labels(rng, old, n_labels))


def text(page: list[Sentence]) -> str:
    """Return a page's text: paragraphs of three sentences."""
    sentences = [sentence.words for sentence in page]
    return "\n\n".join(" ".join(sentences[n : n + 3]) for n in range(0, len(sentences), 3))


def a_sentence(rng: Random) -> str:
    """Return a sentence of 4 to 14 words, of which the first ones of the list are frequent."""
    words = [WORDS[min(int(rng.expovariate(1 / 60)), 239)] for _ in range(rng.randint(4, 14))]
    return " ".join(words).capitalize() + "."


def first_pages(rng: Random, n: int) -> list[list[str]]:
    """Return pages, some of one template and some versions of another, with stock phrases."""
    templates = [[a_sentence(rng) for _ in range(5)] for _ in range(4)]
    pages = []
    for _ in range(n):
        page = [a_sentence(rng) for _ in range(rng.randint(3, 14))]
        chance = rng.random()
        if chance < 0.2:
            page += rng.choice(templates)
        elif chance < 0.3 and pages:  # a version: two sentences differ
            page = [*rng.choice(pages)]
            for place in rng.sample(range(len(page)), 2):
                page[place] = a_sentence(rng)
        page.insert(rng.randint(0, len(page)), rng.choice(STOCK))
        pages.append(page)
    return pages


def labels(rng: Random, old: dict[str, list[Sentence]], n: int) -> list[tuple]:
    """Return labels: a page, a grade, one or two alternatives of one or two parts of sentences."""
    rows = []
    for number in range(n):
        page = rng.choice([*old])
        alternatives = []
        for _ in range(rng.choice((1, 1, 2))):
            chosen = rng.sample(old[page], min(rng.choice((1, 1, 1, 2)), len(old[page])))
            alternatives.append([(s.origin, part_of(rng, s.words)) for s in chosen])
        rows.append((f"q{number}", page, rng.choice((1, 2)), alternatives))
    return rows


def part_of(rng: Random, words: str) -> str:
    """Return a sentence, or half of the time some of its words."""
    words = words.split()
    size = rng.randint(min(3, len(words)), len(words)) if rng.random() < 0.5 else len(words)
    start = rng.randint(0, len(words) - size)
    return " ".join(words[start : start + size])


def edited(rng: Random, sentence: Sentence) -> Sentence:
    """Return a sentence of which one word in six, at least one, is another, gone or new."""
    words = sentence.words.split()
    for _ in range(max(1, len(words) // 6)):
        place = rng.randrange(len(words))
        words[place : place + rng.choice((0, 1, 1))] = rng.choice(([rng.choice(WORDS)], []))
    return sentence._replace(words=" ".join(words) or "Gone.", is_edited=True)


def changed(rng: Random, old: dict[str, list[Sentence]]) -> dict[str, list[Sentence]]:
    """Return the new pages: each deleted, split, merged, doubled or kept, then sentences change."""
    pages: list[tuple[str, list[Sentence]]] = []
    for name in old:
        page, chance = [*old[name]], rng.random()
        if chance < 0.06:
            continue
        if chance < 0.12 and len(page) > 3:
            cut = rng.randint(1, len(page) - 1)
            pages += [(name, page[:cut]), (f"{name}-more", page[cut:])]
        elif chance < 0.18 and pages:
            pages[-1][1].extend(page)
        elif chance < 0.20:
            pages += [(name, page), (f"{name}-copy", [*page])]
        else:
            pages.append((f"{name}-renamed" if chance < 0.4 else name, page))
    pages += [(f"new-{n}", new_page(rng, old)) for n in range(len(old) // 10)]
    for _, page in pages:
        if rng.random() < 0.4:
            sentence_changes(rng, page, rng.choice(pages)[1])
    names = [name for name, page in pages]
    if rng.random() < 0.3:  # all ids new; half of the time old ids, of other pages
        names = rng.sample([*old, *(f"id-{n}" for n in range(len(pages)))], len(pages))
    return {name: page for name, (_, page) in zip(names, pages, strict=True) if page}


def new_page(rng: Random, old: dict[str, list[Sentence]]) -> list[Sentence]:
    """Return a page of today, with sentences that others of its kind have, too."""
    like = rng.choice([*old.values()])[-4:]
    page = [a_sentence(rng) for _ in range(rng.randint(3, 8))]
    seen = [s.words for page in old.values() for s in page]
    shared = [s.words for s in like if seen.count(s.words) > 2]
    page += [words for same in shared for words in (same, a_sentence(rng))]
    return [Sentence(words) for words in [*page, rng.choice(STOCK)]]


def sentence_changes(rng: Random, page: list[Sentence], other: list[Sentence]) -> None:
    """Edit, remove, move to another page or double there one to three sentences of a page."""
    for _ in range(rng.randint(1, 3)):
        if len(page) < 2 or page is other:
            return
        place = rng.randrange(len(page))
        what = rng.choice(("edit", "edit", "edit", "remove", "move", "double", "new"))
        if what in ("move", "double"):
            other.insert(rng.randint(0, len(other)), page[place])
        if what == "edit":
            page[place] = edited(rng, page[place])
        elif what == "new":
            page.insert(place, Sentence(a_sentence(rng)))
        elif what in ("remove", "move"):
            page.pop(place)
