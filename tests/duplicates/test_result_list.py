"""`pagekin.group`: near-duplicates in result lists of texts, HTML and files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest

import pagekin
from pagekin import GroupSettings
from pagekin.duplicates.result_list import Grouping, files, group
from pagekin.errors import MisuseError
from tools.sample_web import write_folder

WORDS = [f"{a}{b}" for a in ("wren", "oak", "bread", "clay", "star", "moss", "kiln", "loom") for b in "abcdefghij"]


def prose(seed: int, words: int = 800) -> str:
    random = Random(seed)
    return " ".join(random.choice(WORDS) for _ in range(words)) + "."


def named(grouping: Grouping) -> list[list[Any]]:
    return [[each.anchor.result.id, *(member.page.result.id for member in each.members)] for each in grouping.groups()]


def test_results_are_grouped_under_the_best_ranked_and_none_is_dropped() -> None:
    a, b = prose(1), prose(2)
    rows = [
        {"id": "third", "text": a, "rank": 3},
        {"id": "other", "text": b, "rank": 2},
        {"id": "first", "text": a.replace("oaka", "elm", 1), "rank": 1},
    ]
    assert named(pagekin.group(rows)) == [["first", "third"], ["other"]]


def test_html_and_plain_text_with_the_same_words_are_grouped() -> None:
    text = prose(3)
    html = f"<!DOCTYPE html><title>T</title><p>{text.upper().replace('.', '.</p><p>')}<script>x</script>"
    assert named(group([{"id": 1, "text": text}, {"id": 2, "html": html}, {"id": 3, "html": "<p>" + prose(4)}])) == [
        [1, 2],
        [3],
    ]


def test_the_copies_of_the_sample_web_are_grouped_with_their_originals(tmp_path: Path) -> None:
    """Its pages are short, so chunks must be; the copies are edited and stand in another template."""
    write_folder(tmp_path)
    found = group(files(sorted(tmp_path.rglob("*.html"))), GroupSettings(chunk_bytes=64, threshold=0.5))
    pairs = [[Path(name).relative_to(tmp_path).as_posix() for name in each] for each in named(found)]
    copied = [sorted(pair) for pair in pairs if len(pair) > 1 and any("mirror" in name for name in pair)]
    pages = ("birdnotes/robin", "joinery/dovetail", "larder/sauerkraut", "nightsky/perseids", "threadworks/indigo")
    assert sorted(copied) == sorted(
        sorted([f"{page.replace('/', '.example/')}.html", f"mirror.example/{page}.html"]) for page in pages
    )


def test_a_page_inside_another_is_contained() -> None:
    inner = prose(5)
    found = group([{"id": "inner", "text": inner}, {"id": "outer", "text": prose(6) + inner + prose(7)}])
    ((member,),) = (each.members for each in found.groups())
    assert member.overlap.b_in_a and not member.overlap.a_in_b


def test_results_come_from_any_iterable_and_are_grouped_as_they_come() -> None:
    grouping = Grouping()
    assert grouping.add([{"id": 1, "text": prose(1)}]) == []
    ((later, earlier),) = grouping.add([{"id": 2, "text": prose(1)}])
    assert (later.result.id, earlier.result.id) == (2, 1)
    assert [each.result.id for each in grouping.anchors()] == [1, 1]
    assert named(group({"id": k, "text": prose(k % 3)} for k in range(7))) == [[0, 3, 6], [1, 4], [2, 5]]


# --- bad input -----------------------------------------------------------------------------------


def test_results_without_text_are_kept_ungrouped_and_counted() -> None:
    rows: list[dict[str, Any]] = [
        {"id": 1},
        {"id": 2, "text": ""},
        {"id": 3, "html": " "},
        {"id": 4, "text": None},
        {"id": 5, "text": 7},
    ]
    found = group([*rows, {"id": 6, "html": "<script>x</script>"}, {"id": 7, "text": "•\n– '"}])
    assert named(found) == [[1], [2], [3], [4], [5], [6], [7]]
    assert found.uncompared() == {"empty page": 1, "empty text": 3, "no text": 3}


def test_texts_of_one_byte_are_compared() -> None:
    assert named(group([{"id": 1, "text": "x"}, {"id": 2, "text": "y"}, {"id": 3, "text": "X"}])) == [[1, 3], [2]]


def test_results_with_the_same_id_are_kept_apart_and_counted() -> None:
    found = group([{"id": 1, "text": prose(1)}, {"id": 1, "text": prose(2)}, {"id": "1", "text": prose(1)}])
    assert named(found) == [[1, "1"], [1]]
    assert found.repeated_ids() == 1
    assert [each.position for each in found.entries] == [1, 2, 3]


def test_lone_surrogates_and_odd_characters_do_no_harm() -> None:
    assert len(group([{"id": 1, "text": "\ud800\0\uffff" * 300}, {"id": 2, "text": "\ud801 x" * 300}]).entries) == 2


def test_files_in_other_encodings_are_the_same_text(tmp_path: Path) -> None:
    text = " ".join(f"Über den Bäumen höre ich die Drossel, {word} und größer." for word in prose(9).split())
    for charset in ("utf-8", "utf-8-sig", "latin-1", "utf-16"):
        (tmp_path / f"{charset}.txt").write_bytes(text.encode(charset))
    (found,) = named(group(files(sorted(tmp_path.iterdir()))))
    assert len(found) == 4


def test_a_cut_character_at_the_end_of_the_sample_does_not_change_the_charset(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x" + " wörter" * 20_000, "utf-8")
    (tmp_path / "b.txt").write_text(" x" + " WÖRTER" * 20_000, "utf-8")
    assert len(named(group(files(sorted(tmp_path.iterdir()))))) == 1


def test_binary_empty_missing_and_huge_files_have_a_reason(tmp_path: Path) -> None:
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\0\0" * 100)
    (tmp_path / "empty.txt").touch()
    (tmp_path / "one.txt").write_text("x")
    with (tmp_path / "huge.html").open("wb") as file:
        file.truncate((16 << 20) + 1)
    names = ["picture.png", "empty.txt", "one.txt", "huge.html", "missing.txt"]
    found = group(files(tmp_path / name for name in names))
    assert [entry.uncompared for entry in found.entries] == [
        "binary file",
        "empty text",
        "",
        "page too large",
        "unreadable file (No such file or directory)",
    ]
    with pytest.raises(MisuseError, match="is a folder"):
        group(files([tmp_path]))


STREAMED = """
import resource, sys
from pathlib import Path
from pagekin.duplicates.result_list import files, group
group(files([sys.argv[1]]))  # compiles, or loads what is compiled
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
found = group(files([sys.argv[2], sys.argv[3]]))
print(len(found.groups()), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.slow
def test_a_large_file_is_streamed_in_bounded_memory(tmp_path: Path) -> None:
    """200 MB, twice; the benchmark does a gigabyte."""
    (tmp_path / "small.txt").write_text(prose(1))
    random = Random(11)
    block = " ".join(random.choices(WORDS, k=200_000)).encode() + b"\n"
    for name in ("a.txt", "b.txt"):
        with (tmp_path / name).open("wb") as file:
            for k in range(150):
                file.write(b"%d " % k + block)
    names = [str(tmp_path / name) for name in ("small.txt", "a.txt", "b.txt")]
    ran = subprocess.run([sys.executable, "-c", STREAMED, *names], capture_output=True, text=True, check=True)
    groups, kilobytes = map(int, ran.stdout.split())
    assert groups == 1
    assert kilobytes * (1 if sys.platform == "darwin" else 1024) < 64 << 20


# --- the fragment of interest --------------------------------------------------------------------


def test_with_a_query_only_the_text_around_its_words_is_compared(tmp_path: Path) -> None:
    """Two pages with one article in different surroundings, and a third with surroundings of the first."""
    article = "\n".join(f"The nightjar {prose(k, 60)}" for k in range(12))
    a, b = "\n".join(prose(100 + k, 60) for k in range(14)), "\n".join(prose(200 + k, 60) for k in range(14))
    rows = [
        {"id": 1, "text": f"{a}\n{article}"},
        {"id": 2, "text": f"{article}\n{b}"},
        {"id": 3, "text": f"{a}\n{prose(300, 700)}"},
    ]
    whole = group(rows)
    assert named(whole) == [[1], [2], [3]] and whole.without_words == 0
    found = group(rows, query="the Nightjars OR nightjar")
    assert named(found) == [[1, 2], [3]] and found.without_words == 1
    for row in rows:
        (tmp_path / f"{row['id']}.txt").write_text(str(row["text"]))
    found = group(files(sorted(tmp_path.glob("*.txt"))), query="NIGHTJAR")
    assert [len(each) for each in named(found)] == [2, 1]


def test_a_query_without_words_is_refused() -> None:
    with pytest.raises(MisuseError, match="no word in the query"):
        group([{"id": 1, "text": "wren"}], query="?!")
