"""Charts, sentences about them, report pages, and matplotlib figures as files."""
