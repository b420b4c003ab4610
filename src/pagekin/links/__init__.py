"""Who is cited together? Links -> similarities of pages, their neighbourhood graph, and clusters that the user steers.

web            whose links count: preparation
measures       co-citation, bibliographic coupling, Amsler, proximity: all pairs above a threshold
neighbourhood  the graph of those pairs, its connected subgraphs, the surroundings of a page
hierarchy      a subgraph merged step by step, as tightly as alpha says
clusters       what a user holds: orderings, cuts, comparisons of alphas
crossing       pages between topics
judging        whether clusters are categories
exporting, drawing    graphs and trees for other programs and for the eye
"""
