// reduce_scatter_hook within DDP: after no_sync, and with unused parameters. The checks of
// lab 19 train with it, and show which gradients a rank keeps.

#include "libmini/parallel/reduce_scatter_hook.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "libmini/optim/adam.hpp"
#include "libmini/parallel/ddp.hpp"
#include "tests/parallel/toy.hpp"
#include "tests/support/catch.hpp"

using namespace mini;
using namespace mini::test;
using namespace mini::parallel;

namespace {

using Values = std::vector<float>;

// The gradient of each weight is x, an integer, so sums of gradients are exact in any
// order. Weights have 12, 1, 7, 40 and 3 elements.
class Weights : public nn::Module {
  public:
    Weights() {
        for (const int64_t size : {12, 1, 7, 40, 3}) {
            const std::string name = concat("w", weights_.size());
            weights_.push_back(register_parameter(
                name, draw({size}, static_cast<uint64_t>(size)).set_requires_grad()));
        }
    }
    Tensor forward(const Tensor& x) override {
        Tensor total;
        for (size_t i = 0; i < weights_.size(); ++i) {
            if (skips_last && i + 1 == weights_.size()) break;
            const Tensor part = sum(weights_[i] * x * static_cast<float>(i + 1));
            total = total.defined() ? total + part : part;
        }
        return total;
    }

    bool skips_last = false;

  private:
    std::vector<Tensor> weights_;
};

std::unique_ptr<optim::Optimizer> make_small_adam(std::vector<Tensor> parameters) {
    return std::make_unique<optim::Adam>(std::move(parameters),
                                         optim::AdamOptions{.lr = 0.01});
}

DDPOptions buckets_of(int64_t bytes) {
    return {.first_bucket_bytes = bytes, .bucket_cap_mb = mib(bytes)};
}

void backward_of(DistributedDataParallel& ddp, int step, int rank) {
    ddp(Tensor::full({1}, (step + 1) * (rank + 2))).backward();
}

}  // namespace

TEST_CASE("a pass after no_sync averages the accumulated gradients") {
    const auto seen = on_ranks(3, [](dist::ProcessGroup& group) {
        Weights model;
        DistributedDataParallel ddp(model, buckets_of(60));
        ZeroRedundancyOptimizer zero(model.parameters(), make_small_adam);
        ddp.register_comm_hook(reduce_scatter_hook(zero));
        for (int step = 0; step < 2; ++step) {
            zero.zero_grad();
            {
                const auto guard = ddp.no_sync();
                backward_of(ddp, 0, group.rank());
            }
            backward_of(ddp, 1, group.rank());
        }
        std::vector<double> own;
        for (size_t i = 0; i < zero.owners().size(); ++i)
            if (zero.owners()[i] == group.rank())
                own.push_back(ops::narrow(zero.parameters()[i].grad(), 0, 0, 1).item() /
                              static_cast<double>(i + 1));
        return own;
    });
    // The average of 3 (2 + rank) over the ranks 0, 1 and 2.
    for (const auto& rank : seen)
        for (const double gradient : rank) CHECK(gradient == 9.0);
}

TEST_CASE("a freed bucket is no average for an unused parameter") {
    const auto messages = on_ranks(2, [](dist::ProcessGroup& group) {
        Weights model;
        DDPOptions options = buckets_of(60);
        options.find_unused_parameters = true;
        DistributedDataParallel ddp(model, options);
        ZeroRedundancyOptimizer zero(model.parameters(), make_small_adam);
        ddp.register_comm_hook(reduce_scatter_hook(zero));
        model.skips_last = true;
        return message_of([&] { backward_of(ddp, 0, group.rank()); });
    });
    for (size_t rank = 0; rank < 2; ++rank)
        CHECK(messages[rank] ==
              concat("DistributedDataParallel: the communication hook has freed bucket 0 "
                     "on rank ",
                     rank,
                     "; such a hook cannot be used with find_unused_parameters, "
                     "static_graph or Join"));
}
