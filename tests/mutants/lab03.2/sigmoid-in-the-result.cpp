// The slope overwrites the saved result, which is the program's tensor, too.
// region: libmini/autograd/functions_math.cpp 2
                      Tensor slope = y.get();
                      ops::add_(slope, ops::mul(slope, slope), -1.0f);
                      return {ops::mul(g, slope)};
