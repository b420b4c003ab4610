"""What a program may do when kernels have to be compiled."""

from collections.abc import Callable

before_numba: Callable[[], None] | None = None  # called once, before numba is used in this process
