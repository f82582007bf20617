#include "libmini/tensor/storage.hpp"

#include <cstring>
#include <utility>

#include "libmini/core/error.hpp"
#include "libmini/kernels/cuda/copy.hpp"
#include "libmini/tensor/buffer_cache.hpp"
#include "libmini/tensor/has_cuda.hpp"

namespace mini {

Storage::Storage(size_t bytes, Device device, HostMemory memory)
    : bytes_(bytes), device_(device), memory_(memory) {
    allocate();
}

Storage::~Storage() { free(); }

void Storage::allocate() {
    if (data_ != nullptr) return;
    if (device_.is_cpu() && memory_ == HostMemory::kPageable) {
        data_ = allocate_buffer(bytes_);
    } else if (device_.is_cpu()) {
        if constexpr (kHasCuda) {
            if (bytes_ > 0)
                data_ = static_cast<std::byte*>(cuda::allocate_pinned(bytes_));
        } else {
            no_cuda();
        }
    } else if constexpr (kHasCuda) {
        MINI_CHECK(device_.index >= 0 && device_.index < cuda::device_count(),
                   "tensor: there is no device ", device_, "; ",
                   cuda::device_count_text());
        if (bytes_ > 0)
            data_ = static_cast<std::byte*>(cuda::allocate(
                bytes_, device_.index, cuda::current_stream(device_.index)));
    } else {
        no_cuda();
    }
}

void Storage::free() {
    std::byte* const data = std::exchange(data_, nullptr);
    if (device_.is_cpu() && memory_ == HostMemory::kPageable) {
        free_buffer(data, bytes_);
    } else if constexpr (kHasCuda) {
        if (data == nullptr) return;
        device_.is_cpu() ? cuda::deallocate_pinned(data) : cuda::deallocate(data);
    }
}

bool Storage::is_pinned() const {
    if constexpr (kHasCuda) return device_.is_cpu() && cuda::is_pinned(data_);
    return false;
}

void copy_bytes(std::byte* to, Device to_device, const std::byte* from,
                Device from_device, size_t bytes, bool non_blocking) {
    if (bytes == 0) return;
    if (to_device.is_cpu() && from_device.is_cpu()) {
        std::memcpy(to, from, bytes);
    } else if constexpr (kHasCuda) {
        // Between two GPUs, first wait until earlier work on the destination GPU has
        // completed.
        if (from_device.is_cuda() && to_device.is_cuda() && to_device != from_device) {
            cuda::enable_peer_access(from_device.index, to_device.index);
            const cuda::DeviceGuard guard(to_device.index);
            cuda::synchronize_stream(cuda::current_stream(to_device.index));
        }

        // Enqueue the copy on the source GPU's stream; if the source is the CPU, on the
        // destination GPU's stream. Only pinned host memory is kept until the copy has
        // completed.
        const int device = from_device.is_cuda() ? from_device.index : to_device.index;
        const cuda::DeviceGuard guard(device);
        const cudaStream_t stream = cuda::current_stream(device);
        const bool is_kept =
            non_blocking && (cuda::is_pinned(to) || cuda::is_pinned(from));
        cuda::copy(to, from, bytes, stream);
        if (to_device != from_device && !is_kept) cuda::synchronize_stream(stream);
    }
}

}  // namespace mini
