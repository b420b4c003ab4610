"""What was on the web? Folders, archives and lists of pages -> captures, redirects, and what was skipped."""
