// The backward pass draws a mask of its own.
// region: libmini/autograd/functions_dropout.cpp 1
    const Tensor mask = draw_mask(x.new_empty(mask_shape), 1.0 - p, scale, generator);
    return record(name, ops::mul(x, mask), {x},
                  [=, &generator](const Tensor& g, const Node&) -> Grads {
                      return {ops::mul(g, draw_mask(g.new_empty(mask_shape), 1.0 - p,
                                                    scale, generator))};
                  });
