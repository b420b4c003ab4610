"""Term weighting learned from links (LinkLearn), beside OKAPI with tuned parameters."""
