"""Pictures of session B: chunks, weights and scores."""
