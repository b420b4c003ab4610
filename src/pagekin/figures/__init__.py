"""Charts, sentences about them, report pages, and matplotlib figures as files."""


def counted(count: int, noun: str) -> str:
    """A number and its noun.

    >>> counted(1, "host"), counted(2000, "page")
    ('1 host', '2,000 pages')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
