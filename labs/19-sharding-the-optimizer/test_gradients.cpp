// The checks of lab 19, tasks 19.5 and 19.6: gradients reduced to their owners.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "labs/19-sharding-the-optimizer/test_support.hpp"
#include "libmini/autograd/functions.hpp"
#include "libmini/nn/module.hpp"
#include "libmini/parallel/ddp.hpp"
#include "libmini/parallel/reduce_scatter_hook.hpp"
#include "libmini/tensor/buffer_cache.hpp"

using namespace mini;
using namespace mini::lab19;
using parallel::DistributedDataParallel;
using parallel::GradBucket;
using parallel::reduce_scatter_hook;
using parallel::reduce_to_owners;

namespace {

// A full bucket of four gradients, with 2, 3, 1 and 2 x 2 elements; on rank r, gradient k is
// full of (k + 1) (r + 1). Each gradient is a view of the buffer, and is the gradient of
// its parameter.
GradBucket full_bucket(int rank) {
    GradBucket bucket;
    bucket.buffer = Tensor::zeros({10});
    int64_t offset = 0;
    for (const Shape& shape : {Shape{2}, Shape{3}, Shape{1}, Shape{2, 2}}) {
        const auto k = static_cast<int64_t>(bucket.gradients.size());
        const int64_t size = element_count(shape);
        Tensor view = ops::view(ops::narrow(bucket.buffer, 0, offset, size), shape);
        ops::fill_(view, static_cast<float>((k + 1) * (rank + 1)));
        bucket.gradients.push_back(view);
        bucket.parameters.push_back(Tensor::zeros(shape).set_requires_grad());
        bucket.parameters.back().set_grad(view);
        offset += size;
    }
    return bucket;
}

// The owners of the bucket's parameters: rank 1 of the first, rank 0 of the second, ...
std::vector<int> owners_on(int ranks) {
    return ranks == 1 ? std::vector<int>{0, 0, 0, 0}
                      : std::vector<int>{1, 0, ranks - 1, 0};
}

// Returns a bucket's gradients in words: "none, (3, 3, 3), in the bucket".
std::string gradients_in_words(const GradBucket& bucket) {
    std::string words;
    for (const Tensor& parameter : bucket.parameters) {
        const Tensor gradient = parameter.grad();
        words += words.empty() ? "" : ", ";
        if (!gradient.defined())
            words += "none";
        else if (gradient.shares_storage(bucket.buffer))
            words += "in the bucket";
        else if (gradient.shape() != parameter.shape())
            words += concat("of shape ", gradient.shape());
        else
            words += concat(gradient.to_vector<float>());
    }
    return words;
}

// Sorts waits that follow each other: their order does not matter.
Journal with_sorted_waits(Journal journal) {
    for (auto first = journal.begin(); first != journal.end();) {
        const auto is_wait = [](const std::string& line) {
            return line.starts_with("wait");
        };
        first = std::find_if(first, journal.end(), is_wait);
        const auto last = std::find_if_not(first, journal.end(), is_wait);
        std::sort(first, last);
        first = last;
    }
    return journal;
}

}  // namespace

// ---- 19.5

TEST_CASE("each gradient's average is on the owner of its parameter, and nowhere else",
          "[lab19][lab19.5]") {
    const int ranks = GENERATE(1, 2, 3, 4, 7);
    const auto owners = owners_on(ranks);
    const auto seen = on_ranks(ranks, [&](dist::ProcessGroup& group) {
        // A reduction of this group runs in the wait for it, and not before.
        WatchedGroup watched(group);
        GradBucket bucket = full_bucket(group.rank());
        const auto finish = reduce_to_owners(bucket, owners, watched);
        const Values buffer = values_of({bucket.buffer});
        const std::string before = gradients_in_words(bucket);
        ops::fill_(bucket.buffer, -1.0f);  // nothing needs the bucket any more
        finish();
        return std::tuple(gradients_in_words(bucket), buffer,
                          before.find("in the bucket") == std::string::npos);
    });
    const std::vector<size_t> sizes{2, 3, 1, 4};
    for (int rank = 0; rank < ranks; ++rank) {
        const auto& [words, buffer, is_apart] = seen[static_cast<size_t>(rank)];
        INFO("gradient k is full of (k + 1) (rank + 1) on "
             << ranks << " ranks; its owners are " << concat(owners) << "; this is rank "
             << rank);
        std::string expected;
        for (size_t k = 0; k < 4; ++k) {
            const auto average =
                static_cast<float>(k + 1) * static_cast<float>(ranks + 1) / 2;
            expected += k == 0 ? "" : ", ";
            expected += owners[k] == rank ? concat(Values(sizes[k], average)) : "none";
        }
        {
            INFO(
                "a rank has the averages (k + 1) (ranks + 1) / 2 of its own parameters; "
                "other gradients are undefined. kAvg divides once, on the owner");
            CHECK(words == expected);
        }
        {
            INFO("the reductions need copies: the bucket itself must not change");
            CHECK(buffer == values_of({full_bucket(rank).buffer}));
        }
        INFO("before the wait, no gradient is a view of the bucket, which may be freed");
        CHECK(is_apart);
    }
}

TEST_CASE("all ranks start one reduction per owner, in the order of the owners",
          "[lab19][lab19.5]") {
    const auto seen = on_ranks(4, [&](dist::ProcessGroup& group) {
        WatchedGroup watched(group);
        const GradBucket bucket = full_bucket(group.rank());
        const auto finish = reduce_to_owners(bucket, owners_on(4), watched);
        const Journal started = watched.journal;
        finish();
        finish();
        return std::pair(started, with_sorted_waits(watched.journal));
    });
    for (size_t rank = 0; rank < seen.size(); ++rank) {
        const auto& [started, all] = seen[rank];
        INFO(
            "ranks 0, 1 and 3 own 7, 2 and 1 floats of the bucket, rank 2 owns none of "
            "it; rank "
            << rank << " called: " << in_words(all));
        {
            INFO(
                "one reduction starts for each owner of something, with all its "
                "gradients together, and none of them is waited for");
            REQUIRE(started == Journal{"start reduce 28 to 0", "start reduce 8 to 1",
                                       "start reduce 4 to 3"});
        }
        INFO(
            "the returned function waits for every reduction, also for those that this "
            "rank only sends to; a second call does nothing");
        REQUIRE(Journal(all.begin() + 3, all.end()) == Journal{"wait reduce 28 to 0",
                                                               "wait reduce 4 to 3",
                                                               "wait reduce 8 to 1"});
    }
}

TEST_CASE("after the wait a rank has memory for its own gradients only",
          "[lab19][lab19.5]") {
    int64_t before_wait = 0, after_wait = 0;
    labs::run_ranks(1, [&](dist::ProcessGroup& alone) {
        FiveInOne group(alone);
        GradBucket bucket;
        bucket.buffer = Tensor::zeros({5000});
        for (int64_t k = 0; k < 5; ++k) {
            bucket.gradients.push_back(ops::narrow(bucket.buffer, 0, 1000 * k, 1000));
            bucket.parameters.push_back(Tensor::zeros({1000}).set_requires_grad());
        }
        const auto bytes = static_cast<int64_t>(allocated_bytes());
        const auto finish = reduce_to_owners(bucket, {0, 1, 2, 3, 4}, group);
        before_wait = static_cast<int64_t>(allocated_bytes()) - bytes;
        finish();
        after_wait = static_cast<int64_t>(allocated_bytes()) - bytes;
    });
    INFO("five ranks own a gradient of 4,000 bytes each; this is rank 0");
    INFO("one copy of each gradient is in flight: 20,000 bytes, and their headers");
    CHECK(before_wait < 24000);
    INFO("then the copies for other ranks are freed, even if the function is kept");
    CHECK(after_wait < 8000);
}

// ---- 19.6

namespace {

// The gradient of weight i is (i + 1) x, an integer: sums are exact in any order.
class Weights : public nn::Module {
  public:
    Weights() {
        for (const int64_t size : {12, 1, 7, 40, 3})
            weights_.push_back(register_parameter(
                concat("w", weights_.size()),
                draw({size}, static_cast<uint64_t>(size)).set_requires_grad()));
    }
    Tensor forward(const Tensor& x) override {
        Tensor total = sum(weights_[0] * x);
        for (size_t i = 1; i < weights_.size(); ++i)
            total = total + sum(weights_[i] * x * static_cast<float>(i + 1));
        return total;
    }

  private:
    std::vector<Tensor> weights_;
};

parallel::DDPOptions buckets_of(int64_t bytes) {
    return {.first_bucket_bytes = bytes, .bucket_cap_mb = parallel::mib(bytes)};
}

// Makes four steps of Adam on x = (step + 1) (rank + 2).
void train(DistributedDataParallel& ddp, optim::Optimizer& optimizer, int rank) {
    for (int step = 0; step < 4; ++step) {
        optimizer.zero_grad();
        ddp(Tensor::full({1}, (step + 1) * (rank + 2))).backward();
        optimizer.step();
    }
}

// The parameters after the same training in one process: the averages of x are known.
Values trained_alone(int ranks) {
    Weights model;
    const auto adam = make_adam(model.parameters());
    for (int step = 0; step < 4; ++step) {
        adam->zero_grad();
        model(Tensor::full({1}, (step + 1) * (ranks + 3) / 2.0)).backward();
        adam->step();
    }
    return values_of(model.parameters());
}

// Trains with sharded gradients and state; returns the parameters of each rank.
std::vector<Values> trained_sharded(int ranks, int64_t bucket) {
    return on_ranks(ranks, [&](dist::ProcessGroup& group) {
        Weights model;
        DistributedDataParallel ddp(model, buckets_of(bucket));
        ZeroRedundancyOptimizer zero(model.parameters(), make_adam);
        ddp.register_comm_hook(reduce_scatter_hook(zero));
        train(ddp, zero, group.rank());
        return values_of(model.parameters());
    });
}

}  // namespace

TEST_CASE("sharded gradients and state train like one process", "[lab19][lab19.6]") {
    const int ranks = GENERATE(1, 2, 3, 4, 7);
    const int64_t bucket = GENERATE(1, 60, 1 << 20);
    const Values alone = trained_alone(ranks);
    for (const Values& rank : trained_sharded(ranks, bucket)) {
        INFO("4 steps of Adam on " << ranks << " ranks with buckets of " << bucket
                                   << " bytes; hint 2 of 19.6 helps");
        REQUIRE(rank.size() == alone.size());
        for (size_t i = 0; i < alone.size(); ++i) {
            INFO("element " << i << " is " << rank[i] << ", and should be " << alone[i]);
            REQUIRE(rank[i] == about(alone[i], 1e-5));
        }
    }
}

TEST_CASE("sharded gradients and state train to the same bits as one process",
          "[lab19][lab19.6]") {
    const int ranks = GENERATE(2, 3, 4, 7);
    for (const Values& rank : trained_sharded(ranks, 60)) {
        INFO("4 steps of Adam on " << ranks << " ranks. Gradients are integers, so that");
        INFO("their sums are exact; ReduceOp::kAvg divides the sum");
        REQUIRE(first_difference(rank, trained_alone(ranks)) == "none");
    }
}

TEST_CASE("one bucket is in flight, and its memory is freed at once",
          "[lab19][lab19.6]") {
    const auto seen = on_ranks(2, [](dist::ProcessGroup& group) {
        WatchedGroup watched(group);
        const GradBucket first = full_bucket(0);
        GradBucket second = full_bucket(0);
        second.index = 1;
        second.is_last = true;
        // In this order, each rank owns parameters of both buckets: rank 0 the first
        // three of `first` and the last of `second`.
        std::vector<Tensor> parameters = first.parameters;
        parameters.insert(parameters.end(), second.parameters.begin(),
                          second.parameters.end());
        std::swap(parameters[3], parameters[7]);
        ZeroRedundancyOptimizer zero(parameters, make_sgd);
        const auto hook = reduce_scatter_hook(zero);
        const auto finish_first = hook(first, watched);
        const bool first_freed = first.buffer.is_freed();
        watched.journal.emplace_back("second bucket");
        const auto finish_second = hook(second, watched);
        const bool second_freed = second.buffer.is_freed();
        watched.journal.emplace_back("end of backward");
        finish_first();
        finish_second();
        return std::tuple(with_sorted_waits(watched.journal), first_freed, second_freed);
    });
    for (size_t rank = 0; rank < seen.size(); ++rank) {
        const auto& [journal, first_freed, second_freed] = seen[rank];
        INFO(
            "DDP gives the hook two buckets, and calls both finish functions at the end "
            "of the backward pass; rank "
            << rank << " called: " << in_words(journal));
        INFO(
            "rank 0 owns 6 floats of the first bucket and 4 of the second, rank 1 the "
            "other 4 and 6: look an owner up by its parameter, not by its place");
        INFO(
            "the hook first waits for the bucket in flight, and then starts the next "
            "one, "
            "without waiting for it");
        CHECK(journal == Journal{"start reduce 24 to 0", "start reduce 16 to 1",
                                 "second bucket", "wait reduce 16 to 1",
                                 "wait reduce 24 to 0", "start reduce 16 to 0",
                                 "start reduce 24 to 1", "end of backward",
                                 "wait reduce 16 to 0", "wait reduce 24 to 1"});
        INFO("no rank needs the bucket now: the hook frees its memory before it returns");
        CHECK(first_freed);
        CHECK(second_freed);
    }
}

TEST_CASE("two models have two hooks, and each hook has a bucket in flight of its own",
          "[lab19][lab19.6]") {
    const auto seen = on_ranks(2, [](dist::ProcessGroup& group) {
        WatchedGroup watched(group);
        GradBucket a = full_bucket(0), b = full_bucket(0);
        a.is_last = b.is_last = true;
        ZeroRedundancyOptimizer zero_a(a.parameters, make_sgd);
        ZeroRedundancyOptimizer zero_b(b.parameters, make_sgd);
        const auto hook_a = reduce_scatter_hook(zero_a);
        const auto hook_b = reduce_scatter_hook(zero_b);
        const auto finish_a = hook_a(a, watched);
        const auto finish_b = hook_b(b, watched);
        watched.journal.emplace_back("end of backward");
        finish_a();
        finish_b();
        return watched.journal;
    });
    for (const Journal& journal : seen) {
        INFO("two DDP in one backward pass, one bucket each: " << in_words(journal));
        INFO("the parts in flight belong to one hook: it captures a list of its own");
        REQUIRE(journal.size() == 9);
        REQUIRE(journal[4] == "end of backward");
    }
}
