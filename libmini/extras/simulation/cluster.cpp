#include "libmini/extras/simulation/cluster.hpp"

#include <algorithm>
#include <memory>

#include "libmini/core/error.hpp"

namespace mini::dist {
namespace {

// The maximum number of waiting ranks that an error lists.
constexpr size_t kMostListed = 8;

using Transports = std::vector<std::unique_ptr<SimulatedTransport>>;

[[noreturn]] void throw_deadlock(const std::vector<std::string>& waits, VirtualTime now,
                                 uint64_t seed) {
    std::string list;
    for (size_t i = 0; i < std::min(waits.size(), kMostListed); ++i)
        list += concat(i == 0 ? "" : ", ", waits[i]);
    if (waits.size() > kMostListed)
        list += concat(", and ", waits.size() - kMostListed, " more ranks wait");
    throw Error("deadlock after ", static_cast<double>(now.count()) / 1e6,
                " us of virtual time (seed ", seed, "): ", list);
}

}  // namespace

SimulatedTransport::SimulatedTransport(Scheduler& scheduler, Network& network, int rank,
                                       int world_size)
    : scheduler_(scheduler), network_(network), rank_(rank), world_size_(world_size) {}

void SimulatedTransport::check_peer(int peer) const {
    MINI_CHECK(peer >= 0 && peer < world_size_ && peer != rank_, "rank ", rank_, " of ",
               world_size_, " cannot send to, or receive from, rank ", peer);
}

void SimulatedTransport::finish_send(int to) {
    sends_to_ = to;
    while (network_.between(rank_, to).queued_messages() > 0) scheduler_.wait();
    sends_to_ = kNone;
}

void SimulatedTransport::send_recv(int to, std::span<const std::byte> out, int from,
                                   std::span<std::byte> in, const Combine& combine) {
    check_peer(to);
    network_.send(network_.between(rank_, to), out);
    recv(from, in, combine);
    finish_send(to);
}

void SimulatedTransport::send(int to, std::span<const std::byte> out) {
    check_peer(to);
    network_.send(network_.between(rank_, to), out);
    finish_send(to);
}

void SimulatedTransport::recv(int from, std::span<std::byte> in, const Combine& combine) {
    check_peer(from);
    OneWay& way = network_.between(from, rank_);
    receives_from_ = from;
    while (way.arrived() == nullptr) scheduler_.wait();
    receives_from_ = kNone;

    const SimulatedMessage& message = *way.arrived();
    MINI_CHECK(message.bytes == in.size(), "rank ", from, " sent ", message.bytes,
               " bytes where rank ", rank_, " expects ", in.size());
    if (network_.has_payload()) {
        if (combine)
            combine.apply(in.data(), message.payload.data(),
                          in.size() / combine.element_bytes);
        else
            std::ranges::copy(message.payload, in.begin());
    }
    network_.pop(way);
}

std::string SimulatedTransport::waits_for() const {
    if (receives_from_ != kNone)
        return concat("rank ", rank_, " receives from rank ", receives_from_);
    return concat("rank ", rank_, " sends to rank ", sends_to_);
}

ClusterReport run_cluster(const ClusterOptions& options,
                          const std::function<void(SimulatedTransport&)>& body) {
    const int P = options.world_size;
    if (P < 1) throw UsageError("the world size is ", P, "; it must be 1 or more");
    Scheduler scheduler(options.seed);
    Network network(scheduler, options.links, P, options.has_payload);

    ClusterReport report;
    report.end.resize(static_cast<size_t>(P));
    std::vector<char> returned(static_cast<size_t>(P));
    Transports transports;
    for (int rank = 0; rank < P; ++rank) {
        transports.push_back(
            std::make_unique<SimulatedTransport>(scheduler, network, rank, P));
        scheduler.add([&, rank] {
            const auto r = static_cast<size_t>(rank);
            body(*transports[r]);
            report.end[r] = scheduler.now();
            returned[r] = true;
        });
    }

    if (!scheduler.run()) {
        std::vector<std::string> waits;
        for (size_t r = 0; r < transports.size(); ++r)
            if (!returned[r]) waits.push_back(transports[r]->waits_for());
        scheduler.unwind();
        throw_deadlock(waits, scheduler.now(), options.seed);
    }
    report.time = *std::ranges::max_element(report.end);
    for (int rank = 0; rank < P; ++rank) report.sent.push_back(network.traffic(rank));
    report.messages_left = network.messages_left();
    return report;
}

}  // namespace mini::dist
