"""Settings are checked when made, and stored with what they made."""

from __future__ import annotations

import pytest

from pagekin.errors import MisuseError
from pagekin.model.capture import MiB, ReadingSettings


@pytest.mark.parametrize("name", ["max_page_bytes", "max_links", "max_url_bytes"])
@pytest.mark.parametrize("value", [0, -1])
def test_a_bound_is_at_least_one(name: str, value: int) -> None:
    with pytest.raises(MisuseError, match=f"{name} is {value}; it must be at least 1"):
        ReadingSettings(**{name: value})  # type: ignore[arg-type]


def test_a_page_has_at_most_a_gibibyte() -> None:
    assert ReadingSettings(max_page_bytes=1024 * MiB).max_page_bytes == 2**30
    with pytest.raises(MisuseError, match="at most 1 GiB"):
        ReadingSettings(max_page_bytes=1024 * MiB + 1)


def test_settings_come_back_from_what_is_stored() -> None:
    settings = ReadingSettings(max_links=3, chop_host=True)
    assert ReadingSettings(**settings.as_dict()) == settings


def test_wishes_of_robots_are_not_obeyed_and_hosts_not_chopped_unless_asked() -> None:
    settings = ReadingSettings()
    assert not (settings.obey_noindex or settings.obey_nofollow or settings.chop_host)
