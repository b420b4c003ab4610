"""Evaluation of rankings against a hierarchy of classes. Modules in reading order:

labels                       the classes of pages, and what is left out
judge, measures              every source against every other page; Gamma, Somers' D, P@10, intervals and tests
labelled, baselines, runs    the rankings: bags, weighted text, other methods, run files
evaluate                     the result as data, and the function that computes it
sweep_plan, sweep            many strategies side by side; sweep_report writes and draws them
"""
