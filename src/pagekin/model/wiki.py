"""A wiki: where its pages are, and what its namespaces are called."""

from dataclasses import dataclass, field
from urllib.parse import quote

ARTICLE, FILE, CATEGORY = 0, 6, 14
_NAMES = {"file": FILE, "image": FILE, "media": -2, "special": -1, "category": CATEGORY}


@dataclass(frozen=True)
class WikiSite:
    """A wiki, as the head of its dump describes it.

    >>> site = WikiSite("https://en.wikipedia.org/wiki/")
    >>> site.href("oak tree#Bark"), site.namespace("Category:Trees")
    ('https://en.wikipedia.org/wiki/Oak_tree', 14)
    """

    prefix: str  # of the URL of every page
    namespaces: dict[str, int] = field(default_factory=lambda: dict(_NAMES))  # by name, in lower case
    first_letter: bool = True  # whether the first letter of a title is always a capital

    def title(self, name: str) -> str:
        """The title that a link means: without its section, with a capital."""
        title = " ".join(name.partition("#")[0].replace("_", " ").split()).removeprefix(":").lstrip()
        return title[:1].upper() + title[1:] if self.first_letter else title

    def href(self, name: str) -> str:
        return self.prefix + quote(self.title(name).replace(" ", "_"), safe=";@$!*(),/~:'", errors="replace")

    def namespace(self, title: str) -> int | None:
        """The namespace of a title, by its prefix; None if the prefix is that of another wiki or language."""
        name, colon, _ = title.partition(":")
        if not colon:
            return ARTICLE
        prefix = name.strip().replace("_", " ").lower()
        known = self.namespaces.get(prefix)
        is_language = prefix.isascii() and prefix.replace("-", "").isalpha() and len(prefix.partition("-")[0]) in (2, 3)
        return known if known is not None else None if is_language else ARTICLE
