"""The index: bags get signatures (H), these an inverted index (I), and all lie in files."""
