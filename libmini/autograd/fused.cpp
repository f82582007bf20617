#include "libmini/autograd/fused.hpp"

#include "libmini/autograd/node.hpp"
#include "libmini/tensor/common_device.hpp"
#include "libmini/tensor/dispatch.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini {

Tensor cross_entropy_on_gpu(const Tensor& scores, const Tensor& classes,
                            int64_t divisor) {
    const Tensor in = ops::contiguous(scores);
    const Device device = common_device("cross_entropy", in, classes);
    Tensor loss = in.new_empty({}), dx = in.new_empty(in.shape());
    on_gpu(device, [&](cudaStream_t stream) {
        gpu::cross_entropy(loss.data<float>(), dx.data<float>(), in.data<float>(),
                           classes.data<int64_t>(), in.size(0), in.size(1),
                           static_cast<float>(divisor), stream);
    });
    return record(
        "cross_entropy", loss, {scores},
        [dx](const Tensor& g, const Node&) -> Grads { return {ops::mul(dx, g)}; });
}

}  // namespace mini
