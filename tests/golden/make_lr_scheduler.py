"""Writes lr_scheduler.json: the learning rates that PyTorch's schedulers set.

Run with PyTorch 2.15: python3 make_lr_scheduler.py
Each case lists the rate after construction and after each step.
"""

import json
import os

import torch
from torch.optim.lr_scheduler import CosineAnnealingLR, LinearLR, StepLR

HERE = os.path.dirname(os.path.abspath(__file__))
KINDS = {"StepLR": StepLR, "CosineAnnealingLR": CosineAnnealingLR, "LinearLR": LinearLR}


def sgd():
    return torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.1)


def rates(optimizer, schedulers, steps):
    seen = []
    for step in range(steps + 1):
        if step:
            optimizer.step()
            for scheduler in schedulers:
                scheduler.step()
        seen.append(optimizer.param_groups[0]["lr"])
        if len(schedulers) == 1:
            assert schedulers[0].get_last_lr() == [seen[-1]]
    return seen


def case(kind, steps, **options):
    optimizer = sgd()
    scheduler = KINDS[kind](optimizer, **options)
    return {"kind": kind, "options": options, "rates": rates(optimizer, [scheduler], steps)}


def together(steps):
    """Returns the case of two schedulers of one optimizer, which both step in every epoch."""
    optimizer = sgd()
    both = [LinearLR(optimizer, start_factor=0.25, total_iters=4), StepLR(optimizer, 3, 0.5)]
    return {"kind": "together", "rates": rates(optimizer, both, steps)}


cases = [
    case("StepLR", 10, step_size=3),
    case("StepLR", 5, step_size=1, gamma=0.7),
    case("CosineAnnealingLR", 25, T_max=10),
    case("CosineAnnealingLR", 9, T_max=4, eta_min=0.01),
    case("CosineAnnealingLR", 5, T_max=1, eta_min=0.02),
    case("LinearLR", 8),
    case("LinearLR", 6, start_factor=0.01, total_iters=3),
    case("LinearLR", 6, start_factor=1.0, end_factor=0.0, total_iters=4),
    together(10),
]
with open(os.path.join(HERE, "lr_scheduler.json"), "w") as file:
    lines = ",\n".join(json.dumps(each) for each in cases)
    file.write(f'{{"meta": {json.dumps({"torch": torch.__version__})}, "cases": [\n{lines}\n]}}\n')
