// The generator is not seeded for the batch, so its draws depend on the worker.
// region: libmini/data/epoch_state.cpp 1
    Slot slot;
    try {
        slot.batch = fetch(plan_, k);
    } catch (...) {
        slot.error = std::current_exception();
    }
    return slot;
