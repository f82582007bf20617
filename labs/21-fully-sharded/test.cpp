// The checks of lab 21, tasks 21.1 to 21.3: one unit, whose parameters are sharded, gathered
// and freed, and whose gradients are reduced.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "labs/21-fully-sharded/test_support.hpp"
#include "libmini/tensor/buffer_cache.hpp"

using namespace mini;
using namespace mini::lab21;
using parallel::Unit;

namespace {

// The elements of four parameters: 12, 1, 7 and 40.
const std::vector<Shape> kShapes{{3, 4}, {1}, {7}, {2, 4, 5}};

// Returns the parameters with the values 1, 2, ... 60; on another rank than 0 each is 1000
// times as large.
std::vector<Tensor> make_parameters(int rank) {
    std::vector<Tensor> parameters;
    float next = 1;
    for (const Shape& shape : kShapes) {
        Values values;
        for (int64_t i = 0; i < element_count(shape); ++i)
            values.push_back(rank == 0 ? next++ : 1000 * next++);
        parameters.push_back(Tensor::from(values, shape).set_requires_grad());
    }
    return parameters;
}

Unit make_unit(const std::vector<Tensor>& parameters,
               const std::shared_ptr<dist::ProcessGroup>& group) {
    Unit unit{.name = "a", .module = nullptr, .group = group, .index = 3};
    for (const Tensor& each : parameters)
        unit.parameters.emplace_back(concat("p", unit.parameters.size()), each);
    return unit;
}

int64_t allocated() { return static_cast<int64_t>(allocated_bytes()); }

// Calls `body` with a unit of five parameters of 1000 elements, on rank 0 of 5.
void with_large_unit(const std::function<void(Unit& unit)>& body) {
    labs::run_ranks(1, [&](dist::ProcessGroup& alone) {
        std::vector<Tensor> parameters;
        for (int i = 0; i < 5; ++i)
            parameters.push_back(Tensor::ones({1000}).set_requires_grad());
        Unit unit = make_unit(parameters, std::make_shared<FiveInOne>(alone));
        parameters.clear();
        body(unit);
    });
}

}  // namespace

// ---- 21.1

TEST_CASE("a shard is a rank's part of the flat parameter, and ends with zeros",
          "[lab21][lab21.1]") {
    const int ranks = GENERATE(1, 2, 3, 4, 7);
    const auto seen = on_ranks(ranks, [&](dist::ProcessGroup& group) {
        Unit unit = make_unit(make_parameters(group.rank()), handle_of(group));
        unit.shard_parameters();
        return std::tuple(unit.shard.to_vector<float>(), unit.shard.requires_grad(),
                          unit.shard.is_leaf(), unit.numel, unit.flat.shape());
    });
    const Values all = labs::count_up(60);
    for (int rank = 0; rank < ranks; ++rank) {
        const auto& [shard, requires_grad, is_leaf, numel, flat] =
            seen[static_cast<size_t>(rank)];
        INFO("parameters of 12, 1, 7 and 40 elements, 1 to 60 on rank 0, on "
             << ranks << " ranks; this is rank " << rank);
        {
            INFO("the shard of rank "
                 << rank << " begins at element " << rank * shard_numel(60, ranks)
                 << " of the flat parameter, which has rank 0's values: "
                 << concat(shard));
            CHECK(shard == part_of(all, rank, ranks));
        }
        {
            INFO("the optimizer gets the shard: it is a leaf that requires grad");
            CHECK(requires_grad);
            CHECK(is_leaf);
        }
        CHECK(numel == 60);
        INFO("`flat` has all shards, with the zeros at its end");
        CHECK(flat == Shape{ranks * shard_numel(60, ranks)});
    }
}

TEST_CASE("shards of any size are equal, and round up", "[lab21][lab21.1]") {
    CHECK(shard_numel(20, 1) == 20);
    CHECK(shard_numel(20, 3) == 7);
    CHECK(shard_numel(20, 4) == 5);
    CHECK(shard_numel(2, 4) == 1);
    CHECK(shard_numel(0, 4) == 0);
    CHECK(shard_numel(int64_t{3'000'000'001}, 2) == 1'500'000'001);
    const auto sizes = on_ranks(4, [](dist::ProcessGroup& group) {
        Unit unit = make_unit({Tensor::ones({2}).set_requires_grad()}, handle_of(group));
        unit.shard_parameters();
        return unit.shard.to_vector<float>();
    });
    INFO("two elements on four ranks: the last two shards have only a zero");
    CHECK(sizes == std::vector<Values>{{1}, {1}, {0}, {0}});
}

TEST_CASE("after sharding a rank has memory for its shard only", "[lab21][lab21.1]") {
    int64_t before = 0, after = 0, freed = 0, shared = 0;
    Shape shape;
    with_large_unit([&](Unit& unit) {
        before = allocated();
        unit.shard_parameters();
        after = allocated();
        for (const auto& [name, parameter] : unit.parameters) {
            freed += parameter.is_freed();
            shared += parameter.shares_storage(unit.flat);
        }
        shape = unit.parameters[4].second.shape();
    });
    INFO("5 parameters of 4,000 bytes on rank 0 of 5: before " << before << " bytes");
    INFO("the parameters are views of `flat`, which is freed");
    CHECK(freed == 5);
    CHECK(shared == 5);
    {
        INFO("a freed parameter keeps its shape");
        CHECK(shape == Shape{1000});
    }
    INFO("the shard has 4,000 bytes, 16,000 less than all parameters; in use are "
         << after);
    CHECK(after <= before - 15'000);
}

// ---- 21.2

TEST_CASE("a gather gives every rank all parameters", "[lab21][lab21.2]") {
    const int ranks = GENERATE(1, 2, 3, 4, 7);
    const auto seen = on_ranks(ranks, [&](dist::ProcessGroup& group) {
        const auto watched = std::make_shared<WatchedGroup>(group);
        Unit unit = make_unit(make_parameters(group.rank()), watched);
        unit.shard_parameters();
        watched->journal.clear();
        unit.start_gather();
        unit.start_gather();
        const Journal started = watched->journal;
        unit.finish_gather();
        unit.finish_gather();
        std::vector<Tensor> parameters;
        for (const auto& [name, each] : unit.parameters) parameters.push_back(each);
        const Values first = values_of(parameters);
        unit.free();
        unit.free();
        // Let a step change the shard: the next gather has the new values.
        Tensor shard = unit.shard.detach();
        ops::mul_(shard, 2.0f);
        unit.finish_gather();
        const Values second = values_of(parameters);
        unit.free();
        return std::tuple(first, second, started, watched->journal);
    });
    const Values all = labs::count_up(60);
    Values doubled = all;
    for (float& value : doubled) value *= 2;
    const std::string gather = concat("all_gather ", 4 * shard_numel(60, ranks));
    for (size_t rank = 0; rank < seen.size(); ++rank) {
        const auto& [first, second, started, journal] = seen[rank];
        INFO("60 elements on " << ranks << " ranks; rank " << rank
                               << " called: " << in_words(journal));
        CHECK(first == all);
        {
            INFO("a gather sends what the shard has now");
            CHECK(second == doubled);
        }
        {
            INFO("start_gather() does not wait, and starts nothing if `flat` has memory");
            CHECK(started == Journal{"start " + gather});
        }
        INFO("finish_gather() waits once, and starts a gather that was not started");
        CHECK(journal == Journal{"start " + gather, "wait " + gather, "start " + gather,
                                 "wait " + gather});
    }
}

TEST_CASE("a free unit has no memory, and one whose gather runs is waited for",
          "[lab21][lab21.2]") {
    int64_t base = 0, gathered = 0, freed = 0;
    with_large_unit([&](Unit& unit) {
        unit.shard_parameters();
        base = allocated();
        unit.finish_gather();
        gathered = allocated() - base;
        unit.free();
        freed = allocated() - base;
    });
    INFO("a unit of 20,000 bytes: gathered it takes " << gathered << " bytes, and after "
                                                      << "free() " << freed);
    CHECK(gathered == 20'032);  // rounded up to a multiple of 64
    CHECK(freed == 0);
    const auto seen = on_ranks(2, [](dist::ProcessGroup& group) {
        const auto watched = std::make_shared<WatchedGroup>(group);
        Unit unit = make_unit(make_parameters(0), watched);
        unit.shard_parameters();
        watched->journal.clear();
        unit.start_gather();
        unit.free();
        return std::pair(watched->journal, unit.flat.is_freed());
    });
    for (const auto& [journal, is_freed] : seen) {
        INFO("free() in a gather: the gather writes to `flat`, so wait for it: "
             << in_words(journal));
        CHECK(journal == Journal{"start all_gather 120", "wait all_gather 120"});
        CHECK(is_freed);
    }
}

TEST_CASE("a gather and a free are in the event log, with the unit and its bytes",
          "[lab21][lab21.2]") {
    const auto seen = on_ranks(2, [](dist::ProcessGroup& group) {
        Unit unit = make_unit(make_parameters(0), handle_of(group));
        unit.shard_parameters();
        uint64_t position = 0;
        group.events().since(position);
        unit.start_gather();
        unit.finish_gather();
        unit.free();
        unit.free();
        Journal events;
        for (const Event& event : group.events().since(position)) {
            const char* const word = event.kind == EventKind::kGatherLaunch ? "launch"
                                     : event.kind == EventKind::kGatherDone ? "done"
                                     : event.kind == EventKind::kUnitFree   ? "free"
                                                                            : nullptr;
            if (word) events.push_back(concat(word, " ", event.index, " ", event.bytes));
        }
        return events;
    });
    INFO("unit 3 of 240 bytes: start_gather(), finish_gather(), free() twice");
    for (const Journal& events : seen)
        CHECK(in_words(events) == "launch 3 240, done 3 240, free 3 240");
}

TEST_CASE("what autograd has saved is valid after another gather of the same values",
          "[lab21][lab21.2]") {
    const auto seen = on_ranks(2, [](dist::ProcessGroup& group) {
        Unit unit = make_unit(make_parameters(0), handle_of(group));
        unit.shard_parameters();
        const Tensor& weight = unit.parameters[0].second;
        const auto pass = [&](bool changed) -> std::string {
            unit.finish_gather();
            const Tensor x = Tensor::ones({3, 4}).set_requires_grad();
            const Tensor loss = sum(x * weight);  // the gradient of x needs the weight
            unit.free();
            Tensor shard = unit.shard.detach();
            if (changed) ops::mul_(shard, 2.0f);
            unit.finish_gather();
            const std::string error = error_of([&] { loss.backward(); });
            const float gradient =
                x.grad().defined() ? x.grad().to_vector<float>()[11] : 0.0f;
            unit.free();
            return error == "no error" ? concat("gradient ", gradient) : "error";
        };
        return std::vector<std::string>{pass(false), pass(false), pass(true)};
    });
    for (const auto& results : seen) {
        INFO("y = x w, free, gather again, backward: the gradient of x[2][3] is w[2][3]");
        CHECK(results[0] == "gradient 12");
        CHECK(results[1] == "gradient 12");
        INFO("if a step has changed the shard in between, backward() is an error");
        CHECK(results[2] == "error");
    }
}

// ---- 21.3

namespace {

// Each of P terms is rounded twice, by 1 / P and by the product, then there are P additions:
// with P = 7 these are at most 9 roundings of 2^-24, together 5.4e-7 of the sum.
bool is_close(const Values& found, const Values& expected) {
    return std::ranges::equal(found, expected, [](float a, float b) {
        return std::abs(a - b) <= 1e-6f * std::abs(b);
    });
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
            CHECK(is_close(gradients[0], part_of(average, rank, ranks)));
        }
        {
            INFO("a second pass adds to grad(), as it does without sharding");
            CHECK(is_close(gradients[1], part_of(twice, rank, ranks)));
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

TEST_CASE("after the reduction a rank has memory for the gradient of its shard only",
          "[lab21][lab21.3]") {
    int64_t base = 0, taken = 0, reduced = 0;
    with_large_unit([&](Unit& unit) {
        unit.shard_parameters();
        base = allocated();
        take_gradients(unit, *unit.group);
        taken = allocated() - base;
        unit.start_reduction();
        unit.finish_reduction();
        reduced = allocated() - base;
    });
    INFO("gradients of 20,000 bytes on rank 0 of 5: one flat tensor; it takes " << taken);
    CHECK(taken < 21'000);
    INFO("then the shard's gradient has 4,000 bytes; in use are " << reduced);
    CHECK(reduced < 5'000);
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
