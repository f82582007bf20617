// Tables on a terminal.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace mini {

/// Returns the rows line by line, with columns as wide as their longest cell and `gap`
/// spaces between them. The first `left` columns are aligned to the left, the others to
/// the right. Rows may have different numbers of cells.
std::string aligned(const std::vector<std::vector<std::string>>& rows, size_t left = 1,
                    size_t gap = 2);

}  // namespace mini
