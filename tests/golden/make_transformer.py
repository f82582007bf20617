"""Writes transformer.json: PyTorch's results of the functions of a transformer.

Run with PyTorch 2.15 on a CPU: OMP_NUM_THREADS=1 python3 make_transformer.py
Element i of tensor k is a hash of k and i, as in make_resnet.py. The inputs are float32; PyTorch
computes in float64, so that the difference to libmini's results is libmini's rounding.
"""

import json
import math
import os

import torch
import torch.nn.functional as F

HERE = os.path.dirname(os.path.abspath(__file__))


def noise(k, shape, scale=1.0):
    """Returns the final mix of MurmurHash3 of 40503 k + i, scaled to [-scale, scale)."""
    word = 40503 * k + torch.arange(math.prod(shape), dtype=torch.int64)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        word = (word ^ (word >> shift)) * factor & 0xFFFFFFFF
    return ((word.double() / 2**31 - 1) * scale).float().double().view(shape)


def case(name, function, scale, shapes, **more):
    """Calls the function with tensors 0, 1, ...; the gradient of its result is tensor 10."""
    inputs = [noise(k, shape, scale).requires_grad_() for k, shape in enumerate(shapes)]
    y = function(*inputs)
    y.backward(noise(10, y.shape))
    return {"name": name, **more, "scale": scale, "shapes": shapes, "y": y.flatten().tolist(),
            "gradients": [x.grad.flatten().tolist() for x in inputs]}


INDICES = [[3, 0, 3], [1, 3, 0]]


def norm(x, weight=None, bias=None):
    return F.layer_norm(x, x.shape[-1:], weight, bias)


def attention(is_causal):
    return lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=is_causal)


QKV = [(2, 2, 3, 4), (2, 2, 5, 4), (2, 2, 5, 3)]
cases = [
    case("embedding", lambda w: F.embedding(torch.tensor(INDICES), w), 1, [(5, 4)]),
    case("gelu", F.gelu, 6, [(4, 9)]),
    case("softmax", lambda x: torch.softmax(x, -1), 4, [(2, 3, 5)]),
    case("layer_norm", norm, 2, [(3, 7)]),
    case("layer_norm", norm, 2, [(2, 3, 8), (8,), (8,)]),
    case("linear", F.linear, 2, [(2, 3, 4), (5, 4), (5,)]),
    case("bmm", torch.bmm, 2, [(3, 2, 4), (3, 4, 5)]),
    case("attention", attention(False), 2, QKV),
    case("causal attention", attention(True), 2, QKV),
]
with open(os.path.join(HERE, "transformer.json"), "w") as file:
    lines = ",\n".join(json.dumps(each) for each in cases)
    file.write(f'{{"meta": {json.dumps({"torch": torch.__version__})}, "cases": [\n{lines}\n]}}\n')
