// The command line of minirun:
//
//     minirun -n 2 --grace 3 train_mnist --epochs 3
//             |________________________| |_________|
//              minirun's own options      the program's, passed on untouched
//
// The first word that is no option of minirun is the program; "--" may stand before it.

#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace mini::tools {

/// The most ranks that one minirun starts.
constexpr int kMaxRanks = 256;

struct Options {
    int ranks = 1;
    std::string master_addr = "127.0.0.1";
    int master_port = 0;  // 0: any free port
    bool prefix = true;
    std::chrono::milliseconds grace = std::chrono::seconds(1);
    std::vector<std::string> command;  // the program, then its arguments

    /// --help was given; this is the text to print.
    std::string help;
};

/// Reads the command line. Throws UsageError, one line, for what makes no sense.
Options parse_options(int argc, const char* const* argv);

}  // namespace mini::tools
