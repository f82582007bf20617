// A bug hunt: two ranks train with sharded gradients and a sharded optimizer, and clip
// the gradients before each step. The training does not end where it ends on one rank.
//
//     lab19_bug_hunt
//
// Exit codes: 0 the parameters are those of one process, 1 they are not.

#include <fmt/format.h>
#include <cmath>
#include <cstddef>
#include <iostream>
#include <memory>
#include <utility>
#include <vector>

#include "libmini/autograd/functions.hpp"
#include "libmini/distributed/launch/launch.hpp"
#include "libmini/nn/module.hpp"
#include "libmini/optim/sgd.hpp"
#include "libmini/parallel/ddp.hpp"
#include "libmini/parallel/reduce_scatter_hook.hpp"
#include "libmini/parallel/zero.hpp"
#include "libmini/tensor/ops.hpp"

using namespace mini;

namespace {

constexpr int kSteps = 3;
constexpr double kMaxNorm = 5.0;

// The gradient of `steep` is 3 x for each of its 4 elements, that of `flat` is 4 x.
class Model : public nn::Module {
  public:
    Model() {
        register_parameter("steep", steep);
        register_parameter("flat", flat);
    }
    Tensor forward(const Tensor& x) override {
        return sum(steep * x * 3.0f) + sum(flat * x * 4.0f);
    }

    Tensor steep = Tensor::ones({4});
    Tensor flat = Tensor::ones({1});
};

// Scales all gradients so that their norm is at most `max_norm`.
void clip_gradients(const std::vector<Tensor>& parameters, double max_norm,
                    dist::ProcessGroup&) {
    double squares = 0.0;
    for (const Tensor& parameter : parameters)
        if (parameter.grad().defined())
            for (const float g : parameter.grad().to_vector<float>()) squares += g * g;
    const double norm = std::sqrt(squares);
    if (norm <= max_norm) return;
    for (const Tensor& parameter : parameters) {
        Tensor gradient = parameter.grad();
        if (gradient.defined()) ops::mul_(gradient, static_cast<float>(max_norm / norm));
    }
}

std::unique_ptr<optim::Optimizer> make_sgd(std::vector<Tensor> parameters) {
    return std::make_unique<optim::SGD>(std::move(parameters),
                                        optim::SGDOptions{.lr = 0.125, .momentum = 0.5});
}

struct Result {
    double steep = 0, flat = 0;
    bool operator==(const Result&) const = default;
};

// Trains on `ranks` ranks, all with the same x; returns rank 0's parameters.
Result train(int ranks) {
    Result result;
    dist::run_threads(ranks, [&](dist::ProcessGroup& group) {
        Model model;
        parallel::DistributedDataParallel ddp(model);
        parallel::ZeroRedundancyOptimizer zero(model.parameters(), make_sgd);
        ddp.register_comm_hook(parallel::reduce_scatter_hook(zero));
        for (int step = 0; step < kSteps; ++step) {
            zero.zero_grad();
            ddp(Tensor::full({1}, step + 1)).backward();
            clip_gradients(model.parameters(), kMaxNorm, group);
            zero.step();
        }
        if (group.rank() == 0)
            result = {ops::select(model.steep, 0, 0).item(), model.flat.item()};
    });
    return result;
}

}  // namespace

int main() {
    const Result alone = train(1), sharded = train(2);
    std::cout << fmt::format("one process   steep {:.4f}   flat {:.4f}\n", alone.steep,
                             alone.flat);
    std::cout << fmt::format("two ranks     steep {:.4f}   flat {:.4f}\n", sharded.steep,
                             sharded.flat);
    const bool same = alone == sharded;
    std::cout << (same ? "the parameters are those of one process\n"
                       : "the parameters differ from those of one process\n");
    return same ? 0 : 1;
}
