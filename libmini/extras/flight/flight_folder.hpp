// What the boxes in a folder say about a rank that has ended (rank_records.hpp).

#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace mini::tools {

/// The functions of dist::RankRecords.
std::string last_operation(const std::string& folder, const std::string& run, int rank,
                           int64_t ended_at);
std::optional<int> blamed_by(const std::string& folder, const std::string& run, int rank);
bool note_ends(const std::string& folder, const std::string& run);

}  // namespace mini::tools
