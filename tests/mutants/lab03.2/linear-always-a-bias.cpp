// The gradient of a bias that does not exist takes the place of x's.
// region: libmini/autograd/functions_nn.cpp
            Grads grads(3);
            grads[0] = ops::sum(g, {0}, /*keepdim=*/false);
            if (node.needs_input_grad(0)) grads[1] = ops::matmul(g, w.get());
            if (node.needs_input_grad(2))
                grads[2] = ops::matmul(g, x.get(), {.transpose_a = true});
            return grads;
