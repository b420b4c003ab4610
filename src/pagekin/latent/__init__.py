"""Latent semantic analysis: the vectors of pages and words in the leading dimensions of all contents."""
