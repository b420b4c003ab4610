"""The kernels once more in plain Python: slow, short, and the specification that the fast ones are held to."""
