"""What a kernel remembers of a learner until it restarts, in the place that IPython has for it."""

from IPython import get_ipython


def remembered(what: str) -> set:
    """Return the set that this kernel keeps under a name, an empty one where no kernel runs."""
    shell = get_ipython()
    return set() if shell is None else shell.meta.setdefault(what, set())
