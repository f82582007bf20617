#include "libmini/extras/scaling/simulate_messages.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>

#include "libmini/core/error.hpp"
#include "libmini/distributed/backends/transport_backend.hpp"
#include "libmini/extras/scaling/simulate.hpp"
#include "libmini/extras/simulation/cluster.hpp"
#include "libmini/program/command_line.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::scaling {
namespace {

constexpr const char* kLink = "1000Gbit,10us";  // sending a few bytes takes no time
constexpr std::chrono::microseconds kDelay{10};
constexpr int kMaxElements = 64;

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
            "mini simulate messages: the algorithm receives outside its buffer");
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

// Returns the ranks in a sum: {0, 2} for binary 101.
std::vector<int> ranks_in(uint32_t sum) {
    std::vector<int> ranks;
    for (int rank = 0; rank < kMaxTracedRanks; ++rank)
        if ((sum >> rank & 1) != 0) ranks.push_back(rank);
    return ranks;
}

struct MessagesOptions {
    std::string algorithm = "ring";
    int ranks = 4;
    int elements = 0;  // 0: one per rank
    std::string format = "table";
};

void print_table(const std::vector<TracedMessage>& messages) {
    fmt::print("{:>4}{:>7}{:>7}{:>11}   {}\n", "step", "from", "to", "elements",
               "sum of ranks");
    for (const TracedMessage& message : messages)
        for (size_t i = 0; i < message.sums.size(); ++i)
            fmt::print("{:>4}{:>7}{:>7}{:>11}   {}\n", message.step, message.from,
                       message.to, message.first + i,
                       fmt::join(ranks_in(message.sums[i]), ", "));
}

void run(const MessagesOptions& options) {
    const int elements = options.elements == 0 ? options.ranks : options.elements;
    const std::vector<TracedMessage> messages =
        trace_all_reduce(dist::parse_algorithm(options.algorithm), options.ranks,
                         static_cast<size_t>(elements));
    const int steps = messages.empty() ? 0 : messages.back().step;
    if (options.format == "table") {
        fmt::print(
            "# all-reduce by {} of {} elements on {} ranks: {} messages in {} steps\n",
            options.algorithm, elements, options.ranks, messages.size(), steps);
        print_table(messages);
        return;
    }
    nlohmann::json rows = nlohmann::json::array();
    for (const TracedMessage& message : messages)
        rows.push_back({{"step", message.step},
                        {"from", message.from},
                        {"to", message.to},
                        {"first", message.first},
                        {"combines", message.combines},
                        {"sums", message.sums}});
    fmt::print("{}\n", nlohmann::json{{"algorithm", options.algorithm},
                                      {"ranks", options.ranks},
                                      {"elements", elements},
                                      {"steps", steps},
                                      {"messages", rows}}
                           .dump());
}

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

void add_simulate_messages(Command& simulate) {
    Command messages = simulate.add_command(
        "messages", "Every message of one all-reduce, and whose numbers it sums");
    const auto options = std::make_shared<MessagesOptions>();
    MessagesOptions& o = *options;
    messages.add("--ranks", o.ranks, "How many (4)").range(1, kMaxTracedRanks);
    messages.add("--elements", o.elements, "Per rank; 0: as many as ranks")
        .range(0, kMaxElements);
    messages.add("--algorithm", o.algorithm, "naive, tree, ring or halving-doubling")
        .one_of({"naive", "tree", "ring", "halving-doubling"});
    messages.add("--format", o.format, "table or json").one_of({"table", "json"});
    messages.on_parsed([options] { run(*options); });
}

}  // namespace mini::scaling
