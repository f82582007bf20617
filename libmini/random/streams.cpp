#include "libmini/random/streams.hpp"

#include <array>
#include <memory>
#include <utility>

namespace mini {
namespace {

constexpr size_t kStreams = 3;
constexpr int kNameShift = 30;  // seeds below 2^30 leave the upper two bits for the name

using Streams = std::array<Generator, kStreams>;
thread_local std::unique_ptr<Streams> separated;  // null while the streams are joined

// A bijective hash of 32 bits, which maps 0 to 0 (the last step of MurmurHash3).
uint32_t mix(uint32_t bits) {
    bits = (bits ^ bits >> 16) * 0x85ebca6bu;
    bits = (bits ^ bits >> 13) * 0xc2b2ae35u;
    return bits ^ bits >> 16;
}

uint32_t seed_of(uint64_t seed, uint32_t name) {
    const uint32_t folded = static_cast<uint32_t>(seed) ^ mix(seed >> 32);
    return mix(folded + (name << kNameShift));
}

}  // namespace

Generator& generator_of(Stream stream) {
    return separated ? (*separated)[static_cast<size_t>(stream)] : default_generator();
}

void separate_streams(uint64_t seed) {
    auto streams = std::make_unique<Streams>();
    for (uint32_t name = 0; name < kStreams; ++name) {
        Generator& generator = (*streams)[name];
        generator.manual_seed(seed_of(seed, name));
        generator.set_rounding(default_generator().rounding());
        generator.set_version(default_generator().version());
    }
    separated = std::move(streams);
}

void join_streams() { separated.reset(); }

}  // namespace mini
