// What a damaged or hostile other side sends, or sends without end: refused, or waited for
// no longer than a deadline.

#include <dirent.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "libmini/distributed/net/local_socket.hpp"
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

// A channel from which the same bytes come again and again, so that each receive finds some.
// A test that waits for its end has failed: the channel runs dry after a long time.
class EndlessChannel : public Channel {
  public:
    EndlessChannel(const MessageHeader& header, size_t piece)
        : bytes_(sizeof header), piece_(piece), socket_(socket_pair().first) {
        std::memcpy(bytes_.data(), &header, sizeof header);
    }

    bool is_dry() const { return has_passed(end_); }

    size_t send_some(std::span<const std::byte> head,
                     std::span<const std::byte> body) override {
        return head.size() + body.size();
    }
    size_t recv_some(std::span<std::byte> place) override {
        if (++calls_ % 1024 == 0 && is_dry()) piece_ = 0;
        const auto rest = std::span(bytes_).subspan(next_);
        const size_t n = std::min({place.size(), rest.size(), piece_});
        std::ranges::copy(rest.first(n), place.begin());
        next_ = (next_ + n) % bytes_.size();
        return n;
    }
    size_t recv_combine(std::span<std::byte> place, const Combine&) override {
        return recv_some(place);
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
    header.detail = tag;
    return header;
}

// Rank 0 of three: rank 1 is silent, rank 2 sends one header without end.
struct Besieged {
    explicit Besieged(const MessageHeader& header, size_t piece = SIZE_MAX) {
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

// Posts a receive of an empty message, and the next one when it is done.
void receive_for_ever(MeshTransport& transport, PointMessage& message) {
    message.done = false;
    message.finished = [&] { receive_for_ever(transport, message); };
    transport.post(message);
}

}  // namespace

TEST_CASE("a collective ends at its deadline though another rank sends all the time") {
    Besieged scene(point_header(3));
    PointMessage message = receive(2, 3);
    receive_for_ever(*scene.rank0, message);
    scene.rank0->begin({}, milliseconds(300));
    std::vector<std::byte> in(8);
    const std::string text = failure_of([&] { scene.rank0->recv(1, in); });
    CAPTURE(text);
    CHECK(contains(text, "Timeout: rank 0 waited 0.3 s for rank 1 in barrier #0"));
    CHECK_FALSE(scene.channel->is_dry());
}

TEST_CASE("a receive ends at its deadline though another rank sends all the time") {
    Besieged scene(point_header(3));
    PointMessage message = receive(2, 3), silent = receive(1, 4);
    silent.timeout = milliseconds(300);
    silent.deadline = deadline_after(silent.timeout);
    scene.rank0->begin({}, kLong);
    receive_for_ever(*scene.rank0, message);
    scene.rank0->post(silent);
    const std::string text = failure_of([&] {
        while (true) scene.rank0->progress();
    });
    CAPTURE(text);
    CHECK(contains(text, "Timeout: rank 0 waited 0.3 s in recv from rank 1"));
    CHECK_FALSE(scene.channel->is_dry());
}

TEST_CASE("a collective whose bytes trickle in ends at its deadline") {
    constexpr size_t kBytes = 64 << 20;
    MessageHeader header;
    header.payload_bytes = kBytes;
    Besieged scene(header, /*piece=*/1);
    scene.rank0->begin({}, milliseconds(300));
    std::vector<std::byte> in(kBytes);
    const std::string text = failure_of([&] { scene.rank0->recv(2, in); });
    CAPTURE(text);
    CHECK(contains(text, "Timeout: rank 0 waited 0.3 s for rank 2 in barrier #0"));
}

TEST_CASE(
    "last words are waited for no longer than the deadline of a rank that babbles") {
    MessageStream stream(std::make_unique<EndlessChannel>(point_header(1), SIZE_MAX));
    bool closed = true;
    CHECK_FALSE(
        stream.final_message(deadline_after(milliseconds(10)), closed).has_value());
    CHECK_FALSE(closed);
    CHECK_FALSE(static_cast<EndlessChannel&>(stream.channel()).is_dry());
}

TEST_CASE("empty messages that were not asked for are counted, and too many refused") {
    Besieged scene(point_header(7));
    scene.rank0->begin({}, kLong);
    std::vector<std::byte> in(8);
    const std::string text = failure_of([&] { scene.rank0->recv(2, in); });
    CAPTURE(text);
    CHECK(contains(text, "the last one rank 2, that rank 0 has not asked for"));
    CHECK_FALSE(scene.channel->is_dry());
}

TEST_CASE("a header that promises a gigabyte takes no memory before its bytes come") {
    auto [mine, theirs] = socket_pair();
    std::vector<MessageStream> streams(1);
    streams.emplace_back(std::make_unique<SocketChannel>(std::move(mine)));
    MeshTransport rank0(0, std::move(streams));
    PointMessage other = receive(1, 1);
    rank0.post(other);
    const MessageHeader header = point_header(9, size_t{1} << 30);
    send_all(theirs, std::as_bytes(std::span(&header, 1)), deadline_after(kLong));
    send_all(theirs, std::vector<std::byte>(100), deadline_after(kLong));
    const size_t before = resident_bytes();
    for (int i = 0; i < 100; ++i) rank0.poll();
    CHECK(resident_bytes() < before + (size_t{100} << 20));
}

TEST_CASE("a ring whose reader's counter is damaged is not written beyond its end") {
    constexpr size_t kCapacity = 64;
    struct Shared {
        ByteRing::Header header{};
        std::array<std::byte, kCapacity> bytes{};
        std::array<std::byte, 1024> behind{};
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
        CHECK(std::ranges::count(shared->behind, std::byte{7}) == 0);
    }
}

TEST_CASE("of two descriptors that come with one message none is left open") {
    const auto [mine, theirs] = socket_pair();
    const size_t before = open_descriptors();
    char byte = 'x';
    iovec part{&byte, 1};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(2 * sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(2 * sizeof(int));
    const std::array<int, 2> both = {theirs.fd(), theirs.fd()};
    std::memcpy(CMSG_DATA(header), both.data(), sizeof both);
    REQUIRE(::sendmsg(theirs.fd(), &message, 0) == 1);

    {
        Socket descriptor;
        std::byte got{};
        CHECK(recv_with_descriptor(mine, std::span(&got, 1), descriptor) == 1);
        CHECK(descriptor.is_open());
        CHECK(open_descriptors() == before + 1);
    }
    CHECK(open_descriptors() == before);
}
