"""What may a program ask? Paths below /api, their schema, and the page that explains them."""
