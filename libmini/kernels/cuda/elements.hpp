// Kernels for elements of other types than float in device memory (element_types.cu).
//
// As in kernels.hpp, a call returns once the work is in the stream.

#pragma once

#include <cstddef>
#include <cstdint>

#include "libmini/core/dtype.hpp"
#include "libmini/kernels/cuda/runtime.hpp"

namespace mini::kernels::cuda {

/// out[i] = x[i] converted by convert_element().
void convert(void* out,      // (n) of type `to`
             const void* x,  // (n) of type `from`
             int64_t n, DType to, DType from, cudaStream_t stream);

/// out[i] = value, converted by convert_element().
void fill_elements(void* out,  // (n) of type `type`
                   double value, int64_t n, DType type, cudaStream_t stream);

/// x[i] += 1.
void increment(int64_t* x,  // (n)
               int64_t n, cudaStream_t stream);

}  // namespace mini::kernels::cuda
