"""A learned weighting as a person would draw it: rising with counts and rarity, falling with lengths."""

from __future__ import annotations

from pagekin.model.weighting import Learned, Network

BY_COUNT = Network(1.0, 0.2, (1.0,), (0.0,), (2.0,), 1.0)
BY_RARITY = Network(0.0, 1.0, (1.0, 0.5), (0.0, -1.0), (2.0, 1.0), 0.0)
BY_LENGTH = Network(50.0, 0.01, (1.0,), (0.0,), (-1.0,), 0.5)
DRAWN = Learned(BY_COUNT, BY_RARITY, BY_LENGTH, {"drawn": "by hand"})
