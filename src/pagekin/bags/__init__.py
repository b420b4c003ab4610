"""Bags: tokens, links and a strategy become the weighted terms of each node."""
