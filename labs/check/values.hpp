// The numbers in tensors, for the checks of the labs.

#pragma once

#include <vector>

#include "labs/check/arrays.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::labs {

/// Returns the elements of all tensors, one tensor after the other. Throws Error if a
/// tensor does not hold floats.
inline Values values_of(const std::vector<Tensor>& tensors) {
    Values all;
    for (const Tensor& tensor : tensors) {
        const auto values = tensor.to_vector<float>();
        all.insert(all.end(), values.begin(), values.end());
    }
    return all;
}

}  // namespace mini::labs
