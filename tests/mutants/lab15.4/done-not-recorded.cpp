// The completions are missing in the event log.
// region: libmini/parallel/averaging_modules.cpp 2
    for (const auto& work : in_flight_) work->wait();
    in_flight_.clear();
