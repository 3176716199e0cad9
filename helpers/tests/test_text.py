"""Words and runs of words are those that are promised."""

import pytest

from helpers.measure import text


def test_numbers_of_things_read_as_english():
    told = [text.how_many(n, noun) for noun in ("document", "query") for n in (0, 1, 2)]
    assert told == "0 documents,1 document,2 documents,0 queries,1 query,2 queries".split(",")


@pytest.mark.parametrize(
    ("name", "body", "wanted"),
    [
        ("words", "東京タワーは 2 度 हिन्दी AB_1", "東京タワーは 2 度 ह न द ab_1"),
        ("unicode-words", "東京タワーは 2 度 हिन्दी AB_1", "東京タワーは 2 度 हिन्दी ab_1"),
        ("unicode-words", "E\u0301TÉ \u0301x, 7", "e\u0301té x 7"),  # a mark begins no word
        ("bigrams", "東京タワーは 2 度 हिन्दी AB_1", "東京 京タ タワ ワー ーは 2 度 ह न द ab_1"),
        ("bigrams", "ไทย10กa中", "ไท ทย 10 ก a 中"),
        ("bigrams", "京 한국어 A_1b", "京 한국 국어 a_1b"),
    ],
)
def test_tokenizers(name, body, wanted):
    assert text.TOKENIZERS[name](body) == wanted.split() and name in text.TOKENIZER_WORDS


def test_content_words_keep_their_order_and_repeats():
    assert text.content_words("is the disk on disk full".split()) == ["disk", "disk", "full"]
    assert text.STOP_WORDS.isdisjoint(["full", "back", "fire", "system"])


def numbered(start, end):
    return [f"w{n}" for n in range(start, end)]


def test_shingles_are_the_runs_of_five_words_or_the_whole_of_a_shorter_text():
    assert text.shingles(numbered(0, 6)) == {"w0 w1 w2 w3 w4", "w1 w2 w3 w4 w5"}
    assert text.shingles(numbered(0, 4)) == {"w0 w1 w2 w3"} and text.shingles([]) == {""}


def test_near_duplicates_are_pairs_in_the_order_of_their_names_from_the_threshold_on():
    texts = {"c": numbered(0, 24), "a": numbered(0, 24), "d": numbered(12, 36)}
    texts |= {"b": numbered(0, 24), "e": numbered(90, 99)}  # 8 of 32 runs of d are those of a
    alike = {("a", "b"): 1.0, ("a", "c"): 1.0, ("b", "c"): 1.0}
    some = {("a", "d"): 0.25, ("b", "d"): 0.25, ("c", "d"): 0.25}
    assert [*text.near_duplicates(texts).items()] == [*(alike | some).items()]
    assert text.near_duplicates(texts, 0.25) == alike | some
    assert text.near_duplicates(texts, 0.26) == alike
    edge = {"a": numbered(0, 27), "b": numbered(17, 44)}  # 6 of 40 runs: .15
    assert text.near_duplicates(edge) == {("a", "b"): 0.15}
    assert text.near_duplicates({**edge, "b": numbered(17, 45)}) == {}


def test_texts_of_so_many_shared_runs_and_so_many_alone_are_one_or_two():
    """Runs alone on either side: half are shared, or a quarter and ten."""
    for shared, alone, one in (
        (1, 0, True), (4, 2, True), (5, 3, False), (10, 15, True), (10, 16, False), (9, 13, False),
    ):  # fmt: skip
        a = numbered(0, alone + shared + 4)
        b = numbered(alone, alone + shared + 4) + [f"b{n}" for n in range(alone)]
        assert text.count_as_one(a, b) == one, (shared, alone)


def test_a_template_makes_no_two_texts_one_where_both_have_ten_runs_beside_it():
    form = numbered(0, 40)
    template = text.shingles(form)
    for alone, common, one in ((10, 0, False), (9, 0, True), (0, 0, True), (20, 60, True)):
        rest = numbered(100, 100 + common)
        a, b = ([*form, *rest, *(f"{name}{n}" for n in range(alone))] for name in "ab")
        assert text.count_as_one(a, b) and text.count_as_one(a, b, template) == one, alone


def test_groups_that_share_a_member_are_one_in_the_order_in_which_they_end():
    groups = [[1, 2], (3,), {4, 5}, [5, 1], [], "x"]
    assert text.merge_groups(iter(groups)) == [{1, 2, 4, 5}, {3}, {"x"}]
    assert text.merge_groups([]) == [] and text.merge_groups([[1], [1]]) == [{1}]
