// The option --sizes of mini bench and of lab 20's simulate.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace mini {

/// Parses a comma-separated list of sizes and ranges; returns sizes in bytes, rounded
/// down to whole floats (at least one float). "4:100M" is 4 bytes, 16 bytes, ..., each
/// four times the previous size, and finally 100 MiB; "1M" is one size; "4,87360" are two
/// sizes. Throws UsageError for invalid text.
std::vector<size_t> parse_sizes(const std::string& text);

}  // namespace mini
