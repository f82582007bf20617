// The generators are not moved past the drawn masks.
// region: libmini/training/run_checkpoints.cpp 1
    const bool midway = state.position.step_in_epoch > 0;
    set_generator_states((midway ? state.epoch_generators : state.generators)[rank]);
