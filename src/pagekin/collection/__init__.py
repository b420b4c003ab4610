"""A collection opened for questions: `pagekin.open("my.kin")`, its pages and its results."""
