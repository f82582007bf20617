// Backend nccl: over NCCL on GPUs, or over nccl/fake_nccl.cpp on the simulator.

#include <cstddef>
#include <cstdint>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "tests/extras/backends/nccl/support.hpp"
#include "tests/support/sanitizers.hpp"

using namespace mini;
using namespace mini::dist;
using namespace mini::dist::test;

namespace {

// Returns one tensor per rank, filled with first + rank.
std::vector<Tensor> blocks(int world_size, int64_t n, double first, Device device) {
    std::vector<Tensor> all;
    for (int rank = 0; rank < world_size; ++rank)
        all.push_back(filled(n, first + rank, device));
    return all;
}

}  // namespace

TEST_CASE("every collective gives the right result on each GPU") {
    const int P = mini::test::kWatchesThreads ? GENERATE(1, 3) : GENERATE(1, 2, 3, 4);
    const int64_t n =
        mini::test::kWatchesThreads ? GENERATE(0, 5) : GENERATE(0, 1, 5, 1000);
    const bool verify = GENERATE(false, true);
    CAPTURE(P, n, verify);
    const auto body = [&](QueuedGroup& group, Device device) {
        const int rank = group.rank(), last = P - 1;
        const Tensor x = filled(n, rank + 1, device);
        group.all_reduce(x);
        expect(x, P * (P + 1) / 2.0);
        group.all_reduce(x, ReduceOp::kAvg);
        expect(x, P * (P + 1) / 2.0);

        const Tensor y = filled(n, rank, device);
        group.broadcast(y, last);
        expect(y, last);
        group.reduce(y, last, ReduceOp::kMax);
        if (rank == last) expect(y, last);

        const Tensor mine = filled(n, rank, device);
        const auto gathered = blocks(P, n, -1, device);
        group.all_gather(gathered, mine);
        for (int peer = 0; peer < P; ++peer)
            expect(gathered[static_cast<size_t>(peer)], peer);

        const auto at_root = blocks(rank == last ? P : 0, n, -1, device);
        group.gather(at_root, mine, last);
        for (size_t peer = 0; peer < at_root.size(); ++peer)
            expect(at_root[peer], static_cast<double>(peer));
        group.scatter(y, blocks(rank == 0 ? P : 0, n, 10, device), 0);
        expect(y, 10 + rank);

        group.reduce_scatter(y, blocks(P, n, rank, device));
        expect(y, P * rank + P * (P - 1) / 2.0);
        group.all_to_all(gathered, blocks(P, n, 10 * rank, device));
        for (int peer = 0; peer < P; ++peer)
            expect(gathered[static_cast<size_t>(peer)], 10 * peer + rank);
    };
    on_each_gpu(P, body, verify);
}

TEST_CASE("CPU collectives and messages of both devices run beside NCCL collectives") {
    const int P = GENERATE(1, 2, 3, 4);
    CAPTURE(P);
    on_each_gpu(P, [&](QueuedGroup& group, Device device) {
        const int right = (group.rank() + 1) % P, left = (group.rank() + P - 1) % P;
        for (const Device target : {Device::cpu(), device}) {
            // Keep collectives of both devices in flight during the messages.
            const Tensor on_host = filled(100, 1, Device::cpu());
            const Tensor on_gpu = filled(100, 1, device);
            const auto first = group.all_reduce_async(on_gpu);
            const auto second = group.all_reduce_async(on_host);
            group.barrier();
            if (P > 1) {
                const Tensor got = filled(7, -1, target);
                const auto sent =
                    group.send_async(filled(7, group.rank(), target), right, 5);
                MINI_CHECK(group.recv(got, P == 2 ? kAnySource : left, 5) == left,
                           "a message from another rank");
                sent->wait();
                expect(got, left);
            }
            first->wait();
            second->wait();
            expect(on_host, P);
            expect(on_gpu, P);
        }
    });
}

TEST_CASE("a collective runs in order with the work in its caller's current stream") {
    on_each_gpu(2, [](QueuedGroup& group, Device device) {
        const cuda::Stream stream(device.index);
        const cuda::StreamGuard guard(stream);
        Tensor x = filled(1000, 0, device);
        for (int step = 0; step < 5; ++step) {
            ops::add_(x, filled(1000, 1, device));
            group.all_reduce_async(x)->wait();
            ops::mul_(x, 0.5f);
        }
        expect(x, 5);
    });
}

TEST_CASE("wait on a GPU collective returns before the device has run the collective") {
    std::promise<void> has_waited;
    on_each_gpu(2, [&](QueuedGroup& group, Device device) {
        const Tensor x = filled(10, 1, device);
        if (group.rank() == 1) has_waited.get_future().wait();
        const auto work = group.all_reduce_async(x);
        work->wait();
        if (group.rank() == 0) {
            MINI_CHECK(!work->is_completed(), "done without rank 1");
            has_waited.set_value();
        }
        cuda::synchronize(device.index);
        expect(x, 2);
        while (!work->is_completed()) std::this_thread::yield();
    });
}

TEST_CASE("a message overtakes an earlier message whose tensor waits for a collective") {
    on_each_gpu(2, [](QueuedGroup& group, Device device) {
        const Tensor x = filled(10, 1, device);
        const Tensor early = filled(3, 7, Device::cpu());
        if (group.rank() == 0) {
            group.all_reduce_async(x)->wait();
            const auto late = group.send_async(x, 1, 1);
            const auto next = group.send_async(filled(10, 5, device), 1, 1);
            group.send(early, 1, 2);
            late->wait();
            next->wait();
        } else {
            group.recv(early, 0, 2);  // before this rank joins the collective
            group.all_reduce(x);
            const Tensor got = filled(10, 0, device);
            group.recv(got, 0, 1);
            expect(got, 2);
            group.recv(got, 0, 1);  // messages of one tag keep their order
            expect(got, 5);
        }
    });
}

TEST_CASE("a tensor that is not on the rank's GPU is rejected before any rank waits") {
    on_each_gpu(2, [](QueuedGroup& group, Device device) {
        const Device other = Device::cuda(1 - device.index);
        const std::string text =
            failure_of([&] { group.all_reduce(filled(3, 0, other)); });
        MINI_CHECK(
            contains(text, concat("the tensor is on ", other, ", but rank ", group.rank(),
                                  "'s GPU in backend nccl is ", device)),
            text);
        group.barrier();
    });
}

TEST_CASE("two ranks on one GPU get an error that names both ranks") {
    const int gpu = cuda::device_count() - 1;
    const int port = free_port();
    const auto failures = on_ranks(2, [&](int rank) {
        set_default_device(Device::cuda(gpu));
        make_nccl_group({{"127.0.0.1", port}, rank, 2, Cookie{}}, false, kLong);
    });
    for (const auto& failure : failures) {
        CHECK(contains(text_of(failure), concat("GPU ", gpu, " of host ")));
        CHECK(contains(text_of(failure), "is used by ranks 0 and 1: NCCL 2."));
        CHECK(contains(text_of(failure), "use backend ring"));
    }
}

TEST_CASE("a subgroup has its own communicator") {
    on_each_gpu(4, [](QueuedGroup& group, Device device) {
        const auto some = group.new_group({3, 1});
        MINI_CHECK((some != nullptr) == (group.rank() % 2 == 1), "wrong members");
        if (some) {
            const Tensor x = filled(10, group.rank(), device);
            some->all_reduce(x);
            expect(x, 4);
            some->shutdown();
        }
        group.barrier();
    });
}
