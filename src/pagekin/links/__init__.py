"""Link analysis: links -> link similarities of pages, their threshold graph, and clusters of it.

stored           the links of a store that count under a strategy
statistics       what an index stores of them
link_graph       selects and weights them
measures         co-citation, bibliographic coupling, Amsler, proximity: all pairs above a threshold
similarity       the same for one page at a time
citing_pages     pages that link to both of two pages
threshold_graph  the graph of those pairs and its connected subgraphs
hierarchy        flexible clustering of a subgraph, controlled by alpha
clusters         orderings of one subgraph at any alpha, and pages between topics
cluster_quality  precision and recall of clusters against categories
export, plots    graphs and dendrograms as files and text
"""
