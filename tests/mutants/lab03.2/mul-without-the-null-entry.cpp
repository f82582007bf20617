// The gradients are returned without a place for the factor that needs none.
// region: libmini/autograd/functions_math.cpp 1
            Grads grads;
            if (node.needs_input_grad(0))
                grads.push_back(ops::sum_to(ops::mul(g, b.get()), a.get().shape()));
            if (node.needs_input_grad(1))
                grads.push_back(ops::sum_to(ops::mul(g, a.get()), b.get().shape()));
            return grads;
