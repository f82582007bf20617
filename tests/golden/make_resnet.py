"""Writes resnet.json and resnet_init.json from torchvision's ResNets, batch_norm.json from layers.

Run with PyTorch 2.15 and its torchvision on a CPU: OMP_NUM_THREADS=1 python3 make_resnet.py
Only resnet_init.json has random numbers, from seed 0. Elsewhere, element i of tensor k (in the
order of the state_dict) is a hash of k and i in [-1, 1): see noise(). fill() scales the weights so
that activations stay of order 1.
"""

import json
import math
import os

import torch
import torch.nn as nn
import torch.nn.functional as F
import torchvision

HERE = os.path.dirname(os.path.abspath(__file__))
META = {"torch": torch.__version__, "torchvision": torchvision.__version__}
SAMPLES = 3  # how many elements of each gradient are written


def noise(k, shape):
    """Returns the final mix of MurmurHash3 of 40503 k + i, scaled to [-1, 1)."""
    word = 40503 * k + torch.arange(math.prod(shape), dtype=torch.int64)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        word = (word ^ (word >> shift)) * factor & 0xFFFFFFFF
    return (word.double() / 2**31 - 1).view(shape)


def fill(model):
    """Sets weights of a convolution or of fc to noise * sqrt(6 / fan_in), weights of a
    normalisation to 1 + noise / 4 (divided by 16 in bn2 and bn3), and biases to noise / 4.

    The last normalisation of a block is bn2 in ResNet-18 and bn3 in ResNet-50. Without the
    division by 16, PyTorch's gradients of ResNet-50 in float32 and in float64 differ by 2e-3,
    since rounding errors grow from block to block and change the sign of some inputs of relu;
    with the division they differ by 5e-6."""
    with torch.no_grad():
        for k, (name, tensor) in enumerate(model.state_dict().items()):
            if name not in dict(model.named_parameters()):
                continue
            values = noise(k, tensor.shape)
            if tensor.dim() > 1:
                values *= math.sqrt(6 / math.prod(tensor.shape[1:]))
            else:
                values = values / 4 + (1 if name.endswith("weight") else 0)
            if name.endswith(("bn2.weight", "bn3.weight")):
                values = values / 16
            tensor.copy_(values.float())


def places(count):
    return [count * i // SAMPLES + i % count for i in range(SAMPLES)] if count > 1 else [0]


def resnet(name):
    model = getattr(torchvision.models, name)(num_classes=10)
    fill(model)
    x = noise(1000, (8, 3, 32, 32)).float()
    scores = model(x)
    loss = F.cross_entropy(scores, torch.arange(8))
    loss.backward()
    gradients = [[parameter.grad.double().norm().item(),
                  [parameter.grad.flatten()[i].item() for i in places(parameter.numel())]]
                 for parameter in model.parameters()]
    buffers = [[buffer.double().norm().item()] for buffer in model.buffers()]
    model.eval()
    full = getattr(torchvision.models, name)()
    return {
        "name": name, "scores": scores.detach().flatten().tolist(),
        "loss": loss.item(), "gradients": gradients, "buffers": buffers,
        "evaluation": model(x).detach().flatten().tolist(),
        "parameters": sum(p.numel() for p in full.parameters()),
        "state": [[key, list(value.shape)] for key, value in full.state_dict().items()],
    }


def batch_norm(shape, **options):
    """Returns three steps in training mode and one in evaluation mode, each with its gradients."""
    layer = (nn.BatchNorm2d if len(shape) == 4 else nn.BatchNorm1d)(shape[1], **options)
    fill(layer)
    steps = []
    for step in range(4):
        layer.train(step < 3)
        layer.zero_grad()
        x = (2 * noise(step, shape) + 1).float().requires_grad_()
        y = layer(x)
        y.backward(noise(step + 10, shape).float())
        steps.append({
            "y": y.detach().flatten().tolist(), "dx": x.grad.flatten().tolist(),
            "gradients": [p.grad.tolist() for p in layer.parameters()],
            "buffers": [b.tolist() for b in layer.buffers()]})
    return {"shape": list(shape), "options": options, "steps": steps}


def shortened(value):
    """Rounds floats to nine digits, which identify a float32."""
    if isinstance(value, float):
        return float(f"{value:.9g}")
    if isinstance(value, dict):
        return {key: shortened(item) for key, item in value.items()}
    return [shortened(item) for item in value] if isinstance(value, (list, tuple)) else value


def write(name, cases):
    with open(os.path.join(HERE, name), "w") as file:
        json.dump({"meta": META, "cases": shortened(cases)}, file, separators=(",", ":"))
        file.write("\n")


def initial(name, **options):
    """Returns a new model's state from seed 0: the sum and the first two numbers of each tensor."""
    torch.manual_seed(0)
    model = getattr(torchvision.models, name)(num_classes=10, **options)
    return {"name": name, "options": options,
            "state": [[value.double().sum().item(), value.flatten()[:2].tolist()]
                      for value in model.state_dict().values()]}


write("resnet.json", [resnet("resnet18"), resnet("resnet50")])
write("resnet_init.json", [initial("resnet18"), initial("resnet50")])
write("batch_norm.json", [
    batch_norm((4, 3, 2, 3)),
    batch_norm((2, 2, 3, 3), momentum=None),
    batch_norm((2, 2, 2, 2), affine=False, momentum=0.3, eps=0.01),
    batch_norm((2, 2, 2, 2), track_running_stats=False),
    batch_norm((5, 3)),
    batch_norm((2, 3, 4)),
])
