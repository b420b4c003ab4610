"""Which terms matter? Counted pages and their links -> OKAPI tuned, and a weighting learned from the links (LinkLearn)."""
