#!/usr/bin/env python3
"""Prints what PyTorch reaches on this GPU, as one line of JSON: GB/s of a copy of 4 GB (read and written),
and TFLOP/s of a product of random 8192 x 8192 matrices by cuBLAS in float32, TF32 and bfloat16."""

import json
import sys

SIZE = 8192
ROUNDS = 10


def seconds_each(torch, work):
    """Returns the seconds of one call of `work`, measured by events of the GPU."""
    for _ in range(3):
        work()
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(ROUNDS):
        work()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / 1000 / ROUNDS


def main():
    try:
        import torch  # pylint: disable=import-outside-toplevel
    except ImportError:
        sys.exit("torch_ceilings.py needs PyTorch")
    if not torch.cuda.is_available():
        sys.exit("torch_ceilings.py needs a GPU that PyTorch sees")
    source = torch.rand(10**9, device="cuda")
    target = torch.empty_like(source)
    figures = {"gpu": torch.cuda.get_device_name(0), "torch": torch.__version__,
               "copy_gbs": 8 / seconds_each(torch, lambda: target.copy_(source))}
    del source, target
    a, b = (torch.rand(SIZE, SIZE, device="cuda") * 2 - 1 for _ in range(2))
    for name, tf32, dtype in (("float32", False, torch.float32), ("tf32", True, torch.float32),
                              ("bfloat16", False, torch.bfloat16)):
        torch.backends.cuda.matmul.allow_tf32 = tf32
        x, y = a.to(dtype), b.to(dtype)
        figures[f"{name}_tflops"] = 2 * SIZE**3 / seconds_each(torch, lambda x=x, y=y: x @ y) / 1e12
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
