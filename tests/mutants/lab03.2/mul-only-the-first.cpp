// Only the gradient of the first factor is computed.
// region: libmini/autograd/functions_math.cpp 1
            Grads grads(2);
            if (node.needs_input_grad(0))
                grads[0] = ops::sum_to(ops::mul(g, b.get()), a.get().shape());
            return grads;
