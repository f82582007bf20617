// The highest steps are removed, the lowest kept.
// region: libmini/io/checkpoint.cpp 2
    for (size_t i = static_cast<size_t>(keep_last_); i < steps.size(); ++i)
        if (steps[i] != just_saved) remove_or_warn(path(steps[i]));
