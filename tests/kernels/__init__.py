"""Tests of the kernels: worked examples first, then every kernel bound to its plain-Python twin."""
