// A ring of bytes with one writer and one reader, which may be two processes that share
// its memory.
//
//     written   counts all bytes ever written, read all that were read;
//     between   byte k lies at offset k modulo the capacity
//
// Neither side ever waits for a lock. A side that is about to sleep raises its flag and
// then reads the counters once more; a side that has moved a counter then reads the other
// side's flag. Both with sequential consistency, so at least one of the two sees the
// other (Dekker).

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace mini::dist {

class ByteRing {
  public:
    /// What lies at the beginning of the shared memory, zero at the start.
    struct Header {
        alignas(64) std::atomic<uint64_t> written;
        std::atomic<uint32_t> writer_sleeps;
        alignas(64) std::atomic<uint64_t> read;
        std::atomic<uint32_t> reader_sleeps;
    };
    static_assert(std::atomic<uint64_t>::is_always_lock_free &&
                      std::atomic<uint32_t>::is_always_lock_free,
                  "atomics with a lock work within one process only");

    /// REQUIRES: `memory` holds a Header and the bytes behind it, a power of two, and
    /// outlives the ring.
    explicit ByteRing(std::span<std::byte> memory);

    /// Memory for a ring of `capacity` bytes.
    static constexpr size_t bytes_for(size_t capacity) {
        return sizeof(Header) + capacity;
    }

    // The writer's side.

    /// Copies the beginning of `bytes` in as far as there is room; how many. The reader
    /// sees them after publish().
    size_t write_some(std::span<const std::byte> bytes);

    /// Shows the reader all that was written; true when it sleeps and must be woken.
    bool publish();

    size_t room() const;

    // The reader's side.

    /// Bytes that lie ready in one piece: all there are, or up to the ring's end.
    std::span<const std::byte> readable() const;

    /// All bytes that lie ready.
    size_t available() const;

    /// Gives the first `n` readable bytes back to the writer.
    void consume(size_t n);

    /// Shows the writer all that was consumed; true when it sleeps and must be woken.
    bool release();

    /// Raise one's own flag before the last look, and lower it after the sleep.
    void set_writer_sleeps(bool sleeps) { header_->writer_sleeps.store(sleeps); }
    void set_reader_sleeps(bool sleeps) { header_->reader_sleeps.store(sleeps); }

    size_t capacity() const { return bytes_.size(); }

  private:
    Header* header_;
    std::span<std::byte> bytes_;
    uint64_t written_ = 0;  // by this side, perhaps not published yet
    uint64_t read_ = 0;
};

}  // namespace mini::dist
