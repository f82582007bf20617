// SharedPlace: where bytes are in the memory that a rank shares (shared_heap.hpp).

#pragma once

#include <cstdint>

namespace mini::dist {

/// Where bytes are in a rank's SharedHeap.
struct SharedPlace {
    uint64_t block = 0;        // where the block begins in the file
    uint64_t block_bytes = 0;  // 0: the bytes are not in the heap
    uint64_t offset = 0;       // in the block

    bool is_in_heap() const { return block_bytes > 0; }
};

}  // namespace mini::dist
