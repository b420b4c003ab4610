"""Where learning keeps what it knows so far, in a file."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from pagekin.errors import MisuseError
from pagekin.learning.hyperparameters import SearchState
from pagekin.model.files import written_whole

_MOST_STATE = 1 << 26  # bytes of a file that is gone on with


@dataclass
class Checkpoint:
    """Where learning keeps what it knows so far, so that it can be gone on with after an interruption."""

    path: Path | None = None
    resumed: bool = field(default=False, init=False)

    def open(self, belongs: str) -> SearchState:
        """What was kept of this very task; else a new beginning."""
        try:
            if self.path is not None and self.path.is_file() and self.path.stat().st_size <= _MOST_STATE:
                state = SearchState.from_dict(json.loads(self.path.read_text("utf-8")))
                if state.fingerprint == belongs:
                    self.resumed = True
                    return state
        except (OSError, ValueError, RecursionError, MisuseError):
            pass  # it is ours to write again, whatever it was
        return SearchState(belongs)

    def keep(self, state: SearchState) -> None:
        """Write it down: whole, or not at all."""
        if self.path is None:
            return
        with written_whole(self.path) as path:
            path.write_text(json.dumps(state.as_dict()), "utf-8")

    def close(self) -> None:
        """It is no longer needed."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)
