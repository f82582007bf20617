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
