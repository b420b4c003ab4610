"""Evaluation of rankings against a hierarchy of classes, or by related pairs of pages. Modules in reading order:

labels, population           the classes of pages, what is left out, and the familial distance between pages
judge, measures              every source against every other page; Gamma, Somers' D, P@10, intervals and tests
labelled, baselines, runs    the rankings: bags, weighted text, other methods, run files
evaluate                     the result as data, and the function that computes it
related_pairs, see_also      related pairs from files and from "See also" sections, and their measures
evaluate_related             the result by related pairs, and the function that computes it
tune                         weights of the blend, fitted to judgements by cross-validation
sweep_plan, sweep            many strategies side by side; sweep_report writes and draws them
"""
