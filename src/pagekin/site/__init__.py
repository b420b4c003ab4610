"""Related links in a built static site: `pagekin.update_site("public", inject=True)`."""
