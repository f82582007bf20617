// Tensor::to, in its own file because it calls functions of ops.hpp.

#include "libmini/tensor/ops.hpp"

namespace mini {

Tensor Tensor::to(Device device) const {
    if (device == this->device()) return *this;
    const Tensor in = ops::contiguous(*this);
    Tensor out = empty(shape(), dtype(), device);
    copy_bytes(out.raw_data(), device, in.raw_data(), in.device(), in.bytes());
    return out;
}

}  // namespace mini
