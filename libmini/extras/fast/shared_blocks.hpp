// Memory of this process that the other ranks of its host can map, block by block.
//
//     rank 0   allocate_block()    a file without a name; its descriptor stays open
//              find(bytes)         the block that has them, and where in it
//                                      |  a message
//     rank 1   PeerBlocks::at()        v  maps the block at its first use, and keeps it
//
// A rank that has mapped a block may use it until the end, even if the other rank has
// freed it or has ended: it is then the only one that sees what it writes.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>

#include "libmini/distributed/transport/shared_memory.hpp"

namespace mini::fast {

/// Where bytes are: in which block of which process.
struct BlockBytes {
    int32_t process = -1, descriptor = -1;  // of the block; -1: the bytes are in none
    uint64_t block = 0;  // its number; no two blocks of a process have the same
    uint64_t block_bytes = 0;
    uint64_t offset = 0;

    bool are_in_block() const { return descriptor >= 0; }
};

/// Returns a new block of `bytes` zero bytes. Throws Error if there is not enough memory,
/// or no descriptor left. Thread-safe.
std::shared_ptr<std::byte> allocate_block(size_t bytes);

/// Returns where `bytes` are. Thread-safe.
BlockBytes find(std::span<const std::byte> bytes);

/// The blocks of other ranks that this rank has mapped. Not thread-safe.
class PeerBlocks {
  public:
    /// How many blocks stay mapped, those that were used last: the others have probably
    /// been freed.
    static constexpr size_t kMaxMapped = 256;

    /// Returns the `bytes` bytes at `where`, valid for the next kMaxMapped - 1 calls. Throws
    /// Error if they cannot be mapped. REQUIRES: where.are_in_block().
    std::span<std::byte> at(const BlockBytes& where, size_t bytes);

  private:
    struct Mapped {
        std::shared_ptr<dist::Memory> memory;
        uint64_t last_use = 0;  // the number of the call
    };
    using Key = std::pair<int32_t, uint64_t>;  // process and block
    std::map<Key, Mapped> mapped_;
    uint64_t calls_ = 0;
};

}  // namespace mini::fast
