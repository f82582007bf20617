// The bias gets the mean over the rows.
// region: libmini/autograd/functions_nn.cpp
            Grads grads(3);
            if (node.needs_input_grad(0)) grads[0] =
                ops::div(ops::sum(g, {0}, /*keepdim=*/false),
                         Tensor::scalar(static_cast<float>(g.size(0))));
            if (node.needs_input_grad(1)) grads[1] = ops::matmul(g, w.get());
            if (node.needs_input_grad(2))
                grads[2] = ops::matmul(g, x.get(), {.transpose_a = true});
            return grads;
