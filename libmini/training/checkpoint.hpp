// The contents of a train_mnist checkpoint. The results of a run that resumes from a
// checkpoint are bitwise identical to the results of an uninterrupted run.
//
//     tensors    model.conv1.weight ...
//                optimizer.state.0.momentum_buffer ...
//                generators (P, bytes)         each rank's random generator
//                epoch_generators (P, bytes)   the generators at the epoch's start
//                epoch_losses (P, position)    each rank's losses of the epoch so far
//                gradient_order                the gradients' order in DDP's buckets
//     metadata   step, epoch, position, world_size
//                option.--batch-size ...       must be equal when the run resumes
//                optimizer.lr ..., scheduler.last_epoch ..., results.train_loss ...
//
// Ranks draw different dropout masks, so each rank has its own generators. An epoch's sample
// order follows from seed and epoch. To resume in the middle of an epoch, a rank starts it
// again, with epoch_generators: the loader draws its base seed from them and, with
// --partition tutorial, the order. Then it skips the steps taken, and uses `generators`.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "libmini/io/safetensors.hpp"
#include "libmini/training/options.hpp"
#include "libmini/training/run_progress.hpp"

namespace mini::training {

/// The contents of a checkpoint, without model and optimizer.
struct RunState {
    RunPosition position;
    int64_t world_size = 1;
    std::map<std::string, std::string> recipe;
    std::map<std::string, double> scheduler;
    Results results;
    std::vector<int64_t> gradient_order;

    // One entry per rank; the last two vectors are empty between two epochs.
    std::vector<std::vector<uint8_t>> generators;
    std::vector<std::vector<uint8_t>> epoch_generators;
    std::vector<std::vector<float>> epoch_losses;
};

/// Adds `state` to the contents of a file.
void add_run_state(const RunState& state, io::Safetensors& file);

/// Returns the state that add_run_state wrote. Throws BadFile with the name of the first
/// entry that is missing, unknown, or of a different shape or type.
RunState read_run_state(const io::Safetensors& file);

/// Returns the tensors of a file whose names begin with `prefix`, with the prefix
/// removed.
io::NamedTensors tensors_in(const io::Safetensors& file, const std::string& prefix);

/// Returns the options that determine the result of the training, by name. Others may change
/// when a run resumes: number of ranks, --sync and buckets, --zero, backend, threads, workers.
/// The later values then differ only by rounding; with another number of ranks, the dropout
/// masks differ too, and so do the batches of --partition tutorial.
std::map<std::string, std::string> recipe_of(const Options& options,
                                             int64_t training_images, int64_t epochs);

/// Throws UsageError if options differ. The message names `path`, the checkpoint with the
/// options `saved`, and lists all options that differ, with both values.
void check_recipe(const std::string& path,
                  const std::map<std::string, std::string>& saved,
                  const std::map<std::string, std::string>& current);

}  // namespace mini::training
