#include "libmini/autograd/low_precision.hpp"

#include <utility>

#include "libmini/autograd/functions.hpp"
#include "libmini/tensor/ops.hpp"

// [lab22 file]
namespace mini {
namespace {

Tensor to_float32(const Tensor& x) { return ops::to(x, DType::kFloat32); }
Tensor rounded(const Tensor& x, DType dtype) { return to_float32(ops::to(x, dtype)); }

}  // namespace

Tensor low_precision_linear(const Tensor& x, const Tensor& w, const Tensor& bias,
                            DType dtype) {
    MINI_CHECK(item_size(dtype) == 2, "low_precision_linear: ", dtype,
               " has not 16 bits");
    if (x.dim() > 2) {  // compute with one matrix of all rows
        Shape shape = x.shape();
        shape.back() = w.size(0);
        const Tensor rows = reshape(x, {-1, x.size(-1)});
        return reshape(low_precision_linear(rows, w, bias, dtype), std::move(shape));
    }
    // [lab22.3] Round the operands and the result; record the gradients, rounded alike.
    const Tensor low_x = ops::to(x, dtype), low_w = ops::to(w, dtype);
    Tensor y = ops::linear(to_float32(low_x), to_float32(low_w),
                           bias.defined() ? rounded(bias, dtype) : bias);
    y = rounded(y, dtype);
    return record(
        "low_precision_linear", y, {bias, x, w},
        [low_x, low_w, dtype](const Tensor& g, const Node& node) -> Grads {
            Grads grads(3);  // only those needed
            const Tensor low_g = rounded(g, dtype);
            if (node.needs_input_grad(0))
                grads[0] = rounded(ops::sum(low_g, {0}, /*keepdim=*/false), dtype);
            if (node.needs_input_grad(1))
                grads[1] = rounded(ops::matmul(low_g, to_float32(low_w)), dtype);
            if (node.needs_input_grad(2))
                grads[2] = rounded(
                    ops::matmul(low_g, to_float32(low_x), {.transpose_a = true}), dtype);
            return grads;
        });
    // [lab22.3]
}

}  // namespace mini
// [lab22 file]
