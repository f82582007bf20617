// SharedHeap: memory of one rank that the other ranks of its host can read and write.
//
//     rank 0's heap   [ block | block | ...    a file without a name, which only grows
//                         ^ SharedPlace: which block, and where in it
//     rank 1          PeerHeap: maps a block at its first use, and keeps it mapped
//
// The ranks exchange the descriptors of their heaps once, when they connect. From then on
// a few numbers tell another rank where a tensor's elements are.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>

#include "libmini/distributed/transport/shared_memory.hpp"
#include "libmini/distributed/transport/shared_place.hpp"

namespace mini::dist {

/// The ranks of a larger mesh have no heaps: messages are faster there, and each heap is a
/// descriptor on every rank.
constexpr int kMaxHeapRanks = 8;

/// The heap of this rank. Thread-safe.
class SharedHeap : public std::enable_shared_from_this<SharedHeap> {
  public:
    /// Creates an empty heap. Throws Error if there is no descriptor left.
    SharedHeap();

    /// Returns the descriptor with which another process creates its PeerHeap.
    const Socket& descriptor() const { return file_; }

    /// Returns a new block of `bytes` zero bytes, which keeps the heap alive. Throws
    /// Error if there is not enough memory. REQUIRES: `bytes` is not 0.
    std::shared_ptr<std::byte> allocate(size_t bytes);

    /// Returns where `bytes` are; a place that is not in the heap if no block has all of
    /// them.
    SharedPlace find(std::span<const std::byte> bytes) const;

  private:
    struct Block {
        uint64_t begin = 0;
        std::shared_ptr<Memory> memory;
    };
    void free(const std::byte* data) noexcept;

    const Socket file_;
    mutable std::mutex mutex_;                  // guards the members below
    std::map<const std::byte*, Block> blocks_;  // by address
    uint64_t end_ = 0;                          // of the file; no place is used twice
};

/// The heap of another rank, seen from this process. Not thread-safe.
class PeerHeap {
  public:
    explicit PeerHeap(Socket descriptor) : file_(std::move(descriptor)) {}

    /// Returns the `bytes` bytes at `place`; valid until the other rank has freed their
    /// block. Throws Error if the heap has no such bytes.
    std::span<std::byte> at(const SharedPlace& place, size_t bytes);

  private:
    const Socket file_;
    std::map<uint64_t, std::shared_ptr<Memory>> mapped_;  // by SharedPlace::block
};

}  // namespace mini::dist
