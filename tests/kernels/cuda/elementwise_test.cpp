#include <vector>

#include "libmini/kernels/cuda/allocator.hpp"
#include "libmini/kernels/cuda/kernels.hpp"
#include "tests/support/catch.hpp"

namespace mini::kernels {
namespace {

TEST_CASE("a kernel scales device memory") {
    const int64_t n = GENERATE(1, 255, 256, 1000);
    std::vector<float> x(static_cast<size_t>(n), 2.0f);
    auto* device = static_cast<float*>(mini::cuda::allocate(x.size() * 4, 0, nullptr));
    mini::cuda::copy(device, x.data(), x.size() * 4, nullptr);
    cuda::scale(device, 1.5f, n, nullptr);
    mini::cuda::copy(x.data(), device, x.size() * 4, nullptr);
    mini::cuda::synchronize_stream(nullptr);
    mini::cuda::deallocate(device);
    CHECK(x == std::vector<float>(static_cast<size_t>(n), 3.0f));
}

}  // namespace
}  // namespace mini::kernels
