#include "libmini/training/step_losses.hpp"

#include <vector>

#include "libmini/kernels/cuda/runtime.hpp"
#include "libmini/tensor/ops.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/held_stream.hpp"

using namespace mini;
using mini::test::HeldStream;
using training::StepLosses;

TEST_CASE("losses on a GPU are read together, and steps between do not wait for it") {
    std::vector<float> values;
    StepLosses losses(values, 3);
    Tensor loss = Tensor::full({}, 0.0, DType::kFloat32, Device::cuda(0));
    cuda::synchronize(0);

    HeldStream held(0);
    const cuda::StreamGuard guard(0, held.get());
    for (int step = 0; step < 2; ++step) {  // would never return if it waited
        ops::add_(loss, Tensor::full({}, 1.0, DType::kFloat32, loss.device()));
        losses.add(loss);
    }
    CHECK(values.empty());

    held.release();
    losses.add(loss);
    CHECK(values == std::vector<float>{1, 2, 2});
    losses.add(loss);
    losses.read();
    losses.read();
    CHECK(values == std::vector<float>{1, 2, 2, 2});
}

TEST_CASE("a loss on the CPU has its value at once") {
    std::vector<float> values;
    StepLosses losses(values, 3);
    losses.add(Tensor::full({}, 0.5, DType::kFloat32, Device::cpu()));
    CHECK(values == std::vector<float>{0.5f});
}
