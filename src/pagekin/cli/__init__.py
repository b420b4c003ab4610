"""The commands. A command's body is a few lines over the library; heavy imports wait until it runs."""
