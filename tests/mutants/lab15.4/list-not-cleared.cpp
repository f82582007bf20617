// The list keeps the Works of earlier passes.
// region: libmini/parallel/averaging_modules.cpp 2
    for (size_t i = 0; i < in_flight_.size(); ++i) {
        in_flight_[i]->wait();
        record_done(i);
    }
