"""The interface of parallel execution."""

from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

Job = TypeVar("Job")
Result = TypeVar("Result")


class Mapper(Protocol):
    """Like `map`, but may run several jobs at a time; results come in the order of the jobs."""

    def __call__(self, function: Callable[[Job], Result], jobs: Iterable[Job], /) -> Iterable[Result]: ...
