// The table of `mini indices`: one row an owner, one column a position, wrapped to the
// screen's width.
//
//     position   0  1  2  3
//     rank 0     5  2  9  4
//     rank 1     6  0  3  5*     * padding
//     rank 2     1  8  7  6*

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mini::tools {

/// One owner's samples: a rank's, a part's, or the whole order's.
struct Share {
    std::string owner;  // "rank 0", "part 1", "order"
    std::vector<int64_t> indices;
    int64_t padding_from = INT64_MAX;  // positions from here on repeat others' samples
};

/// What `mini indices` shows.
struct Shares {
    std::string title;  // the question, in words
    std::vector<Share> shares;
    bool one_list = false;  // JSON: a list of indices, not a list of such lists
    std::string remark;     // one sentence below the table; may be empty
};

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
