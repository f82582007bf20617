"""Writes gpt.json: 50 training steps of libmini's transformer (nn::GPT) in PyTorch.

Run with PyTorch 2.15 on a CPU with AVX2: OMP_NUM_THREADS=1 python3 make_gpt.py
Both start from seed 0; the SHA-256 of each initial parameter says that they start from the same
bits. The text is the file LICENSE; sequence b of step s begins at character 7919 (4 s + b) mod 900.

`losses` are those of a model in float64. `float32_error` is the greatest relative difference of
PyTorch's losses in float32 to them: what rounding does to a loss in 50 steps of AdamW. Sums in
another order round differently, but not by more; the test allows four times this error.
"""

import hashlib
import json
import os

import torch
import torch.nn as nn
import torch.nn.functional as F

HERE = os.path.dirname(os.path.abspath(__file__))
VOCAB, BLOCK, LAYERS, HEADS, D = 96, 64, 4, 4, 64
STEPS, BATCH = 50, 4


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.c_attn = nn.Linear(D, 3 * D)
        self.c_proj = nn.Linear(D, D)

    def forward(self, x):
        N, T, _ = x.shape
        q, k, v = (part.view(N, T, HEADS, D // HEADS).transpose(1, 2)
                   for part in self.c_attn(x).split(D, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.c_proj(y.transpose(1, 2).reshape(N, T, D))


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.c_fc = nn.Linear(D, 4 * D)
        self.c_proj = nn.Linear(4 * D, D)

    def forward(self, x):
        return self.c_proj(F.gelu(self.c_fc(x)))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1 = nn.LayerNorm(D)
        self.attn = Attention()
        self.ln_2 = nn.LayerNorm(D)
        self.mlp = MLP()

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(VOCAB, D)
        self.wpe = nn.Embedding(BLOCK, D)
        self.h = nn.Sequential(*[Block() for _ in range(LAYERS)])
        self.ln_f = nn.LayerNorm(D)
        self.lm_head = nn.Linear(D, VOCAB, bias=False)

    def forward(self, tokens):
        x = self.wte(tokens) + self.wpe(torch.arange(tokens.shape[1]))
        return self.lm_head(self.ln_f(self.h(x)))


def tokens_of(text):
    """Returns the newline as 0, the characters from the space to ~ as 1 to 95; drops others."""
    kept = [c for c in text if c == "\n" or " " <= c <= "~"]
    return torch.tensor([0 if c == "\n" else ord(c) - 31 for c in kept])


def digest(tensor):
    return hashlib.sha256(bytes(tensor.detach().contiguous().view(torch.uint8).flatten().tolist()))


def train(dtype):
    torch.manual_seed(0)
    model = GPT()
    start = {name: digest(p).hexdigest() for name, p in model.named_parameters()}
    model = model.to(dtype)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    with open(os.path.join(HERE, "../../LICENSE"), encoding="utf-8") as file:
        text = tokens_of(file.read())
    losses = []
    for step in range(STEPS):
        begins = [7919 * (BATCH * step + b) % 900 for b in range(BATCH)]
        x = torch.stack([text[begin : begin + BLOCK] for begin in begins])
        y = torch.stack([text[begin + 1 : begin + BLOCK + 1] for begin in begins])
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x).view(-1, VOCAB), y.view(-1))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return start, losses


start, losses = train(torch.float64)
_, rounded = train(torch.float32)
error = max(abs(a - b) / b for a, b in zip(rounded, losses))
meta = {"torch": torch.__version__, "capability": torch.backends.cpu.get_cpu_capability()}
case = {"losses": losses, "float32_error": error, "parameters_sha256": start}
with open(os.path.join(HERE, "gpt.json"), "w") as file:
    file.write(f'{{"meta": {json.dumps(meta)}, "cases": [\n{json.dumps(case)}\n]}}\n')
