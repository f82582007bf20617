// The options that several programs have in common.

#pragma once

#include <cstdint>
#include <string>

#include "libmini/program/command_line.hpp"

namespace mini::training {

/// Adds an option for a whole number from 1 on.
template <typename Integer>
Option add_count(CommandLine& line, const std::string& name, Integer& value,
                 const std::string& help) {
    return line.add(name, value, help).type_name("N").range(1, 1 << 30);
}

/// Adds --lr, --seed and --json.
void add_common(CommandLine& line, double& lr, uint64_t& seed, bool& json);

/// Adds --device: "cpu", "cuda" or "cuda:1", checked when the command line is read.
Option add_device(CommandLine& line, std::string& value);

/// Throws UsageError where the ranks cannot share out a batch equally, with a size that they can.
void check_batch_size(int64_t batch_size, int world_size);

/// Throws UsageError where `file`, the value of --save, cannot be written: it is a folder, or
/// lies in one that is not there. Nothing for "".
void check_save(const std::string& file);

}  // namespace mini::training
