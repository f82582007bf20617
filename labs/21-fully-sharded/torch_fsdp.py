#!/usr/bin/env python3
"""train_text with PyTorch's fully_shard (FSDP2) over Gloo: the same model and batches.

    python -m torch.distributed.run --nproc-per-node 2 labs/21-fully-sharded/torch_fsdp.py

Run it in the repository's root, with a Python that has PyTorch. The random numbers of
libmini are those of PyTorch, so the seed alone gives both the same initial values and the
same windows. The lines are those of train_text; the last one has the peak of rank 0's memory
(VmHWM), and what of it was there before the model.
"""

import argparse
import glob
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

VOCABULARY, T, LAYERS, HEADS, FEATURES = 96, 64, 4, 4, 64
VALIDATION_WINDOWS = 48


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.c_attn = nn.Linear(FEATURES, 3 * FEATURES)
        self.c_proj = nn.Linear(FEATURES, FEATURES)

    def forward(self, x):
        n, t, _ = x.shape
        heads = [part.reshape(n, t, HEADS, -1).transpose(1, 2)
                 for part in self.c_attn(x).split(FEATURES, dim=2)]
        y = F.scaled_dot_product_attention(*heads, is_causal=True)
        return self.c_proj(y.transpose(1, 2).reshape(n, t, FEATURES))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(FEATURES), nn.LayerNorm(FEATURES)
        self.attn = Attention()
        self.c_fc = nn.Linear(FEATURES, 4 * FEATURES)
        self.c_proj = nn.Linear(4 * FEATURES, FEATURES)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.c_proj(F.gelu(self.c_fc(self.ln_2(x))))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(VOCABULARY, FEATURES), nn.Embedding(T, FEATURES)
        self.ln_f = nn.LayerNorm(FEATURES)
        self.h = nn.Sequential(*[Block() for _ in range(LAYERS)])
        self.lm_head = nn.Linear(FEATURES, VOCABULARY, bias=False)

    def forward(self, tokens):
        x = self.wte(tokens) + self.wpe(torch.arange(tokens.shape[1]))
        return self.lm_head(self.ln_f(self.h(x)))


def read_pages(folder):
    text = "".join(open(path, encoding="utf-8").read()
                   for path in sorted(glob.glob(f"{folder}/*/README.md")))
    tokens = torch.tensor([0 if c == "\n" else ord(c) - 31
                           for c in text if c == "\n" or " " <= c <= "~"])
    end = len(tokens) * 9 // 10
    return tokens[:end], tokens[end:]


def loss_of(model, tokens, begins):
    count = len(begins) // dist.get_world_size()
    own = begins[count * dist.get_rank():count * (dist.get_rank() + 1)]
    inputs, targets = (torch.stack([tokens[b + shift:b + shift + T] for b in own])
                       for shift in (0, 1))
    return F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())


def mean_of(loss):
    loss = loss.detach().clone()
    dist.all_reduce(loss)
    return loss.item() / dist.get_world_size()


def peak_memory():
    for line in open("/proc/self/status", encoding="ascii"):
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    return 0.0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=800)
    parser.add_argument("--every", type=int, default=100)
    parser.add_argument("--batch-size", type=int, default=24)
    options = parser.parse_args()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    before = peak_memory()
    torch.manual_seed(1)
    model = GPT()
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    for block in model.h:
        fully_shard(block, mesh=mesh)
    fully_shard(model, mesh=mesh)
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
    train, validation = read_pages("labs")
    generator = torch.Generator().manual_seed(1)
    start = time.perf_counter()
    for step in range(1, options.steps + 1):
        begins = [torch.randint(0, len(train) - T, (), generator=generator).item()
                  for _ in range(options.batch_size)]
        loss = loss_of(model, train, begins)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step != 1 and step % options.every and step != options.steps:
            continue
        with torch.no_grad():
            begins = [(len(validation) - T - 1) * i // VALIDATION_WINDOWS
                      for i in range(VALIDATION_WINDOWS)]
            found = mean_of(loss), mean_of(loss_of(model, validation, begins))
        if dist.get_rank() == 0:
            print(f"step {step:>5}   loss {found[0]:.3f}   validation {found[1]:.3f}   "
                  f"{time.perf_counter() - start:.1f} s", flush=True)
    if dist.get_rank() == 0:
        print(f"peak {peak_memory():.0f} MiB, before the model {before:.0f} MiB")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
