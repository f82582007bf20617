// The checks of lab 07: the cases go step by step from a list of indices to a dataset
// that is divided among the ranks. The cases of task 07.k need tasks 07.1 to 07.k. Cases
// of 07.3 need an order, so they are cases of 07.4, too; the cases of 07.4 alone ask for
// the tutorial's order.

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "labs/check/names_number.hpp"
#include "labs/check/ranks.hpp"
#include "labs/numbered.hpp"
#include "libmini/core/error.hpp"
#include "libmini/data/partition.hpp"
#include "libmini/data/partition_dataset.hpp"
#include "libmini/random/random.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/message_of.hpp"

using mini::concat;
using mini::data::DataPartitioner, mini::data::Partition, mini::data::cut_into_runs,
    mini::data::partition_lengths;
using mini::labs::Indices, mini::labs::Numbered, mini::labs::all_of,
    mini::labs::names_number, mini::labs::sorted, mini::labs::together;
using mini::test::message_of;

namespace {

std::shared_ptr<Numbered> numbers(int64_t n) { return std::make_shared<Numbered>(n); }

std::vector<double> equal_shares(int count) {
    return std::vector<double>(static_cast<size_t>(count), 1.0 / count);
}

std::vector<Indices> parts_of(const DataPartitioner& partitioner, int count) {
    std::vector<Indices> parts;
    for (int k = 0; k < count; ++k) parts.push_back(partitioner.use(k).index());
    return parts;
}

// Returns the first error of a division, such as "sample 8 went to ranks 0 and 2", or ""
// if the division is correct.
std::string dealt_twice(const std::vector<Indices>& parts, int64_t n) {
    std::vector<int> owner(static_cast<size_t>(n), -1);
    for (size_t rank = 0; rank < parts.size(); ++rank)
        for (const int64_t sample : parts[rank]) {
            if (sample < 0 || sample >= n) return concat("there is no sample ", sample);
            int& who = owner[static_cast<size_t>(sample)];
            if (who >= 0)
                return concat("sample ", sample, " went to ranks ", who, " and ", rank);
            who = static_cast<int>(rank);
        }
    return "";
}

// The samples of one epoch in their order, and the size of each batch.
struct Epoch {
    Indices samples;
    Indices batch_sizes;
};

Epoch read(mini::data::DataLoader& loader) {
    Epoch epoch;
    for (const mini::data::Batch& batch : loader) {
        for (const int64_t sample : batch.target.to_vector<int64_t>())
            epoch.samples.push_back(sample);
        epoch.batch_sizes.push_back(batch.size());
    }
    return epoch;
}

}  // namespace

TEST_CASE("sample i of a partition is the sample at position i of its index",
          "[lab07][lab07.1]") {
    INFO("10 samples, index (7, 0, 7): positions 0 1 2 are samples 7 0 7");
    const Partition part(numbers(10), {7, 0, 7});
    CHECK(part.size() == 3);
    CHECK(part.get(0).label() == 7);
    CHECK(part.get(1).label() == 0);
    CHECK(part.get(2).label() == 7);
}

TEST_CASE("a partition is a dataset, so that it can be partitioned again",
          "[lab07][lab07.1]") {
    INFO("index (9, 4, 2) of 10 samples, and index (2, 0) of that: samples 2 and 9");
    const auto outer = std::make_shared<Partition>(numbers(10), Indices{9, 4, 2});
    const Partition inner(outer, {2, 0});
    CHECK(inner.get(0).label() == 2);
    CHECK(inner.get(1).label() == 9);
}

TEST_CASE("get_batch keeps the order of its indices and calls the dataset once",
          "[lab07][lab07.1]") {
    INFO("index (7, 0, 5), batch of the positions 2 0 1: samples 5 7 0");
    const auto dataset = numbers(10);
    const Partition part(dataset, {7, 0, 5});
    const mini::data::Batch batch = part.get_batch(Indices{2, 0, 1});
    CHECK(batch.target.to_vector<int64_t>() == Indices{5, 7, 0});
    INFO(
        "a dataset that reads a file can read a whole batch in one call, if it gets one");
    CHECK(dataset->batches_asked_for == 1);
}

TEST_CASE("a position outside of the index throws an error that names it and the size",
          "[lab07][lab07.1]") {
    const Partition part(numbers(10), {7, 0, 7});
    for (const int64_t place : {-1, 8}) {
        INFO("index (7, 0, 7) has positions 0 1 2; get is called with " << place);
        const std::string message = message_of([&] { part.get(place); });
        INFO("the error message: " << message);
        CHECK(names_number(message, place));
        CHECK(names_number(message, 3));
        CHECK_THROWS_AS(part.get_batch(Indices{0, place}), mini::Error);
    }
    INFO("position 3 is the first one that is not there");
    CHECK_THROWS_AS(part.get(3), mini::Error);
    CHECK_THROWS_AS(part.get_batch(Indices{0, 3}), mini::Error);
}

TEST_CASE("a partition needs a dataset, and is empty without indices",
          "[lab07][lab07.1]") {
    INFO("a null dataset is refused at once, and not when a sample is read");
    CHECK_THROWS_AS(Partition(nullptr, {0}), mini::UsageError);
    const Partition empty(numbers(10), {});
    CHECK(empty.size() == 0);
    CHECK(empty.index().empty());
    CHECK_THROWS_AS(empty.get(0), mini::Error);
    CHECK(Partition(numbers(10), {4}).get(0).label() == 4);
}

TEST_CASE("a fraction of the samples is rounded down", "[lab07][lab07.2]") {
    INFO("10 samples: int(0.5 * 10), int(0.25 * 10), int(0.25 * 10)");
    CHECK(partition_lengths({0.5, 0.25, 0.25}, 10) == Indices{5, 2, 2});
    CHECK(partition_lengths({0.7, 0.2, 0.1}, 10) == Indices{7, 2, 1});
    CHECK(partition_lengths(equal_shares(4), 3) == Indices{0, 0, 0, 0});
    CHECK(partition_lengths({0.5}, 0) == Indices{0});
    CHECK(partition_lengths({}, 10).empty());
}

TEST_CASE("60000 samples on 7 ranks lose three samples", "[lab07][lab07.2]") {
    INFO("int(1/7 * 60000) is 8571, and 7 times 8571 is 59997");
    CHECK(partition_lengths(equal_shares(7), 60000) == Indices(7, 8571));
}

TEST_CASE("fractions are doubles with the same rounding errors as in Python",
          "[lab07][lab07.2]") {
    INFO("0.29 * 100 is 28.999999999999996, and 1/49 * 49 is 0.9999999999999999");
    CHECK(partition_lengths({0.29}, 100) == Indices{28});
    CHECK(partition_lengths(equal_shares(49), 49) == Indices(49, 0));
    INFO("large datasets: 16,777,217 samples, and 5 billion");
    CHECK(partition_lengths({1.0}, 16777217) == Indices{16777217});
    CHECK(partition_lengths({0.5, 0.5}, 5'000'000'000) ==
          Indices{2'500'000'000, 2'500'000'000});
}

TEST_CASE("the remainder goes to the first parts, and wrong fractions are refused",
          "[lab07][lab07.2]") {
    INFO("10 samples, assign_remainder: int gives 5 2 2, and part 0 gets the last one;");
    INFO("assign_remainder_to and check_fractions (fractions.hpp) are given");
    CHECK(partition_lengths({0.5, 0.25, 0.25}, 10, true) == Indices{6, 2, 2});
    CHECK(partition_lengths(equal_shares(3), 11, true) == Indices{4, 4, 3});
    CHECK_THROWS_AS(partition_lengths({0.5, 0.6}, 10), mini::UsageError);
    CHECK_THROWS_AS(partition_lengths({0.5, -0.1}, 10), mini::UsageError);
    INFO("nine times 1/9 is slightly more than 1 in doubles, and is accepted");
    CHECK(partition_lengths(equal_shares(9), 9) == Indices(9, 1));
}

TEST_CASE("a list is cut into runs that follow each other", "[lab07][lab07.2]") {
    using Runs = std::vector<Indices>;
    const Indices list = {2, 8, 3, 5, 6, 4, 9, 0, 1, 7};
    INFO("the list is 2 8 3 5 6 4 9 0 1 7");
    {
        INFO("lengths 5 2 2: 2 8 3 5 6 | 4 9 | 0 1, and 7 is in no run");
        CHECK(cut_into_runs(list, {5, 2, 2}) == Runs{{2, 8, 3, 5, 6}, {4, 9}, {0, 1}});
    }
    {
        INFO("lengths 1 0 9: the second run is empty, and the third still begins at 8");
        CHECK(cut_into_runs(list, {1, 0, 9}) ==
              Runs{{2}, {}, {8, 3, 5, 6, 4, 9, 0, 1, 7}});
    }
    CHECK(cut_into_runs(list, {}).empty());
    CHECK(cut_into_runs({}, {0, 0}) == Runs{{}, {}});
}

TEST_CASE("a run does not go beyond the end of its list", "[lab07][lab07.2]") {
    using Runs = std::vector<Indices>;
    INFO("3 values, lengths 2 2 2: the second run has one value, and the third none");
    CHECK(cut_into_runs({4, 9, 0}, {2, 2, 2}) == Runs{{4, 9}, {0}, {}});
}

TEST_CASE("the parts have the lengths of their fractions, and any other part is refused",
          "[lab07][lab07.3][lab07.4]") {
    const DataPartitioner usual(numbers(10), {0.5, 0.25, 0.25});
    INFO("10 samples, fractions 0.5 0.25 0.25: parts of 5, 2 and 2 samples");
    CHECK(usual.use(0).size() == 5);
    CHECK(usual.use(1).size() == 2);
    CHECK(usual.use(2).size() == 2);
    for (const int part : {-1, 7}) {
        INFO("there are parts 0, 1 and 2; use is called with " << part);
        const std::string message =
            message_of<mini::UsageError>([&] { usual.use(part); });
        INFO("the error should name " << part << " and 3; the message: " << message);
        CHECK(names_number(message, part));
        CHECK(names_number(message, 3));
    }
    CHECK_THROWS_AS(usual.use(3), mini::UsageError);
    CHECK_THROWS_AS(DataPartitioner(nullptr, {1.0}), mini::UsageError);
}

TEST_CASE("no sample goes to two ranks, and with assign_remainder none is lost",
          "[lab07][lab07.3][lab07.4]") {
    const int ranks = GENERATE(1, 2, 3, 4, 7);
    const int64_t n = GENERATE(0, 1, 5, 60, 1000);
    INFO(n << " samples on " << ranks << " ranks");
    const DataPartitioner usual(numbers(n), equal_shares(ranks));
    CHECK(dealt_twice(parts_of(usual, ranks), n) == "");

    const DataPartitioner whole(numbers(n), equal_shares(ranks),
                                {.assign_remainder = true});
    const auto parts = parts_of(whole, ranks);
    CHECK(dealt_twice(parts, n) == "");
    CHECK(sorted(together(parts)) == all_of(n));
}

TEST_CASE("ranks that divide the data independently get the same division",
          "[lab07][lab07.3][lab07.4]") {
    const int ranks = GENERATE(2, 3, 4, 7);
    const int64_t n = 100;
    std::vector<Indices> parts(static_cast<size_t>(ranks));
    std::vector<uint32_t> next(static_cast<size_t>(ranks));
    mini::labs::run_ranks(ranks, [&](mini::dist::ProcessGroup& group) {
        const auto rank = static_cast<size_t>(group.rank());
        mini::manual_seed(rank);
        const DataPartitioner partitioner(numbers(n), equal_shares(ranks));
        parts[rank] = partitioner.use(group.rank()).index();
        next[rank] = mini::default_generator().random();
    });

    for (int rank = 0; rank < ranks; ++rank)
        UNSCOPED_INFO("rank " << rank << " of " << ranks << " begins with sample "
                              << parts[static_cast<size_t>(rank)].front());
    INFO("ranks do not communicate: only an equal seed makes their lists equal");
    CHECK(dealt_twice(parts, n) == "");

    INFO("the shuffle must not change the state of the rank's default generator");
    for (size_t rank = 0; rank < next.size(); ++rank)
        CHECK(next[rank] == mini::Generator(rank).random());
}

TEST_CASE("the list is shuffled by its seed, again and again alike",
          "[lab07][lab07.3][lab07.4]") {
    const auto list_of = [](int64_t n, int64_t seed) {
        return DataPartitioner(numbers(n), {1.0}, {.seed = seed}).use(0).index();
    };
    INFO("100 samples in one part: seed 1, twice, and seeds 2 and 3");
    const Indices list = list_of(100, 1);
    CHECK(list_of(100, 1) == list);
    CHECK(list != all_of(100));
    CHECK(list_of(100, 2) != list);
    CHECK(list_of(100, 3) != list_of(100, 2));
    std::map<Indices, int> times;
    for (int64_t seed = 0; seed < 12000; ++seed) ++times[list_of(3, seed)];
    // A sixth of 12,000 seeds is 2,000; 5 standard deviations of that are 204.
    INFO("3 samples, 12,000 seeds: the number of different orders");
    CHECK(times.size() == 6);
    for (const auto& [order, found] : times) {
        INFO("order " << order[0] << " " << order[1] << " " << order[2]
                      << " should come about 2,000 times");
        CHECK(found > 2000 - 204);
        CHECK(found < 2000 + 204);
    }
}

TEST_CASE("parts are runs of one list: more fractions only cut it at more places",
          "[lab07][lab07.3][lab07.4]") {
    const DataPartitioner whole(numbers(100), {1.0}), cut(numbers(100), {0.2, 0.3, 0.5});
    INFO(
        "100 samples, seed 1234: fraction 1, and fractions 0.2 0.3 0.5 one after "
        "another");
    CHECK(together(parts_of(cut, 3)) == whole.use(0).index());
}

TEST_CASE("the parts are the tutorial's", "[lab07][lab07.4]") {
    INFO("10 samples, seed 1234, shuffled 2 8 3 5 6 4 9 0 1 7");
    const DataPartitioner usual(numbers(10), {0.5, 0.25, 0.25});
    INFO("lengths 5 2 2: 2 8 3 5 6 | 4 9 | 0 1, and sample 7 is in no part");
    CHECK(usual.use(0).index() == Indices{2, 8, 3, 5, 6});
    CHECK(usual.use(1).index() == Indices{4, 9});
    CHECK(usual.use(2).index() == Indices{0, 1});
    CHECK(DataPartitioner(numbers(10), {1.0}, 42).use(0).index() ==
          Indices{7, 3, 2, 8, 5, 6, 9, 4, 0, 1});
}

TEST_CASE("MNIST's 60,000 images are divided as the tutorial divides them",
          "[lab07][lab07.4]") {
    INFO("two ranks, half each, seed 1234; the numbers are CPython's");
    const DataPartitioner partitioner(numbers(60000), {0.5, 0.5});
    const Indices mine = partitioner.use(0).index(), other = partitioner.use(1).index();
    REQUIRE(mine.size() == 30000);
    REQUIRE(other.size() == 30000);
    CHECK(Indices(mine.begin(), mine.begin() + 4) == Indices{33712, 36159, 45528, 25849});
    CHECK(Indices(other.begin(), other.begin() + 4) ==
          Indices{31044, 14995, 40895, 20295});
    int64_t sum = 0;
    for (const int64_t sample : mine) sum += sample;
    CHECK(sum == 900188944);
}

TEST_CASE("partition_dataset gives a rank its part and its share of the batch",
          "[lab07][lab07.5]") {
    const int ranks = GENERATE(1, 2, 3, 4, 7);
    const int64_t n = 300;
    const DataPartitioner partitioner(numbers(n), equal_shares(ranks));
    for (int rank = 0; rank < ranks; ++rank) {
        INFO("rank " << rank << " of " << ranks << ", a batch of 128");
        auto [train_set, bsz] = mini::data::partition_dataset(
            numbers(n), {.world_size = ranks, .rank = rank});
        CHECK(bsz == 128 / ranks);
        const Indices expected = partitioner.use(rank).index();
        const Epoch first = read(train_set), second = read(train_set);
        CHECK(sorted(first.samples) == sorted(expected));
        CHECK(first.batch_sizes.front() == std::min(bsz, n / ranks));
        INFO("a rank shuffles its part again in each epoch");
        CHECK(first.samples != expected);
        CHECK(first.samples != second.samples);
        CHECK(sorted(second.samples) == sorted(expected));
    }
}

TEST_CASE("partition_dataset can assign the remainder and divide another batch size",
          "[lab07][lab07.5]") {
    INFO("10 samples and a batch of 7 on 3 ranks: 4 3 3 samples, batches of 2");
    std::vector<Indices> ranks;
    for (int rank = 0; rank < 3; ++rank) {
        auto [train_set, bsz] = mini::data::partition_dataset(
            numbers(10), {.world_size = 3,
                          .rank = rank,
                          .batch_size = 7,
                          .partitioner = {.seed = 5, .assign_remainder = true}});
        CHECK(bsz == 2);
        ranks.push_back(read(train_set).samples);
    }
    CHECK(dealt_twice(ranks, 10) == "");
    CHECK(sorted(together(ranks)) == all_of(10));
}

TEST_CASE("partition_dataset refuses what is too small for the ranks",
          "[lab07][lab07.5]") {
    const auto error_of = [](int64_t n, mini::data::PartitionDatasetOptions options) {
        return message_of<mini::UsageError>(
            [&] { mini::data::partition_dataset(numbers(n), options); });
    };
    const std::string empty = error_of(5, {.world_size = 7, .rank = 6});
    INFO("5 samples on 7 ranks: int(1/7 * 5) is 0; the error message: " << empty);
    for (const int64_t number : {7, 5}) CHECK(names_number(empty, number));
    const std::string small = error_of(1000, {.world_size = 129, .rank = 0});
    INFO("a batch of 128 for 129 ranks; the error message: " << small);
    for (const int64_t number : {128, 129}) CHECK(names_number(small, number));
    INFO("rank 3 of 3: choose_replica (replica.hpp) is given");
    CHECK_THROWS_AS(
        mini::data::partition_dataset(numbers(10), {.world_size = 3, .rank = 3}),
        mini::UsageError);
    CHECK_THROWS_AS(mini::data::partition_dataset(nullptr, {.world_size = 1, .rank = 0}),
                    mini::UsageError);
}

TEST_CASE("all ranks of a job call the same number of collectives", "[lab07][lab07.5]") {
    const int ranks = GENERATE(1, 2, 3, 4, 7);
    const int64_t n = 200;
    std::vector<size_t> collectives(static_cast<size_t>(ranks));
    std::vector<Indices> seen(static_cast<size_t>(ranks));
    mini::labs::run_ranks(ranks, [&](mini::dist::ProcessGroup& group) {
        const auto rank = static_cast<size_t>(group.rank());
        auto [train_set, bsz] =
            mini::data::partition_dataset(numbers(n), {.batch_size = 30});
        for (const mini::data::Batch& batch : train_set) {
            for (const int64_t sample : batch.target.to_vector<int64_t>())
                seen[rank].push_back(sample);
            group.all_reduce(mini::Tensor::scalar(1.0f));  // stands for the gradients
        }
        collectives[rank] =
            group.events().snapshot(mini::EventKind::kCollectiveBegin).size();
    });

    // A part has n / ranks samples, a batch has 30 / ranks.
    const int64_t part = n / ranks, bsz = 30 / ranks;
    for (size_t rank = 0; rank < collectives.size(); ++rank) {
        INFO("rank " << rank << " of " << ranks << ": " << part << " samples in batches"
                     << " of " << bsz << ", one all-reduce each");
        CHECK(static_cast<int64_t>(collectives[rank]) == (part + bsz - 1) / bsz);
    }
    CHECK(dealt_twice(seen, n) == "");
}
