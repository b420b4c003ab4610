"""Kernels: arrays in, arrays out. Nothing here knows what a page is.

Every kernel has a plain Python reference implementation in `tests/reference` and a property test that compares the two.
"""
