// The slope is returned without the gradient of the result.
// region: libmini/autograd/functions_math.cpp 2
                      const Tensor slope = ops::sub(y.get(), ops::mul(y.get(), y.get()));
                      return {slope};
