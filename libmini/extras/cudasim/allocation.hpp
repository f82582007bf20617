// One allocation of simulated device memory or pinned host memory.

#pragma once

#include <cstddef>
#include <cstdint>

namespace mini::sim {

/// The result of one call of cudaMalloc or cudaMallocHost.
struct Allocation {
    std::byte* begin = nullptr;
    size_t bytes = 0;  // as requested, not rounded up
    uint64_t id = 0;   // 1, 2, 3, ... in the order of the calls
    int device = 0;    // a device's index, or kPinned (memory.hpp)
    bool freed = false;

    bool contains(const void* pointer, size_t count) const {
        const auto* first = static_cast<const std::byte*>(pointer);
        return first >= begin && count <= bytes &&
               static_cast<size_t>(first - begin) <= bytes - count;
    }
};

}  // namespace mini::sim
