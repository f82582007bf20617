// The numbers in tensors, for the checks of the labs.

#pragma once

#include <cstdint>
#include <vector>

#include "labs/check/arrays.hpp"
#include "libmini/random/random.hpp"
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

/// Returns a tensor of random numbers in [-1, 1), the same for the same seed.
inline Tensor draw(const Shape& shape, uint64_t seed) {
    Tensor x = Tensor::empty(shape);
    Generator generator(seed);
    fill_uniform(x.span<float>(), -1.0, 1.0, generator);
    return x;
}

}  // namespace mini::labs
