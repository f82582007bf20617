// A convolution without bias has a gradient for it.
// region: libmini/autograd/functions_conv.cpp
            Grads grads(3);
            if (node.needs_input_grad(0))
                grads[0] =
                    ops::conv2d_backward_input(g, w.get(), x.get().shape(), window);
            if (node.needs_input_grad(1) || node.needs_input_grad(2))
                std::tie(grads[1], grads[2]) = ops::conv2d_backward_weight(
                    g, x.get(), w.get().shape(), window, true);
            return grads;
