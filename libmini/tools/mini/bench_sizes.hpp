// The sizes of mini bench allreduce.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace mini::tools {

/// "4:100M" are 4 bytes and four times as much each, up to and with 100 MiB; "1M" is one
/// size; "4,87360" are two. Throws UsageError for anything else.
std::vector<size_t> parse_sizes(const std::string& text);

}  // namespace mini::tools
