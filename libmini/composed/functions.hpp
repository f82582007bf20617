// Functions that consist of others: what programs for PyTorch use most, and no kernel.
//
// Names, arguments and defaults are PyTorch's. All functions run on any device; those of
// the first section are differentiable, and throw ShapeError for a dimension that x lacks.

#pragma once

#include <cstdint>
#include <vector>

#include "libmini/random/random.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini {

// ---- shapes

/// Returns a view of x with a new dimension of size 1, which is dimension `dim` of the
/// result (`torch.unsqueeze`).
Tensor unsqueeze(const Tensor& x, int64_t dim);

/// Returns a view of x without dimension `dim` if its size is 1, otherwise x
/// (`torch.squeeze`).
Tensor squeeze(const Tensor& x, int64_t dim);

/// Return a new tensor of the tensors one after the other along dimension `dim`
/// (`torch.cat`), or along a new dimension `dim` (`torch.stack`). Throw ShapeError for an
/// empty list, and if one differs from the first in device, dtype or another dimension.
Tensor cat(const std::vector<Tensor>& tensors, int64_t dim = 0);
Tensor stack(const std::vector<Tensor>& tensors, int64_t dim = 0);

// ---- new tensors, on the default device

/// Return standard normal numbers, and uniform numbers in [0, 1) (`torch.randn`, `rand`).
/// The CPU draws them, for a GPU too: those that PyTorch draws on the CPU.
Tensor randn(Shape shape, Generator& generator = default_generator());
Tensor rand(Shape shape, Generator& generator = default_generator());

// ---- training

/// Divides all gradients, in place, by one number, so that their norm is at most
/// `max_norm`, and returns the norm before, a scalar: the square root of the sum of the
/// squares of all gradients (`torch.nn.utils.clip_grad_norm_`). Smaller gradients do not
/// change; undefined ones are skipped. Does not wait for a GPU. Call it after backward():
/// DDP's ranks divide by one number; with shards (FSDP) each has the norm of its own.
Tensor clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm);

}  // namespace mini
