// Uneven inputs with a sharded optimizer: Join over DDP and ZeroRedundancyOptimizer gives
// the same parameters as unsharded SGD in one process.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "libmini/optim/sgd.hpp"
#include "libmini/parallel/ddp.hpp"
#include "libmini/parallel/zero.hpp"
#include "tests/parallel/toy.hpp"
#include "tests/support/catch.hpp"

using namespace mini;
using namespace mini::test;
using namespace mini::parallel;

namespace {

using Values = std::vector<float>;

constexpr int kEpochs = 2;

struct UnevenJob {
    std::vector<int> batches;  // of each rank, in each epoch
    JoinOptions options;
    bool zeroes_last = false;  // call zero_grad() at the end of an iteration

    int world_size() const { return static_cast<int>(batches.size()); }
};

std::unique_ptr<optim::Optimizer> make_decaying_sgd(std::vector<Tensor> parameters) {
    return std::make_unique<optim::SGD>(
        std::move(parameters),
        optim::SGDOptions{.lr = 0.05, .momentum = 0.9, .weight_decay = 0.01});
}

// Returns a rank's batch number `step` of an epoch.
Tensor batch(int rank, int epoch, int step) {
    return draw({4, 3}, static_cast<uint64_t>(100 * epoch + 10 * step + rank));
}

// Returns each rank's parameters after the training.
std::vector<Values> train_sharded(const UnevenJob& job) {
    return on_ranks(job.world_size(), [&](dist::ProcessGroup& group) {
        manual_seed(3);
        Toy module;
        DistributedDataParallel ddp(
            module, {.first_bucket_bytes = 30, .bucket_cap_mb = parallel::mib(70)});
        ZeroRedundancyOptimizer zero(module.parameters(), make_decaying_sgd);
        const int batches = job.batches[static_cast<size_t>(group.rank())];
        for (int epoch = 0; epoch < kEpochs; ++epoch)
            Join({&ddp, &zero}, job.options).run([&] {
                for (int step = 0; step < batches; ++step) {
                    if (!job.zeroes_last) zero.zero_grad();
                    sum(ddp(batch(group.rank(), epoch, step))).backward();
                    zero.step();
                    if (job.zeroes_last) zero.zero_grad();
                }
            });
        return flat_parameters(module);
    });
}

// Trains in one process: each step divides the sum of the remaining batches' gradients by
// the world size, or by the number of ranks that still have a batch.
Values train_plain(const UnevenJob& job) {
    manual_seed(3);
    Toy module;
    const auto sgd = make_decaying_sgd(module.parameters());
    for (int epoch = 0; epoch < kEpochs; ++epoch)
        for (int step = 0; step < std::ranges::max(job.batches); ++step) {
            const auto active = std::ranges::count_if(
                job.batches, [&](int batches) { return batches > step; });
            const auto divisor = job.options.divide_by_initial_world_size
                                     ? static_cast<float>(job.world_size())
                                     : static_cast<float>(active);
            sgd->zero_grad();
            for (int rank = 0; rank < job.world_size(); ++rank)
                if (job.batches[static_cast<size_t>(rank)] > step)
                    (sum(module(batch(rank, epoch, step))) * (1.0f / divisor)).backward();
            sgd->step();
        }
    return flat_parameters(module);
}

}  // namespace

TEST_CASE(
    "uneven inputs with a sharded optimizer give the same parameters as plain SGD") {
    const bool zeroes_last = GENERATE(false, true);
    const bool by_all = GENERATE(true, false);
    const auto batches =
        GENERATE(std::vector<int>{3}, std::vector<int>{1, 3}, std::vector<int>{3, 1},
                 std::vector<int>{0, 2}, std::vector<int>{2, 2},
                 std::vector<int>{1, 4, 2}, std::vector<int>{0, 0, 1},
                 std::vector<int>{4, 1, 0, 2}, std::vector<int>{1, 2, 3, 4, 3, 2, 0});
    CAPTURE(batches, zeroes_last, by_all);
    const UnevenJob job{.batches = batches,
                        .options = {.divide_by_initial_world_size = by_all},
                        .zeroes_last = zeroes_last};
    const Values expected = train_plain(job);
    const auto by_rank = train_sharded(job);

    // The two programs sum over the ranks in different orders: each of at most 8 steps
    // adds an error of a few ulps of numbers near 1, and momentum amplifies early errors.
    for (const Values& values : by_rank) {
        CHECK(values == by_rank[0]);
        CHECK(largest_difference(values, expected) < 1e-5);
    }
}

TEST_CASE("a joined owner does not change a parameter that no rank uses in the step") {
    // Rank 1 owns weight b. Both ranks use all weights in the first step; then rank 1
    // joins, and rank 0 uses weight a only.
    const auto by_rank = on_ranks(2, [](dist::ProcessGroup& group) {
        Branches module;
        DistributedDataParallel ddp(module, {.find_unused_parameters = true});
        ZeroRedundancyOptimizer zero(module.parameters(), make_decaying_sgd);
        Join({&ddp, &zero}).run([&] {
            for (int step = 0; step < (group.rank() == 0 ? 3 : 1); ++step) {
                module.on = {true, step == 0, step == 0};
                zero.zero_grad();
                ddp(Tensor::ones({1})).backward();
                zero.step();
            }
        });
        return std::pair(zero.owners(), flat_parameters(module));
    });
    // SGD's first step is 0.05 * (1 + 0.01 * 1); later steps change only weight a.
    for (const auto& [owners, values] : by_rank) {
        CHECK(owners == std::vector<int>{0, 1, 0});
        CHECK(std::abs(values[1] - 0.9495f) < 1e-6f);
        CHECK(values[2] == values[1]);
        CHECK(values[0] < values[1]);
    }
}
