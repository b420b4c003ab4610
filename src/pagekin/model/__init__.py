"""The data types that packages exchange: their layout, not how they are computed."""
