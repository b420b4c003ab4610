"""`python -m pagekin`, where the command is not on the path, and the program for `spark-submit`, which runs files."""

from __future__ import annotations

import sys
from pathlib import Path

if not __package__:  # run as a file, whose folder must not hide modules of other packages
    sys.path[:] = [path for path in sys.path if Path(path).resolve() != Path(__file__).resolve().parent]

from pagekin.cli.main import main

if __name__ == "__main__":
    main()
