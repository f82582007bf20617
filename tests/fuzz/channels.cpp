// Targets of the channels, which read what the other side has written: counters in shared
// memory, and the frames of an emulated link.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libmini/distributed/transport/byte_ring.hpp"
#include "libmini/distributed/transport/emulated_link.hpp"
#include "libmini/distributed/transport/ring_channel.hpp"
#include "tests/fuzz/input.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/support/set_time.hpp"
#include "tests/support/socket_pair.hpp"

namespace mini::fuzz {
namespace {

// ---- damaged counters in shared memory: the input is a script; each of its steps begins
// with the number of an action

void run_byte_ring(Input input) {
    constexpr size_t kCapacity = 64;
    struct alignas(64) Memory {
        std::byte bytes[dist::ByteRing::bytes_for(kCapacity)];
    };
    const auto memory = std::make_unique<Memory>();
    auto* const header = reinterpret_cast<dist::ByteRing::Header*>(memory.get());
    dist::ByteRing ring(memory->bytes);
    std::array<std::byte, 256> bytes{};
    for (Taker taker(input); !taker.is_empty();) {
        switch (taker.take<uint8_t>() % 6) {
            case 0: header->read = taker.take<uint64_t>(); break;
            case 1: header->written = taker.take<uint64_t>(); break;
            case 2: ring.write_some(std::span(bytes).first(taker.take<uint8_t>())); break;
            case 3: ring.publish(); break;
            case 4: ring.release(); break;
            default: {
                const auto ready = ring.readable();
                require(ready.size() <= ring.available(), "more than there is");
                std::ranges::copy(ready, bytes.begin());
                ring.consume(ready.size());
            }
        }
    }
}

// Returns a step of a script: the number of the action, then its argument.
template <typename Number>
std::string step(uint8_t kind, Number argument) {
    std::string bytes(1 + sizeof argument, static_cast<char>(kind));
    std::memcpy(bytes.data() + 1, &argument, sizeof argument);
    return bytes;
}

Seeds byte_ring_seeds() {
    const std::string publish = "\3", release = "\4", take = "\5";
    const std::string write = step<uint8_t>(2, 40);
    return {write + publish + step<uint64_t>(0, 40) + write + publish +
                step<uint64_t>(1, 50) + take + release + step<uint64_t>(1, 80) + take,
            write + step<uint64_t>(0, 41) + write,
            step<uint64_t>(1, ~uint64_t{0}) + take};
}

// Accesses the same bytes as the Combine function of a float32 sum.
void replace_floats(std::byte* mine, const std::byte* theirs, size_t count) {
    for (size_t i = 0; i < count * sizeof(float); ++i) mine[i] = theirs[i];
}

// Returns the header of ring 0 or 1 in the shared memory.
std::byte* ring_header(dist::Memory& memory, size_t ring) {
    return memory.bytes().data() + ring * memory.bytes().size() / 2;
}

void run_ring_channel(Input input) {
    auto [mine, theirs] = test::socket_pair();
    static const auto memory =
        std::make_shared<dist::Memory>(-1, dist::RingChannel::memory_bytes());
    for (const size_t ring : {0, 1})
        std::memset(ring_header(*memory, ring), 0, sizeof(dist::ByteRing::Header));
    dist::RingChannel channel(std::move(mine), memory, dist::RingChannel::Side::kFirst);
    dist::RingChannel other(std::move(theirs), memory, dist::RingChannel::Side::kSecond);
    const dist::Combine combine{replace_floats, sizeof(float)};
    std::array<std::byte, 256> bytes{};
    short events = 0;
    for (Taker taker(input); !taker.is_empty();) {
        const uint8_t kind = taker.take<uint8_t>();
        const auto some = std::span(bytes).first(taker.take<uint8_t>());
        switch (kind % 6) {
            case 0: {  // overwrites a counter or a flag of a ring
                const size_t place = kind / 12 % 4;
                std::byte* const header = ring_header(*memory, kind / 6 % 2);
                const auto number = taker.take<uint64_t>();
                std::memcpy(header + std::array{0, 8, 64, 72}[place], &number,
                            place % 2 == 0 ? 8 : 4);
                break;
            }
            case 1: other.send_some(some, {}); break;
            case 2: channel.send_some(some, {}); break;
            case 3: channel.recv_some(some); break;
            case 4: channel.recv_combine(some.first(some.size() / 4 * 4), combine); break;
            default:
                channel.prepare_to_sleep(dist::Channel::kToReceive, events);
                channel.wake_up(events);
        }
    }
}

Seeds ring_channel_seeds() {
    const auto damage = [](size_t ring, size_t place, uint64_t number) {
        return step<uint8_t>(static_cast<uint8_t>(6 * ring + 12 * place), 0) +
               text_of_object(number);
    };
    const std::string theirs = step<uint8_t>(1, 200), mine = step<uint8_t>(2, 255);
    return {theirs + step<uint8_t>(3, 100) + step<uint8_t>(4, 100) + mine +
                step<uint8_t>(5, 0) + theirs,
            mine + damage(0, 2, 1 << 20) + mine,
            damage(1, 0, ~uint64_t{0}) + step<uint8_t>(3, 255) + step<uint8_t>(4, 8)};
}

// ---- the frames of an emulated link

// A channel that receives an input in small pieces, and then the end of the stream.
class PieceChannel : public dist::Channel {
  public:
    explicit PieceChannel(Input input) : taker_(input) {}

    size_t send_some(std::span<const std::byte> head,
                     std::span<const std::byte> body) override {
        return head.size() + body.size();
    }
    size_t recv_some(std::span<std::byte> place) override {
        if (taker_.is_empty()) throw dist::ConnectionClosed("the input's end");
        constexpr size_t kPiece = 13;
        const Input piece = taker_.take_bytes(std::min(place.size(), kPiece));
        std::ranges::copy(piece, place.begin());
        return piece.size();
    }
    bool prepare_to_sleep(int, short&) override { return true; }
    void wake_up(short) override {}
    const dist::Socket& socket() const override { return socket_; }

  private:
    Taker taker_;
    dist::Socket socket_;
};

constexpr dist::LinkSpec kLink{.bytes_per_second = 1e6,
                               .delay = std::chrono::microseconds(50)};

void run_emulated_link(Input input) {
    test::SetTime clock;
    clock.time = {};
    clock.tick = std::chrono::milliseconds(1);
    dist::EmulatedLink link(std::make_unique<PieceChannel>(input), kLink,
                            std::make_shared<dist::RankPorts>());
    const dist::Combine combine{replace_floats, sizeof(float)};
    std::array<std::byte, 32> place{};
    short events = 0;
    try {
        for (size_t i = 0; i < input.size() + 8; ++i) {
            if (link.recv_some(place) == 0) link.recv_combine(place, combine);
            link.prepare_to_sleep(dist::Channel::kToReceive, events);
        }
    } catch (const dist::ConnectionClosed&) {  // the end of the input
    }
}

Seeds emulated_link_seeds() {
    const auto frame = [](int64_t reached, uint64_t size) {
        const std::array<uint64_t, 2> head = {static_cast<uint64_t>(reached), size};
        return text_of(std::as_bytes(std::span(head))) + std::string(size, 'x');
    };
    return {frame(1000, 20) + frame(2000, 100), frame(INT64_MAX, 4), frame(-1, 4),
            frame(INT64_MIN, 4)};
}

}  // namespace

std::vector<Target> channel_targets() {
    return {{"byte_ring", run_byte_ring, byte_ring_seeds()},
            {"ring_channel", run_ring_channel, ring_channel_seeds()},
            {"emulated_link", run_emulated_link, emulated_link_seeds()}};
}

}  // namespace mini::fuzz
