// The slope is computed from x = log(y / (1 - y)), which is infinite far from 0.
// region: libmini/autograd/functions_math.cpp 2
                      const Tensor one = Tensor::full({}, 1.0);
                      const Tensor ratio = ops::div(ops::sub(one, y.get()), y.get());
                      const Tensor below = ops::add(one, ratio);
                      const Tensor slope = ops::div(ratio, ops::mul(below, below));
                      return {ops::mul(g, slope)};
