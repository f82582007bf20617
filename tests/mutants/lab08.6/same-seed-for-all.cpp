// Every batch is seeded alike, so all batches are augmented alike.
// region: libmini/data/epoch_state.cpp 1
    default_generator().manual_seed(plan_.base_seed);
    Slot slot;
    try {
        slot.batch = fetch(plan_, k);
    } catch (...) {
        slot.error = std::current_exception();
    }
    return slot;
