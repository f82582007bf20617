// A damaged checkpoint is skipped without a warning.
// region: libmini/io/checkpoint.cpp 3
    for (; !steps.empty(); steps.pop_back()) {
        try {
            return load(steps.back());
        } catch (const BadFile&) {
        }
    }
