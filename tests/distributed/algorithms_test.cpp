// The collective algorithms over each transport: results, bitwise equality and bytes
// sent, at odd world sizes and tensor sizes.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "libmini/distributed/collectives/dissemination_barrier.hpp"
#include "libmini/distributed/collectives/reduce.hpp"
#include "libmini/distributed/collectives/ring_all_gather.hpp"
#include "libmini/distributed/collectives/ring_all_reduce.hpp"
#include "libmini/distributed/collectives/tree_broadcast.hpp"
#include "tests/distributed/support.hpp"
#include "tests/support/catch.hpp"

using namespace mini;
using namespace mini::dist;
using namespace mini::dist::test;

namespace {

// Runs body(transport) on every rank within one collective; requires that no rank throws.
// Returns the number of bytes that each rank sent.
std::vector<uint64_t> run_on(const std::string& kind, int world_size,
                             const std::function<void(Transport&)>& body) {
    auto transports = make_transports(kind, world_size);
    const auto failures = on_ranks(world_size, [&](int rank) {
        GroupTransport& transport = *transports[static_cast<size_t>(rank)];
        transport.begin({}, kLong);
        try {
            body(transport);
        } catch (...) {
            transport.leave(current_failure());  // so that no other rank waits
            throw;
        }
    });
    std::vector<uint64_t> sent;
    for (int rank = 0; rank < world_size; ++rank) {
        INFO("rank " << rank << ": " << text_of(failures[static_cast<size_t>(rank)]));
        REQUIRE(failures[static_cast<size_t>(rank)] == nullptr);
        sent.push_back(transports[static_cast<size_t>(rank)]->bytes_sent());
    }
    return sent;
}

// Returns each rank's data: small integers, so that float sums are exact.
template <typename T>
std::vector<std::vector<T>> numbers(int world_size, int n) {
    std::vector<std::vector<T>> data(static_cast<size_t>(world_size));
    for (int r = 0; r < world_size; ++r)
        for (int i = 0; i < n; ++i)
            data[static_cast<size_t>(r)].push_back(static_cast<T>((r * 7 + i) % 11 + 1));
    return data;
}

template <typename T>
std::vector<T> reduced(const std::vector<std::vector<T>>& data, ReduceOp op) {
    std::vector<T> result = data[0];
    for (size_t r = 1; r < data.size(); ++r)
        for (size_t i = 0; i < result.size(); ++i) {
            const T a = result[i], b = data[r][i];
            if (op == ReduceOp::kSum || op == ReduceOp::kAvg)
                result[i] = static_cast<T>(a + b);
            if (op == ReduceOp::kProduct) result[i] = static_cast<T>(a * b);
            if (op == ReduceOp::kMin) result[i] = std::min(a, b);
            if (op == ReduceOp::kMax) result[i] = std::max(a, b);
        }
    if (op == ReduceOp::kAvg)
        for (T& value : result)
            value = static_cast<T>(value / static_cast<T>(data.size()));
    return result;
}

template <typename T>
void check_all_reduce(const std::string& kind, int world_size, int n, ReduceOp op) {
    auto data = numbers<T>(world_size, n);
    const std::vector<T> expected = reduced(data, op);
    run_on(kind, world_size, [&](Transport& transport) {
        ring_all_reduce(transport,
                        Elements(std::span(data[static_cast<size_t>(transport.rank())])),
                        op);
    });
    for (int r = 0; r < world_size; ++r) {
        CAPTURE(r);
        REQUIRE(data[static_cast<size_t>(r)] == expected);
    }
}

}  // namespace

TEST_CASE("ring all-reduce leaves the sum over all ranks on every rank") {
    const std::string kind = GENERATE("threads", "tcp", "shm");
    const int world_size = GENERATE(1, 2, 3, 4, 7);
    const int n = GENERATE(0, 1, 5, 64, 1000);
    CAPTURE(kind, world_size, n);
    check_all_reduce<float>(kind, world_size, n, ReduceOp::kSum);
}

TEST_CASE("ring all-reduce supports every operation on every dtype") {
    const int world_size = GENERATE(1, 3);
    const ReduceOp op =
        GENERATE(ReduceOp::kSum, ReduceOp::kProduct, ReduceOp::kMin, ReduceOp::kMax);
    CAPTURE(world_size, reduce_op_name(op));
    check_all_reduce<float>("threads", world_size, 17, op);
    check_all_reduce<int64_t>("threads", world_size, 17, op);
    check_all_reduce<uint8_t>("threads", world_size, 17, op);
    check_all_reduce<float>("threads", world_size, 17, ReduceOp::kAvg);
}

TEST_CASE("ring all-reduce sums chunks that are sent in several pieces") {
    const int world_size = GENERATE(2, 3);
    check_all_reduce<float>("tcp", world_size, 2'000'003, ReduceOp::kSum);
}

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

TEST_CASE("ring all-reduce gives bitwise identical results on all ranks") {
    const std::string kind = GENERATE("threads", "tcp", "shm");
    const int world_size = GENERATE(3, 4, 7);
    std::vector<std::vector<float>> data(static_cast<size_t>(world_size));
    for (int r = 0; r < world_size; ++r)
        for (int i = 0; i < 101; ++i)
            data[static_cast<size_t>(r)].push_back(1.0f /
                                                   static_cast<float>(3 + 17 * r + i));
    run_on(kind, world_size, [&](Transport& transport) {
        ring_all_reduce(transport,
                        Elements(std::span(data[static_cast<size_t>(transport.rank())])),
                        ReduceOp::kSum);
    });
    for (const auto& values : data)
        REQUIRE(std::memcmp(values.data(), data[0].data(), 101 * sizeof(float)) == 0);
}

TEST_CASE("ring all-reduce sends exactly 2(P-1)/P of the buffer per rank") {
    const std::string kind = GENERATE("threads", "tcp", "shm");
    const int world_size = GENERATE(1, 2, 3, 4, 7);
    const int n = 84 * 5;  // a multiple of every world size here
    auto data = numbers<float>(world_size, n);
    const auto sent = run_on(kind, world_size, [&](Transport& transport) {
        ring_all_reduce(transport,
                        Elements(std::span(data[static_cast<size_t>(transport.rank())])),
                        ReduceOp::kSum);
    });
    const uint64_t expected = 2u * static_cast<unsigned>(world_size - 1) *
                              static_cast<unsigned>(n / world_size) * sizeof(float);
    for (const uint64_t bytes : sent) REQUIRE(bytes == expected);
}

TEST_CASE(
    "tree broadcast copies the root's bytes to every rank and sends them P-1 times") {
    const std::string kind = GENERATE("threads", "tcp", "shm");
    const int world_size = GENERATE(1, 2, 3, 4, 7);
    const int root = GENERATE(0, 1, 6);
    const size_t n = static_cast<size_t>(GENERATE(0, 1, 1000));
    if (root < world_size) {
        CAPTURE(kind, world_size, root, n);
        std::vector<std::vector<std::byte>> data;
        for (int r = 0; r < world_size; ++r)
            data.push_back(std::vector<std::byte>(n, static_cast<std::byte>(r + 1)));
        const auto sent = run_on(kind, world_size, [&](Transport& transport) {
            tree_broadcast(transport, data[static_cast<size_t>(transport.rank())], root);
        });
        const std::vector<std::byte> expected(n, static_cast<std::byte>(root + 1));
        uint64_t total = 0;
        for (size_t r = 0; r < data.size(); ++r) {
            REQUIRE(data[r] == expected);
            total += sent[r];
        }
        REQUIRE(total == n * static_cast<size_t>(world_size - 1));
    }
}

TEST_CASE("ring all-gather leaves every rank's block on every rank") {
    const std::string kind = GENERATE("threads", "tcp", "shm");
    const int world_size = GENERATE(1, 2, 3, 4, 7);
    const size_t n = static_cast<size_t>(GENERATE(0, 1, 5, 1000));
    CAPTURE(kind, world_size, n);
    using Blocks = std::vector<std::vector<std::byte>>;
    const auto ranks = static_cast<size_t>(world_size);
    std::vector<Blocks> gathered(ranks, Blocks(ranks, std::vector<std::byte>(n)));
    Blocks expected;
    for (size_t r = 0; r < ranks; ++r) {
        gathered[r][r].assign(n, static_cast<std::byte>(r + 1));
        expected.push_back(gathered[r][r]);
    }
    const auto sent = run_on(kind, world_size, [&](Transport& transport) {
        std::vector<std::span<std::byte>> blocks;
        for (auto& block : gathered[static_cast<size_t>(transport.rank())])
            blocks.emplace_back(block);
        ring_all_gather(transport, blocks);
    });
    for (size_t r = 0; r < ranks; ++r) {
        REQUIRE(gathered[r] == expected);
        REQUIRE(sent[r] == n * (ranks - 1));
    }
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
    const auto combined = [](int64_t mine, int64_t theirs, ReduceOp op) {
        combine_for(DType::kInt64, op)
            .apply(reinterpret_cast<std::byte*>(&mine),
                   reinterpret_cast<const std::byte*>(&theirs), 1);
        return mine;
    };
    CHECK(combined(kMost, 1, ReduceOp::kSum) == kLeast);
    CHECK(combined(kLeast, -1, ReduceOp::kSum) == kMost);
    CHECK(combined(kMost, 2, ReduceOp::kProduct) == -2);
    CHECK(combined(kLeast, -1, ReduceOp::kProduct) == kLeast);
    CHECK(combined(-3, 5, ReduceOp::kProduct) == -15);
}

TEST_CASE("kMin and kMax of two NaN have the same bits on both ranks") {
    const auto combined = [](uint32_t mine, uint32_t theirs, ReduceOp op) {
        combine_for(DType::kFloat32, op)
            .apply(reinterpret_cast<std::byte*>(&mine),
                   reinterpret_cast<const std::byte*>(&theirs), 1);
        return mine;
    };
    for (const ReduceOp op : {ReduceOp::kMin, ReduceOp::kMax})
        CHECK(combined(0x7fc12345u, 0xffc54321u, op) ==
              combined(0xffc54321u, 0x7fc12345u, op));
}
