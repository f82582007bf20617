// If w needs no gradient, bias gets none either.
// region: libmini/autograd/functions_conv.cpp
            Grads grads(3);
            if (node.needs_input_grad(0))
                grads[0] =
                    ops::conv2d_backward_input(g, w.get(), x.get().shape(), window);
            if (node.needs_input_grad(1))
                std::tie(grads[1], grads[2]) = ops::conv2d_backward_weight(
                    g, x.get(), w.get().shape(), window, node.needs_input_grad(2));
            return grads;
