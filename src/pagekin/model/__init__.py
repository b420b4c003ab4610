"""The nouns that rooms hand each other. They know how they are laid out, not how they are made."""
