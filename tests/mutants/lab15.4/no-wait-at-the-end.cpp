// The end forgets to wait.
// region: libmini/parallel/averaging_modules.cpp 2
    for (size_t i = 0; i < in_flight_.size(); ++i) record_done(i);
    in_flight_.clear();
