// A ring buffer of bytes with one writer and one reader, which may be two processes that
// share its memory.
//
//     written    the number of bytes written since the start
//     read       the number of bytes read since the start: byte k, read <= k < written,
//                is at offset k modulo the capacity
//
// Lock-free. A side that is about to sleep sets its flag and then reads the other side's
// counter once more; a side that advances its counter then reads the other side's flag.
// All four accesses are sequentially consistent, so at least one side sees the other
// side's store (Dekker's algorithm).

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace mini::dist {

/// One side of a ring: call only the writer's functions or only the reader's functions.
class ByteRing {
  public:
    /// The first bytes of the shared memory; zero before the ring is used.
    struct Header {
        alignas(64) std::atomic<uint64_t> written;
        std::atomic<uint32_t> writer_sleeps;
        alignas(64) std::atomic<uint64_t> read;
        std::atomic<uint32_t> reader_sleeps;
    };
    static_assert(std::atomic<uint64_t>::is_always_lock_free &&
                      std::atomic<uint32_t>::is_always_lock_free,
                  "atomics with a lock work within one process only");

    /// REQUIRES: `memory` holds a Header followed by the 2^k bytes of the ring; `memory`
    /// outlives the ring.
    explicit ByteRing(std::span<std::byte> memory);

    /// Returns the size of the memory for a ring of `capacity` bytes.
    static constexpr size_t bytes_for(size_t capacity) {
        return sizeof(Header) + capacity;
    }

    // The writer's side.

    /// Copies as many of `bytes` into the ring as there is room for. Returns the number
    /// of bytes copied. The reader sees these bytes after publish().
    size_t write_some(std::span<const std::byte> bytes);

    /// Makes all written bytes visible to the reader. Returns true if the reader sleeps
    /// and the caller must wake it; true only once per sleep.
    bool publish();

    /// Returns how many bytes can be written.
    size_t room() const;

    // The reader's side.

    /// Returns the contiguous readable bytes: all readable bytes, or up to the ring's
    /// end.
    std::span<const std::byte> readable() const;

    /// Returns the number of readable bytes.
    size_t available() const;

    /// Drops the first `n` readable bytes; the writer may reuse them after release().
    void consume(size_t n);

    /// Returns whether a quarter of the ring, or more, was consumed since release().
    bool should_release() const {
        return read_ - header_->read.load(std::memory_order_relaxed) >= bytes_.size() / 4;
    }

    /// Gives the consumed bytes back to the writer. Returns true if the writer sleeps and
    /// the caller must wake it; true only once per sleep.
    bool release();

    /// Set or clear the flag of a sleeping side. Call with true before the last look at
    /// the counters (room() or available()), and with false after the sleep.
    void set_writer_sleeps(bool sleeps) { header_->writer_sleeps.store(sleeps); }
    void set_reader_sleeps(bool sleeps) { header_->reader_sleeps.store(sleeps); }

  private:
    Header* header_;
    std::span<std::byte> bytes_;
    // This side's counters, perhaps ahead of the counters in the header.
    uint64_t written_ = 0;
    uint64_t read_ = 0;
};

}  // namespace mini::dist
