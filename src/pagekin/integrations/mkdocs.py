"""A plugin of MkDocs: `plugins: [search, pagekin]` in mkdocs.yml. Its settings are the fields of `SiteOptions`."""

from pathlib import Path

from mkdocs.config import config_options
from mkdocs.config.base import LegacyConfig
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.plugins import BasePlugin, event_priority, get_plugin_logger

from pagekin.errors import PagekinError
from pagekin.integrations.settings import insert_lists, site_settings

_INDEX = ".cache/pagekin.kin"  # beside mkdocs.yml; the folder of the site is another in each `mkdocs serve`
_log = get_plugin_logger("pagekin")


class PagekinPlugin(BasePlugin[LegacyConfig]):  # type: ignore[no-untyped-call]  # of MkDocs
    """Related pages at the end of every page."""

    config_scheme = (
        ("enabled", config_options.Type(bool, default=True)),
        ("index", config_options.Type(str, default=_INDEX)),
        *(
            (each.field, config_options.Type((int, float) if each.kind is float else type(default), default=default))
            for each, default in site_settings()
        ),
    )

    @event_priority(-100)  # after plugins that change pages
    def on_post_build(self, *, config: MkDocsConfig) -> None:
        values = dict(self.config)
        if not values["enabled"]:
            return
        index = Path(config.config_file_path).parent / values["index"]
        try:
            insert_lists(config.site_dir, values, index, _log.info, _log.warning)
        except PagekinError as error:
            raise PluginError(f"pagekin: {error}") from error
