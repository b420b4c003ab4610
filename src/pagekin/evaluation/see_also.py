"""The "See also" sections of a collection as truth, and a copy of its store in which they are hidden."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import numpy as np

from pagekin.bags.source import BagSource, blocks_of_anchors, blocks_of_links, counting_links
from pagekin.evaluation.labels import LeftOut
from pagekin.kernels.page_output import HEADING
from pagekin.model.arrays import Array, Bools, Int64s, spans, word_of
from pagekin.model.capture import Capture, Origin
from pagekin.model.progress import Progress
from pagekin.model.reading import Blocks, Links, Ragged, Tokens
from pagekin.model.strategy import VECTORS
from pagekin.pipeline import index_store
from pagekin.reading.batch import read_captures
from pagekin.search.indexed_store import IndexedStore
from pagekin.store.columns import reporting_errors, write_columns
from pagekin.store.store import Store, report_damage

Rows = TypeVar("Rows", bound=Ragged)

# The headings of sections that name related pages, by language; case and punctuation do not matter.
_HEADINGS = """\
en: See also, Related, Related topics, Related pages, Related articles, Related links, Related content, Further reading
ar: انظر أيضا, طالع أيضا
bg: Вижте също
ca: Vegeu també
cs: Viz také, Související články
da, no: Se også
de: Siehe auch, Verwandte Themen, Verwandte Artikel
el: Δείτε επίσης
eo: Vidu ankaŭ
es: Véase también, Temas relacionados
et: Vaata ka
fa: جستارهای وابسته
fi: Katso myös
fr: Voir aussi, Articles connexes
he: ראו גם
hi: इन्हें भी देखें
hr, sr: Povezano, Vidi još, Види још
hu: Lásd még, Kapcsolódó szócikkek
id, ms: Lihat pula, Lihat juga
it: Voci correlate, Vedi anche
ja: 関連項目
ko: 같이 보기
lt: Taip pat skaitykite
lv: Skatīt arī
nl: Zie ook
nn: Sjå òg
pl: Zobacz też, Zobacz także
pt: Ver também, Veja também, Artigos relacionados
ro: Vezi și
ru: См. также, Смотри также, Смотрите также
sk: Pozri aj
sv: Se även, Se också
th: ดูเพิ่ม
tr: Ayrıca bakınız
uk: Див. також, Дивіться також
vi: Xem thêm
zh: 参见, 參見, 相关条目
"""
HEADINGS = [heading for line in _HEADINGS.splitlines() for heading in line.partition(": ")[2].split(", ")]


@dataclass(frozen=True)
class Sections:
    """The sections of a store."""

    blocks: Bools  # for each block, whether it is in a section, its heading included
    headings: dict[str, int]  # how many sections have each heading


@dataclass(frozen=True)
class HiddenSections:
    """A copy of a store without its sections, and the pairs of nodes that the sections link."""

    indexed: IndexedStore
    pairs: list[tuple[int, int]]
    headings: dict[str, int]


@report_damage
def find_sections(store: Store) -> Sections:
    """Find the headings that name related pages; a section ends at the next heading of the page."""
    blocks, tokens = store.checked_reading.blocks, store.checked_reading.tokens
    heads = np.flatnonzero(blocks.kinds & HEADING)
    ends = np.unique(np.concatenate([heads, blocks.offsets[1:]]))
    first, count = _tokens_of_blocks(blocks, tokens)
    inside, found = np.zeros(len(blocks.token), bool), {}
    for name, words in _words_of_headings(store).items():
        same = heads[count[heads] == len(words)]
        for k, word in enumerate(words):
            same = same[store.word_of_form[tokens.form[first[same] + k]] == word]
        if len(same):
            found[name] = len(same)
            inside[spans(same, ends[np.searchsorted(ends, same, side="right")] - same)] = True
    return Sections(inside, found)


def _words_of_headings(store: Store) -> dict[str, list[int]]:
    """The words of headings as numbers, read as pages are; without headings that have words of no page."""
    html = "".join(f"<h2>{heading}</h2>" for heading in HEADINGS).encode()
    capture = Capture("http://headings.localhost/", Origin("headings", 0, len(html), 0), body=html)
    reading = read_captures([capture], replace(store.settings, max_page_bytes=len(html)))
    words = [word_of(reading.forms[form]) for form in reading.tokens.form.tolist()]
    wanted = set(words)
    numbers = {word: number for number, word in enumerate(store.words) if word in wanted}
    first, count = _tokens_of_blocks(reading.blocks, reading.tokens)
    rows = zip(HEADINGS, first.tolist(), (first + count).tolist(), strict=True)
    return {
        heading: [numbers[word] for word in words[begin:end]]
        for heading, begin, end in rows
        if begin < end and numbers.keys() >= set(words[begin:end])
    }


def _tokens_of_blocks(blocks: Blocks, tokens: Tokens) -> tuple[Int64s, Int64s]:
    """For each block, the place of its first token in the column of tokens, and the number of its tokens."""
    page = np.repeat(np.arange(len(blocks)), blocks.lengths())
    first = tokens.offsets[page] + blocks.token
    last = np.append(first[1:], len(tokens.form))
    return first, np.minimum(last, tokens.offsets[page + 1]) - first


@contextmanager
def hide_sections(
    indexed: IndexedStore, left_out: LeftOut, threads: int, progress: Callable[[Progress], None]
) -> Iterator[HiddenSections]:
    """A copy of a store, in a temporary folder, without the words and links of its sections, and the linked pairs."""
    progress(Progress("hiding sections"))
    sections, strategy = find_sections(indexed), indexed.index.strategy
    pairs = _linked_pairs(indexed, sections, left_out)
    left_out.add("evidences left out, since they may know the sections", VECTORS, int(strategy.uses_vectors))
    with TemporaryDirectory(prefix="pagekin-", ignore_cleanup_errors=True) as folder:
        root, manifest = Path(folder), replace(indexed.manifest, index=None)
        with reporting_errors(root):
            if pairs:
                _copy_without(indexed, sections.blocks, root / manifest.folder)
                manifest = index_store(root, manifest, strategy, threads, progress)
        with closing(IndexedStore(root, manifest)) as copy:
            yield HiddenSections(copy, pairs, sections.headings)


@report_damage
def _linked_pairs(indexed: IndexedStore, sections: Sections, left_out: LeftOut) -> list[tuple[int, int]]:
    """The pairs (citing, cited) of nodes of the links in sections; links in templates do not count."""
    source, links = BagSource.of(indexed), indexed.checked_links
    cited = np.repeat(np.arange(len(links)), links.lengths())
    inside = np.zeros(len(cited), bool)
    if len(sections.blocks):
        has_blocks = indexed.reading.blocks.lengths()[links.page] > 0
        inside = has_blocks & sections.blocks[blocks_of_links(source.reading, links)]
    inside &= counting_links(source, indexed.index.strategy) != 0
    citing, cited = source.node_of_page()[links.page[inside]].astype(np.int64), cited[inside]
    known = cited < len(indexed.nodes) - 1
    left_out.add("links of sections to pages that are not in the collection", "", int((~known).sum()))
    return list(zip(citing[known].tolist(), cited[known].tolist(), strict=True))


@report_damage
def _copy_without(store: Store, hidden: Bools, folder: Path) -> None:
    """Write the columns of a store without the words and links of some blocks; other files are linked or copied."""
    reading, links = store.checked_reading, store.checked_links
    tokens, blocks, sentences, anchors = reading.tokens, reading.blocks, reading.sentences, reading.anchors
    first, count = _tokens_of_blocks(blocks, tokens)
    kept = np.ones(len(tokens.form), bool)
    kept[spans(first[hidden], count[hidden])] = False
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept)])  # tokens that are kept before each

    def moved(part: Ragged, token: Array) -> Array:
        """Numbers of tokens within their pages, as they are without the hidden tokens."""
        begin = np.repeat(tokens.offsets[:-1], part.lengths())
        return np.asarray(before[begin + token] - before[begin], token.dtype)

    page = np.repeat(np.arange(len(anchors)), anchors.lengths())
    kept_anchors = ~hidden[blocks_of_anchors(reading, page, np.arange(len(page)))] | (blocks.lengths()[page] == 0)
    anchors_before = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept_anchors)])
    begin = anchors.offsets[links.page]
    anchor = (anchors_before[begin + links.anchor] - anchors_before[begin]).astype(np.uint32)
    moved_anchors = {name: moved(anchors, getattr(anchors, name)) for name in ("start", "end")}
    last = np.repeat(tokens.offsets[:-1], sentences.lengths()) + sentences.token - 1  # the last token of each sentence
    parts = {
        "tokens": _select(tokens, kept),
        "blocks": _select(replace(blocks, token=moved(blocks, blocks.token)), ~hidden),
        "sentences": _select(replace(sentences, token=moved(sentences, sentences.token)), kept[last]),
        "anchors": _select(replace(anchors, **moved_anchors), kept_anchors),
        "links": _select(Links(links.offsets, links.page, anchor), kept_anchors[begin + links.anchor]),
    }
    folder.mkdir()
    write_columns(folder, parts)
    for path in store.folder.iterdir():
        if not (folder / path.name).exists():
            try:
                (folder / path.name).symlink_to(path.resolve())
            except OSError:  # Windows allows it only to some users
                (shutil.copytree if path.is_dir() else shutil.copy)(path, folder / path.name)


def _select(part: Rows, kept: Bools) -> Rows:
    """The entries of ragged rows that are kept."""
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept)])
    columns = {each.name: getattr(part, each.name)[kept] for each in fields(part) if each.name != "offsets"}
    return replace(part, offsets=before[part.offsets], **columns)
