// A bug hunt: two ranks train a model of two towers with all-reduces that overlap with
// the backward pass. The code worked for the author's earlier models, but does not work
// for this model.
//
//     lab16_bug_hunt
//
// Exit codes: 0 the replicas have the mean gradients, 1 they do not.

#include <fmt/format.h>
#include <cstddef>
#include <iostream>
#include <vector>

#include "libmini/autograd/functions.hpp"
#include "libmini/autograd/node.hpp"
#include "libmini/distributed/launch/launch.hpp"
#include "libmini/nn/module.hpp"
#include "libmini/tensor/ops.hpp"

using namespace mini;

namespace {

constexpr int kRanks = 2;

// Two towers of one weight each; the larger input goes through its tower first.
class Towers : public nn::Module {
  public:
    Towers() {
        register_parameter("image", image);
        register_parameter("text", text);
    }
    Tensor forward(const Tensor& x) override {
        const bool image_first =
            ops::select(x, 0, 0).item() > ops::select(x, 0, 1).item();
        const Tensor first = tower(x, image_first ? 0 : 1);
        return first + tower(x, image_first ? 1 : 0);
    }

    Tensor image = Tensor::ones({1});
    Tensor text = Tensor::ones({1});

  private:
    Tensor tower(const Tensor& x, int which) {
        return ops::narrow(x, 0, which, 1) * (which == 0 ? image : text);
    }
};

// One all-reduce per parameter, started as soon as its gradient is ready.
class Overlap {
  public:
    Overlap(const nn::Module& model, dist::ProcessGroup& group) {
        for (const Tensor& parameter : model.parameters())
            grad_accumulator(parameter)->add_hook([this, &group](const Tensor& leaf) {
                in_flight_.push_back(
                    group.all_reduce_async(leaf.grad(), dist::ReduceOp::kAvg));
            });
    }
    void finish() {
        for (const dist::WorkHandle& work : in_flight_) work->wait();
        in_flight_.clear();
    }

  private:
    std::vector<dist::WorkHandle> in_flight_;
};

struct Gradients {
    double image = 0, text = 0;
};

}  // namespace

int main() {
    // The gradients are the inputs: 8 and 2 on rank 0, 100 and 500 on rank 1.
    std::vector<Gradients> seen(kRanks);
    dist::run_threads(kRanks, [&](dist::ProcessGroup& group) {
        const Tensor x = group.rank() == 0 ? Tensor::from(std::vector<float>{8, 2})
                                           : Tensor::from(std::vector<float>{100, 500});
        Towers model;
        Overlap overlap(model, group);
        sum(model(x)).backward();
        overlap.finish();
        seen[static_cast<size_t>(group.rank())] = {model.image.grad().item(),
                                                   model.text.grad().item()};
    });
    bool right = true;
    for (size_t rank = 0; rank < seen.size(); ++rank) {
        std::cout << fmt::format(
            "rank {}   image {}, should be 54   text {}, should be "
            "251\n",
            rank, seen[rank].image, seen[rank].text);
        right = right && seen[rank].image == 54 && seen[rank].text == 251;
    }
    std::cout << (right ? "the gradients are averaged\n"
                        : "the gradients are not what they should be\n");
    return right ? 0 : 1;
}
