// The sums are not divided.
// region: labs/15-ddp-by-hooks/simple_ddp.cpp 4
    for (InFlight& each : in_flight_) each.work->wait();
    in_flight_.clear();
