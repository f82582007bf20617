// Numbers as people read them.

#pragma once

#include <cstdint>
#include <string>

namespace mini {

/// 60000 as "60,000", -1234 as "-1,234".
std::string with_commas(int64_t number);

}  // namespace mini
