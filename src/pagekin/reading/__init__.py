"""What does a page say, and of whom? Captures -> tokens, anchors, blocks and facts (`Reading`)."""
