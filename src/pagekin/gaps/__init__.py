"""Links that are missing in a collection: `pagekin.open("my.kin").gaps()`."""
