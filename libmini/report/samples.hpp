// Who saw which sample of the training data in an epoch, as a picture with one pixel a
// sample, row by row.

#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace mini::report {

/// How often a rank has trained on each sample; by rank, then by sample.
using SampleCounts = std::vector<std::vector<uint8_t>>;

/// Returns the colour of a rank in the picture; colours repeat after eight ranks.
std::array<uint8_t, 3> rank_colour(size_t rank);

constexpr std::array<uint8_t, 3> kRepeatedColour{214, 40, 40};  ///< seen more than once
constexpr std::array<uint8_t, 3> kUnseenColour{170, 170, 170};  ///< seen by no rank

/// Returns the picture as a PNG file; "" without samples.
std::string samples_png(const SampleCounts& counts);

/// Returns {"size", "repeated", "unseen", "ranks": [samples of each rank]}.
nlohmann::ordered_json samples_json(const SampleCounts& counts);

}  // namespace mini::report
