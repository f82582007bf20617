#include "libmini/data/partition.hpp"

#include "libmini/core/error.hpp"
#include "tests/data/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/golden.hpp"

using mini::UsageError;
using mini::data::DataPartitioner;
using mini::data::Partition;

namespace {

std::shared_ptr<Numbers> numbers(int64_t n) { return std::make_shared<Numbers>(n); }

}  // namespace

TEST_CASE("DataPartitioner gives every rank the tutorial's indices") {
    int64_t checked = 0;
    for (const auto& c : golden_cases("data_partitioner")) {
        CAPTURE(c.at("n"), c.at("sizes"), c.at("seed"));
        std::vector<double> sizes;
        for (const std::string text : c.at("sizes_repr"))
            sizes.push_back(std::stod(text));
        const DataPartitioner partitioner(numbers(c.at("n")), sizes, c.at("seed"));
        int part = 0;
        for (const auto& expected : c.at("partitions")) {
            REQUIRE(digest(partitioner.use(part++).index()) ==
                    expected.at("sha256_le_int64").get<std::string>());
            ++checked;
        }
        CHECK_THROWS_AS(partitioner.use(part), UsageError);
    }
    CHECK(checked > 100);
}

TEST_CASE("DataPartitioner's seed is 1234 unless another is given") {
    const DataPartitioner usual(numbers(10), {1.0}), given(numbers(10), {1.0}, 1234);
    CHECK(usual.use(0).index() == given.use(0).index());
    CHECK(usual.use(0).index() == std::vector<int64_t>{2, 8, 3, 5, 6, 4, 9, 0, 1, 7});
}

TEST_CASE(
    "a Partition shows its dataset through its indices, one by one and in batches") {
    const Partition part(numbers(10), {7, 0, 7});
    CHECK(part.size() == 3);
    CHECK(part.get(0).target == 21);
    CHECK(part.get(1).target == 0);
    CHECK(part.get(2).data.to_vector<float>() == std::vector<float>{7, 14});
    const std::vector<int64_t> wanted = {2, 1};
    CHECK(part.get_batch(wanted).target.to_vector<int64_t>() ==
          std::vector<int64_t>{21, 0});
}

TEST_CASE("a Partition names the index and its size when there is no such sample") {
    const Partition part(numbers(10), {7, 0, 7});
    for (const int64_t i : {-1, 3}) {
        const std::string message = message_of<mini::Error>([&] { part.get(i); });
        CHECK(contains(message, "no sample " + std::to_string(i) + "; it has 3"));
    }
}

TEST_CASE("DataPartitioner refuses fractions that are not positive or exceed the whole") {
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

TEST_CASE("DataPartitioner takes fractions that exceed 1 by rounding alone") {
    const std::vector<double> sizes(49, 1.0 / 49.0);
    CHECK(DataPartitioner(numbers(49), sizes).use(48).size() <= 1);
    CHECK_NOTHROW(DataPartitioner(numbers(10), {}));
}
