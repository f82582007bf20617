// --- each-rank-its-own
// Each rank loads the newest checkpoint that it sees itself.
// region: libmini/training/run_checkpoints.cpp 2
    on_all_ranks(*group_, [&] { found = folder_->latest(); });
    return found;

// --- epoch-generators-only
// The generators are not moved past the drawn masks.
// region: libmini/training/run_checkpoints.cpp 1
    const bool midway = state.position.step_in_epoch > 0;
    default_generator().set_state((midway ? state.epoch_generators : state.generators)[rank]);

// --- epoch-start-in-the-middle
// In the middle of an epoch only the saved generators are restored.
// region: libmini/training/run_checkpoints.cpp 1
    default_generator().set_state(state.generators[rank]);

// --- error-on-one-rank
// A rank that cannot load throws alone.
// region: libmini/training/run_checkpoints.cpp 2
    const std::vector<int64_t> mine{found ? found->step : -1};
    const int64_t step = dist::all_gather_values(*group_, mine)[0][0];
    if (step == -1) return std::nullopt;
    if (!found) found = folder_->load(step);
    return found;

// --- last-rank-chooses
// The last rank's step is used.
// region: libmini/training/run_checkpoints.cpp 2
    const std::vector<int64_t> mine{found ? found->step : -1};
    const int64_t step = dist::all_gather_values(*group_, mine).back()[0];
    if (step == -1) return std::nullopt;
    on_all_ranks(*group_, [&] {
        if (!found) found = folder_->load(step);
    });
    return found;

// --- rank-0s-generators
// Every rank gets rank 0's generators.
// region: libmini/training/run_checkpoints.cpp 1
    const bool midway = state.position.step_in_epoch > 0;
    default_generator().set_state((midway ? state.epoch_generators : state.generators)[0]);
    if (midway) progress.resumed_generators = state.generators[0];

// --- restored-each-epoch
// The restored generators return in each epoch.
// region: libmini/training/trainer.cpp 1
    if (!progress_.resumed_generators.empty())
        default_generator().set_state(progress_.resumed_generators);
