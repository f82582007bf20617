// Arithmetic and its derivatives. g is always dL/dy; sum_to reverses broadcasting.

#include "libmini/autograd/functions.hpp"

#include <cstddef>

#include "libmini/tensor/ops.hpp"

namespace mini {

using kernels::UnaryOp;

Tensor add(const Tensor& a, const Tensor& b) {
    return record(
        "add", ops::add(a, b), {a, b},
        [a_shape = a.shape(), b_shape = b.shape()](const Tensor& g, const Node& node) {
            Grads grads(2);
            if (node.needs_input_grad(0)) grads[0] = ops::sum_to(g, a_shape);
            if (node.needs_input_grad(1)) grads[1] = ops::sum_to(g, b_shape);
            return grads;
        });
}

Tensor sub(const Tensor& a, const Tensor& b) {
    return record(
        "sub", ops::sub(a, b), {a, b},
        [a_shape = a.shape(), b_shape = b.shape()](const Tensor& g, const Node& node) {
            Grads grads(2);
            if (node.needs_input_grad(0)) grads[0] = ops::sum_to(g, a_shape);
            if (node.needs_input_grad(1))
                grads[1] = ops::sum_to(ops::unary(UnaryOp::kNeg, g), b_shape);
            return grads;
        });
}

// d(ab) = b da + a db
Tensor mul(const Tensor& a, const Tensor& b) {
    return record("mul", ops::mul(a, b), {a, b},
                  [a = SavedTensor(a), b = SavedTensor(b)](const Tensor& g,
                                                           const Node& node) -> Grads {
                      // [lab03.3] Compute both gradients of a product.
                      Grads grads(2);
                      if (node.needs_input_grad(0))
                          grads[0] = ops::sum_to(ops::mul(g, b.get()), a.get().shape());
                      if (node.needs_input_grad(1))
                          grads[1] = ops::sum_to(ops::mul(g, a.get()), b.get().shape());
                      return grads;
                      // [lab03.3]
                  });
}

// d(a/b) = da / b - (a/b) db / b
Tensor div(const Tensor& a, const Tensor& b) {
    Tensor y = ops::div(a, b);
    return record("div", y, {a, b},
                  [a_shape = a.shape(), b = SavedTensor(b), y = SavedTensor(y)](
                      const Tensor& g, const Node& node) {
                      Grads grads(2);
                      const Tensor g_over_b = ops::div(g, b.get());
                      if (node.needs_input_grad(0))
                          grads[0] = ops::sum_to(g_over_b, a_shape);
                      if (node.needs_input_grad(1)) {
                          const Tensor db = ops::mul(g_over_b, y.get());
                          grads[1] =
                              ops::sum_to(ops::unary(UnaryOp::kNeg, db), b.get().shape());
                      }
                      return grads;
                  });
}

Tensor neg(const Tensor& x) {
    return record("neg", ops::unary(UnaryOp::kNeg, x), {x},
                  [](const Tensor& g, const Node&) -> Grads {
                      return {ops::unary(UnaryOp::kNeg, g)};
                  });
}

// d exp(x) = exp(x) dx
Tensor exp(const Tensor& x) {
    Tensor y = ops::unary(UnaryOp::kExp, x);
    return record("exp", y, {x},
                  [y = SavedTensor(y)](const Tensor& g, const Node&) -> Grads {
                      return {ops::mul(g, y.get())};
                  });
}

// d log(x) = dx / x
Tensor log(const Tensor& x) {
    return record("log", ops::unary(UnaryOp::kLog, x), {x},
                  [x = SavedTensor(x)](const Tensor& g, const Node&) -> Grads {
                      return {ops::div(g, x.get())};
                  });
}

// d sqrt(x) = dx / (2 sqrt(x))
Tensor sqrt(const Tensor& x) {
    Tensor y = ops::unary(UnaryOp::kSqrt, x);
    return record("sqrt", y, {x},
                  [y = SavedTensor(y)](const Tensor& g, const Node&) -> Grads {
                      return {ops::div(g, ops::add(y.get(), y.get()))};
                  });
}

Tensor relu(const Tensor& x) {
    Tensor y = ops::unary(UnaryOp::kReLU, x);
    return record("relu", y, {x},
                  [y = SavedTensor(y)](const Tensor& g, const Node&) -> Grads {
                      return {ops::relu_backward(g, y.get())};
                  });
}

// d sigmoid(x) = y (1 - y) dx
Tensor sigmoid(const Tensor& x) {
    Tensor y = ops::unary(UnaryOp::kSigmoid, x);
    return record(
        "sigmoid", y, {x}, [y = SavedTensor(y)](const Tensor& g, const Node&) -> Grads {
            // [lab03.3] Compute the gradient of sigmoid from its result.
            const Tensor one = Tensor::full({}, 1.0, DType::kFloat32, g.device());
            return {ops::mul(ops::mul(g, ops::sub(one, y.get())), y.get())};
            // [lab03.3]
        });
}

// d tanh(x) = (1 - y²) dx
Tensor tanh(const Tensor& x) {
    Tensor y = ops::unary(UnaryOp::kTanh, x);
    return record("tanh", y, {x},
                  [y = SavedTensor(y)](const Tensor& g, const Node&) -> Grads {
                      const Tensor square = ops::mul(y.get(), y.get());
                      return {ops::mul(g, ops::sub(number_like(g, 1), square))};
                  });
}

// d gelu(x) = (cdf(x) + x density(x)) dx, with the standard normal distribution
Tensor gelu(const Tensor& x) {
    return record("gelu", ops::unary(UnaryOp::kGELU, x), {x},
                  [x = SavedTensor(x)](const Tensor& g, const Node&) -> Grads {
                      return {ops::mul(g, ops::unary(UnaryOp::kGELUSlope, x.get()))};
                  });
}

// Each element of x has weight 1 in the sum: the gradient is g, expanded to the shape of
// x.
Tensor sum(const Tensor& x) {
    return record("sum", ops::sum(x), {x},
                  [shape = x.shape()](const Tensor& g, const Node&) -> Grads {
                      return {ops::expand(g, shape)};
                  });
}

Tensor sum(const Tensor& x, const Shape& dims, bool keepdim) {
    // The shape of x with size 1 for each summed dimension: backward reshapes g to
    // `kept`, then expands g to the shape of x.
    Shape kept = x.shape();
    for (const int64_t dim : dims) {
        x.size(dim);  // throws if the dimension does not exist
        kept[static_cast<size_t>(dim < 0 ? dim + x.dim() : dim)] = 1;
    }
    return record("sum", ops::sum(x, dims, keepdim), {x},
                  [kept, shape = x.shape()](const Tensor& g, const Node&) -> Grads {
                      return {ops::expand(ops::reshape(g, kept), shape)};
                  });
}

Tensor mean(const Tensor& x) { return sum(x) / static_cast<float>(x.numel()); }

Tensor mean(const Tensor& x, const Shape& dims, bool keepdim) {
    const Tensor total = sum(x, dims, keepdim);
    const double count =
        static_cast<double>(x.numel()) / static_cast<double>(total.numel());
    return total / static_cast<float>(count);
}

// dL/da = g bᵀ, dL/db = aᵀ g
Tensor matmul(const Tensor& a, const Tensor& b) {
    return record("matmul", ops::matmul(a, b), {a, b},
                  [a = SavedTensor(a), b = SavedTensor(b)](const Tensor& g,
                                                           const Node& node) -> Grads {
                      // [lab03.3] Compute both gradients of a matrix product.
                      Grads grads(2);
                      if (node.needs_input_grad(0))
                          grads[0] = ops::matmul(g, b.get(), {.transpose_b = true});
                      if (node.needs_input_grad(1))
                          grads[1] = ops::matmul(a.get(), g, {.transpose_a = true});
                      return grads;
                      // [lab03.3]
                  });
}

// For each of the B products, as matmul.
Tensor bmm(const Tensor& a, const Tensor& b) {
    return record(
        "bmm", ops::bmm(a, b), {a, b},
        [a = SavedTensor(a), b = SavedTensor(b)](const Tensor& g, const Node& node) {
            Grads grads(2);
            if (node.needs_input_grad(0))
                grads[0] = ops::bmm(g, ops::transpose(b.get(), 1, 2));
            if (node.needs_input_grad(1))
                grads[1] = ops::bmm(ops::transpose(a.get(), 1, 2), g);
            return grads;
        });
}

}  // namespace mini
