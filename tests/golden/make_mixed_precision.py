"""Writes mixed_precision.json: PyTorch's linear layer under autocast, and its GradScaler.

Run with PyTorch 2.15 on a CPU: OMP_NUM_THREADS=1 python3 make_mixed_precision.py
Element i of tensor k is a hash of k and i, as in make_transformer.py. The linear cases are float32
tensors under torch.autocast; the gradient of the result is tensor 10, rounded to the dtype. The
scaler's case is the state after each step of SGD with these gradients.
"""

import json
import math
import os

import torch
import torch.nn.functional as F

HERE = os.path.dirname(os.path.abspath(__file__))
SHAPES = [(6, 300), (5, 300), (5,)]


def noise(k, shape, scale=1.0):
    word = 40503 * k + torch.arange(math.prod(shape), dtype=torch.int64)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        word = (word ^ (word >> shift)) * factor & 0xFFFFFFFF
    return ((word.double() / 2**31 - 1) * scale).float().view(shape)


def linear(name):
    dtype = getattr(torch, name)
    inputs = [noise(k, shape, 2.0).requires_grad_() for k, shape in enumerate(SHAPES)]
    with torch.autocast("cpu", dtype):
        y = F.linear(*inputs)
    assert y.dtype == dtype and all(x.dtype == torch.float32 for x in inputs)
    y.backward(noise(10, y.shape).to(dtype))
    return {"what": "linear", "dtype": name, "shapes": SHAPES, "y": y.float().flatten().tolist(),
            "gradients": [x.grad.flatten().tolist() for x in inputs]}


def scaler():
    gradients = [1.0, math.inf, 3.0, -0.7, 0.1, math.nan, 2.5, 0.3, 0.9, 1.7]
    w = torch.tensor([1.0, -2.0, 0.5], requires_grad=True)
    sgd = torch.optim.SGD([w], lr=0.1, momentum=0.9)
    scaler = torch.amp.GradScaler("cpu", init_scale=96.0, growth_factor=3.0, backoff_factor=0.25,
                                  growth_interval=3)
    scaler.scale(torch.zeros(()))  # it makes its scale at the first call
    steps = []
    for gradient in gradients:
        w.grad = torch.tensor([1.0, gradient, -2.0])
        scaler.step(sgd)
        scaler.update()
        steps.append({"w": w.tolist(), "state": scaler.state_dict()})
    return {"what": "scaler", "gradients": [repr(each) for each in gradients], "steps": steps}


cases = [linear("bfloat16"), linear("float16"), scaler()]
with open(os.path.join(HERE, "mixed_precision.json"), "w") as file:
    lines = ",\n".join(json.dumps(each) for each in cases)
    file.write(f'{{"meta": {json.dumps({"torch": torch.__version__})}, "cases": [\n{lines}\n]}}\n')
