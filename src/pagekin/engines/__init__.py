"""Where work runs: on this machine, in threads or processes."""
