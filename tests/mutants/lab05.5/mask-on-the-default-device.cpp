// The mask is on the default device, wherever x is.
// region: libmini/autograd/functions_dropout.cpp 1
    const Tensor mask = draw_mask(Tensor::empty(mask_shape), 1.0 - p, scale, generator);
    return record(
        name, ops::mul(x, mask), {x},
        [mask](const Tensor& g, const Node&) -> Grads { return {ops::mul(g, mask)}; });
