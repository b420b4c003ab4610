"""Programs for developers of pagekin; none of them is in the wheel."""
