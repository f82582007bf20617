// Saving and resuming of a Trainer: rank 0 writes checkpoints, all ranks read them.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/distributed/group/gather.hpp"
#include "libmini/distributed/rendezvous/rank_variables.hpp"
#include "libmini/optim/optimizer_state.hpp"
#include "libmini/training/optimizers.hpp"
#include "libmini/training/program.hpp"
#include "libmini/training/trainer.hpp"

namespace mini::training {

namespace {

// Whether minirun or torchrun has restarted this job after a failure: then --fresh has
// already been applied, and checkpoints saved since must be kept.
bool is_restart() {
    const auto count =
        dist::environment_variable("TORCHELASTIC_RESTART_COUNT").value_or("0");
    return count != "0";
}

void remove_all(const io::CheckpointFolder& folder) {
    for (const int64_t step : folder.list()) std::filesystem::remove(folder.path(step));
}

// Calls `body` and appends the message of its Error, on one line, to `report`.
template <typename Body>
void collect_error(std::string& report, const Body& body) {
    try {
        body();
    } catch (const Error& error) {
        std::string text = error.what();
        std::ranges::replace(text, '\n', ' ');
        report += concat(report.empty() ? "" : "; ", text);
    }
}

}  // namespace

std::optional<std::string> Trainer::resume() {
    if (options_.checkpoint.empty()) return std::nullopt;
    const std::optional<io::Checkpoint> found = newest_checkpoint();
    if (!found) return std::nullopt;

    const std::string path = checkpoints_->path(found->step);
    RunState state;
    on_all_ranks(*group_, [&] { state = load(path, found->contents); });
    check_recipe(path, state.recipe, recipe());
    check_place(path, state.place);
    continue_from(state);
    return path;
}

// Returns the same checkpoint on all ranks: rank 0 chooses it.
std::optional<io::Checkpoint> Trainer::newest_checkpoint() {
    std::optional<io::Checkpoint> found;
    on_all_ranks(*group_, [&] {
        checkpoints_.emplace(options_.checkpoint, options_.keep);
        if (group_->rank() != 0) return;
        if (options_.fresh && !is_restart()) remove_all(*checkpoints_);
        found = checkpoints_->latest();
    });
    const std::vector<int64_t> mine{found ? found->step : -1};
    const int64_t step = dist::all_gather_values(*group_, mine)[0][0];
    if (step == -1) return std::nullopt;
    on_all_ranks(*group_, [&] {
        if (!found) found = checkpoints_->load(step);
    });
    return found;
}

std::map<std::string, std::string> Trainer::recipe() const {
    return recipe_of(options_, data_.train->size(), epochs_);
}

// Loads model, scheduler and optimizer. If the options differ, only reads the run's
// state: then the caller reports the options, the real cause. Throws BadFile with a list
// of everything that does not fit.
RunState Trainer::load(const std::string& path, const io::Safetensors& file) {
    RunState state;
    state.recipe = recipe();
    std::string errors;
    collect_error(errors, [&] { state = run_state_in(file); });
    if (state.recipe != recipe()) return state;

    collect_error(errors, [&] { model_.load_state_dict(tensors_in(file, "model.")); });
    collect_error(errors, [&] {
        if (scheduler_) scheduler_->load_state_dict(state.scheduler);
    });
    collect_error(errors, [&] { load_optimizer(file); });
    collect_error(errors, [&] {
        if (replica_.ddp != nullptr && !state.gradient_order.empty())
            replica_.ddp->set_gradient_order(state.gradient_order);
    });
    if (!errors.empty()) throw BadFile(concat(path, ": does not fit this run: ", errors));
    return state;
}

void Trainer::load_optimizer(const io::Safetensors& file) {
    const optim::OptimizerState state = optim::state_in(file, "optimizer.");
    // With --zero each rank checks its own part only; an unsharded optimizer checks the
    // whole state first.
    if (options_.zero)
        make_plain_optimizer(options_, model_.parameters())->load_state_dict(state);
    optimizer().load_state_dict(state);
}

void Trainer::check_place(const std::string& path, const Place& place) const {
    const bool beyond = place.step > last_step_ || place.epoch > epochs_ ||
                        (place.epoch == epochs_ && place.position > 0);
    if (beyond)
        throw UsageError(
            concat(path, " is at step ", place.step, ", in epoch ", place.epoch + 1,
                   ", beyond the end that --epochs and --steps define; increase them, or "
                   "start again with --fresh"));
}

void Trainer::continue_from(const RunState& state) {
    place_ = state.place;
    results_ = state.results;
    results_.resumed_at_step = place_.step;
    const auto rank = static_cast<size_t>(group_->rank());
    if (state.world_size == group_->world_size()) {
        // In the middle of an epoch, train_epoch first draws the sample order again.
        const bool midway = place_.position > 0;
        set_generator_states((midway ? state.epoch_generators : state.generators)[rank]);
        if (!midway) return;
        resumed_generators_ = state.generators[rank];
        epoch_losses_ = state.epoch_losses[rank];
        return;
    }

    // A different number of ranks: generators keep the state from their seed, an epoch
    // may have more or fewer steps, and each rank stores the mean of the losses.
    place_.position = std::min(place_.position, batches_.size());
    epoch_losses_.assign(static_cast<size_t>(place_.position), 0.0f);
    for (const std::vector<float>& losses : state.epoch_losses)
        for (size_t i = 0; i < epoch_losses_.size(); ++i)
            epoch_losses_[i] += losses[i] / static_cast<float>(state.world_size);
}

bool Trainer::is_save_due() const {
    if (!checkpoints_) return false;
    const bool ends_midway =
        place_.step == last_step_ && place_.position < batches_.size();
    return ends_midway || (options_.every > 0 && place_.step % options_.every == 0);
}

// Saves a checkpoint; blocks until it is on disk.
void Trainer::save() {
    if (optimizer_.zero != nullptr) optimizer_.zero->consolidate_state_dict();
    const RunState state = run_state();
    on_all_ranks(*group_, [&] {
        if (group_->rank() != 0) return;
        io::Safetensors file;
        for (const auto& [name, tensor] : model_.state_dict())
            file.tensors.emplace_back("model." + name, tensor);
        optim::add_state(optimizer().state_dict(), "optimizer.", file);
        add_run_state(state, file);
        checkpoints_->save(place_.step, file);
    });
}

// Returns the state of all ranks, on every rank.
RunState Trainer::run_state() {
    RunState state;
    state.place = place_;
    state.world_size = group_->world_size();
    state.recipe = recipe();
    state.results = results_;
    if (scheduler_) state.scheduler = scheduler_->state_dict();
    if (replica_.ddp != nullptr) state.gradient_order = replica_.ddp->gradient_order();
    state.generators = dist::all_gather_values(*group_, generator_states());
    if (place_.position == 0) return state;
    state.epoch_generators = dist::all_gather_values(*group_, epoch_generators_);
    state.epoch_losses = dist::all_gather_values(*group_, epoch_losses_);
    return state;
}

}  // namespace mini::training
