// What a checkpoint of train_mnist holds, beside model and optimizer, so that a run which
// goes on from it ends with the bits of one that was never interrupted.
//
//     tensors    model.conv1.weight ...
//                optimizer.state.0.momentum_buffer ...
//                generators (P, bytes)         each rank's random generators, now
//                epoch_generators (P, bytes)   the same when the epoch began
//                epoch_losses (P, position)    each rank's losses of the epoch so far
//                gradient_order                what DDP's buckets were made by
//     metadata   step, epoch, position, world_size
//                option.--batch-size ...       what must be the same when it goes on
//                optimizer.lr ..., scheduler.last_epoch ..., results.train_loss ...
//
// Ranks draw different dropout masks, so each has generators of its own. An epoch's order
// is drawn when it begins: to go on in its middle, a rank draws that order again from
// epoch_generators, passes over the steps taken, and then continues with generators.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "libmini/io/safetensors.hpp"
#include "libmini/training/options.hpp"
#include "libmini/training/results.hpp"

namespace mini::training {

/// How far a run has come: the steps taken in all, the epoch under way, counted from 0,
/// and the steps taken in that.
struct Place {
    int64_t step = 0;
    int64_t epoch = 0;
    int64_t position = 0;
};

/// All of a checkpoint but model and optimizer.
struct RunState {
    Place place;
    int64_t world_size = 1;
    std::map<std::string, std::string> recipe;
    std::map<std::string, double> scheduler;
    Results results;
    std::vector<int64_t> gradient_order;

    // One entry a rank; the last two only in the middle of an epoch.
    std::vector<std::vector<uint8_t>> generators;
    std::vector<std::vector<uint8_t>> epoch_generators;
    std::vector<std::vector<float>> epoch_losses;
};

/// Adds the state to what goes into a file.
void add_run_state(const RunState& state, io::Safetensors& file);

/// The state that add_run_state put there. Throws BadFile with the list of all that is
/// missing, unknown or of a different shape or type.
RunState run_state_in(const io::Safetensors& file);

/// The tensors of a file whose names begin with `prefix`, without it.
io::NamedTensors tensors_in(const io::Safetensors& file, const std::string& prefix);

/// The options that decide what is computed, by name. How it is computed may change on the
/// way: number of ranks, --sync and buckets, --zero, backend, threads, workers; then later
/// values are the same but for rounding, and with a different number of ranks dropout's
/// masks differ.
std::map<std::string, std::string> recipe_of(const Options& options,
                                             int64_t training_images, int64_t epochs);

/// Throws UsageError with all options that differ, with both values; `path` is where
/// `then` comes from.
void check_recipe(const std::string& path, const std::map<std::string, std::string>& then,
                  const std::map<std::string, std::string>& now);

/// This thread's generators, the default one and one a stream, as bytes.
std::vector<uint8_t> generator_states();

/// Goes on from there. Throws Error for other bytes.
void set_generator_states(const std::vector<uint8_t>& states);

}  // namespace mini::training
