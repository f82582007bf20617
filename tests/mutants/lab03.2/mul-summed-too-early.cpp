// The gradient is summed before it is multiplied.
// region: libmini/autograd/functions_math.cpp 1
            Grads grads(2);
            if (node.needs_input_grad(0))
                grads[0] = ops::sum_to(ops::mul(g, b.get()), a.get().shape());
            if (node.needs_input_grad(1))
                grads[1] = ops::mul(ops::sum_to(g, b.get().shape()),
                                    ops::sum_to(a.get(), b.get().shape()));
            return grads;
