// A ring of bytes with one writer and one reader, which may be two processes that share
// its memory.
//
//     written    how many bytes were ever written
//     read       how many of them were read: byte k, read <= k < written, lies at offset
//                k modulo the capacity
//
// Neither side ever waits for a lock. A side that is about to sleep raises its flag and
// then reads the counters once more; a side that has moved a counter then reads the other
// side's flag. All four accesses are sequentially consistent, so at least one of the two
// sides sees what the other has stored (Dekker).

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace mini::dist {

/// One side of a ring: use the functions of the writer or those of the reader.
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

    /// REQUIRES: `memory` holds a Header and then the ring's bytes, whose number is a power
    /// of two; it outlives the ring.
    explicit ByteRing(std::span<std::byte> memory);

    /// Memory for a ring of `capacity` bytes.
    static constexpr size_t bytes_for(size_t capacity) {
        return sizeof(Header) + capacity;
    }

    // The writer's side.

    /// Copies in as many of `bytes`, from the first on, as there is room for, and returns
    /// how many. The reader sees them after publish().
    size_t write_some(std::span<const std::byte> bytes);

    /// Shows the reader all that was written. Returns whether the reader sleeps and must be
    /// woken, once.
    bool publish();

    size_t room() const;

    // The reader's side.

    /// Bytes that lie ready in one piece: all there are, or up to the ring's end.
    std::span<const std::byte> readable() const;

    /// All bytes that lie ready.
    size_t available() const;

    /// Drops the first `n` readable bytes; the writer may reuse them after release().
    void consume(size_t n);

    /// Shows the writer all that was consumed. Returns whether the writer sleeps and must be
    /// woken, once.
    bool release();

    /// Set before the counters are read a last time, cleared after the sleep.
    void set_writer_sleeps(bool sleeps) { header_->writer_sleeps.store(sleeps); }
    void set_reader_sleeps(bool sleeps) { header_->reader_sleeps.store(sleeps); }

    size_t capacity() const { return bytes_.size(); }

  private:
    Header* header_;
    std::span<std::byte> bytes_;
    // By this side, and perhaps not published or released yet.
    uint64_t written_ = 0;
    uint64_t read_ = 0;
};

}  // namespace mini::dist
