// Sums 100,000 random numbers by each rung of the ladder of sums, and prints the errors:
// how far the sums are from the sum in double precision.
//
//     build/release/bin/sum_orders
//     MINI_SIM_CHECK=1 MINI_SIM_BLOCK_SEED=7 build/release/bin/sum_orders
//
// With MINI_SIM_CHECK=1 the simulator runs the blocks one after another, in an order
// drawn from the seed. A GPU needs no seed for this.

#include <fmt/core.h>

#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "labs/06-cuda-kernels/sum_ladder.hpp"
#include "libmini/tensor/tensor.hpp"

using mini::Tensor, mini::Device;
namespace cuda = mini::kernels::cuda;

namespace {

constexpr int64_t kNumbers = 100'000;

std::vector<float> random_numbers() {
    std::mt19937 generator(6);
    std::vector<float> values(kNumbers);
    for (float& value : values) value = static_cast<float>(generator()) / 4294967296.0f;
    return values;
}

}  // namespace

int main() {
    const std::vector<float> values = random_numbers();
    const double exact = std::accumulate(values.begin(), values.end(), 0.0);
    const float one_by_one = std::accumulate(values.begin(), values.end(), 0.0f);
    fmt::print("the sum of {} numbers: {:.6f}\n", kNumbers, exact);
    fmt::print("{:<12} {:>10.6f}\n", "one by one", one_by_one - exact);

    const Tensor x = Tensor::from(values, {kNumbers}, Device::cuda(0));
    const auto print = [&](const char* name, auto sum) {
        Tensor out = Tensor::from(std::vector<float>(1), {1}, Device::cuda(0));
        sum(out.data<float>(), x.data<float>(), kNumbers, nullptr);
        fmt::print("{:<12} {:>10.6f}\n", name, out.item() - exact);
    };
    print("sequential", cuda::sum_sequential);
    print("first_add", cuda::sum_first_add);
    print("shuffle", cuda::sum_shuffle);
    print("atomic", cuda::sum_atomic);
}
