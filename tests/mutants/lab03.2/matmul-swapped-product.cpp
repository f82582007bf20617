// The gradient of b is g a, transposed on the wrong side.
// region: libmini/autograd/functions_math.cpp 3
            Grads grads(2);
            if (node.needs_input_grad(0))
                grads[0] = ops::matmul(g, b.get(), {.transpose_b = true});
            if (node.needs_input_grad(1))
                grads[1] = ops::matmul(g, a.get(), {.transpose_a = true});
            return grads;
