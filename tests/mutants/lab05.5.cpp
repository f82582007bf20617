// --- bias-always
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

// --- bias-with-the-weight-only
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

// --- elements-not-channels
// Each element has its own number, as in dropout.
// region: libmini/autograd/functions_dropout.cpp 2
    if (!training || p == 0.0) return x;
    return times_mask("dropout2d", x, p, x.shape(), generator);

// --- images-get-a-gradient
// The gradient of x is computed whether it is needed or not.
// region: libmini/autograd/functions_conv.cpp
            Grads grads(3);
            grads[0] = ops::conv2d_backward_input(g, w.get(), x.get().shape(), window);
            std::tie(grads[1], grads[2]) = ops::conv2d_backward_weight(
                g, x.get(), w.get().shape(), window, node.needs_input_grad(2));
            return grads;

// --- in-evaluation-too
// Channels are dropped in evaluation, too.
// region: libmini/autograd/functions_dropout.cpp 2
    if (p == 0.0) return x;
    Shape channels(x.shape().size(), 1);
    channels[0] = x.size(0);
    channels[1] = x.size(1);
    return times_mask("dropout2d", x, p, channels, generator);

// --- mask-drawn-again
// The backward pass draws a mask of its own.
// region: libmini/autograd/functions_dropout.cpp 1
    const Tensor mask = draw_mask(x.new_empty(mask_shape), 1.0 - p, scale, generator);
    return record(name, ops::mul(x, mask), {x},
                  [=, &generator](const Tensor& g, const Node&) -> Grads {
                      return {ops::mul(g, draw_mask(g.new_empty(mask_shape), 1.0 - p,
                                                    scale, generator))};
                  });

// --- mask-of-positive-results
// The backward pass takes the positive results for the elements that were kept.
// region: libmini/autograd/functions_dropout.cpp 1
    const Tensor mask = draw_mask(x.new_empty(mask_shape), 1.0 - p, scale, generator);
    const Tensor y = ops::mul(x, mask);
    return record(name, y, {x},
                  [y = SavedTensor(y), scale](const Tensor& g, const Node&) -> Grads {
                      Tensor dx = ops::relu_backward(g, y.get());
                      ops::mul_(dx, scale);
                      return {dx};
                  });

// --- mask-on-the-default-device
// The mask is on the default device, wherever x is.
// region: libmini/autograd/functions_dropout.cpp 1
    const Tensor mask = draw_mask(Tensor::empty(mask_shape), 1.0 - p, scale, generator);
    return record(
        name, ops::mul(x, mask), {x},
        [mask](const Tensor& g, const Node&) -> Grads { return {ops::mul(g, mask)}; });

// --- one-mask-for-the-batch
// All samples lose the same channels.
// region: libmini/autograd/functions_dropout.cpp 2
    if (!training || p == 0.0) return x;
    Shape channels(x.shape().size(), 1);
    channels[1] = x.size(1);
    return times_mask("dropout2d", x, p, channels, generator);
