// Checkpoints of one training run: a folder of safetensors files, numbered by step.
//
//     run/checkpoint-00000400.safetensors
//         checkpoint-00000420.safetensors                the newest: latest() loads it
//         checkpoint-00000440.safetensors.tmp-417-0      in progress, or left by a crash
//
// A file is written completely or not at all (io::AtomicFile), and old checkpoints are
// removed only after the new checkpoint is on disk. So the newest or the previous
// checkpoint is readable, even if the process is killed at any time.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libmini/io/safetensors.hpp"

namespace mini::io {

/// The contents of a checkpoint, and the step after which it was saved.
struct Checkpoint {
    int64_t step = 0;
    Safetensors contents;
};

/// The checkpoints of a folder. REQUIRES: only one process at a time saves to the folder.
class CheckpointFolder {
  public:
    /// Creates the folder if it does not exist, and removes temporary files whose process
    /// does not exist on this host. Throws BadFile, with the reason, when the folder
    /// cannot be created or listed. Throws UsageError if keep_last is below 1.
    explicit CheckpointFolder(std::string folder, int keep_last = 3);

    /// Writes a checkpoint, replacing a checkpoint of the same step, and blocks until it
    /// is on disk. Then removes all checkpoints except the new checkpoint and the
    /// `keep_last` checkpoints with the highest steps. Throws UsageError if step is
    /// negative, BadFile if the checkpoint cannot be written; in both cases no checkpoint
    /// is removed.
    void save(int64_t step, const Safetensors& contents);

    /// Returns the steps of all checkpoints in ascending order, without loading them.
    std::vector<int64_t> list() const;

    /// Loads the checkpoint of one step. Throws BadFile when it is missing or damaged.
    Checkpoint load(int64_t step) const;

    /// Loads the checkpoint with the highest step; skips checkpoints that cannot be
    /// loaded, and logs a warning for each. Returns std::nullopt if the folder has no
    /// checkpoints. Throws BadFile if the folder has checkpoints but none can be loaded,
    /// so that a run does not silently restart from the beginning.
    std::optional<Checkpoint> latest() const;

    /// Returns the path of the checkpoint of a step; the file need not exist.
    std::string path(int64_t step) const;

  private:
    std::string folder_;
    int keep_last_;
};

}  // namespace mini::io
