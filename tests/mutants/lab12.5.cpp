// --- always-sigterm
// Every signal is passed on as SIGTERM.
// region: libmini/tools/minirun/supervisor.cpp 1
    if (phase_ == Phase::kRunning) interrupted_by_ = signal;
    if (stop_signal_ == 0) {
        stop(SIGTERM);
    } else {
        kill_all();
    }

// --- any-end-ends-the-job
// A rank that ends well ends the job.
// region: libmini/tools/minirun/supervisor.cpp 2
    ends_.push_back(
        {job_.rank(local_rank), pid, exit, sent_by_us(exit), dist::Clock::now().time_since_epoch().count()});
    if (phase_ == Phase::kRunning) gather();

// --- every-signal-is-ours
// Every signal counts as one of minirun.
// region: libmini/tools/minirun/supervisor.cpp 2
    ends_.push_back(
        {job_.rank(local_rank), pid, exit, exit.by_signal, dist::Clock::now().time_since_epoch().count()});
    if (exit.failed() && phase_ == Phase::kRunning) gather();

// --- failure-does-not-end-the-job
// A failure does not end the job.
// region: libmini/tools/minirun/supervisor.cpp 2
    ends_.push_back(
        {job_.rank(local_rank), pid, exit, sent_by_us(exit), dist::Clock::now().time_since_epoch().count()});

// --- gathers-while-stopping
// A failure begins to gather in every phase.
// region: libmini/tools/minirun/supervisor.cpp 2
    ends_.push_back(
        {job_.rank(local_rank), pid, exit, sent_by_us(exit), dist::Clock::now().time_since_epoch().count()});
    if (exit.failed()) gather();

// --- kills-after-gathering
// After gathering the ranks are killed, without a chance to clean up.
// region: libmini/tools/minirun/supervisor.cpp 3
    if (phase_ == Phase::kGathering) {
        kill_all();
    } else if (stop_signal_ == SIGINT) {
        stop_signal_ = SIGTERM;
        signal_all(SIGTERM);
        enter(Phase::kStopping, options_.grace);
    } else {
        kill_all();
    }

// --- kills-at-once
// The first signal kills the ranks.
// region: libmini/tools/minirun/supervisor.cpp 1
    if (phase_ == Phase::kRunning) interrupted_by_ = signal;
    kill_all();

// --- local-rank-recorded
// The local rank is recorded as the rank.
// region: libmini/tools/minirun/supervisor.cpp 2
    ends_.push_back(
        {local_rank, pid, exit, sent_by_us(exit), dist::Clock::now().time_since_epoch().count()});
    if (exit.failed() && phase_ == Phase::kRunning) gather();

// --- never-kills
// Ranks that ignore SIGTERM are asked forever.
// region: libmini/tools/minirun/supervisor.cpp 3
    if (phase_ == Phase::kGathering) {
        stop(SIGTERM);
    } else if (stop_signal_ == SIGINT) {
        stop_signal_ = SIGTERM;
        signal_all(SIGTERM);
        enter(Phase::kStopping, options_.grace);
    } else {
        stop(SIGTERM);
    }

// --- one-more-grace
// SIGTERM after SIGINT is not sent.
// region: libmini/tools/minirun/supervisor.cpp 3
    if (phase_ == Phase::kGathering) {
        stop(SIGTERM);
    } else if (stop_signal_ == SIGINT) {
        stop_signal_ = SIGTERM;
        enter(Phase::kStopping, options_.grace);
    } else {
        kill_all();
    }

// --- phase-asked-too-late
// The phase is looked at after it has changed.
// region: libmini/tools/minirun/supervisor.cpp 1
    if (stop_signal_ == 0) {
        stop(ending_signal_for_ranks(signal));
    } else {
        kill_all();
    }
    if (phase_ == Phase::kRunning) interrupted_by_ = signal;

// --- reason-forgotten
// The reason is not kept: the job seems to end well.
// region: libmini/tools/minirun/supervisor.cpp 1
    if (stop_signal_ == 0) {
        stop(ending_signal_for_ranks(signal));
    } else {
        kill_all();
    }

// --- second-signal-asks-again
// A second signal is passed on like the first.
// region: libmini/tools/minirun/supervisor.cpp 1
    if (phase_ == Phase::kRunning) interrupted_by_ = signal;
    stop(ending_signal_for_ranks(signal));

// --- second-signal-ignored
// A second signal is ignored.
// region: libmini/tools/minirun/supervisor.cpp 1
    if (phase_ == Phase::kRunning) interrupted_by_ = signal;
    if (stop_signal_ == 0) {
        stop(ending_signal_for_ranks(signal));
    }

// --- sigint-then-kill
// After SIGINT comes SIGKILL.
// region: libmini/tools/minirun/supervisor.cpp 3
    if (phase_ == Phase::kGathering) {
        stop(SIGTERM);
    } else {
        kill_all();
    }

// --- signal-hides-the-failure
// A signal after a failure becomes the reason.
// region: libmini/tools/minirun/supervisor.cpp 1
    interrupted_by_ = signal;
    if (stop_signal_ == 0) {
        stop(ending_signal_for_ranks(signal));
    } else {
        kill_all();
    }

// --- sigpipe-passed-on
// SIGPIPE is passed on to the ranks.
// region: libmini/tools/minirun/supervisor.cpp 1
    if (phase_ == Phase::kRunning) interrupted_by_ = signal;
    if (stop_signal_ == 0) {
        stop(signal);
    } else {
        kill_all();
    }

// --- sigterm-without-end
// After SIGINT, SIGTERM is sent again and again.
// region: libmini/tools/minirun/supervisor.cpp 3
    if (phase_ == Phase::kGathering) {
        stop(SIGTERM);
    } else if (stop_signal_ == SIGINT) {
        signal_all(SIGTERM);
        enter(Phase::kStopping, options_.grace);
    } else {
        kill_all();
    }

// --- stopped-ranks-failed
// Ranks that minirun has stopped count as failed.
// region: libmini/tools/minirun/supervisor.cpp 2
    ends_.push_back(
        {job_.rank(local_rank), pid, exit, false, dist::Clock::now().time_since_epoch().count()});
    if (exit.failed() && phase_ == Phase::kRunning) gather();

// --- stopping-without-a-time
// Stopping after SIGINT has no end.
// region: libmini/tools/minirun/supervisor.cpp 3
    if (phase_ == Phase::kGathering) {
        stop(SIGTERM);
    } else if (stop_signal_ == SIGINT) {
        stop_signal_ = SIGTERM;
        signal_all(SIGTERM);
        enter(Phase::kStopping, Clock::duration::max());
    } else {
        kill_all();
    }

// --- stops-without-gathering
// The ranks are killed at the first failure.
// region: libmini/tools/minirun/supervisor.cpp 2
    ends_.push_back(
        {job_.rank(local_rank), pid, exit, sent_by_us(exit), dist::Clock::now().time_since_epoch().count()});
    if (exit.failed() && phase_ == Phase::kRunning) kill_all();
