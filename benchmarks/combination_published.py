"""The combination as the published code does it, for comparison: described, and written anew.

Raw inputs side by side, half of them dropped; a hidden layer of ReLUs; a sigmoid on the joint layer
of each side. Both joint vectors side by side go through a hidden layer of ReLUs to a sigmoid. The
auto-regularized kind decodes through a hidden layer of ReLUs, with ReLU on what is recovered, too.
Mean squared errors, the link's four times where there are decoders; Adagrad at 0.01; batches of
256; negatives are five times the edges, drawn once; at most 100 epochs, and an end at the first
epoch whose training loss does not fall.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from bivec.evaluation.unified import AbsentPairs

EPOCHS, BATCH, NEGATIVES, RATE, DROPOUT = 100, 256, 5, 0.01, 0.5


class Published(nn.Module):
    """The network: encoders, predictor of links, decoders where asked for."""

    def __init__(self, n_inputs: int, dim: int, recover: bool) -> None:
        super().__init__()
        middle = (n_inputs + dim) // 2
        self.encoders = nn.ModuleList(
            _layers(n_inputs, middle, nn.ReLU(), dim, nn.Sigmoid()) for _ in range(2)
        )
        self.link = _layers(2 * dim, dim, nn.ReLU(), 1, nn.Sigmoid())
        self.decoders = nn.ModuleList(
            _layers(dim, middle, nn.ReLU(), n_inputs, nn.ReLU()) for _ in range(2 * recover)
        )
        for layer in self.modules():
            if isinstance(layer, nn.Linear):
                nn.init.xavier_uniform_(layer.weight)
                nn.init.zeros_(layer.bias)

    def loss(self, left, right, target):
        """Return the mean squared error of links, or with decoders the weighted sum of three."""
        shown = (nn.functional.dropout(side, DROPOUT) for side in (left, right))
        joint = [encode(side) for encode, side in zip(self.encoders, shown, strict=True)]
        link = nn.functional.mse_loss(self.link(torch.cat(joint, 1)).squeeze(1), target)
        if not self.decoders:
            return link
        recovered = (decode(side) for decode, side in zip(self.decoders, joint, strict=True))
        gaps = (
            nn.functional.mse_loss(ours, side)
            for ours, side in zip(recovered, (left, right), strict=True)
        )
        return 4 * link + sum(gaps)


def _layers(n_inputs, n_hidden, between, n_outputs, after):
    return nn.Sequential(
        nn.Linear(n_inputs, n_hidden), between, nn.Linear(n_hidden, n_outputs), after
    )


def combine(graph, embeddings, kind, dim, seed):
    """Return the joint vectors of both sides, and the number of epochs.

    The embeddings are of this graph, in the order of its rows.
    """
    tables = [
        torch.from_numpy(np.hstack([getattr(e, side).vectors for e in embeddings]))
        for side in ("left", "right")
    ]
    draw = np.random.default_rng(seed)
    absent = AbsentPairs(graph).draw(NEGATIVES * graph.n_edges, draw)
    rows = [
        torch.from_numpy(np.append(own, none).astype(np.int64))
        for own, none in zip((graph.left_rows(), graph.left.indices), absent, strict=True)
    ]
    target = (torch.arange(len(rows[0])) < graph.n_edges).float()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = Published(tables[0].shape[1], dim, kind == "auto-regularized")
        optimiser = torch.optim.Adagrad(network.parameters(), lr=RATE)
        before = np.inf
        epochs = 0
        while epochs < EPOCHS:
            total = 0.0
            for batch in torch.randperm(len(target)).split(BATCH):
                optimiser.zero_grad()
                sides = (table[own[batch]] for table, own in zip(tables, rows, strict=True))
                loss = network.loss(*sides, target[batch])
                loss.backward()
                optimiser.step()
                total += len(batch) * float(loss.detach())
            epochs += 1
            if total >= before:
                break
            before = total
    with torch.no_grad():
        vectors = [
            encode(table).numpy() for encode, table in zip(network.encoders, tables, strict=True)
        ]
    return vectors, epochs
