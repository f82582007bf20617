// For p = 1 what is dropped is multiplied by infinity.
// region: libmini/autograd/functions_dropout.cpp 1
    const Tensor mask = draw_mask(x.new_empty(mask_shape), 1.0 - p,
                                  1.0f / static_cast<float>(1.0 - p), generator);
    return record(
        name, ops::mul(x, mask), {x},
        [mask](const Tensor& g, const Node&) -> Grads { return {ops::mul(g, mask)}; });
