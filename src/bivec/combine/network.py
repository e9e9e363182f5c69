r"""The network of the combination, in torch.

.. math::

    \epsilon(v) = \tanh(W_2 \,\mathrm{ReLU}(W_1 \,\mathrm{drop}(In(v)) + c_1) + c_2), \qquad
    \tilde S''(a_i, b_j) =
        w^\top \mathrm{ReLU}(W_3 \epsilon(a_i) + W_4 \epsilon(b_j) + c_3) + c_4

with a hidden layer of size ``(d(In) + k') / 2`` and weights of its own for each side. The
auto-regularized kind adds :math:`Out(v) = W_5 \epsilon(v) + c_5` for each side.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Combiner(nn.Module):
    """Encoders of both sides, the predictor of links, and decoders where asked for.

    Paper: silent about the decoder's layers, the activations and the predictor. Here: one linear
    layer back, ReLU within, the hyperbolic tangent on joint vectors, so that nodes of a kind come
    close and no vector is far from all; no activation on estimates and what is recovered, which
    may be negative and beyond 1; the predictor has one hidden layer of ``dim``.

    Parameters
    ----------
    left_inputs, right_inputs : int
        Lengths of the concatenated inputs.
    dim : int
        Length of the joint vectors.
    recover : bool
        Whether to decode: the auto-regularized kind.
    seed : int
        Of the first weights; torch's own random state stays as it was.
    """

    def __init__(
        self, left_inputs: int, right_inputs: int, dim: int, recover: bool, seed: int
    ) -> None:
        super().__init__()
        self.recovers = recover
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.left = encoder(left_inputs, dim)
            self.right = encoder(right_inputs, dim)
            # One layer over both vectors side by side, in two parts, so that a node's part is
            # computed once for all of its pairs.
            self.left_link = nn.Linear(dim, dim)
            self.right_link = nn.Linear(dim, dim, bias=False)
            self.link = nn.Linear(dim, 1)
            if recover:
                self.left_back = nn.Linear(dim, left_inputs)
                self.right_back = nn.Linear(dim, right_inputs)

    def forward(
        self, left: Tensor, right: Tensor, left_of: Tensor, right_of: Tensor
    ) -> tuple[Tensor, Tensor | None, Tensor | None]:
        """Return the estimates of pairs, and the recovered inputs of both sides.

        Parameters
        ----------
        left, right : tensor
            Inputs of distinct nodes, after dropout.
        left_of, right_of : tensor
            For each pair, the rows of its ends in them.
        """
        a, b = self.left(left), self.right(right)
        ends = self.left_link(a)[left_of] + self.right_link(b)[right_of]
        estimate = self.link(torch.relu(ends)).squeeze(1)
        if not self.recovers:
            return estimate, None, None
        return estimate, self.left_back(a), self.right_back(b)


def encoder(n_inputs: int, dim: int) -> nn.Sequential:
    """Return the layers from the inputs of one side to its joint vectors."""
    hidden = (n_inputs + dim) // 2
    return nn.Sequential(nn.Linear(n_inputs, hidden), nn.ReLU(), nn.Linear(hidden, dim), nn.Tanh())
