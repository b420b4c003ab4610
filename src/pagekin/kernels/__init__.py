"""Numba kernels: arrays in, arrays out. Nothing here knows what a page is.

Every kernel has a plain-Python twin under `tests/twins` and a property test that binds the two.
"""
