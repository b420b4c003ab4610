"""Benchmarks: one module each."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tests"))  # some compare with what the tests compare with
