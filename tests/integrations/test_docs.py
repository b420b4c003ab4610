"""Our own docs as a site."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from integrations.test_generators import links

ROOT = Path(__file__).parents[2]


@pytest.mark.campaign
def test_make_docs_makes_pages_with_related_pages() -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(links(ROOT / "build" / "docs" / "site" / "index.html", "article")) == 4
