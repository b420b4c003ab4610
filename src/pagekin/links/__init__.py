"""Link analysis: links -> link similarities of pages, their threshold graph, and clusters of it."""
