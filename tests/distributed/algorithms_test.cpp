// What the collective algorithms promise beyond the values, bits and bytes that
// dist_suite checks.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "libmini/distributed/collectives/collectives.hpp"
#include "libmini/distributed/collectives/reduce.hpp"
#include "tests/distributed/require_none.hpp"
#include "tests/distributed/support.hpp"
#include "tests/support/catch.hpp"

using namespace mini;
using namespace mini::dist;
using namespace mini::dist::test;

namespace {

// Runs body(transport) on every rank within one collective; requires that no rank throws.
void run_on(const std::string& kind, int world_size,
            const std::function<void(Transport&)>& body) {
    auto transports = make_transports(kind, world_size);
    require_none(on_ranks(world_size, [&](int rank) {
        GroupTransport& transport = *transports[static_cast<size_t>(rank)];
        transport.begin({}, kLong);
        try {
            body(transport);
        } catch (...) {
            transport.leave(current_failure());  // so that no other rank waits
            throw;
        }
    }));
}

template <typename T>
T combined(T mine, T theirs, DType dtype, ReduceOp op) {
    combine_for(dtype, op).apply(reinterpret_cast<std::byte*>(&mine),
                                 reinterpret_cast<const std::byte*>(&theirs), 1);
    return mine;
}

}  // namespace

TEST_CASE("an average is one division of the sum and not a sum of rounded quotients") {
    // 3 * 0.1f rounded, then divided, differs from adding 0.1f / 3 three times.
    std::vector<std::vector<float>> data(3, std::vector<float>(4, 0.1f));
    run_on("threads", 3, [&](Transport& transport) {
        ring_all_reduce(transport,
                        Elements(std::span(data[static_cast<size_t>(transport.rank())])),
                        ReduceOp::kAvg);
    });
    const float sum = 0.1f + 0.1f + 0.1f;
    for (const auto& values : data)
        for (const float value : values) REQUIRE(value == sum / 3.0f);
}

TEST_CASE(
    "no rank leaves the dissemination barrier before the last rank has entered it") {
    const std::string kind = GENERATE("threads", "tcp", "shm");
    const int world_size = GENERATE(1, 2, 3, 4, 7);
    constexpr int kRounds = 20;
    std::atomic<int> entered = 0;
    std::atomic<int> early = 0;
    run_on(kind, world_size, [&](Transport& transport) {
        for (int round = 1; round <= kRounds; ++round) {
            ++entered;
            dissemination_barrier(transport);
            if (entered < round * world_size) ++early;
        }
    });
    REQUIRE(early == 0);
}

TEST_CASE("sums and products of int64 wrap around") {
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max(), kLeast = -kMost - 1;
    const auto of = [](int64_t mine, int64_t theirs, ReduceOp op) {
        return combined(mine, theirs, DType::kInt64, op);
    };
    CHECK(of(kMost, 1, ReduceOp::kSum) == kLeast);
    CHECK(of(kLeast, -1, ReduceOp::kSum) == kMost);
    CHECK(of(kMost, 2, ReduceOp::kProduct) == -2);
    CHECK(of(kLeast, -1, ReduceOp::kProduct) == kLeast);
    CHECK(of(-3, 5, ReduceOp::kProduct) == -15);
}

TEST_CASE("kMin and kMax of two NaN have the same bits on both ranks") {
    constexpr uint32_t kOne = 0x7fc12345u, kOther = 0xffc54321u;
    for (const ReduceOp op : {ReduceOp::kMin, ReduceOp::kMax})
        CHECK(combined(kOne, kOther, DType::kFloat32, op) ==
              combined(kOther, kOne, DType::kFloat32, op));
}
