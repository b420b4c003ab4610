"""Entry points for other programs: MkDocs and Sphinx."""
