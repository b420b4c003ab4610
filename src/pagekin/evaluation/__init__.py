"""Is the order right? Orders of pages by similarity, compared with the order that a hierarchy implies.

In the order of reading:

    notes         what was left out, and why
    labels        which class is a page in? TSV, ODP, paths of URLs
    joining       which page does a label mean?
    population    the pages that are compared, their classes, and how far these are from each other
    systems       what orders them: bags, or a run file
    runs          run files and qrels, read and written
    judging       every source against every other page
    measures      Gamma, Somers' D, P@10 ...; how sure they are, and whether two systems differ
    report        all of it as one table
"""
