// The table of `mini indices`: one row an owner, one column a position, wrapped to the
// screen's width.
//
//     position   0  1  2  3
//     rank 0     5  2  9  4
//     rank 1     6  0  3  5*     * padding
//     rank 2     1  8  7  6*

#pragma once

#include <string>

#include "libmini/tools/mini/indices.hpp"

namespace mini::tools {

struct TableOptions {
    bool colour = false;
    int width = 80;       // columns of the screen
    int max_blocks = 12;  // of wrapped rows; what does not fit is counted, not shown
};

/// The table as text, each line ended.
std::string shares_table(const Shares& shares, const TableOptions& options);

/// The shares as one JSON value on one line.
std::string shares_json(const Shares& shares);

}  // namespace mini::tools
