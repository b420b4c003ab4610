"""Which pages are one page? Texts -> chunks, Bloom filters, and groups of near-duplicates."""
