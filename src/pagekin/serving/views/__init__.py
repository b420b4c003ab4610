"""What the web pages show: values computed from an open collection, formatted by templates."""
