// The memory of the simulated devices: one address range for each device, side by side.
//
//     | device 0 | device 1 | ... | pinned host memory |      kRegionBytes each
//
// So a subtraction and a division find the device of an address. The ranges are reserved
// once, without physical memory. A red zone separates two allocations:
//
//     |#### zone ####|  allocation 1  |#### zone ####|  allocation 2 |#### ...
//
// Freed memory is returned to the operating system at once. Its addresses are reused only
// when the range is used up, so that an address identifies one allocation as long as
// possible. MINI_SIM_DEVICES is the number of devices, 4 by default; each has 16 GiB.

#pragma once

#include <cstddef>
#include <cstdint>

#include "libmini/extras/cudasim/launch.hpp"

namespace mini::sim {

/// The result of one call of cudaMalloc or cudaMallocHost.
struct Allocation {
    std::byte* begin = nullptr;
    size_t bytes = 0;                // as requested, not rounded up
    uint64_t id = 0;                 // 1, 2, 3, ... in the order of the calls
    int device = 0;                  // a device's index, or kPinned
    const void* call = nullptr;      // that made it; null: unknown, or not checked
    const void* freed_by = nullptr;  // the call that freed it
    bool managed = false;            // by cudaMallocManaged: freed by cudaFree
    bool freed = false;

    bool contains(const void* pointer, size_t count) const {
        const auto* first = static_cast<const std::byte*>(pointer);
        return first >= begin && count <= bytes &&
               static_cast<size_t>(first - begin) <= bytes - count;
    }
};

constexpr size_t kRegionBytes = size_t{64} << 30;
constexpr size_t kDeviceBytes = size_t{16} << 30;
constexpr size_t kAlignment =
    65536;  // of every allocation: no two share the largest page
constexpr size_t kRedZoneBytes = 512;  // minimum, on each side of an allocation
constexpr int kPinned = -1;            // as a device: pinned host memory
constexpr int kPageable = -2;          // as a device: all other host memory

/// Returns the number of simulated devices.
int device_count();

/// Returns the range of all devices and pinned memory. The first call reserves it.
Region all_memory();

/// Returns the device whose range contains `pointer`, or kPinned or kPageable.
int device_of(const void* pointer);

/// Returns the allocation that contains this address or, if it is in no allocation, the
/// last allocation before it in the same range. Finds a freed allocation too, until its
/// addresses are reused. Returns one of id 0 if there is no such allocation, or if the
/// address is pageable memory.
Allocation find_allocation(const void* pointer);

/// Returns the id of the last allocation; 0 if there is none.
uint64_t last_allocation();

/// Allocates memory of a device, or pinned memory if `device` is kPinned, which may be managed.
/// Returns null if too little memory is left. Zero bytes give a unique address.
std::byte* allocate_memory(size_t bytes, int device, bool managed = false);

/// Frees the allocation that begins at `pointer`; returns false if there is none.
bool free_memory(void* pointer);

/// Returns the number of allocated bytes of a device, of kDeviceBytes.
size_t used_memory(int device);

}  // namespace mini::sim
