// Passes without a forward of the wrapper are reported too.
// region: libmini/parallel/averaging_modules.cpp 2
    if (!has_gradient_) queue_callback([this] { end_backward(); });
    has_gradient_ = true;
    on_gradient(index);
