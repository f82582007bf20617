#include "libmini/report/samples.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "libmini/report/png.hpp"

namespace mini::report {
namespace {

using Colour = std::array<uint8_t, 3>;

constexpr size_t kNobody = ~size_t{0};

// How often all ranks together have seen a sample, and the last rank that has.
struct Sight {
    int64_t count = 0;
    size_t rank = kNobody;
};

std::vector<Sight> sights_of(const SampleCounts& counts) {
    std::vector<Sight> sights(counts.empty() ? 0 : counts.front().size());
    for (size_t rank = 0; rank < counts.size(); ++rank)
        for (size_t i = 0; i < sights.size(); ++i)
            if (counts[rank][i] > 0)
                sights[i] = {sights[i].count + counts[rank][i], rank};
    return sights;
}

Colour colour_of(const Sight& sight) {
    if (sight.count == 0) return kUnseenColour;
    return sight.count > 1 ? kRepeatedColour : rank_colour(sight.rank);
}

}  // namespace

Colour rank_colour(size_t rank) {
    constexpr std::array<Colour, 8> kColours{{{0, 114, 178},
                                              {230, 159, 0},
                                              {0, 158, 115},
                                              {204, 121, 167},
                                              {86, 180, 233},
                                              {240, 228, 66},
                                              {110, 80, 180},
                                              {120, 90, 60}}};
    return kColours[rank % kColours.size()];
}

std::string samples_png(const SampleCounts& counts) {
    const std::vector<Sight> sights = sights_of(counts);
    if (sights.empty()) return "";
    // Three times as wide as high; the pixels behind the last sample look unseen.
    const auto width = static_cast<size_t>(
        std::ceil(std::sqrt(3.0 * static_cast<double>(sights.size()))));
    const size_t height = (sights.size() + width - 1) / width;
    std::vector<uint8_t> pixels;
    for (size_t i = 0; i < width * height; ++i) {
        const Colour colour = colour_of(i < sights.size() ? sights[i] : Sight{});
        pixels.insert(pixels.end(), colour.begin(), colour.end());
    }
    return png_of({.width = static_cast<int64_t>(width),
                   .height = static_cast<int64_t>(height),
                   .channels = 3},
                  pixels);
}

nlohmann::ordered_json samples_json(const SampleCounts& counts) {
    const std::vector<Sight> sights = sights_of(counts);
    std::vector<int64_t> ranks;
    for (const auto& of_rank : counts) {
        int64_t samples = 0;
        for (const uint8_t count : of_rank) samples += count;
        ranks.push_back(samples);
    }
    return {{"size", sights.size()},
            {"repeated", std::ranges::count_if(
                             sights, [](const Sight& each) { return each.count > 1; })},
            {"unseen", std::ranges::count(sights, 0, &Sight::count)},
            {"ranks", ranks}};
}

}  // namespace mini::report
