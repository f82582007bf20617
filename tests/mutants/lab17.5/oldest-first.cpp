// The lowest step is loaded.
// region: libmini/io/checkpoint.cpp 3
    for (const int64_t step : steps) {
        try {
            return load(step);
        } catch (const BadFile& error) {
            logging::warning("skipping a checkpoint: ", error.what());
        }
    }
