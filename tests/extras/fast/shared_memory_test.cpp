// The all-reduce in shared memory: the same bits as the ring, and the faults of a rank
// while others wait for it.

#include "libmini/extras/fast/shared_memory_all_reduce.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "libmini/distributed/transport/shared_all_reduce.hpp"
#include "libmini/extras/fast/shared_blocks.hpp"
#include "libmini/tensor/buffer_cache.hpp"
#include "libmini/tensor/ops.hpp"
#include "tests/distributed/require_none.hpp"
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
    values.reserve(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) {
        const auto bits = random();
        const float size = static_cast<float>(1u << bits % 20) / 64.0f;
        const float value = size * static_cast<float>((bits >> 8) % 1000) / 999.0f;
        values.push_back(bits >> 31 || dtype == DType::kUInt8 ? value : -value);
    }
    return ops::to(Tensor::from(values), dtype);
}

std::vector<std::byte> bytes_of(const Tensor& tensor) {
    return {tensor.raw_data(), tensor.raw_data() + tensor.bytes()};
}

// Returns a copy of `tensor` in memory that the other ranks can map. It does not begin where
// the memory does.
Tensor placed(const Tensor& tensor) {
    const Tensor whole = Tensor::zeros({tensor.numel() + 40'003}, tensor.dtype());
    share_memory(whole);
    Tensor part = ops::narrow(whole, 0, 3, tensor.numel());
    ops::copy_(part, tensor);
    return part;
}

// Compares the results of both algorithms on one rank, for each dtype and op. If
// `even_ranks`, the others have their data in no such memory.
void compare_bits(ProcessGroup& group, size_t bytes, bool even_ranks) {
    const bool is_placed = !even_ranks || group.rank() % 2 == 0;
    for (const DType dtype : kTypes) {
        const auto n = static_cast<int64_t>(bytes / item_size(dtype));
        const Tensor mine = inputs(group.rank(), n, dtype);
        for (const ReduceOp op : kOps) {
            if (op == ReduceOp::kAvg && !is_floating_point(dtype)) continue;
            const bool overflows = op == ReduceOp::kProduct && dtype == DType::kInt64;
            if (overflows) continue;
            const Tensor ours = is_placed ? placed(mine) : ops::clone(mine);
            const Tensor theirs = ops::clone(mine);
            group.all_reduce(ours, op, Algorithm::kSharedMemory);
            group.all_reduce(theirs, op, Algorithm::kRing);
            MINI_CHECK(bytes_of(ours) == bytes_of(theirs), reduce_op_name(op), " of ", n,
                       " ", dtype, " has other bits than the ring");
        }
    }
}

}  // namespace

TEST_CASE("an all-reduce in shared memory has the bits of the ring") {
    const std::string kind = GENERATE("threads", "shm");
    const int world_size =
        mini::test::kWatchesThreads ? GENERATE(2, 3) : GENERATE(1, 2, 3, 4, 7);
    const auto groups = make_groups(kind, world_size);
    on_each(groups, [&](ProcessGroup& group, int /*rank*/) {
        for (const size_t bytes : {0, 8, 1000, 100'000})
            compare_bits(group, bytes, false);
        compare_bits(group, 1000, true);
    });
}

TEST_CASE("ranks that share memory reduce in it, and other ranks reject the algorithm") {
    const std::string kind = GENERATE("threads", "shm", "tcp");
    const bool shares_memory = kind != "tcp";
    const auto groups = make_groups(kind, 2);
    const auto failures = on_ranks(2, [&](int rank) {
        ProcessGroup& group = *groups[static_cast<size_t>(rank)];
        group.all_reduce(Tensor::ones({5}));
        group.all_reduce(placed(Tensor::ones({5000})));
        group.all_reduce(rank == 0 ? placed(Tensor::ones({5000})) : Tensor::ones({5000}));
        const auto ran = group.events().snapshot(EventKind::kCollectiveEnd);
        const std::string small = ran[0].algorithm, large = ran[1].algorithm;
        MINI_CHECK(small == "recursive-doubling", "20 bytes: it ran ", small);
        MINI_CHECK((large == "shared-memory") == shares_memory, "it ran ", large);
        const std::string partly_placed = ran[2].algorithm;
        MINI_CHECK(partly_placed == "ring", "it ran ", partly_placed);
        if (shares_memory)  // it says where its data are, and that it has done
            MINI_CHECK(ran[1].messages == 2 && ran[1].bytes == 2 * 32 + 2 * 10'000,
                       "it sent ", ran[1].messages, " messages and ", ran[1].bytes,
                       " bytes");
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
    require_none(on_ranks(2 * kRanks, [&](int thread) {
        const auto rank = static_cast<size_t>(thread / 2);
        ProcessGroup& group = *(thread % 2 ? second : first)[rank];
        for (int call = 0; call < kCalls; ++call) {
            const int64_t n = call % 2 ? 30'000 : 30;
            Tensor x = placed(Tensor::full({n}, thread % 2 + 1));
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
    on_each(groups, [&](ProcessGroup& group, int rank) {
        Tensor x = placed(Tensor::ones({1 << 20}));
        if (rank == 0) {
            group.all_reduce(x);
            group.recv(x, 1);
        } else {
            const auto sent = group.send_async(x, 0);  // larger than a ring
            group.all_reduce(placed(Tensor::ones({1 << 20})));
            sent->wait();
        }
        MINI_CHECK(x.to_vector<float>()[7] == 1, "the message is wrong");
    });
}

TEST_CASE("a rank that leaves while others wait for its data is lost on all of them") {
    const std::string kind = GENERATE("threads", "shm");
    // Rank 2 has said where its data are, but the other ranks cannot map them any more.
    const bool has_sent = GENERATE(false, true);
    CAPTURE(kind, has_sent);
    auto transports = make_transports(kind, 3);
    constexpr int64_t n = 72'000;
    constexpr Collective kCollective{.operation = Operation::kAllReduce, .count = n};
    const auto failures = on_ranks(3, [&](int rank) {
        GroupTransport& transport = *transports[static_cast<size_t>(rank)];
        transport.begin(kCollective, kLong);
        try {
            if (rank == 2) {
                fast::BlockBytes where{::getpid(), 1 << 20, 1, n * 4, 0};
                const auto bytes = std::as_writable_bytes(std::span(&where, 1));
                for (const int other : {0, 1})
                    if (has_sent) transport.send(other, bytes);
                transport.recv(0, bytes);
                throw Error("rank 2 has a fault");
            }
            const Tensor x = Tensor::ones({n});
            share_memory(x);
            fast::shared_memory_all_reduce(transport, Elements(x), ReduceOp::kSum);
        } catch (...) {
            transport.leave(current_failure());
            throw;
        }
    });
    for (const int rank : {0, 1}) {
        // Rank 2 says it itself, or the other rank, if that one has found it first.
        const std::string text = text_of(failures[static_cast<size_t>(rank)]);
        CAPTURE(text);
        CHECK(contains(text, "PeerLost(2): "));
        CHECK(contains(text, "rank 2 failed: rank 2 has a fault"));
    }
}

TEST_CASE("ranks that reduce different numbers of elements in shared memory are told") {
    const std::string kind = GENERATE("threads", "shm");
    const auto groups = make_groups(kind, 2);
    const auto failures = on_ranks(2, [&](int rank) {
        const Tensor x = Tensor::ones({20'000 + rank});
        groups[static_cast<size_t>(rank)]->all_reduce(x);
    });
    for (const auto& failure : failures)
        CHECK(contains(text_of(failure),
                       "MismatchedCollective: mismatched collectives: rank"));
}

TEST_CASE("share_memory keeps the elements, also those that views see") {
    const Tensor x = ops::to(Tensor::from(std::vector<float>(5000, 3)), DType::kFloat32);
    const Tensor view = ops::narrow(x, 0, 10, 20);
    CHECK(!fast::find({x.raw_data(), x.bytes()}).are_in_block());
    const size_t allocated = allocated_bytes();
    share_memory(x);
    CHECK(fast::find({x.raw_data(), x.bytes()}).are_in_block());
    CHECK(allocated_bytes() == allocated);
    CHECK(view.raw_data() == x.raw_data() + 40);
    CHECK(x.to_vector<float>() == std::vector<float>(5000, 3));
    CHECK(reinterpret_cast<uintptr_t>(x.raw_data()) % 64 == 0);

    x.free_storage();
    CHECK(x.is_freed());
    CHECK(allocated_bytes() < allocated);
    x.allocate_storage();
    CHECK(!fast::find({x.raw_data(), x.bytes()}).are_in_block());

    const Tensor small = Tensor::ones({100});
    share_memory(small);
    CHECK(!fast::find({small.raw_data(), small.bytes()}).are_in_block());
}

TEST_CASE("a block is found by its bytes, and another rank may use it after the end") {
    fast::PeerBlocks peers;
    std::shared_ptr<std::byte> block = fast::allocate_block(1000), next;
    block.get()[7] = std::byte{5};
    const fast::BlockBytes where = fast::find({block.get() + 7, 900});
    const std::span<std::byte> seen = peers.at(where, 900);
    CHECK(seen.size() == 900);
    CHECK(seen[0] == std::byte{5});
    seen[1] = std::byte{6};
    CHECK(block.get()[8] == std::byte{6});
    CHECK(!fast::find({block.get() + 7, 1000}).are_in_block());
    CHECK(!fast::find({block.get() - 4000, 8}).are_in_block());
    CHECK_THROWS_AS(peers.at(where, 1000), Error);

    block = nullptr;
    seen[0] = std::byte{1};
    CHECK(!fast::find({seen.data(), 1}).are_in_block());

    // A new block may have the descriptor of the old one, and is another block.
    next = fast::allocate_block(1000);
    next.get()[0] = std::byte{9};
    CHECK(peers.at(fast::find({next.get(), 1}), 1)[0] == std::byte{9});
    fast::BlockBytes unknown = where;
    unknown.block += 100;
    unknown.descriptor = 1 << 20;
    CHECK_THROWS_AS(peers.at(unknown, 1), Error);
}

TEST_CASE("a block stays mapped while it is used, and blocks of long ago do not") {
    constexpr size_t kBytes = 100;
    const auto mapped_of = [](const fast::BlockBytes& where) {
        std::ifstream maps("/proc/self/maps");
        const std::string text((std::istreambuf_iterator<char>(maps)), {});
        struct stat file {};
        REQUIRE(::fstat(where.descriptor, &file) == 0);
        const std::string inode = " " + std::to_string(file.st_ino) + " ";
        int count = 0;
        for (size_t at = 0; (at = text.find(inode, at)) != std::string::npos; ++at)
            ++count;
        return count;
    };
    fast::PeerBlocks peers;
    std::vector<std::shared_ptr<std::byte>> blocks;
    std::vector<fast::BlockBytes> where;
    for (size_t i = 0; i < fast::PeerBlocks::kMaxMapped + 10; ++i) {
        blocks.push_back(fast::allocate_block(kBytes));
        where.push_back(fast::find({blocks.back().get(), kBytes}));
        peers.at(where.front(), kBytes);
        peers.at(where.back(), kBytes);
    }
    CHECK(mapped_of(where[0]) == 2);  // by allocate_block() and by at()
    CHECK(mapped_of(where[1]) == 1);
    CHECK(mapped_of(where[10]) == 1);
    CHECK(mapped_of(where[11]) == 2);
    CHECK(mapped_of(where.back()) == 2);
}

TEST_CASE("more than 8 ranks share no memory for it, and their ring is right") {
    constexpr int kRanks = 9;
    const auto groups = make_groups("threads", kRanks);
    on_each(groups, [&](ProcessGroup& group, int /*rank*/) {
        const Tensor x = Tensor::ones({300'000});
        group.all_reduce(x);
        const auto ran = group.events().snapshot(EventKind::kCollectiveEnd);
        MINI_CHECK(std::string(ran[0].algorithm) == "ring", "it ran ", ran[0].algorithm);
        MINI_CHECK(x.to_vector<float>()[299'999] == kRanks, "the sum is wrong");
    });
}
