// The device check of operations on several tensors.

#pragma once

#include "libmini/tensor/dispatch.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini {

/// Returns the device of all these tensors; ignores undefined tensors in `others`. Throws
/// ShapeError, naming two devices, unless all tensors are in the same memory.
template <typename... Tensors>
Device common_device(const char* name, const Tensor& first, const Tensors&... others) {
    const auto check = [&](const Tensor& other) {
        check_shape(!other.defined() || same_memory(other.device(), first.device()), name,
                    ": all tensors must be on one device, but one is on ", first.device(),
                    " and one on ", other.defined() ? other.device() : first.device(),
                    "; move one with to()");
    };
    (check(others), ...);
    return first.device();
}

}  // namespace mini
