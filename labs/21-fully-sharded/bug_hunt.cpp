// A bug hunt: a network that is too large for one rank gets its first values after it was
// sharded, so that no rank ever has all of them. On two ranks it learns something else than
// on one.
//
//     lab21_bug_hunt
//
// Exit codes: 0 two ranks train like one process, 1 they do not.

#include <fmt/format.h>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <vector>

#include "libmini/autograd/functions.hpp"
#include "libmini/distributed/launch/launch.hpp"
#include "libmini/nn/linear.hpp"
#include "libmini/optim/sgd.hpp"
#include "libmini/parallel/fsdp.hpp"
#include "libmini/random/random.hpp"
#include "libmini/tensor/ops.hpp"

using namespace mini;

namespace {

constexpr int kSteps = 40;
constexpr uint64_t kSeed = 7;

// A network with one hidden layer, whose two layers are units of 40 and 9 parameters.
class Model : public nn::Module {
  public:
    Model() {
        register_module("hidden", hidden);
        register_module("output", output);
    }
    Tensor forward(const Tensor& x) override { return output(tanh(hidden(x))); }

    nn::Linear hidden{4, 8}, output{8, 1};
};

// Draws the first values of the parameters, in [-1, 1): with the same seed the same ones.
void draw_parameters(parallel::FullyShardedDataParallel& fsdp, dist::ProcessGroup&) {
    for (const Tensor& each : fsdp.shards()) {
        Generator generator(kSeed);
        std::vector<float> values(static_cast<size_t>(each.numel()));
        fill_uniform(values, -1.0, 1.0, generator);
        Tensor shard = each.detach();
        ops::copy_(shard, Tensor::from(values));
    }
}

// Returns 16 samples of four numbers, and the product of the first two of each.
std::pair<Tensor, Tensor> make_samples() {
    std::vector<float> x(64), y;
    Generator generator(1);
    fill_uniform(x, -1.0, 1.0, generator);
    for (size_t i = 0; i < x.size(); i += 4) y.push_back(x[i] * x[i + 1]);
    return {Tensor::from(x, {16, 4}), Tensor::from(y, {16, 1})};
}

// Trains on `ranks` ranks, all with the same samples; returns the losses of rank 0 in the
// first and in the last step.
std::vector<double> train(int ranks) {
    std::vector<double> losses;
    dist::run_threads(ranks, [&](dist::ProcessGroup& group) {
        Model model;
        parallel::FullyShardedDataParallel fsdp(model, {"hidden", "output"});
        draw_parameters(fsdp, group);
        optim::SGD sgd(fsdp.shards(), {.lr = 0.25});
        const auto [x, y] = make_samples();
        for (int step = 0; step < kSteps; ++step) {
            sgd.zero_grad();
            const Tensor error = fsdp(x) - y;
            const Tensor loss = mean(error * error);
            loss.backward();
            sgd.step();
            if (group.rank() == 0 && (step == 0 || step == kSteps - 1))
                losses.push_back(loss.item());
        }
    });
    return losses;
}

}  // namespace

int main() {
    const auto alone = train(1), sharded = train(2);
    std::cout << fmt::format("one process   first loss {:.4f}   last loss {:.4f}\n",
                             alone[0], alone[1]);
    std::cout << fmt::format("two ranks     first loss {:.4f}   last loss {:.4f}\n",
                             sharded[0], sharded[1]);
    const bool same =
        std::abs(alone[0] - sharded[0]) < 1e-4 && std::abs(alone[1] - sharded[1]) < 1e-4;
    std::cout << (same ? "two ranks train like one process\n"
                       : "two ranks do not train like one process\n");
    return same ? 0 : 1;
}
