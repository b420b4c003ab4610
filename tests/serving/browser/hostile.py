"""A malicious crawl: its text must be shown and never executed."""

from __future__ import annotations

from duplicates.test_result_list import prose
from store.builders import Row, page

RAN = "document.documentElement.dataset.ran=1"  # what all scripts here would do
TITLES = {
    "script": f"<script>{RAN}</script>",
    "image": f'"><img src=x onerror="{RAN}">',
    "event": f"' onmouseover='{RAN}' onfocus='{RAN}' autofocus x='",
    "svg": f"</title></style></textarea><svg onload={RAN}>",
    "template": "{{ 7 * 7 }}{% raw %}${7*7}<!--",
    "turned": "safe\u202egnp.exe\u2067 \u2066 left-to-right?\u2069\u2069\u2069",
    "hebrew": "שלום עולם, טקסט מימין לשמאל",
    "controls": "a\x08b\x1b[31mred\x7f\u0085\u2028new line",
    "huge": "enormous " * 20_000,
    "wide": "MWMWM " * 20,
    "han": "漢字仮名交" * 30,
    "empty": "",
    "copy": "The same once more",
    "copy-again": "The same once again",
}
ANCHORS = (f"<script>{RAN}</script>", f'"><img src=x onerror={RAN}>', "\u202eturned round", "long " * 5_000)
LINKS = (
    f"javascript:{RAN}",
    f" jAvAsCrIpT:{RAN}//http://a.example/",
    f"java\tscript:{RAN}",
    f"data:text/html,<script>{RAN}</script>",
    f"vbscript:{RAN}",
    f"http://harm.example/%22%3E%3Cscript%3E{RAN}",
)


def harmful_pages() -> list[Row]:
    """Pages with similar text that link to each other."""
    names = list(TITLES)
    return [page(f"http://harm.example/{name}.html", _html(name, names, k)) for k, name in enumerate(names)]


def _html(name: str, names: list[str], number: int) -> str:
    copy = name.startswith("copy")
    number = 99 if copy else number
    says = prose(7, 400) if copy else prose(7, 120) + prose(100 + number, 200)
    title = TITLES[name].replace("&", "&amp;").replace("<", "&lt;")
    links = "".join(
        f'<p>{prose(1000 + 20 * number + k, 6)} <a href="/{other}.html">{_escaped(ANCHORS[k % len(ANCHORS)])}</a>'
        for k, other in enumerate(names)
        if other != name and (k + number) % 3
    )
    bad = "".join(f'<a href="{_escaped(link)}">{_escaped(ANCHORS[0])}</a>' for link in LINKS)
    return f"<html lang=en><title>{title}</title><p>{_escaped(ANCHORS[1])}<p>{says}{links}{bad}"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
