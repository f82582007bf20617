// Tensor::to and Tensor::pin_memory, in a file of their own because they call functions of
// ops.hpp.

#include "libmini/core/error.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini {

Tensor Tensor::to(Device device, bool non_blocking) const {
    if (device == this->device()) return *this;
    const Tensor in = ops::contiguous(*this);
    const bool to_pinned = non_blocking && in.device().is_cuda() && device.is_cpu();
    Tensor out = make(shape(), dtype(), device,
                      to_pinned ? HostMemory::kPinned : HostMemory::kPageable);
    copy_bytes(out.raw_data(), device, in.raw_data(), in.device(), in.bytes(),
               non_blocking);
    return out;
}

Tensor Tensor::pin_memory() const {
    MINI_CHECK(device().is_cpu(), "pin_memory: the tensor is on ", device(),
               "; only CPU memory can be pinned");
    if (is_pinned()) return *this;
    Tensor out = make(shape(), dtype(), device(), HostMemory::kPinned);
    ops::copy_(out, as_strided(shape(), strides(), offset()));  // not recorded
    return out;
}

}  // namespace mini
