// Runs the fuzz targets on their own seeds, in every build: each target reads its first
// seed, and slightly damaged seeds cause no fault. mini_fuzz searches for more inputs.

#include <algorithm>
#include <cstddef>
#include <exception>
#include <set>
#include <string>
#include <vector>

#include "libmini/core/log.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/support/catch.hpp"

using namespace mini;
using namespace mini::fuzz;

namespace {

// Runs a target. Returns "", or the text of an exception that is not an Error.
std::string fault_of(const Target& target, const std::string& bytes) {
    logging::set_level(logging::Level::kError);
    try {
        accepts(target, bytes_of(bytes));
        return "";
    } catch (const std::exception& fault) {
        return std::string(target.name) + ": " + fault.what();
    }
}

// Returns about `count` evenly spaced positions in a text.
std::vector<size_t> positions_in(const std::string& text, size_t count) {
    std::vector<size_t> positions;
    const size_t step = std::max(text.size() / count, size_t{1});
    for (size_t i = 0; i < text.size(); i += step) positions.push_back(i);
    return positions;
}

}  // namespace

TEST_CASE("every fuzz target has a unique name and reads its first seed") {
    std::set<std::string> names;
    for (const Target& target : all_targets()) {
        CAPTURE(target.name);
        CHECK(names.insert(target.name).second);
        REQUIRE(!target.seeds.empty());
        CHECK(accepts(target, bytes_of(target.seeds.front())));
    }
    CHECK(names.size() >= 21);
}

TEST_CASE(
    "fuzz targets have no fault on whole and repaired and empty and truncated seeds") {
    constexpr size_t kLengths = 24;
    for (const Target& target : all_targets()) {
        CHECK(fault_of(target, "") == "");
        for (std::string seed : target.seeds) {
            CHECK(fault_of(target, seed) == "");
            for (const size_t length : positions_in(seed, kLengths))
                CHECK(fault_of(target, seed.substr(0, length)) == "");
            if (target.repair == nullptr) continue;
            target.repair(seed);
            CHECK(fault_of(target, seed) == "");
        }
    }
}

TEST_CASE("repair leaves a seed readable") {
    for (const Target& target : all_targets()) {
        if (target.repair == nullptr) continue;
        CAPTURE(target.name);
        std::string seed = target.seeds.front();
        target.repair(seed);
        CHECK(accepts(target, bytes_of(seed)));
    }
}

TEST_CASE("fuzz targets have no fault on seeds with one changed byte") {
    constexpr size_t kChanges = 16;
    for (const Target& target : all_targets())
        for (const std::string& seed : target.seeds)
            for (const size_t position : positions_in(seed, kChanges)) {
                std::string damaged = seed;
                damaged[position] = static_cast<char>(damaged[position] ^ 0x81);
                CHECK(fault_of(target, damaged) == "");
            }
}
