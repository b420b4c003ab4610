"""What is each page about? Tokens, links and a Strategy -> Bags."""
