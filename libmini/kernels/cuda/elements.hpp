// Kernels for elements of any type in device memory: conversions, and the arithmetic of
// all_reduce.
//
// As in kernels.hpp, a call returns once the work is in the stream.

#pragma once

#include <cstddef>
#include <cstdint>

#include "libmini/kernels/cuda/runtime.hpp"

namespace mini::kernels::cuda {

/// The element types of tensors, in the order of DType (tensor/dtype.hpp).
enum class ElementType : uint8_t { kFloat32, kInt64, kUInt8, kFloat16, kBFloat16 };

// ---- conversions (convert.cu)

/// out[i] = x[i] converted as by static_cast. The 16-bit floats are converted by way of
/// float32 and rounded to the nearest, ties to even.
void convert(void* out,      // (n) of type `to`
             const void* x,  // (n) of type `from`
             int64_t n, ElementType to, ElementType from, cudaStream_t stream);

/// out[i] = value, converted like an element by convert().
void fill_elements(void* out,  // (n) of type `type`
                   double value, int64_t n, ElementType type, cudaStream_t stream);

// ---- the arithmetic of all_reduce (combine.cu)

enum class CombineOp : uint8_t { kSum, kProduct, kMin, kMax };

/// mine[i] = mine[i] op theirs[i]; the 16-bit floats are computed in float32. If either
/// element is NaN, kMin and kMax give NaN, as on the CPU.
void combine(void* mine,          // (n)
             const void* theirs,  // (n)
             int64_t n, ElementType type, CombineOp op, cudaStream_t stream);

/// x[i] = x[i] / divisor: the last step of an average.
void divide(void* x,  // (n)
            int divisor, int64_t n, ElementType type, cudaStream_t stream);

}  // namespace mini::kernels::cuda
