"""Words for BM25, and texts that share runs of words."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Set
from itertools import chain
from math import ceil

import regex

# Scripts written without spaces, and Hangul, whose words carry their particles with them:
# Thai, Lao, Myanmar, Hangul, Khmer, Hiragana, Katakana, Han.
UNSPACED = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u1000-\u103f\u1050-\u109f\u1100-\u11ff"
    "\u1780-\u17d3\u3005\u3007\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U000323af"
)
RUNS = re.compile(rf"[{UNSPACED}]+|[^\W{UNSPACED}]+")


def how_many(counted: int | Collection, noun: str) -> str:
    """Return "1 query", "2,000 queries" for a number or for what is counted."""
    n = len(counted) if isinstance(counted, Collection) else counted
    many = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{n:,d} {noun if n == 1 else many}"


def counted(counts: dict) -> str:
    """Return "dev 3, test 5" for numbers by name."""
    return ", ".join(f"{name} {n}" for name, n in sorted(counts.items()))


Tokenizer = Callable[[str], list[str]]  # what splits a text into words


def words(text: str) -> list[str]:
    """Return the lower-cased runs of letters, digits and underscores: the baseline's tokenizer."""
    return re.findall(r"\w+", text.lower())


def unicode_words(text: str) -> list[str]:
    """Return the same with combining marks inside the word, as in Hindi: `\\w` breaks there."""
    return regex.findall(r"[\p{L}\p{N}_][\p{L}\p{N}\p{M}_]*", text.lower())


def bigrams(text: str) -> list[str]:
    """Return words; a run of a script without spaces becomes overlapping pairs of characters."""
    tokens = []
    for run in RUNS.findall(text.lower()):
        unspaced = re.match(f"[{UNSPACED}]", run)
        pairs = [run[i : i + 2] for i in range(len(run) - 1)] if unspaced else []
        tokens += pairs or [run]
    return tokens


# English function words, cut from queries where only content counts. scikit-learn's list is longer
# and holds "full", "back", "fire" and "system", which are content here (Nothman et al. 2018).
STOP_WORDS = frozenset(
    "a again an and any are as at be but by can did do does for from had has have how i if in into "
    "is it its may me must my next no not of off on only or our out s so t than that the their "
    "them then there they this to too up us was we were what when where which who whose why "
    "will with you your".split()
)


def content_words(words: list[str]) -> list[str]:
    """Return `words` without function words, in order."""
    return [word for word in words if word not in STOP_WORDS]


TOKENIZERS = {"words": words, "unicode-words": unicode_words, "bigrams": bigrams}
TOKENIZER_WORDS = {  # what results.json and the write-up say of them
    "words": r"re.findall(r'\w+', text.lower())",
    "unicode-words": "lower-cased runs of word characters with their combining marks",
    "bigrams": "lower-cased words; pairs of characters in scripts without spaces",
}


# Texts that share runs of words.

SHINGLE = 5  # words
NEAR = 0.15  # Jaccard over shingles from which two texts are worth a look
COPY, COPY_RUNS, COPY_HALF = 0.25, 10, 0.5  # when they count as one: see count_as_one
COPIES = 50  # texts with a shingle in common of which every pair is compared
Pair = tuple[str, str]


def pair_of(row: dict) -> Pair:
    """Return the query_id and doc_id of a row."""
    return row["query_id"], row["doc_id"]


def shingles(words: list[str], size: int = SHINGLE) -> set[str]:
    """Return the runs of `size` words; a shorter text is one shingle."""
    runs = {" ".join(words[i : i + size]) for i in range(len(words) - size + 1)}
    return runs or {" ".join(words)}


def near_duplicates(texts: dict[str, list], threshold=NEAR, size=SHINGLE) -> dict[Pair, float]:
    """Return {(id, id): Jaccard} of texts, given by their words, that share many shingles.

    Two texts as alike as t share one of the |A| - ceil(t |A|) + 1 rarest shingles of A (Chaudhuri
    et al. 2006), so a footer under every text makes no pairs. Of texts that share a shingle each is
    compared with the first COPIES: n equal texts would make n (n - 1) / 2 pairs.
    """
    sets = {name: shingles(words, size) for name, words in sorted(texts.items())}
    frequency = Counter(chain.from_iterable(sets.values()))
    pairs = {}
    holders = defaultdict(list)  # of a shingle: the texts in which it is among the rarest
    for name, own in sets.items():
        shared = sorted((frequency[run], run) for run in own if frequency[run] > 1)
        enough = max(0, len(shared) - ceil(threshold * len(own)) + 1)
        rarest = [run for _, run in shared[:enough]]
        for other in sorted({other for run in rarest for other in holders[run][:COPIES]}):
            jaccard = len(sets[other] & own) / len(sets[other] | own)
            if jaccard >= threshold:
                pairs[other, name] = jaccard
        for run in rarest:
            holders[run].append(name)
    return pairs


def count_as_one(a: list[str], b: list[str], template: Set[str] = frozenset()) -> bool:
    """Return whether two texts, given by their words, say the same in the same words.

    They share half of their shingles, or a quarter and at least ten: of those beside a template,
    where both have so many beside it.
    """
    a, b = shingles(a), shingles(b)
    if min(len(a - template), len(b - template)) >= COPY_RUNS:
        a, b = a - template, b - template
    shared, jaccard = len(a & b), len(a & b) / len(a | b)
    return jaccard >= COPY_HALF or (jaccard >= COPY and shared >= COPY_RUNS)


def merge_groups(groups: Iterable[Iterable[Hashable]]) -> list[set]:
    """Return the groups with those merged that share a member, directly or through others."""
    home = {}
    for group in map(set, groups):
        whole = group.union(*(home[member] for member in group if member in home))
        home |= dict.fromkeys(whole, whole)
    return list({id(whole): whole for whole in home.values()}.values())


def snippet(body: str, words: set[str], width: int = 240) -> str:
    """Return the stretch of `body`, about `width` characters, with the most different `words`."""
    starts = [m.start() for m in re.finditer(r"\w+", body) if m[0].lower() in words] or [0]

    def n_words(start: int) -> int:
        return len(words & set(re.findall(r"\w+", body[start : start + width].lower())))

    start = max(starts, key=n_words)  # the first of equals
    start -= len(re.search(r"[\w.-]*$", body[max(0, start - 40) : start])[0])  # on-call
    stretch = body[start:]
    if len(stretch) > width:
        stretch = stretch[:width].rsplit(" ", 1)[0] + " …"
    line = " ".join(stretch.split())
    return f"… {line}" if start else line
