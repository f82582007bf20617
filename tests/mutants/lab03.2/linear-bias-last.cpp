// The gradients are in the order of the function's arguments, not of the node's inputs.
// region: libmini/autograd/functions_nn.cpp
            Grads grads(3);
            if (node.needs_input_grad(0)) grads[2] = ops::sum(g, {0}, /*keepdim=*/false);
            if (node.needs_input_grad(1)) grads[0] = ops::matmul(g, w.get());
            if (node.needs_input_grad(2))
                grads[1] = ops::matmul(g, x.get(), {.transpose_a = true});
            return grads;
