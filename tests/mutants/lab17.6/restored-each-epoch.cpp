// The restored generators return in each epoch.
// region: libmini/training/trainer.cpp 1
    if (!progress_.resumed_generators.empty())
        set_generator_states(progress_.resumed_generators);
