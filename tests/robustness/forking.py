"""Work in a fork of this process: with other rights, or with less room."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable

from pagekin.errors import PagekinError

NOBODY = 65534


def in_a_fork(work: Callable[[], object], before: Callable[[], object] = lambda: None) -> tuple[int, str]:
    """(exit code, sentence) that `pagekin` would end with, were `work` its command; a traceback is code 70."""
    return end_fork(*begin_fork(work, before))


def begin_fork(work: Callable[[], object], before: Callable[[], object] = lambda: None) -> tuple[int, int]:
    """(process, pipe) of work that has begun."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        code, said = 70, ""
        try:
            os.close(ours)
            before()
            work()
            code = 0
        except PagekinError as error:
            code, said = error.exit_code, str(error)
        except BaseException:
            said = traceback.format_exc()
        finally:
            os.write(theirs, said.encode("utf-8", "replace"))
            os._exit(code)
    os.close(theirs)
    return child, ours


def end_fork(child: int, pipe: int) -> tuple[int, str]:
    """How it ended."""
    with os.fdopen(pipe, "rb") as file:
        said = file.read().decode()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said


def become_nobody() -> None:
    """Give up root's rights for those of a user who owns nothing."""
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)
