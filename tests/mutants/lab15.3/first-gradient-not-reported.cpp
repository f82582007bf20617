// The first gradient of a pass queues the end and is not reported itself.
// region: libmini/parallel/averaging_modules.cpp 2
    if (!averages_) return;
    if (!has_gradient_) {
        has_gradient_ = true;
        queue_callback([this] { end_backward(); });
        return;
    }
    on_gradient(index);
