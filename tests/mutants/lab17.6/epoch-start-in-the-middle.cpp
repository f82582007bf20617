// In the middle of an epoch only the saved generators are restored.
// region: libmini/training/run_checkpoints.cpp 1
    set_generator_states(state.generators[rank]);
