#include "libmini/data/partition_dataset.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/core/world.hpp"
#include "tests/data/support.hpp"
#include "tests/support/catch.hpp"

using mini::UsageError;
using mini::data::Batch;
using mini::data::DataPartitioner;
using mini::data::partition_dataset;
using mini::data::PartitionDatasetOptions;
using mini::data::PartitionedDataset;
using Indices = std::vector<int64_t>;

namespace {

// The samples of one epoch in order, and the size of each batch.
struct Read {
    Indices samples;
    Indices sizes;
};

Read read(PartitionedDataset& part) {
    Read result;
    auto epoch = part.train_set.epoch();
    while (const std::optional<Batch> batch = epoch.next()) {
        for (const int64_t target : batch->target.to_vector<int64_t>())
            result.samples.push_back(target / 3);
        result.sizes.push_back(batch->size());
    }
    return result;
}

Indices sorted(Indices values) {
    std::sort(values.begin(), values.end());
    return values;
}

std::string error_of(int64_t n, const PartitionDatasetOptions& options) {
    return message_of<UsageError>(
        [&] { partition_dataset(std::make_shared<Numbers>(n), options); });
}

}  // namespace

TEST_CASE("partition_dataset gives each rank the tutorial's part and batch size") {
    const int size = GENERATE(1, 2, 3, 4, 7);
    const int64_t n = 300;
    const auto numbers = std::make_shared<Numbers>(n);
    const DataPartitioner partitioner(
        numbers, std::vector<double>(static_cast<size_t>(size), 1.0 / size));
    for (int rank = 0; rank < size; ++rank) {
        CAPTURE(size, rank);
        mini::set_current_world(mini::World{.rank = rank, .size = size});
        PartitionedDataset part = partition_dataset(numbers);
        mini::set_current_world(std::nullopt);

        CHECK(part.bsz == static_cast<int64_t>(128 / static_cast<float>(size)));
        const Indices expected = partitioner.use(rank).index();
        const Read epoch = read(part);
        CHECK(sorted(epoch.samples) == sorted(expected));
        CHECK(epoch.samples != expected);  // shuffled
        CHECK(epoch.sizes.front() == std::min(part.bsz, n / size));
        CHECK(part.train_set.size() == static_cast<int64_t>(epoch.sizes.size()));
        CHECK(read(part).samples != epoch.samples);  // and shuffled again
    }
}

TEST_CASE("partition_dataset takes world size and rank from its options") {
    auto [train_set, bsz] =
        partition_dataset(std::make_shared<Numbers>(100), {.world_size = 4, .rank = 3});
    CHECK(bsz == 32);
    CHECK(train_set.size() == 1);
}

TEST_CASE("partition_dataset accepts another batch size and can assign the remainder") {
    const auto numbers = std::make_shared<Numbers>(10);
    Indices all;
    for (int rank = 0; rank < 3; ++rank) {
        PartitionedDataset part = partition_dataset(
            numbers, {.world_size = 3,
                      .rank = rank,
                      .batch_size = 7,
                      .partitioner = {.seed = 5, .assign_remainder = true}});
        CHECK(part.bsz == 2);
        const Indices samples = read(part).samples;
        all.insert(all.end(), samples.begin(), samples.end());
    }
    CHECK(sorted(all) == Indices{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
}

TEST_CASE(
    "partition_dataset rejects batches and datasets that are too small for the ranks") {
    CHECK(contains(error_of(10, {}), "partition_dataset: num_replicas is not given"));
    CHECK(contains(error_of(10, {.world_size = 3, .rank = 3}), "rank 3"));
    CHECK(contains(error_of(1000, {.world_size = 129, .rank = 0}),
                   "a batch of 128 cannot be shared by 129 ranks"));
    CHECK(contains(error_of(10, {.world_size = 1, .rank = 0, .batch_size = 0}),
                   "a batch of 0"));
    CHECK(contains(error_of(5, {.world_size = 7, .rank = 6}),
                   "no sample is left for rank 6 of 7: the dataset has 5"));
    CHECK_THROWS_AS(partition_dataset(nullptr, {.world_size = 1, .rank = 0}), UsageError);
}
