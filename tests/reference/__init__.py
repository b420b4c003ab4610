"""Reference implementations of the kernels in plain Python: slow, short, and the specification of the fast ones."""
