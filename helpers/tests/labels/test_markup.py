"""Documents as the panel renders them: tables, code and lists, and nothing that acts."""

import html
import re

import pytest
from test_inert import RAW

from helpers.labels import markup


@pytest.mark.parametrize(
    ("text", "page"),
    [
        ("# A b\n", "<h1>A <mark>b</mark></h1>\n"),
        ("a\nb", "<p>a<br>\n<mark>b</mark></p>\n"),
        ("- a\n- `b`", "<ul>\n<li>a</li>\n<li><code><mark>b</mark></code></li>\n</ul>\n"),
        ("```sh\na b\n```", "<pre><code>a <mark>b</mark>&#10;</code></pre>"),
        ("<b>b</b>", "<p>&#60;<mark>b</mark>&#62;<mark>b</mark>&#60;/<mark>b</mark>&#62;</p>\n"),
        ("<div>\na\n</div>", "<p>&#60;div&#62;&#10;a&#10;&#60;/div&#62;</p>"),
        ("[a](https://x/b)", "<p>a (https&#58;//x/<mark>b</mark>)</p>\n"),
        ("<https://x>", "<p>https&#58;//x</p>\n"),
        ("![a](https://x/y.png)", "<p>a (https&#58;//x/y&#46;png)</p>\n"),
        ("~~a~~ **B**", "<p><del>a</del> <strong><mark>B</mark></strong></p>\n"),
    ],
)
def test_markdown_is_rendered_with_the_words_of_the_query_marked(text, page):
    assert html.unescape(markup.rendered(text, {"b"})) == html.unescape(page)


def test_a_table_is_a_table():
    page = markup.rendered("| a | b |\n|---|--:|\n| 1 | 2 \\| 3 |\n", {"b"})
    assert re.findall(r"<t[hd][^>]*>(.*?)</t", page) == [
        "a",
        "<mark>b</mark>",
        "1",
        "2 | 3",
    ]


def test_a_list_that_starts_late_keeps_its_numbers():
    assert '<ol start="1986">' in markup.rendered("1986. A year\n1987. Another", set())


@pytest.mark.parametrize("text", [RAW, *RAW.split("\n"), f"| {RAW} |", f"- {RAW}", f"```\n{RAW}"])
def test_a_hostile_text_has_no_tags_but_those_of_a_text(text):
    page = markup.rendered(text, {"a"})
    seen = set(re.findall(r"<(\w+)([^>]*)>", page))
    tags = {"p", "br", "mark", "span", "strong", "em", "del", "code", "pre", "h1", "h2", "hr"}
    tags |= {"ul", "ol", "li", "blockquote", "table", "thead", "tbody", "tr", "th", "td"}
    assert {tag for tag, _ in seen} <= tags and {facts for _, facts in seen} <= {"", ' start="1"'}


def test_the_buttons_say_what_a_grade_means():
    assert markup.grade_words((0, 1, 2)) == {
        0: "does not help",
        1: "helps in part",
        2: "answers it",
    }
    assert markup.grade_words((0, 1)) == {0: "does not help", 1: "answers it"}
    assert markup.grade_words((0, 1, 2, 3)) == {0: "does not help", 1: "", 2: "", 3: "answers it"}
    assert markup.help_of((0, 1, 2, 3))["2"] == "2: helps in part, with evidence"


def test_what_comes_after_the_last_document_is_cleaned():
    assert "<script>" not in markup.end_html([], 0, then="<script>x</script><b>y</b>")
