// The pid is kept after the rank is reaped.
// region: libmini/tools/minirun/child.cpp 2
    kill_group();
    int status = 0;
    waitpid(pid_, &status, 0);
    if (WIFSIGNALED(status)) return {.by_signal = true, .number = WTERMSIG(status)};
    return {.by_signal = false, .number = WEXITSTATUS(status)};
