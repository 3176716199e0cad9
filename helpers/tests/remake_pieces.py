"""Ask LangChain's splitters again and write helpers/teach/check/langchain.json.

They need 22 packages for this one comparison, so they get a folder of their own, for a moment:
python helpers/tests/remake_pieces.py. It needs the network. The tests check what they say.
"""

import datetime
import functools
import json
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

PACKAGE = "langchain-text-splitters"
VERSION = "1.1.3"
SIZES = (512, 64)  # tokens, as session B cuts the documents
MADE = 300
WORDS = "disk full a of Restart größe 🧯🧯 日本語のテキスト e\u0301 <|endoftext|> api-v2.1 x=1;"
GAPS = (" ", " ", " ", " ", "\n", "\n", "\n\n", "\n\n\n", "  ", "\t", "\r\n", " \n ", "\u00a0", "")


def made() -> list[tuple[str, int, str]]:
    """Return (text, size, unit): the cases of the exercise, then made ones."""
    import numpy as np

    from helpers.measure.stats import SEED
    from helpers.teach.check import recursive

    found = [(body, size, recursive.UNITS[of]) for body, size, of in recursive.questions()]
    rng = np.random.default_rng(SEED)
    for turn in range(MADE):
        words = rng.choice(WORDS.split(), rng.integers(1, 60))
        body = "".join(str(word) + str(rng.choice(GAPS)) for word in words)
        unit, most = ("tokens", 40) if turn % 2 else ("characters", 80)
        found.append((body, int(rng.integers(1, most)), unit))
    return found


def windows() -> list[tuple[int, int, int]]:
    """Return every (n, size, overlap) of small windows."""
    return [(n, s, o) for n in range(1, 17) for s in range(1, 7) for o in range(s)]


def ask(texts: list, spans: list) -> tuple[list, list]:
    """Return the pieces of `texts` and the spans of windows, from LangChain in a new folder."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder, "Scripts" if sys.platform == "win32" else "bin", "python")
        wanted = ["--quiet", "--target", f"{folder}/packages", f"{PACKAGE}=={VERSION}"]
        subprocess.run([python, "-m", "pip", "install", *wanted], check=True)
        sys.path.append(f"{folder}/packages")  # behind our own packages
        from langchain_text_splitters import RecursiveCharacterTextSplitter
        from langchain_text_splitters.base import Tokenizer, split_text_on_tokens

        from helpers.measure import tokens

        units = {"characters": len, "tokens": lambda piece: len(tokens.token_ids(piece))}

        def pieces(body, size, unit):
            cutter = RecursiveCharacterTextSplitter(
                chunk_size=size, chunk_overlap=0, length_function=units[unit]
            )
            return [piece for piece in cutter.split_text(body) if piece.strip()]  # blank at size 1

        def cut(n, size, overlap):
            cutter = Tokenizer(overlap, size, lambda i: (i[0], i[-1] + 1), lambda _: [*range(n)])
            return split_text_on_tokens(text="", tokenizer=cutter)

        return [pieces(*one) for one in texts], [cut(*one) for one in spans]


def lengths(body: str, pieces: list[str]) -> list[int]:
    """Return the lengths of pieces. Raises ValueError if the text does not follow from them."""
    from helpers.teach.check import stored

    found = [len(piece) for piece in pieces]
    whole = "".join("".join(pieces).split()) == "".join(body.split())
    if not whole or stored.pieces_of(body, found) != pieces:
        raise ValueError(f"more than white space is lost between the pieces of {body[:60]!r}")
    return found


def remake() -> dict:
    """Return the content of the file, without its date."""
    from helpers.measure import evalset
    from helpers.teach.check import stored

    bodies = [doc.retrieval_text for doc in evalset.load(evalset.DEFAULT).documents.values()]
    texts, documents = made(), {}
    whole = [*texts, *((body, size, "tokens") for body in bodies for size in SIZES)]
    pieces, spans = ask(whole, windows())
    cut = [lengths(body, own) for (body, *_), own in zip(whole, pieces, strict=True)]
    for (body, size, _), own in zip(whole[len(texts) :], cut[len(texts) :], strict=True):
        documents.setdefault(stored.short_hash(body), {})[str(size)] = own
    return {
        "package": f"{PACKAGE} {VERSION}",
        "made": [[*case, own] for case, own in zip(texts, cut, strict=False)],
        "documents": documents,
        "windows": [[*case, own] for case, own in zip(windows(), spans, strict=True)],
    }


def page(content: dict) -> str:
    """Return the file: a line for each text, document and window."""

    shown = functools.partial(json.dumps, ensure_ascii=False, separators=(",", ":"))
    parts = []
    for key, value in content.items():
        text = shown(value)
        if isinstance(value, dict):
            rows = (f"{shown(name)}:{shown(row)}" for name, row in value.items())
            text = "{\n" + ",\n".join(rows) + "\n}"
        elif isinstance(value, list):
            text = "[\n" + ",\n".join(map(shown, value)) + "\n]"
        parts.append(f"{shown(key)}:{text}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main() -> None:
    """Write the file unless LangChain says what it said; print how much there is."""
    from helpers.measure import files
    from helpers.teach.check import stored

    found = remake()
    former = json.loads(stored.STORED.read_text("utf-8")) if stored.STORED.exists() else {}
    date = former.pop("date", None)
    changed = former != json.loads(json.dumps(found))
    if changed:
        date = datetime.date.today().isoformat()
        files.write(stored.STORED, page({"date": date, **found}))
    sizes = ", ".join(f"{len(found[key])} {key}" for key in ("made", "documents", "windows"))
    print(f"{found['package']}: {sizes}; {'written' if changed else f'as on {date}'}")


if __name__ == "__main__":
    main()
