// Kernels for elements of any type in device memory: conversions, and the arithmetic of
// all_reduce (element_types.cu).
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

enum class CombineOp : uint8_t { kSum, kProduct, kMin, kMax };

/// mine[i] = mine[i] op theirs[i]; the 16-bit floats are computed in float32. If either
/// element is NaN, kMin and kMax give NaN, as on the CPU.
void combine(void* mine,          // (n)
             const void* theirs,  // (n)
             int64_t n, DType type, CombineOp op, cudaStream_t stream);

/// x[i] = x[i] / divisor: the last step of an average.
void divide(void* x,  // (n)
            int divisor, int64_t n, DType type, cudaStream_t stream);

}  // namespace mini::kernels::cuda
