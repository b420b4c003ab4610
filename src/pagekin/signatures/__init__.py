"""What is a page's short name? Bags -> H, a signature of m min-hashes a page."""
