// The memory of the simulated devices: one address range for each device, side by side.
//
//     | device 0 | device 1 | ... | pinned host memory |      kRegionBytes each
//
// The ranges are reserved once, without physical memory, and made accessible as
// allocations need them. So the device of an address is found with a subtraction and a
// division. Between two allocations is a red zone that belongs to neither:
//
//     |#### zone ####|  allocation 1  |#### zone ####|  allocation 2 |#### ...
//
// Freed addresses are reused only when the range is used up, so that an address
// identifies one allocation for as long as possible. Freed memory is returned to the
// operating system immediately.
//
// MINI_SIM_DEVICES (default 4) and MINI_SIM_MEMORY (bytes per device, default 16 GiB) set
// the sizes; MINI_SIM_CAPABILITY (default 8) is the major compute capability of the
// devices.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "libmini/cudasim/allocation.hpp"

namespace mini::sim {

constexpr size_t kRegionBytes = size_t{64} << 30;
constexpr size_t kAlignment = 4096;    // of every allocation, so that no two share a page
constexpr size_t kRedZoneBytes = 512;  // minimum, on each side of an allocation
constexpr int kPinned = -1;            // as a device: pinned host memory
constexpr int kPageable = -2;          // as a device: all other host memory

/// A range of addresses.
struct Region {
    std::byte* base = nullptr;
    size_t bytes = 0;

    bool contains(const void* pointer) const {
        return reinterpret_cast<uintptr_t>(pointer) - reinterpret_cast<uintptr_t>(base) <
               bytes;
    }
};

/// Returns the number of simulated devices.
int device_count();

/// Returns the range of all devices and pinned memory. The first call reserves it.
Region all_memory();
/// Returns the range of a device or kPinned.
Region region_of(int device);

/// Returns the device whose range contains `pointer`, or kPinned or kPageable.
int device_of(const void* pointer);

/// Returns the allocation that contains this address or, if it is in no allocation, the
/// last one before it in the same range. Freed allocations count until their addresses
/// are reused. Returns std::nullopt if there is no such allocation, and for pageable
/// memory.
std::optional<Allocation> find_allocation(const void* pointer);

/// Allocates memory of a device or kPinned. Returns null if the device has too little
/// memory left. Zero bytes give a unique address.
std::byte* allocate_memory(size_t bytes, int device);

/// Frees the allocation that begins at `pointer`. Returns false if no living allocation
/// begins there.
bool free_memory(void* pointer);

/// Frees all allocations of a device.
void free_all_memory(int device);

struct MemoryUse {
    size_t used = 0;
    size_t total = 0;
};
MemoryUse memory_use(int device);

}  // namespace mini::sim
