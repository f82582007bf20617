// The gradients of a and b are exchanged.
// region: libmini/autograd/functions_math.cpp 3
            Grads grads(2);
            if (node.needs_input_grad(0))
                grads[1] = ops::matmul(g, b.get(), {.transpose_b = true});
            if (node.needs_input_grad(1))
                grads[0] = ops::matmul(a.get(), g, {.transpose_a = true});
            return grads;
