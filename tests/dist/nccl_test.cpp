// Backend nccl where there is no GPU: over the simulator, and over nccl/fake_nccl.cpp in
// NCCL's place. Ranks are threads, each with a device of its own.

#include "libmini/dist/backends/nccl.hpp"

#include <nccl.h>

#include <future>

#include "libmini/kernels/cuda/runtime.hpp"
#include "libmini/tensor/ops.hpp"
#include "tests/dist/support.hpp"
#include "tests/support/catch.hpp"

using namespace mini;
using namespace mini::dist;
using namespace mini::dist::test;

namespace {

using Body = std::function<void(QueuedGroup& group, Device device)>;

// Runs body on each rank of a group of backend nccl; what each one threw.
std::vector<std::exception_ptr> on_gpus(int world_size, const Body& body,
                                        milliseconds timeout = kLong,
                                        bool verify = false) {
    const int port = free_port();
    return on_ranks(world_size, [&](int rank) {
        const auto group = make_nccl_group(
            {{"127.0.0.1", port}, rank, world_size, Cookie{}}, verify, timeout);
        body(*group, Device::cuda(rank));
        group->shutdown();
    });
}

void require_none(const std::vector<std::exception_ptr>& failures) {
    for (size_t rank = 0; rank < failures.size(); ++rank) {
        INFO("rank " << rank << ": " << text_of(failures[rank]));
        REQUIRE(failures[rank] == nullptr);
    }
}

Tensor filled(int64_t n, double value, Device device) {
    return Tensor::full({n}, value, DType::kFloat32, device);
}

void expect(const Tensor& x, double value) {
    const std::vector<float> got = x.to(Device::cpu()).to_vector<float>();
    MINI_CHECK(got == std::vector<float>(got.size(), static_cast<float>(value)),
               "expected ", value, " but got ", got.empty() ? 0 : got.front());
}

// One tensor a rank, of value first + rank.
std::vector<Tensor> blocks(int world_size, int64_t n, double first, Device device) {
    std::vector<Tensor> all;
    for (int rank = 0; rank < world_size; ++rank)
        all.push_back(filled(n, first + rank, device));
    return all;
}

}  // namespace

TEST_CASE("every collective leaves on each GPU what it must") {
    const int P = GENERATE(1, 2, 3, 4);
    const int64_t n = GENERATE(0, 1, 5, 1000);
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
    require_none(on_gpus(P, body, kLong, verify));
}

TEST_CASE("the CPU's tensors and messages of both go by the side of it") {
    const int P = GENERATE(1, 2, 3, 4);
    CAPTURE(P);
    require_none(on_gpus(P, [&](QueuedGroup& group, Device device) {
        const int right = (group.rank() + 1) % P, left = (group.rank() + P - 1) % P;
        for (const Device place : {Device::cpu(), device}) {
            // Collectives of both devices between them, none of them waited for.
            const Tensor on_host = filled(100, 1, Device::cpu());
            const Tensor on_gpu = filled(100, 1, device);
            const auto first = group.all_reduce_async(on_gpu);
            const auto second = group.all_reduce_async(on_host);
            group.barrier();
            if (P > 1) {
                const Tensor got = filled(7, -1, place);
                const auto sent =
                    group.send_async(filled(7, group.rank(), place), right, 5);
                MINI_CHECK(group.recv(got, P == 2 ? kAnySource : left, 5) == left,
                           "a message from somebody else");
                sent->wait();
                expect(got, left);
            }
            first->wait();
            second->wait();
            expect(on_host, P);
            expect(on_gpu, P);
        }
    }));
}

TEST_CASE("a collective stands in the order of the streams that its callers compute on") {
    require_none(on_gpus(2, [](QueuedGroup& group, Device device) {
        const cuda::Stream stream(device.index);
        const cuda::StreamGuard guard(stream);
        Tensor x = filled(1000, 0, device);
        for (int step = 0; step < 5; ++step) {
            ops::add_(x, filled(1000, 1, device));
            group.all_reduce_async(x)->wait();
            ops::mul_(x, 0.5f);
        }
        expect(x, 5);
    }));
}

TEST_CASE("wait comes back before the device is done") {
    std::promise<void> went_on;
    require_none(on_gpus(2, [&](QueuedGroup& group, Device device) {
        const Tensor x = filled(10, 1, device);
        if (group.rank() == 1) went_on.get_future().wait();
        const auto work = group.all_reduce_async(x);
        work->wait();
        if (group.rank() == 0) {
            MINI_CHECK(!work->is_completed(), "done without rank 1");
            went_on.set_value();
        }
        cuda::synchronize(device.index);
        expect(x, 2);
        while (!work->is_completed()) std::this_thread::yield();
    }));
}

TEST_CASE("ranks that leave together end the communicator, and abort none") {
    const int P = GENERATE(1, 2, 3, 4);
    const int aborted = fake_nccl_aborted, destroyed = fake_nccl_destroyed;
    require_none(on_gpus(P, [](QueuedGroup& group, Device device) {
        group.all_reduce(filled(10, 1, device));
    }));
    CHECK(fake_nccl_aborted == aborted);
    CHECK(fake_nccl_destroyed == destroyed + P);
}

TEST_CASE("ranks abort the communicator of one that failed") {
    const int aborted = fake_nccl_aborted, destroyed = fake_nccl_destroyed;
    on_gpus(3, [](QueuedGroup& group, Device device) {
        group.all_reduce(filled(10, 1, device));
        if (group.rank() == 1) throw Error("rank 1 has had enough");
    });
    CHECK(fake_nccl_aborted == aborted + 3);
    CHECK(fake_nccl_destroyed == destroyed);
}

TEST_CASE("a rank that fails later frees the device and is named by the next call") {
    std::promise<void> went_on;
    const auto failures = on_gpus(2, [&](QueuedGroup& group, Device device) {
        if (group.rank() == 1) {
            went_on.get_future().wait();
            group.abandon("rank 1 has had enough");
            return;
        }
        const Tensor x = filled(10, 1, device);
        const auto work = group.all_reduce_async(x);
        work->wait();
        went_on.set_value();
        cuda::synchronize(device.index);  // would never end
        while (!work->is_completed()) std::this_thread::yield();
        group.all_reduce(x);
    });
    CHECK(contains(text_of(failures[0]), "PeerLost(1)"));
    CHECK(contains(text_of(failures[0]), "rank 1 has had enough"));
    CHECK(text_of(failures[1]) == "");
}

TEST_CASE("a collective that one rank alone has on its GPU ends by the deadline") {
    fake_nccl_patience = milliseconds(1500);
    std::promise<void> over;
    const auto body = [&](QueuedGroup& group, Device device) {
        if (group.rank() == 1) return over.get_future().wait();
        const Tensor x = filled(10, 1, device);
        const auto work = group.all_reduce_async(x);
        work->wait();
        while (!work->is_completed()) std::this_thread::yield();
        over.set_value();
        group.all_reduce(x);
    };
    const std::string text = text_of(on_gpus(2, body, milliseconds(1000))[0]);
    fake_nccl_patience = std::chrono::minutes(1);
    CAPTURE(text);
    CHECK(
        contains(text, "Timeout: all_reduce: the group is broken since: rank 0 waited"));
    CHECK(contains(text, "in all_reduce #1 (sum of 10 float32)"));
    CHECK(contains(text, "rank 1 is silent"));
}

TEST_CASE("a message that nobody sends ends by its deadline") {
    std::promise<void> over;
    const auto body = [&](QueuedGroup& group, Device device) {
        if (group.rank() == 1) return over.get_future().wait();
        const std::string text = failure_of([&] { group.recv(filled(3, 0, device), 1); });
        over.set_value();
        MINI_CHECK(contains(text, "Timeout: rank 0 waited 0.3 s in recv from rank 1"),
                   text);
    };
    CHECK(text_of(on_gpus(2, body, milliseconds(300))[0]) == "");
}

TEST_CASE("a tensor on another GPU than the rank's is refused before anybody waits") {
    require_none(on_gpus(2, [](QueuedGroup& group, Device device) {
        const Device other = Device::cuda(1 - device.index);
        const std::string text =
            failure_of([&] { group.all_reduce(filled(3, 0, other)); });
        MINI_CHECK(
            contains(text, concat("the tensor is on ", other, ", but rank ", group.rank(),
                                  "'s GPU in backend nccl is ", device)),
            text);
        group.barrier();
    }));
}

TEST_CASE("two ranks on one GPU are told so") {
    const int port = free_port();
    const auto failures = on_ranks(2, [&](int rank) {
        set_default_device(Device::cuda(1));
        make_nccl_group({{"127.0.0.1", port}, rank, 2, Cookie{}}, false, kLong);
    });
    for (const auto& failure : failures) {
        CHECK(contains(text_of(failure), "GPU 1 of host "));
        CHECK(contains(text_of(failure), "is used by ranks 0 and 1: NCCL 2.28 cannot"));
    }
}

TEST_CASE("some of the ranks have a communicator of their own") {
    require_none(on_gpus(4, [](QueuedGroup& group, Device device) {
        const auto some = group.new_group({3, 1});
        MINI_CHECK((some != nullptr) == (group.rank() % 2 == 1), "who is a member");
        if (some) {
            const Tensor x = filled(10, group.rank(), device);
            some->all_reduce(x);
            expect(x, 4);
            some->shutdown();
        }
        group.barrier();
    }));
}
