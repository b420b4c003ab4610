"""The whole build on one page: sources -> reading -> store -> bags -> signatures -> index, near-duplicates.

sources      open_sources: the captures, redirects and skips of folders, archives and JSON lines
reading      read_captures: tokens, anchors and blocks of each page, in parallel; known pages are not read again
store        write_store: one generation of files from all readings; known vocabularies and catalogue rows are reused
bags         fold_bags: the weighted terms of each node
signatures   write_signed_bags: the weights of each bag and its min-hashes
latent       write_latent: the vectors of pages and words in the leading dimensions of their contents
vectors      write_given_vectors: the vectors of pages that a file has
index        write_inverted: the pages of each min-hash
duplicates   write_fingerprints: the chunks and Bloom filter of each page; known texts are not cut again
calibration  calibrate: the scale of each evidence, and the level of chance
neighbours   write_neighbours: the nearest pages of each page by other evidences
shards       divide: the columns of pages in the folders of several shards, if asked for
manifest     written last; it replaces the old generation by the new one
"""

from pagekin.model.progress import Progress
from pagekin.pipeline.answers import keep_answers
from pagekin.pipeline.building import LEAST_MEMORY, MEMORY, build
from pagekin.pipeline.context import DIVIDING, ENGINES, Built
from pagekin.pipeline.indexing import index_store

__all__ = ["DIVIDING", "ENGINES", "LEAST_MEMORY", "MEMORY", "Built", "Progress", "build", "index_store", "keep_answers"]
