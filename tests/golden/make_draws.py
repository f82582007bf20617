"""Writes PyTorch's random draws (rand_randn, draws_misc) and weights (init_functions, layer_init).

Run with PyTorch 2.15 on a CPU with AVX2, twice:
    python3 make_draws.py                                 *.json: the default, kFused
    ATEN_CPU_CAPABILITY=default python3 make_draws.py     *_separate.json: kSeparate
"""

import hashlib
import json
import os
import struct
import sys

import torch
from torch import nn

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../bench"))
from torch_models import ConvNet  # noqa: E402

CAPABILITY = os.environ.get("ATEN_CPU_CAPABILITY", "")
META = {"torch": torch.__version__, "ATEN_CPU_CAPABILITY": CAPABILITY or "unset (AVX2)",
        "script": "make_draws.py"}
SHOWN = 50  # how many numbers of a long list are written


def floats(x):
    values = x.detach().flatten().tolist()
    words = struct.pack(f"<{len(values)}f", *values)
    prefix = "" if len(values) <= 2 * SHOWN else f"first{SHOWN}_"
    shown = [struct.pack(">f", value).hex() for value in values]
    return {"n": len(values), "sha256_le_float32": hashlib.sha256(words).hexdigest(),
            prefix + "f32_hex": shown[:SHOWN] if prefix else shown}


def doubles(x):
    return [struct.pack(">d", value).hex() for value in x.tolist()]


def rand_randn():
    for seed in (0, 1, 2, 1234, 2**32 + 5):
        for n in (1, 5, 8, 15, 16, 17, 24, 31, 32, 33, 100, 10000):
            case = {"seed": seed, "n": n}
            for draw in (torch.rand, torch.randn):
                case[draw.__name__] = floats(draw(n, generator=torch.Generator().manual_seed(seed)))
            yield case


def draws_misc():
    for seed in (0, 1234):
        torch.manual_seed(seed)
        row = [draw(n) for draw, n in ((torch.rand, 1), (torch.randn, 1), (torch.randn, 3),
                                       (torch.rand, 2), (torch.randn, 20), (torch.rand, 1))]
        yield {"seed": seed, "what": "rand(1),randn(1),randn(3),rand(2),randn(20),rand(1) in a row",
               "draws": [floats(x) for x in row]}
        for draw in (torch.rand, torch.randn):
            torch.manual_seed(seed)
            yield {"seed": seed, "what": f"torch.{draw.__name__}(5,dtype=float64)",
                   "u64_hex": doubles(draw(5, dtype=torch.float64))}
        for call in ("uniform_(-0.3,0.7)", "normal_(1.5,2.0)", "bernoulli_(0.5)", "bernoulli_(0.3)",
                     "exponential_()"):
            torch.manual_seed(seed)
            yield {"seed": seed, "what": f"torch.empty(20).{call}",
                   "draws": [floats(eval(f"torch.empty(20).{call}"))]}


INITIALISERS = {
    "xavier_uniform_(empty(4,6))": ((4, 6), nn.init.xavier_uniform_, {}),
    "xavier_normal_(empty(4,6))": ((4, 6), nn.init.xavier_normal_, {}),
    "kaiming_uniform_(empty(4,6),nonlinearity=relu)":
        ((4, 6), nn.init.kaiming_uniform_, {"nonlinearity": "relu"}),
    "kaiming_normal_(empty(4,6),mode=fan_out,nonlinearity=relu)":
        ((4, 6), nn.init.kaiming_normal_, {"mode": "fan_out", "nonlinearity": "relu"}),
}


def init_functions():
    for seed in (1234, 0):
        for what, (shape, initialise, options) in INITIALISERS.items():
            x = torch.empty(shape)
            torch.manual_seed(seed)
            initialise(x, **options)
            yield {"seed": seed, "what": what, **floats(x)}


def layer_init():
    for seed in (1234, 0, 1, 2):
        for name in ("nn.Linear(10,1)", "nn.Linear(320,50)", "nn.Linear(50,10)", "nn.Conv2d(1,10,5)",
                     "nn.Conv2d(10,20,5)", "nn.Conv2d(3,6,3,padding=1,bias=False)",
                     "nn.Linear(4,3,bias=False)", "nn.Embedding(7,5)", "tutorial Net"):
            torch.manual_seed(seed)
            module = ConvNet() if name == "tutorial Net" else eval(name)
            yield {"seed": seed, "module": name,
                   "params": {key: {"shape": list(value.shape), **floats(value)}
                              for key, value in module.named_parameters()}}


def main():
    ending = "_separate" if CAPABILITY == "default" else ""
    for make in (rand_randn, draws_misc, init_functions, layer_init):
        lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in make())
        with open(os.path.join(HERE, f"{make.__name__}{ending}.json"), "w") as file:
            file.write(f'{{"meta":{json.dumps(META)},"cases":[\n{lines}\n]}}\n')


main()
