"""Making a set: documents brought in, pooled, labelled, audited, carried and exported."""
