"""Writes loader_generator.json: what PyTorch's DataLoader draws, and from which generator.

Run with PyTorch 2.15 on a CPU: python3 make_loader.py
Sample i is i; in the cases with "augment", sample i is 1000 i plus a draw of randint(0, 1000) from
the default generator. "seed" seeds the loader's generator, and 5 seeds the default generator; if
the loader has no generator, "seed" seeds the default generator. "generator_next" and
"default_next" are the int64 values that random_() draws from the two generators after the epochs.
"""

import json
import os

import torch
from torch.utils.data import DataLoader, Dataset

HERE = os.path.dirname(os.path.abspath(__file__))
EPOCHS = 3


class Numbers(Dataset):
    def __init__(self, n, augment):
        self.n = n
        self.augment = augment

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        if not self.augment:
            return i
        return 1000 * i + int(torch.randint(0, 1000, (1,)))


def next_seed(generator=None):
    return int(torch.empty((), dtype=torch.int64).random_(generator=generator))


def case(n, seed, shared, augment=False, **options):
    torch.manual_seed(5)
    generator = None
    if shared:
        generator = torch.Generator()
        generator.manual_seed(seed)
    else:
        torch.manual_seed(seed)
    loader = DataLoader(Numbers(n, augment), generator=generator, **options)
    epochs = [[batch.tolist() for batch in loader] for _ in range(EPOCHS)]
    return {
        "n": n,
        "seed": seed,
        "generator": shared,
        "augment": augment,
        **options,
        "epochs": epochs,
        "generator_next": next_seed(generator) if shared else None,
        "default_next": next_seed(),
    }


def main():
    cases = []
    for n, batch_size, drop_last in [(1, 1, False), (7, 3, False), (7, 3, True), (12, 4, False), (5, 8, True)]:
        for workers in (0, 2):
            for shuffle in (False, True):
                cases.append(case(n, 1234, True, batch_size=batch_size, shuffle=shuffle,
                                  drop_last=drop_last, num_workers=workers))
    for shared in (False, True):
        for shuffle in (False, True):
            cases.append(case(7, 42, shared, augment=True, batch_size=3, shuffle=shuffle,
                              drop_last=False, num_workers=0))
    meta = {"torch": torch.__version__, "script": "make_loader.py"}
    with open(os.path.join(HERE, "loader_generator.json"), "w") as file:
        json.dump({"meta": meta, "cases": cases}, file, separators=(",", ":"))


main()
