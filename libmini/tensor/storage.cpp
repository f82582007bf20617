#include "libmini/tensor/storage.hpp"

#include "libmini/core/error.hpp"
#include "libmini/tensor/buffer_cache.hpp"

namespace mini {

Storage::Storage(size_t bytes, Device device) : bytes_(bytes), device_(device) {
    MINI_CHECK(device.is_cpu(), "tensor: this build has no device ", device,
               "; use Device::cpu()");
    data_ = allocate_buffer(bytes);
}

Storage::~Storage() { free_buffer(data_, bytes_); }

}  // namespace mini
