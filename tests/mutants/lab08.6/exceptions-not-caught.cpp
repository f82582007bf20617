// An exception of the dataset leaves the worker's thread.
// region: libmini/data/epoch_state.cpp 1
    default_generator().manual_seed(plan_.base_seed + k);
    Slot slot;
    slot.batch = fetch(plan_, k);
    return slot;
