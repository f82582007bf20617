// Anonymous memory shared by processes of one host. The kernel frees the memory when no
// process maps it or has a descriptor of it any more, also after a crash.

#pragma once

#include <cstddef>
#include <cstdint>
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

/// Maps `bytes` bytes, from `begin` on, of memory that another process has allocated.
/// Throws Error if the memory ends before, or could shrink later.
std::shared_ptr<Memory> map_shared_memory(const Socket& descriptor, size_t bytes,
                                          uint64_t begin = 0);

/// Returns a descriptor of new shared memory without bytes, which never shrinks. `name`
/// is what the system's tools show.
Socket make_memory_file(const char* name);

/// Adds `bytes` zero bytes at `begin`, and maps them. Throws Error if there is not enough
/// memory. REQUIRES: `begin` is a multiple of the size of a page.
std::shared_ptr<Memory> extend_memory_file(const Socket& descriptor, uint64_t begin,
                                           size_t bytes);

}  // namespace mini::dist
