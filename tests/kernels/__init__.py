"""Tests of the kernels: worked examples first, then every kernel compared with its reference implementation."""
