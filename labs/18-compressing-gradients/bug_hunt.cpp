// A bug hunt: two ranks send only their largest gradient, and keep the error. With random
// gradients all weights moved; with these gradients one weight never does.
//
//     lab18_bug_hunt
//
// Exit codes: 0 both weights have moved as far as they should, 1 they have not.

#include <fmt/format.h>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <vector>

#include "libmini/distributed/launch/launch.hpp"
#include "libmini/tensor/ops.hpp"

using namespace mini;

namespace {

constexpr int kRanks = 2;
constexpr int kSteps = 90;
constexpr int kFastSteps = 50;  // then the learning rate falls

float learning_rate(int step) { return step < kFastSteps ? 1.0f : 0.125f; }

// Averages two gradients per rank; each rank sends the larger one only.
class TopOne {
  public:
    explicit TopOne(dist::ProcessGroup& group) : group_(group) {}

    // Returns the average over the ranks of what was sent.
    std::vector<float> average(const std::vector<float>& gradient) {
        // Add what the earlier steps have not sent.
        std::vector<float> exact(2);
        for (size_t i = 0; i < 2; ++i) exact[i] = gradient[i] + error_[i];

        // Send the larger gradient; the other one counts as zero.
        std::vector<float> sent(2);
        const size_t largest = std::abs(gradient[0]) >= std::abs(gradient[1]) ? 0 : 1;
        sent[largest] = exact[largest];
        const Tensor sum = Tensor::from(sent);
        group_.all_reduce(sum, dist::ReduceOp::kAvg);

        // Keep the error for the next step.
        for (size_t i = 0; i < 2; ++i) error_[i] = exact[i] - sent[i];
        return sum.to_vector<float>();
    }

  private:
    dist::ProcessGroup& group_;
    std::vector<float> error_{0, 0};
};

// Returns how far two weights move. The first gradient is 8 on rank 0 and -8 on rank 1;
// the second is 1 on both.
std::vector<float> train(dist::ProcessGroup& group) {
    TopOne hook(group);
    const std::vector<float> gradient{group.rank() == 0 ? 8.0f : -8.0f, 1.0f};
    std::vector<float> total(2);
    for (int step = 0; step < kSteps; ++step) {
        const auto average = hook.average(gradient);
        for (size_t i = 0; i < 2; ++i) total[i] += learning_rate(step) * average[i];
    }
    return total;
}

}  // namespace

int main() {
    std::vector<float> moved(2);
    dist::run_threads(kRanks, [&](dist::ProcessGroup& group) {
        const std::vector<float> total = train(group);
        if (group.rank() == 0) moved = total;
    });
    float exact = 0.0f;
    for (int step = 0; step < kSteps; ++step) exact += learning_rate(step);
    const float late = 9 * learning_rate(kSteps);
    std::cout << fmt::format(
        "after {} steps weight 0 has moved by {}, should be 0\n"
        "               weight 1 has moved by {}, should be {} or up to {} less\n",
        kSteps, moved[0], moved[1], exact, late);
    const bool right = moved[0] == 0 && moved[1] <= exact && moved[1] >= exact - late;
    std::cout << (right ? "both weights are where they should be\n"
                        : "a weight is not where it should be\n");
    return right ? 0 : 1;
}
