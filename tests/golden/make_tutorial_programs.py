"""Writes tutorial_programs.json: the losses of linear_ddp and simple_model in PyTorch.

Run with PyTorch 2.15 on a CPU with AVX2: python3 make_tutorial_programs.py
One process trains on whole batches. The ranks of a job share each batch and average their
gradients, so that the gradients are the same.
"""

import json
import os

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

HERE = os.path.dirname(os.path.abspath(__file__))


def train(model, criterion, dataset, lr, batch_size, epochs):
    sampler = DistributedSampler(dataset, num_replicas=1, rank=0)
    loader = DataLoader(dataset, batch_size=batch_size, sampler=sampler)
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    losses = []
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        total = 0.0
        for inputs, targets in loader:
            loss = criterion(model(inputs), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(inputs)
        losses.append(total / len(dataset))
    return losses


def linear_ddp(samples, batch_size, epochs):
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(samples, 10, generator=generator)
    noise = 0.1 * torch.randn(samples, generator=generator)
    y = x.double() @ (0.1 * torch.arange(1, 11).double()) + 0.5 + noise
    torch.manual_seed(0)
    model = nn.Linear(10, 1)
    dataset = TensorDataset(x, y.float().unsqueeze(1))
    losses = train(model, nn.MSELoss(), dataset, 0.01, batch_size, epochs)
    return {"program": "linear_ddp", "samples": samples, "batch_size": batch_size,
            "loss": losses}


def simple_model(samples, batch_size, epochs):
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(samples, 10, generator=generator)
    y = (x.double().sum(dim=1, keepdim=True) > 0).float()
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(10, 1), nn.Sigmoid())
    losses = train(model, nn.BCELoss(), TensorDataset(x, y), 0.1, batch_size, epochs)
    return {"program": "simple_model", "samples": samples, "batch_size": batch_size,
            "loss": losses}


cases = [linear_ddp(960, 48, 5), simple_model(96, 24, 5)]
with open(os.path.join(HERE, "tutorial_programs.json"), "w") as file:
    json.dump({"torch": torch.__version__, "cases": cases}, file, indent=1)
    file.write("\n")
