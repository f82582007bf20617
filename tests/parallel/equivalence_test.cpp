// The guarantee of data-parallel training: any number of ranks trains the same model.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "libmini/nn/models.hpp"
#include "libmini/optim/sgd.hpp"
#include "libmini/parallel/average_gradients.hpp"
#include "tests/parallel/toy.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitizers.hpp"

using namespace mini;
using namespace mini::test;

namespace {

constexpr int64_t kBatch = 16;  // samples per step, over all ranks

// Few steps if a step is slow: on the simulator's devices, or with sanitizers.
int64_t steps() { return kSanitized || default_device().is_cuda() ? 10 : 50; }

enum class Sync { kDDP, kAverage, kSum };

// Combines the gradients of all ranks; kSum is the error that the test must detect.
void synchronise(Sync sync, nn::Module& model, dist::ProcessGroup& group) {
    if (sync == Sync::kDDP) return;
    if (sync == Sync::kAverage)
        return parallel::average_gradients(model.parameters(), group);
    for (const Tensor& parameter : model.parameters()) group.all_reduce(parameter.grad());
}

// Trains the ConvNet without dropout, requires equal parameters on all ranks, and returns
// the parameters.
std::vector<float> train(int world_size, Sync sync) {
    const int64_t count = steps();
    const auto parameters = on_ranks(world_size, [&](dist::ProcessGroup& group) {
        manual_seed(1234);
        nn::ConvNet model({.dropout = false});
        std::unique_ptr<parallel::DistributedDataParallel> ddp;
        if (sync == Sync::kDDP)
            ddp = std::make_unique<parallel::DistributedDataParallel>(
                model, parallel::DDPOptions{.first_bucket_bytes = 1000,
                                            .bucket_cap_mb = parallel::mib(30000)});
        nn::Module& network = ddp ? static_cast<nn::Module&>(*ddp) : model;
        optim::SGD optimizer(model.parameters(), {.lr = 0.01, .momentum = 0.5});

        const int64_t share = kBatch / world_size;
        for (int64_t step = 0; step < count; ++step) {
            const Tensor images = draw({kBatch, 1, 28, 28}, static_cast<uint64_t>(step));
            std::vector<int64_t> labels;
            for (int64_t i = 0; i < share; ++i)
                labels.push_back((group.rank() * share + i + step) % 10);
            optimizer.zero_grad();
            const Tensor mine = ops::narrow(images, 0, group.rank() * share, share);
            cross_entropy(network(mine), Tensor::from(labels)).backward();
            synchronise(sync, model, group);
            optimizer.step();
        }
        return flat_parameters(model);
    });
    for (const auto& values : parameters) REQUIRE(values == parameters[0]);
    return parameters[0];
}

}  // namespace

TEST_CASE("1 and 2 and 4 ranks with one global batch train the same model") {
    const std::vector<float> alone = train(1, Sync::kDDP);
    CHECK(largest_difference(train(2, Sync::kDDP), alone) < 1e-5);
    CHECK(largest_difference(train(4, Sync::kDDP), alone) < 1e-5);
    CHECK(largest_difference(train(2, Sync::kAverage), alone) < 1e-5);

    // The comparison must detect gradients that are summed instead of averaged.
    CHECK(largest_difference(train(2, Sync::kSum), alone) > 1e-3);
}

TEST_CASE("the same job on the same number of ranks is bitwise reproducible") {
    CHECK(train(2, Sync::kDDP) == train(2, Sync::kDDP));
}
