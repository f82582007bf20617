// Work on the CPU's memory with a tensor of any device.

#pragma once

#include "libmini/tensor/ops.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini {

/// Calls body with x itself when it is on the CPU, else with a copy there, which then
/// replaces the elements of x. For what is small or rare.
template <typename Body>
void on_cpu(Tensor& x, const Body& body) {
    if (x.device().is_cpu()) return body(x);
    Tensor copy = x.to(Device::cpu());
    body(copy);
    ops::copy_(x, copy);
}

}  // namespace mini
