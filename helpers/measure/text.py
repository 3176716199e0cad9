"""Words for BM25, tokens for chunk sizes, and texts as they are shown."""

import functools
import hashlib
import numbers
import os
import re
import string
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Set
from html import unescape
from itertools import chain
from math import ceil
from pathlib import Path
from typing import TextIO
from unittest.mock import patch

import markupsafe
import regex
import tiktoken

VOCABULARY = Path(__file__).with_name("vocabulary")  # a cache of tiktoken, which names its files
CACHED = "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"  # by the SHA-1 of their address
SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"

# Scripts written without spaces, and Hangul, whose words carry their particles with them:
# Thai, Lao, Myanmar, Hangul, Khmer, Hiragana, Katakana, Han.
UNSPACED = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u1000-\u103f\u1050-\u109f\u1100-\u11ff"
    "\u1780-\u17d3\u3005\u3007\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U000323af"
)
RUNS = re.compile(rf"[{UNSPACED}]+|[^\W{UNSPACED}]+")


def how_many(n: int, noun: str) -> str:
    """Return "1 query", "2,000 queries"."""
    many = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{n:,d} {noun if n == 1 else many}"


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
    pairs: dict[Pair, float] = {}
    holders = defaultdict(list)  # of a shingle: the texts in which it is among the rarest
    for name, own in sets.items():
        shared = sorted((frequency[run], run) for run in own if frequency[run] > 1)
        rarest = [run for _, run in shared[: max(0, len(shared) - ceil(threshold * len(own)) + 1)]]
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
    home: dict[Hashable, set] = {}
    for group in map(set, groups):
        whole = group.union(*(home[member] for member in group if member in home))
        home |= dict.fromkeys(whole, whole)
    return list({id(whole): whole for whole in home.values()}.values())


# Tokens, for chunk sizes.


@functools.cache
def encoding() -> tiktoken.Encoding:
    """Return the token encoding, read once from `helpers/vocabulary`.

    Raises OSError for another file than tiktoken wants: it would delete it and go to the network.
    """
    path = VOCABULARY / CACHED
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "missing"
    if sha256 != SHA256:
        remedy = "take the file from the workbook's repository again"
        raise OSError(f"{path}: SHA-256 is {sha256}, wanted {SHA256}: {remedy}")
    with patch.dict(os.environ, TIKTOKEN_CACHE_DIR=str(VOCABULARY)):
        return tiktoken.get_encoding("cl100k_base")


def token_ids(text: str) -> list[int]:
    """Return the token ids of `text`. Text that looks like a special token is plain text."""
    return encoding().encode(text, disallowed_special=())


def token_starts(ids: list[int], numbers: set[int]) -> dict[int, int]:
    """Return {n: character at which token n begins}, for some tokens of one text.

    A token that begins inside a character is given that character; one past the last gives the
    text's length.
    """
    starts, done, characters, begun = {}, 0, 0, b""
    for number in sorted(numbers):
        read = begun + encoding().decode_bytes(ids[done:number])
        whole = read.decode(errors="ignore")  # without the character that the last token begins
        begun = read[len(whole.encode()) :]
        characters += len(whole)
        starts[number], done = characters, number
    return starts


# Texts of a set as they are shown: no character of theirs acts.

ACTING = (  # controls but tab and line end, marks that turn the direction, half characters
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff"
)
ACTIVE = re.compile(  # what HTML or Markdown gives a meaning to, anywhere or at the start
    r"""[&<>"'`*~|@^{}\[\]$\\\n\t]|(?<![^\W_])_|_(?![^\W_])|:(?=//)|(?<=www)\.|"""
    r"\A[-+=:.#]|\A\d(?=\d*[.)])|\A (?=[-+=# \d])",
    re.IGNORECASE,
)


def visible(text: str) -> str:
    """Return `text` with what acts on a terminal or a reading direction as escapes: \\x1b."""
    return re.sub(f"[{ACTING}]", lambda m: m[0].encode("unicode_escape").decode(), text)


class Markup(markupsafe.Markup):
    """Text that is HTML or Markdown. Plain text that is put into it becomes inert.

    `Markup("<p>{}</p>").format(text)`, `+`, `%` and `join` all do that, so nothing but a literal of
    ours, passed to Markup, becomes markup.
    """

    __slots__ = ()

    @classmethod
    def escape(cls, text: object) -> "Markup":
        """Return markup as it is, and any other text as markup that shows it and does nothing.

        A character with a meaning in HTML or Markdown becomes a numeric reference; `$` and a
        backslash, which JupyterLab takes for formulas, stand in an element each.
        """
        if hasattr(text, "__html__"):
            return cls(text.__html__())
        return cls(ACTIVE.sub(_reference, visible(str(text))))

    def format(self, *values: object, **named: object) -> "Markup":
        """Fill the places as str.format does; numbers stand as they are formatted."""
        return Markup(_Inert().vformat(self, values, named))


inert = Markup.escape


class _Inert(string.Formatter):
    def format_field(self, value: object, spec: str) -> str:
        shown = format(value, spec)
        return shown if isinstance(value, numbers.Number | Markup) else inert(shown)


def _reference(match: re.Match) -> str:
    reference = f"&#{ord(match[0])};"
    return f"<span>{reference}</span>" if match[0] in "$\\" else reference


def html(page: str):
    """Return what a cell shows as HTML; all but Markup is inert."""
    from IPython.display import HTML  # needed in cells only

    return HTML(inert(page))


def markdown(page: str):
    """Return what a cell shows as Markdown; all but Markup is inert."""
    from IPython.display import Markdown

    return Markdown(inert(page))


def template(path: Path, **filters: Callable):
    """Return a Jinja template with further filters: all it is given becomes inert unless Markup."""
    import jinja2  # needed for pages only

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(path.parent),
        finalize=inert,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {"number": number, "interval": interval, "many": how_many}
    environment.filters |= {"measure_name": measure_name} | filters
    return environment.get_template(path.name)


def number(value: float | None, form: str = ".3f") -> Markup:
    """Return a number as it is formatted, "" for None."""
    return Markup("" if value is None else f"{{:{form}}}").format(value)


def interval(ends: tuple[float | None, float | None], form: str = ".3f") -> Markup:
    """Return both ends of an interval, "" where there is none."""
    return Markup("") if None in ends else number(ends[0], form) + " to " + number(ends[1], form)


def measure_name(name: str) -> Markup:
    """Return the name of a measure as it is written, full hit@5; any other text is inert."""
    return Markup(name) if re.fullmatch(r"[A-Za-z][A-Za-z -]*@\d+", name) else inert(name)


def paragraphs(page: str) -> Markup:
    """Return a filled template with a line for each paragraph, item, heading and row of a table."""
    lines = re.sub(r"(?<![ \n])\n *(?![ \n#>|]|- )", " ", page.strip())
    return Markup(re.sub(r"\n{3,}", "\n\n", lines))


def mark_words(body: str, words: set[str]) -> Markup:
    """Return `body` as markup in which the given lower-case words are marked."""
    mark, parts = Markup("<mark>{}</mark>"), re.split(r"(\w+)", body)
    return Markup("").join(mark.format(part) if part.lower() in words else part for part in parts)


def snippet(body: str, words: set[str], width: int = 240) -> str:
    """Return the stretch of `body`, about `width` characters, with the most different `words`."""
    starts = [m.start() for m in re.finditer(r"\w+", body) if m[0].lower() in words] or [0]

    def n_words(start: int) -> int:
        return len(words & set(re.findall(r"\w+", body[start : start + width].lower())))

    start = max(starts, key=n_words)  # the first of equals
    stretch = body[start:]
    if len(stretch) > width:
        stretch = stretch[:width].rsplit(" ", 1)[0] + " …"
    return "… " * bool(start) + " ".join(stretch.split())


def without_markdown(page: str) -> str:
    """Return the words that a Markdown page shows, on one line; HTML in it is shown as text."""
    import mistune  # a search alone doesn't need it

    render = mistune.create_markdown(plugins=["table", "strikethrough", "task_lists"])
    return Markup(render(page)).striptags()


def plain(page: str) -> str:
    """Return a Markdown page as a terminal shows it: each reference as the sign it stands for."""
    return unescape(re.sub("</?span>", "", page))


KEPT = set("alt class colspan data-label id role rowspan scope start style".split())
SAFE = {
    "href": re.compile(r"#|https://|[A-Za-z]\w*\.(md|jsonl?)\Z"),  # or a file beside the page
    "src": re.compile("data:image/png;base64,"),
}


def clean(page: str) -> str:
    """Return HTML with the tags of a text, tables and drawings inside the page, and no others.

    Of every other tag the words stay, of a script or a style nothing. Images come from nowhere but
    the page, links lead into it, to a file beside it and to https.
    """
    import nh3  # compiled: where there is no wheel, only pages and the panel lack it

    def keep(tag: str, name: str, value: str) -> str | None:
        return value if name not in SAFE or SAFE[name].match(value) else None

    return nh3.clean(
        page,
        attributes={"*": KEPT, "a": {"href"}, "img": {"src"}},
        attribute_filter=keep,
        filter_style_properties={"text-align", "width"},
        url_schemes={"https", "data"},
        link_rel=None,
    )


class Screen:
    """A stream on which no text acts and none fails: controls and the like become escapes."""

    def __init__(self, stream: TextIO):
        self.stream = stream
        stream.reconfigure(errors="backslashreplace")  # what its encoding lacks

    def write(self, text: str) -> int:
        """Write what is visible of `text`."""
        return self.stream.write(visible(text))

    def __getattr__(self, name: str) -> object:
        return getattr(self.stream, name)
