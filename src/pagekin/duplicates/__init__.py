"""Near-duplicates: texts -> chunks, Bloom filters, and groups of pages with nearly the same text."""
