// The checks of lab 21, task 21.5: the passes with gathers ahead of use.

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "labs/21-fully-sharded/test_steps.hpp"
#include "libmini/tensor/autograd_meta.hpp"

using namespace mini;
using namespace mini::lab21;

TEST_CASE("the next unit is gathered while a unit computes, in both passes",
          "[lab21][lab21.5]") {
    for (const Pass& pass : last_pass({{0, 1, 2, 3}, {0, 1, 2, 3}}, kUnits, true)) {
        INFO("the second pass; in brackets: layers in memory");
        {
            INFO("forward: " << in_words(pass.forward));
            CHECK(layers_of(pass.forward) == Journal{"forward 0 [0 1]", "forward 1 [1 2]",
                                                     "forward 2 [2 3]", "forward 3 [3]"});
        }
        {
            INFO("backward: " << in_words(pass.backward));
            CHECK(layers_of(pass.backward) ==
                  Journal{"backward 3 [2 3]", "backward 2 [1 2]", "backward 1 [0 1]",
                          "backward 0 [0]"});
        }
        for (size_t i = 0; i + 1 < 4; ++i) {
            INFO("the gather is started before the unit computes, and waited for after");
            check_order(pass.forward,
                        {"start " + gather_of(i + 1), concat("forward ", i),
                         "wait " + gather_of(i + 1), concat("forward ", i + 1)});
            check_order(pass.backward,
                        {"start " + gather_of(i), concat("backward ", i + 1),
                         "wait " + gather_of(i), concat("backward ", i)});
        }
        INFO("the first unit of a pass is gathered before the next one");
        check_order(pass.forward, {"start " + gather_of(0), "start " + gather_of(1)});
        check_order(pass.backward, {"start " + gather_of(3), "start " + gather_of(2)});
        INFO("nothing is gathered twice, and nothing stays in memory");
        CHECK(count_of(pass.forward, "start all_gather") == 4);
        CHECK(count_of(pass.backward, "start all_gather") == 4);
        CHECK(pass.freed_after_forward == 8);
        CHECK(pass.freed_after_backward == 8);
    }
}

TEST_CASE("the next unit is the one that came next in the last pass, not in the list",
          "[lab21][lab21.5]") {
    // Layer 3 maps 2 features to 2, so it can be called anywhere behind layer 2.
    const Pass pass = last_pass({{0, 1, 2, 3}, {0, 1, 2, 3, 3}, {0, 1, 2, 3, 3}},
                                {"fc3", "fc1", "fc0", "fc2"}, true)[0];
    INFO("forward: " << in_words(pass.forward));
    CHECK(layers_of(pass.forward) == Journal{"forward 0 [0 1]", "forward 1 [1 2]",
                                             "forward 2 [2 3]", "forward 3 [3]",
                                             "forward 3 [3]"});
    CHECK(pass.freed_after_forward == 8);
}

TEST_CASE("a unit that encloses others begins before them and ends after them",
          "[lab21][lab21.5]") {
    // The module's own unit has the layers 1 and 3.
    const Pass pass = last_pass({{0, 1, 2, 3}, {0, 1, 2, 3}}, {"fc0", "fc2"}, true)[0];
    {
        INFO("forward: the module's unit, fc0, fc2. " << in_words(pass.forward));
        CHECK(layers_of(pass.forward) == Journal{"forward 0 [0 1 2 3]",
                                                 "forward 1 [1 2 3]", "forward 2 [1 2 3]",
                                                 "forward 3 [1 3]"});
    }
    INFO("backward: the module's unit, whose forward pass ended last, then fc2, fc0. "
         << in_words(pass.backward));
    CHECK(layers_of(pass.backward) == Journal{"backward 3 [1 2 3]",
                                              "backward 2 [0 1 2 3]",
                                              "backward 1 [0 1 3]", "backward 0 [0]"});
    CHECK(pass.freed_after_backward == 8);
}

TEST_CASE("each forward pass is compared with the one before, call by call",
          "[lab21][lab21.5]") {
    // Returns the layers' lines of the last of several forward passes.
    const auto last_forward = [](const std::vector<std::vector<size_t>>& orders,
                                 bool is_training = true) {
        return on_ranks(2, [&](dist::ProcessGroup& group) {
            Square net;
            FullyShardedDataParallel fsdp(net, {"fc0", "fc1", "fc2"});
            fsdp.train(is_training);
            const GradModeGuard guard(is_training);
            Journal journal;
            net.note_in(journal);
            for (const auto& order : orders) {
                net.order = order;
                journal.clear();
                fsdp(net_batch(group.rank(), 0));
            }
            return journal;
        })[0];
    };
    const std::vector<size_t> a{0, 1, 2}, b{1, 0, 2}, c{2, 1, 0};
    {
        INFO("the order changes, and then once more");
        CHECK(last_forward({a, b, b}) ==
              Journal{"forward 1 [0 1]", "forward 0 [0 2]", "forward 2 [2]"});
        CHECK(last_forward({a, b, b, c, c}) ==
              Journal{"forward 2 [1 2]", "forward 1 [0 1]", "forward 0 [0]"});
        CHECK(last_forward({a, b, b, a}) ==
              Journal{"forward 0 [0]", "forward 1 [1]", "forward 2 [2]"});
    }
    {
        INFO("an evaluation gathers ahead, too");
        CHECK(last_forward({a, a}, /*is_training=*/false) ==
              Journal{"forward 0 [0 1]", "forward 1 [1 2]", "forward 2 [2]"});
    }
    INFO("one call differs, and those after it are the same: nothing is gathered ahead");
    CHECK(last_forward({a, {1, 1, 2}}) ==
          Journal{"forward 1 [1]", "forward 1 [1]", "forward 2 [2]"});
}

TEST_CASE("in the first forward pass, and after other calls, nothing is gathered ahead",
          "[lab21][lab21.5]") {
    const Journal alone{"forward 0 [0]", "forward 1 [1]", "forward 2 [2]",
                        "forward 3 [3]"};
    {
        INFO("the first pass: no pass before says what comes next");
        CHECK(layers_of(last_pass({{0, 1, 2, 3}}, kUnits, true)[0].forward) == alone);
    }
    {
        const Pass pass = last_pass({{0, 1, 2}, {0, 1}}, kUnits, true)[0];
        INFO("the last pass called 0, 1, 2, and this one calls 0, 1: "
             << in_words(pass.forward));
        CHECK(layers_of(pass.forward) == Journal{"forward 0 [0 1]", "forward 1 [1 2]"});
        INFO("unit 2 was gathered, but not called: it is freed at the end");
        CHECK(pass.freed_after_forward == 8);
        CHECK(count_of(pass.forward, "wait all_gather") == 3);
    }
    const Pass pass =
        last_pass({{0, 1, 2}, {0, 1, 2, 3}, {0, 1, 2, 3, 3}}, kUnits, true)[0];
    INFO("the last pass called 0, 1, 2, 3, and this one layer 3 once more: "
         << in_words(pass.forward));
    CHECK(layers_of(pass.forward).back() == "forward 3 [3]");
    const auto seen = on_ranks(2, [](dist::ProcessGroup& group) {
        Square net;
        FullyShardedDataParallel fsdp(net, {"fc0", "fc1", "fc2"});
        Journal journal;
        const Tensor batch = net_batch(group.rank(), 0);
        fsdp(batch);
        net.order = {1, 0, 2};
        net.note_in(journal);
        fsdp(batch);
        return journal;
    });
    for (const Journal& journal : seen) {
        INFO(
            "the last pass called 0, 1, 2, and this one 1, 0, 2: from the first call on "
            "the passes differ");
        CHECK(journal == Journal{"forward 1 [1]", "forward 0 [0]", "forward 2 [2]"});
    }
}

TEST_CASE("a backward pass gathers ahead the calls of its own forward pass",
          "[lab21][lab21.5]") {
    const auto seen = on_ranks(2, [](dist::ProcessGroup& group) {
        Square net;
        FullyShardedDataParallel fsdp(net, {"fc0", "fc1", "fc2"});
        const Tensor batch = net_batch(group.rank(), 0);
        const auto backward = [&](const Tensor& loss) {
            Journal journal;
            net.note_in(journal);
            loss.backward();
            for (Layer* const layer : net.layers) layer->journal = nullptr;
            return std::pair(journal, count_freed(net));
        };
        const Tensor first = loss_of(fsdp(batch));
        net.order = {1, 0, 2};
        const Tensor second = loss_of(fsdp(batch));
        auto all = std::vector{backward(first), backward(second)};
        net.order = {0, 1, 2};
        net.dropped = 1;
        all.push_back(backward(loss_of(fsdp(batch))));
        return all;
    });
    for (const auto& passes : seen) {
        {
            INFO(
                "two forward passes, of the layers 0, 1, 2 and 1, 0, 2; then backward "
                "through the first, and through the second");
            CHECK(passes[0].first ==
                  Journal{"backward 2 [1 2]", "backward 1 [0 1]", "backward 0 [0]"});
            CHECK(passes[1].first ==
                  Journal{"backward 2 [0 2]", "backward 0 [0 1]", "backward 1 [1]"});
        }
        INFO(
            "the result of layer 1 is not used: its gather ahead is in vain, and it is "
            "freed at the end");
        CHECK(passes[2].first == Journal{"backward 2 [1 2]", "backward 0 [0 1]"});
        CHECK(passes[2].second == 6);
    }
}

TEST_CASE("a rank has its shards and at most two units in memory", "[lab21][lab21.5]") {
    check_bytes(/*prefetch=*/true, 2);
}

TEST_CASE("gathers ahead of use change no bit", "[lab21][lab21.5]") {
    const int ranks = GENERATE(1, 2, 3);
    for (const Job& job : kJobs) {
        const auto seen = on_ranks(ranks, [&](dist::ProcessGroup& group) {
            const auto train = [&](bool prefetch) {
                manual_seed(3);
                const auto model = job.make();
                FullyShardedDataParallel fsdp(*model, job.units, {.prefetch = prefetch});
                optim::Adam adam(fsdp.shards(), {.lr = 0.01});
                for (int step = 0; step < 2; ++step) {
                    adam.zero_grad();
                    const Tensor first = loss_of(fsdp(job.batch(group.rank(), step)));
                    const Tensor second =
                        loss_of(fsdp(job.batch(group.rank(), step + 7)));
                    (first + second).backward();
                    adam.step();
                }
                return std::pair(values_by_unit(fsdp), fsdp.units());
            };
            const auto [expected, units] = train(false);
            return first_difference(train(true).first, expected, units);
        });
        for (const std::string& difference : seen) {
            INFO("2 steps of two forward passes each on " << ranks
                                                          << " ranks: " << job.name);
            REQUIRE(difference == "none");
        }
    }
}
