"""Stochastic gradient descent on the loss of LinkLearn (paper, equations 4 and 5), exact and over all pages.

The weight of a term in a page is f_tf(tf) f_idf(idf) f_l(length). A step for page d computes the scores of the pages
that share a term with it, the derivative of the loss by each score, and backpropagates along the same postings to the
networks, which are evaluated once per distinct value. Pages that share no term score 0 and are counted in bulk. Only
the linked pages are sorted; a binary search counts the linked pages whose margin an unlinked page violates.

A network of k units with the input x computes softplus(last + sum outer_j tanh(inner_j x + bias_j)). Its parameters are
stored in the order inner, bias, outer, last.
"""

from typing import NamedTuple

import numpy as np

from pagekin.kernels.compile import inlined, inner, kernel
from pagekin.kernels.spans import lower_bound
from pagekin.model.arrays import Bools, Floats, Int64s, UInt32s


class Corpus(NamedTuple):
    """The terms of pages and the pages of terms; tf, idf and length are indices of distinct values."""

    offsets: Int64s  # the terms of each page
    term: UInt32s
    tf: UInt32s
    idf: UInt32s  # of each term
    length: UInt32s  # of each page
    run_offsets: Int64s  # the runs of each term: the pages in which it has the same tf
    run_tf: UInt32s
    run_begin: Int64s  # run r has the pages posting[run_begin[r]:run_begin[r + 1]]
    posting: UInt32s
    link_offsets: Int64s  # the pages linked with each page, in either direction
    link: UInt32s


class NetworkArrays(NamedTuple):
    """One network: the index of its first parameter, its units, and its distinct inputs."""

    base: int
    units: int
    x: Floats


class Networks(NamedTuple):
    """The three networks."""

    tf: NetworkArrays
    idf: NetworkArrays
    length: NetworkArrays


class ValueTable(NamedTuple):
    """The values of a network at its distinct inputs, and buffers for backpropagation."""

    value: Floats
    slope: Floats  # the derivative of the value by the sum of the units
    hidden: Floats  # inputs x units, flat
    adjoint: Floats  # the derivative of the loss by the value; all 0 between steps
    known: Bools  # whether it was evaluated in this step; all False between steps


class Workspace(NamedTuple):
    """Buffers of one thread."""

    tf: ValueTable
    idf: ValueTable
    length: ValueTable
    total: Floats  # per page: the sum over terms, without the lengths; all 0 between steps
    adjoint: Floats  # per page: the derivative of the loss by that sum; all 0 between steps
    linked: Bools  # whether it is linked with the current page, or is that page; all False between steps
    near: Floats  # the scores of linked pages, minus the margin, sorted
    sums: Floats  # their prefix sums
    violations: Int64s  # [k]: the unlinked pages that violate the margins of k linked pages


@inlined
def evaluate(theta: Floats, network: NetworkArrays, v: int, table: ValueTable) -> None:
    """Evaluate a network at its v-th input, and store what backpropagation needs."""
    inner_at, units = network.base, network.units
    z = theta[inner_at + 3 * units]
    for j in range(units):
        h = np.tanh(theta[inner_at + j] * network.x[v] + theta[inner_at + units + j])
        table.hidden[v * units + j] = h
        z += theta[inner_at + 2 * units + j] * h
    small = np.exp(-abs(z))
    table.value[v] = max(z, 0.0) + np.log1p(small)
    table.slope[v] = 1.0 / (1.0 + small) if z >= 0.0 else small / (1.0 + small)


@inlined
def backpropagate(theta: Floats, network: NetworkArrays, v: int, table: ValueTable, gradient: Floats) -> None:
    """Add to the gradient the derivative of the loss through a network at its v-th input, and clear it."""
    inner_at, units = network.base, network.units
    derivative = table.adjoint[v] * table.slope[v]
    table.adjoint[v] = 0.0
    gradient[inner_at + 3 * units] += derivative
    for j in range(units):
        h = table.hidden[v * units + j]
        gradient[inner_at + 2 * units + j] += derivative * h
        through = derivative * theta[inner_at + 2 * units + j] * (1.0 - h * h)
        gradient[inner_at + units + j] += through
        gradient[inner_at + j] += through * network.x[v]


@inner
def add_scores(page: int, corpus: Corpus, theta: Floats, idf: NetworkArrays, workspace: Workspace) -> None:
    """Sum the contributions of terms for all pages that share a term with a page."""
    for i in range(corpus.offsets[page], corpus.offsets[page + 1]):
        t = corpus.term[i]
        v = corpus.idf[t]
        if not workspace.idf.known[v]:
            workspace.idf.known[v] = True
            evaluate(theta, idf, v, workspace.idf)
        own = workspace.tf.value[corpus.tf[i]] * workspace.idf.value[v] ** 2
        for r in range(corpus.run_offsets[t], corpus.run_offsets[t + 1]):
            more = own * workspace.tf.value[corpus.run_tf[r]]
            for k in range(corpus.run_begin[r], corpus.run_begin[r + 1]):
                workspace.total[corpus.posting[k]] += more


@kernel
def rank(page: int, corpus: Corpus, workspace: Workspace) -> int:
    """Sort the scores of the linked pages, minus the margin of 1; their number."""
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
    workspace.violations[: count + 1] = 0
    return int(count)


@inner
def unlinked_loss(page: int, count: int, corpus: Corpus, workspace: Workspace) -> float:
    """The loss, not yet divided by the number of pairs, and its derivatives by the scores of unlinked pages."""
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
            violated = lower_bound(workspace.near, 0, count, score)
            workspace.adjoint[e] = violated
            workspace.violations[violated] += 1
            loss += violated * score - workspace.sums[violated]
    violated = lower_bound(workspace.near, 0, count, 0.0)
    workspace.violations[violated] += zeros
    return float(loss - zeros * workspace.sums[violated])


@inner
def linked_gradient(page: int, count: int, corpus: Corpus, workspace: Workspace) -> None:
    """The derivative by the score of each linked page: minus the number of unlinked pages that violate its margin."""
    own = workspace.length.value[corpus.length[page]]
    for k in range(count - 1, 0, -1):
        workspace.violations[k] += workspace.violations[k + 1]
    for k in range(corpus.link_offsets[page], corpus.link_offsets[page + 1]):
        e = corpus.link[k]
        score = own * workspace.length.value[corpus.length[e]] * workspace.total[e] - 1.0
        place = lower_bound(workspace.near, 0, count, score)
        workspace.adjoint[e] = -workspace.violations[place + 1]
        workspace.linked[e] = False
    workspace.linked[page] = False


@inner
def length_gradient(page: int, pairs: float, corpus: Corpus, workspace: Workspace) -> None:
    """Backpropagate from scores to lengths and to the sums over terms. The sums are cleared."""
    own_length = corpus.length[page]
    own = workspace.length.value[own_length]
    adjoint = 0.0
    for e in range(len(workspace.total)):
        if workspace.adjoint[e] != 0.0:
            v = corpus.length[e]
            derivative = workspace.adjoint[e] / pairs
            workspace.length.adjoint[v] += derivative * own * workspace.total[e]
            adjoint += derivative * workspace.length.value[v] * workspace.total[e]
            workspace.adjoint[e] = derivative * own * workspace.length.value[v]
    workspace.total[:] = 0.0
    workspace.length.adjoint[own_length] += adjoint


@inner
def term_gradient(page: int, corpus: Corpus, workspace: Workspace) -> None:
    """Backpropagate from the sums over terms to tf and idf."""
    for i in range(corpus.offsets[page], corpus.offsets[page + 1]):
        t = corpus.term[i]
        v = corpus.idf[t]
        tf, idf = workspace.tf.value[corpus.tf[i]], workspace.idf.value[v]
        own = 0.0
        for r in range(corpus.run_offsets[t], corpus.run_offsets[t + 1]):
            derivative = 0.0
            for k in range(corpus.run_begin[r], corpus.run_begin[r + 1]):
                derivative += workspace.adjoint[corpus.posting[k]]
            workspace.tf.adjoint[corpus.run_tf[r]] += derivative * tf * idf * idf
            own += derivative * workspace.tf.value[corpus.run_tf[r]]
        workspace.tf.adjoint[corpus.tf[i]] += own * idf * idf
        workspace.idf.adjoint[v] += own * tf * 2.0 * idf
    workspace.adjoint[:] = 0.0


@kernel
def loss_gradient(
    page: int, corpus: Corpus, networks: Networks, theta: Floats, workspace: Workspace, gradient: Floats
) -> float:
    """The loss of a page (equation 4); its derivative by all parameters is added to `gradient`.

    The page must be linked with some pages, and not with some others.
    """
    tf, idf, length = networks
    for v in range(len(tf.x)):
        evaluate(theta, tf, v, workspace.tf)
    for v in range(len(length.x)):
        evaluate(theta, length, v, workspace.length)
    add_scores(page, corpus, theta, idf, workspace)
    count = rank(page, corpus, workspace)
    pairs = float(count) * float(len(workspace.total) - 1 - count)
    loss = unlinked_loss(page, count, corpus, workspace) / pairs
    linked_gradient(page, count, corpus, workspace)
    length_gradient(page, pairs, corpus, workspace)
    term_gradient(page, corpus, workspace)
    for v in range(len(tf.x)):
        backpropagate(theta, tf, v, workspace.tf, gradient)
    for v in range(len(length.x)):
        backpropagate(theta, length, v, workspace.length, gradient)
    for i in range(corpus.offsets[page], corpus.offsets[page + 1]):
        v = corpus.idf[corpus.term[i]]
        if workspace.idf.known[v]:
            workspace.idf.known[v] = False
            backpropagate(theta, idf, v, workspace.idf, gradient)
    return loss


@kernel
def descend(
    pages: Int64s, rate: float, corpus: Corpus, networks: Networks, theta: Floats, workspace: Workspace
) -> float:
    """A step for each of the pages in turn; the sum of their losses. Changes `theta`."""
    gradient = np.empty(len(theta))
    loss = 0.0
    for page in pages:
        gradient[:] = 0.0
        loss += loss_gradient(page, corpus, networks, theta, workspace, gradient)
        for k in range(len(theta)):
            theta[k] -= rate * gradient[k]
    return loss
