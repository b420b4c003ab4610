"""Vectors of pages and words by latent semantic analysis, and vectors of pages from any encoder."""
