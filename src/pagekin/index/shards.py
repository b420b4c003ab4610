"""How the columns of an index are divided into shards."""

from pagekin.index.answers import answers_name
from pagekin.model.bags import BAG_COLUMNS
from pagekin.store.shards import BY_NODE, BY_PAGE, EQUALLY, Cut, ragged

_VECTORS = {
    f"{name}.{column}": EQUALLY  # in the order of lists
    for name in ("latent", "vectors")
    for column in ("pages.row", "pages.norm", "lists.page")
}
INDEX_CUTS: dict[str, Cut] = {
    **ragged("bags", BAG_COLUMNS, "node"),
    **ragged("titles", ("word", "weight"), "node"),
    **ragged("chunks", ("element",), "page"),
    **dict.fromkeys(("chunks.ends", "chunks.ignored", "filters"), BY_PAGE),
    **dict.fromkeys(("heads.term", "heads.weight", "signatures", "contents.length", "neighbours"), BY_NODE),
    **dict.fromkeys(("nodes.in_degree", "nodes.coupling_norm"), BY_NODE),
    **dict.fromkeys(("postings", "buckets", "anchors.counting", "titles.page"), EQUALLY),
    **_VECTORS,
}


def answers_cuts(limit: int) -> dict[str, Cut]:
    """The cuts of kept answers."""
    name = answers_name(limit)
    rows = {f"{name}.{column}": BY_NODE for column in ("node", "similarity", "separate")}
    return {**rows, **ragged(f"{name}.names", ("data",), "node")}
