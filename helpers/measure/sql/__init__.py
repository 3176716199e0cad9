"""BM25, search and its measures as one SQL text, for data past one machine."""
