// Compares the generator with numbers that PyTorch printed. Each test counts the compared
// cases, so that no case of a file is skipped.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libmini/random/random.hpp"
#include "tests/random/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/golden.hpp"

namespace {

using mini::Generator;
using mini::Rounding;
using mini::test::normals;
using nlohmann::json;

Generator generator_for(const json& golden) {
    return Generator(golden.at("seed").get<uint64_t>());
}

// A build of PyTorch that wrote golden files: PyTorch's wheel, with the default rounding
// of a new generator, or PyTorch without AVX2.
struct Build {
    std::string suffix;
    std::optional<Rounding> rounding;
};

Build any_build() {
    return GENERATE(Build{"", std::nullopt}, Build{"_separate", Rounding::kSeparate});
}

Generator generator_for(const json& golden, const Build& build) {
    Generator generator = generator_for(golden);
    if (build.rounding) generator.set_rounding(*build.rounding);
    return generator;
}

std::vector<float> uniforms(size_t n, Generator& generator) {
    std::vector<float> values(n);
    mini::fill_uniform(values, 0, 1, generator);
    return values;
}

std::vector<float> bernoullis(size_t n, double probability, Generator& generator) {
    std::vector<float> values(n);
    mini::fill_bernoulli(values, probability, generator);
    return values;
}

void check_floats(const json& expected, const std::vector<float>& actual) {
    REQUIRE(actual.size() == expected.at("n").get<size_t>());
    if (expected.contains("f32_hex"))
        CHECK(actual == floats_from_hex(expected.at("f32_hex")));
    CHECK(digest(actual) == expected.at("sha256_le_float32").get<std::string>());
}

void check_doubles(const json& expected, const std::vector<double>& actual) {
    REQUIRE(actual.size() == expected.at("u64_hex").size());
    for (size_t i = 0; i < actual.size(); ++i) {
        const std::string text = expected.at("u64_hex").at(i);
        CHECK(std::bit_cast<uint64_t>(actual[i]) == std::stoull(text, nullptr, 16));
    }
}

void check_sequence(const json& draws, Generator& generator) {
    REQUIRE(draws.size() == 6);
    check_floats(draws[0], uniforms(1, generator));
    check_floats(draws[1], normals(1, generator));
    check_floats(draws[2], normals(3, generator));
    check_floats(draws[3], uniforms(2, generator));
    check_floats(draws[4], normals(20, generator));
    check_floats(draws[5], uniforms(1, generator));
}

// Compares one case of draws_misc.json; returns false if the case is unknown.
bool check_draw(const json& golden, Generator& generator) {
    const std::string what = golden.at("what");
    if (what == "rand(1),randn(1),randn(3),rand(2),randn(20),rand(1) in a row") {
        check_sequence(golden.at("draws"), generator);
        return true;
    }
    if (what.ends_with("dtype=float64)")) {
        std::vector<double> values(5);
        if (what.starts_with("torch.rand(5,"))
            mini::fill_uniform(values, 0, 1, generator);
        else if (what.starts_with("torch.randn(5,"))
            mini::fill_normal(values, 0, 1, generator);
        else
            return false;
        check_doubles(golden, values);
        return true;
    }

    std::vector<float> values(20);
    if (what == "torch.empty(20).uniform_(-0.3,0.7)") {
        mini::fill_uniform(values, -0.3, 0.7, generator);
    } else if (what == "torch.empty(20).normal_(1.5,2.0)") {
        mini::fill_normal(values, 1.5, 2, generator);
    } else if (what == "torch.empty(20).bernoulli_(0.5)") {
        values = bernoullis(20, 0.5, generator);
    } else if (what == "torch.empty(20).bernoulli_(0.3)") {
        values = bernoullis(20, 0.3, generator);
    } else if (what == "torch.empty(20).exponential_()") {
        for (float& value : values)
            value = static_cast<float>(generator.exponential_double(1));
    } else {
        return false;
    }
    check_floats(golden.at("draws").at(0), values);
    return true;
}

// Draws the numbers of one case of integers.json; returns std::nullopt if the case is
// unknown.
std::optional<std::vector<int64_t>> integers_like(const json& golden) {
    const std::string what = golden.at("what");
    Generator generator = generator_for(golden);
    std::vector<int64_t> values(golden.at("values").size());
    for (int64_t& value : values) {
        if (what == "torch.randint(0,100,(64,),generator=g)")
            value = generator.randint(0, 100);
        else if (what == "torch.randint(0,2**40,(16,),generator=g)")
            value = generator.randint(0, int64_t{1} << 40);
        else if (what == "torch.empty((8,),int32).random_(generator=g)")
            value = generator.random_int32();
        else if (what == "torch.empty((4,),int64).random_(generator=g)" ||
                 what == "torch.manual_seed; 3 x torch.empty((),int64).random_().item()")
            value = generator.random_int64();
        else
            return std::nullopt;
    }
    return values;
}

}  // namespace

TEST_CASE(
    "uniform and normal floats are bitwise identical to torch.rand and torch.randn") {
    const Build build = any_build();
    const json cases = golden_cases("rand_randn" + build.suffix);
    for (const json& golden : cases) {
        const size_t n = golden.at("n");
        CAPTURE(build.suffix, golden.at("seed").get<uint64_t>(), n);
        Generator generator = generator_for(golden, build);
        Generator another = generator;
        check_floats(golden.at("rand"), uniforms(n, generator));
        check_floats(golden.at("randn"), normals(n, another));
    }
    CHECK(cases.size() == 60);
}

TEST_CASE("other draws and sequences of different draws equal PyTorch's") {
    const Build build = any_build();
    const json cases = golden_cases("draws_misc" + build.suffix);
    size_t compared = 0;
    for (const json& golden : cases) {
        CAPTURE(build.suffix, golden.at("seed").get<uint64_t>(),
                golden.at("what").get<std::string>());
        Generator generator = generator_for(golden, build);
        const bool known = check_draw(golden, generator);
        CHECK(known);
        compared += known;
    }
    CHECK(compared == cases.size());
    CHECK(compared == 16);
}

TEST_CASE("integers equal the numbers of torch.randint and random_") {
    const json cases = golden_cases("integers");
    size_t compared = 0;
    for (const json& golden : cases) {
        CAPTURE(golden.dump());
        const auto values = integers_like(golden);
        REQUIRE(values.has_value());
        CHECK(*values == golden.at("values").get<std::vector<int64_t>>());
        ++compared;
    }
    CHECK(compared == cases.size());
    CHECK(compared == 15);
}

TEST_CASE("permutations of 64-bit and 32-bit numbers equal torch.randperm") {
    const json cases = golden_cases("randperm");
    for (const json& golden : cases) {
        const int64_t n = golden.at("n");
        CAPTURE(golden.at("seed").get<uint64_t>(), n);
        Generator generator = generator_for(golden), same = generator_for(golden);
        const auto order = mini::randperm(n, generator);
        CHECK(digest(order) ==
              golden.at("perm").at("sha256_le_int64").get<std::string>());

        const auto narrow = mini::randperm_u32(n, same);
        CHECK(std::vector<int64_t>(narrow.begin(), narrow.end()) == order);
        CHECK(generator.random() == same.random());
    }
    CHECK(cases.size() == 20);
}

TEST_CASE(
    "a second permutation continues the sequence of words of the first permutation") {
    const json cases = golden_cases("randperm_twice");
    for (const json& golden : cases) {
        CAPTURE(golden.at("seed").get<uint64_t>(), golden.at("n").get<int>());
        Generator generator = generator_for(golden);
        for (const char* which : {"first", "second"})
            CHECK(digest(mini::randperm(golden.at("n"), generator)) ==
                  golden.at(which).at("sha256_le_int64").get<std::string>());
    }
    CHECK(cases.size() == 10);
}

TEST_CASE(
    "bernoulli draws equal the masks of torch.nn.functional.dropout and dropout2d") {
    const json cases = golden_cases("dropout");
    for (const json& golden : cases) {
        const auto expected = golden.at("kept").get<std::string>();
        Generator generator = generator_for(golden);
        std::string kept;
        for (const float value :
             bernoullis(expected.size(), 1 - golden.at("p").get<double>(), generator))
            kept += value == 1.0f ? '1' : '0';
        CAPTURE(golden.dump());
        CHECK(kept == expected);
    }
    CHECK(cases.size() == 18);
}
