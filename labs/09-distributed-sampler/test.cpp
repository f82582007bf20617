// The checks of lab 09: the indices of every rank, and the sampler for evaluation. The
// cases of task 09.k need tasks 09.1 to 09.k. Cases of 09.2 need an order, so they are
// cases of 09.3, too; the cases of 09.3 alone ask for PyTorch's order.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "labs/check/names_number.hpp"
#include "labs/check/ranks.hpp"
#include "labs/numbered.hpp"
#include "libmini/core/log.hpp"
#include "libmini/data/distributed_eval_sampler.hpp"
#include "libmini/data/distributed_sampler.hpp"
#include "libmini/data/loader.hpp"
#include "libmini/random/random.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/written.hpp"

using mini::data::DistributedEvalSampler, mini::data::DistributedEvalSamplerOptions,
    mini::data::DistributedSampler, mini::data::DistributedSamplerOptions;
using mini::labs::Indices, mini::labs::Numbered, mini::labs::all_of,
    mini::labs::names_number, mini::labs::sorted, mini::labs::together;
using mini::test::contains, mini::test::message_of;

namespace {

constexpr DistributedSamplerOptions kInOrder = {.shuffle = false};
constexpr DistributedSamplerOptions kInOrderDropLast = {.shuffle = false,
                                                        .drop_last = true};

// Returns the warnings that `body` logs, regardless of MINI_LOG_LEVEL.
std::string warnings_of(const std::function<void()>& body) {
    mini::logging::set_level(mini::logging::Level::kWarning);
    return mini::test::written_to_stderr(body);
}

// Returns the indices of every rank in one epoch, for n samples.
std::vector<Indices> indices_of(int64_t n, int ranks, DistributedSamplerOptions options,
                                int64_t epoch = 0) {
    std::vector<Indices> all;
    for (int rank = 0; rank < ranks; ++rank) {
        options.num_replicas = ranks;
        options.rank = rank;
        DistributedSampler sampler(n, options);
        if (epoch != 0) sampler.set_epoch(epoch);
        all.push_back(sampler.indices());
    }
    return all;
}

std::vector<Indices> eval_indices_of(int64_t n, int ranks) {
    std::vector<Indices> all;
    for (int rank = 0; rank < ranks; ++rank) {
        DistributedEvalSampler sampler(n, {.num_replicas = ranks, .rank = rank});
        all.push_back(sampler.indices());
        INFO("rank " << rank << " of " << ranks << ": size() and the list must agree");
        CHECK(sampler.size() == static_cast<int64_t>(all.back().size()));
    }
    return all;
}

// Returns the list that the ranks have shared: place k is entry k / P of rank k mod P.
Indices list_of(const std::vector<Indices>& ranks) {
    Indices list;
    for (size_t k = 0; k < ranks.front().size(); ++k)
        for (const Indices& mine : ranks) list.push_back(mine.at(k));
    return list;
}

// Checks the arguments that are common to both samplers.
template <typename Sampler, typename Options>
void check_arguments() {
    INFO("choose_replica and check_dataset_size (replica.hpp) throw these errors");
    const std::string too_large = message_of<mini::UsageError>(
        [] { Sampler(10, Options{.num_replicas = 3, .rank = 7}); });
    INFO("3 replicas, rank 7: an error that names both; the message: " << too_large);
    CHECK(names_number(too_large, 3));
    CHECK(names_number(too_large, 7));
    const std::string negative = message_of<mini::UsageError>(
        [] { Sampler(-5, Options{.num_replicas = 1, .rank = 0}); });
    INFO("-5 samples: an error that names them; the message: " << negative);
    CHECK(contains(negative, "-5"));
}

}  // namespace

TEST_CASE("ranks take turns and continue at the beginning after the end of the list",
          "[lab09][lab09.1]") {
    INFO("10 samples in order on 3 ranks, 12 places: 0 1 2 3 4 5 6 7 8 9 | 0 1;");
    INFO("rank 1 should get 1 4 7 0");
    CHECK(indices_of(10, 3, kInOrder) ==
          std::vector<Indices>{{0, 3, 6, 9}, {1, 4, 7, 0}, {2, 5, 8, 1}});
    CHECK(indices_of(12, 3, kInOrder) ==
          std::vector<Indices>{{0, 3, 6, 9}, {1, 4, 7, 10}, {2, 5, 8, 11}});
    CHECK(indices_of(11, 4, kInOrder) ==
          std::vector<Indices>{{0, 4, 8}, {1, 5, 9}, {2, 6, 10}, {3, 7, 0}});
}

TEST_CASE("with drop_last no sample is repeated and the tail is left out",
          "[lab09][lab09.1]") {
    INFO("10 samples on 3 ranks, 9 places: no rank gets sample 9");
    CHECK(indices_of(10, 3, kInOrderDropLast) ==
          std::vector<Indices>{{0, 3, 6}, {1, 4, 7}, {2, 5, 8}});
    CHECK(indices_of(4, 5, kInOrderDropLast) == std::vector<Indices>(5, Indices{}));
}

TEST_CASE("fewer samples than ranks are repeated as often as necessary",
          "[lab09][lab09.1]") {
    INFO("2 samples on 5 ranks: 0 1 0 1 0; and 3 on 8: 0 1 2 0 1 2 0 1");
    CHECK(indices_of(2, 5, kInOrder) == std::vector<Indices>{{0}, {1}, {0}, {1}, {0}});
    CHECK(together(indices_of(3, 8, kInOrder)) == Indices{0, 1, 2, 0, 1, 2, 0, 1});
    CHECK(indices_of(1, 7, kInOrder) == std::vector<Indices>(7, Indices{0}));
    CHECK(indices_of(0, 3, kInOrder) == std::vector<Indices>(3, Indices{}));
}

TEST_CASE("size() is n / P rounded up, or down with drop_last, and the list has it",
          "[lab09][lab09.1]") {
    const int ranks = GENERATE(1, 2, 3, 4, 7);
    const int64_t n = GENERATE(0, 1, 2, 5, 6, 10, 100);
    const bool drop_last = GENERATE(false, true);
    for (int rank = 0; rank < ranks; ++rank) {
        DistributedSampler sampler(n, {.num_replicas = ranks,
                                       .rank = rank,
                                       .shuffle = false,
                                       .drop_last = drop_last});
        INFO(n << " samples, rank " << rank << " of " << ranks << ", drop_last "
               << (drop_last ? "true" : "false"));
        CHECK(sampler.size() == (drop_last ? n / ranks : (n + ranks - 1) / ranks));
        CHECK(static_cast<int64_t>(sampler.indices().size()) == sampler.size());
    }
}

TEST_CASE("a large dataset keeps its last sample", "[lab09][lab09.1]") {
    INFO("16,777,217 samples on 2 ranks: 8,388,609 each, one of them a repetition");
    CHECK(DistributedSampler(16777217, {.num_replicas = 2, .rank = 0}).size() == 8388609);
    INFO("5 billion samples on 2 ranks");
    CHECK(DistributedSampler(5'000'000'000, {.num_replicas = 2, .rank = 1}).size() ==
          2'500'000'000);
    INFO("16,777,217 samples on 1 rank with drop_last: no sample is left out");
    CHECK(DistributedSampler(16777217, {.num_replicas = 1, .rank = 0, .drop_last = true})
              .size() == 16777217);
}

TEST_CASE("the first batches of all ranks together are one run of the list",
          "[lab09][lab09.1]") {
    const int ranks = GENERATE(2, 3, 4, 1);
    const auto all = indices_of(24, ranks, kInOrder);
    Indices first_batches;
    for (const Indices& mine : all)
        first_batches.insert(first_batches.end(), mine.begin(),
                             mine.begin() + 12 / ranks);
    INFO("24 samples, " << ranks << " ranks with batches of " << 12 / ranks
                        << ": the first batches together should be samples 0 to 11, on"
                        << " any number of ranks");
    CHECK(sorted(first_batches) == all_of(12));
}

TEST_CASE("without shuffle every call has the same indices in every epoch",
          "[lab09][lab09.1]") {
    DistributedSampler sampler(10, {.num_replicas = 3, .rank = 1, .shuffle = false});
    for (int call = 0; call < 3; ++call) {
        INFO("call " << call << " of indices(), for rank 1 of 3");
        CHECK(sampler.indices() == Indices{1, 4, 7, 0});
        CHECK(sampler.size() == 4);
    }
}

TEST_CASE("rank and number of replicas come from the process group", "[lab09][lab09.1]") {
    std::vector<Indices> all(3);
    mini::labs::run_ranks(3, [&](mini::dist::ProcessGroup& group) {
        all[static_cast<size_t>(group.rank())] =
            DistributedSampler(Numbered(10), kInOrder).indices();
    });
    INFO("3 ranks call DistributedSampler(dataset, {.shuffle = false}) with 10 samples");
    CHECK(all == std::vector<Indices>{{0, 3, 6, 9}, {1, 4, 7, 0}, {2, 5, 8, 1}});
    CHECK_THROWS_AS(DistributedSampler(10), mini::UsageError);  // there is no group here
    check_arguments<DistributedSampler, DistributedSamplerOptions>();
}

TEST_CASE("all ranks call the same number of collectives", "[lab09][lab09.1]") {
    const int ranks = GENERATE(3, 2, 4, 7);
    const bool drop_last = GENERATE(false, true);
    const int64_t n = 10;
    std::vector<size_t> collectives(static_cast<size_t>(ranks));
    mini::labs::run_ranks(ranks, [&](mini::dist::ProcessGroup& group) {
        const auto sampler = std::make_shared<DistributedSampler>(
            n, DistributedSamplerOptions{.shuffle = false, .drop_last = drop_last});
        mini::data::DataLoader loader(std::make_shared<Numbered>(n),
                                      {.batch_size = 1, .sampler = sampler});
        for ([[maybe_unused]] const mini::data::Batch& batch : loader)
            group.all_reduce(mini::Tensor::scalar(1.0f));  // stands for the gradients
        collectives[static_cast<size_t>(group.rank())] =
            group.events().snapshot(mini::EventKind::kCollectiveBegin).size();
    });
    for (size_t rank = 0; rank < collectives.size(); ++rank) {
        INFO("10 samples on " << ranks << " ranks, one all-reduce per sample: rank "
                              << rank << " against rank 0; one more on one rank would"
                              << " wait forever");
        CHECK(collectives[rank] == collectives[0]);
    }
}

TEST_CASE("shuffled, each sample still goes to one rank", "[lab09][lab09.2][lab09.3]") {
    const int ranks = GENERATE(2, 3, 4, 7, 1);
    const int64_t n = GENERATE(84, 0);  // a multiple of 1, 2, 3, 4 and 7: no padding
    const int64_t epoch = GENERATE(0, 3);
    INFO(n << " samples, epoch " << epoch << ": all indices of the " << ranks
           << " ranks together, sorted");
    CHECK(sorted(together(indices_of(n, ranks, {}, epoch))) == all_of(n));
}

TEST_CASE("shuffled, places after the end are the first places of the same list",
          "[lab09][lab09.2][lab09.3]") {
    const auto all = indices_of(10, 3, {}, GENERATE(0, 1, 2));
    INFO(
        "10 samples on 3 ranks: place 10, the last of rank 1, has the sample of place "
        "0,");
    INFO("the first of rank 0; and place 11, the last of rank 2, the sample of place 1");
    CHECK(all[1].back() == all[0].front());
    CHECK(all[2].back() == all[1].front());
    Indices list = list_of(all);
    list.resize(10);
    INFO("the first ten places have each sample once");
    CHECK(sorted(list) == all_of(10));
}

TEST_CASE("the order does not depend on the number of ranks",
          "[lab09][lab09.2][lab09.3]") {
    const int ranks = GENERATE(2, 3, 4);
    const bool drop_last = GENERATE(false, true);
    INFO("24 samples, epoch 1: the list that " << ranks
                                               << " ranks share, and one rank's");
    CHECK(list_of(indices_of(24, ranks, {.drop_last = drop_last}, 1)) ==
          list_of(indices_of(24, 1, {}, 1)));
}

TEST_CASE("every epoch and every seed has an order of its own",
          "[lab09][lab09.2][lab09.3]") {
    std::set<Indices> by_epoch, by_seed;
    for (int64_t k = 0; k < 20; ++k) {
        by_epoch.insert(indices_of(20, 1, {}, k).front());
        by_seed.insert(indices_of(20, 1, {.seed = static_cast<uint64_t>(k)}).front());
    }
    INFO("20 samples on 1 rank: the number of different orders in epochs 0 to 19");
    CHECK(by_epoch.size() == 20);
    INFO("the number of different orders with the seeds 0 to 19");
    CHECK(by_seed.size() == 20);
    CHECK(by_epoch.count(all_of(20)) == 0);
    INFO("two seeds, epochs 0 to 3: the first samples of two trainings should differ");
    for (int64_t epoch = 0; epoch < 4; ++epoch)
        CHECK(indices_of(20, 1, {.seed = 100}, epoch) !=
              indices_of(20, 1, {.seed = 200}, epoch));
}

TEST_CASE("each order of three samples comes in one epoch of six",
          "[lab09][lab09.2][lab09.3]") {
    // A sixth of 24,000 epochs is 4,000; 5 standard deviations of that are 289. If each
    // place is exchanged with any other, some orders come 4,444 times.
    std::vector<std::pair<Indices, int>> found;
    DistributedSampler sampler(3, {.num_replicas = 1, .rank = 0});
    for (int64_t epoch = 0; epoch < 24000; ++epoch) {
        sampler.set_epoch(epoch);
        const Indices order = sampler.indices();
        const auto same = std::find_if(found.begin(), found.end(), [&](const auto& each) {
            return each.first == order;
        });
        if (same == found.end())
            found.emplace_back(order, 1);
        else
            ++same->second;
    }
    INFO("3 samples on 1 rank in 24,000 epochs: the number of different orders");
    CHECK(found.size() == 6);
    for (const auto& [order, times] : found) {
        INFO("order " << order[0] << " " << order[1] << " " << order[2]
                      << " should come about 4,000 times");
        CHECK(times > 4000 - 289);
        CHECK(times < 4000 + 289);
    }
}

TEST_CASE("setting an epoch again gives its order again", "[lab09][lab09.2][lab09.3]") {
    DistributedSampler sampler(100, {.num_replicas = 3, .rank = 1});
    const Indices first = sampler.indices();
    sampler.set_epoch(1);
    const Indices second = sampler.indices();
    sampler.set_epoch(0);
    INFO("a training that is resumed in epoch 0 must see epoch 0's order");
    CHECK(sampler.indices() == first);
    CHECK(second != first);
    CHECK(sampler.size() == 34);

    INFO("another sampler, which begins with epoch 1, as a resumed training does");
    DistributedSampler resumed(100, {.num_replicas = 3, .rank = 1});
    resumed.set_epoch(1);
    CHECK(resumed.indices() == second);
}

TEST_CASE("each rank sees other samples in another epoch", "[lab09][lab09.2][lab09.3]") {
    DistributedSampler sampler(100, {.num_replicas = 2, .rank = 0});
    const Indices first = sorted(sampler.indices());
    sampler.set_epoch(1);
    INFO("100 samples, rank 0 of 2: the samples of epochs 0 and 1, sorted, must differ");
    CHECK(sorted(sampler.indices()) != first);
}

TEST_CASE("with drop_last another sample is left out in another epoch",
          "[lab09][lab09.2][lab09.3]") {
    std::set<int64_t> used;
    for (int64_t epoch = 0; epoch < 20; ++epoch)
        for (const int64_t sample :
             together(indices_of(10, 3, {.drop_last = true}, epoch)))
            used.insert(sample);
    INFO("10 samples on 3 ranks: the samples that any rank had in epochs 0 to 19");
    CHECK(Indices(used.begin(), used.end()) == all_of(10));
}

TEST_CASE("ranks that shuffle at the same time do not disturb each other",
          "[lab09][lab09.2][lab09.3]") {
    const int64_t n = 99999;
    std::vector<std::vector<Indices>> epochs(6, std::vector<Indices>(3));
    mini::labs::run_ranks(3, [&](mini::dist::ProcessGroup& group) {
        DistributedSampler sampler(n);
        for (size_t epoch = 0; epoch < epochs.size(); ++epoch) {
            sampler.set_epoch(static_cast<int64_t>(epoch));
            group.barrier();
            epochs[epoch][static_cast<size_t>(group.rank())] = sampler.indices();
        }
    });
    for (size_t epoch = 0; epoch < epochs.size(); ++epoch) {
        const Indices all = together(epochs[epoch]);
        INFO(n << " samples, epoch " << epoch
               << ": the number of different samples that 3"
               << " ranks have, if they are threads that make their indices at the same"
               << " time; is there a static or global variable?");
        CHECK(std::set<int64_t>(all.begin(), all.end()).size() == static_cast<size_t>(n));
    }
}

TEST_CASE("the sampler neither uses nor changes the rank's default generator",
          "[lab09][lab09.2][lab09.3]") {
    mini::manual_seed(99);
    const auto first = indices_of(100, 2, {}, 5);
    INFO("the next number of the default generator, which dropout draws from, after a");
    INFO("sampler has been used; and the number without a sampler");
    CHECK(mini::default_generator().random() == mini::Generator(99).random());
    INFO("the indices after manual_seed(7), and after manual_seed(99)");
    mini::manual_seed(7);
    CHECK(indices_of(100, 2, {}, 5) == first);
}

TEST_CASE("there is no warning with set_epoch or without shuffling",
          "[lab09][lab09.2][lab09.3]") {
    const std::string written = warnings_of([] {
        DistributedSampler shuffled(10, {.num_replicas = 2, .rank = 0});
        DistributedSampler in_order(10, {.num_replicas = 2, .rank = 0, .shuffle = false});
        shuffled.indices();
        in_order.indices();
        in_order.indices();
        for (const int64_t epoch : {1, 2, 0, 0}) {
            shuffled.set_epoch(epoch);
            shuffled.indices();
            in_order.set_epoch(epoch);
            in_order.indices();
        }
    });
    INFO("set_epoch was called before each later epoch, so nothing was forgotten");
    CHECK(written == "");
}

TEST_CASE("a sampler repeats its order until set_epoch, and warns once",
          "[lab09][lab09.2][lab09.3]") {
    DistributedSampler sampler(10, {.num_replicas = 3, .rank = 0});
    std::vector<Indices> epochs;
    const auto next_epoch = [&] { epochs.push_back(sampler.indices()); };
    INFO("set_epoch is not called: the second call repeats the order of the first, and");
    INFO("logs a warning that names epoch 0 and set_epoch; the third logs none");
    CHECK(warnings_of(next_epoch) == "");
    const std::string warning = warnings_of(next_epoch);
    CHECK(contains(warning, "set_epoch"));
    CHECK(names_number(warning, 0));
    CHECK(warnings_of(next_epoch) == "");
    CHECK(epochs == std::vector<Indices>(3, epochs.front()));
    sampler.set_epoch(1);
    next_epoch();
    INFO("epoch 1 is repeated, too: a sampler warns once, not once in each epoch");
    CHECK(warnings_of(next_epoch) == "");
}

TEST_CASE("a warning names the epoch that is repeated", "[lab09][lab09.2][lab09.3]") {
    DistributedSampler sampler(10, {.num_replicas = 3, .rank = 0});
    sampler.set_epoch(37);
    sampler.indices();
    const std::string warning = warnings_of([&] { sampler.indices(); });
    INFO("set_epoch(37), then two calls; the warning: " << warning);
    CHECK(names_number(warning, 37));
}

TEST_CASE("the order is PyTorch's", "[lab09][lab09.3]") {
    INFO("10 samples, seed 0, epoch 0: torch.randperm gives 4 1 7 5 3 9 0 8 6 2, and");
    INFO("3 ranks take turns: rank 0 gets 4 5 0 2");
    CHECK(indices_of(10, 3, {}) ==
          std::vector<Indices>{{4, 5, 0, 2}, {1, 3, 8, 4}, {7, 9, 6, 1}});
    CHECK(indices_of(10, 3, {.drop_last = true}) ==
          std::vector<Indices>{{4, 5, 0}, {1, 3, 8}, {7, 9, 6}});
    CHECK(indices_of(10, 1, {}) == std::vector<Indices>{{4, 1, 7, 5, 3, 9, 0, 8, 6, 2}});
    CHECK(indices_of(2, 5, {}) == std::vector<Indices>{{0}, {1}, {0}, {1}, {0}});
}

TEST_CASE("epoch e of seed s has PyTorch's order of seed s + e", "[lab09][lab09.3]") {
    INFO("epoch 1 of seed 0 is torch.randperm of seed 1: 5 6 1 2 0 8 9 3 7 4");
    CHECK(indices_of(10, 3, {}, 1) ==
          std::vector<Indices>{{5, 2, 9, 4}, {6, 0, 3, 5}, {1, 8, 7, 6}});
    CHECK(indices_of(10, 3, {.seed = 1}) == indices_of(10, 3, {}, 1));
    CHECK(indices_of(10, 3, {.seed = 30}, 12) == indices_of(10, 3, {.seed = 42}));
}

TEST_CASE("MNIST's 60,000 images come in PyTorch's order", "[lab09][lab09.3]") {
    INFO("torch.randperm(60000), seed 0, begins 36044 10678 57327 55074 21567 15479");
    const auto all = indices_of(60000, 2, {});
    CHECK(Indices(all[0].begin(), all[0].begin() + 3) == Indices{36044, 57327, 21567});
    CHECK(Indices(all[1].begin(), all[1].begin() + 3) == Indices{10678, 55074, 15479});
}

TEST_CASE("for evaluation each sample goes to exactly one rank", "[lab09][lab09.5]") {
    INFO("10 samples on 3 ranks: 4, 3 and 3 of them");
    CHECK(eval_indices_of(10, 3) ==
          std::vector<Indices>{{0, 3, 6, 9}, {1, 4, 7}, {2, 5, 8}});
    INFO("2 samples on 3 ranks: rank 2 has no sample, and size() is 0");
    CHECK(eval_indices_of(2, 3) == std::vector<Indices>{{0}, {1}, {}});
    for (const int ranks : {1, 2, 3, 4, 7})
        for (const int64_t n : {0, 1, 2, 5, 10, 100}) {
            INFO(n << " samples: the indices of the " << ranks << " ranks together");
            CHECK(sorted(together(eval_indices_of(n, ranks))) == all_of(n));
        }
}

TEST_CASE("for evaluation every pass is the same, and the group gives the rank",
          "[lab09][lab09.5]") {
    std::vector<Indices> all(3);
    mini::labs::run_ranks(3, [&](mini::dist::ProcessGroup& group) {
        DistributedEvalSampler sampler{Numbered(10)};
        sampler.indices();
        sampler.set_epoch(1);
        all[static_cast<size_t>(group.rank())] = sampler.indices();
    });
    INFO("3 ranks, 10 samples: the second pass, after set_epoch(1)");
    CHECK(all == std::vector<Indices>{{0, 3, 6, 9}, {1, 4, 7}, {2, 5, 8}});
    check_arguments<DistributedEvalSampler, DistributedEvalSamplerOptions>();
}
