"""Writes convnet_synthetic.json and sgd.json: PyTorch's results on generated data.

Run with PyTorch 2.15 on a CPU with AVX2: OMP_NUM_THREADS=1 python3 make_convnet.py
Pixel k, counted over all images, is ((7919 k) mod 256) / 255, normalised; label i is (3 i) mod 10.
"""

import json
import os
import sys

import torch
import torch.nn.functional as F

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../bench"))
from torch_models import ConvNet  # noqa: E402

META = {"torch": torch.__version__, "capability": torch.backends.cpu.get_cpu_capability()}


def convnet(seed, training, batches=10, batch=32):
    torch.manual_seed(seed)
    net = ConvNet()
    net.train(training)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.5)
    k = torch.arange(batches * batch * 784)
    images = ((7919 * k) % 256).float().div(255).sub(0.1307).div(0.3081)
    images = images.view(batches, batch, 1, 28, 28)
    labels = ((3 * torch.arange(batches * batch)) % 10).view(batches, batch)
    losses = []
    for x, y in zip(images, labels):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    sums = {name: p.double().sum().item() for name, p in net.named_parameters()}
    return {"seed": seed, "training": training, "losses": losses, "parameter_sums": sums}


def sgd(**options):
    """Five steps on p with the gradients g_t[i] = sin(i + t) + p[i] / 2."""
    p = torch.linspace(-1, 1, 7)
    p.requires_grad_()
    optimizer = torch.optim.SGD([p], **options)
    steps = []
    for t in range(5):
        index = torch.arange(7, dtype=torch.float64) + t
        p.grad = torch.sin(index).float() + p.detach() / 2
        optimizer.step()
        steps.append(p.detach().tolist())
    return {"options": options, "parameters": steps}


def write(name, cases):
    lines = ",\n".join(json.dumps(case) for case in cases)
    with open(os.path.join(HERE, name), "w") as file:
        file.write(f'{{"meta": {json.dumps(META)}, "cases": [\n{lines}\n]}}\n')


write("convnet_synthetic.json",
      [convnet(seed, training) for seed in (0, 1234) for training in (False, True)])
write("sgd.json", [
    sgd(lr=0.1),
    sgd(lr=0.1, momentum=0.9),
    sgd(lr=0.05, momentum=0.5, weight_decay=0.1),
    sgd(lr=0.1, momentum=0.9, dampening=0.3),
    sgd(lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01),
])
