// Only the last all-reduce is waited for.
// region: libmini/parallel/averaging_modules.cpp 2
    if (!in_flight_.empty()) in_flight_.back()->wait();
    for (size_t i = 0; i < in_flight_.size(); ++i) record_done(i);
    in_flight_.clear();
