// The sharded optimizer: who owns what, errors, and uneven inputs: Join over DDP and
// ZeroRedundancyOptimizer gives the same parameters as unsharded SGD in one process. The
// checks of lab 19 compare its steps and its consolidated state with the unsharded
// optimizer's.

#include "libmini/parallel/zero.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "libmini/optim/sgd.hpp"
#include "libmini/parallel/ddp.hpp"
#include "tests/parallel/toy.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/golden.hpp"

using namespace mini;
using namespace mini::test;
using namespace mini::parallel;
using optim::OptimizerState;

namespace {

std::unique_ptr<optim::Optimizer> make_sgd(std::vector<Tensor> parameters) {
    return std::make_unique<optim::SGD>(
        std::move(parameters),
        optim::SGDOptions{.lr = 0.05, .momentum = 0.9, .weight_decay = 0.01});
}

// Five parameters, of sizes 12, 1, 7, 0 and 40; the same on every rank.
std::vector<Tensor> make_parameters() {
    std::vector<Tensor> parameters;
    for (const Shape& shape : {Shape{3, 4}, Shape{1}, Shape{7}, Shape{0}, Shape{2, 4, 5}})
        parameters.push_back(draw(shape, parameters.size()).set_requires_grad());
    return parameters;
}

void take_step(optim::Optimizer& optimizer) {
    for (Tensor parameter : optimizer.parameters())
        parameter.set_grad(Tensor::ones(parameter.shape()));
    optimizer.step();
}

int64_t elements(const OptimizerState& state) {
    int64_t count = 0;
    for (const auto& [name, tensor] : state.tensors) count += tensor.numel();
    return count;
}

}  // namespace

TEST_CASE("parameters are partitioned over ranks as in PyTorch") {
    for (const auto& golden : golden_cases("zero_partition"))
        for (const auto& [world_size, owners] : golden["owners"].items()) {
            CAPTURE(golden["name"], world_size);
            CHECK(partition_parameters(golden["sizes"].get<std::vector<int64_t>>(),
                                       std::stoi(world_size)) ==
                  owners.get<std::vector<int>>());
        }
}

TEST_CASE("each state element is on one rank and no rank has much more than its share") {
    const int world_size = GENERATE(1, 2, 3, 4, 7);
    CAPTURE(world_size);
    int64_t consolidated = 0;
    const auto by_rank = on_ranks(world_size, [&](dist::ProcessGroup& group) {
        std::vector<Tensor> parameters;
        for (int i = 0; i < 24; ++i)
            parameters.push_back(Tensor::zeros({10 + i % 5}).set_requires_grad());
        ZeroRedundancyOptimizer zero(parameters, make_sgd);
        take_step(zero);
        zero.consolidate_state_dict(0);
        if (group.rank() == 0) consolidated = elements(zero.state_dict());
        return elements(zero.local_optimizer().state_dict());
    });
    const int64_t total = 24 * 10 + 4 * (1 + 2 + 3 + 4) + 1 + 2 + 3;
    CHECK(consolidated == total);
    CHECK(std::accumulate(by_rank.begin(), by_rank.end(), int64_t{0}) == total);
    for (const int64_t count : by_rank) CHECK(count <= total / world_size + 14);
}

TEST_CASE("a state that is missing or out of date is rejected") {
    const auto by_rank = on_ranks(2, [](dist::ProcessGroup&) {
        ZeroRedundancyOptimizer zero(make_parameters(), make_sgd);
        std::vector<std::string> messages;
        zero.consolidate_state_dict(1);
        messages.push_back(message_of([&] { zero.state_dict(); }));
        take_step(zero);
        messages.push_back(message_of([&] { zero.state_dict(); }));
        messages.push_back(message_of([&] { zero.consolidate_state_dict(2); }));
        const OptimizerState alien{.tensors = {{"state.9.momentum_buffer", Tensor()}},
                                   .numbers = {}};
        messages.push_back(message_of([&] { zero.load_state_dict(alien); }));
        const OptimizerState odd{.tensors = {}, .numbers = {{"state.x", 1}}};
        messages.push_back(message_of([&] { zero.load_state_dict(odd); }));
        return messages;
    });
    const std::string missing =
        "ZeroRedundancyOptimizer: rank 0 has the state of its own parameters only; call "
        "consolidate_state_dict(0) on all ranks, after the last step";
    CHECK(by_rank[0][0] == missing);
    CHECK(by_rank[1][0] == "");
    CHECK(by_rank[0][1] == missing);
    CHECK(by_rank[1][1] != "");
    CHECK(by_rank[0][2] ==
          "consolidate_state_dict: rank 2 does not exist; ranks are 0 to 1");
    CHECK(by_rank[1][3] ==
          "ZeroRedundancyOptimizer: the state has a parameter 9, but there "
          "are 5 parameters");
    CHECK(by_rank[0][4] ==
          "optimizer state: the name state.x is not of the form state.NUMBER.WHAT");
}

TEST_CASE("ranks with different parameter lists get the same error on every rank") {
    const Tensor two = Tensor::zeros({2}), four = Tensor::zeros({4});
    const std::vector<Tensor> list{two, four};
    struct Case {
        std::vector<Tensor> on_rank_2;
        std::string error;
    };
    const Case each = GENERATE_COPY(values<Case>(
        {{{two},
          "rank 0 has 2 parameters, but rank 2 has 1; every rank must pass the same "
          "list"},
         {{two, Tensor::zeros({4, 1})},
          "parameter 1 is (4,) on rank 0, but (4, 1) on rank 2; every rank must pass the "
          "same list"}}));
    const auto messages = on_ranks(3, [&](dist::ProcessGroup& group) {
        const auto& mine = group.rank() == 2 ? each.on_rank_2 : list;
        return message_of([&] { ZeroRedundancyOptimizer(mine, make_sgd); });
    });
    for (const std::string& message : messages)
        CHECK(message == "ZeroRedundancyOptimizer: " + each.error);
}

TEST_CASE("parameters other than float32 are rejected") {
    const auto by_rank = on_ranks(2, [](dist::ProcessGroup&) {
        return message_of<UsageError>([] {
            ZeroRedundancyOptimizer({Tensor::zeros({2}, DType::kInt64)}, make_sgd);
        });
    });
    CHECK(by_rank[0] == "ZeroRedundancyOptimizer: parameter 0 is int64, not float32");
}

// ---- uneven inputs

namespace {

using Values = std::vector<float>;

constexpr int kEpochs = 2;

struct UnevenJob {
    std::vector<int> batches;  // of each rank, in each epoch
    JoinOptions options;
    bool zeroes_last = false;  // call zero_grad() at the end of an iteration

    int world_size() const { return static_cast<int>(batches.size()); }
};

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
        ZeroRedundancyOptimizer zero(module.parameters(), make_sgd);
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
    const auto sgd = make_sgd(module.parameters());
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
        ZeroRedundancyOptimizer zero(module.parameters(), make_sgd);
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
