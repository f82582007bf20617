// mini indices: who gets which sample. Every order that libmini's samplers and
// partitioners make can be looked at without writing a program.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libmini/tools/command_line.hpp"

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

/// Declares `indices` and its subcommands in `mini`; the one chosen prints to stdout when
/// the command line has been parsed. Throws UsageError for values that make no sense.
void add_indices(Command& mini);

}  // namespace mini::tools
