#include "libmini/data/random_split.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "libmini/core/error.hpp"
#include "tests/data/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/golden.hpp"

using mini::Generator;
using mini::UsageError;
using mini::data::Partition;
using mini::data::random_split;
using Indices = std::vector<int64_t>;
using Parts = std::vector<std::shared_ptr<const Partition>>;

namespace {

Indices lengths_of(const Parts& parts) {
    Indices lengths;
    for (const auto& part : parts) lengths.push_back(part->size());
    return lengths;
}

}  // namespace

TEST_CASE("random_split returns PyTorch's parts") {
    const nlohmann::json cases = golden_cases("random_split");
    size_t checked = 0;
    for (const auto& c : cases) {
        CAPTURE(c.dump());
        const Parts parts = random_split(
            numbers(c.at("n")), c.at("lengths").get<Indices>(), seeded(c.at("seed")));
        REQUIRE(parts.size() == c.at("parts").size());
        for (size_t k = 0; k < parts.size(); ++k)
            REQUIRE(parts[k]->index() == c.at("parts")[k].get<Indices>());
        ++checked;
    }
    CHECK(checked == cases.size());
    CHECK(checked == 2);
}

TEST_CASE("random_split splits one permutation into runs") {
    Generator generator(9);
    const Indices order = mini::randperm(10, generator);
    Indices joined;
    for (const auto& part : random_split(numbers(10), {3, 0, 7}, seeded(9)))
        joined.insert(joined.end(), part->index().begin(), part->index().end());
    CHECK(joined == order);
    CHECK(random_split(numbers(10), {10}, seeded(9))[0]->get(0).label() == 3 * order[0]);
}

TEST_CASE("random_split draws from the thread's generator unless a generator is given") {
    mini::manual_seed(4);
    const Parts by_thread = random_split(numbers(30), {20, 10});
    CHECK(by_thread[1]->index() ==
          random_split(numbers(30), {20, 10}, seeded(4))[1]->index());
    CHECK(random_split(numbers(30), {20, 10})[1]->index() != by_thread[1]->index());
}

TEST_CASE(
    "random_split rounds fractions down and adds remaining samples to the first parts") {
    const auto lengths = [](int64_t n, const std::vector<double>& fractions) {
        return lengths_of(random_split(numbers(n), fractions));
    };
    CHECK(lengths(10, {0.5, 0.25, 0.25}) == Indices{6, 2, 2});
    CHECK(lengths(30, {0.3, 0.3, 0.4}) == Indices{9, 9, 12});
    CHECK(lengths(11, {0.3, 0.3, 0.4}) == Indices{4, 3, 4});
    CHECK(lengths(7, std::vector<double>(3, 1.0 / 3)) == Indices{3, 2, 2});
    CHECK(lengths(10, {0.7, 0.2, 0.1}) == Indices{7, 2, 1});
    CHECK(lengths(10, {1}) == Indices{10});
    CHECK(lengths_of(random_split(numbers(10), {0.5, 0.5})) == Indices{5, 5});
}

TEST_CASE("random_split by fractions draws the same permutation as by lengths") {
    CHECK(random_split(numbers(10), {0.5, 0.25, 0.25}, seeded(2))[2]->index() ==
          random_split(numbers(10), {6, 2, 2}, seeded(2))[2]->index());
}

TEST_CASE("random_split warns of fractions that give an empty part") {
    const std::string warning = written_to_stderr([] {
        CHECK(lengths_of(random_split(numbers(3), {0.9, 0.1, 0.0})) == Indices{3, 0, 0});
    });
    CHECK(contains(warning, "part 1 of 3 gets none of the 3 samples"));
    CHECK(contains(warning, "part 2 of 3"));
    CHECK(written_to_stderr([] { random_split(numbers(3), {3, 0}); }) == "");
}

TEST_CASE("random_split rejects lengths that do not sum to the size of the dataset") {
    const auto error_of = [](const Indices& lengths) {
        return message_of<UsageError>([&] { random_split(numbers(10), lengths); });
    };
    CHECK(contains(error_of({5, 4}), "(5, 4) leave 1 of the dataset's 10 samples over"));
    CHECK(contains(error_of({5, 6}), "(5, 6) sum to more than the 10 samples"));
    CHECK(contains(error_of({}), "leave 10"));
    CHECK(contains(error_of({11, -1}), "sum to more"));
    CHECK(contains(error_of({-1, 11}), "must not be negative"));
    CHECK(contains(error_of({INT64_MAX, INT64_MAX, 12}), "sum to more"));
    CHECK_THROWS_AS(random_split(nullptr, Indices{}), UsageError);
    CHECK(random_split(numbers(0), Indices{}).empty());
}

TEST_CASE("random_split rejects fractions that do not sum to 1") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double inf = std::numeric_limits<double>::infinity();
    const std::vector<std::vector<double>> bad = {
        {0.5, 0.4}, {0.5, 0.6}, {-0.5, 1.5}, {nan, 1}, {0.5, nan}, {inf, -inf}, {}};
    for (const std::vector<double>& fractions : bad) {
        CAPTURE(fractions);
        CHECK_THROWS_AS(random_split(numbers(10), fractions), UsageError);
    }
    CHECK(contains(message_of<UsageError>([] {
                       random_split(numbers(9), {0.5, 0.4});
                   }),
                   "(0.5, 0.4) sum to 0.9 but must sum to 1"));
    CHECK_THROWS_AS(random_split(nullptr, {1.0}), UsageError);
}
