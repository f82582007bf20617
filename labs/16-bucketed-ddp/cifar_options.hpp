// The command line of cifar_resnet.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libmini/distributed/rendezvous/rank_variables.hpp"

namespace cifar_resnet {

struct Options {
    std::string backend = "ring";
    bool launched = false;         // the launcher's variables give rank and world_size
    int rank = 0, world_size = 1;  // set by the launcher if present
    int port = 23456;
    std::string data = "synthetic";
    int64_t samples = 512;  // synthetic training images; a quarter as many test images
    std::string model = "resnet18";
    std::string device = "cpu";
    int64_t epochs = 3;
    int64_t batch_size = 128;  // of all ranks together
    double lr = 0.01;
    uint64_t seed = 0;
    bool average_at_end = false;
    bool zero = false;
    std::string save;
    std::string logdir;
    bool json = false;
    std::vector<std::pair<std::string, std::string>> values;  // of all options
};

/// Returns the parsed options, or std::nullopt after printing the help. `launcher` has
/// the launcher's variables of this rank, if set. Throws UsageError with a one-line
/// message if an option is invalid.
std::optional<Options> parse_options(
    int argc, char** argv, const std::optional<mini::dist::RankVariables>& launcher);

}  // namespace cifar_resnet
