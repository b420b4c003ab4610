"""Where do I look it up? H -> I, and the files of an index."""
