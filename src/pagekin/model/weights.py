"""Learned weightings in files: small JSON, with the weights and what they were learned from.

{"format": "pagekin weighting", "version": 2, "kind": "linklearn", "link_share": 0.25, "learned_from": {...},
"networks": {"tf": {"shift", "scale", "inner": [...], "bias": [...], "outer": [...], "last"}, "idf", "length"}}

Files of version 1 have no link_share, which is 0. "projection", if present, is the digest of the projection file beside
it (`model/projection.py`).
"""

import hashlib
import json
from dataclasses import fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from pagekin.errors import MisuseError
from pagekin.model.files import read_bounded, written_whole
from pagekin.model.projection import SUFFIX, load_projection
from pagekin.model.weighting import FORMAT, NETWORKS, VERSION, Learned, Network

MOST_BYTES = 1 << 20  # of a file of weights
_WITHOUT_LINKS = 1  # an older version that is still read


def learned(text: str, where: str = "weights") -> Learned:
    """A weighting from its JSON; `where` is the source to name in errors."""
    try:
        facts = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MisuseError(f"{where} holds no weights: it is not JSON ({error})") from error
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        raise MisuseError(f"{where} holds no weights; such a file is written by `pagekin learn`")
    if facts.get("version") not in (_WITHOUT_LINKS, VERSION) or facts.get("kind") != Learned.kind:
        raise MisuseError(
            f"{where} has weights of kind {facts.get('kind')!r}, version {facts.get('version')!r}; this pagekin reads"
            f" {Learned.kind!r}, versions {_WITHOUT_LINKS} and {VERSION}: learn them again"
        )
    networks, source = facts.get("networks"), facts.get("learned_from", {})
    if not isinstance(networks, dict) or set(networks) != set(NETWORKS) or not isinstance(source, dict):
        raise MisuseError(f"{where}: networks should be a table of {', '.join(NETWORKS)}, learned_from one of facts")
    tf, idf, length = (_network(networks[name], f"{where}, {name}") for name in NETWORKS)
    share = 0.0 if facts["version"] == _WITHOUT_LINKS else facts.get("link_share")
    if isinstance(share, bool) or not isinstance(share, int | float):
        raise MisuseError(f"{where}: link_share should be a number")
    try:
        return Learned(tf, idf, length, source, float(share))
    except (MisuseError, OverflowError) as error:
        raise MisuseError(f"{where}: {error}") from error


def _network(facts: Any, where: str) -> Network:
    names = [each.name for each in fields(Network)]
    if not isinstance(facts, dict) or set(facts) != set(names):
        raise MisuseError(f"{where} should be a table of {', '.join(names)}")
    for each in fields(Network):
        value = facts[each.name]
        numbers = [value] if each.type == "float" else value
        if not isinstance(numbers, list) or not all(type(number) in (int, float) for number in numbers):
            raise MisuseError(f"{where}: {each.name} should be {'a number' if each.type == 'float' else 'numbers'}")
    try:
        return Network(**facts)
    except (MisuseError, OverflowError) as error:
        raise MisuseError(f"{where}: {error}") from error


def weights_from(weights: str) -> Learned:
    """A weighting from its JSON, or from the file of this name."""
    return _cached(weights) if weights.lstrip().startswith("{") else load_weights(Path(weights))


_cached = lru_cache(maxsize=8)(learned)  # a strategy has its weights as JSON, and each query needs them


def load_weights(path: Path) -> Learned:
    """The weighting in a file, with the projection beside it, if it has one."""
    data = read_bounded(path, MOST_BYTES, "learned weights")
    try:
        weighting = learned(data.decode("utf-8"), str(path))
    except UnicodeDecodeError as error:
        raise MisuseError(f"{path} holds no weights: it is not JSON ({error})") from error
    digest = json.loads(data).get("projection")
    if digest is None:
        return weighting
    beside = load_projection(path.with_name(path.name + SUFFIX))
    if hashlib.sha256(beside.as_bytes()).hexdigest() != digest:
        raise MisuseError(f"{path}{SUFFIX} belongs to other weights than {path}; learn them again")
    return replace(weighting, projection=beside)


def save_weights(path: Path, weighting: Learned) -> None:
    """Write a weighting to a file, and its projection beside it; each file is replaced atomically."""
    facts = json.loads(weighting.as_text())
    if weighting.projection is not None:
        data = weighting.projection.as_bytes()
        with written_whole(path.with_name(path.name + SUFFIX)) as beside:
            beside.write_bytes(data)
        facts["projection"] = hashlib.sha256(data).hexdigest()
    with written_whole(path) as file:
        file.write_bytes((json.dumps(facts, ensure_ascii=False, allow_nan=False) + "\n").encode())
