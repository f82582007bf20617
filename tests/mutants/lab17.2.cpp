// --- closed-is-silent
// A rank that is gone is called silent.
// region: libmini/distributed/transport/failure_detector.cpp 1
    while (!std::exchange(is_in_chain[static_cast<size_t>(silent)], true)) {
        bool closed = false;
        const auto report = stream(silent).final_message(grace, closed);
        
        if (report && (report->kind != Failure::Kind::kTimeout || report->rank < 0))
            throw_failure(reported(*report, silent));
        const int next = report ? report->rank : awaited_by(silent);
        if (next < 0 || next >= world_size() || (!report && next == rank_))
            throw_silent(silent, description);
        description +=
            concat("; rank ", silent, report ? " waited" : " waits", " for rank ", next);
        silent = next;
    }

// --- first-is-blamed
// The rank that this rank waited for is always the cause.
// region: libmini/distributed/transport/failure_detector.cpp 1
    bool closed = false;
    const auto report = stream(silent).final_message(grace, closed);
    if (closed) throw_gone(silent, description);
    if (report && report->kind != Failure::Kind::kTimeout)
        throw_failure(reported(*report, silent));
    throw_silent(silent, description);

// --- gone-but-waits
// A rank that is gone is followed, because it sent a notice before.
// region: libmini/distributed/transport/failure_detector.cpp 1
    while (!std::exchange(is_in_chain[static_cast<size_t>(silent)], true)) {
        bool closed = false;
        const auto report = stream(silent).final_message(grace, closed);
        if (closed && awaited_by(silent) < 0) throw_gone(silent, description);
        if (report && (report->kind != Failure::Kind::kTimeout || report->rank < 0))
            throw_failure(reported(*report, silent));
        const int next = report ? report->rank : awaited_by(silent);
        if (next < 0 || next >= world_size() || (!report && next == rank_))
            throw_silent(silent, description);
        description +=
            concat("; rank ", silent, report ? " waited" : " waits", " for rank ", next);
        silent = next;
    }

// --- no-grace
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

// --- notice-before-report
// An old notice counts more than a report.
// region: libmini/distributed/transport/failure_detector.cpp 1
    while (!std::exchange(is_in_chain[static_cast<size_t>(silent)], true)) {
        bool closed = false;
        const auto report = stream(silent).final_message(grace, closed);
        if (closed) throw_gone(silent, description);
        if (report && (report->kind != Failure::Kind::kTimeout || report->rank < 0))
            throw_failure(reported(*report, silent));
        const int next = awaited_by(silent) >= 0 ? awaited_by(silent)
                         : report                ? report->rank
                                                 : -1;
        if (next < 0 || next >= world_size() || (!report && next == rank_))
            throw_silent(silent, description);
        description +=
            concat("; rank ", silent, report ? " waited" : " waits", " for rank ", next);
        silent = next;
    }

// --- notices-ignored
// Only reports are followed, and notices are not.
// region: libmini/distributed/transport/failure_detector.cpp 1
    while (!std::exchange(is_in_chain[static_cast<size_t>(silent)], true)) {
        bool closed = false;
        const auto report = stream(silent).final_message(grace, closed);
        if (closed) throw_gone(silent, description);
        if (report && (report->kind != Failure::Kind::kTimeout || report->rank < 0))
            throw_failure(reported(*report, silent));
        const int next = report ? report->rank : -1;
        if (next < 0 || next >= world_size() || (!report && next == rank_))
            throw_silent(silent, description);
        description +=
            concat("; rank ", silent, report ? " waited" : " waits", " for rank ", next);
        silent = next;
    }

// --- our-own-notice-believed
// A notice that names this rank makes a circle.
// region: libmini/distributed/transport/failure_detector.cpp 1
    while (!std::exchange(is_in_chain[static_cast<size_t>(silent)], true)) {
        bool closed = false;
        const auto report = stream(silent).final_message(grace, closed);
        if (closed) throw_gone(silent, description);
        if (report && (report->kind != Failure::Kind::kTimeout || report->rank < 0))
            throw_failure(reported(*report, silent));
        const int next = report ? report->rank : awaited_by(silent);
        if (next < 0 || next >= world_size())
            throw_silent(silent, description);
        description +=
            concat("; rank ", silent, report ? " waited" : " waits", " for rank ", next);
        silent = next;
    }

// --- rank-not-checked
// A rank number from another rank is used unchecked.
// region: libmini/distributed/transport/failure_detector.cpp 1
    while (!std::exchange(is_in_chain[static_cast<size_t>(silent)], true)) {
        bool closed = false;
        const auto report = stream(silent).final_message(grace, closed);
        if (closed) throw_gone(silent, description);
        if (report && (report->kind != Failure::Kind::kTimeout || report->rank < 0))
            throw_failure(reported(*report, silent));
        const int next = report ? report->rank : awaited_by(silent);
        if (next < 0 || (!report && next == rank_))
            throw_silent(silent, description);
        description +=
            concat("; rank ", silent, report ? " waited" : " waits", " for rank ", next);
        silent = next;
    }

// --- throws-at-half
// The wait ends after half of the timeout.
// region: libmini/distributed/transport/mesh_transport.cpp 1
    if (!has_warned_ && has_passed(deadline_ - timeout_ / 2)) {
        has_warned_ = true;
        detector_.deadline_passed(awaited, describe_wait(awaited), timeout_);
    }

// --- warns-each-time
// The warning is repeated in each turn of the wait.
// region: libmini/distributed/transport/mesh_transport.cpp 1
    if (has_passed(deadline_ - timeout_ / 2)) warn(awaited);
    if (has_passed(deadline_))
        detector_.deadline_passed(awaited, describe_wait(awaited), timeout_);
