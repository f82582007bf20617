// The gradient of parameter 0 is taken for the last one.
// region: libmini/parallel/averaging_modules.cpp 2
    if (!averages_) return;
    on_gradient(index);
    if (index == 0) end_backward();
