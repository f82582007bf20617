// The simulated network and the emulated links of real processes take the same times.
// Both send the same messages; the emulated links use a clock that jumps to the next
// event.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "libmini/distributed/transport/emulated_link.hpp"
#include "libmini/distributed/transport/socket_channel.hpp"
#include "libmini/extras/simulation/cluster.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/set_time.hpp"
#include "tests/support/socket_pair.hpp"

namespace mini::dist {
namespace {

using std::chrono::nanoseconds;

constexpr const char* kLinkText = "80Mbit,5ms";

// The path of one message: the two ends of a link, and the bytes left to send and to
// receive.
struct EmulatedPath {
    std::unique_ptr<EmulatedLink> from, to;
    size_t unsent = 0, missing = 0;
};

// Emulated links from each of `senders` ranks to each of `receivers` ranks. run() sends a
// message of `bytes` over each link; returns when the last message has arrived.
class EmulatedNetwork {
  public:
    EmulatedNetwork(int senders, int receivers, size_t bytes) {
        std::vector<std::shared_ptr<RankPorts>> out, in;
        for (int i = 0; i < senders; ++i) out.push_back(std::make_shared<RankPorts>());
        for (int i = 0; i < receivers; ++i) in.push_back(std::make_shared<RankPorts>());
        for (const auto& sender : out)
            for (const auto& receiver : in) {
                auto [one, other] = test::socket_pair();
                ways_.push_back({end_of(std::move(one), sender),
                                 end_of(std::move(other), receiver), bytes, bytes});
            }
    }

    nanoseconds run() {
        while (std::ranges::any_of(
            ways_, [](const EmulatedPath& way) { return way.missing > 0; }))
            if (!move_some()) clock_.time = std::max(clock_.time, next_event());
        return clock_.time - beginning_;
    }

  private:
    static std::unique_ptr<EmulatedLink> end_of(Socket socket,
                                                const std::shared_ptr<RankPorts>& ports) {
        return std::make_unique<EmulatedLink>(
            std::make_unique<SocketChannel>(std::move(socket)),
            parse_links(kLinkText).network, ports);
    }

    bool move_some() {
        bool moved = false;
        for (EmulatedPath& way : ways_) {
            const auto buffer = std::span(buffer_);
            const size_t sent = way.from->send_some(
                {}, buffer.first(std::min(buffer.size(), way.unsent)));
            way.unsent -= sent;
            const size_t received =
                way.to->recv_some(buffer.first(std::min(buffer.size(), way.missing)));
            way.missing -= received;
            moved |= sent + received > 0;
        }
        return moved;
    }

    Deadline next_event() {
        Deadline next = kNever;
        short events = 0;
        for (EmulatedPath& way : ways_) {
            if (way.unsent > 0) way.from->prepare_to_sleep(Channel::kToSend, events);
            if (way.unsent > 0) next = std::min(next, way.from->next_event());
            if (way.missing > 0) way.to->prepare_to_sleep(Channel::kToReceive, events);
            if (way.missing > 0) next = std::min(next, way.to->next_event());
        }
        return next;
    }

    test::SetTime clock_;
    const Deadline beginning_ = clock_.time;
    std::vector<EmulatedPath> ways_;
    std::vector<std::byte> buffer_ = std::vector<std::byte>(64 << 10);
};

// Returns the time of the same messages on the simulated cluster. The senders are the
// first ranks.
nanoseconds simulated_time(int senders, int receivers, size_t bytes) {
    const ClusterOptions options{.world_size = senders + receivers,
                                 .links = parse_links(kLinkText)};
    const auto report = run_cluster(options, [&](Transport& transport) {
        std::vector<std::byte> data(bytes);
        const bool is_sender = transport.rank() < senders;
        for (int i = 0; is_sender && i < receivers; ++i)
            transport.send(senders + i, data);
        for (int i = 0; !is_sender && i < senders; ++i) transport.recv(i, data);
    });
    return std::chrono::duration_cast<nanoseconds>(report.time);
}

TEST_CASE("messages travel and queue equally long on emulated and on simulated links") {
    const auto [senders, receivers] = GENERATE(table<int, int>({{1, 1}, {2, 1}, {1, 3}}));
    for (const size_t bytes : {size_t{4}, size_t{16'384}, size_t{1'000'000}}) {
        CAPTURE(senders, receivers, bytes);
        CHECK(EmulatedNetwork(senders, receivers, bytes).run() ==
              simulated_time(senders, receivers, bytes));
    }
}

}  // namespace
}  // namespace mini::dist
