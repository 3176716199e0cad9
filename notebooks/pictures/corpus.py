"""Pictures of session A: documents, labels and words."""
