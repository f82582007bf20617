// A bug hunt: four ranks fit a line by gradient descent, and stop when the loss no longer
// falls. On one rank the program works.
//
//     lab11_bug_hunt
//
// Exit codes: 0 if all ranks stop after the same number of steps with bitwise identical
// lines, and each rank sends fewer than 2 buffers per step; else 1.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/distributed/transport/links.hpp"
#include "libmini/extras/simulation/cluster.hpp"

using namespace mini::dist;

namespace {

constexpr int kRanks = 4;
constexpr int kPoints = 40;  // on each rank
constexpr float kRate = 0.1f;

struct Fitted {
    float slope = 0, offset = 0, loss = 0;
    int steps = 0;
};

// Adds the data of all ranks; all of it goes around a ring.
void all_reduce(Transport& transport, std::span<float> data) {
    const int P = transport.world_size(), rank = transport.rank();
    std::vector<float> outgoing(data.begin(), data.end()), incoming(data.size());
    for (int step = 0; step < P - 1; ++step) {
        transport.send_recv((rank + 1) % P, std::as_bytes(std::span(outgoing)),
                            (rank + P - 1) % P,
                            std::as_writable_bytes(std::span(incoming)));
        for (size_t i = 0; i < data.size(); ++i) data[i] += incoming[i];
        std::swap(outgoing, incoming);
    }
}

// Adds the loss of this rank's points and the loss's two derivatives to `sums`.
void add_up(int rank, const Fitted& line, std::span<float> sums) {
    for (int i = 0; i < kPoints; ++i) {
        const float x = std::sin(static_cast<float>(rank * kPoints + i) * 1.3f);
        const float noise =
            0.1f * std::cos(static_cast<float>(rank * kPoints + i) * 7.7f);
        const float error = line.slope * x + line.offset - (2 * x + 1 + noise);
        sums[0] += error * error;
        sums[1] += 2 * error * x;
        sums[2] += 2 * error;
    }
}

Fitted fit(Transport& transport) {
    const float points = static_cast<float>(kPoints * transport.world_size());
    Fitted line;
    line.loss = std::numeric_limits<float>::max();
    for (;;) {
        std::vector<float> sums(3);  // the loss, and its derivatives
        add_up(transport.rank(), line, sums);
        all_reduce(transport, sums);
        if (sums[0] >= line.loss) return line;
        line.loss = sums[0];
        line.slope -= kRate * sums[1] / points;
        line.offset -= kRate * sums[2] / points;
        ++line.steps;
    }
}

void print(int rank, const Fitted& line) {
    std::cout << fmt::format("rank {}   {} steps   loss {:.9g}   y = {:.9g} x + {:.9g}\n",
                             rank, line.steps, line.loss, line.slope, line.offset);
}

// Returns what is wrong with the results of the ranks, or "" if they are right.
std::string complaint_about(const std::vector<Fitted>& lines,
                            const ClusterReport& report) {
    for (const Fitted& line : lines)
        if (line.steps != lines[0].steps || line.slope != lines[0].slope ||
            line.offset != lines[0].offset)
            return "the ranks are not what they should be: they differ";
    // There is one all-reduce more than steps: the last one only ends the loop.
    const int64_t most = 2 * int64_t{3 * sizeof(float)} * (lines[0].steps + 1);
    for (const Traffic& sent : report.sent)
        if (sent.bytes >= most)
            return "the ranks agree, but a rank sent two buffers a step, or more";
    return "";
}

}  // namespace

int main() try {
    const Links links = parse_links("10Gbit,10us");
    run_cluster({.world_size = 1, .links = links},
                [](Transport& transport) { print(transport.rank(), fit(transport)); });
    std::cout << "and now on four ranks\n";
    std::vector<Fitted> lines(kRanks);
    const auto on_a_rank = [&](Transport& transport) {
        Fitted& line = lines[static_cast<size_t>(transport.rank())];
        line = fit(transport);
        print(transport.rank(), line);
    };
    const auto report = run_cluster({.world_size = kRanks, .links = links}, on_a_rank);
    const std::string complaint = complaint_about(lines, report);
    std::cout << (complaint.empty() ? "all ranks agree" : complaint) << '\n';
    return complaint.empty() ? 0 : 1;
} catch (const mini::Error& error) {
    std::cout << "the ranks are not what they should be: " << error.what() << '\n';
    return 1;
}
