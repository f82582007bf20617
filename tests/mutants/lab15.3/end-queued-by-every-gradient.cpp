// Every gradient queues the end, which comes once per parameter.
// region: libmini/parallel/averaging_modules.cpp 2
    if (!averages_) return;
    queue_callback([this] { end_backward(); });
    has_gradient_ = true;
    on_gradient(index);
