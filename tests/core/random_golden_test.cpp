// The generators against numbers that PyTorch and CPython printed.

#include <algorithm>
#include <numeric>

#include "libmini/core/random.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/golden.hpp"

namespace {

using mini::Generator;
using nlohmann::json;

std::vector<float> rand_like(const json& golden, mini::Rounding rounding) {
    Generator generator(golden.at("seed").get<uint64_t>());
    generator.set_rounding(rounding);
    std::vector<float> values(golden.at("n").get<size_t>());
    mini::fill_uniform(values, 0, 1, generator);
    return values;
}

std::vector<float> randn_like(const json& golden, mini::Rounding rounding) {
    Generator generator(golden.at("seed").get<uint64_t>());
    generator.set_rounding(rounding);
    std::vector<float> values(golden.at("n").get<size_t>());
    mini::fill_normal(values, 0, 1, generator);
    return values;
}

// The stored values of a case: all of a short one, the first 50 of a long one.
std::vector<float> stored(const json& numbers) {
    return floats_from_hex(numbers.contains("f32_hex") ? numbers.at("f32_hex")
                                                       : numbers.at("first50_f32_hex"));
}

// The largest distance in units in the last place.
int64_t worst_ulps(const std::vector<float>& expected, const std::vector<float>& actual) {
    int64_t worst = 0;
    for (size_t i = 0; i < expected.size(); ++i)
        worst = std::max(worst, ulps_between(expected[i], actual[i]));
    return worst;
}

}  // namespace

TEST_CASE("uniform floats are torch.rand's, bit for bit, in builds of both kinds") {
    const bool fused = GENERATE(false, true);
    const auto rounding = fused ? mini::Rounding::kFused : mini::Rounding::kSeparate;
    int checked = 0;
    for (const json& golden : golden_cases(fused ? "rand_randn_fused" : "rand_randn")) {
        CAPTURE(fused, golden.at("seed").get<uint64_t>(), golden.at("n").get<int>());
        CHECK(digest(rand_like(golden, rounding)) ==
              golden.at("rand").at("sha256_le_float32"));
        ++checked;
    }
    CHECK(checked > 20);
}

TEST_CASE("normal floats are torch.randn's but for the last bits of log, sin and cos") {
    // PyTorch's fused build has polynomials of its own for these three functions.
    const bool fused = GENERATE(false, true);
    const auto rounding = fused ? mini::Rounding::kFused : mini::Rounding::kSeparate;
    for (const json& golden : golden_cases(fused ? "rand_randn_fused" : "rand_randn")) {
        const std::vector<float> expected = stored(golden.at("randn"));
        const std::vector<float> actual = randn_like(golden, rounding);
        CAPTURE(fused, golden.at("seed").get<uint64_t>(), golden.at("n").get<int>());
        CHECK(actual.size() == golden.at("n").get<size_t>());
        CHECK(worst_ulps(expected, actual) <= (fused ? 3 : 2));
    }
}

TEST_CASE("permutations are torch.randperm's") {
    for (const json& golden : golden_cases("randperm")) {
        Generator generator(golden.at("seed").get<uint64_t>());
        const auto order = mini::randperm(golden.at("n"), generator);
        CAPTURE(golden.at("seed").get<uint64_t>(), golden.at("n").get<int>());
        CHECK(digest(order) == golden.at("perm").at("sha256_le_int64"));
    }
}

TEST_CASE("shuffles are those of Python's random.Random") {
    for (const json& golden : golden_cases("python_shuffle")) {
        mini::PythonRandom random(golden.at("seed").get<int64_t>());
        std::vector<int64_t> values(golden.at("n").get<size_t>());
        std::iota(values.begin(), values.end(), 0);
        random.shuffle(values);
        CAPTURE(golden.at("seed").get<uint64_t>(), golden.at("n").get<int>());
        CHECK(digest(values) == golden.at("shuffled").at("sha256_le_int64"));
    }
}

TEST_CASE("bernoulli draws are those of torch.nn.functional.dropout and dropout2d") {
    for (const json& golden : golden_cases("dropout")) {
        const auto expected = golden.at("kept").get<std::string>();
        Generator generator(golden.at("seed").get<uint64_t>());
        std::vector<float> mask(expected.size());
        mini::fill_bernoulli(mask, 1 - golden.at("p").get<double>(), generator);

        std::string kept;
        for (const float value : mask) kept += value == 1.0f ? '1' : '0';
        CAPTURE(golden.dump());
        CHECK(kept == expected);
    }
}
