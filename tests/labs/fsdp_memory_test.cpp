// fsdp_memory under minirun counts what lab 21 teaches: FSDP keeps 1/P of everything, and
// sends half as much again as DDP.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/labs/program_job.hpp"

using namespace mini::test;

namespace {

struct WayCounts {
    int64_t parameters = 0, kept = 0, peak = 0, sent = 0;  // of the rank with the most
};

WayCounts count_way(int ranks, const std::string& way) {
    const auto json = parse_output(
        run_ranks(ranks, "fsdp_memory",
                  {"--way", way, "--layers", "4", "--features", "64", "--steps", "3"}));
    const auto most = [&](const char* name) {
        return std::ranges::max(json.at(name).get<std::vector<int64_t>>());
    };
    CHECK(json.at("ms").get<double>() > 0);
    CHECK(most("resident") > most("peak"));
    return {json.at("parameters").get<int64_t>(), most("kept"), most("peak"),
            most("sent")};
}

// Shards are rounded up to multiples of the ranks and of 64 bytes; Adam keeps counters.
bool is_near(int64_t bytes, double expected) {
    return static_cast<double>(bytes) > 0.98 * expected &&
           static_cast<double>(bytes) < 1.02 * expected;
}

}  // namespace

TEST_CASE("each way keeps and sends what the formulas of the paper say") {
    for (const int ranks : {1, 2, 4}) {
        CAPTURE(ranks);
        const WayCounts ddp = count_way(ranks, "ddp"), zero = count_way(ranks, "zero1"),
                        fsdp = count_way(ranks, "fsdp");
        const auto n = static_cast<double>(ddp.parameters);
        CHECK(is_near(ddp.kept, 4 * n));
        CHECK(is_near(fsdp.kept, 4 * n / ranks));
        CHECK(is_near(fsdp.sent, 3 * n * (ranks - 1) / ranks) == (ranks > 1));
        CHECK(is_near(ddp.sent, 2 * n * (ranks - 1) / ranks) == (ranks > 1));
        if (ranks > 1) CHECK(fsdp.peak < zero.peak);
        if (ranks > 1) CHECK(zero.peak < ddp.peak);
    }
}
