// Anonymous memory shared by processes of one host. The kernel frees the memory when no
// process maps it or has a descriptor of it any more, also after a crash.

#pragma once

#include <cstddef>
#include <memory>

#include "libmini/distributed/transport/ring_channel.hpp"

namespace mini::dist {

/// Shared memory, and the descriptor with which other processes can map it.
struct NewSharedMemory {
    std::shared_ptr<Memory> memory;
    Socket descriptor;
};

/// Returns `bytes` zero bytes of new shared memory. Throws Error if there is not enough
/// memory.
NewSharedMemory make_shared_memory(size_t bytes);

/// Maps memory that make_shared_memory has allocated in another process. Throws Error if
/// the memory is smaller than `bytes` or could shrink later.
std::shared_ptr<Memory> map_shared_memory(const Socket& descriptor, size_t bytes);

}  // namespace mini::dist
