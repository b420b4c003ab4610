"""`pagekin demo`: a story in few lines, whose commands print what it says."""

from __future__ import annotations

import re
import shlex

from cli.conftest import Pagekin


def test_the_demo_tells_what_is_found_in_the_sample_web(pagekin: Pagekin) -> None:
    answer = pagekin("demo", "--output", "sample")
    assert (answer.code, answer.err) == (0, "")
    lines = answer.out.splitlines()
    assert len(lines) < 40
    assert "213 pages of 22 hosts\n" in answer.out
    commands = [line.removeprefix("$ pagekin ") for line in lines if line.startswith("$ pagekin ")]
    assert [each.split()[0] for each in commands] == ["build", "related", "duplicates", "cluster", "evaluate", "serve"]
    assert "No page is similar enough" not in answer.out
    blocks = dict(re.findall(r"^\$ pagekin (.*)\n((?:.+\n)*)", answer.out, re.M))
    _, related, duplicates, cluster, _, _ = commands
    assert pagekin(*shlex.split(related)).out == blocks[related]
    assert "by " in blocks[related] and "shares " in blocks[related]
    assert len(blocks[duplicates].splitlines()) >= 2
    assert pagekin(*shlex.split(duplicates)).out.startswith(blocks[duplicates])
    loose, tight = blocks[cluster].splitlines()
    assert loose.startswith("alpha 0.3: ") and tight.startswith("alpha 0.9: ")
    assert loose.split(": ", 1)[1] != tight.split(": ", 1)[1]


def test_a_second_demo_builds_nothing(pagekin: Pagekin) -> None:
    first = pagekin("demo", "--output", "sample").out
    assert pagekin("demo", "--output", "sample").out == first
    assert pagekin("check", "sample/sample_web.kin").code == 0
