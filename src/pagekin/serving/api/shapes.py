"""The shapes of answers, as JSON schema: what docs/json.md says in words."""

from typing import Any

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
WHOLE: Schema = {"type": "integer"}
FLAG: Schema = {"type": "boolean"}
ANYTHING: Schema = {"type": "object"}


def the(name: str) -> Schema:
    """One of these shapes."""
    return {"$ref": f"#/components/schemas/{name}"}


def many(items: Schema) -> Schema:
    """A list."""
    return {"type": "array", "items": items}


def thing(**properties: Schema) -> Schema:
    """An object that has all of these; new ones may join."""
    return {"type": "object", "properties": properties, "required": list(properties)}


def maybe(kind: str) -> Schema:
    """A value or null."""
    return {"type": [kind, "null"]}


_LINK = thing(url=TEXT, title=TEXT)
_ENTRY = {"id": {"type": ["string", "number"]}, "position": WHOLE, "rank": NUMBER, "url": TEXT, "title": TEXT}
_LIKENESS = dict.fromkeys(("similarity", "share", "share_of_anchor", "bits", "bits_of_anchor"), NUMBER)

SHAPES: dict[str, Schema] = {
    "Problem": thing(type=TEXT, title=TEXT, status=WHOLE, detail=TEXT),
    "Link": _LINK,
    "Why": thing(
        terms=many(thing(term=TEXT, share=NUMBER)),
        cited_by=many(TEXT),
        apart=many(WHOLE),
        parts=many(thing(part=TEXT, similarity=NUMBER, share=NUMBER)),
    ),
    "Duplicate": thing(url=TEXT, title=TEXT, similarity=NUMBER, text_similarity=NUMBER, contains=FLAG, contained=FLAG),
    "Neighbor": thing(
        url=TEXT,
        title=TEXT,
        similarity=NUMBER,
        pinned=FLAG,
        duplicate_of_query=FLAG,
        duplicates=many(the("Duplicate")),
        why=the("Why"),
    ),
    "Related": thing(query=thing(pages=many(TEXT), similarity=TEXT), related=many(the("Neighbor"))),
    "Pages": thing(
        query=TEXT, pages=many(thing(id=TEXT, url=TEXT, title=TEXT, host=TEXT, language=TEXT, in_degree=WHOLE))
    ),
    "Page": thing(
        id=TEXT,
        url=TEXT,
        title=TEXT,
        host=TEXT,
        language=TEXT,
        charset=TEXT,
        captured=maybe("string"),
        source=TEXT,
        words=WHOLE,
        html_bytes=WHOLE,
        sha256=TEXT,
        in_degree=WHOLE,
        out_degree=WHOLE,
        aliases=many(thing(url=TEXT, kind=TEXT)),
        top_terms=many(thing(term=TEXT, weight=NUMBER)),
        excerpt=TEXT,
        anchor_texts=many(thing(text=TEXT, count=WHOLE)),
        linked_from=many(the("Link")),
        links_to=many(the("Link")),
    ),
    "Cluster": thing(
        query=thing(page=TEXT, url=TEXT, title=TEXT, measure=TEXT, alphas=many(NUMBER), delta=NUMBER),
        subgraph=thing(pages=WHOLE, of=WHOLE),
        same=many(TEXT),
        related=many(thing(url=TEXT, title=TEXT, distance=NUMBER, similarity=NUMBER)),
        tree=thing(leaves=many(TEXT), merges=many(many(NUMBER))),
        positions=many(thing(url=TEXT, title=TEXT, by_similarity=maybe("integer"), by_alpha=many(maybe("integer")))),
        clusters=many(thing(pages=WHOLE, members=many(the("Link")))),
    ),
    "Groups": thing(
        settings=ANYTHING,
        results=WHOLE,
        groups=many(
            thing(
                anchor=thing(**_ENTRY),
                members=many(thing(**_ENTRY, **_LIKENESS, contains=FLAG, contained=FLAG)),
            )
        ),
        uncompared={"type": "object", "additionalProperties": WHOLE},
        repeated_ids=WHOLE,
        without_words=WHOLE,
    ),
    "Info": thing(
        store=TEXT,
        format=WHOLE,
        generation=WHOLE,
        settings=ANYTHING,
        strategy=ANYTHING,
        duplicates=ANYTHING,
        counts={"type": "object", "additionalProperties": WHOLE},
        bytes=WHOLE,
        hosts=many(thing(host=TEXT, pages=WHOLE)),
        languages={"type": "object", "additionalProperties": WHOLE},
        skipped=many(thing(reason=TEXT, count=WHOLE, example=TEXT, source=TEXT)),
    ),
    "Health": thing(status={"const": "ok"}, generation=WHOLE, pages=WHOLE, trouble=FLAG),
    "MediaWiki": ANYTHING,
}
