"""The categories of a MediaWiki dump as a hierarchy.

Categories form a graph with several roots, several parents and cycles. The path of a category is its shortest path from
a root, that is, a category without parents; of several, the first by name. Where a cycle has no root, its first
category by name is one. So every cycle is cut at one place, whatever the order of the dump.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from pagekin.model.capture import ReadingSettings, Skip
from pagekin.model.wiki import ARTICLE, CATEGORY, WikiSite
from pagekin.sources.wiki_dump import WikiDump

_LINK = re.compile(r"\[\[([^\[\]|#\n]{1,300})(?:\|[^\[\]\n]{0,300})?\]\]")


def category_labels(file: Path) -> Iterator[tuple[str, str]]:
    """(URL, category path) of every article and category of it."""
    dump = WikiDump(file, ReadingSettings())
    parents: dict[str, list[str]] = {}
    articles: list[tuple[str, list[str]]] = []
    for page in dump.pages():
        if isinstance(page, Skip) or page.redirect or page.namespace not in (ARTICLE, CATEGORY):
            continue
        categories = list(_categories(page.wikitext, dump.site))
        if page.namespace == CATEGORY:
            parents[_name(page.title, dump.site)] = categories
        else:
            articles.append((dump.site.href(page.title), categories))
    for _, categories in articles:
        for category in categories:
            parents.setdefault(category, [])
    paths = category_paths(parents)
    for url, categories in articles:
        yield from ((url, paths[category]) for category in categories)


def _categories(text: str, site: WikiSite) -> Iterator[str]:
    found = (link for link in _LINK.findall(text) if ":" in link and site.namespace(link) == CATEGORY)
    yield from dict.fromkeys(_name(link, site) for link in found if not link.lstrip().startswith(":"))


def _name(title: str, site: WikiSite) -> str:
    """The name of a category, without its namespace; a slash would be a level of the hierarchy."""
    return site.title(title.partition(":")[2]).replace("/", "-")


def category_paths(parents: dict[str, list[str]]) -> dict[str, str]:
    """The path of every category; `parents` has the parents of each.

    >>> category_paths({"Oaks": ["Trees"], "Trees": ["Plants", "Oaks"], "Plants": []})["Oaks"]
    'Plants/Trees/Oaks'
    """
    children: dict[str, list[str]] = {}
    for category, above in parents.items():
        for parent in above:
            children.setdefault(parent, []).append(category)
    everything = sorted({*parents, *children})
    paths: dict[str, str] = {}
    roots = [each for each in everything if not parents.get(each)]
    for start in (roots, *([each] for each in everything)):
        _walk([each for each in start if each not in paths], children, paths)
    return paths


def _walk(roots: Iterable[str], children: dict[str, list[str]], paths: dict[str, str]) -> None:
    """Add the paths of all categories that can be reached from the roots, the shortest first."""
    level = list(roots)
    paths |= {root: root for root in level}
    while level:
        found: dict[str, str] = {}
        for parent in sorted(level):
            for child in children.get(parent, ()):
                if child not in paths:
                    found.setdefault(child, f"{paths[parent]}/{child}")
        paths |= found
        level = list(found)
