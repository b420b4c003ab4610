"""What does it look like? Measured values -> charts, sentences, and one page that needs nothing else."""
