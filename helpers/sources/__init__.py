"""Bringing a set in and out."""
