"""Making and judging an evaluation set."""
