// Options shared by several programs.

#pragma once

#include <cstdint>
#include <string>

#include "libmini/program/command_line.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::training {

/// Adds an option for an integer from 1 to 2^30.
template <typename Integer>
Option add_count(CommandLine& line, const std::string& name, Integer& value,
                 const std::string& help) {
    return line.add(name, value, help).type_name("N").range(1, 1 << 30);
}

/// Adds --lr, --seed and --json.
void add_common(CommandLine& line, double& lr, uint64_t& seed, bool& json);

/// Adds --device: "cpu", "cuda" or "cuda:1", checked when the command line is parsed.
Option add_device(CommandLine& line, std::string& value);

/// Adds --logdir: a folder for the run's record (observe_run of run_observer.hpp).
Option add_logdir(CommandLine& line, std::string& folder);

/// Throws UsageError if batch_size is not a multiple of world_size; the message suggests
/// a multiple.
void check_batch_size(int64_t batch_size, int world_size);

/// Throws BadFile if the disk has no space for a file with these tensors at `path`, or as
/// io::check_can_save does.
void check_space(const std::string& path, const NamedTensors& tensors);

/// Throws UsageError if no file can be saved at `file`, the value of --save: it is a
/// folder, a pipe or a device, or in a folder that does not exist or is read-only, its
/// name is too long, or the disk is full. Does nothing if `file` is "".
void check_save(const std::string& file);

}  // namespace mini::training
