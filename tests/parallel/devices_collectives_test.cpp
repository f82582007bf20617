// Every collective on CUDA tensors gives the same result as on the CPU: backends that use
// host memory copy through pinned buffers.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/distributed/conformance.hpp"
#include "tests/distributed/support.hpp"
#include "tests/support/catch.hpp"

using namespace mini;
using namespace mini::dist;
using namespace mini::dist::test;

namespace {

// Calls body(group) on each rank; rank r's default device is CUDA device r modulo the
// number of devices. Returns the error of the lowest rank that failed, or "".
std::string on_cuda_ranks(const std::string& kind, int world_size,
                          const std::function<void(ProcessGroup&)>& body) {
    const auto groups = make_groups(kind, world_size);
    const auto failures = on_ranks(world_size, [&](int rank) {
        set_default_device(Device::cuda(rank % cuda_device_count()));
        body(*groups[static_cast<size_t>(rank)]);
    });
    for (const auto& failure : failures)
        if (failure) return text_of(failure);
    return "";
}

void check_all_on_cuda(ProcessGroup& group) {
    const Device where = tensor_of({1}, DType::kFloat32).device();
    MINI_CHECK(where.is_cuda(), "the tensors are on ", where);
    for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBFloat16,
                              DType::kInt64, DType::kUInt8})
        for (const int64_t n : {0, 1, 7, 1000}) {
            // Bytes are copied, of any dtype: one world size has all dtypes.
            if (dtype != DType::kFloat32 && group.world_size() != 3) continue;
            check_reductions(group, n, dtype, false);
            check_moves(group, n, dtype);
            check_messages(group, n, dtype);
        }
    check_messages_beside_collectives(group);
}

}  // namespace

TEST_CASE("every collective on CUDA tensors gives the CPU's results on every transport") {
    const std::string kind = GENERATE("threads", "tcp", "shm");
    const int world_size = GENERATE(1, 2, 3, 4, 7);
    CAPTURE(kind, world_size);
    CHECK(on_cuda_ranks(kind, world_size, check_all_on_cuda) == "");
}

TEST_CASE("kernels before and after a collective on CUDA tensors keep their order") {
    const auto body = [](ProcessGroup& group) {
        Tensor x = Tensor::ones({1000});
        for (int i = 0; i < 20; ++i) {
            ops::mul_(x, 3.0f);
            const WorkHandle sum = group.all_reduce_async(x, ReduceOp::kSum);
            sum->wait();
            ops::mul_(x, 1.0f / 6.0f);
        }
        expect(x, std::vector<float>(1000, 1.0f), "twenty rounds");
    };
    CHECK(on_cuda_ranks("threads", 2, body) == "");
    CHECK(on_cuda_ranks("tcp", 2, body) == "");
}

TEST_CASE("an average of integers is rejected and does not change the CUDA tensor") {
    const auto body = [](ProcessGroup& group) {
        const Tensor x = tensor_of(numbers_of(group.rank(), 5), DType::kInt64);
        const std::string failure =
            failure_of([&] { group.all_reduce(x, ReduceOp::kAvg); });
        MINI_CHECK(contains(failure, "kAvg needs floating-point numbers"),
                   "it said: ", failure);
        expect(x, numbers_of(group.rank(), 5), "the refused tensor");
    };
    const int world_size = GENERATE(1, 2, 3, 4);
    CHECK(on_cuda_ranks("threads", world_size, body) == "");
}

TEST_CASE(
    "a CUDA tensor that is not contiguous is rejected with an error that names the fix") {
    const auto body = [](ProcessGroup& group) {
        const Tensor x = strided_tensor_of(numbers_of(0, 4), DType::kFloat32);
        const std::string failure = failure_of([&] { group.all_reduce(x); });
        MINI_CHECK(contains(failure, "contiguous"), "it said: ", failure);
    };
    CHECK(on_cuda_ranks("threads", 2, body) == "");
}
