// A signal after a failure becomes the reason.
// region: libmini/tools/minirun/supervisor.cpp 1
    interrupted_by_ = signal;
    if (stop_signal_ == 0) {
        stop(ending_signal_for_ranks(signal));
    } else {
        kill_all();
    }
