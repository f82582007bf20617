#include "libmini/data/partition.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "libmini/core/error.hpp"
#include "libmini/data/partition_dataset.hpp"
#include "tests/data/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/golden.hpp"

using mini::UsageError;
using mini::data::DataPartitioner;
using mini::data::Partition;
using mini::data::partition_dataset;
using mini::data::PartitionDatasetOptions;

namespace {

using Indices = std::vector<int64_t>;

// Returns the sizes of all parts, with assign_remainder.
Indices assigned(int64_t n, const std::vector<double>& sizes) {
    const DataPartitioner partitioner(numbers(n), sizes, {.assign_remainder = true});
    Indices lengths;
    for (size_t k = 0; k < sizes.size(); ++k)
        lengths.push_back(partitioner.use(static_cast<int>(k)).size());
    return lengths;
}

}  // namespace

TEST_CASE("DataPartitioner returns the tutorial's indices for every part") {
    const nlohmann::json cases = golden_cases("data_partitioner");
    size_t checked = 0, parts = 0;
    for (const auto& c : cases) {
        CAPTURE(c.at("n"), c.at("sizes"), c.at("seed"));
        std::vector<double> sizes;
        for (const std::string text : c.at("sizes_repr"))
            sizes.push_back(std::stod(text));
        const DataPartitioner partitioner(numbers(c.at("n")), sizes,
                                          c.at("seed").get<int64_t>());
        int part = 0;
        for (const auto& expected : c.at("partitions")) {
            REQUIRE(digest(partitioner.use(part++).index()) ==
                    expected.at("sha256_le_int64").get<std::string>());
            ++parts;
        }
        CHECK_THROWS_AS(partitioner.use(part), UsageError);
        ++checked;
    }
    CHECK(checked == cases.size());
    CHECK(checked == 53);
    CHECK(parts > 100);
}

TEST_CASE("the runs of one permutation are the parts of PyTorch's random_split") {
    const nlohmann::json cases = golden_cases("random_split");
    CHECK(cases.size() == 2);
    for (const auto& c : cases) {
        CAPTURE(c.dump());
        const Indices order = mini::randperm(c.at("n"), *seeded(c.at("seed")));
        const auto parts = mini::data::cut_into_runs(order, c.at("lengths"));
        CHECK(parts == c.at("parts").get<std::vector<Indices>>());
    }
}

TEST_CASE("DataPartitioner's seed is 1234 unless another is given") {
    const DataPartitioner usual(numbers(10), {1.0}), given(numbers(10), {1.0}, 1234),
        named(numbers(10), {1.0}, {.seed = 1234}), other(numbers(10), {1.0}, {.seed = 1});
    CHECK(usual.use(0).index() == given.use(0).index());
    CHECK(usual.use(0).index() == named.use(0).index());
    CHECK(usual.use(0).index() != other.use(0).index());
    CHECK(usual.use(0).index() == std::vector<int64_t>{2, 8, 3, 5, 6, 4, 9, 0, 1, 7});
}

TEST_CASE(
    "DataPartitioner rejects fractions that are not positive or sum to more than 1") {
    const std::vector<std::vector<double>> bad = {{0.5, 0.0},   {-0.5, 0.5}, {0.5, 0.6},
                                                  {1.0, 0.001}, {0.0 / 0.0}, {1.0 / 0.0}};
    for (const std::vector<double>& sizes : bad) {
        CAPTURE(sizes);
        CHECK_THROWS_AS(DataPartitioner(numbers(10), sizes), UsageError);
    }
    CHECK(contains(message_of<UsageError>([] {
                       DataPartitioner(numbers(10), {0.5, 0.6});
                   }),
                   "(0.5, 0.6) sum to 1.1"));
    CHECK_THROWS_AS(DataPartitioner(numbers(10), {0.5, 0.5}).use(-1), UsageError);
}

TEST_CASE("DataPartitioner accepts fractions whose sum exceeds 1 only by rounding") {
    // 49 times 1/49 is 1.0000000000000007 in doubles.
    const std::vector<double> sizes(49, 1.0 / 49.0);
    CHECK(DataPartitioner(numbers(49), sizes).use(48).size() <= 1);
    CHECK_NOTHROW(DataPartitioner(numbers(10), {}));
}

TEST_CASE(
    "with assign_remainder every sample belongs to a part and the first parts are "
    "larger") {
    CHECK(assigned(10, {0.5, 0.25, 0.25}) == Indices{6, 2, 2});
    CHECK(assigned(11, {0.5, 0.25, 0.25}) == Indices{6, 3, 2});
    CHECK(assigned(60000, std::vector<double>(7, 1.0 / 7)) ==
          Indices{8572, 8572, 8572, 8571, 8571, 8571, 8571});
    CHECK(assigned(6, {0.25, 0.25, 0.25, 0.25}) == Indices{2, 2, 1, 1});
    CHECK(assigned(0, {0.5, 0.5}) == Indices{0, 0});
    CHECK(assigned(5, {}).empty());
    for (int64_t n = 0; n < 50; ++n)
        for (size_t parts = 1; parts <= 60; ++parts) {
            CAPTURE(n, parts);
            const double fraction = 1.0 / static_cast<double>(parts);
            Indices lengths = assigned(n, std::vector<double>(parts, fraction));
            REQUIRE(std::accumulate(lengths.begin(), lengths.end(), int64_t{0}) == n);
            REQUIRE(std::is_sorted(lengths.rbegin(), lengths.rend()));
            REQUIRE(lengths.front() - lengths.back() <= 1);
        }
}

TEST_CASE("with assign_remainder a sum of fractions below 1 still leaves samples out") {
    CHECK(assigned(10, {0.25, 0.25}) == Indices{3, 2});
    CHECK(assigned(10, {0.7, 0.1}) == Indices{7, 1});
    CHECK(assigned(10, {0.1, 0.1, 0.1}) == Indices{1, 1, 1});
    CHECK(assigned(3, {0.1}) == Indices{0});
}

TEST_CASE("with assign_remainder the parts are runs of the same permutation") {
    const std::vector<double> thirds(3, 1.0 / 3);
    const DataPartitioner partitioner(numbers(10), thirds, {.assign_remainder = true});
    CHECK(partitioner.use(0).index() == Indices{2, 8, 3, 5});
    CHECK(partitioner.use(1).index() == Indices{6, 4, 9});
    CHECK(partitioner.use(2).index() == Indices{0, 1, 7});
}

TEST_CASE("partitions reject a null dataset") {
    CHECK_THROWS_AS(DataPartitioner(nullptr, {1.0}), UsageError);
    CHECK_THROWS_AS(Partition(nullptr, {}), UsageError);
}

TEST_CASE("partition_dataset rejects a rank without samples, and a batch of 0") {
    for (const PartitionDatasetOptions& options : std::vector<PartitionDatasetOptions>{
             {.world_size = 7, .rank = 6}, {.world_size = 1, .rank = 0, .batch_size = 0}})
        CHECK_THROWS_AS(partition_dataset(numbers(5), options), UsageError);
}
