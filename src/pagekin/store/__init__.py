"""The store: readings of pages become one set of memory-mapped files, replaced as a whole by each build."""
