// The heaps of ranks that share memory, and the all-reduce of tensors in them.

#include "libmini/distributed/transport/shared_heap.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "libmini/distributed/collectives/shared_memory_all_reduce.hpp"
#include "libmini/tensor/ops.hpp"
#include "tests/distributed/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitizers.hpp"

using namespace mini;
using namespace mini::dist;
using namespace mini::dist::test;

namespace {

constexpr int64_t kLargeCount = 50'001;  // floats; no world size below divides it

// Numbers of different sizes, so that a sum in another order has other bits.
Tensor inputs(int rank, int64_t n) {
    std::vector<float> values;
    for (int64_t i = 0; i < n; ++i)
        values.push_back(static_cast<float>((i * 7919 + rank * 104'729) % 1'000'003) /
                         static_cast<float>(1 + i % 31));
    return Tensor::from(values);
}

// Throws unless the group's last all-reduce, of `n` floats, has used the heaps: a message
// for each other rank, and this rank's chunk read and written where they are.
void check_in_place(ProcessGroup& group, int64_t n) {
    const auto last = group.events().snapshot(EventKind::kAlgorithm).back();
    const int64_t P = group.world_size(), k = (group.rank() + 1) % P;
    const int64_t chunk = n * (k + 1) / P - n * k / P;
    MINI_CHECK(last.index == P - 1 && last.bytes == 2 * (P - 1) * chunk * 4, "it sent ",
               last.index, " messages and moved ", last.bytes, " bytes");
}

// Compares the all-reduce of `x` with that of a copy by the ring; then x has the result.
void check_like_ring(ProcessGroup& group, const Tensor& x, ReduceOp op) {
    const Tensor copy = ops::clone(x);
    group.all_reduce(copy, op, Algorithm::kRing);
    group.all_reduce(x, op);
    MINI_CHECK(x.to_vector<float>() == copy.to_vector<float>(), reduce_op_name(op),
               " of ", x.numel(), " elements has other bits than the ring");
}

// While it exists, this process cannot make a file longer than one byte.
class SmallFiles {
  public:
    SmallFiles() {
        ::getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit one{1, before_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &one);
        handler_ = std::signal(SIGXFSZ, SIG_IGN);
    }
    ~SmallFiles() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }
    SmallFiles(const SmallFiles&) = delete;
    SmallFiles& operator=(const SmallFiles&) = delete;

  private:
    rlimit before_{};
    void (*handler_)(int) = nullptr;
};

Socket copy_of(const Socket& descriptor) { return Socket(::dup(descriptor.fd())); }

int64_t allocated_bytes(const Socket& file) {
    struct stat info {};
    REQUIRE(::fstat(file.fd(), &info) == 0);
    return info.st_blocks * 512;
}

}  // namespace

TEST_CASE("a peer reads and writes the blocks of a heap") {
    const auto heap = std::make_shared<SharedHeap>();
    PeerHeap peer(copy_of(heap->descriptor()));
    const auto first = heap->allocate(100), second = heap->allocate(200'000);
    const std::span<std::byte> bytes(second.get(), 200'000);
    CHECK(std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; }));

    const SharedPlace place = heap->find(bytes.subspan(70'000, 10));
    REQUIRE(place.is_in_heap());
    CHECK(place.offset == 70'000);
    bytes[70'003] = std::byte{5};
    const auto theirs = peer.at(place, 10);
    REQUIRE(theirs.size() == 10);
    CHECK(theirs[3] == std::byte{5});
    theirs[9] = std::byte{6};
    CHECK(bytes[70'009] == std::byte{6});
    CHECK(*first == std::byte{0});
}

TEST_CASE("only bytes of one block are in the heap") {
    const auto heap = std::make_shared<SharedHeap>();
    const auto block = heap->allocate(1000);
    std::byte elsewhere{};
    CHECK(heap->find({block.get(), 1000}).is_in_heap());
    CHECK(!heap->find({block.get(), 1001}).is_in_heap());
    CHECK(!heap->find({block.get() - 1, 2}).is_in_heap());
    CHECK(!heap->find({&elsewhere, 1}).is_in_heap());
}

TEST_CASE("the system gets the pages of a freed block back") {
    auto heap = std::make_shared<SharedHeap>();
    const Socket file = copy_of(heap->descriptor());
    auto small = heap->allocate(1), large = heap->allocate(1 << 20);
    CHECK(allocated_bytes(file) >= 1 << 20);
    large = nullptr;
    CHECK(allocated_bytes(file) < 1 << 20);
    heap = nullptr;  // a block keeps its heap alive
    *small = std::byte{1};
    small = nullptr;
    CHECK(allocated_bytes(file) == 0);
}

TEST_CASE("a place outside of the heap is an error") {
    const auto heap = std::make_shared<SharedHeap>();
    const auto block = heap->allocate(1000);
    PeerHeap peer(copy_of(heap->descriptor()));
    const SharedPlace place = heap->find({block.get(), 1000});
    const uint64_t far = uint64_t{1} << 62, all = ~uint64_t{0};
    for (const SharedPlace wrong :
         {SharedPlace{place.block, 1000, 1}, SharedPlace{place.block, 1000, all},
          SharedPlace{place.block, 5000, 0}, SharedPlace{far, 1000, 0},
          SharedPlace{place.block, all, 0}})
        CHECK(contains(failure_of([&] { peer.at(wrong, 1000); }), "shared memory"));
    CHECK(peer.at(place, 1000).size() == 1000);
}

TEST_CASE("an all-reduce of shared tensors has the bits of the ring and sends no data") {
    const int world_size =
        mini::test::kWatchesThreads ? GENERATE(2, 3) : GENERATE(1, 2, 3, 4, 7);
    const auto groups = make_groups("shm", world_size);
    const auto failures = on_ranks(world_size, [&](int rank) {
        ProcessGroup& group = *groups[static_cast<size_t>(rank)];
        for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kAvg, ReduceOp::kMax}) {
            const Tensor x = inputs(rank, kLargeCount);
            group.share_memory(x);
            check_like_ring(group, x, op);
            check_in_place(group, kLargeCount);
            const Tensor half = ops::to(inputs(rank, kLargeCount), DType::kFloat16);
            group.share_memory(half);
            const Tensor copy = ops::clone(half);
            group.all_reduce(copy, op, Algorithm::kRing);
            group.all_reduce(half, op);
            MINI_CHECK(half.to_vector<Half>() == copy.to_vector<Half>(),
                       "float16 has other bits than the ring");
        }
    });
    for (const auto& failure : failures) REQUIRE(text_of(failure) == "");
}

TEST_CASE("a part of a shared tensor is reduced, and the rest unchanged") {
    const auto groups = make_groups("shm", 3);
    const auto failures = on_ranks(3, [&](int rank) {
        ProcessGroup& group = *groups[static_cast<size_t>(rank)];
        const Tensor whole = inputs(rank, 3 * kLargeCount);
        const Tensor before = ops::clone(whole);
        const Tensor part = ops::narrow(whole, 0, kLargeCount + rank, kLargeCount);
        group.share_memory(whole);  // moves `part` too
        check_like_ring(group, part, ReduceOp::kSum);
        check_in_place(group, kLargeCount);
        for (const int64_t begin : {int64_t{0}, 2 * kLargeCount + rank}) {
            const int64_t n = kLargeCount - rank;
            MINI_CHECK(ops::narrow(whole, 0, begin, n).to_vector<float>() ==
                           ops::narrow(before, 0, begin, n).to_vector<float>(),
                       "elements from ", begin, " on have changed");
        }
    });
    for (const auto& failure : failures) REQUIRE(text_of(failure) == "");
}

TEST_CASE("an all-reduce is right if only some ranks have shared their tensors") {
    const int sharing = GENERATE(0, 1, 2);  // ranks
    const auto groups = make_groups("shm", 3);
    const auto failures = on_ranks(3, [&](int rank) {
        ProcessGroup& group = *groups[static_cast<size_t>(rank)];
        for (int call = 0; call < 3; ++call) {
            const Tensor x = inputs(rank + call, kLargeCount);
            if (rank < sharing) group.share_memory(x);
            check_like_ring(group, x, ReduceOp::kSum);
        }
    });
    for (const auto& failure : failures) REQUIRE(text_of(failure) == "");
}

TEST_CASE("shared tensors outlive their group, and others take their place") {
    std::vector<Tensor> kept(2);
    auto groups = make_groups("shm", 2);
    const auto failures = on_ranks(2, [&](int rank) {
        const auto index = static_cast<size_t>(rank);
        for (int i = 0; i < 5; ++i) {  // the blocks of the tensors before are freed
            kept[index] = inputs(rank, kLargeCount + i);
            groups[index]->share_memory(kept[index]);
            check_like_ring(*groups[index], kept[index], ReduceOp::kSum);
        }
    });
    for (const auto& failure : failures) REQUIRE(text_of(failure) == "");
    groups.clear();
    CHECK(kept[0].to_vector<float>() == kept[1].to_vector<float>());
}

TEST_CASE(
    "without shared memory on one rank share_memory logs it, and all_reduce is right") {
    const auto groups = make_groups("shm", 2);
    const std::vector<Tensor> x{inputs(0, kLargeCount), inputs(1, kLargeCount)};
    const std::byte* const before = x[0].raw_data();
    {
        const SmallFiles small;  // no memory file may grow
        groups[0]->share_memory(x[0]);
    }
    groups[1]->share_memory(x[1]);
    CHECK(x[0].raw_data() == before);
    const auto failures = on_ranks(2, [&](int rank) {
        const auto index = static_cast<size_t>(rank);
        check_like_ring(*groups[index], x[index], ReduceOp::kSum);
    });
    for (const auto& failure : failures) REQUIRE(text_of(failure) == "");
}

TEST_CASE("many ranks have no heaps, and reduce in shared memory all the same") {
    constexpr int kRanks = kMaxHeapRanks + 1;
    const auto groups = make_groups("shm", kRanks);
    const auto failures = on_ranks(kRanks, [&](int rank) {
        ProcessGroup& group = *groups[static_cast<size_t>(rank)];
        const Tensor x = inputs(rank, kLargeCount), copy = ops::clone(x);
        const std::byte* const before = x.raw_data();
        group.share_memory(x);
        MINI_CHECK(x.raw_data() == before, "the tensor was moved");
        group.all_reduce(x, ReduceOp::kSum, Algorithm::kSharedMemory);
        group.all_reduce(copy, ReduceOp::kSum, Algorithm::kRing);
        MINI_CHECK(x.to_vector<float>() == copy.to_vector<float>(), "other bits");
    });
    for (const auto& failure : failures) REQUIRE(text_of(failure) == "");
}

TEST_CASE("share_memory has no effect where it would make nothing faster") {
    const std::string kind = GENERATE("threads", "shm", "tcp");
    const auto groups = make_groups(kind, 2);
    for (const int64_t n : {int64_t{0}, int64_t{100}, kLargeCount}) {
        const Tensor x = inputs(0, n);
        const auto values = x.to_vector<float>();
        const std::byte* const before = x.raw_data();
        groups[0]->share_memory(x);
        CHECK((x.raw_data() != before) == (kind == "shm" && n == kLargeCount));
        CHECK(x.to_vector<float>() == values);
    }
}

TEST_CASE(
    "a rank that leaves before it has reduced in place is a PeerLost on the others") {
    auto transports = make_transports("shm", 3);
    constexpr Collective kCollective{.operation = Operation::kAllReduce,
                                     .count = kLargeCount};
    const auto failures = on_ranks(3, [&](int rank) {
        GroupTransport& transport = *transports[static_cast<size_t>(rank)];
        SlotTransport& slots = *transport.slots();
        transport.begin(kCollective, kLong);
        const Tensor x = inputs(rank, kLargeCount);
        x.move_storage(transport.allocate_shared(x.bytes()));
        try {
            if (rank == 2) {
                for (const int other : {0, 1})
                    slots.send_place(other, slots.place_of({x.raw_data(), x.bytes()}));
                slots.recv_place(0);
                throw Error("rank 2 has a fault");
            }
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
