"""The index: signatures (H) become an inverted index (I), and both lie in files with the bags."""
