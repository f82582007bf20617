// The checks of lab 19, tasks 19.3 and 19.4: the state of all ranks, for a checkpoint.

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "labs/19-sharding-the-optimizer/test_support.hpp"
#include "libmini/parallel/zero_state.hpp"

using namespace mini;
using namespace mini::lab19;
using parallel::renumbered;

namespace {

// Requires that `found` has the entries of `expected`, bit for bit.
void check_state(const OptimizerState& found, const OptimizerState& expected) {
    INFO("the state should have: " << names_of(expected));
    INFO("and has: " << names_of(found));
    REQUIRE(names_of(found) == names_of(expected));
    for (const auto& [name, number] : expected.numbers) {
        INFO("the number " << name << " should be " << number);
        REQUIRE(found.numbers.contains(name));
        REQUIRE(found.numbers.at(name) == number);
    }
    for (const auto& [name, tensor] : expected.tensors) {
        INFO("the values of " << name << " differ from the unsharded optimizer's");
        REQUIRE(first_difference(values_of({found.tensors.at(name)}),
                                 values_of({tensor})) == "none");
    }
}

}  // namespace

// ---- 19.3

TEST_CASE("renumbered changes the numbers of parameters and leaves out entries",
          "[lab19][lab19.3]") {
    const Tensor a = Tensor::ones({1}), b = Tensor::ones({2});
    const OptimizerState state{
        .tensors = {{"state.0.exp_avg", a}, {"state.1.exp_avg", b}},
        .numbers = {{"lr", 0.5}, {"state.0.step", 3}, {"state.1.step", 4}}};
    const auto result = renumbered(state, [](size_t number) -> std::optional<size_t> {
        if (number == 1) return std::nullopt;
        return 7;
    });
    INFO("0 becomes 7, and 1 has no new number; the entries are: " << names_of(result));
    INFO("`renamed` returns the new name, or std::nullopt; hint 2 of 19.3 helps");
    CHECK(names_of(result) == "state.7.exp_avg, state.7.step");
    INFO("lr does not begin with \"state.\": it is an option and keeps its name");
    REQUIRE(result.numbers.contains("lr"));
    CHECK(result.numbers.at("lr") == 0.5);
    CHECK(result.numbers.at("state.7.step") == 3);
    CHECK(result.tensors.at("state.7.exp_avg").is_same(a));
}

TEST_CASE("the parts of three ranks become one state, on the rank that collects",
          "[lab19][lab19.3]") {
    const int to = GENERATE(0, 1, 2);
    // Rank 0 owns parameters 1 and 3, rank 1 owns 0; rank 2 owns none, and its own
    // optimizer has a parameter 0 that is none of the model's.
    const std::vector<std::vector<size_t>> indices{{1, 3}, {0}, {}};
    const auto seen = on_ranks(3, [&](dist::ProcessGroup& group) {
        const auto rank = static_cast<size_t>(group.rank());
        OptimizerState local{.tensors = {}, .numbers = {{"lr", 1.0 + group.rank()}}};
        for (size_t k = 0; k < std::max(indices[rank].size(), size_t{1}); ++k) {
            local.tensors[optim::state_name(k, "sum")] =
                Tensor::full({2}, 10 * group.rank() + static_cast<int>(k));
            local.numbers[optim::state_name(k, "step")] = static_cast<double>(k);
        }
        const OptimizerState all =
            parallel::collect_state(group, local, indices[rank], to);
        for (auto& [name, tensor] : local.tensors) ops::fill_(tensor, -1);
        return all;
    });
    for (int rank = 0; rank < 3; ++rank) {
        const OptimizerState& all = seen[static_cast<size_t>(rank)];
        INFO(
            "the parameters of rank 0's own optimizer are 1 and 3 of all, that of rank 1 "
            "is 0, and that of rank 2 stands for \"none\"; rank "
            << to << " collects; this is rank " << rank);
        if (rank != to) {
            CHECK((all.tensors.empty() && all.numbers.empty()));
            continue;
        }
        INFO(
            "the whole list has the parameters 0, 1 and 3; the learning rates are 1, 2, "
            "3");
        check_state(all, {.tensors = {{"state.0.sum", Tensor::full({2}, 10)},
                                      {"state.1.sum", Tensor::full({2}, 0)},
                                      {"state.3.sum", Tensor::full({2}, 1)}},
                          .numbers = {{"lr", to + 1.0},
                                      {"state.0.step", 0},
                                      {"state.1.step", 0},
                                      {"state.3.step", 1}}});
    }
}

TEST_CASE("the consolidated state is the state of the unsharded optimizer",
          "[lab19][lab19.3]") {
    const int ranks = GENERATE(1, 2, 3, 4, 7);
    const int to = GENERATE(0, 1, 6);
    if (to >= ranks) return;
    for (const Kind& kind : kKinds) {
        const auto plain = kind.make(make_parameters());
        take_steps(*plain, 0, 3);
        const auto seen = on_ranks(ranks, [&](dist::ProcessGroup& group) {
            ZeroRedundancyOptimizer zero(make_parameters(), kind.make);
            take_steps(zero, 0, 3);
            zero.consolidate_state_dict(to);
            const OptimizerState state =
                group.rank() == to ? zero.state_dict() : OptimizerState();
            take_steps(zero, 3, 4);
            return state;
        });
        INFO(kind.name << " after 3 steps on " << ranks << " ranks, consolidated on rank "
                       << to << "; hint 1 of 19.3 helps");
        INFO("the state is a copy, which a fourth step must not change"
             << (ranks > 5 ? "; ranks 5 and 6 own nothing: what they give their own "
                             "optimizer is no parameter of the model"
                           : ""));
        check_state(seen[static_cast<size_t>(to)], plain->state_dict());
    }
}

TEST_CASE("an option that ranks disagree about has the value of the rank that collects",
          "[lab19][lab19.3]") {
    const int to = GENERATE(0, 1, 2);
    const auto seen = on_ranks(3, [&](dist::ProcessGroup& group) {
        ZeroRedundancyOptimizer zero(make_parameters(), make_sgd);
        take_steps(zero, 0, 1);
        zero.set_lr(group.rank() + 1);
        zero.consolidate_state_dict(to);
        return group.rank() == to ? zero.state_dict().numbers.at("lr") : 0.0;
    });
    INFO("the ranks 0, 1, 2 have the learning rates 1, 2, 3, and rank " << to
                                                                        << " collects");
    INFO("merge keeps what is there already, so its own state comes first");
    REQUIRE(seen[static_cast<size_t>(to)] == to + 1);
}

TEST_CASE("all ranks send their state, and only the rank that collects has it all",
          "[lab19][lab19.3]") {
    const auto seen = on_ranks(3, [](dist::ProcessGroup& group) {
        const auto watched = std::make_shared<WatchedGroup>(group);
        ZeroRedundancyOptimizer zero(make_parameters(), make_sgd, watched);
        take_steps(zero, 1, 2);
        watched->journal.clear();
        zero.consolidate_state_dict(1);
        const size_t lines = watched->journal.size();
        const std::string collected = error_of([&] { zero.state_dict(); });
        take_steps(zero, 2, 3);
        for (const int no_rank : {-1, 3})
            if (error_of([&] { zero.consolidate_state_dict(no_rank); }) == "no error")
                throw Error("there is no rank ", no_rank, " to collect on");
        return std::tuple(lines, collected, error_of([&] { zero.state_dict(); }));
    });
    // Each state is a size, a text, and the tensors; there are 5 tensors in all.
    for (size_t rank = 0; rank < 3; ++rank) {
        INFO("rank " << rank << " of 3, which consolidate on rank 1");
        INFO("a broadcast is a call of every rank: P = 3 times broadcast_state");
        const auto& [lines, collected, after_a_step] = seen[rank];
        REQUIRE(lines == 2 * (3 * 2 + 5));
        REQUIRE((collected == "no error") == (rank == 1));
        INFO("after a step the collected state is out of date");
        REQUIRE(after_a_step != "no error");
    }
}

// ---- 19.4

TEST_CASE("a rank loads the state of its own parameters only", "[lab19][lab19.4]") {
    const int ranks = GENERATE(1, 2, 3, 4, 7);
    const auto plain = make_adam(make_parameters());
    take_steps(*plain, 0, 2);
    plain->set_lr(0.25);
    const OptimizerState full = plain->state_dict();
    const auto seen = on_ranks(ranks, [&](dist::ProcessGroup& group) {
        ZeroRedundancyOptimizer zero(make_parameters(), make_adam);
        zero.load_state_dict(full);
        OptimizerState expected;
        size_t next = 0;
        for (size_t i = 0; i < zero.owners().size(); ++i) {
            if (zero.owners()[i] != group.rank()) continue;
            for (const auto& [name, tensor] : full.tensors)
                if (name.starts_with(concat("state.", i, '.')))
                    expected.tensors[concat("state.", next, '.', name.substr(8))] =
                        tensor;
            ++next;
        }
        OptimizerState found = zero.local_optimizer().state_dict();
        found.numbers.clear();
        return std::tuple(found, expected, zero.lr());
    });
    for (size_t rank = 0; rank < seen.size(); ++rank) {
        const auto& [found, expected, lr] = seen[rank];
        INFO("the whole state, loaded on " << ranks << " ranks; this is rank " << rank);
        INFO(
            "in the rank's own optimizer its parameters have the numbers 0, 1, ...; hint "
            "2 "
            "of 19.4 helps");
        check_state(found, expected);
        INFO(
            "the state has the learning rate 0.25, and the next step() uses lr() of this "
            "object");
        REQUIRE(lr == 0.25);
    }
}

TEST_CASE("training goes on with the same bits on another number of ranks",
          "[lab19][lab19.4]") {
    const int before = GENERATE(1, 2, 7);
    const int after = GENERATE(1, 3, 4, 7);
    for (const Kind& kind : kKinds) {
        const auto plain = kind.make(make_parameters());
        take_steps(*plain, 0, 4);
        OptimizerState state;
        std::vector<Tensor> parameters;
        labs::run_ranks(before, [&](dist::ProcessGroup& group) {
            ZeroRedundancyOptimizer zero(make_parameters(), kind.make);
            take_steps(zero, 0, 2);
            zero.consolidate_state_dict(0);
            if (group.rank() != 0) return;
            state = zero.state_dict();
            parameters = zero.parameters();
        });
        const auto seen = on_ranks(after, [&](dist::ProcessGroup&) {
            std::vector<Tensor> copies;
            for (const Tensor& each : parameters)
                copies.push_back(ops::clone(each).set_requires_grad());
            ZeroRedundancyOptimizer zero(copies, kind.make);
            zero.load_state_dict(state);
            take_steps(zero, 2, 4);
            return values_of(copies);
        });
        for (size_t rank = 0; rank < seen.size(); ++rank) {
            INFO("2 steps of " << kind.name << " on " << before
                               << " ranks, a checkpoint, and 2 steps on " << after
                               << " ranks; this is rank " << rank);
            INFO(
                "step 3 needs the state of steps 1 and 2, each entry for the parameter "
                "whose number it has in the whole list; hint 1 of 19.4 helps");
            REQUIRE(first_difference(seen[rank], values_of(plain->parameters())) ==
                    "none");
        }
    }
}

TEST_CASE("a state of other parameters is rejected, and an old state is forgotten",
          "[lab19][lab19.4]") {
    const auto seen = on_ranks(2, [](dist::ProcessGroup&) {
        ZeroRedundancyOptimizer zero(make_parameters(), make_sgd);
        zero.consolidate_state_dict(0);
        const OptimizerState alien{.tensors = {{"state.9.momentum_buffer", Tensor()}},
                                   .numbers = {}};
        const std::string rejected = error_of([&] { zero.load_state_dict(alien); });
        // Rank 0 owns parameter 4, of shape (2, 4, 5): its local_ rejects another shape.
        OptimizerState other = make_sgd(make_parameters())->state_dict();
        other.tensors["state.4.momentum_buffer"] = Tensor::zeros({3});
        error_of([&] { zero.load_state_dict(other); });
        const std::string after_rejection = error_of([&] { zero.state_dict(); });
        zero.load_state_dict(make_sgd(make_parameters())->state_dict());
        return std::tuple(rejected, after_rejection,
                          error_of([&] { zero.state_dict(); }));
    });
    const auto& [rejected, after_rejection, after_load] = seen[0];
    {
        INFO("there is no parameter 9 among the five; the error names it: " << rejected);
        CHECK_THAT(rejected, ContainsSubstring("9"));
    }
    {
        INFO(
            "the rank's own optimizer rejects a state with another shape; then nothing "
            "changes, and the state consolidated before is still there");
        CHECK(after_rejection == "no error");
    }
    INFO("after load_state_dict, the state consolidated before it is out of date");
    CHECK(after_load != "no error");
}
