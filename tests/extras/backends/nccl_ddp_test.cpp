// DistributedDataParallel over backend nccl, on GPUs or on the simulator.

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <vector>

#include "libmini/autograd/functions.hpp"
#include "libmini/nn/linear.hpp"
#include "libmini/optim/sgd.hpp"
#include "libmini/parallel/ddp.hpp"
#include "libmini/tensor/ops.hpp"
#include "tests/extras/backends/nccl/support.hpp"

using namespace mini;
using namespace mini::dist::test;

namespace {

using Values = std::vector<float>;

// Returns the weight of a linear layer after three training steps on `world_size` ranks.
// Each rank has its own input.
Values train(
    int world_size,
    const std::function<std::shared_ptr<dist::ProcessGroup>(int rank)>& make_group) {
    std::vector<Values> weights(static_cast<size_t>(world_size));
    const auto failures = on_ranks(world_size, [&](int rank) {
        const auto group = make_group(rank);
        const Device device = Device::cuda(rank);
        set_default_device(device);
        nn::Linear module(3, 2);
        for (const Tensor& parameter : module.parameters()) {
            Tensor values = parameter.detach();
            ops::fill_(values, static_cast<float>(rank + 1));
        }
        parallel::DistributedDataParallel ddp(module, {.process_group = group});
        optim::SGD optimizer(module.parameters(), {.lr = 0.125});
        for (int step = 0; step < 3; ++step) {
            optimizer.zero_grad();
            mean(ddp(Tensor::full({4, 3}, rank + 1))).backward();
            optimizer.step();
        }
        weights[static_cast<size_t>(rank)] =
            module.parameters().front().to(Device::cpu()).to_vector<float>();
        group->shutdown();
    });
    for (const auto& failure : failures)
        if (failure) std::rethrow_exception(failure);
    for (const Values& values : weights) CHECK(values == weights.front());
    return weights.front();
}

}  // namespace

TEST_CASE("DDP over backend nccl gives the same weights as DDP over our own algorithms") {
    const int P = GENERATE(1, 2, 4);
    CAPTURE(P);
    if (!has_gpus(P)) return;
    const auto groups = make_groups("shm", P);
    const Values expected =
        train(P, [&](int rank) { return groups[static_cast<size_t>(rank)]; });
    const int port = free_port();
    const Values got = train(P, [&](int rank) {
        return dist::make_nccl_group({{"127.0.0.1", port}, rank, P, dist::Cookie{}},
                                     false, kLong);
    });
    CHECK(got == expected);  // sums of small binary fractions are exact
    CHECK(got != Values(got.size(), 1.0f));
}
