// The bytes behind one or more tensors.
//
// Views share a storage; its version counts the writes to it, so that the engine notices
// when a value that a gradient needs has been overwritten meanwhile.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "libmini/tensor/device.hpp"

namespace mini {

/// Host memory of either kind: pinned, a GPU reads and writes it by itself, without the
/// host waiting (`pin_memory`).
enum class HostMemory { kPageable, kPinned };

/// The memory of one or several tensors, on one device (`torch.UntypedStorage`).
class Storage {
  public:
    /// Bytes at a multiple of 64, contents unspecified. Throws Error when there is no
    /// memory, or when this build has no such device. `memory` is about the CPU's alone.
    Storage(size_t bytes, Device device, HostMemory memory = HostMemory::kPageable);
    ~Storage();
    Storage(const Storage&) = delete;
    Storage& operator=(const Storage&) = delete;

    std::byte* data() { return data_; }
    size_t bytes() const { return bytes_; }
    Device device() const { return device_; }

    /// How often the contents have been changed in place.
    uint64_t version() const { return version_.load(std::memory_order_relaxed); }
    void bump_version() { version_.fetch_add(1, std::memory_order_relaxed); }

  private:
    std::byte* data_ = nullptr;
    size_t bytes_ = 0;
    Device device_;
    HostMemory memory_;
    std::atomic<uint64_t> version_ = 0;
};

/// Copies bytes from one place to another, on any devices. Into or out of the CPU's memory
/// it blocks until done.
void copy_bytes(std::byte* to, Device to_device, const std::byte* from,
                Device from_device, size_t bytes);

}  // namespace mini
