// Ranks that call different collectives, leave, or become silent: the other ranks throw
// an error that names them, and no rank hangs.

#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <latch>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "libmini/distributed/transport/socket_channel.hpp"
#include "tests/distributed/manual_time.hpp"
#include "tests/distributed/require_none.hpp"
#include "tests/distributed/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitizers.hpp"
#include "tests/support/socket_pair.hpp"
#include "tests/support/written.hpp"

using namespace mini;
using namespace mini::dist;
using namespace mini::dist::test;

namespace {

using Calls = std::vector<std::function<void(ProcessGroup&)>>;

// Runs calls[rank] on each rank. Returns the text of each rank's exception. All groups
// live until all ranks have finished.
std::vector<std::string> outcome(const std::string& kind, const Calls& calls,
                                 milliseconds timeout = kLong) {
    const auto world_size = static_cast<int>(calls.size());
    const auto groups = make_groups(kind, world_size, timeout);
    return texts_of(world_size, [&](int rank) {
        calls[static_cast<size_t>(rank)](*groups[static_cast<size_t>(rank)]);
    });
}

// Rank 0 of three over local sockets. The test acts as ranks 1 and 2 at the other ends.
struct FakePeers {
    explicit FakePeers(milliseconds timeout = kLong) {
        std::vector<MessageStream> streams(1);
        for (Socket* end : {&one, &two}) {
            auto [mine, theirs] = mini::test::socket_pair();
            streams.emplace_back(std::make_unique<SocketChannel>(std::move(mine)));
            *end = std::move(theirs);
        }
        rank0 = std::make_unique<MeshTransport>(0, std::move(streams));
        rank0->begin({}, timeout);
    }

    static void send(const Socket& socket, const auto& bytes) {
        send_all(socket, std::as_bytes(std::span(bytes)), deadline_after(kLong));
    }

    Socket one, two;
    std::unique_ptr<MeshTransport> rank0;
};

std::function<void(ProcessGroup&)> reduce(int64_t n, ReduceOp op = ReduceOp::kSum,
                                          DType dtype = DType::kFloat32) {
    return [=](ProcessGroup& group) { group.all_reduce(Tensor::zeros({n}, dtype), op); };
}

}  // namespace

TEST_CASE("a mismatch of two ranks names both calls on both ranks") {
    const std::string kind = GENERATE("threads", "tcp", "shm");
    const auto check = [&](const auto& a, const auto& b, const std::string& name_a,
                           const std::string& name_b) {
        const auto texts = outcome(kind, {a, b});
        for (const std::string& text : texts) {
            CAPTURE(kind, text);
            CHECK(contains(text, "MismatchedCollective"));
            CHECK(contains(text, name_a));
            CHECK(contains(text, name_b));
        }
    };
    check(reduce(100), reduce(200), "rank 0 runs all_reduce #0 (sum of 100 float32)",
          "rank 1 runs all_reduce #0 (sum of 200 float32)");
    check(reduce(8), reduce(8, ReduceOp::kMax), "sum of 8", "max of 8");
    check(reduce(8), reduce(8, ReduceOp::kSum, DType::kInt64), "8 float32", "8 int64");
    check(reduce(0), reduce(1), "sum of 0", "sum of 1");
    check(
        reduce(8), [](ProcessGroup& group) { group.barrier(); }, "all_reduce",
        "barrier #0");
    check(reduce(2'000'000), reduce(3'000'000), "sum of 2000000", "sum of 3000000");
}

TEST_CASE("a mismatch of one of four ranks is thrown on every rank") {
    const std::string kind = GENERATE("threads", "tcp", "shm");
    const int odd = GENERATE(0, 1, 3);
    Calls calls(4, reduce(1000));
    calls[static_cast<size_t>(odd)] = reduce(1001);
    for (const std::string& text : outcome(kind, calls)) {
        CAPTURE(kind, odd, text);
        CHECK(contains(text, "MismatchedCollective"));
        CHECK(contains(text, "sum of 1001 float32"));
        CHECK(contains(text, concat("rank ", odd, " runs")));
    }
}

TEST_CASE(
    "a collective that only one rank calls is a mismatch with the next collective") {
    const std::string kind = GENERATE("threads", "tcp", "shm");
    const auto texts = outcome(kind, {[](ProcessGroup& group) {
                                          group.broadcast(Tensor::zeros({4}), 0);
                                          group.barrier();
                                      },
                                      [](ProcessGroup& group) { group.barrier(); }});
    for (const std::string& text : texts) {
        CAPTURE(kind, text);
        CHECK(contains(text, "MismatchedCollective"));
        CHECK(contains(text, "broadcast #0 (4 float32 from rank 0)"));
        CHECK(contains(text, "rank 1 runs barrier #0"));
    }
}

TEST_CASE("a rank that leaves is a PeerLost on every other rank") {
    const int n = GENERATE(1, 10'000, 4'000'000);
    const int gone = GENERATE(0, 2);
    auto groups = make_groups(any_transport(), 4);
    std::latch started(3);
    const auto texts = texts_of(4, [&](int rank) {
        auto& group = groups[static_cast<size_t>(rank)];
        if (rank == gone) {
            started.wait();
            group = nullptr;
            return;
        }
        const auto work = group->all_reduce_async(Tensor::zeros({n}), ReduceOp::kSum);
        started.count_down();
        work->wait();
    });
    for (int rank = 0; rank < 4; ++rank) {
        const std::string& text = texts[static_cast<size_t>(rank)];
        CAPTURE(n, gone, rank, text);
        if (rank != gone) CHECK(contains(text, concat("PeerLost(", gone, ")")));
    }
}

TEST_CASE("a receive times out as usual if its wait report cannot reach another rank") {
    FakePeers peers(milliseconds(400));
    ::shutdown(peers.two.fd(), SHUT_RD);
    std::vector<std::byte> in(100);
    const std::string text = failure_of([&] { peers.rank0->recv(1, in); });
    CAPTURE(text);
    CHECK(contains(text, "Timeout"));
    CHECK(contains(text, "rank 1 is silent"));
}

TEST_CASE("a message is received although the wait report to its sender has failed") {
    ManualTime time;
    FakePeers peers(std::chrono::hours(2));
    ::shutdown(peers.one.fd(), SHUT_RD);
    std::vector<std::byte> in(100);
    std::string text;
    std::jthread rank0([&] { text = failure_of([&] { peers.rank0->recv(1, in); }); });
    time.until_awaited(std::chrono::hours(1));
    time.advance(std::chrono::hours(1));
    // Halfway to its deadline rank 0 has reported its wait: rank 1 cannot receive the
    // report, rank 2 can.
    MessageHeader received;
    recv_all(peers.two, std::as_writable_bytes(std::span(&received, 1)),
             deadline_after(kLong));
    CHECK(received.kind == MessageHeader::Kind::kWaiting);

    MessageHeader header;
    header.payload_bytes = in.size();
    FakePeers::send(peers.one, std::vector<MessageHeader>{header});
    FakePeers::send(peers.one, std::string(in.size(), 'x'));
    rank0.join();
    CHECK(text == "");
}

TEST_CASE("a rank's notice counts in a later collective until the rank sends a message") {
    const bool goes_on = GENERATE(false, true);
    FakePeers peers;
    const Collective next{.sequence = 1};
    peers.rank0->begin(next, milliseconds(200));
    MessageHeader notice, message;
    notice.kind = MessageHeader::Kind::kWaiting;
    notice.rank = 2;
    message.collective = next;
    message.payload_bytes = 100;  // they do not arrive
    FakePeers::send(peers.one, std::vector<MessageHeader>{notice});
    if (goes_on) FakePeers::send(peers.one, std::vector<MessageHeader>{message});
    std::vector<std::byte> in(100);
    const std::string text = failure_of([&] { peers.rank0->recv(1, in); });
    CAPTURE(text);
    CHECK(contains(text, "rank 1 waits for rank 2; rank 2 is silent") != goes_on);
    CHECK(contains(text, "rank 1 is silent") == goes_on);
}

TEST_CASE("a message that a rank sent before it left still causes a mismatch error") {
    FakePeers peers;
    std::vector<MessageHeader> sent(1);
    sent[0].collective.operation = Operation::kBroadcast;
    FakePeers::send(peers.one, sent);
    FakePeers::send(peers.one, report_bytes(Failure::Kind::kPeerLost, 1, ""));
    peers.one.close();
    const std::vector<std::byte> out(100);
    const std::string text = failure_of([&] { peers.rank0->send(1, out); });
    CAPTURE(text);
    CHECK(contains(text, "MismatchedCollective"));
    CHECK(contains(text, "rank 1 runs broadcast #0"));
}

TEST_CASE("after a failure every later call throws the first error") {
    const auto groups = make_groups(any_transport(), 2, milliseconds(100));
    const Call gate{.operation = Operation::kBarrier, .timeout = kLong};
    const auto opened = groups[0]->start(gate);
    const auto first = groups[0]->barrier_async();
    const auto queued = groups[0]->all_reduce_async(Tensor::zeros({3}), ReduceOp::kSum);
    groups[1]->start(gate)->wait();
    opened->wait();
    CHECK(contains(failure_of([&] { first->wait(); }), "Timeout"));
    const std::string text = failure_of([&] { queued->wait(); });
    CHECK(contains(text, "Timeout: all_reduce #2 (sum of 3 float32) was not run"));
    CHECK(contains(
        failure_of([&] { groups[0]->barrier(); }),
        "Timeout: barrier: the group is broken: rank 0 waited 0.1 s for rank 1"));

    // The first barrier may succeed: rank 0 may have sent its message before timing out.
    const std::string other = failure_of([&] {
        groups[1]->barrier();
        groups[1]->barrier();
    });
    CHECK(contains(other, "rank 0 reports: rank 0 waited 0.1 s for rank 1"));
}

TEST_CASE("a rank that fails while its own operation runs still tells the others why") {
    const auto groups = make_groups(any_transport(), 2, kLong);
    const auto running = groups[0]->all_reduce_async(Tensor::zeros({3}), ReduceOp::kSum);
    while (groups[0]->events().snapshot(EventKind::kCollectiveBegin).empty())
        std::this_thread::yield();
    groups[0]->abandon("out of cheese");
    CHECK(contains(failure_of([&] { running->wait(); }), "the group was destroyed"));

    // The first may succeed: rank 0 may have sent its message before.
    const std::string other = failure_of([&] {
        for (int i = 0; i < 2; ++i) groups[1]->all_reduce(Tensor::zeros({3}));
    });
    CAPTURE(other);
    CHECK(contains(other, "rank 0 failed: out of cheese"));
}

TEST_CASE("a connection cut in the middle of a message does not blame the wrong rank") {
    FakePeers peers;
    MessageHeader header;
    header.payload_bytes = 100;
    FakePeers::send(peers.one, std::vector<MessageHeader>{header});
    FakePeers::send(peers.one, std::string(50, 'x'));
    std::string cause;

    SECTION("another rank has died without a report") {
        peers.two.close();
        cause = "PeerLost(2): rank 2 is gone";
    }
    SECTION("another rank reports which rank is gone") {
        FakePeers::send(peers.two,
                        report_bytes(Failure::Kind::kPeerLost, 3, "rank 3 is gone"));
        cause = "PeerLost(3): rank 2 reports: rank 3 is gone";
    }
    SECTION("no other rank has a fault: the rank itself is gone") {
        cause = "PeerLost(1): rank 1 is gone";
    }

    peers.one.close();
    std::vector<std::byte> in(100);
    CHECK(contains(failure_of([&] { peers.rank0->recv(1, in); }), cause));
}

TEST_CASE("a report that is too long is cut") {
    FakePeers peers;
    MessageHeader header;
    header.payload_bytes = 100;
    FakePeers::send(peers.one, std::vector<MessageHeader>{header});
    std::string report = report_bytes(Failure::Kind::kPeerLost, 3, "rank 3 is gone!!!");
    report.resize(report.size() + 20000, '!');
    header.kind = MessageHeader::Kind::kFailure;
    header.payload_bytes = report.size() - sizeof header;
    std::memcpy(report.data(), &header, sizeof header);
    FakePeers::send(peers.two, report);
    peers.one.close();
    std::vector<std::byte> in(100);
    const std::string text = failure_of([&] { peers.rank0->recv(1, in); });
    CHECK(contains(text, "PeerLost(3): rank 2 reports: rank 3 is gone!!!"));
    CHECK(std::ranges::count(text, '!') < 4096);
}

TEST_CASE("a message that arrives one byte at a time is received correctly") {
    FakePeers peers;
    MessageHeader header;
    header.payload_bytes = 10;
    std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
    bytes += "0123456789";
    std::thread sender([&] {
        for (const char byte : bytes) {
            FakePeers::send(peers.one, std::string(1, byte));
            std::this_thread::yield();
        }
    });
    std::string in(10, '?');
    const std::string text =
        failure_of([&] { peers.rank0->recv(1, std::as_writable_bytes(std::span(in))); });
    sender.join();
    CHECK(text == "");
    CHECK(in == "0123456789");
}

TEST_CASE("halfway to its deadline a rank logs once which rank it waits for") {
    const std::string kind = GENERATE("threads", "tcp", "shm");
    CAPTURE(kind);
    std::vector<std::string> texts;
    const std::string output = mini::test::warnings_of([&] {
        texts = outcome(kind, {reduce(3), [](ProcessGroup&) {}}, milliseconds(200));
    });
    CHECK(contains(texts[0], "Timeout"));
    const std::string warning = "waiting for rank 1 in all_reduce #0";
    CHECK(contains(output, warning));
    CHECK(output.find(warning) == output.rfind(warning));
    CHECK(contains(output, "the deadline is 0.2 s"));
}
