"""What `pagekin site` keeps beside the index of a site: the state of its files, and the lists of the last run."""

import json
import re
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from pagekin import __version__
from pagekin.errors import FailureError, MisuseError, SourceError
from pagekin.model.files import replacing
from pagekin.site.answers import Listed, SiteAnswers
from pagekin.site.options import SiteOptions
from pagekin.site.pages import Places, SiteFolder, SitePage
from pagekin.store import manifest as manifests

_FORMAT = "pagekin site index"
_DIGEST = re.compile("[0-9a-f]{32}")
_NO_ANSWERS = SiteAnswers({}, {}, {})


@dataclass(frozen=True)
class SiteState:
    """The pages as the last run has left them, and its answers, which hold for a fingerprint."""

    pages: list[SitePage] = field(default_factory=list)
    answers: SiteAnswers = _NO_ANSWERS
    fingerprint: str = ""
    places: Places = field(default_factory=dict)
    at: str = ""  # the option that the places depend on

    def places_at(self, at: str) -> Places:
        """The places of lists in the pages of the last run, if they hold for this option."""
        digests = {each.digest for each in self.pages}
        return {digest: place for digest, place in self.places.items() if digest in digests and at == self.at}


def fingerprint(site: SiteFolder, options: SiteOptions) -> str:
    """A digest of everything that the lists depend on."""
    facts = [__version__, options.decides_answers(), [(each.path, each.digest) for each in site.pages]]
    return sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def load_state(index: Path) -> SiteState:
    """The state of the last run; an empty one if there is none, or none that can be read."""
    path = index / manifests.SITE
    if not path.exists():
        if (index / manifests.NAME).exists():
            raise MisuseError(f"{index} was not made by `pagekin site`; name another folder with --index")
        return SiteState()
    try:
        data: dict[str, Any] = json.loads(path.read_text("utf-8"))
        pages = [_page(*each) for each in data["pages"]]
        answers = data["answers"]
        lists = {page: [_listed(*each) for each in found] for page, found in answers["lists"].items()}
        titles = {page: str(title) for page, title in answers["titles"].items()}
        places = {digest: place if type(place) is int else str(place) for digest, place in data["places"].items()}
        found = SiteAnswers(titles, lists, dict(answers["skipped"]))
        state = SiteState(pages, found, data["fingerprint"], places, data["at"])
        return state if data["format"] == _FORMAT else SiteState()
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
        return SiteState()


def _page(path: str, size: int, modified: int, digest: str, block: str, redirect: bool) -> SitePage:
    if not _DIGEST.fullmatch(digest):
        raise ValueError(f"{digest} is no digest")
    return SitePage(str(path), int(size), int(modified), str(digest), str(block), bool(redirect))


def _listed(path: str, title: str, similarity: float, why: list[str]) -> Listed:
    return Listed(str(path), str(title), float(similarity), tuple(map(str, why)))


def _rows(answers: SiteAnswers) -> dict[str, list[list[Any]]]:
    return {page: [list(vars(each).values()) for each in found] for page, found in answers.lists.items()}


def save_state(index: Path, state: SiteState) -> None:
    """Keep the state for the next run."""
    answers = {**vars(state.answers), "lists": _rows(state.answers)}
    pages = [list(vars(each).values()) for each in state.pages]
    data = {**vars(state), "format": _FORMAT, "pages": pages, "answers": answers}
    try:
        index.mkdir(parents=True, exist_ok=True)
        with replacing(index / manifests.SITE, durable=False) as temporary:
            temporary.write_text(json.dumps(data), "utf-8")
    except OSError as error:
        problem = f"{index / manifests.SITE} cannot be written: {error.strerror or error}"
        raise FailureError(f"{problem}; name a folder for the index with --index") from error


def check_same_site(state: SiteState, site: SiteFolder, index: Path, allow_shrink: bool) -> None:
    """Raise SourceError if the folder has fewer than half of the pages that the index is of."""
    before, now = {each.path for each in state.pages}, {each.path for each in site.pages}
    if 2 * len(before & now) < len(before) and not allow_shrink:
        raise SourceError(
            f"{index} is the index of another site, or this one is not complete: {site.path} has only"
            f" {len(before & now):,} of its {len(before):,} pages. Name another index with --index, or allow it with"
            " --allow-shrink"
        )
