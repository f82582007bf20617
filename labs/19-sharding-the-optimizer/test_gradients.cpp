// The checks of lab 19, tasks 19.5 and 19.6: gradients reduced to their owners.

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

using namespace mini;
using namespace mini::lab19;
using parallel::DistributedDataParallel;
using parallel::GradBucket;
using parallel::GradientPart;
using parallel::reduce_scatter_hook;

namespace {

// A full bucket of four gradients, with 2, 3, 1 and 4 elements; on rank r, gradient k is
// full of (k + 1) (r + 1). Each gradient is a view of the buffer, and is the gradient of
// its parameter.
GradBucket full_bucket(int rank) {
    GradBucket bucket;
    bucket.buffer = Tensor::zeros({10});
    int64_t offset = 0;
    for (const int64_t size : {2, 3, 1, 4}) {
        const auto k = static_cast<int64_t>(bucket.gradients.size());
        Tensor view = ops::narrow(bucket.buffer, 0, offset, size);
        ops::fill_(view, static_cast<float>((k + 1) * (rank + 1)));
        bucket.gradients.push_back(view);
        bucket.parameters.push_back(Tensor::zeros({size}).set_requires_grad());
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

}  // namespace

// ---- 19.5

TEST_CASE("the average of each gradient arrives at the owner of its parameter",
          "[lab19][lab19.5]") {
    const int ranks = GENERATE(1, 2, 3, 4, 7);
    const auto owners = owners_on(ranks);
    const auto seen = on_ranks(ranks, [&](dist::ProcessGroup& group) {
        const GradBucket bucket = full_bucket(group.rank());
        std::vector<GradientPart> parts = start_reductions(bucket, owners, group);
        const std::vector<GradientPart> kept = parts;
        finish_reductions(parts);
        std::vector<std::pair<size_t, Values>> own;  // the position, and the values
        for (const GradientPart& part : kept)
            for (size_t slot = 0; slot < part.gradients.indices().size(); ++slot)
                if (part.owner == group.rank())
                    own.emplace_back(part.gradients.indices()[slot],
                                     part.gradients.gradient(slot).to_vector<float>());
        return std::tuple(own, parts.size(), values_of({bucket.buffer}));
    });
    const std::vector<size_t> sizes{2, 3, 1, 4};
    for (int rank = 0; rank < ranks; ++rank) {
        const auto& [own, left, buffer] = seen[static_cast<size_t>(rank)];
        INFO("gradient k is full of (k + 1) (rank + 1) on "
             << ranks << " ranks; its owners are " << concat(owners));
        std::vector<std::pair<size_t, Values>> expected;
        for (size_t k = 0; k < 4; ++k)
            if (owners[k] == rank)
                expected.emplace_back(
                    k, Values(sizes[k], static_cast<float>((k + 1)) *
                                            static_cast<float>(ranks + 1) / 2));
        INFO("rank " << rank << " should have the averages of " << expected.size()
                     << " gradients in its own part, and has " << own.size());
        REQUIRE(own.size() == expected.size());
        for (size_t i = 0; i < own.size(); ++i) {
            INFO("its gradient number " << i << " should be at position "
                                        << expected[i].first
                                        << " of the bucket, with the average (k + 1) "
                                           "(ranks + 1) / 2; hint 2 of 19.5 helps");
            REQUIRE(own[i].first == expected[i].first);
            INFO("kAvg divides once, on the root, after all additions");
            REQUIRE(first_difference(own[i].second, expected[i].second) == "none");
        }
        INFO("finish_reductions removes all parts, so that their memory is freed");
        REQUIRE(left == 0);
        INFO("the parts are copies: the bucket itself must not change");
        REQUIRE(buffer == values_of({full_bucket(rank).buffer}));
    }
}

TEST_CASE("all ranks start one reduction per owner, in the order of the owners",
          "[lab19][lab19.5]") {
    const auto seen = on_ranks(4, [&](dist::ProcessGroup& group) {
        WatchedGroup watched(group);
        const GradBucket bucket = full_bucket(group.rank());
        auto parts = start_reductions(bucket, owners_on(4), watched);
        const Journal started = watched.journal;
        finish_reductions(parts);
        return std::pair(started, watched.journal);
    });
    for (size_t rank = 0; rank < seen.size(); ++rank) {
        const auto& [started, all] = seen[rank];
        INFO(
            "ranks 0, 1 and 3 own 7, 2 and 1 floats of the bucket, rank 2 owns none of "
            "it; rank "
            << rank << " called: " << in_words(all));
        {
            INFO(
                "start_reductions starts one reduction for each owner of something, "
                "with all its gradients together, and waits for none of them");
            REQUIRE(started == Journal{"start reduce 28 to 0", "start reduce 8 to 1",
                                       "start reduce 4 to 3"});
        }
        INFO(
            "every rank waits for every reduction that it has started, also for those "
            "that it only sends to");
        REQUIRE(all.size() == 6);
        REQUIRE(all.back() == "wait reduce 4 to 3");
    }
}

// ---- 19.6

TEST_CASE("a rank keeps the gradients of its own parameters, and no bucket",
          "[lab19][lab19.6]") {
    const auto seen = on_ranks(2, [&](dist::ProcessGroup& group) {
        const GradBucket bucket = full_bucket(group.rank());
        auto parts = start_reductions(bucket, owners_on(2), group);
        keep_own_gradients(parts, bucket, group.rank());
        finish_reductions(parts);
        std::string words;
        for (const Tensor& parameter : bucket.parameters) {
            const Tensor gradient = parameter.grad();
            words += words.empty() ? "" : ", ";
            if (!gradient.defined())
                words += "none";
            else if (gradient.shares_storage(bucket.buffer))
                words += "in the bucket";
            else
                words += concat(gradient.to_vector<float>());
        }
        return std::pair(words, bucket.buffer.is_freed());
    });
    const std::string rank_0 = "none, (3, 3, 3), none, (6, 6, 6, 6)";
    const std::string rank_1 = "(1.5, 1.5), none, (4.5,), none";
    for (size_t rank = 0; rank < 2; ++rank) {
        INFO("rank 0 owns the second and the fourth of four parameters; this is rank "
             << rank);
        INFO("the gradients are now: " << seen[rank].first);
        INFO(
            "own gradients are the views of the own part, the others undefined; hint 1 "
            "of 19.6 helps");
        REQUIRE(seen[rank].first == (rank == 0 ? rank_0 : rank_1));
        INFO("no rank needs the bucket now: free its memory, also that of all views");
        REQUIRE(seen[rank].second);
    }
}

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

}  // namespace

TEST_CASE("sharded gradients and state train to the same bits as one process",
          "[lab19][lab19.6]") {
    const int ranks = GENERATE(1, 2, 3, 4, 7);
    const int64_t bucket = GENERATE(1, 60, 1 << 20);
    const auto seen = on_ranks(ranks, [&](dist::ProcessGroup& group) {
        Weights model;
        DistributedDataParallel ddp(model, buckets_of(bucket));
        ZeroRedundancyOptimizer zero(model.parameters(), make_adam);
        ddp.register_comm_hook(reduce_scatter_hook(zero));
        train(ddp, zero, group.rank());
        return values_of(model.parameters());
    });
    for (size_t rank = 0; rank < seen.size(); ++rank) {
        INFO("4 steps of Adam on " << ranks << " ranks with buckets of " << bucket
                                   << " bytes; this is rank " << rank);
        INFO(
            "gradients are integers, so that their sums are exact; hint 2 of 19.6 helps");
        REQUIRE(first_difference(seen[rank], trained_alone(ranks)) == "none");
    }
}

TEST_CASE("at most one bucket is in flight", "[lab19][lab19.6]") {
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
        const size_t started = watched.journal.size();
        watched.journal.emplace_back("second bucket");
        const auto finish_second = hook(second, watched);
        watched.journal.emplace_back("end of backward");
        finish_first();
        finish_second();
        const bool both_freed = first.buffer.is_freed() && second.buffer.is_freed();
        return std::tuple(started, watched.journal, both_freed);
    });
    for (size_t rank = 0; rank < seen.size(); ++rank) {
        const auto& [started, journal, freed] = seen[rank];
        INFO(
            "DDP gives the hook two buckets, and calls both finish functions at the end "
            "of the backward pass; rank "
            << rank << " called: " << in_words(journal));
        INFO(
            "the hook first waits for the bucket in flight, so that its memory is freed, "
            "and then starts the next one, without waiting for it");
        REQUIRE(started == 2);
        REQUIRE(journal.size() == 10);
        REQUIRE(journal[3].starts_with("wait"));
        REQUIRE(journal[4].starts_with("wait"));
        REQUIRE(journal[5].starts_with("start"));
        REQUIRE(journal[6].starts_with("start"));
        REQUIRE(journal[7] == "end of backward");
        REQUIRE(freed);
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
