// Formats numbers and lists for messages.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mini {

/// Formats 60000 as "60,000" and -1234 as "-1,234".
std::string with_commas(int64_t number);

/// Returns the words separated by commas: "a, b, c"; "" for an empty list.
std::string join(const std::vector<std::string>& words);

/// Formats a list of ranks: "rank 2", "ranks 0 and 3", "ranks 3, 1 and 0", "ranks 0 to
/// 6" for more than four consecutive ranks.
std::string rank_list(const std::vector<int>& ranks);

}  // namespace mini
