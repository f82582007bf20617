// The checks of lab 21, task 21.3: a unit's gradients are reduced.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "labs/21-fully-sharded/test_unit.hpp"

using namespace mini;
using namespace mini::lab21;

namespace {

// Each of P terms is rounded twice, by 1 / P and by the product, then there are P additions:
// with P = 7 these are at most 9 roundings of 2^-24, together 5.4e-7 of the sum.
void check_close(const Values& found, const Values& expected) {
    REQUIRE(found.size() == expected.size());
    for (size_t i = 0; i < found.size(); ++i) {
        INFO("number " << i);
        REQUIRE(found[i] == about(expected[i], 1e-6 * std::abs(expected[i])));
    }
}

// Gives the unit gradients that are full of P (k + 1) (rank + 1) for parameter k.
void take_gradients(Unit& unit, dist::ProcessGroup& group) {
    unit.expect_gradients();
    for (size_t k = 0; k < unit.parameters.size(); ++k)
        unit.take_gradient(k, Tensor::full(unit.parameters[k].second.shape(),
                                           static_cast<double>(static_cast<int>(k) + 1) *
                                               group.world_size() * (group.rank() + 1)));
}

}  // namespace

TEST_CASE("the shard has the average of the gradients of its elements",
          "[lab21][lab21.3]") {
    const int ranks = GENERATE(1, 2, 3, 4, 7);
    const auto seen = on_ranks(ranks, [&](dist::ProcessGroup& group) {
        const auto watched = std::make_shared<WatchedGroup>(group);
        Unit unit = make_unit(make_parameters(0), watched);
        unit.shard_parameters();
        watched->journal.clear();
        std::vector<Values> gradients;
        for (int pass = 0; pass < 2; ++pass) {
            take_gradients(unit, group);
            unit.start_reduction();
            unit.finish_reduction();
            unit.finish_reduction();
            gradients.push_back(unit.shard.grad().defined()
                                    ? unit.shard.grad().to_vector<float>()
                                    : Values());
        }
        return std::tuple(gradients, watched->journal, unit.missing.size());
    });
    Values average;  // the sum of P (k + 1) (r + 1) over the ranks r, divided by P
    for (size_t k = 0; k < kShapes.size(); ++k)
        average.insert(
            average.end(), static_cast<size_t>(element_count(kShapes[k])),
            static_cast<float>((static_cast<int>(k) + 1) * ranks * (ranks + 1) / 2));
    Values twice = average;
    for (float& value : twice) value *= 2;
    const std::string reduce = concat("reduce_scatter ", 4 * shard_numel(60, ranks));
    for (int rank = 0; rank < ranks; ++rank) {
        const auto& [gradients, journal, missing] = seen[static_cast<size_t>(rank)];
        INFO("gradient k is full of P (k + 1) (rank + 1) on "
             << ranks << " ranks; rank " << rank << " called: " << in_words(journal));
        {
            INFO(
                "the sum is divided by P once, and the zeros at the end have gradient 0");
            check_close(gradients[0], part_of(average, rank, ranks));
        }
        {
            INFO("a second pass adds to grad(), as it does without sharding");
            check_close(gradients[1], part_of(twice, rank, ranks));
        }
        INFO(
            "each pass has one reduce-scatter of all gradients, which is waited for "
            "once");
        CHECK(journal == Journal{"start " + reduce, "wait " + reduce, "start " + reduce,
                                 "wait " + reduce});
        CHECK(missing == 0);
    }
}

TEST_CASE("gradients are missing until they are taken, and can be dropped",
          "[lab21][lab21.3]") {
    labs::run_ranks(1, [](dist::ProcessGroup& group) {
        Unit unit = make_unit(make_parameters(0), handle_of(group));
        unit.shard_parameters();
        using Set = std::set<size_t>;
        CHECK(unit.missing == Set{});
        unit.expect_gradients();
        CHECK(unit.missing == Set{0, 1, 2, 3});
        unit.take_gradient(2, Tensor::full({7}, 5.0));
        CHECK(unit.missing == Set{0, 1, 3});
        {
            INFO("while some are missing, expect_gradients() changes nothing");
            unit.expect_gradients();
            CHECK(unit.missing == Set{0, 1, 3});
        }
        unit.drop_gradients();
        CHECK(unit.missing == Set{});
        {
            INFO("a gradient that was dropped is not in the next pass");
            unit.expect_gradients();
            unit.start_reduction();
            unit.finish_reduction();
            CHECK(unit.shard.grad().to_vector<float>() == Values(60, 0.0f));
        }
    });
}

TEST_CASE("a reduction in flight is dropped, and the gradient of the shard is not",
          "[lab21][lab21.3]") {
    const auto seen = on_ranks(2, [](dist::ProcessGroup& group) {
        Unit unit = make_unit(make_parameters(0), handle_of(group));
        unit.shard_parameters();
        take_gradients(unit, group);
        unit.start_reduction();
        unit.finish_reduction();
        const Values before = unit.shard.grad().to_vector<float>();
        take_gradients(unit, group);
        unit.start_reduction();
        unit.drop_gradients();
        const bool has_gradient = unit.gradient.defined();
        unit.finish_reduction();
        return std::tuple(has_gradient, unit.missing.size(), before,
                          unit.shard.grad().defined()
                              ? unit.shard.grad().to_vector<float>()
                              : Values());
    });
    for (const auto& [has_gradient, missing, before, after] : seen) {
        INFO("a pass, then a second one that fails after start_reduction()");
        CHECK_FALSE(has_gradient);
        CHECK(missing == 0);
        INFO("the shard has the gradient of the first pass, and nothing is added");
        CHECK(after == before);
    }
}

TEST_CASE("a gradient is divided before the sum, which a large one would make infinite",
          "[lab21][lab21.3]") {
    const int ranks = GENERATE(2, 3, 4);
    const auto seen = on_ranks(ranks, [](dist::ProcessGroup& group) {
        Unit unit = make_unit({Tensor::ones({12}).set_requires_grad()}, handle_of(group));
        unit.shard_parameters();
        unit.expect_gradients();
        const Tensor value = Tensor::full({12}, 3e38);
        unit.take_gradient(0, value);
        unit.start_reduction();
        unit.finish_reduction();
        return std::pair(unit.shard.grad().to_vector<float>()[0],
                         value.to_vector<float>());
    });
    for (const auto& [average, value] : seen) {
        INFO("the gradient is 3e38 on each of " << ranks << " ranks, and the average");
        check_close({average}, {3e38f});
        INFO("take_gradient() copies, and does not change what it copies");
        CHECK(value == Values(12, 3e38f));
    }
}

TEST_CASE("a reduction is in the event log, with the unit and its bytes",
          "[lab21][lab21.3]") {
    const auto seen = on_ranks(2, [](dist::ProcessGroup& group) {
        const auto watched = std::make_shared<WatchedGroup>(group);
        Unit unit = make_unit(make_parameters(0), watched);
        unit.shard_parameters();
        take_gradients(unit, group);
        uint64_t position = 0;
        events_since(group.events(), position);
        unit.start_reduction();
        const Journal started = events_since(group.events(), position, true);
        unit.finish_reduction();
        unit.finish_reduction();
        return std::pair(started, events_since(group.events(), position, true));
    });
    for (const auto& [started, finished] : seen) {
        INFO("unit 3 of 240 bytes: start_reduction(), finish_reduction() twice");
        CHECK(in_words(started) == "reduce 3 240");
        INFO("\"sent\" is the end of the reduce-scatter, for which wait() waits");
        CHECK(in_words(finished) == "sent, reduced 3 240");
    }
}

TEST_CASE("after the reduction a rank has memory for the gradient of its shard only",
          "[lab21][lab21.3]") {
    int64_t base = 0, taken = 0, reduced = 0, dropped = 0;
    with_large_unit([&](Unit& unit) {
        unit.shard_parameters();
        base = allocated();
        take_gradients(unit, *unit.group);
        taken = allocated() - base;
        unit.start_reduction();
        unit.finish_reduction();
        reduced = allocated() - base;
        take_gradients(unit, *unit.group);
        unit.drop_gradients();
        dropped = allocated() - base;
    });
    INFO("gradients of 20,000 bytes on rank 0 of 5: one flat tensor; it takes " << taken);
    CHECK(taken < 21'000);
    INFO("then the shard's gradient has 4,000 bytes; in use are " << reduced);
    CHECK(reduced < 5'000);
    INFO("gradients that are dropped take no memory; in use are " << dropped);
    CHECK(dropped == reduced);
}

TEST_CASE("the gradient is read when the reduction has ended, and not before",
          "[lab21][lab21.3]") {
    const auto seen = on_ranks(2, [](dist::ProcessGroup& group) {
        const auto watched = std::make_shared<WatchedGroup>(group);
        Unit unit = make_unit(make_parameters(0), watched);
        unit.shard_parameters();
        watched->journal.clear();
        take_gradients(unit, group);
        unit.start_reduction();
        const Journal started = watched->journal;
        const bool had_gradient = unit.shard.grad().defined();
        unit.finish_reduction();
        return std::tuple(started, had_gradient, unit.shard.grad().to_vector<float>()[0]);
    });
    for (size_t rank = 0; rank < seen.size(); ++rank) {
        const auto& [started, had_gradient, first] = seen[rank];
        INFO("start_reduction() does not wait: " << in_words(started));
        CHECK(started == Journal{"start reduce_scatter 120"});
        CHECK_FALSE(had_gradient);
        INFO("rank 1's part begins in the last parameter");
        CHECK(first == (rank == 0 ? 3.0f : 12.0f));
    }
}
