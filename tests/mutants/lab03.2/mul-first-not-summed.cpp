// Only the second factor is expected to be broadcast.
// region: libmini/autograd/functions_math.cpp 1
            Grads grads(2);
            if (node.needs_input_grad(0))
                grads[0] = ops::mul(g, b.get());
            if (node.needs_input_grad(1))
                grads[1] = ops::sum_to(ops::mul(g, a.get()), b.get().shape());
            return grads;
