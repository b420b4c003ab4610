"""What the web page shows, as small frozen objects: made of an open collection, drawn by templates."""
