// The checks of lab 19, tasks 19.1 and 19.2: who owns which parameter, and a step.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "labs/19-sharding-the-optimizer/test_support.hpp"
#include "libmini/tensor/buffer_cache.hpp"

using namespace mini;
using namespace mini::lab19;
using parallel::partition_parameters;

// ---- 19.1

namespace {

using Owners = std::vector<int>;
using Sizes = std::vector<int64_t>;

// Returns "rank 0 has 14 elements, rank 1 has 17".
std::string loads_in_words(const Sizes& sizes, const Owners& owners, int world_size) {
    std::string text;
    for (int rank = 0; rank < world_size; ++rank) {
        int64_t load = 0;
        for (size_t i = 0; i < std::min(sizes.size(), owners.size()); ++i)
            if (owners[i] == rank) load += sizes[i];
        text += concat(rank == 0 ? "" : ", ", "rank ", rank, " has ", load);
    }
    return text;
}

void check_owners(const Sizes& sizes, int world_size, const Owners& expected,
                  const std::string& why) {
    const Owners owners = partition_parameters(sizes, world_size);
    INFO("parameters of " << concat(sizes) << " elements on " << world_size
                          << " ranks: the owners should be " << concat(expected)
                          << " and are " << concat(owners));
    INFO("so " << loads_in_words(sizes, owners, world_size) << " elements. " << why);
    REQUIRE(owners == expected);
}

}  // namespace

TEST_CASE("the largest parameter that is left goes to the rank with the fewest elements",
          "[lab19][lab19.1]") {
    const std::string why =
        "The order is 9, 7, 6, 5, 4, and each goes to the rank with the fewest elements "
        "so far; hint 1 of 19.1 helps";
    check_owners({5, 9, 4, 7, 6}, 1, {0, 0, 0, 0, 0}, why);
    check_owners({5, 9, 4, 7, 6}, 2, {0, 0, 1, 1, 1}, why);
    check_owners({5, 9, 4, 7, 6}, 3, {2, 0, 1, 1, 2}, why);
    check_owners({5, 9, 4, 7, 6}, 4, {3, 0, 3, 1, 2}, why);
    check_owners({5, 9, 4, 7, 6}, 7, {3, 0, 4, 1, 2}, why);
}

TEST_CASE("elements are counted, not parameters", "[lab19][lab19.1]") {
    check_owners({10, 2, 2, 2, 2, 2}, 2, {0, 1, 1, 1, 1, 1},
                 "Five parameters of 2 elements are as much as one of 10");
    check_owners({}, 3, {}, "Without parameters there are no owners");
    check_owners({3, 0, 0, 0}, 3, {0, 1, 1, 1},
                 "A parameter without elements adds nothing to its owner's load, so the "
                 "next one goes to the same rank");
    check_owners({3'000'000'000, 3'000'000'000, 2, 1}, 2, {0, 1, 0, 1},
                 "A load of 3,000,000,000 does not fit into 32 bits");
}

TEST_CASE("among equal parameters the first comes first, among equal ranks the lowest",
          "[lab19][lab19.1]") {
    check_owners({4, 4, 4, 4}, 3, {0, 1, 2, 0},
                 "All ranks compute the owners on their own, so nothing may be left to "
                 "chance: equal sizes stay in their order (stable), and of several ranks "
                 "with the same load the lowest is taken");
    check_owners(
        {2, 2, 5, 2, 5}, 3, {2, 2, 0, 2, 1},
        "The two largest first; rank 2 then has the fewest elements three times, "
        "as 2 and 4 are less than 5");
    Sizes many(40, 3);
    Owners expected;
    for (int i = 0; i < 40; ++i) expected.push_back(i % 4);
    check_owners(many, 4, expected,
                 "A sort that is not stable keeps the order of a short list and changes "
                 "that of a long one");
}

// ---- 19.2

namespace {

// What a rank has after some steps.
struct Stepped {
    std::vector<int> owners;
    std::vector<Values> values;   // of each parameter
    std::vector<Values> shared;   // of a tensor made before, which shares its memory
    std::vector<int> is_counted;  // whether the version of its memory is another
};

Stepped take_three_steps(const Kind& kind,
                         const std::shared_ptr<dist::ProcessGroup>& group) {
    ZeroRedundancyOptimizer zero(make_parameters(), kind.make, group);
    std::vector<Tensor> shared;
    std::vector<uint64_t> versions;
    for (const Tensor& each : zero.parameters()) {
        shared.push_back(each.detach());
        versions.push_back(each.version());
    }
    take_steps(zero, 0, 3);
    Stepped result{.owners = zero.owners(), .values = {}, .shared = {}, .is_counted = {}};
    for (size_t i = 0; i < shared.size(); ++i) {
        result.values.push_back(zero.parameters()[i].to_vector<float>());
        result.shared.push_back(shared[i].to_vector<float>());
        result.is_counted.push_back(zero.parameters()[i].version() != versions[i]);
    }
    return result;
}

// Returns how many shards were in memory at a time in a step of 5 ranks, each of which
// owns 1000 elements.
int64_t most_shards_in_memory() {
    int64_t bytes = 0;
    labs::run_ranks(1, [&](dist::ProcessGroup& alone) {
        std::vector<Tensor> parameters;
        for (int i = 0; i < 5; ++i)
            parameters.push_back(Tensor::zeros({1000}).set_requires_grad());
        ZeroRedundancyOptimizer zero(parameters, make_sgd,
                                     std::make_shared<FiveInOne>(alone));
        const size_t before = allocated_bytes();
        reset_peak_bytes();
        zero.step();
        bytes = static_cast<int64_t>(max_allocated_bytes() - before);
    });
    return bytes / 4000;
}

// What a rank's factory got.
struct Made {
    std::vector<size_t> indices;  // of parameters in the whole list
    std::vector<int64_t> others;  // elements of tensors that are not in this list
    std::vector<int> owners;
    bool is_local = false;  // local_optimizer() is what the factory returned
};

Made make_on(dist::ProcessGroup&) {
    const auto all = make_parameters();
    Made made;
    const optim::Optimizer* result = nullptr;
    ZeroRedundancyOptimizer zero(all, [&](const std::vector<Tensor>& own) {
        for (const Tensor& each : own) {
            const auto found = std::ranges::find_if(
                all, [&](const Tensor& parameter) { return parameter.is_same(each); });
            if (found == all.end())
                made.others.push_back(each.numel());
            else
                made.indices.push_back(static_cast<size_t>(found - all.begin()));
        }
        auto optimizer = make_sgd(own);
        result = optimizer.get();
        return optimizer;
    });
    made.owners = zero.owners();
    made.is_local = &zero.local_optimizer() == result;
    return made;
}

}  // namespace

TEST_CASE("a rank's own optimizer gets the rank's parameters, or one of its own",
          "[lab19][lab19.2]") {
    const int ranks = GENERATE(1, 3, 7);
    const auto seen = on_ranks(ranks, make_on);
    for (size_t rank = 0; rank < seen.size(); ++rank) {
        const Made& made = seen[rank];
        INFO("parameters of 12, 1, 7, 0 and 40 elements on "
             << ranks << " ranks: their owners are " << concat(made.owners)
             << "; this is rank " << rank);
        CHECK(made.owners == partition_parameters({12, 1, 7, 0, 40}, ranks));
        std::vector<size_t> own;
        for (size_t i = 0; i < made.owners.size(); ++i)
            if (made.owners[i] == static_cast<int>(rank)) own.push_back(i);
        {
            INFO("`make` gets the parameters that this rank owns, in their order");
            CHECK(made.indices == own);
        }
        INFO("a rank that owns none passes one tensor of one element");
        CHECK(made.others == (own.empty() ? std::vector<int64_t>{1} : Sizes{}));
        CHECK(made.is_local);
    }
    labs::run_ranks(1, [](dist::ProcessGroup&) {
        const auto null = [](const std::vector<Tensor>&) {
            return std::unique_ptr<optim::Optimizer>();
        };
        INFO("a factory that returns null is an error");
        CHECK(error_of([&] { ZeroRedundancyOptimizer(make_parameters(), null); }) !=
              "no error");
    });
}

TEST_CASE("after a step every rank has the unsharded optimizer's parameters",
          "[lab19][lab19.2]") {
    const int ranks = GENERATE(1, 2, 3, 4, 7);
    for (const Kind& kind : kKinds) {
        const auto plain = kind.make(make_parameters());
        take_steps(*plain, 0, 3);
        const auto seen = on_ranks(ranks, [&](dist::ProcessGroup& group) {
            // A broadcast of this group runs in the wait for it, and not before.
            return take_three_steps(kind, std::make_shared<WatchedGroup>(group));
        });
        for (size_t rank = 0; rank < seen.size(); ++rank)
            for (size_t i = 0; i < plain->parameters().size(); ++i) {
                const auto& [owners, values, shared, is_counted] = seen[rank];
                const Values expected = plain->parameters()[i].to_vector<float>();
                const bool is_own = owners[i] == static_cast<int>(rank);
                const bool is_old = values[i] == make_parameters()[i].to_vector<float>();
                INFO("3 steps of " << kind.name << " on " << ranks << " ranks; parameter "
                                   << i << ", which rank " << owners[i]
                                   << " owns, on rank " << rank);
                {
                    INFO((is_old ? "its values have not changed at all: "
                                 : "its values have changed, but to others: ")
                         << (is_own ? "its own optimizer has to update it"
                                    : "its owner has to send the new values, and this "
                                      "rank to copy them out of the buffer")
                         << "; hint 1 of 19.2 helps");
                    REQUIRE(first_difference(values[i], expected) == "none");
                }
                INFO(
                    "the values belong into the parameter's own memory: a tensor that "
                    "shares it must change too, and autograd must see that it was "
                    "written; ops::copy_ does both");
                REQUIRE(first_difference(shared[i], expected) == "none");
                REQUIRE((is_counted[i] || expected.empty()));
            }
    }
}

TEST_CASE("a step broadcasts each owner's elements once and holds at most two shards",
          "[lab19][lab19.2]") {
    const auto seen = on_ranks(5, [](dist::ProcessGroup& group) {
        const auto watched = std::make_shared<WatchedGroup>(group);
        ZeroRedundancyOptimizer zero(make_parameters(), make_sgd, watched);
        watched->journal.clear();
        take_steps(zero, 0, 1);
        return watched->journal;
    });
    for (size_t rank = 0; rank < seen.size(); ++rank) {
        INFO("the ranks 0 to 4 own 40, 12, 7, 1 and 0 elements of 4 bytes; rank "
             << rank << " called: " << in_words(seen[rank]));
        INFO(
            "each broadcast is started before the previous one is waited for, so that "
            "the network has no pause; and not all at once, so that a rank needs memory "
            "for two shards only; hint 2 of 19.2 helps");
        REQUIRE(seen[rank] == Journal{"start broadcast 160", "start broadcast 48",
                                      "wait broadcast 160", "start broadcast 28",
                                      "wait broadcast 48", "start broadcast 4",
                                      "wait broadcast 28", "wait broadcast 4"});
    }
    const int64_t shards = most_shards_in_memory();
    INFO("5 ranks own 1000 elements each; in a step, rank 0 had memory for "
         << shards << " shards at a time");
    INFO(
        "when a broadcast starts, the buffer of the one before the previous one must be "
        "gone: a Tensor or Bucket keeps its memory as long as a copy of it exists");
    REQUIRE(shards <= 2);
}

TEST_CASE("on one rank a step sends nothing", "[lab19][lab19.2]") {
    const auto seen = on_ranks(1, [](dist::ProcessGroup& group) {
        const auto watched = std::make_shared<WatchedGroup>(group);
        ZeroRedundancyOptimizer zero(make_parameters(), make_sgd, watched);
        watched->journal.clear();
        take_steps(zero, 0, 1);
        return watched->journal;
    });
    INFO("world size 1: there is no rank to send to; it called: " << in_words(seen[0]));
    REQUIRE(seen[0].empty());
}

TEST_CASE("a step uses the learning rate that was set last", "[lab19][lab19.2]") {
    const auto plain = make_sgd(make_parameters());
    plain->set_lr(0.5);
    take_steps(*plain, 1, 2);
    const auto seen = on_ranks(2, [](dist::ProcessGroup&) {
        ZeroRedundancyOptimizer zero(make_parameters(), make_sgd);
        zero.set_lr(0.5);
        take_steps(zero, 1, 2);
        return values_of(zero.parameters());
    });
    INFO(
        "set_lr(0.5) sets the rate of this optimizer. The rank's own optimizer still has "
        "0.1, and learns of it in step()");
    for (const Values& rank : seen)
        REQUIRE(first_difference(rank, values_of(plain->parameters())) == "none");
}
