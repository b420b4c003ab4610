"""An extension of Sphinx: `extensions = ["pagekin.integrations.sphinx"]` in conf.py.

Its settings are the fields of `SiteOptions` after `pagekin_`, such as `pagekin_limit = 3`.
"""

from typing import Any

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util import logging

from pagekin import __version__
from pagekin.errors import PagekinError
from pagekin.integrations.settings import insert_lists, site_settings

_log = logging.getLogger(__name__)
_BUILDERS = ("html", "dirhtml")
_LATE = 900  # after extensions that change pages


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_config_value("pagekin_enabled", True, "", bool)
    app.add_config_value("pagekin_index", None, "", [str, type(None)])
    for each, default in site_settings():
        kinds = [list, tuple] if each.many else [int, float] if each.kind is float else [each.kind]
        app.add_config_value(f"pagekin_{each.field}", default, "", kinds)
    app.connect("build-finished", _finish, priority=_LATE)
    return {"version": __version__, "parallel_read_safe": True, "parallel_write_safe": True}


def _finish(app: Sphinx, exception: Exception | None) -> None:
    if exception is not None or app.builder.name not in _BUILDERS or not app.config.pagekin_enabled:
        return
    values = {each.field: getattr(app.config, f"pagekin_{each.field}") for each, _ in site_settings()}
    index = app.config.pagekin_index and app.confdir / app.config.pagekin_index
    try:
        insert_lists(app.outdir, values, index or None, lambda line: _log.info("pagekin: %s", line), _log.warning)
    except PagekinError as error:
        raise ExtensionError(f"pagekin: {error}") from error
