// The memories of the simulated devices: one range of addresses each, side by side.
//
//     | device 0 | device 1 | ... | pinned host memory |      kRegionBytes each
//
// The ranges are reserved once, without memory, and opened allocation by allocation, so
// that "whose is this address" is a subtraction and a division, and a checker can keep
// its shadow at a fixed offset. Between two allocations lies a red zone that belongs to
// no allocation:
//
//     |#### zone ####|  allocation 1  |#### zone ####|  allocation 2 |#### ...
//
// Addresses that were freed come back only once the range is used up: for as long as
// possible, an address names one allocation. The memory behind them goes back to the
// system at once.
//
// MINI_SIM_DEVICES (4) and MINI_SIM_MEMORY (bytes per device, 16 GiB) set the sizes;
// MINI_SIM_CAPABILITY (8) is the first number of the devices' compute capability.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "libmini/cudasim/allocation.hpp"

namespace mini::sim {

constexpr size_t kRegionBytes = size_t{64} << 30;
constexpr size_t kAlignment = 4096;    // of every allocation, so that no two share a page
constexpr size_t kRedZoneBytes = 512;  // at least, on either side of one
constexpr int kPinned = -1;            // where a device is asked for: pinned host memory
constexpr int kPageable = -2;          // all other memory of the host

/// A range of addresses.
struct Region {
    std::byte* base = nullptr;
    size_t bytes = 0;

    bool contains(const void* pointer) const {
        return reinterpret_cast<uintptr_t>(pointer) - reinterpret_cast<uintptr_t>(base) <
               bytes;
    }
};

/// How many devices are simulated.
int device_count();

/// All ranges as one, and that of a device or kPinned. The first call reserves them.
Region all_memory();
Region region_of(int device);

/// The device whose address this is, or kPinned, or kPageable.
int device_of(const void* pointer);

/// The allocation that holds this address or, when it lies in a red zone, the one before
/// it; none where there was never one, and for memory that is pageable.
std::optional<Allocation> find_allocation(const void* pointer);

/// New memory of a device or kPinned; null when the device has not so much left. Zero
/// bytes give an address of their own.
std::byte* allocate_memory(size_t bytes, int device);

/// Whether `pointer` was the beginning of a living allocation, which ends.
bool free_memory(void* pointer);

/// Ends all allocations of a device.
void free_all_memory(int device);

struct MemoryUse {
    size_t used = 0;
    size_t total = 0;
};
MemoryUse memory_use(int device);

}  // namespace mini::sim
