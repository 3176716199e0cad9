"""What the session notebooks share: files, validation, measures, plots, commands."""
