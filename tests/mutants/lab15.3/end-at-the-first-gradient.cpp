// The end is called at the first gradient instead of being queued.
// region: libmini/parallel/averaging_modules.cpp 2
    if (!averages_) return;
    on_gradient(index);
    if (!has_gradient_) end_backward();
