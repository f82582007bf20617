// The output of `mini indices`: a table with one row per owner and one column per position,
// in lines of 80 columns, or JSON.
//
//     position 0  1  2  3
//     rank 0   5  2  9  4
//     rank 1   6  0  3  5*     * padding
//     rank 2   1  8  7  6*

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mini::tools {

/// The sample indices of one owner: a rank, a part of a partition, or a whole order.
struct Share {
    std::string owner;  // "rank 0", "part 1", "order"
    std::vector<int64_t> indices;
    int64_t padding_from = INT64_MAX;  // positions from here on are padding
};

/// The output of `mini indices`.
struct Shares {
    std::string title;  // describes the sampler and its arguments
    std::vector<Share> shares;
    bool one_list = false;  // JSON: one list of indices, not a list of lists
    std::string remark;     // one sentence below the table; may be empty
};

/// Returns the table; every line ends with a newline. Of many positions, the last ones are
/// only counted.
std::string shares_table(const Shares& shares);

/// Returns the shares as one JSON value on one line.
std::string shares_json(const Shares& shares);

}  // namespace mini::tools
