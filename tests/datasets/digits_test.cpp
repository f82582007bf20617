#include "libmini/datasets/digits.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/datasets/digits_pen.hpp"
#include "libmini/datasets/digits_strokes.hpp"
#include "tests/data/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/process_usage.hpp"

using mini::data::ImageDataset;
using mini::data::make_digits;

namespace {

Bytes image(const ImageDataset& digits, int64_t i) {
    return {digits.pixels(i), digits.pixels(i) + 784};
}

// Returns all images one after the other, each followed by its label.
Bytes contents(const ImageDataset& digits) {
    Bytes all;
    for (int64_t i = 0; i < digits.size(); ++i)
        all = std::move(all) + image(digits, i) +
              Bytes{static_cast<uint8_t>(digits.label(i))};
    return all;
}

}  // namespace

TEST_CASE("the digits are the same bytes on every machine") {
    CHECK(digest(contents(*make_digits(true, 100))) ==
          "d49a519a2322eb94667f75fdb785432215dc823fb47c5452be50392164c4e943");
    CHECK(digest(contents(*make_digits(false, 100))) ==
          "b23a67accce3d3389a049a95766df88fe65956b36207813030e6c3d3c0f3541c");
}

TEST_CASE("threads that use the same digits at the same time get the same bytes",
          "[threads]") {
    const Bytes alone = contents(*make_digits(true, 1000));
    const auto shared = make_digits(true, 1000);
    std::array<Bytes, 4> seen;
    std::vector<std::jthread> threads;
    for (Bytes& bytes : seen) threads.emplace_back([&] { bytes = contents(*shared); });
    threads.clear();
    for (const Bytes& bytes : seen) CHECK(bytes == alone);
}

TEST_CASE("a dataset of digits takes no memory for the images that are not used") {
    const size_t before = mini::test::resident_bytes();
    const auto digits = make_digits(true, mini::data::kDigitsTrain);
    digits->pixels(mini::data::kDigitsTrain - 1);
    CHECK(mini::test::resident_bytes() < before + size_t{60000} * 784 / 2);
}

TEST_CASE("the digits do not depend on the order of their use") {
    const auto forward = make_digits(true, 300), backward = make_digits(true, 300);
    for (int64_t i = 300; i-- > 0;) backward->pixels(i);
    CHECK(contents(*forward) == contents(*backward));
}

TEST_CASE("a smaller count gives the first digits of a larger count") {
    const auto few = make_digits(true, 1), more = make_digits(true, 300);
    CHECK(few->size() == 1);
    CHECK(image(*few, 0) == image(*more, 0));
}

TEST_CASE("no two digits are equal within a part or across both parts", "[large]") {
    std::set<std::string> seen;
    for (const bool train : {true, false}) {
        const auto digits = make_digits(train, 2000);
        for (int64_t i = 0; i < digits->size(); ++i)
            seen.insert(digest(image(*digits, i)));
    }
    CHECK(seen.size() == 4000);
}

TEST_CASE(
    "the digits have MNIST's mean and standard deviation and classes of similar size",
    "[large]") {
    const auto digits = make_digits(true, 5000);
    std::array<int, 10> count{};
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < 5000; ++i) {
        ++count[static_cast<size_t>(digits->label(i))];
        for (const uint8_t byte : image(*digits, i)) {
            sum += byte / 255.0;
            squares += byte / 255.0 * byte / 255.0;
        }
    }
    const double n = 5000.0 * 784, mean = sum / n;
    CHECK(std::abs(mean - 0.1307) < 0.01);
    CHECK(std::abs(std::sqrt(squares / n - mean * mean) - 0.3081) < 0.01);
    for (const int c : count) CHECK(std::abs(c - 500) < 85);  // four standard deviations
}

TEST_CASE("every digit is centred by its mass and leaves the border empty") {
    const auto digits = make_digits(true, 2000);
    for (int64_t i = 0; i < 2000; ++i) {
        CAPTURE(i);
        double mass = 0, x = 0, y = 0, rim = 0;
        for (int p = 0; p < 784; ++p) {
            const int row = p / 28, column = p % 28;
            const double ink = digits->pixels(i)[p];
            mass += ink;
            x += ink * column;
            y += ink * row;
            if (row == 0 || row == 27 || column == 0 || column == 27) rim += ink;
        }
        REQUIRE(mass > 20 * 255);
        REQUIRE(std::abs(x / mass - 13.5) < 1.5);  // not 0, since the pen's radius varies
        REQUIRE(std::abs(y / mass - 13.5) < 1.5);
        REQUIRE(rim < 0.05 * mass);
    }
}

TEST_CASE("every class has four or more skeletons inside the unit square") {
    for (int digit = 0; digit < 10; ++digit) {
        CAPTURE(digit);
        CHECK(mini::data::skeletons(digit).size() >= 4);
        for (const auto& skeleton : mini::data::skeletons(digit))
            for (const auto& stroke : skeleton) {
                CHECK(stroke.size() >= 3);
                for (const auto& p : stroke)
                    CHECK((p.x >= 0 && p.x <= 1 && p.y >= 0 && p.y <= 1));
            }
    }
}

TEST_CASE("the pen's random numbers have the right mean and standard deviation") {
    mini::data::SplitMix64 random(1);
    double sum = 0, squares = 0, uniform = 0, largest = 0;
    const int n = 100000;
    for (int i = 0; i < n; ++i) {
        const double value = random.normal(2.0f);
        sum += value;
        squares += value * value;
        largest = std::max(largest, std::abs(value));
        uniform += random.uniform(3, 5);
    }
    CHECK(std::abs(sum / n) < 0.04);  // about six standard errors, like the bounds below
    CHECK(std::abs(squares / n - 4.0) < 0.1);
    CHECK(largest < 7.0);
    CHECK(std::abs(uniform / n - 4.0) < 0.012);
}

TEST_CASE("make_digits rejects a count below 1") {
    for (const int64_t count : {0, -1})
        CHECK(contains(message_of<mini::UsageError>([&] { make_digits(true, count); }),
                       "count is " + std::to_string(count)));
}
