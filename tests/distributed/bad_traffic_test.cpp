// A damaged or hostile peer: invalid bytes are rejected, and every wait ends at its
// deadline, even if the peer never stops sending.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "libmini/distributed/transport/byte_ring.hpp"
#include "libmini/distributed/transport/socket_channel.hpp"
#include "tests/distributed/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/socket_pair.hpp"

using namespace mini;
using namespace mini::dist;
using namespace mini::dist::test;
using mini::test::socket_pair;

namespace {

// A channel that returns the same header again and again, so that every receive returns
// bytes. After 60 s the channel becomes empty, which fails a test that still waits.
class EndlessChannel : public Channel {
  public:
    EndlessChannel(const MessageHeader& header, size_t piece)
        : bytes_(sizeof header), piece_(piece), socket_(socket_pair().first) {
        std::memcpy(bytes_.data(), &header, sizeof header);
    }

    bool is_empty() const { return has_passed(end_); }

    size_t send_some(std::span<const std::byte> head,
                     std::span<const std::byte> body) override {
        return head.size() + body.size();
    }
    size_t recv_some(std::span<std::byte> place) override {
        if (++calls_ % 1024 == 0 && is_empty()) piece_ = 0;
        const auto rest = std::span(bytes_).subspan(next_);
        const size_t n = std::min({place.size(), rest.size(), piece_});
        std::ranges::copy(rest.first(n), place.begin());
        next_ = (next_ + n) % bytes_.size();
        return n;
    }
    bool prepare_to_sleep(int, short& events) override {
        events = 0;
        return piece_ == 0;
    }
    void wake_up(short) override {}
    const Socket& socket() const override { return socket_; }

  private:
    std::vector<std::byte> bytes_;
    size_t next_ = 0, piece_, calls_ = 0;
    Socket socket_;
    Deadline end_ = deadline_after(std::chrono::seconds(60));
};

MessageHeader point_header(uint64_t tag, size_t bytes = 0) {
    MessageHeader header;
    header.kind = MessageHeader::Kind::kPoint;
    header.payload_bytes = bytes;
    header.tag = tag;
    return header;
}

// Rank 0 of three: rank 1 is silent, rank 2 sends one header forever.
struct FloodedRank {
    explicit FloodedRank(const MessageHeader& header, size_t piece = SIZE_MAX) {
        auto [mine, theirs] = socket_pair();
        silent = std::move(theirs);
        auto endless = std::make_unique<EndlessChannel>(header, piece);
        channel = endless.get();
        std::vector<MessageStream> streams(1);
        streams.emplace_back(std::make_unique<SocketChannel>(std::move(mine)));
        streams.emplace_back(std::move(endless));
        rank0 = std::make_unique<MeshTransport>(0, std::move(streams));
    }

    Socket silent;
    EndlessChannel* channel = nullptr;
    std::unique_ptr<MeshTransport> rank0;
};

PointMessage receive(int peer, uint64_t tag, Deadline deadline = kNever) {
    PointMessage message;
    message.direction = PointMessage::Direction::kRecv;
    message.peer = peer;
    message.tag = tag;
    message.deadline = deadline;
    return message;
}

// Posts a receive of an empty message, and posts the receive again each time it is done.
void receive_forever(MeshTransport& transport, PointMessage& message) {
    message.done = false;
    message.finished = [&] { receive_forever(transport, message); };
    transport.post(message);
}

}  // namespace

TEST_CASE("a collective times out at its deadline while another rank keeps sending") {
    FloodedRank flooded(point_header(3));
    PointMessage message = receive(2, 3);
    receive_forever(*flooded.rank0, message);
    flooded.rank0->begin({}, milliseconds(300));
    std::vector<std::byte> in(8);
    const std::string text = failure_of([&] { flooded.rank0->recv(1, in); });
    CAPTURE(text);
    CHECK(contains(text, "Timeout: rank 0 waited 0.3 s for rank 1 in barrier #0"));
    CHECK_FALSE(flooded.channel->is_empty());
}

TEST_CASE("a receive times out at its deadline while another rank keeps sending") {
    FloodedRank flooded(point_header(3));
    PointMessage message = receive(2, 3), silent = receive(1, 4);
    silent.timeout = milliseconds(300);
    silent.deadline = deadline_after(silent.timeout);
    flooded.rank0->begin({}, kLong);
    receive_forever(*flooded.rank0, message);
    flooded.rank0->post(silent);
    const std::string text = failure_of([&] {
        while (true) flooded.rank0->progress();
    });
    CAPTURE(text);
    CHECK(contains(text, "Timeout: rank 0 waited 0.3 s in recv from rank 1"));
    CHECK_FALSE(flooded.channel->is_empty());
}

TEST_CASE("a collective whose bytes arrive too slowly times out at its deadline") {
    constexpr size_t kBytes = 64 << 20;
    MessageHeader header;
    header.payload_bytes = kBytes;
    FloodedRank flooded(header, /*piece=*/1);
    flooded.rank0->begin({}, milliseconds(300));
    std::vector<std::byte> in(kBytes);
    const std::string text = failure_of([&] { flooded.rank0->recv(2, in); });
    CAPTURE(text);
    CHECK(contains(text, "Timeout: rank 0 waited 0.3 s for rank 2 in barrier #0"));
}

TEST_CASE("final_message returns at its deadline while the rank keeps sending") {
    MessageStream stream(std::make_unique<EndlessChannel>(point_header(1), SIZE_MAX));
    const Told told = stream.final_message(deadline_after(milliseconds(10)));
    CHECK_FALSE(told.report.has_value());
    CHECK_FALSE(told.is_gone);
    CHECK_FALSE(static_cast<EndlessChannel&>(stream.channel()).is_empty());
}

TEST_CASE("final_message continues a report of which a part has arrived") {
    auto [mine, theirs] = socket_pair();
    MessageStream stream(std::make_unique<SocketChannel>(std::move(mine)));
    const std::string text = to_text({Failure::Kind::kTimeout, 2, "rank 2 is silent"});
    MessageHeader header;
    header.kind = MessageHeader::Kind::kFailure;
    header.payload_bytes = text.size();
    send_all(theirs, std::as_bytes(std::span(&header, 1)), kNever);
    const auto bytes = std::as_bytes(std::span(text));
    for (const size_t part : {size_t{0}, size_t{9}}) {
        send_all(theirs, bytes.first(part), kNever);
        CHECK_FALSE(stream.final_message(Clock::now()).report.has_value());
    }
    send_all(theirs, bytes.subspan(9), kNever);
    for (int call = 0; call < 2; ++call) {
        const auto report = stream.final_message(Clock::now()).report;
        REQUIRE(report.has_value());
        CHECK(report->kind == Failure::Kind::kTimeout);
        CHECK(report->message == "rank 2 is silent");
    }
}

TEST_CASE("too many unexpected messages are an error even if the messages are empty") {
    FloodedRank flooded(point_header(7));
    flooded.rank0->begin({}, kLong);
    std::vector<std::byte> in(8);
    const std::string text = failure_of([&] { flooded.rank0->recv(2, in); });
    CAPTURE(text);
    CHECK(contains(text, "the last one rank 2, that rank 0 has not asked for"));
    CHECK_FALSE(flooded.channel->is_empty());
}

TEST_CASE(
    "write_some does not write past a ring's end if the reader's counter is damaged") {
    constexpr size_t kCapacity = 64;
    struct Shared {
        ByteRing::Header header{};
        std::array<std::byte, kCapacity> bytes{};
        std::array<std::byte, 1024> guard{};
    };
    const auto shared = std::make_unique<Shared>();
    auto* const place = reinterpret_cast<std::byte*>(shared.get());
    ByteRing ring({place, ByteRing::bytes_for(kCapacity)});
    const std::vector<std::byte> bytes(1000, std::byte{7});
    REQUIRE(ring.write_some(bytes) == kCapacity);
    for (const uint64_t read : {uint64_t{65}, uint64_t{1000}, ~uint64_t{0}}) {
        shared->header.read = read;
        const std::string text = failure_of([&] { ring.write_some(bytes); });
        CAPTURE(read, text);
        CHECK(contains(text, "the shared memory is damaged"));
        CHECK(std::ranges::count(shared->guard, std::byte{7}) == 0);
    }
}
