// What the fuzz targets do with their own seeds, in every build: the seeds are good, and no
// target is broken by a slightly damaged one. labs/lab fuzz looks further.

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

// What a target throws that is no Error; "" for nothing.
std::string fault_of(const Target& target, const std::string& bytes) {
    logging::set_level(logging::Level::kError);
    try {
        accepts(target, bytes_of(bytes));
        return "";
    } catch (const std::exception& fault) {
        return std::string(target.name) + ": " + fault.what();
    }
}

// About `count` places in a text, spread evenly.
std::vector<size_t> places_in(const std::string& text, size_t count) {
    std::vector<size_t> places;
    const size_t step = std::max(text.size() / count, size_t{1});
    for (size_t place = 0; place < text.size(); place += step) places.push_back(place);
    return places;
}

}  // namespace

TEST_CASE("every fuzz target has a name of its own, and reads its first seed") {
    std::set<std::string> names;
    for (const Target& target : all_targets()) {
        CAPTURE(target.name);
        CHECK(names.insert(target.name).second);
        REQUIRE(!target.seeds().empty());
        CHECK(accepts(target, bytes_of(target.seeds().front())));
    }
    CHECK(names.size() >= 21);
}

TEST_CASE("fuzz targets take seeds that are whole, repaired, empty or cut short") {
    constexpr size_t kLengths = 24;
    for (const Target& target : all_targets()) {
        CHECK(fault_of(target, "") == "");
        for (std::string seed : target.seeds()) {
            CHECK(fault_of(target, seed) == "");
            for (const size_t length : places_in(seed, kLengths))
                CHECK(fault_of(target, seed.substr(0, length)) == "");
            if (target.repair == nullptr) continue;
            target.repair(seed);
            CHECK(fault_of(target, seed) == "");
        }
    }
}

TEST_CASE("a seed's repair leaves the seed readable") {
    for (const Target& target : all_targets()) {
        if (target.repair == nullptr) continue;
        CAPTURE(target.name);
        std::string seed = target.seeds().front();
        target.repair(seed);
        CHECK(accepts(target, bytes_of(seed)));
    }
}

TEST_CASE("fuzz targets take seeds in which a byte was changed") {
    constexpr size_t kChanges = 16;
    for (const Target& target : all_targets())
        for (const std::string& seed : target.seeds())
            for (const size_t place : places_in(seed, kChanges)) {
                std::string damaged = seed;
                damaged[place] = static_cast<char>(damaged[place] ^ 0x81);
                CHECK(fault_of(target, damaged) == "");
            }
}
