"""The picture stands in the README, and is small."""

import picture

from helpers import evalset


def test_the_picture_is_small_and_stands_in_the_readme():
    page = (evalset.DEFAULT.parent / "README.md").read_text(encoding="utf-8")
    path = picture.PICTURE.relative_to(evalset.DEFAULT.parent).as_posix()
    assert f"]({path})](evals/retrieval_eval.ipynb)" in page
    assert picture.PICTURE.stat().st_size < 150_000
