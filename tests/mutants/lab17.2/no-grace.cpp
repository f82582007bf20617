// The other ranks get no time to leave.
// region: libmini/distributed/transport/failure_detector.cpp 1
    while (!std::exchange(is_in_chain[static_cast<size_t>(silent)], true)) {
        bool closed = false;
        const auto report = stream(silent).final_message(Clock::now(), closed);
        if (closed) throw_gone(silent, description);
        if (report && (report->kind != Failure::Kind::kTimeout || report->rank < 0))
            throw_failure(reported(*report, silent));
        const int next = report ? report->rank : awaited_by(silent);
        if (next < 0 || next >= world_size() || (!report && next == rank_))
            throw_silent(silent, description);
        description +=
            concat("; rank ", silent, report ? " waited" : " waits", " for rank ", next);
        silent = next;
    }
