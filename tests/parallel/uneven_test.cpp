// DDP with uneven inputs: ranks with different numbers of batches.

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "libmini/optim/sgd.hpp"
#include "libmini/parallel/ddp.hpp"
#include "libmini/tensor/ops.hpp"
#include "tests/parallel/toy.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"

using namespace mini;
using namespace mini::test;
using namespace mini::parallel;

namespace {

using Values = std::vector<float>;

// A weight whose gradient is the input, and a buffer that counts the forward passes.
class Weighing : public nn::Module {
  public:
    Weighing() {
        register_parameter("weight", weight);
        seen = register_buffer("seen", Tensor::zeros({1}));
    }
    Tensor forward(const Tensor& x) override {
        ops::add_(seen, Tensor::ones({1}));
        return sum(x * weight);
    }

    Tensor weight = Tensor::zeros({1}), seen;
};

}  // namespace

TEST_CASE("all ranks end with the model and buffers of the rank that trained longest") {
    const auto batches =
        GENERATE(std::vector<int>{2}, std::vector<int>{3, 1}, std::vector<int>{1, 4, 2},
                 std::vector<int>{0, 2, 2}, std::vector<int>{5, 1, 0, 3},
                 std::vector<int>{1, 2, 3, 4, 3, 2, 0});
    CAPTURE(batches);
    const auto ended =
        on_ranks(static_cast<int>(batches.size()), [&](dist::ProcessGroup& group) {
            Weighing module;
            DistributedDataParallel ddp(module);
            optim::SGD optimizer(module.parameters(), {.lr = 1.0});
            Join({&ddp}).run([&] {
                for (int i = 0; i < batches[static_cast<size_t>(group.rank())]; ++i) {
                    optimizer.zero_grad();
                    ddp(Tensor::full({1}, group.rank() + 1)).backward();
                    optimizer.step();
                }
            });
            return std::pair(module.weight.item(), module.seen.item());
        });
    for (const auto& [weight, seen] : ended) {
        CHECK(weight == ended[0].first);
        CHECK(seen == std::ranges::max(batches));
    }
}

TEST_CASE("gradients accumulated before a rank joins are part of the next average") {
    const auto gradients = on_ranks(2, [](dist::ProcessGroup& group) {
        Weighing module;
        DistributedDataParallel ddp(module);
        const Tensor x = Tensor::full({1}, group.rank() + 1);
        Values seen;
        Join({&ddp}).run([&] {
            for (int i = 0; i < (group.rank() == 0 ? 3 : 6); ++i) {
                if (i % 2 == 0) {
                    const auto no_sync = ddp.no_sync();
                    ddp(x).backward();
                    continue;
                }
                ddp(x).backward();
                seen.push_back(static_cast<float>(module.weight.grad().item()));
                module.zero_grad();
            }
        });
        return seen;
    });
    // In the second average, joined rank 0 still has the gradient 1 of its third batch.
    CHECK(gradients[1] == Values{3.0f, 2.5f, 2.0f});
}

TEST_CASE("ranks agree on broadcasting buffers in the epoch after an uneven epoch") {
    // With `accumulates`, only every second batch of an epoch averages the gradients. The
    // ranks join after different numbers of batches; in two cases one rank has an epoch
    // without a batch.
    const auto batches = GENERATE(std::vector<std::vector<int>>{{0, 2}, {2, 2}},
                                  std::vector<std::vector<int>>{{3, 2}, {4, 3}},
                                  std::vector<std::vector<int>>{{1, 2}, {0, 1}, {3, 1}});
    const bool accumulates = GENERATE(false, true);
    CAPTURE(batches, accumulates);
    const auto seen =
        on_ranks(static_cast<int>(batches.size()), [&](dist::ProcessGroup& group) {
            Weighing module;
            DistributedDataParallel ddp(module);
            for (const int count : batches[static_cast<size_t>(group.rank())])
                Join({&ddp}).run([&] {
                    for (int i = 0; i < count; ++i) {
                        const Tensor x = Tensor::ones({1});
                        if (accumulates && i % 2 == 0) {
                            const auto no_sync = ddp.no_sync();
                            ddp(x).backward();
                        } else {
                            ddp(x).backward();
                        }
                    }
                });
            return module.seen.item();
        });
    for (const double count : seen) CHECK(count == seen[0]);
}

TEST_CASE("two DDP modules take part in one Join, with even and with uneven inputs") {
    const auto batches = GENERATE(std::vector<int>{2, 2}, std::vector<int>{1, 3},
                                  std::vector<int>{3, 0, 2});
    CAPTURE(batches);
    struct Ended {
        std::vector<float> first, second, seen;
    };
    const auto ended =
        on_ranks(static_cast<int>(batches.size()), [&](dist::ProcessGroup& group) {
            Weighing one, other;
            DistributedDataParallel first(one), second(other);
            optim::SGD of_one(one.parameters(), {.lr = 1.0});
            optim::SGD of_other(other.parameters(), {.lr = 1.0});
            for (int epoch = 0; epoch < 2; ++epoch)
                Join({&first, &second}).run([&] {
                    for (int i = 0; i < batches[static_cast<size_t>(group.rank())]; ++i) {
                        for (optim::SGD* optimizer : {&of_one, &of_other})
                            optimizer->zero_grad();
                        first(Tensor::ones({1})).backward();
                        of_one.step();
                        second(Tensor::full({1}, 2)).backward();
                        of_other.step();
                    }
                });
            return Ended{flat_parameters(one),
                         flat_parameters(other),
                         {static_cast<float>(one.seen.item()),
                          static_cast<float>(other.seen.item())}};
        });
    const auto most = static_cast<float>(*std::ranges::max_element(batches));
    for (const Ended& rank : ended) {
        CHECK(rank.first == ended[0].first);
        CHECK(rank.second == ended[0].second);
        CHECK(rank.second[0] == 2 * rank.first[0]);
        CHECK(rank.seen == Values{2 * most, 2 * most});
    }
}

TEST_CASE(
    "without divide_by_initial_world_size each DDP of a Join divides by the active, "
    "in each of two runs") {
    const auto by_rank = on_ranks(2, [](dist::ProcessGroup& group) {
        Weighing one, other;
        DistributedDataParallel first(one), second(other);
        Values gradients;
        Join join({&first, &second}, {.divide_by_initial_world_size = false});
        for (int epoch = 0; epoch < 2; ++epoch)
            join.run([&] {
                for (int i = 0; i <= 2 * group.rank(); ++i) {
                    for (DistributedDataParallel* ddp : {&first, &second}) {
                        ddp->zero_grad();
                        (*ddp)(Tensor::full({1}, group.rank() + 1)).backward();
                    }
                    gradients.push_back(static_cast<float>(one.weight.grad().item()));
                    gradients.push_back(static_cast<float>(other.weight.grad().item()));
                }
            });
        one.zero_grad();
        first(Tensor::full({1}, group.rank() + 1)).backward();  // by the world size again
        gradients.push_back(static_cast<float>(one.weight.grad().item()));
        return gradients;
    });
    CHECK(by_rank[1] == Values{1.5f, 1.5f, 2.0f, 2.0f, 2.0f, 2.0f,  //
                               1.5f, 1.5f, 2.0f, 2.0f, 2.0f, 2.0f, 1.5f});
}

TEST_CASE("a Join whose joinables are used in another order is an error, not a hang") {
    const auto messages = on_ranks(2, [](dist::ProcessGroup&) {
        Weighing one, other;
        DistributedDataParallel first(one), second(other);
        return message_of<UsageError>([&] {
            Join({&first, &second}).run([&] { second(Tensor::ones({1})).backward(); });
        });
    });
    for (const std::string& message : messages)
        CHECK(contains(message, "the first joinable of the list must begin"));
}
