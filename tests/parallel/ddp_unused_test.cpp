// DDP with unused parameters: on some ranks, or on all ranks, the loss does not depend on
// them.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "libmini/parallel/ddp.hpp"
#include "libmini/parallel/join.hpp"
#include "tests/parallel/toy.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"

using namespace mini;
using namespace mini::test;
using parallel::DDPOptions;
using parallel::DistributedDataParallel;
using parallel::Join;

namespace {

using Values = std::vector<float>;

Tensor input(const dist::ProcessGroup& group) {
    return Tensor::full({1}, group.rank() + 1);
}

// Returns the weight's gradient as text, or "none" if the gradient is undefined.
std::string gradient(const Tensor& weight) {
    return weight.grad().defined() ? concat(weight.grad().item()) : "none";
}

std::vector<std::string> gradients(const Branches& module) {
    std::vector<std::string> all;
    for (const Tensor& weight : module.weights) all.push_back(gradient(weight));
    return all;
}

const DDPOptions kFindUnused{.first_bucket_bytes = 1,
                             .bucket_cap_mb = parallel::mib(1),
                             .find_unused_parameters = true};

}  // namespace

TEST_CASE("a parameter used only within no_sync is averaged by the next pass") {
    const auto seen = on_ranks(2, [](dist::ProcessGroup& group) {
        Branches module;
        DistributedDataParallel ddp(module, kFindUnused);
        {
            const auto no_sync = ddp.no_sync();
            module.on = {true, false, group.rank() == 1};
            ddp(input(group)).backward();
        }
        module.on = {true, false, false};
        ddp(input(group)).backward();
        const auto averaged = gradients(module);
        module.zero_grad();
        ddp(input(group)).backward();
        return std::pair(averaged, gradients(module));
    });
    for (const auto& [averaged, next] : seen) {
        CHECK(averaged == std::vector<std::string>{"3", "none", "1"});
        CHECK(next == std::vector<std::string>{"1.5", "none", "none"});
    }
}

TEST_CASE(
    "a parameter used outside of forward throws an error that names the parameter") {
    const auto messages = on_ranks(2, [](dist::ProcessGroup& group) {
        Branches module;
        DistributedDataParallel ddp(module, kFindUnused);
        module.on[2] = false;
        const Tensor loss = ddp(input(group)) + sum(module.weights[2]);
        return message_of([&] { loss.backward(); });
    });
    for (const std::string& message : messages)
        CHECK(contains(message, "a gradient of c came"));
}

TEST_CASE(
    "static_graph learns the unused parameters in a first iteration without overlap") {
    struct Seen {
        std::vector<std::string> first, second;
        bool first_overlaps = true, second_overlaps = false;
        int64_t searches = 0;
    };
    const auto overlaps = [](const std::vector<Event>& log) {
        bool launched = false;
        for (const Event& event : log) {
            launched = launched || event.kind == EventKind::kBucketLaunch;
            if (launched && event.kind == EventKind::kGradReady) return true;
        }
        return false;
    };
    const auto seen = on_ranks(2, [&](dist::ProcessGroup& group) {
        Branches module;
        module.on[1] = false;
        DDPOptions options = kFindUnused;
        options.find_unused_parameters = false;
        options.static_graph = true;
        DistributedDataParallel ddp(module, options);
        Seen result;
        group.events().clear();
        ddp(input(group)).backward();
        result.first = gradients(module);
        result.first_overlaps = overlaps(group.events().snapshot());
        group.events().clear();
        ddp(input(group)).backward();
        result.second = gradients(module);
        result.second_overlaps = overlaps(group.events().snapshot());
        return result;
    });
    for (const Seen& rank : seen) {
        CHECK(rank.first == std::vector<std::string>{"1.5", "none", "1.5"});
        CHECK(rank.second == std::vector<std::string>{"3", "none", "3"});
        CHECK_FALSE(rank.first_overlaps);
        CHECK(rank.second_overlaps);
    }
}

TEST_CASE("a static graph that changes throws an error that names the parameter") {
    const auto messages = on_ranks(2, [](dist::ProcessGroup& group) {
        Branches module;
        module.on[1] = false;
        DistributedDataParallel ddp(module, {.static_graph = true});
        ddp(input(group)).backward();
        module.on[1] = true;
        return message_of([&] { ddp(input(group)).backward(); });
    });
    for (const std::string& message : messages) {
        CHECK(contains(message, "the gradient of b came 1 times"));
        CHECK(contains(message, "0 times in the first iteration"));
    }
}

namespace {

// The weights that a rank uses in an epoch, and the rank's number of batches in it.
struct Epoch {
    std::vector<bool> on;
    int batches;
};

using Plan = std::vector<std::vector<Epoch>>;  // by rank and epoch

// Calls `record` in each iteration that its rank shadows after it has joined.
class Recorder : public parallel::Joinable {
  public:
    Recorder(dist::ProcessGroup& group, std::function<void()> record)
        : group_(group), record_(std::move(record)) {}

    parallel::JoinHook join_hook(const parallel::JoinOptions&) override {
        return {.main_hook = record_};
    }
    dist::ProcessGroup& join_process_group() override { return group_; }

  private:
    dist::ProcessGroup& group_;
    std::function<void()> record_;
};

// Trains with static_graph. Returns, for each rank, the gradients after every iteration,
// including iterations that the rank shadows.
std::vector<std::vector<std::string>> train_static(const Plan& plan) {
    return on_ranks(static_cast<int>(plan.size()), [&](dist::ProcessGroup& group) {
        Branches module;
        DDPOptions options = kFindUnused;
        options.find_unused_parameters = false;
        options.static_graph = true;
        DistributedDataParallel ddp(module, options);
        std::vector<std::string> seen;
        const auto record = [&] {
            const auto all = gradients(module);
            seen.push_back(concat(all[0], " ", all[1], " ", all[2]));
        };
        Recorder recorder(group, record);
        for (const Epoch& epoch : plan[static_cast<size_t>(group.rank())])
            Join({&ddp, &recorder}).run([&] {
                module.on = epoch.on;
                for (int i = 0; i < epoch.batches; ++i) {
                    module.zero_grad();
                    ddp(input(group)).backward();
                    record();
                }
            });
        return seen;
    });
}

}  // namespace

TEST_CASE("a rank that shadows an iteration uses the static graph of its first pass") {
    const std::vector<bool> a{true, false, false}, a_and_c{true, false, true},
        all{true, true, true};
    struct Case {
        Plan plan;
        std::vector<std::string> gradients;  // the same on both ranks
    };
    const Case each = GENERATE_COPY(values<Case>({
        // Both ranks have learnt the graph before rank 1 shadows an iteration.
        {{{{a_and_c, 3}, {a_and_c, 1}}, {{a_and_c, 1}, {a_and_c, 1}}},
         {"1.5 none 1.5", "0.5 none 0.5", "0.5 none 0.5", "1.5 none 1.5"}},

        // Rank 1, which alone uses c, has no batch in the first epoch and one batch in
        // the second.
        {{{{a, 2}, {a, 2}, {a, 1}}, {{a_and_c, 0}, {a_and_c, 1}, {a_and_c, 1}}},
         {"0.5 none none", "0.5 none none", "1.5 none 1", "0.5 none 0", "1.5 none 1"}},

        // Rank 1 uses all weights in its first pass, in the second epoch.
        {{{{a, 1}, {a, 1}, {a, 2}}, {{all, 0}, {all, 1}, {all, 1}}},
         {"0.5 none none", "1.5 1 1", "1.5 1 1", "0.5 0 0"}},
    }));
    for (const auto& gradients : train_static(each.plan))
        CHECK(gradients == each.gradients);
}

TEST_CASE("ranks may learn a static graph in different epochs") {
    // In epoch k < 3, only rank k has a batch, in which it uses weight k. In epoch 3 all
    // ranks have two batches.
    Plan plan(3);
    for (size_t rank = 0; rank < 3; ++rank)
        for (size_t epoch = 0; epoch < 4; ++epoch) {
            std::vector<bool> on(3, false);
            on[rank] = true;
            plan[rank].push_back({on, epoch == 3 ? 2 : epoch == rank ? 1 : 0});
        }
    const auto seen = train_static(plan);
    const std::string third = concat(1.0f / 3.0f),
                      two_thirds = concat(2.0f * (1.0f / 3.0f)),
                      one = concat(3.0f * (1.0f / 3.0f));
    const std::string both = concat(third, " ", two_thirds, " ", one);
    for (const auto& rank : seen)
        CHECK(rank == std::vector<std::string>{concat(third, " none none"),
                                               concat("0 ", two_thirds, " none"),
                                               concat("0 0 ", one), both, both});
}
