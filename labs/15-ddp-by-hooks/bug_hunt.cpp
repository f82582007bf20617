// A bug hunt: four ranks fit a line, accumulating the gradients of up to four batches for
// each step. The loss falls, but the program has a mistake.
//
//     lab15_bug_hunt
//
// Exit codes: 0 if the replicas are equal and every step averaged once, else 1.

#include <fmt/format.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "libmini/autograd/functions.hpp"
#include "libmini/distributed/launch/launch.hpp"
#include "libmini/nn/linear.hpp"
#include "libmini/optim/sgd.hpp"
#include "libmini/parallel/ddp.hpp"
#include "libmini/random/random.hpp"

using namespace mini;

namespace {

constexpr int kRanks = 4;
constexpr int kEpochs = 30;
constexpr int kBatches = 10;    // of each rank in an epoch
constexpr int kAccumulate = 4;  // batches for one step
constexpr int kStepsPerEpoch = 3;
constexpr int64_t kPoints = 8;  // in a batch

struct Points {
    Tensor x, y;
};

// Returns a batch of this rank: y = 2 x + 1 and some noise.
Points make_points(int rank, int batch) {
    Generator generator(static_cast<uint64_t>(rank * kBatches + batch));
    Tensor x = Tensor::empty({kPoints, 1}), y = Tensor::empty({kPoints, 1});
    fill_uniform(x.span<float>(), -1.0, 1.0, generator);
    fill_normal(y.span<float>(), 0.0, 0.1, generator);
    for (size_t i = 0; i < static_cast<size_t>(kPoints); ++i)
        y.span<float>()[i] += 2.0f * x.span<float>()[i] + 1.0f;
    return {x, y};
}

// Adds the gradient of one batch, divided by kAccumulate, to the gradients; returns the
// batch's loss.
double add_gradient(parallel::DistributedDataParallel& ddp, int rank, int batch) {
    const auto [x, y] = make_points(rank, batch);
    const Tensor loss = mse_loss(ddp(x), y);
    (loss * (1.0f / kAccumulate)).backward();
    return loss.item();
}

struct Fitted {
    double first_loss = 0, last_loss = 0;
    double weight = 0, bias = 0;
    int64_t steps = 0, all_reduces = 0;
};

Fitted fit(dist::ProcessGroup& group) {
    nn::Linear model(1, 1);
    parallel::DistributedDataParallel ddp(model);
    optim::SGD optimizer(model.parameters(), {.lr = 0.3});
    Fitted fitted;
    for (int epoch = 0; epoch < kEpochs; ++epoch)
        for (int batch = 0; batch < kBatches; ++batch) {
            // Average in the last pass of a group only: the passes before it accumulate.
            double loss = 0;
            if ((batch + 1) % kAccumulate != 0) {
                const auto no_sync = ddp.no_sync();
                loss = add_gradient(ddp, group.rank(), batch);
            } else {
                loss = add_gradient(ddp, group.rank(), batch);
            }
            if (epoch == 0 && batch == 0) fitted.first_loss = loss;
            fitted.last_loss = loss;

            // Step at the end of a group; the last group of an epoch may be smaller.
            if ((batch + 1) % kAccumulate == 0 || batch + 1 == kBatches) {
                optimizer.step();
                optimizer.zero_grad();
                ++fitted.steps;
            }
        }
    fitted.weight = model.weight.item();
    fitted.bias = model.bias.item();
    for (const Event& event : group.events().snapshot(EventKind::kCollectiveBegin))
        fitted.all_reduces += event.name == std::string("all_reduce") ? 1 : 0;
    return fitted;
}

// Returns what is wrong with the ranks' results, or "" if they are right.
std::string complaint_about(const std::vector<Fitted>& ranks) {
    const auto is_like_rank_0 = [&](const Fitted& rank) {
        return rank.weight == ranks[0].weight && rank.bias == ranks[0].bias;
    };
    if (!std::ranges::all_of(ranks, is_like_rank_0)) return "the replicas differ";
    constexpr int64_t kSteps = int64_t{kEpochs} * kStepsPerEpoch;
    if (ranks[0].steps != kSteps)
        return fmt::format("the replicas are equal, but made {} steps instead of {}",
                           ranks[0].steps, kSteps);
    if (ranks[0].all_reduces != kSteps)
        return fmt::format("the replicas are equal, but {} steps took {} all-reduces",
                           kSteps, ranks[0].all_reduces);
    return "";
}

}  // namespace

int main() {
    std::vector<Fitted> ranks(kRanks);
    dist::run_threads(kRanks, [&](dist::ProcessGroup& group) {
        manual_seed(1 + static_cast<uint64_t>(group.rank()));
        ranks[static_cast<size_t>(group.rank())] = fit(group);
    });
    for (size_t rank = 0; rank < ranks.size(); ++rank)
        std::cout << fmt::format(
            "rank {}   loss {:.4f} -> {:.4f}   y = {:.4f} x + {:.4f}\n", rank,
            ranks[rank].first_loss, ranks[rank].last_loss, ranks[rank].weight,
            ranks[rank].bias);
    const std::string complaint = complaint_about(ranks);
    std::cout << (complaint.empty() ? "the replicas are equal" : complaint) << '\n';
    return complaint.empty() ? 0 : 1;
}
