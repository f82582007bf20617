"""Writes chunks.json, the sizes of Tensor.chunk's parts, and zero_partition.json, the rank to which
ZeroRedundancyOptimizer assigns each parameter.

    python make_parallel.py            (PyTorch 2.x, no GPU)
"""

import json
import pathlib

import torch
import torch.distributed as dist
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.testing._internal.distributed.fake_pg import FakeStore

HERE = pathlib.Path(__file__).parent

# The number of elements of each parameter, in the model's order. Equal numbers show how a tie is
# broken.
MODELS = {
    "convnet": [250, 10, 5000, 20, 16000, 50, 500, 10],
    "equal": [4, 4, 4, 4, 4],
    "one": [7],
    "empty_one": [3, 0, 5, 0, 1],
    "descending": [9, 8, 7, 6, 5, 4, 3, 2, 1],
    "ascending": [1, 2, 3, 4, 5, 6, 7, 8, 9],
}


def chunk_cases():
    for size in [*range(13), 31, 64, 100]:
        yield {"size": size, "sizes": {
            chunks: [len(part) for part in torch.empty(size, 2).chunk(chunks)]
            for chunks in [1, 2, 3, 4, 7, 8]}}


def partition(sizes, world_size):
    """Returns the rank that owns each parameter."""
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=world_size)
    parameters = [torch.nn.Parameter(torch.zeros(size)) for size in sizes]
    optimizer = ZeroRedundancyOptimizer(parameters, torch.optim.SGD, lr=0.1)
    owners = [optimizer._param_to_rank[parameter] for parameter in parameters]
    dist.destroy_process_group()
    return owners


def partition_cases():
    for name, sizes in MODELS.items():
        yield {"name": name, "sizes": sizes, "owners": {
            world_size: partition(sizes, world_size) for world_size in [1, 2, 3, 4, 7]}}


def write(name, cases):
    lines = ",\n".join(json.dumps(case) for case in cases)
    text = f'{{"torch": "{torch.__version__}", "cases": [\n{lines}\n]}}\n'
    (HERE / f"{name}.json").write_text(text)


write("chunks", chunk_cases())
write("zero_partition", partition_cases())
