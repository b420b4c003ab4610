"""A step of stochastic descent on the loss of LinkLearn (paper, equations 4 and 5), exact and over all pages.

The weight of a term in a page is f_tf(tf) f_idf(idf) f_l(length). A step for page d adds up the scores of the pages
that share a term with it, asks how much each score should rise or fall, and walks the same postings back to the
networks, which are evaluated once per distinct value. Pages that share nothing score 0 and are counted in bulk. Only
the linked pages are sorted: how many of them an unlinked page comes too close to, a search tells.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pagekin.kernels.compile import kernel
from pagekin.kernels.inline import inlined, inner
from pagekin.kernels.networks import NetworkArrays, ValueTable, evaluate, send_back
from pagekin.model.arrays import Bools, Floats, Int64s, UInt32s


class Corpus(NamedTuple):
    """Pages by their terms and terms by their pages; tf, idf and length as numbers of distinct values."""

    offsets: Int64s  # the terms of each page
    term: UInt32s
    tf: UInt32s
    idf: UInt32s  # of each term
    length: UInt32s  # of each page
    run_offsets: Int64s  # the runs of each term: its pages in which it has the same tf
    run_tf: UInt32s
    run_begin: Int64s  # run r has the pages posting[run_begin[r]:run_begin[r + 1]]
    posting: UInt32s
    link_offsets: Int64s  # the pages linked with each page, in either direction
    link: UInt32s


class Workspace(NamedTuple):
    """Room to work, for one thread."""

    tf: ValueTable
    idf: ValueTable
    length: ValueTable
    total: Floats  # of each page: the sum over terms, without the lengths; all 0 between steps
    blame: Floats  # of each page: the derivative of the loss by that sum; all 0 between steps
    linked: Bools  # with the page that is looked at, or this itself; none between steps
    near: Floats  # room for the scores of linked pages ...
    sums: Floats
    passed: Int64s  # ... and how many unlinked ones come too close to so many of them


@inlined
def closer_than(near: Floats, count: int, score: float) -> int:
    """How many of the sorted values are smaller than a score."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if near[middle] < score:
            low = middle + 1
        else:
            high = middle
    return low


@inner
def add_up(page: int, corpus: Corpus, theta: Floats, idf: NetworkArrays, workspace: Workspace) -> None:
    """Sum up, for all pages that share a term with a page, what the terms contribute."""
    for i in range(corpus.offsets[page], corpus.offsets[page + 1]):
        t = corpus.term[i]
        v = corpus.idf[t]
        if not workspace.idf.known[v]:
            workspace.idf.known[v] = True
            evaluate(theta, idf, v, workspace.idf)
        mine = workspace.tf.value[corpus.tf[i]] * workspace.idf.value[v] ** 2
        for r in range(corpus.run_offsets[t], corpus.run_offsets[t + 1]):
            more = mine * workspace.tf.value[corpus.run_tf[r]]
            for k in range(corpus.run_begin[r], corpus.run_begin[r + 1]):
                workspace.total[corpus.posting[k]] += more


@kernel
def rank(page: int, corpus: Corpus, workspace: Workspace) -> int:
    """Sort the scores of the linked pages, less the margin of 1; how many there are."""
    own = workspace.length.value[corpus.length[page]]
    first = corpus.link_offsets[page]
    count = corpus.link_offsets[page + 1] - first
    workspace.linked[page] = True
    for k in range(count):
        e = corpus.link[first + k]
        workspace.linked[e] = True
        workspace.near[k] = own * workspace.length.value[corpus.length[e]] * workspace.total[e] - 1.0
    workspace.near[:count].sort()
    workspace.sums[0] = 0.0
    for k in range(count):
        workspace.sums[k + 1] = workspace.sums[k] + workspace.near[k]
    workspace.passed[: count + 1] = 0
    return int(count)


@inner
def blame_unlinked(page: int, count: int, corpus: Corpus, workspace: Workspace) -> float:
    """The loss, not yet divided by the number of pairs, and what each unlinked page contributes to it."""
    own = workspace.length.value[corpus.length[page]]
    loss = 0.0
    zeros = -1 if workspace.total[page] == 0.0 else 0
    for k in range(corpus.link_offsets[page], corpus.link_offsets[page + 1]):
        zeros -= workspace.total[corpus.link[k]] == 0.0
    for e in range(len(workspace.total)):
        if workspace.total[e] == 0.0:
            zeros += 1
            continue
        score = own * workspace.length.value[corpus.length[e]] * workspace.total[e]
        if score > workspace.near[0] and not workspace.linked[e]:
            close = closer_than(workspace.near, count, score)
            workspace.blame[e] = close
            workspace.passed[close] += 1
            loss += close * score - workspace.sums[close]
    close = closer_than(workspace.near, count, 0.0)
    workspace.passed[close] += zeros
    return float(loss - zeros * workspace.sums[close])


@inner
def blame_linked(page: int, count: int, corpus: Corpus, workspace: Workspace) -> None:
    """What each linked page contributes: minus the number of unlinked ones that come too close to it."""
    own = workspace.length.value[corpus.length[page]]
    for k in range(count - 1, 0, -1):
        workspace.passed[k] += workspace.passed[k + 1]
    for k in range(corpus.link_offsets[page], corpus.link_offsets[page + 1]):
        e = corpus.link[k]
        score = own * workspace.length.value[corpus.length[e]] * workspace.total[e] - 1.0
        place = closer_than(workspace.near, count, score)
        workspace.blame[e] = -workspace.passed[place + 1]
        workspace.linked[e] = False
    workspace.linked[page] = False


@inner
def blame_lengths(page: int, pairs: float, corpus: Corpus, workspace: Workspace) -> None:
    """From scores to lengths; what is left is what the sums over terms contribute. The sums are cleared."""
    mine = corpus.length[page]
    own = workspace.length.value[mine]
    back = 0.0
    for e in range(len(workspace.total)):
        if workspace.blame[e] != 0.0:
            v = corpus.length[e]
            wish = workspace.blame[e] / pairs
            workspace.length.back[v] += wish * own * workspace.total[e]
            back += wish * workspace.length.value[v] * workspace.total[e]
            workspace.blame[e] = wish * own * workspace.length.value[v]
    workspace.total[:] = 0.0
    workspace.length.back[mine] += back


@inner
def blame_terms(page: int, corpus: Corpus, workspace: Workspace) -> None:
    """From the sums over terms to what tf and idf contribute."""
    for i in range(corpus.offsets[page], corpus.offsets[page + 1]):
        t = corpus.term[i]
        v = corpus.idf[t]
        tf, idf = workspace.tf.value[corpus.tf[i]], workspace.idf.value[v]
        mine = 0.0
        for r in range(corpus.run_offsets[t], corpus.run_offsets[t + 1]):
            wish = 0.0
            for k in range(corpus.run_begin[r], corpus.run_begin[r + 1]):
                wish += workspace.blame[corpus.posting[k]]
            workspace.tf.back[corpus.run_tf[r]] += wish * tf * idf * idf
            mine += wish * workspace.tf.value[corpus.run_tf[r]]
        workspace.tf.back[corpus.tf[i]] += mine * idf * idf
        workspace.idf.back[v] += mine * tf * 2.0 * idf
    workspace.blame[:] = 0.0


@kernel
def slope_at(
    page: int,
    corpus: Corpus,
    tf: NetworkArrays,
    idf: NetworkArrays,
    length: NetworkArrays,
    theta: Floats,
    workspace: Workspace,
    gradient: Floats,
) -> float:
    """The loss of a page (equation 4) and, added to `gradient`, its derivative by all parameters.

    The page must have links, and there must be others that it is not linked with.
    """
    for v in range(len(tf.x)):
        evaluate(theta, tf, v, workspace.tf)
    for v in range(len(length.x)):
        evaluate(theta, length, v, workspace.length)
    add_up(page, corpus, theta, idf, workspace)
    count = rank(page, corpus, workspace)
    pairs = float(count) * float(len(workspace.total) - 1 - count)
    loss = blame_unlinked(page, count, corpus, workspace) / pairs
    blame_linked(page, count, corpus, workspace)
    blame_lengths(page, pairs, corpus, workspace)
    blame_terms(page, corpus, workspace)
    for v in range(len(tf.x)):
        send_back(theta, tf, v, workspace.tf, gradient)
    for v in range(len(length.x)):
        send_back(theta, length, v, workspace.length, gradient)
    for i in range(corpus.offsets[page], corpus.offsets[page + 1]):
        v = corpus.idf[corpus.term[i]]
        if workspace.idf.known[v]:
            workspace.idf.known[v] = False
            send_back(theta, idf, v, workspace.idf, gradient)
    return loss


@kernel
def descend(
    pages: Int64s,
    rate: float,
    corpus: Corpus,
    tf: NetworkArrays,
    idf: NetworkArrays,
    length: NetworkArrays,
    theta: Floats,
    workspace: Workspace,
) -> float:
    """A step for each of the pages, one after the other; the sum of their losses. `theta` is changed."""
    gradient = np.empty(len(theta))
    loss = 0.0
    for page in pages:
        gradient[:] = 0.0
        loss += slope_at(page, corpus, tf, idf, length, theta, workspace, gradient)
        for k in range(len(theta)):
            theta[k] -= rate * gradient[k]
    return loss
