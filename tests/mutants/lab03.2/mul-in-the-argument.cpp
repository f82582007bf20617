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
