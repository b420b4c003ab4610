"""What a server has loaded before its first request."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

# Long views are part of it: they compute when they are asked for, with modules that are there.
PROGRAM = """
import sys
from starlette.testclient import TestClient
from pagekin.serving import pages
from pagekin.serving.api import schema
from pagekin.serving.app import make_app, warm_up
from pagekin.serving.generations import CurrentGeneration
from pagekin.serving.rendering import environment
from pagekin.serving.views.names import find_page

current = CurrentGeneration(sys.argv[1])
app = make_app(current)
url = "http://treeroom.example/oak.html"
page = find_page(current.generation.indexed, url).id
known = {"url": url, "a": url, "b": url, "query": "oak", "q": "oak", "wait": "1"}
with TestClient(app, base_url="http://localhost") as client:
    client.portal.call(warm_up, app)
    assert schema._encoded.cache_info().currsize == schema._rendered.cache_info().currsize == 1
    loaded, counted = set(sys.modules), client.get("/metrics").text
    assert 'path="/search"' not in counted
    templates = len(environment().cache)
    paths = [path for path, methods in client.get("/api/openapi.json").json()["paths"].items() if "get" in methods]
    for path in [*paths, *(route.path for route in pages.routes()), "/api", "/embed.js", "/static/page.css"]:
        client.get(path.replace("{id}", page), params=known)
    client.post("/api/related", json={"text": "oak"})
    print(sorted(name for name in set(sys.modules) - loaded if name.startswith(("pagekin", "numpy", "jinja2"))))
    print(templates - len(environment().cache))
"""


@pytest.mark.slow
def test_no_request_imports_a_module_or_compiles_a_template(sample_index: Path) -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(sample_index)], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[]\n0\n", "")
