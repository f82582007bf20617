// An exception of another type than std::exception ends the program.
// region: libmini/data/epoch_state.cpp 1
    default_generator().manual_seed(plan_.base_seed + k);
    Slot slot;
    try {
        slot.batch = fetch(plan_, k);
    } catch (const std::exception&) {
        slot.error = std::current_exception();
    }
    return slot;
