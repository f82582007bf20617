// A bug hunt: data-parallel training with buckets, in fifty lines. The buckets are
// launched in one order, and after the first step all replicas are equal. After the second
// they are not.
//
//     lab16_bug_hunt
//
// Exit codes: 0 the ranks train like one rank with all points, 1 they do not.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <utility>
#include <vector>

#include "libmini/autograd/functions.hpp"
#include "libmini/autograd/node.hpp"
#include "libmini/distributed/launch/launch.hpp"
#include "libmini/nn/linear.hpp"
#include "libmini/optim/sgd.hpp"
#include "libmini/random/random.hpp"
#include "libmini/tensor/ops.hpp"

using namespace mini;

namespace {

constexpr int64_t kPoints = 16;  // of all ranks together
constexpr int kSteps = 100;

class Curve : public nn::Module {
  public:
    Curve() {
        register_module("hidden", hidden);
        register_module("out", out);
    }
    Tensor forward(const Tensor& x) override { return out(tanh(hidden(x))); }

  private:
    nn::Linear hidden{1, 8}, out{8, 1};
};

// Averages the gradients of a model in buckets of two, from the last parameter to the
// first. A gradient is a view of its bucket, so nothing is copied.
class Buckets {
  public:
    Buckets(std::vector<Tensor> parameters, dist::ProcessGroup& group) : group_(group) {
        std::ranges::reverse(parameters);
        for (size_t i = 0; i < parameters.size(); i += 2) {
            const int64_t first = parameters[i].numel(),
                          second = parameters[i + 1].numel();
            buckets_.push_back({.buffer = Tensor::zeros({first + second})});
            add(parameters[i], 0);
            add(parameters[i + 1], first);
        }
    }

    // Waits until all gradients are averaged, and prepares the next pass.
    void finish() {
        for (Bucket& bucket : buckets_) {
            bucket.work->wait();
            bucket.ready = 0;
        }
        next_ = 0;
    }

  private:
    struct Bucket {
        Tensor buffer = {};
        int ready = 0;  // gradients, of two
        dist::WorkHandle work = {};
    };

    // Makes the gradient of `parameter` a view of the last bucket, from `offset` on.
    void add(Tensor parameter, int64_t offset) {
        const size_t number = buckets_.size() - 1;
        const Tensor view =
            ops::view(ops::narrow(buckets_[number].buffer, 0, offset, parameter.numel()),
                      parameter.shape());
        parameter.set_grad(view);
        grad_accumulator(parameter)->add_hook([this, number](const Tensor&) {
            ++buckets_[number].ready;
            launch();
        });
    }

    // Launches full buckets in order, up to the first that is not full.
    void launch() {
        for (; next_ < buckets_.size() && buckets_[next_].ready == 2; ++next_)
            buckets_[next_].work =
                group_.all_reduce_async(buckets_[next_].buffer, dist::ReduceOp::kAvg);
    }

    dist::ProcessGroup& group_;
    std::vector<Bucket> buckets_;
    size_t next_ = 0;  // the next bucket to launch
};

// Returns each P-th point of a sine, from point `rank` on.
std::pair<Tensor, Tensor> points_of(int rank, int P) {
    std::vector<float> x, y;
    for (int64_t i = rank; i < kPoints; i += P) {
        x.push_back(0.4f * static_cast<float>(i) - 3.2f);
        y.push_back(std::sin(x.back()));
    }
    const auto n = static_cast<int64_t>(x.size());
    return {ops::view(Tensor::from(x), {n, 1}), ops::view(Tensor::from(y), {n, 1})};
}

using Weights = std::vector<float>;

struct Trained {
    Weights first, last;  // after the first step, and after the last
    double loss = 0;
};

Weights weights_of(const nn::Module& model) {
    Weights weights;
    for (const Tensor& parameter : model.parameters())
        for (const float weight : parameter.detach().to_vector<float>())
            weights.push_back(weight);
    return weights;
}

Trained train(dist::ProcessGroup& group) {
    manual_seed(1);  // the same initial weights on every rank
    Curve model;
    Buckets buckets(model.parameters(), group);
    optim::SGD optimizer(model.parameters(), {.lr = 0.1});
    const auto [x, y] = points_of(group.rank(), group.world_size());
    Trained trained;
    for (int step = 0; step < kSteps; ++step) {
        const Tensor loss = mse_loss(model(x), y);
        loss.backward();
        buckets.finish();
        optimizer.step();
        optimizer.zero_grad();
        trained.loss = loss.item();
        if (step == 0) trained.first = weights_of(model);
    }
    trained.last = weights_of(model);
    return trained;
}

// Returns the largest difference of two weights.
double difference(const Weights& a, const Weights& b) {
    double largest = 0;
    for (size_t i = 0; i < a.size(); ++i)
        largest = std::max(largest, std::abs(double{a[i]} - double{b[i]}));
    return largest;
}

std::vector<Trained> train_on(int world_size) {
    std::vector<Trained> ranks(static_cast<size_t>(world_size));
    dist::run_threads(world_size, [&](dist::ProcessGroup& group) {
        ranks[static_cast<size_t>(group.rank())] = train(group);
    });
    return ranks;
}

}  // namespace

int main() {
    const Trained alone = train_on(1)[0];
    bool right = true;
    for (const int world_size : {1, 2, 4}) {
        double first = 0, last = 0;  // the largest differences from one rank's training
        for (const Trained& trained : train_on(world_size)) {
            first = std::max(first, difference(trained.first, alone.first));
            last = std::max(last, difference(trained.last, alone.last));
        }
        right = right && last < 1e-3;
        std::cout << fmt::format(
            "{} ranks: after 1 step the weights differ by {:.4f}, after {} by {:.4f}\n",
            world_size, first, kSteps, last);
    }
    std::cout << (right ? "the ranks train like one rank\n"
                        : "the ranks do not train like one rank\n");
    return right ? 0 : 1;
}
