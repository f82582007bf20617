// The slope is 1 - y.
// region: libmini/autograd/functions_math.cpp 2
                      const Tensor slope = ops::sub(Tensor::full({}, 1.0), y.get());
                      return {ops::mul(g, slope)};
