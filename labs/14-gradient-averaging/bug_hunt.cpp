// A bug hunt: four ranks fit a line by gradient averaging. The loss falls, but one line
// of this program is wrong.
//
//     lab14_bug_hunt
//
// Exit codes: 0 the replicas are equal, 1 they differ.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <vector>

#include "libmini/autograd/functions.hpp"
#include "libmini/autograd/node.hpp"
#include "libmini/distributed/launch/launch.hpp"
#include "libmini/nn/linear.hpp"
#include "libmini/optim/sgd.hpp"
#include "libmini/random/random.hpp"

using namespace mini;

namespace {

constexpr int kRanks = 4;
constexpr int kSteps = 60;
constexpr int64_t kPoints = 8;  // of each rank

// Returns this rank's points: y = 2 x + 1 and some noise.
std::pair<Tensor, Tensor> make_points(int rank) {
    Generator generator(static_cast<uint64_t>(rank));
    Tensor x = Tensor::empty({kPoints, 1}), y = Tensor::empty({kPoints, 1});
    fill_uniform(x.span<float>(), -1.0, 1.0, generator);
    fill_normal(y.span<float>(), 0.0, 0.1, generator);
    for (size_t i = 0; i < static_cast<size_t>(kPoints); ++i)
        y.span<float>()[i] += 2.0f * x.span<float>()[i] + 1.0f;
    return {x, y};
}

// Averages each gradient over the ranks as soon as the backward pass has computed it.
void average_during_backward(const nn::Module& model, dist::ProcessGroup& group) {
    for (const Tensor& parameter : model.parameters())
        grad_accumulator(parameter)->add_hook([&group](const Tensor& grad) {
            group.all_reduce(grad, dist::ReduceOp::kAvg);
        });
}

struct Trained {
    double first_loss = 0, last_loss = 0;
    double weight = 0, bias = 0;
};

Trained train(dist::ProcessGroup& group) {
    manual_seed(1);  // the same initial weights on every rank
    nn::Linear model(1, 1);
    average_during_backward(model, group);
    optim::SGD optimizer(model.parameters(), {.lr = 0.2});
    const auto [x, y] = make_points(group.rank());
    Trained trained;
    for (int step = 0; step < kSteps; ++step) {
        optimizer.zero_grad();
        const Tensor loss = mse_loss(model(x), y);
        loss.backward();
        optimizer.step();
        trained.last_loss = loss.item();
        if (step == 0) trained.first_loss = loss.item();
    }
    trained.weight = model.weight.item();
    trained.bias = model.bias.item();
    return trained;
}

}  // namespace

int main() {
    std::vector<Trained> seen(kRanks);
    dist::run_threads(kRanks, [&](dist::ProcessGroup& group) {
        seen[static_cast<size_t>(group.rank())] = train(group);
    });
    for (size_t rank = 0; rank < seen.size(); ++rank)
        std::cout << fmt::format(
            "rank {}   loss {:.4f} -> {:.4f}   y = {:.4f} x + {:.4f}\n", rank,
            seen[rank].first_loss, seen[rank].last_loss, seen[rank].weight,
            seen[rank].bias);
    const bool equal = std::ranges::all_of(seen, [&](const Trained& rank) {
        return rank.weight == seen[0].weight && rank.bias == seen[0].bias;
    });
    std::cout << (equal ? "the replicas are equal\n" : "the replicas differ\n");
    return equal ? 0 : 1;
}
