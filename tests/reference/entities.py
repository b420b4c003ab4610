"""Character references, by the standard's rules, on top of `html.unescape`.

`html.unescape` knows the names and reads them as text does. It differs from the standard in two things: it
knows no attributes, and it drops references to controls and to noncharacters, which the standard keeps.
"""

from __future__ import annotations

import html
import re
from html.entities import html5

_NUMBER = r"&#(?:[xX](?P<hex>[0-9A-Fa-f]+)|(?P<decimal>[0-9]+));?"
_IN_TEXT = re.compile(_NUMBER + r"|&(?P<name>[0-9A-Za-z]+;?)")
_IN_ATTRIBUTE = re.compile(_NUMBER + r"|&(?P<name>[0-9A-Za-z]++(?:;|(?!=)))")


def decode(text: str, in_attribute: bool) -> str:
    """`text` with its character references decoded.

    >>> decode("&eacute; &#233; &#xE9 &copy2 &nonsense;", in_attribute=False)
    'é é é ©2 &nonsense;'
    >>> decode("?a=1&copy=2&copy2&copy", in_attribute=True)
    '?a=1&copy=2&copy2©'
    """
    return _IN_ATTRIBUTE.sub(_attribute_reference, text) if in_attribute else _IN_TEXT.sub(_text_reference, text)


def _text_reference(match: re.Match[str]) -> str:
    """A name counts as far as it goes: `&copy2` is `©2`."""
    return html.unescape(match[0]) if match["name"] else _number(match)


def _attribute_reference(match: re.Match[str]) -> str:
    """A name counts only as a whole, so that `?a=1&copy2` stays what it is."""
    name = match["name"]
    if not name:
        return _number(match)
    if name in html5:
        return html5[name]
    bare = name.removesuffix(";")
    return html5[bare] + ";" if name != bare and bare in html5 else match[0]


def _number(match: re.Match[str]) -> str:
    digits, base = (match["hex"], 16) if match["hex"] else (match["decimal"], 10)
    # Eight digits are beyond Unicode in either base; Python refuses to read thousands of them.
    number = int(digits.lstrip("0")[:8] or "0", base)
    return html.unescape(f"&#{number};") or chr(number)
