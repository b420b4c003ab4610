"""Candidate generation, evidence, the blend, explanations and grouping of results."""
