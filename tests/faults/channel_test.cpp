// Faults of the channels between ranks: bytes arrive one at a time, late, not at all or
// changed, or the connection is cut. Each rank gets the right result or throws a typed
// error, and no rank hangs. Changed bytes inside a payload are not tested: a payload has
// no checksum, so TCP or the memory must detect such a change.

#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libmini/distributed/launch/default_group.hpp"
#include "tests/distributed/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitizers.hpp"

using namespace mini;
using namespace mini::dist;
using namespace mini::dist::test;

namespace {

enum class Fault {
    kNone,
    kCrumbs,  // at most one byte per call; every second call sends no byte
    kDrops,   // all bytes after the first `after` bytes are lost
    kCut,     // the connection is cut after `after` bytes
    kDelays,  // a pause of 0.1 ms after every `after` bytes
    kFlips,   // the byte after `after` bytes has all bits inverted
    kSwaps,   // the two bytes after `after` bytes are swapped
};

class FaultyChannel : public Channel {
  public:
    FaultyChannel(std::unique_ptr<Channel> inner, Fault fault, size_t after)
        : inner_(std::move(inner)), fault_(fault), after_(after), left_(after) {}

    size_t send_some(std::span<const std::byte> head,
                     std::span<const std::byte> body) override {
        if (fault_ == Fault::kNone) return inner_->send_some(head, body);
        if (fault_ == Fault::kCrumbs) {
            if (++calls_ % 2 == 0) return 0;
            return head.empty() ? inner_->send_some({}, body.first(1))
                                : inner_->send_some(head.first(1), {});
        }
        if (fault_ == Fault::kDelays) return send_late(head, body);
        if (fault_ == Fault::kFlips || fault_ == Fault::kSwaps)
            return send_corrupted(head, body);
        if (left_ == 0) return lose(head.size() + body.size());
        head = head.first(std::min(head.size(), left_));
        body = body.first(std::min(body.size(), left_ - head.size()));
        const size_t n = inner_->send_some(head, body);
        left_ -= n;
        return n;
    }
    size_t recv_some(std::span<std::byte> place) override {
        const bool crumbs = fault_ == Fault::kCrumbs && !place.empty();
        return inner_->recv_some(crumbs ? place.first(1) : place);
    }
    size_t recv_combine(std::span<std::byte> place, const Combine& combine) override {
        return inner_->recv_combine(
            fault_ == Fault::kCrumbs ? place.first(combine.element_bytes) : place,
            combine);
    }
    bool prepare_to_sleep(int interest, short& events) override {
        return inner_->prepare_to_sleep(interest, events);
    }
    Deadline next_event() const override {
        return std::min(fault_ == Fault::kDelays ? open_again_ : Deadline::max(),
                        inner_->next_event());
    }
    void wake_up(short revents) override { inner_->wake_up(revents); }
    const Socket& socket() const override { return inner_->socket(); }

  private:
    size_t lose(size_t bytes) {
        if (fault_ == Fault::kDrops) return bytes;
        ::shutdown(socket().fd(), SHUT_RDWR);
        throw ConnectionClosed("the connection was cut");
    }

    size_t send_late(std::span<const std::byte> head, std::span<const std::byte> body) {
        if (Clock::now() < open_again_) return 0;
        if (left_ == 0) left_ = after_;
        head = head.first(std::min(head.size(), left_));
        body = body.first(std::min(body.size(), left_ - head.size()));
        const size_t n = inner_->send_some(head, body);
        left_ -= n;
        if (left_ == 0) open_again_ = Clock::now() + std::chrono::microseconds(100);
        return n;
    }

    // Sends the bytes before the corrupted bytes first; sends the corrupted bytes and all
    // bytes after them in one call.
    size_t send_corrupted(std::span<const std::byte> head,
                          std::span<const std::byte> body) {
        std::vector<std::byte> bytes(head.begin(), head.end());
        bytes.insert(bytes.end(), body.begin(), body.end());
        const size_t corrupted = fault_ == Fault::kSwaps ? 2 : 1;
        const bool here = !is_done_ && left_ + corrupted <= bytes.size();
        if (!here && !is_done_) bytes.resize(std::min(bytes.size(), left_));
        if (here) {
            if (fault_ == Fault::kSwaps)
                std::swap(bytes[left_], bytes[left_ + 1]);
            else
                bytes[left_] = ~bytes[left_];
        }
        const size_t n = inner_->send_some({}, bytes);
        if (here && n > left_) is_done_ = true;
        left_ -= std::min(n, left_);
        return n;
    }

    std::unique_ptr<Channel> inner_;
    Fault fault_;
    size_t after_, left_;  // bytes
    Deadline open_again_{};
    bool is_done_ = false;
    size_t calls_ = 0;
};

// Runs `body` on each rank of a group. Rank `faulty` (-1: every rank) sends over channels
// with `fault`. Returns the text of each rank's exception.
std::vector<std::string> run(const std::string& kind, int world_size, int faulty,
                             Fault fault, size_t after, milliseconds timeout,
                             const std::function<void(ProcessGroup&)>& body) {
    const auto change = [&](int rank, std::vector<MessageStream>& streams) {
        const Fault mine = faulty == -1 || faulty == rank ? fault : Fault::kNone;
        for (MessageStream& stream : streams)
            if (stream.is_open())
                stream = MessageStream(std::make_unique<FaultyChannel>(
                    std::move(stream).take_channel(), mine, after));
    };
    const auto groups = make_groups(kind, world_size, timeout, change);
    return texts_of(world_size,
                    [&](int rank) { body(*groups[static_cast<size_t>(rank)]); });
}

void reduce_and_check(ProcessGroup& group, int64_t n, Algorithm algorithm) {
    Tensor x = Tensor::full({n}, group.rank() + 1);
    group.all_reduce(x, ReduceOp::kSum, algorithm);
    const int P = group.world_size();
    const std::vector<float> sum(static_cast<size_t>(n),
                                 static_cast<float>(P * (P + 1) / 2));
    MINI_CHECK(x.to_vector<float>() == sum, "wrong numbers");
}

constexpr Algorithm kAlgorithms[] = {Algorithm::kRing, Algorithm::kRecursiveDoubling,
                                     Algorithm::kHalvingDoubling, Algorithm::kTree,
                                     Algorithm::kNaive};

}  // namespace

TEST_CASE("bytes that arrive one at a time give the right sums") {
    const std::string kind = GENERATE("tcp", "shm");
    const int world_size = GENERATE(2, 3);
    constexpr int64_t kElements = mini::test::kWatchesThreads ? 11 : 101;
    const auto texts =
        run(kind, world_size, -1, Fault::kCrumbs, 0, kLong, [](ProcessGroup& group) {
            for (const Algorithm algorithm : kAlgorithms)
                for (const int64_t n : {int64_t{0}, int64_t{1}, kElements})
                    reduce_and_check(group, n, algorithm);
            group.broadcast(Tensor::zeros({33}), 0);
            group.barrier();
        });
    for (const std::string& text : texts) CHECK(text == "");
}

TEST_CASE("bytes that arrive late and in pieces give the right sums") {
    const std::string kind = GENERATE("tcp", "shm");
    const size_t piece = GENERATE(7u, 48u, 1000u);
    const auto texts =
        run(kind, 3, -1, Fault::kDelays, piece, kLong, [](ProcessGroup& group) {
            for (const Algorithm algorithm : kAlgorithms)
                for (const int64_t n : {0, 1, 101}) reduce_and_check(group, n, algorithm);
            group.barrier();
        });
    for (const std::string& text : texts) CHECK(text == "");
}

TEST_CASE("a changed header causes an error or is harmless and never causes wrong sums") {
    // Change each byte of the first header and of the header after the first payload. A
    // rank may then wait until its deadline for a message that never comes.
    const std::string kind = GENERATE("tcp", "shm");
    const Fault fault = GENERATE(Fault::kFlips, Fault::kSwaps);
    const size_t start = GENERATE(0u, 48u + 100u * 4u);
    constexpr size_t kStep = mini::test::kSanitized ? 3 : 1;
    int errors = 0;
    for (size_t byte = 0; byte + 1 < sizeof(MessageHeader); byte += kStep) {
        const auto texts = run(kind, 2, 1, fault, start + byte, milliseconds(100),
                               [](ProcessGroup& group) {
                                   for (int i = 0; i < 3; ++i)
                                       reduce_and_check(group, 100, Algorithm::kNaive);
                               });
        for (const std::string& text : texts) {
            CAPTURE(kind, start, byte, text);
            const bool is_typed =
                contains(text, "PeerLost(") || contains(text, "Timeout: ") ||
                contains(text, "Mismatched") || contains(text, "Error: ");
            errors += !text.empty();
            CHECK((text.empty() || is_typed));
            CHECK(!contains(text, "wrong numbers"));
        }
    }
    CHECK(errors > 0);
}

TEST_CASE("a connection cut at any byte causes PeerLost on every rank") {
    const std::string kind = GENERATE("tcp", "shm");
    const size_t after = GENERATE(0u, 1u, 47u, 48u, 49u, 1000u, 12'345u);
    const auto algorithm = GENERATE(Algorithm::kRing, Algorithm::kTree);
    const auto texts =
        run(kind, 3, 1, Fault::kCut, after, kLong, [=](ProcessGroup& group) {
            for (int i = 0; i < 1000; ++i) reduce_and_check(group, 1000, algorithm);
        });
    for (const std::string& text : texts) {
        CAPTURE(kind, after, text);
        CHECK(contains(text, "PeerLost("));
        CHECK(contains(text, "all_reduce #"));
        CHECK(!contains(text, "wrong numbers"));
    }
}

TEST_CASE("lost bytes cause Timeout or PeerLost on every rank and never wrong sums") {
    const std::string kind = GENERATE("tcp", "shm");
    const size_t after = GENERATE(0u, 20u, 48u, 1000u, 12'345u);
    const auto texts = run(kind, 3, 1, Fault::kDrops, after, milliseconds(400),
                           [=](ProcessGroup& group) {
                               for (int i = 0; i < 1000; ++i)
                                   reduce_and_check(group, 1000, Algorithm::kRing);
                           });
    for (const std::string& text : texts) {
        CAPTURE(kind, after, text);
        CHECK((contains(text, "Timeout") || contains(text, "PeerLost")));
        CHECK(contains(text, "all_reduce #"));
        CHECK(!contains(text, "wrong numbers"));
    }
}
