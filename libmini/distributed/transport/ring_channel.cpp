#include "libmini/distributed/transport/ring_channel.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <span>

namespace mini::dist {
namespace {

// The most bytes of a ring: large enough that a writer rarely waits, small enough that the
// bytes are still in the cache when they are read. And the bytes of all rings to which a
// rank writes.
constexpr size_t kMaxCapacity = 512 << 10;
constexpr size_t kBytesOfRank = 4 << 20;

// The most bytes of a message that become visible to the reader at once: it reads them
// from the cache while the writer copies more. An all-reduce of 1 MiB by 2 ranks takes
// 85 us, and 110 us without pieces.
constexpr size_t kPieceBytes = 32 << 10;

constexpr size_t kLargestElement = 16;

size_t ring_capacity(int world_size) {
    return std::min(kMaxCapacity,
                    std::bit_floor(kBytesOfRank / static_cast<size_t>(world_size)));
}

std::span<std::byte> ring_memory(Memory& memory, int world_size, bool second) {
    const size_t bytes = ByteRing::bytes_for(ring_capacity(world_size));
    return memory.bytes().subspan(second ? bytes : 0, bytes);
}

}  // namespace

size_t RingChannel::memory_bytes(int world_size) {
    return 2 * ByteRing::bytes_for(ring_capacity(world_size));
}

RingChannel::RingChannel(Socket socket, std::shared_ptr<Memory> memory, Side side,
                         int world_size)
    : socket_(std::move(socket)),
      memory_(std::move(memory)),
      out_(ring_memory(*memory_, world_size, side == Side::kSecond)),
      in_(ring_memory(*memory_, world_size, side == Side::kFirst)) {}

size_t RingChannel::send_some(std::span<const std::byte> head,
                              std::span<const std::byte> body) {
    check_open();
    size_t n = out_.write_some(head);
    const auto piece = body.first(std::min(body.size(), kPieceBytes));
    if (n == head.size()) n += out_.write_some(piece);
    if (n > 0 && out_.publish()) wake_other();
    return n;
}

// Copies readable bytes to `place`, also across the ring's end. Returns their number.
size_t RingChannel::take(std::span<std::byte> place) {
    size_t n = 0;
    while (n < place.size()) {
        const auto ready = in_.readable();
        const size_t step = std::min(ready.size(), place.size() - n);
        if (step == 0) break;
        std::memcpy(place.data() + n, ready.data(), step);
        in_.consume(step);
        n += step;
    }
    return n;
}

size_t RingChannel::recv_some(std::span<std::byte> place) {
    const size_t n = take(place);
    needed_ = 1;
    if (n == 0 && !place.empty()) check_open();
    release();
    return n;
}

size_t RingChannel::recv_combine(std::span<std::byte> place, const Combine& combine) {
    const size_t element = combine.element_bytes;
    needed_ = element;
    const auto ready = in_.readable();
    size_t n = std::min(ready.size(), place.size()) / element * element;
    if (n > 0) {
        // Combine whole elements directly from the ring.
        combine.apply(place.data(), ready.data(), n / element);
        in_.consume(n);
    } else if (in_.available() >= element) {
        // Assemble an element that wraps around the ring's end.
        std::array<std::byte, kLargestElement> whole;
        n = take(std::span(whole).first(element));
        combine.apply(place.data(), whole.data(), 1);
    } else {
        check_open();
    }
    release();
    return n;
}

// Tells the writer of the bytes read, a quarter of the ring at a time: each time costs both
// sides a transfer between the caches of their cores.
void RingChannel::release() {
    if (in_.should_release() && in_.release()) wake_other();
}

bool RingChannel::prepare_to_sleep(int interest, short& events) {
    events = POLLIN | POLLRDHUP;
    if (closed_) return false;
    if (interest & kToSend) {
        out_.set_writer_sleeps(true);
        if (out_.room() > 0) return false;
    }
    if (interest & kToReceive) {
        in_.set_reader_sleeps(true);
        if (in_.available() >= needed_) return false;
    }
    return true;
}

void RingChannel::wake_up(short revents) {
    out_.set_writer_sleeps(false);
    in_.set_reader_sleeps(false);
    if (revents == 0) return;

    // Read and drop the bytes that woke this side. The end of the stream means that the
    // other side is gone.
    std::array<std::byte, 256> wake_bytes;
    ssize_t n = 0;
    do {
        n = ::recv(socket_.fd(), wake_bytes.data(), wake_bytes.size(), MSG_DONTWAIT);
    } while (n == static_cast<ssize_t>(wake_bytes.size()));
    const bool nothing_yet = n < 0 && (errno == EAGAIN || errno == EINTR);
    if (n <= 0 && !nothing_yet) closed_ = true;
}

void RingChannel::wake_other() noexcept {
    const std::byte wake_byte{1};
    ::send(socket_.fd(), &wake_byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    // send may fail. If the other side is gone, the next sleep detects the closed socket.
    // If the socket's buffer is full, the bytes in the buffer wake the other side.
}

void RingChannel::check_open() const {
    if (closed_) throw ConnectionClosed("the other side closed the connection");
}

}  // namespace mini::dist
