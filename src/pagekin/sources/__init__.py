"""Sources: folders, archives and JSON lines become captures of pages, redirects and skips."""
