// The checks of lab 15, tasks 15.1 and 15.2, with one case of 15.5: the state of rank 0,
// and a forward pass.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "labs/15-ddp-by-hooks/test_support.hpp"
#include "libmini/parallel/broadcast_coalesced.hpp"
#include "libmini/parallel/replicated_module.hpp"

using namespace mini;
using namespace mini::lab15;

// ---- 15.1

namespace {

// Returns tensors of two dtypes; one tensor is empty, and one is not contiguous.
std::vector<Tensor> mixed_tensors(double value) {
    return {Tensor::full({3, 2}, value),
            Tensor::full({4}, value, DType::kInt64),
            Tensor::full({0}, value),
            Tensor::full({}, value),
            Tensor::full({1}, value + 1, DType::kInt64),
            ops::transpose(Tensor::full({2, 5}, value + 1), 0, 1)};
}

Journal journal_of_broadcast(dist::ProcessGroup& group, int64_t chunk_bytes) {
    WatchedGroup watched(group);
    parallel::broadcast_coalesced(watched, mixed_tensors(group.rank()), 0, chunk_bytes);
    return watched.journal;
}

// Explains the float `got` on `rank`, which is not the root's float.
std::string origin(float got, size_t rank) {
    const auto own = static_cast<float>(10 * (rank + 1));
    if (got == own || got == own + 1) return "as it was on this rank before the call";
    return "neither the root's nor this rank's: a flat tensor was read before its "
           "broadcast "
           "had ended, or sent before it was filled";
}

}  // namespace

TEST_CASE("every rank gets the root's values of every tensor", "[lab15][lab15.1]") {
    const int ranks = GENERATE(1, 2, 3, 4, 7);
    const int root = ranks / 2;
    const auto seen = on_ranks(ranks, [&](const std::shared_ptr<WatchedGroup>& group) {
        const auto tensors = mixed_tensors(10.0 * (group->rank() + 1));
        parallel::broadcast_coalesced(*group, tensors, root);
        return values_of(tensors);
    });
    const Values expected = values_of(mixed_tensors(10.0 * (root + 1)));
    for (size_t rank = 0; rank < seen.size(); ++rank) {
        INFO("rank " << rank << " of " << ranks << "; the root is rank " << root
                     << ", and its tensors hold " << 10 * (root + 1) << " and "
                     << 10 * (root + 1) + 1);
        INFO(
            "the tensors are 6 floats, 4 integers, an empty one, 1 float, 1 integer, "
            "and a transposed one of 10 floats");
        REQUIRE(seen[rank].size() == expected.size());
        for (size_t i = 0; i < expected.size(); ++i) {
            INFO("number " << i << " should be " << expected[i] << " and is "
                           << seen[rank][i] << ", " << origin(seen[rank][i], rank));
            REQUIRE(seen[rank][i] == expected[i]);
        }
    }
}

TEST_CASE("all ranks call one broadcast for each chunk", "[lab15][lab15.1]") {
    const auto seen = on_ranks(3, [](const std::shared_ptr<WatchedGroup>& group) {
        return std::pair(journal_of_broadcast(*group, parallel::kCoalescedBytes),
                         journal_of_broadcast(*group, 25));
    });
    for (size_t rank = 0; rank < seen.size(); ++rank) {
        const auto& [whole, cut] = seen[rank];
        INFO("17 floats and 5 integers are two chunks, of 68 and 40 bytes; rank "
             << rank << " of 3 called: " << in_words(whole));
        {
            INFO("every rank starts both broadcasts, also one that only receives");
            REQUIRE(std::ranges::count(whole, "start broadcast 68") == 1);
            REQUIRE(std::ranges::count(whole, "start broadcast 40") == 1);
        }
        INFO("every rank, also the root, waits once for each broadcast that it starts");
        REQUIRE(whole.size() == 4);
        INFO(
            "with chunks of 25 bytes or more: 28 bytes of floats, 32 of integers, then "
            "40 of floats and 8 of integers; it called: "
            << in_words(cut));
        REQUIRE(cut.size() == 8);
    }
}

TEST_CASE("all broadcasts are started before the first is waited for",
          "[lab15][lab15.1]") {
    const auto seen = on_ranks(2, [](const std::shared_ptr<WatchedGroup>& group) {
        return journal_of_broadcast(*group, parallel::kCoalescedBytes);
    });
    for (const Journal& journal : seen) {
        INFO("a wait directly after a start makes each chunk wait for the one before");
        INFO("the calls were: " << in_words(journal));
        REQUIRE(journal == Journal{"start broadcast 68", "start broadcast 40",
                                   "wait broadcast 68", "wait broadcast 40"});
    }
}

// ---- 15.2

namespace {

using parallel::ReplicatedModule;

// Writes the calls of forward() into the group's journal. Buffers come from rank 1.
class Traced : public ReplicatedModule {
  public:
    Traced(nn::Module& module, std::shared_ptr<WatchedGroup> group, bool with_buffers)
        : ReplicatedModule(module, group, with_buffers), watched_(std::move(group)) {
        watched_->journal.clear();
    }
    Tensor prepared;  // the argument of prepare_for_backward()

  protected:
    int begin_iteration(bool sends_buffers, bool averages) override {
        watched_->journal.push_back(concat("begin_iteration(",
                                           sends_buffers ? "true" : "false", ", ",
                                           averages ? "true" : "false", ")"));
        return 1 % watched_->world_size();
    }
    void prepare_for_forward() override {
        watched_->journal.emplace_back("prepare_for_forward");
    }
    void prepare_for_backward(const Tensor& output) override {
        watched_->journal.emplace_back("prepare_for_backward");
        prepared = output;
    }

  private:
    std::shared_ptr<WatchedGroup> watched_;
};

// Writes "module" into the journal, and copies the buffer at that time to `seen`.
class WithBuffer : public nn::Module {
  public:
    explicit WithBuffer(std::shared_ptr<WatchedGroup> group) : group_(std::move(group)) {
        weight = register_parameter("weight", Tensor::ones({1}));
        buffer = register_buffer("buffer", Tensor::full({2}, group_->rank()));
    }
    Tensor forward(const Tensor& x) override {
        group_->journal.emplace_back("module");
        seen = buffer.to_vector<float>();
        return x * weight;
    }

    Tensor weight, buffer;
    Values seen;

  private:
    std::shared_ptr<WatchedGroup> group_;
};

const Tensor kOne = Tensor::ones({1});

}  // namespace

TEST_CASE("a forward pass makes the calls of its contract in their order",
          "[lab15][lab15.2]") {
    const auto seen = on_ranks(2, [](const std::shared_ptr<WatchedGroup>& group) {
        WithBuffer model(group);
        Traced traced(model, group, /*with_buffers=*/true);
        traced(kOne);
        return group->journal;
    });
    for (const Journal& journal : seen) {
        INFO(
            "the first forward: the constructor has just sent the buffers, so they are "
            "not due; the calls were: "
            << in_words(journal));
        REQUIRE(journal == Journal{"begin_iteration(false, true)", "prepare_for_forward",
                                   "module", "prepare_for_backward"});
    }
}

TEST_CASE("a later forward pass sends the buffers before the module runs",
          "[lab15][lab15.2]") {
    struct Seen {
        Journal journal;
        Values buffer;
    };
    const auto seen = on_ranks(3, [](const std::shared_ptr<WatchedGroup>& group) {
        WithBuffer model(group);
        Traced traced(model, group, /*with_buffers=*/true);
        traced(kOne);
        ops::fill_(model.buffer, static_cast<float>(7 + group->rank()));
        group->journal.clear();
        traced(kOne);
        return Seen{group->journal, model.seen};
    });
    for (const Seen& rank : seen) {
        INFO("the second forward, after one outside of no_sync: buffers are due");
        INFO("the calls were: " << in_words(rank.journal));
        REQUIRE(rank.journal == Journal{"begin_iteration(true, true)",
                                        "start broadcast 8", "wait broadcast 8",
                                        "prepare_for_forward", "module",
                                        "prepare_for_backward"});
        INFO(
            "the buffers were 7, 8 and 9; begin_iteration returned rank 1, so the "
            "module must run with rank 1's buffers");
        REQUIRE(rank.buffer == Values{8, 8});
    }
}

TEST_CASE("a forward pass within no_sync prepares nothing", "[lab15][lab15.5]") {
    const auto seen = on_ranks(2, [](const std::shared_ptr<WatchedGroup>& group) {
        WithBuffer model(group);
        Traced traced(model, group, /*with_buffers=*/true);
        const auto no_sync = traced.no_sync();
        traced(kOne);
        return group->journal;
    });
    for (const Journal& journal : seen) {
        INFO("begin_iteration gets false: nothing is averaged; the calls were: "
             << in_words(journal));
        REQUIRE(journal == Journal{"begin_iteration(false, false)", "module"});
    }
}

TEST_CASE("no forward pass broadcasts buffers that are not to be sent",
          "[lab15][lab15.2]") {
    const auto seen = on_ranks(2, [](const std::shared_ptr<WatchedGroup>& group) {
        WithBuffer model(group);
        Traced traced(model, group, /*with_buffers=*/false);
        for (int pass = 0; pass < 3; ++pass) traced(kOne);
        return group->journal;
    });
    for (const Journal& journal : seen) {
        INFO("three passes; the calls were: " << in_words(journal));
        REQUIRE(std::ranges::count(journal, "begin_iteration(false, true)") == 3);
        REQUIRE(std::ranges::count(journal, "module") == 3);
        REQUIRE(std::ranges::count(journal, "start broadcast 8") == 0);
    }
}

TEST_CASE("forward returns the module's result and prepares its backward pass",
          "[lab15][lab15.2]") {
    const auto seen = on_ranks(1, [](const std::shared_ptr<WatchedGroup>& group) {
        WithBuffer model(group);
        Traced traced(model, group, /*with_buffers=*/true);
        const Tensor result = traced(Tensor::full({1}, 3.0));
        return Values{static_cast<float>(result.item()),
                      traced.prepared.defined()
                          ? static_cast<float>(traced.prepared.item())
                          : -1.0f};
    });
    INFO("3 times a weight of 1; prepare_for_backward gets the same result");
    REQUIRE(seen[0] == Values{3, 3});
}
