// Anonymous memory that several ranks map: threads of one process, or processes of one
// host. The kernel frees the memory when no process maps it or has a descriptor of it any
// more, also after a crash.

#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "libmini/distributed/net/socket.hpp"

namespace mini::dist {

/// Mapped memory, initially zero. The destructor unmaps it.
class Memory {
  public:
    /// Maps the first `bytes` bytes of `descriptor`; -1: new memory of this process.
    /// Throws Error if the system cannot map them.
    Memory(int descriptor, size_t bytes);
    ~Memory();
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    std::span<std::byte> bytes() { return {data_, bytes_}; }

  private:
    size_t bytes_;
    std::byte* data_;
};

/// Shared memory, and the descriptor with which other processes can map it.
struct NewSharedMemory {
    std::shared_ptr<Memory> memory;
    Socket descriptor;
};

/// Returns `bytes` zero bytes of new shared memory. Throws Error if there is not enough
/// memory.
NewSharedMemory make_shared_memory(size_t bytes);

/// Maps the memory of a process of this host that has the descriptor number `descriptor`.
/// Throws Error if the process does not have this descriptor, or if the memory does not
/// have `bytes` bytes.
std::shared_ptr<Memory> map_shared_memory(int process, int descriptor, size_t bytes);

/// Returns an identifier without spaces: two processes of one host with the same
/// identifier run as the same user in the same container, so each can map the other's
/// memory.
std::string memory_sharing_id();

}  // namespace mini::dist
