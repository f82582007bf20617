// The checks of lab 21, tasks 21.1 and 21.2: one unit, whose parameters are sharded, gathered
// and freed.

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "labs/21-fully-sharded/test_unit.hpp"

using namespace mini;
using namespace mini::lab21;

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
        const bool same_version = unit.flat.version() == unit.shard.version();
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
        return std::tuple(first, second, started, same_version, watched->journal);
    });
    const Values all = labs::count_up(60);
    Values doubled = all;
    for (float& value : doubled) value *= 2;
    const std::string gather = concat("all_gather ", 4 * shard_numel(60, ranks));
    for (size_t rank = 0; rank < seen.size(); ++rank) {
        const auto& [first, second, started, same_version, journal] = seen[rank];
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
            INFO("it gives `flat` the version of the values that it sends: the shard's");
            CHECK(same_version);
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
        const auto watched = std::make_shared<WatchedGroup>(group);
        Unit unit = make_unit(make_parameters(0), watched);
        unit.shard_parameters();
        uint64_t position = 0;
        events_since(group.events(), position);
        unit.start_gather();
        unit.finish_gather();
        unit.finish_gather();
        unit.free();
        unit.free();
        const Journal waited_for = events_since(group.events(), position, true);
        unit.start_gather();
        unit.free();
        return std::pair(waited_for, events_since(group.events(), position, true));
    });
    for (const auto& [waited_for, in_flight] : seen) {
        INFO("\"sent\" is the end of the all-gather, for which wait() waits");
        INFO("unit 3 of 240 bytes: start_gather(), finish_gather() and free() twice");
        CHECK(in_words(waited_for) == "gather 3 240, sent, gathered 3 240, free 3 240");
        INFO("start_gather(), free(): the gather is finished first");
        CHECK(in_words(in_flight) == "gather 3 240, sent, gathered 3 240, free 3 240");
    }
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
