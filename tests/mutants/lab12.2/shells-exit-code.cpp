// A signal is reported as 128 + signal.
// region: libmini/tools/minirun/child.cpp 2
    kill_group();
    int status = 0;
    waitpid(std::exchange(pid_, -1), &status, 0);
    if (WIFSIGNALED(status)) return {.by_signal = true, .number = 128 + WTERMSIG(status)};
    return {.by_signal = false, .number = WEXITSTATUS(status)};
