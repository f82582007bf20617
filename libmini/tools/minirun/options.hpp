// The command line of minirun: torchrun's options, and options that only minirun has.
//
//     minirun -n 2 --grace 3 train_mnist --epochs 3
//             |____________| |____________________|
//                options     the program and its arguments, passed on unchanged
//
// The first word that is neither an option of minirun nor the value of an option is the
// program; "--" may precede the program. Option names may be written with underscores, as
// in torchrun. As Kubeflow sets them, PET_NNODES in the environment is the default of
// --nnodes, and PET_STANDALONE=1 means --standalone. A variable is skipped if it is empty,
// or if a given option makes it meaningless: --rdzv-endpoint replaces PET_MASTER_ADDR.

#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace mini::tools {

struct Options {
    int ranks = 1;  // on this node
    int nodes = 1;
    int node_rank = 0;
    std::string master_addr = "127.0.0.1";
    int master_port = 0;  // 0: any free port
    std::string rdzv_id;
    int max_restarts = 0;

    std::string log_dir;     // "": no logs
    std::string flight_dir;  // "": a private folder
    bool prefix = true;
    std::string bind_to = "none";  // or "core"
    std::chrono::milliseconds grace = std::chrono::seconds(1);
    std::vector<std::string> command;  // the program, then its arguments
    std::vector<std::string> notes;    // what the user should know about the options

    int world_size() const { return ranks * nodes; }
};

/// Parses the command line, and the PET_ variables for options that it lacks. If --help was
/// given, prints the help and returns std::nullopt. Throws UsageError (one line) if it is
/// invalid.
std::optional<Options> parse_options(int argc, const char* const* argv);

/// Returns the number of NVIDIA GPUs that a program can use, without a library of CUDA: the
/// devices nvidia0, nvidia1, ... in the folder `devices`. If CUDA_VISIBLE_DEVICES is set and there is a
/// device, returns the number of its entries before an empty entry or "-1".
int count_gpus(const std::string& devices = "/dev");

}  // namespace mini::tools
