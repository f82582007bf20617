// Checkpoints of one training run: a folder of safetensors files, numbered by step.
//
//     run/checkpoint-00000400.safetensors
//         checkpoint-00000420.safetensors                the newest: latest() loads it
//         checkpoint-00000440.safetensors.tmp-417-0      being written, or left by a crash
//
// A file appears whole or not at all (io::AtomicFile), and old ones go only after the new
// one is on the disk. So a process killed at any instant leaves the newest checkpoint, or
// the one before it, readable.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libmini/io/safetensors.hpp"

namespace mini::io {

/// What was saved, and after which step.
struct Checkpoint {
    int64_t step = 0;
    Safetensors contents;
};

/// The checkpoints of a folder. One process at a time saves into it.
class CheckpointFolder {
  public:
    /// Makes the folder where there is none, and removes temporary files of this host's
    /// processes that are gone. Throws BadFile, with the reason, when that fails;
    /// UsageError unless keep_last is 1 or more.
    explicit CheckpointFolder(std::string folder, int keep_last = 3);

    /// Writes a checkpoint, in place of one of the same step, then removes all but it and
    /// the `keep_last` of the highest steps; blocks until it is on the disk. Throws
    /// UsageError for a negative step, BadFile when it cannot be written: all others are
    /// still there then.
    void save(int64_t step, const Safetensors& contents);

    /// The steps of all checkpoints, in rising order; whether they load is not tried.
    std::vector<int64_t> list() const;

    /// The checkpoint of one step. Throws BadFile when it is missing or damaged.
    Checkpoint load(int64_t step) const;

    /// The one of the highest step that loads; each that does not is passed over with a
    /// warning. None in a folder without checkpoints. Throws BadFile when there are some
    /// and none loads, so that a run does not silently start from the beginning.
    std::optional<Checkpoint> latest() const;

    /// Where the checkpoint of a step lies, or would.
    std::string path(int64_t step) const;

  private:
    void remove_old(int64_t just_saved) const;

    std::string folder_;
    int keep_last_;
};

}  // namespace mini::io
