// g is multiplied by b, not by its transpose.
// region: libmini/autograd/functions_math.cpp 3
            Grads grads(2);
            if (node.needs_input_grad(0))
                grads[0] = ops::matmul(g, b.get());
            if (node.needs_input_grad(1))
                grads[1] = ops::matmul(a.get(), g, {.transpose_a = true});
            return grads;
