// The slope is 1 - y², that of tanh.
// region: libmini/autograd/functions_math.cpp 2
                      const Tensor slope =
                          ops::sub(Tensor::full({}, 1.0), ops::mul(y.get(), y.get()));
                      return {ops::mul(g, slope)};
