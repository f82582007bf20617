// A folder of damaged checkpoints counts as empty.
// region: libmini/io/checkpoint.cpp 3
    for (; !steps.empty(); steps.pop_back()) {
        try {
            return load(steps.back());
        } catch (const BadFile& error) {
            logging::warning("skipping a checkpoint: ", error.what());
        }
    }
    return std::nullopt;
