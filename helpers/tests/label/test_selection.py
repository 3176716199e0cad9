"""What is selected on a rendered page becomes a passage of the text, word for word."""

import re

from helpers.label import markup, selection
from helpers.measure.inert import Markup

ROWS = "| code | **what** to do |\n|------|-----|\n| E1 | call `ops`, 24 h |\n| E2 | wait |\n"
TABLE = f"Start.\n\n{ROWS}"
STEPS = "# Steps\n\n1. Add a *consumer*.\n2. Look again.\n\n```sh\nkubectl get pods\n```\nDone.\n"
REFER = "See [the *ops* page][ops] and [ops].\n\n[ops]: https://x.y/z 'Ops'\n"
LINKS = (  # what it takes to show them must not hide or repeat words
    REFER,
    "- a [b][c] d\n\n  [c]: https://x\n\ne",
    "> a [b][c] d\n>\n> [c]: https://x\n",
    "a [b.org](b.org) c <https://x> d <e@f.org> g",
    'a ![b](c.png "a title") [![d](e.png)](f) g',
)
LOGS = "log the catalog, log **it**. Logs: log it"
PASSAGES = [  # what is selected on the page of a text, its passage of that text
    ("Add a consumer", STEPS, "Add a *consumer"),
    ("consumer.Look again.", STEPS, "consumer*.\n2. Look again."),
    ("again.kubectl get podsDone.", STEPS, "again.\n\n```sh\nkubectl get pods\n```\nDone."),
    ("E1call ops, 24 h", TABLE, "E1 | call `ops`, 24 h"),
    ("E1\tcall", TABLE, "E1 | call"),
    ("what to doE1", TABLE, "what** to do |\n|------|-----|\n| E1"),
    ("onsumer.Loo", STEPS, "consumer*.\n2. Look"),
    ("order_id is 5", "the order\\_id *is* 5 %", "order\\_id *is* 5"),
    ("(it is 5 %).", "(it is 5 %). So", "(it is 5 %)."),
    ("unbelievable", "un**believ**able", "un**believ**able"),
    ("2024. It", "in\n2024. It was", "2024. It"),
    ("東京の", "私は東京の人です", "東京の"),
    ("हिन्दी", "यह हिन्दी है", "हिन्दी"),
    ("here (https://x.y/z) now", "[here](https://x.y/z) now", "here](https://x.y/z) now"),
    ("page][ops] and", REFER, "page][ops] and"),
    ("log", LOGS, "log"),  # whole words win
    ("log it", LOGS, "log **it"),
    ("atalo", LOGS, "catalog"),
    ("og", LOGS, "log"),
    ("e lo", "the log", "the log"),
    *((selected, STEPS, "") for selected in ("", " \n", "— ** |", "consumer Done", "add a")),
    ("Steps 1. 2.", STEPS, ""),
]


def test_a_selection_is_found_in_the_text():
    for selected, text, quote in PASSAGES:
        assert selection.quote_of(selected, text) == quote and quote in text, selected


def test_all_that_a_page_shows_is_found_in_its_text():
    for text in (TABLE, STEPS, *LINKS):
        page = markup.markdown_html(text, set())
        shown = re.sub(r"&#(\d+);", lambda m: chr(int(m[1])), re.sub(r"<[^>]*>", "", page))
        assert selection.quote_of(shown, text)
        for line in filter(str.strip, shown.split("\n")):
            assert selection.quote_of(line, text), line


def test_the_page_starts_empty_and_has_its_script():
    page = selection.Selectable(value=Markup("<p>x</p>"))
    assert (page.value, page.selected) == ("<p>x</p>", "") and "export default" in page._esm
