"""What is selected on a rendered page becomes a passage of the text, word for word."""

import re

from helpers.labels import markup, selection
from helpers.text import Markup

ROWS = "| code | **what** to do |\n|------|-----|\n| E1 | call `ops`, 24 h |\n| E2 | wait |\n"
TABLE = f"Start.\n\n{ROWS}"
STEPS = "# Steps\n\n1. Add a *consumer*.\n2. Look again.\n\n```sh\nkubectl get pods\n```\nDone.\n"


FOUND = [  # what is selected on the page of a text, and the passage of that text
    ("Add a consumer", STEPS, "Add a *consumer"),
    ("consumer.Look again.", STEPS, "consumer*.\n2. Look again."),
    ("2. Look", STEPS, "2. Look"),
    ("again.kubectl get podsDone.", STEPS, "again.\n\n```sh\nkubectl get pods\n```\nDone."),
    ("  get pods\n", STEPS, "get pods"),
    ("E1call ops, 24 h", TABLE, "E1 | call `ops`, 24 h"),
    ("E1\tcall", TABLE, "E1 | call"),
    ("what to doE1", TABLE, "what** to do |\n|------|-----|\n| E1"),
    ("onsumer.Loo", STEPS, "consumer*.\n2. Look"),
    ("order_id is 5", "the order\\_id *is* 5 %", "order\\_id *is* 5"),
    ("5 %).", "(it is 5 %). So", "5 %)."),
    ("(it is", "(it is 5 %). So", "(it is"),
    ("unbelievable", "un**believ**able", "un**believ**able"),
    ("2024. It", "in\n2024. It was", "2024. It"),
    ("東京の", "私は東京の人です", "東京の"),
    ("हिन्दी", "यह हिन्दी है", "हिन्दी"),
    ("here (https://x.y/z) now", "[here](https://x.y/z) now", "here](https://x.y/z) now"),
]


def test_a_selection_is_found_in_the_text():
    for selected, text, quote in FOUND:
        assert selection.quote_of(selected, text) == (quote, 1) and quote in text, selected
    for selected in ("", " \n", "— ** |", "consumer Done", "add a", "Steps 1. 2."):
        assert selection.quote_of(selected, STEPS) == ("", 0), selected


def test_words_at_several_places_are_counted_and_whole_words_win():
    text = "log the catalog, log **it**. Logs: log it"
    assert selection.quote_of("log", text) == ("log", 3)
    assert selection.quote_of("log it", text) == ("log **it", 2)
    assert selection.quote_of("atalo", text) == ("catalog", 1)
    assert selection.quote_of("og", text) == ("log", 5)


def test_the_panel_says_what_it_took():
    for quote, said in (
        (("a b", 1), "Evidence taken: 2 words. Choose"),
        (("a", 2), "Evidence taken: 1 word. They stand at 2 places, so select more to say which"),
        (("", 0), "No passage of the document reads like this selection: begin and end it inside"),
    ):
        assert selection.selection_text(selection.Quote(*quote)).startswith(said)


def test_all_that_a_page_shows_is_found_in_its_text():
    for text in (TABLE, STEPS):
        page = markup.rendered(text, set())
        shown = re.sub(r"&#(\d+);", lambda m: chr(int(m[1])), re.sub(r"<[^>]*>", "", page))
        assert selection.quote_of(shown, text).places == 1
        for line in filter(str.strip, shown.split("\n")):
            assert selection.quote_of(line, text).words, line


def test_the_page_starts_empty_and_has_its_script():
    page = selection.Selectable(value=Markup("<p>x</p>"))
    assert (page.value, page.selected) == ("<p>x</p>", "") and "export default" in page._esm
