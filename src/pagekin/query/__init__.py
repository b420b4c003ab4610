"""Who is its kin? An index and a bag -> neighbors, with the reason."""
