// Mixed precision: products of 16-bit floats, parameters of 32 bits.
//
//     parameter w    float32 --round--> w16 --.
//     input     x    float32 --round--> x16 --+-- x16 w16ᵀ, summed in float32 --round--> y
//
// Backward needs x16 and w16: half the bytes. A tensor core computes so too; a CPU converts
// both back first, which shows rounding and memory, but no speed.
//
// Micikevicius et al. 2018, Mixed Precision Training.

#pragma once

#include <utility>

#include "libmini/tensor/tensor.hpp"

namespace mini {

/// While it exists, nn::Linear computes on this thread by low_precision_linear with
/// `dtype` (`torch.autocast`) or, for float32, by linear (`enabled=False`). All other
/// functions compute in float32.
class AutocastGuard {
  public:
    explicit AutocastGuard(DType dtype) : outer_(std::exchange(current_, dtype)) {}
    ~AutocastGuard() { current_ = outer_; }
    AutocastGuard(const AutocastGuard&) = delete;
    AutocastGuard& operator=(const AutocastGuard&) = delete;

    /// Returns the innermost guard's dtype on this thread; float32 if there is none.
    static DType dtype() { return current_; }

  private:
    static inline thread_local DType current_ = DType::kFloat32;
    DType outer_;
};

/// Returns linear(x, w, bias) as torch.nn.functional.linear computes it for tensors of
/// `dtype`: rounds x, w and bias, sums products in float32, and rounds the result; in
/// backward likewise the gradient that comes, and those of x, w and bias. All results are
/// float32 tensors, with rounded values. Saves x and w in `dtype`. Throws Error unless
/// `dtype` is float16 or bfloat16.
Tensor low_precision_linear(const Tensor& x, const Tensor& w, const Tensor& bias,
                            DType dtype);

}  // namespace mini
