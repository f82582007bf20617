// The result is written into the gradient that was passed.
// region: libmini/autograd/functions_math.cpp 2
                      const Tensor slope = ops::sub(y.get(), ops::mul(y.get(), y.get()));
                      Tensor dx = g;
                      ops::copy_(dx, ops::mul(g, slope));
                      return {dx};
