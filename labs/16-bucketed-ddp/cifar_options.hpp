// The command line of cifar_resnet.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "libmini/distributed/rendezvous/rank_variables.hpp"

namespace cifar_resnet {

struct Options {
    std::string backend = "ring";
    bool launched = false;         // the environment says who this rank is
    int rank = 0, world_size = 1;  // the launcher's, where there is one
    int port = 23456;
    std::string data = "synthetic";
    int64_t samples = 512;  // synthetic training images; a quarter as many to test
    std::string model = "resnet18";
    std::string device = "cpu";
    int64_t epochs = 3;
    int64_t batch_size = 128;  // of all ranks together
    double lr = 0.01;
    uint64_t seed = 0;
    bool average_at_end = false;
    std::string save;
    bool json = false;
};

/// The options given, or nothing when the help was asked for and has been printed.
/// `launcher` is what the environment says of this rank. Throws UsageError, one line that
/// says what is wrong.
std::optional<Options> parse_options(
    int argc, char** argv, const std::optional<mini::dist::RankVariables>& launcher);

}  // namespace cifar_resnet
