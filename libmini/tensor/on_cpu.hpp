// Modifies a tensor on any device with a function for CPU tensors.

#pragma once

#include "libmini/tensor/ops.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini {

/// Calls body(x) if x is on the CPU. Otherwise calls body with a copy of x on the CPU,
/// and then copies the elements of the copy back to x. Use on_cpu only for small tensors
/// or rare operations.
template <typename Body>
void on_cpu(Tensor& x, const Body& body) {
    if (x.device().is_cpu()) return body(x);
    Tensor copy = x.to(Device::cpu());
    body(copy);
    Tensor elements = x.as_strided(x.shape(), x.strides(), x.offset());  // not recorded
    ops::copy_(elements, copy);
}

}  // namespace mini
