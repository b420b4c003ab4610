"""Compiles all kernels ahead of time into the extension module `pagekin.kernels.machine`."""
