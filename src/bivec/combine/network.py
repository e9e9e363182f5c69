r"""The network of the combination, in torch; nothing of bivec imports this module before it is needed.

.. math::

    \epsilon(v) = W_2 \,\mathrm{ReLU}(W_1 \,\mathrm{drop}(In(v)) + c_1) + c_2, \qquad
    \tilde S''(a_i, b_j) = w^\top \mathrm{ReLU}(W_3 [\epsilon(a_i)\; \epsilon(b_j)] + c_3) + d

with a hidden layer of size ``(d(In) + k') / 2`` and weights of its own for each side. The
auto-regularized kind adds a decoder for each side, :math:`Out(v)`.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


def encoder(n_inputs: int, dim: int) -> nn.Sequential:
    """Return the layers from the inputs of one side to its joint vectors."""
    hidden = (n_inputs + dim) // 2
    return nn.Sequential(nn.Linear(n_inputs, hidden), nn.ReLU(), nn.Linear(hidden, dim))


class Combiner(nn.Module):
    """Encoders of both sides, the predictor of links, and decoders where asked for.

    Parameters
    ----------
    left_inputs, right_inputs : int
        Lengths of the concatenated inputs.
    dim : int
        Length of the joint vectors.
    recover : bool
        Whether to decode: the auto-regularized kind.
    seed : int
        Of the first weights; torch's own generator is left as it was.
    """

    def __init__(
        self, left_inputs: int, right_inputs: int, dim: int, recover: bool, seed: int
    ) -> None:
        super().__init__()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.left = encoder(left_inputs, dim)
            self.right = encoder(right_inputs, dim)
            self.link = nn.Sequential(nn.Linear(2 * dim, dim), nn.ReLU(), nn.Linear(dim, 1))
            self.left_back = nn.Linear(dim, left_inputs) if recover else None
            self.right_back = nn.Linear(dim, right_inputs) if recover else None

    def forward(self, left: Tensor, right: Tensor) -> tuple[Tensor, Tensor | None, Tensor | None]:
        """Return the estimated links, and the recovered inputs of both sides."""
        a, b = self.left(left), self.right(right)
        estimate = self.link(torch.cat([a, b], dim=1)).squeeze(1)
        if self.left_back is None or self.right_back is None:
            return estimate, None, None
        return estimate, self.left_back(a), self.right_back(b)
