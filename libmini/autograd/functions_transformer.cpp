// What a transformer needs: softmax, embedding and attention. g is always dL/dy.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "libmini/autograd/functions.hpp"
#include "libmini/tensor/common_device.hpp"
#include "libmini/tensor/dispatch.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini {
namespace {

void check_indices(const Tensor& indices, int64_t rows) {
    check_shape(indices.dtype() == DType::kInt64, "embedding: the indices are ",
                indices.dtype(), ", not int64");
    if (indices.device().is_cuda()) return;  // a check would block; the kernel gives NaN
    const std::span<const int64_t> values = indices.span<int64_t>();
    for (size_t i = 0; i < values.size(); ++i)
        MINI_CHECK(values[i] >= 0 && values[i] < rows, "embedding: index ", values[i],
                   " at position ", i, " is no row; there are ", rows);
}

// Returns x (..., rows, cols) as (B, rows, cols).
Tensor as_batch(const Tensor& x) {
    check_shape(x.dim() >= 2, "attention: the input is ", x.shape(),
                ", not (..., positions, features)");
    return reshape(x, {-1, x.size(-2), x.size(-1)});
}

// Returns the summand of the scores (L, S) of causal attention: -infinity where position i
// must not see position j > i, so that its weight is exp(-infinity) = 0; elsewhere 0.
Tensor causal_mask(int64_t L, int64_t S, Device device) {
    std::vector<float> mask(static_cast<size_t>(L * S));
    for (int64_t i = 0; i < L; ++i)
        for (int64_t j = i + 1; j < S; ++j)
            mask[static_cast<size_t>(i * S + j)] = -INFINITY;
    return Tensor::from(mask, {L, S}, device);
}

}  // namespace

// With y = softmax(x), dL/dx = y (g - the sum of g y over the row): no second exponential.
Tensor softmax(const Tensor& x, int64_t dim) {
    Tensor y = ops::unary(kernels::UnaryOp::kExp, ops::log_softmax(x, dim));
    return record("softmax", y, {x},
                  [y = SavedTensor(y), dim](const Tensor& g, const Node&) -> Grads {
                      const Tensor gy = ops::mul(g, y.get());
                      const Tensor total = ops::sum(gy, {dim}, /*keepdim=*/true);
                      return {ops::sub(gy, ops::mul(y.get(), total))};
                  });
}

// Each row of weight gets the sum of the gradients of its copies.
Tensor embedding(const Tensor& indices, const Tensor& weight) {
    check_shape(weight.dim() == 2, "embedding: the weight is ", weight.shape(),
                ", not (rows, features)");
    const int64_t rows = weight.size(0), cols = weight.size(1);
    const Tensor chosen = ops::contiguous(indices), table = ops::contiguous(weight);
    check_indices(chosen, rows);

    Shape shape = indices.shape();
    shape.push_back(cols);
    Tensor y = weight.new_empty(std::move(shape));
    run<cpu::embedding, gpu::embedding>(
        common_device("embedding", chosen, table), y.data<float>(), table.data<float>(),
        chosen.data<int64_t>(), chosen.numel(), rows, cols);
    return record("embedding", y, {weight},
                  [chosen = SavedTensor(chosen), rows, cols](const Tensor& g,
                                                             const Node&) -> Grads {
                      const Tensor grad = ops::contiguous(g);
                      Tensor dweight = g.new_empty({rows, cols});
                      run<cpu::embedding_backward, gpu::embedding_backward>(
                          g.device(), dweight.data<float>(), grad.data<float>(),
                          chosen.get().data<int64_t>(), chosen.get().numel(), rows, cols);
                      return {dweight};
                  });
}

Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    AttentionOptions options) {
    const auto scale = static_cast<float>(1.0 / std::sqrt(q.size(-1)));
    Tensor scores = bmm(as_batch(q) * scale, transpose(as_batch(k), 1, 2));  // (B, L, S)
    if (options.is_causal)
        scores = scores + causal_mask(scores.size(1), scores.size(2), q.device());
    Shape shape = q.shape();
    shape.back() = v.size(-1);
    return reshape(bmm(softmax(scores), as_batch(v)), std::move(shape));
}

}  // namespace mini
