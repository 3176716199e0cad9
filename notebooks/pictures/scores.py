"""Pictures of session C: measures and comparisons."""
