"""What can be asked of a collection, as JSON: one shape for the command line and for the web (docs/json.md)."""
