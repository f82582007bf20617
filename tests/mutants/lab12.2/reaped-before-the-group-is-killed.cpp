// The rank is reaped first; then its group has no number any more.
// region: libmini/tools/minirun/child.cpp 2
    int status = 0;
    waitpid(std::exchange(pid_, -1), &status, 0);
    kill_group();
    if (WIFSIGNALED(status)) return {.by_signal = true, .number = WTERMSIG(status)};
    return {.by_signal = false, .number = WEXITSTATUS(status)};
