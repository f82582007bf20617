// How a Trainer saves and resumes: rank 0 writes, all ranks read.

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

// Whether minirun or torchrun started this job again, after a failure: then --fresh has
// had its effect, and what has been saved since is to be kept.
bool is_restart() {
    const auto count =
        dist::environment_variable("TORCHELASTIC_RESTART_COUNT").value_or("0");
    return count != "0";
}

void remove_all(const io::CheckpointFolder& folder) {
    for (const int64_t step : folder.list()) std::filesystem::remove(folder.path(step));
}

// Adds to `report` what goes wrong in `body`, on one line.
template <typename Body>
void note_errors(std::string& report, const Body& body) {
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
    go_on_from(state);
    return path;
}

// The same on all ranks: rank 0 chooses.
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

// Takes over model, scheduler and optimizer, unless the run was one of other options:
// that is another error, and the real one. Throws BadFile with all that does not fit.
RunState Trainer::load(const std::string& path, const io::Safetensors& file) {
    RunState state;
    state.recipe = recipe();
    std::string wrong;
    note_errors(wrong, [&] { state = run_state_in(file); });
    if (state.recipe != recipe()) return state;

    note_errors(wrong, [&] { model_.load_state_dict(tensors_in(file, "model.")); });
    note_errors(wrong, [&] {
        if (scheduler_) scheduler_->load_state_dict(state.scheduler);
    });
    note_errors(wrong, [&] { load_optimizer(file); });
    note_errors(wrong, [&] {
        if (replica_.ddp != nullptr && !state.gradient_order.empty())
            replica_.ddp->set_gradient_order(state.gradient_order);
    });
    if (!wrong.empty()) throw BadFile(concat(path, ": does not fit this run: ", wrong));
    return state;
}

void Trainer::load_optimizer(const io::Safetensors& file) {
    const optim::OptimizerState state = optim::state_in(file, "optimizer.");
    // With --zero each rank sees its own part only; let one that sees all look first.
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
                   ", beyond the end that --epochs and --steps give; let them be more, "
                   "or --fresh start again"));
}

void Trainer::go_on_from(const RunState& state) {
    place_ = state.place;
    results_ = state.results;
    results_.resumed_at_step = place_.step;
    const auto rank = static_cast<size_t>(group_->rank());
    if (state.world_size == group_->world_size()) {
        // Of an epoch's middle, first draw the order again; see train_epoch.
        const bool midway = place_.position > 0;
        set_generator_states((midway ? state.epoch_generators : state.generators)[rank]);
        if (!midway) return;
        resumed_generators_ = state.generators[rank];
        epoch_losses_ = state.epoch_losses[rank];
        return;
    }

    // A different number of ranks: generators stay as their seed made them, an epoch may
    // have more or fewer steps, and each rank keeps the mean of the losses.
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

// Blocks until the checkpoint is on the disk.
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

// What all ranks together have to remember, on every rank.
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
