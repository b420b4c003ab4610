"""Signatures: each bag becomes m min-hashes (H)."""
