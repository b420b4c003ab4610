"""What does a real web look like? The village: a small web of our own for the demo, the docs and the tests.

Its source is prose (`hosts/*.txt`, in the format of `hosts/README.md`), some hand-written HTML (`raw/`), and two lists
of what a crawler also met: `recaptures.txt` (other captures of a page) and `answers.tsv` (redirects and a missing
page). From it this room makes

    text, assemble    the hosts and their pages, with copies filled in
    render            the HTML of a page in the style of its host
    captures          what a crawler brings home
    build             a folder, a WARC or a WACZ, each with `labels.tsv` beside it
"""

from pagekin.village.assemble import hosts, labels, pages
from pagekin.village.build import write_folder, write_labels, write_wacz, write_warc
from pagekin.village.captures import VillageCapture, captures, newest
from pagekin.village.render import render
from pagekin.village.text import Host, Page

__all__ = [
    "Host",
    "Page",
    "VillageCapture",
    "captures",
    "hosts",
    "labels",
    "newest",
    "pages",
    "render",
    "write_folder",
    "write_labels",
    "write_wacz",
    "write_warc",
]
