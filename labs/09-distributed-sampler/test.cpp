// The checks of lab 09: the cases go step by step from the number of samples of a rank to
// the sampler for evaluation. The cases of task 09.k need tasks 09.1 to 09.k.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "labs/check/ranks.hpp"
#include "labs/numbered.hpp"
#include "libmini/core/log.hpp"
#include "libmini/data/distributed_eval_sampler.hpp"
#include "libmini/data/distributed_sampler.hpp"
#include "libmini/data/loader.hpp"
#include "libmini/random/random.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/written.hpp"

using mini::data::DistributedEvalSampler, mini::data::DistributedSampler,
    mini::data::DistributedSamplerOptions;
using mini::labs::Indices, mini::labs::Numbered, mini::labs::all_of, mini::labs::sorted,
    mini::labs::together;
using mini::test::contains;

namespace {

// Returns the warnings that `body` logs, regardless of MINI_LOG_LEVEL.
std::string warnings_of(const std::function<void()>& body) {
    mini::logging::set_level(mini::logging::Level::kWarning);
    return mini::test::written_to_stderr(body);
}

// Returns the indices of every rank in one epoch, for n samples.
std::vector<Indices> deal(int64_t n, int ranks, DistributedSamplerOptions options,
                          int64_t epoch = 0) {
    std::vector<Indices> all;
    for (int rank = 0; rank < ranks; ++rank) {
        options.num_replicas = ranks;
        options.rank = rank;
        DistributedSampler sampler(n, options);
        sampler.set_epoch(epoch);
        all.push_back(sampler.indices());
    }
    return all;
}

// Returns the indices of every rank without shuffling and without set_epoch.
std::vector<Indices> deal_in_order(int64_t n, int ranks, bool drop_last = false) {
    std::vector<Indices> all;
    for (int rank = 0; rank < ranks; ++rank)
        all.push_back(DistributedSampler(n, {.num_replicas = ranks,
                                             .rank = rank,
                                             .shuffle = false,
                                             .drop_last = drop_last})
                          .indices());
    return all;
}

std::vector<Indices> deal_for_evaluation(int64_t n, int ranks) {
    std::vector<Indices> all;
    for (int rank = 0; rank < ranks; ++rank) {
        DistributedEvalSampler sampler(n, {.num_replicas = ranks, .rank = rank});
        all.push_back(sampler.indices());
        INFO("rank " << rank << " of " << ranks << ": size() and the list must agree");
        CHECK(sampler.size() == static_cast<int64_t>(all.back().size()));
    }
    return all;
}

}  // namespace

TEST_CASE("all ranks get the same number of samples, rounded up", "[lab09][lab09.1]") {
    const int ranks = GENERATE(1, 2, 3, 4, 7);
    const int64_t n = GENERATE(0, 1, 2, 5, 6, 10, 100);
    for (int rank = 0; rank < ranks; ++rank) {
        INFO(n << " samples on " << ranks << " ranks: rank " << rank << " should get "
               << (n + ranks - 1) / ranks << "; hint 1 of 09.1");
        CHECK(DistributedSampler(n, {.num_replicas = ranks, .rank = rank}).size() ==
              (n + ranks - 1) / ranks);
    }
}

TEST_CASE("with drop_last the number is rounded down", "[lab09][lab09.1]") {
    const int ranks = GENERATE(1, 2, 3, 4, 7);
    const int64_t n = GENERATE(0, 1, 2, 5, 6, 10, 100);
    for (int rank = 0; rank < ranks; ++rank) {
        INFO(n << " samples on " << ranks << " ranks, drop_last: rank " << rank
               << " should get " << n / ranks << "; hint 2 of 09.1");
        CHECK(DistributedSampler(n,
                                 {.num_replicas = ranks, .rank = rank, .drop_last = true})
                  .size() == n / ranks);
    }
}

TEST_CASE("the number of samples is computed with integers", "[lab09][lab09.1]") {
    INFO("2^24 + 1 samples on 2 ranks: half of them, rounded up, is 8388609; a float");
    INFO("has 24 bits, and would lose the last sample; hint 3 of 09.1");
    CHECK(DistributedSampler(16777217, {.num_replicas = 2, .rank = 0}).size() == 8388609);
    INFO("2^62 + 1 samples on 2 ranks: too many even for a double");
    const int64_t huge = (int64_t{1} << 62) + 1;
    CHECK(DistributedSampler(huge, {.num_replicas = 2, .rank = 0}).size() ==
          (int64_t{1} << 61) + 1);
}

TEST_CASE("the number of indices equals size()", "[lab09][lab09.2]") {
    const int ranks = GENERATE(1, 2, 3, 4, 7);
    const int64_t n = GENERATE(0, 1, 2, 5, 6, 10, 100);
    for (const bool drop_last : {false, true}) {
        const int64_t each = drop_last ? n / ranks : (n + ranks - 1) / ranks;
        const auto dealt = deal_in_order(n, ranks, drop_last);
        for (size_t rank = 0; rank < dealt.size(); ++rank) {
            INFO(n << " samples on " << ranks << " ranks, drop_last " << drop_last
                   << ": the list of rank " << rank << "; hint 1 of 09.2");
            CHECK(static_cast<int64_t>(dealt[rank].size()) == each);
        }
    }
}

TEST_CASE("ranks take turns and continue at the beginning after the end of the list",
          "[lab09][lab09.2]") {
    INFO("10 samples in order on 3 ranks, 12 positions: 0 1 2 3 4 5 6 7 8 9 | 0 1;");
    INFO("rank 1 should get 1 4 7 0; hint 2 of 09.2");
    CHECK(deal_in_order(10, 3) ==
          std::vector<Indices>{{0, 3, 6, 9}, {1, 4, 7, 0}, {2, 5, 8, 1}});
    CHECK(deal_in_order(11, 4) ==
          std::vector<Indices>{{0, 4, 8}, {1, 5, 9}, {2, 6, 10}, {3, 7, 0}});
}

TEST_CASE("batch k of all ranks together is one run of the list", "[lab09][lab09.2]") {
    const int ranks = GENERATE(1, 2, 3, 4);
    const int64_t n = 24, batch_size = 12 / ranks;
    const auto dealt = deal_in_order(n, ranks);
    Indices first_batches;
    for (const Indices& mine : dealt)
        first_batches.insert(first_batches.end(), mine.begin(),
                             mine.begin() + batch_size);
    INFO("24 samples, " << ranks << " ranks with batches of " << batch_size
                        << ": the first batches together should be samples 0 to 11, on"
                        << " any number of ranks");
    CHECK(sorted(first_batches) == all_of(12));
}

TEST_CASE("fewer samples than ranks are repeated as often as necessary",
          "[lab09][lab09.2]") {
    INFO("2 samples on 5 ranks: 0 1 0 1 0; hint 3 of 09.2");
    CHECK(deal_in_order(2, 5) == std::vector<Indices>{{0}, {1}, {0}, {1}, {0}});
    CHECK(deal_in_order(1, 7) == std::vector<Indices>(7, Indices{0}));
    CHECK(deal_in_order(0, 3) == std::vector<Indices>(3, Indices{}));
}

TEST_CASE("with drop_last no sample is repeated and the tail is left out",
          "[lab09][lab09.2]") {
    INFO("10 samples on 3 ranks, 9 positions: no rank gets sample 9");
    CHECK(deal_in_order(10, 3, true) ==
          std::vector<Indices>{{0, 3, 6}, {1, 4, 7}, {2, 5, 8}});
    CHECK(deal_in_order(4, 5, true) == std::vector<Indices>(5, Indices{}));
}

TEST_CASE("all ranks call the same number of collectives", "[lab09][lab09.2]") {
    const int ranks = GENERATE(2, 3, 4, 7);
    const bool drop_last = GENERATE(false, true);
    const int64_t n = 10;
    std::vector<size_t> collectives(static_cast<size_t>(ranks));
    mini::labs::run_ranks(ranks, [&](mini::dist::ProcessGroup& group) {
        const auto sampler = std::make_shared<DistributedSampler>(
            n, DistributedSamplerOptions{.num_replicas = group.world_size(),
                                         .rank = group.rank(),
                                         .shuffle = false,
                                         .drop_last = drop_last});
        mini::data::DataLoader loader(std::make_shared<Numbered>(n),
                                      {.batch_size = 1, .sampler = sampler});
        for ([[maybe_unused]] const mini::data::Batch& batch : loader)
            group.all_reduce(mini::Tensor::scalar(1.0f));  // stands for the gradients
        collectives[static_cast<size_t>(group.rank())] =
            group.events().snapshot(mini::EventKind::kCollectiveBegin).size();
    });
    for (size_t rank = 0; rank < collectives.size(); ++rank) {
        INFO("10 samples on " << ranks << " ranks, one all-reduce per sample: rank "
                              << rank << " called " << collectives[rank] << ", rank 0 "
                              << collectives[0]
                              << "; one more on one rank would wait forever");
        CHECK(collectives[rank] == collectives[0]);
    }
}

TEST_CASE("the order is PyTorch's", "[lab09][lab09.3]") {
    INFO("10 samples, seed 0, epoch 0: torch.randperm gives 4 1 7 5 3 9 0 8 6 2, and");
    INFO("3 ranks take turns: rank 0 gets 4 5 0 2; hint 1 of 09.3");
    CHECK(deal(10, 3, {}) ==
          std::vector<Indices>{{4, 5, 0, 2}, {1, 3, 8, 4}, {7, 9, 6, 1}});
    CHECK(deal(10, 3, {.drop_last = true}) ==
          std::vector<Indices>{{4, 5, 0}, {1, 3, 8}, {7, 9, 6}});
    CHECK(deal(10, 1, {}) == std::vector<Indices>{{4, 1, 7, 5, 3, 9, 0, 8, 6, 2}});
    CHECK(deal(2, 5, {}) == std::vector<Indices>{{0}, {1}, {0}, {1}, {0}});
}

TEST_CASE("MNIST's 60,000 images come in PyTorch's order", "[lab09][lab09.3]") {
    INFO("torch.randperm(60000), seed 0, begins 36044 10678 57327 55074 21567 15479");
    const auto dealt = deal(60000, 2, {});
    CHECK(Indices(dealt[0].begin(), dealt[0].begin() + 3) ==
          Indices{36044, 57327, 21567});
    CHECK(Indices(dealt[1].begin(), dealt[1].begin() + 3) ==
          Indices{10678, 55074, 15479});
}

TEST_CASE("set_epoch chooses the permutation of seed + epoch", "[lab09][lab09.3]") {
    INFO("epoch 1 of seed 0 is torch.randperm of seed 1: 5 6 1 2 0 8 9 3 7 4;");
    INFO("hint 2 of 09.3");
    CHECK(deal(10, 3, {}, 1) ==
          std::vector<Indices>{{5, 2, 9, 4}, {6, 0, 3, 5}, {1, 8, 7, 6}});
    CHECK(deal(10, 3, {.seed = 1}, 0) == deal(10, 3, {}, 1));
    CHECK(deal(10, 3, {.seed = 30}, 12) == deal(10, 3, {.seed = 42}, 0));
}

TEST_CASE("setting an epoch again gives its order again", "[lab09][lab09.3]") {
    DistributedSampler sampler(100, {.num_replicas = 3, .rank = 1});
    const Indices first = sampler.indices();
    sampler.set_epoch(1);
    const Indices second = sampler.indices();
    sampler.set_epoch(0);
    INFO("a training that is resumed in epoch 0 must see epoch 0's order");
    CHECK(sampler.indices() == first);
    CHECK(second != first);
    CHECK(sorted(first).size() == 34);
}

TEST_CASE("shuffled, each sample still goes to one rank", "[lab09][lab09.3]") {
    const int ranks = GENERATE(1, 2, 3, 4, 7);
    const int64_t n = 84;  // a multiple of 1, 2, 3, 4 and 7: no padding
    INFO("84 samples on " << ranks << " ranks, each of which shuffles by itself: only");
    INFO("with the same permutation on all is every sample dealt once; hint 3 of 09.3");
    CHECK(sorted(together(deal(n, ranks, {}, 3))) == all_of(n));
}

TEST_CASE("the sampler does not change the rank's default generator",
          "[lab09][lab09.3]") {
    INFO("dropout and initial weights draw from the default generator: a sampler that");
    INFO("seeds it makes every epoch's dropout masks the same; hint 3 of 09.3");
    mini::manual_seed(99);
    deal(100, 2, {}, 5);
    CHECK(mini::default_generator().random() == mini::Generator(99).random());
}

TEST_CASE("an epoch's generator is seeded with seed + epoch", "[lab09][lab09.3]") {
    CHECK(mini::data::epoch_generator(30, 12).initial_seed() == 42);
}

TEST_CASE("there is no warning with set_epoch or without shuffling", "[lab09][lab09.3]") {
    const std::string written = warnings_of([] {
        DistributedSampler shuffled(10, {.num_replicas = 2, .rank = 0});
        DistributedSampler in_order(10, {.num_replicas = 2, .rank = 0, .shuffle = false});
        for (int epoch = 0; epoch < 3; ++epoch) {
            shuffled.set_epoch(epoch);
            shuffled.indices();
            in_order.indices();
        }
    });
    INFO(
        "set_epoch was called before each epoch, so nothing was forgotten; hint 2 of "
        "09.3");
    CHECK(written == "");
}

TEST_CASE("a sampler repeats its order until set_epoch, and warns once",
          "[lab09][lab09.3]") {
    DistributedSampler sampler(10, {.num_replicas = 3, .rank = 0});
    std::vector<Indices> epochs;
    const auto next_epoch = [&] { epochs.push_back(sampler.indices()); };
    INFO("set_epoch is not called: the second epoch has the order of the first, and is");
    INFO("warned of; the warning is given, and looks at epoch_used_");
    CHECK(warnings_of(next_epoch) == "");
    CHECK(contains(warnings_of(next_epoch), "epoch 0"));
    CHECK(warnings_of(next_epoch) == "");
    CHECK(epochs == std::vector<Indices>(3, Indices{4, 5, 0, 2}));
}

TEST_CASE("one rank alone gets the whole permutation", "[lab09][lab09.3]") {
    INFO("1 rank: indices() returns the permutation itself, a branch that is given; it");
    INFO("uses epoch_generator as well; hint 2 of 09.3");
    CHECK(deal(10, 1, {}) == std::vector<Indices>{{4, 1, 7, 5, 3, 9, 0, 8, 6, 2}});
    CHECK(deal(10, 1, {}, 1) == std::vector<Indices>{{5, 6, 1, 2, 0, 8, 9, 3, 7, 4}});
    CHECK(deal(7, 1, {.drop_last = true}, 4) == deal(7, 1, {}, 4));
    CHECK(deal(0, 1, {}) == std::vector<Indices>{{}});
}

TEST_CASE("for evaluation each sample goes to exactly one rank", "[lab09][lab09.5]") {
    const int ranks = GENERATE(1, 2, 3, 4, 7);
    const int64_t n = GENERATE(0, 1, 2, 5, 10, 100);
    const auto dealt = deal_for_evaluation(n, ranks);
    INFO(n << " samples on " << ranks << " ranks, all together; hint 1 of 09.5");
    CHECK(sorted(together(dealt)) == all_of(n));
    for (const Indices& mine : dealt)
        CHECK(dealt.front().size() - mine.size() <= 1);  // rank 0 has the most
}

TEST_CASE("for evaluation rank r takes every P-th sample from r on", "[lab09][lab09.5]") {
    INFO("10 samples on 3 ranks: 4, 3 and 3 of them; hint 2 of 09.5");
    CHECK(deal_for_evaluation(10, 3) ==
          std::vector<Indices>{{0, 3, 6, 9}, {1, 4, 7}, {2, 5, 8}});
    INFO("2 samples on 3 ranks: rank 2 has no sample, and size() is 0");
    CHECK(deal_for_evaluation(2, 3) == std::vector<Indices>{{0}, {1}, {}});
}

TEST_CASE("for evaluation every pass is the same", "[lab09][lab09.5]") {
    DistributedEvalSampler sampler(10, {.num_replicas = 3, .rank = 1});
    const Indices first = sampler.indices();
    sampler.set_epoch(1);
    INFO("hint 3 of 09.5");
    CHECK(sampler.indices() == first);
}
