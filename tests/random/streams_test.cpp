// Tests the named streams: one generator for each use of random numbers.

#include "libmini/random/streams.hpp"

#include <set>
#include <thread>
#include <vector>

#include "tests/support/catch.hpp"

using namespace mini;

namespace {

constexpr Stream kAll[] = {Stream::kInitialisation, Stream::kDataOrder, Stream::kDropout};

// At the end of a test, joins the streams and resets the default generator.
struct Restore {
    ~Restore() {
        join_streams();
        default_generator() = Generator();
    }
};

std::vector<uint32_t> words_of(Stream stream, int n) {
    std::vector<uint32_t> words;
    for (int i = 0; i < n; ++i) words.push_back(generator_of(stream).random());
    return words;
}

// Returns the 32-bit seed of the stream's generator.
uint32_t start_of(Stream stream) {
    return static_cast<uint32_t>(generator_of(stream).initial_seed());
}

}  // namespace

TEST_CASE("every stream is the default generator before separate_streams") {
    const Restore restore;
    for (const Stream stream : kAll) CHECK(&generator_of(stream) == &default_generator());

    manual_seed(1234);
    CHECK(words_of(Stream::kDropout, 1)[0] == 822569775u);
    CHECK(words_of(Stream::kDataOrder, 1)[0] == 2137449171u);
    CHECK(words_of(Stream::kInitialisation, 1)[0] == 2671936806u);
}

TEST_CASE(
    "draws from a separate stream do not change other streams or the default generator") {
    const Restore restore;
    const Stream busy =
        GENERATE(Stream::kInitialisation, Stream::kDataOrder, Stream::kDropout);
    separate_streams(7);
    std::vector<std::vector<uint32_t>> undisturbed;
    for (const Stream stream : kAll) undisturbed.push_back(words_of(stream, 5));

    manual_seed(0);
    separate_streams(7);
    words_of(busy, 1000);
    for (const Stream stream : kAll) {
        if (stream == busy) continue;
        CHECK(words_of(stream, 5) == undisturbed[static_cast<size_t>(stream)]);
    }
    CHECK(default_generator().random() == 2357136044u);
}

TEST_CASE("separate streams of seeds below 2^30 have different 32-bit seeds", "[large]") {
    const Restore restore;
    std::set<uint32_t> starts;
    uint64_t count = 0;
    const uint64_t top = (uint64_t{1} << 30) - 1;
    for (uint64_t seed = 0; seed < 2000; ++seed)
        for (const uint64_t each : {seed, top - seed, (uint64_t{1} << 29) + seed}) {
            separate_streams(each);
            for (const Stream stream : kAll) starts.insert(start_of(stream)), ++count;
        }
    CHECK(starts.size() == count);
}

TEST_CASE("the upper 32 bits of the seed change the separate streams") {
    const Restore restore;
    separate_streams(5);
    const auto small = words_of(Stream::kDataOrder, 3);
    separate_streams(5 + (uint64_t{1} << 32));
    CHECK(words_of(Stream::kDataOrder, 3) != small);
}

TEST_CASE("separate streams have the rounding and version of the default generator") {
    const Restore restore;
    default_generator().set_rounding(Rounding::kFused);
    default_generator().set_version({1, 13});
    separate_streams(1);
    CHECK(generator_of(Stream::kDropout).rounding() == Rounding::kFused);
    CHECK(generator_of(Stream::kDataOrder).version() == TorchVersion{1, 13});
}

TEST_CASE("every stream is the default generator after join_streams") {
    const Restore restore;
    separate_streams(1);
    for (const Stream stream : kAll) CHECK(&generator_of(stream) != &default_generator());
    join_streams();
    for (const Stream stream : kAll) CHECK(&generator_of(stream) == &default_generator());
}

TEST_CASE("separate_streams affects the calling thread only") {
    const Restore restore;
    separate_streams(3);
    bool joined_elsewhere = false;
    std::vector<uint32_t> words_elsewhere;
    std::thread([&] {
        joined_elsewhere = &generator_of(Stream::kDropout) == &default_generator();
        separate_streams(3);
        words_elsewhere = words_of(Stream::kDropout, 4);
    }).join();
    CHECK(joined_elsewhere);
    CHECK(words_elsewhere == words_of(Stream::kDropout, 4));
}
