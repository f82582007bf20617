// Anonymous memory shared by processes of one host. The kernel frees the memory when no
// process maps it or has a descriptor of it any more, also after a crash.

#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "libmini/distributed/net/socket.hpp"

namespace mini::dist {

/// Memory that is mapped from a file descriptor, or allocated on the heap.
class Memory {
  public:
    virtual ~Memory() = default;
    virtual std::span<std::byte> bytes() = 0;
};

/// Shared memory, and the descriptor with which other processes can map it.
struct NewSharedMemory {
    std::shared_ptr<Memory> memory;
    Socket descriptor;
};

/// Returns `bytes` zero bytes of new shared memory. Throws Error if there is not enough
/// memory.
NewSharedMemory make_shared_memory(size_t bytes);

/// Maps the memory that another process has allocated. Throws Error if it does not have
/// `bytes` bytes, or could shrink later.
std::shared_ptr<Memory> map_shared_memory(const Socket& descriptor, size_t bytes);

}  // namespace mini::dist
