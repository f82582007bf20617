// A signal is reported as an exit code.
// region: libmini/tools/minirun/child.cpp 2
    kill_group();
    int status = 0;
    waitpid(std::exchange(pid_, -1), &status, 0);
    return {.by_signal = false, .number = WEXITSTATUS(status)};
