#include "libmini/training/run_checkpoints.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/distributed/group/gather.hpp"
#include "libmini/optim/optimizer_state.hpp"
#include "libmini/parallel/zero.hpp"
#include "libmini/random/random.hpp"
#include "libmini/training/common_options.hpp"
#include "libmini/training/parts.hpp"
#include "libmini/training/program.hpp"

namespace mini::training {

namespace {

// Restores the generators of this rank. In the middle of an epoch, the trainer first starts
// the loader's epoch again, with the generators at the start of the epoch; then it restores
// `progress.resumed_generators`.
void restore_generators(const RunState& state, size_t rank, RankProgress& progress) {
    // [lab17.5] Choose the state for the start of an epoch or for its middle.
    const bool midway = state.position.step_in_epoch > 0;
    default_generator().set_state(
        (midway ? state.epoch_generators : state.generators)[rank]);
    if (midway) progress.resumed_generators = state.generators[rank];
    // [lab17.5]
}

}  // namespace

RunCheckpoints::RunCheckpoints(const Options& options,
                               std::map<std::string, std::string> recipe,
                               const RunLength& length, const CheckpointedParts& parts,
                               std::shared_ptr<dist::ProcessGroup> group)
    : options_(options),
      recipe_(std::move(recipe)),
      length_(length),
      parts_(parts),
      group_(std::move(group)) {}

std::optional<std::string> RunCheckpoints::resume(RankProgress& progress) {
    if (options_.checkpoint.empty()) return std::nullopt;
    const std::optional<io::Checkpoint> found = newest();
    if (!found) return std::nullopt;

    const std::string path = folder_->path(found->step);
    RunState state;
    on_all_ranks(*group_, [&] { state = load(path, found->contents); });
    check_recipe(path, state.recipe, recipe_);
    if (length_.is_beyond_end(state.position))
        throw UsageError(path, " is at step ", state.position.step, ", in epoch ",
                         state.position.epoch + 1,
                         ", beyond the end that --epochs and --steps define; "
                         "increase them, or start again with --fresh");
    continue_from(state, progress);
    return path;
}

// Returns the newest checkpoint, which rank 0 chooses for all ranks.
std::optional<io::Checkpoint> RunCheckpoints::newest() {
    std::optional<io::Checkpoint> found;  // on rank 0
    on_all_ranks(*group_, [&] {
        folder_.emplace(options_.checkpoint, options_.keep);
        if (group_->rank() != 0) return;
        check_space(folder_->path(0), parts_.model.state_dict());
        // A restarted job keeps its checkpoints: --fresh was applied at the first start.
        if (options_.fresh && !is_restart())
            for (const int64_t step : folder_->list())
                std::filesystem::remove(folder_->path(step));
        found = folder_->latest();
    });
    // [lab17.5] Send rank 0's step to all ranks; the others load the same checkpoint.
    const std::vector<int64_t> mine{found ? found->step : -1};
    const int64_t step = dist::all_gather_values(*group_, mine)[0][0];
    if (step == -1) return std::nullopt;
    on_all_ranks(*group_, [&] {
        if (!found) found = folder_->load(step);
    });
    return found;
    // [lab17.5]
}

// Loads the state of the run, the model, the scheduler and the optimizer. If the options
// differ, loads only the state of the run, because the caller then reports the options as
// the cause. Throws BadFile with the first fault, on one line.
RunState RunCheckpoints::load(const std::string& path, const io::Safetensors& file) {
    try {
        RunState state = read_run_state(file);
        if (state.recipe != recipe_) return state;
        parts_.model.load_state_dict(tensors_in(file, "model."));
        if (parts_.scheduler != nullptr)
            parts_.scheduler->load_state_dict(state.scheduler);
        load_optimizer(file);
        if (parts_.ddp != nullptr && !state.gradient_order.empty())
            parts_.ddp->set_gradient_order(state.gradient_order);
        return state;
    } catch (const Error& error) {
        std::string fault = error.what();
        std::ranges::replace(fault, '\n', ' ');
        throw BadFile(path, ": does not fit this run: ", fault);
    }
}

void RunCheckpoints::load_optimizer(const io::Safetensors& file) {
    const optim::OptimizerState state = optim::read_state(file, "optimizer.");
    // With --zero, each rank checks only its own part. So first let an unsharded
    // optimizer check the whole state.
    if (options_.zero)
        make_plain_optimizer(options_, parts_.model.parameters())->load_state_dict(state);
    parts_.optimizer.load_state_dict(state);
}

void RunCheckpoints::continue_from(const RunState& state, RankProgress& progress) const {
    progress.position = state.position;
    progress.results = state.results;
    progress.results.resumed_at_step = state.position.step;
    const auto rank = static_cast<size_t>(group_->rank());
    if (state.world_size == group_->world_size()) {
        restore_generators(state, rank, progress);
        if (state.position.step_in_epoch > 0)
            progress.epoch_losses = state.epoch_losses[rank];
        return;
    }

    // If the number of ranks differs, generators keep the state from their seed, an epoch
    // may have more or fewer steps, and each rank stores the mean of the losses.
    progress.position.step_in_epoch =
        std::min(state.position.step_in_epoch, length_.steps_per_epoch);
    progress.epoch_losses.assign(static_cast<size_t>(progress.position.step_in_epoch),
                                 0.0f);
    for (const std::vector<float>& losses : state.epoch_losses)
        for (size_t i = 0; i < progress.epoch_losses.size(); ++i)
            progress.epoch_losses[i] += losses[i] / static_cast<float>(state.world_size);
}

bool RunCheckpoints::is_due_after_step(const RunPosition& position) const {
    if (!folder_) return false;
    const bool ends_midway = position.step == length_.last_step &&
                             position.step_in_epoch < length_.steps_per_epoch;
    return ends_midway || (options_.every > 0 && position.step % options_.every == 0);
}

bool RunCheckpoints::is_due_after_epoch(const RunPosition& position) const {
    return folder_ && (options_.every == 0 || length_.is_done(position));
}

void RunCheckpoints::save(const RankProgress& progress) {
    if (auto* const zero =
            dynamic_cast<parallel::ZeroRedundancyOptimizer*>(&parts_.optimizer))
        zero->consolidate_state_dict();
    const RunState state = run_state(progress);
    on_all_ranks(*group_, [&] {
        if (group_->rank() != 0) return;
        io::Safetensors file;
        for (const auto& [name, tensor] : parts_.model.state_dict())
            file.tensors.emplace_back("model." + name, tensor);
        optim::write_state(parts_.optimizer.state_dict(), "optimizer.", file);
        add_run_state(state, file);
        folder_->save(progress.position.step, file);
    });
}

// Returns the state of all ranks. Blocks until all ranks have called it.
RunState RunCheckpoints::run_state(const RankProgress& progress) const {
    RunState state;
    state.position = progress.position;
    state.world_size = group_->world_size();
    state.recipe = recipe_;
    state.results = progress.results;
    if (parts_.scheduler != nullptr) state.scheduler = parts_.scheduler->state_dict();
    if (parts_.ddp != nullptr) state.gradient_order = parts_.ddp->gradient_order();
    state.generators = dist::all_gather_values(*group_, default_generator().get_state());
    if (progress.position.step_in_epoch == 0) return state;
    state.epoch_generators = dist::all_gather_values(*group_, progress.epoch_generators);
    state.epoch_losses = dist::all_gather_values(*group_, progress.epoch_losses);
    return state;
}

}  // namespace mini::training
