// GPU tensors over backends that use host memory, while the GPU is stuck in earlier work
// of the stream and does not reach the tensors.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "libmini/tensor/tensor.hpp"
#include "tests/distributed/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/watched_stream.hpp"

using namespace mini;
using namespace mini::dist;
using namespace mini::dist::test;
using mini::test::WatchedStream;

namespace {

Tensor on_gpu(int64_t n) {
    return Tensor::full({n}, 1.0f, DType::kFloat32, Device::cuda(0));
}

Call call_within(milliseconds timeout, bool sends, const Tensor& x) {
    return sends ? send_within(timeout, x, 1) : all_reduce_within(timeout, x);
}

}  // namespace

TEST_CASE("an operation that waits for a stuck GPU times out over every medium") {
    const auto medium = GENERATE(as<std::string>(), "shm", "tcp", "threads");
    const bool sends = GENERATE(true, false);
    CAPTURE(medium, sends);
    const auto groups = make_groups(medium, 2);
    WatchedStream held(0);
    const cuda::StreamGuard guard(0, held.get());
    const Tensor x = on_gpu(10);
    const auto work = groups[0]->start(call_within(milliseconds(300), sends, x));
    const std::string text = failure_of([&] { work->wait(); });
    CHECK(contains(text, concat("Timeout: rank 0 waited 0.3 s in ",
                                sends ? "send to rank 1" : "all_reduce #0")));
    CHECK(contains(text, "for the GPU to reach its tensor"));
}

TEST_CASE(
    "a group can be destroyed while the GPU is stuck and does not reach its tensors") {
    const auto medium = GENERATE(as<std::string>(), "shm", "tcp", "threads");
    const bool sends = GENERATE(true, false);
    CAPTURE(medium, sends);
    auto groups = make_groups(medium, 2);
    WatchedStream held(0);
    const cuda::StreamGuard guard(0, held.get());
    const Tensor x = on_gpu(10);
    const auto work = groups[0]->start(call_within(kLong, sends, x));
    groups[0].reset();  // does not wait for the stream
    CHECK(failure_of([&] { work->wait(); }) != "");
}

TEST_CASE("a collective of CPU tensors runs while a message waits for the GPU") {
    const auto medium = GENERATE(as<std::string>(), "shm", "tcp", "threads");
    CAPTURE(medium);
    const auto groups = make_groups(medium, 2);
    WatchedStream held(0);
    for (const auto& failure : on_ranks(2, [&](int rank) {
             auto& group = *groups[static_cast<size_t>(rank)];
             const Tensor x = Tensor::full({1000}, 1.0f), got = Tensor::zeros({10});
             WorkHandle sent;
             if (rank == 0) {
                 const cuda::StreamGuard guard(0, held.get());
                 sent = group.send_async(on_gpu(10), 1);
             }
             group.all_reduce(x);
             MINI_CHECK(x.to_vector<float>() == std::vector<float>(1000, 2.0f),
                        "the sum");
             if (rank == 0) {
                 MINI_CHECK(!sent->is_completed(),
                            "it was sent before its tensor was ready");
                 held.release();
                 sent->wait();
             } else {
                 group.recv(got, 0);
                 MINI_CHECK(got.to_vector<float>() == std::vector<float>(10, 1.0f),
                            "got");
             }
             group.shutdown();
         }))
        CHECK(text_of(failure) == "");
}
