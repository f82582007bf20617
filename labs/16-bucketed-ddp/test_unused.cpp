// The checks of lab 16, tasks 16.6 and 16.7: parameters without a gradient.

#include "labs/16-bucketed-ddp/test_support.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

using namespace mini;
using namespace mini::lab16;

namespace {

using Used = std::vector<bool>;

DDPOptions bucket_each(bool find_unused_parameters, bool static_graph) {
    DDPOptions options = kBucketEach;
    options.find_unused_parameters = find_unused_parameters;
    options.static_graph = static_graph;
    return options;
}
const DDPOptions kFindUnused = bucket_each(true, false);
const DDPOptions kStaticGraph = bucket_each(false, true);

Used used_by(const Tensor& output, const nn::Module& model) {
    return parallel::used_parameters(output, model.named_parameters());
}

// Returns the gradients as text: "a 2.5, b 0.25, c none".
std::string gradients_in_words(const Branches& model) {
    std::string text;
    for (size_t i = 0; i < model.weights.size(); ++i) {
        const Tensor gradient = model.weights[i].grad();
        text += concat(i == 0 ? "" : ", ", "abc"[i], " ",
                       gradient.defined() ? concat(gradient.item()) : "none");
    }
    return text;
}

}  // namespace

TEST_CASE("used_parameters finds every leaf that a result depends on",
          "[lab16][lab16.6]") {
    Toy model;
    INFO("parameters fc1.weight fc1.bias fc2.weight fc2.bias; walk from the result to");
    INFO("the leaves along inputs()");
    {
        INFO("the result is the output of both layers");
        CHECK(used_by(model(draw({2, 3}, 1)), model) == Used{true, true, true, true});
    }
    {
        INFO("the result is the output of fc1 only");
        CHECK(used_by(model.fc1(draw({2, 3}, 1)), model) ==
              Used{true, true, false, false});
    }
    {
        INFO(
            "the result is itself a parameter: its accumulator is where the walk begins");
        CHECK(used_by(model.fc2.bias, model) == Used{false, false, false, true});
    }
}

TEST_CASE("a result without a graph uses no parameter", "[lab16][lab16.6]") {
    Toy model;
    INFO("the result has no graph: no parameter is used; autograd_meta() may be null");
    CHECK(used_by(Tensor::ones({1}), model) == Used(4, false));
}

TEST_CASE("used_parameters visits a node once even if many paths lead to it",
          "[lab16][lab16.6]") {
    // Add the result to itself 30 times: 30 more nodes, but 2^30 paths.
    Branches model;
    Tensor y = model(Tensor::ones({1}));
    for (int i = 0; i < 30; ++i) y = y + y;
    CHECK(used_by(y, model) == Used{true, true, true});
}

TEST_CASE("a parameter that some ranks do not use gets the average with zeros for them",
          "[lab16][lab16.7]") {
    const auto seen = on_ranks(4, [](dist::ProcessGroup& group) {
        Branches model;
        DistributedDataParallel ddp(model, kFindUnused);
        model.on = {true, group.rank() == 0, false};
        ddp(Tensor::full({1}, group.rank() + 1)).backward();
        return gradients_in_words(model);
    });
    for (size_t rank = 0; rank < 4; ++rank) {
        INFO("a pass in which the gradients are 1 2 3 4 on the four ranks. All use a.");
        INFO("Only rank 0 uses b, so b's average 1/4 is the gradient on every rank.");
        INFO("No rank uses c, so c must have no gradient. This is rank " << rank);
        REQUIRE(seen[rank] == "a 2.5, b 0.25, c none");
    }
}

TEST_CASE("an unused parameter delays no launch", "[lab16][lab16.7]") {
    const auto logs = on_ranks(2, [](dist::ProcessGroup& group) {
        Branches model;
        DistributedDataParallel ddp(model, kFindUnused);
        model.on[2] = false;
        const Tensor loss = ddp(Tensor::ones({1}));
        group.events().clear();
        loss.backward();
        return group.events().snapshot();
    });
    for (const auto& log : logs) {
        INFO(
            "buckets 0 (c), 1 (b), 2 (a); no rank uses c, and b has its gradient before");
        INFO("a: which buckets are launched before the gradient of a, the last one, has");
        INFO("come? The log says: " << story(log));
        const auto is_last = [](const Event& event) {
            return event.kind == EventKind::kGradReady && event.index == 0;
        };
        const std::vector<Event> before(log.begin(), std::ranges::find_if(log, is_last));
        CHECK(indices(before, EventKind::kBucketLaunch) == std::vector<int64_t>{0, 1});
    }
}

TEST_CASE("a parameter that no rank uses keeps the gradient it had", "[lab16][lab16.7]") {
    const auto seen = on_ranks(2, [](dist::ProcessGroup& group) {
        Branches model;
        DistributedDataParallel ddp(model, kFindUnused);
        ddp(Tensor::full({1}, group.rank() + 1)).backward();
        Tensor gradient = model.weights[2].grad();
        ops::fill_(gradient, static_cast<float>(group.rank() + 5));
        model.on[2] = false;
        ddp(Tensor::zeros({1})).backward();
        return gradients_in_words(model);
    });
    for (size_t rank = 0; rank < 2; ++rank) {
        INFO("c has the gradient 5 on rank 0 and 6 on rank 1, set by the test.");
        INFO("The next pass, in which no rank uses c, must not change it.");
        INFO("This is rank " << rank);
        REQUIRE(seen[rank] == concat("a 1.5, b 1.5, c ", rank + 5));
    }
}

TEST_CASE("a static graph gives a parameter unused on one rank its average in every pass",
          "[lab16][lab16.7]") {
    INFO("static_graph; both ranks use a, rank 0 uses b, no rank uses c. The ranks");
    INFO("exchange this in the first pass only: later `use` is empty, and the result is");
    INFO("in State::used_somewhere");
    const auto seen = on_ranks(2, [](dist::ProcessGroup& group) {
        Branches model;
        DistributedDataParallel ddp(model, kStaticGraph);
        model.on = {true, group.rank() == 0, false};
        std::vector<std::string> passes;
        for (int pass = 1; pass <= 3; ++pass) {
            model.zero_grad();
            ddp(Tensor::full({1}, pass * (group.rank() + 1))).backward();
            passes.push_back(gradients_in_words(model));
        }
        return passes;
    });
    for (size_t rank = 0; rank < 2; ++rank) {
        INFO("passes 1, 2 and 3; this is rank " << rank);
        REQUIRE(seen[rank][0] == "a 1.5, b 0.5, c none");
        REQUIRE(seen[rank][1] == "a 3, b 1, c none");
        REQUIRE(seen[rank][2] == "a 4.5, b 1.5, c none");
    }
}

TEST_CASE("the old gradient of an unused parameter is part of its average",
          "[lab16][lab16.7]") {
    const auto seen = on_ranks(2, [](dist::ProcessGroup& group) {
        Branches model;
        DistributedDataParallel ddp(model, kFindUnused);
        const Tensor x = Tensor::full({1}, group.rank() + 1);
        {
            const auto no_sync = ddp.no_sync();
            ddp(x).backward();
        }
        model.on = {true, false, group.rank() == 1};
        ddp(x).backward();
        return gradients_in_words(model);
    });
    for (size_t rank = 0; rank < 2; ++rank) {
        INFO(
            "a pass within no_sync gives all three the gradients 1 and 2 on ranks 0, 1.");
        INFO("In the next pass both ranks use a, none uses b, rank 1 uses c: the old");
        INFO("gradients belong to the averages of 2 and 4, 1 and 2, 1 and 4.");
        INFO("This is rank " << rank);
        REQUIRE(seen[rank] == "a 3, b 1.5, c 2.5");
    }
}

TEST_CASE("a rank without batches shadows the iterations of the other ranks",
          "[lab16][lab16.7]") {
    const int64_t joins_first = GENERATE(0, 1);  // rank
    struct Seen {
        Assignment assigned;
        Values weights;
    };
    const auto seen = on_ranks(2, [&](dist::ProcessGroup& group) {
        TwoWays model(/*reversed=*/group.rank() == 0);
        DistributedDataParallel ddp(model, kBucketEach);
        optim::SGD optimizer(model.parameters(), {.lr = 1});
        parallel::Join({&ddp}).run([&] {
            for (int step = 0; step < (group.rank() == joins_first ? 1 : 3); ++step) {
                optimizer.zero_grad();
                ddp(Tensor::ones({1})).backward();
                optimizer.step();
            }
        });
        return Seen{assignment_of(ddp), values_of(model.parameters())};
    });
    for (const auto& [assigned, weights] : seen) {
        INFO("rank " << joins_first << " has one batch, the other rank three.");
        INFO(
            "Both broadcast the order of rank 0, a then b, before the second iteration.");
        INFO("A joined rank uses no parameter: the averages are its gradients too, with");
        INFO("which its optimizer would step");
        CHECK(assigned == Assignment{{0}, {1}});
        CHECK(weights == seen[0].weights);
    }
    // The mean of the first pass is 1.5; then one rank adds half of 2 or 1.
    const Values expected =
        joins_first == 0 ? Values{-1.5f, -2.5f} : Values{-2.5f, -1.5f};
    CHECK(seen[0].weights == expected);
}

TEST_CASE("a Join may divide by the number of ranks that still have batches",
          "[lab16][lab16.7]") {
    const auto seen = on_ranks(2, [](dist::ProcessGroup& group) {
        TwoWays model(/*reversed=*/false);
        DistributedDataParallel ddp(model, kBucketEach);
        Values last;
        parallel::Join({&ddp}, {.divide_by_initial_world_size = false}).run([&] {
            for (int step = 0; step <= group.rank(); ++step) {
                model.zero_grad();
                ddp(Tensor::full({1}, group.rank() + 1)).backward();
                last = gradients_of(model);
            }
        });
        return last;
    });
    INFO("rank 0 has one batch with the gradients 1, 2; rank 1 has two with 2, 4.");
    INFO(
        "The average of the first is 1.5, 3. The second is rank 1's alone: divide_by(1)");
    CHECK(seen[0] == Values{1.5f, 3});
    CHECK(seen[1] == Values{2, 4});
}

TEST_CASE("a joined rank contributes the gradients that it has accumulated",
          "[lab16][lab16.7]") {
    const auto seen = on_ranks(2, [](dist::ProcessGroup& group) {
        TwoWays model(/*reversed=*/false);
        DistributedDataParallel ddp(model, kBucketEach);
        const Tensor x = Tensor::full({1}, group.rank() + 1);
        Values last;
        parallel::Join({&ddp}).run([&] {
            {
                const auto no_sync = ddp.no_sync();
                ddp(x).backward();
            }
            if (group.rank() == 1) ddp(x).backward();
            last = gradients_of(model);
        });
        return last;
    });
    INFO("within no_sync a and b get 1, 2 on rank 0 and 2, 4 on rank 1. Then rank 0 has");
    INFO("no batch, and rank 1 averages 1 and 2 + 2, 2 and 4 + 4");
    CHECK(seen[1] == Values{2.5f, 5});
}

TEST_CASE("an iteration without a batch is not the first pass of a static graph",
          "[lab16][lab16.7]") {
    const auto seen = on_ranks(2, [](dist::ProcessGroup& group) {
        Branches model;
        DistributedDataParallel ddp(model, kStaticGraph);
        model.on[2] = false;
        std::vector<std::string> epochs(2);
        for (int epoch = 0; epoch < 2; ++epoch)
            parallel::Join({&ddp}).run([&] {
                if (epoch == 0 && group.rank() == 0) return;
                model.zero_grad();
                ddp(Tensor::full({1}, group.rank() + 1)).backward();
                epochs[static_cast<size_t>(epoch)] = gradients_in_words(model);
            });
        return epochs;
    });
    INFO("rank 0 has no batch in the first epoch: it shadows rank 1's iteration. In the");
    INFO("second epoch it has its first pass, which shows the parameters that it uses");
    CHECK(seen[1][0] == "a 1, b 1, c none");
    CHECK(seen[0][1] == "a 1.5, b 1.5, c none");
    CHECK(seen[1][1] == "a 1.5, b 1.5, c none");
}

TEST_CASE("a bucket that its hook has freed cannot serve unused parameters",
          "[lab16][lab16.7]") {
    const auto messages = on_ranks(2, [](dist::ProcessGroup& group) {
        Branches model;
        DistributedDataParallel ddp(model, kFindUnused);
        ddp.register_comm_hook(
            [](const parallel::GradBucket& bucket, dist::ProcessGroup&) {
                if (bucket.is_last) bucket.buffer.free_storage();
                return [] {};
            });
        model.on[0] = group.rank() == 0;
        return error_of([&] { ddp(Tensor::ones({1})).backward(); });
    });
    for (const std::string& message : messages) {
        INFO("rank 1 does not use a, whose average is in bucket 2, which is freed.");
        INFO("check_not_freed() says so on both ranks; this one says: " << message);
        CHECK_THAT(message, ContainsSubstring("bucket 2"));
    }
}
