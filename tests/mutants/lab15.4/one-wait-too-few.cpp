// The loop stops before the last all-reduce.
// region: libmini/parallel/averaging_modules.cpp 2
    for (size_t i = 0; i + 1 < in_flight_.size(); ++i) {
        in_flight_[i]->wait();
        record_done(i);
    }
    in_flight_.clear();
