"""The builder of the sample web, the small web that the demo, the docs and the tests use.

`python -m tools.sample_web` writes the archive that is shipped in `pagekin.sample_web`. The sources are prose
(`hosts/*.txt`, in the format of `hosts/README.md`), hand-written HTML (`raw/`), other captures of some pages
(`recaptures.txt`), and redirects and a missing page (`responses.tsv`).

    text, assemble    sources -> hosts and their pages, with copies filled in
    render            a page -> HTML in the style of its host
    captures          pages -> the captures of a crawler
    build             captures -> a folder, a WARC or a WACZ, and `labels.tsv`
"""

from tools.sample_web.assemble import hosts, labels, pages
from tools.sample_web.build import write_folder, write_labels, write_wacz, write_warc
from tools.sample_web.captures import SampleCapture, captures, newest
from tools.sample_web.render import render
from tools.sample_web.text import Host, Page

__all__ = [
    "Host",
    "Page",
    "SampleCapture",
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
