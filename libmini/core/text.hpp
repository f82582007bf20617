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

}  // namespace mini
