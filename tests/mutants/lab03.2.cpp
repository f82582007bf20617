// --- linear-always-a-bias
// The gradient of a bias that does not exist takes the place of x's.
// region: libmini/autograd/functions_nn.cpp
            Grads grads(3);
            grads[0] = ops::sum(g, {0}, /*keepdim=*/false);
            if (node.needs_input_grad(0)) grads[1] = ops::matmul(g, w.get());
            if (node.needs_input_grad(2))
                grads[2] = ops::matmul(g, x.get(), {.transpose_a = true});
            return grads;

// --- linear-bias-is-a-mean
// The bias gets the mean over the rows.
// region: libmini/autograd/functions_nn.cpp
            Grads grads(3);
            if (node.needs_input_grad(0)) grads[0] =
                ops::div(ops::sum(g, {0}, /*keepdim=*/false),
                         Tensor::scalar(static_cast<float>(g.size(0))));
            if (node.needs_input_grad(1)) grads[1] = ops::matmul(g, w.get());
            if (node.needs_input_grad(2))
                grads[2] = ops::matmul(g, x.get(), {.transpose_a = true});
            return grads;

// --- linear-bias-last
// The gradients are in the order of the function's arguments, not of the node's inputs.
// region: libmini/autograd/functions_nn.cpp
            Grads grads(3);
            if (node.needs_input_grad(0)) grads[2] = ops::sum(g, {0}, /*keepdim=*/false);
            if (node.needs_input_grad(1)) grads[0] = ops::matmul(g, w.get());
            if (node.needs_input_grad(2))
                grads[1] = ops::matmul(g, x.get(), {.transpose_a = true});
            return grads;

// --- linear-bias-not-summed
// The bias gets g itself.
// region: libmini/autograd/functions_nn.cpp
            Grads grads(3);
            if (node.needs_input_grad(0)) grads[0] = g;
            if (node.needs_input_grad(1)) grads[1] = ops::matmul(g, w.get());
            if (node.needs_input_grad(2))
                grads[2] = ops::matmul(g, x.get(), {.transpose_a = true});
            return grads;

// --- linear-bias-over-columns
// The bias gets the sums over the outputs of each row.
// region: libmini/autograd/functions_nn.cpp
            Grads grads(3);
            if (node.needs_input_grad(0)) grads[0] = ops::sum(g, {1}, /*keepdim=*/false);
            if (node.needs_input_grad(1)) grads[1] = ops::matmul(g, w.get());
            if (node.needs_input_grad(2))
                grads[2] = ops::matmul(g, x.get(), {.transpose_a = true});
            return grads;

// --- linear-w-transposed
// g is multiplied by the transpose of w.
// region: libmini/autograd/functions_nn.cpp
            Grads grads(3);
            if (node.needs_input_grad(0)) grads[0] = ops::sum(g, {0}, /*keepdim=*/false);
            if (node.needs_input_grad(1))
                grads[1] = ops::matmul(g, w.get(), {.transpose_b = true});
            if (node.needs_input_grad(2))
                grads[2] = ops::matmul(g, x.get(), {.transpose_a = true});
            return grads;

// --- linear-weight-is-in-out
// The gradient of w has the shape (in, out).
// region: libmini/autograd/functions_nn.cpp
            Grads grads(3);
            if (node.needs_input_grad(0)) grads[0] = ops::sum(g, {0}, /*keepdim=*/false);
            if (node.needs_input_grad(1)) grads[1] = ops::matmul(g, w.get());
            if (node.needs_input_grad(2))
                grads[2] = ops::matmul(x.get(), g, {.transpose_a = true});
            return grads;

// --- matmul-a-not-transposed
// a is not transposed.
// region: libmini/autograd/functions_math.cpp 3
            Grads grads(2);
            if (node.needs_input_grad(0))
                grads[0] = ops::matmul(g, b.get(), {.transpose_b = true});
            if (node.needs_input_grad(1))
                grads[1] = ops::matmul(a.get(), g);
            return grads;

// --- matmul-b-not-transposed
// g is multiplied by b, not by its transpose.
// region: libmini/autograd/functions_math.cpp 3
            Grads grads(2);
            if (node.needs_input_grad(0))
                grads[0] = ops::matmul(g, b.get());
            if (node.needs_input_grad(1))
                grads[1] = ops::matmul(a.get(), g, {.transpose_a = true});
            return grads;

// --- matmul-gradients-exchanged
// The gradients of a and b are exchanged.
// region: libmini/autograd/functions_math.cpp 3
            Grads grads(2);
            if (node.needs_input_grad(0))
                grads[1] = ops::matmul(g, b.get(), {.transpose_b = true});
            if (node.needs_input_grad(1))
                grads[0] = ops::matmul(a.get(), g, {.transpose_a = true});
            return grads;

// --- matmul-swapped-product
// The gradient of b is g a, transposed on the wrong side.
// region: libmini/autograd/functions_math.cpp 3
            Grads grads(2);
            if (node.needs_input_grad(0))
                grads[0] = ops::matmul(g, b.get(), {.transpose_b = true});
            if (node.needs_input_grad(1))
                grads[1] = ops::matmul(g, a.get(), {.transpose_a = true});
            return grads;

// --- mul-by-itself
// Each factor gets the gradient times itself.
// region: libmini/autograd/functions_math.cpp 1
            Grads grads(2);
            if (node.needs_input_grad(0))
                grads[0] = ops::sum_to(ops::mul(g, a.get()), a.get().shape());
            if (node.needs_input_grad(1))
                grads[1] = ops::sum_to(ops::mul(g, b.get()), b.get().shape());
            return grads;

// --- mul-first-not-summed
// Only the second factor is expected to be broadcast.
// region: libmini/autograd/functions_math.cpp 1
            Grads grads(2);
            if (node.needs_input_grad(0))
                grads[0] = ops::mul(g, b.get());
            if (node.needs_input_grad(1))
                grads[1] = ops::sum_to(ops::mul(g, a.get()), b.get().shape());
            return grads;

// --- mul-in-the-argument
// The product is written into the gradient that was passed.
// region: libmini/autograd/functions_math.cpp 1
            Grads grads(2);
            const Tensor before = ops::clone(g);
            if (node.needs_input_grad(0))
            {
                Tensor all = g;
                ops::copy_(all, ops::mul(g, b.get()));
                grads[0] = ops::sum_to(all, a.get().shape());
            }
            if (node.needs_input_grad(1))
                grads[1] = ops::sum_to(ops::mul(before, a.get()), b.get().shape());
            return grads;

// --- mul-not-summed
// The gradient of a broadcast factor is not summed.
// region: libmini/autograd/functions_math.cpp 1
            Grads grads(2);
            if (node.needs_input_grad(0))
                grads[0] = ops::sum_to(ops::mul(g, b.get()), a.get().shape());
            if (node.needs_input_grad(1))
                grads[1] = ops::mul(g, a.get());
            return grads;

// --- mul-only-the-first
// Only the gradient of the first factor is computed.
// region: libmini/autograd/functions_math.cpp 1
            Grads grads(2);
            if (node.needs_input_grad(0))
                grads[0] = ops::sum_to(ops::mul(g, b.get()), a.get().shape());
            return grads;

// --- mul-summed-too-early
// The gradient is summed before it is multiplied.
// region: libmini/autograd/functions_math.cpp 1
            Grads grads(2);
            if (node.needs_input_grad(0))
                grads[0] = ops::sum_to(ops::mul(g, b.get()), a.get().shape());
            if (node.needs_input_grad(1))
                grads[1] = ops::mul(ops::sum_to(g, b.get().shape()),
                                    ops::sum_to(a.get(), b.get().shape()));
            return grads;

// --- mul-without-g
// The gradient of the result is left out.
// region: libmini/autograd/functions_math.cpp 1
            Grads grads(2);
            if (node.needs_input_grad(0))
                grads[0] = ops::sum_to(ops::mul(
                    b.get(), Tensor::ones(g.shape())), a.get().shape());
            if (node.needs_input_grad(1))
                grads[1] = ops::sum_to(ops::mul(g, a.get()), b.get().shape());
            return grads;

// --- mul-without-the-null-entry
// The gradients are returned without a place for the factor that needs none.
// region: libmini/autograd/functions_math.cpp 1
            Grads grads;
            if (node.needs_input_grad(0))
                grads.push_back(ops::sum_to(ops::mul(g, b.get()), a.get().shape()));
            if (node.needs_input_grad(1))
                grads.push_back(ops::sum_to(ops::mul(g, a.get()), b.get().shape()));
            return grads;

// --- sigmoid-by-logarithm
// The slope is computed from x = log(y / (1 - y)), which is infinite far from 0.
// region: libmini/autograd/functions_math.cpp 2
                      const Tensor one = Tensor::full({}, 1.0);
                      const Tensor ratio = ops::div(ops::sub(one, y.get()), y.get());
                      const Tensor below = ops::add(one, ratio);
                      const Tensor slope = ops::div(ratio, ops::mul(below, below));
                      return {ops::mul(g, slope)};

// --- sigmoid-in-the-argument
// The result is written into the gradient that was passed.
// region: libmini/autograd/functions_math.cpp 2
                      const Tensor slope = ops::sub(y.get(), ops::mul(y.get(), y.get()));
                      Tensor dx = g;
                      ops::copy_(dx, ops::mul(g, slope));
                      return {dx};

// --- sigmoid-in-the-result
// The slope overwrites the saved result, which is the program's tensor, too.
// region: libmini/autograd/functions_math.cpp 2
                      Tensor slope = y.get();
                      ops::add_(slope, ops::mul(slope, slope), -1.0f);
                      return {ops::mul(g, slope)};

// --- sigmoid-of-tanh
// The slope is 1 - y², that of tanh.
// region: libmini/autograd/functions_math.cpp 2
                      const Tensor slope =
                          ops::sub(Tensor::full({}, 1.0), ops::mul(y.get(), y.get()));
                      return {ops::mul(g, slope)};

// --- sigmoid-without-g
// The slope is returned without the gradient of the result.
// region: libmini/autograd/functions_math.cpp 2
                      const Tensor slope = ops::sub(y.get(), ops::mul(y.get(), y.get()));
                      return {slope};

// --- sigmoid-without-y
// The slope is 1 - y.
// region: libmini/autograd/functions_math.cpp 2
                      const Tensor slope = ops::sub(Tensor::full({}, 1.0), y.get());
                      return {ops::mul(g, slope)};
