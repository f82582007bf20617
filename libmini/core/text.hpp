// Numbers and lists as people read them.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mini {

/// 60000 as "60,000", -1234 as "-1,234".
std::string with_commas(int64_t number);

/// "a, b, c"; "" for none.
std::string join(const std::vector<std::string>& words);

/// "rank 2", "ranks 0 and 3", "ranks 0, 1 and 3", "ranks 0 to 6". REQUIRES: in order.
std::string rank_list(const std::vector<int>& ranks);

}  // namespace mini
