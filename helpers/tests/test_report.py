"""What people read of the results: the page of the write-up, and the summary."""

import re

import nbformat

from helpers.measure import evidence, report


def test_the_page_is_whole_and_shows_neither_code_nor_prompts():
    new = nbformat.v4
    first = new.new_markdown_cell("# Top & <more> #\nnot this")
    ticks = new.new_output("display_data", {"text/markdown": "- [x] done\n- [ ] open"})
    acts = "<p onclick='ran()'>kept</p><script>ran()</script>"
    raw = new.new_output("display_data", {"text/html": acts})
    code = new.new_code_cell("n = 1", outputs=[ticks, raw], execution_count=1)
    parts = "## Next\n### Not this\n## Appendix\n### How it is\n#### q1\n### Limits"
    page = report.html(new.new_notebook(cells=[code, first, new.new_markdown_cell(parts)]))
    head, _, body = page.partition("<main>")
    assert head.startswith('<!DOCTYPE html>\n<html lang="en">\n<head>')
    policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-"
    assert "<title>Top &amp; &lt;more&gt; #</title>" in head
    assert f'<meta http-equiv="Content-Security-Policy" content="{policy}action \'none\'">' in head
    assert f"<style>{report.STYLE.read_text(encoding='utf-8')}</style></head>\n<body>\n" in head
    assert page.endswith("\n</main>\n</body>\n</html>\n")
    assert "☑ done" in body and "☐ open" in body
    assert "<p>kept" in body
    assert not any(words in body for words in ("n = 1", "<input", "prompt", "In&nbsp;", "ran()"))
    links = '<li><a href="#How-it-is">How it is</a></li><li><a href="#Limits">Limits</a></li>'
    contents = f'<nav aria-label="Contents of the appendix"><ul>{links}</ul></nav>'
    assert re.search(f'<h2 id="Appendix">.*</h2>{contents}<h3 id="How-it-is">', body)
    short = report.html(new.new_notebook(cells=[first]))
    assert "<nav" not in short and "not this" in short


def test_on_paper_no_table_is_split_and_no_letter_is_smaller_than_nine_points():
    on_paper = report.STYLE.read_text(encoding="utf-8").partition("@media print {")[2]
    rules = {
        rule: {selector.strip() for selector in selectors.split(",")}
        for selectors, rule in re.findall(r"([^{}]+){[^{}]*(break-[^;}]+);", on_paper)
    }
    assert rules["break-inside: avoid"] >= {"table", "tr", "img", "li"}
    assert rules["break-after: avoid"] >= {"h2", "h3", "h4", "caption"}
    sizes = [float(size) for size in re.findall(r"font(?:-size)?: ([\d.]+)pt", on_paper)]
    assert min(sizes) == 9 and len(sizes) > 4 and "size: A4" in on_paper


MEANS = {"nDCG@10": 0.1234, "MRR@10": 0.2, "hit@1": 0.3, "hit@5": 0.4, "recall@10": 0.5}
FOUND = {
    "corpus": {"name": "X", "documents": 2, "tokens": 1200},
    "queries": {"n": 3, "unanswered": 0, "judgments": 4, "grades": [0, 1]},
    "method": {"engine": "bm25", "k1": 1.5, "b": 0.75, "chunk_tokens": 512, "overlap_tokens": 50,
               "depth": 100, "chunker": "fixed"},
    "evidence": {},
    "summary": {
        "dev": {"n": 2, "median_first_rank": 1.5, "measures": {**MEANS, "recall@100": 0.75}},
        "test": {"n": 1, "median_first_rank": None, "measures": {**MEANS, "recall@100": 1}},
    },
}  # fmt: skip


def test_the_summary_is_a_table_with_a_row_for_each_half():
    assert report.summary(FOUND) == (
        "Corpus: X, 2 documents, 1,200 tokens. Queries: 3, labelled with 4 judgments "
        "(grades 0, 1).\n\n"
        "Method: bm25 (k1 = 1.5, b = 0.75) over chunks of 512 tokens with 50 overlap; "
        "the best chunk counts for its document. nDCG has linear gain.\n\n"
        "| half | n | nDCG@10 | MRR@10 | hit@1 | hit@5 | recall@10 | recall@100 "
        "| median rank of first relevant |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
        "| dev | 2 | 0.123 | 0.200 | 0.300 | 0.400 | 0.500 | 0.750 | 1.5 |\n"
        "| test | 1 | 0.123 | 0.200 | 0.300 | 0.400 | 0.500 | 1.000 | none within 100 |"
    )
    by_k = {"document": [0.2, 0.3, 0.4, 0.5, 0.6], "evidence": [0, 0, 0, 0, 0.5]}
    of = {"n": 4, "by_k": by_k, "sets": {"fixed": {"means": {evidence.DECIDES: 0.25}}}}
    assert report.summary(FOUND | {"evidence": {"test": of}}).endswith(
        "\n\nEvidence, test (n = 4): the first five chunks hold it for 0.500 of the queries, and "
        "the right document for 0.600. The evidence recall within 2000 tokens is 0.250."
    )
    full = {"n": 3, "measures": {"full hit@5": 2 / 3, "full MRR@10": 0.5}}
    half = {"n": 4, "measures": MEANS | {"hit@5": 0.75, "recall@100": 1}, "full": full}
    assert report.summary(FOUND | {"summary": {"dev": half | {"median_first_rank": 1}}}).endswith(
        " | median rank of first relevant | full hit@5, of those with a full answer | of all |\n"
        f"|{' --- |'}{' ---: |' * 10}\n"
        "| dev | 4 | 0.123 | 0.200 | 0.300 | 0.750 | 0.500 | 1.000 | 1 | 0.667 (n = 3) | 0.500 |"
    )
    dev = {"dev": FOUND["summary"]["dev"]}
    few = report.summary(FOUND | {"summary": dev})
    assert few.startswith("3 answered queries, all dev. A test half pays from 60 on: its 40 find ")
    many = FOUND | {"summary": dev, "queries": FOUND["queries"] | {"n": 60}}
    assert report.summary(many).startswith("Corpus: X")
    one = FOUND | {"queries": {"n": 1, "unanswered": 0, "judgments": 1, "grades": [1]}}
    assert "Queries: 1, labelled with 1 judgment (grade 1).\n" in report.summary(one)
    one["queries"] |= {"unanswered": 2}
    assert "Queries: 1 and 2 without an answer, labelled with 1 " in report.summary(one)
