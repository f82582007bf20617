// How backend nccl calls NCCL: which communicators it aborts or destroys, and the order
// of its launches. Only nccl/fake_nccl.cpp can report these.

#include <cstddef>
#include <thread>
#include <vector>

#include <nccl.h>

#include "tests/extras/backends/nccl/support.hpp"

using namespace mini;
using namespace mini::dist;
using namespace mini::dist::test;

TEST_CASE("ranks that leave together destroy the communicator and do not abort it") {
    const int P = GENERATE(1, 2, 3, 4);
    const int aborted = fake_nccl_aborted, destroyed = fake_nccl_destroyed;
    require_none(on_gpus(P, [](QueuedGroup& group, Device device) {
        group.all_reduce(filled(10, 1, device));
    }));
    CHECK(fake_nccl_aborted == aborted);
    CHECK(fake_nccl_destroyed == destroyed + P);
}

TEST_CASE("all ranks abort the communicator after one rank has failed") {
    const int aborted = fake_nccl_aborted, destroyed = fake_nccl_destroyed;
    on_gpus(3, [](QueuedGroup& group, Device device) {
        group.all_reduce(filled(10, 1, device));
        if (group.rank() == 1) throw Error("rank 1 has failed");
    });
    // An abort may continue after its group is destroyed.
    while (fake_nccl_aborted < aborted + 3) std::this_thread::yield();
    CHECK(fake_nccl_aborted == aborted + 3);
    CHECK(fake_nccl_destroyed == destroyed);
}

TEST_CASE("collectives of two groups are launched on each GPU in call order") {
    const int P = 3, rounds = 200;
    std::vector<size_t> before;
    for (int rank = 0; rank < P; ++rank)
        before.push_back(fake_nccl_launches(rank).size());
    require_none(on_gpus(P, [](QueuedGroup& group, Device device) {
        const auto other = group.new_group({0, 1, 2});
        const Tensor x = filled(10, 1, device), y = filled(10, 1, device);
        std::vector<WorkHandle> all;
        for (int i = 0; i < rounds; ++i) {
            all.push_back(group.all_reduce_async(x, ReduceOp::kMax));
            if (i % 10 == 9)
                other->all_reduce(y, ReduceOp::kMax);
            else
                all.push_back(other->all_reduce_async(y, ReduceOp::kMax));
        }
        for (const WorkHandle& work : all) work->wait();
        other->shutdown();
    }));
    for (int rank = 0; rank < P; ++rank) {
        auto launches = fake_nccl_launches(rank);
        launches.erase(launches.begin(),
                       launches.begin() + static_cast<std::ptrdiff_t>(
                                              before[static_cast<size_t>(rank)]));
        REQUIRE(launches.size() == 2 * rounds);
        CHECK(launches[0] != launches[1]);
        for (size_t i = 0; i < launches.size(); ++i) {
            CAPTURE(rank, i);
            REQUIRE(launches[i] == launches[i % 2]);
        }
    }
}
