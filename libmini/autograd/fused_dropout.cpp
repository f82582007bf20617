#include "libmini/autograd/fused_dropout.hpp"

#include "libmini/autograd/node.hpp"
#include "libmini/tensor/dispatch.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini {

Tensor fused_dropout(const Tensor& x, double p, Generator& generator) {
    const Tensor in = ops::contiguous(x);
    Tensor y = x.new_empty(x.shape()), mask = x.new_empty(x.shape());
    on_gpu(x.device(), [&](cudaStream_t stream) {
        gpu::dropout(y.data<float>(), mask.data<float>(), in.data<float>(), x.numel(), p,
                     {.seed = generator.random64()}, stream);
    });
    return record("dropout", y, {x}, [mask](const Tensor& g, const Node&) -> Grads {
        return {ops::mul(g, mask)};
    });
}

}  // namespace mini
