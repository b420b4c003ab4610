"""Benchmarks: one module each."""
