"""Which terms matter? Words as counted, and links -> OKAPI tuned, and a weighting learned from links."""
