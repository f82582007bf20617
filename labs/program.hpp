// What the labs' short programs share, so that each can be read for what it trains: their
// command line, their errors and exit codes, how their ranks meet, and what they compare.

#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/distributed/group/gather.hpp"
#include "libmini/distributed/launch/default_group.hpp"
#include "libmini/distributed/rendezvous/rank_variables.hpp"
#include "libmini/io/sha256.hpp"
#include "libmini/kernels/cuda/devices.hpp"
#include "libmini/nn/module.hpp"
#include "libmini/tensor/has_cuda.hpp"
#include "libmini/tools/command_line.hpp"

namespace program {

using mini::tools::CommandLine;
using mini::tools::Option;

/// Adds an option for a whole number from 1 on.
template <typename Integer>
Option add_count(CommandLine& line, const std::string& name, Integer& value,
                 const std::string& help) {
    return line.add(name, value, help).type_name("N").range(1, 1 << 30);
}

/// Adds an option for one of several words.
inline Option add_choice(CommandLine& line, const std::string& name, std::string& value,
                         const std::vector<std::string>& words, const std::string& help) {
    const std::string names = fmt::format("{}", fmt::join(words, "|"));
    return line.add(name, value, help).type_name(names).one_of(words);
}

/// Adds --lr, --seed and --json.
inline void add_common(CommandLine& line, double& lr, uint64_t& seed, bool& json) {
    const auto learning_rate = [](const std::string& text) -> std::string {
        char* end = nullptr;
        const double value = std::strtod(text.c_str(), &end);
        const bool number = !text.empty() && *end == '\0';
        if (number && std::isfinite(value) && value >= 0) return "";
        return "must be a number from 0 on, but is " + text;
    };
    line.add("--lr", lr, "learning rate of SGD").type_name("X").check(learning_rate);
    line.add("--seed", seed, "of initial weights and order").type_name("N");
    line.add_flag("--json", json, "print the results as one JSON object, on one line");
}

/// What a launcher says of this process; nothing when it was started without one.
inline std::optional<mini::dist::RankVariables> launcher() {
    return mini::dist::read_rank_variables(mini::dist::environment_variable);
}

/// Meets the other ranks; a process that no launcher started is the only one. Blocks.
inline std::shared_ptr<mini::dist::ProcessGroup> join_group() {
    mini::dist::InitOptions init;
    if (!launcher())
        init = {.init_method = "tcp://127.0.0.1:0", .rank = 0, .world_size = 1};
    return mini::dist::init_process_group(init);
}

/// "cpu", "cuda" or "cuda:1", checked when the command line is read.
inline Option add_device(CommandLine& line, std::string& value) {
    const auto is_there = [](const std::string& text) -> std::string {
        if (text.starts_with("cpu:")) return "the CPU has no numbers here; use cpu";
        try {
            mini::Device::parse(text);
            return "";
        } catch (const mini::UsageError& error) {
            return error.what();
        }
    };
    return line
        .add("--device", value,
             "where to compute; cuda gives each rank of a machine its own, in turn")
        .type_name("cpu|cuda|cuda:N")
        .check(is_there);
}

/// What `name` means to a rank: "cuda" is the GPU of its number on this machine, modulo how
/// many there are. REQUIRES: a name that add_device let pass.
inline mini::Device device_named(const std::string& name, int local_rank) {
    mini::Device device = mini::Device::parse(name);
    if (name == "cuda") device.index = local_rank % mini::cuda_device_count();
    return device;
}

/// The same for the calling rank. Makes a GPU the current device of this thread, so that no
/// other one is opened.
inline mini::Device device_of_rank(const std::string& name, int local_rank) {
    const mini::Device device = device_named(name, local_rank);
    if constexpr (mini::kHasCuda)
        if (device.is_cuda()) mini::cuda::set_device(device.index);
    return device;
}

/// The same for a rank that a launcher started: by its number on its machine or, where that is
/// not told, by its number at all. Nothing without a launcher. Known before there is a group,
/// whose threads would open another GPU.
inline std::optional<mini::Device> launched_device(const std::string& name) {
    const auto variables = launcher();
    if (!variables) return std::nullopt;
    const int local = variables->local_rank;
    return device_of_rank(name, local >= 0 ? local : variables->rank);
}

/// "cpu", or a GPU with its name: "cuda:1 (NVIDIA H100 PCIe)".
inline std::string describe_device(mini::Device device) {
    if constexpr (mini::kHasCuda)
        if (device.is_cuda())
            return mini::concat(device, " (", mini::cuda::device_name(device.index), ")");
    return mini::concat(device);
}

/// An error of which another rank tells: this one ends without a word.
class ToldElsewhere : public mini::Error {
  public:
    using Error::Error;
};

/// Calls `body` on every rank. When it throws on any, all throw: a rank that ended alone
/// would leave the others waiting. The first that failed tells why, and the others end
/// after it. Blocks until all ranks have come here.
inline void on_all_ranks(mini::dist::ProcessGroup& group,
                         const std::function<void()>& body) {
    std::exception_ptr failure;
    try {
        body();
    } catch (...) {
        failure = std::current_exception();
    }
    const auto failed =
        mini::dist::all_gather_values<uint8_t>(group, {failure != nullptr});
    for (size_t rank = 0; rank < failed.size(); ++rank) {
        if (failed[rank][0] == 0) continue;
        if (static_cast<int>(rank) == group.rank()) std::rethrow_exception(failure);
        try {
            group.barrier();
        } catch (const mini::PeerLost&) {
            // as expected: the rank that tells has told, and ended
        }
        throw ToldElsewhere(mini::concat("rank ", rank, " failed"));
    }
}

/// The SHA-256 of each rank's tensors: all the same, or the replicas have drifted apart.
/// Blocks until all ranks have come here.
inline std::vector<std::string> digests(mini::dist::ProcessGroup& group,
                                        const std::vector<mini::Tensor>& tensors) {
    mini::io::Sha256 sha256;
    for (const mini::Tensor& tensor : tensors) {
        const mini::Tensor copy = tensor.to(mini::Device::cpu());
        sha256.update({copy.raw_data(), copy.bytes()});
    }
    const std::string hex = sha256.finish_hex();
    const std::vector<uint8_t> mine(hex.begin(), hex.end());
    std::vector<std::string> all;
    for (const auto& digest : mini::dist::all_gather_values(group, mine))
        all.emplace_back(digest.begin(), digest.end());
    return all;
}

/// The same of a model's parameters.
inline std::vector<std::string> parameter_digests(mini::dist::ProcessGroup& group,
                                                  const mini::nn::Module& model) {
    return digests(group, model.parameters());
}

/// "equal to the bit on all ranks", or not.
inline std::string compare(const std::vector<std::string>& digests) {
    const bool equal = std::ranges::all_of(
        digests, [&](const std::string& digest) { return digest == digests[0]; });
    return equal ? "equal to the bit on all ranks" : "differ between ranks";
}

/// Runs the body of main, and returns its exit code: 0 done, 1 failed, 2 the options make
/// no sense. These are the same on all ranks, so the first one tells.
inline int run(const std::string& name, const std::function<void()>& body) {
    const auto tells_for_all = [] {
        try {
            const auto variables = launcher();
            return !variables || variables->rank == 0;
        } catch (const mini::UsageError&) {
            return true;  // what the launcher says makes no sense: let every rank tell
        }
    };
    try {
        body();
        return 0;
    } catch (const mini::UsageError& error) {
        if (tells_for_all()) std::cerr << name << ": " << error.what() << '\n';
        return 2;
    } catch (const ToldElsewhere&) {
        return 1;
    } catch (const std::exception& error) {
        std::cerr << name << ": " << error.what() << '\n';
        return 1;
    }
}

}  // namespace program
