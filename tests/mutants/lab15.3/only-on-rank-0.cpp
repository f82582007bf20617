// Only rank 0 listens.
// region: libmini/parallel/averaging_modules.cpp 2
    if (!averages_ || group().rank() != 0) return;
    if (!has_gradient_) queue_callback([this] { end_backward(); });
    has_gradient_ = true;
    on_gradient(index);
