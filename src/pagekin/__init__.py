"""pagekin finds the pages that are kin to a page, in any hyperlinked collection."""

__version__ = "0.1.0"
