// The rank that this rank waited for is always the cause.
// region: libmini/distributed/transport/failure_detector.cpp 1
    bool closed = false;
    const auto report = stream(silent).final_message(grace, closed);
    if (closed) throw_gone(silent, description);
    if (report && report->kind != Failure::Kind::kTimeout)
        throw_failure(reported(*report, silent));
    throw_silent(silent, description);
