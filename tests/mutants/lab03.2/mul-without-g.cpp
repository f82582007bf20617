// The gradient of the result is left out.
// region: libmini/autograd/functions_math.cpp 1
            Grads grads(2);
            if (node.needs_input_grad(0))
                grads[0] = ops::sum_to(ops::mul(
                    b.get(), Tensor::ones(g.shape())), a.get().shape());
            if (node.needs_input_grad(1))
                grads[1] = ops::sum_to(ops::mul(g, a.get()), b.get().shape());
            return grads;
