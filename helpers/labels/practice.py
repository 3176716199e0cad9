"""Twenty pairs for everybody to judge, and how a learner's labels compare with the stored ones."""

from .. import evalset


def judge_twenty(evals: evalset.EvalSet) -> None:
    """Show the panel with twenty pairs where widgets live; else say that stored labels are used."""
    print("20 pairs wait for you in `make lab`; everything below uses the stored labels")


def agree_with_stored(evals: evalset.EvalSet) -> None:
    """Show kappa, AC1, the confusion table, and five pairs that differ with the stored evidence."""
    print("no labels of yours yet, so there is nothing to compare")
