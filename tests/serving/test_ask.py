"""Related pages of a text or of HTML that was pasted into the form."""

from __future__ import annotations

import re
from html import escape
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from pagekin.serving.generations import CurrentGeneration
from pagekin.serving.settings import RequestLimits, ServerSettings
from pagekin.urls import page_id
from serving.conftest import Serve

TEXT = "Jays bury acorns in autumn, and oaks grow where they forget them."
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.mark.parametrize("html", [False, True])
def test_the_answer_is_that_of_the_collection(client: TestClient, current: CurrentGeneration, html: bool) -> None:
    pasted = f"<title>Jays</title><p class='a'>{TEXT}" if html else TEXT
    answer = client.post("/ask", content=urlencode({"text": pasted}), headers=FORM)
    collection = current.generation.collection
    found = collection.related_to(html=pasted) if html else collection.related_to(text=pasted)
    assert answer.status_code == 200 and len(found) > 3
    assert re.findall(r'<li data-key="(\w+)"', answer.text) == [page_id(each.url) for each in found]


def test_what_was_pasted_is_shown_as_text(client: TestClient) -> None:
    pasted = "</textarea><script>alert(1)</script>"
    answer = client.post("/ask", content=urlencode({"text": pasted}), headers=FORM)
    assert escape(pasted) in answer.text and pasted not in answer.text


def test_an_empty_form_asks_for_a_text(client: TestClient) -> None:
    for answer in (client.get("/ask"), client.post("/ask", content="text=+", headers=FORM), client.post("/ask")):
        assert answer.status_code == 200 and "<textarea" in answer.text and "related-h" not in answer.text


def test_a_text_that_is_too_long_is_refused_on_a_page(serve: Serve) -> None:
    client = serve(ServerSettings(limits=RequestLimits(text_length=10, body_bytes=100)))
    long = client.post("/ask", content="text=" + "a" * 11, headers=FORM)
    assert long.status_code == 422 and "at most 10 are allowed" in long.text
    longer = client.post("/ask", content="text=" + "a" * 100, headers=FORM)
    assert longer.status_code == 413 and "<html" in longer.text
    assert client.post("/ask", content="text=a&text=b", headers=FORM).status_code == 422
