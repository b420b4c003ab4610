"""Where is it kept? Readings -> one store in files, and back; opened memory-mapped, never half-written."""
