// The command line of minirun, torchrun's with its own additions:
//
//     minirun -n 2 --grace 3 train_mnist --epochs 3
//             |________________________| |_________|
//              minirun's own options      the program's, passed on untouched
//
// The first word that is no option of minirun is the program; "--" may stand before it.
// Names may be written with underscores, as torchrun allows.

#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "libmini/tools/minirun/option_values.hpp"

namespace mini::tools {

struct Options {
    int ranks = 1;  // on this node
    int nodes = 1;
    int node_rank = 0;
    std::string master_addr = "127.0.0.1";
    int master_port = 0;  // 0: any free port
    std::string rdzv_id;
    std::string role = "default";
    int max_restarts = 0;

    std::string log_dir;                       // "": a new folder, if any is needed
    StreamChoice redirects;                    // into files only
    StreamChoice tee;                          // into files and onto the screen
    std::optional<std::set<int>> shown_ranks;  // local ones; all unless given
    std::string flight_dir;                    // "": one of our own
    bool prefix = true;
    std::chrono::milliseconds grace = std::chrono::seconds(1);
    bool dry_run = false;
    std::vector<std::string> command;  // the program, then its arguments

    /// --help was given; this is the text to print.
    std::string help;

    int world_size() const { return ranks * nodes; }
};

/// Reads the command line. Throws UsageError, one line, for what makes no sense.
Options parse_options(int argc, const char* const* argv);

}  // namespace mini::tools
