"""The copies for learners."""


class LearnError(ValueError):
    """A session or a copy that cannot be used: which one, where, and what it lacks."""
