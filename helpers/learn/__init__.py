"""The copies for learners."""
