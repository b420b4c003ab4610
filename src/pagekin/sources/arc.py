"""ARC files, the predecessor of WARC, through warcio (extra `arc`)."""

import zlib
from collections.abc import Iterator
from typing import IO

from pagekin.sources.record import Record, block_limit, make_record
from pagekin.sources.recover import Damage

ARC_SUFFIXES = (".arc", ".arc.gz")


def read_arc(file: IO[bytes], limit: int) -> Iterator[Record | Damage]:
    """The responses in an ARC file; a Damage where it cannot be read any further."""
    from warcio.archiveiterator import ArchiveIterator
    from warcio.exceptions import ArchiveLoadFailed

    records = ArchiveIterator(file, no_record_parse=True, arc2warc=True)
    offset = 0
    try:
        for raw in records:
            fields = {name.lower(): value for name, value in raw.rec_headers.headers}
            block = raw.raw_stream.read(block_limit(limit))
            offset = records.get_record_offset()  # this reads the record to its end
            length = int(raw.length or 0)
            record = make_record(fields, block, length, offset, limit)
            if record.kind == "response":
                yield record if len(block) >= min(length, block_limit(limit)) else Damage(offset, "truncated record")
    except (ArchiveLoadFailed, EOFError, OSError, ValueError, zlib.error):
        yield Damage(offset, "damaged ARC record, the rest is lost")
