#include "libmini/composed/functions.hpp"

#include <cmath>
#include <cstddef>
#include <utility>

#include "libmini/autograd/functions.hpp"
#include "libmini/nn/init.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini {

Tensor unsqueeze(const Tensor& x, int64_t dim) {
    Shape shape = x.shape(), order;
    shape.insert(shape.begin(), 1);
    const auto d = static_cast<std::ptrdiff_t>(dimension("unsqueeze", shape, dim));
    for (int64_t from = 1; from <= x.dim(); ++from) order.push_back(from);
    order.insert(order.begin() + d, 0);
    return permute(expand(x, shape), order);
}

Tensor squeeze(const Tensor& x, int64_t dim) {
    return x.size(dim) == 1 ? select(x, dim, 0) : x;
}

Tensor cat(const std::vector<Tensor>& tensors, int64_t dim) {
    check_shape(!tensors.empty(), "cat: the list of tensors is empty");
    const Tensor& first = tensors.front();
    Shape shape = first.shape(), sizes;
    int64_t& total = shape[dimension("cat", shape, dim)] = 0;
    for (const Tensor& x : tensors) {
        const int64_t before = std::exchange(total, x.size(dim));
        check_shape(x.shape() == shape && x.dtype() == first.dtype() &&
                        x.device() == first.device(),
                    "cat: a tensor is ", x.dtype(), " ", x.shape(), " on ", x.device(),
                    " but the first is ", first.dtype(), " ", first.shape(), " on ",
                    first.device(), "; only the sizes of dimension ", dim, " may differ");
        sizes.push_back(total);
        total += before;
    }

    // Copy each tensor to its part; in backward, return this part of the gradient.
    Tensor y = first.new_empty(shape);
    int64_t start = 0;
    for (const Tensor& x : tensors) {
        Tensor part = ops::narrow(y, dim, start, x.size(dim));
        ops::copy_(part, x.detach());
        start += x.size(dim);
    }
    return record("cat", y, tensors, [sizes, dim](const Tensor& g, const Node& node) {
        Grads grads(sizes.size());
        int64_t start = 0;
        for (size_t i = 0; i < sizes.size(); start += sizes[i++])
            if (node.needs_input_grad(i)) grads[i] = ops::narrow(g, dim, start, sizes[i]);
        return grads;
    });
}

Tensor stack(const std::vector<Tensor>& tensors, int64_t dim) {
    std::vector<Tensor> slices;
    for (const Tensor& x : tensors) slices.push_back(unsqueeze(x, dim));
    return cat(slices, dim);
}

Tensor randn(Shape shape, Generator& generator) {
    Tensor x = Tensor::empty(std::move(shape));
    nn::init::normal_(x, 0, 1, generator);
    return x;
}

Tensor rand(Shape shape, Generator& generator) {
    Tensor x = Tensor::empty(std::move(shape));
    nn::init::uniform_(x, 0, 1, generator);
    return x;
}

Tensor clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm) {
    const NoGradGuard no_grad;
    std::vector<Tensor> grads, squares;
    for (const Tensor& parameter : parameters) {
        if (!parameter.grad().defined()) continue;
        grads.push_back(parameter.grad());
        squares.push_back(sum(grads.back() * grads.back()));
    }
    if (grads.empty()) return Tensor::zeros({});
    const Tensor norm = sqrt(sum(stack(squares)));
    if (std::isinf(static_cast<float>(max_norm))) return norm;  // inf / inf is NaN

    // The factor is limit / max(limit, norm + 1e-6), and max(a, b) = a + relu(b - a).
    const Tensor limit = number_like(norm, static_cast<float>(max_norm));
    const Tensor factor = limit / (limit + relu(norm + 1e-6f - limit));
    for (Tensor& grad : grads) ops::copy_(grad, grad * factor);
    return norm;
}

}  // namespace mini
