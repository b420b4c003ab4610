"""Captures of pages -> their tokens, blocks, anchors and facts (`Reading`)."""
