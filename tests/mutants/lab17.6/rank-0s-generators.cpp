// Every rank gets rank 0's generators.
// region: libmini/training/run_checkpoints.cpp 1
    const bool midway = state.position.step_in_epoch > 0;
    set_generator_states((midway ? state.epoch_generators : state.generators)[0]);
    if (midway) progress.resumed_generators = state.generators[0];
