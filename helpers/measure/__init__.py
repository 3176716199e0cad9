"""What an engineer installs: sets and runs, BM25, measures, statistics, comparisons."""
