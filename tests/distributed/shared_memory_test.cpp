// The all-reduce in shared memory: the same bits as the ring and recursive doubling, and
// the faults of a rank while slots are with other ranks.

#include "libmini/distributed/collectives/shared_memory_all_reduce.hpp"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <random>
#include <string>
#include <vector>

#include "libmini/tensor/ops.hpp"
#include "tests/distributed/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitizers.hpp"

using namespace mini;
using namespace mini::dist;
using namespace mini::dist::test;

namespace {

constexpr DType kTypes[] = {DType::kFloat32, DType::kFloat16, DType::kBFloat16,
                            DType::kInt64, DType::kUInt8};
constexpr ReduceOp kOps[] = {ReduceOp::kSum, ReduceOp::kAvg, ReduceOp::kProduct,
                             ReduceOp::kMin, ReduceOp::kMax};

// Numbers of very different sizes and both signs, so that a sum in another order has
// other bits. No NaN: which of two NaNs remains may depend on the compiler.
Tensor inputs(int rank, int64_t n, DType dtype) {
    std::mt19937 random(static_cast<unsigned>(rank));
    std::vector<float> values;
    for (int64_t i = 0; i < n; ++i) {
        const float size = static_cast<float>(1u << random() % 20) / 64.0f;
        const float value = size * static_cast<float>(random() % 1000) / 999.0f;
        values.push_back(random() % 2 || dtype == DType::kUInt8 ? value : -value);
    }
    return ops::to(Tensor::from(values), dtype);
}

std::vector<std::byte> bytes_of(const Tensor& tensor) {
    return {tensor.raw_data(), tensor.raw_data() + tensor.bytes()};
}

// Compares the results of both algorithms on one rank, for each dtype and op.
void compare_bits(ProcessGroup& group, size_t bytes) {
    const Algorithm other =
        bytes <= kSmallSharedBytes ? Algorithm::kRecursiveDoubling : Algorithm::kRing;
    for (const DType dtype : kTypes) {
        const auto n = static_cast<int64_t>(bytes / item_size(dtype));
        const Tensor mine = inputs(group.rank(), n, dtype);
        for (const ReduceOp op : kOps) {
            if (op == ReduceOp::kAvg && !is_floating_point(dtype)) continue;
            const bool overflows = op == ReduceOp::kProduct && dtype == DType::kInt64;
            if (overflows) continue;
            const Tensor ours = ops::clone(mine), theirs = ops::clone(mine);
            group.all_reduce(ours, op, Algorithm::kSharedMemory);
            group.all_reduce(theirs, op, other);
            MINI_CHECK(bytes_of(ours) == bytes_of(theirs), reduce_op_name(op), " of ", n,
                       " ", dtype, " has other bits than ", algorithm_name(other));
        }
    }
}

void require_all_succeed(const std::vector<std::exception_ptr>& failures) {
    for (const auto& failure : failures) REQUIRE(text_of(failure) == "");
}

}  // namespace

TEST_CASE("an all-reduce in shared memory has the bits of the ring, or doubling") {
    const std::string kind = GENERATE("threads", "shm");
    const int world_size =
        mini::test::kWatchesThreads ? GENERATE(2, 3) : GENERATE(1, 2, 3, 4, 7);
    const auto groups = make_groups(kind, world_size);
    require_all_succeed(on_ranks(world_size, [&](int rank) {
        for (const size_t bytes : {0, 1000, 16 << 10, (16 << 10) + 8, 100'000})
            compare_bits(*groups[static_cast<size_t>(rank)], bytes);
    }));
}

TEST_CASE("ranks that share memory reduce in it, and other ranks reject the algorithm") {
    const std::string kind = GENERATE("threads", "shm", "tcp");
    const bool shares_memory = kind != "tcp";
    const auto groups = make_groups(kind, 2);
    const auto failures = on_ranks(2, [&](int rank) {
        ProcessGroup& group = *groups[static_cast<size_t>(rank)];
        group.all_reduce(Tensor::ones({5}));
        group.all_reduce(Tensor::ones({5000}));
        const auto ran = group.events().snapshot(EventKind::kAlgorithm);
        const std::string small = ran[0].name, large = ran[1].name;
        MINI_CHECK(small == "recursive-doubling", "20 bytes: it ran ", small);
        MINI_CHECK((large == "shared-memory") == shares_memory, "it ran ", large);
        group.all_reduce(Tensor::ones({5}), ReduceOp::kSum, Algorithm::kSharedMemory);
    });
    for (const auto& failure : failures) {
        CHECK(contains(text_of(failure), "ranks that share memory") == !shares_memory);
        CHECK((failure == nullptr) == shares_memory);
    }
}

TEST_CASE("two groups of the same ranks reduce in shared memory at the same time") {
    const std::string kind = GENERATE("threads", "shm");
    constexpr int kRanks = 3, kCalls = 30;
    const auto first = make_groups(kind, kRanks), second = make_groups(kind, kRanks);
    require_all_succeed(on_ranks(2 * kRanks, [&](int thread) {
        const auto rank = static_cast<size_t>(thread / 2);
        ProcessGroup& group = *(thread % 2 ? second : first)[rank];
        for (int call = 0; call < kCalls; ++call) {
            const int64_t n = call % 2 ? 30'000 : 30;
            Tensor x = Tensor::full({n}, thread % 2 + 1);
            group.all_reduce(x);
            const std::vector<float> sum(static_cast<size_t>(n),
                                         static_cast<float>(kRanks * (thread % 2 + 1)));
            MINI_CHECK(x.to_vector<float>() == sum, "call ", call, " is wrong");
        }
    }));
}

TEST_CASE("messages that no rank receives yet do not stop an all-reduce") {
    const std::string kind = GENERATE("threads", "shm");
    const auto groups = make_groups(kind, 2);
    require_all_succeed(on_ranks(2, [&](int rank) {
        ProcessGroup& group = *groups[static_cast<size_t>(rank)];
        Tensor x = Tensor::ones({1 << 20});
        if (rank == 0) {
            group.all_reduce(x);
            group.recv(x, 1);
        } else {
            const auto sent = group.send_async(x, 0);  // larger than a ring
            group.all_reduce(Tensor::ones({1 << 20}));
            sent->wait();
        }
        MINI_CHECK(x.to_vector<float>()[7] == 1, "the message is wrong");
    }));
}

TEST_CASE("a rank that leaves while it has slots is a PeerLost on every other rank") {
    const std::string kind = GENERATE("threads", "shm");
    const bool has_returned = GENERATE(false, true);
    CAPTURE(kind, has_returned);
    auto transports = make_transports(kind, 3);
    constexpr int64_t n = 72'000;
    constexpr Collective kCollective{.operation = Operation::kAllReduce, .count = n};
    const auto failures = on_ranks(3, [&](int rank) {
        GroupTransport& transport = *transports[static_cast<size_t>(rank)];
        SlotTransport& slots = *transport.slots();
        transport.begin(kCollective, kLong);
        try {
            if (rank == 2) {                  // serves rank 0 only, or none
                const size_t bytes = 32'000;  // a third of a chunk of 24,000 floats
                for (const int other : {0, 1}) slots.send_place(other, {});
                for (const int other : {0, 1}) slots.recv_place(other);
                for (const int other : {0, 1}) slots.return_slot(other, 0);
                if (has_returned) slots.recv_slot(0, bytes);
                if (has_returned) slots.return_slot(0, bytes);
                throw Error("rank 2 has a fault");
            }
            const Tensor x = Tensor::ones({n});
            shared_memory_all_reduce(slots, Elements(x), ReduceOp::kSum);
        } catch (...) {
            transport.leave(current_failure());
            throw;
        }
    });
    for (const int rank : {0, 1})
        CHECK(contains(text_of(failures[static_cast<size_t>(rank)]),
                       "PeerLost(2): rank 2 failed: rank 2 has a fault"));
}

TEST_CASE("a slot that a rank returned before it left is still read") {
    const std::string kind = GENERATE("threads", "shm");
    auto transports = make_transports(kind, 2);
    for (auto& transport : transports) transport->begin({}, kLong);
    SlotTransport& filler = *transports[0]->slots();
    SlotTransport& worker = *transports[1]->slots();
    filler.start_slot(1)[0] = std::byte{1};
    filler.send_slot(1, 1);
    worker.recv_slot(0, 1)[0] = std::byte{2};
    worker.return_slot(0, 1);
    transports[1]->leave({Failure::Kind::kOther, 1, "it has left"});
    transports[0]->poll();
    REQUIRE(filler.take_slot(1, 1)[0] == std::byte{2});

    filler.start_slot(1);
    filler.send_slot(1, 1);
    CHECK(contains(failure_of([&] { filler.take_slot(1, 1); }), "it has left"));
}

TEST_CASE("a slot of another collective or of another size is an error") {
    auto transports = make_transports("threads", 2);
    SlotTransport& filler = *transports[0]->slots();
    SlotTransport& worker = *transports[1]->slots();
    transports[0]->begin({.operation = Operation::kAllReduce, .count = 2}, kLong);
    transports[1]->begin({.operation = Operation::kAllReduce, .count = 3}, kLong);
    filler.start_slot(1);
    filler.send_slot(1, 8);
    CHECK(contains(failure_of([&] { worker.recv_slot(0, 12); }),
                   "MismatchedCollective: mismatched collectives: rank 1 runs"));
    transports[1]->begin({.operation = Operation::kAllReduce, .count = 2}, kLong);
    CHECK(contains(failure_of([&] { worker.recv_slot(0, 12); }),
                   "rank 0 put 8 bytes in a slot where rank 1 expects 12"));
}
