#include "libmini/tensor/storage.hpp"

#include <cstring>
#include <utility>

#include "libmini/core/error.hpp"
#include "libmini/kernels/gpu.hpp"
#include "libmini/tensor/buffer_cache.hpp"

namespace mini {

Storage::Storage(size_t bytes, Device device, HostMemory memory)
    : bytes_(bytes), device_(device), memory_(memory) {
    allocate();
}

Storage::~Storage() { free(); }

void Storage::allocate() {
    if (data_ != nullptr) return;
    if (device_.is_cuda()) {
        MINI_CHECK(device_.index >= 0 && device_.index < cuda::device_count(),
                   "tensor: there is no device ", device_, "; ",
                   cuda::device_count_text());
        data_ = static_cast<std::byte*>(
            cuda::allocate(bytes_, device_.index, cuda::current_stream(device_.index)));
    } else if (memory_ == HostMemory::kPinned) {
        data_ = static_cast<std::byte*>(cuda::allocate_pinned(bytes_));
    } else {
        data_ = allocate_buffer(bytes_);
    }
}

void Storage::free() {
    std::byte* const data = std::exchange(data_, nullptr);
    if (moved_to_ != nullptr) {
        moved_to_ = nullptr;
        count_freed(bytes_);
    } else if (device_.is_cpu() && memory_ == HostMemory::kPageable) {
        free_buffer(data, bytes_);
    } else {
        cuda::deallocate(data);
    }
}

void Storage::move_to(std::shared_ptr<std::byte> memory) {
    std::memcpy(memory.get(), data_, bytes_);
    free();
    moved_to_ = std::move(memory);
    data_ = moved_to_.get();
    count_allocated(bytes_);
}

bool Storage::is_pinned() const { return device_.is_cpu() && cuda::is_pinned(data_); }

void copy_bytes(std::byte* to, Device to_device, const std::byte* from,
                Device from_device, size_t bytes, bool non_blocking) {
    if (bytes == 0) return;
    if (to_device.is_cpu() && from_device.is_cpu()) {
        std::memcpy(to, from, bytes);
        return;
    }
    const auto index = [](Device device) {
        return device.is_cpu() ? cuda::kHost : device.index;
    };
    cuda::copy_between(to, index(to_device), from, index(from_device), bytes,
                       non_blocking);
}

}  // namespace mini
