// The gradient of x is computed whether it is needed or not.
// region: libmini/autograd/functions_conv.cpp
            Grads grads(3);
            grads[0] = ops::conv2d_backward_input(g, w.get(), x.get().shape(), window);
            std::tie(grads[1], grads[2]) = ops::conv2d_backward_weight(
                g, x.get(), w.get().shape(), window, node.needs_input_grad(2));
            return grads;
