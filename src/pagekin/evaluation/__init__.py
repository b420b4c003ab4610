"""Evaluation of rankings against a hierarchy of classes. Modules in reading order:

notes, labels, population    what is left out, the classes of pages, and the familial distance between them
systems, baselines, runs     the rankings: bags, weighted text, other methods, run files
judge, measures              every source against every other page; Gamma, Somers' D, P@10, intervals and tests
report, evaluate             the result as data, and the function that computes it
sweep_plan, sweep            many strategies side by side; sweep_results and sweep_report write them
"""
