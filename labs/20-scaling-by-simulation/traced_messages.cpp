#include "labs/20-scaling-by-simulation/traced_messages.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <span>
#include <utility>

#include "libmini/core/error.hpp"
#include "libmini/distributed/backends/transport_backend.hpp"
#include "libmini/extras/simulation/cluster.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::lab20 {
namespace {

constexpr const char* kLink = "1000Gbit,10us";  // sending a few bytes takes no time
constexpr std::chrono::microseconds kDelay{10};

// One rank's transport, which also notes each message that the rank receives.
class TracingTransport : public dist::Transport {
  public:
    TracingTransport(dist::SimulatedTransport& transport, std::span<const float> data,
                     std::vector<TracedMessage>& messages)
        : transport_(transport), data_(data), messages_(messages) {}

    int rank() const override { return transport_.rank(); }
    int world_size() const override { return transport_.world_size(); }
    void send(int to, std::span<const std::byte> out) override {
        transport_.send(to, out);
    }
    void recv(int from, std::span<std::byte> in, const dist::Combine& combine) override {
        transport_.recv(from, in, combine);
        note(from, in, static_cast<bool>(combine));
    }
    void send_recv(int to, std::span<const std::byte> out, int from,
                   std::span<std::byte> in, const dist::Combine& combine) override {
        transport_.send_recv(to, out, from, in, combine);
        note(from, in, static_cast<bool>(combine));
    }

  private:
    void note(int from, std::span<const std::byte> in, bool combines) {
        const auto all = std::as_bytes(data_);
        MINI_CHECK(
            in.data() >= all.data() && in.data() + in.size() <= all.data() + all.size(),
            "the algorithm receives outside its buffer");
        const std::span<const float> received =
            data_.subspan(static_cast<size_t>(in.data() - all.data()) / sizeof(float),
                          in.size() / sizeof(float));
        messages_.push_back(
            {.step = static_cast<int>(
                 std::lround(dist::seconds_of(transport_.now()) /
                             std::chrono::duration<double>(kDelay).count())),
             .from = from,
             .to = rank(),
             .first = static_cast<size_t>(received.data() - data_.data()),
             .combines = combines,
             .sums = std::vector<uint32_t>(received.begin(), received.end())});
    }

    dist::SimulatedTransport& transport_;
    std::span<const float> data_;
    std::vector<TracedMessage>& messages_;
};

}  // namespace

std::vector<TracedMessage> trace_all_reduce(dist::Algorithm algorithm, int world_size,
                                            size_t elements) {
    const dist::ClusterOptions cluster{.world_size = world_size,
                                       .links = dist::parse_links(kLink)};
    const auto hosts = dist::hosts_of(cluster.links, world_size);
    std::vector<TracedMessage> messages;
    dist::run_cluster(cluster, [&](dist::SimulatedTransport& transport) {
        Tensor data = Tensor::full({static_cast<int64_t>(elements)},
                                   std::ldexp(1.0F, transport.rank()));
        TracingTransport tracing(transport, {data.data<float>(), elements}, messages);
        const dist::Call call{.operation = dist::Operation::kAllReduce,
                              .outputs = {data},
                              .algorithm = algorithm};
        dist::run_over(tracing, call, hosts);
    });
    std::erase_if(messages, [](const TracedMessage& m) { return m.sums.empty(); });
    std::ranges::stable_sort(messages, {}, [](const TracedMessage& message) {
        return std::pair(message.step, message.to);
    });
    return messages;
}

}  // namespace mini::lab20
