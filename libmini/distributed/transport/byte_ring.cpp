#include "libmini/distributed/transport/byte_ring.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "libmini/core/error.hpp"

namespace mini::dist {

ByteRing::ByteRing(std::span<std::byte> memory)
    : header_(reinterpret_cast<Header*>(memory.data())),
      bytes_(memory.subspan(sizeof(Header))) {
    MINI_CHECK(std::has_single_bit(bytes_.size()), "ByteRing: a capacity of ",
               bytes_.size(), " bytes is not a power of two");
}

size_t ByteRing::room() const {
    const uint64_t unread = written_ - header_->read.load();
    MINI_CHECK(unread <= bytes_.size(), "ByteRing: ", unread, " bytes in a ring of ",
               bytes_.size(), " are unread; the shared memory is damaged");
    return bytes_.size() - unread;
}

size_t ByteRing::write_some(std::span<const std::byte> bytes) {
    const size_t n = std::min(bytes.size(), room());
    const size_t place = written_ & (bytes_.size() - 1);
    const size_t before_end = std::min(n, bytes_.size() - place);
    if (n == 0) return 0;
    std::memcpy(bytes_.data() + place, bytes.data(), before_end);
    if (n > before_end)
        std::memcpy(bytes_.data(), bytes.data() + before_end, n - before_end);
    written_ += n;
    return n;
}

bool ByteRing::publish() {
    header_->written.store(written_);
    return header_->reader_sleeps.load() != 0 && header_->reader_sleeps.exchange(0) != 0;
}

size_t ByteRing::available() const {
    // Bring the counter and the next bytes to this core at the same time.
    __builtin_prefetch(bytes_.data() + (read_ & (bytes_.size() - 1)));
    const uint64_t ready = header_->written.load() - read_;
    MINI_CHECK(ready <= bytes_.size(), "ByteRing: ", ready, " bytes in a ring of ",
               bytes_.size(), "; the shared memory is damaged");
    return ready;
}

std::span<const std::byte> ByteRing::readable() const {
    const size_t ready = available();
    const size_t place = read_ & (bytes_.size() - 1);
    return std::span<const std::byte>(bytes_).subspan(
        place, std::min(ready, bytes_.size() - place));
}

void ByteRing::consume(size_t n) { read_ += n; }

bool ByteRing::release() {
    header_->read.store(read_);
    return header_->writer_sleeps.load() != 0 && header_->writer_sleeps.exchange(0) != 0;
}

}  // namespace mini::dist
