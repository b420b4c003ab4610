"""JSON of results as dicts, for callers that do not yet use `to_json`."""
