// The gradient of w has the shape (in, out).
// region: libmini/autograd/functions_nn.cpp
            Grads grads(3);
            if (node.needs_input_grad(0)) grads[0] = ops::sum(g, {0}, /*keepdim=*/false);
            if (node.needs_input_grad(1)) grads[1] = ops::matmul(g, w.get());
            if (node.needs_input_grad(2))
                grads[2] = ops::matmul(x.get(), g, {.transpose_a = true});
            return grads;
