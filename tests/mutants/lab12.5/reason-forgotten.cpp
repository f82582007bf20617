// The reason is not kept: the job seems to end well.
// region: libmini/tools/minirun/supervisor.cpp 1
    if (stop_signal_ == 0) {
        stop(ending_signal_for_ranks(signal));
    } else {
        kill_all();
    }
