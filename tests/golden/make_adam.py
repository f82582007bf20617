"""Writes adam.json: the parameters after steps of PyTorch's Adam and AdamW, as bits of float32.

Run with PyTorch 2.15 on a CPU: ATEN_CPU_CAPABILITY=default python3 make_adam.py
Parameter i of n starts at (2 i + 1 - n) / n. The gradient of step t at i is
((37 i + 11 t) mod 64 - 31.5) / 32 + p[i] / 2: exact in float32, except for the last addition.

PyTorch's wheels for x86 compute square roots with Intel's MKL, which rounds some of them
incorrectly. "parameters" and the averages are computed with correctly rounded square roots,
as in PyTorch's other builds; "mkl" holds the parameters after the last step of the
unchanged wheel.
"""

import json
import os

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
META = {"torch": torch.__version__, "capability": os.environ.get("ATEN_CPU_CAPABILITY", "")}


def bits(tensor):
    return [f"{word & 0xffffffff:08x}" for word in tensor.detach().view(torch.int32).tolist()]


def right_sqrt(tensor):
    return torch.sqrt(tensor.double()).to(tensor.dtype)


def run(kind, n, steps, **options):
    p = ((2 * torch.arange(n) + 1 - n).float() / n).requires_grad_()
    optimizer = getattr(torch.optim, kind)([p], foreach=False, **options)
    after = []
    for t in range(steps):
        pattern = ((37 * torch.arange(n) + 11 * t) % 64).float()
        p.grad = (pattern - 31.5) / 32 + p.detach() / 2
        optimizer.step()
        after.append(bits(p))
    state = optimizer.state[p]
    result = {"kind": kind, "options": options, "parameters": after}
    for name in ("exp_avg", "exp_avg_sq"):
        if name in state:
            result[name] = bits(state[name])
    return result


def case(*arguments, **options):
    wheel = run(*arguments, **options)["parameters"][-1]
    mkl_sqrt = torch.Tensor.sqrt
    torch.Tensor.sqrt = right_sqrt
    try:
        return {**run(*arguments, **options), "mkl": wheel}
    finally:
        torch.Tensor.sqrt = mkl_sqrt


with open(os.path.join(HERE, "adam.json"), "w") as file:
    cases = [
        case("Adam", 1, 10),
        case("Adam", 37, 10),
        case("Adam", 37, 10, lr=0.1, betas=[0.8, 0.9], eps=1e-3),
        case("Adam", 37, 8, lr=0.01, weight_decay=0.1),
        case("Adam", 7, 6, lr=0.05, betas=[0.0, 0.0]),
        case("Adam", 7, 6, lr=0.05, betas=[0.3, 0.999]),
        case("AdamW", 37, 10),
    ]
    lines = ",\n".join(json.dumps(each) for each in cases)
    file.write(f'{{"meta": {json.dumps(META)}, "cases": [\n{lines}\n]}}\n')
